//! A question about two pods: the pods and the policy, read from C's pointers.

use crate::memory::{Input, Span};
use crate::options::{self, podrank_options};
use crate::record::{podrank_pod, valid};
use crate::status::{Error, PODRANK_ERR_NULL};
use podrank::{Pod, Policy};

/// Two pods, the policy, and the memory of the three.
pub(crate) struct Question<'a> {
    pub(crate) a: &'a Pod,
    pub(crate) b: &'a Pod,
    pub(crate) policy: Policy,
    pub(crate) spans: [Span; 3],
}

impl Question<'_> {
    /// # Safety
    /// The pointers keep the promises in the header.
    pub(crate) unsafe fn read(
        a: *const podrank_pod,
        b: *const podrank_pod,
        options: *const podrank_options,
    ) -> Result<Self, Error> {
        let (a, b) = (Input::one(a.cast::<Pod>())?, Input::one(b.cast::<Pod>())?);
        let spans = (a.span(), b.span());
        // SAFETY: the caller's.
        unsafe {
            let (policy, options) = options::read(options)?;
            Ok(Self { a: one(a)?, b: one(b)?, policy, spans: [spans.0, spans.1, options] })
        }
    }
}

/// Returns a valid record.
///
/// # Safety
/// As for [`Input::read`].
pub(crate) unsafe fn one<'a>(pod: Input<Pod>) -> Result<&'a Pod, Error> {
    // SAFETY: the caller's.
    let pod = valid(unsafe { pod.read() })?;
    // There is one, because the buffer was checked for one.
    pod.first().ok_or(Error(PODRANK_ERR_NULL))
}
