//! Sets of flags as bits of a byte.

/// Makes a set of bits from its flags, each with its bit.
macro_rules! flags {
    (
        $(#[$about_set:meta])*
        $set:ident {
            $($(#[$about:meta])* $flag:ident = $bit:expr,)+
        }
    ) => {
        $(#[$about_set])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $set(u8);

        impl $set {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$about])* pub const $flag: Self = Self($bit);)+

            const KNOWN: u8 = 0 $(| $bit)+;

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
                self.0 & !Self::KNOWN
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

        impl core::fmt::Debug for $set {
            /// Writes the names of the flags, such as `ASSIGNED | READY`, and in hexadecimal any bits without a meaning.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                if *self == Self::NONE {
                    return f.write_str("NONE");
                }
                let names = [$((Self::$flag, stringify!($flag))),+];
                let mut separator = "";
                for (_, name) in names.iter().filter(|(flag, _)| self.contains(*flag)) {
                    write!(f, "{separator}{name}")?;
                    separator = " | ";
                }
                match self.unknown_bits() {
                    0 => Ok(()),
                    unknown => write!(f, "{separator}{unknown:#04x}"),
                }
            }
        }

        impl core::ops::BitOr for $set {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl core::ops::BitOrAssign for $set {
            fn bitor_assign(&mut self, other: Self) {
                *self = *self | other;
            }
        }
    };
}

pub(crate) use flags;
