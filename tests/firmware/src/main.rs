//! Firmware for a Cortex-M3, without operating system or heap. It prints which pods go when a `ReplicaSet` is scaled
//! down, and by which rule. It exits with 0, or with 1 if the pods do not fit.
#![no_std]
#![no_main]

mod start;

use podrank::{Flags, Phase, Pod, PodSet, PodSetError, Policy, Rule, Time, Uid};
use start::write;

/// 2026-01-01T12:00:00Z, in seconds since the Unix epoch.
const NOW: i64 = 1_767_268_800;

/// A pod in flash.
struct Pump {
    name: &'static str,
    node: &'static str,
    pod: Pod,
}

const fn pump(name: &'static str, uid: u8, node: &'static str, ready_for: i64, restarts: u32) -> Pump {
    let pod = Pod {
        uid: Uid::from_bytes([uid; 16]),
        phase: Phase::RUNNING,
        flags: Flags::READY,
        ready_time: Time::from_unix(NOW - ready_for, 0),
        creation_time: Time::from_unix(NOW - ready_for - 10, 0),
        restarts,
        ..Pod::new()
    };
    Pump { name, node, pod }
}

static PUMPS: [Pump; 6] = [
    pump("pump-1", 1, "shed", 90, 0),
    pump("pump-2", 2, "shed", 9000, 3),
    pump("pump-3", 3, "roof", 60, 0),
    pump("pump-4", 4, "well", 700, 0),
    pump("pump-5", 5, "well", 500, 0),
    pump("pump-6", 6, "well", 400, 1),
];

fn name(index: u32) -> &'static str {
    PUMPS.get(index as usize).map_or("?", |pump| pump.name)
}

fn run() -> Result<(), PodSetError> {
    let mut set = PodSet::<8, 4>::new();
    for pump in &PUMPS {
        set.push(pump.pod, pump.node)?;
    }
    let policy = Policy::at(Time::from_unix(NOW, 0));
    // Two pods are deleted. The third of the order is the first that is kept.
    let &[first, second, stays] = set.victims(&policy, 3) else { return Err(PodSetError::PodsFull) };
    write(&[name(first), " goes\n", name(second), " goes\n"]);

    if let (Some(a), Some(b)) = (set.pods().get(first as usize), set.pods().get(stays as usize)) {
        let (_, rule) = policy.decide(a, b);
        let rule = rule.map_or("nothing", Rule::name);
        write(&[name(first), " rather than ", name(stays), " by ", rule, "\n"]);
    }
    Ok(())
}

fn main() -> u32 {
    u32::from(run().is_err())
}
