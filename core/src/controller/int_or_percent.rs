//! A number that may be a percentage, such as `maxSurge` and `maxUnavailable`.

use core::fmt;

/// The largest percentage that [`IntOrPercent::parse`] accepts. Up to this percentage, integer arithmetic agrees with
/// Kubernetes' floating-point arithmetic for every number of replicas.
pub const MAX_PERCENT: u32 = 1 << 22;

/// A number of pods, or a percentage of the replicas: the two forms of `IntOrString` that Kubernetes accepts here.
///
/// ```
/// use podrank::controller::{IntOrPercent, IntOrPercentError};
///
/// assert_eq!(IntOrPercent::parse("25%"), Ok(IntOrPercent::Percent(25)));
/// assert_eq!(IntOrPercent::parse("3"), Err(IntOrPercentError::NoPercentSign));
///
/// assert_eq!(IntOrPercent::Percent(25).rounded_up(10), 3);
/// assert_eq!(IntOrPercent::Percent(25).rounded_down(10), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOrPercent {
    /// An integer, such as `3` in YAML. Kubernetes stores none below 0.
    Int(i32),
    /// A percentage, such as `25%` in YAML. A number above [`MAX_PERCENT`] counts as [`MAX_PERCENT`].
    Percent(u32),
}

/// Why a text is not a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntOrPercentError {
    /// The text does not end with `%`. A number of pods is an integer, not a text.
    NoPercentSign,
    /// The text is `%` alone.
    NoDigits,
    /// The byte at this offset is not a digit `0-9`.
    NotDigit(usize),
    /// The percentage is above [`MAX_PERCENT`].
    OutOfRange,
}

impl IntOrPercent {
    /// Reads a percentage: one or more digits and `%`. The text `3` is an error, as in Kubernetes, because a
    /// number of pods must be an integer, not a text.
    ///
    /// # Errors
    /// [`IntOrPercentError`] says what is wrong.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, IntOrPercentError> {
        let digits = match text.as_ref() {
            [b'%'] => return Err(IntOrPercentError::NoDigits),
            [digits @ .., b'%'] => digits,
            _ => return Err(IntOrPercentError::NoPercentSign),
        };
        if let Some(at) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
            return Err(IntOrPercentError::NotDigit(at));
        }
        let percent = digits
            .iter()
            .fold(0_u32, |percent, byte| percent.saturating_mul(10).saturating_add(u32::from(byte ^ b'0')));
        if percent > MAX_PERCENT { Err(IntOrPercentError::OutOfRange) } else { Ok(Self::Percent(percent)) }
    }

    /// Returns the number of pods for this number of replicas. A percentage is rounded up. As in Kubernetes, a result
    /// that is too large wraps: its low 32 bits are returned.
    #[must_use]
    pub fn rounded_up(self, replicas: i32) -> i32 {
        low_half(self.resolve(replicas, true))
    }

    /// Returns the number of pods for this number of replicas. A percentage is rounded down. As in Kubernetes, a result
    /// that is too large wraps: its low 32 bits are returned.
    #[must_use]
    pub fn rounded_down(self, replicas: i32) -> i32 {
        low_half(self.resolve(replicas, false))
    }

    /// Returns the number of pods before it is cut to 32 bits.
    ///
    /// Kubernetes computes `ceil` and `floor` of `percent * replicas / 100` in float64. The product is below 2^53,
    /// so it is exact; the quotient is below 2^47, where neighbouring floats are less than 0.016 apart, so none
    /// that is 0.01 or more from an integer becomes that integer. Integer division therefore gives the same.
    pub(super) fn resolve(self, replicas: i32, round_up: bool) -> i64 {
        match self {
            Self::Int(number) => number.into(),
            Self::Percent(percent) => {
                let percent = percent.min(MAX_PERCENT);
                let replicas = replicas.max(0).unsigned_abs();
                // Divided in halves of the product, because 64-bit division is a library call on small machines.
                let rest = percent.wrapping_mul(replicas % 100);
                let rounding = u32::from(round_up && rest % 100 != 0);
                i64::from(percent)
                    .wrapping_mul(i64::from(replicas / 100))
                    .wrapping_add(i64::from((rest / 100).wrapping_add(rounding)))
            }
        }
    }
}

/// Go's conversion from `int` to `int32`.
#[allow(clippy::cast_possible_truncation)] // as upstream
pub(super) const fn low_half(number: i64) -> i32 {
    number as i32
}

impl fmt::Display for IntOrPercentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPercentSign => {
                f.write_str("it does not end with '%': write a number of pods as an integer, without quotes")
            }
            Self::NoDigits => f.write_str("it has no digits before '%'"),
            Self::NotDigit(at) => write!(f, "the byte at offset {at} is not a digit"),
            Self::OutOfRange => write!(f, "it is above {MAX_PERCENT}%"),
        }
    }
}

impl core::error::Error for IntOrPercentError {}
