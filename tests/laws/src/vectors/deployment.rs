//! The cases in `deployment.json`, and the check that an implementation passes them.

use super::{read, time};
use crate::deployment::{Deployments, Effect, sync_is_upstreams};
use podrank::controller::deployment::{Budgets, Deployment, Path, Reason, ReplicaSet, SetFlags, Strategy};
use podrank::controller::{IntOrPercent, IntOrPercentError};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PercentCase {
    text: String,
    percent: Option<u32>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnnotationCase {
    text: String,
    valid: Option<i32>,
    lenient: Option<i32>,
}

/// An integer or a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Budget {
    Number(i32),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BudgetsCase {
    #[serde(rename = "source")]
    _source: Option<String>,
    replicas: i32,
    max_surge: Budget,
    max_unavailable: Budget,
    surge: i32,
    unavailable: i32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // as the file has them
struct Subject {
    replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    strategy: Option<String>,
    max_surge: Option<Budget>,
    max_unavailable: Option<Budget>,
    #[serde(default)]
    old_pods_run: bool,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    being_deleted: bool,
    #[serde(default)]
    rolling_back: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    name: String,
    creation_time: Option<String>,
    replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    #[serde(default)]
    available_replicas: i32,
    #[serde(default)]
    desired: String,
    #[serde(default)]
    max: String,
    #[serde(default)]
    current: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeCase {
    replicas: i32,
    part: i32,
    reason: String,
    #[serde(default)]
    annotates: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StepCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    deployment: Subject,
    sets: Vec<Set>,
    path: String,
    #[serde(default)]
    surge: i32,
    #[serde(default)]
    unavailable: i32,
    new_set: Option<String>,
    missing: Option<String>,
    creates: Option<i32>,
    #[serde(default)]
    goes_on: bool,
    changes: Vec<ChangeCase>,
}

/// `tests/vectors/deployment.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    percent: Vec<PercentCase>,
    annotation: Vec<AnnotationCase>,
    budgets: Vec<BudgetsCase>,
    steps: Vec<StepCase>,
}

/// Reads it.
pub fn file() -> File {
    serde_json::from_str(&read("deployment.json")).expect("deployment.json")
}

impl File {
    /// An implementation passes every case. Returns how many there were.
    pub fn check(&self, deployments: &impl Deployments) -> usize {
        for case in &self.percent {
            let percent = deployments.percent(case.text.as_bytes());
            let error = percent.err().map(|error| match error {
                IntOrPercentError::NoPercentSign => "no percent sign",
                IntOrPercentError::NoDigits => "no digits",
                IntOrPercentError::NotDigit(_) => "not a digit",
                IntOrPercentError::OutOfRange => "out of range",
                _ => "unknown",
            });
            assert_eq!((percent.ok(), error), (case.percent, case.error.as_deref()), "{case:?}");
        }
        for case in &self.annotation {
            // What was there before goes; the other flags stay.
            let mut set =
                ReplicaSet { flags: SetFlags::from_bits(0xff), max_replicas: 77, ..ReplicaSet::new() };
            deployments.set_annotations(&mut set, case.text.as_bytes(), case.text.as_bytes());
            let mut flags = SetFlags::from_bits(0xff)
                .with(SetFlags::DESIRED, case.valid.is_some())
                .with(SetFlags::DESIRED_LENIENT, case.lenient.is_some());
            flags = flags.with(SetFlags::MAX, case.valid.is_some());
            assert_eq!(set.flags, flags, "{case:?}");
            assert_eq!(set.desired_replicas, case.valid.or(case.lenient).unwrap_or(0), "{case:?}");
            assert_eq!(set.max_replicas, case.valid.unwrap_or(0), "{case:?}");
        }
        for case in &self.budgets {
            let strategy = Strategy::RollingUpdate {
                max_surge: budget(deployments, &case.max_surge),
                max_unavailable: budget(deployments, &case.max_unavailable),
            };
            let deployment = Deployment { replicas: case.replicas, strategy, ..Deployment::default() };
            let expected = Budgets { surge: case.surge, unavailable: case.unavailable };
            assert_eq!(deployments.next_sync(&deployment, &[]).budgets, expected, "{case:?}");
        }
        for case in &self.steps {
            case.check(deployments);
        }
        self.percent.len() + self.annotation.len() + self.budgets.len() + self.steps.len()
    }
}

fn budget(deployments: &impl Deployments, budget: &Budget) -> IntOrPercent {
    match budget {
        Budget::Number(number) => IntOrPercent::Int(*number),
        Budget::Text(text) => IntOrPercent::Percent(deployments.percent(text.as_bytes()).expect(text)),
    }
}

impl StepCase {
    fn check(&self, deployments: &impl Deployments) {
        let subject = &self.deployment;
        let of = |value: &Option<Budget>| budget(deployments, value.as_ref().expect("a budget"));
        let strategy = match subject.strategy.as_deref() {
            Some("Recreate") => Strategy::Recreate { old_pods_run: subject.old_pods_run },
            None => Strategy::RollingUpdate {
                max_surge: of(&subject.max_surge),
                max_unavailable: of(&subject.max_unavailable),
            },
            other => panic!("{other:?}"),
        };
        let deployment = Deployment {
            replicas: subject.replicas,
            status_replicas: subject.status_replicas,
            strategy,
            is_paused: subject.paused,
            is_being_deleted: subject.being_deleted,
            is_rolling_back: subject.rolling_back,
        };
        let mut names: Vec<&str> = self.sets.iter().map(|set| &*set.name).collect();
        names.sort_unstable();
        let record = |set: &Set| {
            let mut record = ReplicaSet {
                creation_time: time(set.creation_time.as_ref()),
                name_order: names.binary_search(&&*set.name).unwrap().try_into().unwrap(),
                replicas: set.replicas,
                status_replicas: set.status_replicas,
                available_replicas: set.available_replicas,
                flags: SetFlags::NONE.with(SetFlags::CURRENT_TEMPLATE, set.current),
                ..ReplicaSet::new()
            };
            deployments.set_annotations(&mut record, set.desired.as_bytes(), set.max.as_bytes());
            record
        };
        let sets: Vec<ReplicaSet> = self.sets.iter().map(record).collect();
        let outcome = sync_is_upstreams(deployments, &deployment, &sets);

        let effects: Vec<Effect> = self.changes.iter().map(ChangeCase::effect).collect();
        assert_eq!(outcome.sets, effects, "{}", self.name);
        let path = match outcome.path {
            Path::Nothing => "nothing",
            Path::Scale => "scale",
            Path::Roll => "roll",
            Path::Recreate => "recreate",
            Path::Rollback => "rollback",
            _ => "unknown",
        };
        assert_eq!(path, self.path, "{}", self.name);
        let budgets = Budgets { surge: self.surge, unavailable: self.unavailable };
        assert_eq!(outcome.budgets, budgets, "{}", self.name);
        let new_set = outcome.new_set.map(|index| &*self.sets[index as usize].name);
        assert_eq!(new_set, self.new_set.as_deref(), "{}", self.name);
        let missing = outcome.new_set.is_none().then(|| outcome.new.reason.name());
        assert_eq!(missing, self.missing.as_deref(), "{}", self.name);
        assert_eq!(outcome.creates.then_some(outcome.new.replicas), self.creates, "{}", self.name);
        assert_eq!(outcome.goes_on, self.goes_on, "{}", self.name);
    }
}

impl ChangeCase {
    fn effect(&self) -> Effect {
        let reason = Reason::ALL.iter().copied().find(|reason| reason.name() == self.reason);
        let reason = reason.expect("a reason");
        Effect { replicas: self.replicas, part: self.part, reason, annotates: self.annotates }
    }
}
