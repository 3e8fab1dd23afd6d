//! At which counts each pod of a workload goes, as plain data and as JSON: docs/schemas says what each name means.

use crate::answer::{PodAnswer, Preview, Verdict};
use crate::reason::Reason;
use crate::text;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;

/// At which counts each pod of a workload goes. Serialized, it is JSON that other programs read.
#[derive(Clone, Debug)]
pub struct DeletionOrder<'a> {
    /// What happens at the present count.
    pub now: Preview<'a>,
    /// The least count to which a scale-down waits for a pod, which a note names. `None` if it need not wait.
    pub waits_down_to: Option<u32>,
    /// Its sets that have pods, each with an order of its own; a workload without sets is one list.
    pub sets: Vec<OrderedGroup<'a>>,
}

/// The pods of one set, or of a workload without sets, those that go first at the start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderedGroup<'a> {
    /// The set's name; `None` for a workload without sets.
    pub replica_set: Option<&'a str>,
    /// Whether it has its Deployment's present template: other sets are old. `None` if it is not part of a Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
    /// Its pods.
    pub pods: Vec<OrderedPod<'a>>,
}

/// One pod, and the counts at which it goes.
#[derive(Clone, Debug)]
pub struct OrderedPod<'a> {
    /// What becomes of it at the present count.
    pub pod: PodAnswer<'a>,
    /// The largest count at which it may go: at larger ones it stays. `None` if that depends on how the count is shared among sets.
    pub possible_at: Option<u32>,
    /// The largest count at which it certainly goes. `None` if it is never certain, or as above.
    pub deleted_at: Option<u32>,
    /// The pod that it waits for, at the largest count at which it does.
    pub waits_for: Option<Cow<'a, str>>,
    /// What separates it from the pods after it.
    pub reason: Option<Reason<'a>>,
    /// Why chance decides, in a few words, if it does.
    pub chance: Option<&'static str>,
    /// Its place in the line of its set, from 1, or the first and the last of those that it shares with others.
    pub places: (usize, usize),
}

impl<'a> OrderedPod<'a> {
    /// That of a pod that is deleted at the largest of these counts and at all lower ones.
    pub(crate) fn new(pod: &PodAnswer<'a>, place: usize, deleted_at: Option<u32>) -> Self {
        Self {
            possible_at: deleted_at,
            deleted_at,
            waits_for: None,
            reason: Some(pod.reason.clone()),
            chance: pod.reason.chance().filter(|_| pod.verdict == Verdict::Possible),
            places: (place, place),
            pod: pod.clone(),
        }
    }

    /// The rule that separates it from the pods after it.
    pub fn rule(&self) -> Option<&'static str> {
        self.reason.as_ref()?.rule()
    }

    /// What separates it from the pods after it, as a sentence. `None` if nothing does.
    pub fn why(&self) -> Option<impl Display> {
        let (first, last) = self.places;
        let others = text::count(last - first, "other pod");
        let open = (first < last).then(|| format!("chance decides among it and {others}"));
        let why = self.reason.as_ref().map(|it| it.sentence().to_string());
        let parts: Vec<_> = open.into_iter().chain(why).collect();
        (!parts.is_empty()).then(|| parts.join(", and all of them come before the rest: "))
    }
}

impl<'a> DeletionOrder<'a> {
    /// All pods, set by set, those that go first at the start of each.
    pub fn pods(&self) -> impl Iterator<Item = &OrderedPod<'a>> {
        self.sets.iter().flat_map(|set| &set.pods)
    }

    /// How many of the pods that are deleted at the present count are created again.
    pub fn replaced(&self) -> u32 {
        let is_replaced = |pod: &&PodAnswer<'_>| pod.verdict == Verdict::Deleted && pod.is_replaced;
        text::number(self.now.pods().filter(is_replaced).count())
    }
}
