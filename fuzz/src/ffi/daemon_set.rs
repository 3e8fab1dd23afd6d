//! The function for a `DaemonSet`'s sync: what its buffers hold before a call, and what they must hold after it. What a sync does
//! is the core's answer, which the target `daemon_set` compares with a naive implementation.

use super::{Outputs, Question, ints, longs, outcomes, time, words};
use arbitrary::{Result, Unstructured};
use podrank::controller::IntOrPercent;
use podrank::controller::daemon_set::{
    DaemonSet, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Reason, Strategy, next_sync,
};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_through_c::functions::{Buffer, Function, Use};
use std::collections::BTreeSet;

/// What one of its buffers holds before the call. `None` for another function.
pub(super) fn content(
    function: &Function,
    buffer: &Buffer,
    size: usize,
    u: &mut Unstructured<'_>,
) -> Result<Option<Vec<u8>>> {
    if function.name != "podrank_daemon_set_next" || buffer.usage == Use::Out {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    match buffer.name {
        "set" => {
            for _ in 0..2 {
                bytes.extend(u.choose(&[0_i32, 0, 1, 2, 34, 100, 4_194_304, 4_194_305])?.to_ne_bytes());
            }
            // Percentages, and seldom OnDelete and being deleted.
            let flags = if u.ratio(1, 8)? { 0b1111 } else { 0b1100 };
            bytes.extend((u.int_in_range(0..=15_u32)? & flags).to_ne_bytes());
        }
        "nodes" => {
            while bytes.len() < size {
                bytes.push(*u.choose(&[7, 7, 7, 7, 5, 1, 0, 15])?);
            }
        }
        _ => {
            while bytes.len() < size {
                let name_order = u32::try_from(bytes.len() / 24).expect("few");
                let node = *u.choose(&[name_order, name_order, 0, 1, 2, 3, NO_NODE])?;
                let flags = u.arbitrary::<u8>()?;
                // Few pods have ended or are being deleted.
                let flags = if u.ratio(7, 8)? { flags & 0x1f } else { flags };
                bytes.extend(i64::from(u.int_in_range(0..=2_u8)?).to_ne_bytes());
                bytes.extend([name_order, node].map(u32::to_ne_bytes).concat());
                bytes.extend([flags, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
    }
    Ok(Some(bytes))
}

/// The `DaemonSet` in a buffer, by the words of the header; `wrong` gets what is unsound in it.
fn read_set(bytes: &[u8], wrong: &mut BTreeSet<i32>) -> DaemonSet {
    let ([surge, unavailable], [flags]) = (ints(bytes, [0, 4]), words(bytes, [8]));
    wrong.extend((surge < 0 || unavailable < 0).then_some(PODRANK_ERR_NEGATIVE));
    wrong.extend((flags >= 16).then_some(PODRANK_ERR_FLAGS));
    wrong.extend((bytes[12..] != [0; 20]).then_some(PODRANK_ERR_RESERVED));
    let is_on_delete = flags & PODRANK_DAEMON_SET_ON_DELETE != 0;
    let mut budget = |number: i32, percent: u32| {
        if flags & percent == 0 {
            return IntOrPercent::Int(number);
        }
        wrong.extend((number > 4_194_304 && !is_on_delete).then_some(PODRANK_ERR_PERCENT_RANGE));
        IntOrPercent::Percent(number.cast_unsigned())
    };
    let max_surge = budget(surge, PODRANK_DAEMON_SET_SURGE_PERCENT);
    let max_unavailable = budget(unavailable, PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT);
    let rolling = Strategy::RollingUpdate { max_surge, max_unavailable };
    DaemonSet {
        strategy: if is_on_delete { Strategy::OnDelete } else { rolling },
        is_being_deleted: flags & PODRANK_DAEMON_SET_BEING_DELETED != 0,
    }
}

/// The pods in a buffer, likewise, on this number of nodes.
fn read_pods(bytes: &[u8], nodes: usize, wrong: &mut BTreeSet<i32>) -> Vec<Pod> {
    let pods = bytes.chunks_exact(24).map(|bytes| {
        let [name_order, node] = words(bytes, [8, 12]);
        let has_ended_twice = bytes[16] & 0x60 == 0x60;
        wrong.extend(has_ended_twice.then_some(PODRANK_ERR_FLAGS));
        wrong.extend((bytes[17..] != [0; 7]).then_some(PODRANK_ERR_RESERVED));
        wrong.extend((node != NO_NODE && node as usize >= nodes).then_some(PODRANK_ERR_NODE));
        Pod {
            creation_time: time(longs(bytes, [0])[0]),
            name_order,
            node,
            flags: PodFlags::from_bits(bytes[16]),
            ..Pod::new()
        }
    });
    pods.collect()
}

impl Question<'_> {
    /// What its outputs are to begin with; nothing if a buffer is not all there, or it is another function.
    pub(super) fn daemon_set(&self, wrong: &mut BTreeSet<i32>, spoilt: bool) -> Option<Outputs> {
        if self.function.name != "podrank_daemon_set_next" {
            return None;
        }
        let set = read_set((self.content)("set")?, wrong);
        let nodes = (self.content)("nodes").unwrap_or_default();
        wrong.extend(nodes.iter().any(|node| *node >= 16).then_some(PODRANK_ERR_FLAGS));
        let pods = read_pods((self.content)("pods").unwrap_or_default(), nodes.len(), wrong);
        if spoilt || !wrong.is_empty() {
            return Some(Vec::new());
        }
        let nodes: Vec<NodeFlags> = nodes.iter().copied().map(NodeFlags::from_bits).collect();
        let (mut order, mut found) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
        let step = next_sync(&set, &nodes, &pods, &mut order, &mut found).expect("as many of each");
        let blocked_by = step.blocked_by.unwrap_or(PODRANK_NONE);
        let counts =
            [step.wanted, step.used, step.available, step.deleted, step.creates, step.later, blocked_by];
        let step = [
            &[step.surge, step.unavailable].map(i64::to_ne_bytes).concat()[..],
            &counts.map(u32::to_ne_bytes).concat(),
            &[step.is_update.into(), 0, 0, 0],
        ];
        Some(vec![("outcomes", outcomes(&found, Reason::number)), ("step", step.concat())])
    }
}
