//! Why a pod is deleted, kept or waits, and why a set gets its size: as data. Of each kind of reason, a file has what it reads, its rule,
//! a few words and a sentence. Nothing reads these words again: a sentence can only be shown.

pub(crate) mod chance;
mod comparison;
mod daemon_set;
mod job;
mod size;
mod stateful_set;

pub(crate) use chance::{Cause, Chance};
pub(crate) use comparison::{Comparison, RankedPod, Value, phase_name};
pub(crate) use daemon_set::{DaemonSetReason, Unavailable};
pub(crate) use job::{ByPolicy, FailedBy, JobPodReason, duration};
pub(crate) use size::SetSize;
pub(crate) use stateful_set::StatefulSetReason;

use crate::snapshot::WorkloadKind;
use podrank::Uid;
use std::borrow::Cow;
use std::fmt::Display;

/// The word in place of a rule if none decides.
pub(crate) const BY_CHANCE: &str = "by-chance";

/// Why a pod is deleted, kept or waits.
#[derive(Clone, Debug)]
pub enum Reason<'a> {
    /// A rule separates it from another pod.
    Compared(Comparison<'a>),
    /// All pods of its set are deleted.
    AllDeleted,
    /// No pod of its set is deleted.
    NoneDeleted,
    /// Its set has no other pod.
    OnlyPod,
    /// The rules leave it open.
    Open(Chance),
    /// It is deleted once enough new pods are available.
    AfterNewPods,
    /// No count changes what becomes of it.
    AnyCount(AnyCount),
    /// Its `StatefulSet` decides.
    StatefulSet(StatefulSetReason<'a>),
    /// Its `DaemonSet` decides.
    DaemonSet(DaemonSetReason<'a>),
    /// Its Job decides.
    Job(JobPodReason<'a>),
}

/// Why no count changes what becomes of the pods of a workload.
#[derive(Clone, Debug)]
pub enum AnyCount {
    /// This object is being deleted in the foreground.
    Foreground(String),
    /// Its controller does nothing: the rule, and what the workload is or has.
    Idle(&'static str, WorkloadKind, String),
}

impl AnyCount {
    fn rule(&self) -> &'static str {
        match self {
            Self::Foreground(_) => "foreground-deletion",
            Self::Idle(rule, ..) => rule,
        }
    }

    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Foreground(object) => {
                format!(
                    "{object} is being deleted in the foreground, so the garbage collector deletes its pods"
                )
            }
            Self::Idle(_, kind, idle) => {
                format!("the {kind} {idle}, so kube-controller-manager deletes none of its pods")
            }
        }
    }
}

impl<'a> Reason<'a> {
    /// The rule that decides, as a word that does not change. `None` if none does.
    pub fn rule(&self) -> Option<&'static str> {
        match self {
            Self::Compared(comparison) => Some(comparison.rule.name()),
            Self::AnyCount(reason) => Some(reason.rule()),
            Self::StatefulSet(reason) => Some(reason.outcome.reason.name()),
            Self::DaemonSet(reason) => Some(reason.outcome.reason.name()),
            Self::Job(reason) => Some(reason.reason.name()),
            _ => None,
        }
    }

    /// The word in JSON: the rule that decides, or what decides in its place.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::AllDeleted => "all-deleted",
            Self::NoneDeleted => "none-deleted",
            Self::OnlyPod => "only-pod",
            Self::AfterNewPods => "after-new-pods",
            _ => self.rule().unwrap_or(BY_CHANCE),
        }
    }

    /// Why chance decides, if it does and that is data.
    pub(crate) fn by_chance(&self) -> Option<Chance> {
        match self {
            Self::Open(chance) => Some(*chance),
            Self::DaemonSet(reason) => reason.chance,
            Self::Job(reason) => reason.chance,
            _ => None,
        }
    }

    /// Why chance decides, in a few words, if it does.
    pub fn chance(&self) -> Option<&'static str> {
        match self {
            Self::Open(chance) => Some(chance.short()),
            Self::StatefulSet(reason) => reason.chance(),
            Self::DaemonSet(reason) => reason.chance.map(Chance::short),
            Self::Job(reason) => reason.chance.map(|_| chance::BY_CHANCE),
            _ => None,
        }
    }

    /// A few words, whatever chance decides.
    pub fn short(&self) -> impl Display {
        match self {
            Self::Compared(comparison) => comparison.short(),
            Self::Open(chance) => chance.short().to_owned(),
            Self::AfterNewPods => AFTER_ROLLOUT.to_owned(),
            Self::AnyCount(reason) => reason.rule().replace('-', " "),
            Self::AllDeleted | Self::NoneDeleted | Self::OnlyPod => self.text(),
            Self::StatefulSet(reason) => reason.short(),
            Self::DaemonSet(reason) => reason.short(),
            Self::Job(reason) => reason.short(),
        }
    }

    /// A sentence with the values that decide.
    pub fn sentence(&self) -> impl Display {
        self.text()
    }

    fn text(&self) -> String {
        match self {
            Self::Compared(comparison) => comparison.sentence(),
            Self::AllDeleted => "its ReplicaSet shrinks to 0".to_owned(),
            Self::NoneDeleted => "no pod of its ReplicaSet is deleted".to_owned(),
            Self::OnlyPod => "it is the only pod".to_owned(),
            Self::Open(chance) => chance.sentence(),
            Self::AfterNewPods => "old pods are deleted once enough new ones are available".to_owned(),
            Self::AnyCount(reason) => reason.sentence(),
            Self::StatefulSet(reason) => reason.sentence(),
            Self::DaemonSet(reason) => reason.sentence(),
            Self::Job(reason) => reason.sentence(),
        }
    }

    /// The UID of the pod that it is compared with.
    pub fn other(&self) -> Option<Uid> {
        let Self::Compared(comparison) = self else { return None };
        comparison.other.map(|other| other.pod.uid())
    }

    /// The pod that it waits for, which may not exist, and which can be itself.
    pub fn waits_for(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::StatefulSet(reason) => reason.waits_for(),
            Self::DaemonSet(reason) => reason.waits_for.map(|pod| pod.pod.name().into()),
            _ => None,
        }
    }
}

const AFTER_ROLLOUT: &str = "waits for new pods";

/// That a pod waits for another, or for itself.
pub fn waiting(pod: &str, waits_for: &str) -> String {
    if waits_for == pod { "waits until it is ready".to_owned() } else { format!("waits for {waits_for}") }
}
