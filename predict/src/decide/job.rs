//! Jobs: which pods their next sync takes. The decision is `sync`'s.

use crate::answer::{Note, NoteCode, PodAnswer, Size};
use crate::decide::{Decision, Intervals, chance, count};
use crate::question::Options;
use crate::reason::{ByPolicy, Cause, JobPodReason, Reason, duration};
use crate::snapshot::{FinishedPhase, Job, Pod, Workload};
use crate::sync::Verdict;
use crate::sync::job::{self, Completion, JobReason, JobState, NO_INDEX, State, Sync, next_sync};
use crate::text::Error;
use podrank::{Policy, Time};
use std::collections::{BTreeMap, HashMap};

impl Job {
    /// How many pods have succeeded, including those that the status does not count yet.
    fn succeeded(&self, pods: &[&Pod]) -> i32 {
        let is_new = |pod: &&Pod| !self.uncounted.succeeded.contains(&pod.record.uid.to_string());
        let new = succeeded(pods).filter(is_new).count() + self.uncounted.succeeded.len();
        let number = i64::from(self.record.succeeded).saturating_add(i64::try_from(new).unwrap_or(i64::MAX));
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// Which indexes have succeeded, including those that the status does not count yet.
    fn succeeded_indexes(&self, pods: &[&Pod], completions: i32) -> Intervals {
        let mut indexes = Intervals::read(&self.status.completed_indexes, completions);
        for index in succeeded(pods).map(index).filter(|index| (0..completions.into()).contains(index)) {
            indexes.insert(index);
        }
        indexes
    }

    /// The record for the decision, and if a policy ends the Job, how.
    fn job<'a>(&self, asked: &Size, pods: &[&'a Pod]) -> (JobState, Option<ByPolicy<'a>>) {
        // An invalid selector makes the sync fail before it looks at the Job's end.
        let fails = Workload::Job(self).idle().is_some() && self.meta.deletion.is_none();
        let asked_completions = asked.completions.and_then(|it| i32::try_from(it).ok());
        let completions = self.record.completion.indexed().map(|now| asked_completions.unwrap_or(now));
        let succeeded_indexes = completions.map(|all| (self.succeeded_indexes(pods, all), all));
        let mut job = JobState {
            completion: completions.map_or(self.record.completion, Completion::Indexed),
            state: if fails { State::LeftAlone } else { self.record.state },
            parallelism: asked.parallelism.and_then(|it| i32::try_from(it).ok()).unwrap_or(i32::MAX),
            is_suspended: asked.suspend == Some(true),
            succeeded: match &succeeded_indexes {
                Some((indexes, _)) => i32::try_from(indexes.len()).unwrap_or(i32::MAX),
                None => self.succeeded(pods),
            },
            is_being_deleted: self.meta.deletion.is_some(),
            ..self.record
        };
        let by_policy = self.fill(&mut job, pods, succeeded_indexes.as_ref());
        (job, by_policy)
    }
}

/// The succeeded pods that the status may not count yet.
fn succeeded<'p, 'a>(pods: &'p [&'a Pod]) -> impl Iterator<Item = &'a Pod> + 'p {
    let succeeded = Some(FinishedPhase::Succeeded);
    pods.iter().copied().filter(move |pod| pod.is_tracked() && pod.finished_phase == succeeded)
}

fn index(pod: &Pod) -> i64 {
    pod.job.as_ref().map_or(NO_INDEX, |job| job.index)
}

/// Says that the API server refuses to change the parallelism.
pub(crate) fn refusal(spec: &Job, asked: &Size, pods: &[&Pod], options: &Options) -> Option<Note> {
    let release = options.kubernetes();
    let changes = asked.parallelism.map(i64::from) != Some(i64::from(spec.record.parallelism.max(0)));
    let is_gang = pods.iter().any(|pod| pod.job.as_ref().is_some_and(|job| job.is_in_gang));
    let entry = Workload::Job(spec);
    let text = || {
        format!("{entry} has pods in a PodGroup, and Kubernetes {release} does not change its parallelism")
    };
    let is_refused = changes && is_gang && release.refuses_parallelism_of_gangs();
    is_refused.then(|| Note::new(NoteCode::VersionDependent, text()))
}

/// What is asked of the Job.
pub(crate) fn asked(spec: &Job, options: &Options) -> Result<Size, Error> {
    let entry = Workload::Job(spec);
    if options.replicas.is_some() {
        return Err(count::none(entry).advise("Use --parallelism N or --suspend."));
    }
    let parallelism = options.parallelism.unwrap_or(spec.record.parallelism.max(0).unsigned_abs());
    let numbers = [(Some(parallelism), "parallelism"), (options.completions, "number of completions")];
    for (number, name) in numbers.into_iter().filter_map(|(number, name)| Some((number?, name))) {
        count::stored(number, || format!("{entry} cannot have a {name} of {number}"))?;
    }
    let is_now = |completions: &u32| match spec.record.completion {
        Completion::Any => false,
        Completion::Count(now) | Completion::Indexed(now) => u32::try_from(now) == Ok(*completions),
    };
    if let Some(completions) = options.completions.filter(|completions| !is_now(completions)) {
        let Completion::Indexed(_) = spec.record.completion else {
            return Err(Error::new(format!("the completions of {entry} cannot change"))
                .because("Kubernetes allows that only for an Indexed Job.")
                .advise("Use --parallelism N alone, or create another Job."));
        };
        if completions != parallelism {
            return Err(Error::new(format!("the completions of {entry} must equal its parallelism"))
                .because(format!("Its parallelism is {parallelism}."))
                .advise(format!("Use --completions {completions} --parallelism {completions}.")));
        }
    }
    Ok(Size {
        parallelism: Some(parallelism),
        completions: options.completions,
        suspend: Some(options.suspend || spec.record.is_suspended),
        ..Size::default()
    })
}

/// Decides about the next sync.
pub(crate) fn decide<'a>(
    spec: &'a Job,
    asked: &Size,
    pods: &[&'a Pod],
    now: Time,
    notes: &mut Vec<Note>,
) -> Decision<'a> {
    let (job, by_policy) = spec.job(asked, pods);
    let active: Vec<_> = pods.iter().copied().filter(|pod| pod.is_active()).collect();
    let records: Vec<_> = active.iter().map(|pod| pod.record).collect();
    let indexes: Vec<_> = active.iter().map(|pod| index(pod)).collect();
    let mut sync = next_sync(&job, now, &records, &indexes);

    let policy = job::order();
    let mut order = vec![0; records.len()];
    let order = policy.sort(&records, &mut order).expect("there is room");
    // Beyond one sync's deletions, something else decides, too.
    let completions = job.completion.indexed().filter(|_| sync.later == 0);
    let list = completions.map(|completions| left_by_index(order, &indexes, completions.into()));
    let sorted = list.map(|list| settle_by_index(&policy, &records, &indexes, list, &mut sync));
    let mut order: Vec<_> = order.iter().map(|pod| *pod as usize).collect();
    // The deleted pods come first.
    order.sort_by_key(|pod| sync.outcomes[*pod].verdict);
    let answer = |pod: usize| {
        let outcome = &sync.outcomes[pod];
        let index = indexes[pod];
        let is_sorted = sorted.iter().flatten().any(|sorted| *sorted as usize == pod);
        let (chance, probability) = chance(outcome, &sync.outcomes, Cause::List).unzip();
        let reason = JobPodReason {
            reason: outcome.reason,
            job,
            now,
            by_policy,
            condition: spec.condition.as_deref(),
            index,
            of_index: indexes.iter().filter(|it| **it == index).count(),
            active: active.len(),
            desired: sync.wanted,
            kept: active.len().saturating_sub(sync.deleted + sync.later),
            chance,
            is_sorted,
        };
        // Beyond one sync's deletions, something else decides, too.
        let probability = probability.filter(|_| sync.later == 0);
        PodAnswer { probability, ..PodAnswer::new(active[pod], outcome.verdict, Reason::Job(reason), now) }
    };
    let decided: Vec<_> = order.into_iter().map(answer).collect();
    notes.extend(notes_of(&job, Workload::Job(spec), &sync, now));
    let certain = decided.iter().filter(|pod| pod.verdict == Verdict::Deleted).count();
    Decision { pods: decided, quota: sync.deleted - certain, later: None }
}

/// The list from which Kubernetes takes the surplus: of the pods of each valid index the last in the order, by index. Where the last
/// pods of an index tie, it is one of them, and the sort treats all of them alike.
fn left_by_index(order: &[u32], indexes: &[i64], completions: i64) -> Vec<u32> {
    let by_index = order.iter().map(|pod| (indexes[*pod as usize], *pod));
    let left: BTreeMap<_, _> = by_index.filter(|(index, _)| (0..completions).contains(index)).collect();
    left.into_values().collect()
}

/// Decides what the rules leave open of an Indexed Job by running Kubernetes' sort on its list by index, in which it does not matter
/// which of the pods of an index that tie remains. If the Job keeps that one, chance decides which one it is. Returns
/// the pods that are settled.
fn settle_by_index(
    policy: &Policy,
    records: &[podrank::Pod],
    indexes: &[i64],
    mut list: Vec<u32>,
    sync: &mut Sync,
) -> Vec<u32> {
    let mut open = HashMap::<i64, Vec<u32>>::new();
    for (pod, _) in (0..).zip(&sync.outcomes).filter(|(_, outcome)| outcome.verdict == Verdict::Possible) {
        open.entry(indexes[pod as usize]).or_default().push(pod);
    }
    if open.is_empty() {
        return Vec::new();
    }
    // All that are not in the list go before those in it.
    let goes = sync.deleted.saturating_sub(records.len() - list.len());
    let mut scratch = vec![[0; 4]; list.len()];
    policy.kubernetes_sort(records, &mut list, &mut scratch).expect("there is room");
    let mut settled = Vec::new();
    for (place, left) in list.into_iter().enumerate() {
        let Some(pods) = open.remove(&indexes[left as usize]) else { continue };
        let others = pods.len() - 1;
        for &pod in &pods {
            let outcome = &mut sync.outcomes[pod as usize];
            if place < goes {
                outcome.decide(Verdict::Deleted);
            } else if others == 0 {
                outcome.decide(Verdict::Kept);
                outcome.reason = JobReason::Kept;
            } else {
                outcome.contest(pods[0] as usize, others);
                outcome.reason = JobReason::Duplicate;
            }
        }
        if place < goes || others == 0 {
            settled.extend(pods);
        }
    }
    settled
}

/// Returns notes for the reader.
fn notes_of(job: &JobState, entry: Workload<'_>, sync: &Sync, now: Time) -> Vec<Note> {
    let mut notes = Vec::new();
    let Sync { outcomes, deleted, later, .. } = sync;
    let may_pass = job.end(now).is_none() && entry.idle().is_none() && !outcomes.is_empty();
    if let Some(left) = job.deadline_left(now).filter(|_| may_pass).map(duration) {
        let text =
            format!("the deadline of {entry} passes in {left}, and then all its active pods are deleted");
        notes.push(Note::new(NoteCode::ChangesSoon, text));
    }
    if *later > 0 {
        let text = format!("the controller deletes {deleted} in this sync and {later} more in later ones");
        notes.push(Note::new(NoteCode::Limits, text));
    }
    notes
}
