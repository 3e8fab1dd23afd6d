//! Why a pod of a `DaemonSet` is deleted, kept or waits.

use crate::reason::chance::Chance;
use crate::reason::{AFTER_ROLLOUT, waiting};
use crate::snapshot::{Pod, REVISION_LABEL};
use crate::sync::daemon_set::{BURST_REPLICAS, DaemonReason};
use crate::sync::{PodOutcome, Verdict};
use crate::text::{self, count, is, not_yet_available};
use podrank::{Flags, Time};

/// Why a pod of a `DaemonSet` is deleted, kept or waits.
#[derive(Clone, Debug)]
pub struct DaemonSetReason<'a> {
    pub(crate) outcome: PodOutcome<DaemonReason>,
    pub(crate) pod: &'a Pod,
    /// Its node, or the one that it was made for.
    pub(crate) node: Option<&'a str>,
    /// Why no pod may run there.
    pub(crate) unfit: Option<String>,
    /// The pod that keeps it from being deleted.
    pub(crate) waits_for: Option<&'a Pod>,
    /// Whether it is of the current revision. `None` if that is not known.
    pub(crate) is_updated: Option<bool>,
    /// On how many nodes pods may be unavailable, and are.
    pub(crate) budget: (u64, usize),
    /// How many nodes have an available pod, and should have one.
    pub(crate) available: (usize, usize),
    /// If the rules leave it open.
    pub(crate) chance: Option<Chance>,
    pub(crate) min_ready_seconds: u32,
    pub(crate) now: Time,
}

impl DaemonSetReason<'_> {
    /// Whether it is old and goes once others have been replaced: the budget of this sync is used up, or its node gets a new pod first.
    pub(crate) fn is_later(&self) -> bool {
        self.waits_for.is_none()
            && self.outcome.verdict == Verdict::Kept
            && matches!(self.outcome.reason, DaemonReason::OldAvailable | DaemonReason::AwaitsNew)
    }

    pub(super) fn short(&self) -> String {
        if let Some(other) = self.waits_for {
            return waiting(self.pod.name(), other.name());
        }
        let words = match self.outcome.reason {
            _ if self.is_later() => AFTER_ROLLOUT,
            DaemonReason::Kept => return self.state(),
            DaemonReason::Surplus if self.outcome.verdict == Verdict::Kept => return self.state(),
            DaemonReason::NotWanted => "may not run on its node",
            DaemonReason::Succeeded => "has succeeded",
            DaemonReason::Failed => "has failed",
            DaemonReason::Surplus => "one too many on its node",
            DaemonReason::OldNotReady => "old and not ready",
            DaemonReason::Replaced => "old, and the new pod is available",
            DaemonReason::NoNode => "its node does not exist",
            DaemonReason::OldUnavailable => "old and unavailable",
            DaemonReason::OldAvailable | DaemonReason::AwaitsNew => "old",
            DaemonReason::NotStartable | DaemonReason::NotStartableAvailable => {
                "old, and no new pod can start there"
            }
            DaemonReason::Unsettled => "old, like another pod of its node",
            DaemonReason::OnDelete => "old, but OnDelete keeps it",
            DaemonReason::AfterFirstPart => "old, after missing and surplus pods",
            DaemonReason::NodeMissing => "old, but the update fails",
            DaemonReason::NextSync => "in a later sync",
        };
        words.to_owned()
    }

    pub(super) fn sentence(&self) -> String {
        match self.chance {
            Some(chance) => format!("{}: {}", self.state(), chance.sentence()),
            None => self.state(),
        }
    }

    /// What it is, whatever chance decides.
    fn state(&self) -> String {
        let node = self.node.map_or_else(|| "no node".to_owned(), |it| format!("node {it}"));
        let state = self.waits_for.map_or_else(String::new, |other| self.unavailable(other));
        let old = match self.pod.meta.labels.get(REVISION_LABEL) {
            Some(revision) => format!("it is old, of revision {}", text::name(revision)),
            None => "it is old, without a revision".to_owned(),
        };
        match self.outcome.reason {
            DaemonReason::NotWanted => {
                self.unfit.clone().unwrap_or_else(|| format!("it may not run on {node}"))
            }
            DaemonReason::Succeeded => "it has succeeded, and a new pod replaces it".to_owned(),
            DaemonReason::Failed => "it has failed, and a new pod replaces it".to_owned(),
            DaemonReason::Surplus if self.outcome.verdict == Verdict::Kept => {
                format!("{node} has other pods, and it is kept only as the only old or the only new one")
            }
            DaemonReason::Surplus => {
                format!("another pod of {node} is kept: an assigned one, else the oldest, else by name")
            }
            DaemonReason::OldNotReady => format!("it is old and not ready, and {node} has a new pod"),
            DaemonReason::Replaced => format!("it is old, and the new pod of {node} is available"),
            DaemonReason::NoNode => format!("it waits for {node}, which does not exist"),
            DaemonReason::OldUnavailable => format!("{old} and unavailable"),
            DaemonReason::OldAvailable => {
                let (most, used) = self.budget;
                let (nodes, are) = (count(most, "node"), is(used));
                let colon = if state.is_empty() { "" } else { ": " };
                format!("{old}, and at most {nodes} may be unavailable ({used} {are}){colon}{state}")
            }
            DaemonReason::AwaitsNew if state.is_empty() => format!("{old}, and {node} gets a new pod first"),
            DaemonReason::AwaitsNew => format!("{old}, and is deleted after the new pod of {node}: {state}"),
            DaemonReason::NotStartable => {
                format!("{old} and unavailable, and no new pod can start on {node}")
            }
            DaemonReason::NotStartableAvailable => {
                let (have, should) = (count(self.available.0, "node"), self.available.1);
                format!(
                    "{old}, no new pod can start on {node}, and {have} have an available pod where {should} should"
                )
            }
            DaemonReason::Unsettled if state.is_empty() => format!("{old}, like another pod of {node}"),
            DaemonReason::Unsettled => format!("{old}, and {state}"),
            DaemonReason::OnDelete => format!("{old}, but with OnDelete only a user replaces pods"),
            DaemonReason::AfterFirstPart => {
                format!(
                    "{old}, but the controller first creates missing pods and deletes pods that should not run"
                )
            }
            DaemonReason::NodeMissing => {
                let by = self.waits_for.map_or("a pod", Pod::name);
                format!("{old}, but the update fails: the node of {by} does not exist")
            }
            DaemonReason::NextSync => format!("one sync deletes at most {BURST_REPLICAS} pods"),
            DaemonReason::Kept if self.node.is_none() => {
                "it has no node, so Kubernetes ignores it".to_owned()
            }
            DaemonReason::Kept => match self.is_updated {
                None => format!("{node} keeps a pod, and it is not known whether this one is old"),
                Some(true) => "it is of the current revision".to_owned(),
                Some(false) => format!("{node} keeps a pod"),
            },
        }
    }

    /// Why another pod is not available.
    fn unavailable(&self, other: &Pod) -> String {
        let name = other.name();
        if other.is_terminating() {
            format!("{name} is still being deleted")
        } else if !other.record.flags.contains(Flags::READY) {
            format!("{name} is not ready")
        } else {
            let since = other.record.ready_time;
            format!("{name} {}", not_yet_available(since, self.now, self.min_ready_seconds))
        }
    }
}
