//! A second reading, without types, of the workloads that are no sets. It checks what the core is told and what is said of its
//! answer: the core's decisions have laws of their own.

mod daemon_set;
mod deployment;
mod job;
mod stateful_set;

use super::reading::{
    controller, has_lists_for_objects, int, is_valid, kind, list, moment, objects, record, selects, space,
    string,
};
use super::sets::Id;
use podrank::Time;
use podrank::controller::{Availability, IntOrPercent, Verdict, availability};
use podrank_preview::Options;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the preview of a workload that is no set. Returns whether there is anything to compare it with: not if the reading
/// below does not know what the text asks for.
pub(super) fn check(text: &[u8], id: Id<'_>, options: &Options, actual: &Value, shown: &str) -> Option<()> {
    if id.1 == "Deployment" && !options.next_step {
        // Where its syncs lead has a simulation of its own: preview/tests/journeys.rs.
        return None;
    }
    let objects = objects(text)?;
    if objects.iter().any(|(_, object)| has_lists_for_objects(object)) {
        return None;
    }
    let workload = objects
        .iter()
        .find(|(kind, object)| (space(object), *kind, string(&object["metadata"]["name"])) == id);
    let dump = Dump { objects: &objects, workload: &workload?.1, id, options };
    let expected = if id.1 == "Deployment" { dump.deployment(text, actual)? } else { dump.direct()? };
    let actual = if id.1 == "Deployment" { sizes(actual) } else { fates(actual, id.1) };
    assert_eq!(actual, expected, "{options:?} {shown}");
    Some(())
}

/// What becomes of each pod, and how many of the contested ones go.
fn fates(preview: &Value, kind: &str) -> Value {
    let fate = |pod: &Value| {
        // Which pods a DaemonSet's pod waits for is a matter of words.
        let waits = kind == "DaemonSet" && (pod["verdict"] == "blocked" || pod["verdict"] == "later");
        let verdict = if waits { &json!("keep") } else { &pod["verdict"] };
        (string(&pod["name"]).to_owned(), json!([verdict, pod["rule"]]))
    };
    let pods: Map<_, _> = list(&preview["pods"]).map(fate).collect();
    json!({ "quota": preview["quota"], "pods": pods })
}

/// What becomes of the size of each set, and how many pods it loses.
fn sizes(preview: &Value) -> Value {
    let set = |set: &Value| {
        let fields =
            ["replicaSet", "from", "to", "reason", "active", "delete"].map(|field| set[field].clone());
        Value::Array(fields.into())
    };
    list(&preview["sets"]).map(set).collect()
}

/// Objects, and what is asked of one of them.
struct Dump<'a> {
    objects: &'a [(&'static str, Value)],
    workload: &'a Value,
    id: Id<'a>,
    options: &'a Options,
}

impl<'a> Dump<'a> {
    fn all(&self, kind: &str) -> impl Iterator<Item = &'a Value> {
        self.objects.iter().filter(move |(its, _)| *its == kind).map(|(_, object)| object)
    }

    fn is_owned(&self, object: &Value) -> bool {
        controller(object).is_some_and(|owner| {
            space(object) == self.id.0
                && string(&owner["name"]) == self.id.2
                && kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some(self.id.1)
                && string(&owner["uid"]) == string(&self.workload["metadata"]["uid"])
        })
    }

    fn now(&self) -> Time {
        moment(self.options.now)
    }

    /// The fates of the pods of a workload whose controller deletes them itself.
    fn direct(&self) -> Option<Value> {
        let selector = &self.workload["spec"]["selector"];
        let is_deleted = !self.workload["metadata"]["deletionTimestamp"].is_null();
        let selects_all = ["matchLabels", "matchExpressions"].iter().all(|field| match &selector[*field] {
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => true,
        });
        let is_unusable =
            !selector.is_null() && (!is_valid(selector) || self.id.1 == "DaemonSet" && selects_all);
        let is_idle = is_deleted || is_unusable;
        let mut known = BTreeSet::new();
        let mut pods: Vec<&Value> = self.all("Pod").filter(|pod| self.is_owned(pod)).collect();
        pods.retain(|pod| is_idle || selects(selector, &pod["metadata"]["labels"]));
        pods.retain(|pod| known.insert(pod["metadata"]["uid"].to_string()));
        let (mut fates, quota) = match self.id.1 {
            "StatefulSet" => self.stateful_set(&pods, is_idle)?,
            "DaemonSet" => self.daemon_set(&pods, is_idle)?,
            _ => self.job(&pods, is_deleted, is_unusable)?,
        };
        if is_unusable && !is_deleted {
            for (_, rule) in fates.values_mut() {
                *rule = "does-nothing";
            }
        }
        let pods: Map<_, _> = fates.into_iter().map(|(name, fate)| (name.to_owned(), json!(fate))).collect();
        Some(json!({ "quota": quota, "pods": pods }))
    }

    fn availability(&self, pod: &Value) -> Option<Availability> {
        let min_ready_seconds = int(&self.workload["spec"]["minReadySeconds"], 0);
        Some(availability(&record(pod)?, u32::try_from(min_ready_seconds).unwrap_or(0), self.now()))
    }
}
/// The label with a pod's revision.
const REVISION: &str = "controller-revision-hash";

/// By the pod's name its verdict and the rule that decides, and how many of the contested pods go.
type Fates<'a> = (BTreeMap<&'a str, (&'static str, &'static str)>, usize);

/// Without the pods that are already on their way.
fn staying<'a, T>(mut fates: BTreeMap<&'a str, T>, pods: &[&'a Value]) -> BTreeMap<&'a str, T> {
    for pod in pods.iter().filter(|pod| is_terminating(pod)) {
        fates.remove(string(&pod["metadata"]["name"]));
    }
    fates
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Delete => "delete",
        Verdict::Contested => "contested",
        Verdict::Blocked => "blocked",
        _ => "keep",
    }
}

fn is_finished(pod: &Value) -> bool {
    ["Succeeded", "Failed"].contains(&string(&pod["status"]["phase"]))
}

fn is_terminating(pod: &Value) -> bool {
    !pod["metadata"]["deletionTimestamp"].is_null()
}

fn budget(value: &Value, default: IntOrPercent) -> Option<IntOrPercent> {
    match value {
        Value::Null => Some(default),
        Value::String(text) => IntOrPercent::parse(text).ok(),
        number => Some(IntOrPercent::Int(int(number, 0))),
    }
}
