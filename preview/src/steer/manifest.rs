//! The texts for `kubectl` that carry out a plan: manifests with which server-side apply writes costs and takes them off, and
//! patches that put costs back. Makes text and sends nothing.

use crate::object::cost::{PREVIOUS_COST_ANNOTATION, Previous};
use crate::steer::plan::Plan;
use crate::steer::state::ActivePod;
use podrank::DELETION_COST_ANNOTATION;
use serde_json::{Value, json};

/// A list of pods for `kubectl apply --server-side`. Each has its UID, so that a pod that is gone is a conflict and is never
/// created. Only a pod whose cost is overwritten has its resource version, too, which every update of its status changes:
/// forced, the write would otherwise also overwrite a cost that somebody has set since the pod was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The JSON of a `List`.
    pub text: String,
    /// The names of its pods.
    pub names: Vec<String>,
}

impl Plan {
    /// The pods that get back the cost that podrank overwrote. podrank does not write that value itself: nobody else would own
    /// it then, and it would disappear with podrank's cost.
    pub fn put_back(&self) -> Vec<ActivePod> {
        let back = self.pods.iter().filter_map(|pod| Some((pod, pod.goes_back()?)));
        back.map(|(pod, previous)| ActivePod {
            name: pod.name.clone(),
            uid: pod.uid.clone(),
            cost: Some(pod.deletion_cost.to_string()),
            previous: Some(previous.clone()),
        })
        .collect()
    }

    /// The costs to write: first those on pods where nobody else has set one, then those that overwrite somebody else's.
    /// With `unchanged_only`, the latter fail if the pod has changed since it was read.
    ///
    /// # Panics
    /// Never: two texts are JSON.
    pub fn manifests(&self, unchanged_only: bool) -> [Option<Manifest>; 2] {
        let written = self.pods.iter().filter(|pod| pod.goes_back().is_none());
        let written = written.filter_map(|pod| Some((pod, pod.write?)));
        let (over, plain): (Vec<_>, Vec<_>) = written.partition(|(pod, _)| pod.overwrites());
        [plain, over].map(|pods| {
            let objects = pods.iter().map(|(pod, cost)| {
                let mut annotations = json!({ DELETION_COST_ANNOTATION: cost.to_string() });
                if let Some(previous) = &pod.replaces {
                    annotations[PREVIOUS_COST_ANNOTATION] =
                        serde_json::to_string(previous).expect("two texts are JSON").into();
                }
                let mut object = object(&self.namespace, &pod.name, &pod.uid);
                object["metadata"]["annotations"] = annotations;
                let version = pod.resource_version.as_ref().filter(|_| pod.overwrites() && unchanged_only);
                if let Some(version) = version {
                    object["metadata"]["resourceVersion"] = version.as_str().into();
                }
                (pod.name.clone(), object)
            });
            list(objects)
        })
    }
}

impl Manifest {
    /// The same pods without a cost, so that server-side apply takes podrank's off.
    pub fn taking_off<'a>(namespace: &str, pods: impl IntoIterator<Item = &'a ActivePod>) -> Option<Self> {
        list(pods.into_iter().map(|pod| (pod.name.clone(), object(namespace, &pod.name, &pod.uid))))
    }
}

/// The JSON patch that puts back the cost that podrank overwrote, if any. It fails for another pod of that name, and if
/// somebody has set another cost since the pod was read.
pub fn putting_back(pod: &ActivePod) -> Option<(String, &Previous)> {
    let (cost, previous) = pod.cost.as_ref().zip(pod.previous.as_ref())?;
    let annotation = format!("/metadata/annotations/{}", DELETION_COST_ANNOTATION.replace('/', "~1"));
    let patch = json!([
        { "op": "test", "path": "/metadata/uid", "value": pod.uid },
        { "op": "test", "path": annotation, "value": cost },
        { "op": "replace", "path": annotation, "value": previous.value },
    ]);
    Some((patch.to_string(), previous))
}

fn object(namespace: &str, name: &str, uid: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": namespace, "uid": uid },
    })
}

fn list(objects: impl Iterator<Item = (String, Value)>) -> Option<Manifest> {
    let (names, items): (Vec<_>, Vec<_>) = objects.unzip();
    let text = || json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    (!names.is_empty()).then(|| Manifest { text: text(), names })
}

#[cfg(test)]
mod tests {
    use super::super::plan::PlannedPod;
    use super::super::target::Target;
    use super::*;
    use crate::answer::preview::Verdict;
    use crate::object::workload::{WorkloadKind, WorkloadRef};

    fn pod(name: &str, owner: &str, write: Option<i32>, replaces: Option<&str>) -> PlannedPod {
        PlannedPod {
            name: name.to_owned(),
            uid: format!("uid-{name}"),
            node: None,
            by_itself: Verdict::Keep,
            odds: None,
            is_wanted: false,
            is_named: false,
            why: Vec::new(),
            deletion_cost: -2,
            cost_owner: Some(owner.to_owned()),
            write,
            is_ready: true,
            resource_version: Some(format!("version-{name}")),
            replaces: replaces
                .map(|value| Previous { value: value.to_owned(), manager: "theirs".to_owned() }),
        }
    }

    fn plan(pods: Vec<PlannedPod>) -> Plan {
        Plan {
            namespace: "shop".to_owned(),
            target: Target::known(
                WorkloadRef { namespace: "shop", kind: WorkloadKind::ReplicaSet, name: "web" },
                "uid",
                "1",
            ),
            sets: Vec::new(),
            is_rollout: false,
            left: 0,
            now: jiff::Timestamp::UNIX_EPOCH,
            from: 5,
            replicas: 3,
            delete: 2,
            writes: 3,
            pods,
            nodes: None,
            blocked: Vec::new(),
            notes: Vec::new(),
            wishes: Vec::new(),
        }
    }

    #[test]
    fn a_cost_is_put_back_rather_than_written_with_its_own_value() {
        let plan = plan(vec![
            pod("back", "podrank", Some(0), Some("0")),
            pod("further", "podrank", Some(-3), Some("0")),
            pod("mine", "podrank", Some(0), None),
            pod("over", "theirs", Some(0), Some("5")),
            pod("as-it-is", "podrank", None, Some("0")),
        ]);
        let back: Vec<_> =
            plan.put_back().into_iter().map(|pod| (pod.name, pod.previous.unwrap().value)).collect();
        assert_eq!(back, [("back".to_owned(), "0".to_owned())]);
        let names =
            |manifests: [Option<Manifest>; 2]| manifests.map(|manifest| manifest.expect("pods").names);
        let [mine, over] = names(plan.manifests(true));
        assert_eq!((mine, over), (vec!["further".to_owned(), "mine".to_owned()], vec!["over".to_owned()]));
    }

    #[test]
    fn only_what_overwrites_needs_an_unchanged_pod() {
        let plan =
            plan(vec![pod("mine", "podrank", Some(0), Some("5")), pod("over", "theirs", Some(0), Some("5"))]);
        let versions = |unchanged_only| {
            plan.manifests(unchanged_only).map(|manifest| {
                let list: Value = serde_json::from_str(&manifest.expect("pods").text).expect("JSON");
                list["items"][0]["metadata"]["resourceVersion"].clone()
            })
        };
        assert_eq!(versions(true), [Value::Null, "version-over".into()]);
        assert_eq!(versions(false), [Value::Null, Value::Null]);
    }
}
