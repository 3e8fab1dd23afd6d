//! How likely one pod goes at each count, against the preview of each count, on random sets; and what changes it.

use crate::records::{before, now, object};
use crate::steer::dump::{dump, input, of_deployment};
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use podrank::{Flags, Phase, Pod, Uid};
use podrank_laws::generate::seeds;
use podrank_laws::objects;
use podrank_preview::{
    Chance, Input, Options, Order, Verdict, Within, preview_workload, scale_down_order, standing_of_pod,
};
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

fn of_pod(input: &Input, options: &Options, pod: &str) -> Vec<Chance> {
    let order = standing_of_pod(input, options, pod).expect("a standing");
    let mut pods = order.pods();
    let standing = pods.next().expect("the pod");
    standing.chances.clone()
}

/// What each pod's chances are by the previews of all counts.
fn by_previews(input: &Input, options: &Options, pods: u32) -> BTreeMap<String, Vec<Chance>> {
    let mut chances = BTreeMap::<String, Vec<Chance>>::new();
    for replicas in (0..pods).rev() {
        let mut at = options.clone();
        at.replicas = Some(replicas);
        let preview = preview_workload(input, &at).expect("a preview");
        for pod in preview.pods() {
            assert_eq!(pod.odds.is_some(), pod.verdict == Verdict::Contested, "{} at {replicas}", pod.name);
            let all = chances.entry(pod.name.to_owned()).or_default();
            all.extend(pod.odds.map(|odds| Chance { replicas, odds }));
        }
    }
    chances
}

#[test]
fn a_pod_has_at_each_count_the_odds_of_the_preview_of_that_count() {
    let (mut compared, mut moving) = (0, 0);
    for seed in seeds(24) {
        let mut random = Rng::with_seed(seed);
        let most = if seed % 3 == 0 { 40 } else { 14 };
        let pods = random.u32(2..most);
        let items = scene(&mut random, pods);
        let input = input(&items);
        let mut options = options(later(EDGE + random.i64(-8..4)));
        options.within = if random.bool() { Within::USUAL } else { Within::default() };
        options.order = if random.u8(..8) == 0 { Order::Total } else { Order::Kubernetes };
        for (pod, expected) in by_previews(&input, &options, pods) {
            let found = of_pod(&input, &options, &pod);
            assert_eq!(found, expected, "seed {seed}, {pod} of {pods}");
            compared += found.len();
            let is_exact = |chance: &&Chance| chance.odds.error == 0.0;
            moving += found.len() - found.iter().filter(is_exact).count();
        }
    }
    println!("{compared} odds, {moving} of them sampled");
    assert!(compared > 1_000 && moving > 500, "{compared}, {moving}");
}

/// The order of all pods has no odds, because nobody could read them.
#[test]
fn only_a_pod_that_was_asked_about_has_chances() {
    let items = scene(&mut Rng::with_seed(1), 9);
    let (input, options) = (input(&items), options(later(EDGE)));
    assert!(scale_down_order(&input, &options).expect("an order").pods().all(|pod| pod.chances.is_empty()));
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
        let at = |input: &Input, seconds: i64| {
            ["web-0", "web-1", "web-2"].map(|pod| of_pod(input, &options(later(seconds)), pod))
        };
        // No age reaches a power of two in this time.
        let first = at(&listed, EDGE - 30);
        assert_eq!(first, at(&shuffled, EDGE - 30), "seed {seed}: another list");
        assert_eq!(first, at(&listed, EDGE - 10), "seed {seed}: 20 seconds later");
    }
}
