//! Why pods are contested, in small random sets whose pods collide, compared with all pairs and triples of them by the naive relation.

use crate::records::{NOW, before, dump, now};
use fastrand::Rng;
use podrank::{Flags, KubernetesOrdering, Phase, Pod, Policy, Time, Uid};
use podrank_laws::relation;
use podrank_predict::{Arrow, Contest, Input, Options, PodPreview, Verdict, circle, preview_workload};
use std::collections::BTreeMap;

/// Ages in seconds: the first three are in one age bucket, between 2^35 ns and 2^36 ns.
const AGES: [i64; 4] = [40, 41, 60, 100];

/// Kubernetes' relation.
fn is(a: &Pod, b: &Pod) -> KubernetesOrdering {
    relation::relation(&Policy::at(Time::from_unix(NOW, 0)), a, b).0
}

#[test]
fn a_cycle_is_claimed_only_where_there_is_one() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for seed in 0..5_000 {
        let mut rng = Rng::with_seed(seed);
        let pods = pods(&mut rng);
        let replicas = rng.u32(1..u32::try_from(pods.len()).expect("few"));
        let input = Input::read(dump(&pods).as_bytes()).expect("a dump");
        let options = Options::new(replicas, now());
        let preview = preview_workload(&input, &options).expect("sound");
        let contested: Vec<_> = preview.pods().filter(|pod| pod.verdict == Verdict::Contested).collect();
        assert!(preview.pods().all(|pod| (pod.verdict == Verdict::Contested) == pod.contest.is_some()));
        if contested.is_empty() {
            continue;
        }
        let own: Vec<_> = contested.iter().map(|shown| find(&pods, &shown.uid)).collect();
        let (contest, words) = expected(&own);
        *seen.entry(words).or_default() += 1;
        let circles = contested.iter().filter(|shown| {
            assert_eq!(shown.contest, Some(contest), "seed {seed}");
            assert!(shown.why.ends_with(&format!(", by list order: {words}")), "seed {seed}: {}", shown.why);
            let arrows = circle(&input, &options, &shown.uid).expect("sound");
            assert_eq!(arrows.is_some(), contest != Contest::Tie, "seed {seed}");
            arrows.is_some_and(|arrows| is_circle(&pods, shown, &arrows, seed))
        });
        assert_eq!(circles.count() > 0, contest == Contest::Cycle, "seed {seed}");
        let error = circle(&input, &options, "none").expect_err("no such pod");
        assert_eq!(error.to_string(), "no active pod of a set has the UID none");
    }
    assert!(seen.len() == 3 && seen.values().all(|&times| times >= 300), "{seen:?}");
}

/// Whether the three pods, each compared with the next, are a circle: none of these pairs ties. At most one of them does.
fn is_circle(pods: &[Pod], shown: &PodPreview<'_>, arrows: &[Arrow; 3], seed: u64) -> bool {
    assert_eq!(arrows[0].uid, shown.uid, "seed {seed}");
    let ties = (0..3).filter(|&index| {
        let (arrow, next) = (&arrows[index], &arrows[(index + 1) % 3]);
        let relation = is(find(pods, &arrow.uid), find(pods, &next.uid));
        assert_ne!(relation, KubernetesOrdering::After, "seed {seed}");
        assert_eq!(arrow.rule.is_none(), relation == KubernetesOrdering::Tie, "seed {seed}");
        relation == KubernetesOrdering::Tie
    });
    let ties = ties.count();
    assert!(ties <= 1, "seed {seed}");
    ties == 0
}

/// From all pairs and triples of the contested pods.
fn expected(pods: &[&Pod]) -> (Contest, &'static str) {
    let every = 0..pods.len();
    // Cycles of any length: the closure of "goes before".
    let goes_before = |a: &Pod| pods.iter().map(|b| is(a, b) == KubernetesOrdering::Before).collect();
    let mut before: Vec<Vec<bool>> = pods.iter().map(|a| goes_before(a)).collect();
    for via in every.clone() {
        for a in every.clone() {
            for b in every.clone() {
                before[a][b] |= before[a][via] && before[via][b];
            }
        }
    }
    let is_between = |a: &Pod, b: &Pod, c: &Pod| {
        is(a, b) == KubernetesOrdering::Tie
            && is(a, c) == KubernetesOrdering::Before
            && is(c, b) == KubernetesOrdering::Before
    };
    let has_between = |a: &Pod, b: &Pod| pods.iter().any(|c| is_between(a, b, c));
    if every.clone().any(|pod| before[pod][pod]) {
        (Contest::Cycle, "the rules form a cycle")
    } else if pods.iter().any(|a| pods.iter().any(|b| a.uid != b.uid && has_between(a, b))) {
        (Contest::Between, "two of them tie, yet another goes between them")
    } else {
        assert!(
            pods.iter().all(|pod| is(pods[0], pod) == KubernetesOrdering::Tie),
            "nothing else leaves pods open"
        );
        (Contest::Tie, "no rule separates them")
    }
}

fn pods(rng: &mut Rng) -> Vec<Pod> {
    let (times, most_restarts) = (rng.usize(1..=4), rng.u32(0..2));
    let mut numbers: Vec<_> = (0..rng.u128(3..9)).collect();
    rng.shuffle(&mut numbers);
    let since = |age: usize| before(AGES[age]);
    let mut pod = |number: u128| {
        let (is_ready, ready) = (rng.u8(0..8) > 0, since(rng.usize(0..times)));
        Pod {
            uid: Uid::from_bytes(number.to_be_bytes()),
            phase: Phase::RUNNING,
            flags: Flags::NONE.with(Flags::ASSIGNED, true).with(Flags::READY, is_ready),
            ready_time: if is_ready { ready } else { Time::UNSET },
            creation_time: since(if rng.bool() { 3 } else { rng.usize(0..times) }),
            restarts: rng.u32(0..=most_restarts),
            ..Pod::new()
        }
    };
    numbers.into_iter().map(&mut pod).collect()
}

fn find<'p>(pods: &'p [Pod], uid: &str) -> &'p Pod {
    pods.iter().find(|pod| pod.uid.to_string() == uid).expect("a pod of the set")
}
