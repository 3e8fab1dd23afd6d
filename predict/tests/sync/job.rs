//! What Jobs delete.

use super::{int, is, text, texts, told};
use podrank::{Flags, Phase, Pod, Time};
use podrank_laws::objects::list;
use podrank_laws::vectors::read;
use podrank_predict::Verdict::{Deleted, Kept, Possible};
use podrank_predict::sync::PodOutcome;
use podrank_predict::sync::job::{
    Completion, JobReason, JobState, NO_INDEX, State, completion_index, next_sync,
};
use serde_json::Value;

type Outcome = PodOutcome<JobReason>;

const NOW: Time = Time::from_unix(1_700_000_000, 0);

fn sync(job: &JobState, pods: &[Pod], indexes: &[i64]) -> (usize, Vec<Outcome>) {
    let sync = next_sync(job, NOW, pods, indexes);
    (sync.deleted, sync.outcomes)
}

const fn running(seconds: i64) -> Pod {
    Pod { phase: Phase::RUNNING, creation_time: Time::from_unix(seconds, 0), ..Pod::new() }
}

#[test]
fn how_long_a_deadline_is_away() {
    let job = JobState {
        active_deadline_seconds: Some(60),
        start_time: Time::from_unix(1_699_999_995, 0),
        ..JobState::default()
    };
    assert_eq!(job.deadline_left(NOW), Some(55_000_000_000));
    assert_eq!(job.deadline_left(Time::from_unix(1_700_000_100, 0)), Some(-45_000_000_000));
    assert_eq!(JobState { start_time: Time::UNSET, ..job }.deadline_left(NOW), Some(60_000_000_000));
    assert_eq!(job.deadline_left(Time::UNSET), None);
    assert_eq!(JobState { is_suspended: true, ..job }.deadline_left(NOW), None);
    assert_eq!(JobState { active_deadline_seconds: None, ..job }.deadline_left(NOW), None);
}

#[test]
fn wanted() {
    let job = |parallelism, completion, succeeded| JobState {
        parallelism,
        completion,
        succeeded,
        ..JobState::default()
    };
    for (job, wanted) in [
        (job(3, Completion::Any, 0), 3),
        (job(3, Completion::Any, 1), 9),
        (job(3, Completion::Count(10), 2), 3),
        (job(3, Completion::Count(4), 2), 2),
        (job(3, Completion::Count(2), 4), 0),
        (job(3, Completion::Indexed(4), 3), 1),
        (JobState { is_suspended: true, ..job(3, Completion::Count(5), 3) }, 0),
        (JobState { state: State::Ending, ..job(3, Completion::Count(5), 3) }, 0),
        // It wants what there is if it deletes no pod.
        (JobState { state: State::LeftAlone, ..job(3, Completion::Count(5), 3) }, 9),
        (JobState { is_being_deleted: true, ..job(3, Completion::Count(5), 3) }, 9),
    ] {
        let indexes: Vec<i64> = (0..9).collect();
        assert_eq!(next_sync(&job, NOW, &[running(0); 9], &indexes).wanted, wanted);
    }
}

/// At 500 the sync is cut: pods without index, duplicates by index, those beyond, and duplicates of the last index.
#[test]
fn cut() {
    let job = JobState { parallelism: 1000, completion: Completion::Indexed(10), ..JobState::default() };
    let indexes: Vec<i64> = [(-1, 100), (3, 101), (7, 201), (10, 150), (11, 150)]
        .into_iter()
        .flat_map(|(index, count)| vec![index; count])
        .collect();
    let pods: Vec<Pod> = (0..).zip(&indexes).map(|(n, _)| running(n)).collect();
    let (deleted, outcomes) = sync(&job, &pods, &indexes);
    assert_eq!(deleted, 500);
    for (index, outcome) in indexes.iter().zip(&outcomes) {
        let expected = match index {
            -1 => (Deleted, JobReason::NoIndex),
            3 if outcome.verdict == Deleted => (Deleted, JobReason::Duplicate),
            // The oldest stays.
            3 => (Kept, JobReason::Kept),
            10 | 11 => (Deleted, JobReason::BeyondCompletions),
            // 100 + 100 + 300 are 500.
            _ => {
                (Kept, if outcome.reason == JobReason::Kept { JobReason::Kept } else { JobReason::NextSync })
            }
        };
        assert_eq!((outcome.verdict, outcome.reason), expected, "{index}");
    }
    assert_eq!(outcomes.iter().filter(|outcome| outcome.reason == JobReason::Kept).count(), 2);
    // One more goes before them, so that one of those with index 11 has to wait, and which one is open.
    let (pods, indexes) = ([&[running(5)][..], &pods].concat(), [&[-1][..], &indexes].concat());
    let (_, outcomes) = sync(&job, &pods, &indexes);
    let contested: Vec<_> = outcomes.iter().filter(|outcome| outcome.verdict == Possible).collect();
    assert_eq!((contested.len(), contested[0].quota), (150, 149));
}

/// Of 800 pods with wrong indexes, 500 go. Those without an index come first, unless no pod has an index below the completions.
#[test]
fn which_wrong_indexes_go_first() {
    let pods: Vec<Pod> = (0..801).map(running).collect();
    let job = JobState { parallelism: 801, completion: Completion::Indexed(900), ..JobState::default() };
    let certain = |last: i64| {
        let index = |pod| match pod {
            0..400 => NO_INDEX,
            400..800 => 900,
            _ => last,
        };
        let indexes: Vec<i64> = (0..801).map(index).collect();
        let (_, outcomes) = sync(&job, &pods, &indexes);
        [0, 400].map(|first| outcomes[first..first + 400].iter().all(|pod| pod.verdict == Deleted))
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
        let job = JobState { parallelism, completion: Completion::Indexed(3), ..JobState::default() };
        let (deleted, outcomes) = sync(&job, &pods, &indexes);
        assert_eq!(deleted, 500);
        assert!(outcomes[3..].iter().all(|pod| (pod.verdict, pod.quota) == (Possible, 500)), "{parallelism}");
        assert!(outcomes[..3].iter().all(|pod| pod.verdict == Kept), "{parallelism}");
    }
}

/// The seconds in a field. If they are missing, the time is unset.
fn time(of: &Value, field: &str) -> Time {
    of[field].as_i64().map_or(Time::UNSET, |seconds| Time::from_unix(seconds, 0))
}

fn pod(of: &Value) -> Pod {
    let flags = Flags::NONE.with(Flags::ASSIGNED, is(of, "assigned"));
    Pod {
        phase: Phase::parse(text(of, "phase")).expect("a phase"),
        flags: flags.with(Flags::READY, of.get("ready").is_some()),
        ready_time: time(of, "ready"),
        creation_time: time(of, "created"),
        restarts: int(of, "restarts").unsigned_abs(),
        sidecar_restarts: int(of, "sidecarRestarts").unsigned_abs(),
        ..Pod::new()
    }
}

fn job(of: &Value) -> JobState {
    let states = [
        ("leftAlone", State::LeftAlone),
        ("ending", State::Ending),
        ("podFailurePolicy", State::PodFailurePolicy),
        ("successPolicy", State::SuccessPolicy),
    ];
    let state = states.into_iter().find(|(field, _)| is(of, field));
    let number = |field: &str| of.get(field).map(|_| int(of, field));
    JobState {
        parallelism: int(of, "parallelism"),
        completion: match number("completions") {
            Some(completions) if is(of, "indexed") => Completion::Indexed(completions),
            Some(completions) => Completion::Count(completions),
            None => Completion::Any,
        },
        succeeded: int(of, "succeeded"),
        is_suspended: is(of, "suspended"),
        state: state.map_or(State::Running, |(_, state)| state),
        is_being_deleted: is(of, "beingDeleted"),
        failed: int(of, "failed"),
        backoff_limit: number("backoffLimit").unwrap_or(6),
        restarts: int(of, "restarts"),
        active_deadline_seconds: of["activeDeadlineSeconds"].as_i64(),
        start_time: time(of, "startTime"),
        failed_indexes: int(of, "failedIndexes"),
        max_failed_indexes: number("maxFailedIndexes"),
    }
}

#[test]
fn vectors() {
    let file: Value = serde_json::from_str(&read("job.json")).expect("job.json");
    for case in list(&file["indexes"]) {
        assert_eq!(completion_index(text(case, "text")).to_string(), text(case, "index"), "{case}");
    }
    for case in list(&file["syncs"]) {
        let pods: Vec<_> = list(&case["pods"]).map(pod).collect();
        let index = |pod: &Value| pod["index"].as_str().map_or(NO_INDEX, completion_index);
        let indexes: Vec<_> = list(&case["pods"]).map(index).collect();
        let sync = next_sync(&job(case), time(case, "now"), &pods, &indexes);
        assert_eq!(told(&sync.outcomes, JobReason::name), texts(&case["outcomes"]), "{case}");
    }
    assert!(list(&file["syncs"]).count() >= 32);
}
