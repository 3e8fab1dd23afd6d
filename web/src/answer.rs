//! What the page shows of a decision, as data.

use crate::probabilities_follow;
use jiff::Timestamp;
use kubectl_podrank::view::answer::{headline, hint};
use podrank_predict::{
    CountRange, GroupAtEnd, Note, PodAnswer, PodGroup, Preview, Size, Snapshot, StepPreview, TimeSource,
    Verdict, WaitsFor, autoscaler,
};
use serde::Serialize;

/// The pods of a workload, before a count is chosen.
#[derive(Serialize)]
pub(crate) struct Scene {
    active: usize,
    /// The count that it has now, if its kind has one.
    count: Option<u32>,
    /// The count that its autoscaler wants now, if it has one that has found a count.
    desired: Option<u32>,
    now: Timestamp,
    /// When anything happened last to one of the pods.
    newest: Option<Timestamp>,
}

/// The answer, and a few words about each pod.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'p> {
    /// As at a terminal: `Scaling deploy/web to 5 deletes 8 of 13 pods, all certain.`
    pub(crate) headline: String,
    /// What to type next.
    hint: Option<String>,
    now: Timestamp,
    time_source: TimeSource,
    size: Size,
    active_pods: usize,
    deletions: CountRange,
    notes: &'p [Note],
    groups: Vec<GroupFace<'p>>,
    steps: &'p [StepPreview<'p>],
    waits_for: Option<WaitsFor>,
    /// What follows, in a sentence.
    follows: Option<String>,
    /// In the order in which they go, set by set.
    pods: Vec<PodFace<'p>>,
    /// Whether the probabilities of possible pods follow.
    probabilities_follow: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupFace<'p> {
    replica_set: Option<&'p str>,
    from: i32,
    to: i32,
    /// Why the next sync gives it this size. `None` if a later sync creates it.
    text: Option<String>,
    /// Whether it has the present template.
    is_new: bool,
    /// How many of the pods are its own. They stand together, set by set.
    active: usize,
}

/// A pod's name, its node, its verdict and its probability.
#[derive(Serialize)]
struct PodFace<'p>(&'p str, Option<&'p str>, Verdict, Option<String>);

/// A pod as the command line's JSON has it, and why in a few words.
#[derive(Serialize)]
pub(crate) struct Row<'p> {
    #[serde(flatten)]
    pod: &'p PodAnswer<'p>,
    short: String,
}

/// Why a pod is deleted or kept.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation<'p> {
    pub(crate) pod: Row<'p>,
    /// The pod that its reason compares it with.
    pub(crate) other: Option<&'p PodAnswer<'p>>,
    /// Whether its controller deletes pods itself, by rules of its own.
    pub(crate) is_direct: bool,
}

impl Scene {
    pub(crate) fn of<'p>(preview: &Preview<'p>, input: &'p Snapshot) -> Self {
        let times =
            preview.pods().map(PodAnswer::details).flat_map(|its| [its.creation_time, its.ready_time]);
        Self {
            active: preview.active(),
            count: preview.size.replicas.or(preview.size.parallelism),
            desired: autoscaler(preview, input).and_then(|its| its.desired_replicas),
            now: preview.now,
            newest: times.flatten().max(),
        }
    }
}

impl<'p> Answer<'p> {
    pub(crate) fn of(preview: &'p Preview<'p>) -> Self {
        let face = |pod: &'p PodAnswer<'p>| {
            PodFace(
                pod.name(),
                pod.node(),
                pod.verdict,
                pod.probability.map(|probability| probability.text()),
            )
        };
        let group = |set: &'p PodGroup<'p>| {
            set.size.map(|size| GroupFace {
                replica_set: set.replica_set,
                from: size.from,
                to: size.to(),
                text: Some(size.sentence().to_string()),
                is_new: set.is_new == Some(true),
                active: set.pods.len(),
            })
        };
        let (rest, sets) = (preview.rest.as_ref(), preview.sets());
        let is_later = |set: &&GroupAtEnd<'_>| {
            set.replica_set.is_none() && sets.iter().all(|set| set.replica_set.is_some())
        };
        let created = rest.iter().flat_map(|rest| &rest.sets).filter(is_later).map(|_| GroupFace {
            replica_set: None,
            from: 0,
            to: 0,
            text: None,
            is_new: true,
            active: 0,
        });
        Self {
            headline: headline(preview),
            hint: hint(preview),
            now: preview.now,
            time_source: preview.time_source,
            size: preview.size,
            active_pods: preview.active(),
            deletions: preview.deletions(),
            notes: &preview.notes,
            groups: sets.iter().filter_map(group).chain(created).collect(),
            steps: preview.steps.as_deref().unwrap_or_default(),
            waits_for: rest.and_then(|rest| rest.waits_for),
            follows: rest.and_then(|rest| rest.sentence(false)).map(|it| it.to_string()),
            pods: preview.pods().map(face).collect(),
            probabilities_follow: probabilities_follow(preview),
        }
    }
}

impl<'p> Row<'p> {
    pub(crate) fn of(pod: &'p PodAnswer<'p>) -> Self {
        Self { pod, short: pod.short().to_string() }
    }
}

/// The pods of each set.
pub(crate) fn lists<'p>(preview: &'p Preview<'_>) -> Vec<&'p [PodAnswer<'p>]> {
    preview.groups.iter().map(|group| &*group.pods).collect()
}
