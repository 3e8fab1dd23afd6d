//! Keys: a pod's place in the order, as bytes.

use crate::memory::{Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::order::one;
use crate::record::podrank_pod;
use crate::status::run;
use podrank::{Key, Pod};

/// The length of a key, in bytes.
pub const PODRANK_KEY_LEN: usize = 64;

const _: () = assert!(PODRANK_KEY_LEN == Key::LEN);

/// Writes the pod's place in the order to key, as PODRANK_KEY_LEN bytes that memcmp compares as
/// podrank_compare compares the pods. COMPARE ONLY KEYS THAT ONE RELEASE MADE WITH THE SAME now AND GATES.
/// The bytes do not depend on the machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_key(
    pod: *const podrank_pod,
    options: *const podrank_options,
    key: *mut u8,
) -> i32 {
    run(|| {
        let pod = Input::one(pod.cast::<Pod>())?;
        let key = Output::new(key, PODRANK_KEY_LEN)?;
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[key.span()], &[pod.span(), options])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            key.write(policy.key(one(pod)?).to_bytes());
        }
        Ok(())
    })
}
