//! Releases of Kubernetes, and what differs between the controllers of each that podrank reproduces. Constants and pure functions.

use crate::sync::stateful_set::Behavior;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A release of Kubernetes, such as 1.36.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    minor: u32,
    /// `None`, which comes last, if only the minor release is known: then it is the newest of them.
    patch: Option<u32>,
}

/// The feature gates that change what controllers do, where the user has set them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerGates {
    /// `MaxUnavailableStatefulSet`.
    pub max_unavailable_stateful_set: Option<bool>,
    /// `StatefulSetRecreateStrategy`.
    pub stateful_set_recreate_strategy: Option<bool>,
}

impl Release {
    /// The newest release that was compared with podrank. It is assumed where the release is not known.
    pub const TESTED: Self = Self::new(37);
    /// The others whose behavior is known.
    const OTHERS: [Self; 4] = [Self::new(34), Self::new(35), Self::new(36), Self::new(38)];

    const fn new(minor: u32) -> Self {
        Self { minor, patch: None }
    }

    /// What its controller of `StatefulSets` does. Each line was read in the source of the releases that it separates.
    #[must_use]
    pub fn stateful_sets(self, gates: ControllerGates) -> Behavior {
        let has_old_default = self.minor == 35 && self.patch.is_some_and(|patch| patch < 4);
        let max_unavailable = self.minor >= 37 || has_old_default;
        Behavior {
            // kubernetes#137904 and kubernetes#137926 turned it off again.
            max_unavailable_gate: gates.max_unavailable_stateful_set.unwrap_or(max_unavailable),
            recreate_gate: gates.stateful_set_recreate_strategy.unwrap_or(self.minor >= 38),
            unavailable_first: self.minor >= 37,
            // kubernetes#141057.
            creates_first: self.minor < 38,
            budget_from_partition: self.minor >= 38,
            exact_names: self.minor >= 38,
        }
    }

    /// Whether an autoscaler that has scaled a workload to 0, and nobody else, raises its count again.
    pub(crate) fn wakes_what_it_scaled_to_zero(self) -> bool {
        self.minor >= 37
    }

    /// Whether it refuses to change the parallelism of a Job whose pods are scheduled as a gang.
    pub(crate) fn refuses_parallelism_of_gangs(self) -> bool {
        self.minor == 36
    }

    /// Returns the other releases for which `differs`.
    pub(crate) fn others(differs: impl Fn(Self) -> bool) -> Vec<String> {
        Self::OTHERS.iter().filter(|release| differs(**release)).map(ToString::to_string).collect()
    }
}

impl Serialize for Release {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl FromStr for Release {
    type Err = String;

    /// Reads `1.36`, `1.36.3` or `v1.36.3`, and what providers write: `v1.36.3-eks-0c1d2e`, `v1.36.3+k3s1`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a release of Kubernetes, such as 1.36 or v1.36.3");
        // Rust reads a plus sign, too.
        let number = |part: &str| part.parse().ok().filter(|_| !part.starts_with('+'));
        let release = text.strip_prefix('v').unwrap_or(text);
        let release = release.split_once(['-', '+']).map_or(release, |(release, _)| release);
        let mut parts = release.split('.');
        let (Some("1"), Some(minor), patch, None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let minor = number(minor).ok_or_else(wrong)?;
        let patch = patch.map(|patch| number(patch).ok_or_else(wrong)).transpose()?;
        Ok(Self { minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behavior(release: &str) -> Behavior {
        release.parse::<Release>().expect(release).stateful_sets(ControllerGates::default())
    }

    #[test]
    fn releases_are_read_as_servers_and_people_write_them() {
        for (text, read) in [
            ("1.36", "1.36"),
            ("v1.36.3", "1.36.3"),
            ("v1.36.3-eks-0c1d2e", "1.36.3"),
            ("v1.36.3+k3s1", "1.36.3"),
            ("v1.38.0-beta.0", "1.38.0"),
        ] {
            assert_eq!(text.parse::<Release>().map(|release| release.to_string()).as_deref(), Ok(read));
        }
        for text in ["", "1", "36", "2.1", "1.x", "1.36.", "1.36.3.4", "v1.+3", "1.36,3", "latest"] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_gate_was_on_for_four_releases_and_is_on_again() {
        let on = ["1.35.0", "1.35.3", "1.37", "v1.37.0", "1.38"];
        let off = ["1.30", "1.34.4", "1.35", "1.35.4", "1.36.3"];
        assert!(on.iter().all(|release| behavior(release).max_unavailable_gate));
        assert!(off.iter().all(|release| !behavior(release).max_unavailable_gate));
        let given =
            ControllerGates { max_unavailable_stateful_set: Some(true), ..ControllerGates::default() };
        assert!(Release::new(36).stateful_sets(given).max_unavailable_gate);
    }

    #[test]
    fn what_is_assumed_is_what_was_tested() {
        let text = include_str!("../../../docs/support.md");
        let tested = text.lines().find_map(|line| line.strip_prefix("| v")?.split(' ').next());
        let tested: Release = tested.expect("a table of releases").parse().expect("a release");
        assert_eq!(tested.minor, Release::TESTED.minor);
    }
}
