//! The texts that a plan hands to `kubectl`: what server-side apply writes and takes off, and what puts a cost back. Makes
//! text and sends nothing.

use super::plan::Plan;
use super::state::ActivePod;
use crate::cost::{PREVIOUS_COST_ANNOTATION, Previous};
use podrank::DELETION_COST_ANNOTATION;
use serde_json::{Value, json};

/// A list of pods for `kubectl apply --server-side`. Each has its UID, so that a pod that is gone is a conflict and is never
/// created, and no resource version, which every update of its status would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The JSON of a `List`.
    pub text: String,
    /// The names of its pods.
    pub names: Vec<String>,
}

impl Plan {
    /// The costs to write: those that nobody else has written, and those that write over somebody's.
    pub fn manifests(&self) -> [Option<Manifest>; 2] {
        let written = self.pods.iter().filter_map(|pod| Some((pod, pod.write?)));
        let (over, plain): (Vec<_>, Vec<_>) = written
            .partition(|(pod, _)| pod.replaces.is_some() && pod.cost_owner.as_deref() != Some("podrank"));
        [plain, over].map(|pods| {
            let objects = pods.iter().map(|(pod, cost)| {
                let mut annotations = json!({ DELETION_COST_ANNOTATION: cost.to_string() });
                if let Some(previous) = &pod.replaces {
                    annotations[PREVIOUS_COST_ANNOTATION] =
                        serde_json::to_string(previous).expect("two texts are JSON").into();
                }
                let mut object = object(&self.namespace, &pod.name, &pod.uid);
                object["metadata"]["annotations"] = annotations;
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

/// The merge patch that puts a previous cost back. With the UID, it fails for another pod of that name.
pub fn putting_back(pod: &ActivePod, previous: &Previous) -> String {
    let annotations = json!({ DELETION_COST_ANNOTATION: previous.value });
    json!({ "metadata": { "uid": pod.uid, "annotations": annotations } }).to_string()
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
