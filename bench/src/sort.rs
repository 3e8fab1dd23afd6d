//! Races `sort` and `sort_with` against `sort_unstable_by` of `core::slice`, which gives the same answer: over sizes and the
//! patterns of sort-research-rs.

use crate::contenders;
use crate::data::{DataSet, exact, log_scaled};
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits};
use fastrand::Rng;
use podrank::{Pod, Policy};
use std::time::Duration;

const SIZES: [u32; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/// How many distinct pods there are where there are few.
const FEW: usize = 20;

/// In which sequence the pods are listed.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Random,
    Sorted,
    Reversed,
    /// Copies of [`FEW`] pods.
    Few,
    /// About log2 n parts, each sorted or reversed.
    Sawtooth,
}

impl Pattern {
    const ALL: [Self; 5] = [Self::Random, Self::Sorted, Self::Reversed, Self::Few, Self::Sawtooth];

    const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sorted => "sorted",
            Self::Reversed => "reversed",
            Self::Few => "few",
            Self::Sawtooth => "sawtooth",
        }
    }

    fn list(self, pods: &[Pod], policy: &Policy) -> Vec<Pod> {
        let (mut list, mut rng) = (pods.to_vec(), Rng::with_seed(8));
        match self {
            Self::Random => {}
            Self::Sorted => list.sort_by(|a, b| policy.compare(a, b)),
            Self::Reversed => list.sort_by(|a, b| policy.compare(b, a)),
            Self::Few => list.fill_with(|| pods[rng.usize(..FEW.min(pods.len()))]),
            Self::Sawtooth => {
                for tooth in list.chunks_mut(pods.len() / pods.len().ilog2() as usize) {
                    tooth.sort_by(|a, b| policy.compare(a, b));
                    if rng.bool() {
                        tooth.reverse();
                    }
                }
            }
        }
        list
    }
}

/// Runs the races of up to `largest` pods.
pub fn run(largest: usize, report: &mut Report) {
    report.section(
        "Sort",
        "Nanoseconds per pod for `sort_unstable_by` of `core::slice` on indices, by `compare` and then by index. `sort` and \
         `scratch` (`sort_with`) are multiples of it, with log-scaled and with exact times.",
    );
    report.line(format!("```text\n{:10} {:>10} | {:^26} | {:>15}", "spread", "", "log-scaled", "exact"));
    let header = format!("{:>8} {:>8} {:>8}", "core", "sort", "scratch");
    report.line(format!("{:10} {:>10} | {header} | {header}", "", "n"));
    let all = DataSet::Spread.pods(largest.min(1_000_000));
    let mut worst = [None; 2];
    for pattern in Pattern::ALL {
        for size in SIZES {
            let Some(pods) = all.get(..size as usize) else { continue };
            let [log_scaled, exact] = [log_scaled(), exact()].map(|policy| {
                let [core, sort, scratch] = times(&policy, &pattern.list(pods, &policy));
                let ratios = [sort / core, scratch / core];
                for (worst, ratio) in worst.iter_mut().zip(ratios) {
                    *worst = Some(worst.map_or(ratio, |worst: f64| worst.max(ratio)));
                }
                let [core, sort, scratch] = [core / f64::from(size), ratios[0], ratios[1]].map(digits);
                format!("{core:>8} {sort:>8} {scratch:>8}")
            });
            report.line(format!("{:10} {:>10} | {log_scaled} | {exact}", pattern.name(), count(pods.len())));
        }
    }
    report.line("```\n");
    let [sort, scratch] = worst;
    report.goal("sort over sort_unstable_by of core::slice", sort, Limit::AtMost(1.2));
    report.goal("sort_with over sort_unstable_by of core::slice", scratch, Limit::AtMost(1.0));
}

/// The times of `core::slice`, `sort` and `sort_with`.
fn times(policy: &Policy, pods: &[Pod]) -> [f64; 3] {
    let order = || vec![0; pods.len()];
    let (mut by_core, mut sorted, mut sorted_with) = (order(), order(), order());
    let mut scratch = contenders::scratch(pods, pods.len());
    // Several laps of the longest lists.
    let share = Duration::from_millis(if pods.len() < 100_000 { 100 } else { 1_000 });
    let times = race(
        share,
        &mut [
            again(|| sort_with_core(policy, pods, &mut by_core)),
            again(|| policy.sort(pods, &mut sorted).map_or(0, <[u32]>::len)),
            again(|| policy.sort_with(pods, &mut sorted_with, &mut scratch).map_or(0, <[u32]>::len)),
        ],
    );
    assert!(by_core == sorted && by_core == sorted_with, "all contenders give one answer");
    [times[0], times[1], times[2]]
}

/// Sorts indices with `sort_unstable_by` of `core::slice`. Of pods that tie, the one with the lower index is deleted
/// first.
pub(crate) fn sort_with_core(policy: &Policy, pods: &[Pod], order: &mut [u32]) -> usize {
    for (slot, index) in order.iter_mut().zip(0..) {
        *slot = index;
    }
    order.sort_unstable_by(|&a, &b| policy.compare(&pods[a as usize], &pods[b as usize]).then(a.cmp(&b)));
    order.len()
}
