//! What Jobs delete: facts of Kubernetes' own tests, and a naive implementation of its code.

use podrank::controller::Verdict::{self, Contested, Delete, Keep};
use podrank::controller::job::{
    Completion, Job, JobError, NO_INDEX, Outcome, Reason, State, completion_index, next_sync,
    time_to_live_left,
};
use podrank::{Flags, Phase, Pod, Time, Uid};
use podrank_laws::generate::config;
use podrank_laws::job::sync_is_upstreams;
use proptest::prelude::*;
use proptest::sample::Index;

fn sync(job: &Job, pods: &[Pod], indexes: &[i64]) -> (u32, Vec<Outcome>) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(job, NOW, pods, indexes, &mut order, &mut outcomes).unwrap();
    (step.deleted, outcomes)
}

const NOW: Time = Time::from_unix(1_700_000_000, 0);

fn verdicts(outcomes: &[Outcome]) -> Vec<Verdict> {
    outcomes.iter().map(|outcome| outcome.verdict).collect()
}

const fn running(seconds: i64) -> Pod {
    Pod { phase: Phase::RUNNING, creation_time: Time::from_unix(seconds, 0), ..Pod::new() }
}

/// Upstream's `TestAppendDuplicatedIndexPodsForRemoval`: a phase and an index each, and what is removed.
#[test]
fn wrong_indexes_of_upstream() {
    let (p, r) = (Phase::PENDING, Phase::RUNNING);
    for (pods, removed) in [
        (vec![(p, NO_INDEX), (p, 2), (r, 5), (r, 6)], vec![0, 3]),
        (vec![(p, 5), (r, 0), (p, 3), (r, 0), (r, 3), (p, 0), (r, 6), (p, 6)], vec![1, 2, 5, 6, 7]),
        (vec![(p, NO_INDEX), (r, NO_INDEX), (r, -2), (p, 0), (p, 1), (p, 1), (r, 1)], vec![0, 1, 2, 4, 5]),
    ] {
        let job = Job { parallelism: 6, completion: Completion::Indexed(6), ..Job::default() };
        let indexes: Vec<i64> = pods.iter().map(|(_, index)| *index).collect();
        let pods: Vec<Pod> = pods.iter().map(|(phase, _)| Pod { phase: *phase, ..Pod::new() }).collect();
        let (deleted, outcomes) = sync(&job, &pods, &indexes);
        assert_eq!(deleted as usize, removed.len());
        // The two running pods of index 0 tie, so which of them goes is open.
        let certain: Vec<usize> = (0..pods.len()).filter(|pod| outcomes[*pod].verdict == Delete).collect();
        let contested: Vec<usize> =
            (0..pods.len()).filter(|pod| outcomes[*pod].verdict == Contested).collect();
        if contested.is_empty() {
            assert_eq!(certain, removed);
        } else {
            assert_eq!((certain, contested), (vec![2, 5, 6, 7], vec![1, 3]));
            assert_eq!((outcomes[1].quota, outcomes[1].group), (1, outcomes[3].group));
        }
    }
}

#[test]
fn all_go() {
    let pods = vec![running(0); 700];
    let suspended = Job { parallelism: 3, is_suspended: true, ..Job::default() };
    let ending = Job { state: State::Ending, is_being_deleted: true, ..suspended };
    for (job, reason) in [(suspended, Reason::Suspended), (ending, Reason::Ending)] {
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
        (Job { state: State::Ending, ..started }, Some(Reason::Ending)),
        (Job { state: State::PodFailurePolicy, ..started }, Some(Reason::PodFailurePolicy)),
        (Job { state: State::SuccessPolicy, ..started }, Some(Reason::SuccessPolicy)),
        (Job { failed: 6, ..started }, None),
        (Job { failed: 7, ..started }, Some(Reason::BackoffLimit)),
        (Job { restarts: 5, ..started }, None),
        (Job { restarts: 6, ..started }, Some(Reason::Restarts)),
        (unlimited, None),
        (Job { restarts: 1, ..unlimited }, Some(Reason::Restarts)),
        (late(59), None),
        (late(60), Some(Reason::Deadline)),
        (Job { is_suspended: true, ..late(60) }, None),
        (Job { active_deadline_seconds: None, ..late(60) }, None),
        // Without a start time, the Job starts now.
        (Job { start_time: Time::UNSET, ..started }, None),
        (
            Job { start_time: Time::UNSET, active_deadline_seconds: Some(0), ..started },
            Some(Reason::Deadline),
        ),
        // Kubernetes multiplies this by 10^9 in 64 bits, and gets a negative number.
        (Job { active_deadline_seconds: Some(10_000_000_000), ..started }, Some(Reason::Deadline)),
        (failed(2, Some(2)), None),
        (failed(3, Some(2)), Some(Reason::MaxFailedIndexes)),
        (failed(3, None), None),
        (failed(4, None), Some(Reason::FailedIndexes)),
        (Job { completion: Completion::Count(6), ..failed(6, Some(2)) }, None),
        (Job { state: State::LeftAlone, failed: 7, ..late(60) }, None),
    ] {
        assert_eq!(job.end(NOW), reason, "{job:?}");
        let pods = [running(0), running(1)];
        for is_being_deleted in [false, true] {
            let (deleted, outcomes) = sync(&Job { is_being_deleted, ..job }, &pods, &[0, 1]);
            let is_suspended = job.is_suspended && !is_being_deleted;
            let all = reason.or(is_suspended.then_some(Reason::Suspended));
            assert_eq!(deleted, if all.is_some() { 2 } else { 0 }, "{job:?}");
            assert!(outcomes.iter().all(|outcome| outcome.reason == all.unwrap_or_default()), "{job:?}");
        }
    }
}

/// Without a failed index, the Job completes once its pods are gone.
#[test]
fn no_index_has_failed() {
    let job = Job { completion: Completion::Indexed(6), succeeded: 6, ..Job::default() };
    assert_eq!(job.end(NOW), None);
    assert_eq!(Job { failed_indexes: 1, ..job }.end(NOW), Some(Reason::FailedIndexes));
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
    assert_eq!(ends, Reason::ALL[2..10]);
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
    assert_eq!((outcomes[501].verdict, outcomes[501].reason), (Keep, Reason::NextSync));
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
            -1 => (Delete, Reason::NoIndex),
            3 if outcome.verdict == Delete => (Delete, Reason::Duplicate),
            // The oldest stays.
            3 => (Keep, Reason::Kept),
            10 | 11 => (Delete, Reason::BeyondCompletions),
            // 100 + 100 + 300 are 500.
            _ => (Keep, if outcome.reason == Reason::Kept { Reason::Kept } else { Reason::NextSync }),
        };
        assert_eq!((outcome.verdict, outcome.reason), expected, "{index}");
    }
    assert_eq!(outcomes.iter().filter(|outcome| outcome.reason == Reason::Kept).count(), 2);
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

#[test]
fn time_to_live() {
    let at = |seconds| Time::from_unix(seconds, 0);
    assert_eq!(time_to_live_left(60, at(100), at(150)), Some(10_000_000_000));
    assert_eq!(time_to_live_left(0, at(100), at(150)), Some(-50_000_000_000));
    assert_eq!(time_to_live_left(60, Time::UNSET, at(150)), None);
    assert_eq!(time_to_live_left(i32::MAX, Time::MAX, Time::MIN), Some(i64::MAX));
    // Only the result is limited, not what it is made from.
    assert_eq!(time_to_live_left(-1, Time::MAX, Time::MIN), Some(i64::MAX));
    assert_eq!(
        time_to_live_left(1, Time::from_unix_nanos(-2), Time::MAX),
        Some(1_000_000_000 - 2 - i64::MAX)
    );
}

fn pod() -> impl Strategy<Value = Pod> {
    (0..3_u8, 0..4_u8, 0..3_i64, 0..2_i64, 0..2_u32).prop_map(|(phase, flags, ready, created, restarts)| {
        Pod {
            phase: Phase::from_ordinal(phase),
            flags: Flags::from_bits(flags),
            ready_time: if ready == 0 { Time::UNSET } else { Time::from_unix(ready, 0) },
            creation_time: Time::from_unix(created, 0),
            restarts,
            ..Pod::new()
        }
    })
}

/// Pods, many of which tie, with indexes. They differ in what the Job's order does not read.
fn pods() -> impl Strategy<Value = Vec<(Pod, i64)>> {
    let unread = (0..2_u32, -1..2_i32, 0..2_u16, 0..3_u8, any::<bool>());
    let each = prop::collection::vec((any::<Index>(), unread, -1..5_i64), 0..6);
    (prop::collection::vec(pod(), 1..4), 0..5_i64, each).prop_map(|(kinds, most, each)| {
        let pod = |(kind, (rank, deletion_cost, tier, uid, is_preferred), index): (Index, _, i64)| {
            let kind = kind.get(&kinds);
            let (uid, flags) = (Uid::from_bytes([uid; 16]), kind.flags.with(Flags::PREFERRED, is_preferred));
            (Pod { rank, deletion_cost, tier, uid, flags, ..*kind }, index.min(most))
        };
        each.into_iter().map(pod).collect()
    })
}

proptest! {
    #![proptest_config(config(8192))]

    #[test]
    fn every_list_order(
        pods in pods(),
        parallelism in 0..5_i32,
        completions in 0..5_i32,
        succeeded in 0..3_i32,
        mode in 0..3,
    ) {
        let completion = match mode {
            0 => Completion::Any,
            1 => Completion::Count(completions),
            _ => Completion::Indexed(completions),
        };
        let job = Job { parallelism, completion, succeeded, ..Job::default() };
        let (pods, indexes): (Vec<_>, Vec<_>) = pods.into_iter().unzip();
        sync_is_upstreams(&job, NOW, &pods, &indexes);
    }
}

proptest! {
    #![proptest_config(config(2048))]

    /// Half of the numbers end the Job.
    #[test]
    fn every_end(
        parallelism in 0..3_i32,
        mode in 0..3,
        succeeded in 0..4_i32,
        state in prop::sample::select(vec![
            State::Running, State::Running, State::Running, State::Ending, State::PodFailurePolicy, State::SuccessPolicy,
            State::LeftAlone,
        ]),
        flags in 0..16_u8,
        counts in (0..3_i32, 0..3_i32, 0..3_i32, 0..3_i32, prop::option::of(0..3_i32)),
        deadline in prop::option::of(prop_oneof![8 => 0..3_i64, 1 => any::<i64>()]),
        times in prop::array::uniform2(
            prop_oneof![8 => (0..3_i64).prop_map(|time| Time::from_unix(time, 0)), 1 => Just(Time::UNSET),
            1 => any::<i64>().prop_map(Time::from_unix_nanos)]),
    ) {
        let (failed, backoff_limit, restarts, failed_indexes, max_failed_indexes) = counts;
        let job = Job {
            parallelism,
            completion: match mode {
                0 => Completion::Any,
                1 => Completion::Count(3),
                _ => Completion::Indexed(3),
            },
            succeeded,
            is_suspended: flags % 4 == 0,
            state,
            is_being_deleted: flags / 4 == 0,
            failed: if flags & 1 == 0 { failed } else { 0 },
            backoff_limit,
            restarts: if flags & 2 == 0 { restarts } else { 0 },
            active_deadline_seconds: deadline,
            start_time: times[0],
            failed_indexes: if flags & 4 == 0 { failed_indexes } else { 0 },
            max_failed_indexes,
        };
        sync_is_upstreams(&job, times[1], &[running(0), running(1), running(1)], &[0, 1, 1]);
    }
}

#[derive(serde::Deserialize)]
struct File {
    indexes: Vec<Text>,
    syncs: Vec<Sync>,
}

#[derive(serde::Deserialize)]
struct Text {
    text: String,
    index: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sync {
    name: String,
    #[serde(default)]
    #[allow(dead_code)]
    source: String,
    parallelism: i32,
    completions: Option<i32>,
    #[serde(default)]
    succeeded: i32,
    #[serde(flatten)]
    flags: Flagged,
    #[serde(flatten)]
    limits: Limits,
    pods: Vec<JobPod>,
    outcomes: Vec<String>,
}

/// Of Kubernetes' fields, except that `now`, `startTime` are seconds.
#[derive(Default, serde::Deserialize)]
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

#[derive(Default, serde::Deserialize)]
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

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct JobPod {
    phase: String,
    assigned: bool,
    ready: Option<serde_json::Value>,
    restarts: u32,
    sidecar_restarts: u32,
    created: Option<i64>,
    index: Option<String>,
}

impl JobPod {
    fn record(&self) -> Pod {
        let flags = Flags::NONE.with(Flags::ASSIGNED, self.assigned).with(Flags::READY, self.ready.is_some());
        let time = |seconds: Option<i64>| seconds.map_or(Time::UNSET, |seconds| Time::from_unix(seconds, 0));
        Pod {
            phase: Phase::parse(&self.phase).unwrap(),
            flags,
            ready_time: time(self.ready.as_ref().and_then(serde_json::Value::as_i64)),
            creation_time: time(self.created),
            restarts: self.restarts,
            sidecar_restarts: self.sidecar_restarts,
            ..Pod::new()
        }
    }
}

/// An outcome as the vectors write it.
fn told(outcomes: &[Outcome]) -> Vec<String> {
    let mut groups = vec![];
    let tell = |outcome: &Outcome| match outcome.verdict {
        Contested => {
            let number = groups.iter().position(|group| *group == outcome.group).unwrap_or_else(|| {
                groups.push(outcome.group);
                groups.len() - 1
            });
            let name = char::from(b'a' + u8::try_from(number).unwrap());
            format!("contested {} {} of {name}", outcome.reason, outcome.quota)
        }
        Delete => format!("delete {}", outcome.reason),
        _ => format!("keep {}", outcome.reason),
    };
    outcomes.iter().map(tell).collect()
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

#[test]
fn a_short_slice_is_an_error_and_nothing_is_written() {
    let job = Job { completion: Completion::Indexed(2), ..Job::default() };
    let pods = [running(1), running(2)];
    let mut untouched = Outcome::default();
    untouched.group = 7;
    for (indexes, order, outcomes) in [(1, 2, 2), (2, 1, 2), (2, 2, 1)] {
        let (mut order, mut outcomes) = (vec![9; order], vec![untouched; outcomes]);
        let error = next_sync(&job, NOW, &pods, &[0, 1][..indexes], &mut order, &mut outcomes).unwrap_err();
        assert_eq!(error, JobError::ShortBuffer);
        assert!(order.iter().all(|slot| *slot == 9) && outcomes.iter().all(|slot| *slot == untouched));
    }
    for (error, text) in [
        (JobError::ShortBuffer, "a slice is shorter than the pods: make room for one element per pod"),
        (JobError::TooManyPods, "there are more than 4294967295 pods"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn vectors() {
    let file: File = serde_json::from_str(include_str!("../../tests/vectors/job.json")).unwrap();
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
        let pods: Vec<_> = case.pods.iter().map(JobPod::record).collect();
        let indexes: Vec<_> =
            case.pods.iter().map(|pod| pod.index.as_ref().map_or(NO_INDEX, completion_index)).collect();
        let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
        next_sync(&job, at(limits.now), &pods, &indexes, &mut order, &mut outcomes).unwrap();
        assert_eq!(told(&outcomes), case.outcomes, "{}", case.name);
    }
    assert!(file.syncs.len() >= 32, "{}", file.syncs.len());
}
