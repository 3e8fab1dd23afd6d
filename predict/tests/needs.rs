//! Whether a reading of the cluster has settled, or has to be read again.

use podrank_laws::objects;
use podrank_predict::{
    NoteCode, Options, RelatedKind, Snapshot, WorkloadKind, WorkloadName, preview_workload,
};
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
    objects::items(text)
}

fn input(items: &[Value]) -> Snapshot {
    Snapshot::read(objects::dump(items).as_bytes()).expect("sound")
}

/// Whether the last workload of this kind lags.
#[track_caller]
fn lags(kind: &str, items: &[Value]) -> bool {
    let workload = items.iter().rfind(|item| item["kind"] == kind).expect("the workload");
    let name = workload["metadata"]["name"].as_str().expect("a name");
    let name =
        WorkloadName::of_words(&[kind.to_owned(), name.to_owned()], &WorkloadKind::ALL).expect("a name");
    let input = input(items);
    let id = input.workload(&name).expect("one").expect("it is there");
    input.lags(&id)
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

/// An object that lags, of this kind, name and namespace.
fn lagging(kind: &str, name: &Value, namespace: &str) -> Value {
    let mut items = example(kind);
    let workload = of_kind(&mut items, kind);
    workload["metadata"]["name"] = name.clone();
    workload["metadata"]["namespace"] = json!(namespace);
    workload["metadata"]["generation"] = json!(1_000);
    workload["status"]["observedGeneration"] = json!(999);
    workload.take()
}

#[test]
fn a_workload_does_not_lag_because_others_do() {
    for (kind, _) in EXAMPLES {
        let items = example(kind);
        let name =
            items.iter().find(|item| item["kind"] == kind).expect("the workload")["metadata"]["name"].clone();
        let other_kind = if kind == "StatefulSet" { "DaemonSet" } else { "StatefulSet" };
        for other in [lagging(kind, &json!("other"), "default"), lagging(other_kind, &name, "default")] {
            assert!(!lags(kind, &[&[other][..], &items].concat()), "{kind}");
        }
    }
}

#[test]
fn a_name_means_one_workload() {
    let found = |words: &[&str]| {
        let others =
            [lagging("Job", &json!("db"), "default"), lagging("StatefulSet", &json!("other"), "default")];
        let twin = lagging("Job", &json!("twin"), "default");
        let twins = [twin.clone(), lagging("Job", &json!("twin"), "staging"), twin];
        let items = [&example("StatefulSet"), &others[..], &twins].concat();
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        let found =
            input(&items).workload(&WorkloadName::of_words(&words, &WorkloadKind::ALL).expect("a name"));
        let shown = found.map(|id| id.map(|id| format!("{} {}/{}", id.kind, id.namespace, id.name)));
        shown.map_err(|error| error.to_string())
    };
    assert_eq!(found(&["sts/db"]), Ok(Some("StatefulSet default/db".to_owned())));
    assert_eq!(found(&["job/db"]), Ok(Some("Job default/db".to_owned())));
    assert_eq!(found(&["other"]), Ok(Some("StatefulSet default/other".to_owned())));
    assert_eq!(found(&["sts/twin"]), Ok(None));
    let several = |name: &str, list: &str| {
        let remedy = "Name one as TYPE/NAME, with its namespace.";
        Err(format!("{name} is ambiguous\n  There are {list}.\n  {remedy}"))
    };
    assert_eq!(found(&["db"]), several("db", "sts/db in default, job/db in default"));
    assert_eq!(found(&["job/twin"]), several("job/twin", "job/twin in default, job/twin in staging"));
}

/// A kind may be named twice, by a program that reads in parts.
#[test]
fn what_could_not_be_read_is_named_once_and_in_order() {
    let mut input = input(&example("StatefulSet"));
    input.lacks(&[RelatedKind::DisruptionBudget]);
    input.lacks(&[RelatedKind::Autoscaler, RelatedKind::DisruptionBudget]);
    let options = Options::new(3, "2026-03-10T12:00:00Z".parse().expect("a time"));
    let preview = preview_workload(&input, &options).expect("a preview");
    let notes = preview.notes.iter().filter(|note| note.code == NoteCode::NotPermitted);
    let notes: Vec<_> = notes.map(|note| &*note.text).collect();
    assert_eq!(notes, ["autoscalers and disruption budgets could not be read"]);
}
