//! The state `barrier`, which shows that the controllers have observed the costs. All pods of a cluster reach
//! kube-controller-manager over one watch, in the order of their resource versions, so its reaction to a later pod, the barrier pod,
//! shows that it has observed earlier ones.

use super::cluster::{Cluster, Right};
use super::interrupt;
use super::outcome::{RunError, Step};
use super::request::ScaleRequest;
use super::run::Run;
use crate::kubectl::{Reason, Refusal};
use crate::progress::Waiting;
use podrank_predict::plan::Target;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The label of barrier pods, and that which says for which object they are, by its UID.
const LABEL: &str = "podrank.dev/barrier";
const TARGET: &str = "podrank.dev/target";
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// A `ReplicaSet` of 0 replicas and a pod that it selects. A scheduling gate keeps the pod from running. It complies with
/// every pod security standard, and asks for next to nothing, in case a quota counts.
fn objects(name: &str, namespace: &str, target: &Target) -> String {
    let labels = json!({ LABEL: name, TARGET: target.uid });
    let spec = json!({
        "automountServiceAccountToken": false,
        "schedulingGates": [{ "name": LABEL }],
        "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
        "containers": [{
            "name": "barrier",
            "image": "registry.k8s.io/pause:3.10",
            "resources": {
                "requests": { "cpu": "1m", "memory": "1Mi" },
                "limits": { "cpu": "1m", "memory": "1Mi" },
            },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                "runAsUser": 65534,
            },
        }],
    });
    let metadata = json!({ "name": name, "namespace": namespace, "labels": labels });
    let set = json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": spec },
        },
    });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec });
    json!({ "apiVersion": "v1", "kind": "List", "items": [set, pod] }).to_string()
}

fn new_name() -> String {
    format!("podrank-barrier-{:08x}", fastrand::u32(..))
}

/// The rights to create, watch and delete a barrier pod, except those that `check` checks.
pub(super) fn rights() -> Vec<Right> {
    // Of all names, because it is a random one.
    let right = |verb, group, resource| Right { verb, group, resource, name: String::new() };
    vec![right("watch", "", "pods"), right("delete", "apps", "replicasets"), right("delete", "", "pods")]
}

/// Has the API server check a barrier pod.
pub(super) fn check(cluster: &Cluster<'_>, target: &Target) -> Result<(), Refusal> {
    let text = objects(&new_name(), cluster.namespace(), target);
    cluster.call(&["create", "--dry-run=server", "--filename", "-"], &text).map(drop)
}

impl Run<'_> {
    /// Waits until the `ReplicaSet` controller has adopted a barrier pod, and so has observed everything written before.
    pub(super) fn barrier(&mut self) -> Result<(), RunError> {
        self.steps.push(Step::Barrier);
        self.still_locked()?;
        let ScaleRequest { cluster, how, .. } = self.request;
        let [name, namespace] = [new_name(), cluster.namespace().to_owned()];
        let text = objects(&name, &namespace, &self.confirmed.target);
        let adopted = adopted(cluster, &name, &text, how.timeout);
        if let Err(error) = delete(cluster, &name) {
            self.left_behind.push(format!(
                "The barrier pod {name} is still there: {error}\n  An administrator can remove it with: \
                 kubectl delete replicasets.apps,pods -l {LABEL}={name} -n {namespace}"
            ));
        }
        adopted
    }
}

fn adopted(cluster: &Cluster<'_>, name: &str, text: &str, timeout: Duration) -> Result<(), RunError> {
    let words = ["create", "--filename", "-", "--output=json"];
    let text = cluster.call(&words, text).map_err(RunError::unchanged)?;
    // One document for each.
    let created: Vec<Value> =
        serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect();
    let [set, pod] = &*created else {
        return Err(RunError::unchanged("kubectl did not say what it created"));
    };
    let version = pod["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    // From that version on, so that no event is missed: the set deletes the pod as soon as it has adopted it.
    let pods = format!("/api/v1/namespaces/{}/pods", cluster.namespace());
    let path = format!("{pods}?watch=1&fieldSelector=metadata.name={name}&resourceVersion={version}");
    let mut watch = cluster.kubectl.follow(&["get", "--raw", &path]).map_err(RunError::unchanged)?;
    let (send, events) = mpsc::channel();
    let lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    let reader = thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let is_adopted = |event: &str| {
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        let owners = event["object"]["metadata"]["ownerReferences"].as_array();
        owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == set["metadata"]["uid"]))
    };
    let end = Instant::now() + timeout;
    let waiting = Waiting::new();
    let result = loop {
        waiting.tell("waiting until the controller has adopted the barrier pod");
        let event = events.recv_timeout(PAUSE);
        if event.as_ref().is_ok_and(|event| is_adopted(event)) {
            break Ok(());
        }
        if interrupt::is_set() {
            break Err(RunError::unchanged("interrupted"));
        }
        if event == Err(RecvTimeoutError::Disconnected) || Instant::now() > end {
            let seconds = timeout.as_secs();
            let why =
                format!("the ReplicaSet controller was not seen to adopt the barrier pod within {seconds} s");
            break Err(RunError::unchanged(why));
        }
    };
    let _ = watch.kill();
    let _ = watch.wait();
    let _ = reader.join();
    result
}

/// Deletes a barrier pod and its set, as far as they are there.
fn delete(cluster: &Cluster<'_>, name: &str) -> Result<(), Refusal> {
    let namespace = cluster.namespace();
    let set = format!("/apis/apps/v1/namespaces/{namespace}/replicasets/{name}");
    let pod = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let gone = |path: &String| match cluster.call(&["delete", "--raw", path], "") {
        Err(error) if error.reason != Reason::NotFound => Err(error),
        _ => Ok(()),
    };
    // Both, whatever becomes of the first.
    let both = [&set, &pod].map(gone);
    both.into_iter().collect()
}

/// Deletes the barrier pods that killed runs on an object left. Returns whether there were any.
pub(super) fn delete_all(cluster: &Cluster<'_>, target: &Target) -> Result<bool, Refusal> {
    let selector = format!("--selector={LABEL},{TARGET}={}", target.uid);
    let found = cluster.call(&["get", "replicasets.apps,pods", &selector, "--output=name"], "")?;
    if found.trim().is_empty() {
        return Ok(false);
    }
    cluster.call(&["delete", "replicasets.apps,pods", &selector, "--wait=false"], "")?;
    Ok(true)
}
