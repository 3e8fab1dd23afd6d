//! The table: means over seeds, each with the standard deviation of single seeds.

use super::cluster::Cluster;
use super::once;
use super::rule::Rule;
use super::scenario::Scenario;
use std::fmt::Write as _;

/// The number of steps of a gradual scale-down.
const STEPS: u32 = 10;

/// Returns a table of how many nodes become empty in one scale-down: by each rule, in one step and in several, and if
/// one solver decides for all workloads.
#[must_use]
pub fn table(scenario: &Scenario, seeds: u64) -> String {
    let Scenario { nodes, workloads, never } = scenario;
    let starts: Vec<_> = (0..seeds).map(|seed| once::start(scenario, seed)).collect();
    let cell = |of: &dyn Fn(&Cluster) -> u32| {
        let (mean, deviation) = mean(starts.iter().map(|start| f64::from(of(start))));
        format!(" {:>19}", format!("{mean:.1} ± {deviation:.1}"))
    };
    let (in_use, _) = mean(starts.iter().map(|start| f64::from(start.in_use())));
    let mut text = format!(
        "{nodes} nodes and {workloads} workloads, {never}% of which never scale; seeds 0 to {}: mean ± standard deviation\n\n",
        seeds - 1
    );
    let emptied = format!("NODES EMPTIED OF {in_use:.0}");
    let _ = writeln!(text, "{emptied:36} {:>19} {:>19}", "AT ONCE", format!("IN {STEPS} STEPS"));
    for rule in Rule::ALL {
        let [at_once, in_steps] = [1, STEPS].map(|steps| cell(&|start| once::freed(start, rule, steps)));
        let _ = writeln!(text, "{:36}{at_once}{in_steps}", rule.name());
    }
    let _ = writeln!(text, "{:36}{}", "all together, at best", cell(&once::jointly_freed));
    text
}

/// Returns the mean of values and their standard deviation.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let len = values.clone().map(|_| 1.0).sum::<f64>();
    let mean = values.clone().sum::<f64>() / len;
    let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / len).sqrt();
    (mean, deviation)
}
