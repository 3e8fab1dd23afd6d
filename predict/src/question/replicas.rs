//! How many pods a workload should have, as a user says it: a number, or how many fewer. Pure functions on text and numbers.

use crate::text::{self, Error, number};
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let word = text::word(text);
        let invalid = || Error::new(format!("invalid replica count '{word}'"));
        if text.starts_with('+') {
            let error = invalid().because("It would add pods.");
            return Err(error.advise("Write the replica count to scale to."));
        }
        let (count, is_percent) = text.strip_suffix('%').map_or((text, false), |count| (count, true));
        let (digits, is_fewer) = count.strip_prefix('-').map_or((count, false), |digits| (digits, true));
        // As a number, `+2` would be valid after the minus sign.
        let Some(number) = digits.parse::<u32>().ok().filter(|_| !digits.starts_with('+')) else {
            return Err(invalid().advise("Use a number (5) or a decrease (-2, -30%)."));
        };
        match (is_percent, is_fewer) {
            (true, false) => Err(Error::new(format!("replica count '{word}' is ambiguous"))
                .advise(format!("For {number}% fewer pods, use -{number}%."))
                .advise(format!("For {number}% of the pods, use their number."))),
            (true, true) if number > 100 => Err(invalid().because("It is more than all pods.")),
            (true, true) => Ok(Self::FewerPercent(number)),
            _ if number > MOST => Err(invalid().because(format!("Kubernetes stores at most {MOST}."))),
            (false, true) => Ok(Self::Fewer(number)),
            (false, false) => Ok(Self::To(number)),
        }
    }
}

impl Replicas {
    /// Returns the count, given the present one.
    ///
    /// # Errors
    /// If that many fewer are more than there are.
    pub fn of(self, present: u32) -> Result<u32, Error> {
        match self {
            Self::To(count) => Ok(count),
            Self::Fewer(fewer) => present.checked_sub(fewer).ok_or_else(|| {
                Error::new(format!("{self} is impossible"))
                    .because(format!("The replica count is {present}."))
            }),
            Self::FewerPercent(percent) => {
                let fewer = u64::from(present) * u64::from(percent) / 100;
                Ok(present.saturating_sub(number(fewer)))
            }
        }
    }

    /// Returns an error if it is a percentage that is less than one of the present pods.
    pub(crate) fn rounds_to_none(self, present: u32) -> Option<Error> {
        let Self::FewerPercent(percent @ 1..) = self else { return None };
        let is_none = present > 0 && self.of(present) == Ok(present);
        let least = 100_u32.div_ceil(present.max(1));
        let replicas = text::count(present, "replica");
        is_none.then(|| {
            Error::new(format!("-{percent}% of {replicas} is less than one replica"))
                .advise(format!("To delete one pod, use -{least}%."))
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
        let error = Error::new("--replicas -5 is impossible").because("The replica count is 4.");
        assert_eq!(five_fewer.of(4), Err(error));
    }

    #[test]
    fn a_percentage_may_round_to_none() {
        let of = |text: &str, present| text.parse::<Replicas>().expect(text).rounds_to_none(present);
        let five = Error::new("-5% of 12 replicas is less than one replica");
        assert_eq!(of("-5%", 12), Some(five.advise("To delete one pod, use -9%.")));
        for (text, present) in
            [("-9%", 12), ("-50%", 2), ("-0%", 12), ("-0", 12), ("12", 12), ("-5%", 0), ("-100%", 1)]
        {
            assert_eq!(of(text, present), None, "{text} of {present}");
        }
        assert_eq!("-9%".parse::<Replicas>().expect("a count").of(12), Ok(11));
    }

    #[test]
    fn what_has_two_readings_is_not_a_count() {
        for (text, error) in [
            (
                "30%",
                "replica count '30%' is ambiguous\n  For 30% fewer pods, use -30%.\n  For 30% of the pods, use their number.",
            ),
            ("+2", "invalid replica count '+2'\n  It would add pods."),
            ("+30%", "invalid replica count '+30%'\n  It would add pods."),
            ("-101%", "invalid replica count '-101%'\n  It is more than all pods."),
            ("2147483648", "invalid replica count '2147483648'\n  Kubernetes stores at most 2147483647."),
            ("99999999999", "invalid replica count '99999999999'\n  Use a number"),
            ("five", "invalid replica count 'five'\n  Use a number"),
            ("", "invalid replica count ''\n  Use a number"),
            ("-", "invalid replica count '-'\n  Use a number"),
            ("--2", "invalid replica count '--2'\n  Use a number"),
            ("-%", "invalid replica count '-%'\n  Use a number"),
            ("2.5", "invalid replica count '2.5'\n  Use a number"),
        ] {
            let said = text.parse::<Replicas>().expect_err(text).to_string();
            assert!(said.starts_with(error), "{text}: {said}");
        }
    }
}
