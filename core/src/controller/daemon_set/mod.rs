//! Which pods the next sync of a `DaemonSet` deletes, and why.
//!
//! A sync has two parts. The first gives every node its pods: it deletes those that are not wanted on their node, and creates
//! missing ones. Only if it had nothing to do does the second part follow, the update, which replaces old pods within the
//! budgets `maxSurge` and `maxUnavailable`. [`next_sync`] predicts both, as in Kubernetes 1.37.
//!
//! Kubernetes walks the nodes in random order. So if the budget is smaller than the number of old available pods, chance decides
//! which of them go: they are [contested](super::Verdict::Contested), and only their number is certain.
//!
//! ```
//! use podrank::controller::daemon_set::{DaemonSet, NodeFlags, Outcome, Pod, PodFlags, Reason, Strategy, next_sync};
//! use podrank::controller::{IntOrPercent, Verdict};
//!
//! // Ten nodes with an old available pod each, and three may be unavailable at a time.
//! let nodes = [NodeFlags::EXISTS | NodeFlags::MAY_START | NodeFlags::MAY_KEEP; 10];
//! let pods: [Pod; 10] = core::array::from_fn(|node| Pod {
//!     node: node as u32,
//!     name_order: node as u32,
//!     flags: PodFlags::ASSIGNED | PodFlags::READY | PodFlags::AVAILABLE,
//!     ..Pod::new()
//! });
//! let set = DaemonSet {
//!     strategy: Strategy::RollingUpdate {
//!         max_surge: IntOrPercent::Int(0),
//!         max_unavailable: IntOrPercent::Percent(30),
//!     },
//!     ..DaemonSet::default()
//! };
//! let (mut order, mut outcomes) = ([0; 10], [Outcome::default(); 10]);
//! let step = next_sync(&set, &nodes, &pods, &mut order, &mut outcomes).unwrap();
//! assert_eq!(step.deleted, 3);
//! assert!(outcomes.iter().all(|outcome| outcome.verdict == Verdict::Contested && outcome.quota == 3));
//! ```

mod nodes;
mod record;
mod step;
mod update;

pub use record::{InvalidPod, NodeFlags, Pod, PodFlags};
pub use step::{Reason, Step};

use super::IntOrPercent;
use super::outcome::Verdict;
use core::fmt;
use nodes::{Node, Nodes};

/// How many pods one part of a sync deletes at most: Kubernetes' `BurstReplicas` for `DaemonSet`s.
pub const BURST_REPLICAS: u32 = 250;

/// The node of a pod that is not assigned, and whose affinity names no node. The controller does not see such a pod.
pub const NO_NODE: u32 = u32::MAX;

/// What a sync does to one pod of a `DaemonSet`.
pub type Outcome = super::outcome::Outcome<Reason>;

/// What a sync reads from a `DaemonSet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DaemonSet {
    /// `spec.updateStrategy`.
    pub strategy: Strategy,
    /// Whether the `DaemonSet` has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
}

/// How a `DaemonSet` replaces old pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Never: somebody else deletes them.
    OnDelete,
    /// A few at a time. Percentages are of the nodes on which a pod [may start](NodeFlags::MAY_START). Both budgets are rounded up.
    /// If both budgets come to 0 and there is such a node, one pod may be unavailable.
    RollingUpdate {
        /// `maxSurge`.
        max_surge: IntOrPercent,
        /// `maxUnavailable`.
        max_unavailable: IntOrPercent,
    },
}

/// Why [`next_sync`] decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DaemonSetError {
    /// `order` or `outcomes` is shorter than `pods`.
    ShortBuffer,
    /// There are more than `u32::MAX` pods or nodes.
    TooMany,
    /// The pod at this index is on a node that is neither in `nodes` nor [`NO_NODE`].
    UnknownNode(u32),
}

impl Default for DaemonSet {
    /// Returns a `DaemonSet` with Kubernetes' default strategy: one pod may be unavailable, and there is no surge.
    fn default() -> Self {
        let (max_surge, max_unavailable) = (IntOrPercent::Int(0), IntOrPercent::Int(1));
        Self { strategy: Strategy::RollingUpdate { max_surge, max_unavailable }, is_being_deleted: false }
    }
}

impl DaemonSet {
    /// Upstream's `AllowsSurge`: whether a node may have two pods during an update.
    fn allows_surge(&self) -> bool {
        let Strategy::RollingUpdate { max_surge, .. } = self.strategy else { return false };
        max_surge.resolve(1, true) > 0
    }
}

/// Predicts the next sync of a `DaemonSet`. Writes to `outcomes`, at the index of each pod, whether it goes and why. Returns what
/// else the sync does.
///
/// `nodes` has the flags of every node, and [`NodeFlags::NONE`] for each node that does not exist although a pod of this
/// `DaemonSet` names it. [`Pod::node`] is an index into it. `pods` are the pods of the set, in any order, including those that have
/// ended or are being deleted. `order` is scratch memory. The call takes O(n log n) steps.
///
/// If the first part of the sync has something to do, this function predicts that the second part, the update, waits for a later
/// sync. The real controller goes on with the update in the same sync if it observes its own changes fast enough.
///
/// # Errors
/// [`DaemonSetError`], and then nothing is written.
pub fn next_sync(
    set: &DaemonSet,
    nodes: &[NodeFlags],
    pods: &[Pod],
    order: &mut [u32],
    outcomes: &mut [Outcome],
) -> Result<Step, DaemonSetError> {
    if u32::try_from(pods.len()).is_err() || u32::try_from(nodes.len()).is_err() {
        return Err(DaemonSetError::TooMany);
    }
    let unknown = |pod: &Pod| pod.node != NO_NODE && pod.node as usize >= nodes.len();
    if let Some((pod, _)) = (0..).zip(pods).find(|(_, pod)| unknown(pod)) {
        return Err(DaemonSetError::UnknownNode(pod));
    }
    let buffers = order.get_mut(..pods.len()).zip(outcomes.get_mut(..pods.len()));
    let (order, outcomes) = buffers.ok_or(DaemonSetError::ShortBuffer)?;
    outcomes.fill(Outcome::default());
    let mut sync = Sync { set, nodes: Nodes::new(nodes, pods, order), pods, outcomes, step: Step::default() };
    if !set.is_being_deleted {
        sync.run();
    }
    Ok(sync.step)
}

/// A sync in progress.
struct Sync<'a> {
    set: &'a DaemonSet,
    nodes: Nodes<'a>,
    pods: &'a [Pod],
    /// One for each pod.
    outcomes: &'a mut [Outcome],
    step: Step,
}

impl Sync<'_> {
    fn run(&mut self) {
        for node in self.nodes.clone() {
            self.tidy(&node);
        }
        // All of them go, those without a node after the others.
        self.finish(u32::MAX);
        let is_tidy = self.step.deleted == 0 && self.step.creates == 0;
        match self.set.strategy {
            Strategy::OnDelete => self.give_old(Reason::OnDelete),
            Strategy::RollingUpdate { max_surge, max_unavailable } if is_tidy => {
                self.step.is_update = true;
                self.update(max_surge, max_unavailable);
            }
            Strategy::RollingUpdate { .. } => self.give_old(Reason::AfterFirstPart),
        }
    }

    /// Upstream's `podsShouldBeOnNode`, and `getUnscheduledPodsWithoutNode` for a node that does not exist.
    fn tidy(&mut self, node: &Node<'_>) {
        if !node.is(NodeFlags::EXISTS) {
            for (index, _) in node.pods.iter().filter(|(_, pod)| !pod.is(PodFlags::ASSIGNED)) {
                self.give(index, Verdict::Contested, Reason::NoNode);
            }
        } else if node.is(NodeFlags::MAY_START) && node.pods.is_empty() {
            self.step.creates = self.step.creates.saturating_add(1);
        } else if node.is(NodeFlags::MAY_KEEP) {
            self.tidy_wanted(node);
        } else {
            for (index, _) in node.staying() {
                self.give(index, Verdict::Delete, Reason::NotWanted);
            }
        }
    }

    /// The pods of a node that may keep one.
    fn tidy_wanted(&mut self, node: &Node<'_>) {
        let failed = || node.staying().filter(|(_, pod)| pod.is(PodFlags::FAILED));
        let running = || node.staying().filter(|(_, pod)| !pod.has_ended());
        for (index, _) in node.staying().filter(|(_, pod)| pod.is(PodFlags::SUCCEEDED)) {
            self.give(index, Verdict::Delete, Reason::Succeeded);
        }
        // The first that upstream lists starts a delay, for which the others wait.
        let verdict = if node.is(NodeFlags::IN_BACKOFF) { Verdict::Keep } else { Verdict::Delete };
        let leader = failed().next().map(|(index, _)| index);
        let is_one = failed().nth(1).is_none();
        for (index, _) in failed() {
            self.give(
                index,
                verdict,
                if verdict == Verdict::Keep { Reason::BackedOff } else { Reason::Failed },
            );
            if !is_one && verdict == Verdict::Delete {
                self.outcome(index, |outcome| outcome.contest(leader.unwrap_or(index), 1));
            }
        }
        if !self.set.allows_surge() {
            for (index, _) in running().skip(1) {
                self.give(index, Verdict::Delete, Reason::Surplus);
            }
            return;
        }
        if node.is(NodeFlags::MAY_START) && running().next().is_none() {
            self.step.creates = self.step.creates.saturating_add(1);
        }
        let is_new = |pod: &Pod| pod.is(PodFlags::CURRENT_REVISION);
        let new = running().find(|(_, pod)| is_new(pod));
        let old = running().find(|(_, pod)| !is_new(pod));
        for (index, pod) in running() {
            let first = if is_new(pod) { new } else { old };
            if first.is_some_and(|(first, _)| first != index) {
                self.give(index, Verdict::Delete, Reason::Surplus);
            }
        }
        if let (Some((_, new)), Some((index, old))) = (new, old) {
            if !old.is(PodFlags::READY) {
                self.give(index, Verdict::Delete, Reason::OldNotReady);
            } else if new.is(PodFlags::AVAILABLE) {
                self.give(index, Verdict::Delete, Reason::Replaced);
            }
        }
    }

    /// Gives all old pods that stay this reason.
    fn give_old(&mut self, reason: Reason) {
        for (outcome, pod) in self.outcomes.iter_mut().zip(self.pods) {
            let stays = outcome.reason == Reason::Kept && outcome.verdict == Verdict::Keep;
            if stays && !pod.is(PodFlags::BEING_DELETED) && !pod.is_updated() {
                outcome.reason = reason;
            }
        }
    }

    /// Cuts what goes to the most that one part of a sync deletes. Upstream deletes pods in two steps, of which the second is for
    /// those with a [second reason](Reason::is_second): at most `quota` of them go, in random order.
    fn finish(&mut self, quota: u32) {
        let (mut first, mut second, mut leaders) = (0_u32, 0_u32, (None, None));
        for (index, outcome) in (0..).zip(&*self.outcomes) {
            match outcome.verdict {
                Verdict::Keep => {}
                Verdict::Contested if outcome.reason.is_second() => {
                    second = second.saturating_add(1);
                    leaders.1 = leaders.1.or(Some(index));
                }
                // One of several failed pods of a node: it counts once.
                Verdict::Contested if outcome.group != index => {}
                _ => {
                    first = first.saturating_add(1);
                    leaders.0 = leaders.0.or(Some(index));
                }
            }
        }
        let goes_first = first.min(BURST_REPLICAS);
        let wanted_second = second.min(quota);
        let goes_second = wanted_second.min(BURST_REPLICAS.saturating_sub(goes_first));
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.verdict != Verdict::Keep) {
            if !outcome.reason.is_second() {
                if goes_first < first {
                    outcome.contest(leaders.0.unwrap_or(0), goes_first);
                }
            } else if goes_second == second {
                outcome.decide(Verdict::Delete);
            } else if goes_second > 0 {
                outcome.contest(leaders.1.unwrap_or(0), goes_second);
            } else {
                outcome.decide(Verdict::Keep);
                if wanted_second > 0 {
                    outcome.reason = Reason::NextSync;
                }
            }
        }
        self.step.creates = self.step.creates.min(BURST_REPLICAS);
        self.step.deleted = goes_first.saturating_add(goes_second);
        self.step.later = first.saturating_add(wanted_second).saturating_sub(self.step.deleted);
    }

    fn give(&mut self, index: u32, verdict: Verdict, reason: Reason) {
        self.outcome(index, |outcome| *outcome = Outcome::new(verdict, reason));
    }

    fn outcome(&mut self, index: u32, change: impl FnOnce(&mut Outcome)) {
        if let Some(outcome) = self.outcomes.get_mut(index as usize) {
            change(outcome);
        }
    }
}

impl fmt::Display for DaemonSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortBuffer => {
                f.write_str("a slice is shorter than the pods: make room for one element per pod")
            }
            Self::TooMany => f.write_str("there are more than 4294967295 pods or nodes"),
            Self::UnknownNode(pod) => write!(f, "the node of pod {pod} is not in the list of nodes"),
        }
    }
}

impl core::error::Error for DaemonSetError {}
