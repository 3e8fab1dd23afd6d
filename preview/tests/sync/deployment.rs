//! What Deployments do to their sets.

use super::Budget;
use podrank_laws::vectors::read;
use podrank_preview::sync::IntOrPercent;
use podrank_preview::sync::deployment::{
    Annotation, Budgets, Deployment, ReplicaSet, SizeChange, Strategy, next_sync,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    percent: Vec<PercentCase>,
    annotation: Vec<AnnotationCase>,
    budgets: Vec<BudgetsCase>,
    steps: Vec<SyncCase>,
}

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "as the file has them")]
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

#[derive(Deserialize)]
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

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Change {
    replicas: i32,
    part: i32,
    reason: String,
    #[serde(default)]
    annotates: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SyncCase {
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
    changes: Vec<Change>,
}

#[test]
fn vectors() {
    let file: File = serde_json::from_str(&read("deployment.json")).expect("deployment.json");
    for case in &file.percent {
        let found = IntOrPercent::parse(&case.text);
        let error = found.as_ref().err().map(|error| match error.as_str() {
            "it does not end with '%': write a number of pods as an integer, without quotes" => {
                "no percent sign"
            }
            "it has no digits before '%'" => "no digits",
            "it is above 4194304%" => "out of range",
            other if other.starts_with("the byte at offset ") => "not a digit",
            other => panic!("{other}"),
        });
        let percent = case.percent.map(IntOrPercent::Percent);
        assert_eq!((found.as_ref().ok(), error), (percent.as_ref(), case.error.as_deref()), "{case:?}");
    }
    for case in &file.annotation {
        let lenient = case.lenient.map(Annotation::Lenient);
        let expected = case.valid.map(Annotation::Valid).or(lenient).unwrap_or_default();
        assert_eq!(Annotation::parse(&case.text), expected, "{case:?}");
    }
    for case in &file.budgets {
        let strategy = Strategy::RollingUpdate {
            max_surge: case.max_surge.read(),
            max_unavailable: case.max_unavailable.read(),
        };
        let expected = Budgets { surge: case.surge, unavailable: case.unavailable };
        assert_eq!(Budgets::new(&strategy, case.replicas), expected, "{case:?}");
    }
    file.steps.iter().for_each(SyncCase::check);
    let cases = file.percent.len() + file.annotation.len() + file.budgets.len() + file.steps.len();
    assert!(cases > 120, "{cases} cases");
}

impl Subject {
    fn deployment(&self) -> Deployment {
        let budget = |budget: &Option<Budget>| budget.as_ref().expect("a budget").read();
        let strategy = match self.strategy.as_deref() {
            Some("Recreate") => Strategy::Recreate { old_pods_run: self.old_pods_run },
            None => Strategy::RollingUpdate {
                max_surge: budget(&self.max_surge),
                max_unavailable: budget(&self.max_unavailable),
            },
            other => panic!("{other:?}"),
        };
        Deployment {
            replicas: self.replicas,
            status_replicas: self.status_replicas,
            strategy,
            is_paused: self.paused,
            is_being_deleted: self.being_deleted,
            is_rolling_back: self.rolling_back,
        }
    }
}

impl SyncCase {
    fn check(&self) {
        let name = &self.name;
        let deployment = self.deployment.deployment();
        let mut listed: Vec<_> = self.sets.iter().zip(&self.changes).collect();
        let nanos =
            |set: &Set| set.creation_time.as_ref().map(|nanos| nanos.parse::<i64>().expect("nanoseconds"));
        listed.sort_by_key(|(set, _)| (nanos(set), &set.name));
        let record = |(set, _): &(&Set, &Change)| ReplicaSet {
            replicas: set.replicas,
            status_replicas: set.status_replicas,
            available_replicas: set.available_replicas,
            desired: Annotation::parse(&set.desired),
            max: Annotation::parse(&set.max),
            has_template: set.current,
        };
        let sets: Vec<_> = listed.iter().map(record).collect();
        let sync = next_sync(&deployment, &sets);
        for ((set, expected), change) in listed.iter().zip(&sync.changes) {
            let SizeChange { replicas, part, reason, annotates } = *change;
            let found = Change { replicas, part, reason: reason.name().to_owned(), annotates };
            assert_eq!(&found, *expected, "{name}: {}", set.name);
        }
        assert_eq!(sync.path.name(), self.path, "{name}");
        let budgets = Budgets { surge: self.surge, unavailable: self.unavailable };
        assert_eq!(sync.budgets, budgets, "{name}");
        let new_set = sync.new_set.map(|index| listed[index].0.name.as_str());
        assert_eq!(new_set, self.new_set.as_deref(), "{name}");
        let missing = sync.new_set.is_none().then(|| sync.new_change.reason.name());
        assert_eq!(missing, self.missing.as_deref(), "{name}");
        assert_eq!(sync.creates.then_some(sync.new_change.replicas), self.creates, "{name}");
        assert_eq!(sync.goes_on, self.goes_on, "{name}");
    }
}
