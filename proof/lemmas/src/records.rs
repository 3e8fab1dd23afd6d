//! The parts of core that read a record, over real records.

use podrank::ffi::lemmas::{candidate, goes_before, sees_after};
use podrank::{Candidate, FeatureGates, Pod, Policy, Time};

/// `podrank_options`, which must be valid and of 16 bytes.
#[repr(C)]
pub struct Options {
    size: u32,
    flags: u32,
    now: i64,
}

impl Options {
    const fn policy(&self) -> Policy {
        let mut gates = FeatureGates::KUBERNETES;
        gates.pod_deletion_cost = self.flags & 2 == 0;
        gates.logarithmic_scale_down = self.flags & 4 == 0;
        gates.prefer_for_scale_down = self.flags & 8 != 0;
        let now = if self.flags & 1 == 0 { Time::UNSET } else { Time::from_unix_nanos(self.now) };
        Policy::at(now).with_gates(gates)
    }
}

/// Writes what a selection keeps of a pod with this index.
#[unsafe(no_mangle)]
pub extern "C" fn lemma_head(pod: &Pod, options: &Options, index: u32, out: &mut Candidate) {
    *out = candidate(&options.policy(), pod, index);
}

/// Returns whether the prefilter of a pod sees another go after it.
#[unsafe(no_mangle)]
pub extern "C" fn lemma_prefilter(pod: &Pod, other: &Pod, options: &Options) -> u32 {
    sees_after(&options.policy(), pod, other).into()
}

/// Returns whether a pod goes before the one with another pod's key.
#[unsafe(no_mangle)]
pub extern "C" fn lemma_goes_before(pod: &Pod, other: &Pod, options: &Options) -> u32 {
    goes_before(&options.policy(), pod, other).into()
}
