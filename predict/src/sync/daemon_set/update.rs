//! Kubernetes' `rollingUpdate`: old pods go within the budgets.

use super::nodes::Node;
use super::{DaemonPod, DaemonReason, NodeFit, PodOutcome, Syncing};
use crate::sync::{IntOrPercent, Verdict};

/// The pods of a node that are not being deleted, if there is at most one of each.
struct Pair<'a> {
    new: Option<&'a DaemonPod>,
    old: Option<(usize, &'a DaemonPod)>,
}

impl Syncing<'_> {
    pub(super) fn update(
        &mut self,
        all: &[Node<'_>],
        max_surge: IntOrPercent,
        max_unavailable: IntOrPercent,
    ) {
        let wanted = all.iter().filter(|node| node.fit == NodeFit::MayStart).count();
        let nodes = i32::try_from(wanted).unwrap_or(i32::MAX);
        self.sync.wanted = wanted;
        let surge = max_surge.resolve(nodes, true);
        self.sync.unavailable = max_unavailable.resolve(nodes, true);
        if wanted > 0 && surge == 0 && self.sync.unavailable == 0 {
            self.sync.unavailable = 1;
        }
        let quota = if surge == 0 { self.replace(all) } else { self.surge(all, surge) };
        if self.sync.blocked_by.is_some() {
            self.sync.outcomes.fill(PodOutcome::new(Verdict::Kept, DaemonReason::Kept));
            self.give_old(DaemonReason::NodeMissing);
            self.sync.creates = 0;
            return;
        }
        self.finish(quota);
    }

    /// Without surge. Returns how many old available pods may go.
    fn replace(&mut self, all: &[Node<'_>]) -> usize {
        // Upstream does not see a node without pods on which none may start.
        for node in all.iter().filter(|node| !node.pods.is_empty() || node.fit == NodeFit::MayStart) {
            let is_available = match node.pair() {
                Some(Pair { new: None, old: Some((index, old)) }) => {
                    let (verdict, reason) = if old.is_available {
                        (Verdict::Possible, DaemonReason::OldAvailable)
                    } else {
                        (Verdict::Deleted, DaemonReason::OldUnavailable)
                    };
                    self.give(index, verdict, reason);
                    old.is_available
                }
                Some(Pair { new: Some(new), old: None }) => new.is_available,
                // The first part goes on with it.
                _ => {
                    self.give_old_on(node, DaemonReason::Unsettled);
                    false
                }
            };
            self.sync.used += usize::from(!is_available);
        }
        left(self.sync.unavailable, self.sync.used)
    }

    /// With surge. Returns how many old available pods may go from nodes on which none may start.
    fn surge(&mut self, all: &[Node<'_>], most: i64) -> usize {
        let (mut unavailable, mut candidates) = (0, 0);
        for node in all {
            let Some(Pair { new, old }) = node.pair() else {
                self.give_old_on(node, DaemonReason::Unsettled);
                self.sync.used += 1;
                continue;
            };
            let counted = old.map(|(_, old)| old).or(new);
            let is_available = counted.is_some_and(|pod| pod.is_available);
            self.sync.available += usize::from(is_available);
            let Some((index, _)) = old else { continue };
            match new {
                Some(new) if new.is_available => {
                    self.give(index, Verdict::Deleted, DaemonReason::Replaced);
                }
                Some(_) => {
                    self.give(index, Verdict::Kept, DaemonReason::AwaitsNew);
                    self.sync.used += 1;
                }
                None if node.fit == NodeFit::Missing => self.sync.blocked_by = Some(index),
                None if node.fit == NodeFit::MayStart => {
                    self.give(index, Verdict::Kept, DaemonReason::AwaitsNew);
                    unavailable += usize::from(!is_available);
                    candidates += usize::from(is_available);
                }
                None if is_available => {
                    self.give(index, Verdict::Possible, DaemonReason::NotStartableAvailable);
                }
                None => self.give(index, Verdict::Deleted, DaemonReason::NotStartable),
            }
        }
        let created = candidates.min(left(most, self.sync.used));
        self.sync.creates = unavailable + created;
        self.sync.available.saturating_sub(self.sync.wanted)
    }

    fn give_old_on(&mut self, node: &Node<'_>, reason: DaemonReason) {
        for (index, _) in node.staying().filter(|(_, pod)| !pod.is_updated()) {
            self.give(index, Verdict::Kept, reason);
        }
    }
}

impl<'a> Node<'a> {
    /// Upstream's `findUpdatedPodsOnNode`: `None` if there are several new or several old pods.
    fn pair(&self) -> Option<Pair<'a>> {
        let (new, old): (Vec<_>, Vec<_>) = self.staying().partition(|(_, pod)| pod.is_updated());
        let pair = Pair { new: new.first().map(|(_, pod)| *pod), old: old.first().copied() };
        (new.len() <= 1 && old.len() <= 1).then_some(pair)
    }
}

/// Returns how much of a budget is left.
fn left(budget: i64, used: usize) -> usize {
    usize::try_from(budget).unwrap_or(0).saturating_sub(used)
}
