//! What the C ABI needs besides the public items. Hidden: it may change with any release.

#[cfg(feature = "controller")]
pub use crate::controller::expectations::Expected;
#[cfg(feature = "kubernetes")]
pub use crate::go_sort::go_sort;
pub use crate::node::node_number;

use crate::{Candidate, Error, Pod, Policy, Reserved, Rule};
#[cfg(feature = "steering")]
use crate::{SteerScratch, Steered};
use core::ffi::CStr;

/// Returns reserved bytes as a record of another release may have them.
#[must_use]
pub const fn reserved(bytes: [u8; 8]) -> Reserved {
    Reserved(bytes)
}

/// Returns the [name](Rule::name) of a rule as C text.
#[must_use]
pub const fn rule_name(rule: Rule) -> &'static CStr {
    rule.c_name()
}

/// Whether [`Policy::select_with`] and [`Policy::sort_with`] use their scratch buffers. Where 32 bits are all that is compared at a time,
/// it would save little, and the code for it is large.
///
/// `target_has_atomic = "64"` separates such machines from others, here and in the order: WebAssembly has 32-bit
/// pointers, but compares 64 bits.
pub const IS_SCRATCH_USED: bool = cfg!(target_has_atomic = "64");

/// Does what [`Policy::select_with`] does with a buffer that is not a whole number of
/// [`Scratch`](crate::Scratch).
///
/// # Errors
/// Those of [`Policy::select_with`].
pub fn select_with<'v>(
    policy: &Policy,
    pods: &[Pod],
    victims: &'v mut [u32],
    scratch: &mut [Candidate],
) -> Result<&'v [u32], Error> {
    policy.select_in(pods, victims, scratch)
}

/// Does what [`Policy::sort_with`] does with a buffer that is not a whole number of
/// [`Scratch`](crate::Scratch).
///
/// # Errors
/// Those of [`Policy::sort_with`].
pub fn sort_with<'v>(
    policy: &Policy,
    pods: &[Pod],
    order: &'v mut [u32],
    scratch: &mut [Candidate],
) -> Result<&'v [u32], Error> {
    policy.sort_in(pods, order, scratch)
}

/// The parts of a selection that read records, each as a function, for `proof/lemmas`.
#[cfg(feature = "lemmas")]
pub mod lemmas {
    use crate::prefilter::Prefilter;
    use crate::{Candidate, Pod, Policy};

    /// Returns what a selection keeps of a pod.
    #[must_use]
    pub fn candidate(policy: &Policy, pod: &Pod, index: u32) -> Candidate {
        Candidate::new(&policy.head(pod), index)
    }

    /// Returns whether the prefilter of `pod` shows that `other` is deleted after it.
    #[must_use]
    pub fn sees_after(policy: &Policy, pod: &Pod, other: &Pod) -> bool {
        Prefilter::at(pod, policy).sees_after(other)
    }

    /// Returns whether `pod` is deleted before the pod with the key of `other`.
    #[must_use]
    pub fn goes_before(policy: &Policy, pod: &Pod, other: &Pod) -> bool {
        policy.goes_before(pod, &policy.words(other))
    }
}

#[cfg(feature = "steering")]
/// Does the part of [`Policy::steer`] that can fail, before there are costs. `scratch` is as long as `pods`.
///
/// # Errors
/// Those of [`Policy::steer`].
pub fn fit(
    policy: &Policy,
    pods: &[Pod],
    price: impl Fn(usize) -> Option<u8>,
    scratch: &mut [SteerScratch],
) -> Result<(), Error> {
    policy.fit(pods, price, scratch)
}

#[cfg(feature = "steering")]
/// Does the rest, with what [`fit`] left in `scratch`. `costs` are as long as `pods`.
#[must_use]
pub fn steer_fitted<'s>(
    policy: &Policy,
    pods: &[Pod],
    price: impl Fn(usize) -> Option<u8>,
    costs: &'s mut [i32],
    scratch: &'s mut [SteerScratch],
) -> Steered<'s> {
    policy.steer_fitted(pods, price, costs, scratch)
}
