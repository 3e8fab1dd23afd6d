//! The options as C sees them, which may grow.

use crate::PODRANK_TIME_UNSET;
use crate::memory::{Input, Span};
use crate::status::{Error, PODRANK_ERR_OPTIONS_FLAGS, PODRANK_ERR_OPTIONS_NOW, PODRANK_ERR_OPTIONS_SIZE};
use core::mem::size_of;
use podrank::{FeatureGates, Policy, Time};

/// The time and the feature gates by which to decide. Start from PODRANK_OPTIONS_AT(now), which compares ages by age
/// bucket, as kube-controller-manager does.
///
/// NULL means the defaults, as do options that are all zero except for their size: Kubernetes' default feature gates, and
/// times compared as they are, because without a now there are no ages. Kubernetes has not compared times in that way
/// since 1.31, so do not predict its deletions without a now.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_options {
    /// sizeof(podrank_options). Options may grow. A library accepts the smaller size of an older header, and
    /// reads the rest as zero. It accepts a larger size, up to PODRANK_OPTIONS_SIZE_MAX, if all bytes that it
    /// does not know are zero.
    pub size: u32,
    /// PODRANK_OPTIONS_NOW, and the flags of the gates that differ from the default. 0 is the default.
    pub flags: u32,
    /// The time at which ages are taken, in nanoseconds of the clock of the pods' times. It needs PODRANK_OPTIONS_NOW in flags:
    /// a value other than 0 without it is PODRANK_ERR_OPTIONS_NOW, and so is PODRANK_TIME_UNSET with it.
    pub now: i64,
}

/// The options' now is set. Ages are compared by age bucket.
pub const PODRANK_OPTIONS_NOW: u32 = 1;
/// Turns the feature gate PodDeletionCost off (on by default: beta since Kubernetes 1.22).
pub const PODRANK_OPTIONS_POD_DELETION_COST_OFF: u32 = 2;
/// Turns the feature gate LogarithmicScaleDown off (on by default since Kubernetes 1.22, always on since 1.31).
pub const PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF: u32 = 4;
/// Turns PreferForScaleDown on (off by default: no release of Kubernetes has it).
pub const PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON: u32 = 8;

/// The largest size of options that a library accepts.
pub const PODRANK_OPTIONS_SIZE_MAX: u32 = 1024;

const KNOWN_FLAGS: u32 = PODRANK_OPTIONS_NOW
    | PODRANK_OPTIONS_POD_DELETION_COST_OFF
    | PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF
    | PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON;

/// Reads the caller's options. Returns the policy, and the memory of the options.
///
/// # Safety
/// `options` is NULL or points to as many readable bytes as its `size` says, which no one writes during the
/// call.
pub(crate) unsafe fn read(options: *const podrank_options) -> Result<(Policy, Span), Error> {
    if options.is_null() {
        return Ok((Policy::without_now(), Span::EMPTY));
    }
    // Reads the size first, because an older caller has no more bytes than it says.
    let size = Input::one(options.cast::<u32>())?;
    let known = Input::one(options)?;
    // SAFETY: aligned; readable by the caller's promise.
    let size = unsafe { size.read() }.first().copied().unwrap_or_default();
    let beyond = (size as usize).checked_sub(size_of::<podrank_options>());
    let beyond =
        beyond.filter(|_| size <= PODRANK_OPTIONS_SIZE_MAX).ok_or(Error(PODRANK_ERR_OPTIONS_SIZE))?;
    let all = Input::new(options.cast::<u8>(), size as usize)?.span();
    let beyond = Input::new(options.wrapping_add(1).cast::<u8>(), beyond)?;
    // SAFETY: inside the size that the caller promises to be readable.
    let (known, beyond) = unsafe { (known.read(), beyond.read()) };
    if beyond.iter().any(|&byte| byte != 0) {
        return Err(Error(PODRANK_ERR_OPTIONS_SIZE));
    }
    let policy = known.first().map_or(Ok(Policy::without_now()), podrank_options::policy)?;
    Ok((policy, all))
}

impl podrank_options {
    fn policy(&self) -> Result<Policy, Error> {
        if self.flags & !KNOWN_FLAGS != 0 {
            return Err(Error(PODRANK_ERR_OPTIONS_FLAGS));
        }
        let has = |flag| self.flags & flag != 0;
        let has_now = has(PODRANK_OPTIONS_NOW);
        if has_now && self.now == PODRANK_TIME_UNSET || !has_now && self.now != 0 {
            return Err(Error(PODRANK_ERR_OPTIONS_NOW));
        }
        let mut gates = FeatureGates::KUBERNETES;
        gates.pod_deletion_cost = !has(PODRANK_OPTIONS_POD_DELETION_COST_OFF);
        gates.logarithmic_scale_down = !has(PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF);
        gates.prefer_for_scale_down = has(PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON);
        let policy = if has_now { Policy::at(time(self.now)) } else { Policy::without_now() };
        Ok(policy.with_gates(gates))
    }
}

/// Returns the time that C writes as nanoseconds, or as `PODRANK_TIME_UNSET`.
pub(crate) const fn time(nanos: i64) -> Time {
    if nanos == PODRANK_TIME_UNSET { Time::UNSET } else { Time::from_unix_nanos(nanos) }
}
