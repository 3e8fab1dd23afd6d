//! What Jobs delete.

use super::told;
use podrank::{Flags, Phase, Pod, Time};
use podrank_laws::vectors::read;
use podrank_preview::Verdict::{Contested, Delete, Keep};
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

const fn running(seconds: i64) -> Pod {
    Pod { phase: Phase::RUNNING, creation_time: Time::from_unix(seconds, 0), ..Pod::new() }
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
