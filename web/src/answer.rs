//! What the page shows of a decision, as data.

use crate::odds_follow;
use jiff::Timestamp;
use kubectl_podrank::view::answer::{headline, hint};
use podrank_predict::{
    Asked, Bounds, Note, NowSource, PodAnswer, Pods, Preview, Rest, SetPreview, Snapshot, StepPreview,
    Verdict, autoscaler,
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
    now_source: NowSource,
    asked: Asked,
    active: usize,
    deletions: Bounds,
    notes: &'p [Note],
    sets: Vec<SetFace<'p>>,
    steps: &'p [StepPreview<'p>],
    rest: Option<&'p Rest<'p>>,
    /// In the order in which they go, set by set.
    pods: Vec<PodFace<'p>>,
    /// Whether the probabilities of possible pods follow.
    odds_follow: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetFace<'p> {
    replica_set: Option<&'p str>,
    from: i32,
    to: i32,
    why: String,
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
    because: String,
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
            active: preview.active,
            count: preview.asked.replicas.or(preview.asked.parallelism),
            desired: autoscaler(preview, input).and_then(|its| its.desired_replicas),
            now: preview.now,
            newest: times.flatten().max(),
        }
    }
}

impl<'p> Answer<'p> {
    pub(crate) fn of(preview: &'p Preview<'p>) -> Self {
        let face = |pod: &'p PodAnswer<'p>| {
            PodFace(pod.name(), pod.node(), pod.verdict, pod.odds.map(|odds| odds.text()))
        };
        let set = |set: &'p SetPreview<'p>| SetFace {
            replica_set: set.replica_set,
            from: set.size.from,
            to: set.size.to(),
            why: set.size.sentence().to_string(),
            is_new: set.is_new,
            active: set.active,
        };
        Self {
            headline: headline(preview),
            hint: hint(preview),
            now: preview.now,
            now_source: preview.now_source,
            asked: preview.asked,
            active: preview.active,
            deletions: preview.deletions(),
            notes: &preview.notes,
            sets: preview.sets().iter().map(set).collect(),
            steps: preview.steps.as_deref().unwrap_or_default(),
            rest: preview.rest.as_ref(),
            pods: preview.pods().map(face).collect(),
            odds_follow: odds_follow(preview),
        }
    }
}

impl<'p> Row<'p> {
    pub(crate) fn of(pod: &'p PodAnswer<'p>) -> Self {
        Self { pod, because: pod.short().to_string() }
    }
}

/// The pods of each set.
pub(crate) fn lists<'p>(preview: &'p Preview<'_>) -> Vec<&'p [PodAnswer<'p>]> {
    match &preview.of {
        Pods::Pods(pods) => vec![pods],
        Pods::Sets(sets) => sets.iter().map(|set| &*set.pods).collect(),
    }
}
