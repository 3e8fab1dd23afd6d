//! The named data sets. Each is made from a fixed seed, and a shorter one is the start of a longer one.

use fastrand::Rng;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};

/// The time of the log-scaled policy: 2026-03-10T12:00:00Z.
pub const NOW: i64 = 1_773_144_000_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// What the pods are like. All are running and ready, with times in whole seconds, as Kubernetes has them, and random UIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSet {
    /// Ages over 30 days, one pod in ten restarted: what the order is asked of most. The times decide.
    Spread,
    /// Ready within one minute an hour ago, which is one age bucket, on nodes of three ranks: the pods of a rollout. Ranks
    /// decide, then, with log scaling, the UID.
    Rollout,
    /// Alike in all but the UID, which decides.
    Tie,
    /// Each pod has a lower deletion cost than all earlier ones, so a selection that reads the list replaces a victim
    /// at every pod.
    Reverse,
}

impl DataSet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Spread, Self::Rollout, Self::Tie, Self::Reverse];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Rollout => "rollout",
            Self::Tie => "tie",
            Self::Reverse => "reverse",
        }
    }

    /// Its first `len` pods.
    pub fn pods(self, len: usize) -> Vec<Pod> {
        let mut rng = Rng::with_seed(8);
        (0..).take(len).map(|number| self.pod(number, &mut rng)).collect()
    }

    fn pod(self, number: i32, rng: &mut Rng) -> Pod {
        let mut pod = Pod {
            uid: Uid::from_bytes(rng.u128(..).to_be_bytes()),
            rank: 1,
            phase: Phase::RUNNING,
            flags: Flags::ASSIGNED | Flags::READY,
            ..Pod::new()
        };
        let mut ready_for = 3600;
        match self {
            Self::Spread => {
                ready_for = rng.i64(1..30 * 86_400);
                pod.restarts = if rng.u8(..10) == 0 { rng.u32(1..4) } else { 0 };
            }
            Self::Rollout => {
                ready_for = rng.i64(3600..3660);
                pod.rank = rng.u32(1..4);
            }
            Self::Tie => {}
            Self::Reverse => pod.deletion_cost = i32::MAX - number,
        }
        pod.ready_time = Time::from_unix_nanos(NOW - ready_for * SECOND);
        pod.creation_time = Time::from_unix_nanos(NOW - (ready_for + 5) * SECOND);
        pod
    }
}

/// Kubernetes' defaults at `NOW`.
pub const fn log_scaled() -> Policy {
    Policy::at(Time::from_unix_nanos(NOW))
}

/// Kubernetes' defaults without a time, which compares times as they are.
pub const fn exact() -> Policy {
    Policy::without_now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank::Rule;

    #[test]
    fn they_are_what_they_say() {
        let rules = |set: DataSet, policy: Policy| {
            let pods = set.pods(500);
            let mut rules: Vec<_> =
                pods.windows(2).filter_map(|pair| policy.decide(&pair[0], &pair[1]).1).collect();
            rules.sort_by_key(|rule| rule.number());
            rules.dedup();
            rules
        };
        assert_eq!(rules(DataSet::Rollout, log_scaled()), [Rule::Rank, Rule::Uid]);
        assert_eq!(rules(DataSet::Rollout, exact()), [Rule::Rank, Rule::ReadyTime, Rule::Uid]);
        assert!(rules(DataSet::Spread, exact()).starts_with(&[Rule::ReadyTime]));
        for policy in [exact(), log_scaled()] {
            assert_eq!(rules(DataSet::Tie, policy), [Rule::Uid]);
            let reverse = DataSet::Reverse.pods(500);
            assert!(reverse.windows(2).all(|pair| policy.compare(&pair[1], &pair[0]).is_lt()));
        }
    }
}
