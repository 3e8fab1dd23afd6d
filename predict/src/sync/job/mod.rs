//! Which pods the next sync of a Job deletes, and why.
//!
//! Kubernetes' Job controller deletes active pods if too many run, if two of them share an index, or if none should run any more: the
//! Job is suspended, or a limit such as its deadline [ends](JobState::state) it.
//!
//! The order of a Job's pods is [the order](podrank) without tiers, deletion costs, ranks, the label for preference, age buckets and
//! UIDs: Kubernetes' `ActivePods`. Pods tie if they are equal in everything that it compares. If only some of the pods
//! that tie are deleted, no rule says which, so all of them are contested. Chance decides among the pods of one index,
//! and among those of a Job without indexes. If no two pods of an Indexed Job share an index, Kubernetes' sort decides,
//! because the controller lists them by index first. This prediction does not model that sort.

mod reason;
mod removal;

pub use reason::JobReason;

use super::{PodOutcome, Verdict};
use podrank::{FeatureGates, Pod, Policy, Time};
use removal::Removal;

/// How many pods one sync of a Job deletes at most, unless it deletes all: Kubernetes' `MaxPodCreateDeletePerSync`.
pub const MAX_DELETIONS: usize = 500;

/// The annotation that holds a pod's completion index.
pub const COMPLETION_INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";

/// The completion index of a pod without a valid one. Every other negative number means the same.
pub const NO_INDEX: i64 = -1;

/// What a sync reads from a Job.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobState {
    /// `spec.parallelism`. A negative number counts as 0.
    pub parallelism: i32,
    /// `spec.completions` and `spec.completionMode`.
    pub completion: Completion,
    /// How many pods have succeeded: the sum of `status.succeeded`, the length of
    /// `status.uncountedTerminatedPods.succeeded`, and the number of succeeded pods that are not in that list but have the
    /// finalizer `batch.kubernetes.io/job-tracking`. For an Indexed Job, how many of its indexes have succeeded: those in
    /// `status.completedIndexes` and those of succeeded pods with that finalizer.
    pub succeeded: i32,
    /// `spec.suspend`.
    pub is_suspended: bool,
    /// Whether the Job's end is decided.
    pub state: State,
    /// Whether the Job has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
    /// How many pods have failed: the sum of `status.failed`, the length of `status.uncountedTerminatedPods.failed`, and the
    /// number of failed pods that are not in that list but have the finalizer `batch.kubernetes.io/job-tracking` and, for an
    /// Indexed Job, an index below the completions. Unless `spec.podReplacementPolicy` is `Failed`, pods that are being deleted
    /// and have not succeeded count as failed. Pods that a rule of `spec.podFailurePolicy` ignores do not count.
    pub failed: i32,
    /// `spec.backoffLimit`.
    pub backoff_limit: i32,
    /// If the pods' restart policy is `OnFailure`: the sum of the restarts of all containers, including init containers, of the
    /// running and pending pods, even of those that are being deleted. 0 for another policy.
    pub restarts: i32,
    /// `spec.activeDeadlineSeconds`.
    pub active_deadline_seconds: Option<i64>,
    /// `status.startTime`: when the deadline begins to count. If it is unset, this sync sets it to its own time.
    pub start_time: Time,
    /// How many indexes have failed: those in `status.failedIndexes` below the completions, and those of the pods that have
    /// failed since. 0 without `spec.backoffLimitPerIndex`. Read only for an Indexed Job, as is `max_failed_indexes`.
    pub failed_indexes: i32,
    /// `spec.maxFailedIndexes`.
    pub max_failed_indexes: Option<i32>,
}

/// Whether something other than a limit has decided that a Job ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It is not.
    #[default]
    Running,
    /// The Job fails or has met its success criteria: its condition `FailureTarget` or `SuccessCriteriaMet` is true.
    Ending,
    /// A failed pod matches a rule of `spec.podFailurePolicy` whose action is `FailJob`.
    PodFailurePolicy,
    /// The succeeded indexes meet a rule of `spec.successPolicy`.
    SuccessPolicy,
    /// The controller leaves the Job alone: its condition `Complete` or `Failed` is true, or `spec.managedBy` names another
    /// controller.
    LeftAlone,
}

/// When a Job counts as complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// `spec.completions` is not set: the first success of any pod completes the Job, once all other pods have ended.
    #[default]
    Any,
    /// This number of pods has to succeed: `spec.completions` with the mode `NonIndexed`.
    Count(i32),
    /// A pod for each index below this number has to succeed: `spec.completions` with the mode `Indexed`.
    Indexed(i32),
}

impl Completion {
    /// The completions of an Indexed Job.
    pub fn indexed(self) -> Option<i32> {
        if let Self::Indexed(completions) = self { Some(completions) } else { None }
    }
}

/// What one sync does.
#[derive(Clone, Debug)]
pub struct Sync {
    /// What it does to each pod.
    pub outcomes: Vec<PodOutcome<JobReason>>,
    /// How many active pods the controller wants: as many as there are if it does nothing.
    pub wanted: usize,
    /// How many pods the sync deletes.
    pub deleted: usize,
    /// How many more pods a later sync deletes, because this one deletes at most [`MAX_DELETIONS`].
    pub later: usize,
}

impl JobState {
    /// Returns why the sync at `now` ends the Job, or `None` if it does not. A sync that ends the Job deletes all active pods.
    ///
    /// A Job can be past several limits simultaneously. This is the first in the order in which Kubernetes checks them.
    /// A deadline does not pass if `now` is unset.
    pub fn end(&self, now: Time) -> Option<JobReason> {
        let (failed_indexes, completions) = match self.completion {
            Completion::Indexed(completions) => (self.failed_indexes, completions),
            _ => (0, 0),
        };
        let ended_indexes = i64::from(failed_indexes).saturating_add(self.succeeded.into());
        match self.state {
            State::LeftAlone => None,
            State::Ending => Some(JobReason::Ending),
            State::PodFailurePolicy => Some(JobReason::PodFailurePolicy),
            _ if self.failed > self.backoff_limit => Some(JobReason::BackoffLimit),
            _ if self.restarts >= self.backoff_limit.max(1) => Some(JobReason::Restarts),
            _ if self.deadline_left(now).is_some_and(|left| left <= 0) => Some(JobReason::Deadline),
            _ if failed_indexes > self.max_failed_indexes.unwrap_or(i32::MAX) => {
                Some(JobReason::MaxFailedIndexes)
            }
            _ if failed_indexes > 0 && ended_indexes >= i64::from(completions) => {
                Some(JobReason::FailedIndexes)
            }
            State::SuccessPolicy => Some(JobReason::SuccessPolicy),
            State::Running => None,
        }
    }

    /// Returns the nanoseconds until the Job's deadline, 0 or less if it has passed. Returns `None` if there is no deadline, if the
    /// Job is suspended, or if `now` is unset. If the start time is unset, the Job starts now. A result of more than 292 years is
    /// reported as 292 years.
    pub fn deadline_left(&self, now: Time) -> Option<i64> {
        let seconds = self.active_deadline_seconds.filter(|_| !self.is_suspended && !now.is_unset())?;
        let elapsed = || Some(now.unix_nanos()?.saturating_sub(self.start_time.unix_nanos()?));
        // The product wraps as upstream's does.
        Some(seconds.wrapping_mul(1_000_000_000).saturating_sub(elapsed().unwrap_or(0)))
    }

    /// Returns how many active pods the controller wants if the Job goes on.
    fn counted(&self, active: usize) -> usize {
        let parallelism = usize::try_from(self.parallelism).unwrap_or(0);
        match self.completion {
            // After a success, what runs may end, and nothing starts.
            Completion::Any if self.succeeded > 0 => active,
            Completion::Any => parallelism,
            Completion::Count(completions) | Completion::Indexed(completions) => {
                // Wraps as upstream does.
                let missing = completions.wrapping_sub(self.succeeded);
                parallelism.min(usize::try_from(missing).unwrap_or(0))
            }
        }
    }
}

/// Predicts the next sync of a Job, at `now`.
///
/// `pods` are the active pods that the Job controls, in any order. Their ranks, deletion costs, tiers and
/// [`Flags::PREFERRED`](podrank::Flags::PREFERRED) are not read. `indexes` are their completion indexes, at the same positions: what
/// [`completion_index`] returns, or [`NO_INDEX`]. Only an Indexed Job reads them.
///
/// Each contested [group](PodOutcome::group) has its own [quota](PodOutcome::quota). An Indexed Job can have several groups: one for each
/// index whose pods tie, and one for the pods that tie across the boundary between the last deleted pod and the first
/// kept one. In that boundary group, not every combination is possible: if several pods share an index and all of them
/// are in the group, the Job cannot keep all of them.
pub fn next_sync(job: &JobState, now: Time, pods: &[Pod], indexes: &[i64]) -> Sync {
    let active = pods.len();
    let all = |verdict, reason| vec![PodOutcome::new(verdict, reason); active];
    let delete_all =
        |reason| Sync { outcomes: all(Verdict::Deleted, reason), wanted: 0, deleted: active, later: 0 };
    match job.end(now) {
        Some(reason) => delete_all(reason),
        None if job.state == State::LeftAlone || job.is_being_deleted => {
            Sync { outcomes: all(Verdict::Kept, JobReason::Kept), wanted: active, deleted: 0, later: 0 }
        }
        None if job.is_suspended => delete_all(JobReason::Suspended),
        None => {
            let wanted = job.counted(active);
            let mut removal = Removal::new(pods);
            if let Completion::Indexed(completions) = job.completion {
                removal.remove_wrong_indexes(indexes, completions.into());
            }
            let (outcomes, deleted, later) = removal.run(active.saturating_sub(wanted));
            Sync { outcomes, wanted, deleted, later }
        }
    }
}

/// What `ActivePods` is in terms of the comparator with ranks, which must be 0: no time at which ages are taken, and no deletion cost.
pub fn order() -> Policy {
    let mut gates = FeatureGates::KUBERNETES;
    gates.pod_deletion_cost = false;
    Policy::without_now().with_gates(gates)
}

/// Reads the text of [`COMPLETION_INDEX_ANNOTATION`] as Kubernetes does: decimal digits, with or without a sign. Returns [`NO_INDEX`] for
/// anything else, for a negative number, and for one that does not fit in 64 bits.
pub fn completion_index(text: &str) -> i64 {
    // Rust reads an integer as Go does.
    text.parse().ok().filter(|number| *number >= 0).unwrap_or(NO_INDEX)
}
