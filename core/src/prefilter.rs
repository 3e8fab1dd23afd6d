//! Rules out most pods of a long list, by a few comparisons of record fields.
//!
//! Everything here follows from `order`: tests compare it with `Policy::compare`, and the laws test every
//! selection. A new rule must be considered here, too.

use crate::{Pod, Policy, Time, Uid};

/// A pod, and the values that show that another one is deleted after it.
pub(crate) struct Prefilter {
    pod: Pod,
    /// How many ready times, counted from the earliest time on, come after the pod's.
    later_times: u64,
}

impl Prefilter {
    /// Makes a filter that lets all pods pass.
    pub(crate) const NOTHING: Self =
        Self { pod: Pod { uid: Uid::from_bytes([0xff; 16]), ..Pod::new() }, later_times: 0 };

    pub(crate) fn at(pod: &Pod, policy: &Policy) -> Self {
        Self {
            pod: *pod,
            later_times: if pod.is_ready() { policy.count_later_times(pod.ready_time) } else { 0 },
        }
    }

    /// Returns whether `pod` is certainly deleted after this one: the two tie by all rules before one that says so.
    /// If it returns false, `pod` may still be deleted after this one.
    #[inline(always)]
    pub(crate) fn sees_after(&self, pod: &Pod) -> bool {
        let alike =
            small_fields(pod) == small_fields(&self.pod) && pod.deletion_cost == self.pod.deletion_cost;
        let is_older = moments_before(pod.ready_time) < self.later_times;
        alike
            && (pod.rank < self.pod.rank
                || pod.rank == self.pod.rank && (is_older || self.sees_larger_uid(pod)))
    }

    #[inline(always)]
    fn sees_larger_uid(&self, pod: &Pod) -> bool {
        pod.ready_time == self.pod.ready_time
            && pod.restarts == self.pod.restarts
            && pod.sidecar_restarts == self.pod.sidecar_restarts
            && pod.creation_time == self.pod.creation_time
            && pod.uid > self.pod.uid
    }
}

/// Returns phase, flags and tier as one number. They are neighbours in the record, so that one load reads them.
#[inline(always)]
const fn small_fields(pod: &Pod) -> u32 {
    let [low, high] = pod.tier.to_le_bytes();
    u32::from_le_bytes([pod.phase.ordinal(), pod.flags.bits(), low, high])
}

impl Policy {
    /// Returns how many times, counted from the earliest on, come after this one by their age.
    fn count_later_times(&self, time: Time) -> u64 {
        let Some(bucket) = self.age_bucket(time) else { return moments_before(time) };
        // From the latest time of the next bucket to the earliest of all.
        let age = 2_i64.checked_pow(bucket.wrapping_add(1).cast_unsigned());
        let youngest = age.and_then(|age| self.now.bits().checked_sub(age));
        youngest.map_or(0, |youngest| youngest.wrapping_sub(Time::UNSET.bits()).cast_unsigned())
    }
}

/// Returns how many times are earlier than this one. All are earlier than unset, which counts as the latest.
const fn moments_before(time: Time) -> u64 {
    time.bits().wrapping_sub(Time::MIN.bits()).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Phase, Rule};

    /// The rules that `sees_after` was written for. With another one among them, it could be wrong.
    #[test]
    fn knows_all_rules() {
        let known = [
            Rule::Unassigned,
            Rule::Phase,
            Rule::NotReady,
            Rule::Tier,
            Rule::DeletionCost,
            Rule::Rank,
            Rule::Preferred,
            Rule::ReadyTime,
            Rule::Restarts,
            Rule::SidecarRestarts,
            Rule::CreationTime,
            Rule::Uid,
        ];
        assert_eq!(Rule::ALL, known);
    }

    /// Both sides of every power of two of age, the ends of the range and unset, at a `now` in the middle and
    /// at its ends.
    #[test]
    fn sees_after_by_time_just_those_that_go_after_by_it() {
        extern crate std;
        let before_1970 = Time::from_unix(-1_773_144_000, 5);
        let after_1970 = Time::from_unix(1_773_144_000, 5);
        for now in [Time::UNSET, Time::MIN, before_1970, Time::from_unix_nanos(0), after_1970, Time::MAX] {
            let policy = Policy::at(now);
            let ages = (0..63).map(|bits| 1_i64 << bits).chain([i64::MAX]);
            let around = ages.flat_map(|age| [age.wrapping_sub(1), age, age.saturating_add(1)]);
            let mut times: std::vec::Vec<_> = around
                .flat_map(|age| [now.bits().saturating_sub(age), now.bits().saturating_add(age)])
                .map(Time::from_unix_nanos)
                .collect();
            times.extend([Time::UNSET, Time::MIN, Time::MAX]);
            let pod = |&ready_time| Pod {
                ready_time,
                flags: Flags::ASSIGNED | Flags::READY,
                phase: Phase::RUNNING,
                ..Pod::new()
            };
            for a in times.iter().map(pod) {
                let prefilter = Prefilter::at(&a, &policy);
                for b in times.iter().map(pod) {
                    assert_eq!(
                        prefilter.sees_after(&b),
                        policy.compare(&a, &b).is_lt(),
                        "{now:?}: {a:?} {b:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn sees_after_by_rank_and_uid_among_those_that_are_alike() {
        let pod = Pod { tier: 2, rank: 2, uid: Uid::from_bytes([7; 16]), ..Pod::new() };
        let prefilter = Prefilter::at(&pod, &Policy::without_now());
        let uid = Uid::from_bytes([8; 16]);
        assert!(prefilter.sees_after(&Pod { rank: 1, ..pod }));
        assert!(prefilter.sees_after(&Pod { uid, ..pod }));
        let may_go_before = [
            pod,
            Pod { rank: 3, uid, ..pod },
            Pod { uid: Uid::from_bytes([6; 16]), ..pod },
            Pod { deletion_cost: -1, rank: 1, ..pod },
            Pod { tier: 1, rank: 1, ..pod },
            Pod { phase: Phase::UNKNOWN, rank: 1, ..pod },
            Pod { flags: Flags::PREFERRED, rank: 1, ..pod },
            Pod { restarts: 1, uid, ..pod },
            Pod { sidecar_restarts: 1, uid, ..pod },
            Pod { creation_time: Time::MIN, uid, ..pod },
            Pod { ready_time: Time::MIN, uid, ..pod },
        ];
        for pod in may_go_before {
            assert!(!prefilter.sees_after(&pod), "{pod:?}");
        }
        assert!(!Prefilter::NOTHING.sees_after(&Pod { uid: Uid::from_bytes([0xff; 16]), ..Pod::new() }));
    }
}
