//! What `proof/` proves about parts of core that the compiler inlines: each part as a function of its own.
//!
//! - [`records`] has those that read a record: the head, the prefilter, and the comparison with a pod's key.
//! - `lemma_select` is `core/src/select.rs`, compiled here over the pods of [`model`], of which it can only learn what those parts
//!   may say. If `select.rs` came to read a record in another way, it would not compile here.
#![no_std]

pub mod model;
pub mod records;

#[path = "../../../core/src/head.rs"]
#[expect(dead_code, unreachable_pub, reason = "core uses the rest")]
mod head;
#[path = "../../../core/src/select.rs"]
#[expect(dead_code, unreachable_pub, reason = "core uses the rest")]
mod select;
#[path = "../../../core/src/sort.rs"]
#[expect(dead_code, reason = "core uses the rest")]
mod sort;

use core::slice::{from_raw_parts, from_raw_parts_mut};
use head::{Candidate, Scratch};
use model::{Pod, Policy, order, prefilter};
use podrank::{Error, Rule};

/// What `select.rs` asks of core besides. Here, the buffer is used on every machine.
mod ffi {
    pub(crate) const IS_SCRATCH_USED: bool = true;
}

/// Selects victims among the pods of a model with a buffer of `candidates_len` candidates. Returns how many.
///
/// # Safety
/// The buffers are aligned and as long as it says, and no two of them overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lemma_select(
    pods: *const Pod,
    pods_len: usize,
    victims: *mut u32,
    victims_len: usize,
    candidates: *mut Candidate,
    candidates_len: usize,
) -> usize {
    // SAFETY: promised to this function.
    unsafe {
        let (pods, victims) = (from_raw_parts(pods, pods_len), from_raw_parts_mut(victims, victims_len));
        let candidates = from_raw_parts_mut(candidates, candidates_len);
        Policy.select_in(pods, victims, candidates).map_or(usize::MAX, <[u32]>::len)
    }
}

/// Never called. If there were a panic path, the symbol below would be undefined in the object.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn podrank_has_a_panic_path() -> !;
    }
    // SAFETY: it does not exist.
    unsafe { podrank_has_a_panic_path() }
}
