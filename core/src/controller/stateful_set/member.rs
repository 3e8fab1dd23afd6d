//! The record: what a sync reads from one pod of a `StatefulSet`, in 8 bytes, and the ordinal in its name.

use crate::flags::flags;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// What a sync reads from one pod, with the same layout in Rust and C. Start from [`Member::new`].
///
/// Every function accepts every bit pattern. [`Member::validate`] rejects records that no correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Member {
    /// The [`ordinal`] in its name.
    pub ordinal: i32,
    /// Its state and revision.
    pub flags: MemberFlags,
    /// Zero. Reserved for later fields.
    pub reserved: [u8; 3],
}

const _: () = {
    assert!(size_of::<Member>() == 8);
    assert!(align_of::<Member>() == align_of::<i32>());
    assert!(offset_of!(Member, ordinal) == 0);
    assert!(offset_of!(Member, flags) == 4);
    assert!(offset_of!(Member, reserved) == 5);
};

flags! {
    /// Facts about a pod of a `StatefulSet`, as a set of bits. [`Member::validate`] rejects all but the lowest six.
    MemberFlags {
        /// `status.phase` is `Running`. It is not read with [`MemberFlags::FINISHED`].
        RUNNING = 1,
        /// `status.phase` is `Succeeded` or `Failed`.
        FINISHED = 1 << 1,
        /// The condition `Ready` is `True`.
        READY = 1 << 2,
        /// The condition `Ready` is `True`, and has been for `spec.minReadySeconds` of the set.
        AVAILABLE = 1 << 3,
        /// The pod has a `metadata.deletionTimestamp`.
        TERMINATING = 1 << 4,
        /// The label `controller-revision-hash` is the set's `status.updateRevision`. A pod without this flag is old.
        UPDATED = 1 << 5,
    }
}

/// Why [`Member::validate`] rejects a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidMember {
    /// The ordinal is negative.
    Negative,
    /// The flags have these bits, which have no meaning.
    UnknownFlags(u8),
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl Member {
    /// Returns the record of a pod with this ordinal and state.
    #[must_use]
    pub const fn new(ordinal: i32, flags: MemberFlags) -> Self {
        Self { ordinal, flags, reserved: [0; 3] }
    }

    /// Checks a record that comes from another language or machine: its ordinal must not be negative, its flags must be
    /// known, and its reserved bytes must be zero.
    ///
    /// # Errors
    /// [`InvalidMember`] names the first error.
    pub const fn validate(&self) -> Result<(), InvalidMember> {
        let unknown = self.flags.unknown_bits();
        if self.ordinal < 0 {
            Err(InvalidMember::Negative)
        } else if unknown != 0 {
            Err(InvalidMember::UnknownFlags(unknown))
        } else if matches!(self.reserved, [0, 0, 0]) {
            Ok(())
        } else {
            Err(InvalidMember::ReservedNotZero)
        }
    }

    pub(super) const fn is(self, flag: MemberFlags) -> bool {
        self.flags.contains(flag)
    }

    /// Kubernetes' `isUnavailable`, which does not read the phase.
    pub(super) const fn is_unavailable(self) -> bool {
        !self.is(MemberFlags::AVAILABLE) || self.is(MemberFlags::TERMINATING)
    }
}

/// Returns the ordinal of a pod of this name, if the pod is a member of the `StatefulSet` called `set`: its name is
/// the set's, a hyphen and one or more digits, which are at most 2147483647.
///
/// Kubernetes also accepts leading zeros, so `web-1` and `web-01` have the same ordinal. A pod whose number is too large
/// has no ordinal, and Kubernetes never touches it.
///
/// ```
/// use podrank::controller::stateful_set::ordinal;
///
/// assert_eq!(ordinal("web", "web-10"), Some(10));
/// assert_eq!(ordinal("web", "web-1-0"), None);
/// assert_eq!(ordinal("web", "web-2147483648"), None);
/// ```
#[must_use]
pub fn ordinal(set: impl AsRef<[u8]>, pod: impl AsRef<[u8]>) -> Option<i32> {
    let mut rest = pod.as_ref();
    // Byte by byte: comparing slices needs bcmp, which not every C runtime has.
    for expected in set.as_ref() {
        let [byte, others @ ..] = rest else { return None };
        if byte != expected {
            return None;
        }
        rest = others;
    }
    let [b'-', digits @ ..] = rest else { return None };
    let mut ordinal = 0_i32;
    for byte in digits {
        let digit = byte.is_ascii_digit().then_some(byte & 0xF)?;
        ordinal = ordinal.checked_mul(10)?.checked_add(i32::from(digit))?;
    }
    (!digits.is_empty()).then_some(ordinal)
}

impl fmt::Display for InvalidMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative => f.write_str("the ordinal is negative"),
            Self::UnknownFlags(bits) => write!(f, "the flags {bits:#x} are unknown"),
            Self::ReservedNotZero => f.write_str("a reserved byte is not zero"),
        }
    }
}

impl core::error::Error for InvalidMember {}
