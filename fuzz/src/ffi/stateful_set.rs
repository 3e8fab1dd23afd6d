//! The functions for a `StatefulSet`'s sync: what their buffers hold before a call, and what they must hold after it. What a
//! sync does is the core's answer, which the target `stateful_set` compares with a naive implementation.

use super::{Outputs, Question, ints, refuse, words};
use crate::stateful_set::{case, name, ordinal};
use arbitrary::{Result, Unstructured};
use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    Member, MemberFlags, Outcome, PodManagement, StatefulSet, Update, next_sync,
};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{self, Buffer, Function, Use};
use podrank_through_c::stateful_set::stateful_set;
use std::collections::BTreeSet;

/// What one of their buffers holds before the call. `None` for another function.
pub(super) fn content(
    function: &Function,
    buffer: &Buffer,
    size: usize,
    u: &mut Unstructured<'_>,
) -> Result<Option<Vec<u8>>> {
    if !function.name.starts_with("podrank_stateful_set") || buffer.usage == Use::Out {
        return Ok(None);
    }
    let bytes = match (function.name, buffer.name) {
        ("podrank_stateful_set_ordinal", which) => {
            let mut text =
                if which == "set" { "web".to_owned() } else { format!("web-{}", name(u)?) }.into_bytes();
            text.resize(size, b'1');
            text
        }
        (_, "set") => functions::bytes(&[stateful_set(&case(u)?.0)]),
        _ => {
            let mut bytes = Vec::new();
            while bytes.len() < size {
                let mut members = case(u)?.1;
                // When the input is used up, no case has any.
                if members.is_empty() {
                    members.push(Member::new(0, MemberFlags::from_bits(0)));
                }
                for member in members {
                    bytes.extend(
                        [&member.ordinal.to_ne_bytes()[..], &[member.flags.bits()], &[0; 3]].concat(),
                    );
                }
            }
            bytes.truncate(size);
            bytes
        }
    };
    Ok(Some(bytes))
}

/// The `StatefulSet` in a buffer, by the words of the header; `wrong` gets what is unsound in it.
fn read_set(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> StatefulSet {
    let [replicas, start, partition, most] = ints(bytes, [0, 4, 8, 12]);
    let [flags] = words(bytes, [16]);
    let has = |flag: u32| flags & flag != 0;
    let is_twice = has(PODRANK_STATEFUL_SET_ON_DELETE) && has(PODRANK_STATEFUL_SET_RECREATE);
    let is_percent = has(PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT);
    refuse(
        wrong,
        [
            ([replicas, start, partition, most].iter().any(|number| *number < 0), PODRANK_ERR_NEGATIVE),
            (flags >= 128 || is_twice, PODRANK_ERR_FLAGS),
            (bytes[20..] != [0; 12], PODRANK_ERR_RESERVED),
            (is_percent && most > 4_194_304, PODRANK_ERR_PERCENT_RANGE),
        ],
    );
    let percent = IntOrPercent::Percent(most.cast_unsigned());
    let max_unavailable = if is_percent { percent } else { IntOrPercent::Int(most) };
    StatefulSet {
        replicas,
        start,
        management: if has(PODRANK_STATEFUL_SET_PARALLEL) {
            PodManagement::Parallel
        } else {
            PodManagement::OrderedReady
        },
        update: if has(PODRANK_STATEFUL_SET_ON_DELETE) {
            Update::OnDelete
        } else if has(PODRANK_STATEFUL_SET_RECREATE) {
            Update::Recreate
        } else {
            Update::RollingUpdate { partition, max_unavailable }
        },
        is_being_deleted: has(PODRANK_STATEFUL_SET_BEING_DELETED),
        max_unavailable_gate: !has(PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE),
        recreate_gate: has(PODRANK_STATEFUL_SET_RECREATE_GATE),
    }
}

/// The pods in a buffer, likewise.
fn read_members(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> Vec<Member> {
    let members = bytes.chunks_exact(8).map(|bytes| {
        let [number] = ints(bytes, [0]);
        wrong.extend((number < 0).then_some(PODRANK_ERR_NEGATIVE));
        wrong.extend((bytes[4] >= 64).then_some(PODRANK_ERR_FLAGS));
        wrong.extend((bytes[5..] != [0; 3]).then_some(PODRANK_ERR_RESERVED));
        Member::new(number, MemberFlags::from_bits(bytes[4]))
    });
    members.collect()
}

impl Question<'_> {
    /// What its outputs are to begin with; nothing if a buffer is not all there, or it is none of these functions.
    pub(super) fn stateful_set(&self, wrong: &mut BTreeSet<i32>, spoilt: bool) -> Option<Outputs> {
        Some(match self.function.name {
            "podrank_stateful_set_ordinal" => {
                let [set, pod] = ["set", "pod"].map(|name| (self.content)(name).unwrap_or_default());
                vec![("ordinal", ordinal(set, pod).unwrap_or(-1).to_ne_bytes().to_vec())]
            }
            "podrank_stateful_set_next" => {
                let set = read_set((self.content)("set")?, wrong);
                let members = read_members((self.content)("members").unwrap_or_default(), wrong);
                if spoilt || !wrong.is_empty() {
                    return Some(Vec::new());
                }
                let mut outcomes = vec![Outcome::default(); members.len()];
                let step = next_sync(&set, &members, &mut outcomes).expect("as many outcomes");
                let outcomes = outcomes.iter().flat_map(|outcome| {
                    let numbers = [outcome.member, outcome.by, outcome.by_ordinal.cast_unsigned()];
                    let rest = [outcome.verdict.number(), outcome.reason.number(), 0, 0];
                    [&numbers.map(u32::to_ne_bytes).concat()[..], &rest].concat()
                });
                let numbers = [step.delete, step.contested, step.blocked, 0];
                vec![("outcomes", outcomes.collect()), ("step", numbers.map(u32::to_ne_bytes).concat())]
            }
            _ => return None,
        })
    }
}
