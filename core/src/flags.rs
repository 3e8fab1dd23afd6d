//! Facts about a pod, as bits of a byte.

use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// Facts about a pod, as a set of bits. [`Pod::validate`](crate::Pod::validate) rejects all but the lowest three.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// `spec.nodeName` is not empty.
    pub const ASSIGNED: Self = Self(1);
    /// The first condition of type `Ready` has status `True`.
    pub const READY: Self = Self(1 << 1);
    /// The label `kubernetes.io/prefer-for-scale-down` is present, whatever its value.
    pub const PREFERRED: Self = Self(1 << 2);

    const NAMES: [(Self, &'static str); 3] =
        [(Self::ASSIGNED, "ASSIGNED"), (Self::READY, "READY"), (Self::PREFERRED, "PREFERRED")];

    /// Returns the flags with these bits, even if some have no meaning.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the bits that have no meaning, which no correct program sets.
    #[must_use]
    pub const fn unknown_bits(self) -> u8 {
        self.0 & !(Self::ASSIGNED.0 | Self::READY.0 | Self::PREFERRED.0)
    }

    /// Returns whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these flags with all flags of `other` set or cleared.
    #[must_use]
    pub const fn with(self, other: Self, set: bool) -> Self {
        if set { Self(self.0 | other.0) } else { Self(self.0 & !other.0) }
    }
}

impl fmt::Debug for Flags {
    /// Writes the names of the flags, such as `ASSIGNED | READY`, and in hexadecimal any bits without a meaning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("NONE");
        }
        let mut separator = "";
        for (_, name) in Self::NAMES.iter().filter(|(flag, _)| self.contains(*flag)) {
            write!(f, "{separator}{name}")?;
            separator = " | ";
        }
        match self.unknown_bits() {
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
