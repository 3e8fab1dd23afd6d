//! Jobs: which pods their next sync takes. The decision is the core's.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::{Asked, Verdict};
use crate::ask::options::Options;
use crate::decide::job_end::Intervals;
use crate::decide::own::{Decided, Decision, OwnPod, chance, verdict};
use crate::decide::{job_end, notes};
use crate::object::direct::DirectEntry;
use crate::object::job::JobSpec;
use crate::object::pod::FinishedPhase;
use crate::words::age::age;
use crate::words::error::Error;
use crate::words::text::count;
use podrank::controller::job::{Completion, Job, NO_INDEX, Outcome, Reason, State, next_sync};
use podrank::controller::{self, job};
use podrank::{FeatureGates, Policy, Time};

impl JobSpec {
    /// How many pods have succeeded, including those that the status does not count yet.
    fn succeeded(&self, pods: &[OwnPod<'_>]) -> i32 {
        let is_new = |pod: &OwnPod<'_>| {
            let uid = pod.record.pod.uid.to_string();
            !self.uncounted.contains(&uid)
        };
        let new = succeeded(pods).filter(is_new).count() + self.uncounted.len();
        let number = i64::from(self.job.succeeded).saturating_add(i64::try_from(new).unwrap_or(i64::MAX));
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// Which indexes have succeeded, including those that the status does not count yet.
    fn succeeded_indexes(&self, pods: &[OwnPod<'_>], completions: i32) -> Intervals {
        let mut indexes = Intervals::read(&self.completed_indexes, completions);
        for index in succeeded(pods).map(index).filter(|index| (0..completions.into()).contains(index)) {
            indexes.insert(index);
        }
        indexes
    }
}

/// The succeeded pods that the status may not count yet.
fn succeeded<'p, 'a>(pods: &'p [OwnPod<'a>]) -> impl Iterator<Item = OwnPod<'a>> + 'p {
    pods.iter().copied().filter(|pod| {
        let is_tracked = pod.record.job.as_ref().is_some_and(|job| job.is_tracked);
        is_tracked && pod.entry.finished_phase == Some(FinishedPhase::Succeeded)
    })
}

fn index(pod: OwnPod<'_>) -> i64 {
    pod.record.job.as_ref().map_or(NO_INDEX, |job| job.index)
}

/// What is asked of the Job.
pub(crate) fn asked(entry: &DirectEntry, spec: &JobSpec, options: &Options) -> Result<Asked, Error> {
    if options.replicas.is_some() {
        return Err(Error::new(format!("{entry} has no replicas: use --parallelism N or --suspend")));
    }
    let parallelism = options.parallelism.unwrap_or(spec.job.parallelism.max(0).unsigned_abs());
    for (number, name) in [(Some(parallelism), "parallelism"), (options.completions, "number of completions")]
    {
        if let Some(number) = number.filter(|number| i32::try_from(*number).is_err()) {
            return Err(Error::new(format!(
                "{entry}: a {name} of {number} is more than Kubernetes stores, {}",
                i32::MAX
            )));
        }
    }
    let are_now = match spec.job.completion {
        Completion::Any => None,
        Completion::Count(completions) | Completion::Indexed(completions) => Some(completions),
    };
    let is_now = |completions: &u32| are_now.is_some_and(|now| i64::from(now) == i64::from(*completions));
    if let Some(completions) = options.completions.filter(|completions| !is_now(completions)) {
        let Completion::Indexed(_) = spec.job.completion else {
            return Err(Error::new(format!(
                "{entry} is not Indexed, so Kubernetes does not let its completions change: use --parallelism N alone, or \
                 create another Job"
            )));
        };
        if completions != parallelism {
            return Err(Error::new(format!(
                "{entry}: Kubernetes lets completions change only to the same number as parallelism, which is \
                 {parallelism}: use --completions {completions} --parallelism {completions}"
            )));
        }
    }
    Ok(Asked {
        parallelism: Some(parallelism),
        completions: options.completions,
        suspend: Some(options.suspend || spec.job.is_suspended),
        ..Asked::default()
    })
}

/// Asks the core about the next sync.
pub(crate) fn decide<'a>(
    entry: &DirectEntry,
    spec: &JobSpec,
    asked: &Asked,
    pods: &[OwnPod<'a>],
    now: Time,
    notes: &mut Vec<Note>,
) -> Decision<'a> {
    // An invalid selector makes the sync fail before it looks at the Job's end.
    let fails = entry.idle().is_some() && !entry.is_being_deleted;
    let completions = asked.completions.and_then(|it| i32::try_from(it).ok());
    let completion = match (spec.job.completion, completions) {
        (Completion::Indexed(_), Some(completions)) => Completion::Indexed(completions),
        (completion, _) => completion,
    };
    let succeeded_indexes = match completion {
        Completion::Indexed(completions) => Some((spec.succeeded_indexes(pods, completions), completions)),
        _ => None,
    };
    let mut job = Job {
        completion,
        state: if fails { State::LeftAlone } else { spec.job.state },
        parallelism: asked.parallelism.and_then(|it| i32::try_from(it).ok()).unwrap_or(i32::MAX),
        is_suspended: asked.suspend == Some(true),
        succeeded: match &succeeded_indexes {
            Some((indexes, _)) => i32::try_from(indexes.len()).unwrap_or(i32::MAX),
            None => spec.succeeded(pods),
        },
        is_being_deleted: entry.is_being_deleted,
        ..spec.job
    };
    let succeeded_indexes = succeeded_indexes.as_ref().map(|(indexes, completions)| (indexes, *completions));
    let by_policy = spec.ends.fill(&mut job, pods, succeeded_indexes);
    let active: Vec<_> = pods.iter().copied().filter(|pod| pod.entry.is_active()).collect();
    let records: Vec<_> = active.iter().map(|pod| pod.record.pod).collect();
    let indexes: Vec<_> = active.iter().map(|pod| index(*pod)).collect();
    let mut order = vec![0; records.len()];
    let mut outcomes = vec![Outcome::default(); records.len()];
    let step = next_sync(&job, now, &records, &indexes, &mut order, &mut outcomes).expect("there is room");

    let mut gates = FeatureGates::KUBERNETES;
    gates.pod_deletion_cost = false;
    let policy = Policy::without_now().with_gates(gates);
    let order = policy.sort(&records, &mut order).expect("there is room");
    let mut order: Vec<_> = order.iter().map(|pod| *pod as usize).collect();
    // What goes first, in the order.
    order.sort_by_key(|pod| match outcomes[*pod].verdict {
        controller::Verdict::Delete => 0,
        controller::Verdict::Contested => 1,
        _ => 2,
    });
    let words = Words {
        job,
        now,
        by_policy: by_policy.as_deref(),
        condition: spec.condition,
        wanted: step.wanted,
        indexes: &indexes,
        outcomes: &outcomes,
    };
    let decided = order.into_iter().map(|pod| Decided {
        pod: active[pod],
        verdict: verdict(outcomes[pod].verdict),
        rule: outcomes[pod].reason.name(),
        why: words.why(pod),
        by: None,
    });
    let decided: Vec<_> = decided.collect();
    let certain = decided.iter().filter(|pod| pod.verdict == Verdict::Delete).count();
    let end = job.end(now);
    let idle = entry.idle().filter(|_| end.is_none());
    notes.extend(match &spec.left_alone {
        Some(why) => Some(Note::new(NoteCode::DoesNothing, format!("{entry} {why}"))),
        None => idle.map(|why| notes::does_nothing(entry, why)),
    });
    if let Some(left) =
        job.deadline_left(now).filter(|_| end.is_none() && idle.is_none() && !decided.is_empty())
    {
        let text =
            format!("the deadline of {entry} passes in {}, and then all its active pods go", duration(left));
        notes.push(Note::new(NoteCode::DeadlinePasses, text));
    }
    if step.later > 0 {
        let text = format!(
            "the controller deletes {} in this sync and {} more in later ones",
            step.deleted, step.later
        );
        notes.push(Note::new(NoteCode::SeveralSyncs, text));
    }
    Decision { pods: decided, quota: step.deleted as usize - certain }
}

/// What the words about a decision read.
struct Words<'w> {
    job: Job,
    now: Time,
    /// How a policy ends the Job, if one does.
    by_policy: Option<&'w str>,
    /// The condition that ends the Job, if one does.
    condition: Option<&'w str>,
    wanted: u32,
    indexes: &'w [i64],
    outcomes: &'w [Outcome],
}

impl Words<'_> {
    fn why(&self, pod: usize) -> String {
        let is_by_index = self.outcomes[pod].reason == Reason::Surplus
            && matches!(self.job.completion, Completion::Indexed(_));
        let how = if is_by_index {
            "as Kubernetes' sort decides, which podrank does not run"
        } else {
            "by list order"
        };
        self.reason(pod) + &chance(&self.outcomes[pod], self.outcomes, how)
    }

    fn reason(&self, pod: usize) -> String {
        let index = self.indexes[pod];
        let pods_of_index = || self.indexes.iter().filter(|it| **it == index).count();
        let active = count(self.outcomes.len() as u64, "active pod");
        match self.outcomes[pod].reason {
            Reason::Suspended => "all pods of a suspended Job go".to_owned(),
            Reason::Ending => {
                format!("the condition {} is true, so all pods go", self.condition.unwrap_or("FailureTarget"))
            }
            Reason::PodFailurePolicy | Reason::SuccessPolicy => self.by_policy.unwrap_or_default().to_owned(),
            Reason::BackoffLimit => {
                let failed = self.job.failed;
                let (failures, exceed) =
                    if failed == 1 { ("failure", "exceeds") } else { ("failures", "exceed") };
                format!("{failed} {failures} {exceed} backoffLimit {}", self.job.backoff_limit)
            }
            Reason::Restarts => {
                let restarts = count(self.job.restarts.unsigned_abs(), "restart");
                format!("{restarts}, and backoffLimit is {}", self.job.backoff_limit)
            }
            Reason::Deadline => self.deadline(),
            Reason::MaxFailedIndexes => {
                let most = self.job.max_failed_indexes.unwrap_or_default();
                format!(
                    "{} failed, and maxFailedIndexes is {most}",
                    job_end::indexes(self.job.failed_indexes.into())
                )
            }
            Reason::FailedIndexes => {
                let failed = job_end::indexes(self.job.failed_indexes.into());
                format!("{failed} failed, and the other {} succeeded", self.job.succeeded)
            }
            Reason::NoIndex => "it has no completion index".to_owned(),
            Reason::BeyondCompletions => {
                let Completion::Indexed(completions) = self.job.completion else { return String::new() };
                format!("index {index} is not below the completions, {completions}")
            }
            Reason::Duplicate => format!("index {index} has {} pods, and one is enough", pods_of_index()),
            Reason::NextSync => format!("one sync deletes at most {} pods", job::MAX_DELETIONS),
            Reason::Kept if matches!(self.job.completion, Completion::Indexed(_)) && pods_of_index() > 1 => {
                format!("index {index} keeps this pod")
            }
            _ => format!("{active}, and {} wanted", self.wanted),
        }
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

/// A length of time as ages are shown.
fn duration(nanos: i64) -> String {
    age(Time::from_unix_nanos(nanos), Time::from_unix_nanos(0)).unwrap_or_default()
}
