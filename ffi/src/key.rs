//! Keys: a pod's place in the order, as bytes.

use crate::memory::{Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::question::one;
use crate::record::podrank_pod;
use crate::status::run;
use podrank::{Key, Pod};

/// The length of a key, in bytes.
pub const PODRANK_KEY_LEN: usize = 64;

/// The number of the format of keys. It changes whenever some pods' keys get other bytes, as with a new rule. So a
/// store of keys compares the number that it stored with podrank_key_format() of the library that it runs with, and if they
/// differ, makes all keys again from the pods.
pub const PODRANK_KEY_FORMAT: u32 = 1;

const _: () = {
    assert!(PODRANK_KEY_LEN == Key::LEN);
    assert!(PODRANK_KEY_FORMAT == Key::FORMAT);
};

/// Returns the format of the keys that the linked library makes. It can differ from the PODRANK_KEY_FORMAT of the header that
/// you compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_key_format() -> u32 {
    PODRANK_KEY_FORMAT
}

/// Writes the pod's place in the order to key, as PODRANK_KEY_LEN bytes that memcmp compares as
/// podrank_compare compares the pods. COMPARE ONLY KEYS OF ONE FORMAT THAT WERE MADE WITH THE SAME now AND GATES,
/// whichever release made them.
/// The bytes do not depend on the machine. If key_len is below PODRANK_KEY_LEN: PODRANK_ERR_SHORT_BUFFER.
///
/// To store keys, store podrank_key_format() with them, and make them without a now, by which they would age: with options
/// NULL, or without PODRANK_OPTIONS_NOW. A key also holds the rank, which changes when another pod comes to the node or leaves it:
/// make the keys of all pods on that node again, or leave all ranks at 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_key(
    pod: *const podrank_pod,
    options: *const podrank_options,
    key: *mut u8,
    key_len: usize,
) -> i32 {
    run(|| {
        let pod = Input::one(pod.cast::<Pod>())?;
        let key = Output::new(key, key_len)?;
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[key.span()], &[pod.span(), options])?;
        key.needs(PODRANK_KEY_LEN)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            key.write(policy.key(one(pod)?).to_bytes());
        }
        Ok(())
    })
}
