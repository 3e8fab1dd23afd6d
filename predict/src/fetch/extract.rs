//! The part of an input that a decision about one workload needs, as JSON that [`Input::read`] reads to the same decision.
//!
//! It is for passing on: no container, environment variable or volume is in it, and of labels and annotations only those
//! that decide. A pod template, which only has to equal another one, becomes its fingerprint.

use crate::decide::complete::missing_sibling;
use crate::reason::comparison::phase_name;
use crate::snapshot::cost::{Manager, NotedCost, PREVIOUS_COST_ANNOTATION, WrittenCost};
use crate::snapshot::deployment::{DeploymentEntry, DeploymentSpec, SetState};
use crate::snapshot::index::Sets;
use crate::snapshot::meta::{Deletion, OwnerReference};
use crate::snapshot::node::ZONE_LABEL;
use crate::snapshot::pod::{PREFER_FOR_SCALE_DOWN_LABEL, PodEntry, Record};
use crate::snapshot::read::Input;
use crate::snapshot::replica_set::SetEntry;
use crate::snapshot::selector::Selector;
use crate::snapshot::template::Fingerprint;
use crate::snapshot::workload::{WorkloadId, WorkloadKind};
use crate::sync::IntOrPercent;
use crate::sync::deployment::{
    Annotation, DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION, ReplicaSet, Strategy,
};
use crate::text::error::Error;
use jiff::Timestamp;
use podrank::{DELETION_COST_ANNOTATION, Flags, Time};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The sidecar whose restarts stand for those of all sidecars.
const SIDECAR: &str = "sidecar";

impl Input {
    /// Returns the objects that a decision about this workload needs, as the JSON of a list.
    ///
    /// # Errors
    /// If the workload or one of its sets is unsound, or if it is neither a Deployment nor a set.
    pub fn extract(&self, workload: &WorkloadId) -> Result<String, Error> {
        if workload.kind.is_direct() {
            return Err(Error::new(format!(
                "{workload}: a link can hold only Deployments, ReplicaSets and ReplicationControllers; -o html writes a page"
            )));
        }
        let sets = Sets::of(self);
        let own = own_sets(&sets, self, workload);
        let deployment = self.deployments.iter().find(|entry| is_of(entry, workload, &own));
        let mut selectors: Vec<Selector<'_>> = Vec::new();
        for set in &own {
            selectors.extend(set.selector()?);
        }
        if let Some(entry) = deployment {
            selectors.extend(entry.spec()?.selector());
        }
        let keys: BTreeSet<_> = selectors.iter().flat_map(Selector::keys).collect();
        let is_needed = |pod: &&PodEntry| {
            let is_own = |id| own.iter().any(|set| set.id() == id) || workload.to_ref() == id;
            let is_of_sibling = |set: &&SetEntry| matches!(missing_sibling(&sets, set, pod), Ok(Some(_)));
            pod.namespace == workload.namespace
                && (selectors
                    .iter()
                    .any(|selector| selector.matches_but_for("pod-template-hash", &pod.labels))
                    || sets.owner(pod).is_some_and(is_own)
                    || own.iter().any(is_of_sibling))
        };
        let pods: Vec<_> = self.pods.iter().filter(is_needed).collect();

        let zones = self.zones();
        let nodes: BTreeSet<_> = pods.iter().filter_map(|pod| pod.node()).collect();
        let nodes = nodes.iter().filter_map(|node| Some(node_json(node, zones.get(node)?)));
        // A Deployment keeps no cost of its template, but its new set has it.
        let mut costs = BTreeMap::new();
        for set in &own {
            if let (Some(state), Some(cost)) = (set.state()?, &set.spec()?.template_cost) {
                costs.insert(state.template.hex(), cost.as_str());
            }
        }
        let mut items: Vec<_> = pods.iter().map(|pod| pod_json(pod, &keys)).collect::<Result<_, _>>()?;
        for set in &own {
            items.push(set_json(set)?);
        }
        if let Some(entry) = deployment {
            items.push(deployment_json(entry, entry.spec()?, &costs));
        }
        items.extend(nodes);
        Ok(json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string())
    }
}

/// The sets that matter: those of the same controller.
fn own_sets<'a>(sets: &Sets<'a>, input: &'a Input, workload: &WorkloadId) -> Vec<&'a SetEntry> {
    let controller = if workload.kind == WorkloadKind::Deployment {
        input.deployment(workload.to_ref()).map(|entry| entry.uid.as_str())
    } else {
        let Some(set) = sets.get(workload.to_ref()) else { return Vec::new() };
        match sets.controller(set) {
            Some(controller) if workload.kind == WorkloadKind::ReplicaSet => Some(controller.uid.as_str()),
            _ => return vec![set],
        }
    };
    controller.into_iter().flat_map(|uid| sets.controlled_by(uid)).collect()
}

/// Whether this is the Deployment of the sets.
fn is_of(entry: &DeploymentEntry, workload: &WorkloadId, own: &[&SetEntry]) -> bool {
    let is_theirs = || {
        own.iter().any(|set| set.controller.as_ref().is_some_and(|controller| controller.uid == entry.uid))
    };
    entry.namespace == workload.namespace
        && match workload.kind {
            WorkloadKind::Deployment => entry.name == workload.name,
            kind => kind.is_set() && is_theirs(),
        }
}

fn node_json(name: &str, zone: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { ZONE_LABEL: zone } } })
}

fn pod_json(pod: &PodEntry, keys: &BTreeSet<&str>) -> Result<Value, Error> {
    let is_needed = |key: &str| keys.contains(key) || key == PREFER_FOR_SCALE_DOWN_LABEL;
    let labels: BTreeMap<_, _> = pod.labels.iter().filter(|(key, _)| is_needed(key)).collect();
    let mut metadata = json!({ "name": pod.name, "namespace": pod.namespace, "labels": labels });
    put_owner(&mut metadata, pod.controller.as_ref());
    let Some(record) = &pod.record else {
        // Which of the two is the reason that it is not active makes no difference but here.
        let status =
            if pod.is_finished { json!({ "phase": "Succeeded" }) } else { json!({ "phase": "Running" }) };
        if !pod.is_finished {
            metadata["deletionTimestamp"] = Timestamp::UNIX_EPOCH.to_string().into();
        }
        return Ok(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status }));
    };
    let Record { pod: its, node, cost, noted, .. } =
        record.as_ref().map_err(|error| Error::new(format!("{pod}: {error}")))?;
    metadata["uid"] = its.uid.to_string().into();
    put_time(&mut metadata, "creationTimestamp", its.creation_time);
    if let Some(cost) = cost {
        put_cost(&mut metadata, cost);
    }
    if let Some(noted) = noted {
        put_note(&mut metadata, noted);
    }
    let mut status = json!({
        "phase": phase_name(its.phase.ordinal().into()),
        "containerStatuses": [{ "restartCount": its.restarts }],
    });
    if its.flags.contains(Flags::READY) {
        let mut ready = json!({ "type": "Ready", "status": "True" });
        put_time(&mut ready, "lastTransitionTime", its.ready_time);
        status["conditions"] = json!([ready]);
    }
    let mut spec = Map::new();
    if let Some(node) = node {
        spec.insert("nodeName".to_owned(), node.as_str().into());
    }
    if its.sidecar_restarts > 0 {
        spec.insert("initContainers".to_owned(), json!([{ "name": SIDECAR, "restartPolicy": "Always" }]));
        status["initContainerStatuses"] = json!([{ "name": SIDECAR, "restartCount": its.sidecar_restarts }]);
    }
    Ok(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status }))
}

/// Writes the cost and who manages it.
fn put_cost(metadata: &mut Value, cost: &WrittenCost) {
    metadata["annotations"] = json!({ DELETION_COST_ANNOTATION: cost.text });
    metadata["managedFields"] =
        cost.managers.iter().map(|manager| managing(manager, DELETION_COST_ANNOTATION)).collect();
}

/// Writes the note of a cost that was overwritten, and who manages it.
fn put_note(metadata: &mut Value, noted: &NotedCost) {
    metadata["annotations"][PREVIOUS_COST_ANNOTATION] = json!(noted.previous).to_string().into();
    let entry = managing(&noted.manager(), PREVIOUS_COST_ANNOTATION);
    match metadata["managedFields"].as_array_mut() {
        Some(entries) => entries.push(entry),
        None => metadata["managedFields"] = json!([entry]),
    }
}

/// The entry of `managedFields` that says who manages an annotation.
fn managing(manager: &Manager, annotation: &str) -> Value {
    let field = format!("f:{annotation}");
    json!({
        "manager": manager.name,
        "operation": if manager.applies { "Apply" } else { "Update" },
        "fieldsV1": { "f:metadata": { "f:annotations": { field: {} } } },
    })
}

fn set_json(set: &SetEntry) -> Result<Value, Error> {
    let id = set.id();
    let spec = set.spec()?;
    let state = set.state()?;
    let mut metadata = json!({
        "name": id.name,
        "namespace": id.namespace,
        "uid": set.uid,
        "resourceVersion": set.resource_version,
        "generation": set.generation,
    });
    put_owner(&mut metadata, set.controller.as_ref());
    put_deletion(&mut metadata, set.deletion);
    if let Some(SetState { set: its, labels, creation_time, .. }) = state {
        metadata["labels"] = json!(labels);
        metadata["annotations"] = annotations(its);
        put_time(&mut metadata, "creationTimestamp", *creation_time);
    }
    let (api_version, selector) = if id.kind == WorkloadKind::ReplicaSet {
        ("apps/v1", json!(spec.selector))
    } else {
        ("v1", json!(spec.selector.as_ref().and_then(|selector| selector.match_labels.as_ref())))
    };
    let template = template(state.map(|state| state.template), spec.template_cost.as_deref());
    Ok(json!({
        "apiVersion": api_version,
        "kind": id.kind.to_string(),
        "metadata": metadata,
        "spec": {
            "replicas": set.replicas()?,
            "selector": selector,
            "minReadySeconds": spec.min_ready_seconds,
            "template": template,
        },
        "status": set_status(set, state)?,
    }))
}

/// The status of a set, without what it does not say: a number that is missing is not 0.
fn set_status(set: &SetEntry, state: Option<&SetState>) -> Result<Value, Error> {
    if !set.has_status() {
        return Ok(Value::Null);
    }
    let mut status = Map::new();
    if let Some(replicas) = set.status_replicas()? {
        let replicas = state.map_or(replicas.into(), |state| state.set.status_replicas.into());
        status.insert("replicas".to_owned(), replicas);
    }
    if let Some(observed) = set.observed_generation() {
        status.insert("observedGeneration".to_owned(), observed.into());
    }
    if let Some(state) = state {
        status.insert("availableReplicas".to_owned(), state.set.available_replicas.into());
    }
    Ok(status.into())
}

/// The annotations that say for which number of replicas the Deployment's controller last sized a set.
fn annotations(set: &ReplicaSet) -> Value {
    let mut annotations = Map::new();
    for (name, annotation) in [(DESIRED_REPLICAS_ANNOTATION, set.desired), (MAX_REPLICAS_ANNOTATION, set.max)]
    {
        let text = match annotation {
            Annotation::Valid(number) => number.to_string(),
            // Only a sign makes a number that fits lenient.
            Annotation::Lenient(number) if name == DESIRED_REPLICAS_ANNOTATION => format!("{number:+}"),
            Annotation::Lenient(_) | Annotation::Invalid => continue,
        };
        annotations.insert(name.to_owned(), text.into());
    }
    annotations.into()
}

fn deployment_json(entry: &DeploymentEntry, spec: &DeploymentSpec, costs: &BTreeMap<String, &str>) -> Value {
    let its = &spec.deployment;
    let mut metadata = json!({
        "name": entry.name,
        "namespace": entry.namespace,
        "uid": entry.uid,
        "resourceVersion": entry.resource_version,
        // The status has observed generation 0.
        "generation": i64::from(spec.lags),
    });
    put_deletion(&mut metadata, entry.deletion);
    if its.is_rolling_back {
        metadata["annotations"] = json!({ crate::snapshot::deployment::ROLLBACK_ANNOTATION: "0" });
    }
    let number = |number: IntOrPercent| match number {
        IntOrPercent::Int(number) => json!(number),
        IntOrPercent::Percent(percent) => json!(format!("{percent}%")),
    };
    let strategy = match its.strategy {
        Strategy::RollingUpdate { max_surge, max_unavailable } => json!({
            "type": "RollingUpdate",
            "rollingUpdate": { "maxSurge": number(max_surge), "maxUnavailable": number(max_unavailable) },
        }),
        Strategy::Recreate { .. } => json!({ "type": "Recreate" }),
    };
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": its.replicas,
            "selector": spec.written_selector(),
            "strategy": strategy,
            "paused": its.is_paused,
            "minReadySeconds": spec.min_ready_seconds,
            "template": template(Some(spec.template), costs.get(&spec.template.hex()).copied()),
        },
        "status": { "replicas": its.status_replicas },
    })
}

/// A template that equals another one made here if the templates that they stand for are equal.
fn template(fingerprint: Option<Fingerprint>, cost: Option<&str>) -> Value {
    let mut template = json!({ "metadata": {} });
    if let Some(cost) = cost {
        template["metadata"]["annotations"] = json!({ DELETION_COST_ANNOTATION: cost });
    }
    if let Some(fingerprint) = fingerprint {
        template["metadata"]["labels"] = json!({ "fingerprint": fingerprint.hex() });
    }
    template
}

fn put_deletion(metadata: &mut Value, deletion: Option<Deletion>) {
    if let Some(deletion) = deletion {
        metadata["deletionTimestamp"] = Timestamp::UNIX_EPOCH.to_string().into();
        metadata["finalizers"] = json!(deletion.finalizer().as_slice());
    }
}

fn put_owner(metadata: &mut Value, owner: Option<&OwnerReference>) {
    if let Some(OwnerReference { api_version, kind, name, uid, .. }) = owner {
        metadata["ownerReferences"] = json!([
            { "apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true }
        ]);
    }
}

fn put_time(object: &mut Value, field: &str, time: Time) {
    let timestamp = time.unix_nanos().and_then(|nanos| Timestamp::from_nanosecond(nanos.into()).ok());
    if let Some(timestamp) = timestamp {
        object[field] = timestamp.to_string().into();
    }
}
