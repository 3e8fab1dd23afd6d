//! Why pods are contested, in small random sets whose pods collide, compared with all pairs and triples of them. The relation is
//! written apart from `podrank`, straight from docs/order.md.

use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use podrank_laws::objects;
use podrank_preview::{Arrow, Contest, Input, Options, PodPreview, Verdict, circle, preview_workload};
use serde_json::json;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter;

const SETS: u64 = 5_000;

/// Ages in seconds: the first three are in one age bucket, between 2^35 ns and 2^36 ns.
const AGES: [i64; 4] = [40, 41, 60, 100];

#[derive(Clone)]
struct Pod {
    uid: String,
    is_ready: bool,
    /// Since when it is ready, and when it was created: places in [`AGES`].
    ready: usize,
    created: usize,
    restarts: u32,
}

#[test]
fn a_cycle_is_claimed_only_where_there_is_one() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for seed in 0..SETS {
        let mut rng = Rng::with_seed(seed);
        let pods = pods(&mut rng);
        let replicas = rng.u32(1..u32::try_from(pods.len()).expect("few"));
        let text = dump(&pods);
        let input = Input::read(text.as_bytes()).expect("a dump");
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
    }
    assert!(seen.len() == 3 && seen.values().all(|&times| times >= 300), "{seen:?}");
}

/// Whether the three pods, each compared with the next, are a circle: none of these pairs ties. At most one of them does.
fn is_circle(pods: &[Pod], shown: &PodPreview<'_>, arrows: &[Arrow; 3], seed: u64) -> bool {
    assert_eq!(arrows[0].uid, shown.uid, "seed {seed}");
    let ties = (0..3).filter(|&index| {
        let (arrow, next) = (&arrows[index], &arrows[(index + 1) % 3]);
        let relation = relation(find(pods, &arrow.uid), find(pods, &next.uid));
        assert_ne!(relation, Ordering::Greater, "seed {seed}");
        assert_eq!(arrow.rule.is_none(), relation.is_eq(), "seed {seed}");
        relation.is_eq()
    });
    let ties = ties.count();
    assert!(ties <= 1, "seed {seed}");
    ties == 0
}

/// From all pairs and triples of the contested pods.
fn expected(pods: &[&Pod]) -> (Contest, &'static str) {
    let every = 0..pods.len();
    let is = |a: usize, b: usize| relation(pods[a], pods[b]);
    // Cycles of any length: the closure of "goes before".
    let mut before: Vec<Vec<bool>> =
        every.clone().map(|a| every.clone().map(|b| is(a, b).is_lt()).collect()).collect();
    for via in every.clone() {
        for a in every.clone() {
            for b in every.clone() {
                before[a][b] |= before[a][via] && before[via][b];
            }
        }
    }
    let triples = || {
        every.clone().flat_map(|a| (0..pods.len()).flat_map(move |b| (0..pods.len()).map(move |c| [a, b, c])))
    };
    assert!(
        triples().all(|[a, b, c]| !(is(a, b).is_eq() && is(b, c).is_eq()) || is(a, c).is_eq()),
        "ties are transitive"
    );
    let between =
        triples().any(|[a, b, c]| a != b && is(a, b).is_eq() && is(a, c).is_lt() && is(c, b).is_lt());
    if every.clone().any(|pod| before[pod][pod]) {
        (Contest::Cycle, "the rules form a cycle")
    } else if between {
        (Contest::Between, "two of them tie, yet another goes between them")
    } else {
        assert!(every.clone().all(|pod| is(0, pod).is_eq()), "nothing else leaves pods open");
        (Contest::Tie, "no rule separates them")
    }
}

/// Kubernetes' relation, of which these pods leave only the later rules open.
fn relation(a: &Pod, b: &Pod) -> Ordering {
    let bucket = |age: usize| usize::from(age == 3);
    let aged = |s: usize, t: usize| bucket(s).cmp(&bucket(t)).then_with(|| a.uid.cmp(&b.uid));
    if a.is_ready != b.is_ready {
        a.is_ready.cmp(&b.is_ready)
    } else if a.is_ready && a.ready != b.ready {
        aged(a.ready, b.ready)
    } else if a.restarts != b.restarts {
        b.restarts.cmp(&a.restarts)
    } else if a.created != b.created {
        aged(a.created, b.created)
    } else {
        Ordering::Equal
    }
}

fn pods(rng: &mut Rng) -> Vec<Pod> {
    let count = rng.usize(3..9);
    let (times, most_restarts) = (rng.usize(1..=4), rng.u32(0..2));
    let mut numbers: Vec<_> = (0..count).collect();
    rng.shuffle(&mut numbers);
    numbers
        .into_iter()
        .map(|number| Pod {
            uid: format!("00000000-0000-4000-8000-{number:012}"),
            is_ready: rng.u8(0..8) > 0,
            ready: rng.usize(0..times),
            created: if rng.bool() { 3 } else { rng.usize(0..times) },
            restarts: rng.u32(0..=most_restarts),
        })
        .collect()
}

fn now() -> Timestamp {
    "2026-03-10T12:00:00Z".parse().expect("a time")
}

fn find<'p>(pods: &'p [Pod], uid: &str) -> &'p Pod {
    pods.iter().find(|pod| pod.uid == uid).expect("a pod of the set")
}

fn dump(pods: &[Pod]) -> String {
    let time = |age: usize| (now() - SignedDuration::from_secs(AGES[age])).to_string();
    let object = |pod: &Pod| {
        let mut object = objects::pod(0);
        for (place, value) in [
            ("metadata name", json!(format!("web-{}", &pod.uid[35..]))),
            ("metadata uid", json!(pod.uid)),
            ("metadata creationTimestamp", json!(time(pod.created))),
            ("status conditions", objects::ready(pod.is_ready, &time(pod.ready))),
            ("status containerStatuses", json!([{ "name": "web", "restartCount": pod.restarts }])),
        ] {
            objects::put(&mut object, place, value);
        }
        object
    };
    let set = objects::bare_set("web", pods.len());
    objects::dump(&iter::once(set).chain(pods.iter().map(object)).collect::<Vec<_>>())
}
