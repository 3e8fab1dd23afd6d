//! Where a workload's syncs lead, as data, as JSON and in words.

use crate::text::{self, count, goes};
use serde::Serialize;
use std::collections::BTreeSet;

/// The least and the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
}

impl Bounds {
    /// One number.
    pub fn one(number: u32) -> Self {
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
    pub sets: Vec<SetStep<'a>>,
}

/// What a sync does to a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetStep<'a> {
    /// Its name; `None` if the syncs create it.
    pub replica_set: Option<&'a str>,
    /// Its size before the sync.
    pub from: i32,
    /// Its size after the sync.
    pub to: i32,
    /// The number of its pods that go in this sync.
    pub delete: u32,
}

/// The state in which nothing more happens unless something outside changes: a pod becomes available or unavailable, ends or is
/// deleted, or somebody changes the Deployment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rest<'a> {
    /// The Deployment's sets that have pods, now or then.
    pub sets: Vec<SetAtRest<'a>>,
    /// How many of the pods go until then.
    pub delete: Bounds,
    /// What the Deployment waits for. `None` if nothing follows.
    pub waits_for: Option<WaitsFor>,
    /// How many pods it waits for. 0 if that is not known.
    pub pods: u32,
    /// How many old pods go only after that.
    pub then: u32,
    /// Whether every way in which the syncs can go was looked at, and came to rest.
    pub is_certain: bool,
    /// What it waits for in a few words: `waits for db-1`.
    #[serde(skip)]
    pub waits: Option<String>,
    /// All that in a sentence. `None` if nothing follows, and all pods are available or no size changes.
    pub text: Option<String>,
}

impl Rest<'_> {
    /// Of a workload whose controller deletes pods itself: what follows the next sync, which takes `delete` pods. `waits` names, for
    /// each pod that waits for another, that one. `later` more wait for the new pods that take the places of old ones.
    pub(crate) fn of_waiting(delete: Bounds, waits: &[&str], later: u32) -> Self {
        let by: BTreeSet<_> = waits.iter().copied().collect();
        let mut names: Vec<_> = by.iter().map(|name| text::name(name)).collect();
        names.extend((later > 0).then(|| "new pods to be available".into()));
        let number = |pods: usize| u32::try_from(pods).unwrap_or(u32::MAX);
        let then = number(waits.len()).saturating_add(later);
        let start = if delete.max > 0 { "Then it" } else { "It" };
        let waits = (then > 0).then(|| format!("waits for {}", text::list(&names)));
        let goes = |waits: &String| {
            format!("{start} {waits}; {} {} only after that.", count(then, "pod"), goes(then))
        };
        Self {
            sets: Vec::new(),
            delete,
            waits_for: (then > 0).then_some(WaitsFor::Pods),
            pods: if later > 0 { 0 } else { number(by.len()) },
            then,
            is_certain: true,
            text: waits.as_ref().map(goes),
            waits,
        }
    }

    /// How many pods of a set go until then.
    pub fn delete_of(&self, replica_set: Option<&str>) -> Bounds {
        let set = self.sets.iter().find(|set| set.replica_set == replica_set);
        set.map_or(Bounds::one(0), |set| set.delete)
    }

    /// Deletes all pods of a set for a reason outside the Deployment. What follows is then not known.
    pub(crate) fn delete_all_of(&mut self, replica_set: Option<&str>, active: usize) {
        let all = u32::try_from(active).unwrap_or(u32::MAX);
        let before = self.delete_of(replica_set);
        let also = |bound: u32, before: u32| bound.saturating_sub(before).saturating_add(all);
        self.delete =
            Bounds { min: also(self.delete.min, before.max), max: also(self.delete.max, before.min) };
        let set = self.sets.iter_mut().find(|set| set.replica_set == replica_set);
        if let Some(set) = set {
            set.delete = Bounds::one(all);
        }
        (self.waits_for, self.pods, self.then, self.waits, self.text) = (None, 0, 0, None, None);
        self.is_certain = false;
    }

    /// Takes in that of another time at which the controller may decide.
    pub(crate) fn widen(&mut self, other: &Rest<'_>) {
        self.delete = self.delete.and(other.delete);
        for set in &mut self.sets {
            if let Some(theirs) = other.sets.iter().find(|theirs| theirs.replica_set == set.replica_set) {
                set.replicas = set.replicas.and(theirs.replicas);
                set.delete = set.delete.and(theirs.delete);
            }
        }
    }
}

/// A set in that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAtRest<'a> {
    /// Its name; `None` if the syncs create it.
    pub replica_set: Option<&'a str>,
    /// Its size.
    pub replicas: Bounds,
    /// How many of its pods go until then.
    pub delete: Bounds,
}

/// What a Deployment waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// That more pods of its new set are available.
    NewPods,
    /// That pods of old sets end.
    OldPods,
    /// That pods become available, or have gone: those that the pods with the verdict `blocked` name.
    Pods,
    /// That somebody resumes it.
    Resume,
    /// That somebody changes its count: until then, its controller scales in each sync, and no rollout starts.
    AnotherCount,
}

/// What the words about a rest read.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Facts {
    pub(crate) waits_for: Option<WaitsFor>,
    pub(crate) pods: u32,
    pub(crate) then: u32,
    /// How many pods the new set gets once old pods have ended.
    pub(crate) new_pods: u32,
    /// The pods of sets in use that are not available.
    pub(crate) unavailable: u32,
    pub(crate) is_certain: bool,
    pub(crate) is_rollback: bool,
    pub(crate) is_rejected: bool,
    /// Whether a sync changed a size before.
    pub(crate) follows: bool,
}

impl Facts {
    /// What it waits for, in a few words.
    pub(crate) fn waits(&self) -> Option<String> {
        let new_pods = match self.pods {
            0 => "more of its new pods are available".to_owned(),
            1 => "1 more of its new pods is available".to_owned(),
            pods => format!("{pods} more of its new pods are available"),
        };
        let old_pods = if self.pods == 0 { "old pods".to_owned() } else { count(self.pods, "old pod") };
        let have = if self.pods == 1 { "has" } else { "have" };
        Some(match self.waits_for? {
            WaitsFor::NewPods => format!("waits until {new_pods}"),
            WaitsFor::OldPods => format!("waits until {old_pods} {have} ended"),
            WaitsFor::Resume => "rollout is paused".to_owned(),
            WaitsFor::AnotherCount => "waits for another count".to_owned(),
            WaitsFor::Pods => return None,
        })
    }

    /// What follows, in words.
    pub(crate) fn text(&self) -> Option<String> {
        let then = || {
            let start = if self.follows { "Then it" } else { "It" };
            format!("{start} {}", self.waits().unwrap_or_default())
        };
        if self.is_rollback {
            return Some("What follows the rollback is not known.".to_owned());
        }
        if self.is_rejected {
            return Some(
                "The API server rejects a size below 0, so the controller tries again and again.".to_owned(),
            );
        }
        if !self.is_certain {
            return Some(
                "More can follow: these are the first steps, because there are too many ways in which the controller can go on."
                    .to_owned(),
            );
        }
        let go = format!("{} {} only after that.", count(self.then, "old pod"), goes(self.then));
        match self.waits_for {
            Some(WaitsFor::NewPods) => Some(format!("{}; {go}", then())),
            Some(WaitsFor::OldPods) => {
                let new_pods = count(self.new_pods, "pod");
                Some(format!("{}; its new ReplicaSet gets {new_pods} only after that.", then()))
            }
            Some(WaitsFor::Resume) => {
                Some(format!("Its rollout is paused, so {} {}.", count(self.then, "old pod"), stays(self.then)))
            }
            Some(WaitsFor::AnotherCount) => Some(
                "No rollout starts until its count changes, because a ReplicaSet still records another count.".to_owned(),
            ),
            None if self.follows && self.unavailable > 0 => Some(format!(
                "Nothing more follows; {} {} not available.",
                count(self.unavailable, "pod"),
                if self.unavailable == 1 { "is" } else { "are" }
            )),
            Some(WaitsFor::Pods) | None => None,
        }
    }
}

fn stays(number: u32) -> &'static str {
    if number == 1 { "stays" } else { "stay" }
}
