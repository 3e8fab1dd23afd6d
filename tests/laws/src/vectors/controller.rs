//! The cases in `controller.json`, and the check that an implementation passes them.

use super::{Record, read, time};
use crate::controller::Controller;
use podrank::Pod;
use podrank::controller::{Plan, PodKey, SetState};
use serde::Deserialize;

/// A pod, and whether it counts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Active {
    #[serde(rename = "source")]
    _source: Option<String>,
    /// `status.phase`.
    pub phase: String,
    /// Whether it has a deletion timestamp.
    #[serde(default)]
    pub being_deleted: bool,
    /// Whether it counts.
    pub active: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanCase {
    desired: u32,
    active: u32,
    burst: u32,
    #[serde(default = "yes")]
    satisfied: bool,
    #[serde(default)]
    being_deleted: bool,
    #[serde(default)]
    create: u32,
    #[serde(default)]
    delete: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SlowStartCase {
    #[serde(rename = "source")]
    _source: Option<String>,
    count: u32,
    batches: Vec<u32>,
    #[serde(default)]
    failures: u32,
    missing: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectationsCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Step {
    now: Option<String>,
    expect_creations: Option<u32>,
    expect_deletions: Option<Vec<u32>>,
    creations_observed: Option<u32>,
    deletion_observed: Option<u32>,
    counted: Option<bool>,
    #[serde(default)]
    clear: bool,
    creations: i64,
    deletions: i64,
    satisfied: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AvailabilityCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    pods: Vec<Record>,
    min_ready_seconds: u32,
    now: Option<String>,
    ready: usize,
    available: usize,
    next_check_after: Option<String>,
}

/// `tests/vectors/controller.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct File {
    /// Which pods count, for implementations that filter them.
    pub active: Vec<Active>,
    plan: Vec<PlanCase>,
    slow_start: Vec<SlowStartCase>,
    expectations: Vec<ExpectationsCase>,
    availability: Vec<AvailabilityCase>,
}

fn yes() -> bool {
    true
}

/// Returns the bytes of a key with this number.
fn key(number: u32) -> PodKey {
    u128::from(number).to_be_bytes()
}

/// Reads `controller.json`.
pub fn file() -> File {
    serde_json::from_str(&read("controller.json")).expect("controller.json")
}

impl File {
    /// Checks that an implementation passes every case. Returns the number of cases.
    pub fn check(&self, controller: &impl Controller) -> usize {
        for case in &self.plan {
            let mut set = SetState::new(case.desired, case.active);
            set.is_satisfied = case.satisfied;
            set.is_being_deleted = case.being_deleted;
            let expected = match (case.create, case.delete) {
                (0, 0) => Plan::Nothing,
                (count, 0) => Plan::Create(count),
                (0, count) => Plan::Delete(count),
                both => panic!("{both:?}"),
            };
            assert_eq!(controller.plan(&set, case.burst), expected, "{case:?}");
        }
        for case in &self.slow_start {
            let mut start = controller.slow_start(case.count);
            for (at, batch) in case.batches.iter().enumerate() {
                assert_eq!(controller.progress(&start).0, *batch, "{case:?}");
                let is_last = at + 1 == case.batches.len();
                controller.report(&mut start, if is_last { case.failures } else { 0 });
            }
            assert_eq!(controller.progress(&start), (0, case.missing), "{case:?}");
        }
        for case in &self.expectations {
            let mut expectations = controller.expectations();
            for (number, step) in case.steps.iter().enumerate() {
                step.check(controller, &mut expectations, &format!("{}: step {number}", case.name));
            }
        }
        for case in &self.availability {
            let pods: Vec<Pod> = case.pods.iter().map(Record::pod).collect();
            let next_check_after =
                case.next_check_after.as_ref().map(|nanos| nanos.parse().expect("nanoseconds"));
            let found = controller.availability(&pods, case.min_ready_seconds, time(case.now.as_ref()));
            assert_eq!(found, (case.ready, case.available, next_check_after), "{}", case.name);
        }
        self.plan.len() + self.slow_start.len() + self.expectations.len() + self.availability.len()
    }
}

impl Step {
    fn check<C: Controller>(&self, controller: &C, expectations: &mut C::Expectations, name: &str) {
        let now = time(self.now.as_ref());
        if let Some(count) = self.expect_creations {
            controller.expect_creations(expectations, count, now);
        }
        if let Some(keys) = &self.expect_deletions {
            let keys: Vec<_> = keys.iter().copied().map(key).collect();
            assert!(controller.expect_deletions(expectations, &keys, now), "{name}");
        }
        if let Some(count) = self.creations_observed {
            controller.creations_observed(expectations, count);
        }
        let counted =
            self.deletion_observed.map(|number| controller.deletion_observed(expectations, &key(number)));
        assert_eq!(counted, self.counted, "{name}");
        if self.clear {
            controller.clear(expectations);
        }
        assert_eq!(controller.counts(expectations), (self.creations, self.deletions), "{name}");
        assert_eq!(controller.are_satisfied(expectations, now), self.satisfied, "{name}");
    }
}
