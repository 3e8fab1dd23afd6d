//! What ends a Job: its limits and policies, and what its pods failed by. Pure functions on what was read.

use crate::reason::{ByPolicy, FailedBy};
use crate::snapshot::{FailureRule, FinishedPhase, Job, JobPod, Pod, SuccessRule};
use crate::sync::job::{JobState, State};
use podrank::Phase;

impl Job {
    /// Writes to the job what can end it. `succeeded` are the indexes that have succeeded and the completions, of an Indexed Job.
    /// If a policy ends the Job, returns how.
    pub(crate) fn fill<'a>(
        &self,
        job: &mut JobState,
        pods: &[&'a Pod],
        succeeded: Option<&(Intervals, i32)>,
    ) -> Option<ByPolicy<'a>> {
        let template = self.spec.template.as_ref().and_then(|template| template.spec.as_ref());
        let policy = template.and_then(|spec| spec.restart_policy.as_deref());
        job.restarts = if policy == Some("OnFailure") { restarts(pods) } else { 0 };
        let failure = self.fill_failed(job, pods, succeeded.map(|(_, completions)| *completions));
        let by_policy = failure.or_else(|| succeeded.and_then(|(indexes, all)| self.met_rule(indexes, *all)));
        job.state = match by_policy {
            Some(ByPolicy::Failed { .. }) if job.state == State::Running => State::PodFailurePolicy,
            Some(ByPolicy::Succeeded { .. }) if job.state == State::Running => State::SuccessPolicy,
            _ => job.state,
        };
        by_policy
    }

    /// Counts the pods and indexes that have failed. Returns why one of them makes the Job fail.
    fn fill_failed<'a>(
        &self,
        job: &mut JobState,
        pods: &[&'a Pod],
        completions: Option<i32>,
    ) -> Option<ByPolicy<'a>> {
        let per_index = self.spec.backoff_limit_per_index.filter(|_| completions.is_some());
        let written = self.status.failed_indexes.as_deref().filter(|_| per_index.is_some());
        let mut failed_indexes =
            Intervals::read(written.unwrap_or_default(), completions.unwrap_or_default());
        let (mut first, mut failed) = (None, self.uncounted.failed.len());
        for pod in pods.iter().filter(|pod| self.has_failed(pod)) {
            let job_pod = pod.job.as_deref();
            let matched = job_pod.and_then(|pod| self.matched_rule(pod));
            let action = matched.map_or("Count", |(action, ..)| action);
            if let Some(("FailJob", rule, cause)) = matched {
                first = first.or(Some(ByPolicy::Failed { pod: pod.name(), cause, rule }));
            }
            let Some(job_pod) = job_pod else { continue };
            let is_valid = completions.is_none_or(|all| (0..all.into()).contains(&job_pod.index));
            if !pod.is_tracked() || action == "Ignore" || !is_valid {
                continue;
            }
            let uid = pod.record.uid.to_string();
            failed += usize::from(!self.uncounted.failed.contains(&uid));
            if per_index.is_some_and(|limit| action == "FailIndex" || job_pod.failures >= limit) {
                failed_indexes.insert(job_pod.index);
            }
        }
        job.failed = self.status.failed.saturating_add(i32::try_from(failed).unwrap_or(i32::MAX));
        job.failed_indexes = i32::try_from(failed_indexes.len()).unwrap_or(i32::MAX);
        first
    }

    /// Whether the Job's controller counts the pod as failed.
    fn has_failed(&self, pod: &Pod) -> bool {
        let policy = self.spec.pod_replacement_policy.as_deref();
        // What the API server sets.
        let waits = policy.map_or(self.spec.pod_failure_policy.is_some(), |policy| policy == "Failed");
        match pod.finished_phase {
            Some(FinishedPhase::Failed) => true,
            Some(FinishedPhase::Succeeded) => false,
            None => pod.is_terminating() && !waits,
        }
    }

    /// The action of the first rule that the failed pod matches, the number of that rule, and what the pod failed by.
    fn matched_rule<'a>(&self, pod: &'a JobPod) -> Option<(&str, usize, FailedBy<'a>)> {
        let rules = self.spec.pod_failure_policy.iter().flat_map(|policy| policy.rules.iter().flatten());
        let known = |(_, rule): &(usize, &FailureRule)| {
            ["FailJob", "FailIndex", "Ignore", "Count"].contains(&rule.action.as_str())
        };
        let mut rules = rules.enumerate().filter(known);
        rules.find_map(|(number, rule)| Some((rule.action.as_str(), number, rule.matches(pod)?)))
    }

    /// The first rule of the success policy that is met.
    fn met_rule<'a>(&self, succeeded: &Intervals, completions: i32) -> Option<ByPolicy<'a>> {
        let policy = self.spec.success_policy.as_ref().filter(|_| succeeded.len() > 0)?;
        let is_met = |rule: &SuccessRule| {
            let enough = |met: i64| rule.succeeded_count.is_some_and(|count| met >= count.into());
            let Some(text) = &rule.succeeded_indexes else { return enough(succeeded.len()) };
            let required = Intervals::read(text, completions);
            let met = required.overlap(succeeded);
            required.len() > 0 && (met == required.len() || enough(met))
        };
        let rule = policy.rules.iter().flatten().position(is_met)?;
        Some(ByPolicy::Succeeded { indexes: succeeded.len(), rule })
    }
}

impl FailureRule {
    /// What the pod failed by, if it matches.
    fn matches<'a>(&self, pod: &'a JobPod) -> Option<FailedBy<'a>> {
        if let Some(codes) = &self.on_exit_codes {
            let ended = pod.ended.iter().find(|(container, code)| {
                let is_named =
                    codes.container_name.as_ref().is_none_or(|name| Some(name) == container.as_ref());
                let is_listed = codes.values.iter().flatten().any(|value| value == code);
                is_named && codes.operator == if is_listed { "In" } else { "NotIn" }
            });
            return ended.map(|(_, code)| FailedBy::ExitCode(*code));
        }
        let patterns = self.on_pod_conditions.as_deref().unwrap_or_default();
        let matches = |(kind, status): &&(String, String)| {
            patterns.iter().any(|it| it.r#type == *kind && it.status.as_deref().unwrap_or("True") == status)
        };
        let (kind, status) = pod.conditions.iter().find(matches)?;
        Some(FailedBy::Condition(kind, status))
    }
}

/// The restarts of all containers of the pods that run or are pending. The sum wraps, as in Kubernetes.
fn restarts(pods: &[&Pod]) -> i32 {
    let counts = |pod: &&&Pod| pod.finished_phase.is_none() && pod.record.phase != Phase::UNKNOWN;
    let restarts = pods.iter().filter(counts).filter_map(|pod| pod.job.as_ref());
    restarts.fold(0_i32, |sum, job| sum.wrapping_add(job.restarts)).max(0)
}

/// Indexes, as the first and last of each run. No index is in two runs, unless the text that was read says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals(Vec<(i64, i64)>);

impl Intervals {
    /// Reads a list such as `0,2-4`, up to the completions.
    pub(crate) fn read(text: &str, completions: i32) -> Self {
        let completions = i64::from(completions);
        let intervals = text.split(',').filter_map(|interval| {
            let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
            Some((first.parse().ok()?, last.parse::<i64>().ok()?.min(completions - 1)))
        });
        Self(intervals.take_while(|(first, _)| *first < completions).collect())
    }

    /// Adds an index, unless it is there.
    pub(crate) fn insert(&mut self, index: i64) {
        if !self.0.iter().any(|(first, last)| (*first..=*last).contains(&index)) {
            self.0.push((index, index));
        }
    }

    /// How many indexes there are.
    pub(crate) fn len(&self) -> i64 {
        self.0.iter().fold(0, |sum, (first, last)| sum.saturating_add(last.saturating_sub(*first) + 1))
    }

    /// How many indexes both have.
    fn overlap(&self, other: &Self) -> i64 {
        let both = |(a, b): (&(i64, i64), &(i64, i64))| (a.1.min(b.1) - a.0.max(b.0) + 1).max(0);
        self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b))).map(both).sum()
    }
}
