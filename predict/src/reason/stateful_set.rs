//! Why a pod of a `StatefulSet` is deleted, kept or waits.

use crate::reason::{chance, waiting};
use crate::snapshot::{Pod, REVISION_LABEL, StatefulSet};
use crate::sync::Verdict;
use crate::sync::stateful_set::{MemberOutcome, MemberReason, StatefulSetState, Update};
use crate::text::{self, not_yet_available};
use podrank::Time;
use std::borrow::Cow;

/// Why a pod of a `StatefulSet` is deleted, kept or waits.
#[derive(Clone, Copy, Debug)]
pub struct StatefulSetReason<'a> {
    pub(crate) outcome: MemberOutcome,
    pub(crate) pod: &'a Pod,
    pub(crate) ordinal: i32,
    /// The pod to which the outcome refers, if it refers to one that exists.
    pub(crate) by: Option<&'a Pod>,
    pub(crate) spec: &'a StatefulSet,
    pub(crate) set: StatefulSetState,
    pub(crate) now: Time,
    /// Whether the input is known to lack pods.
    pub(crate) lacks_pods: bool,
}

impl<'a> StatefulSetReason<'a> {
    /// The name of the pod to which the outcome refers, even if there is none.
    fn by(&self) -> Cow<'a, str> {
        match (self.by, self.outcome.by) {
            (Some(pod), _) => pod.name().into(),
            (None, Some(by)) => format!("{}-{}", self.spec.meta.name, by.ordinal).into(),
            (None, None) => "".into(),
        }
    }

    pub(super) fn waits_for(&self) -> Option<Cow<'a, str>> {
        (self.outcome.verdict == Verdict::Waiting).then(|| self.by())
    }

    /// Whether it waits for a pod that has ended, and that the controller does not replace.
    pub(crate) fn is_stuck(&self) -> bool {
        let is_condemned = self.outcome.by.is_some_and(|by| !self.set.is_in_range(by.ordinal));
        self.outcome.reason == MemberReason::WaitsForFinished && is_condemned
    }

    pub(super) fn outlasts_template(&self) -> bool {
        match self.set.update {
            Update::OnDelete => true,
            Update::Recreate => !self.set.behavior.recreate_gate,
            Update::RollingUpdate { partition, .. } => {
                i64::from(self.ordinal) - i64::from(self.set.start) < i64::from(partition)
            }
        }
    }

    pub(super) fn chance(&self) -> Option<&'static str> {
        match self.outcome.reason {
            MemberReason::Twins => Some(chance::BY_CHANCE),
            MemberReason::AfterCreation => Some("another pod is created first"),
            _ => None,
        }
    }

    pub(super) fn short(&self) -> String {
        match self.outcome.reason {
            _ if self.is_stuck() => format!("stuck: {} has ended", self.by()),
            // One whose turn only comes later does not wait for a repair.
            MemberReason::OneAtATime => "after higher ordinals".to_owned(),
            MemberReason::InRange
            | MemberReason::OutOfRange
            | MemberReason::Terminating
            | MemberReason::SetDeleted => self.sentence(),
            MemberReason::OldUnavailable => "old and unavailable".to_owned(),
            MemberReason::Old => "old".to_owned(),
            MemberReason::OnDelete => "old, but OnDelete keeps it".to_owned(),
            MemberReason::BelowPartition => "old, but below the partition".to_owned(),
            MemberReason::RecreateOff => "every sync fails".to_owned(),
            MemberReason::NoOrdinal => "has no ordinal".to_owned(),
            MemberReason::Finished => "has finished".to_owned(),
            MemberReason::Twins => "has the ordinal of another pod".to_owned(),
            MemberReason::AfterCreation => "after another pod is created".to_owned(),
            MemberReason::WaitsForReady
            | MemberReason::WaitsForRunning
            | MemberReason::WaitsForTermination => {
                format!("waits: {}", self.sentence())
            }
            _ => waiting(self.pod.name(), &self.by()),
        }
    }

    pub(super) fn sentence(&self) -> String {
        let Self { outcome: MemberOutcome { reason, by: other, member, .. }, ordinal, .. } = *self;
        let is_itself = other.is_some_and(|other| other.member == Some(member));
        let by = if is_itself { "it".into() } else { self.by() };
        let start = self.set.start;
        let last = i64::from(start) + i64::from(self.set.replicas) - 1;
        match reason {
            _ if self.is_stuck() => format!(
                "{} has ended and does not run again, so the StatefulSet is stuck until somebody deletes that pod",
                self.by()
            ),
            MemberReason::InRange => format!("ordinal {ordinal} is within {start} to {last}"),
            MemberReason::RecreateOff => {
                "the strategy Recreate needs a feature gate that is off, so every sync fails".to_owned()
            }
            MemberReason::BelowPartition => {
                let index = i64::from(ordinal) - i64::from(start);
                let Update::RollingUpdate { partition, .. } = self.set.update else { return String::new() };
                format!("it is old, but index {index} is below the partition, {partition}")
            }
            MemberReason::OnDelete => "it is old, but with OnDelete only a user replaces pods".to_owned(),
            MemberReason::OutOfRange if last < i64::from(start) => "the replica count is 0".to_owned(),
            MemberReason::OutOfRange if ordinal < start => {
                format!("ordinal {ordinal} is below the first, {start}")
            }
            MemberReason::OutOfRange => format!("ordinal {ordinal} is beyond {last}"),
            MemberReason::Finished => "it has finished, so it is deleted and created again".to_owned(),
            MemberReason::Old => self.revisions(),
            MemberReason::OldUnavailable => format!("{}, and it is unavailable", self.revisions()),
            MemberReason::Twins => {
                format!("{} has the same ordinal as another pod, and chance decides", self.by())
            }
            MemberReason::AfterCreation => {
                let missing = self.missing();
                format!("{by} {missing} is created first, and this pod is deleted only if that succeeds")
            }
            MemberReason::WaitsForMissing if self.lacks_pods => {
                format!("{by} is not listed: if it does not exist, it is created first")
            }
            MemberReason::WaitsForMissing => format!("{by} does not exist yet and is created first"),
            MemberReason::WaitsForFinished => {
                format!("{by} has finished, and is deleted and created again first")
            }
            MemberReason::WaitsForTermination => format!("{by} is still being deleted"),
            MemberReason::WaitsForRunning => format!("{by} is not Running"),
            MemberReason::WaitsForReady => format!("{by} is not ready"),
            MemberReason::WaitsForAvailable => {
                let since = self.by.map_or(Time::UNSET, |pod| pod.record.ready_time);
                format!("{by} {}", not_yet_available(since, self.now, self.spec.min_ready_seconds))
            }
            MemberReason::WaitsForEither => {
                format!("neither it nor {by} is available, and it waits until one of them is")
            }
            MemberReason::OneAtATime => format!("{by} is deleted first: one pod at a time"),
            MemberReason::AfterScaling => {
                format!("{by} is deleted first: scaling down comes before updating")
            }
            MemberReason::Budget => {
                let budget = self.set.budget();
                format!("as many pods are unavailable as may be ({budget}), and {by} is one of them")
            }
            MemberReason::AfterRecreate => format!("{by} is old, and all old pods are deleted first"),
            MemberReason::NoOrdinal => {
                let name = &self.spec.meta.name;
                format!("its name is not {name} with a hyphen and an ordinal, so Kubernetes ignores it")
            }
            MemberReason::Terminating | MemberReason::SetDeleted => "it is being deleted already".to_owned(),
        }
    }

    fn missing(&self) -> &'static str {
        if self.lacks_pods { "is not listed: if it does not exist, it" } else { "does not exist and" }
    }

    fn revisions(&self) -> String {
        let wanted = text::name(&self.spec.update_revision);
        match self.pod.meta.labels.get(REVISION_LABEL) {
            Some(revision) => format!("its revision is {}, not {wanted}", text::name(revision)),
            None => format!("it has no revision, not {wanted}"),
        }
    }
}
