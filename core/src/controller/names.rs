//! Names and numbers of reasons, written once for the reasons of several workloads.

use core::ffi::CStr;

/// Gives a reason its list, its number and its name.
///
/// The names are not a `match`, because compilers turn that into code with traps for the numbers in between. They are bytes
/// instead of texts, because a list of addresses is memory that a loader writes.
macro_rules! names {
    ($reason:ident, $len:literal: $($variant:ident $name:literal),* $(,)?) => {
        impl $reason {
            /// Every reason, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            const NAMES: &'static [(Self, [u8; $len])] = &[$((Self::$variant, padded($name))),*];

            /// Returns the reason's number, which never changes.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// Returns the reason with this [number](Self::number), if there is one.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.number() == number)
            }

            /// Returns the name in lower case, with hyphens.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.c_name().to_str().unwrap_or("")
            }

            /// Returns the [name](Self::name) as C text.
            #[must_use]
            pub fn c_name(self) -> &'static CStr {
                let name = Self::NAMES.iter().find(|(reason, _)| *reason == self);
                name.and_then(|(_, name)| CStr::from_bytes_until_nul(name).ok()).unwrap_or_default()
            }
        }

        impl fmt::Display for $reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Returns a text padded with zeros to `LEN` bytes. At least one zero must fit.
pub(super) const fn padded<const LEN: usize>(text: &CStr) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let (mut from, mut to): (&[u8], &mut [u8]) = (text.to_bytes_with_nul(), &mut bytes);
    assert!(from.len() <= to.len(), "the text is too long");
    while let ([byte, more @ ..], [slot, space @ ..]) = (from, to) {
        *slot = *byte;
        (from, to) = (more, space);
    }
    bytes
}

pub(super) use names;
