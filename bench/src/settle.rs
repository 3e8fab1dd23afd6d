//! Times `settle`, which predicts what Kubernetes does, against sorting the same pods, for each number of pods.

use crate::contenders;
use crate::data::{DataSet, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits};
use std::time::Duration;

const SIZES: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
const SETS: [DataSet; 2] = [DataSet::Spread, DataSet::Rollout];

/// Runs the races of up to `largest` pods.
pub fn run(largest: usize, report: &mut Report) {
    report.section(
        "Settle",
        "Nanoseconds per pod for `settle`, for `sort`, and for `sort` with a scratch buffer for all pods. `ratio` is `settle` divided by `sort`.",
    );
    report.line("```text");
    report
        .line(format!("{:10} {:>10} {:>8} {:>8} {:>8} {:>8}", "", "n", "settle", "sort", "scratch", "ratio"));
    let mut worst = None;
    for set in SETS {
        for size in SIZES {
            let pods = set.pods(size as usize);
            if pods.len() > largest {
                continue;
            }
            let [settle, sort, scratch] = times(&pods).map(|time| time / f64::from(size));
            worst = Some(worst.map_or(settle / sort, |worst: f64| worst.max(settle / sort)));
            report.line(format!(
                "{:10} {:>10} {:>8} {:>8} {:>8} {:>8}",
                set.name(),
                count(pods.len()),
                digits(settle),
                digits(sort),
                digits(scratch),
                digits(settle / sort),
            ));
        }
    }
    report.line("```\n");
    report.goal("settle over sort, of the same pods", worst, Limit::AtMost(3.0));
}

fn times(pods: &[podrank::Pod]) -> [f64; 3] {
    let policy = log_scaled();
    let (len, k) = (pods.len(), (pods.len() / 2).min(500));
    let (mut order, mut scores) = (vec![0; len], vec![0; len]);
    let (mut all, mut all_again, mut scratch) = (vec![0; len], vec![0; len], contenders::scratch(pods, len));
    let times = race(
        Duration::from_millis(100),
        &mut [
            again(|| policy.predict(pods, k, &mut order, &mut scores).map_or(0, |settled| settled.quota())),
            again(|| policy.sort(pods, &mut all).map_or(0, <[u32]>::len)),
            again(|| policy.select_with(pods, &mut all_again, &mut scratch).map_or(0, <[u32]>::len)),
        ],
    );
    [times[0], times[1], times[2]]
}
