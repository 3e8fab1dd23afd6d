//! Random dumps as JSON text, complete and incomplete, decided by the crate and by a reference written apart from `podrank`,
//! straight from the documented rules: for the total order a sorted list of tuples, for Kubernetes' relation all pairs.

use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use podrank_laws::generate::seeds;
use podrank_preview::{Input, Options, Order, Preview, Remedy, SetKind, SetName, preview};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

const DUMPS: u32 = 10_000;

#[test]
fn ten_thousand_random_dumps_agree_with_the_reference() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in seeds(DUMPS) {
        let mut case = Generator(Rng::with_seed(seed)).case();
        let text = text(&case.dump);
        let input = Input::read(text.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for order in [Order::Total, Order::Kubernetes] {
            case.order = order;
            // No release of Kubernetes has it.
            case.gates[2] &= order == Order::Total;
            let expected = reference(&case);
            let preview = accepted(&input, &mut case.options(), &expected, seed);
            let actual: Value = serde_json::from_str(&preview.to_json()).expect("the preview is JSON");

            assert_eq!(actual["active"], expected.pods.len(), "seed {seed}");
            assert_eq!(actual["delete"], expected.delete, "seed {seed}");
            assert_eq!(actual["replicaSet"], case.set.2, "seed {seed}");
            assert_eq!(actual["namespace"], case.set.0, "seed {seed}");
            assert_eq!(actual["workload"], json!({ "kind": case.set.1, "name": case.set.2 }), "seed {seed}");
            assert_eq!(actual["quota"], expected.quota, "seed {seed}");
            let codes: BTreeSet<_> = actual["notes"].as_array().expect("notes").iter().map(code).collect();
            let about: BTreeSet<_> = codes.intersection(&COMPLETENESS.into()).copied().collect();
            assert_eq!(about, expected.notes, "seed {seed}, {order:?}");
            for code in codes {
                *seen.entry(format!("{order:?} {code}")).or_default() += 1;
            }
            let actual: Vec<_> = actual["pods"].as_array().expect("pods").iter().map(without_why).collect();
            assert_eq!(actual, expected.pods, "seed {seed}, {order:?}");

            for pod in &actual {
                for what in [&pod["rule"], &pod["verdict"]] {
                    let what = format!("{order:?} {}", what.as_str().unwrap_or("null"));
                    *seen.entry(what).or_default() += 1;
                }
            }
        }
    }
    // A generator whose pods never collide would only ever reach the first rules.
    let rules = RULES.iter().chain(&["null", "delete", "keep"]).map(|rule| format!("Total {rule}"));
    let theirs =
        RULES.iter().filter(|rule| **rule != "preferred").chain(&["null", "delete", "contested", "keep"]);
    let notes = COMPLETENESS.iter().flat_map(|code| [format!("Total {code}"), format!("Kubernetes {code}")]);
    for what in rules.chain(theirs.map(|rule| format!("Kubernetes {rule}"))).chain(notes) {
        let times = seen.get(&what).copied().unwrap_or(0);
        assert!(times >= 200, "{what} came up only {times} times: {seen:?}");
    }
}

/// The preview. Kubernetes' decision on an incomplete dump is refused, until it is accepted as partial.
fn accepted<'a>(input: &'a Input, options: &mut Options, expected: &Expected, seed: u64) -> Preview<'a> {
    let lacks = expected.notes.iter().any(|code| *code != "more-pods-than-status");
    if lacks && options.order == Order::Kubernetes {
        let error = preview(input, options).expect_err("the dump is incomplete");
        assert_eq!(error.remedy(), Some(Remedy::AcceptPartial), "seed {seed}: {error}");
        assert!(error.to_string().contains(": kubectl get pods,"), "seed {seed}: {error}");
        options.partial = true;
    }
    preview(input, options).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

fn code(note: &Value) -> &str {
    note["code"].as_str().expect("a code")
}

/// What kubectl prints with `-o yaml` gives the preview, or the error, that its JSON gives.
#[test]
fn yaml_gives_the_preview_that_json_gives() {
    for seed in seeds(500) {
        let case = Generator(Rng::with_seed(seed)).case();
        let mut text = String::new();
        yaml(&case.dump, 0, &mut text);
        let read = |text: &str| {
            let input =
                Input::read(text.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            preview(&input, &case.options()).map(|preview| preview.to_json())
        };
        assert_eq!(read(&text), read(&case.dump.to_string()), "seed {seed}");
    }
}

/// Writes an object in the block style of kubectl: lists stand as far in as their key, and text goes without quotes where it
/// can.
fn yaml(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    for (key, value) in value.as_object().expect("an object") {
        out.extend([pad.as_str(), &scalar(&json!(key)), ":"]);
        match value {
            Value::Object(object) if !object.is_empty() => {
                out.push('\n');
                yaml(value, indent + 2, out);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                for item in items {
                    if item.is_object() {
                        let mut text = String::new();
                        yaml(item, indent + 2, &mut text);
                        out.extend([pad.as_str(), "- ", &text[indent + 2..]]);
                    } else {
                        out.extend([pad.as_str(), "- ", &scalar(item), "\n"]);
                    }
                }
            }
            value => out.extend([" ", &scalar(value), "\n"]),
        }
    }
}

fn scalar(value: &Value) -> String {
    let is_plain = |text: &str| {
        let is_time = text.starts_with("20") && text.ends_with('Z');
        let is_word = text.starts_with(|first: char| first.is_ascii_lowercase())
            && !["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&text);
        (is_time || is_word)
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./:".contains(&byte))
    };
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The dump with the list's type first, as Go writes it: the map of `serde_json` sorts its keys.
fn text(dump: &Value) -> String {
    format!(r#"{{"kind":{},"apiVersion":"v1","metadata":{{}},"items":{}}}"#, dump["kind"], dump["items"])
}

fn without_why(pod: &Value) -> Value {
    let mut pod = pod.as_object().expect("a pod").clone();
    let why = pod.remove("why").expect("a reason");
    let why = why.as_str().expect("a sentence");
    let contested = pod["verdict"] == "contested";
    assert_eq!(why.starts_with("one of ") && why.contains(", by list order: "), contested, "{why}");
    for (age, time) in [("age", "creationTime"), ("readyAge", "readyTime")] {
        let age = pod.remove(age).expect("an age, or null");
        assert_eq!(age.is_null(), pod[time].is_null(), "{age}");
    }
    let no_other = ["all pods go", "nothing to delete"].contains(&why);
    assert_eq!(no_other || contested, pod["rule"].is_null(), "{why}");
    Value::Object(pod)
}

/// A dump, and what to ask of it.
struct Case {
    dump: Value,
    /// Namespace, kind and name.
    set: (&'static str, &'static str, String),
    /// Whether the dump leaves only one set to choose.
    is_plain: bool,
    now: Timestamp,
    order: Order,
    /// Deletion cost, log scale, preference.
    gates: [bool; 3],
    replicas: u32,
    burst: Option<u32>,
}

impl Case {
    fn options(&self) -> Options {
        let kind = match self.set.1 {
            "ReplicaSet" => SetKind::ReplicaSet,
            _ => SetKind::ReplicationController,
        };
        let mut options = Options::new(self.replicas, self.now);
        options.set = (!self.is_plain).then(|| SetName { kind: Some(kind), name: self.set.2.clone() });
        options.namespace = (!self.is_plain).then(|| self.set.0.to_owned());
        options.order = self.order;
        options.gates.pod_deletion_cost = self.gates[0];
        options.gates.logarithmic_scale_down = self.gates[1];
        options.gates.prefer_for_scale_down = self.gates[2];
        options.burst_replicas = self.burst.and_then(std::num::NonZeroU32::new);
        options
    }
}

// The reference.

const RULES: [&str; 11] = [
    "unassigned",
    "phase",
    "not-ready",
    "deletion-cost",
    "rank",
    "preferred",
    "ready-time",
    "restarts",
    "sidecar-restarts",
    "creation-time",
    "uid",
];

/// The notes on whether a dump is complete.
const COMPLETENESS: [&str; 4] = ["set-missing", "siblings-missing", "pods-missing", "more-pods-than-status"];

struct Expected {
    delete: usize,
    quota: usize,
    pods: Vec<Value>,
    /// Of [`COMPLETENESS`].
    notes: BTreeSet<&'static str>,
}

/// A pod's place: the smaller goes first, and the first number that differs names the rule.
type Place = ([i128; 10], String);

#[allow(clippy::too_many_lines)] // one step after the other, as the design words them
fn reference(case: &Case) -> Expected {
    let mut items: Vec<Value> = case.dump["items"].as_array().expect("items").clone();
    if case.dump["kind"] == "PodList" {
        for item in &mut items {
            item["kind"] = json!("Pod");
        }
    }
    let (namespace, kind, name) = &case.set;
    let set = items.iter().find(|item| {
        item["kind"] == *kind && item["metadata"]["name"] == **name && space(item) == *namespace
    });

    let mut known = BTreeSet::new();
    let mut is_new = |pod: &&Value| known.insert(pod["metadata"]["uid"].to_string());
    let active: Vec<&Value> = items
        .iter()
        .filter(|item| item["kind"] == "Pod" && is_active(item))
        .filter(|pod| is_new(pod))
        .collect();
    let is_of = |pod: &Value, name: &str, set: Option<&Value>| {
        let Some(owner) = controller(pod) else { return false };
        let versions: &[&str] =
            if *kind == "ReplicaSet" { &["apps/v1", "extensions/v1beta1"] } else { &["v1"] };
        owner["kind"] == *kind
            && owner["name"] == *name
            && versions.contains(&owner["apiVersion"].as_str().unwrap_or(""))
            && space(pod) == *namespace
            && set.is_none_or(|set| set["metadata"]["uid"] == owner["uid"])
    };
    let is_own = |pod: &Value| is_of(pod, name, set);

    let deployment = set.filter(|_| *kind == "ReplicaSet").and_then(controller);
    // Kubernetes counts no ranks for a ReplicationController, nor for a set without a controller.
    let no_ranks = case.order == Order::Kubernetes && (set.is_some() || *kind != "ReplicaSet");
    let is_related = |pod: &Value| match deployment {
        None => is_own(pod) && !no_ranks,
        Some(deployment) => items.iter().any(|other| {
            other["kind"] == "ReplicaSet"
                && controller(other).is_some_and(|theirs| theirs["uid"] == deployment["uid"])
                && space(other) == space(pod)
                && selects(&other["spec"]["selector"], &pod["metadata"]["labels"])
        }),
    };
    let is_there = |id: [&str; 3]| {
        items
            .iter()
            .any(|item| [space(item), text_of(&item["kind"]), text_of(&item["metadata"]["name"])] == id)
    };
    let is_lost_sibling = |pod: &Value| {
        let owner = controller(pod).filter(|owner| owner["kind"] == "ReplicaSet");
        let owner =
            owner.filter(|owner| ["apps/v1", "extensions/v1beta1"].contains(&text_of(&owner["apiVersion"])));
        owner.is_some_and(|owner| !is_there([space(pod), "ReplicaSet", text_of(&owner["name"])]))
            && space(pod) == *namespace
            && set.is_some_and(|set| {
                let selector = &set["spec"]["selector"];
                // Only the sets of a Deployment have labels in common.
                let has_deployment = deployment.is_some_and(|owner| owner["kind"] == "Deployment");
                let is_alike = selects_but_for_hash(selector, &pod["metadata"]["labels"]);
                if has_deployment { is_alike } else { is_valid(selector) }
            })
    };
    // Finished and terminating pods count, too: the status may be older than their end.
    let lacks_pods = |set: &Value| {
        let pods = items.iter().filter(|item| item["kind"] == "Pod");
        let own = pods.filter(|pod| is_of(pod, text_of(&set["metadata"]["name"]), Some(set)));
        let names: BTreeSet<_> = own.map(|pod| pod["metadata"]["name"].to_string()).collect();
        set["status"]["replicas"].as_u64().is_some_and(|status| status > names.len() as u64)
    };
    let is_sibling = |other: &Value| {
        other["kind"] == "ReplicaSet"
            && space(other) == *namespace
            && deployment
                .is_some_and(|owner| controller(other).is_some_and(|theirs| theirs["uid"] == owner["uid"]))
    };
    let own_active = active.iter().filter(|pod| is_own(pod)).count();
    let status = set.and_then(|set| set["status"]["replicas"].as_u64());
    let lacks = [
        set.is_none(),
        deployment.is_some() && active.iter().any(|pod| is_lost_sibling(pod)),
        set.is_some_and(lacks_pods) || items.iter().any(|item| is_sibling(item) && lacks_pods(item)),
        status.is_some_and(|status| status < own_active as u64),
    ];
    let notes =
        COMPLETENESS.into_iter().zip(lacks).filter(|(_, lacks)| *lacks).map(|(code, _)| code).collect();

    let mut on_node = BTreeMap::<Option<&str>, i128>::new();
    for pod in active.iter().filter(|pod| is_related(pod)) {
        *on_node.entry(node(pod)).or_default() += 1;
    }

    let mut own: Vec<(Place, &Value)> = active
        .iter()
        .filter(|pod| is_own(pod))
        .map(|pod| (place(case, pod, on_node.get(&node(pod)).copied().unwrap_or(0)), *pod))
        .collect();
    own.sort_by(|a, b| a.0.cmp(&b.0));

    let wanted = case.replicas as usize;
    // Its controller deletes nothing if the set itself is being deleted, or has an invalid selector.
    let works = set.is_none_or(|set| {
        let selector = &set["spec"]["selector"];
        set["metadata"]["deletionTimestamp"].is_null() && (selector.is_null() || is_valid(selector))
    });
    let mut delete = if works && own.len() > wanted { own.len() - wanted } else { 0 };
    if let Some(burst) = case.burst {
        delete = delete.min(burst as usize);
    }
    let (before, with) = match case.order {
        // Everyone is a group of one, of all that stand before.
        Order::Total => ((0..own.len()).collect(), vec![1; own.len()]),
        Order::Kubernetes => {
            let (before, with) = groups(case, &own);
            let mut line: Vec<usize> = (0..own.len()).collect();
            line.sort_by_key(|&pod| before[pod]);
            own = line.iter().map(|&pod| own[pod].clone()).collect();
            (
                line.iter().map(|&pod| before[pod]).collect(),
                line.iter().map(|&pod| with[pod]).collect::<Vec<_>>(),
            )
        }
    };
    let before: Vec<usize> = before;
    let verdicts: Vec<_> = (0..own.len())
        .map(|pod| match (before[pod], before[pod] + with[pod]) {
            (_, end) if end <= delete => "delete",
            (start, _) if start >= delete => "keep",
            _ => "contested",
        })
        .collect();
    let pods = own.iter().enumerate().map(|(index, (place, pod))| {
        let other = match verdicts[index] {
            "delete" => verdicts.iter().position(|verdict| *verdict != "delete"),
            "keep" => verdicts.iter().rposition(|verdict| *verdict != "keep"),
            _ => None,
        };
        json!({
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
            "node": node(pod),
            "rank": small(-place.0[4]),
            "phase": phase(place.0[1]),
            "ready": place.0[2] == 1,
            "readyTime": timestamp(ready_time(pod)),
            "restarts": small(-place.0[7]),
            "sidecarRestarts": small(-place.0[8]),
            "deletionCost": small(cost_of(pod)),
            "creationTime": timestamp(nanos(&pod["metadata"]["creationTimestamp"])),
            "position": index + 1,
            "verdict": verdicts[index],
            "rule": other.map(|other| match case.order {
                Order::Total => separating(place, &own[other].0),
                Order::Kubernetes => {
                    let (a, b) = if other > index { (index, other) } else { (other, index) };
                    is_before(case, &own[a], &own[b]).expect("the one is before the other")
                }
            }),
        })
    });
    let certain = verdicts.iter().filter(|verdict| **verdict == "delete").count();
    Expected { delete, quota: delete - certain, pods: pods.collect(), notes }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn phase(ordinal: i128) -> &'static str {
    ["Pending", "Unknown", "Running"][usize::try_from(ordinal).expect("an ordinal")]
}

fn small(number: i128) -> i64 {
    i64::try_from(number).expect("a small number")
}

/// A time as the preview writes it: what 64 bits of nanoseconds do not hold saturates.
fn timestamp(nanos: Option<i128>) -> Option<String> {
    nanos.map(|nanos| Timestamp::from_nanosecond(nanos).expect("in range").to_string())
}

/// For each pod, how many are in groups before its own, and how many are in its own: two pods are in one group if from
/// each a way leads to the other, where a step leads from a pod to every one that is not before it.
fn groups(case: &Case, pods: &[(Place, &Value)]) -> (Vec<usize>, Vec<usize>) {
    let n = pods.len();
    // The pods that each leads to, as bits.
    let mut leads: Vec<Vec<u64>> = vec![vec![0; n.div_ceil(64)]; n];
    for a in 0..n {
        for b in 0..n {
            if is_before(case, &pods[b], &pods[a]).is_none() {
                leads[a][b / 64] |= 1 << (b % 64);
            }
        }
    }
    let has = |row: &[u64], pod: usize| row[pod / 64] >> (pod % 64) & 1 == 1;
    for via in 0..n {
        let further = leads[via].clone();
        for row in leads.iter_mut().filter(|row| has(row, via)) {
            row.iter_mut().zip(&further).for_each(|(row, further)| *row |= further);
        }
    }
    let count = |pod: usize, back: bool| {
        (0..n).filter(|&other| has(&leads[other], pod) && has(&leads[pod], other) == back).count()
    };
    (0..n).map(|pod| (count(pod, false), count(pod, true))).unzip()
}

/// The step by which Kubernetes says that `a` is before `b`, if it does.
fn is_before(case: &Case, a: &(Place, &Value), b: &(Place, &Value)) -> Option<&'static str> {
    let times = [("ready-time", true), ("creation-time", false)].map(|(rule, ready)| {
        let both = !ready || a.0.0[2] == 1 && b.0.0[2] == 1;
        let time =
            |pod: &Value| if ready { ready_time(pod) } else { nanos(&pod["metadata"]["creationTimestamp"]) };
        (rule, both, time(a.1), time(b.1))
    });
    let mut steps = RULES.iter().zip(a.0.0.iter().zip(&b.0.0)).filter(|(rule, _)| **rule != "preferred");
    steps
        .find_map(|(rule, (x, y))| {
            let Some((_, both, s, t)) = times.iter().find(|(name, ..)| name == rule) else {
                return (x != y).then_some((*rule, x < y));
            };
            if !both || s == t {
                return None;
            }
            let (Some(s), Some(t)) = (s, t) else { return Some((*rule, s.is_none())) };
            Some(match nanos(&json!(case.now.to_string())) {
                Some(now) if case.gates[1] => match (gos_log2(now - s), gos_log2(now - t)) {
                    (s, t) if s == t => ("uid", a.0.1 < b.0.1),
                    (s, t) => (*rule, s < t),
                },
                _ => (*rule, s > t),
            })
        })
        .and_then(|(rule, first)| first.then_some(rule))
}

/// `int64(math.Log2(float64(age)))`, the way Go's library takes it: the fraction's logarithm, then the exponent.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::float_cmp)]
fn gos_log2(age: i128) -> i64 {
    if age <= 0 {
        return -1;
    }
    let age = age.min(i128::from(i64::MAX)) as f64;
    let exponent = i32::try_from(age.to_bits() >> 52).expect("an exponent") - 1022;
    let fraction = age / 2_f64.powi(exponent);
    if fraction == 0.5 {
        return i64::from(exponent) - 1;
    }
    (fraction.ln() * (1.0 / std::f64::consts::LN_2) + f64::from(exponent)) as i64
}

fn separating(a: &Place, b: &Place) -> &'static str {
    let first = a.0.iter().zip(&b.0).position(|(a, b)| a.cmp(b) != Ordering::Equal);
    RULES[first.unwrap_or(10)]
}

fn place(case: &Case, pod: &Value, related: i128) -> Place {
    let [cost_gate, _, prefer_gate] = case.gates;
    let (metadata, status) = (&pod["metadata"], &pod["status"]);
    let ready = ready(pod);
    let cost = cost_of(pod);
    let preferred = metadata["labels"].get("kubernetes.io/prefer-for-scale-down").is_some();
    let place = [
        i128::from(node(pod).is_some()),
        match status["phase"].as_str() {
            Some("Running") => 2,
            Some("Unknown") => 1,
            _ => 0,
        },
        i128::from(ready.is_some()),
        if cost_gate { cost } else { 0 },
        -related,
        i128::from(!(prefer_gate && preferred)),
        ready.map_or(0, |condition| young_first(case, &condition["lastTransitionTime"])),
        -restarts(&status["containerStatuses"], |_| true),
        -restarts(&status["initContainerStatuses"], |name| {
            let containers = pod["spec"]["initContainers"].as_array();
            containers.into_iter().flatten().any(|c| c["name"] == *name && c["restartPolicy"] == "Always")
        }),
        young_first(case, &metadata["creationTimestamp"]),
    ];
    (place, metadata["uid"].as_str().expect("a UID").to_owned())
}

fn cost_of(pod: &Value) -> i128 {
    pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"].as_str().map_or(0, cost)
}

/// The condition that says the pod is ready, if it does.
fn ready(pod: &Value) -> Option<&Value> {
    let conditions = pod["status"]["conditions"].as_array();
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    ready.filter(|condition| condition["status"] == "True")
}

fn ready_time(pod: &Value) -> Option<i128> {
    nanos(&ready(pod)?["lastTransitionTime"])
}

fn young_first(case: &Case, time: &Value) -> i128 {
    let Some(time) = nanos(time) else { return i128::MIN };
    match nanos(&json!(case.now.to_string())) {
        Some(now) if case.gates[1] => {
            let mut age = (now - time).min(i128::from(i64::MAX));
            let mut bucket = -1;
            while age > 0 {
                age /= 2;
                bucket += 1;
            }
            bucket
        }
        _ => -time,
    }
}

fn nanos(time: &Value) -> Option<i128> {
    let time: Timestamp = time.as_str()?.parse().expect("a timestamp");
    let zero: Timestamp = "0001-01-01T00:00:00Z".parse().expect("a timestamp");
    (time != zero).then(|| time.as_nanosecond().clamp(i128::from(i64::MIN + 1), i128::from(i64::MAX)))
}

fn restarts(statuses: &Value, counts: impl Fn(&Value) -> bool) -> i128 {
    let statuses = statuses.as_array().into_iter().flatten().filter(|status| counts(&status["name"]));
    statuses.map(|status| i128::from(status["restartCount"].as_i64().expect("a count"))).fold(0, i128::max)
}

/// The grammar, character by character: `0`, or digits of which the first is not 0, or `-` and digits.
fn cost(text: &str) -> i128 {
    let digits = match text.strip_prefix('-') {
        Some(digits) => digits,
        None if text == "0" => return 0,
        None if text.starts_with('0') => return 0,
        None => text,
    };
    if digits.is_empty() || digits.chars().any(|digit| !digit.is_ascii_digit()) || digits.len() > 30 {
        return 0;
    }
    let size = digits.chars().fold(0_i128, |sum, digit| sum * 10 + i128::from(u32::from(digit) - 48));
    let cost = if text.starts_with('-') { -size } else { size };
    if (-2_147_483_648..=2_147_483_647).contains(&cost) { cost } else { 0 }
}

fn is_active(pod: &Value) -> bool {
    let phase = &pod["status"]["phase"];
    phase != "Succeeded" && phase != "Failed" && pod["metadata"]["deletionTimestamp"].is_null()
}

fn node(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())
}

fn space(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}

fn controller(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

/// Label selection in the words of the Kubernetes documentation. `BAD` marks what the generator knows to be
/// no label key or value.
fn selects(selector: &Value, labels: &Value) -> bool {
    let Some(selector) = selector.as_object() else { return false };
    if BAD.iter().any(|bad| json!(selector).to_string().contains(&json!(bad).to_string())) {
        return false;
    }
    let no_labels = Map::new();
    let labels = labels.as_object().unwrap_or(&no_labels);
    let expected = selector.get("matchLabels").and_then(Value::as_object);
    let mut result = expected.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let value = labels.get(expression["key"].as_str().expect("a key"));
        let values = expression["values"].as_array().cloned().unwrap_or_default();
        let is_one = value.is_some_and(|value| values.contains(value));
        result &= match (expression["operator"].as_str().expect("an operator"), values.len()) {
            ("In", 1..) => is_one,
            ("NotIn", 1..) => !is_one,
            ("Exists", 0) => value.is_some(),
            ("DoesNotExist", 0) => value.is_none(),
            _ => return false,
        };
    }
    result
}

/// Whether the selector is valid, and selects these labels once it does not look at `pod-template-hash`.
fn selects_but_for_hash(selector: &Value, labels: &Value) -> bool {
    const HASH: &str = "pod-template-hash";
    let mut rest = selector.clone();
    if let Some(labels) = rest.get_mut("matchLabels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    if let Some(all) = rest.get_mut("matchExpressions").and_then(Value::as_array_mut) {
        all.retain(|expression| expression["key"] != HASH);
    }
    is_valid(selector) && selects(&rest, labels)
}

/// Whether Kubernetes accepts the selector.
fn is_valid(selector: &Value) -> bool {
    let text = selector.to_string();
    let is_sound = |expression: &Value| {
        let values = expression["values"].as_array().map_or(0, Vec::len);
        match text_of(&expression["operator"]) {
            "In" | "NotIn" => values > 0,
            "Exists" | "DoesNotExist" => values == 0,
            _ => false,
        }
    };
    selector.is_object()
        && !BAD.iter().any(|bad| text.contains(&json!(bad).to_string()))
        && selector["matchExpressions"].as_array().into_iter().flatten().all(is_sound)
}

// The generator.

/// No label keys, nor values.
const BAD: [&str; 8] = [
    "-app",
    "app.",
    "a b",
    "a/b/c",
    "Upper_/app",
    "/app",
    "kéy",
    "x2345678901234567890123456789012345678901234567890123456789012345",
];

const COSTS: [&str; 30] = [
    "0",
    "1",
    "1",
    "-1",
    "-1",
    "2",
    "100",
    "-100",
    "2147483647",
    "-2147483648",
    "-0",
    "-008",
    "",
    "+10",
    "008",
    "00",
    "1.0",
    "1e3",
    "abc",
    "-",
    "--1",
    "-+1",
    "-1_0",
    "0x10",
    "2147483648",
    "-2147483649",
    "1_000",
    "١",
    " 1",
    "1 ",
];

struct Generator(Rng);

impl Generator {
    fn one_in(&mut self, n: u32) -> bool {
        self.0.u32(..n) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.0.usize(..from.len())]
    }

    fn case(&mut self) -> Case {
        let now = match self.0.u32(..20) {
            0 => "0001-01-01T00:00:00Z",
            1 => "2300-01-01T00:00:00Z",
            2..=10 => "2026-03-10T12:00:00Z",
            _ => "2026-03-10T12:00:00.123456789Z",
        };
        let now: Timestamp = now.parse().expect("a timestamp");
        let sets: Vec<_> = (0..self.0.usize(1..=5)).map(|index| self.set(index)).collect();
        let count = match self.0.u32(..100) {
            0..60 => self.0.usize(..=12),
            60..95 => self.0.usize(..=60),
            _ => self.0.usize(..=300),
        };
        // Few traits make pods that tie for long, many make those that part early.
        let variety = self.0.u32(1..=4);
        let mut items: Vec<_> = (0..count).map(|index| self.pod(index, variety, &sets, now)).collect();
        if self.one_in(5) && !items.is_empty() {
            items.push(items[self.0.usize(..items.len())].clone());
        }
        let chosen = sets[0].clone();
        let is_typed = self.one_in(20);
        let mut is_listed = true;
        if is_typed {
            is_listed = false;
            for item in &mut items {
                item.as_object_mut().expect("a pod").retain(|key, _| key != "kind" && key != "apiVersion");
            }
        } else {
            for (index, set) in sets.iter().enumerate() {
                if self.one_in(6) {
                    is_listed &= index != 0;
                } else {
                    items.push(set.clone());
                }
            }
            items.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": 1 }));
            items.push(
                json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" } }),
            );
        }
        let set_name = chosen["metadata"]["name"].as_str().expect("a name").to_owned();
        let set_kind = if chosen["kind"] == "ReplicaSet" { "ReplicaSet" } else { "ReplicationController" };
        let set_space = if space(&chosen) == "default" { "default" } else { "other" };
        if !is_listed {
            // Something must name a set that is not there itself.
            let mut pod = self.pod(count, variety, &sets[..1], now);
            pod["metadata"]["ownerReferences"] = json!([owner(&chosen)]);
            pod["metadata"]["namespace"] = json!(set_space);
            pod["metadata"].as_object_mut().expect("metadata").remove("deletionTimestamp");
            if is_typed {
                pod.as_object_mut().expect("a pod").retain(|key, _| key != "kind" && key != "apiVersion");
            }
            pod["status"]["phase"] = json!("Running");
            if pod["metadata"]["creationTimestamp"] == "yesterday" {
                pod["metadata"]["uid"] = json!("00000000-0000-4000-8000-00000000ffff");
                pod["metadata"]["creationTimestamp"] = Value::Null;
            }
            items.push(pod);
        }
        self.statuses(&mut items);
        self.0.shuffle(&mut items);
        let is_plain = sets.len() == 1 && is_listed;
        let replicas = if self.one_in(8) { 0 } else { self.0.u32(..=u32::try_from(count).expect("small")) };
        let kind = if is_typed { "PodList" } else { "List" };
        let dump = json!({ "apiVersion": "v1", "kind": kind, "items": items });
        Case {
            dump,
            set: (set_space, set_kind, set_name),
            is_plain,
            now,
            order: Order::Total,
            gates: [!self.one_in(5), !self.one_in(4), self.one_in(3)],
            replicas,
            burst: self.one_in(4).then(|| self.0.u32(1..=20)),
        }
    }

    /// Sets with a status that counts their pods, or about as many.
    fn statuses(&mut self, items: &mut [Value]) {
        let owners: Vec<_> = items.iter().filter_map(controller).map(|owner| owner["uid"].clone()).collect();
        for set in items.iter_mut().filter(|item| item["spec"].get("replicas").is_some()) {
            let pods = owners.iter().filter(|owner| **owner == set["metadata"]["uid"]).count();
            if !self.one_in(4) {
                let replicas =
                    if self.one_in(3) { self.0.usize(..=pods + 2) } else { pods.saturating_sub(2) };
                set["status"] = json!({ "replicas": replicas });
            }
        }
    }

    fn set(&mut self, index: usize) -> Value {
        let is_controller = self.one_in(6);
        let (kind, version) = if is_controller {
            ("ReplicationController", "v1")
        } else {
            ("ReplicaSet", self.pick(&["apps/v1", "apps/v1", "extensions/v1beta1"]))
        };
        // The first is the one asked for; names of others may be its name in another namespace or kind.
        let namespace = if index == 0 || !self.one_in(4) { "default" } else { "other" };
        let name = if namespace == "other" { format!("web-{}", index - 1) } else { format!("web-{index}") };
        let mut set = json!({
            "apiVersion": version,
            "kind": kind,
            "metadata": { "name": name, "uid": format!("set-{namespace}-{index}") },
            "spec": { "replicas": self.0.u32(..3) },
        });
        if namespace == "other" || self.one_in(2) {
            set["metadata"]["namespace"] = json!(namespace);
        }
        if !self.one_in(4) {
            let controller = self.pick(&["web", "web", "api"]);
            let by = self.pick(&["Deployment", "Deployment", "Rollout"]);
            set["metadata"]["ownerReferences"] = json!([
                { "apiVersion": "v1", "kind": "Thing", "name": "x", "uid": "thing" },
                { "apiVersion": "apps/v1", "kind": by, "name": controller,
                  "uid": format!("deployment-{controller}"), "controller": true },
            ]);
        }
        if self.one_in(24) {
            set["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:00:00Z");
        }
        if is_controller {
            set["spec"]["selector"] = json!({ "app": "a" });
        } else if !self.one_in(12) {
            set["spec"]["selector"] = self.selector();
        }
        set
    }

    fn selector(&mut self) -> Value {
        let mut selector = json!({});
        if self.one_in(2) {
            let key = if self.one_in(20) { self.pick(&BAD) } else { "app" };
            let value = if self.one_in(20) { self.pick(&BAD) } else { self.pick(&["a", "a", "b"]) };
            selector["matchLabels"] = json!({ key: value });
            if self.one_in(2) {
                selector["matchLabels"]["pod-template-hash"] = json!(self.pick(&["a", "b"]));
            }
        }
        if self.one_in(2) {
            let expression = |this: &mut Self| {
                let operator = this.pick(&["In", "NotIn", "Exists", "DoesNotExist", "In", "NotIn"]);
                let operator = if this.one_in(30) { "Equals" } else { operator };
                let takes_values = operator.ends_with("In") != this.one_in(30);
                let key = this.pick(&["app", "tier", "example.com/tier", "pod-template-hash"]);
                let key = if this.one_in(40) { this.pick(&BAD) } else { key };
                let values: Vec<_> = if takes_values {
                    (0..this.0.usize(1..=2)).map(|_| this.pick(&["a", "b", "x", ""])).collect()
                } else {
                    Vec::new()
                };
                let mut expression = json!({ "key": key, "operator": operator });
                if takes_values || this.one_in(2) {
                    expression["values"] = json!(values);
                }
                expression
            };
            selector["matchExpressions"] =
                (0..self.0.usize(..=2)).map(|_| expression(self)).collect::<Vec<_>>().into();
        }
        selector
    }

    fn pod(&mut self, index: usize, variety: u32, sets: &[Value], now: Timestamp) -> Value {
        // Distinct, in no order that the index gives away, and alike at the front.
        let low = (index * 40_503) % 65_536;
        let uid = format!("{:08x}-0000-4000-8000-{low:012x}", self.0.u32(..2));
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": format!("pod-{index}"), "uid": uid, "labels": {} },
            "spec": { "containers": [] },
            "status": { "phase": "Running" },
        });
        let metadata = &mut pod["metadata"];
        match self.0.u32(..20) {
            // An orphan.
            0 | 1 => {}
            2 => metadata["ownerReferences"] = self.foreign_owner(&sets[0]),
            _ => {
                let set = if self.one_in(3) { &sets[self.0.usize(..sets.len())] } else { &sets[0] };
                metadata["ownerReferences"] = json!([owner(set)]);
                if set["metadata"].get("namespace").is_some() {
                    metadata["namespace"] = set["metadata"]["namespace"].clone();
                }
            }
        }
        for (label, values) in [
            ("app", ["a", "a", "b"]),
            ("tier", ["x", "y", ""]),
            ("example.com/tier", ["x"; 3]),
            ("pod-template-hash", ["a", "a", "b"]),
        ] {
            if !self.one_in(3) {
                metadata["labels"][label] = json!(self.pick(&values));
            }
        }
        if self.one_in(4) {
            metadata["labels"]["kubernetes.io/prefer-for-scale-down"] = json!(self.pick(&["", "false"]));
        }
        if self.one_in(1 + variety) {
            let cost = if variety > 2 { self.pick(&COSTS) } else { self.pick(&COSTS[..5]) };
            metadata["annotations"] = json!({ "controller.kubernetes.io/pod-deletion-cost": cost });
        }
        let created = self.time(variety, now);
        set_or_leave(metadata, "creationTimestamp", created);
        self.running(&mut pod, variety, now);
        self.inactive(&mut pod);
        pod
    }

    /// Where the pod runs, and how well.
    fn running(&mut self, pod: &mut Value, variety: u32, now: Timestamp) {
        match self.0.u32(..4 + 8 * variety) {
            0 => {}
            1 => pod["spec"]["nodeName"] = json!(""),
            _ => pod["spec"]["nodeName"] = json!(format!("node-{}", self.0.u32(..variety))),
        }
        if self.one_in(6) {
            pod["status"]["phase"] = json!(self.pick(&["Pending", "Unknown", "running", ""]));
        }
        let ready = |this: &mut Self, status| {
            let mut condition = json!({ "type": "Ready", "status": status });
            let since = this.time(variety, now);
            set_or_leave(&mut condition, "lastTransitionTime", since);
            condition
        };
        if !self.one_in(6) {
            let status = if self.one_in(5) { self.pick(&["False", "Unknown", "true"]) } else { "True" };
            let mut conditions =
                vec![json!({ "type": "Initialized", "status": "True" }), ready(self, status)];
            if self.one_in(10) {
                let second = self.pick(&["True", "False"]);
                conditions.push(ready(self, second));
            }
            pod["status"]["conditions"] = json!(conditions);
        }
        let count = |this: &mut Self| if this.one_in(20) { -1 } else { this.0.i32(0..3) / 2 };
        let statuses: Vec<_> = ["web", "proxy"]
            .iter()
            .map(|name| json!({ "name": name, "restartCount": count(self), "image": "", "imageID": "", "ready": true }))
            .collect();
        pod["status"]["containerStatuses"] = json!(statuses);
        if self.one_in(2) {
            let policy = self.pick(&["Always", "Always", "OnFailure"]);
            pod["spec"]["initContainers"] =
                json!([{ "name": "migrate" }, { "name": "logs", "restartPolicy": policy }]);
            pod["status"]["initContainerStatuses"] = json!([
                { "name": "migrate", "restartCount": 3, "image": "", "imageID": "", "ready": true },
                { "name": "logs", "restartCount": count(self), "image": "", "imageID": "", "ready": true },
            ]);
        }
    }

    /// Some pods are not active, or none of our business, and then nothing else in them matters.
    fn inactive(&mut self, pod: &mut Value) {
        match self.0.u32(..12) {
            0 => pod["status"]["phase"] = json!(self.pick(&["Succeeded", "Failed"])),
            1 => pod["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z"),
            2 if self.one_in(4) => {
                pod["metadata"]["namespace"] = json!("elsewhere");
                pod["metadata"]["ownerReferences"] = Value::Null;
            }
            _ => return,
        }
        if self.one_in(2) {
            pod["metadata"]["uid"] = json!(self.pick(&["", "none", "00000000-0000-4000-8000-00000000000X"]));
            pod["metadata"]["creationTimestamp"] = json!("yesterday");
        }
    }

    fn foreign_owner(&mut self, set: &Value) -> Value {
        let mut owner = owner(set);
        match self.0.u32(..4) {
            0 => owner["kind"] = json!("StatefulSet"),
            1 => owner["apiVersion"] = json!("example.com/v1"),
            2 => owner["controller"] = json!(false),
            _ => owner["uid"] = json!("of-another-time"),
        }
        json!([owner])
    }

    /// A time as text, or `None` for one that is left out.
    fn time(&mut self, variety: u32, now: Timestamp) -> Option<Value> {
        let recent: Timestamp = "2026-03-10T11:00:00Z".parse().expect("a timestamp");
        let text = match self.0.u32(..12 * variety) {
            0 => return None,
            1 => return Some(Value::Null),
            2 => "0001-01-01T00:00:00Z".to_owned(),
            3 => "0001-01-01T02:00:00+02:00".to_owned(),
            4 => self
                .pick(&["9999-12-30T21:59:59Z", "2262-04-12T00:00:00Z", "2026-03-10T12:00:10Z"])
                .to_owned(),
            5 => self
                .pick(&["1500-01-01T00:00:00Z", "1677-09-21T00:12:43Z", "1970-01-01T00:00:00Z"])
                .to_owned(),
            6..9 => {
                // On the edge of an age bucket, and a nanosecond to both sides.
                let age = (1_i64 << self.0.u32(30..62)) + self.0.i64(-1..=1);
                now.checked_sub(SignedDuration::from_nanos(age)).unwrap_or(recent).to_string()
            }
            _ => (recent + SignedDuration::from_secs(self.0.i64(0..4))).to_string(),
        };
        Some(json!(text))
    }
}

fn owner(set: &Value) -> Value {
    let metadata = &set["metadata"];
    json!({ "apiVersion": set["apiVersion"], "kind": set["kind"], "name": metadata["name"], "uid": metadata["uid"], "controller": true })
}

fn set_or_leave(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[key] = value;
    }
}
