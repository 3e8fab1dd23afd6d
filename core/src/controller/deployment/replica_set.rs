//! The record of one of a Deployment's `ReplicaSet`s: what the decisions read of it.

use crate::Time;
use crate::controller::int_or_percent::low_half;
use core::fmt;
use core::mem::{align_of, offset_of, size_of};
use core::ops::BitOr;

/// The annotation in which Kubernetes notes the Deployment's count when it scales a set.
pub const DESIRED_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/desired-replicas";
/// The annotation in which Kubernetes notes the Deployment's count plus its surge when it scales a set.
pub const MAX_REPLICAS_ANNOTATION: &str = "deployment.kubernetes.io/max-replicas";

/// What the decisions read of one `ReplicaSet`, with the same layout in Rust and C. Start from [`ReplicaSet::new`].
///
/// Every bit pattern is a record that every function accepts; [`ReplicaSet::validate`] finds those that no correct
/// program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct ReplicaSet {
    /// `metadata.creationTimestamp`. Unset is before all others.
    pub creation_time: Time,
    /// The place of `metadata.name` among the names of the sets, in the order of their bytes: a smaller name has a
    /// smaller number. Sets created in one second are told apart by it. Equal numbers are told apart by their index.
    pub name_order: u32,
    /// `spec.replicas`: the set's size.
    pub replicas: i32,
    /// `status.replicas`.
    pub status_replicas: i32,
    /// `status.availableReplicas`.
    pub available_replicas: i32,
    /// The number in [`DESIRED_REPLICAS_ANNOTATION`]; read only with one of its flags.
    pub desired_replicas: i32,
    /// The number in [`MAX_REPLICAS_ANNOTATION`]; read only with its flag.
    pub max_replicas: i32,
    /// Whether the template is the Deployment's, and which annotations are valid.
    pub flags: SetFlags,
    /// Zero, for fields to come.
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

/// What is true of a set, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SetFlags(u8);

impl SetFlags {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// The set's pod template equals the Deployment's by Kubernetes' semantic equality (nil is empty, `1000m` is `1`),
    /// the label `pod-template-hash` left out. The oldest such set is the new set, all others are old.
    pub const CURRENT_TEMPLATE: Self = Self(1);
    /// The annotation desired-replicas is valid: digits, at most 2147483647.
    pub const DESIRED: Self = Self(1 << 1);
    /// The annotation desired-replicas is not valid, but a 64-bit integer with or without a sign; the number is its low
    /// 32 bits. Kubernetes reads it so where it asks whether the new set is saturated, and nowhere else.
    pub const DESIRED_LENIENT: Self = Self(1 << 2);
    /// The annotation max-replicas is valid: digits, at most 2147483647.
    pub const MAX: Self = Self(1 << 3);

    const KNOWN: Self =
        Self(Self::CURRENT_TEMPLATE.0 | Self::DESIRED.0 | Self::DESIRED_LENIENT.0 | Self::MAX.0);

    /// These bits. Those above the lowest four have no meaning, for [`ReplicaSet::validate`] to find.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits: 1 current template, 2 desired, 4 desired leniently, 8 max.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` with all of `other` set or cleared.
    #[must_use]
    pub const fn with(self, other: Self, set: bool) -> Self {
        if set { Self(self.0 | other.0) } else { Self(self.0 & !other.0) }
    }
}

impl BitOr for SetFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Why a record is not one that a correct program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidReplicaSet {
    /// A number of replicas is negative: Kubernetes stores none.
    Negative,
    /// These bits of the flags have no meaning.
    UnknownFlags(u8),
    /// A reserved byte is not zero.
    ReservedNotZero,
}

impl ReplicaSet {
    /// An old set of size 0, without annotations or a creation time.
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

    /// Reads the texts of [`DESIRED_REPLICAS_ANNOTATION`] and [`MAX_REPLICAS_ANNOTATION`], empty for missing ones, into
    /// the fields and flags that hold them. A text that Kubernetes does not accept is as good as missing.
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

    /// Checks what no correct program gets wrong: meant for records from another language or machine.
    ///
    /// # Errors
    /// The first of these: a negative number, unknown flags, reserved bytes that are not zero.
    pub fn validate(&self) -> Result<(), InvalidReplicaSet> {
        let negative = self.replicas | self.status_replicas | self.available_replicas;
        let max = if self.flags.contains(SetFlags::MAX) { self.max_replicas } else { 0 };
        let desired = if self.flags.contains(SetFlags::DESIRED) { self.desired_replicas } else { 0 };
        let unknown_flags = self.flags.0 & !SetFlags::KNOWN.0;
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

    /// Whether it wants pods. Kubernetes' `FilterActiveReplicaSets`.
    pub(super) const fn is_active(&self) -> bool {
        self.replicas > 0
    }

    /// The number in desired-replicas if it is valid.
    pub(super) const fn desired(&self) -> Option<i32> {
        if self.flags.contains(SetFlags::DESIRED) { Some(self.desired_replicas) } else { None }
    }

    /// The number in desired-replicas as the test for saturation reads it.
    pub(super) const fn desired_leniently(&self) -> Option<i32> {
        let flags = SetFlags::DESIRED.0 | SetFlags::DESIRED_LENIENT.0;
        if self.flags.0 & flags != 0 { Some(self.desired_replicas) } else { None }
    }

    /// The number in max-replicas if it is valid.
    pub(super) const fn max(&self) -> Option<i32> {
        if self.flags.contains(SetFlags::MAX) { Some(self.max_replicas) } else { None }
    }
}

impl Default for ReplicaSet {
    fn default() -> Self {
        Self::new()
    }
}

/// What Go's parsers make of an annotation.
enum Annotation {
    /// `ParseUint` reads it, and it is at most 2147483647.
    Valid(i32),
    /// Only `Atoi` reads it; cut to 32 bits.
    Lenient(i32),
    /// Neither does.
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
