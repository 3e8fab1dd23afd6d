//! Which pods count and whose they are: second, naive implementations, and the checks that the core agrees with them.

use podrank::Phase;
use podrank::controller::{Claim, Claimable, Owner, claim, is_active, is_terminating};

/// The filters are Kubernetes' `IsPodActive` and `IsPodTerminating`, for any phase text.
pub fn filters_are_upstreams(phase: &str, is_being_deleted: bool) {
    let has_ended = phase == "Succeeded" || phase == "Failed";
    let parsed = Phase::parse(phase);
    assert_eq!(is_active(parsed, is_being_deleted), !has_ended && !is_being_deleted, "{phase:?}");
    assert_eq!(is_terminating(parsed, is_being_deleted), !has_ended && is_being_deleted, "{phase:?}");
}

/// A claim is that of Kubernetes' `ClaimObject`, line by line.
pub fn claim_is_upstreams(pod: &Claimable, set_is_being_deleted: bool) {
    let naive = || {
        if pod.owner != Owner::None {
            if pod.owner == Owner::Other {
                return Claim::Ignore;
            }
            if pod.matches {
                return Claim::Keep;
            }
            return if set_is_being_deleted { Claim::Ignore } else { Claim::Release };
        }
        if set_is_being_deleted || !pod.matches || pod.is_being_deleted || !pod.is_in_namespace {
            return Claim::Ignore;
        }
        Claim::Adopt
    };
    assert_eq!(claim(pod, set_is_being_deleted), naive(), "{pod:?}, {set_is_being_deleted}");
}
