//! Ages as `kubectl get` shows them. Pure functions.

use jiff::{SignedDuration, Timestamp};
use podrank::Time;

/// The length of a unit in seconds, and its letter.
type Unit = (u64, char);

const SECOND: Unit = (1, 's');
const MINUTE: Unit = (60, 'm');
const HOUR: Unit = (60 * MINUTE.0, 'h');
const DAY: Unit = (24 * HOUR.0, 'd');
const YEAR: Unit = (365 * DAY.0, 'y');

/// The steps of Kubernetes' `duration.HumanDuration`: the age in seconds below which a step applies, its unit, and the unit
/// of the remainder. Above them all, it is in years.
const FORMS: [(u64, Unit, Option<Unit>); 8] = [
    (2 * MINUTE.0, SECOND, None),
    (10 * MINUTE.0, MINUTE, Some(SECOND)),
    (3 * HOUR.0, MINUTE, None),
    (8 * HOUR.0, HOUR, Some(MINUTE)),
    (2 * DAY.0, HOUR, None),
    (8 * DAY.0, DAY, Some(HOUR)),
    (2 * YEAR.0, DAY, None),
    (8 * YEAR.0, YEAR, Some(DAY)),
];

/// Returns the age of `time` at `now` in two or three digits, such as `5m30s`, with a minus sign if `time` is after `now`.
/// `None` if `time` is unset, or outside the years from 1677 to 2262, which 64 bits of nanoseconds can hold.
pub(crate) fn age(now: Time, time: Time) -> Option<String> {
    shown(now, time, |age| signed(age.as_secs() < 0, human(age.as_secs().unsigned_abs())))
}

/// Returns the [`age`] of both times, to the nanosecond if they would read the same.
pub(crate) fn ages(now: Time, a: Time, b: Time) -> [Option<String>; 2] {
    let rough = [a, b].map(|time| age(now, time));
    let [Some(first), Some(second)] = &rough else { return rough };
    let exact = |age: SignedDuration| signed(age.is_negative(), format!("{:#}", age.abs()));
    if first == second { [a, b].map(|time| shown(now, time, exact)) } else { rough }
}

fn signed(is_negative: bool, age: String) -> String {
    if is_negative { format!("-{age}") } else { age }
}

/// Why a ready pod is not available yet: `has been ready for 5s, and minReadySeconds is 10`.
pub(crate) fn not_yet_available(ready_time: Time, now: Time, min_ready_seconds: u32) -> String {
    let since = match age(now, ready_time) {
        None => "has been ready since an unknown time".to_owned(),
        Some(age) => match age.strip_prefix('-') {
            None => format!("has been ready for {age}"),
            Some(ahead) => format!("became ready {ahead} after the time of this decision"),
        },
    };
    format!("{since}, and minReadySeconds is {min_ready_seconds}")
}

fn shown(now: Time, time: Time, show: impl Fn(SignedDuration) -> String) -> Option<String> {
    // Times beyond that have saturated, so how far they are away is not known.
    let time = time.unix_nanos().filter(|_| time != Time::MIN && time != Time::MAX)?;
    Some(match now.unix_nanos() {
        Some(now) => show(SignedDuration::from_nanos(now.saturating_sub(time))),
        // Without a time to count from, there is no age.
        None => Timestamp::from_nanosecond(time.into()).ok()?.to_string(),
    })
}

/// Returns a duration in one or two units, coarser as it grows.
pub(crate) fn human(seconds: u64) -> String {
    let form = FORMS.iter().find(|(below, ..)| seconds < *below);
    let ((length, letter), rest) = form.map_or((YEAR, None), |(_, unit, rest)| (*unit, *rest));
    let whole = format!("{}{letter}", seconds / length);
    match rest.map(|(rest, letter)| (seconds % length / rest, letter)) {
        Some((rest @ 1.., letter)) => format!("{whole}{rest}{letter}"),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_is_kubectls() {
        // The cases of Kubernetes' own duration_test.go, with the edges on both sides.
        let cases = [
            (0, "0s"),
            (70, "70s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (599, "9m59s"),
            (600, "10m"),
            (47 * MINUTE.0, "47m"),
            (179 * MINUTE.0 + 59, "179m"),
            (3 * HOUR.0, "3h"),
            (3 * HOUR.0 + 5 * MINUTE.0, "3h5m"),
            (8 * HOUR.0 - 1, "7h59m"),
            (8 * HOUR.0, "8h"),
            (47 * HOUR.0, "47h"),
            (2 * DAY.0, "2d"),
            (2 * DAY.0 + HOUR.0, "2d1h"),
            (8 * DAY.0 - 1, "7d23h"),
            (8 * DAY.0, "8d"),
            (2 * YEAR.0 - 1, "729d"),
            (2 * YEAR.0, "2y"),
            (2 * YEAR.0 + DAY.0, "2y1d"),
            (8 * YEAR.0 - 1, "7y364d"),
            (8 * YEAR.0, "8y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(human(seconds), text, "{seconds} s");
        }
    }

    #[test]
    fn a_time_that_64_bits_cannot_hold_has_no_age() {
        let now = Time::from_unix(1_773_144_000, 0);
        assert_eq!(age(now, Time::from_unix_nanos(i64::MAX)), None);
        assert_eq!(age(now, Time::from_unix_nanos(i64::MIN)), None);
        assert_eq!(age(now, Time::from_unix_nanos(i64::MAX - 1)).as_deref(), Some("-236y"));
    }

    #[test]
    fn ages_that_read_the_same_are_told_apart() {
        let now = Time::from_unix(100_000, 0);
        let before = |seconds: i64| Time::from_unix(100_000 - seconds, 0);
        assert_eq!(ages(now, before(36_000), before(36_061)), [Some("10h".into()), Some("10h 1m 1s".into())]);
        assert_eq!(ages(now, before(10), before(20)), [Some("10s".into()), Some("20s".into())]);
        assert_eq!(ages(now, before(-10), Time::UNSET), [Some("-10s".into()), None]);
        let ahead = [Some("-47m 1s".into()), Some("-47m 31s".into())];
        assert_eq!(ages(now, before(-2_821), before(-2_851)), ahead);
        assert_eq!(age(now, Time::from_unix(100_000, 1)).as_deref(), Some("0s"));
    }
}
