//! Which pods the next sync of a `DaemonSet` deletes, and why.
//!
//! A sync has two parts. The first gives every node its pods: it deletes those that should not run on their node, and
//! creates missing ones. Only if it had nothing to do does the second part follow, the update, which replaces old pods
//! within the budgets `maxSurge` and `maxUnavailable`.
//!
//! Kubernetes walks the nodes in random order. So if the budget is smaller than the number of old available pods, chance decides which
//! of them go: they are contested, and only their number is certain.

mod nodes;
mod reason;
mod record;
mod update;

pub use reason::DaemonReason;
pub use record::{DaemonPod, NodeFit};

use super::{IntOrPercent, PodOutcome, Verdict};
use nodes::Node;

/// How many pods one part of a sync deletes at most: Kubernetes' `BurstReplicas` for `DaemonSets`.
pub const BURST_REPLICAS: usize = 250;

/// What a sync reads from a `DaemonSet`.
#[derive(Clone, Copy, Debug)]
pub struct DaemonSetState {
    /// `spec.updateStrategy`.
    pub strategy: Strategy,
    /// Whether the `DaemonSet` has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
}

/// How a `DaemonSet` replaces old pods.
#[derive(Clone, Copy, Debug)]
pub enum Strategy {
    /// Never: somebody else deletes them.
    OnDelete,
    /// A few at a time. Percentages are of the nodes on which a pod [may start](NodeFit::MayStart). Both budgets are rounded up. If both
    /// budgets come to 0 and there is such a node, one pod may be unavailable.
    RollingUpdate {
        /// `maxSurge`.
        max_surge: IntOrPercent,
        /// `maxUnavailable`.
        max_unavailable: IntOrPercent,
    },
}

/// What one sync does.
#[derive(Clone, Debug, Default)]
pub struct Sync {
    /// What it does to each pod.
    pub outcomes: Vec<PodOutcome<DaemonReason>>,
    /// On how many nodes a pod may start. This and the next three are 0 unless the sync reaches its second part, the update, because its
    /// first part has nothing to do.
    pub wanted: usize,
    /// `maxUnavailable` as a number of nodes.
    pub unavailable: i64,
    /// How much of the budget is used. Without surge, this is the number of unavailable nodes. A node is available if, not counting
    /// pods being deleted, it has exactly one pod and that pod is available. A node that has no pod at all, not even one being
    /// deleted, counts as unavailable only if a pod may start there. With surge, this is the number of nodes that have a second pod
    /// that is not yet available.
    pub used: usize,
    /// With surge, how many nodes have an available pod.
    pub available: usize,
    /// How many pods the sync deletes.
    pub deleted: usize,
    /// How many pods it creates.
    pub creates: usize,
    /// How many more pods a later sync deletes, because one part of a sync deletes at most
    /// [`BURST_REPLICAS`].
    pub later: usize,
    /// The index of a pod that makes the update fail: with surge, an old pod that is alone on a node that does not exist.
    pub blocked_by: Option<usize>,
}

impl Strategy {
    /// Upstream's `AllowsSurge`: whether a node may have two pods during an update.
    pub(crate) fn allows_surge(self) -> bool {
        matches!(self, Self::RollingUpdate { max_surge, .. } if max_surge.resolve(1, true) > 0)
    }
}

/// Predicts the next sync of a `DaemonSet`.
///
/// `nodes` has every node, and [`NodeFit::Missing`] for each node that does not exist although a pod of this `DaemonSet` names it.
/// [`DaemonPod::node`] is an index into it. `pods` are the pods of the set, sorted by name, including those that have ended or are being
/// deleted.
///
/// If the first part of the sync has something to do, this function predicts that the second part, the update, waits for a later sync.
/// The real controller continues with the update in the same sync if it observes its own changes fast enough.
pub fn next_sync(set: &DaemonSetState, nodes: &[NodeFit], pods: &[DaemonPod]) -> Sync {
    let outcomes = vec![PodOutcome::new(Verdict::Kept, DaemonReason::Kept); pods.len()];
    let mut syncing = Syncing { set, pods, sync: Sync { outcomes, ..Sync::default() } };
    if !set.is_being_deleted {
        syncing.run(&nodes::nodes(nodes, pods));
    }
    syncing.sync
}

/// A sync in progress.
struct Syncing<'a> {
    set: &'a DaemonSetState,
    pods: &'a [DaemonPod],
    sync: Sync,
}

impl Syncing<'_> {
    fn run(&mut self, nodes: &[Node<'_>]) {
        for node in nodes {
            self.tidy(node);
        }
        // All of them are deleted, those without a node last.
        self.finish(usize::MAX);
        let is_tidy = self.sync.deleted == 0 && self.sync.creates == 0;
        match self.set.strategy {
            Strategy::OnDelete => self.give_old(DaemonReason::OnDelete),
            Strategy::RollingUpdate { max_surge, max_unavailable } if is_tidy => {
                self.update(nodes, max_surge, max_unavailable);
            }
            Strategy::RollingUpdate { .. } => self.give_old(DaemonReason::AfterFirstPart),
        }
    }

    /// Upstream's `podsShouldBeOnNode`, and `getUnscheduledPodsWithoutNode` for a node that does not exist.
    fn tidy(&mut self, node: &Node<'_>) {
        if node.fit == NodeFit::Missing {
            for (index, _) in node.pods.iter().filter(|(_, pod)| !pod.is_assigned) {
                self.give(*index, Verdict::Possible, DaemonReason::NoNode);
            }
        } else if node.fit == NodeFit::MayStart && node.pods.is_empty() {
            self.sync.creates += 1;
        } else if node.fit >= NodeFit::MayKeep {
            self.tidy_wanted(node);
        } else {
            for (index, _) in node.staying() {
                self.give(index, Verdict::Deleted, DaemonReason::NotWanted);
            }
        }
    }

    /// The pods of a node that may keep one.
    fn tidy_wanted(&mut self, node: &Node<'_>) {
        let failed = || node.staying().filter(|(_, pod)| pod.is_failed);
        let running = || node.staying().filter(|(_, pod)| !pod.has_ended());
        for (index, _) in node.staying().filter(|(_, pod)| pod.is_succeeded) {
            self.give(index, Verdict::Deleted, DaemonReason::Succeeded);
        }
        // The first that upstream lists starts a delay, for which the rest wait.
        let leader = failed().next().map_or(0, |(index, _)| index);
        let is_one = failed().nth(1).is_none();
        for (index, _) in failed() {
            self.give(index, Verdict::Deleted, DaemonReason::Failed);
            if !is_one {
                self.sync.outcomes[index].contest(leader, 1);
            }
        }
        if !self.set.strategy.allows_surge() {
            for (index, _) in running().skip(1) {
                self.give(index, Verdict::Deleted, DaemonReason::Surplus);
            }
            return;
        }
        if node.fit == NodeFit::MayStart && running().next().is_none() {
            self.sync.creates += 1;
        }
        let new = running().find(|(_, pod)| pod.has_revision);
        let old = running().find(|(_, pod)| !pod.has_revision);
        for (index, pod) in running() {
            let first = if pod.has_revision { new } else { old };
            if first.is_some_and(|(first, _)| first != index) {
                self.give(index, Verdict::Deleted, DaemonReason::Surplus);
            }
        }
        if let (Some((_, new)), Some((index, old))) = (new, old) {
            if !old.is_ready {
                self.give(index, Verdict::Deleted, DaemonReason::OldNotReady);
            } else if new.is_available {
                self.give(index, Verdict::Deleted, DaemonReason::Replaced);
            }
        }
    }

    /// Gives all old pods that are kept this reason.
    fn give_old(&mut self, reason: DaemonReason) {
        for (outcome, pod) in self.sync.outcomes.iter_mut().zip(self.pods) {
            let stays = outcome.reason == DaemonReason::Kept && outcome.verdict == Verdict::Kept;
            if stays && !pod.is_terminating && !pod.is_updated() {
                outcome.reason = reason;
            }
        }
    }

    /// Limits the deletions to the most that one part of a sync deletes. Upstream deletes pods in two steps, of which
    /// the second is for those with a [second reason](DaemonReason::is_second): it deletes at most `quota` of them, in
    /// random order.
    fn finish(&mut self, quota: usize) {
        let outcomes = &mut self.sync.outcomes;
        let counts = |index: &usize| match outcomes[*index].verdict {
            Verdict::Kept => false,
            // Of several failed pods of a node, one counts.
            Verdict::Possible => outcomes[*index].reason.is_second() || outcomes[*index].group == *index,
            _ => true,
        };
        let (second, first): (Vec<_>, Vec<_>) =
            (0..outcomes.len()).filter(counts).partition(|index| outcomes[*index].reason.is_second());
        let goes_first = first.len().min(BURST_REPLICAS);
        let wanted_second = second.len().min(quota);
        let goes_second = wanted_second.min(BURST_REPLICAS - goes_first);
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.verdict != Verdict::Kept) {
            if !outcome.reason.is_second() {
                if goes_first < first.len() {
                    outcome.contest(first[0], goes_first);
                }
            } else if goes_second == second.len() {
                outcome.decide(Verdict::Deleted);
            } else if goes_second > 0 {
                outcome.contest(second[0], goes_second);
            } else {
                outcome.decide(Verdict::Kept);
                if wanted_second > 0 {
                    outcome.reason = DaemonReason::NextSync;
                }
            }
        }
        self.sync.creates = self.sync.creates.min(BURST_REPLICAS);
        self.sync.deleted = goes_first + goes_second;
        self.sync.later = first.len() + wanted_second - self.sync.deleted;
    }

    fn give(&mut self, index: usize, verdict: Verdict, reason: DaemonReason) {
        self.sync.outcomes[index] = PodOutcome::new(verdict, reason);
    }
}
