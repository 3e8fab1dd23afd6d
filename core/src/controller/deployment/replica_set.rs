//! The record: what a sync reads from one of a Deployment's `ReplicaSet`s, in 48 bytes.

use super::{Budgets, Change, Deployment};
use crate::Time;
use crate::controller::int_or_percent::low_half;
use crate::flags::flags;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};

/// The name of the annotation in which Kubernetes records the Deployment's count when it scales a set.
pub const DESIRED_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/desired-replicas";
/// The name of the annotation in which Kubernetes records the Deployment's count plus its surge when it scales a set.
pub const MAX_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/max-replicas";

/// What a sync reads from one `ReplicaSet`, with the same layout in Rust and C. Start from [`ReplicaSet::new`].
///
/// Every function accepts every bit pattern. [`ReplicaSet::validate`] rejects records that no correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct ReplicaSet {
    /// `metadata.creationTimestamp`. A set without one counts as the oldest.
    pub creation_time: Time,
    /// The position of `metadata.name` among the names of all sets, sorted by their bytes: the smaller name has the
    /// smaller number. It decides between sets with equal creation times. If it is equal, too, the index decides.
    pub name_order: u32,
    /// `spec.replicas`: the set's size.
    pub replicas: i32,
    /// `status.replicas`.
    pub status_replicas: i32,
    /// `status.availableReplicas`.
    pub available_replicas: i32,
    /// The number in [`DESIRED_REPLICAS_ANNOTATION`]. It is read only if [`SetFlags::DESIRED`] or
    /// [`SetFlags::DESIRED_LENIENT`] is set.
    pub desired_replicas: i32,
    /// The number in [`MAX_REPLICAS_ANNOTATION`]. It is read only if [`SetFlags::MAX`] is set.
    pub max_replicas: i32,
    /// Whether the template is the Deployment's, and which annotations are valid.
    pub flags: SetFlags,
    /// Zero. Reserved for later fields.
    pub reserved: [u8; 15],
}

const _: () = {
    assert!(size_of::<ReplicaSet>() == 48);
    assert!(align_of::<ReplicaSet>() == 8);
    assert!(offset_of!(ReplicaSet, creation_time) == 0);
    assert!(offset_of!(ReplicaSet, name_order) == 8);
    assert!(offset_of!(ReplicaSet, replicas) == 12);
    assert!(offset_of!(ReplicaSet, status_replicas) == 16);
    assert!(offset_of!(ReplicaSet, available_replicas) == 20);
    assert!(offset_of!(ReplicaSet, desired_replicas) == 24);
    assert!(offset_of!(ReplicaSet, max_replicas) == 28);
    assert!(offset_of!(ReplicaSet, flags) == 32);
    assert!(offset_of!(ReplicaSet, reserved) == 33);
};

flags! {
    /// Facts about a `ReplicaSet`, as a set of bits. [`ReplicaSet::validate`] rejects all but the lowest four.
    SetFlags {
        /// The set's pod template equals the Deployment's, apart from the label `pod-template-hash`. Kubernetes compares
        /// templates semantically: nil equals empty, and `1000m` equals `1`. The oldest set with this flag is the new set,
        /// and all others are old.
        CURRENT_TEMPLATE = 1,
        /// The annotation desired-replicas is valid: only digits, and at most 2147483647.
        DESIRED = 1 << 1,
        /// The annotation desired-replicas is not valid, but it is a 64-bit integer, with or without a sign. The number is
        /// its low 32 bits. Kubernetes reads such an annotation only to decide whether the new set is
        /// [saturated](super::Reason::Saturated).
        DESIRED_LENIENT = 1 << 2,
        /// The annotation max-replicas is valid: only digits, and at most 2147483647.
        MAX = 1 << 3,
    }
}

/// Why [`ReplicaSet::validate`] rejects a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidReplicaSet {
    /// A number of replicas is negative.
    Negative,
    /// The flags have these bits, which have no meaning.
    UnknownFlags(u8),
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl ReplicaSet {
    /// Returns an old set of size 0, without annotations or a creation time.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            creation_time: Time::UNSET,
            name_order: 0,
            replicas: 0,
            status_replicas: 0,
            available_replicas: 0,
            desired_replicas: 0,
            max_replicas: 0,
            flags: SetFlags::NONE,
            reserved: [0; 15],
        }
    }

    /// Reads the texts of [`DESIRED_REPLICAS_ANNOTATION`] and [`MAX_REPLICAS_ANNOTATION`] into the fields and
    /// flags for them. Pass an empty text for a missing annotation. A text that Kubernetes does not accept counts
    /// as missing.
    pub fn set_annotations(&mut self, desired: impl AsRef<[u8]>, max: impl AsRef<[u8]>) {
        let (desired, max) = (Annotation::parse(desired.as_ref()), Annotation::parse(max.as_ref()));
        self.desired_replicas = desired.number();
        self.max_replicas = if let Annotation::Valid(number) = max { number } else { 0 };
        self.flags = self
            .flags
            .with(SetFlags::DESIRED, matches!(desired, Annotation::Valid(_)))
            .with(SetFlags::DESIRED_LENIENT, matches!(desired, Annotation::Lenient(_)))
            .with(SetFlags::MAX, matches!(max, Annotation::Valid(_)));
    }

    /// Gives the set what a sync of the Deployment writes to it: its size and, if the sync writes them, its annotations. Its
    /// status stays, because the `ReplicaSet` controller writes that later.
    pub fn apply(&mut self, change: &Change, deployment: &Deployment, budgets: &Budgets) {
        self.replicas = change.replicas;
        if change.annotates {
            let count = deployment.replicas;
            let max = count.wrapping_add(budgets.surge);
            (self.desired_replicas, self.max_replicas) = (count, max.max(0));
            // A negative number, which only an overflow makes, is no valid annotation.
            self.flags = self
                .flags
                .with(SetFlags::DESIRED, true)
                .with(SetFlags::DESIRED_LENIENT, false)
                .with(SetFlags::MAX, max >= 0);
        }
    }

    /// Checks a record that comes from another language or machine: no number of replicas may be negative, its flags
    /// must be known, and its reserved bytes zero.
    ///
    /// # Errors
    /// [`InvalidReplicaSet`] says which of these is wrong first.
    pub fn validate(&self) -> Result<(), InvalidReplicaSet> {
        let negative = self.replicas | self.status_replicas | self.available_replicas;
        let max = if self.flags.contains(SetFlags::MAX) { self.max_replicas } else { 0 };
        let desired = if self.flags.contains(SetFlags::DESIRED) { self.desired_replicas } else { 0 };
        let unknown_flags = self.flags.unknown_bits();
        if negative | max | desired < 0 {
            Err(InvalidReplicaSet::Negative)
        } else if unknown_flags != 0 {
            Err(InvalidReplicaSet::UnknownFlags(unknown_flags))
        } else if self.reserved != [0; 15] {
            Err(InvalidReplicaSet::ReservedNotZero)
        } else {
            Ok(())
        }
    }

    /// Returns whether the set wants pods: Kubernetes' `FilterActiveReplicaSets`.
    pub(super) const fn is_active(&self) -> bool {
        self.replicas > 0
    }

    /// Returns the number in desired-replicas if the annotation is valid.
    pub(super) const fn desired(&self) -> Option<i32> {
        if self.flags.contains(SetFlags::DESIRED) { Some(self.desired_replicas) } else { None }
    }

    /// Returns the number in desired-replicas as the check for saturation reads it.
    pub(super) const fn desired_leniently(&self) -> Option<i32> {
        let flags = SetFlags::DESIRED.0 | SetFlags::DESIRED_LENIENT.0;
        if self.flags.0 & flags != 0 { Some(self.desired_replicas) } else { None }
    }

    /// Returns the number in max-replicas if the annotation is valid.
    pub(super) const fn max(&self) -> Option<i32> {
        if self.flags.contains(SetFlags::MAX) { Some(self.max_replicas) } else { None }
    }
}

impl Default for ReplicaSet {
    fn default() -> Self {
        Self::new()
    }
}

/// An annotation as Go's parsers read it.
enum Annotation {
    /// `ParseUint` reads it, and it is at most 2147483647.
    Valid(i32),
    /// Only `Atoi` reads it. The number is cut to 32 bits.
    Lenient(i32),
    /// Neither reads it.
    Invalid,
}

impl Annotation {
    fn parse(text: &[u8]) -> Self {
        let (has_sign, is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, true, digits),
            [b'+', digits @ ..] => (true, false, digits),
            digits => (false, false, digits),
        };
        if digits.is_empty() || digits.iter().any(|byte| !byte.is_ascii_digit()) {
            return Self::Invalid;
        }
        let most = i64::MAX.unsigned_abs().wrapping_add(is_negative.into());
        let mut magnitude = 0_u64;
        for byte in digits {
            // Not `checked_mul`, which is a library call on small machines.
            if magnitude > most / 10 {
                return Self::Invalid;
            }
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(byte ^ b'0'));
        }
        match i32::try_from(magnitude) {
            _ if magnitude > most => Self::Invalid,
            Ok(number) if !has_sign => Self::Valid(number),
            _ => {
                let number = magnitude.cast_signed();
                Self::Lenient(low_half(if is_negative { number.wrapping_neg() } else { number }))
            }
        }
    }

    const fn number(&self) -> i32 {
        match self {
            Self::Valid(number) | Self::Lenient(number) => *number,
            Self::Invalid => 0,
        }
    }
}

impl fmt::Display for InvalidReplicaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative => f.write_str("a number of replicas is negative"),
            Self::UnknownFlags(bits) => write!(f, "flag bits {bits:#04x} have no meaning"),
            Self::ReservedNotZero => f.write_str("a reserved byte is not zero"),
        }
    }
}

impl core::error::Error for InvalidReplicaSet {}
