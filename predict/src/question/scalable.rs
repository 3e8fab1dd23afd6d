//! What a user wants to scale, by the words that kubectl users type: `deploy/web`, `rollout/web`. Pure functions on text.

use crate::question::subject::{OwnerName, Subject};
use crate::snapshot::{WorkloadKind, WorkloadName};
use crate::text::Error;
use std::fmt;

/// What can be scaled so that chosen pods go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalable {
    /// A workload whose controller reads deletion costs, or whose kind is not known yet.
    Workload(WorkloadName),
    /// An object of a type that only the cluster knows, and that owns a `ReplicaSet`.
    Owner(OwnerName),
}

impl Scalable {
    /// What these words name: `TYPE/NAME`, `TYPE NAME` or `NAME`.
    ///
    /// # Errors
    /// Says which word is wrong.
    pub fn of_words(words: &[String]) -> Result<Self, Error> {
        match Subject::of_words(words).as_deref() {
            Ok([Subject::Owner(owner)]) => Ok(Self::Owner(owner.clone())),
            _ => WorkloadName::of_words(words, &WorkloadKind::WITH_COSTS).map(Self::Workload),
        }
    }
}

impl fmt::Display for Scalable {
    /// As it can be typed: `deploy/web`, `rollout.argoproj.io/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(name) => name.fmt(f),
            Self::Owner(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_not_known_is_that_of_an_owner() {
        let of = |words: &str| {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            Scalable::of_words(&words).map(|it| (matches!(it, Scalable::Owner(_)), it.to_string()))
        };
        for (words, is_owner, text) in [
            ("deploy/web", false, "deploy/web"),
            ("replicasets web", false, "rs/web"),
            ("web", false, "web"),
            ("Rollout/web", true, "rollout/web"),
            ("rollouts.argoproj.io web", true, "rollouts.argoproj.io/web"),
        ] {
            assert_eq!(of(words), Ok((is_owner, text.to_owned())), "{words}");
        }
        for (words, error) in [
            ("sts/db", "StatefulSet controllers ignore deletion costs\n  Use deploy, rs or rc."),
            ("pod/web", "unknown type 'pod'\n  Supported types are deploy, rs and rc."),
            ("rollout/web rollout/api", "expected one workload\n  Write TYPE/NAME, TYPE NAME or NAME."),
            ("cj/import", "podrank does not support CronJobs\n  Supported types are deploy, rs and rc."),
        ] {
            assert_eq!(of(words).map_err(|error| error.to_string()), Err(error.to_owned()), "{words}");
        }
    }
}
