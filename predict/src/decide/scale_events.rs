//! What the events of an input say of the pods of one set: which were deleted, and when the count fell. Reads only the input.

use crate::answer::DeletionCause;
use crate::snapshot::{Event, Selection, Snapshot};
use podrank::Uid;
use std::ops::RangeInclusive;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// A time at which the set was scaled down.
#[derive(Debug)]
pub(crate) struct ScaleDown<'a> {
    pub(crate) at: i64,
    pub(crate) from: Option<u32>,
    pub(crate) to: u32,
    /// The Deployment that lowered it. `None` if podrank-webhook reported it.
    pub(crate) deployment: Option<&'a str>,
}

/// The events about a set and its pods.
pub(crate) struct ScaleEvents<'a> {
    events: Vec<&'a Event>,
    set: &'a str,
    /// In the order of their times.
    falls: Vec<ScaleDown<'a>>,
}

impl ScaleDown<'_> {
    /// How many pods it took, if that is known.
    fn pods(&self) -> Option<usize> {
        self.from.map(|from| from.saturating_sub(self.to) as usize)
    }
}

/// When a count may have changed that is the reason of a deletion at this time: at most a minute before, or somewhat later, because
/// events have whole seconds.
pub(crate) fn causes(at: i64) -> RangeInclusive<i64> {
    at - 60 * SECOND..=at + 2 * SECOND
}

/// Whether a message has this name as a word.
fn has_word(message: &str, name: &str) -> bool {
    message.split([' ', ',']).any(|word| word == name)
}

impl<'a> ScaleEvents<'a> {
    pub(crate) fn of(input: &'a Snapshot, namespace: &'a str, set: &'a str) -> Self {
        let events: Vec<_> = input.events.iter().filter(|event| event.namespace == namespace).collect();
        let of_deployment = |event: &&'a Event| {
            let (from, to) = change(event, set)?;
            Some(ScaleDown { at: event.at, from, to, deployment: Some(&event.name) })
        };
        let of_webhook = |event: &&'a Event| {
            let selection = event.selection.as_ref().filter(|_| event.name == set)?;
            Some(ScaleDown { at: event.at, from: Some(selection.from), to: selection.to, deployment: None })
        };
        let mut falls: Vec<_> = events.iter().filter_map(of_deployment).collect();
        if falls.is_empty() {
            falls = events.iter().filter_map(of_webhook).collect();
        }
        falls.sort_by_key(|fall| fall.at);
        Self { events, set, falls }
    }

    /// The last fall that may be the reason of a deletion at this time.
    pub(crate) fn fall(&self, at: i64) -> Option<&ScaleDown<'a>> {
        self.falls.iter().rev().find(|fall| causes(at).contains(&fall.at))
    }

    /// The events that say that pods of the set were deleted.
    fn deletions(&self) -> impl Iterator<Item = &'a Event> {
        let events = self.events.iter().copied();
        events.filter(|event| event.reason == "SuccessfulDelete" && event.name == self.set)
    }

    /// The one that names this pod.
    pub(crate) fn deleted(&self, pod: &str) -> Option<&'a Event> {
        self.deletions().filter(|event| has_word(&event.message, pod)).max_by_key(|event| event.at)
    }

    /// Whether the set lost pods within so much time of then that no event names.
    pub(crate) fn has_unnamed(&self, then: i64, within: i64) -> bool {
        let is_near = |at: i64| (then - within..=then + within).contains(&at);
        let near = || self.deletions().filter(|event| is_near(event.at));
        match self.falls.iter().rev().find(|fall| is_near(fall.at)).and_then(ScaleDown::pods) {
            Some(pods) => near().count() < pods,
            None => near().any(|event| event.combined > 0),
        }
    }

    /// When the only fall was that took pods which no event names.
    pub(crate) fn only_fall_with_unnamed(&self) -> Option<i64> {
        let ends = self.falls.iter().skip(1).map(|next| next.at).chain([i64::MAX]);
        let mut with = self.falls.iter().zip(ends).filter(|(fall, end)| {
            let named = self.deletions().filter(|event| (fall.at - SECOND..*end).contains(&event.at)).count();
            fall.pods().is_some_and(|pods| named < pods)
        });
        let (fall, _) = with.next()?;
        with.next().is_none().then_some(fall.at)
    }

    /// Whether another set of the Deployment had got pods at this time.
    pub(crate) fn has_other_risen(&self, at: i64) -> bool {
        let rose = |event: &&&Event| {
            let is_before = event.at <= *causes(at).end();
            let rest = event.message.strip_prefix("Scaled up replica set ").filter(|_| is_before);
            rest.is_some_and(|rest| event.reason == "ScalingReplicaSet" && !has_word(rest, self.set))
        };
        let mut risen = self.events.iter().filter(rose);
        risen.any(|event| self.falls.iter().any(|fall| fall.deployment == Some(&event.name)))
    }

    /// The autoscaler that changed a count last before this time, of those that `is_its`, and its reason.
    pub(crate) fn rescaled(&self, at: i64, is_its: impl Fn(&str) -> bool) -> Option<(&'a str, &'a str)> {
        let own = self.events.iter().copied().filter(|event| {
            event.reason == "SuccessfulRescale" && causes(at).contains(&event.at) && is_its(&event.name)
        });
        let last = own.max_by_key(|event| event.at)?;
        Some((&last.name, last.message.split_once("reason: ").map_or("", |(_, reason)| reason)))
    }

    /// What podrank-webhook reported of the pod with this UID: when, what, and the rule for the pod.
    pub(crate) fn recorded(&self, uid: Uid) -> Option<(i64, &'a Selection, &'a str)> {
        let rule = |event: &'a Event| {
            let selection = event.selection.as_ref().filter(|_| event.name == self.set)?;
            Some((event.at, selection, selection.rule(uid)?))
        };
        self.events.iter().copied().filter_map(rule).max_by_key(|(at, ..)| *at)
    }

    /// The UID of the last pod of this name, by what was reported of it.
    pub(crate) fn uid(&self, pod: &str) -> Option<Uid> {
        self.about(pod).max_by_key(|event| event.at)?.uid
    }

    /// The events about pods of this name.
    pub(crate) fn about(&self, pod: &str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().copied().filter(move |event| event.kind == "Pod" && event.name == pod)
    }

    /// What was reported of the pod itself.
    pub(crate) fn disruption(&self, pod: &str) -> Option<(DeletionCause, &'static str)> {
        self.about(pod).find_map(|event| {
            let is_marked = event.message.starts_with("Marking for deletion");
            disruption(match event.reason {
                "Preempted" => "PreemptionByScheduler",
                "TaintManagerEviction" if is_marked => "DeletionByTaintManager",
                "DeviceTaintManagerEviction" if is_marked => "DeletionByDeviceTaintManager",
                "Evicted" => "TerminationByKubelet",
                _ => return None,
            })
        })
    }
}

/// What a reason of the condition `DisruptionTarget` means.
pub(crate) fn disruption(reason: &str) -> Option<(DeletionCause, &'static str)> {
    Some(match reason {
        "PreemptionByScheduler" => {
            (DeletionCause::Preemption, "the scheduler preempted it for a pod of higher priority")
        }
        "DeletionByTaintManager" => (DeletionCause::Taint, "its node got a taint that it does not tolerate"),
        "DeletionByDeviceTaintManager" => {
            (DeletionCause::Taint, "a device that it uses got a taint that it does not tolerate")
        }
        "EvictionByEvictionAPI" => {
            (DeletionCause::Eviction, "it was evicted through the API, as kubectl drain does")
        }
        "DeletionByPodGC" => (DeletionCause::Node, "its node was removed, or does not answer"),
        "TerminationByKubelet" => {
            (DeletionCause::Node, "its node shuts down, or lacks memory, disk or another resource")
        }
        _ => return None,
    })
}

/// The counts in a message such as `Scaled down replica set web-1 from 3 to 2`, if it is about this set.
fn change(event: &Event, set: &str) -> Option<(Option<u32>, u32)> {
    let rest = event.message.strip_prefix("Scaled down replica set ");
    let rest = rest.filter(|_| event.reason == "ScalingReplicaSet")?;
    let (_, counts) = rest.split_once(' ').filter(|(name, _)| *name == set)?;
    // Before Kubernetes 1.25, it lacks the first.
    match counts.strip_prefix("from ").and_then(|counts| counts.split_once(" to ")) {
        Some((from, to)) => Some((from.parse().ok(), to.parse().ok()?)),
        None => Some((None, counts.strip_prefix("to ")?.parse().ok()?)),
    }
}
