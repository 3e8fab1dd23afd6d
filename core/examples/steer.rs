//! You want to delete pods on pay-per-use nodes first, so that these nodes become empty and cost nothing. Kubernetes
//! does not prefer them, but with these deletion costs it deletes them first.
//!
//!     cargo run -p podrank --example steer

use podrank::{Flags, Phase, Pod, Policy, SteerScratch, Time, Uid};

const NOW: i64 = 1_767_268_800; // 2026-01-01T12:00:00Z

/// A pod's name and node, whether it is ready, and its deletion cost.
type Listed = (&'static str, &'static str, bool, i32);

const PODS: [Listed; 7] = [
    ("web-1", "reserved-1", true, 0),
    ("web-2", "reserved-1", true, 0),
    ("web-3", "reserved-2", true, 0),
    ("web-4", "pay-per-use-1", true, 0),
    ("web-5", "pay-per-use-1", true, 100),
    ("web-6", "pay-per-use-2", true, 0),
    ("web-7", "reserved-2", false, 0),
];

fn record((number, (_, node, ready, deletion_cost)): (u8, Listed)) -> Pod {
    Pod {
        uid: Uid::from_bytes([number; 16]),
        ready_time: if ready { Time::from_unix(NOW - 3600, 0) } else { Time::UNSET },
        creation_time: Time::from_unix(NOW - 3605, 0),
        // Lower tiers are deleted first.
        tier: u16::from(!node.starts_with("pay-per-use")),
        deletion_cost,
        phase: Phase::RUNNING,
        flags: Flags::ASSIGNED.with(Flags::READY, ready),
        ..Pod::new()
    }
}

fn main() {
    let mut pods: Vec<Pod> = (1..).zip(PODS).map(record).collect();
    let policy = Policy::at(Time::from_unix(NOW, 0));

    let (mut costs, mut scratch) = ([0; PODS.len()], [SteerScratch::default(); PODS.len()]);
    let steered = policy.steer(&pods, |_| Some(1), &mut costs, &mut scratch).expect("no cost is fixed");
    println!("{} of {} deletion costs change:", steered.changed(), pods.len());
    for ((name, node, _, old), new) in PODS.iter().zip(steered.costs()).filter(|((.., old), new)| old != *new)
    {
        println!("  {name} on {node}: {old} to {new}");
    }
    for unsteerable in steered.unsteerable() {
        println!("{} is still deleted before them: {}", PODS[unsteerable.pod as usize].0, unsteerable.rule);
    }

    for (pod, cost) in pods.iter_mut().zip(steered.costs()) {
        pod.deletion_cost = *cost;
    }
    let (mut order, mut scores) = ([0; PODS.len()], [0; PODS.len()]);
    let settled = policy.predict(&pods, 4, &mut order, &mut scores).expect("enough memory");
    let certain: Vec<&str> = settled.deleted().iter().map(|index| PODS[*index as usize].0).collect();
    println!("if Kubernetes deletes 4 pods, it certainly deletes: {}", certain.join(" "));
}
