//! The barrier, which shows that the controllers have observed the costs. All pods of a cluster reach kube-controller-manager
//! over one watch, in the order of their resource versions, so its reaction to a later pod, the barrier pod, shows that it has
//! observed earlier ones.

use super::Failure;
use super::access::Right;
use super::cluster::Cluster;
use super::interrupt::Interrupt;
use crate::kubectl::{Reason, Refusal};
use crate::progress::Waiting;
use podrank_predict::plan::Target;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::sync::mpsc;
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

/// The name of a barrier pod that is yet to be made.
fn name() -> String {
    format!("podrank-barrier-{:08x}", fastrand::u32(..))
}

/// What making a barrier pod, watching and removing it needs, besides what `check_pod` checks.
pub(super) fn rights() -> Vec<Right> {
    // Of whatever name, because it is a random one.
    let right = |verb, group, resource| Right { verb, group, resource, subresource: "", name: String::new() };
    let [sets, pods] = [("apps", "replicasets"), ("", "pods")];
    vec![right("watch", pods.0, pods.1), right("delete", sets.0, sets.1), right("delete", pods.0, pods.1)]
}

/// Has the API server check a barrier pod.
pub(super) fn check_pod(cluster: &Cluster<'_>, target: &Target) -> Result<(), Refusal> {
    let text = objects(&name(), cluster.namespace(), target);
    cluster.call(&["create", "--dry-run=server", "--filename", "-"], &text).map(drop)
}

/// Waits until the `ReplicaSet` controller has adopted a barrier pod, and so has observed everything written before. Also returns what says
/// that the barrier pod could not be removed, and how to remove it.
pub(super) fn wait(
    cluster: &Cluster<'_>,
    target: &Target,
    interrupt: &Interrupt,
    timeout: Duration,
) -> (Result<(), Failure>, Option<String>) {
    let name = name();
    let text = objects(&name, cluster.namespace(), target);
    let seen = adopted(cluster, interrupt, &name, &text, timeout);
    let left = remove(cluster, &name).err().map(|error| {
        let namespace = cluster.namespace();
        format!(
            "the barrier pod {name} is left ({error}), and an administrator can remove it with: \
             kubectl delete replicasets.apps,pods -l {LABEL}={name} -n {namespace}"
        )
    });
    (seen, left)
}

fn adopted(
    cluster: &Cluster<'_>,
    interrupt: &Interrupt,
    name: &str,
    text: &str,
    timeout: Duration,
) -> Result<(), Failure> {
    let text = cluster.call(&["create", "--filename", "-", "--output=json"], text)?;
    // One document for each.
    let created: Vec<Value> =
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>()?;
    let [set, pod] = &*created else { return Err("kubectl did not say what it created".into()) };
    let [set, pod] = [&set["metadata"], &pod["metadata"]];
    let version = pod["resourceVersion"].as_str().unwrap_or_default();
    // From that version on, so that no event is missed: the set deletes the pod as soon as it has adopted it.
    let path = format!(
        "/api/v1/namespaces/{}/pods?watch=1&fieldSelector=metadata.name={name}&resourceVersion={version}&timeoutSeconds={}",
        cluster.namespace(),
        timeout.as_secs().max(1)
    );
    let mut watch = cluster.kubectl.follow(&["get", "--raw", &path])?;
    let (send, events) = mpsc::channel();
    let lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    let reader = thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let is_adopted = |event: &str| {
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        let owners = event["object"]["metadata"]["ownerReferences"].as_array();
        owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == set["uid"]))
    };
    let end = Instant::now() + timeout;
    let waiting = Waiting::new();
    let result = loop {
        waiting.tell("waiting until the controller has adopted the barrier pod");
        match events.recv_timeout(PAUSE) {
            Ok(event) if is_adopted(&event) => break Ok(()),
            Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                break Err("the ReplicaSet controller did not adopt the barrier pod in time".into());
            }
        }
        if interrupt.is_set() {
            break Err("interrupted".into());
        }
        if Instant::now() > end {
            break Err(format!(
                "the ReplicaSet controller did not adopt the barrier pod within {} s",
                timeout.as_secs()
            )
            .into());
        }
    };
    let _ = watch.kill();
    let _ = watch.wait();
    let _ = reader.join();
    result
}

/// Deletes a barrier pod, as far as it is there.
fn remove(cluster: &Cluster<'_>, name: &str) -> Result<(), Refusal> {
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

/// Removes the barrier pods that killed runs on an object left. Returns the end of a sentence that says so.
pub(super) fn remove_all(cluster: &Cluster<'_>, target: &Target) -> Result<String, Failure> {
    let selector = format!("--selector={LABEL},{TARGET}={}", target.uid);
    let text = cluster.call(&["get", "replicasets.apps,pods", &selector, "--output=json"], "")?;
    let list: Value = serde_json::from_str(&text)?;
    if list["items"].as_array().is_none_or(Vec::is_empty) {
        return Ok(String::new());
    }
    cluster.call(&["delete", "replicasets.apps,pods", &selector, "--wait=false"], "")?;
    Ok(", and removed a barrier pod".to_owned())
}
