//! What a Job deletes: a naive implementation that follows Kubernetes' code line by line, in every list order.

use crate::go_sort::go_sort;
use crate::permute;
use podrank::controller::Verdict::{Contested, Delete, Keep};
use podrank::controller::job::{Completion, Job, Outcome, Reason, State, next_sync};
use podrank::{Flags, Pod, Time};
use std::collections::BTreeSet;

/// In every list order, certain pods go, others stay, and of each group its quota goes. What is contested has both fates, except
/// in an Indexed Job: there, upstream sorts by index first. Its sort keeps the order of up to 12 pods that tie, so of those the ones
/// with the lower indexes go.
///
/// # Panics
/// If that is not so. The number of list orders is the factorial of the number of pods.
pub fn sync_is_upstreams(job: &Job, now: Time, pods: &[Pod], indexes: &[i64]) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(job, now, pods, indexes, &mut order, &mut outcomes).unwrap();
    if let Some(reason) = end(job, now) {
        assert_eq!(step.deleted as usize, pods.len());
        assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.reason) == (Delete, reason)));
    }
    let mut fates = vec![BTreeSet::new(); pods.len()];
    permute(&mut (0..pods.len()).collect::<Vec<_>>(), &mut |list| {
        let gone = upstream(job, now, pods, indexes, list);
        assert_eq!(gone.len(), step.deleted as usize);
        for pod in 0..pods.len() {
            fates[pod].insert(gone.contains(&pod));
            if outcomes[pod].verdict == Contested {
                let is_alike = |other: &usize| {
                    outcomes[*other].verdict == Contested && outcomes[*other].group == outcomes[pod].group
                };
                let goes = (0..pods.len()).filter(is_alike).filter(|other| gone.contains(other)).count();
                assert_eq!(goes, outcomes[pod].quota as usize);
            }
        }
    });
    for (fate, outcome) in fates.iter().zip(&outcomes) {
        let is_right = match outcome.verdict {
            Keep => fate.iter().eq(&[false]),
            Delete => fate.iter().eq(&[true]),
            _ => fate.len() == 2 || matches!(job.completion, Completion::Indexed(_)),
        };
        assert!(is_right, "{fate:?} {outcome:?}");
    }
}

/// Why a sync of upstream's ends the Job, in the order of its code.
#[must_use]
pub fn end(job: &Job, now: Time) -> Option<Reason> {
    if job.state == State::LeftAlone {
        return None;
    }
    if job.state == State::Ending {
        return Some(Reason::Ending);
    }
    if job.state == State::PodFailurePolicy {
        return Some(Reason::PodFailurePolicy);
    }
    if job.failed > job.backoff_limit {
        return Some(Reason::BackoffLimit);
    }
    if job.restarts > 0 && job.restarts >= job.backoff_limit {
        return Some(Reason::Restarts);
    }
    if let (Some(seconds), false, Some(now)) =
        (job.active_deadline_seconds, job.is_suspended, now.unix_nanos())
    {
        let start = job.start_time.unix_nanos().unwrap_or(now);
        // As Go's durations: the product wraps, the difference saturates.
        let most = i128::from(i64::MAX);
        let elapsed = (i128::from(now) - i128::from(start)).clamp(-most - 1, most);
        if elapsed >= i128::from(seconds.wrapping_mul(1_000_000_000)) {
            return Some(Reason::Deadline);
        }
    }
    if let Completion::Indexed(completions) = job.completion {
        if job.max_failed_indexes.is_some_and(|most| job.failed_indexes > most) {
            return Some(Reason::MaxFailedIndexes);
        }
        let ended = i64::from(job.failed_indexes) + i64::from(job.succeeded);
        if job.failed_indexes > 0 && ended >= completions.into() {
            return Some(Reason::FailedIndexes);
        }
    }
    (job.state == State::SuccessPolicy).then_some(Reason::SuccessPolicy)
}

/// How many active pods upstream wants if the Job goes on.
fn wanted(job: &Job, active: usize) -> usize {
    let wanted = match job.completion {
        Completion::Any if job.succeeded > 0 => return active,
        Completion::Any => job.parallelism,
        Completion::Count(completions) | Completion::Indexed(completions) => {
            completions.wrapping_sub(job.succeeded).min(job.parallelism)
        }
    };
    usize::try_from(wanted).unwrap_or(0)
}

/// The pods that upstream deletes from this list.
#[must_use]
pub fn upstream(job: &Job, now: Time, pods: &[Pod], indexes: &[i64], list: &[usize]) -> BTreeSet<usize> {
    if job.state == State::LeftAlone {
        return BTreeSet::new();
    }
    if end(job, now).is_some() {
        return list.iter().copied().collect();
    }
    if job.is_being_deleted {
        return BTreeSet::new();
    }
    if job.is_suspended {
        return list.iter().copied().collect();
    }
    let key = |pod: usize| {
        let p = &pods[pod];
        let ready = p.flags.contains(Flags::READY);
        let latest = |time: Time| time.unix_nanos().map_or(i128::MIN, |nanos| -i128::from(nanos));
        let since = if ready { latest(p.ready_time) } else { 0 };
        let assigned = p.flags.contains(Flags::ASSIGNED);
        let restarts = (u32::MAX - p.restarts, u32::MAX - p.sidecar_restarts);
        (assigned, p.phase.ordinal(), ready, since, restarts, latest(p.creation_time))
    };
    let surplus = pods.len().saturating_sub(wanted(job, pods.len()));
    let (mut gone, mut left) = (vec![], list.to_vec());
    if let Completion::Indexed(completions) = job.completion {
        let index = |pod: usize| indexes[pod].max(-1);
        let mut sorted = std::mem::take(&mut left);
        go_sort(&mut sorted, &|a, b| index(*a) < index(*b));
        let (mut of, mut run) = (-1, vec![]);
        let mut flush = |of: i64, run: &mut Vec<usize>, gone: &mut Vec<usize>| {
            go_sort(run, &|a, b| key(*a) < key(*b));
            if of >= 0 {
                left.extend(run.pop());
            }
            gone.append(run);
        };
        let mut sorted = sorted.into_iter().peekable();
        while let Some(pod) = sorted.next_if(|pod| index(*pod) < completions.into()) {
            if index(pod) != of {
                flush(of, &mut run, &mut gone);
                of = index(pod);
            }
            run.push(pod);
        }
        gone.extend(sorted);
        flush(of, &mut run, &mut gone);
    }
    if gone.len() < surplus {
        go_sort(&mut left, &|a, b| key(*a) < key(*b));
        gone.extend(left.into_iter().take(surplus - gone.len()));
    }
    gone.into_iter().take(500).collect()
}
