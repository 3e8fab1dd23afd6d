//! How many pods a workload should have, as a user says it: a number, or how many fewer. Pure functions on text and numbers.

use crate::text;
use std::fmt;
use std::str::FromStr;

/// A number of pods to scale to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicas {
    /// This number.
    To(u32),
    /// So many fewer than the present count.
    Fewer(u32),
    /// So many percent fewer, rounded down to whole pods.
    FewerPercent(u32),
}

/// The largest count that Kubernetes stores.
const MOST: u32 = i32::MAX.unsigned_abs();

impl FromStr for Replicas {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text::word(text);
        let number = |digits: &str| {
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        let wrong = || {
            format!(
                "`{word}` is no count: write a number of pods to scale to, such as 5, or how many fewer, such as -2 or -30%"
            )
        };
        if text.starts_with('+') {
            return Err(format!(
                "`{word}` would add pods, and this is about fewer: write the number of pods to scale to"
            ));
        }
        if let Some(percent) = text.strip_suffix('%') {
            let fewer = percent.strip_prefix('-');
            let Some(percent) = number(fewer.unwrap_or(percent)) else { return Err(wrong()) };
            return match fewer {
                None => Err(format!(
                    "`{word}` can be read in two ways: for {percent} % fewer pods write -{percent}%, and for {percent} % of the pods \
                     write their number"
                )),
                Some(_) if percent > 100 => Err(format!("`{word}` is more than all pods")),
                Some(_) => Ok(Self::FewerPercent(percent)),
            };
        }
        let all: fn(u32) -> Self = if text.starts_with('-') { Self::Fewer } else { Self::To };
        match number(text.strip_prefix('-').unwrap_or(text)) {
            Some(count) if count <= MOST => Ok(all(count)),
            Some(_) => Err(format!("`{word}` is more than Kubernetes stores, {MOST}")),
            None => Err(wrong()),
        }
    }
}

impl Replicas {
    /// Returns the count, given the present one.
    ///
    /// # Errors
    /// If that many fewer are more than there are.
    pub fn of(self, present: u32) -> Result<u32, String> {
        match self {
            Self::To(count) => Ok(count),
            Self::Fewer(fewer) => present
                .checked_sub(fewer)
                .ok_or_else(|| format!("{self} is impossible: the count is {present}")),
            Self::FewerPercent(percent) => {
                let fewer = u64::from(present) * u64::from(percent) / 100;
                Ok(present.saturating_sub(u32::try_from(fewer).unwrap_or(u32::MAX)))
            }
        }
    }

    /// Says so if it is a percentage that is less than one of the present pods.
    pub(crate) fn rounds_to_none(self, present: u32) -> Option<String> {
        let Self::FewerPercent(percent @ 1..) = self else { return None };
        let is_none = present > 0 && self.of(present) == Ok(present);
        let least = 100_u32.div_ceil(present.max(1));
        let replicas = text::count(present, "replica");
        is_none.then(|| {
            format!("-{percent}% of {replicas} is less than one, so the count stays: -{least}% takes one")
        })
    }

    /// Whether it depends on the present count.
    pub fn is_relative(self) -> bool {
        !matches!(self, Self::To(_))
    }
}

impl fmt::Display for Replicas {
    /// As a user writes it: `--replicas -2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::To(count) => write!(f, "--replicas {count}"),
            Self::Fewer(fewer) => write!(f, "--replicas -{fewer}"),
            Self::FewerPercent(percent) => write!(f, "--replicas -{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_or_how_many_fewer() {
        for (text, present, count) in [
            ("5", 13, 5),
            ("0", 13, 0),
            ("-2", 13, 11),
            ("-0", 13, 13),
            ("-13", 13, 0),
            // 3.9 pods.
            ("-30%", 13, 10),
            ("-100%", 13, 0),
            ("-1%", 13, 13),
            ("-99%", 4_000_000_000, 40_000_000),
        ] {
            let replicas: Replicas = text.parse().expect(text);
            assert_eq!(replicas.of(present), Ok(count), "{text}");
            assert_eq!(replicas.is_relative(), text.starts_with('-'), "{text}");
            assert_eq!(format!("--replicas {text}"), replicas.to_string());
        }
        let five_fewer: Replicas = "-5".parse().expect("a count");
        assert_eq!(five_fewer.of(4), Err("--replicas -5 is impossible: the count is 4".to_owned()));
    }

    #[test]
    fn a_percentage_may_round_to_none() {
        let of = |text: &str, present| text.parse::<Replicas>().expect(text).rounds_to_none(present);
        let five = "-5% of 12 replicas is less than one, so the count stays: -9% takes one";
        assert_eq!(of("-5%", 12).as_deref(), Some(five));
        for (text, present) in
            [("-9%", 12), ("-50%", 2), ("-0%", 12), ("-0", 12), ("12", 12), ("-5%", 0), ("-100%", 1)]
        {
            assert_eq!(of(text, present), None, "{text} of {present}");
        }
        assert_eq!("-9%".parse::<Replicas>().expect("a count").of(12), Ok(11));
    }

    #[test]
    fn what_has_two_readings_is_no_count() {
        for (text, error) in [
            (
                "30%",
                "`30%` can be read in two ways: for 30 % fewer pods write -30%, and for 30 % of the pods write their number",
            ),
            ("+2", "`+2` would add pods, "),
            ("+30%", "`+30%` would add pods, "),
            ("-101%", "`-101%` is more than all pods"),
            ("2147483648", "`2147483648` is more than Kubernetes stores, 2147483647"),
            ("99999999999", "`99999999999` is no count: "),
            ("five", "`five` is no count: "),
            ("", "`` is no count: "),
            ("-", "`-` is no count: "),
            ("--2", "`--2` is no count: "),
            ("-%", "`-%` is no count: "),
            ("2.5", "`2.5` is no count: "),
        ] {
            let said = text.parse::<Replicas>().expect_err(text);
            assert!(said.starts_with(error), "{text}: {said}");
        }
    }
}
