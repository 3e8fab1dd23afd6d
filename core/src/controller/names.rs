//! Names and numbers of reasons, written once for the reasons of several workloads.

use core::ffi::CStr;

/// Gives a reason its list, its number and its name.
///
/// The names are not a `match`, because compilers turn that into code with traps for the numbers in between. They are bytes
/// instead of texts, because a list of addresses is memory that a loader writes, and one function searches all lists,
/// because compilers make a list of addresses where they see which numbers there are.
macro_rules! names {
    ($reason:ident, $len:literal: $($variant:ident $name:literal),* $(,)?) => {
        impl $reason {
            /// Every reason, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Of each reason, the number and the name.
            const NAMES: &'static [[u8; $len + 1]] = &[$(named(Self::$variant as u8, $name)),*];

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
                name_of(self.number(), Self::NAMES.as_flattened(), $len + 1)
            }
        }

        impl fmt::Display for $reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Returns a number and a text, padded with zeros to `LEN` bytes. At least one zero must fit.
pub(super) const fn named<const LEN: usize>(number: u8, text: &CStr) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let (mut from, mut to): (&[u8], &mut [u8]) = (text.to_bytes_with_nul(), &mut bytes);
    assert!(from.len() < to.len(), "the text is too long");
    if let [first, name @ ..] = to {
        (*first, to) = (number, name);
    } else {
        to = &mut [];
    }
    while let ([byte, more @ ..], [slot, space @ ..]) = (from, to) {
        *slot = *byte;
        (from, to) = (more, space);
    }
    bytes
}

/// Returns the name with this number in a list of them, each `width` bytes. An empty text if there is none.
#[inline(never)]
pub(super) fn name_of(number: u8, names: &'static [u8], width: usize) -> &'static CStr {
    let mut rest = names;
    while let Some(([first, name @ ..], more)) = rest.split_at_checked(width) {
        if *first == number {
            return CStr::from_bytes_until_nul(name).unwrap_or_default();
        }
        rest = more;
    }
    c""
}

pub(super) use names;
