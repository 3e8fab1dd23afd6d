//! Why a pod of a Job is deleted or kept.

use crate::reason::chance::Chance;
use crate::sync::job::{Completion, JobReason, JobState, MAX_DELETIONS};
use crate::text::{age, count, is, name, word};
use podrank::Time;

/// Why a pod of a Job is deleted or kept.
#[derive(Clone, Copy, Debug)]
pub struct JobPodReason<'a> {
    pub(crate) reason: JobReason,
    pub(crate) job: JobState,
    pub(crate) now: Time,
    /// How a policy ends the Job, if one does.
    pub(crate) by_policy: Option<ByPolicy<'a>>,
    /// The condition that ends the Job, if one does.
    pub(crate) condition: Option<&'a str>,
    pub(crate) index: i64,
    /// How many active pods have that index.
    pub(crate) of_index: usize,
    /// How many pods are active, should be, and stay.
    pub(crate) active: usize,
    pub(crate) desired: usize,
    pub(crate) kept: usize,
    /// If the rules leave it open.
    pub(crate) chance: Option<Chance>,
    /// Whether the rules leave it open, and Kubernetes' own sort of the list by index does not.
    pub(crate) is_sorted: bool,
}

/// How a policy ends a Job: by the rule with this number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ByPolicy<'a> {
    /// The pod failed by this.
    Failed { pod: &'a str, cause: FailedBy<'a>, rule: usize },
    /// So many indexes have succeeded.
    Succeeded { indexes: i64, rule: usize },
}

/// What a pod failed by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FailedBy<'a> {
    ExitCode(i32),
    /// A condition with this type and status.
    Condition(&'a str, &'a str),
}

impl JobPodReason<'_> {
    pub(super) fn short(&self) -> String {
        match self.reason {
            JobReason::Kept => self.state(),
            JobReason::Duplicate => "duplicate of its index".to_owned(),
            JobReason::Surplus if self.left().is_some() => "beyond completions left".to_owned(),
            JobReason::Surplus => "beyond parallelism".to_owned(),
            JobReason::NoIndex => "has no index".to_owned(),
            JobReason::Suspended => "the Job is suspended".to_owned(),
            JobReason::Ending => "the Job is ending".to_owned(),
            JobReason::PodFailurePolicy => "podFailurePolicy fails the Job".to_owned(),
            JobReason::BackoffLimit | JobReason::Restarts => "backoffLimit is reached".to_owned(),
            JobReason::Deadline => "the deadline has passed".to_owned(),
            JobReason::MaxFailedIndexes => "maxFailedIndexes is exceeded".to_owned(),
            JobReason::FailedIndexes => "indexes have failed".to_owned(),
            JobReason::SuccessPolicy => "successPolicy is met".to_owned(),
            JobReason::BeyondCompletions => "index beyond completions".to_owned(),
            JobReason::NextSync => "in a later sync".to_owned(),
        }
    }

    pub(super) fn sentence(&self) -> String {
        let state = self.state();
        match self.chance {
            _ if self.is_sorted => {
                format!("{state}: it ties with other pods, and Kubernetes' sort of the list by index decides")
            }
            Some(chance) => format!("{state}: {}", chance.sentence()),
            None => state,
        }
    }

    /// What it is, whatever chance decides.
    fn state(&self) -> String {
        let Self { job, index, .. } = self;
        let active = count(self.active, "active pod");
        match self.reason {
            JobReason::Suspended => "a suspended Job keeps no pods".to_owned(),
            JobReason::Ending => {
                let condition = self.condition.unwrap_or("FailureTarget");
                format!("the condition {condition} is true, so all pods are deleted")
            }
            JobReason::PodFailurePolicy | JobReason::SuccessPolicy => {
                self.by_policy.map_or_else(String::new, ByPolicy::sentence)
            }
            JobReason::BackoffLimit => {
                let exceed = if job.failed == 1 { "exceeds" } else { "exceed" };
                format!("{} {exceed} backoffLimit {}", count(job.failed, "failure"), job.backoff_limit)
            }
            JobReason::Restarts => {
                let restarts = count(job.restarts.unsigned_abs(), "restart");
                format!("{restarts}, and backoffLimit is {}", job.backoff_limit)
            }
            JobReason::Deadline => self.deadline(),
            JobReason::MaxFailedIndexes => {
                let most = job.max_failed_indexes.unwrap_or_default();
                format!("{} failed, and maxFailedIndexes is {most}", indexes(job.failed_indexes.into()))
            }
            JobReason::FailedIndexes => {
                let failed = indexes(job.failed_indexes.into());
                format!("{failed} failed, and the other {} succeeded", job.succeeded)
            }
            JobReason::NoIndex => "it has no completion index".to_owned(),
            JobReason::BeyondCompletions => {
                let Completion::Indexed(completions) = job.completion else { return String::new() };
                format!("index {index} is not below the number of completions, {completions}")
            }
            JobReason::Duplicate => format!("index {index} has {} pods, and one is enough", self.of_index),
            JobReason::NextSync => format!("one sync deletes at most {MAX_DELETIONS} pods"),
            JobReason::Kept if matches!(job.completion, Completion::Indexed(_)) && self.of_index > 1 => {
                format!("index {index} keeps this pod")
            }
            JobReason::Kept => format!("{} of {active} {} kept", self.kept, is(self.kept)),
            JobReason::Surplus => match self.left() {
                Some(left) => format!("{active}, and {} {} left", count(left, "completion"), is(left)),
                None => format!("{active}, and the parallelism allows {}", self.desired),
            },
        }
    }

    /// How many completions are left, if those allow fewer pods than the parallelism.
    fn left(&self) -> Option<usize> {
        let is_fewer = i32::try_from(self.desired).is_ok_and(|desired| desired < self.job.parallelism);
        is_fewer.then_some(self.desired)
    }

    fn deadline(&self) -> String {
        let seconds = self.job.active_deadline_seconds.unwrap_or_default();
        if seconds.checked_mul(1_000_000_000).is_none() {
            return format!(
                "activeDeadlineSeconds {seconds} overflows in Kubernetes, so the deadline has passed"
            );
        }
        let ago = self.job.deadline_left(self.now).map_or(0, i64::saturating_neg);
        format!("the deadline of {seconds} s passed {} ago", duration(ago))
    }
}

impl ByPolicy<'_> {
    fn sentence(self) -> String {
        match self {
            Self::Failed { pod, cause, rule } => {
                let cause = match cause {
                    FailedBy::ExitCode(code) => format!("exit code {code}"),
                    FailedBy::Condition(kind, status) => {
                        format!("the condition {}={}", word(kind), word(status))
                    }
                };
                format!("{} failed with {cause}, and podFailurePolicy.rules[{rule}] fails the Job", name(pod))
            }
            Self::Succeeded { indexes: succeeded, rule } => {
                format!("{} succeeded, which meets successPolicy.rules[{rule}]", indexes(succeeded))
            }
        }
    }
}

/// `1 index`, `2 indexes`.
fn indexes(number: i64) -> String {
    if number == 1 { "1 index".to_owned() } else { format!("{number} indexes") }
}

/// A length of time as ages are shown.
pub(crate) fn duration(nanos: i64) -> String {
    age(Time::from_unix_nanos(nanos), Time::from_unix_nanos(0)).unwrap_or_default()
}
