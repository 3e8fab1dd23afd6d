//! One `v1.Pod`: what identifies it, and the record that the order reads. Reads one object's JSON text.

use crate::snapshot::cost::{ManagedFields, NotedCost, Previous, WrittenCost};
use crate::snapshot::meta::{Metadata, OwnerReference};
use crate::snapshot::node::Affinity;
use crate::snapshot::time::{ContainerState, Lenient, Time, deletion, nanos, time};
use crate::snapshot::workload::WorkloadKind;
use crate::sync::job::{COMPLETION_INDEX_ANNOTATION, NO_INDEX, completion_index};
use crate::text;
use crate::text::error::parse;
use podrank::{Flags, Phase, Uid};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;

pub(crate) const PREFER_FOR_SCALE_DOWN_LABEL: &str = "kubernetes.io/prefer-for-scale-down";

/// The annotation of a mirror pod, by which kubelet shows a pod that it runs by itself.
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

/// The annotations, with their values, that keep Karpenter or the Cluster Autoscaler from moving a pod to give its node back.
const HOLDING: [(&str, &str); 2] =
    [("karpenter.sh/do-not-disrupt", "true"), ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")];

/// The annotation in which podrank-webhook says for which scale-down it chose a pod: set, count, request and rule, with slashes between them.
const STEERED_ANNOTATION: &str = "podrank.dev/steered";

/// The rule in that of a pod that was not selected.
const KEPT: &str = "kept";

/// The grace period of a pod that names none, in seconds.
const GRACE_PERIOD_SECONDS: i64 = 30;

/// The finalizer that a Job's pods keep until the Job has counted them.
const TRACKING_FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// The annotation that says how often a pod's index failed before it.
const FAILURE_COUNT_ANNOTATION: &str = "batch.kubernetes.io/job-index-failure-count";

/// What is kept from a pod.
#[derive(Clone, Debug)]
pub(crate) struct PodEntry {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// Whether its phase is `Succeeded` or `Failed`.
    pub(crate) is_finished: bool,
    /// The owner reference of its controller.
    pub(crate) controller: Option<OwnerReference>,
    /// Whether it has a deletion timestamp.
    pub(crate) is_terminating: bool,
    /// Whether it only shows a pod that kubelet runs by itself.
    pub(crate) is_mirror: bool,
    /// The annotation that keeps whoever gives nodes back from moving it.
    pub(crate) held_by: Option<&'static str>,
    /// Its phase if it is finished.
    pub(crate) finished_phase: Option<FinishedPhase>,
    /// `None` for a pod that is not active. An active pod that is invalid keeps the error, in case the pod matters.
    pub(crate) record: Option<Result<Record, String>>,
    /// The same for a pod that is not active, if its controller deletes pods itself and so reads it all the same.
    inactive_record: Option<Box<Result<Record, String>>>,
    /// What is kept of it if it is being deleted.
    pub(crate) going: Option<Box<Going>>,
}

/// What is kept of a pod that is being deleted.
#[derive(Clone, Debug)]
pub(crate) struct Going {
    /// Its record now, as if it were still active. `None` if it is not sound, or if its controller deletes pods itself.
    pub(crate) record: Option<Record>,
    /// When its deletion was asked for, in nanoseconds since the Unix epoch, to the second. `None` if the grace period is not the pod's own:
    /// the deletion may have been asked for again, with a shorter one.
    pub(crate) asked: Option<i64>,
    /// When it last became ready or ceased to be, by kubelet's clock. `None` if it has no such condition.
    pub(crate) ready_since: Option<i64>,
    /// The reason of the condition `DisruptionTarget`, with which Kubernetes announces deletions that no controller of a workload makes.
    pub(crate) disrupted: Option<String>,
    /// The rule by which podrank-webhook selected the pod, from its annotation.
    pub(crate) steered: Option<String>,
}

/// The phase of a pod that does not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinishedPhase {
    Succeeded,
    Failed,
}

impl FinishedPhase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }
}

/// What is kept from an active pod for the order.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Without rank and node number, which depend on other pods.
    pub(crate) pod: podrank::Pod,
    pub(crate) node: Option<String>,
    /// The node that the pod was made for, if it is not assigned yet.
    pub(crate) target: Option<Box<str>>,
    /// The deletion cost as it is written. `None` if there is none.
    pub(crate) cost: Option<Box<WrittenCost>>,
    /// The deletion cost that podrank or podrank-webhook wrote over. It is noted even if theirs has been removed since.
    pub(crate) noted: Option<Box<NotedCost>>,
    /// What only a Job reads. `None` if the pod's controller is no Job.
    pub(crate) job: Option<Box<JobPod>>,
}

/// What a Job reads from a pod besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobPod {
    /// The completion index, or [`NO_INDEX`].
    pub(crate) index: i64,
    /// Whether it has the finalizer that it keeps until its Job has counted it.
    pub(crate) is_tracked: bool,
    /// Whether it is scheduled with a group of pods: `spec.schedulingGroup`.
    pub(crate) is_in_gang: bool,
    /// How often the pod's index failed before: the annotation `batch.kubernetes.io/job-index-failure-count`.
    pub(crate) failures: i32,
    /// The restarts of all containers. The sum wraps, as in Kubernetes.
    pub(crate) restarts: i32,
    /// Of a pod that is not active: the names and exit codes of the containers that failed, and then of the init containers.
    pub(crate) ended: Vec<(Option<String>, i32)>,
    /// Of a pod that is not active: the types and statuses of its conditions.
    pub(crate) conditions: Vec<(String, String)>,
}

/// A pod with its record, which is valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnPod<'a> {
    pub(crate) entry: &'a PodEntry,
    pub(crate) record: &'a Record,
}

impl<'a> OwnPod<'a> {
    pub(crate) fn name(self) -> &'a str {
        &self.entry.name
    }

    pub(crate) fn uid(self) -> Uid {
        self.record.pod.uid
    }

    pub(crate) fn node(self) -> Option<&'a str> {
        self.record.node.as_deref()
    }
}

impl PodMetadata {
    /// Moves out what every object has, except for the UID.
    fn take_head(&mut self) -> Metadata {
        Metadata {
            name: mem::take(&mut self.name),
            namespace: self.namespace.take(),
            uid: None,
            resource_version: None,
            generation: 0,
            labels: self.labels.take(),
            owner_references: self.owner_references.take(),
            deletion_timestamp: self.deletion_timestamp.take().map(|_| IgnoredAny),
            finalizers: None,
        }
    }
}

/// The part of a pod that every pod must have, even if the rest is invalid.
#[derive(Deserialize)]
#[serde(expecting = "a pod")]
struct Head {
    metadata: Metadata,
    status: Option<HeadStatus>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct HeadStatus {
    phase: Option<String>,
}

/// A valid pod: the head and the rest that the order reads, in one go.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a pod")]
pub(crate) struct Pod {
    pub(crate) api_version: Option<String>,
    #[serde(default, deserialize_with = "only_pod")]
    pub(crate) kind: Option<String>,
    metadata: PodMetadata,
    spec: Option<PodSpec>,
    status: Option<PodStatus>,
}

/// The fields of [`Metadata`] and the order's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct PodMetadata {
    name: String,
    namespace: Option<String>,
    uid: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Lenient<Time>>,
    #[serde(default)]
    deletion_grace_period_seconds: Lenient<i64>,
    resource_version: Option<String>,
    managed_fields: Option<Vec<ManagedFields>>,
    finalizers: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct PodSpec {
    node_name: Option<String>,
    #[serde(default)]
    termination_grace_period_seconds: Lenient<i64>,
    affinity: Option<Affinity>,
    init_containers: Option<Vec<Container>>,
    scheduling_group: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a container")]
struct Container {
    name: Option<String>,
    restart_policy: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct PodStatus {
    phase: Option<String>,
    conditions: Option<Vec<Condition>>,
    container_statuses: Option<Vec<ContainerStatus>>,
    init_container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a condition")]
struct Condition {
    r#type: Option<String>,
    status: Option<String>,
    #[serde(default)]
    reason: Lenient<String>,
    last_transition_time: Option<Time>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a container status")]
struct ContainerStatus {
    name: Option<String>,
    restart_count: Option<i32>,
    #[serde(default)]
    state: Lenient<ContainerState>,
}

/// What of a pod is read.
#[derive(Clone, Copy)]
struct About {
    is_preferred: bool,
    is_active: bool,
    is_of_job: bool,
}

impl PodEntry {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        let error = match parse(object) {
            Ok(pod) => return Ok(Pod::into(pod)),
            Err(error) => error,
        };
        let Head { metadata, status } = parse(object)?;
        let phase = status.and_then(|status| status.phase);
        Ok(Self::with_record(metadata, phase.as_deref(), |_, _| Err(error)))
    }

    /// Returns a pod with the record that `record` makes for its phase if it is active.
    fn with_record(
        mut metadata: Metadata,
        phase: Option<&str>,
        record: impl FnOnce(Phase, About) -> Result<Record, String>,
    ) -> Self {
        let finished_phase = match phase {
            Some("Succeeded") => Some(FinishedPhase::Succeeded),
            Some("Failed") => Some(FinishedPhase::Failed),
            _ => None,
        };
        let phase = Phase::parse(phase.unwrap_or_default());
        let is_terminating = metadata.is_being_deleted();
        let is_active = phase.is_some() && !is_terminating;
        let controller = metadata.controller();
        let kind = controller.as_ref().and_then(OwnerReference::workload_kind);
        let kind = kind.filter(|kind| kind.is_direct());
        // One without a controller may get one of these.
        let is_orphan = controller.is_none();
        let is_read = is_active || is_terminating || kind.is_some() || is_orphan;
        let labels = metadata.labels.take().unwrap_or_default();
        let about = About {
            is_preferred: labels.contains_key(PREFER_FOR_SCALE_DOWN_LABEL),
            is_active,
            is_of_job: kind == Some(WorkloadKind::Job) || is_orphan,
        };
        // The phase of a finished pod is not in its record.
        let mut record = is_read.then(|| record(phase.unwrap_or(Phase::UNKNOWN), about));
        let inactive_record = if is_active { None } else { record.take().map(Box::new) };
        Self {
            namespace: metadata.namespace(),
            controller,
            name: metadata.name,
            labels,
            is_finished: phase.is_none(),
            is_terminating,
            is_mirror: false,
            held_by: None,
            finished_phase,
            record,
            inactive_record,
            going: None,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.record.is_some()
    }

    /// The node of an active pod.
    pub(crate) fn node(&self) -> Option<&str> {
        self.record.as_ref()?.as_ref().ok()?.node.as_deref()
    }

    /// The record, even if the pod is not active. Such a pod has one if its controller deletes pods itself.
    pub(crate) fn any_record(&self) -> Option<Result<&Record, &String>> {
        self.record.as_ref().or(self.inactive_record.as_deref()).map(Result::as_ref)
    }
}

impl From<Pod> for PodEntry {
    fn from(mut pod: Pod) -> Self {
        let mut going = pod.metadata.deletion_timestamp.is_some().then(|| Box::new(Going::read(&pod)));
        let metadata = pod.metadata.take_head();
        let phase = pod.status.as_mut().and_then(|status| status.phase.take());
        let annotations = pod.metadata.annotations.as_ref();
        let is_mirror = annotations.is_some_and(|annotations| annotations.contains_key(MIRROR_ANNOTATION));
        let holds = |(key, value): &&(&str, &str)| {
            annotations.and_then(|annotations| annotations.get(*key)).is_some_and(|is| is == value)
        };
        let held_by = HOLDING.iter().find(holds).map(|(key, _)| *key);
        let mut entry =
            Self::with_record(metadata, phase.as_deref(), |phase, about| Record::new(pod, phase, about));
        let kind = entry.controller.as_ref().and_then(OwnerReference::workload_kind);
        if let Some(going) = going.as_mut().filter(|_| !kind.is_some_and(WorkloadKind::is_direct)) {
            going.record = entry.inactive_record.take().and_then(|record| record.ok());
            // If it has ended, that was after the request: otherwise, it would not have counted any more.
            if let Some(record) = going.record.as_mut().filter(|_| entry.is_finished) {
                record.pod.phase = Phase::RUNNING;
            }
        }
        Self { is_mirror, held_by, going, ..entry }
    }
}

impl Going {
    /// All but the record.
    fn read(pod: &Pod) -> Self {
        let (metadata, status) = (&pod.metadata, pod.status.as_ref());
        let own = pod.spec.as_ref().and_then(|spec| spec.termination_grace_period_seconds.0);
        let grace = metadata.deletion_grace_period_seconds.0;
        let deleted = metadata.deletion_timestamp.as_ref().and_then(nanos);
        let find = |name: &str| {
            let mut conditions = status.iter().flat_map(|status| status.conditions.iter().flatten());
            conditions.find(|condition| condition.r#type.as_deref() == Some(name))
        };
        let disrupted = find("DisruptionTarget").filter(|it| it.status.as_deref() == Some("True"));
        let steered =
            metadata.annotations.as_ref().and_then(|annotations| annotations.get(STEERED_ANNOTATION));
        let rule = steered.and_then(|steered| steered.split('/').nth(3)).filter(|rule| *rule != KEPT);
        Self {
            record: None,
            asked: deletion(deleted, grace).filter(|_| grace == own.or(Some(GRACE_PERIOD_SECONDS))),
            ready_since: find("Ready").and_then(|it| time(it.last_transition_time.as_ref()).unix_nanos()),
            disrupted: disrupted.map(|it| it.reason.0.clone().unwrap_or_default()),
            steered: rule.map(str::to_owned),
        }
    }
}

impl fmt::Display for PodEntry {
    /// The pod as messages show it: `pod default/web-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod {}/{}", text::name(&self.namespace), text::name(&self.name))
    }
}

impl Record {
    fn new(pod: Pod, phase: Phase, about: About) -> Result<Self, String> {
        let Pod { metadata, spec, status, .. } = pod;
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        let node = spec.node_name.clone().filter(|node| !node.is_empty());
        let affinity = spec.affinity.as_ref().filter(|_| node.is_none());
        let target = affinity.and_then(Affinity::target).map(Box::from);
        let annotations = metadata.annotations.as_ref();
        let managed_fields = metadata.managed_fields.as_deref();
        let cost = annotations.and_then(|annotations| {
            WrittenCost::read(annotations, managed_fields, metadata.resource_version.as_deref())
        });
        let noted = annotations.and_then(|annotations| NotedCost::read(annotations, managed_fields));
        let is_in_gang = spec.scheduling_group.is_some();
        let job = about.is_of_job.then(|| JobPod::read(&metadata, is_in_gang, &status, about.is_active));
        let mut conditions = status.conditions.iter().flatten();
        let ready = conditions.find(|condition| condition.r#type.as_deref() == Some("Ready"));
        let ready = ready.filter(|condition| condition.status.as_deref() == Some("True"));
        let flags = Flags::NONE
            .with(Flags::ASSIGNED, node.is_some())
            .with(Flags::READY, ready.is_some())
            .with(Flags::PREFERRED, about.is_preferred);
        let pod = podrank::Pod {
            uid: uid(metadata.uid.as_deref())?,
            ready_time: time(ready.and_then(|condition| condition.last_transition_time.as_ref())),
            creation_time: time(metadata.creation_timestamp.as_ref()),
            deletion_cost: cost.as_ref().map_or(0, WrittenCost::number),
            restarts: most_restarts(status.container_statuses.iter().flatten()),
            sidecar_restarts: sidecar_restarts(&spec, &status),
            phase,
            flags,
            ..podrank::Pod::new()
        };
        Ok(Self {
            pod,
            node,
            target,
            cost: cost.map(Box::new),
            noted: noted.map(Box::new),
            job: job.map(Box::new),
        })
    }

    /// The deletion cost that podrank wrote over, to be put back by podrank.
    pub(crate) fn previous(&self) -> Option<&Previous> {
        self.noted.as_ref().filter(|noted| !noted.is_webhooks).map(|noted| &noted.previous)
    }

    /// What a write over somebody else's cost would replace. If that is one of podrank-webhook, it is the cost under it, since
    /// podrank-webhook's own is not put back.
    pub(crate) fn to_replace(&self) -> Option<Previous> {
        let theirs = self.cost.as_ref()?.to_previous();
        let noted = self.noted.as_ref().filter(|noted| noted.is_webhooks && !theirs.lasts());
        let under = noted.map(|noted| &noted.previous).filter(|under| under.is_known() && under.lasts());
        Some(under.cloned().unwrap_or(theirs))
    }
}

impl JobPod {
    fn read(metadata: &PodMetadata, is_in_gang: bool, status: &PodStatus, is_active: bool) -> Self {
        let annotation = |name| metadata.annotations.as_ref().and_then(|it| it.get(name));
        // Go's numbers, with a sign or without one. Kubernetes reads what it cannot use as 0.
        let failures = annotation(FAILURE_COUNT_ANNOTATION).and_then(|it| it.parse().ok()).unwrap_or(0_i32);
        let [init, main] =
            [&status.init_container_statuses, &status.container_statuses].map(|list| list.iter().flatten());
        let restarts = init.clone().chain(main.clone()).filter_map(|container| container.restart_count);
        let ended = |container: &ContainerStatus| {
            let code = container.state.exit_code().filter(|code| *code != 0)?;
            Some((container.name.clone(), code))
        };
        let condition = |it: &Condition| Some((it.r#type.clone()?, it.status.clone()?));
        Self {
            index: annotation(COMPLETION_INDEX_ANNOTATION).map_or(NO_INDEX, |text| completion_index(text)),
            is_in_gang,
            is_tracked: metadata.finalizers.iter().flatten().any(|it| it == TRACKING_FINALIZER),
            failures: failures.max(0),
            restarts: restarts.fold(0, i32::wrapping_add),
            ended: if is_active { Vec::new() } else { main.chain(init).filter_map(ended).collect() },
            conditions: match &status.conditions {
                Some(conditions) if !is_active => conditions.iter().filter_map(condition).collect(),
                _ => Vec::new(),
            },
        }
    }
}

/// Fails for another kind of object at once, before the rest of it is read.
fn only_pod<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        Some(other) if other != "Pod" => Err(D::Error::custom(format_args!("{other} instead of Pod"))),
        own => Ok(own),
    }
}

fn uid(uid: Option<&str>) -> Result<Uid, String> {
    let uid = uid.filter(|uid| !uid.is_empty()).ok_or("metadata.uid is missing")?;
    Uid::parse(uid).map_err(|error| format!("metadata.uid: {error}"))
}

fn sidecar_restarts(spec: &PodSpec, status: &PodStatus) -> u32 {
    let is_sidecar = |status: &&ContainerStatus| {
        let mut containers = spec.init_containers.iter().flatten();
        containers.any(|c| c.name == status.name && c.restart_policy.as_deref() == Some("Always"))
    };
    most_restarts(status.init_container_statuses.iter().flatten().filter(is_sidecar))
}

fn most_restarts<'a>(statuses: impl Iterator<Item = &'a ContainerStatus>) -> u32 {
    // Negative counts, which only a broken kubelet writes, read as 0.
    statuses.filter_map(|status| u32::try_from(status.restart_count?).ok()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank::DeletionCostError;
    use podrank_laws::vectors;

    /// A case of `tests/vectors/pods.json`.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Case {
        name: String,
        pod: Box<RawValue>,
        record: Option<vectors::Record>,
        #[serde(default)]
        inactive: bool,
        error: Option<String>,
        cost_error: Option<String>,
    }

    #[test]
    fn pods_become_the_records_of_the_vectors() {
        let cases: Vec<Case> = serde_json::from_str(&vectors::read("pods.json")).expect("pods.json");
        for case in &cases {
            let name = &case.name;
            let entry = PodEntry::read(&case.pod).expect(name);
            assert_eq!(entry.is_active(), !case.inactive, "{name}");
            let record = match entry.record {
                None => continue,
                Some(Err(error)) => {
                    let expected = case.error.as_deref().unwrap_or_else(|| panic!("{name}: {error}"));
                    let says = match expected {
                        "length" => "a UUID is 36 bytes long",
                        "not a hex digit" => "must be one of 0-9 and a-f",
                        _ => panic!("{name}: {expected}"),
                    };
                    assert!(error.starts_with("metadata.uid: ") && error.contains(says), "{name}: {error}");
                    continue;
                }
                Some(Ok(record)) => record,
            };
            assert_eq!(Some(record.pod), case.record.as_ref().map(vectors::Record::pod), "{name}");
            let cost_error = record.cost.and_then(|cost| cost.value.err()).map(|error| match error {
                DeletionCostError::Empty => "empty",
                DeletionCostError::LeadingPlus => "leading plus",
                DeletionCostError::LeadingZero => "leading zero",
                DeletionCostError::NotDigit(_) => "not a digit",
                DeletionCostError::OutOfRange => "out of range",
                _ => "unknown",
            });
            assert_eq!(cost_error, case.cost_error.as_deref(), "{name}");
        }
        assert!(cases.len() > 40, "{} cases", cases.len());
    }
}
