//! Jobs: what their controller reads from them, and which pods their next sync takes. The decision is the core's.

use crate::direct::{Decided, Decision, DirectEntry, OwnPod, chance, verdict};
use crate::error::{Error, parse};
use crate::notes::{self, Note, NoteCode};
use crate::options::Options;
use crate::pod::FinishedPhase;
use crate::preview::{Asked, Verdict};
use crate::text::{self, count};
use podrank::controller::job::{Completion, Job, NO_INDEX, Outcome, Reason, State, next_sync};
use podrank::controller::{self, job};
use podrank::{FeatureGates, Policy};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The name by which `spec.managedBy` means kube-controller-manager.
const KUBERNETES: &str = "kubernetes.io/job-controller";

/// What its controller reads from it.
#[derive(Debug)]
pub(crate) struct JobSpec {
    /// The record for the decision. What has succeeded is only what its status counts.
    job: Job,
    pub(crate) status_active: i32,
    /// The first and last of each run of indexes that have succeeded, by the status.
    completed: Vec<(i64, i64)>,
    /// The UIDs of succeeded pods that the status lists but does not count yet.
    uncounted: Vec<String>,
    /// Why the controller leaves it alone, if it does.
    left_alone: Option<String>,
}

impl JobSpec {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a Job")]
        struct Object {
            spec: Spec,
            #[serde(default)]
            status: Option<Status>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Spec {
            parallelism: Option<i32>,
            completions: Option<i32>,
            completion_mode: Option<String>,
            suspend: Option<bool>,
            managed_by: Option<String>,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default, expecting = "an object")]
        struct Status {
            active: i32,
            succeeded: i32,
            completed_indexes: String,
            uncounted_terminated_pods: Option<Uncounted>,
            conditions: Option<Vec<Condition>>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, expecting = "an object")]
        struct Uncounted {
            succeeded: Vec<String>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, expecting = "a condition")]
        struct Condition {
            r#type: String,
            status: String,
        }
        let Object { spec, status } = parse(object)?;
        let status = status.unwrap_or_default();
        let completion = match (spec.completion_mode.as_deref(), spec.completions) {
            (Some("Indexed"), Some(completions)) => Completion::Indexed(completions),
            (Some("Indexed"), None) => {
                return Err("spec.completions is missing, although spec.completionMode is Indexed".to_owned());
            }
            (_, Some(completions)) => Completion::Count(completions),
            (_, None) => Completion::Any,
        };
        let conditions = status.conditions.unwrap_or_default();
        let is_true = |name: &str| conditions.iter().any(|it| it.r#type == name && it.status == "True");
        let mode = spec.completion_mode.filter(|mode| !matches!(mode.as_str(), "Indexed" | "NonIndexed"));
        let manager = spec.managed_by.filter(|manager| manager != KUBERNETES);
        let left_alone = match (mode, manager) {
            _ if is_true("Complete") => Some("is complete: its controller deletes no pods".to_owned()),
            _ if is_true("Failed") => Some("has failed: its controller deletes no pods".to_owned()),
            (_, Some(manager)) => {
                let manager = text::quoted(&manager);
                Some(format!("is managed by {manager}, so kube-controller-manager leaves it alone"))
            }
            (Some(mode), None) => {
                let mode = text::quoted(&mode);
                Some(format!("has an unknown completion mode, {mode}: its controller deletes no pods"))
            }
            (None, None) => None,
        };
        let state = if left_alone.is_some() {
            State::LeftAlone
        } else if is_true("FailureTarget") || is_true("SuccessCriteriaMet") {
            State::Ending
        } else {
            State::Running
        };
        Ok(Self {
            job: Job {
                parallelism: spec.parallelism.unwrap_or(1),
                completion,
                succeeded: status.succeeded,
                is_suspended: spec.suspend.unwrap_or(false),
                state,
                is_being_deleted: false,
            },
            status_active: status.active,
            completed: match completion {
                Completion::Indexed(completions) => intervals(&status.completed_indexes, completions.into()),
                _ => Vec::new(),
            },
            uncounted: status.uncounted_terminated_pods.unwrap_or_default().succeeded,
            left_alone,
        })
    }

    /// How many pods, or indexes, have succeeded, including those that the status does not count yet.
    fn succeeded(&self, pods: &[OwnPod<'_>]) -> i32 {
        let finished = pods.iter().filter(|pod| {
            let is_tracked = pod.record.job.as_ref().is_some_and(|job| job.is_tracked);
            is_tracked && pod.entry.finished_phase == Some(FinishedPhase::Succeeded)
        });
        let number = if let Completion::Indexed(completions) = self.job.completion {
            let counted: i64 = self.completed.iter().map(|(first, last)| last - first + 1).sum();
            let is_new = |index: &i64| {
                (0..completions.into()).contains(index)
                    && !self.completed.iter().any(|(first, last)| (first..=last).contains(&index))
            };
            let new: BTreeSet<_> = finished.map(|pod| index(*pod)).filter(is_new).collect();
            counted.saturating_add(i64::try_from(new.len()).unwrap_or(i64::MAX))
        } else {
            let is_new = |pod: &&OwnPod<'_>| {
                let uid = pod.record.pod.uid.to_string();
                !self.uncounted.contains(&uid)
            };
            let new = finished.filter(is_new).count() + self.uncounted.len();
            i64::from(self.job.succeeded).saturating_add(i64::try_from(new).unwrap_or(i64::MAX))
        };
        i32::try_from(number).unwrap_or(i32::MAX)
    }
}

/// Reads `status.completedIndexes`, such as `0,2-4`, up to the completions.
fn intervals(text: &str, completions: i64) -> Vec<(i64, i64)> {
    let intervals = text.split(',').filter_map(|interval| {
        let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
        Some((first.parse().ok()?, last.parse::<i64>().ok()?.min(completions - 1)))
    });
    intervals.take_while(|(first, _)| *first < completions).collect()
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
    if i32::try_from(parallelism).is_err() {
        return Err(Error::new(format!(
            "{entry}: a parallelism of {parallelism} is more than Kubernetes stores, {}",
            i32::MAX
        )));
    }
    Ok(Asked {
        replicas: None,
        parallelism: Some(parallelism),
        suspend: Some(options.suspend || spec.job.is_suspended),
    })
}

/// Asks the core about the next sync.
pub(crate) fn decide<'a>(
    entry: &DirectEntry,
    spec: &JobSpec,
    asked: &Asked,
    pods: &[OwnPod<'a>],
    notes: &mut Vec<Note>,
) -> Decision<'a> {
    // An invalid selector makes the sync fail before it looks at the Job's end.
    let fails = entry.idle().is_some() && !entry.is_being_deleted;
    let job = Job {
        state: if fails { State::LeftAlone } else { spec.job.state },
        parallelism: asked.parallelism.and_then(|it| i32::try_from(it).ok()).unwrap_or(i32::MAX),
        is_suspended: asked.suspend == Some(true),
        succeeded: spec.succeeded(pods),
        is_being_deleted: entry.is_being_deleted,
        ..spec.job
    };
    let active: Vec<_> = pods.iter().copied().filter(|pod| pod.entry.is_active()).collect();
    let records: Vec<_> = active.iter().map(|pod| pod.record.pod).collect();
    let indexes: Vec<_> = active.iter().map(|pod| index(*pod)).collect();
    let mut order = vec![0; records.len()];
    let mut outcomes = vec![Outcome::default(); records.len()];
    let step = next_sync(&job, &records, &indexes, &mut order, &mut outcomes).expect("there is room");

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
    let words = Words { job, wanted: step.wanted, indexes: &indexes, outcomes: &outcomes };
    let decided = order.into_iter().map(|pod| Decided {
        pod: active[pod],
        verdict: verdict(outcomes[pod].verdict),
        rule: outcomes[pod].reason.name(),
        why: words.why(pod),
        by: None,
    });
    let decided: Vec<_> = decided.collect();
    let certain = decided.iter().filter(|pod| pod.verdict == Verdict::Delete).count();
    let idle = entry.idle().filter(|_| job.state != State::Ending);
    notes.extend(match &spec.left_alone {
        Some(why) => Some(Note::new(NoteCode::DoesNothing, format!("{entry} {why}"))),
        None => idle.map(|why| notes::does_nothing(entry, why)),
    });
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
    wanted: u32,
    indexes: &'w [i64],
    outcomes: &'w [Outcome],
}

impl Words<'_> {
    fn why(&self, pod: usize) -> String {
        self.reason(pod) + &chance(&self.outcomes[pod], self.outcomes, "by list order")
    }

    fn reason(&self, pod: usize) -> String {
        let index = self.indexes[pod];
        let pods_of_index = || self.indexes.iter().filter(|it| **it == index).count();
        let active = count(self.outcomes.len() as u64, "active pod");
        match self.outcomes[pod].reason {
            Reason::Suspended => "all pods of a suspended Job go".to_owned(),
            Reason::Ending => "the Job's end is decided, so all its pods go".to_owned(),
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
}
