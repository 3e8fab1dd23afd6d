//! What Jobs delete.

use super::told;
use podrank::{Flags, Phase, Pod, Time};
use podrank_laws::vectors::read;
use podrank_preview::Verdict::{self, Contested, Delete, Keep};
use podrank_preview::sync::PodOutcome;
use podrank_preview::sync::job::{Completion, Job, JobReason, NO_INDEX, State, completion_index, next_sync};
use serde::Deserialize;
use serde_json::Value;

type Outcome = PodOutcome<JobReason>;

const NOW: Time = Time::from_unix(1_700_000_000, 0);

fn sync(job: &Job, pods: &[Pod], indexes: &[i64]) -> (usize, Vec<Outcome>) {
    let sync = next_sync(job, NOW, pods, indexes);
    (sync.deleted, sync.outcomes)
}

fn verdicts(outcomes: &[Outcome]) -> Vec<Verdict> {
    outcomes.iter().map(|outcome| outcome.verdict).collect()
}

const fn running(seconds: i64) -> Pod {
    Pod { phase: Phase::RUNNING, creation_time: Time::from_unix(seconds, 0), ..Pod::new() }
}

#[test]
fn all_go() {
    let pods = vec![running(0); 700];
    let suspended = Job { parallelism: 3, is_suspended: true, ..Job::default() };
    let ending = Job { state: State::Ending, is_being_deleted: true, ..suspended };
    for (job, reason) in [(suspended, JobReason::Suspended), (ending, JobReason::Ending)] {
        let (deleted, outcomes) = sync(&job, &pods, &[]);
        assert_eq!(deleted, 700, "without a cap");
        assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.reason) == (Delete, reason)));
    }
    for job in [Job { is_being_deleted: true, ..suspended }, Job { state: State::LeftAlone, ..suspended }] {
        assert_eq!(sync(&job, &pods, &[]).0, 0);
    }
}

/// Each limit ends the Job alone, and does not one step before. A Job that ends loses all pods, even if it is being deleted.
#[test]
fn each_end() {
    let started = Job {
        parallelism: 9,
        completion: Completion::Indexed(6),
        succeeded: 2,
        backoff_limit: 6,
        active_deadline_seconds: Some(60),
        start_time: NOW,
        max_failed_indexes: Some(2),
        ..Job::default()
    };
    let late = |seconds: i64| Job { start_time: Time::from_unix(1_700_000_000 - seconds, 0), ..started };
    let failed = |failed_indexes, most| Job { failed_indexes, max_failed_indexes: most, ..started };
    let unlimited = Job { backoff_limit: 0, ..started };
    for (job, reason) in [
        (Job { state: State::Ending, ..started }, Some(JobReason::Ending)),
        (Job { state: State::PodFailurePolicy, ..started }, Some(JobReason::PodFailurePolicy)),
        (Job { state: State::SuccessPolicy, ..started }, Some(JobReason::SuccessPolicy)),
        (Job { failed: 6, ..started }, None),
        (Job { failed: 7, ..started }, Some(JobReason::BackoffLimit)),
        (Job { restarts: 5, ..started }, None),
        (Job { restarts: 6, ..started }, Some(JobReason::Restarts)),
        (unlimited, None),
        (Job { restarts: 1, ..unlimited }, Some(JobReason::Restarts)),
        (late(59), None),
        (late(60), Some(JobReason::Deadline)),
        (Job { is_suspended: true, ..late(60) }, None),
        (Job { active_deadline_seconds: None, ..late(60) }, None),
        // Without a start time, the Job starts now.
        (Job { start_time: Time::UNSET, ..started }, None),
        (
            Job { start_time: Time::UNSET, active_deadline_seconds: Some(0), ..started },
            Some(JobReason::Deadline),
        ),
        // Kubernetes multiplies this by 10^9 in 64 bits, and gets a negative number.
        (Job { active_deadline_seconds: Some(10_000_000_000), ..started }, Some(JobReason::Deadline)),
        (failed(2, Some(2)), None),
        (failed(3, Some(2)), Some(JobReason::MaxFailedIndexes)),
        (failed(3, None), None),
        (failed(4, None), Some(JobReason::FailedIndexes)),
        (Job { completion: Completion::Count(6), ..failed(6, Some(2)) }, None),
        (Job { state: State::LeftAlone, failed: 7, ..late(60) }, None),
    ] {
        assert_eq!(job.end(NOW), reason, "{job:?}");
        let pods = [running(0), running(1)];
        for is_being_deleted in [false, true] {
            let (deleted, outcomes) = sync(&Job { is_being_deleted, ..job }, &pods, &[0, 1]);
            let is_suspended = job.is_suspended && !is_being_deleted;
            let all = reason.or(is_suspended.then_some(JobReason::Suspended));
            assert_eq!(deleted, if all.is_some() { 2 } else { 0 }, "{job:?}");
            assert!(
                outcomes.iter().all(|outcome| outcome.reason == all.unwrap_or(JobReason::Kept)),
                "{job:?}"
            );
        }
    }
}

/// Without a failed index, the Job completes once its pods are gone.
#[test]
fn no_index_has_failed() {
    let job = Job { completion: Completion::Indexed(6), succeeded: 6, ..Job::default() };
    assert_eq!(job.end(NOW), None);
    assert_eq!(Job { failed_indexes: 1, ..job }.end(NOW), Some(JobReason::FailedIndexes));
}

/// Each limit comes before those below it, as in Kubernetes' code.
#[test]
fn the_first_of_several_ends() {
    let mut job = Job {
        completion: Completion::Indexed(3),
        state: State::Ending,
        failed: 1,
        restarts: 1,
        active_deadline_seconds: Some(0),
        failed_indexes: 3,
        max_failed_indexes: Some(0),
        ..Job::default()
    };
    let mut ends = vec![];
    for remove in [
        (|job| job.state = State::PodFailurePolicy) as fn(&mut Job),
        |job| job.state = State::SuccessPolicy,
        |job| job.failed = 0,
        |job| job.restarts = 0,
        |job| job.active_deadline_seconds = None,
        |job| job.max_failed_indexes = None,
        |job| job.failed_indexes = 0,
        |job| job.state = State::Running,
    ] {
        ends.push(job.end(NOW).unwrap());
        remove(&mut job);
    }
    assert_eq!(job.end(NOW), None);
    let names: Vec<_> = ends.iter().map(|end| end.name()).collect();
    assert_eq!(
        names,
        [
            "ending",
            "pod-failure-policy",
            "backoff-limit",
            "restarts",
            "deadline",
            "max-failed-indexes",
            "failed-indexes",
            "success-policy",
        ]
    );
}

#[test]
fn how_long_a_deadline_is_away() {
    let job = Job {
        active_deadline_seconds: Some(60),
        start_time: Time::from_unix(1_699_999_995, 0),
        ..Job::default()
    };
    assert_eq!(job.deadline_left(NOW), Some(55_000_000_000));
    assert_eq!(job.deadline_left(Time::from_unix(1_700_000_100, 0)), Some(-45_000_000_000));
    assert_eq!(Job { start_time: Time::UNSET, ..job }.deadline_left(NOW), Some(60_000_000_000));
    assert_eq!(job.deadline_left(Time::UNSET), None);
    assert_eq!(Job { is_suspended: true, ..job }.deadline_left(NOW), None);
    assert_eq!(Job { active_deadline_seconds: None, ..job }.deadline_left(NOW), None);
}

#[test]
fn wanted() {
    let job =
        |parallelism, completion, succeeded| Job { parallelism, completion, succeeded, ..Job::default() };
    for (job, wanted) in [
        (job(3, Completion::Any, 0), 3),
        (job(3, Completion::Any, 1), 9),
        (job(3, Completion::Count(10), 2), 3),
        (job(3, Completion::Count(4), 2), 2),
        (job(3, Completion::Count(2), 4), 0),
        (job(3, Completion::Indexed(4), 3), 1),
        (Job { is_suspended: true, ..job(3, Completion::Count(5), 3) }, 0),
        (Job { state: State::Ending, ..job(3, Completion::Count(5), 3) }, 0),
        // It wants what there is if it deletes no pod.
        (Job { state: State::LeftAlone, ..job(3, Completion::Count(5), 3) }, 9),
        (Job { is_being_deleted: true, ..job(3, Completion::Count(5), 3) }, 9),
    ] {
        assert_eq!(job.wanted(9, NOW), wanted);
    }
}

/// Of pods without an index that do not tie, all are contested alike if they are more than 500, even if the Job has other pods
/// that go later.
#[test]
fn a_cut_leaves_its_group_alone() {
    let pods: Vec<Pod> = (0..502).map(running).collect();
    let mut indexes = vec![NO_INDEX; 502];
    indexes[501] = 0;
    let job = Job { parallelism: 0, completion: Completion::Indexed(1), ..Job::default() };
    let (deleted, outcomes) = sync(&job, &pods, &indexes);
    assert_eq!(deleted, 500);
    assert_eq!(verdicts(&outcomes)[..501], [Contested; 501]);
    assert!(outcomes[..501].iter().all(|outcome| (outcome.group, outcome.quota) == (outcomes[0].group, 500)));
    assert_eq!((outcomes[501].verdict, outcomes[501].reason), (Keep, JobReason::NextSync));
}

/// At 500 the sync is cut: pods without index, duplicates by index, those beyond, and duplicates of the last index.
#[test]
fn cut() {
    let job = Job { parallelism: 1000, completion: Completion::Indexed(10), ..Job::default() };
    let indexes: Vec<i64> = [(-1, 100), (3, 101), (7, 201), (10, 150), (11, 150)]
        .into_iter()
        .flat_map(|(index, count)| vec![index; count])
        .collect();
    let pods: Vec<Pod> = (0..).zip(&indexes).map(|(n, _)| running(n)).collect();
    let (deleted, outcomes) = sync(&job, &pods, &indexes);
    assert_eq!(deleted, 500);
    for (index, outcome) in indexes.iter().zip(&outcomes) {
        let expected = match index {
            -1 => (Delete, JobReason::NoIndex),
            3 if outcome.verdict == Delete => (Delete, JobReason::Duplicate),
            // The oldest stays.
            3 => (Keep, JobReason::Kept),
            10 | 11 => (Delete, JobReason::BeyondCompletions),
            // 100 + 100 + 300 are 500.
            _ => {
                (Keep, if outcome.reason == JobReason::Kept { JobReason::Kept } else { JobReason::NextSync })
            }
        };
        assert_eq!((outcome.verdict, outcome.reason), expected, "{index}");
    }
    assert_eq!(outcomes.iter().filter(|outcome| outcome.reason == JobReason::Kept).count(), 2);
    // One more goes before them, so that one of those with index 11 has to wait, and which one is open.
    let (pods, indexes) = ([&[running(5)][..], &pods].concat(), [&[-1][..], &indexes].concat());
    let (_, outcomes) = sync(&job, &pods, &indexes);
    let contested: Vec<_> = outcomes.iter().filter(|outcome| outcome.verdict == Contested).collect();
    assert_eq!((contested.len(), contested[0].quota), (150, 149));
}

#[test]
fn ties_are_contested() {
    let job = Job { parallelism: 1, ..Job::default() };
    // They differ in what the Job's order does not read.
    let costly = Pod { deletion_cost: 7, rank: 3, tier: 1, ..running(0) };
    let (_, outcomes) = sync(&job, &[running(0), costly, running(1)], &[]);
    assert_eq!(verdicts(&outcomes), [Contested, Contested, Delete]);
    assert_eq!((outcomes[0].quota, outcomes[0].group), (1, outcomes[1].group));
}

/// Three pods of index 0 tie, and two of them are duplicates. The third is the first that the lower parallelism takes.
#[test]
fn what_is_left_of_tied_duplicates_goes_with_them() {
    let job = Job { parallelism: 1, completion: Completion::Indexed(3), ..Job::default() };
    let younger = running(100);
    let pods = [younger, younger, younger, running(1)];
    let (deleted, outcomes) = sync(&job, &pods, &[0, 0, 0, 1]);
    assert_eq!((deleted, verdicts(&outcomes)), (3, vec![Delete, Delete, Delete, Keep]));
    // With one more, two of the three still go, and which is not certain.
    let (deleted, outcomes) = sync(&Job { parallelism: 2, ..job }, &pods, &[0, 0, 0, 1]);
    assert_eq!((deleted, verdicts(&outcomes)), (2, vec![Contested, Contested, Contested, Keep]));
    assert!(outcomes[..3].iter().all(|outcome| outcome.quota == 2));
}

/// Of 800 pods with wrong indexes, 500 go. Those without an index come first, unless no pod has an index below the completions.
#[test]
fn which_wrong_indexes_go_first() {
    let pods: Vec<Pod> = (0..801).map(running).collect();
    let job = Job { parallelism: 801, completion: Completion::Indexed(900), ..Job::default() };
    let certain = |last: i64| {
        let index = |pod| match pod {
            0..400 => NO_INDEX,
            400..800 => 900,
            _ => last,
        };
        let indexes: Vec<i64> = (0..801).map(index).collect();
        let (_, outcomes) = sync(&job, &pods, &indexes);
        [0, 400].map(|first| outcomes[first..first + 400].iter().all(|pod| pod.verdict == Delete))
    };
    assert_eq!(certain(3), [true, false]);
    assert_eq!(certain(900), [false, true]);
}

/// Of 600 pods without an index, a sync takes 500, whichever they are, however many others are to go later.
#[test]
fn what_one_sync_cannot_take_stays_contested() {
    let pods: Vec<Pod> = (0..603).map(running).collect();
    let indexes: Vec<i64> = (0..603).map(|pod| if pod < 3 { pod } else { NO_INDEX }).collect();
    for parallelism in 0..4 {
        let job = Job { parallelism, completion: Completion::Indexed(3), ..Job::default() };
        let (deleted, outcomes) = sync(&job, &pods, &indexes);
        assert_eq!(deleted, 500);
        assert!(
            outcomes[3..].iter().all(|pod| (pod.verdict, pod.quota) == (Contested, 500)),
            "{parallelism}"
        );
        assert!(outcomes[..3].iter().all(|pod| pod.verdict == Keep), "{parallelism}");
    }
}

#[derive(Deserialize)]
struct File {
    indexes: Vec<Text>,
    syncs: Vec<Case>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    index: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    #[serde(default, rename = "source")]
    _source: String,
    parallelism: i32,
    completions: Option<i32>,
    #[serde(default)]
    succeeded: i32,
    #[serde(flatten)]
    flags: Flagged,
    #[serde(flatten)]
    limits: Limits,
    pods: Vec<ListedPod>,
    outcomes: Vec<String>,
}

/// Of Kubernetes' fields, except that `now`, `startTime` are seconds.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Limits {
    now: Option<i64>,
    failed: i32,
    backoff_limit: Option<i32>,
    restarts: i32,
    active_deadline_seconds: Option<i64>,
    start_time: Option<i64>,
    failed_indexes: i32,
    max_failed_indexes: Option<i32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "as the vectors write them")]
struct Flagged {
    indexed: bool,
    suspended: bool,
    ending: bool,
    left_alone: bool,
    being_deleted: bool,
    pod_failure_policy: bool,
    success_policy: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ListedPod {
    phase: String,
    assigned: bool,
    ready: Option<Value>,
    restarts: u32,
    sidecar_restarts: u32,
    created: Option<i64>,
    index: Option<String>,
}

impl ListedPod {
    fn record(&self) -> Pod {
        let flags = Flags::NONE.with(Flags::ASSIGNED, self.assigned).with(Flags::READY, self.ready.is_some());
        let time = |seconds: Option<i64>| seconds.map_or(Time::UNSET, |seconds| Time::from_unix(seconds, 0));
        Pod {
            phase: Phase::parse(&self.phase).unwrap(),
            flags,
            ready_time: time(self.ready.as_ref().and_then(Value::as_i64)),
            creation_time: time(self.created),
            restarts: self.restarts,
            sidecar_restarts: self.sidecar_restarts,
            ..Pod::new()
        }
    }
}

#[test]
fn vectors() {
    let file: File = serde_json::from_str(&read("job.json")).unwrap();
    for Text { text, index } in &file.indexes {
        assert_eq!(completion_index(text).to_string(), *index, "{text:?}");
    }
    for case in &file.syncs {
        let Flagged { indexed, suspended, ending, left_alone, being_deleted, .. } = case.flags;
        let limits = &case.limits;
        let at = |seconds: Option<i64>| seconds.map_or(Time::UNSET, |seconds| Time::from_unix(seconds, 0));
        let job = Job {
            parallelism: case.parallelism,
            completion: match case.completions {
                Some(completions) if indexed => Completion::Indexed(completions),
                Some(completions) => Completion::Count(completions),
                None => Completion::Any,
            },
            succeeded: case.succeeded,
            is_suspended: suspended,
            state: if left_alone {
                State::LeftAlone
            } else if ending {
                State::Ending
            } else if case.flags.pod_failure_policy {
                State::PodFailurePolicy
            } else if case.flags.success_policy {
                State::SuccessPolicy
            } else {
                State::Running
            },
            is_being_deleted: being_deleted,
            failed: limits.failed,
            backoff_limit: limits.backoff_limit.unwrap_or(6),
            restarts: limits.restarts,
            active_deadline_seconds: limits.active_deadline_seconds,
            start_time: at(limits.start_time),
            failed_indexes: limits.failed_indexes,
            max_failed_indexes: limits.max_failed_indexes,
        };
        let pods: Vec<_> = case.pods.iter().map(ListedPod::record).collect();
        let indexes: Vec<_> = case
            .pods
            .iter()
            .map(|pod| pod.index.as_ref().map_or(NO_INDEX, |text| completion_index(text)))
            .collect();
        let sync = next_sync(&job, at(limits.now), &pods, &indexes);
        assert_eq!(told(&sync.outcomes, JobReason::name), case.outcomes, "{}", case.name);
    }
    assert!(file.syncs.len() >= 32, "{}", file.syncs.len());
}
