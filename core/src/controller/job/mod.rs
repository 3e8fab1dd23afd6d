//! Which pods the next sync of a `Job` deletes, and why.
//!
//! Kubernetes' Job controller deletes active pods if too many run, if two of them share an index, or if none should run any
//! more: the Job is suspended, or a limit such as its deadline [ends](Job::end) it. [`next_sync`] predicts its next sync, as in
//! Kubernetes 1.37.
//!
//! The order of a Job's pods is [the order](crate) without tiers, deletion costs, ranks, the label for preference, age
//! buckets and UIDs: Kubernetes' `ActivePods`. Pods tie if they are equal in everything that it compares. If only some
//! of the pods that tie go, no rule says which, so all of them are [contested](super::Verdict::Contested). Chance decides among
//! the pods of one index, and among those of a Job without indexes. If no two pods of an Indexed Job share an index, Kubernetes'
//! sort decides, because the controller lists them by index first. This prediction does not model that sort.
//!
//! ```
//! use podrank::controller::Verdict;
//! use podrank::controller::job::{Completion, Job, Outcome, Reason, next_sync};
//! use podrank::{Flags, Phase, Pod, Time};
//!
//! // Two pods work on index 3, and one on index 1. The Job's parallelism is cut to 2.
//! let older = Pod {
//!     phase: Phase::RUNNING,
//!     flags: Flags::ASSIGNED,
//!     creation_time: Time::from_unix(1_700_000_000, 0),
//!     ..Pod::new()
//! };
//! let newer = Pod { creation_time: Time::from_unix(1_700_000_060, 0), ..older };
//! let pods = [older, newer, newer];
//!
//! let job = Job { parallelism: 2, completion: Completion::Indexed(5), ..Job::default() };
//! let (mut order, mut outcomes) = ([0; 3], [Outcome::default(); 3]);
//! let now = Time::from_unix(1_700_000_100, 0);
//! let step = next_sync(&job, now, &pods, &[3, 3, 1], &mut order, &mut outcomes).unwrap();
//! assert_eq!((step.wanted, step.deleted), (2, 1));
//! assert_eq!(outcomes.map(|outcome| outcome.verdict), [Verdict::Keep, Verdict::Delete, Verdict::Keep]);
//! assert_eq!(outcomes[1].reason, Reason::Duplicate);
//! ```

mod reason;
mod removal;

pub use reason::Reason;

use super::outcome::Verdict;
use crate::{Pod, Time};
use core::fmt;
use removal::Removal;

/// How many pods one sync of a Job deletes at most, unless it deletes all: Kubernetes' `MaxPodCreateDeletePerSync`.
pub const MAX_DELETIONS: u32 = 500;

/// The annotation that holds a pod's completion index.
pub const COMPLETION_INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";

/// The completion index of a pod without a valid one. Every other negative number means the same.
pub const NO_INDEX: i64 = -1;

/// What a sync does to one pod of a Job.
pub type Outcome = super::outcome::Outcome<Reason>;

/// What a sync reads from a Job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Job {
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

/// Whether a Job's end is decided, by what is no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Completion {
    /// `spec.completions` is not set: the first success of any pod completes the Job, once all others have ended.
    #[default]
    Any,
    /// This number of pods has to succeed: `spec.completions` with the mode `NonIndexed`.
    Count(i32),
    /// A pod for each index below this number has to succeed: `spec.completions` with the mode `Indexed`.
    Indexed(i32),
}

/// What a sync does, apart from the outcome of each pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// How many active pods the controller wants.
    pub wanted: u32,
    /// How many pods the sync deletes.
    pub deleted: u32,
    /// How many more pods a later sync deletes, because this one deletes at most [`MAX_DELETIONS`].
    pub later: u32,
}

/// Why [`next_sync`] decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobError {
    /// `order`, `outcomes` or, for an Indexed Job, `indexes` is shorter than `pods`.
    ShortBuffer,
    /// There are more than `u32::MAX` pods.
    TooManyPods,
}

impl Job {
    /// Returns how many active pods the controller wants at `now` if `active` pods are active.
    #[must_use]
    pub fn wanted(&self, active: u32, now: Time) -> u32 {
        match self.fate(now) {
            Fate::Idle => active,
            Fate::AllGo(_) => 0,
            Fate::Counted => self.counted(active),
        }
    }

    /// Returns why the sync at `now` ends the Job, or `None` if it does not. A sync that ends the Job deletes all active pods.
    ///
    /// Several limits can be passed at once. This is the first in the order in which Kubernetes checks them. A deadline does not
    /// pass if `now` is unset.
    #[must_use]
    pub fn end(&self, now: Time) -> Option<Reason> {
        let past_restarts = match self.backoff_limit {
            0 => self.restarts > 0,
            limit => self.restarts >= limit,
        };
        let completions = match self.completion {
            Completion::Indexed(completions) => Some(i64::from(completions)),
            _ => None,
        };
        let failed_indexes = if completions.is_some() { self.failed_indexes } else { 0 };
        let ended_indexes = i64::from(failed_indexes).saturating_add(self.succeeded.into());
        match self.state {
            State::LeftAlone => None,
            State::Ending => Some(Reason::Ending),
            State::PodFailurePolicy => Some(Reason::PodFailurePolicy),
            _ if self.failed > self.backoff_limit => Some(Reason::BackoffLimit),
            _ if past_restarts => Some(Reason::Restarts),
            _ if self.deadline_left(now).is_some_and(|left| left <= 0) => Some(Reason::Deadline),
            _ if failed_indexes > self.max_failed_indexes.unwrap_or(i32::MAX) => {
                Some(Reason::MaxFailedIndexes)
            }
            _ if failed_indexes > 0 && completions.is_some_and(|all| ended_indexes >= all) => {
                Some(Reason::FailedIndexes)
            }
            State::SuccessPolicy => Some(Reason::SuccessPolicy),
            State::Running => None,
        }
    }

    /// Returns the nanoseconds until the Job's deadline, 0 or less if it has passed. Returns `None` if there is no deadline, if the
    /// Job is suspended, or if `now` is unset. If the start time is unset, the Job starts now. A result of more than 292 years is
    /// reported as 292 years.
    #[must_use]
    pub fn deadline_left(&self, now: Time) -> Option<i64> {
        let seconds = self.active_deadline_seconds.filter(|_| !self.is_suspended && !now.is_unset())?;
        let elapsed = now.nanos_since(self.start_time).unwrap_or(0);
        // The product wraps as upstream's does.
        Some(seconds.wrapping_mul(1_000_000_000).saturating_sub(elapsed))
    }

    /// Returns what the sync does with the pods as a whole.
    fn fate(&self, now: Time) -> Fate {
        if self.state == State::LeftAlone {
            return Fate::Idle;
        }
        match self.end(now) {
            Some(reason) => Fate::AllGo(reason),
            None if self.is_being_deleted => Fate::Idle,
            None if self.is_suspended => Fate::AllGo(Reason::Suspended),
            None => Fate::Counted,
        }
    }

    /// Returns how many active pods the controller wants if the Job goes on.
    fn counted(&self, active: u32) -> u32 {
        let parallelism = self.parallelism.max(0).cast_unsigned();
        match self.completion {
            // After a success, what runs may end, and nothing starts.
            Completion::Any if self.succeeded > 0 => active,
            Completion::Any => parallelism,
            Completion::Count(completions) | Completion::Indexed(completions) => {
                // Wraps as upstream does.
                let missing = completions.wrapping_sub(self.succeeded);
                parallelism.min(missing.max(0).cast_unsigned())
            }
        }
    }
}

/// What a sync does with a Job's pods as a whole.
#[derive(Clone, Copy)]
enum Fate {
    /// It deletes none, whatever the numbers.
    Idle,
    /// It deletes all, for this reason.
    AllGo(Reason),
    /// The numbers decide.
    Counted,
}

/// Predicts the next sync of a Job, at `now`. Writes to `outcomes`, at the index of each pod, whether it goes and why. Returns what
/// else the sync does.
///
/// `pods` are the active pods that the Job controls, in any order. Their ranks, deletion costs, tiers and
/// [`Flags::PREFERRED`](crate::Flags::PREFERRED) are not read. `indexes` are their completion indexes, at the same
/// positions: what [`completion_index`] returns, or [`NO_INDEX`]. Only an Indexed Job reads them. `order` is scratch
/// memory. The call takes O(n log n) steps.
///
/// Each contested [group](Outcome::group) has its own [quota](Outcome::quota). An Indexed Job can have several groups: one
/// for each index whose pods tie, and one for the pods that tie across the boundary between the last pod that goes and the
/// first that stays. In that boundary group, not every combination is possible: if several pods share an index and all of
/// them are in the group, they cannot all stay.
///
/// # Errors
/// [`JobError`], and then nothing is written.
pub fn next_sync(
    job: &Job,
    now: Time,
    pods: &[Pod],
    indexes: &[i64],
    order: &mut [u32],
    outcomes: &mut [Outcome],
) -> Result<Step, JobError> {
    let active = u32::try_from(pods.len()).map_err(|_| JobError::TooManyPods)?;
    let indexes = match job.completion {
        Completion::Indexed(completions) => {
            Some((indexes.get(..pods.len()).ok_or(JobError::ShortBuffer)?, i64::from(completions)))
        }
        _ => None,
    };
    let buffers = order.get_mut(..pods.len()).zip(outcomes.get_mut(..pods.len()));
    let (order, outcomes) = buffers.ok_or(JobError::ShortBuffer)?;
    outcomes.fill(Outcome::default());
    let wanted = job.wanted(active, now);
    let (deleted, later) = match job.fate(now) {
        Fate::Idle => (0, 0),
        Fate::AllGo(reason) => {
            outcomes.fill(Outcome::new(Verdict::Delete, reason));
            (active, 0)
        }
        Fate::Counted => Removal::new(pods, outcomes).run(indexes, active.saturating_sub(wanted), order),
    };
    Ok(Step { wanted, deleted, later })
}

/// Reads the text of [`COMPLETION_INDEX_ANNOTATION`] as Kubernetes does: decimal digits, with or without a sign. Returns
/// [`NO_INDEX`] for anything else, for a negative number, and for one that does not fit in 64 bits.
#[must_use]
pub fn completion_index(text: impl AsRef<[u8]>) -> i64 {
    let text = text.as_ref();
    let (is_negative, digits) = match text.split_first() {
        Some((sign @ (b'-' | b'+'), digits)) => (*sign == b'-', digits),
        _ => (false, text),
    };
    let number = digits.iter().try_fold(0_i64, |number, byte| {
        let digit = byte.is_ascii_digit().then_some(byte ^ b'0')?;
        number.checked_mul(10)?.checked_add(digit.into())
    });
    let is_missing = |number| digits.is_empty() || is_negative && number > 0;
    number.filter(|number| !is_missing(*number)).unwrap_or(NO_INDEX)
}

/// Returns the nanoseconds until Kubernetes deletes a finished Job, negative if that is overdue. `ttl_seconds` is
/// `spec.ttlSecondsAfterFinished`, and `finished` is the `lastTransitionTime` of the first condition `Complete` or `Failed` that is
/// true. Returns `None`, for never, if a time is unset. A result of more than 292 years is reported as 292 years.
#[must_use]
pub fn time_to_live_left(ttl_seconds: i32, finished: Time, now: Time) -> Option<i64> {
    // None of these wraps. Limiting an intermediate difference to 64 bits would change a result that fits.
    let ttl = i64::from(ttl_seconds).wrapping_mul(1_000_000_000);
    let expires = i128::from(finished.unix_nanos()?).wrapping_add(ttl.into());
    let left = expires.wrapping_sub(i128::from(now.unix_nanos()?));
    Some(i64::try_from(left).unwrap_or(if left < 0 { i64::MIN } else { i64::MAX }))
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShortBuffer => "a slice is shorter than the pods: make room for one element per pod",
            Self::TooManyPods => "there are more than 4294967295 pods",
        })
    }
}

impl core::error::Error for JobError {}
