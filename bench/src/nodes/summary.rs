//! Tables and charts of it: means over seeds, each with the standard deviation of single seeds.

use super::cluster::Scheduler;
use super::days::{self, Days};
use super::demand::Demand;
use super::once;
use super::rule::Rule;
use super::scenario::Scenario;
use crate::chart::{Axis, Chart, Curve, Mark, Scale};
use crate::report::count;
use std::fmt::Write as _;
use std::thread;

/// What is compared: so many clusters for so many days.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The cluster.
    pub scenario: Scenario,
    /// How many seeds, from 0.
    pub seeds: u64,
    /// How many days, besides the first, which does not count.
    pub days: u32,
}

/// How many steps a scale-down has that is not done at once.
const STEPS: u32 = 10;

/// How many of 100 workloads never scale, in the chart of one scale-down. (With fewer, the solver takes minutes.)
const NEVER: [u32; 7] = [20, 30, 40, 50, 60, 70, 80];

/// How many hours the chart of days shows, the last ones, and for how many minutes it has a point.
const SHOWN: usize = 48;
const POINT: u32 = 15;

/// What a canary takes besides the costs: it is created, adopted and deleted.
const CANARY: u32 = 3;

/// A mean, and the standard deviation of what it is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    mean: f64,
    deviation: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let len = values.clone().map(|_| 1.0).sum::<f64>();
        let mean = values.clone().sum::<f64>() / len;
        let deviation = (values.map(|value| (value - mean).powi(2)).sum::<f64>() / len).sqrt();
        Self { mean, deviation }
    }

    fn cell(self) -> String {
        format!("{:.1} ± {:.1}", self.mean, self.deviation)
    }
}

/// The nodes that become empty in one scale-down.
#[derive(Clone, Debug)]
struct Once {
    in_use: Mean,
    /// For each rule, at once and in steps.
    rules: Vec<[Mean; 2]>,
    joint: Mean,
}

impl Once {
    fn new(scenario: &Scenario, seeds: u64) -> Self {
        let starts: Vec<_> = (0..seeds).map(|seed| once::start(scenario, seed)).collect();
        let freed =
            |rule, steps| Mean::of(starts.iter().map(|start| f64::from(once::freed(start, rule, steps))));
        Self {
            in_use: Mean::of(starts.iter().map(|start| f64::from(start.in_use()))),
            rules: Rule::ALL.map(|rule| [freed(rule, 1), freed(rule, STEPS)]).to_vec(),
            joint: Mean::of(starts.iter().map(|start| f64::from(once::jointly_freed(start)))),
        }
    }
}

/// What a plan gave.
#[derive(Clone, Debug)]
pub struct Summary {
    plan: Plan,
    once: Once,
    /// For each scheduler, for each rule, for each seed.
    days: Vec<Vec<Vec<Days>>>,
}

impl Summary {
    /// Plays it.
    ///
    /// # Panics
    /// If a thread panics.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let demands: Vec<_> =
            (0..plan.seeds).map(|seed| Demand::new(plan.scenario, seed, plan.days)).collect();
        let simulate = |scheduler, rule| -> Vec<Days> {
            demands.iter().map(|demand| days::play(demand, scheduler, rule, |_| {})).collect()
        };
        let days = thread::scope(|scope| {
            let threads = Scheduler::ALL.map(|scheduler| {
                scope.spawn(move || Rule::ALL.map(|rule| simulate(scheduler, rule)).to_vec())
            });
            threads.map(|thread| thread.join().expect("days")).to_vec()
        });
        Self { plan, once: Once::new(&plan.scenario, plan.seeds), days }
    }

    /// Returns its tables.
    #[must_use]
    pub fn tables(&self) -> String {
        let Plan { scenario: Scenario { nodes, workloads, never }, seeds, days } = self.plan;
        let mut text = format!(
            "{nodes} nodes and {workloads} workloads, {never} % of which never scale; seeds 0 to {}: mean ± standard deviation\n\n",
            seeds - 1
        );
        let mut row = |name: &str, cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| format!(" {cell:>19}")).collect();
            let _ = writeln!(text, "{name:36}{}", cells.concat());
        };
        let emptied = format!("NODES EMPTIED OF {:.0}", self.once.in_use.mean);
        row(&emptied, &["AT ONCE".into(), format!("IN {STEPS} STEPS")]);
        for (rule, freed) in Rule::ALL.iter().zip(&self.once.rules) {
            row(rule.name(), &freed.map(Mean::cell));
        }
        row("all together, at best", &[self.once.joint.cell()]);
        row("", &[]);
        let schedulers = Scheduler::ALL.map(|scheduler| scheduler.name().to_uppercase());
        row(&format!("% OF NODE-HOURS SAVED, DAYS: {days}"), &schedulers);
        row(
            &format!("{}: node-hours", Rule::Default.name()),
            &self.each(|rules| {
                let hours = Mean::of(rules[0].iter().map(Days::node_hours));
                format!("{} ± {}", whole(hours.mean), whole(hours.deviation))
            }),
        );
        for (number, rule) in Rule::ALL.iter().enumerate().skip(1) {
            row(rule.name(), &self.each(|rules| saved(rules, number).cell()));
        }
        row("", &[]);
        row("WRITES OF COSTS PER HOUR", &schedulers);
        let [fewest, own] = [Rule::Fewest, Rule::Whole]
            .map(|rule| Rule::ALL.iter().position(|other| *other == rule).unwrap_or(0));
        row(
            "on all pods: their node's number",
            &self.each(|rules| per_hour(&rules[fewest], |days| days.numbered).cell()),
        );
        row(
            "on all pods: the fewest writes",
            &self.each(|rules| per_hour(&rules[fewest], |days| days.fewest).cell()),
        );
        row(
            "at each scale-down (podrank)",
            &self.each(|rules| per_hour(&rules[own], |days| days.just_in_time).cell()),
        );
        row(
            "  canaries of these scale-downs",
            &self.each(|rules| per_hour(&rules[own], |days| CANARY * days.falls).cell()),
        );
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
    }

    fn each(&self, cell: impl Fn(&Vec<Vec<Days>>) -> String) -> Vec<String> {
        self.days.iter().map(cell).collect()
    }

    /// Returns its charts.
    #[must_use]
    pub fn charts(&self) -> [Chart; 2] {
        [self.days_chart(), once_chart(self.plan)]
    }

    /// The nodes in use with taints, hour by hour: in the end, when the first nodes matter least.
    fn days_chart(&self) -> Chart {
        let rules = &self.days[1];
        let curves = Rule::ALL.iter().zip(rules).map(|(rule, seeds)| {
            let minutes = seeds.iter().map(|days| days.in_use.len()).min().unwrap_or(0);
            let first = minutes.saturating_sub(SHOWN * 60);
            let points = (first..minutes).step_by(POINT as usize).zip(0_u32..).map(|(minute, point)| {
                let in_use = seeds.iter().map(|days| f64::from(days.in_use[minute]));
                (f64::from(point) * f64::from(POINT) / 60.0, Mean::of(in_use).mean)
            });
            Curve { name: rule.name().into(), points: points.collect(), mark: Mark::Line }
        });
        let title = format!(
            "If empty nodes are tainted, whole nodes save {:.0} % of the node-hours, fewest pods first {:.0} %",
            saved(rules, 3).mean,
            saved(rules, 2).mean
        );
        Chart {
            name: "nodes-days",
            title,
            x: Axis { label: "hours since midnight", scale: Scale::Hours },
            y: Axis { label: "nodes in use", scale: Scale::Linear },
            curves: curves.collect(),
        }
    }
}

/// The nodes that become empty at once, by how many workloads never scale.
fn once_chart(plan: Plan) -> Chart {
    let all =
        NEVER.map(|never| (f64::from(never), Once::new(&Scenario { never, ..plan.scenario }, plan.seeds)));
    let line = |name: &str, freed: &dyn Fn(&Once) -> Mean| Curve {
        name: name.into(),
        points: all.iter().map(|(never, once)| (*never, freed(once).mean)).collect(),
        mark: Mark::Line,
    };
    let rules = Rule::ALL.iter().enumerate();
    let mut curves: Vec<_> =
        rules.map(|(number, rule)| line(rule.name(), &|once| once.rules[number][0])).collect();
    curves.push(line("all together, at best", &|once| once.joint));
    let sum = |freed: &dyn Fn(&Once) -> Mean| all.iter().map(|(_, once)| freed(once).mean).sum::<f64>();
    let share = |number: usize| 100.0 * sum(&|once| once.rules[number][0]) / sum(&|once| once.joint);
    let title = format!(
        "Whole nodes empty {:.0} % of the nodes that a joint plan could, fewest pods first {:.0} %",
        share(3),
        share(2)
    );
    Chart {
        name: "nodes-once",
        title,
        x: Axis { label: "workloads that never scale (%)", scale: Scale::Linear },
        y: Axis { label: "nodes that become empty when the others halve", scale: Scale::Linear },
        curves,
    }
}

/// How many percent fewer node-hours a rule needs than the default, seed by seed.
fn saved(rules: &[Vec<Days>], rule: usize) -> Mean {
    let pairs = rules[0].iter().zip(&rules[rule]);
    Mean::of(pairs.map(|(default, rule)| 100.0 * (1.0 - rule.node_hours() / default.node_hours())))
}

fn per_hour(seeds: &[Days], of: impl Fn(&Days) -> u32) -> Mean {
    Mean::of(seeds.iter().map(|days| f64::from(of(days)) / days.hours()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn whole(number: f64) -> String {
    count(number.round() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of it, on a small cluster.
    #[test]
    fn a_small_plan_has_tables_and_charts() {
        let scenario = Scenario { nodes: 24, workloads: 12, never: 25 };
        let summary = Summary::new(Plan { scenario, seeds: 2, days: 1 });
        let text = summary.tables();
        assert_eq!(text.lines().count(), 20, "{text}");
        assert!(!text.contains("NaN") && text.contains("24 nodes and 12 workloads, 25 %"), "{text}");
        for chart in summary.charts() {
            assert!(chart.curves.iter().all(|curve| curve.points.len() >= 7), "{}", chart.name);
            assert!(!chart.svg().contains("NaN"));
        }
    }

    #[test]
    fn means_and_deviations() {
        assert_eq!(Mean::of([1.0, 3.0].into_iter()), Mean { mean: 2.0, deviation: 1.0 });
    }
}
