//! `daemon_set`: a `DaemonSet`'s next sync against a naive implementation, in every order of nodes and pods.

use crate::case::extended;
use arbitrary::{Result, Unstructured};
use podrank::Time;
use podrank::controller::IntOrPercent;
use podrank::controller::daemon_set::{DaemonSet, NO_NODE, NodeFlags, Pod, PodFlags, Strategy};
use podrank_laws::daemon_set::sync_is_upstreams;

/// The target.
pub fn run(data: &[u8]) {
    let bytes = extended(data, 256);
    run_with(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    let set = DaemonSet {
        strategy: if u.ratio(1, 16)? {
            Strategy::OnDelete
        } else {
            Strategy::RollingUpdate { max_surge: budget(u)?, max_unavailable: budget(u)? }
        },
        is_being_deleted: u.ratio(1, 64)?,
    };
    // Where a pod may start, it may go on.
    let kinds = [7, 7, 7, 7, 5, 1, 0, 15].map(NodeFlags::from_bits);
    let mut nodes = Vec::new();
    for _ in 0..u.int_in_range(1..=4)? {
        nodes.push(*u.choose(&kinds)?);
    }
    // One pod on each node reaches the update, several do not.
    let is_tidy = u.ratio(2, 3)?;
    let mut pods = Vec::new();
    for name_order in 0..u.int_in_range(0..=4_u32)? {
        let node = if is_tidy { name_order } else { u.int_in_range(0..=4)? };
        let mut flags = u.arbitrary::<u8>()?;
        if is_tidy || flags & 0x60 == 0x60 {
            flags &= 0x1f;
        }
        pods.push(Pod {
            creation_time: Time::from_unix(u.int_in_range(0..=2)?, 0),
            name_order,
            node: if (node as usize) < nodes.len() { node } else { NO_NODE },
            flags: PodFlags::from_bits(if is_tidy { flags | 1 } else { flags }),
            ..Pod::new()
        });
    }
    sync_is_upstreams(&set, &nodes, &pods);
    Ok(())
}

fn budget(u: &mut Unstructured<'_>) -> Result<IntOrPercent> {
    Ok(match u.int_in_range(0..=3_u8)? {
        0 => IntOrPercent::Int(0),
        1 => IntOrPercent::Int(u.int_in_range(0..=3)?),
        _ => IntOrPercent::Percent(u.int_in_range(0..=120)?),
    })
}
