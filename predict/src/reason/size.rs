//! Why a Deployment's sync gives a set its size.

use crate::sync::deployment::{Budgets, SizeChange, SizeReason};
use crate::text::{TextReason, count, is};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::fmt::Display;

/// The size that a sync gives a set, and why.
#[derive(Clone, Copy, Debug)]
pub struct SetSize {
    /// Its `spec.replicas` before the sync.
    pub from: i32,
    pub(crate) change: SizeChange,
    /// The count of its Deployment.
    pub(crate) desired: i32,
    pub(crate) budgets: Budgets,
    /// Whether the sync creates the set.
    pub(crate) is_created: bool,
}

impl SetSize {
    /// Its `spec.replicas` after the sync.
    pub fn to(&self) -> i32 {
        self.change.replicas
    }

    /// The values of `spec.replicas` that the sync writes, in order: two values if pods that are not available go first.
    fn writes(&self) -> Vec<i32> {
        let is_in_two = self.change.reason == SizeReason::UnhealthyAndAvailable;
        let first = is_in_two.then(|| self.from.wrapping_add(self.change.part));
        first.into_iter().chain([self.to()]).filter(|size| *size != self.from && !self.is_created).collect()
    }

    /// A sentence with the numbers that decide.
    pub fn sentence(&self) -> impl Display {
        let Self { from, change, desired: wanted, budgets, .. } = *self;
        let pods = |number: i32| count(number.unsigned_abs(), "pod");
        let replicas = count(wanted.unsigned_abs(), "replica");
        let the = if wanted == 1 { "the" } else { "all" };
        // A Deployment with the count 0 may have no pod more.
        let surge = if wanted == 0 { 0 } else { budgets.surge };
        let allowed = match pods(wanted.wrapping_add(surge)) {
            all if surge == 0 => all,
            all => format!("{all} ({replicas} and a surge of {surge})"),
        };
        let least = wanted.wrapping_sub(budgets.unavailable).max(0);
        let rest = change.replicas.wrapping_sub(from).wrapping_sub(change.part);
        match change.reason {
            SizeReason::Untouched => "this sync leaves it alone".to_owned(),
            SizeReason::OnlyActive => format!("the only ReplicaSet in use has {the} {replicas}"),
            SizeReason::Saturated => {
                let shrinks = if from == change.replicas { "" } else { ", so old ReplicaSets shrink to 0" };
                let are = is(wanted.unsigned_abs());
                format!("{the} {} of the new ReplicaSet {are} available{shrinks}", pods(wanted))
            }
            SizeReason::Share => format!("its share is {} of {allowed}", change.replicas),
            SizeReason::CutShare => format!("what is left of its share of {allowed}"),
            SizeReason::ShareAndLeftover => format!(
                "{:+} as its share of {allowed}, and {rest:+} that rounding leaves to the largest ReplicaSet",
                change.part
            ),
            SizeReason::UsedUp => "the shares of the other ReplicaSets leave nothing to change in this sync".to_owned(),
            SizeReason::NoShare => {
                "it has no share, because neither its annotation max-replicas nor the Deployment's status has a number"
                    .to_owned()
            }
            SizeReason::NotRolling => {
                "with the strategy Recreate, several ReplicaSets in use are not scaled in proportion".to_owned()
            }
            SizeReason::AtCount => format!("the new ReplicaSet has {replicas} already"),
            SizeReason::Grows if change.replicas != wanted => format!("the new ReplicaSet grows until there are {allowed}"),
            SizeReason::ToCount | SizeReason::Grows => format!("the new ReplicaSet gets {replicas}"),
            SizeReason::NoSurge => format!("the new ReplicaSet cannot grow, because at most {allowed} may exist"),
            SizeReason::AfterNewSet => "this sync changes only the new ReplicaSet, and the next one can change old ones".to_owned(),
            SizeReason::Unhealthy => format!("{} first", unavailable(change.part)),
            SizeReason::Available => {
                format!("{} can be deleted, because {least} must stay available", pods(change.part))
            }
            SizeReason::UnhealthyAndAvailable => {
                let (first, more) = (unavailable(change.part), rest.unsigned_abs());
                format!("{first} first, and {more} more can be deleted, because {least} must stay available")
            }
            SizeReason::HeldBack => format!("held back, because {} must be available", pods(least)),
            SizeReason::Recreated => "with the strategy Recreate, all old pods are deleted first".to_owned(),
            SizeReason::Waits => "with the strategy Recreate, the new ReplicaSet waits until all old pods have ended".to_owned(),
            SizeReason::Rejected => {
                "its new size would be below 0, which the API server rejects, so the sync ends".to_owned()
            }
            SizeReason::Lags => {
                "its status is out of date and counts more available pods than replicas, so the sync ends".to_owned()
            }
            SizeReason::NotReached => "the sync ends before it reaches this ReplicaSet".to_owned(),
        }
    }
}

fn unavailable(number: i32) -> String {
    let number = number.unsigned_abs();
    format!("{} {} deleted", count(number, "unavailable pod"), is(number))
}

impl Serialize for SetSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut size = serializer.serialize_struct("SetSize", 4)?;
        size.serialize_field("from", &self.from)?;
        size.serialize_field("to", &self.to())?;
        size.serialize_field("writes", &self.writes())?;
        let reason = TextReason { rule: self.change.reason.name().into(), text: self.sentence().to_string() };
        size.serialize_field("reason", &reason)?;
        size.end()
    }
}
