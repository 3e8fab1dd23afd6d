//! What one sync of a `DaemonSet` does, and why a pod goes or stays.

use crate::controller::names::{name_of, named, names};
use core::ffi::CStr;
use core::fmt;

/// What a sync does, apart from the outcome of each pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step {
    /// Whether the sync reaches its second part, the update, because its first part has nothing to do.
    pub is_update: bool,
    /// On how many nodes a pod may start. This and the next four are 0 unless `is_update` is true.
    pub wanted: u32,
    /// `maxSurge` as a number of nodes.
    pub surge: i64,
    /// `maxUnavailable` as a number of nodes.
    pub unavailable: i64,
    /// How much of the budget is used. Without surge, this is the number of unavailable nodes. A node is available if, not counting
    /// pods being deleted, it has exactly one pod and that pod is available. A node that has no pod at all, not even one being
    /// deleted, counts as unavailable only if a pod may start there. With surge, this is the number of nodes that have a second pod
    /// that is not yet available.
    pub used: u32,
    /// With surge, how many nodes have an available pod.
    pub available: u32,
    /// How many pods the sync deletes.
    pub deleted: u32,
    /// How many pods it creates.
    pub creates: u32,
    /// How many more pods a later sync deletes, because one part of a sync deletes at most
    /// [`BURST_REPLICAS`](super::BURST_REPLICAS).
    pub later: u32,
    /// The index of a pod that makes the update fail: with surge, an old pod that is alone on a node that does not exist.
    pub blocked_by: Option<u32>,
}

/// Why a pod of a `DaemonSet` goes or stays. A reason keeps its number for ever.
///
/// Reasons whose description begins with "Update" occur only in a sync that reaches its second part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// It stays: nothing asks for its deletion, or it is being deleted already.
    #[default]
    Kept = 121,
    /// It is not allowed to stay on its node.
    NotWanted = 124,
    /// It has succeeded.
    Succeeded = 125,
    /// It has failed. Of several failed pods of a node, one goes in each sync, and chance decides which.
    Failed = 126,
    /// It has failed, but the controller deleted another failed pod of the node only recently.
    BackedOff = 127,
    /// Another pod of the node is kept: preferably an assigned one, then the oldest, then the one with the smallest name.
    Surplus = 128,
    /// With surge: the node has a new pod, and the old one is not ready.
    OldNotReady = 129,
    /// The new pod of the node is available, so the old one goes.
    Replaced = 130,
    /// It is not assigned, and its node does not exist.
    NoNode = 131,
    /// Update: the old pod is not available, so deleting it takes nothing from the budget.
    OldUnavailable = 134,
    /// Update: the old pod is available. Such pods go while `maxUnavailable` allows it.
    OldAvailable = 135,
    /// Update with surge: the old pod stays until the new one of its node is available. The new one may not have been
    /// created yet.
    AwaitsNew = 136,
    /// Update with surge: no pod may start on the node any more, and the old pod is not available.
    NotStartable = 137,
    /// Update with surge: no pod may start on the node any more. Such pods go only while [`Step::available`] is above
    /// [`Step::wanted`].
    NotStartableAvailable = 138,
    /// Update: the node has several old or several new pods or, without surge, an old and a new one. Pods that are being
    /// deleted do not count. The first part of a later sync deletes the surplus.
    Unsettled = 139,
    /// The old pod stays until somebody deletes it, because the strategy is `OnDelete`.
    OnDelete = 142,
    /// The old pod stays until a later sync, because this sync first has to create or delete pods in its first
    /// part.
    AfterFirstPart = 143,
    /// Update with surge: the sync fails, because an old pod is alone on a node that does not exist.
    NodeMissing = 144,
    /// It goes in a later sync, because one part of a sync deletes at most [`BURST_REPLICAS`](super::BURST_REPLICAS) pods.
    NextSync = 147,
}

names! { Reason, 24:
    Kept c"kept",
    NotWanted c"not-wanted",
    Succeeded c"succeeded",
    Failed c"failed",
    BackedOff c"backed-off",
    Surplus c"surplus",
    OldNotReady c"old-not-ready",
    Replaced c"replaced",
    NoNode c"no-node",
    OldUnavailable c"old-unavailable",
    OldAvailable c"old-available",
    AwaitsNew c"awaits-new",
    NotStartable c"not-startable",
    NotStartableAvailable c"not-startable-available",
    Unsettled c"unsettled",
    OnDelete c"on-delete",
    AfterFirstPart c"after-first-part",
    NodeMissing c"node-missing",
    NextSync c"next-sync",
}

impl Reason {
    /// Whether upstream deletes pods with this reason after all others, in random order.
    pub(super) const fn is_second(self) -> bool {
        matches!(self, Self::NoNode | Self::OldAvailable | Self::NotStartableAvailable)
    }
}
