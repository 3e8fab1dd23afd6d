//! The start of a pod's place in the order, in 96 bits: enough to tell most pods apart in one comparison of integers.

use crate::order::value;
use crate::{Pod, Policy, Rule};

/// A pod that may be among the victims, as [`Policy::select_with`] keeps it in the caller's memory. What it held before
/// does not matter.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Candidate(u128);

impl Candidate {
    pub(crate) const fn new(head: &Head, index: u32) -> Self {
        Self(head.bits << u32::BITS | index as u128)
    }

    /// Which goes first, and `None` if their heads tie: then the pods have to be compared.
    #[inline(always)]
    pub(crate) fn goes_before(self, other: Self) -> Option<bool> {
        ((self.0 ^ other.0) >> u32::BITS != 0).then_some(self.0 < other.0)
    }

    /// The pod's index in its list.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }
}

/// What the rules make of a pod, one value after the other, counts in as few bits as most pods need. The smaller head goes
/// first; heads may tie where the pods do not.
pub(crate) struct Head {
    bits: u128,
    /// How many of the lowest bits are still to be filled.
    room: u32,
    /// Whether a count did not fit: nothing may follow it.
    closed: bool,
}

impl Policy {
    /// The head of a pod.
    #[inline(always)]
    pub(crate) fn head(&self, pod: &Pod) -> Head {
        // Age buckets are numbers below 128.
        if self.has_buckets() { self.head_with::<7>(pod) } else { self.head_with::<64>(pod) }
    }

    /// The head with times of so many bits.
    #[inline(always)]
    fn head_with<const TIME: u32>(&self, pod: &Pod) -> Head {
        let value = |rule| value(rule, pod, self).unwrap_or(0);
        Head::new()
            .with::<1>(value(Rule::Unassigned))
            .with::<8>(value(Rule::Phase))
            .with::<1>(value(Rule::NotReady))
            .with::<32>(value(Rule::DeletionCost))
            .with_count::<8>(value(Rule::Rank))
            .with::<1>(value(Rule::Preferred))
            .with::<TIME>(value(Rule::ReadyTime))
            .with_count::<10>(value(Rule::Restarts))
            .with_count::<6>(value(Rule::SidecarRestarts))
            .with::<TIME>(value(Rule::CreationTime))
            .with::<128>(value(Rule::Uid))
    }
}

impl Head {
    const fn new() -> Self {
        Self { bits: 0, room: u128::BITS - u32::BITS, closed: false }
    }

    /// Appends a value of `WIDTH` bits, or as much of it as there is room for.
    #[inline(always)]
    const fn with<const WIDTH: u32>(self, value: u128) -> Self {
        if self.closed || self.room == 0 {
            return self;
        }
        match self.room.checked_sub(WIDTH) {
            Some(room) => Self { bits: self.bits | value.wrapping_shl(room), room, ..self },
            None => {
                Self { bits: self.bits | value.wrapping_shr(WIDTH.wrapping_sub(self.room)), room: 0, ..self }
            }
        }
    }

    /// Appends a count whose largest value is that of no pods or restarts: the numbers below that one that `WIDTH` bits
    /// tell apart. Below those a count reads as the smallest, and ends the head.
    #[inline(always)]
    const fn with_count<const WIDTH: u32>(self, value: u128) -> Self {
        let smallest = u128::MAX << WIDTH & 0xffff_ffff;
        match value.checked_sub(smallest) {
            Some(value) => self.with::<WIDTH>(value),
            None => Self { closed: true, ..self },
        }
    }
}
