//! Kubernetes' `rollingUpdate`: old pods go within the budgets.

use super::nodes::Node;
use super::{NodeFlags, Outcome, Pod, PodFlags, Reason, Sync};
use crate::controller::{IntOrPercent, Verdict};

/// The pods of a node that are not being deleted, if there is at most one of each.
#[derive(Clone, Copy, Default)]
struct Pair<'a> {
    new: Option<&'a Pod>,
    old: Option<(u32, &'a Pod)>,
}

impl Sync<'_> {
    pub(super) fn update(&mut self, max_surge: IntOrPercent, max_unavailable: IntOrPercent) {
        let wanted = self.nodes.wanted();
        let nodes = i32::try_from(wanted).unwrap_or(i32::MAX);
        self.step.wanted = wanted;
        self.step.surge = max_surge.resolve(nodes, true);
        self.step.unavailable = max_unavailable.resolve(nodes, true);
        if wanted > 0 && self.step.surge == 0 && self.step.unavailable == 0 {
            self.step.unavailable = 1;
        }
        let quota = if self.step.surge == 0 { self.replace() } else { self.surge() };
        if self.step.blocked_by.is_some() {
            self.outcomes.fill(Outcome::default());
            self.give_old(Reason::NodeMissing);
            self.step.creates = 0;
            return;
        }
        self.finish(quota);
    }

    /// Without surge. Returns how many old available pods may go.
    fn replace(&mut self) -> u32 {
        // Upstream does not see a node without pods on which none may start.
        for node in self.nodes.clone().filter(|node| !node.pods.is_empty() || node.may_start()) {
            let is_available = match node.pair() {
                Some(Pair { new: None, old: Some((index, old)) }) => {
                    let is_available = old.is(PodFlags::AVAILABLE);
                    if is_available {
                        self.give(index, Verdict::Contested, Reason::OldAvailable);
                    } else {
                        self.give(index, Verdict::Delete, Reason::OldUnavailable);
                    }
                    is_available
                }
                Some(Pair { new: Some(new), old: None }) => new.is(PodFlags::AVAILABLE),
                // The first part goes on with it.
                _ => {
                    self.give_old_on(&node, Reason::Unsettled);
                    false
                }
            };
            self.step.used = self.step.used.saturating_add((!is_available).into());
        }
        left(self.step.unavailable, self.step.used)
    }

    /// With surge. Returns how many old available pods may go from nodes on which none may start.
    fn surge(&mut self) -> u32 {
        let (mut unavailable, mut candidates) = (0_u32, 0_u32);
        for node in self.nodes.clone() {
            let Some(Pair { new, old }) = node.pair() else {
                self.give_old_on(&node, Reason::Unsettled);
                self.step.used = self.step.used.saturating_add(1);
                continue;
            };
            let counted = old.map(|(_, old)| old).or(new);
            let is_available = counted.is_some_and(|pod| pod.is(PodFlags::AVAILABLE));
            self.step.available = self.step.available.saturating_add(is_available.into());
            let Some((index, _)) = old else { continue };
            match new {
                Some(new) if new.is(PodFlags::AVAILABLE) => {
                    self.give(index, Verdict::Delete, Reason::Replaced);
                }
                Some(_) => {
                    self.give(index, Verdict::Keep, Reason::AwaitsNew);
                    self.step.used = self.step.used.saturating_add(1);
                }
                None if !node.is(NodeFlags::EXISTS) => self.step.blocked_by = Some(index),
                None if node.may_start() => {
                    self.give(index, Verdict::Keep, Reason::AwaitsNew);
                    unavailable = unavailable.saturating_add((!is_available).into());
                    candidates = candidates.saturating_add(is_available.into());
                }
                None if is_available => {
                    self.give(index, Verdict::Contested, Reason::NotStartableAvailable);
                }
                None => self.give(index, Verdict::Delete, Reason::NotStartable),
            }
        }
        let created = candidates.min(left(self.step.surge, self.step.used));
        self.step.creates = unavailable.saturating_add(created);
        self.step.available.saturating_sub(self.step.wanted)
    }

    fn give_old_on(&mut self, node: &Node<'_>, reason: Reason) {
        for (index, _) in node.staying().filter(|(_, pod)| !pod.is_updated()) {
            self.give(index, Verdict::Keep, reason);
        }
    }
}

impl<'a> Node<'a> {
    fn may_start(&self) -> bool {
        self.is(NodeFlags::EXISTS | NodeFlags::MAY_START)
    }

    /// Upstream's `findUpdatedPodsOnNode`: `None` if there are several new or several old pods.
    fn pair(&self) -> Option<Pair<'a>> {
        let mut pair = Pair::default();
        for (index, pod) in self.staying() {
            let is_second = if pod.is_updated() {
                pair.new.replace(pod).is_some()
            } else {
                pair.old.replace((index, pod)).is_some()
            };
            if is_second {
                return None;
            }
        }
        Some(pair)
    }
}

/// Returns how much of a budget is left.
fn left(budget: i64, used: u32) -> u32 {
    u32::try_from(budget.saturating_sub(used.into()).max(0)).unwrap_or(u32::MAX)
}
