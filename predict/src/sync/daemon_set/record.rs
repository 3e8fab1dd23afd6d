//! The records: what a sync reads from one pod, and from one node.

use podrank::Time;

/// What a sync reads from one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct DaemonPod {
    /// `metadata.creationTimestamp`. A pod without one counts as the oldest.
    pub creation_time: Time,
    /// The index of the pod's node: that of `spec.nodeName`, or if the pod is not assigned, the one that its affinity names. If that
    /// names none, the controller does not see the pod.
    pub node: Option<usize>,
    /// `spec.nodeName` is not empty.
    pub is_assigned: bool,
    /// The first condition of type `Ready` has status `True`.
    pub is_ready: bool,
    /// The pod is [available](podrank::controller::availability).
    pub is_available: bool,
    /// The label `controller-revision-hash` is that of the current revision.
    pub has_revision: bool,
    /// The label `pod-template-generation` is the number in the deprecated annotation of the template generation. For the update, such a
    /// pod is up to date whatever its revision.
    pub has_generation: bool,
    /// `status.phase` is `Succeeded`.
    pub is_succeeded: bool,
    /// `status.phase` is `Failed`.
    pub is_failed: bool,
    /// The pod has a `metadata.deletionTimestamp`.
    pub is_terminating: bool,
}

/// Whether a node takes a pod. Each that is named later allows what the ones before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeFit {
    /// The node does not exist.
    Missing,
    /// No pod may be here.
    Unfit,
    /// A pod that runs here may continue: the node's name, labels and taints with the effect `NoExecute` allow it.
    /// Other taints do not count.
    MayKeep,
    /// A pod may start here, too: all taints allow it.
    MayStart,
}

impl DaemonPod {
    pub(super) fn has_ended(&self) -> bool {
        self.is_succeeded || self.is_failed
    }

    /// Whether the update counts the pod as new: upstream's `IsPodUpdated`.
    pub fn is_updated(&self) -> bool {
        self.has_revision || self.has_generation
    }
}
