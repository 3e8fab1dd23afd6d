//! Times `settle`, which predicts what Kubernetes does, against sorting the same pods, for each number of pods.

use crate::data::{DataSet, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits};
use crate::sort::sort_with_core;
use std::time::Duration;

const SIZES: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
const SETS: [DataSet; 2] = [DataSet::Spread, DataSet::Rollout];

/// Runs the races of up to `largest` pods.
pub fn run(largest: usize, report: &mut Report) {
    report.section(
        "Settle",
        "Nanoseconds per pod for `settle`, and for `sort_unstable_by` of `core::slice`. `ratio` is the one divided by the other.",
    );
    report.line("```text");
    report.line(format!("{:10} {:>10} {:>8} {:>8} {:>8}", "", "n", "settle", "core", "ratio"));
    let mut worst = None;
    for set in SETS {
        for size in SIZES {
            let pods = set.pods(size as usize);
            if pods.len() > largest {
                continue;
            }
            let [settle, core] = times(&pods).map(|time| time / f64::from(size));
            worst = Some(worst.map_or(settle / core, |worst: f64| worst.max(settle / core)));
            report.line(format!(
                "{:10} {:>10} {:>8} {:>8} {:>8}",
                set.name(),
                count(pods.len()),
                digits(settle),
                digits(core),
                digits(settle / core),
            ));
        }
    }
    report.line("```\n");
    report.goal("settle over sort_unstable_by of core::slice, of the same pods", worst, Limit::AtMost(3.0));
}

fn times(pods: &[podrank::Pod]) -> [f64; 2] {
    let policy = log_scaled();
    let (len, k) = (pods.len(), (pods.len() / 2).min(500));
    let (mut order, mut scores, mut all) = (vec![0; len], vec![0; len], vec![0; len]);
    let times = race(
        Duration::from_millis(100),
        &mut [
            again(|| policy.predict(pods, k, &mut order, &mut scores).map_or(0, |settled| settled.quota())),
            again(|| sort_with_core(&policy, pods, &mut all)),
        ],
    );
    [times[0], times[1]]
}
