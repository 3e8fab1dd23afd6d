//! The record: what the order reads of one pod, in 64 bytes.

use crate::{Time, Uid};
use core::fmt;
use core::mem::{align_of, offset_of, size_of};
use core::ops::{BitOr, BitOrAssign};
use core::str::FromStr;

/// What the order reads of one active pod: one cache line, the same layout in Rust and C.
///
/// Only active pods become records: the phase is neither `Succeeded` nor `Failed`, and there is no
/// `metadata.deletionTimestamp`. Start from [`Pod::new`] and set what you know, by assignment or with `..Pod::new()`:
/// then your code compiles with later releases, which may add fields.
///
/// Every bit pattern is a record that every function accepts; [`Pod::validate`] finds those that
/// no correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Pod {
    /// `metadata.uid`. Two pods with one UID can tie.
    pub uid: Uid,
    /// `lastTransitionTime` of the `Ready` condition. Read only of ready pods.
    pub ready_time: Time,
    /// `metadata.creationTimestamp`.
    pub creation_time: Time,
    /// Annotation `controller.kubernetes.io/pod-deletion-cost`, as [`deletion_cost()`](crate::deletion_cost())
    /// reads it; 0 if missing or invalid.
    pub deletion_cost: i32,
    /// How many active related pods share this pod's node, itself included: see [`count_ranks`](crate::count_ranks).
    pub rank: u32,
    /// The largest `restartCount` of `status.containerStatuses`.
    pub restarts: u32,
    /// The largest `restartCount` of the sidecars: those of `status.initContainerStatuses` whose
    /// container in `spec.initContainers` has `restartPolicy: Always`.
    pub sidecar_restarts: u32,
    /// The node of `spec.nodeName` as a small number of the caller's choice, for counting ranks. The
    /// order does not read it, and nothing reads it of an unassigned pod.
    pub node: u32,
    /// `status.phase`.
    pub phase: Phase,
    /// Assigned, ready, preferred.
    pub flags: Flags,
    /// What the caller wants, whatever the reason: pods of a lower tier go before those of a higher. Kubernetes knows
    /// nothing of it; [`Policy::steer`](crate::Policy::steer) makes it follow.
    pub tier: u16,
    /// Zero: space for later rules.
    pub reserved: Reserved,
}

/// The bytes of a [`Pod`] that have no meaning yet. All are zero, or [`Pod::validate`] rejects the record.
///
/// It has no constructor, so that a record is made from [`Pod::new`]. `as_mut` gives its bytes to tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Reserved([u8; 8]);

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Reserved {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

const _: () = {
    assert!(size_of::<Pod>() == 64);
    assert!(align_of::<Pod>() == 8);
    assert!(offset_of!(Pod, uid) == 0);
    assert!(offset_of!(Pod, ready_time) == 16);
    assert!(offset_of!(Pod, creation_time) == 24);
    assert!(offset_of!(Pod, deletion_cost) == 32);
    assert!(offset_of!(Pod, rank) == 36);
    assert!(offset_of!(Pod, restarts) == 40);
    assert!(offset_of!(Pod, sidecar_restarts) == 44);
    assert!(offset_of!(Pod, node) == 48);
    assert!(offset_of!(Pod, phase) == 52);
    assert!(offset_of!(Pod, flags) == 53);
    assert!(offset_of!(Pod, tier) == 54);
    assert!(offset_of!(Pod, reserved) == 56);
};

/// A pod's phase. The order compares its [ordinal](Phase::ordinal).
///
/// ```
/// use podrank::Phase;
/// assert_eq!("Running".parse(), Ok(Phase::RUNNING));
/// assert!("Succeeded".parse::<Phase>().is_err());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Phase(u8);

impl Phase {
    /// `Pending`, and any text that Kubernetes does not know.
    pub const PENDING: Self = Self(0);
    /// `Unknown`.
    pub const UNKNOWN: Self = Self(1);
    /// `Running`.
    pub const RUNNING: Self = Self(2);

    /// The phase of a `status.phase`, or `None` for `Succeeded` and `Failed`: such a pod is not active
    /// and never ranked.
    ///
    /// Any other text counts as [`Phase::PENDING`], as it does in Kubernetes.
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        match text.as_ref() {
            b"Succeeded" | b"Failed" => None,
            b"Running" => Some(Self::RUNNING),
            b"Unknown" => Some(Self::UNKNOWN),
            _ => Some(Self::PENDING),
        }
    }

    /// The phase of this ordinal. 3 and above are no phase, for [`Pod::validate`] to find.
    #[must_use]
    pub const fn from_ordinal(ordinal: u8) -> Self {
        Self(ordinal)
    }

    /// The number the order compares: lower goes first.
    #[must_use]
    pub const fn ordinal(self) -> u8 {
        self.0
    }
}

/// What is true of a pod, as a set of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Flags(u8);

impl Flags {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// `spec.nodeName` is not empty.
    pub const ASSIGNED: Self = Self(1);
    /// The first condition of type `Ready` has status `True`.
    pub const READY: Self = Self(1 << 1);
    /// The label `kubernetes.io/prefer-for-scale-down` is present, whatever its value.
    pub const PREFERRED: Self = Self(1 << 2);

    const KNOWN: Self = Self(Self::ASSIGNED.0 | Self::READY.0 | Self::PREFERRED.0);

    /// These bits. Those above the lowest three have no meaning, for [`Pod::validate`] to find.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits: 1 assigned, 2 ready, 4 preferred.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` with all of `other` set or cleared: `flags.with(Flags::READY, is_ready)`.
    #[must_use]
    pub const fn with(self, other: Self, set: bool) -> Self {
        if set { Self(self.0 | other.0) } else { Self(self.0 & !other.0) }
    }
}

impl FromStr for Phase {
    type Err = InactivePhase;

    /// Reads `status.phase`, as [`Phase::parse`] does.
    fn from_str(text: &str) -> Result<Self, InactivePhase> {
        Self::parse(text).ok_or(InactivePhase)
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

impl fmt::Debug for Flags {
    /// Writes the names of the flags, such as `ASSIGNED | READY`, and in hexadecimal any bits without a meaning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("NONE");
        }
        let names = [(Self::ASSIGNED, "ASSIGNED"), (Self::READY, "READY"), (Self::PREFERRED, "PREFERRED")];
        let mut separator = "";
        for (_, name) in names.iter().filter(|(flag, _)| self.contains(*flag)) {
            write!(f, "{separator}{name}")?;
            separator = " | ";
        }
        match self.0 & !Self::KNOWN.0 {
            0 => Ok(()),
            unknown => write!(f, "{separator}{unknown:#04x}"),
        }
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The phase is `Succeeded` or `Failed`: such a pod is not active and has no place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InactivePhase;

/// Why a record is not one that a correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPod {
    /// The phase ordinal is none of 0, 1 and 2.
    UnknownPhase(u8),
    /// These bits of the flags have no meaning.
    UnknownFlags(u8),
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl Pod {
    /// A pending, unassigned, not ready pod with UID zero, tier 0, cost 0, no rank, no restarts, and both times unset.
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

    /// Checks what no correct program gets wrong: meant for records from another language or machine.
    ///
    /// # Errors
    /// The first thing wrong in the record, by offset.
    pub fn validate(&self) -> Result<(), InvalidPod> {
        let unknown_flags = self.flags.0 & !Flags::KNOWN.0;
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
    /// [`Pod::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for InvalidPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPhase(phase) => write!(f, "phase {phase} is none of 0, 1 and 2"),
            Self::UnknownFlags(bits) => write!(f, "flag bits {bits:#04x} have no meaning"),
            Self::ReservedNotZero => f.write_str("a reserved byte is not zero"),
        }
    }
}

impl core::error::Error for InvalidPod {}

impl fmt::Display for InactivePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the phase is Succeeded or Failed: leave such a pod out, it is not active")
    }
}

impl core::error::Error for InactivePhase {}
