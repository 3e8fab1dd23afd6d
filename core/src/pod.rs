//! The record: what the order reads from one pod, in 64 bytes.

use crate::{Flags, Time, Uid};
use core::fmt;
use core::mem::{align_of, size_of};

/// What the order reads from one active pod: one cache line, with the same layout in Rust and C.
///
/// Only active pods become records: the phase is neither `Succeeded` nor `Failed`, and there is no
/// `metadata.deletionTimestamp`. Start from [`Pod::new`] and set what you know, by assignment or with
/// `..Pod::new()`: then your code compiles with later releases, which may add fields.
///
/// Every function accepts every bit pattern. [`Pod::validate`] rejects records that no correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Pod {
    /// `metadata.uid`. Pods can tie only if their UIDs are equal.
    pub uid: Uid,
    /// `lastTransitionTime` of the `Ready` condition. It is read only if the pod is ready.
    pub ready_time: Time,
    /// `metadata.creationTimestamp`.
    pub creation_time: Time,
    /// The annotation `controller.kubernetes.io/pod-deletion-cost`, as
    /// [`deletion_cost()`](crate::deletion_cost()) reads it. 0 if it is missing or invalid.
    pub deletion_cost: i32,
    /// How many active related pods are on this pod's node, including the pod itself: see
    /// [`count_ranks`](crate::count_ranks).
    pub rank: u32,
    /// The largest `restartCount` of `status.containerStatuses`.
    pub restarts: u32,
    /// The largest `restartCount` of the sidecars: those of `status.initContainerStatuses` whose
    /// container in `spec.initContainers` has `restartPolicy: Always`.
    pub sidecar_restarts: u32,
    /// The node of `spec.nodeName`, as a small number of your choice. Only counting ranks reads it, and only
    /// if the pod is assigned.
    pub node: u32,
    /// `status.phase`.
    pub phase: Phase,
    /// Whether the pod is assigned, ready and preferred.
    pub flags: Flags,
    /// The pod's tier, chosen by the caller for whatever reason: pods of a lower tier are deleted before pods of a
    /// higher one. Kubernetes does not know tiers. [`Policy::steer`](crate::Policy::steer) returns deletion costs that
    /// make it follow them.
    pub tier: u16,
    /// Zero. Reserved for later rules.
    pub reserved: Reserved,
}

/// The bytes of a [`Pod`] that have no meaning yet. [`Pod::validate`] rejects a record in which one is not
/// zero.
///
/// This type has no constructor, so that records start from [`Pod::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Reserved(pub(crate) [u8; 8]);

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

const _: () = {
    assert!(size_of::<Pod>() == 64);
    assert!(align_of::<Pod>() == align_of::<i64>());
};

/// A pod's phase. The order compares its [ordinal](Phase::ordinal).
///
/// ```
/// use podrank::Phase;
/// assert_eq!(Phase::parse("Running"), Some(Phase::RUNNING));
/// assert_eq!(Phase::parse("Succeeded"), None);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Phase(u8);

impl Phase {
    /// `Pending`, and any text that is not a phase of Kubernetes.
    pub const PENDING: Self = Self(0);
    /// `Unknown`.
    pub const UNKNOWN: Self = Self(1);
    /// `Running`.
    pub const RUNNING: Self = Self(2);

    /// Reads `status.phase`. Returns `None` for `Succeeded` and `Failed`: such a pod is not active and has no
    /// place in the order.
    ///
    /// Text that is not a phase counts as [`Phase::PENDING`], as it does in Kubernetes.
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        match text.as_ref() {
            b"Succeeded" | b"Failed" => None,
            b"Running" => Some(Self::RUNNING),
            b"Unknown" => Some(Self::UNKNOWN),
            _ => Some(Self::PENDING),
        }
    }

    /// Returns the phase with this ordinal. [`Pod::validate`] rejects ordinals above 2.
    #[must_use]
    pub const fn from_ordinal(ordinal: u8) -> Self {
        Self(ordinal)
    }

    /// Returns the number that the order compares: pods with a lower one are deleted first.
    #[must_use]
    pub const fn ordinal(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Phase {
    /// Writes the phase as Kubernetes does, or `Phase(3)` for an ordinal without a phase.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PENDING => f.write_str("Pending"),
            Self::UNKNOWN => f.write_str("Unknown"),
            Self::RUNNING => f.write_str("Running"),
            Self(ordinal) => write!(f, "Phase({ordinal})"),
        }
    }
}

/// Why [`Pod::validate`] rejects a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPod {
    /// The phase has this ordinal, which is above 2.
    UnknownPhase(u8),
    /// The flags have these bits, which have no meaning.
    UnknownFlags(u8),
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl Pod {
    /// Returns a pending pod that is neither assigned nor ready. Its numbers and its UID are zero, and both
    /// times are unset.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            uid: Uid::from_bytes([0; 16]),
            ready_time: Time::UNSET,
            creation_time: Time::UNSET,
            deletion_cost: 0,
            rank: 0,
            restarts: 0,
            sidecar_restarts: 0,
            node: 0,
            phase: Phase::PENDING,
            flags: Flags::NONE,
            tier: 0,
            reserved: Reserved([0; 8]),
        }
    }

    /// Checks a record that comes from another language or machine: its phase and flags must be known, and
    /// its reserved bytes zero.
    ///
    /// # Errors
    /// [`InvalidPod`] names the first field that is wrong, in the order in which the record has them.
    pub fn validate(&self) -> Result<(), InvalidPod> {
        let unknown_flags = self.flags.unknown_bits();
        if self.phase.0 > Phase::RUNNING.0 {
            Err(InvalidPod::UnknownPhase(self.phase.0))
        } else if unknown_flags != 0 {
            Err(InvalidPod::UnknownFlags(unknown_flags))
        } else if self.reserved != Self::new().reserved {
            Err(InvalidPod::ReservedNotZero)
        } else {
            Ok(())
        }
    }

    pub(crate) const fn is_assigned(&self) -> bool {
        self.flags.contains(Flags::ASSIGNED)
    }

    pub(crate) const fn is_ready(&self) -> bool {
        self.flags.contains(Flags::READY)
    }

    pub(crate) const fn is_preferred(&self) -> bool {
        self.flags.contains(Flags::PREFERRED)
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
        match self {
            Self::UnknownPhase(phase) => write!(f, "the phase is {phase}, but must be 0, 1 or 2"),
            Self::UnknownFlags(bits) => write!(f, "the flags have the unknown bits {bits:#04x}"),
            Self::ReservedNotZero => f.write_str("a reserved byte is not zero"),
        }
    }
}

impl core::error::Error for InvalidPod {}
