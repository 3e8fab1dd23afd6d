//! A number that may be a percentage, such as `maxSurge` and `maxUnavailable`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The largest percentage. Up to it, integer arithmetic agrees with Kubernetes' floating-point arithmetic for every number of
/// replicas.
pub const MAX_PERCENT: u32 = 1 << 22;

/// A number of pods, or a percentage of the replicas: the two forms of `IntOrString` that Kubernetes accepts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOrPercent {
    /// An integer, such as `3` in YAML. Kubernetes stores none below 0.
    Int(i32),
    /// A percentage up to [`MAX_PERCENT`], such as `25%` in YAML.
    Percent(u32),
}

impl IntOrPercent {
    /// Reads a percentage: one or more digits and `%`. The text `3` is an error, as in Kubernetes, because a number of pods must be an
    /// integer, not a text.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(digits) = text.strip_suffix('%') else {
            let text = "it does not end with '%': write a number of pods as an integer, without quotes";
            return Err(text.to_owned());
        };
        if digits.is_empty() {
            return Err("it has no digits before '%'".to_owned());
        }
        if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
            return Err(format!("the byte at offset {at} is not a digit"));
        }
        match digits.parse::<u32>() {
            Ok(percent) if percent <= MAX_PERCENT => Ok(Self::Percent(percent)),
            // An error is more digits than a number holds.
            _ => Err(format!("it is above {MAX_PERCENT}%")),
        }
    }

    /// Returns the number of pods before it is cut to 32 bits.
    ///
    /// Kubernetes computes `ceil` and `floor` of `percent * replicas / 100` in float64. The product is below 2^53, so it is exact; the
    /// quotient is below 2^47, where neighbouring floats are less than 0.016 apart, so none that is 0.01 or more from an integer
    /// becomes that integer. Integer division therefore gives the same.
    pub(super) fn resolve(self, replicas: i32, round_up: bool) -> i64 {
        match self {
            Self::Int(number) => number.into(),
            Self::Percent(percent) => {
                let product = i64::from(percent.min(MAX_PERCENT)) * i64::from(replicas.max(0));
                product / 100 + i64::from(round_up && product % 100 != 0)
            }
        }
    }
}

impl<'de> Deserialize<'de> for IntOrPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number of pods or a percentage")]
        enum Written {
            Number(i32),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self::Int(number)),
            Written::Text(text) => Self::parse(&text).map_err(D::Error::custom),
        }
    }
}

/// Go's conversion from `int` to `int32`.
#[expect(clippy::cast_possible_truncation, reason = "as upstream")]
pub(super) fn low_half(number: i64) -> i32 {
    number as i32
}
