//! Pods of which nothing is known but what the lemmas say: a place in the order, a head, and which pods its prefilter sees
//! go after it. The proof chooses them freely, within the lemmas. Their fields are private, so that `select.rs` cannot read them.

#![expect(
    clippy::unused_self,
    clippy::trivially_copy_pass_by_ref,
    reason = "core's functions have these parameters"
)]

use core::cmp::Ordering;

/// A pod of the model, of 4 bytes.
#[repr(C)]
pub struct Pod {
    /// Of two pods, the one with the smaller place goes first. Equal places tie.
    place: u8,
    head: u8,
    /// For each pod by its number, whether this pod's prefilter sees it go after this one.
    seen_after: u8,
    number: u8,
}

/// Without any parameters.
pub(crate) struct Policy;

/// What a pod's key is in `core/src/order.rs`.
type Words = u8;

impl Policy {
    pub(crate) fn compare(&self, a: &Pod, b: &Pod) -> Ordering {
        a.place.cmp(&b.place)
    }

    pub(crate) fn words(&self, pod: &Pod) -> Words {
        pod.place
    }

    pub(crate) fn goes_before(&self, pod: &Pod, key: &Words) -> bool {
        pod.place < *key
    }

    pub(crate) const fn has_buckets(&self) -> bool {
        false
    }
}

/// What `head.rs` asks of the order.
pub(crate) mod order {
    use super::{Pod, Policy};
    use podrank::Rule;

    /// Heads with a number for the deletion cost alone. The rank that follows ends them, because it fits no head.
    pub(crate) fn value(rule: Rule, pod: &Pod, _: &Policy) -> Option<u128> {
        (rule == Rule::DeletionCost).then(|| pod.head.into())
    }
}

/// What takes the place of `core/src/prefilter.rs`.
pub(crate) mod prefilter {
    use super::{Pod, Policy};

    pub(crate) struct Prefilter {
        seen_after: u8,
    }

    impl Prefilter {
        pub(crate) const NOTHING: Self = Self { seen_after: 0 };

        pub(crate) fn at(pod: &Pod, _: &Policy) -> Self {
            Self { seen_after: pod.seen_after }
        }

        pub(crate) fn sees_after(&self, pod: &Pod) -> bool {
            self.seen_after.wrapping_shr(pod.number.into()) & 1 != 0
        }
    }
}
