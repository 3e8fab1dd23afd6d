//! Which pods the next sync of a DaemonSet deletes.

use crate::deployment::PODRANK_PERCENT_MAX;
use crate::layout::{layout, same_layout};
use crate::memory::{Input, Output, apart};
use crate::outcome::PODRANK_NONE;
use crate::outcome::podrank_outcome;
use crate::status::{
    Error, PODRANK_ERR_FLAGS, PODRANK_ERR_NEGATIVE, PODRANK_ERR_NODE, PODRANK_ERR_PERCENT_RANGE,
    PODRANK_ERR_RESERVED, PODRANK_ERR_SHORT_BUFFER, PODRANK_ERR_TOO_LONG, run,
};
use core::ffi::c_char;
use podrank::controller::IntOrPercent;
use podrank::controller::daemon_set::{
    BURST_REPLICAS, DaemonSet, DaemonSetError, InvalidPod, NO_NODE, NodeFlags, Outcome, Pod, PodFlags,
    Reason, Step, Strategy, next_sync,
};

/// How many pods each of the two parts of a DaemonSet's sync deletes at most. The first part gives every node
/// the pods that it should have; the second, the update, replaces old pods.
pub const PODRANK_DAEMON_SET_BURST_REPLICAS: u32 = 250;

/// What podrank_daemon_set_next reads from a DaemonSet. Start from all zeros. No number may be negative.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_daemon_set {
    /// spec.updateStrategy.rollingUpdate.maxSurge: a number of pods, or a percentage if PODRANK_DAEMON_SET_SURGE_PERCENT is set.
    /// Not used with PODRANK_DAEMON_SET_ON_DELETE.
    pub max_surge: i32,
    /// spec.updateStrategy.rollingUpdate.maxUnavailable: a number of pods, or a percentage if
    /// PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT is set. Not used with PODRANK_DAEMON_SET_ON_DELETE.
    pub max_unavailable: i32,
    /// Any of PODRANK_DAEMON_SET_...
    pub flags: u32,
    /// Zero.
    pub reserved: [u8; 20],
}

/// spec.updateStrategy.type is OnDelete, not RollingUpdate.
pub const PODRANK_DAEMON_SET_ON_DELETE: u32 = 1;
/// The DaemonSet has a metadata.deletionTimestamp.
pub const PODRANK_DAEMON_SET_BEING_DELETED: u32 = 2;
/// max_surge is a percentage, up to PODRANK_PERCENT_MAX.
pub const PODRANK_DAEMON_SET_SURGE_PERCENT: u32 = 4;
/// max_unavailable is a percentage, up to PODRANK_PERCENT_MAX.
pub const PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT: u32 = 8;

/// What podrank_daemon_set_next reads from one pod. Start from all zeros with creation_time PODRANK_TIME_UNSET.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_daemon_set_pod {
    /// metadata.creationTimestamp, as in podrank_pod. A pod without one counts as the oldest.
    pub creation_time: i64,
    /// The position of metadata.name among the names of all pods, sorted by their bytes: the smaller name has the smaller
    /// number. It decides between pods with equal creation times.
    pub name_order: u32,
    /// The index of the pod's node: that of spec.nodeName, or if the pod is not assigned, the one that its affinity names. If
    /// that names none, PODRANK_NONE.
    pub node: u32,
    /// Any of PODRANK_DAEMON_SET_POD_...
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

/// spec.nodeName is not empty.
pub const PODRANK_DAEMON_SET_POD_ASSIGNED: u8 = 1;
/// The first condition of type Ready has status True.
pub const PODRANK_DAEMON_SET_POD_READY: u8 = 2;
/// The pod is available, as podrank_availability counts it.
pub const PODRANK_DAEMON_SET_POD_AVAILABLE: u8 = 4;
/// The label controller-revision-hash is that of the DaemonSet's current revision.
pub const PODRANK_DAEMON_SET_POD_CURRENT_REVISION: u8 = 8;
/// The label pod-template-generation is the number in the DaemonSet's annotation
/// deprecated.daemonset.template.generation. For the update, such a pod is up to date whatever its revision.
pub const PODRANK_DAEMON_SET_POD_CURRENT_GENERATION: u8 = 16;
/// status.phase is Succeeded.
pub const PODRANK_DAEMON_SET_POD_SUCCEEDED: u8 = 32;
/// status.phase is Failed.
pub const PODRANK_DAEMON_SET_POD_FAILED: u8 = 64;
/// The pod has a metadata.deletionTimestamp.
pub const PODRANK_DAEMON_SET_POD_BEING_DELETED: u8 = 128;

/// The node exists. The other flags have no meaning without this one.
pub const PODRANK_DAEMON_SET_NODE_EXISTS: u8 = 1;
/// A pod may start here: the node's name, labels and taints allow it.
pub const PODRANK_DAEMON_SET_NODE_MAY_START: u8 = 2;
/// A pod that runs here may stay: the node's name, labels and taints with the effect NoExecute allow it. Other taints do
/// not count. Set it wherever PODRANK_DAEMON_SET_NODE_MAY_START is set.
pub const PODRANK_DAEMON_SET_NODE_MAY_KEEP: u8 = 4;
/// The controller has deleted a failed pod here so recently that it leaves the next one for later.
pub const PODRANK_DAEMON_SET_NODE_IN_BACKOFF: u8 = 8;

/// What a sync does, apart from the outcome of each pod.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_daemon_set_step {
    /// maxSurge as a number of nodes. This and the next four are 0 unless is_update is 1.
    pub surge: i64,
    /// maxUnavailable as a number of nodes.
    pub unavailable: i64,
    /// On how many nodes a pod may start.
    pub wanted: u32,
    /// How much of the budget is used. Without surge, this is the number of unavailable nodes. A node is available if, not
    /// counting pods being deleted, it has exactly one pod and that pod is available. A node that has no pod at all, not
    /// even one being deleted, counts as unavailable only if a pod may start there. With surge, this is the number of nodes
    /// that have a second pod that is not yet available.
    pub used: u32,
    /// With surge, how many nodes have an available pod.
    pub available: u32,
    /// How many pods the sync deletes.
    pub deleted: u32,
    /// How many pods it creates.
    pub creates: u32,
    /// How many more pods a later sync deletes, because one part of a sync deletes at most
    /// PODRANK_DAEMON_SET_BURST_REPLICAS.
    pub later: u32,
    /// With surge, the update fails if an old pod is the only one of a node that no longer exists. This is the index of
    /// such a pod, or PODRANK_NONE if there is none.
    pub blocked_by: u32,
    /// 1 if the sync reaches its second part, the update, because its first part has nothing to do. Otherwise 0.
    pub is_update: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// It stays: nothing asks for its deletion, or it is being deleted already.
pub const PODRANK_DAEMON_SET_REASON_KEPT: u8 = 121;
/// It is not allowed to stay on its node.
pub const PODRANK_DAEMON_SET_REASON_NOT_WANTED: u8 = 124;
/// It has succeeded.
pub const PODRANK_DAEMON_SET_REASON_SUCCEEDED: u8 = 125;
/// It has failed. Of several failed pods of a node, one goes in each sync, and chance decides which.
pub const PODRANK_DAEMON_SET_REASON_FAILED: u8 = 126;
/// It has failed, but the controller deleted another failed pod of the node only recently.
pub const PODRANK_DAEMON_SET_REASON_BACKED_OFF: u8 = 127;
/// Another pod of the node is kept: preferably an assigned one, then the oldest, then the one with the
/// smallest name.
pub const PODRANK_DAEMON_SET_REASON_SURPLUS: u8 = 128;
/// With surge: the node has a new pod, and the old one is not ready.
pub const PODRANK_DAEMON_SET_REASON_OLD_NOT_READY: u8 = 129;
/// The new pod of the node is available, so the old one goes.
pub const PODRANK_DAEMON_SET_REASON_REPLACED: u8 = 130;
/// It is not assigned, and its node does not exist.
pub const PODRANK_DAEMON_SET_REASON_NO_NODE: u8 = 131;
/// Update: the old pod is not available, so deleting it takes nothing from the budget.
pub const PODRANK_DAEMON_SET_REASON_OLD_UNAVAILABLE: u8 = 134;
/// Update: the old pod is available. Such pods go while maxUnavailable allows it.
pub const PODRANK_DAEMON_SET_REASON_OLD_AVAILABLE: u8 = 135;
/// Update with surge: the old pod stays until the new one of its node is available. The new one may not have
/// been created yet.
pub const PODRANK_DAEMON_SET_REASON_AWAITS_NEW: u8 = 136;
/// Update with surge: no pod may start on the node any more, and the old pod is not available.
pub const PODRANK_DAEMON_SET_REASON_NOT_STARTABLE: u8 = 137;
/// Update with surge: no pod may start on the node any more. Such pods go only while
/// podrank_daemon_set_step.available is above podrank_daemon_set_step.wanted.
pub const PODRANK_DAEMON_SET_REASON_NOT_STARTABLE_AVAILABLE: u8 = 138;
/// Update: the node has several old or several new pods or, without surge, an old and a new one. Pods that
/// are being deleted do not count. The first part of a later sync deletes the surplus.
pub const PODRANK_DAEMON_SET_REASON_UNSETTLED: u8 = 139;
/// The old pod stays until somebody deletes it, because the strategy is OnDelete.
pub const PODRANK_DAEMON_SET_REASON_ON_DELETE: u8 = 142;
/// The old pod stays until a later sync, because this sync first has to create or delete pods in its first
/// part.
pub const PODRANK_DAEMON_SET_REASON_AFTER_FIRST_PART: u8 = 143;
/// Update with surge: the sync fails, because an old pod is alone on a node that does not exist.
pub const PODRANK_DAEMON_SET_REASON_NODE_MISSING: u8 = 144;
/// It goes in a later sync, because one part of a sync deletes at most PODRANK_DAEMON_SET_BURST_REPLICAS pods.
pub const PODRANK_DAEMON_SET_REASON_NEXT_SYNC: u8 = 147;

const _: () = {
    assert!(PODRANK_DAEMON_SET_BURST_REPLICAS == BURST_REPLICAS);
    assert!(PODRANK_NONE == NO_NODE);

    assert!(PodFlags::ASSIGNED.bits() == PODRANK_DAEMON_SET_POD_ASSIGNED);
    assert!(PodFlags::READY.bits() == PODRANK_DAEMON_SET_POD_READY);
    assert!(PodFlags::AVAILABLE.bits() == PODRANK_DAEMON_SET_POD_AVAILABLE);
    assert!(PodFlags::CURRENT_REVISION.bits() == PODRANK_DAEMON_SET_POD_CURRENT_REVISION);
    assert!(PodFlags::CURRENT_GENERATION.bits() == PODRANK_DAEMON_SET_POD_CURRENT_GENERATION);
    assert!(PodFlags::SUCCEEDED.bits() == PODRANK_DAEMON_SET_POD_SUCCEEDED);
    assert!(PodFlags::FAILED.bits() == PODRANK_DAEMON_SET_POD_FAILED);
    assert!(PodFlags::BEING_DELETED.bits() == PODRANK_DAEMON_SET_POD_BEING_DELETED);

    assert!(NodeFlags::EXISTS.bits() == PODRANK_DAEMON_SET_NODE_EXISTS);
    assert!(NodeFlags::MAY_START.bits() == PODRANK_DAEMON_SET_NODE_MAY_START);
    assert!(NodeFlags::MAY_KEEP.bits() == PODRANK_DAEMON_SET_NODE_MAY_KEEP);
    assert!(NodeFlags::IN_BACKOFF.bits() == PODRANK_DAEMON_SET_NODE_IN_BACKOFF);
};

layout!(podrank_daemon_set, 32: 4 max_unavailable, 8 flags, 12 reserved);
same_layout!(podrank_daemon_set_pod, Pod, 24: creation_time name_order node flags reserved);
layout!(
    podrank_daemon_set_step, 48:
        8 unavailable, 16 wanted, 20 used, 24 available, 28 deleted, 32 creates, 36 later, 40 blocked_by,
        44 is_update
);

/// Predicts the next sync of a DaemonSet, as in Kubernetes 1.37. Writes to outcomes, at the index of each pod, whether it
/// goes and why. Stores in *step what else the sync does.
///
/// nodes has one element per node: any of PODRANK_DAEMON_SET_NODE_.... If pods of this DaemonSet name a node that no longer exists,
/// that node needs an element, too: 0. pods are the DaemonSet's pods, in any order, including those that have ended or are
/// being deleted. order is scratch memory. If order_len or outcomes_len is below pods_len: PODRANK_ERR_SHORT_BUFFER. The time
/// grows with n log n.
///
/// A sync has two parts. The first gives every node the pods that it should have: it creates missing pods, and deletes
/// failed, surplus and unwanted ones. Only if it had nothing to do does the second part follow, the update, which replaces
/// old pods within the budgets maxSurge and maxUnavailable. Kubernetes walks the nodes in random order, so if the budget is
/// smaller than the number of old available pods, these are contested.
///
/// If a budget is negative: PODRANK_ERR_NEGATIVE. If a percentage is above PODRANK_PERCENT_MAX: PODRANK_ERR_PERCENT_RANGE.
/// If a pod's node is neither PODRANK_NONE nor below nodes_len: PODRANK_ERR_NODE. If the set, a node or a pod has an
/// unknown flag, or if a pod has the flags of both success and failure: PODRANK_ERR_FLAGS. If a reserved byte is not zero:
/// PODRANK_ERR_RESERVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_daemon_set_next(
    set: *const podrank_daemon_set,
    nodes: *const u8,
    nodes_len: usize,
    pods: *const podrank_daemon_set_pod,
    pods_len: usize,
    order: *mut u32,
    order_len: usize,
    outcomes: *mut podrank_outcome,
    outcomes_len: usize,
    step: *mut podrank_daemon_set_step,
) -> i32 {
    run(|| {
        let set = Input::one(set)?;
        let nodes = Input::new(nodes.cast::<NodeFlags>(), nodes_len)?;
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (order, outcomes) =
            (Output::new(order, order_len)?, Output::new(outcomes.cast::<Outcome>(), outcomes_len)?);
        let step = Output::one(step)?;
        let written = [order.span(), outcomes.span(), step.span()];
        apart(&written, &[set.span(), nodes.span(), pods.span()])?;
        order.needs(pods_len)?;
        outcomes.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        let (set, nodes, pods) = unsafe { (set.read(), nodes.read(), pods.read()) };
        let set = set.first().map_or_else(|| Ok(DaemonSet::default()), podrank_daemon_set::read)?;
        if nodes.iter().any(|node| node.unknown_bits() != 0) {
            return Err(Error(PODRANK_ERR_FLAGS));
        }
        pods.iter().try_for_each(Pod::validate)?;
        if pods.iter().any(|pod| pod.node != NO_NODE && pod.node as usize >= nodes_len) {
            return Err(Error(PODRANK_ERR_NODE));
        }
        // SAFETY: as above.
        let (order, outcomes) =
            unsafe { (order.filled(pods_len, 0), outcomes.filled(pods_len, Outcome::default())) };
        let next = next_sync(&set, nodes, pods, order, outcomes)?;
        // SAFETY: as above.
        unsafe { step.set(podrank_daemon_set_step::from(&next)) };
        Ok(())
    })
}

/// Returns the name of a reason, such as "old-available", or NULL for any other number. The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_daemon_set_reason_str(reason: u8) -> *const c_char {
    Reason::from_number(reason).map_or(core::ptr::null(), |reason| reason.c_name().as_ptr())
}

impl podrank_daemon_set {
    /// Returns the core's DaemonSet if this one is sound.
    fn read(&self) -> Result<DaemonSet, Error> {
        const KNOWN: u32 = 2 * PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT - 1;
        let &podrank_daemon_set { max_surge, max_unavailable, flags, reserved } = self;
        if max_surge | max_unavailable < 0 {
            return Err(Error(PODRANK_ERR_NEGATIVE));
        }
        if flags & !KNOWN != 0 {
            return Err(Error(PODRANK_ERR_FLAGS));
        }
        if reserved != [0; 20] {
            return Err(Error(PODRANK_ERR_RESERVED));
        }
        let has = |flag| flags & flag != 0;
        let number = |number: i32, is_percent: bool| match number.cast_unsigned() {
            _ if !is_percent => Ok(IntOrPercent::Int(number)),
            percent if percent > PODRANK_PERCENT_MAX => Err(Error(PODRANK_ERR_PERCENT_RANGE)),
            percent => Ok(IntOrPercent::Percent(percent)),
        };
        let strategy = if has(PODRANK_DAEMON_SET_ON_DELETE) {
            Strategy::OnDelete
        } else {
            Strategy::RollingUpdate {
                max_surge: number(max_surge, has(PODRANK_DAEMON_SET_SURGE_PERCENT))?,
                max_unavailable: number(max_unavailable, has(PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT))?,
            }
        };
        Ok(DaemonSet { strategy, is_being_deleted: has(PODRANK_DAEMON_SET_BEING_DELETED) })
    }
}

impl From<&Step> for podrank_daemon_set_step {
    fn from(step: &Step) -> Self {
        Self {
            surge: step.surge,
            unavailable: step.unavailable,
            wanted: step.wanted,
            used: step.used,
            available: step.available,
            deleted: step.deleted,
            creates: step.creates,
            later: step.later,
            blocked_by: step.blocked_by.unwrap_or(PODRANK_NONE),
            is_update: step.is_update.into(),
            reserved: [0; 3],
        }
    }
}

impl From<InvalidPod> for Error {
    fn from(invalid: InvalidPod) -> Self {
        Self(match invalid {
            InvalidPod::TwoPhases => PODRANK_ERR_FLAGS,
            _ => PODRANK_ERR_RESERVED,
        })
    }
}

impl From<DaemonSetError> for Error {
    fn from(error: DaemonSetError) -> Self {
        Self(match error {
            DaemonSetError::UnknownNode(_) => PODRANK_ERR_NODE,
            DaemonSetError::TooMany => PODRANK_ERR_TOO_LONG,
            _ => PODRANK_ERR_SHORT_BUFFER,
        })
    }
}
