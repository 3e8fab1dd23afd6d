//! What a sync does to one pod: the verdicts, and the outcome for a pod of a Job or a DaemonSet.

use crate::layout::same_layout;
use podrank::controller::{Outcome, Verdict};

/// What is written in place of the index of a pod, a node or a ReplicaSet if there is none.
pub const PODRANK_NONE: u32 = u32::MAX;

/// The pod stays.
pub const PODRANK_VERDICT_KEEP: u8 = 0;
/// The pod certainly goes.
pub const PODRANK_VERDICT_DELETE: u8 = 1;
/// The pod goes or stays by chance.
pub const PODRANK_VERDICT_CONTESTED: u8 = 2;
/// The pod would go, but waits.
pub const PODRANK_VERDICT_BLOCKED: u8 = 3;

/// What a sync does to one pod.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_outcome {
    /// If the pod is contested, the index of one pod of its group. It is the same for all pods of the group. Otherwise 0.
    pub group: u32,
    /// If the pod is contested, how many pods of its group go: at least 1, and fewer than there are. Otherwise 0.
    pub quota: u32,
    /// Whether the pod goes: PODRANK_VERDICT_..., which keeps its number for ever.
    pub verdict: u8,
    /// Why: PODRANK_JOB_REASON_... or PODRANK_DAEMON_SET_REASON_..., which keeps its number for ever.
    pub reason: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

const _: () = {
    assert!(Verdict::Keep.number() == PODRANK_VERDICT_KEEP);
    assert!(Verdict::Delete.number() == PODRANK_VERDICT_DELETE);
    assert!(Verdict::Contested.number() == PODRANK_VERDICT_CONTESTED);
    assert!(Verdict::Blocked.number() == PODRANK_VERDICT_BLOCKED);
};

same_layout!(podrank_outcome, Outcome<u8>, 12: group quota verdict reason);
