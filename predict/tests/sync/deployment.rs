//! What Deployments do to their sets.

use super::{budget, int, is, text};
use podrank_laws::objects::list;
use podrank_laws::vectors::read;
use podrank_predict::sync::IntOrPercent;
use podrank_predict::sync::deployment::{
    Annotation, Budgets, DeploymentState, ReplicaSetState, SizeChange, Strategy, next_sync,
};
use serde_json::Value;

#[test]
fn vectors() {
    let file: Value = serde_json::from_str(&read("deployment.json")).expect("deployment.json");
    list(&file["percent"]).for_each(percent);
    list(&file["annotation"]).for_each(annotation);
    list(&file["budgets"]).for_each(budgets);
    list(&file["steps"]).for_each(step);
    let lists = ["percent", "annotation", "budgets", "steps"];
    let cases: usize = lists.map(|name| list(&file[name]).count()).iter().sum();
    assert!(cases > 120, "{cases} cases");
}

fn percent(case: &Value) {
    let found = IntOrPercent::parse(text(case, "text"));
    let error = found.as_ref().err().map(|error| match error.as_str() {
        "it does not end with '%': write a number of pods as an integer, without quotes" => "no percent sign",
        "it has no digits before '%'" => "no digits",
        "it is above 4194304%" => "out of range",
        other if other.starts_with("the byte at offset ") => "not a digit",
        other => panic!("{other}"),
    });
    let percent = case["percent"].as_u64().map(|it| IntOrPercent::Percent(it.try_into().expect("32 bits")));
    assert_eq!((found.as_ref().ok(), error), (percent.as_ref(), case["error"].as_str()), "{case}");
}

fn annotation(case: &Value) {
    let number = |field: &str| case.get(field).map(|_| int(case, field));
    let lenient = number("lenient").map(Annotation::Lenient);
    let expected = number("valid").map(Annotation::Valid).or(lenient).unwrap_or_default();
    assert_eq!(Annotation::parse(text(case, "text")), expected, "{case}");
}

fn rolling_update(of: &Value) -> Strategy {
    Strategy::RollingUpdate {
        max_surge: budget(&of["maxSurge"]),
        max_unavailable: budget(&of["maxUnavailable"]),
    }
}

fn budgets_of(of: &Value) -> Budgets {
    Budgets { surge: int(of, "surge"), unavailable: int(of, "unavailable") }
}

fn budgets(case: &Value) {
    assert_eq!(Budgets::new(&rolling_update(case), int(case, "replicas")), budgets_of(case), "{case}");
}

fn deployment(of: &Value) -> DeploymentState {
    DeploymentState {
        replicas: int(of, "replicas"),
        status_replicas: int(of, "statusReplicas"),
        strategy: match of["strategy"].as_str() {
            Some("Recreate") => Strategy::Recreate { old_pods_run: is(of, "oldPodsRun") },
            None => rolling_update(of),
            other => panic!("{other:?}"),
        },
        is_paused: is(of, "paused"),
        is_being_deleted: is(of, "beingDeleted"),
        is_rolling_back: is(of, "rollingBack"),
    }
}

fn step(case: &Value) {
    let name = text(case, "name");
    let deployment = deployment(&case["deployment"]);
    let mut listed: Vec<_> = list(&case["sets"]).zip(list(&case["changes"])).collect();
    let created_at =
        |set: &Value| set["creationTime"].as_str().map(|it| it.parse::<i64>().expect("nanoseconds"));
    listed.sort_by_key(|&(set, _)| (created_at(set), text(set, "name")));
    let record = |(set, _): &(&Value, &Value)| ReplicaSetState {
        replicas: int(set, "replicas"),
        status_replicas: int(set, "statusReplicas"),
        available_replicas: int(set, "availableReplicas"),
        desired: Annotation::parse(text(set, "desired")),
        max: Annotation::parse(text(set, "max")),
        has_template: is(set, "current"),
    };
    let sets: Vec<_> = listed.iter().map(record).collect();
    let sync = next_sync(&deployment, &sets);
    for ((set, expected), change) in listed.iter().zip(&sync.changes) {
        let SizeChange { replicas, part, reason, annotates } = *change;
        let reads = (text(expected, "reason"), is(expected, "annotates"));
        let expected = (int(expected, "replicas"), int(expected, "part"), reads);
        assert_eq!((replicas, part, (reason.name(), annotates)), expected, "{name}: {set}");
    }
    assert_eq!((sync.path.name(), sync.budgets), (text(case, "path"), budgets_of(case)), "{name}");
    let new_set = sync.new_set.map(|index| text(listed[index].0, "name"));
    assert_eq!(new_set, case["newSet"].as_str(), "{name}");
    let missing = sync.new_set.is_none().then(|| sync.new_change.reason.name());
    assert_eq!(missing, case["missing"].as_str(), "{name}");
    let creates = sync.creates.then_some(sync.new_change.replicas.into());
    let goes_on = sync.goes_on(&deployment, &sets);
    assert_eq!((creates, goes_on), (case["creates"].as_i64(), is(case, "goesOn")), "{name}");
}
