//! Steering: ranks that spread, and deletion costs that make Kubernetes take what is wanted.

use crate::memory::{InOut, Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::record::{podrank_pod, sound};
use crate::status::{Error, PODRANK_ERR_GATE, PODRANK_ERR_NO_ROOM, PODRANK_ERR_TOO_LONG, run};
use core::mem::{align_of, offset_of, size_of};
use podrank::ffi::{fit, steer_fitted};
use podrank::{Pod, SpreadError, SteerError, SteerScratch};

/// Scratch of podrank_steer for one pod. What stands in it means nothing to you.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_steer_scratch {
    /// Private.
    pub words: [u64; 2],
}

/// What podrank_steer found.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_steered {
    /// How many costs differ from the pods'.
    pub changed: u32,
    /// How many pods go before one of a lower tier, whatever they cost.
    pub blocked: u32,
    /// Of PODRANK_ERR_NO_ROOM: the index of the pod of the lower tier. Else 0.
    pub lower: u32,
    /// And of the pod of the higher tier.
    pub higher: u32,
}

/// A pod that goes before one of a lower tier, whatever they cost: a rule says so that is asked before the tier and the cost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_blocked {
    /// The index of the pod of the higher tier, which goes first.
    pub pod: u32,
    /// The index of the pod of a lower tier which it goes before: of all these, one that goes last by those rules.
    pub before: u32,
    /// PODRANK_RULE_UNASSIGNED, PODRANK_RULE_PHASE or PODRANK_RULE_NOT_READY.
    pub rule: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

const _: () = {
    assert!(size_of::<podrank_steer_scratch>() == size_of::<SteerScratch>());
    assert!(align_of::<podrank_steer_scratch>() >= align_of::<SteerScratch>());
    assert!(size_of::<podrank_steer_scratch>() == 16);
    assert!(size_of::<podrank_steered>() == 16);
    assert!(offset_of!(podrank_steered, changed) == 0);
    assert!(offset_of!(podrank_steered, blocked) == 4);
    assert!(offset_of!(podrank_steered, lower) == 8);
    assert!(offset_of!(podrank_steered, higher) == 12);
    assert!(size_of::<podrank_blocked>() == 12);
    assert!(offset_of!(podrank_blocked, pod) == 0);
    assert!(offset_of!(podrank_blocked, before) == 4);
    assert!(offset_of!(podrank_blocked, rule) == 8);
    assert!(offset_of!(podrank_blocked, reserved) == 9);
};

/// Sets ranks by which pods are always taken from the node that has most THEN: sorted by them, the pods come in the order in
/// which they would if one went at a time and the rest were counted anew. Kubernetes counts once, as podrank_count_ranks
/// does: of three pods on one node and two on another, three that go empty the first.
///
/// others are as for podrank_count_ranks. Who of a node goes first is decided by the order, with the ranks as they are: leave
/// these at 0. A node may be any domain with a number. For zones of nodes: call it, set each pod's node to the number of
/// its zone, those of the others as well, and call it again. Any number of levels will do, the innermost first.
///
/// counts is scratch of one number per node: every assigned pod's node is below counts_len, or PODRANK_ERR_NODE. order is
/// scratch of pods_len numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_spread(
    pods: *mut podrank_pod,
    pods_len: usize,
    others: *const podrank_pod,
    others_len: usize,
    options: *const podrank_options,
    counts: *mut u32,
    counts_len: usize,
    order: *mut u32,
) -> i32 {
    run(|| {
        let pods = InOut::new(pods.cast::<Pod>(), pods_len)?;
        let others = Input::new(others.cast::<Pod>(), others_len)?;
        let (counts, order) = (Output::new(counts, counts_len)?, Output::new(order, pods_len)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[pods.span(), counts.span(), order.span()], &[others.span(), options])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (pods, others) = unsafe { (pods.all(), others.read()) };
        sound(pods)?;
        sound(others)?;
        // SAFETY: as above.
        let (counts, order) = unsafe { (counts.filled(counts_len, 0), order.filled(pods_len, 0)) };
        policy.spread(pods, others, counts, order)?;
        Ok(())
    })
}

/// Deletion costs that make Kubernetes follow the tiers: every pod of a lower tier gets a strictly lower cost than every
/// pod of a higher one. So it takes the lower tier first, whatever the moment and however many it takes. As few costs
/// change as can be, and the new ones are close to those that stay. Writes the costs of all pods to costs, which has room
/// for pods_len. Without the feature gate PodDeletionCost no cost has an effect: PODRANK_ERR_GATE.
///
/// fixed has a byte for each of the first fixed_len pods: not 0 if the pod's cost stays as it is, because it is somebody
/// else's, say. Fixed costs may leave no room: PODRANK_ERR_NO_ROOM. Then lower and higher of steered are two pods, at least
/// one of them fixed, between whose costs, or the end of their range, there is not one for each tier. It is the one output
/// that is written of an error.
///
/// What Kubernetes asks before the cost no cost can change. So an unassigned, pending or not ready pod may go before one of
/// a lower tier, which is no error: steered says how many do, and blocked which, as many as it has room for. scratch is of
/// pods_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_steer(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    fixed: *const u8,
    fixed_len: usize,
    costs: *mut i32,
    scratch: *mut podrank_steer_scratch,
    blocked: *mut podrank_blocked,
    blocked_len: usize,
    steered: *mut podrank_steered,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let fixed = Input::new(fixed, fixed_len)?;
        let (costs, scratch) =
            (Output::new(costs, pods_len)?, Output::new(scratch.cast::<SteerScratch>(), pods_len)?);
        let (blocked, steered) = (Output::new(blocked, blocked_len)?, Output::one(steered)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        let written = [costs.span(), scratch.span(), blocked.span(), steered.span()];
        apart(&written, &[pods.span(), fixed.span(), options])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (pods, fixed) = unsafe { (sound(pods.read())?, fixed.read()) };
        // SAFETY: as above.
        let scratch = unsafe { scratch.filled(pods_len, SteerScratch::default()) };
        let is_fixed = |index: usize| fixed.get(index).is_some_and(|byte| *byte != 0);
        let mut found = podrank_steered { changed: 0, blocked: 0, lower: 0, higher: 0 };
        if let Err(error) = fit(&policy, pods, is_fixed, scratch) {
            if let SteerError::NoRoom { lower, higher } = error {
                (found.lower, found.higher) = (lower, higher);
                // SAFETY: as above.
                unsafe { steered.set(found) };
            }
            return Err(error.into());
        }
        // SAFETY: as above.
        let answer = steer_fitted(&policy, pods, unsafe { costs.filled(pods_len, 0) }, scratch);
        let pairs = answer.blocked().map(|pair| {
            let (pod, before, rule) = (pair.pod, pair.before, pair.rule.number());
            podrank_blocked { pod, before, rule, reserved: [0; 3] }
        });
        found.blocked = u32::try_from(answer.blocked().count()).unwrap_or(u32::MAX);
        // SAFETY: as above.
        unsafe { blocked.write(pairs) };
        found.changed = u32::try_from(answer.changed()).unwrap_or(u32::MAX);
        // SAFETY: as above.
        unsafe { steered.set(found) };
        Ok(())
    })
}

impl From<SpreadError> for Error {
    fn from(error: SpreadError) -> Self {
        match error {
            SpreadError::UnknownNode(unknown) => unknown.into(),
            SpreadError::Order(error) => error.into(),
            _ => Self(PODRANK_ERR_TOO_LONG),
        }
    }
}

impl From<SteerError> for Error {
    fn from(error: SteerError) -> Self {
        match error {
            SteerError::GateOff => Self(PODRANK_ERR_GATE),
            SteerError::Order(error) => error.into(),
            _ => Self(PODRANK_ERR_NO_ROOM),
        }
    }
}
