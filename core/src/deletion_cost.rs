//! Reads the annotation `controller.kubernetes.io/pod-deletion-cost`.

use core::fmt;

/// The name of the annotation that holds a pod's deletion cost.
pub const DELETION_COST_ANNOTATION: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Why a text is not a deletion cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeletionCostError {
    /// The text is empty.
    Empty,
    /// The text starts with `+`.
    LeadingPlus,
    /// The text starts with `0` and has more bytes.
    LeadingZero,
    /// The text is `-` alone.
    NoDigits,
    /// The byte at this offset is not a digit `0-9`.
    NotDigit(usize),
    /// The number is below -2147483648 or above 2147483647.
    OutOfRange,
}

/// Reads a deletion cost as Kubernetes does: a base-10 `int32` that is `0` or starts with `-` or a digit from
/// 1 to 9. Leading zeros may follow `-`.
///
/// If the annotation is missing, the cost is 0. If its text cannot be read, Kubernetes takes 0, too: do the
/// same, and warn.
///
/// # Errors
/// [`DeletionCostError`] says what is wrong.
///
/// ```
/// use podrank::{DeletionCostError, deletion_cost};
/// assert_eq!(deletion_cost("-100"), Ok(-100));
/// assert_eq!(deletion_cost("+10"), Err(DeletionCostError::LeadingPlus));
/// ```
pub fn deletion_cost(text: impl AsRef<[u8]>) -> Result<i32, DeletionCostError> {
    let (negative, digits) = match text.as_ref() {
        [] => return Err(DeletionCostError::Empty),
        [b'-'] => return Err(DeletionCostError::NoDigits),
        [b'+', ..] => return Err(DeletionCostError::LeadingPlus),
        [b'0', _, ..] => return Err(DeletionCostError::LeadingZero),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut cost = Some(0_i32);
    for (at, byte) in digits.iter().enumerate() {
        if !byte.is_ascii_digit() {
            return Err(DeletionCostError::NotDigit(at.wrapping_add(usize::from(negative))));
        }
        let digit = i32::from(byte ^ b'0');
        // Subtracts for negative costs, because 2147483648 does not fit.
        cost = cost
            .and_then(|cost| cost.checked_mul(10))
            .and_then(|cost| if negative { cost.checked_sub(digit) } else { cost.checked_add(digit) });
    }
    cost.ok_or(DeletionCostError::OutOfRange)
}

impl fmt::Display for DeletionCostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::LeadingPlus => f.write_str("it starts with '+'"),
            Self::LeadingZero => f.write_str("it has a leading zero"),
            Self::NoDigits => f.write_str("it has no digits"),
            Self::NotDigit(at) => write!(f, "the byte at offset {at} is not a digit"),
            Self::OutOfRange => f.write_str("it is outside -2147483648 to 2147483647"),
        }
    }
}

impl core::error::Error for DeletionCostError {}
