//! Times `odds`, which sorts 4,096 lists, against sorting the same pods once.

use crate::data::{DataSet, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits, time};
use podrank::Odds;
use std::time::Duration;

/// Each size with the most milliseconds that it may take.
const SIZES: [(u32, f64); 4] = [(8, 3.0), (100, 50.0), (1_000, 1_000.0), (5_000, f64::INFINITY)];

/// The number of lists that core sorts.
const LISTS: f64 = 4_096.0;

/// Runs the races.
pub fn run(report: &mut Report) {
    report.section(
        "Odds",
        "How long `odds` takes for the pods of a rollout of which half go, beside one `sort` of the same pods. It sorts 4,096 lists, but of \
         8 pods every one of the few that make a difference. `ratio` is one list divided by one `sort`.",
    );
    report.line("```text");
    report.line(format!("{:>6} {:>10} {:>10} {:>6}", "n", "odds", "sort", "ratio"));
    let mut worst: Option<f64> = None;
    for (size, most) in SIZES {
        let pods = DataSet::Rollout.pods(size as usize);
        let policy = log_scaled();
        let (mut order, mut all) = (vec![0; pods.len()], vec![0; pods.len()]);
        let (mut odds, mut scratch) = (vec![Odds::default(); pods.len()], vec![[0; 4]; pods.len()]);
        let times = race(
            Duration::from_millis(200),
            &mut [
                again(|| {
                    policy
                        .odds(&pods, pods.len() / 2, &mut order, &mut odds, &mut scratch)
                        .map(|it| it.quota())
                }),
                again(|| policy.sort(&pods, &mut all).map_or(0, <[u32]>::len)),
            ],
        );
        let ratio = times[0] / LISTS / times[1];
        worst = Some(worst.map_or(ratio, |worst| worst.max(ratio)));
        report.line(format!(
            "{:>6} {:>10} {:>10} {:>6}",
            count(pods.len()),
            time(times[0]),
            time(times[1]),
            digits(ratio)
        ));
        if most.is_finite() {
            report.goal(format!("odds of {size} pods, ms"), Some(times[0] / 1e6), Limit::AtMost(most));
        }
    }
    report.line("```\n");
    report.goal("one list of odds over one sort", worst, Limit::AtMost(1.5));
}
