//! The first `k` of `n` pods, with and without a scratch buffer, with log-scaled and with exact times.

use crate::contenders;
use crate::data::{DataSet, exact, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits};
use podrank::{Pod, Policy};
use std::time::Duration;

/// How many pods there are. 150,000 are all that Kubernetes supports in one cluster.
const SIZES: [usize; 7] = [10, 100, 1_000, 10_000, 150_000, 1_000_000, 10_000_000];

/// As many as kube-controller-manager deletes at a time.
const BURST: usize = 500;

/// Sizes with the most floors that `select_with` may take there for a burst.
const GOALS: [(usize, f64); 2] = [(150_000, 3.0), (10_000_000, 1.3)];

/// Runs all races of up to `largest` pods.
pub fn run(largest: usize, report: &mut Report) {
    report.section(
        "The first k of n pods",
        "`floor` is the time to sum the bytes of the records, in nanoseconds per pod. `select` and `scratch` (`select_with`) are \
         multiples of the floor, with log-scaled and with exact times.",
    );
    let name = DataSet::Spread.name();
    report.line(format!("```text\n{name:10} {:>10} {:>8} | {:^17} | {:^17}", "", "", "log-scaled", "exact"));
    report.line(format!(
        "{:>10} {:>10} {:>8} | {:>8} {:>8} | {:>8} {:>8}",
        "n", "k", "floor", "select", "scratch", "select", "scratch"
    ));
    let all = DataSet::Spread.pods(largest);
    let mut bursts = Vec::new();
    for pods in SIZES.iter().filter_map(|&size| all.get(..size)) {
        for k in [1, 50, BURST].into_iter().filter(|k| *k <= pods.len()) {
            let times = times(pods, k);
            let [select, scratch, select_exact, scratch_exact] =
                [times[1], times[2], times[3], times[4]].map(|time| time / times[0]);
            report.line(format!(
                "{:>10} {:>10} {:>8} | {:>8} {:>8} | {:>8} {:>8}",
                count(pods.len()),
                count(k),
                digits(per_pod(times[0], pods)),
                digits(select),
                digits(scratch),
                digits(select_exact),
                digits(scratch_exact),
            ));
            if k == BURST {
                bursts.push((pods.len(), scratch.max(scratch_exact)));
            }
        }
    }
    report.line("```\n");
    for (pods, limit) in GOALS {
        let figure = bursts.iter().find(|(of, _)| *of == pods).map(|(_, floors)| *floors);
        let what = format!("{name}, {BURST} of {}: select_with, log-scaled or exact, in floors", count(pods));
        report.goal(what, figure, Limit::AtMost(limit));
    }
}

#[expect(clippy::cast_precision_loss, reason = "10,000,000 at most")]
fn per_pod(nanos: f64, pods: &[Pod]) -> f64 {
    nanos / pods.len() as f64
}

/// The times of the floor, and of `select` and `select_with`, log-scaled and exact.
fn times(pods: &[Pod], k: usize) -> Vec<f64> {
    let select = |policy: Policy| {
        let mut victims = vec![0; k];
        again(move || policy.select(pods, &mut victims).map_or(0, <[u32]>::len))
    };
    let with_scratch = |policy: Policy| {
        let (mut victims, mut scratch) = (vec![0; k], contenders::scratch(pods, k));
        again(move || policy.select_with(pods, &mut victims, &mut scratch).map_or(0, <[u32]>::len))
    };
    // Longest where a goal hangs on it.
    let share = Duration::from_millis(match (pods.len(), k) {
        (10_000_000, BURST) => 800,
        (150_000.., BURST) => 300,
        (1_000_000.., _) => 200,
        _ => 50,
    });
    race(
        share,
        &mut [
            again(|| contenders::floor(pods)),
            select(log_scaled()),
            with_scratch(log_scaled()),
            select(exact()),
            with_scratch(exact()),
        ],
    )
}
