//! Timestamps of the Kubernetes API.

use crate::text::quoted;
use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A timestamp of the Kubernetes API.
#[derive(Clone, Debug, Default)]
pub(crate) struct Time(podrank::Time);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse() {
            Ok(timestamp) => Ok(Self(to_time(timestamp))),
            Err(_) if is_last_day(&text) => Ok(Self(podrank::Time::from_unix_nanos(i64::MAX))),
            Err(_) => Err(D::Error::custom(format_args!("{} is not a time as in RFC 3339", quoted(&text)))),
        }
    }
}

/// Whether `text` is a time on the last day of the year 9999, which [`Timestamp`] does not reach.
fn is_last_day(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| {
        pieces.date().year() == 9999 && pieces.time().is_some() && pieces.offset().is_some()
    })
}

pub(crate) fn time(time: Option<&Time>) -> podrank::Time {
    time.map_or(podrank::Time::UNSET, |time| time.0)
}

/// Returns a timestamp for the order: Go's zero time is unset, and times that 64 bits cannot hold saturate.
pub(crate) fn to_time(timestamp: Timestamp) -> podrank::Time {
    // 0001-01-01T00:00:00Z.
    const GO_ZERO: i128 = -62_135_596_800 * 1_000_000_000;
    match timestamp.as_nanosecond() {
        GO_ZERO => podrank::Time::UNSET,
        nanos => {
            let limit = if nanos < 0 { i64::MIN } else { i64::MAX };
            podrank::Time::from_unix_nanos(i64::try_from(nanos).unwrap_or(limit))
        }
    }
}

/// A value that counts as missing if it has the wrong type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: &RawValue = Deserialize::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(text.get()).ok()))
    }
}

/// The time in nanoseconds since the Unix epoch, if there is one.
pub(crate) fn nanos(value: &Lenient<Time>) -> Option<i64> {
    time(value.0.as_ref()).unix_nanos()
}

/// When the deletion of an object was asked for. Its deletion timestamp lies a grace period after that, most often in the future.
pub(crate) fn deletion(timestamp: Option<i64>, grace_period_seconds: Option<i64>) -> Option<i64> {
    timestamp?.checked_sub(grace_period_seconds?.checked_mul(1_000_000_000)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_is_asked_for_a_grace_period_before_its_timestamp() {
        assert_eq!(deletion(Some(90_000_000_000), Some(30)), Some(60_000_000_000));
        assert_eq!(deletion(None, Some(30)), None);
        assert_eq!(deletion(Some(0), None), None);
        assert_eq!(deletion(Some(i64::MIN), Some(1)), None);
        assert_eq!(deletion(Some(0), Some(i64::MAX)), None);
    }
}
