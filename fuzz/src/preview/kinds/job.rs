//! Jobs: a second reading.

use super::super::reading::{int, is_active, list, record, string, time};
use super::{Dump, Fates, is_finished, is_terminating, verdict};
use podrank::Pod;
use podrank::controller::Verdict;
use podrank::controller::job::{
    Completion, Job, NO_INDEX, Outcome, Reason, State, completion_index, next_sync,
};
use podrank_laws::job::upstream;
use serde_json::Value;
use std::collections::BTreeSet;

impl<'a> Dump<'a> {
    pub(super) fn job(
        &self,
        pods: &[&'a Value],
        is_being_deleted: bool,
        is_unusable: bool,
    ) -> Option<Fates<'a>> {
        let (spec, status) = (&self.workload["spec"], &self.workload["status"]);
        // Policies have examples of their own.
        if ["backoffLimitPerIndex", "podFailurePolicy", "successPolicy"].iter().any(|it| !spec[it].is_null())
        {
            return None;
        }
        let index = |pod: &Value| {
            let text = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].as_str();
            text.map_or(NO_INDEX, completion_index)
        };
        let completions = spec["completions"].as_i64().map(|_| int(&spec["completions"], 0));
        let is_indexed = spec["completionMode"] == "Indexed";
        let completion = match (completions, is_indexed) {
            (Some(now), true) => Completion::Indexed(self.options.completions.map_or(now, u32::cast_signed)),
            (Some(completions), false) => Completion::Count(completions),
            (None, _) => Completion::Any,
        };
        let uncounted = |outcome: &'static str| -> BTreeSet<&str> {
            list(&status["uncountedTerminatedPods"][outcome]).filter_map(Value::as_str).collect()
        };
        let is_tracked = |pod: &Value| {
            list(&pod["metadata"]["finalizers"])
                .any(|finalizer| finalizer == "batch.kubernetes.io/job-tracking")
        };
        let has_index = |pod: &Value| match completion {
            Completion::Indexed(completions) => (0..completions.into()).contains(&index(pod)),
            _ => true,
        };
        let count = |outcome: &'static str, is_so: &dyn Fn(&Value) -> bool| {
            let listed = uncounted(outcome);
            let is_new =
                |pod: &&&Value| !listed.contains(string(&pod["metadata"]["uid"]).to_lowercase().as_str());
            let new = pods.iter().filter(|pod| is_tracked(pod) && is_so(pod)).filter(is_new).count();
            i32::try_from(new + list(&status["uncountedTerminatedPods"][outcome]).count()).expect("few pods")
        };
        let has_succeeded = |pod: &Value| pod["status"]["phase"] == "Succeeded";
        let waits = spec["podReplacementPolicy"] == "Failed";
        let has_failed = |pod: &Value| {
            let ends = is_terminating(pod) && !has_succeeded(pod) && !waits;
            (pod["status"]["phase"] == "Failed" || ends) && has_index(pod)
        };
        let succeeded = if let Completion::Indexed(completions) = completion {
            let mut indexes = indexes(string(&status["completedIndexes"]), completions)?;
            indexes.extend(
                pods.iter()
                    .filter(|pod| is_tracked(pod) && has_succeeded(pod) && has_index(pod))
                    .map(|pod| index(pod)),
            );
            i32::try_from(indexes.len()).expect("few")
        } else {
            int(&status["succeeded"], 0).saturating_add(count("succeeded", &has_succeeded))
        };
        // A list that names a pod twice is one that no cluster writes.
        if list(&status["uncountedTerminatedPods"]["failed"]).count() != uncounted("failed").len() {
            return None;
        }
        let restarts = pods.iter().filter(|pod| !is_finished(pod) && pod["status"]["phase"] != "Unknown");
        let restarts = restarts.flat_map(|pod| {
            let lists =
                ["initContainerStatuses", "containerStatuses"].map(|field| list(&pod["status"][field]));
            lists.into_iter().flatten().map(|container| int(&container["restartCount"], 0))
        });
        let restarts = restarts.fold(0_i32, i32::wrapping_add).max(0);
        let job = Job {
            parallelism: self
                .options
                .parallelism
                .map_or(int(&spec["parallelism"], 1).max(0), u32::cast_signed),
            completion,
            succeeded,
            is_suspended: self.options.suspend || spec["suspend"] == true,
            state: self.state(is_unusable && !is_being_deleted),
            is_being_deleted,
            failed: int(&status["failed"], 0).saturating_add(count("failed", &has_failed)),
            backoff_limit: int(&spec["backoffLimit"], 6),
            restarts: if spec["template"]["spec"]["restartPolicy"] == "OnFailure" { restarts } else { 0 },
            active_deadline_seconds: spec["activeDeadlineSeconds"].as_i64(),
            start_time: time(&status["startTime"])?,
            failed_indexes: 0,
            max_failed_indexes: spec["maxFailedIndexes"].as_i64().map(|_| int(&spec["maxFailedIndexes"], 0)),
        };
        let active: Vec<_> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
        let records: Vec<Pod> = active.iter().map(|pod| record(pod)).collect::<Option<_>>()?;
        let indexes: Vec<_> = active.iter().map(|pod| index(pod)).collect();
        let (mut order, mut outcomes) = (vec![0; records.len()], vec![Outcome::default(); records.len()]);
        let step = next_sync(&job, self.now(), &records, &indexes, &mut order, &mut outcomes)
            .expect("there is room");
        if is_indexed {
            let list: Vec<_> = (0..records.len()).collect();
            settle_by_index(&mut outcomes, &upstream(&job, self.now(), &records, &indexes, &list));
        }
        let certain = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Delete).count();
        let fates = active.iter().zip(outcomes).map(|(pod, outcome)| {
            (string(&pod["metadata"]["name"]), (verdict(outcome.verdict), outcome.reason.name()))
        });
        Some((fates.collect(), step.deleted as usize - certain))
    }

    /// What the Job's conditions say, and whether its controller takes it at all.
    fn state(&self, fails: bool) -> State {
        let (spec, status) = (&self.workload["spec"], &self.workload["status"]);
        let is_true = |name: &str| {
            list(&status["conditions"])
                .any(|condition| condition["type"] == name && condition["status"] == "True")
        };
        let mode = spec["completionMode"].as_str().unwrap_or("NonIndexed");
        let is_others =
            spec["managedBy"].as_str().is_some_and(|manager| manager != "kubernetes.io/job-controller");
        let is_left = is_true("Complete")
            || is_true("Failed")
            || is_others
            || !["Indexed", "NonIndexed"].contains(&mode);
        if is_left || fails {
            State::LeftAlone
        } else if is_true("SuccessCriteriaMet") || is_true("FailureTarget") {
            State::Ending
        } else {
            State::Running
        }
    }
}

/// Whatever the list, an Indexed Job loses these pods, unless chance decides which of two pods of one index is left.
fn settle_by_index(outcomes: &mut [Outcome], gone: &BTreeSet<usize>) {
    let is_open = |outcome: &Outcome| outcome.verdict == Verdict::Contested;
    if outcomes.iter().any(|outcome| is_open(outcome) && outcome.reason != Reason::Surplus) {
        return;
    }
    for (pod, outcome) in outcomes.iter_mut().enumerate().filter(|(_, outcome)| is_open(outcome)) {
        let goes = gone.contains(&pod);
        (outcome.verdict, outcome.reason) =
            if goes { (Verdict::Delete, Reason::Surplus) } else { (Verdict::Keep, Reason::Kept) };
    }
}

/// The indexes in a list such as `0,2-4`, which a cluster writes in order.
fn indexes(text: &str, completions: i32) -> Option<BTreeSet<i64>> {
    let mut indexes = BTreeSet::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?);
        let is_sound = first <= last && last < 1_000 && indexes.last().is_none_or(|before| *before < first);
        indexes.extend(is_sound.then_some(first..=last)?);
    }
    let is_plain = text.is_empty() || !text.contains(",,") && !text.starts_with(',') && !text.ends_with(',');
    indexes.retain(|index| *index < completions.into());
    is_plain.then_some(indexes)
}
