//! The cases in `steering.json`, and the check that an implementation passes them.

use super::{Record, read};
use crate::Implementation;
use crate::steer::Steering;
use podrank::{Error, Pod, Policy, Rule, Unsteerable};
use serde::Deserialize;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    steer: Vec<Steer>,
    spread: Vec<Spread>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Steer {
    name: String,
    pods: Vec<Record>,
    #[serde(default)]
    fixed: Vec<usize>,
    /// The prices of the other pods. 1 for all by default.
    #[serde(default)]
    prices: Vec<u8>,
    #[serde(default)]
    costs: Vec<i32>,
    #[serde(default)]
    unsteerable: Vec<(u32, u32, String)>,
    no_room: Option<(u32, u32)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spread {
    name: String,
    pods: Vec<Record>,
    #[serde(default)]
    others: Vec<Record>,
    nodes: usize,
    ranks: Vec<u32>,
}

/// Reads it.
pub fn file() -> File {
    serde_json::from_str(&read("steering.json")).expect("steering.json")
}

fn pods(records: &[Record]) -> Vec<Pod> {
    records.iter().map(Record::pod).collect()
}

impl File {
    /// Checks all cases, and returns how many there are.
    pub fn check(&self, order: &impl Implementation) -> usize {
        self.steer.iter().for_each(|case| case.check(order));
        for case in &self.spread {
            let mut spread = pods(&case.pods);
            order.spread(&Policy::without_now(), &mut spread, &pods(&case.others), case.nodes);
            assert_eq!(spread.iter().map(|pod| pod.rank).collect::<Vec<_>>(), case.ranks, "{}", case.name);
        }
        self.steer.len() + self.spread.len()
    }
}

impl Steer {
    fn check(&self, order: &impl Implementation) {
        let pods = pods(&self.pods);
        let price =
            |index| (!self.fixed.contains(&index)).then(|| self.prices.get(index).copied().unwrap_or(1));
        let prices: Vec<_> = (0..pods.len()).map(price).collect();
        let answer = order.steer(&Policy::without_now(), &pods, &prices);
        if let Some((lower, higher)) = self.no_room {
            assert_eq!(answer, Err(Error::NoRoom { lower, higher }), "{}", self.name);
            return;
        }
        let rule = |name: &str| *Rule::ALL.iter().find(|rule| rule.name() == name).expect("a rule");
        let unsteerable = self.unsteerable.iter().map(|(pod, before, name)| Unsteerable {
            pod: *pod,
            before: *before,
            rule: rule(name),
        });
        let changed = pods.iter().zip(&self.costs).filter(|(pod, cost)| pod.deletion_cost != **cost).count();
        let expected = Steering { costs: self.costs.clone(), changed, unsteerable: unsteerable.collect() };
        assert_eq!(answer, Ok(expected), "{}", self.name);
    }
}
