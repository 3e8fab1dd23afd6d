//! Times `odds`, which sorts 4,096 lists, against sorting the same pods once.

use crate::data::{DataSet, NOW, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits, time};
use crate::sort::sort_with_core;
use podrank::{Pod, Probability, Time};
use std::time::Duration;

/// Each size with the most milliseconds that it may take.
const SIZES: [(u32, f64); 4] = [(8, 3.0), (100, 50.0), (1_000, 1_000.0), (5_000, f64::INFINITY)];

/// The number of lists that core sorts.
const LISTS: f64 = 4_096.0;

/// Returns the pods of a rollout on one node each, ready within three seconds an hour ago: those that became ready in the same
/// second go by restarts, the others by UID, so that most go around in circles.
fn possible(len: u32) -> Vec<Pod> {
    let mut pods = DataSet::Rollout.pods(len as usize);
    for (number, pod) in (0_u32..).zip(&mut pods) {
        pod.rank = 1;
        pod.ready_time = Time::from_unix_nanos(NOW - i64::from(3_600 + number % 3) * 1_000_000_000);
        pod.restarts = number.count_ones() % 3;
    }
    pods
}

/// Runs the races.
pub fn run(report: &mut Report) {
    report.section(
        "Probabilities",
        "How long `probabilities` takes for pods that became ready within three seconds and of which half go, beside one `sort_unstable_by` of the same pods. It \
         sorts 4,096 lists, but for 8 pods, of which 7 are possible, the 5,040 lists of those. `ratio` is one of 4,096 lists divided by one `sort_unstable_by`.",
    );
    report.line("```text");
    report.line(format!("{:>6} {:>9} {:>10} {:>10} {:>6}", "n", "possible", "odds", "core", "ratio"));
    let mut worst: Option<f64> = None;
    for (size, most) in SIZES {
        let pods = possible(size);
        let policy = log_scaled();
        let (mut order, mut all) = (vec![0; pods.len()], vec![0; pods.len()]);
        let (mut odds, mut scratch) = (vec![Probability::default(); pods.len()], vec![[0; 4]; pods.len()]);
        let settled = policy.probabilities(&pods, pods.len() / 2, 0, &mut order, &mut odds, &mut scratch);
        let undecided = settled.map_or(0, |settled| settled.possible().len());
        let times = race(
            Duration::from_millis(200),
            &mut [
                again(|| {
                    policy
                        .probabilities(&pods, pods.len() / 2, 0, &mut order, &mut odds, &mut scratch)
                        .map(|it| it.quota())
                }),
                again(|| sort_with_core(&policy, &pods, &mut all)),
            ],
        );
        let ratio = times[0] / LISTS / times[1];
        worst = Some(worst.map_or(ratio, |worst| worst.max(ratio)));
        report.line(format!(
            "{:>6} {:>9} {:>10} {:>10} {:>6}",
            count(pods.len()),
            count(undecided),
            time(times[0]),
            time(times[1]),
            digits(ratio)
        ));
        if most.is_finite() {
            report.goal(format!("odds of {size} pods, ms"), Some(times[0] / 1e6), Limit::AtMost(most));
        }
    }
    report.line("```\n");
    report.goal("one list of odds over one sort_unstable_by of core::slice", worst, Limit::AtMost(1.5));
}
