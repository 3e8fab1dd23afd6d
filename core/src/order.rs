//! The order, written once: the value that each rule gives a pod. Everything else is derived from it.

use crate::{Pod, Policy, Rule, Time};
use core::cmp::Ordering;
use core::mem;

/// A pod's place in the order, as 64 bytes: the pod with the smaller key is deleted first.
///
/// [`Policy::key`] says which keys compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; Self::LEN]);

/// The bytes of a key, eight at a time, the first in the highest bits.
pub(crate) type Words = [u64; WORDS];

const WORDS: usize = 8;
/// The position of the bits of the rules before the tier in the first word.
const CLASS_SHIFT: u32 = 54;

impl Key {
    /// The number of bytes.
    pub const LEN: usize = size_of::<Words>();

    /// The number of the format of the bytes. It changes whenever some pods' keys get other bytes, as with a new rule. So a store of
    /// keys keeps this number with them, and makes all keys again if it differs.
    pub const FORMAT: u32 = 1;

    /// Returns a key that was stored as bytes. Any bytes are a key.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the key as bytes, which compare as the pods do, also by `memcmp`. They do not depend on the machine.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the value that `rule` gives a pod under `policy`, or `None` if the rule does not apply. The pod
/// with the smaller value is deleted first.
///
/// On small machines, one copy of this saves more than inlining does.
#[cfg_attr(target_has_atomic = "64", inline(always))]
#[cfg_attr(not(target_has_atomic = "64"), inline(never))]
pub(crate) fn value(rule: Rule, pod: &Pod, policy: &Policy) -> Option<u128> {
    value_of(rule, pod, policy)
}

/// Does what [`value`] does. Inlined where the rule is a constant, it takes a few instructions.
#[inline(always)]
fn value_of(rule: Rule, pod: &Pod, policy: &Policy) -> Option<u128> {
    Some(match rule {
        Rule::Unassigned => pod.is_assigned().into(),
        Rule::Phase => pod.phase.ordinal().into(),
        Rule::NotReady => pod.is_ready().into(),
        Rule::Tier => pod.tier.into(),
        Rule::DeletionCost if policy.gates.pod_deletion_cost => ascending(pod.deletion_cost).into(),
        Rule::Rank => (!pod.rank).into(),
        Rule::Preferred if policy.gates.prefer_for_scale_down => (!pod.is_preferred()).into(),
        Rule::ReadyTime if pod.is_ready() => youngest_first(pod.ready_time, policy).into(),
        Rule::Restarts => (!pod.restarts).into(),
        Rule::SidecarRestarts => (!pod.sidecar_restarts).into(),
        Rule::CreationTime => youngest_first(pod.creation_time, policy).into(),
        Rule::Uid => u128::from_be_bytes(pod.uid.to_bytes()),
        Rule::DeletionCost | Rule::Preferred | Rule::ReadyTime => return None,
    })
}

/// Returns a signed number as an unsigned one in the same order.
const fn ascending(cost: i32) -> u32 {
    cost.cast_unsigned() ^ 1 << 31
}

/// Returns a value that puts unset times first. The others follow by age bucket if the policy has buckets,
/// and from the latest to the earliest if not.
#[inline(always)]
fn youngest_first(time: Time, policy: &Policy) -> u64 {
    match policy.age_bucket(time) {
        // Buckets start at -1, and 0 is for unset.
        Some(bucket) => i64::from(bucket).wrapping_add(2).cast_unsigned(),
        None => time.latest_first(),
    }
}

/// Returns one word of the key: the values of its rules side by side, the first rule in the highest bits.
///
/// Unused bits are reserved for later rules, so that the key keeps its length.
#[cfg_attr(target_has_atomic = "64", inline(always))]
#[cfg_attr(not(target_has_atomic = "64"), inline(never))]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a value fits the bits it gets, except for the UID, which gets two words"
)]
fn word(index: usize, pod: &Pod, policy: &Policy) -> u64 {
    // If a rule does not apply to one of two pods, it applies to neither, or an earlier rule has decided. So
    // any number is right.
    let wide = |rule| value_of(rule, pod, policy).unwrap_or(0);
    let value = |rule| wide(rule) as u64;
    match index {
        0 => {
            // Assigned is the lowest flag, and the flags stand behind the phase in the record, so one load reads both.
            // The other flags fall off at the top.
            let assigned_and_phase =
                u64::from(u16::from_le_bytes([pod.phase.ordinal(), pod.flags.bits()])) << 55;
            let class = assigned_and_phase | value(Rule::NotReady) << CLASS_SHIFT;
            class | value(Rule::Tier) << 38 | value(Rule::DeletionCost) << 6
        }
        1 => value(Rule::Rank) << 32 | value(Rule::Preferred) << 31,
        2 => value(Rule::ReadyTime),
        3 => value(Rule::Restarts) << 32 | value(Rule::SidecarRestarts),
        4 => value(Rule::CreationTime),
        6 => (wide(Rule::Uid) >> 64) as u64,
        7 => value(Rule::Uid),
        _ => 0,
    }
}

/// Returns the values of the rules before the tier, as one number: a pod with a smaller one is deleted first.
pub(crate) fn class(pod: &Pod) -> u64 {
    // These rules apply by every policy.
    word(0, pod, &Policy::without_now()) >> CLASS_SHIFT
}

impl Policy {
    /// Returns `Less` if `a` is deleted before `b`, `Greater` if `b` is deleted before `a`, and `Equal` if every rule
    /// ties. Pods with distinct UIDs never tie.
    #[must_use]
    pub fn compare(&self, a: &Pod, b: &Pod) -> Ordering {
        self.compare_from::<0>(a, b)
    }

    /// Compares two keys from this word on.
    #[inline(always)]
    fn compare_from<const FIRST: usize>(&self, a: &Pod, b: &Pod) -> Ordering {
        (FIRST..WORDS)
            .map(|i| word(i, a, self).cmp(&word(i, b, self)))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Returns how each pod compares with the next: `Greater` for all, or `Less` or `Equal` for all. Returns `None`
    /// if it is neither.
    ///
    /// Computes each word of a pod only once, and the later ones only if the first ones tie.
    pub(crate) fn run(&self, pods: &[Pod]) -> Option<Ordering> {
        let later_words = |pod: &Pod| [1, 2, 3].map(|i| word(i, pod, self));
        let mut word_before = pods.first().map_or(0, |pod| word(0, pod, self));
        let mut later_before = None;
        let mut direction = None;
        let is_run = pods.windows(2).all(|pair| {
            let [a, b] = pair else { return true };
            let (word, later_of_a) = (word(0, b, self), later_before.take());
            let mut ordering = mem::replace(&mut word_before, word).cmp(&word);
            if ordering.is_eq() {
                let later = later_words(b);
                ordering = later_of_a.unwrap_or_else(|| later_words(a)).cmp(&later);
                later_before = Some(later);
            }
            let ordering = ordering.then_with(|| self.compare_from::<4>(a, b));
            direction.get_or_insert(ordering).is_gt() == ordering.is_gt()
        });
        is_run.then_some(direction.unwrap_or(Ordering::Equal))
    }

    /// Returns the first word of the keys in which any of these pods differ, or `None` if all tie.
    pub(crate) fn first_difference<'p>(
        &self,
        mut pods: impl Iterator<Item = &'p Pod> + Clone,
    ) -> Option<usize> {
        let first = pods.next()?;
        (0..WORDS).find(|&i| pods.clone().any(|pod| word(i, pod, self) != word(i, first, self)))
    }

    /// Returns this word of the key and the next.
    pub(crate) fn two_words(&self, i: usize, pod: &Pod) -> u128 {
        u128::from(word(i, pod, self)) << u64::BITS | u128::from(word(i.saturating_add(1), pod, self))
    }

    /// Returns what [`compare`](Policy::compare) returns, and the rule that decides: the first that does not
    /// tie. The rule is `None` if all tie.
    #[must_use]
    pub fn decide(&self, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>) {
        Rule::ALL
            .iter()
            .map(|&rule| (value(rule, a, self).cmp(&value(rule, b, self)), Some(rule)))
            .find(|(ordering, _)| ordering.is_ne())
            .unwrap_or((Ordering::Equal, None))
    }

    /// Returns the pod's place in the order as bytes. **Compare only keys of one [format](Key::FORMAT) that were made with the
    /// same `now` and gates**, whichever release made them.
    ///
    /// A key costs a little more than a comparison. It pays off for a pod that is compared often, and for
    /// sorting outside this crate, such as in a database.
    #[must_use]
    pub fn key(&self, pod: &Pod) -> Key {
        let mut bytes = [0; Key::LEN];
        let (chunks, _) = bytes.as_chunks_mut();
        for (chunk, word) in chunks.iter_mut().zip(self.words(pod)) {
            *chunk = word.to_be_bytes();
        }
        Key(bytes)
    }

    /// Returns the words of a key, which compare as its bytes do.
    pub(crate) fn words(&self, pod: &Pod) -> Words {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|i| word(i, pod, self))
    }

    /// Returns whether `pod` is deleted before the pod with this key.
    #[inline(always)]
    pub(crate) fn goes_before(&self, pod: &Pod, key: &Words) -> bool {
        self.compare_with_key(pod, key).is_lt()
    }

    /// Compares `pod` with the pod with this key.
    #[inline(always)]
    pub(crate) fn compare_with_key(&self, pod: &Pod, key: &Words) -> Ordering {
        for (i, theirs) in key.iter().enumerate() {
            match word(i, pod, self).cmp(theirs) {
                Ordering::Equal => {}
                ordering => return ordering,
            }
        }
        Ordering::Equal
    }
}
