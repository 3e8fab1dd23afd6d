//! Pod UIDs: from canonical text to 16 bytes and back.

use core::fmt;
use core::str::FromStr;

/// A pod's UID: the 16 bytes of the UUID that kube-apiserver gives every object.
///
/// UIDs are ordered by their bytes, which is also the order of their canonical texts.
///
/// ```
/// use podrank::Uid;
/// let uid: Uid = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01".parse().unwrap();
/// assert_eq!(uid.to_bytes()[0], 0x0b);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Uid([u8; 16]);

/// Why a text is not a UID in canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UidError {
    /// The text has this many bytes, not 36.
    Length(usize),
    /// The byte at this offset must be `-`.
    NotHyphen(usize),
    /// The byte at this offset must be one of `0-9` and `a-f`, in lower case.
    NotHexDigit(usize),
}

/// Returns whether canonical text has a hyphen at this offset (8-4-4-4-12).
const fn is_hyphen(at: usize) -> bool {
    matches!(at, 8 | 13 | 18 | 23)
}

impl From<[u8; 16]> for Uid {
    fn from(bytes: [u8; 16]) -> Self {
        Self::from_bytes(bytes)
    }
}

impl Uid {
    /// The length of the canonical text in bytes.
    pub const TEXT_LEN: usize = 36;

    /// Returns the UID with these bytes, the most significant first.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, the most significant first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Returns the canonical text, in ASCII.
    #[must_use]
    pub fn to_text(self) -> [u8; Self::TEXT_LEN] {
        let mut rest = u128::from_be_bytes(self.0);
        let mut text = [b'-'; Self::TEXT_LEN];
        for (at, byte) in text.iter_mut().enumerate().rev() {
            if !is_hyphen(at) {
                *byte = match (rest & 0xf) as u8 {
                    digit @ 0..10 => digit | b'0',
                    digit => digit.wrapping_add(b'a' - 10),
                };
                rest >>= 4;
            }
        }
        text
    }

    /// Reads a pod's `metadata.uid`: a lower-case UUID in groups of 8-4-4-4-12 hex digits.
    ///
    /// kube-apiserver writes no other form. Upper case is rejected because Kubernetes compares UIDs as text, and
    /// text with upper case sorts differently from the 16 bytes of the UIDs.
    ///
    /// # Errors
    /// [`UidError`] names the first error in the text, and where it is.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, UidError> {
        let text = text.as_ref();
        if text.len() != Self::TEXT_LEN {
            return Err(UidError::Length(text.len()));
        }
        let mut uid = 0_u128;
        for (at, &byte) in text.iter().enumerate() {
            let digit = match byte {
                b'-' if is_hyphen(at) => continue,
                _ if is_hyphen(at) => return Err(UidError::NotHyphen(at)),
                b'0'..=b'9' => byte ^ b'0',
                b'a'..=b'f' => byte.wrapping_sub(b'a').wrapping_add(10),
                _ => return Err(UidError::NotHexDigit(at)),
            };
            uid = uid << 4 | u128::from(digit);
        }
        Ok(Self(uid.to_be_bytes()))
    }
}

impl FromStr for Uid {
    type Err = UidError;

    /// Reads a pod's `metadata.uid`, as [`Uid::parse`] does.
    fn from_str(text: &str) -> Result<Self, UidError> {
        Self::parse(text)
    }
}

impl fmt::Debug for Uid {
    /// Writes the canonical text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Uid {
    /// Writes the canonical text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(core::str::from_utf8(&self.to_text()).unwrap_or_default())
    }
}

impl fmt::Display for UidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(len) => write!(f, "a UUID is {} bytes long, not {len}", Uid::TEXT_LEN),
            Self::NotHyphen(at) => write!(f, "the byte at offset {at} must be '-'"),
            Self::NotHexDigit(at) => write!(f, "the byte at offset {at} must be one of 0-9 and a-f"),
        }
    }
}

impl core::error::Error for UidError {}
