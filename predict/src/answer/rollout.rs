//! Where a workload's syncs lead, as data, as JSON and in words.

use crate::text::{self, count, is, number};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;

/// The least and the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountRange {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
}

impl CountRange {
    /// One number.
    pub fn one(number: impl TryInto<u32>) -> Self {
        let number = text::number(number);
        Self { min: number, max: number }
    }

    /// Returns the number if there is only one: `3`, and else both: `3 to 5`.
    pub fn text(self) -> String {
        if self.min == self.max { self.max.to_string() } else { format!("{} to {}", self.min, self.max) }
    }

    /// The least and the most of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// One sync of a Deployment that changes a size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepPreview<'a> {
    /// What the sync does, as in [`Rollout::path`](crate::Rollout::path).
    pub path: &'static str,
    /// The sets whose sizes it changes.
    #[serde(rename = "replicaSets")]
    pub sets: Vec<SizeStep<'a>>,
}

/// What a sync does to a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeStep<'a> {
    /// Its name; `None` if the syncs create it.
    pub replica_set: Option<&'a str>,
    /// Its size before the sync.
    pub from: i32,
    /// Its size after the sync.
    pub to: i32,
    /// The number of its pods that are deleted in this sync.
    #[serde(rename = "deletions", serialize_with = "one")]
    pub delete: u32,
}

/// A number of deletions, which is a range in JSON.
pub(crate) fn one<N: TryInto<u32> + Copy, S: Serializer>(
    number: &N,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    CountRange::one(*number).serialize(serializer)
}

/// The state in which nothing more happens unless something outside changes: a pod becomes available or unavailable, ends or is
/// deleted, or somebody changes the Deployment.
#[derive(Clone, Debug)]
pub struct EndState<'a> {
    /// The Deployment's sets that have pods, now or then.
    pub sets: Vec<GroupAtEnd<'a>>,
    /// How many of the pods go until then.
    pub delete: CountRange,
    /// What the Deployment waits for. `None` if nothing follows.
    pub waits_for: Option<WaitsFor>,
    /// How many pods it waits for. 0 if that is not known.
    pub pods: u32,
    /// How many old pods go only after that.
    pub then: u32,
    /// Whether every way in which the syncs can go was looked at, and came to rest.
    pub is_certain: bool,
    /// If the syncs of a Deployment lead to it.
    pub(crate) rollout: Option<RolloutEnd>,
    /// The pods that it waits for, if its controller deletes pods itself.
    pub(crate) names: BTreeSet<Cow<'a, str>>,
}

/// The state in which a Deployment's syncs lead to nothing more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RolloutEnd {
    /// How many pods the new set gets once old pods have ended.
    pub(crate) new_pods: u32,
    /// The pods of sets in use that are not available.
    pub(crate) unavailable: u32,
    pub(crate) is_rollback: bool,
    pub(crate) is_rejected: bool,
    /// Whether a sync changed a size before.
    pub(crate) follows: bool,
}

impl<'a> EndState<'a> {
    /// Of a workload whose controller deletes pods itself: what follows the next sync, which takes `delete` pods. `waits` names, for
    /// each pod that waits for another, that one. `later` more wait for the new pods that take the places of old ones.
    pub(crate) fn of_waiting(delete: CountRange, waits: Vec<Cow<'a, str>>, later: u32) -> Self {
        let then = number(waits.len()).saturating_add(later);
        let names: BTreeSet<_> = waits.into_iter().collect();
        Self {
            sets: Vec::new(),
            delete,
            waits_for: (then > 0).then_some(WaitsFor::Pods),
            pods: if later > 0 { 0 } else { number(names.len()) },
            then,
            is_certain: true,
            rollout: None,
            names,
        }
    }

    /// How many pods of a set go until then.
    pub fn delete_of(&self, replica_set: Option<&str>) -> CountRange {
        self.set(replica_set).map(|set| set.delete).unwrap_or_default()
    }

    /// One of the sets.
    pub(crate) fn set(&self, replica_set: Option<&str>) -> Option<&GroupAtEnd<'a>> {
        self.sets.iter().find(|set| set.replica_set == replica_set)
    }

    /// Says that something outside the controller deletes pods.
    pub(crate) fn interrupt(&mut self) {
        (self.waits_for, self.pods, self.then, self.rollout) = (None, 0, 0, None);
    }

    /// Deletes all pods of a set for a reason outside the Deployment. What follows is then not known.
    pub(crate) fn delete_all_of(&mut self, replica_set: Option<&str>, active: usize) {
        let all = number(active);
        let before = self.delete_of(replica_set);
        let also = |bound: u32, before: u32| bound.saturating_sub(before).saturating_add(all);
        self.delete =
            CountRange { min: also(self.delete.min, before.max), max: also(self.delete.max, before.min) };
        let set = self.sets.iter_mut().find(|set| set.replica_set == replica_set);
        if let Some(set) = set {
            set.delete = CountRange::one(all);
        }
        self.interrupt();
        self.is_certain = false;
    }

    /// Takes in that of another time at which the controller may decide.
    pub(crate) fn widen(&mut self, other: &EndState<'_>) {
        self.delete = self.delete.and(other.delete);
        for set in &mut self.sets {
            if let Some(theirs) = other.set(set.replica_set) {
                set.replicas = set.replicas.and(theirs.replicas);
                set.delete = set.delete.and(theirs.delete);
            }
        }
    }

    /// What it waits for, in a few words: `waits for db-1`.
    pub fn short(&self) -> Option<impl Display> {
        let pods = self.pods;
        let have = if pods == 1 { "has" } else { "have" };
        Some(match self.waits_for? {
            WaitsFor::NewPods if pods == 0 => "waits until more new pods are available".to_owned(),
            WaitsFor::NewPods => {
                format!("waits until {} {} available", count(pods, "more new pod"), is(pods))
            }
            WaitsFor::OldPods if pods == 0 => "waits until old pods have ended".to_owned(),
            WaitsFor::OldPods => format!("waits until {} {have} ended", count(pods, "old pod")),
            WaitsFor::Resume => "rollout is paused".to_owned(),
            WaitsFor::AnotherCount => "waits for another replica count".to_owned(),
            WaitsFor::Pods => {
                let mut names: Vec<_> = self.names.iter().map(|name| text::name(name)).collect();
                // Nobody knows which new pods those will be.
                names.extend((pods == 0).then(|| "new pods to be available".into()));
                format!("waits for {}", text::list(&names))
            }
        })
    }

    /// All that in a sentence. `None` if nothing follows, and all pods are available or no size changes. `is_first` says whether
    /// nothing was said that comes before.
    pub fn sentence(&self, is_first: bool) -> Option<impl Display> {
        let then = |follows: bool| {
            let start = if follows && !is_first { "Then the controller" } else { "The controller" };
            let waits = self.short().map_or_else(String::new, |waits| waits.to_string());
            format!("{start} {waits}")
        };
        let are = is(self.then);
        let Some(end) = self.rollout else {
            let (waits, pods) = (then(self.delete.max > 0), count(self.then, "pod"));
            return (self.then > 0).then(|| format!("{waits}. Only after that, {pods} {are} deleted."));
        };
        let old_pods = count(self.then, "old pod");
        Some(match self.waits_for {
            _ if end.is_rollback => "It is not known what follows the rollback.".to_owned(),
            _ if end.is_rejected => {
                "The API server rejects a replica count below 0, so the controller keeps trying.".to_owned()
            }
            _ if !self.is_certain => {
                "More can follow. Only the first syncs are shown, because the controller can continue in too many ways."
                    .to_owned()
            }
            Some(WaitsFor::NewPods) => {
                format!("{}. Only after that, {old_pods} {are} deleted.", then(end.follows))
            }
            Some(WaitsFor::OldPods) => {
                let (waits, new_pods) = (then(end.follows), count(end.new_pods, "pod"));
                format!("{waits}. Only after that, its new ReplicaSet gets {new_pods}.")
            }
            Some(WaitsFor::Resume) => format!("Its rollout is paused, so {old_pods} {are} kept."),
            Some(WaitsFor::AnotherCount) => {
                "No rollout starts until its replica count changes, because a ReplicaSet still records another one."
                    .to_owned()
            }
            None if end.follows && end.unavailable > 0 => {
                let pods = count(end.unavailable, "pod");
                format!("Nothing more follows, although {pods} {} not available.", is(end.unavailable))
            }
            Some(WaitsFor::Pods) | None => return None,
        })
    }
}

/// A set in that state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAtEnd<'a> {
    /// Its name; `None` if the syncs create it.
    pub replica_set: Option<&'a str>,
    /// Its size.
    pub replicas: CountRange,
    /// How many of its pods go until then.
    pub delete: CountRange,
}

/// What a Deployment waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// That more pods of its new set are available.
    NewPods,
    /// That pods of old sets end.
    OldPods,
    /// That pods become available, or have gone: those that the reasons of waiting pods name.
    Pods,
    /// That somebody resumes it.
    Resume,
    /// That somebody changes its count: until then, its controller scales in each sync, and no rollout starts.
    #[serde(rename = "replica-count")]
    AnotherCount,
}
