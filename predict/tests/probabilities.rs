//! What changes the probability of a pod, and what does not.

use crate::records::{before, now, object};
use crate::steer::dump::{dump, input, of_deployment};
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use podrank::{Flags, Phase, Pod, Uid};
use podrank_laws::generate::seeds;
use podrank_laws::objects;
use podrank_predict::{Options, Probability, Snapshot, Verdict, preview_workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Ages reach a power of two nanoseconds after so many seconds, and a fraction.
const EDGE: i64 = (1 << 38) / 1_000_000_000;

fn later(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

/// A set of its own, or of a Deployment at rest, whose pods became ready within a few seconds, and of which some have restarted.
fn scene(random: &mut Rng, pods: u32) -> Vec<Value> {
    let seconds = random.i64(1..6);
    let mut pod = |number: u32| {
        let record = Pod {
            uid: Uid::from_bytes(random.u128(..).to_be_bytes()),
            node: random.u32(..20),
            phase: Phase::RUNNING,
            flags: Flags::NONE.with(Flags::ASSIGNED, true).with(Flags::READY, true),
            ready_time: before(-random.i64(0..seconds)),
            creation_time: before(random.i64(1..4)),
            restarts: u32::from(random.u8(..4) == 0),
            ..Pod::new()
        };
        objects::with(object(number, &record), "metadata namespace", json!("shop"))
    };
    let pods: Vec<_> = (0..pods).map(&mut pod).collect();
    if random.bool() { dump(&pods) } else { of_deployment(&pods) }
}

fn options(now: Timestamp) -> Options {
    let mut options = Options::new(0, now);
    options.replicas = None;
    options
}

/// The verdict and the odds of each pod, by name, if five are kept.
fn of_pods(input: &Snapshot, options: &Options) -> BTreeMap<String, (Verdict, Option<Probability>)> {
    let mut options = options.clone();
    options.replicas = Some(5);
    let preview = preview_workload(input, &options).expect("a preview");
    preview.pods().map(|pod| (pod.name().to_owned(), (pod.verdict, pod.probability))).collect()
}

/// Two calls differ because ages reach a power of two in between, and for no other reason.
#[test]
fn time_alone_changes_odds() {
    for seed in seeds(12) {
        let mut random = Rng::with_seed(seed);
        let mut items = scene(&mut random, 10);
        let listed = input(&items);
        random.shuffle(&mut items);
        let shuffled = input(&items);
        let at = |input: &Snapshot, seconds: i64| of_pods(input, &options(later(seconds)));
        // No age reaches a power of two in this time.
        let first = at(&listed, EDGE - 30);
        assert_eq!(first, at(&shuffled, EDGE - 30), "seed {seed}: another list");
        assert_eq!(first, at(&listed, EDGE - 10), "seed {seed}: 20 seconds later");
    }
}
