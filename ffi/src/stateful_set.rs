//! What a StatefulSet's next sync does to its pods.

use crate::deployment::PODRANK_PERCENT_MAX;
use crate::layout::{layout, same_layout};
use crate::memory::{Input, Output, apart};
use crate::outcome::PODRANK_NONE;
use crate::status::{
    Error, PODRANK_ERR_FLAGS, PODRANK_ERR_NEGATIVE, PODRANK_ERR_PERCENT_RANGE, PODRANK_ERR_RESERVED,
    PODRANK_ERR_TOO_LONG, run,
};
use core::ffi::c_char;
use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    InvalidMember, Member, MemberFlags, NO_MEMBER, Outcome, PodManagement, Reason, StatefulSet, Step, Update,
    next_sync, ordinal,
};

/// What podrank_stateful_set_next reads from a StatefulSet. Start from all zeros. No number may be negative.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_stateful_set {
    /// spec.replicas.
    pub replicas: i32,
    /// spec.ordinals.start: the first ordinal of the range, which ends at start + replicas - 1.
    pub start: i32,
    /// spec.updateStrategy.rollingUpdate.partition: pods whose ordinal minus start is below it are not updated. Not used
    /// with PODRANK_STATEFUL_SET_ON_DELETE and PODRANK_STATEFUL_SET_RECREATE.
    pub partition: i32,
    /// spec.updateStrategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    /// PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT is set. 0 counts as 1. Not used with PODRANK_STATEFUL_SET_ON_DELETE,
    /// PODRANK_STATEFUL_SET_RECREATE and PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE.
    pub max_unavailable: i32,
    /// Any of PODRANK_STATEFUL_SET_...
    pub flags: u32,
    /// Zero.
    pub reserved: [u8; 12],
}

/// spec.podManagementPolicy is Parallel, not OrderedReady.
pub const PODRANK_STATEFUL_SET_PARALLEL: u32 = 1;
/// The StatefulSet has a metadata.deletionTimestamp.
pub const PODRANK_STATEFUL_SET_BEING_DELETED: u32 = 2;
/// spec.updateStrategy.type is OnDelete, not RollingUpdate.
pub const PODRANK_STATEFUL_SET_ON_DELETE: u32 = 4;
/// spec.updateStrategy.type is Recreate, not RollingUpdate.
pub const PODRANK_STATEFUL_SET_RECREATE: u32 = 8;
/// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
pub const PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT: u32 = 16;
/// Set this if Kubernetes' feature gate MaxUnavailableStatefulSet is off. By default, it is on since 1.37.
pub const PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE: u32 = 32;
/// Set this if Kubernetes' feature gate StatefulSetRecreateStrategy is on. By default, it is off in 1.37.
pub const PODRANK_STATEFUL_SET_RECREATE_GATE: u32 = 64;

/// What podrank_stateful_set_next reads from one pod.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_stateful_set_pod {
    /// The ordinal in its name: podrank_stateful_set_ordinal.
    pub ordinal: i32,
    /// Any of PODRANK_STATEFUL_SET_POD_...
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// status.phase is Running. Ignored if PODRANK_STATEFUL_SET_POD_FINISHED is set.
pub const PODRANK_STATEFUL_SET_POD_RUNNING: u8 = 1;
/// status.phase is Succeeded or Failed.
pub const PODRANK_STATEFUL_SET_POD_FINISHED: u8 = 2;
/// The condition Ready is True.
pub const PODRANK_STATEFUL_SET_POD_READY: u8 = 4;
/// The condition Ready is True, and has been for spec.minReadySeconds of the StatefulSet.
pub const PODRANK_STATEFUL_SET_POD_AVAILABLE: u8 = 8;
/// The pod has a metadata.deletionTimestamp.
pub const PODRANK_STATEFUL_SET_POD_TERMINATING: u8 = 16;
/// The label controller-revision-hash is the StatefulSet's status.updateRevision. A pod without this flag is old.
pub const PODRANK_STATEFUL_SET_POD_UPDATED: u8 = 32;

/// What a sync does with one pod.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_stateful_set_outcome {
    /// The index of the pod in members.
    pub member: u32,
    /// The index of the pod that reason refers to, or PODRANK_NONE.
    pub by: u32,
    /// The ordinal of that pod. If reason is PODRANK_STATEFUL_SET_REASON_WAITS_FOR_MISSING, or if it is PODRANK_STATEFUL_SET_REASON_BUDGET and by
    /// is PODRANK_NONE, this is the ordinal that has no pod. 0 if reason refers neither to a pod nor to an ordinal.
    pub by_ordinal: i32,
    /// What happens to the pod at index member: PODRANK_VERDICT_..., which keeps its number for ever.
    pub verdict: u8,
    /// Why: PODRANK_STATEFUL_SET_REASON_..., which keeps its number for ever.
    pub reason: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// What a sync does in all.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_stateful_set_step {
    /// How many pods certainly go.
    pub deleted: u32,
    /// How many pods are contested. Any number of them may go.
    pub contested: u32,
    /// How many pods would go, but wait.
    pub blocked: u32,
    /// Zero.
    pub reserved: u32,
}

/// Keep: the ordinal is in the range, and the pod is neither finished nor old. (In the reasons that follow, by and
/// by_ordinal are those of podrank_stateful_set_outcome.)
pub const PODRANK_STATEFUL_SET_REASON_IN_RANGE: u8 = 61;
/// Keep: the pod is already being deleted.
pub const PODRANK_STATEFUL_SET_REASON_TERMINATING: u8 = 62;
/// Keep: the set is being deleted, and does nothing.
pub const PODRANK_STATEFUL_SET_REASON_SET_DELETED: u8 = 63;
/// Keep: the set's strategy is Recreate, whose feature gate is off, so every sync fails.
pub const PODRANK_STATEFUL_SET_REASON_RECREATE_OFF: u8 = 64;
/// Never returned by podrank_stateful_set_next, which rejects a negative ordinal with PODRANK_ERR_NEGATIVE.
pub const PODRANK_STATEFUL_SET_REASON_NO_ORDINAL: u8 = 65;
/// Keep: the pod is old, but its ordinal minus start is below the partition.
pub const PODRANK_STATEFUL_SET_REASON_BELOW_PARTITION: u8 = 66;
/// Keep: the pod is old, but with the strategy OnDelete only a user replaces pods.
pub const PODRANK_STATEFUL_SET_REASON_ON_DELETE: u8 = 67;
/// Delete: the ordinal is not in the range.
pub const PODRANK_STATEFUL_SET_REASON_OUT_OF_RANGE: u8 = 70;
/// Delete: the pod is finished. Kubernetes deletes it and creates it anew.
pub const PODRANK_STATEFUL_SET_REASON_FINISHED: u8 = 71;
/// Delete: the pod is old, and it is replaced.
pub const PODRANK_STATEFUL_SET_REASON_OLD: u8 = 72;
/// Delete: the pod is old and unavailable, so replacing it takes nothing from the budget.
pub const PODRANK_STATEFUL_SET_REASON_OLD_UNAVAILABLE: u8 = 73;
/// Contested: members[by] shares its ordinal with another pod of the set, and it is open which of the two
/// Kubernetes sees. The outcome of this pod depends on that, even if its own ordinal is unique.
pub const PODRANK_STATEFUL_SET_REASON_TWINS: u8 = 76;
/// Blocked: the ordinal by_ordinal is in the range and has no pod. It is created first.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_MISSING: u8 = 79;
/// Blocked: members[by] is finished. It is deleted and created anew first.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_FINISHED: u8 = 80;
/// Blocked: members[by] is being deleted.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_TERMINATION: u8 = 81;
/// Blocked: members[by] is not Running.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_RUNNING: u8 = 82;
/// Blocked: members[by] is not ready.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_READY: u8 = 83;
/// Blocked: members[by] has not been ready for minReadySeconds.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_AVAILABLE: u8 = 84;
/// Blocked: neither this pod, which is next, nor members[by], which has a lower ordinal, is available. This pod
/// goes as soon as one of the two is available.
pub const PODRANK_STATEFUL_SET_REASON_WAITS_FOR_EITHER: u8 = 85;
/// Blocked: members[by] goes first, because pods go one at a time.
pub const PODRANK_STATEFUL_SET_REASON_ONE_AT_A_TIME: u8 = 86;
/// Blocked: members[by] has to go first, because scaling down comes before updating.
pub const PODRANK_STATEFUL_SET_REASON_AFTER_SCALING: u8 = 87;
/// Blocked: max_unavailable is used up by pods that are missing, unavailable or deleted in this sync. One of them is
/// members[by]. If by is PODRANK_NONE, it is the missing pod with the ordinal by_ordinal.
pub const PODRANK_STATEFUL_SET_REASON_BUDGET: u8 = 88;
/// Blocked: with the strategy Recreate, members[by], which is old, has to go first.
pub const PODRANK_STATEFUL_SET_REASON_AFTER_RECREATE: u8 = 89;

const _: () = {
    assert!(NO_MEMBER == PODRANK_NONE);
    assert!(MemberFlags::RUNNING.bits() == PODRANK_STATEFUL_SET_POD_RUNNING);
    assert!(MemberFlags::FINISHED.bits() == PODRANK_STATEFUL_SET_POD_FINISHED);
    assert!(MemberFlags::READY.bits() == PODRANK_STATEFUL_SET_POD_READY);
    assert!(MemberFlags::AVAILABLE.bits() == PODRANK_STATEFUL_SET_POD_AVAILABLE);
    assert!(MemberFlags::TERMINATING.bits() == PODRANK_STATEFUL_SET_POD_TERMINATING);
    assert!(MemberFlags::UPDATED.bits() == PODRANK_STATEFUL_SET_POD_UPDATED);
};

layout!(
    podrank_stateful_set, 32:
        0 replicas, 4 start, 8 partition, 12 max_unavailable, 16 flags, 20 reserved
);
same_layout!(podrank_stateful_set_pod, Member, 8: ordinal flags reserved);
same_layout!(podrank_stateful_set_outcome, Outcome, 16: member by by_ordinal verdict reason);
layout!(podrank_stateful_set_step, 16: 0 deleted, 4 contested, 8 blocked);

/// Writes the ordinal in a pod's name to ordinal, or -1 if the pod is no member of the StatefulSet called set: its name
/// must be the set's, a hyphen and one or more digits, which are at most 2147483647. As in Kubernetes, leading zeros are
/// accepted, so "web-1" and "web-01" have the same ordinal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_stateful_set_ordinal(
    set: *const c_char,
    set_len: usize,
    pod: *const c_char,
    pod_len: usize,
    ordinal: *mut i32,
) -> i32 {
    run(|| {
        let set = Input::new(set.cast::<u8>(), set_len)?;
        let pod = Input::new(pod.cast::<u8>(), pod_len)?;
        let written = Output::one(ordinal)?;
        apart(&[written.span()], &[set.span(), pod.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { written.set(self::ordinal(set.read(), pod.read()).unwrap_or(-1)) };
        Ok(())
    })
}

/// Predicts the next sync of a StatefulSet, as in Kubernetes 1.37. Writes an outcome for each pod to outcomes, the highest
/// ordinal first, and the totals to step. With OrderedReady, one pod goes at a time, and only while the others are
/// available, so a single broken pod keeps a StatefulSet from being scaled down: the outcome names it.
///
/// members are the pods that the StatefulSet owns and its selector matches, in any order, including those that are finished
/// or being deleted, but only those with an ordinal. If outcomes_len is below members_len: PODRANK_ERR_SHORT_BUFFER. The prediction relies
/// on the states that you pass. If creating or deleting a pod fails, or a PersistentVolumeClaim cannot be created,
/// Kubernetes ends the sync there, and fewer pods go. The time grows with n log n.
///
/// If a number or an ordinal is negative: PODRANK_ERR_NEGATIVE. If a percentage is above PODRANK_PERCENT_MAX:
/// PODRANK_ERR_PERCENT_RANGE. If set or a member has an unknown flag, or set has both PODRANK_STATEFUL_SET_ON_DELETE and
/// PODRANK_STATEFUL_SET_RECREATE: PODRANK_ERR_FLAGS. If a reserved byte is not zero: PODRANK_ERR_RESERVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_stateful_set_next(
    set: *const podrank_stateful_set,
    members: *const podrank_stateful_set_pod,
    members_len: usize,
    outcomes: *mut podrank_stateful_set_outcome,
    outcomes_len: usize,
    step: *mut podrank_stateful_set_step,
) -> i32 {
    run(|| {
        let set = Input::one(set)?;
        let members = Input::new(members.cast::<Member>(), members_len)?;
        let outcomes = Output::new(outcomes.cast::<Outcome>(), outcomes_len)?;
        let step = Output::one(step)?;
        apart(&[outcomes.span(), step.span()], &[set.span(), members.span()])?;
        outcomes.needs(members_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        let (set, members) = unsafe { (set.read(), members.read()) };
        let set = set.first().map_or_else(|| Ok(StatefulSet::default()), podrank_stateful_set::read)?;
        members.iter().try_for_each(Member::validate)?;
        // SAFETY: as above.
        let outcomes = unsafe { outcomes.filled(members_len, Outcome::default()) };
        let next = next_sync(&set, members, outcomes).map_err(|_| Error(PODRANK_ERR_TOO_LONG))?;
        // SAFETY: as above.
        unsafe { step.set(podrank_stateful_set_step::from(&next)) };
        Ok(())
    })
}

/// Returns the name of the reason of an outcome, such as "waits-for-ready", or NULL for any other number. The text is
/// static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_stateful_set_reason_str(reason: u8) -> *const c_char {
    Reason::from_number(reason).map_or(core::ptr::null(), |reason| reason.c_name().as_ptr())
}

impl podrank_stateful_set {
    /// Returns the core's StatefulSet if this one is sound.
    fn read(&self) -> Result<StatefulSet, Error> {
        const KNOWN: u32 = 2 * PODRANK_STATEFUL_SET_RECREATE_GATE - 1;
        const STRATEGIES: u32 = PODRANK_STATEFUL_SET_ON_DELETE | PODRANK_STATEFUL_SET_RECREATE;
        let &podrank_stateful_set { replicas, start, partition, max_unavailable, flags, reserved } = self;
        if replicas | start | partition | max_unavailable < 0 {
            return Err(Error(PODRANK_ERR_NEGATIVE));
        }
        if flags & !KNOWN != 0 || flags & STRATEGIES == STRATEGIES {
            return Err(Error(PODRANK_ERR_FLAGS));
        }
        if reserved != [0; 12] {
            return Err(Error(PODRANK_ERR_RESERVED));
        }
        let has = |flag| flags & flag != 0;
        let max_unavailable = match max_unavailable.cast_unsigned() {
            _ if !has(PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT) => IntOrPercent::Int(max_unavailable),
            percent if percent > PODRANK_PERCENT_MAX => return Err(Error(PODRANK_ERR_PERCENT_RANGE)),
            percent => IntOrPercent::Percent(percent),
        };
        Ok(StatefulSet {
            replicas,
            start,
            management: if has(PODRANK_STATEFUL_SET_PARALLEL) {
                PodManagement::Parallel
            } else {
                PodManagement::OrderedReady
            },
            update: if has(PODRANK_STATEFUL_SET_ON_DELETE) {
                Update::OnDelete
            } else if has(PODRANK_STATEFUL_SET_RECREATE) {
                Update::Recreate
            } else {
                Update::RollingUpdate { partition, max_unavailable }
            },
            is_being_deleted: has(PODRANK_STATEFUL_SET_BEING_DELETED),
            max_unavailable_gate: !has(PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE),
            recreate_gate: has(PODRANK_STATEFUL_SET_RECREATE_GATE),
        })
    }
}

impl From<&Step> for podrank_stateful_set_step {
    fn from(step: &Step) -> Self {
        Self { deleted: step.delete, contested: step.contested, blocked: step.blocked, reserved: 0 }
    }
}

impl From<InvalidMember> for Error {
    fn from(invalid: InvalidMember) -> Self {
        Self(match invalid {
            InvalidMember::Negative => PODRANK_ERR_NEGATIVE,
            InvalidMember::UnknownFlags(_) => PODRANK_ERR_FLAGS,
            _ => PODRANK_ERR_RESERVED,
        })
    }
}
