//! The JSON that other programs read, as borrowed views of the answers. docs/schemas says what each name means.

use crate::answer::{
    AutoscalerPreview, CountRange, DeletionOrder, Details, EndState, GroupAtEnd, Note, OrderedGroup,
    OrderedPod, Owner, PodAnswer, Preview, Probability, Size, StepPreview, WaitsFor,
};
use crate::question::{Order, TimeSource, Window, gates};
use crate::reason::{BY_CHANCE, Chance, Reason, SetSize, Value};
use crate::snapshot::{Release, WorkloadRef};
use crate::sync::Verdict;
use crate::text::API_VERSION;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::ops::Not;

/// What an answer about one workload begins with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'v> {
    api_version: &'static str,
    kind: &'static str,
    namespace: &'v str,
    workload: WorkloadRef<'v>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Owner<'v>>,
    now: Timestamp,
    time_source: TimeSource,
    within: Window,
    order: Order,
    #[serde(skip_serializing_if = "Option::is_none")]
    kubernetes_version: Option<Release>,
    #[serde(serialize_with = "gates::serialize")]
    feature_gates: &'v [(&'static str, bool)],
}

impl<'v> Head<'v> {
    fn new(kind: &'static str, preview: &'v Preview<'_>) -> Self {
        Self {
            api_version: API_VERSION,
            kind,
            namespace: preview.workload.namespace,
            workload: preview.workload,
            owner: preview.owner,
            now: preview.now,
            time_source: preview.time_source,
            within: preview.within,
            order: preview.order,
            kubernetes_version: preview.release,
            feature_gates: &preview.feature_gates,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreviewView<'v> {
    #[serde(flatten)]
    head: Head<'v>,
    replay: String,
    active_pods: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_replicas: Option<u32>,
    #[serde(flatten)]
    size: Size,
    #[serde(skip_serializing_if = "Option::is_none")]
    autoscaler: Option<&'v AutoscalerPreview<'v>>,
    partial: bool,
    deletions: CountRange,
    certain_deletions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_sync: Option<NextSync>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<&'v [StepPreview<'v>]>,
    waits_for: Option<&'v EndState<'v>>,
    complete: bool,
    notes: &'v [Note],
    groups: Vec<GroupView<'v>>,
}

/// What the next sync of a Deployment does.
#[derive(Serialize)]
struct NextSync {
    path: &'static str,
    deletions: CountRange,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OrderView<'v> {
    #[serde(flatten)]
    head: Head<'v>,
    active_pods: usize,
    #[serde(flatten)]
    size: Size,
    deletions: CountRange,
    waits_for: Option<&'v EndState<'v>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_down_to: Option<u32>,
    notes: &'v [Note],
    groups: &'v [OrderedGroup<'v>],
}

/// What a workload waits for before anything follows.
#[derive(Serialize)]
struct WaitsForView {
    event: WaitsFor,
    pods: Option<u32>,
    deletions: CountRange,
    text: String,
}

impl Serialize for EndState<'_> {
    /// Null if nothing is waited for.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.waits_for.zip(self.short()).map(|(event, text)| WaitsForView {
            event,
            pods: Some(self.pods).filter(|pods| *pods > 0),
            deletions: CountRange::one(self.then),
            text: text.to_string(),
        });
        view.serialize(serializer)
    }
}

/// The pods of one `ReplicaSet`, or all pods of a workload without any.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupView<'v> {
    replica_set: Option<&'v str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_new: Option<bool>,
    #[serde(flatten)]
    size: Option<&'v SetSize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas_at_end: Option<CountRange>,
    deletions: CountRange,
    #[serde(serialize_with = "pods")]
    pods: &'v [PodAnswer<'v>],
}

/// A pod of a preview or of a deletion order.
#[derive(Serialize)]
struct PodView<'v> {
    name: &'v str,
    uid: String,
    node: Option<&'v str>,
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(flatten)]
    counts: Option<Counts>,
    verdict: Verdict,
    #[serde(flatten)]
    probability: Option<Probability>,
    reason: Option<ReasonView<'v>>,
    #[serde(skip_serializing_if = "Not::not")]
    recreated: bool,
    #[serde(flatten)]
    details: Details,
}

/// The replica counts at which a pod is deleted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    possible_at: Option<u32>,
    deleted_at: Option<u32>,
}

/// Why, with the values that decide.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReasonView<'v> {
    rule: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OtherPod<'v>>,
    #[serde(flatten)]
    chance: Option<ChanceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<WaitedFor<'v>>,
}

/// The pod with which a reason compares another one.
#[derive(Serialize)]
struct OtherPod<'v> {
    name: &'v str,
    uid: String,
    value: Value,
}

/// What decides in place of the rules.
#[derive(Serialize)]
struct ChanceView {
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletions: Option<CountRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pods: Option<usize>,
}

/// What a pod waits for: another pod, or new pods of its workload.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum WaitedFor<'v> {
    Pod(Cow<'v, str>),
    NewPods(bool),
}

impl<'v> ReasonView<'v> {
    fn new(reason: &'v Reason<'_>, verdict: Verdict) -> Self {
        let found = if let Reason::Compared(comparison) = reason { Some(comparison.values()) } else { None };
        let (own, other) = found.unzip();
        let other = other.flatten();
        let is_possible = verdict == Verdict::Possible;
        let waits_for = || reason.waits_for().map_or(WaitedFor::NewPods(true), WaitedFor::Pod);
        Self {
            rule: reason.name(),
            text: reason.sentence().to_string(),
            own,
            other: other.map(|(pod, value)| OtherPod { name: pod.name(), uid: pod.uid().to_string(), value }),
            chance: reason.by_chance().filter(|_| is_possible).map(ChanceView::new),
            waits_for: (verdict == Verdict::Waiting).then(waits_for),
        }
    }

    /// What separates a pod from those after it.
    fn of_place(pod: &'v OrderedPod<'_>) -> Option<Self> {
        let text = pod.why()?.to_string();
        let chance = Some(ChanceView { cause: "order", deletions: None, pods: None });
        let by_chance = || ReasonView { rule: BY_CHANCE, chance, ..Self::default() };
        let view = pod.reason.as_ref().map_or_else(by_chance, |reason| Self::new(reason, pod.pod.verdict));
        Some(Self { text, ..view })
    }
}

impl ChanceView {
    fn new(chance: Chance) -> Self {
        let (deletions, pods) = match chance {
            Chance::Group { deleted, of, .. } => (Some(CountRange::one(deleted)), Some(of)),
            Chance::Timing(min, max) => (Some(CountRange { min, max }), None),
            Chance::Ages(..) | Chance::Turns => (None, None),
        };
        Self { cause: chance.name(), deletions, pods }
    }
}

impl<'v> PodView<'v> {
    fn new(pod: &'v PodAnswer<'_>) -> Self {
        Self {
            name: pod.name(),
            uid: pod.uid().to_string(),
            node: pod.node(),
            rank: pod.rank,
            position: None,
            counts: None,
            verdict: pod.verdict,
            probability: pod.probability,
            reason: Some(ReasonView::new(&pod.reason, pod.verdict)),
            recreated: pod.is_replaced,
            details: pod.details(),
        }
    }
}

impl Serialize for PodAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PodView::new(self).serialize(serializer)
    }
}

impl Serialize for OrderedPod<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Some(Counts { possible_at: self.possible_at, deleted_at: self.deleted_at });
        let reason = ReasonView::of_place(self);
        PodView { counts, reason, recreated: false, ..PodView::new(&self.pod) }.serialize(serializer)
    }
}

/// The pods of a group, each with its position.
fn pods<S: Serializer>(pods: &[PodAnswer<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    let view = |(position, pod)| PodView { position: Some(position), ..PodView::new(pod) };
    serializer.collect_seq((1..).zip(pods).map(view))
}

impl Serialize for Preview<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let deletions = CountRange::one(self.delete());
        let view = PreviewView {
            head: Head::new("ScaleDownPreview", self),
            replay: self.replay(),
            active_pods: self.active(),
            current_replicas: self.present,
            size: self.size,
            autoscaler: self.autoscaler.as_ref(),
            partial: self.partial,
            deletions: self.deletions(),
            certain_deletions: self.count(Verdict::Deleted),
            next_sync: self.rollout.map(|rollout| NextSync { path: rollout.path, deletions }),
            steps: self.steps.as_deref(),
            waits_for: self.rest.as_ref(),
            // Of a kind without a count, another sync follows immediately.
            complete: self.rest.as_ref().map_or(self.workload.kind.has_count(), |rest| rest.is_certain),
            notes: &self.notes,
            groups: self.groups(),
        };
        view.serialize(serializer)
    }
}

impl Preview<'_> {
    /// The groups, of a Deployment also those that later syncs create or enlarge.
    fn groups(&self) -> Vec<GroupView<'_>> {
        let at_end = |rest: &EndState<'_>, name| rest.set(name).map(|set| set.replicas).unwrap_or_default();
        let own = self.groups.iter().map(|group| GroupView {
            replica_set: group.replica_set,
            is_new: group.is_new,
            size: group.size.as_ref(),
            replicas_at_end: group.is_new.and(self.rest.as_ref()).map(|rest| at_end(rest, group.replica_set)),
            deletions: self.deletions_of(group),
            pods: &group.pods,
        });
        let is_later =
            |set: &&GroupAtEnd<'_>| self.groups.iter().all(|own| own.replica_set != set.replica_set);
        let later = self.rest.iter().flat_map(|rest| &rest.sets).filter(is_later).map(|set| GroupView {
            replica_set: set.replica_set,
            is_new: Some(true),
            size: None,
            replicas_at_end: Some(set.replicas),
            deletions: set.delete,
            pods: &[],
        });
        own.chain(later).collect()
    }
}

impl Serialize for DeletionOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let now = &self.now;
        let view = OrderView {
            head: Head::new("DeletionOrder", now),
            active_pods: now.active(),
            size: now.size,
            deletions: now.deletions(),
            waits_for: now.rest.as_ref(),
            waits_down_to: self.waits_down_to,
            notes: &now.notes,
            groups: &self.sets,
        };
        view.serialize(serializer)
    }
}
