//! Times steering and spreading against sorting the same pods, for each number of pods.

use crate::chart::{Chart, Curve};
use crate::data::{DataSet, log_scaled};
use crate::race::{again, race};
use crate::report::{Report, count, digits};
use podrank::{Pod, SteerScratch};
use std::time::Duration;

const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
const NODES: u32 = 1_000;

/// Which pods are to go first, and what a random number says of each.
const WISHES: [(&str, Tier); 3] = [
    ("a tenth", |random| u16::from(random >= u16::MAX / 10)),
    ("five tiers", |random| random % 5),
    ("each its own", |random| random),
];

type Tier = fn(u16) -> u16;

/// Runs the races of up to `largest` pods, and draws them.
pub fn run(largest: usize, report: &mut Report) -> Chart {
    report.section(
        "Steer",
        "Nanoseconds per pod for `steer`, `spread` over 1,000 nodes, and `sort` of the same pods, which have costs from -2 to 2, \
         and how many costs change.",
    );
    report.line("```text");
    report.line(format!(
        "{:12} {:>10} {:>8} {:>8} {:>8} {:>10}",
        "first to go", "n", "steer", "spread", "sort", "changed"
    ));
    let mut curves = Vec::new();
    for (name, tier) in WISHES {
        let mut points = Vec::new();
        for size in SIZES {
            let pods = pods(size, tier);
            if pods.len() > largest {
                continue;
            }
            let ([steer, spread, sort], changed) = times(&pods);
            let per_pod = |time: f64| digits(time / f64::from(size));
            points.push((f64::from(size), steer / f64::from(size)));
            report.line(format!(
                "{name:12} {:>10} {:>8} {:>8} {:>8} {:>10}",
                count(pods.len()),
                per_pod(steer),
                per_pod(spread),
                per_pod(sort),
                count(changed),
            ));
        }
        curves.push(Curve { name: format!("steer, {name}"), points });
    }
    report.line("```\n");
    Chart { name: "steer", title: "steer".into(), x: "pods", y: "ns per pod", curves }
}

fn pods(size: u32, tier: Tier) -> Vec<Pod> {
    let mut pods = DataSet::Spread.pods(size as usize);
    let mut rng = fastrand::Rng::with_seed(9);
    for pod in &mut pods {
        pod.tier = tier(rng.u16(..));
        pod.deletion_cost = rng.i32(-2..3);
        pod.node = rng.u32(..NODES);
        pod.rank = 0;
    }
    pods
}

fn times(pods: &[Pod]) -> ([f64; 3], usize) {
    let policy = log_scaled();
    let len = pods.len();
    let (mut costs, mut scratch) = (vec![0; len], vec![SteerScratch::default(); len]);
    let changed =
        policy.steer(pods, |_| Some(1), &mut costs, &mut scratch).map_or(0, |steered| steered.changed());
    let (mut spread, mut counts, mut order) = (pods.to_vec(), vec![0; NODES as usize], vec![0; len]);
    let mut sorted = vec![0; len];
    let times = race(
        Duration::from_millis(100),
        &mut [
            again(|| {
                policy
                    .steer(pods, |_| Some(1), &mut costs, &mut scratch)
                    .map_or(0, |steered| steered.changed())
            }),
            again(|| policy.spread(&mut spread, &[], &mut counts, &mut order).is_ok()),
            again(|| policy.sort(pods, &mut sorted).map_or(0, <[u32]>::len)),
        ],
    );
    ([times[0], times[1], times[2]], changed)
}
