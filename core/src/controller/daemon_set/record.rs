//! The records: what a sync reads from one pod of a `DaemonSet`, in 24 bytes, and from one node, in one.

use super::NO_NODE;
use crate::Time;
use crate::flags::flags;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// What a sync reads from one pod, with the same layout in Rust and C. Start from [`Pod::new`].
///
/// Every function accepts every bit pattern. [`Pod::validate`] rejects records that no correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Pod {
    /// `metadata.creationTimestamp`. A pod without one counts as the oldest.
    pub creation_time: Time,
    /// The position of `metadata.name` among the names of all pods, sorted by their bytes: the smaller name has the smaller
    /// number. It decides between pods with equal creation times.
    pub name_order: u32,
    /// The index of the pod's node: that of `spec.nodeName`, or if the pod is not assigned, the one that its affinity names. If
    /// that names none, [`NO_NODE`].
    pub node: u32,
    /// The pod's state and revision. [`PodFlags::SUCCEEDED`] and [`PodFlags::FAILED`] exclude each other.
    pub flags: PodFlags,
    /// Zero. Reserved for later fields.
    pub reserved: [u8; 7],
}

const _: () = {
    assert!(size_of::<Pod>() == 24);
    assert!(align_of::<Pod>() == 8);
    assert!(offset_of!(Pod, creation_time) == 0);
    assert!(offset_of!(Pod, name_order) == 8);
    assert!(offset_of!(Pod, node) == 12);
    assert!(offset_of!(Pod, flags) == 16);
    assert!(offset_of!(Pod, reserved) == 17);
    assert!(size_of::<NodeFlags>() == 1);
};

flags! {
    /// Facts about a pod, as a set of bits.
    PodFlags {
        /// `spec.nodeName` is not empty.
        ASSIGNED = 1,
        /// The first condition of type `Ready` has status `True`.
        READY = 1 << 1,
        /// The pod is [available](crate::controller::availability).
        AVAILABLE = 1 << 2,
        /// The label `controller-revision-hash` is that of the `DaemonSet`'s current revision.
        CURRENT_REVISION = 1 << 3,
        /// The label `pod-template-generation` is the number in the `DaemonSet`'s annotation
        /// `deprecated.daemonset.template.generation`. For the update, such a pod is up to date whatever its revision.
        CURRENT_GENERATION = 1 << 4,
        /// `status.phase` is `Succeeded`.
        SUCCEEDED = 1 << 5,
        /// `status.phase` is `Failed`.
        FAILED = 1 << 6,
        /// The pod has a `metadata.deletionTimestamp`.
        BEING_DELETED = 1 << 7,
    }
}

flags! {
    /// Facts about a node, as a set of bits. Without a flag, it stands for a node that does not exist.
    ///
    /// Set [`NodeFlags::MAY_START`] only together with [`NodeFlags::MAY_KEEP`].
    NodeFlags {
        /// The node exists. The other flags have no meaning without this one.
        EXISTS = 1,
        /// A pod may start here: the node's name, labels and taints allow it.
        MAY_START = 1 << 1,
        /// A pod that runs here may stay: the node's name, labels and taints with the effect `NoExecute` allow it. Other
        /// taints do not count.
        MAY_KEEP = 1 << 2,
        /// The controller has deleted a failed pod here so recently that it leaves the next one for later. Only the
        /// controller knows: the delay is 1 second after the first, doubles up to 15 minutes, and starts anew with each
        /// change of the spec.
        IN_BACKOFF = 1 << 3,
    }
}

/// Why [`Pod::validate`] rejects a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPod {
    /// The pod has both succeeded and failed.
    TwoPhases,
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl Pod {
    /// Returns an old pod without a node. It is neither ready nor has it ended.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            creation_time: Time::UNSET,
            name_order: 0,
            node: NO_NODE,
            flags: PodFlags::NONE,
            reserved: [0; 7],
        }
    }

    /// Checks a record that comes from another language or machine: a pod cannot have both succeeded and failed, and the
    /// reserved bytes must be zero.
    ///
    /// # Errors
    /// [`InvalidPod`] names the first error.
    pub const fn validate(&self) -> Result<(), InvalidPod> {
        if self.is(PodFlags::SUCCEEDED) && self.is(PodFlags::FAILED) {
            return Err(InvalidPod::TwoPhases);
        }
        if let [0, 0, 0, 0, 0, 0, 0] = self.reserved { Ok(()) } else { Err(InvalidPod::ReservedNotZero) }
    }

    pub(super) const fn is(&self, flags: PodFlags) -> bool {
        self.flags.contains(flags)
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.is(PodFlags::SUCCEEDED) || self.is(PodFlags::FAILED)
    }

    /// Upstream's `IsPodUpdated`.
    pub(super) const fn is_updated(&self) -> bool {
        self.is(PodFlags::CURRENT_REVISION) || self.is(PodFlags::CURRENT_GENERATION)
    }

    /// Whether the controller does not skip the pod, because nothing is left to do or it has no node.
    pub(super) const fn is_seen(&self) -> bool {
        !(self.is(PodFlags::BEING_DELETED) && self.has_ended())
    }
}

impl Default for Pod {
    /// Returns [`Pod::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for InvalidPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoPhases => "the pod has both succeeded and failed",
            Self::ReservedNotZero => "a reserved byte is not zero",
        })
    }
}

impl core::error::Error for InvalidPod {}
