//! What a Deployment's next sync does to its ReplicaSets.

use crate::memory::{InOut, Input, Output, apart};
use crate::status::{
    Error, PODRANK_ERR_FLAGS, PODRANK_ERR_NEGATIVE, PODRANK_ERR_PERCENT_DIGIT, PODRANK_ERR_PERCENT_NO_DIGITS,
    PODRANK_ERR_PERCENT_RANGE, PODRANK_ERR_PERCENT_SIGN, PODRANK_ERR_RESERVED, PODRANK_ERR_TOO_LONG, run,
};
use core::ffi::c_char;
use core::mem::{align_of, offset_of, size_of};
use podrank::controller::deployment::{
    Change, Deployment, InvalidReplicaSet, Path, Reason, ReplicaSet, SetFlags, Step, Strategy, next_sync,
};
use podrank::controller::{IntOrPercent, IntOrPercentError, MAX_PERCENT};

/// The largest percentage.
pub const PODRANK_PERCENT_MAX: u32 = 4_194_304;

/// What podrank_deployment_next reads of a Deployment. Start from all zeros.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_deployment {
    /// spec.replicas: the count.
    pub replicas: i32,
    /// status.replicas.
    pub status_replicas: i32,
    /// spec.strategy.rollingUpdate.maxSurge: a number of pods, or with PODRANK_DEPLOYMENT_SURGE_PERCENT a percentage.
    pub max_surge: i32,
    /// spec.strategy.rollingUpdate.maxUnavailable: a number of pods, or with PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT a percentage.
    pub max_unavailable: i32,
    /// Any of PODRANK_DEPLOYMENT_...
    pub flags: u32,
    /// Zero.
    pub reserved: [u8; 12],
}

/// spec.paused.
pub const PODRANK_DEPLOYMENT_PAUSED: u32 = 1;
/// It has a metadata.deletionTimestamp.
pub const PODRANK_DEPLOYMENT_BEING_DELETED: u32 = 2;
/// Its annotation deprecated.deployment.rollback.to is a 64-bit integer.
pub const PODRANK_DEPLOYMENT_ROLLING_BACK: u32 = 4;
/// spec.strategy.type is Recreate, not RollingUpdate.
pub const PODRANK_DEPLOYMENT_RECREATE: u32 = 8;
/// max_surge is a percentage.
pub const PODRANK_DEPLOYMENT_SURGE_PERCENT: u32 = 16;
/// max_unavailable is a percentage.
pub const PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT: u32 = 32;
/// A pod of one of its sets, the new set left out, is neither Succeeded nor Failed. Read only with
/// PODRANK_DEPLOYMENT_RECREATE.
pub const PODRANK_DEPLOYMENT_OLD_PODS_RUN: u32 = 64;

/// What podrank_deployment_next reads of one ReplicaSet. Start from PODRANK_REPLICA_SET_INIT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_replica_set {
    /// metadata.creationTimestamp, as in podrank_pod.
    pub creation_time: i64,
    /// The place of metadata.name among the names of the sets, in the order of their bytes: a smaller name has a smaller
    /// number. Sets created in one second are told apart by it.
    pub name_order: u32,
    /// spec.replicas: the set's size.
    pub replicas: i32,
    /// status.replicas.
    pub status_replicas: i32,
    /// status.availableReplicas.
    pub available_replicas: i32,
    /// The number in an annotation: podrank_replica_set_annotations writes it, and its flags.
    pub desired_replicas: i32,
    /// The number in an annotation: podrank_replica_set_annotations writes it, and its flag.
    pub max_replicas: i32,
    /// Any of PODRANK_SET_...
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 15],
}

/// The set's pod template equals the Deployment's by Kubernetes' semantic equality (nil is empty, 1000m is 1), the label
/// pod-template-hash left out. The oldest such set is the new set, all others are old.
pub const PODRANK_SET_CURRENT_TEMPLATE: u8 = 1;
/// The annotation deployment.kubernetes.io/desired-replicas is valid: digits, at most 2147483647.
pub const PODRANK_SET_DESIRED: u8 = 2;
/// That annotation is not valid, but a 64-bit integer with or without a sign, and the number is its low 32 bits.
pub const PODRANK_SET_DESIRED_LENIENT: u8 = 4;
/// The annotation deployment.kubernetes.io/max-replicas is valid: digits, at most 2147483647.
pub const PODRANK_SET_MAX: u8 = 8;

/// What a sync does to one ReplicaSet.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_replica_set_change {
    /// The size that the set gets: its new spec.replicas.
    pub replicas: i32,
    /// How much of the change comes first, negative if pods go: the share of PODRANK_REASON_SHARE_AND_LEFTOVER, the pods
    /// not available of PODRANK_REASON_UNHEALTHY_AND_AVAILABLE. For other reasons the whole change.
    pub part: i32,
    /// Why: PODRANK_REASON_...
    pub reason: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

/// What a sync does besides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_deployment_step {
    /// The budget maxSurge in pods, rounded up; 0 with Recreate.
    pub surge: i32,
    /// The budget maxUnavailable in pods, rounded down, but 1 if both came to 0, and at most the count; 0 with Recreate.
    pub unavailable: i32,
    /// The index of the new set; PODRANK_NO_SET if it does not exist yet.
    pub new_set: u32,
    /// PODRANK_PATH_...
    pub path: u8,
    /// 1 if the sync creates the new set, of size new_change.replicas, which can be 0. Else 0.
    pub creates: u8,
    /// 1 if later syncs may change sizes, as statuses follow, else 0. They may until the new set is there with the
    /// Deployment's count and no old set wants pods, and after a rollback; but none does if the Deployment is being deleted.
    /// A paused Deployment only scales. It does so again if fewer than two sets want pods and they do not have the count; or,
    /// of several, if the new set has the count, because it replaces the others once its pods are available, or if with
    /// RollingUpdate the sets do not add up to the count and the surge. The same holds if it is not paused, but this sync
    /// scaled without writing anything, so that the next one scales as well.
    pub goes_on: u8,
    /// Zero.
    pub reserved: u8,
    /// What becomes of the new set. If it does not exist yet: of which size it is created, or why it is not.
    pub new_change: podrank_replica_set_change,
}

/// There is no new set.
pub const PODRANK_NO_SET: u32 = u32::MAX;

/// The Deployment is being deleted: no set changes.
pub const PODRANK_PATH_NOTHING: u8 = 0;
/// The sync scales the sets there are: the Deployment is paused, or its count changed.
pub const PODRANK_PATH_SCALE: u8 = 10;
/// The sync replaces old pods by new ones, within the budgets.
pub const PODRANK_PATH_ROLL: u8 = 20;
/// The sync takes all old pods first, then creates the new ones.
pub const PODRANK_PATH_RECREATE: u8 = 30;
/// The sync only changes the Deployment's template, by its rollback annotation.
pub const PODRANK_PATH_ROLLBACK: u8 = 40;

/// The reasons. A reason keeps its number for ever. The sync has no say in the set.
pub const PODRANK_REASON_UNTOUCHED: u8 = 0;
/// Scale: the only active set, or none is and it is the new or newest one, gets the whole count.
pub const PODRANK_REASON_ONLY_ACTIVE: u8 = 10;
/// Scale: the new set has all the pods that the Deployment wants, available; old sets get 0.
pub const PODRANK_REASON_SATURATED: u8 = 20;
/// Scale: the set gets its proportional share.
pub const PODRANK_REASON_SHARE: u8 = 30;
/// Scale: the set gets as much of its proportional share as was left.
pub const PODRANK_REASON_CUT_SHARE: u8 = 31;
/// Scale: as the first set it gets its proportional share and what all shares left over.
pub const PODRANK_REASON_SHARE_AND_LEFTOVER: u8 = 32;
/// Scale: nothing is left for the set.
pub const PODRANK_REASON_USED_UP: u8 = 33;
/// Scale: the set has no share: max-replicas is missing, invalid or 0, and so is the Deployment's status.replicas.
pub const PODRANK_REASON_NO_SHARE: u8 = 34;
/// Scale: several sets are active and the strategy is Recreate: Kubernetes leaves them as they are.
pub const PODRANK_REASON_NOT_ROLLING: u8 = 35;
/// The new set has the count already.
pub const PODRANK_REASON_AT_COUNT: u8 = 40;
/// The new set gets the count: it was above it, or the strategy is Recreate and no old pod is left.
pub const PODRANK_REASON_TO_COUNT: u8 = 41;
/// Roll: the new set grows by what the count and the surge leave.
pub const PODRANK_REASON_GROWS: u8 = 42;
/// Roll: the new set cannot grow: there are as many pods as the count and the surge allow.
pub const PODRANK_REASON_NO_SURGE: u8 = 43;
/// Roll: the old set keeps its pods until the new set has changed; the next sync looks at it.
pub const PODRANK_REASON_AFTER_NEW_SET: u8 = 50;
/// Roll: pods of the old set that are not available go.
pub const PODRANK_REASON_UNHEALTHY: u8 = 51;
/// Roll: pods of the old set go as far as enough pods stay available.
pub const PODRANK_REASON_AVAILABLE: u8 = 52;
/// Roll: pods that are not available go first, then others as far as enough pods stay available.
pub const PODRANK_REASON_UNHEALTHY_AND_AVAILABLE: u8 = 53;
/// Roll: the old set keeps its pods, so that enough pods are available.
pub const PODRANK_REASON_HELD_BACK: u8 = 54;
/// Recreate: the old set gets 0.
pub const PODRANK_REASON_RECREATED: u8 = 60;
/// Recreate: the new set waits until no pod of another set is left.
pub const PODRANK_REASON_WAITS: u8 = 61;
/// The size would be below 0, after sums that do not fit 32 bits: the API server rejects that, and the sync ends.
pub const PODRANK_REASON_REJECTED: u8 = 90;
/// Roll: the old set has more available pods than it wants, as its status lags: the sync ends.
pub const PODRANK_REASON_LAGS: u8 = 91;
/// The sync ended before it came to the set.
pub const PODRANK_REASON_NOT_REACHED: u8 = 92;

const _: () = {
    assert!(PODRANK_PERCENT_MAX == MAX_PERCENT);

    assert!(size_of::<podrank_deployment>() == 32);
    assert!(offset_of!(podrank_deployment, replicas) == 0);
    assert!(offset_of!(podrank_deployment, status_replicas) == 4);
    assert!(offset_of!(podrank_deployment, max_surge) == 8);
    assert!(offset_of!(podrank_deployment, max_unavailable) == 12);
    assert!(offset_of!(podrank_deployment, flags) == 16);
    assert!(offset_of!(podrank_deployment, reserved) == 20);

    assert!(size_of::<podrank_replica_set>() == size_of::<ReplicaSet>() && size_of::<ReplicaSet>() == 48);
    assert!(align_of::<podrank_replica_set>() == align_of::<ReplicaSet>());
    assert!(offset_of!(podrank_replica_set, creation_time) == offset_of!(ReplicaSet, creation_time));
    assert!(offset_of!(podrank_replica_set, name_order) == offset_of!(ReplicaSet, name_order));
    assert!(offset_of!(podrank_replica_set, replicas) == offset_of!(ReplicaSet, replicas));
    assert!(offset_of!(podrank_replica_set, status_replicas) == offset_of!(ReplicaSet, status_replicas));
    assert!(
        offset_of!(podrank_replica_set, available_replicas) == offset_of!(ReplicaSet, available_replicas)
    );
    assert!(offset_of!(podrank_replica_set, desired_replicas) == offset_of!(ReplicaSet, desired_replicas));
    assert!(offset_of!(podrank_replica_set, max_replicas) == offset_of!(ReplicaSet, max_replicas));
    assert!(offset_of!(podrank_replica_set, flags) == offset_of!(ReplicaSet, flags));
    assert!(offset_of!(podrank_replica_set, reserved) == offset_of!(ReplicaSet, reserved));

    assert!(size_of::<podrank_replica_set_change>() == size_of::<Change>() && size_of::<Change>() == 16);
    assert!(align_of::<podrank_replica_set_change>() == align_of::<Change>());
    assert!(offset_of!(podrank_replica_set_change, replicas) == offset_of!(Change, replicas));
    assert!(offset_of!(podrank_replica_set_change, part) == offset_of!(Change, part));
    assert!(offset_of!(podrank_replica_set_change, reason) == offset_of!(Change, reason));

    assert!(size_of::<podrank_deployment_step>() == 32);
    assert!(offset_of!(podrank_deployment_step, surge) == 0);
    assert!(offset_of!(podrank_deployment_step, unavailable) == 4);
    assert!(offset_of!(podrank_deployment_step, new_set) == 8);
    assert!(offset_of!(podrank_deployment_step, path) == 12);
    assert!(offset_of!(podrank_deployment_step, creates) == 13);
    assert!(offset_of!(podrank_deployment_step, goes_on) == 14);
    assert!(offset_of!(podrank_deployment_step, new_change) == 16);

    assert!(SetFlags::CURRENT_TEMPLATE.bits() == PODRANK_SET_CURRENT_TEMPLATE);
    assert!(SetFlags::DESIRED.bits() == PODRANK_SET_DESIRED);
    assert!(SetFlags::DESIRED_LENIENT.bits() == PODRANK_SET_DESIRED_LENIENT);
    assert!(SetFlags::MAX.bits() == PODRANK_SET_MAX);

    assert!(Path::Nothing.number() == PODRANK_PATH_NOTHING);
    assert!(Path::Scale.number() == PODRANK_PATH_SCALE);
    assert!(Path::Roll.number() == PODRANK_PATH_ROLL);
    assert!(Path::Recreate.number() == PODRANK_PATH_RECREATE);
    assert!(Path::Rollback.number() == PODRANK_PATH_ROLLBACK);

    assert!(Reason::Untouched.number() == PODRANK_REASON_UNTOUCHED);
    assert!(Reason::OnlyActive.number() == PODRANK_REASON_ONLY_ACTIVE);
    assert!(Reason::Saturated.number() == PODRANK_REASON_SATURATED);
    assert!(Reason::Share.number() == PODRANK_REASON_SHARE);
    assert!(Reason::CutShare.number() == PODRANK_REASON_CUT_SHARE);
    assert!(Reason::ShareAndLeftover.number() == PODRANK_REASON_SHARE_AND_LEFTOVER);
    assert!(Reason::UsedUp.number() == PODRANK_REASON_USED_UP);
    assert!(Reason::NoShare.number() == PODRANK_REASON_NO_SHARE);
    assert!(Reason::NotRolling.number() == PODRANK_REASON_NOT_ROLLING);
    assert!(Reason::AtCount.number() == PODRANK_REASON_AT_COUNT);
    assert!(Reason::ToCount.number() == PODRANK_REASON_TO_COUNT);
    assert!(Reason::Grows.number() == PODRANK_REASON_GROWS);
    assert!(Reason::NoSurge.number() == PODRANK_REASON_NO_SURGE);
    assert!(Reason::AfterNewSet.number() == PODRANK_REASON_AFTER_NEW_SET);
    assert!(Reason::Unhealthy.number() == PODRANK_REASON_UNHEALTHY);
    assert!(Reason::Available.number() == PODRANK_REASON_AVAILABLE);
    assert!(Reason::UnhealthyAndAvailable.number() == PODRANK_REASON_UNHEALTHY_AND_AVAILABLE);
    assert!(Reason::HeldBack.number() == PODRANK_REASON_HELD_BACK);
    assert!(Reason::Recreated.number() == PODRANK_REASON_RECREATED);
    assert!(Reason::Waits.number() == PODRANK_REASON_WAITS);
    assert!(Reason::Rejected.number() == PODRANK_REASON_REJECTED);
    assert!(Reason::Lags.number() == PODRANK_REASON_LAGS);
    assert!(Reason::NotReached.number() == PODRANK_REASON_NOT_REACHED);
};

/// Reads maxSurge or maxUnavailable where it is a text: one or more digits and '%'. Writes the percentage. The text "3" is
/// PODRANK_ERR_PERCENT_SIGN, as in Kubernetes: a number of pods is an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_percent_parse(
    text: *const c_char,
    text_len: usize,
    percent: *mut u32,
) -> i32 {
    run(|| {
        let (text, percent) = (Input::new(text.cast::<u8>(), text_len)?, Output::one(percent)?);
        apart(&[percent.span()], &[text.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            if let IntOrPercent::Percent(parsed) = IntOrPercent::parse(text.read())? {
                percent.set(parsed);
            }
        }
        Ok(())
    })
}

/// Reads the texts of a ReplicaSet's annotations deployment.kubernetes.io/desired-replicas and
/// deployment.kubernetes.io/max-replicas as Kubernetes does, and writes set->desired_replicas,
/// set->max_replicas and the flags PODRANK_SET_DESIRED, PODRANK_SET_DESIRED_LENIENT and PODRANK_SET_MAX, each set or cleared.
/// Nothing else in set changes, so initialise set first. A missing annotation has length 0. A text that Kubernetes does not
/// accept counts as missing and is not an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_replica_set_annotations(
    desired: *const c_char,
    desired_len: usize,
    max: *const c_char,
    max_len: usize,
    set: *mut podrank_replica_set,
) -> i32 {
    run(|| {
        let desired = Input::new(desired.cast::<u8>(), desired_len)?;
        let max = Input::new(max.cast::<u8>(), max_len)?;
        let set = InOut::one(set.cast::<ReplicaSet>())?;
        apart(&[set.span()], &[desired.span(), max.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (desired, max, set) = unsafe { (desired.read(), max.read(), set.all()) };
        for set in set {
            set.set_annotations(desired, max);
        }
        Ok(())
    })
}

/// Predicts the next sync of a Deployment: writes to changes, at the index of each set, the size that the set gets and why, and
/// to step what else happens. Kubernetes' Deployment controller (release 1.37) never touches a pod: it sizes ReplicaSets.
///
/// sets are the ReplicaSets that the Deployment owns and selects, in any order, those of size 0 included. changes must have
/// room for sets_len elements. The time grows with sets_len times the number of sets that have pods. If a size, a status
/// number or a budget is negative: PODRANK_ERR_NEGATIVE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_deployment_next(
    deployment: *const podrank_deployment,
    sets: *const podrank_replica_set,
    sets_len: usize,
    changes: *mut podrank_replica_set_change,
    step: *mut podrank_deployment_step,
) -> i32 {
    run(|| {
        let deployment = Input::one(deployment)?;
        let sets = Input::new(sets.cast::<ReplicaSet>(), sets_len)?;
        let changes = Output::new(changes.cast::<Change>(), sets_len)?;
        let step = Output::one(step)?;
        apart(&[changes.span(), step.span()], &[deployment.span(), sets.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        let (deployment, sets) = unsafe { (deployment.read(), sets.read()) };
        let deployment =
            deployment.first().map_or_else(|| Ok(Deployment::default()), podrank_deployment::read)?;
        sets.iter().try_for_each(ReplicaSet::validate)?;
        // SAFETY: as above.
        let changes = unsafe { changes.filled(sets_len, Change::default()) };
        let next = next_sync(&deployment, sets, changes).map_err(|_| Error(PODRANK_ERR_TOO_LONG))?;
        // SAFETY: as above.
        unsafe { step.set(podrank_deployment_step::from(&next)) };
        Ok(())
    })
}

/// The name of a reason, such as "share-and-leftover"; NULL for any other number. The text is static: never free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_reason_str(reason: u8) -> *const c_char {
    Reason::from_number(reason).map_or(core::ptr::null(), |reason| reason.c_name().as_ptr())
}

impl podrank_deployment {
    /// The core's, if this one is sound.
    fn read(&self) -> Result<Deployment, Error> {
        const KNOWN: u32 = 2 * PODRANK_DEPLOYMENT_OLD_PODS_RUN - 1;
        let &podrank_deployment { replicas, status_replicas, max_surge, max_unavailable, flags, reserved } =
            self;
        if replicas | status_replicas | max_surge | max_unavailable < 0 {
            return Err(Error(PODRANK_ERR_NEGATIVE));
        }
        if flags & !KNOWN != 0 {
            return Err(Error(PODRANK_ERR_FLAGS));
        }
        if reserved != [0; 12] {
            return Err(Error(PODRANK_ERR_RESERVED));
        }
        let has = |flag| flags & flag != 0;
        let number = |number: i32, is_percent: bool| match number.cast_unsigned() {
            _ if !is_percent => Ok(IntOrPercent::Int(number)),
            percent if percent > PODRANK_PERCENT_MAX => Err(Error(PODRANK_ERR_PERCENT_RANGE)),
            percent => Ok(IntOrPercent::Percent(percent)),
        };
        let strategy = if has(PODRANK_DEPLOYMENT_RECREATE) {
            Strategy::Recreate { old_pods_run: has(PODRANK_DEPLOYMENT_OLD_PODS_RUN) }
        } else {
            Strategy::RollingUpdate {
                max_surge: number(max_surge, has(PODRANK_DEPLOYMENT_SURGE_PERCENT))?,
                max_unavailable: number(max_unavailable, has(PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT))?,
            }
        };
        Ok(Deployment {
            replicas,
            status_replicas,
            strategy,
            is_paused: has(PODRANK_DEPLOYMENT_PAUSED),
            is_being_deleted: has(PODRANK_DEPLOYMENT_BEING_DELETED),
            is_rolling_back: has(PODRANK_DEPLOYMENT_ROLLING_BACK),
        })
    }
}

impl From<&Step> for podrank_deployment_step {
    fn from(step: &Step) -> Self {
        Self {
            surge: step.budgets.surge,
            unavailable: step.budgets.unavailable,
            new_set: step.new_set.unwrap_or(PODRANK_NO_SET),
            path: step.path.number(),
            creates: step.creates.into(),
            goes_on: step.goes_on.into(),
            reserved: 0,
            new_change: podrank_replica_set_change {
                replicas: step.new_change.replicas,
                part: step.new_change.part,
                reason: step.new_change.reason.number(),
                reserved: [0; 7],
            },
        }
    }
}

impl From<InvalidReplicaSet> for Error {
    fn from(invalid: InvalidReplicaSet) -> Self {
        Self(match invalid {
            InvalidReplicaSet::Negative => PODRANK_ERR_NEGATIVE,
            InvalidReplicaSet::UnknownFlags(_) => PODRANK_ERR_FLAGS,
            _ => PODRANK_ERR_RESERVED,
        })
    }
}

impl From<IntOrPercentError> for Error {
    fn from(error: IntOrPercentError) -> Self {
        Self(match error {
            IntOrPercentError::NoPercentSign => PODRANK_ERR_PERCENT_SIGN,
            IntOrPercentError::NoDigits => PODRANK_ERR_PERCENT_NO_DIGITS,
            IntOrPercentError::NotDigit(_) => PODRANK_ERR_PERCENT_DIGIT,
            _ => PODRANK_ERR_PERCENT_RANGE,
        })
    }
}
