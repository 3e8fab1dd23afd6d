//! The functions for a Deployment's sync: what their buffers hold before a call, and what they must hold after it.

use super::{Outputs, Question, ints, longs, refuse, time, words};
use crate::deployment::{annotation, case, percent, text};
use arbitrary::{Result, Unstructured};
use podrank::controller::IntOrPercent;
use podrank::controller::deployment::{Deployment, ReplicaSet, SetFlags, Strategy};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_laws::deployment::{Effect, naive};
use podrank_through_c::deployment::{deployment, set};
use podrank_through_c::functions::{self, Buffer, Use};
use std::collections::BTreeSet;

/// What one of its buffers holds before the call, if it is one.
pub(super) fn content(buffer: &Buffer, size: usize, u: &mut Unstructured<'_>) -> Result<Option<Vec<u8>>> {
    let bytes = match (buffer.name, buffer.usage) {
        (_, Use::Out | Use::Options) => return Ok(None),
        ("deployment", _) => functions::bytes(&[deployment(&case(u)?.0)]),
        ("sets" | "set", _) => {
            let mut bytes = Vec::new();
            while bytes.len() < size {
                let mut sets = case(u)?.1;
                // When the input is used up, no case has any.
                if sets.is_empty() {
                    sets.push(ReplicaSet::new());
                }
                bytes.extend(functions::bytes(&sets.iter().map(set).collect::<Vec<_>>()));
            }
            bytes.truncate(size);
            bytes
        }
        ("desired" | "max", _) => {
            let mut bytes = text(u)?;
            bytes.resize(size, b'1');
            return Ok(Some(bytes));
        }
        _ => return Ok(None),
    };
    Ok(Some(bytes))
}

/// The Deployment in a buffer, by the words of the header; `wrong` gets what is unsound in it.
fn read_deployment(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> Deployment {
    let [replicas, status_replicas, surge, unavailable] = ints(bytes, [0, 4, 8, 12]);
    let [flags] = words(bytes, [16]);
    let is_negative = [replicas, status_replicas, surge, unavailable].iter().any(|number| *number < 0);
    refuse(
        wrong,
        [
            (is_negative, PODRANK_ERR_NEGATIVE),
            (flags >= 128, PODRANK_ERR_FLAGS),
            (bytes[20..] != [0; 12], PODRANK_ERR_RESERVED),
        ],
    );
    let has = |flag: u32| flags & flag != 0;
    let mut budget = |number: i32, is_percent: bool| {
        if !is_percent {
            return IntOrPercent::Int(number);
        }
        let is_large = number > 4_194_304 && !has(PODRANK_DEPLOYMENT_RECREATE);
        refuse(wrong, [(is_large, PODRANK_ERR_PERCENT_RANGE)]);
        IntOrPercent::Percent(number.cast_unsigned())
    };
    let max_surge = budget(surge, has(PODRANK_DEPLOYMENT_SURGE_PERCENT));
    let max_unavailable = budget(unavailable, has(PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT));
    Deployment {
        replicas,
        status_replicas,
        strategy: if has(PODRANK_DEPLOYMENT_RECREATE) {
            Strategy::Recreate { old_pods_run: has(PODRANK_DEPLOYMENT_OLD_PODS_RUN) }
        } else {
            Strategy::RollingUpdate { max_surge, max_unavailable }
        },
        is_paused: has(PODRANK_DEPLOYMENT_PAUSED),
        is_being_deleted: has(PODRANK_DEPLOYMENT_BEING_DELETED),
        is_rolling_back: has(PODRANK_DEPLOYMENT_ROLLING_BACK),
    }
}

/// The sets in a buffer, likewise.
fn read_sets(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> Vec<ReplicaSet> {
    let sets = bytes.chunks_exact(48).map(|bytes| {
        let flags = bytes[32];
        let [replicas, status_replicas, available_replicas, desired_replicas, max_replicas] =
            ints(bytes, [12, 16, 20, 24, 28]);
        let has = |flag: u8| flags & flag != 0;
        let is_negative = replicas < 0
            || status_replicas < 0
            || available_replicas < 0
            || has(PODRANK_REPLICA_SET_DESIRED) && desired_replicas < 0
            || has(PODRANK_REPLICA_SET_MAX) && max_replicas < 0;
        refuse(
            wrong,
            [
                (is_negative, PODRANK_ERR_NEGATIVE),
                (flags >= 16, PODRANK_ERR_FLAGS),
                (bytes[33..] != [0; 15], PODRANK_ERR_RESERVED),
            ],
        );
        ReplicaSet {
            creation_time: time(longs(bytes, [0])[0]),
            name_order: words(bytes, [8])[0],
            replicas,
            status_replicas,
            available_replicas,
            desired_replicas,
            max_replicas,
            flags: SetFlags::from_bits(flags),
            ..ReplicaSet::new()
        }
    });
    sets.collect()
}

fn change_bytes(effect: &Effect) -> Vec<u8> {
    let numbers = [effect.replicas, effect.part].map(i32::to_ne_bytes).concat();
    [&numbers[..], &[effect.reason.number(), u8::from(effect.annotates)], &[0; 6]].concat()
}

impl Question<'_> {
    /// What its outputs are to begin with; nothing if a buffer is not all there, or it is none of these functions.
    pub(super) fn deployment(&self, wrong: &mut BTreeSet<i32>, spoilt: bool) -> Option<Outputs> {
        Some(match self.function.name {
            "podrank_percent_parse" => {
                let parsed = percent((self.content)("text").unwrap_or_default());
                if parsed.is_none() {
                    wrong.extend(PODRANK_ERR_PERCENT_SIGN..=PODRANK_ERR_PERCENT_RANGE);
                }
                parsed.map(|percent| ("percent", percent.to_ne_bytes().to_vec())).into_iter().collect()
            }
            "podrank_replica_set_annotations" => {
                let [desired, max] =
                    ["desired", "max"].map(|name| annotation((self.content)(name).unwrap_or_default()));
                let mut set = (self.content)("set")?.to_vec();
                let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
                let desired_number = desired.map_or(0, |(number, _)| number);
                let max = max.filter(|(_, is_valid)| *is_valid);
                set[24..28].copy_from_slice(&desired_number.to_ne_bytes());
                set[28..32].copy_from_slice(&max.map_or(0, |(number, _)| number).to_ne_bytes());
                set[32] &= !(PODRANK_REPLICA_SET_DESIRED
                    | PODRANK_REPLICA_SET_DESIRED_LENIENT
                    | PODRANK_REPLICA_SET_MAX);
                set[32] |= flag(desired.is_some_and(|(_, is_valid)| is_valid), PODRANK_REPLICA_SET_DESIRED)
                    | flag(
                        desired.is_some_and(|(_, is_valid)| !is_valid),
                        PODRANK_REPLICA_SET_DESIRED_LENIENT,
                    )
                    | flag(max.is_some(), PODRANK_REPLICA_SET_MAX);
                vec![("set", set)]
            }
            "podrank_deployment_next" => {
                let subject = read_deployment((self.content)("deployment")?, wrong);
                let sets = read_sets((self.content)("sets").unwrap_or_default(), wrong);
                if spoilt || !wrong.is_empty() {
                    return Some(Vec::new());
                }
                let outcome = naive(&subject, &sets);
                let budgets =
                    [outcome.budgets.surge, outcome.budgets.unavailable].map(i32::to_ne_bytes).concat();
                let new_set = outcome.new_set.unwrap_or(PODRANK_NONE).to_ne_bytes();
                let bytes = [outcome.path.number(), outcome.creates.into(), outcome.goes_on.into(), 0];
                let step = [&budgets[..], &new_set, &bytes, &change_bytes(&outcome.new)].concat();
                vec![("changes", outcome.sets.iter().flat_map(change_bytes).collect()), ("step", step)]
            }
            _ => return None,
        })
    }
}
