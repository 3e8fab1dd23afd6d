//! One `v1.Pod`: what identifies it, and the record that the order reads.

use crate::snapshot::{
    Affinity, Lenient, Metadata, NotedCost, Object, ObjectMeta, OwnerReference, PreviousCost, Time,
    WorkloadKind, WrittenCost, deletion, nanos, time,
};
use crate::sync::job::{COMPLETION_INDEX_ANNOTATION, NO_INDEX, completion_index};
use crate::text;
use podrank::{Flags, Phase, Uid};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;

pub(crate) const PREFER_FOR_SCALE_DOWN_LABEL: &str = "kubernetes.io/prefer-for-scale-down";

/// The annotation of a mirror pod, by which kubelet shows a static pod.
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

/// A pod.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Option<PodSpec>, PodStatus>")]
pub(crate) struct Pod {
    pub(crate) meta: Metadata,
    /// The record that the order reads, without rank and node number, which depend on other pods. The phase of a finished pod is not in
    /// it.
    pub(crate) record: podrank::Pod,
    /// Its phase if it is finished.
    pub(crate) finished_phase: Option<FinishedPhase>,
    pub(crate) node: Option<String>,
    /// The node that the pod was made for, if it is not assigned yet.
    pub(crate) target_node: Option<Box<str>>,
    /// The deletion cost as it is written. `None` if there is none.
    pub(crate) cost: Option<Box<WrittenCost>>,
    /// The deletion cost that podrank or podrank-webhook wrote over. It is noted even if theirs has been removed since.
    pub(crate) noted: Option<Box<NotedCost>>,
    /// What only a Job reads. `None` if another workload controls the pod.
    pub(crate) job: Option<Box<JobPod>>,
    /// Its deletion, if it is being deleted.
    pub(crate) termination: Option<Box<Termination>>,
    /// Whether it is a mirror pod, which only shows a static pod of kubelet.
    pub(crate) is_mirror: bool,
    /// The annotation that keeps a node autoscaler from moving it.
    pub(crate) held_by: Option<String>,
}

/// The deletion of a pod.
#[derive(Clone, Debug)]
pub(crate) struct Termination {
    /// When its deletion was asked for, in nanoseconds since the Unix epoch, to the second. `None` if the grace period is not the pod's own:
    /// the deletion may have been asked for again, with a shorter one.
    pub(crate) requested_at: Option<i64>,
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

/// More fields of a pod, for Jobs.
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

/// The state of a container, which has its exit code once the container has ended.
#[derive(Default, Deserialize)]
struct ContainerState {
    terminated: Option<Terminated>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
}

impl TryFrom<Object<Option<PodSpec>, PodStatus>> for Pod {
    type Error = String;

    fn try_from(object: Object<Option<PodSpec>, PodStatus>) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        let meta = metadata.take();
        let phase = status.phase.as_deref().unwrap_or_default();
        let finished = [FinishedPhase::Succeeded, FinishedPhase::Failed];
        let finished_phase = finished.into_iter().find(|finished| finished.name() == phase);
        let termination = meta.deletion.map(|_| Box::new(Termination::read(&metadata, &spec, &status)));
        let kind = meta.controller.as_ref().map(OwnerReference::workload_kind);
        // One without a controller may get a Job.
        let is_of_job = kind.is_none_or(|kind| kind == Some(WorkloadKind::Job));
        let is_active = finished_phase.is_none() && termination.is_none();
        let job = is_of_job.then(|| Box::new(JobPod::read(&metadata, &spec, &status, is_active)));
        let cost = WrittenCost::read(&metadata, &meta.resource_version).map(Box::new);
        let holds = |(key, value): &&(&str, &str)| metadata.annotation(key) == Some(value);
        let node = spec.node_name.clone().filter(|node| !node.is_empty());
        let affinity = spec.affinity.as_ref().filter(|_| node.is_none());
        let is_ready = |it: &&Condition| it.status.as_deref() == Some("True");
        let ready = status.condition("Ready").filter(is_ready);
        let record = podrank::Pod {
            uid: uid(&meta.uid)?,
            ready_time: time(ready.and_then(|condition| condition.last_transition_time.as_ref())),
            creation_time: time(metadata.creation_timestamp.as_ref()),
            deletion_cost: cost.as_ref().map_or(0, |cost| cost.number()),
            restarts: most_restarts(status.container_statuses.iter().flatten()),
            sidecar_restarts: sidecar_restarts(&spec, &status),
            phase: Phase::parse(phase).unwrap_or(Phase::UNKNOWN),
            flags: Flags::NONE
                .with(Flags::ASSIGNED, node.is_some())
                .with(Flags::READY, ready.is_some())
                .with(Flags::PREFERRED, meta.labels.contains_key(PREFER_FOR_SCALE_DOWN_LABEL)),
            ..podrank::Pod::new()
        };
        Ok(Self {
            record,
            finished_phase,
            target_node: affinity.and_then(Affinity::target).map(Box::from),
            node,
            cost,
            noted: NotedCost::read(&metadata).map(Box::new),
            job,
            termination,
            is_mirror: metadata.annotation(MIRROR_ANNOTATION).is_some(),
            held_by: HOLDING.iter().find(holds).map(|(key, _)| (*key).to_owned()),
            meta,
        })
    }
}

impl Pod {
    pub(crate) fn name(&self) -> &str {
        &self.meta.name
    }

    pub(crate) fn uid(&self) -> Uid {
        self.record.uid
    }

    /// Whether the Job that has the pod counts it when it ends: the pod has the finalizer for that, or the Job's controller adopts the pod,
    /// and then adds it.
    pub(crate) fn is_tracked(&self) -> bool {
        self.meta.controller.is_none() || self.job.as_ref().is_some_and(|job| job.is_tracked)
    }

    pub(crate) fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Whether it is neither finished nor being deleted, so that a scale-down may delete it.
    pub(crate) fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_terminating()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished_phase.is_some()
    }

    /// Whether it has a deletion timestamp.
    pub(crate) fn is_terminating(&self) -> bool {
        self.termination.is_some()
    }

    /// The kind of the workload that controls it, if that is a known one.
    pub(crate) fn controller_kind(&self) -> Option<WorkloadKind> {
        self.meta.controller.as_ref()?.workload_kind()
    }

    /// The deletion cost that podrank wrote over, to be put back by podrank.
    pub(crate) fn previous(&self) -> Option<&PreviousCost> {
        self.noted.as_ref().filter(|noted| !noted.is_webhooks).map(|noted| &noted.previous)
    }

    /// What a write over somebody else's cost would replace. If that is one of podrank-webhook, it is the cost under it, since
    /// podrank-webhook's own is not put back.
    pub(crate) fn to_replace(&self) -> Option<PreviousCost> {
        let theirs = self.cost.as_ref()?.to_previous();
        let noted = self.noted.as_ref().filter(|noted| noted.is_webhooks && !theirs.lasts());
        let under = noted.map(|noted| &noted.previous).filter(|under| under.is_known() && under.lasts());
        Some(under.cloned().unwrap_or(theirs))
    }
}

impl Termination {
    fn read(metadata: &ObjectMeta, spec: &PodSpec, status: &PodStatus) -> Self {
        let own = spec.termination_grace_period_seconds.0;
        let grace = metadata.deletion_grace_period_seconds.0;
        let deleted = metadata.deletion_timestamp.as_ref().and_then(nanos);
        let disrupted =
            status.condition("DisruptionTarget").filter(|it| it.status.as_deref() == Some("True"));
        let rule = metadata.annotation(STEERED_ANNOTATION).and_then(|steered| steered.split('/').nth(3));
        let turned = |it: &Condition| time(it.last_transition_time.as_ref()).unix_nanos();
        Self {
            requested_at: deletion(deleted, grace).filter(|_| grace == own.or(Some(GRACE_PERIOD_SECONDS))),
            ready_since: status.condition("Ready").and_then(turned),
            disrupted: disrupted.map(|it| it.reason.0.clone().unwrap_or_default()),
            steered: rule.filter(|rule| *rule != KEPT).map(str::to_owned),
        }
    }
}

impl PodStatus {
    fn condition(&self, name: &str) -> Option<&Condition> {
        let mut conditions = self.conditions.iter().flatten();
        conditions.find(|condition| condition.r#type.as_deref() == Some(name))
    }
}

impl fmt::Display for Pod {
    /// The pod as messages show it: `pod default/web-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod {}/{}", text::name(&self.meta.namespace), text::name(&self.meta.name))
    }
}

impl JobPod {
    fn read(metadata: &ObjectMeta, spec: &PodSpec, status: &PodStatus, is_active: bool) -> Self {
        // Go's numbers, with a sign or without one. Kubernetes reads what it cannot use as 0.
        let failures =
            metadata.annotation(FAILURE_COUNT_ANNOTATION).and_then(|it| it.parse().ok()).unwrap_or(0_i32);
        let [init, main] =
            [&status.init_container_statuses, &status.container_statuses].map(|list| list.iter().flatten());
        let restarts = init.clone().chain(main.clone()).filter_map(|container| container.restart_count);
        let ended = |container: &ContainerStatus| {
            let code = container.state.0.as_ref()?.terminated.as_ref()?.exit_code;
            (code != 0).then(|| (container.name.clone(), code))
        };
        let conditions = status.conditions.iter().flatten();
        let condition = |it: &Condition| Some((it.r#type.clone()?, it.status.clone()?));
        Self {
            index: metadata.annotation(COMPLETION_INDEX_ANNOTATION).map_or(NO_INDEX, completion_index),
            is_in_gang: spec.scheduling_group.is_some(),
            is_tracked: metadata.finalizers.iter().flatten().any(|it| it == TRACKING_FINALIZER),
            failures: failures.max(0),
            restarts: restarts.fold(0, i32::wrapping_add),
            ended: main.chain(init).filter(|_| !is_active).filter_map(ended).collect(),
            conditions: conditions.filter(|_| !is_active).filter_map(condition).collect(),
        }
    }
}

fn uid(uid: &str) -> Result<Uid, String> {
    if uid.is_empty() {
        return Err("metadata.uid is missing".to_owned());
    }
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
    use crate::text::parse;
    use podrank::DeletionCostError;
    use podrank_laws::vectors;
    use serde_json::value::RawValue;

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
            let pod = match parse::<Pod>(&mut case.pod.get()) {
                Err(error) => {
                    let expected = case.error.as_deref().unwrap_or_else(|| panic!("{name}: {error}"));
                    let says = match expected {
                        "length" => "a UUID is 36 bytes long",
                        "not a hex digit" => "must be one of 0-9 and a-f",
                        _ => panic!("{name}: {expected}"),
                    };
                    assert!(error.starts_with("metadata.uid: ") && error.contains(says), "{name}: {error}");
                    continue;
                }
                Ok(pod) => pod,
            };
            assert_eq!(pod.is_active(), !case.inactive, "{name}");
            if case.inactive {
                continue;
            }
            assert_eq!(Some(pod.record), case.record.as_ref().map(vectors::Record::pod), "{name}");
            let cost_error = pod.cost.and_then(|cost| cost.value.err()).map(|error| match error {
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
