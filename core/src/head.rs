//! The start of a pod's place in the order, in 96 bits: one comparison of integers separates most pods.

use crate::order::value;
use crate::{Pod, Policy, Rule};

/// Scratch memory for one victim of [`Policy::select_with`], or for four pods of [`Policy::sort_with`]: make a buffer
/// of `Scratch::default()`. It takes 64 bytes, as C's `podrank_scratch` does.
pub type Scratch = [Candidate; 4];

/// A quarter of a [`Scratch`]. Its contents are private.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Candidate(u128);

impl Candidate {
    pub(crate) const fn new(head: &Head, index: u32) -> Self {
        Self::with_bits(head.bits << u32::BITS, index)
    }

    /// Returns the candidate with the high 96 of these bits as its head.
    pub(crate) const fn with_bits(bits: u128, index: u32) -> Self {
        Self(bits >> u32::BITS << u32::BITS | index as u128)
    }

    /// Returns whether this one is deleted before the other by its head, or by its index if their heads tie.
    pub(crate) const fn is_less(self, other: Self) -> bool {
        self.0 < other.0
    }

    /// Returns whether this one is deleted before the other, or `None` if their heads tie: then compare the pods.
    #[inline(always)]
    pub(crate) fn goes_before(self, other: Self) -> Option<bool> {
        ((self.0 ^ other.0) >> u32::BITS != 0).then_some(self.0 < other.0)
    }

    /// Returns the pod's index in its list.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }
}

/// The values that the rules give a pod, side by side, with counts in as few bits as most pods need. The pod
/// with the smaller head is deleted first. Heads can tie although their pods do not.
pub(crate) struct Head {
    bits: u128,
    /// How many of the lowest bits are still unused.
    room: u32,
}

/// A head to which more may be appended, or one that has ended: its last number did not fit, so that nothing may
/// follow.
type Open = Result<Head, Head>;

impl Policy {
    /// Returns the head of a pod.
    #[inline(always)]
    pub(crate) fn head(&self, pod: &Pod) -> Head {
        // Age buckets are numbers below 128.
        let head = if self.has_buckets() { self.head_with::<7>(pod) } else { self.head_with::<64>(pod) };
        head.unwrap_or_else(|ended| ended)
    }

    /// Returns the head with `TIME` bits for each time.
    #[inline(always)]
    fn head_with<const TIME: u32>(&self, pod: &Pod) -> Open {
        let value = |rule| value(rule, pod, self).unwrap_or(0);
        let head = Head::new()
            .with::<1>(value(Rule::Unassigned))
            .with_small::<2>(value(Rule::Phase))?
            .with::<1>(value(Rule::NotReady))
            .with_small::<4>(value(Rule::Tier))?
            .with::<32>(value(Rule::DeletionCost))
            .with_count::<8>(value(Rule::Rank))?
            .with::<1>(value(Rule::Preferred))
            .with::<TIME>(value(Rule::ReadyTime))
            .with_count::<10>(value(Rule::Restarts))?
            .with_count::<6>(value(Rule::SidecarRestarts))?
            .with::<TIME>(value(Rule::CreationTime))
            .with::<128>(value(Rule::Uid));
        Ok(head)
    }
}

impl Head {
    const fn new() -> Self {
        Self { bits: 0, room: u128::BITS - u32::BITS }
    }

    /// Appends a value of `WIDTH` bits, or as many of its high bits as are unused.
    #[inline(always)]
    const fn with<const WIDTH: u32>(self, value: u128) -> Self {
        if self.room == 0 {
            return self;
        }
        match self.room.checked_sub(WIDTH) {
            Some(room) => Self { bits: self.bits | value.wrapping_shl(room), room },
            None => Self { bits: self.bits | value.wrapping_shr(WIDTH.wrapping_sub(self.room)), room: 0 },
        }
    }

    /// Appends a number in `WIDTH` bits. A number that is too large for them reads as the largest that fits, and
    /// ends the head. So does that number itself.
    #[inline(always)]
    const fn with_small<const WIDTH: u32>(self, value: u128) -> Open {
        let largest = 1_u128.wrapping_shl(WIDTH).wrapping_sub(1);
        if value < largest { Ok(self.with::<WIDTH>(value)) } else { Err(self.with::<WIDTH>(largest)) }
    }

    /// Appends a count, whose value is larger the smaller the count. `WIDTH` bits hold the largest values. A
    /// value below those reads as the smallest of them, and ends the head.
    #[inline(always)]
    const fn with_count<const WIDTH: u32>(self, value: u128) -> Open {
        let smallest = u128::MAX << WIDTH & 0xffff_ffff;
        match value.checked_sub(smallest) {
            Some(value) => Ok(self.with::<WIDTH>(value)),
            None => Err(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FeatureGates, Flags, Phase, Time, Uid};

    /// Heads that all tie would only be slow, and change no victim. So this tests that they do not.
    #[test]
    fn usual_pods_differ_in_their_heads_by_every_rule() {
        let (hour, minute) = (Time::from_unix(-3600, 0), Time::from_unix(-60, 0));
        let pod = Pod {
            uid: Uid::from_bytes([7; 16]),
            ready_time: hour,
            creation_time: hour,
            tier: 14,
            deletion_cost: 0,
            rank: 254,
            restarts: 1022,
            sidecar_restarts: 62,
            phase: Phase::RUNNING,
            flags: Flags::ASSIGNED | Flags::READY,
            ..Pod::new()
        };
        // Each is deleted before `pod`.
        let earlier = [
            Pod { flags: Flags::READY, ..pod },
            Pod { phase: Phase::UNKNOWN, ..pod },
            Pod { flags: Flags::ASSIGNED, ..pod },
            Pod { tier: 13, ..pod },
            Pod { deletion_cost: -1, ..pod },
            Pod { rank: 255, ..pod },
            Pod { flags: pod.flags | Flags::PREFERRED, ..pod },
            Pod { ready_time: minute, ..pod },
            Pod { restarts: 1023, ..pod },
            Pod { sidecar_restarts: 63, ..pod },
            Pod { creation_time: minute, ..pod },
            Pod { uid: Uid::from_bytes([6; 16]), ..pod },
        ];
        let gates = FeatureGates { prefer_for_scale_down: true, ..FeatureGates::KUBERNETES };
        let log_scaled = Policy::at(Time::from_unix(0, 0)).with_gates(gates);
        let plain = Policy::without_now().with_gates(gates);
        // Without log scaling, the bits suffice down to the ready time.
        for (policy, separated) in [(log_scaled, 12), (plain, 8)] {
            for earlier in earlier.iter().take(separated) {
                let [a, b] = [earlier, &pod].map(|pod| Candidate::new(&policy.head(pod), 0));
                assert_eq!((a.goes_before(b), b.goes_before(a)), (Some(true), Some(false)), "{earlier:?}");
            }
        }
        let [a, b] = [0, 1].map(|index| Candidate::new(&plain.head(&pod), index));
        assert_eq!((a.goes_before(b), a.index(), b.index()), (None, 0, 1));
    }

    /// A count that does not fit its bits ties with others that do not, whatever follows.
    #[test]
    fn large_counts_tie() {
        let pod = |restarts, uid| Pod { restarts, uid: Uid::from_bytes([uid; 16]), ..Pod::new() };
        let policy = Policy::at(Time::from_unix(0, 0));
        let candidate = |restarts, uid| Candidate::new(&policy.head(&pod(restarts, uid)), 0);
        assert_eq!(candidate(5000, 9).goes_before(candidate(1024, 1)), None);
        assert_eq!(candidate(1024, 9).goes_before(candidate(1023, 1)), Some(true));
        let in_tier =
            |tier, deletion_cost| Candidate::new(&policy.head(&Pod { deletion_cost, tier, ..Pod::new() }), 0);
        assert_eq!(in_tier(15, 9).goes_before(in_tier(u16::MAX, 1)), None);
        assert_eq!(in_tier(14, 9).goes_before(in_tier(15, 1)), Some(true));
    }
}
