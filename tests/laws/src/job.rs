//! What a Job deletes: a naive implementation that follows Kubernetes' code line by line, in every list order.

use crate::permute;
use podrank::controller::Verdict::{Contested, Delete, Keep};
use podrank::controller::job::{Completion, Job, Outcome, next_sync};
use podrank::{Flags, Pod, Time};
use std::collections::BTreeSet;

/// In every list order, certain pods go, others stay, and of each group its quota goes. What is contested has both fates, except
/// in an Indexed Job: there, upstream sorts by index first, so a stable sort lets the lower index go.
///
/// # Panics
/// If that is not so. The number of list orders is the factorial of the number of pods.
pub fn sync_is_upstreams(job: &Job, pods: &[Pod], indexes: &[i64]) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(job, pods, indexes, &mut order, &mut outcomes).unwrap();
    let mut fates = vec![BTreeSet::new(); pods.len()];
    permute(&mut (0..pods.len()).collect::<Vec<_>>(), &mut |list| {
        let gone = upstream(job, pods, indexes, list);
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

/// The pods that upstream deletes from this list: a stable sort stands for its sort.
#[must_use]
pub fn upstream(job: &Job, pods: &[Pod], indexes: &[i64], list: &[usize]) -> BTreeSet<usize> {
    let key = |pod: usize| {
        let p = &pods[pod];
        let ready = p.flags.contains(Flags::READY);
        let latest = |time: Time| time.unix_nanos().map_or(i128::MIN, |nanos| -i128::from(nanos));
        let since = if ready { latest(p.ready_time) } else { 0 };
        let assigned = p.flags.contains(Flags::ASSIGNED);
        let restarts = (u32::MAX - p.restarts, u32::MAX - p.sidecar_restarts);
        (assigned, p.phase.ordinal(), ready, since, restarts, latest(p.creation_time))
    };
    let surplus =
        pods.len().saturating_sub(job.wanted(u32::try_from(pods.len()).expect("few pods")) as usize);
    let (mut gone, mut left) = (vec![], list.to_vec());
    if let Completion::Indexed(completions) = job.completion {
        let index = |pod: usize| indexes[pod].max(-1);
        let mut sorted = std::mem::take(&mut left);
        sorted.sort_by_key(|pod| index(*pod));
        let (mut of, mut run) = (-1, vec![]);
        let mut flush = |of: i64, run: &mut Vec<usize>, gone: &mut Vec<usize>| {
            run.sort_by_key(|pod| key(*pod));
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
        left.sort_by_key(|pod| key(*pod));
        gone.extend(left.into_iter().take(surplus - gone.len()));
    }
    gone.into_iter().take(500).collect()
}
