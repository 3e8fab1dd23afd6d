//! Whether a reading of the cluster has settled, or has to be read again.

use podrank_preview::{Input, WorkloadName};
use serde_json::{Value, json};

const EXAMPLES: [(&str, &str); 4] = [
    ("StatefulSet", include_str!("../examples/stateful-set.json")),
    ("DaemonSet", include_str!("../examples/daemon-set.json")),
    ("Job", include_str!("../examples/job.json")),
    ("Deployment", include_str!("../examples/rollout.json")),
];

/// The objects of a kind's example.
fn example(kind: &str) -> Vec<Value> {
    let (_, text) = EXAMPLES.iter().find(|(of, _)| *of == kind).expect("an example");
    let list: Value = serde_json::from_str(text).expect("JSON");
    list["items"].as_array().expect("items").clone()
}

/// Whether the workload of this kind lags.
#[track_caller]
fn lags(kind: &str, items: &[Value]) -> bool {
    let workload = items.iter().find(|item| item["kind"] == kind).expect("the workload");
    let name = workload["metadata"]["name"].as_str().expect("a name");
    let input = Input::read(json!({ "kind": "List", "items": items }).to_string().as_bytes()).expect("sound");
    let name = WorkloadName::of_words(&[kind.to_owned(), name.to_owned()]).expect("a name");
    let id = input.workload(&name).expect("one").expect("it is there");
    input.lags(&id).expect("sound")
}

fn of_kind<'a>(items: &'a mut [Value], kind: &str) -> &'a mut Value {
    items.iter_mut().find(|item| item["kind"] == kind).expect("it is there")
}

#[test]
fn a_workload_lags_until_its_controller_has_observed_its_spec() {
    for (kind, _) in EXAMPLES {
        let mut items = example(kind);
        assert!(!lags(kind, &items), "{kind}");
        let workload = of_kind(&mut items, kind);
        workload["metadata"]["generation"] = json!(1_000);
        workload["status"]["observedGeneration"] = json!(1_000);
        assert!(!lags(kind, &items), "{kind}: observed");
        of_kind(&mut items, kind)["status"]["observedGeneration"] = json!(999);
        assert!(lags(kind, &items), "{kind}: not observed");
    }
}

#[test]
fn a_workload_lags_while_pods_of_its_status_are_not_listed() {
    for (kind, _) in EXAMPLES {
        let mut items = example(kind);
        items.retain(|item| item["kind"] != "Pod");
        assert!(lags(kind, &items), "{kind}");
    }
}

#[test]
fn a_stateful_set_lags_without_a_revision_and_a_daemon_set_without_nodes() {
    let mut items = example("StatefulSet");
    let status = &mut of_kind(&mut items, "StatefulSet")["status"];
    status.as_object_mut().expect("an object").remove("updateRevision");
    assert!(lags("StatefulSet", &items));

    for lacking in ["Node", "ControllerRevision"] {
        let mut items = example("DaemonSet");
        items.retain(|item| item["kind"] != lacking);
        assert!(lags("DaemonSet", &items), "{lacking}");
    }
}
