//! The sentences of previews, each with an example: of their pods, their notes and their errors, for workloads of every kind.
//! They are what random changes of the examples lead to, the same ones each time, and `sentences.txt` lists them.
//!
//! After a change of the words: `SENTENCES=write cargo test -p podrank-predict sentences::`, and read what changed.

use fastrand::Rng;
use podrank_predict::{Options, Order, Snapshot, preview_workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sentences.txt");

/// Of each kind, an example and how many random changes of it.
const EXAMPLES: [(&str, &str, u64); 5] = [
    ("DaemonSet", include_str!("../examples/daemon-set.json"), 7_000),
    ("StatefulSet", include_str!("../examples/stateful-set.json"), 5_000),
    ("Job", include_str!("../examples/job.json"), 2_000),
    ("Deployment", include_str!("../examples/rollout.json"), 2_000),
    ("ReplicaSet", include_str!("../examples/rollout.json"), 1_000),
];

/// A kind, a place in its objects, and what may stand there. Null removes it.
type Change = (&'static str, &'static str, fn(&mut Rng) -> Value);

fn one_of(rng: &mut Rng, values: &[Value]) -> Value {
    values[rng.usize(..values.len())].clone()
}

fn word(rng: &mut Rng, words: &str) -> Value {
    one_of(rng, &words.split(' ').map(Value::from).collect::<Vec<_>>())
}

fn small(rng: &mut Rng) -> Value {
    json!(rng.u32(..4))
}

fn flag(rng: &mut Rng) -> Value {
    json!(rng.bool())
}

fn time(rng: &mut Rng) -> Value {
    let time = word(rng, "11:00:00 11:50:00 11:59:30 11:59:59 12:00:00 12:10:00");
    json!(format!("2026-03-10T{}Z", time.as_str().expect("a time")))
}

fn budget(rng: &mut Rng) -> Value {
    one_of(rng, &[json!(0), json!(1), json!(2), json!("30%"), json!("100%")])
}

fn index(rng: &mut Rng) -> Value {
    one_of(rng, &[json!("0"), json!("1"), json!("2"), json!("9"), json!("x"), Value::Null])
}

fn node(rng: &mut Rng) -> Value {
    json!(format!("node-{}", rng.u32(1..=7)))
}

const REVISION: &str = "/metadata/labels/controller-revision-hash";

const PODS: &[Change] = &[
    ("Pod", "/status/conditions/0/status", |rng| word(rng, "True False")),
    ("Pod", "/status/conditions/0/lastTransitionTime", time),
    ("Pod", "/status/phase", |rng| word(rng, "Running Pending Succeeded Failed Unknown")),
    ("Pod", "/metadata/creationTimestamp", time),
    ("Pod", "/metadata/deletionTimestamp", time),
    ("Pod", "/metadata/labels/app", |rng| one_of(rng, &[json!("other"), Value::Null])),
    ("Pod", "/metadata/ownerReferences", |_| json!([])),
    ("Pod", "/metadata/annotations", |rng| {
        let cost = one_of(rng, &["-1", "5", "+7", ""].map(Value::from));
        json!({ "controller.kubernetes.io/pod-deletion-cost": cost })
    }),
    ("Pod", "/spec/nodeName", node),
    ("Pod", "/spec/nodeName", |_| Value::Null),
    ("Pod", "/status/containerStatuses", |rng| json!([{ "name": "web", "restartCount": rng.u32(..3) }])),
];

const DAEMON_SETS: &[Change] = &[
    ("Pod", REVISION, |rng| one_of(rng, &[json!("59c4b"), json!("6d8f7"), Value::Null])),
    ("Pod", "/metadata/labels/pod-template-generation", |rng| word(rng, "1 2")),
    ("Node", "/spec", |rng| {
        let effect = word(rng, "NoSchedule NoExecute");
        json!({ "taints": [{ "key": "dedicated", "value": "gpu", "effect": effect }] })
    }),
    ("Node", "/metadata/labels", |_| json!({})),
    ("Node", "/metadata/name", |_| json!("node-8")),
    ("ControllerRevision", "/metadata/ownerReferences", |_| json!([])),
    ("DaemonSet", "/spec/updateStrategy/type", |rng| word(rng, "RollingUpdate OnDelete")),
    ("DaemonSet", "/spec/updateStrategy/rollingUpdate/maxSurge", budget),
    ("DaemonSet", "/spec/updateStrategy/rollingUpdate/maxUnavailable", budget),
    ("DaemonSet", "/spec/minReadySeconds", |rng| json!(rng.u32(..2) * 60)),
    ("DaemonSet", "/spec/template/spec/affinity", |rng| {
        let required = json!({ "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "kubernetes.io/os", "operator": word(rng, "Exists DoesNotExist Gt"), "values": [] }
        ] }] });
        json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": required } })
    }),
    ("DaemonSet", "/metadata/generation", small),
    ("DaemonSet", "/metadata/deletionTimestamp", time),
    ("DaemonSet", "/status/currentNumberScheduled", |rng| json!(rng.u32(3..8))),
    ("DaemonSet", "/status/desiredNumberScheduled", |rng| json!(rng.u32(3..8))),
];

const STATEFUL_SETS: &[Change] = &[
    ("Pod", REVISION, |rng| one_of(rng, &[json!("db-1"), json!("db-2"), Value::Null])),
    ("Pod", "/metadata/name", |rng| word(rng, "db-7 db-x db-1")),
    ("StatefulSet", "/spec/replicas", |rng| json!(rng.u32(..8))),
    ("StatefulSet", "/spec/podManagementPolicy", |rng| word(rng, "OrderedReady Parallel")),
    ("StatefulSet", "/spec/updateStrategy/type", |rng| word(rng, "RollingUpdate OnDelete Recreate")),
    ("StatefulSet", "/spec/updateStrategy/rollingUpdate/partition", |rng| json!(rng.u32(..6))),
    ("StatefulSet", "/spec/updateStrategy/rollingUpdate/maxUnavailable", budget),
    ("StatefulSet", "/spec/minReadySeconds", |rng| json!(rng.u32(..2) * 60)),
    ("StatefulSet", "/spec/ordinals", |rng| json!({ "start": rng.u32(..3) })),
    ("StatefulSet", "/spec/volumeClaimTemplates", |_| json!([{ "metadata": { "name": "data" } }])),
    ("StatefulSet", "/spec/persistentVolumeClaimRetentionPolicy", |_| json!({ "whenScaled": "Delete" })),
    ("StatefulSet", "/metadata/deletionTimestamp", time),
    ("StatefulSet", "/metadata/generation", small),
    ("StatefulSet", "/status/updateRevision", |rng| {
        one_of(rng, &[json!("db-1"), json!("db-2"), Value::Null])
    }),
    ("StatefulSet", "/status/replicas", |rng| json!(rng.u32(3..7))),
];

const JOBS: &[Change] = &[
    ("Pod", "/metadata/annotations/batch.kubernetes.io~1job-completion-index", index),
    ("Pod", "/metadata/finalizers", |_| json!([])),
    ("Pod", "/metadata/labels/batch.kubernetes.io~1job-name", |_| json!("other")),
    ("Job", "/spec/parallelism", |rng| json!(rng.u32(..8))),
    ("Job", "/spec/completions", |rng| one_of(rng, &[json!(3), json!(6), Value::Null])),
    ("Job", "/spec/completionMode", |rng| word(rng, "Indexed NonIndexed Other")),
    ("Job", "/spec/suspend", flag),
    ("Job", "/spec/managedBy", |rng| word(rng, "example.com/queue kubernetes.io/job-controller")),
    ("Job", "/spec/podReplacementPolicy", |rng| word(rng, "Failed TerminatingOrFailed")),
    ("Job", "/spec/backoffLimit", |rng| json!(rng.u32(..2))),
    ("Job", "/spec/backoffLimitPerIndex", |_| json!(0)),
    ("Job", "/spec/maxFailedIndexes", |rng| json!(rng.u32(..3))),
    ("Job", "/spec/template", |_| json!({ "spec": { "restartPolicy": "OnFailure" } })),
    ("Job", "/spec/activeDeadlineSeconds", |rng| one_of(rng, &[json!(60), json!(7_200), json!(1_u64 << 40)])),
    ("Job", "/spec/podFailurePolicy", |rng| {
        let exit_codes = json!({ "operator": word(rng, "In NotIn"), "values": [3] });
        let conditions = json!([{ "type": "DisruptionTarget" }]);
        let matches =
            one_of(rng, &[json!({ "onExitCodes": exit_codes }), json!({ "onPodConditions": conditions })]);
        let action = word(rng, "FailJob FailIndex Ignore Count");
        let mut rule = matches;
        rule["action"] = action;
        json!({ "rules": [rule] })
    }),
    ("Job", "/spec/successPolicy", |rng| json!({ "rules": [{ "succeededCount": 1 + rng.u32(..2) }] })),
    ("Job", "/status/startTime", |_| json!("2026-03-10T11:00:00Z")),
    ("Job", "/status/failed", |rng| json!(rng.u32(..3))),
    ("Job", "/status/failedIndexes", |rng| word(rng, "0 1-4 1,3")),
    ("Pod", "/status/phase", |rng| word(rng, "Failed Succeeded Pending")),
    (
        "Pod",
        "/status/containerStatuses",
        |rng| json!([{ "name": "main", "restartCount": rng.u32(..2), "state": { "terminated": { "exitCode": rng.u32(..5) } } }]),
    ),
    ("Pod", "/status/conditions", |_| json!([{ "type": "DisruptionTarget", "status": "True" }])),
    ("Job", "/spec/selector", |_| json!({ "matchLabels": {} })),
    ("Job", "/metadata/deletionTimestamp", time),
    ("Job", "/status/active", |rng| json!(rng.u32(3..8))),
    ("Job", "/status/succeeded", |rng| json!(rng.u32(..7))),
    ("Job", "/status/completedIndexes", |rng| word(rng, "0 0-2 1,3 5-2 x")),
    ("Job", "/status/conditions", |rng| {
        let kind = word(rng, "Complete Failed FailureTarget SuccessCriteriaMet Suspended");
        json!([{ "type": kind, "status": word(rng, "True False") }])
    }),
];

const SETS: &[Change] = &[
    ("Deployment", "/spec/replicas", |rng| json!(rng.u32(..14))),
    ("Deployment", "/spec/paused", flag),
    ("Deployment", "/spec/strategy", |_| json!({ "type": "Recreate" })),
    ("Deployment", "/spec/strategy/rollingUpdate/maxSurge", budget),
    ("Deployment", "/spec/strategy/rollingUpdate/maxUnavailable", budget),
    ("Deployment", "/spec/minReadySeconds", |rng| json!(rng.u32(..2) * 60)),
    ("Deployment", "/metadata/generation", |rng| json!(rng.u32(11..14))),
    ("Deployment", "/metadata/deletionTimestamp", time),
    ("ReplicaSet", "/spec/replicas", |rng| json!(rng.u32(..12))),
    ("ReplicaSet", "/status/replicas", |rng| json!(rng.u32(..12))),
    ("ReplicaSet", "/status/availableReplicas", |rng| json!(rng.u32(..12))),
    ("ReplicaSet", "/metadata/generation", |rng| json!(rng.u32(8..12))),
    ("ReplicaSet", "/metadata/deletionTimestamp", time),
    ("ReplicaSet", "/metadata/ownerReferences", |_| json!([])),
    ("ReplicaSet", "/metadata/annotations/deployment.kubernetes.io~1max-replicas", |_| Value::Null),
];

/// Puts the value there, with the objects around it. Null removes what is there.
fn put(object: &mut Value, place: &str, value: Value) {
    if value.is_null() {
        let (parent, field) = place.rsplit_once('/').expect("a pointer");
        if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
            parent.remove(&field.replace("~1", "/"));
        }
        return;
    }
    let mut at = object;
    for part in place.split('/').skip(1) {
        let part = part.replace("~1", "/");
        if let Value::Array(list) = at {
            let Some(item) = list.get_mut(part.parse::<usize>().expect("a number")) else { return };
            at = item;
            continue;
        }
        if !at.is_object() {
            *at = json!({});
        }
        at = at.as_object_mut().expect("an object").entry(part).or_insert(Value::Null);
    }
    *at = value;
}

/// One random case: what it asks, and of what.
fn case(kind: &str, example: &Value, seed: u64) -> (Options, Value) {
    let mut rng = Rng::with_seed(seed);
    let mut list = example.clone();
    let items = list["items"].as_array_mut().expect("items");
    let own = match kind {
        "DaemonSet" => DAEMON_SETS,
        "StatefulSet" => STATEFUL_SETS,
        "Job" => JOBS,
        _ => SETS,
    };
    if rng.u32(..3) == 0 {
        let pods: Vec<_> = items.iter().filter(|item| item["kind"] == "Pod").collect();
        let mut another = pods[rng.usize(..pods.len())].clone();
        let name = match kind {
            "DaemonSet" => "agent-g",
            "StatefulSet" => "db-5",
            "Job" => "import-z",
            _ => "web-5d8c7f9b64-zzzzz",
        };
        put(&mut another, "/metadata/name", json!(name));
        put(&mut another, "/metadata/uid", json!("5a3f0c1e-0000-4000-8000-00000000ffff"));
        items.push(another);
    }
    for _ in 0..rng.u32(..12) {
        let changes = if rng.bool() { own } else { PODS };
        let (of, place, value) = changes[rng.usize(..changes.len())];
        let of: Vec<_> = (0..items.len()).filter(|item| items[*item]["kind"] == of).collect();
        if !of.is_empty() {
            // One object, or all of them.
            let all = rng.u32(..4) == 0;
            let one = of[rng.usize(..of.len())];
            let value = value(&mut rng);
            for item in of.into_iter().filter(|item| all || *item == one) {
                put(&mut items[item], place, value.clone());
            }
        }
    }
    if rng.u32(..5) == 0 {
        items.remove(rng.usize(..items.len()));
    }
    if rng.u32(..30) == 0 {
        let again = items[rng.usize(..items.len())].clone();
        items.push(again);
    }

    let now = "2026-03-10T12:00:00Z".parse().expect("a time");
    let mut options = Options::new(rng.u32(..8), now);
    let asks = rng.u32(..4) > 0;
    match kind {
        "Job" => {
            options.parallelism = asks.then(|| rng.u32(..6));
            options.suspend = rng.u32(..8) == 0;
            options.completions = (rng.u32(..6) == 0).then(|| rng.u32(..6));
            options.replicas = None;
        }
        "ReplicaSet" => {
            options.workload = Some("web-5d8c7f9b64".parse().expect("a name"));
            if rng.u32(..3) == 0 {
                options.order = Order::Total;
            }
        }
        "StatefulSet" | "Deployment" if asks => {}
        _ => options.replicas = None,
    }
    options.partial = rng.u32(..4) > 0;
    options.controller_gates.max_unavailable_stateful_set = Some(rng.u32(..4) > 0);
    options.controller_gates.stateful_set_recreate_strategy = Some(rng.bool());
    (options, list)
}

/// The sentence without its names and numbers, so that one example is enough.
fn shape(sentence: &str, names: &BTreeSet<String>) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        let bare = bare.rsplit('/').next().unwrap_or(bare);
        if names.contains(bare) || bare.contains(|it: char| it.is_ascii_digit()) {
            "#".to_owned()
        } else {
            word.to_owned()
        }
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_sentences_are_those_of_the_list() {
    let mut sentences = BTreeMap::<String, String>::new();
    for (kind, example, cases) in EXAMPLES {
        let example: Value = serde_json::from_str(example).expect("JSON");
        let mut say = |head: &str, sentence: &str, names: &BTreeSet<String>| {
            let key = format!("{kind}; {head}; {}", shape(sentence, names));
            sentences.entry(key).or_insert_with(|| format!("{kind}; {head}; {sentence}"));
        };
        for seed in 0..cases {
            let (options, list) = case(kind, &example, seed);
            let items = list["items"].as_array().expect("items").iter();
            let names =
                items.filter_map(|item| item["metadata"]["name"].as_str()).map(str::to_owned).collect();
            let input = Snapshot::read(list.to_string().as_bytes());
            let preview = input.and_then(|input| {
                let preview = preview_workload(&input, &options)?;
                Ok(serde_json::from_str::<Value>(&podrank_predict::json(&preview)).expect("JSON"))
            });
            let preview = match preview {
                Ok(preview) => preview,
                Err(error) => {
                    say("error", &error.in_one_line(), &names);
                    continue;
                }
            };
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            for group in preview["groups"].as_array().expect("groups") {
                for pod in group["pods"].as_array().expect("pods") {
                    let reason = &pod["reason"];
                    let head = format!("{} {}", text(&pod["verdict"]), text(&reason["rule"]));
                    say(&head, &text(&reason["text"]), &names);
                }
                if group["reason"].is_object() {
                    say("set", &text(&group["reason"]["text"]), &names);
                }
            }
            for note in preview["notes"].as_array().expect("notes") {
                say(&format!("note {}", text(&note["code"])), &text(&note["text"]), &names);
            }
        }
    }
    let mut lines = String::new();
    for sentence in sentences.values() {
        writeln!(lines, "{sentence}").expect("a string");
    }
    if std::env::var_os("SENTENCES").is_some_and(|value| value == "write") {
        std::fs::write(FILE, &lines).expect("the file");
    }
    let expected = std::fs::read_to_string(FILE).expect("the file");
    for (actual, expected) in lines.lines().zip(expected.lines()) {
        assert_eq!(actual, expected);
    }
    assert_eq!(lines.lines().count(), expected.lines().count());
}
