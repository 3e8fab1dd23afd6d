//! The texts for `kubectl` that carry out a plan: manifests with which server-side apply writes and removes costs, and
//! patches that restore costs. Makes text and sends nothing.

use crate::plan::{ActivePod, Plan};
use crate::snapshot::{PREVIOUS_COST_ANNOTATION, PreviousCost};
use podrank::DELETION_COST_ANNOTATION;
use serde_json::{Value, json};

/// A list of pods for `kubectl apply --server-side`. Each has its UID, so that a deleted pod is a conflict and is never
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
    /// The same pods without a cost, so that server-side apply removes podrank's.
    pub fn taking_off<'a>(namespace: &str, pods: impl IntoIterator<Item = &'a ActivePod>) -> Option<Self> {
        list(pods.into_iter().map(|pod| (pod.name.clone(), object(namespace, &pod.name, &pod.uid))))
    }
}

/// The JSON patch that puts back the cost that podrank overwrote, if any. It fails for another pod of that name, and if
/// somebody has set another cost since the pod was read.
pub fn putting_back(pod: &ActivePod) -> Option<(String, &PreviousCost)> {
    let (cost, previous) =
        pod.cost.as_ref().zip(pod.previous.as_ref().filter(|previous| previous.lasts()))?;
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
