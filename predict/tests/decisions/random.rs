//! Random cases: changes of the examples, and Deployments and sets whose pods collide in every value that a rule compares. The
//! generator stands here, whole, so that it makes the same cases as long as this file is the same.

use super::cases::{Case, Question, Subject, inputs};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).expect("below 2^32")
    }

    fn index(&mut self, end: usize) -> usize {
        self.below(u32::try_from(end).expect("few")) as usize
    }
}

/// Of each kind, an example and how many random changes of it.
const EXAMPLES: [(&str, &str, u64); 5] = [
    ("DaemonSet", "daemon-set.json", 900),
    ("StatefulSet", "stateful-set.json", 900),
    ("Job", "job.json", 700),
    ("Deployment", "rollout.json", 300),
    ("ReplicaSet", "rollout.json", 200),
];

/// How many cases of pods that collide.
const COLLISIONS: u64 = 2_000;

const NOW: i64 = 1_773_144_000; // 2026-03-10T12:00:00Z

pub(super) fn cases() -> Vec<Case> {
    let inputs = inputs();
    let examples: BTreeMap<_, Value> = EXAMPLES
        .iter()
        .map(|(_, file, _)| (*file, serde_json::from_str(&inputs[*file]).expect("JSON")))
        .collect();
    let mut cases = Vec::new();
    for (kind, file, count) in EXAMPLES {
        for seed in 0..count {
            let mut rng = Random(seed);
            let input = mutated(kind, &examples[file], &mut rng).to_string();
            cases.push(Case { name: format!("{kind}/{seed}"), question: question(kind, &mut rng), input });
        }
    }
    cases.extend((0..COLLISIONS).map(collision));
    cases
}

fn question(kind: &str, rng: &mut Random) -> Question {
    let mut question = Question::at("2026-03-10T12:00:00Z");
    let asks = rng.below(4) > 0;
    let replicas = Some(rng.below(8).to_string());
    match kind {
        "Job" => {
            question.parallelism = asks.then(|| rng.below(6));
            question.suspend = rng.below(8) == 0;
            question.completions = (rng.below(6) == 0).then(|| rng.below(6));
        }
        "ReplicaSet" => {
            question.subject = Subject::Workload("web-5d8c7f9b64".to_owned());
            question.replicas = replicas;
            question.is_total_order = rng.below(3) == 0;
        }
        "StatefulSet" | "Deployment" if asks => question.replicas = replicas,
        _ => {}
    }
    question.is_order = question.replicas.is_none() && rng.below(2) == 0;
    question.is_partial = rng.below(4) > 0;
    question.is_window = rng.below(4) == 0;
    question.stateful_set_gates = [Some(rng.below(4) > 0), Some(rng.below(2) == 0)];
    question
}

/// A Deployment of some sets, or one set of its own, whose pods are alike in most values.
fn collision(seed: u64) -> Case {
    let mut rng = Random(0xc011_1de0_0000_0000 + seed);
    let sets = if rng.below(3) == 0 { 2 + rng.below(2) } else { 1 };
    let is_owned = sets > 1 || rng.below(2) == 0;
    let mut items = Vec::new();
    let mut all = 0;
    // How alike the pods are.
    let spread = 1 + rng.below(3);
    for set in 0..sets {
        let name = format!("web-{set}");
        let count = 1 + rng.below(if sets > 1 { 5 } else { 9 });
        all += count;
        let labels = json!({ "app": "web", "pod-template-hash": set.to_string() });
        for number in 0..count {
            items.push(pod(&mut rng, &name, number, &labels, spread));
        }
        let size = if rng.below(8) == 0 { count + rng.below(3) } else { count };
        items.push(json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": { "name": name, "namespace": "shop", "uid": name, "generation": 1, "labels": labels,
                "creationTimestamp": time_before(100_000 - i64::from(set / 2) * 1000),
                "ownerReferences": if is_owned { owner("Deployment", "web") } else { json!([]) },
                "annotations": { "deployment.kubernetes.io/desired-replicas": size.to_string(),
                    "deployment.kubernetes.io/max-replicas": (size + 1).to_string() } },
            "spec": { "replicas": size, "selector": { "matchLabels": labels }, "template": template(set, &labels) },
            "status": { "replicas": count, "availableReplicas": count.saturating_sub(rng.below(2)), "observedGeneration": 1 },
        }));
    }
    if is_owned {
        let budget = |rng: &mut Random| one_of(rng, &[json!(0), json!(1), json!("25%"), json!("50%")]);
        let strategy = if rng.below(8) == 0 {
            json!({ "type": "Recreate" })
        } else {
            json!({ "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": budget(&mut rng), "maxUnavailable": budget(&mut rng) } })
        };
        items.push(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "web", "namespace": "shop", "uid": "web", "generation": 1 },
            "spec": { "replicas": all, "paused": rng.below(6) == 0, "strategy": strategy,
                "selector": { "matchLabels": { "app": "web" } }, "template": template(0, &json!({ "app": "web" })) },
            "status": { "replicas": all, "observedGeneration": 1 },
        }));
    }
    let mut question = Question::at("2026-03-10T12:00:00Z");
    question.subject = Subject::Workload(if is_owned { "deploy/web" } else { "rs/web-0" }.to_owned());
    question.is_order = rng.below(6) == 0;
    question.replicas =
        Some(rng.below(all + 1).to_string()).filter(|_| !question.is_order && rng.below(8) > 0);
    question.is_total_order = rng.below(8) == 0;
    question.is_window = rng.below(4) == 0;
    question.is_partial = rng.below(8) == 0;
    question.changed_gates = if rng.below(4) == 0 { rng.below(8) } else { 0 };
    let input = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    Case { name: format!("collision/{seed}"), question, input }
}

/// As kubectl prints it, so many seconds before now.
fn time_before(before: i64) -> Value {
    json!(jiff::Timestamp::from_second(NOW - before).expect("a time").to_string())
}

fn owner(kind: &str, name: &str) -> Value {
    json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true }])
}

fn template(revision: u32, labels: &Value) -> Value {
    json!({ "metadata": { "labels": labels, "annotations": { "revision": revision.to_string() } },
        "spec": { "containers": [{ "name": "web", "image": "none" }] } })
}

fn pod(rng: &mut Random, set: &str, number: u32, labels: &Value, spread: u32) -> Value {
    // The first three are between the same powers of two of nanoseconds.
    let ages = [40, 41, 60, 100, 68, 69];
    let rare = |rng: &mut Random| rng.below(4 * (4 - spread)) == 0;
    let created = ages[rng.index(2 * spread as usize)];
    let since = if rare(rng) { 39 } else { created - i64::from(rng.below(2)) };
    let is_ready = !rare(rng);
    let node = if rare(rng) { Value::Null } else { json!(format!("node-{}", rng.below(1 + spread))) };
    let cost = if rare(rng) { ["-1", "1", "0", "+7"][rng.index(4)] } else { "0" };
    let restarts = u32::from(rare(rng)) * rng.below(3);
    let sidecar = u32::from(rare(rng)) * rng.below(2);
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("{set}-{number}"), "namespace": "shop", "labels": labels,
            "uid": format!("{:08x}-0000-4000-8000-{number:012x}", rng.next() >> 32),
            "creationTimestamp": time_before(created), "ownerReferences": owner("ReplicaSet", set),
            "annotations": { "controller.kubernetes.io/pod-deletion-cost": cost } },
        "spec": { "nodeName": node, "initContainers": [{ "name": "proxy", "restartPolicy": "Always" }] },
        "status": { "phase": if node.is_null() || rare(rng) { "Pending" } else { "Running" },
            "conditions": [{ "type": "Ready", "status": if is_ready { "True" } else { "False" }, "lastTransitionTime": time_before(since) }],
            "containerStatuses": [{ "name": "web", "restartCount": restarts }],
            "initContainerStatuses": [{ "name": "proxy", "restartCount": sidecar }] },
    });
    if rng.below(30) == 0 {
        pod["metadata"]["deletionTimestamp"] = time_before(-30);
    }
    pod
}

/// A kind, a place in its objects, and what may stand there. Null removes it.
type Change = (&'static str, &'static str, fn(&mut Random) -> Value);

fn one_of(rng: &mut Random, values: &[Value]) -> Value {
    values[rng.index(values.len())].clone()
}

fn word(rng: &mut Random, words: &str) -> Value {
    one_of(rng, &words.split(' ').map(Value::from).collect::<Vec<_>>())
}

fn small(rng: &mut Random) -> Value {
    json!(rng.below(4))
}

fn flag(rng: &mut Random) -> Value {
    json!(rng.below(2) == 0)
}

fn time(rng: &mut Random) -> Value {
    let time = word(rng, "11:00:00 11:50:00 11:59:30 11:59:59 12:00:00 12:10:00");
    json!(format!("2026-03-10T{}Z", time.as_str().expect("a time")))
}

fn budget(rng: &mut Random) -> Value {
    one_of(rng, &[json!(0), json!(1), json!(2), json!("30%"), json!("100%")])
}

fn index(rng: &mut Random) -> Value {
    one_of(rng, &[json!("0"), json!("1"), json!("2"), json!("9"), json!("x"), Value::Null])
}

fn node(rng: &mut Random) -> Value {
    json!(format!("node-{}", 1 + rng.below(7)))
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
    ("Pod", "/status/containerStatuses", |rng| json!([{ "name": "web", "restartCount": rng.below(3) }])),
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
    ("DaemonSet", "/spec/minReadySeconds", |rng| json!(rng.below(2) * 60)),
    ("DaemonSet", "/spec/template/spec/affinity", |rng| {
        let required = json!({ "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "kubernetes.io/os", "operator": word(rng, "Exists DoesNotExist Gt"), "values": [] }
        ] }] });
        json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": required } })
    }),
    ("DaemonSet", "/metadata/generation", small),
    ("DaemonSet", "/metadata/deletionTimestamp", time),
    ("DaemonSet", "/status/currentNumberScheduled", |rng| json!(3 + rng.below(5))),
    ("DaemonSet", "/status/desiredNumberScheduled", |rng| json!(3 + rng.below(5))),
];

const STATEFUL_SETS: &[Change] = &[
    ("Pod", REVISION, |rng| one_of(rng, &[json!("db-1"), json!("db-2"), Value::Null])),
    ("Pod", "/metadata/name", |rng| word(rng, "db-7 db-x db-1")),
    ("StatefulSet", "/spec/replicas", |rng| json!(rng.below(8))),
    ("StatefulSet", "/spec/podManagementPolicy", |rng| word(rng, "OrderedReady Parallel")),
    ("StatefulSet", "/spec/updateStrategy/type", |rng| word(rng, "RollingUpdate OnDelete Recreate")),
    ("StatefulSet", "/spec/updateStrategy/rollingUpdate/partition", |rng| json!(rng.below(6))),
    ("StatefulSet", "/spec/updateStrategy/rollingUpdate/maxUnavailable", budget),
    ("StatefulSet", "/spec/minReadySeconds", |rng| json!(rng.below(2) * 60)),
    ("StatefulSet", "/spec/ordinals", |rng| json!({ "start": rng.below(3) })),
    ("StatefulSet", "/spec/volumeClaimTemplates", |_| json!([{ "metadata": { "name": "data" } }])),
    ("StatefulSet", "/spec/persistentVolumeClaimRetentionPolicy", |_| json!({ "whenScaled": "Delete" })),
    ("StatefulSet", "/metadata/deletionTimestamp", time),
    ("StatefulSet", "/metadata/generation", small),
    ("StatefulSet", "/status/updateRevision", |rng| {
        one_of(rng, &[json!("db-1"), json!("db-2"), Value::Null])
    }),
    ("StatefulSet", "/status/replicas", |rng| json!(3 + rng.below(4))),
];

const JOBS: &[Change] = &[
    ("Pod", "/metadata/annotations/batch.kubernetes.io~1job-completion-index", index),
    ("Pod", "/metadata/finalizers", |_| json!([])),
    ("Pod", "/metadata/labels/batch.kubernetes.io~1job-name", |_| json!("other")),
    ("Job", "/spec/parallelism", |rng| json!(rng.below(8))),
    ("Job", "/spec/completions", |rng| one_of(rng, &[json!(3), json!(6), Value::Null])),
    ("Job", "/spec/completionMode", |rng| word(rng, "Indexed NonIndexed Other")),
    ("Job", "/spec/suspend", flag),
    ("Job", "/spec/managedBy", |rng| word(rng, "example.com/queue kubernetes.io/job-controller")),
    ("Job", "/spec/podReplacementPolicy", |rng| word(rng, "Failed TerminatingOrFailed")),
    ("Job", "/spec/backoffLimit", |rng| json!(rng.below(2))),
    ("Job", "/spec/backoffLimitPerIndex", |_| json!(0)),
    ("Job", "/spec/maxFailedIndexes", |rng| json!(rng.below(3))),
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
    ("Job", "/spec/successPolicy", |rng| json!({ "rules": [{ "succeededCount": 1 + rng.below(2) }] })),
    ("Job", "/status/startTime", |_| json!("2026-03-10T11:00:00Z")),
    ("Job", "/status/failed", |rng| json!(rng.below(3))),
    ("Job", "/status/failedIndexes", |rng| word(rng, "0 1-4 1,3")),
    ("Pod", "/status/phase", |rng| word(rng, "Failed Succeeded Pending")),
    (
        "Pod",
        "/status/containerStatuses",
        |rng| json!([{ "name": "main", "restartCount": rng.below(2), "state": { "terminated": { "exitCode": rng.below(5) } } }]),
    ),
    ("Pod", "/status/conditions", |_| json!([{ "type": "DisruptionTarget", "status": "True" }])),
    ("Job", "/spec/selector", |_| json!({ "matchLabels": {} })),
    ("Job", "/metadata/deletionTimestamp", time),
    ("Job", "/status/active", |rng| json!(3 + rng.below(5))),
    ("Job", "/status/succeeded", |rng| json!(rng.below(7))),
    ("Job", "/status/completedIndexes", |rng| word(rng, "0 0-2 1,3 5-2 x")),
    ("Job", "/status/conditions", |rng| {
        let kind = word(rng, "Complete Failed FailureTarget SuccessCriteriaMet Suspended");
        json!([{ "type": kind, "status": word(rng, "True False") }])
    }),
];

const SETS: &[Change] = &[
    ("Deployment", "/spec/replicas", |rng| json!(rng.below(14))),
    ("Deployment", "/spec/paused", flag),
    ("Deployment", "/spec/strategy", |_| json!({ "type": "Recreate" })),
    ("Deployment", "/spec/strategy/rollingUpdate/maxSurge", budget),
    ("Deployment", "/spec/strategy/rollingUpdate/maxUnavailable", budget),
    ("Deployment", "/spec/minReadySeconds", |rng| json!(rng.below(2) * 60)),
    ("Deployment", "/metadata/generation", |rng| json!(11 + rng.below(3))),
    ("Deployment", "/metadata/deletionTimestamp", time),
    ("ReplicaSet", "/spec/replicas", |rng| json!(rng.below(12))),
    ("ReplicaSet", "/status/replicas", |rng| json!(rng.below(12))),
    ("ReplicaSet", "/status/availableReplicas", |rng| json!(rng.below(12))),
    ("ReplicaSet", "/metadata/generation", |rng| json!(8 + rng.below(4))),
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

/// Random changes of an example.
fn mutated(kind: &str, example: &Value, rng: &mut Random) -> Value {
    let mut list = example.clone();
    let items = list["items"].as_array_mut().expect("items");
    let own = match kind {
        "DaemonSet" => DAEMON_SETS,
        "StatefulSet" => STATEFUL_SETS,
        "Job" => JOBS,
        _ => SETS,
    };
    if rng.below(3) == 0 {
        let pods: Vec<_> = items.iter().filter(|item| item["kind"] == "Pod").collect();
        let mut another = pods[rng.index(pods.len())].clone();
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
    for _ in 0..rng.below(12) {
        let changes = if rng.below(2) == 0 { own } else { PODS };
        let (of, place, value) = changes[rng.index(changes.len())];
        let of: Vec<_> = (0..items.len()).filter(|item| items[*item]["kind"] == of).collect();
        if !of.is_empty() {
            // One object, or all of them.
            let all = rng.below(4) == 0;
            let one = of[rng.index(of.len())];
            let value = value(rng);
            for item in of.into_iter().filter(|item| all || *item == one) {
                put(&mut items[item], place, value.clone());
            }
        }
    }
    if rng.below(5) == 0 {
        items.remove(rng.index(items.len()));
    }
    if rng.below(30) == 0 {
        let again = items[rng.index(items.len())].clone();
        items.push(again);
    }
    list
}
