//! What a Deployment's next sync does to its ReplicaSets.

use crate::layout::{layout, same_layout};
use crate::memory::{InOut, Input, Output, apart};
use crate::outcome::PODRANK_NONE;
use crate::status::{
    Error, PODRANK_ERR_FLAGS, PODRANK_ERR_NEGATIVE, PODRANK_ERR_PERCENT_DIGIT, PODRANK_ERR_PERCENT_NO_DIGITS,
    PODRANK_ERR_PERCENT_RANGE, PODRANK_ERR_PERCENT_SIGN, PODRANK_ERR_RESERVED, PODRANK_ERR_TOO_LONG, run,
};
use core::ffi::c_char;
use podrank::controller::deployment::{
    Change, Deployment, InvalidReplicaSet, Path, Reason, ReplicaSet, SetFlags, Step, Strategy, next_sync,
};
use podrank::controller::{IntOrPercent, IntOrPercentError, MAX_PERCENT};

/// The largest percentage that is accepted.
pub const PODRANK_PERCENT_MAX: u32 = 4_194_304;

/// What podrank_deployment_next reads from a Deployment. Start from all zeros. No number may be negative.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_deployment {
    /// spec.replicas: the count.
    pub replicas: i32,
    /// status.replicas.
    pub status_replicas: i32,
    /// spec.strategy.rollingUpdate.maxSurge: a number of pods, or a percentage if PODRANK_DEPLOYMENT_SURGE_PERCENT
    /// is set. Not used with PODRANK_DEPLOYMENT_RECREATE.
    pub max_surge: i32,
    /// spec.strategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    /// PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT is set. Not used with PODRANK_DEPLOYMENT_RECREATE.
    pub max_unavailable: i32,
    /// Any of PODRANK_DEPLOYMENT_...
    pub flags: u32,
    /// Zero.
    pub reserved: [u8; 12],
}

/// spec.paused is true.
pub const PODRANK_DEPLOYMENT_PAUSED: u32 = 1;
/// The Deployment has a metadata.deletionTimestamp.
pub const PODRANK_DEPLOYMENT_BEING_DELETED: u32 = 2;
/// The annotation deprecated.deployment.rollback.to is a 64-bit integer, which asks for a rollback.
pub const PODRANK_DEPLOYMENT_ROLLING_BACK: u32 = 4;
/// spec.strategy.type is Recreate, not RollingUpdate.
pub const PODRANK_DEPLOYMENT_RECREATE: u32 = 8;
/// max_surge is a percentage, up to PODRANK_PERCENT_MAX.
pub const PODRANK_DEPLOYMENT_SURGE_PERCENT: u32 = 16;
/// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
pub const PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT: u32 = 32;
/// Some pod of an old set is neither Succeeded nor Failed. Read only with PODRANK_DEPLOYMENT_RECREATE.
pub const PODRANK_DEPLOYMENT_OLD_PODS_RUN: u32 = 64;

/// What podrank_deployment_next reads from one ReplicaSet. Start from PODRANK_REPLICA_SET_INIT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_replica_set {
    /// metadata.creationTimestamp, as in podrank_pod. A set without one counts as the oldest.
    pub creation_time: i64,
    /// The position of metadata.name among the names of all sets, sorted by their bytes: the smaller name has the
    /// smaller number. It decides between sets with equal creation times. If it is equal, too, the index decides.
    pub name_order: u32,
    /// spec.replicas: the set's size.
    pub replicas: i32,
    /// status.replicas.
    pub status_replicas: i32,
    /// status.availableReplicas.
    pub available_replicas: i32,
    /// The number in the annotation deployment.kubernetes.io/desired-replicas. podrank_replica_set_annotations
    /// writes it and its flags.
    pub desired_replicas: i32,
    /// The number in the annotation deployment.kubernetes.io/max-replicas. podrank_replica_set_annotations writes
    /// it and its flag.
    pub max_replicas: i32,
    /// Any of PODRANK_REPLICA_SET_...
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 15],
}

/// The set's pod template equals the Deployment's, apart from the label pod-template-hash. Kubernetes compares
/// templates semantically: nil equals empty, and 1000m equals 1. The oldest set with this flag is the new set, and
/// all others are old.
pub const PODRANK_REPLICA_SET_CURRENT_TEMPLATE: u8 = 1;
/// The annotation deployment.kubernetes.io/desired-replicas is valid: only digits, and at most 2147483647.
pub const PODRANK_REPLICA_SET_DESIRED: u8 = 2;
/// That annotation is not valid, but it is a 64-bit integer, with or without a sign. desired_replicas is its low
/// 32 bits.
pub const PODRANK_REPLICA_SET_DESIRED_LENIENT: u8 = 4;
/// The annotation deployment.kubernetes.io/max-replicas is valid: only digits, and at most 2147483647.
pub const PODRANK_REPLICA_SET_MAX: u8 = 8;

/// What a sync does to one ReplicaSet.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_replica_set_change {
    /// The size that the set gets: its new spec.replicas.
    pub replicas: i32,
    /// The part of the change in size that was decided first, negative if the set shrinks. With
    /// PODRANK_DEPLOYMENT_REASON_SHARE_AND_LEFTOVER, it is the share, and the rest is the leftover. With
    /// PODRANK_DEPLOYMENT_REASON_UNHEALTHY_AND_AVAILABLE, it is the pods that are not available. With any other reason, it is
    /// the whole change.
    pub part: i32,
    /// Why the set gets this size: PODRANK_DEPLOYMENT_REASON_..., which keeps its number for ever.
    pub reason: u8,
    /// 1 if the sync also writes the set's annotations: the Deployment's count to desired-replicas, and the count plus
    /// podrank_deployment_step.surge to max-replicas. It does so whenever it changes the size or creates the set, and when it
    /// scales in proportion even if the size stays. If the size stays and this is 0, the sync writes nothing that a sync reads.
    pub annotates: u8,
    /// Zero.
    pub reserved: [u8; 6],
}

/// What a sync does, apart from the changes to the sets that exist.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_deployment_step {
    /// How many pods there may be above the count. A percentage is rounded up. 0 with Recreate.
    pub surge: i32,
    /// How many of the Deployment's pods may be unavailable. A percentage is rounded down. At most the count, and 0 with
    /// Recreate. A rollout could never start if both budgets were 0, so with RollingUpdate this one is then 1, unless the
    /// count is 0.
    pub unavailable: i32,
    /// The index of the new set, or PODRANK_NONE if it does not exist yet.
    pub new_set: u32,
    /// What kind of sync it is: PODRANK_DEPLOYMENT_PATH_..., which keeps its number for ever.
    pub path: u8,
    /// 1 if the sync creates the new set, with size new_change.replicas, which can be 0. Otherwise 0.
    pub creates: u8,
    /// 1 if another step follows at once: the next sync, too, changes a size, an annotation that records one, or creates
    /// the new set, although nothing changes but what this sync leads to. Otherwise 0.
    ///
    /// This sync leads to the following. The ReplicaSet controllers create and delete pods until each set has as many as
    /// its size, and the statuses follow. A set that shrinks loses pods that are not available first. Pods that are
    /// created do not become available, and with Recreate, pods that are deleted still run. What only the Deployment's
    /// status records does not count.
    ///
    /// If it is 0, this sync is the last one, or the Deployment waits. The sync is the last one, whatever the statuses
    /// become, if it leaves every old set at 0 and the new set, which exists by then, at the count. Otherwise, a
    /// RollingUpdate waits until more pods of the new set are available, and Recreate until no pod of an old set runs. A
    /// Deployment that is paused, or whose annotations still record another count, only scales.
    ///
    /// The prediction has limits:
    ///
    /// - If minReadySeconds is not 0, deletion costs and ranks can make a set lose an available pod before one that is
    ///   ready but not yet available.
    /// - If the controller syncs before it sees all new statuses, it can change more sizes than this says.
    /// - Deleting a pod without a node ends it at once, so the next sync of a Recreate may follow at once, too.
    /// - After a rollback it is 1: the sync changes the template, and another set may become the new one.
    /// - If a size is rejected (PODRANK_DEPLOYMENT_REASON_REJECTED) it is 1: the controller tries again.
    pub goes_on: u8,
    /// Zero.
    pub reserved: u8,
    /// What happens to the new set. If it does not exist yet, this is the size with which it is created, or why it
    /// is not created.
    pub new_change: podrank_replica_set_change,
}

/// The Deployment is being deleted, so no set changes.
pub const PODRANK_DEPLOYMENT_PATH_NOTHING: u8 = 0;
/// The sync scales the sets that exist, because the Deployment is paused or its count changed.
pub const PODRANK_DEPLOYMENT_PATH_SCALE: u8 = 10;
/// The sync replaces old pods with new ones, within the budgets.
pub const PODRANK_DEPLOYMENT_PATH_ROLL: u8 = 20;
/// The sync deletes all old pods, and only then creates new ones.
pub const PODRANK_DEPLOYMENT_PATH_RECREATE: u8 = 30;
/// The sync changes the Deployment's template, as its rollback annotation demands. No set changes, but the new set is
/// created if it does not exist yet.
pub const PODRANK_DEPLOYMENT_PATH_ROLLBACK: u8 = 40;

/// The sync does not consider the set. This is the reason of every set if the path is PODRANK_DEPLOYMENT_PATH_NOTHING or
/// PODRANK_DEPLOYMENT_PATH_ROLLBACK. On the other paths, it is the reason of a set of size 0 about which there is nothing to decide.
/// "Scale", "Roll" and "Recreate" at the start of the other reasons name the path on which they occur.
pub const PODRANK_DEPLOYMENT_REASON_UNTOUCHED: u8 = 1;
/// Scale: the set gets the whole count, because it is the only active one. If no set is active, the new set gets
/// it, or the newest set if the new set does not exist yet.
pub const PODRANK_DEPLOYMENT_REASON_ONLY_ACTIVE: u8 = 4;
/// Scale: the new set already has the whole count, all available. So it keeps its size, and old sets get 0.
pub const PODRANK_DEPLOYMENT_REASON_SATURATED: u8 = 7;
/// Scale: the set gets its proportional share.
pub const PODRANK_DEPLOYMENT_REASON_SHARE: u8 = 10;
/// Scale: the set's proportional share is more than what is left to add or remove, so it gets only that.
pub const PODRANK_DEPLOYMENT_REASON_CUT_SHARE: u8 = 11;
/// Scale: the set is the largest. Besides its proportional share, it gets the remainder that no set's share
/// covers.
pub const PODRANK_DEPLOYMENT_REASON_SHARE_AND_LEFTOVER: u8 = 12;
/// Scale: the set keeps its size, because nothing is left to add or remove.
pub const PODRANK_DEPLOYMENT_REASON_USED_UP: u8 = 13;
/// Scale: the set keeps its size, because its share cannot be computed: its annotation max-replicas is missing,
/// invalid or 0, and the Deployment's status.replicas is 0.
pub const PODRANK_DEPLOYMENT_REASON_NO_SHARE: u8 = 14;
/// Scale: the set keeps its size, because several sets are active and the strategy is Recreate.
pub const PODRANK_DEPLOYMENT_REASON_NOT_ROLLING: u8 = 15;
/// The new set already has the count.
pub const PODRANK_DEPLOYMENT_REASON_AT_COUNT: u8 = 18;
/// The new set gets the count as its size, because its size is above the count, or because the strategy is
/// Recreate and no old pod is left.
pub const PODRANK_DEPLOYMENT_REASON_TO_COUNT: u8 = 19;
/// Roll: the new set grows as far as the count and the surge allow.
pub const PODRANK_DEPLOYMENT_REASON_GROWS: u8 = 20;
/// Roll: the new set cannot grow, because there are already as many pods as the count and the surge allow.
pub const PODRANK_DEPLOYMENT_REASON_NO_SURGE: u8 = 21;
/// Roll: the old set keeps its size in this sync, because the new set changes first.
pub const PODRANK_DEPLOYMENT_REASON_AFTER_NEW_SET: u8 = 24;
/// Roll: the old set shrinks by pods that are not available.
pub const PODRANK_DEPLOYMENT_REASON_UNHEALTHY: u8 = 25;
/// Roll: the old set shrinks as far as it can while enough pods stay available.
pub const PODRANK_DEPLOYMENT_REASON_AVAILABLE: u8 = 26;
/// Roll: the old set shrinks by pods that are not available, and then as far as it can while enough pods stay
/// available.
pub const PODRANK_DEPLOYMENT_REASON_UNHEALTHY_AND_AVAILABLE: u8 = 27;
/// Roll: the old set keeps its size, so that enough pods are available.
pub const PODRANK_DEPLOYMENT_REASON_HELD_BACK: u8 = 28;
/// Recreate: the old set gets 0.
pub const PODRANK_DEPLOYMENT_REASON_RECREATED: u8 = 31;
/// Recreate: the new set waits until no pod of an old set is left.
pub const PODRANK_DEPLOYMENT_REASON_WAITS: u8 = 32;
/// The size overflowed 32 bits and is below 0. The API server rejects it, so the set does not change, and the sync
/// ends.
pub const PODRANK_DEPLOYMENT_REASON_REJECTED: u8 = 35;
/// Roll: the old set has more available pods than its size, because its status lags behind. The sync ends.
pub const PODRANK_DEPLOYMENT_REASON_LAGS: u8 = 36;
/// The sync ended before it reached the set.
pub const PODRANK_DEPLOYMENT_REASON_NOT_REACHED: u8 = 37;

const _: () = {
    assert!(PODRANK_PERCENT_MAX == MAX_PERCENT);

    assert!(SetFlags::CURRENT_TEMPLATE.bits() == PODRANK_REPLICA_SET_CURRENT_TEMPLATE);
    assert!(SetFlags::DESIRED.bits() == PODRANK_REPLICA_SET_DESIRED);
    assert!(SetFlags::DESIRED_LENIENT.bits() == PODRANK_REPLICA_SET_DESIRED_LENIENT);
    assert!(SetFlags::MAX.bits() == PODRANK_REPLICA_SET_MAX);

    assert!(Path::Nothing.number() == PODRANK_DEPLOYMENT_PATH_NOTHING);
    assert!(Path::Scale.number() == PODRANK_DEPLOYMENT_PATH_SCALE);
    assert!(Path::Roll.number() == PODRANK_DEPLOYMENT_PATH_ROLL);
    assert!(Path::Recreate.number() == PODRANK_DEPLOYMENT_PATH_RECREATE);
    assert!(Path::Rollback.number() == PODRANK_DEPLOYMENT_PATH_ROLLBACK);
};

layout!(
    podrank_deployment, 32:
        0 replicas, 4 status_replicas, 8 max_surge, 12 max_unavailable, 16 flags, 20 reserved
);
same_layout!(
    podrank_replica_set, ReplicaSet, 48:
        creation_time name_order replicas status_replicas available_replicas desired_replicas max_replicas
        flags reserved
);
same_layout!(podrank_replica_set_change, Change, 16: replicas part reason annotates);
layout!(
    podrank_deployment_step, 32:
        0 surge, 4 unavailable, 8 new_set, 12 path, 13 creates, 14 goes_on, 16 new_change
);

/// Reads a maxSurge or maxUnavailable that is a text, such as "25%": one or more digits and '%'. Writes the number
/// to percent, which is at most PODRANK_PERCENT_MAX. The text "3" is PODRANK_ERR_PERCENT_SIGN, as in Kubernetes,
/// because a number of pods must be an integer, not a text.
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
/// deployment.kubernetes.io/max-replicas as Kubernetes does. Pass length 0 for a missing annotation. A text that
/// Kubernetes does not accept counts as missing and is not an error.
///
/// Writes set->desired_replicas and set->max_replicas, and sets or clears PODRANK_REPLICA_SET_DESIRED,
/// PODRANK_REPLICA_SET_DESIRED_LENIENT and PODRANK_REPLICA_SET_MAX in set->flags. Nothing else in set changes, so initialise it
/// first.
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

/// Predicts the next sync of a Deployment, as in Kubernetes 1.37. Writes to changes, at the index of each
/// set, the size that the set gets and why. Stores in *step what else the sync does. Kubernetes' Deployment
/// controller never touches a pod: podrank_settle predicts which pods a set then deletes.
///
/// sets are the ReplicaSets that the Deployment owns and its selector matches, in any order, including those of
/// size 0. If changes_len is below sets_len: PODRANK_ERR_SHORT_BUFFER. The prediction relies on the sizes and statuses that you
/// pass. If Kubernetes has newer ones by then, it may decide differently. The time grows with sets_len times the
/// number of active sets.
///
/// If a number of replicas or a budget is negative: PODRANK_ERR_NEGATIVE. (With PODRANK_REPLICA_SET_DESIRED_LENIENT,
/// desired_replicas may be.) If a percentage is above PODRANK_PERCENT_MAX: PODRANK_ERR_PERCENT_RANGE. If
/// deployment or a set has an unknown flag or a reserved byte that is not zero: PODRANK_ERR_FLAGS or
/// PODRANK_ERR_RESERVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_deployment_next(
    deployment: *const podrank_deployment,
    sets: *const podrank_replica_set,
    sets_len: usize,
    changes: *mut podrank_replica_set_change,
    changes_len: usize,
    step: *mut podrank_deployment_step,
) -> i32 {
    run(|| {
        let deployment = Input::one(deployment)?;
        let sets = Input::new(sets.cast::<ReplicaSet>(), sets_len)?;
        let changes = Output::new(changes.cast::<Change>(), changes_len)?;
        let step = Output::one(step)?;
        apart(&[changes.span(), step.span()], &[deployment.span(), sets.span()])?;
        changes.needs(sets_len)?;
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

/// Returns the name of a reason, such as "share-and-leftover", or NULL for any other number. The text is static:
/// do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_deployment_reason_str(reason: u8) -> *const c_char {
    Reason::from_number(reason).map_or(core::ptr::null(), |reason| reason.c_name().as_ptr())
}

impl podrank_deployment {
    /// Returns the core's Deployment if this one is sound.
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
            new_set: step.new_set.unwrap_or(PODRANK_NONE),
            path: step.path.number(),
            creates: step.creates.into(),
            goes_on: step.goes_on.into(),
            reserved: 0,
            new_change: podrank_replica_set_change {
                replicas: step.new_change.replicas,
                part: step.new_change.part,
                reason: step.new_change.reason.number(),
                annotates: step.new_change.annotates.into(),
                reserved: [0; 6],
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
