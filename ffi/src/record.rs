//! The record as C sees it, with assertions that it is the core's.

use crate::layout::same_layout;
use crate::memory::{InOut, Input, Output, apart};
use crate::status::{Error, run, status};
use podrank::{Flags, Phase, Pod, Time};

/// What the order reads from one active pod. Only active pods become records: the phase is neither Succeeded
/// nor Failed, and there is no metadata.deletionTimestamp. Start from PODRANK_POD_INIT, which unsets both
/// times.
///
/// Times are nanoseconds of one clock, the same for all pods and for now: for Kubernetes' timestamps, nanoseconds since
/// the Unix epoch. They are PODRANK_TIME_UNSET if a timestamp is missing, null or 0001-01-01T00:00:00Z.
/// podrank_time_from_unix makes them from seconds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_pod {
    /// metadata.uid as 16 bytes, the most significant first: see podrank_uid_parse.
    pub uid: [u8; 16],
    /// lastTransitionTime of the Ready condition. It is read only if the pod is ready.
    pub ready_time: i64,
    /// metadata.creationTimestamp.
    pub creation_time: i64,
    /// The annotation controller.kubernetes.io/pod-deletion-cost: see podrank_deletion_cost_parse. 0 if it is
    /// missing or invalid.
    pub deletion_cost: i32,
    /// How many active related pods are on this pod's node, including the pod itself: see podrank_count_ranks.
    pub rank: u32,
    /// The largest restartCount of status.containerStatuses.
    pub restarts: u32,
    /// The largest restartCount of the sidecars: those of status.initContainerStatuses whose container in
    /// spec.initContainers has restartPolicy Always.
    pub sidecar_restarts: u32,
    /// The node, as a small number of your choice: see podrank_node_number. Only podrank_count_ranks, podrank_spread and
    /// podrank_empty_nodes read it, and only if the pod is assigned.
    pub node: u32,
    /// status.phase: PODRANK_PHASE_PENDING, _UNKNOWN or _RUNNING.
    pub phase: u8,
    /// Any of PODRANK_POD_ASSIGNED, _READY and _PREFERRED.
    pub flags: u8,
    /// The pod's tier, which you choose for whatever reason: pods of a lower tier are deleted before pods of a higher
    /// one. Kubernetes does not know tiers. See podrank_steer.
    pub tier: u16,
    /// Zero. Reserved for rules that later releases add.
    pub reserved: [u8; 8],
}

/// An unset time, distinct from the epoch (0).
pub const PODRANK_TIME_UNSET: i64 = i64::MIN;

/// Pending, and any text that is not a phase of Kubernetes.
pub const PODRANK_PHASE_PENDING: u8 = 0;
/// Unknown.
pub const PODRANK_PHASE_UNKNOWN: u8 = 1;
/// Running.
pub const PODRANK_PHASE_RUNNING: u8 = 2;

/// spec.nodeName is not empty.
pub const PODRANK_POD_ASSIGNED: u8 = 1;
/// The first condition of type Ready has status True.
pub const PODRANK_POD_READY: u8 = 2;
/// The label kubernetes.io/prefer-for-scale-down is present, whatever its value.
pub const PODRANK_POD_PREFERRED: u8 = 4;

const _: () = {
    assert!(Phase::PENDING.ordinal() == PODRANK_PHASE_PENDING);
    assert!(Phase::UNKNOWN.ordinal() == PODRANK_PHASE_UNKNOWN);
    assert!(Phase::RUNNING.ordinal() == PODRANK_PHASE_RUNNING);
    assert!(Flags::ASSIGNED.bits() == PODRANK_POD_ASSIGNED);
    assert!(Flags::READY.bits() == PODRANK_POD_READY);
    assert!(Flags::PREFERRED.bits() == PODRANK_POD_PREFERRED);
};

same_layout!(
    podrank_pod, Pod, 64:
        uid ready_time creation_time deletion_cost rank restarts sidecar_restarts node phase flags tier
        reserved
);

/// Returns the records if all are valid.
pub(crate) fn valid(pods: &[Pod]) -> Result<&[Pod], Error> {
    pods.iter().try_for_each(Pod::validate)?;
    Ok(pods)
}

/// Finds the first invalid record. Every other function also checks its records, but does not say which record is
/// invalid. RETURNS PODRANK_OK ALSO IF IT FINDS ONE: compare *first_invalid with pods_len.
///
/// Stores the index of that record in *first_invalid, and in *why the status that other functions would
/// return for it: PODRANK_ERR_PHASE, PODRANK_ERR_FLAGS or PODRANK_ERR_RESERVED. If all are valid, it stores
/// pods_len and PODRANK_OK. It does not check the member node, which has its range where it is read.
/// The time grows with pods_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_validate(
    pods: *const podrank_pod,
    pods_len: usize,
    first_invalid: *mut usize,
    why: *mut i32,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (first_invalid, why) = (Output::one(first_invalid)?, Output::one(why)?);
        apart(&[first_invalid.span(), why.span()], &[pods.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let mut checks = pods.read().iter().map(Pod::validate).enumerate();
            let (index, check) = checks.find(|(_, check)| check.is_err()).unwrap_or((pods_len, Ok(())));
            first_invalid.set(index);
            why.set(status(check.map_err(Error::from)));
        }
        Ok(())
    })
}

/// Sets the rank of each pod in the array pods to the number of pods on its node, counting both arrays. The
/// array others has the related active pods that cannot be victims, such as those of another ReplicaSet of
/// the same Deployment, and none that is in the array pods, because it would count twice. others may be NULL with
/// others_len 0. Unassigned pods share one count. Kubernetes counts ranks once, before it sorts.
///
/// counts is scratch memory, and counts_len must be above every assigned pod's node: use table_len if
/// podrank_node_number chose the numbers. If a node is not below counts_len: PODRANK_ERR_NODE.
/// The time grows with pods_len + others_len + counts_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_count_ranks(
    pods: *mut podrank_pod,
    pods_len: usize,
    others: *const podrank_pod,
    others_len: usize,
    counts: *mut u32,
    counts_len: usize,
) -> i32 {
    run(|| {
        let pods = InOut::new(pods.cast::<Pod>(), pods_len)?;
        let others = Input::new(others.cast::<Pod>(), others_len)?;
        let counts = Output::new(counts, counts_len)?;
        apart(&[pods.span(), counts.span()], &[others.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let (pods, others) = (pods.all(), valid(others.read())?);
            valid(pods)?;
            Ok(podrank::count_ranks(pods, others, counts.filled(counts_len, 0))?)
        }
    })
}

/// Converts the seconds and nanoseconds since the Unix epoch into one number of nanoseconds since the Unix epoch, and
/// stores it in *time. nanoseconds are added, also to negative seconds, and may be 1000000000 or more. Times outside
/// 1677-09-21 to 2262-04-11 become the nearest time inside, with one exception: 0001-01-01T00:00:00Z, however it is split
/// into seconds and nanoseconds, is PODRANK_TIME_UNSET, because that is how Kubernetes writes missing times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_time_from_unix(seconds: i64, nanoseconds: u32, time: *mut i64) -> i32 {
    run(|| {
        let time = Output::one(time)?;
        let nanos = Time::from_unix(seconds, nanoseconds).unix_nanos().unwrap_or(PODRANK_TIME_UNSET);
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { time.set(nanos) };
        Ok(())
    })
}
