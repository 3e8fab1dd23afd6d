//! Who races: the ways to find the first `k` pods of the order, and the floor, which no way to find them can beat.

use podrank::{Pod, Policy, Scratch};
use podrank_ffi::{PODRANK_OK, PODRANK_OPTIONS_NOW, podrank_options, podrank_scratch, podrank_select};

/// Sums all bytes of the records, eight at a time. This is a lower bound, because every decision has to read them, too.
pub fn floor(pods: &[Pod]) -> u64 {
    // SAFETY: a record is 64 bytes of integers, aligned to 8, without a byte of padding.
    let words = unsafe { std::slice::from_raw_parts(pods.as_ptr().cast::<u64>(), size_of_val(pods) / 8) };
    words.iter().copied().fold(0, u64::wrapping_add)
}

/// As large a scratch buffer as the documentation asks for.
pub fn scratch(pods: &[Pod], k: usize) -> Vec<Scratch> {
    vec![Scratch::default(); k.min(pods.len().div_ceil(4))]
}

/// The options of the C library that mean a policy of Kubernetes' gates.
fn options(policy: &Policy) -> podrank_options {
    let now = policy.now.unix_nanos();
    podrank_options { size: 16, flags: now.map_or(0, |_| PODRANK_OPTIONS_NOW), now: now.unwrap_or(0) }
}

/// `podrank_select` with the scratch it asks for, as called from C.
#[derive(Debug)]
pub struct C {
    options: podrank_options,
    victims: Vec<u32>,
    scratch: Vec<podrank_scratch>,
}

impl C {
    /// With memory for `k` victims.
    pub fn new(policy: &Policy, k: usize) -> Self {
        Self {
            options: options(policy),
            victims: vec![0; k],
            scratch: vec![podrank_scratch { words: [0; 8] }; k],
        }
    }

    /// The victims.
    ///
    /// # Panics
    /// If the library refuses.
    pub fn select(&mut self, pods: &[Pod]) -> &[u32] {
        let (victims, scratch) = (&mut self.victims, &mut self.scratch);
        let mut selected = 0;
        // SAFETY: every pointer is to as many elements as said, and none of them overlap. The records have one layout.
        let status = unsafe {
            podrank_select(
                pods.as_ptr().cast(),
                pods.len(),
                &raw const self.options,
                victims.as_mut_ptr(),
                victims.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
                &raw mut selected,
            )
        };
        assert_eq!(status, PODRANK_OK);
        &victims[..selected]
    }
}
