//! Which records the C functions for workloads' syncs refuse. What they refuse changes nothing. `ffi/check/vectors.c` runs the
//! vectors of Jobs and `DaemonSet`s.

use crate::promises::Call;
use podrank::controller::deployment::{Deployment, ReplicaSet};
use podrank::controller::stateful_set::{Member, MemberFlags, StatefulSet};
use podrank_ffi::*;
use podrank_through_c::deployment::{deployment, set};
use podrank_through_c::functions::{Buffer, Function, all};
use podrank_through_c::stateful_set::{member, stateful_set};
use std::fmt::Debug;

const MOST_PERCENT: i32 = 4_194_304;

fn function(name: &str) -> Function {
    all().into_iter().find(|function| function.name == name).expect(name)
}

/// Where the last element of a buffer starts.
fn last<'f, T>(function: &'f mut Function, name: &str) -> &'f mut [u8] {
    let is_it = |buffer: &&mut Buffer| buffer.name == name;
    let bytes = &mut function.buffers.iter_mut().find(is_it).expect(name).bytes;
    let start = bytes.len() - size_of::<T>();
    &mut bytes[start..]
}

/// The last element of a buffer in the table of functions, which is sound.
fn sound<T: Copy>(function_name: &str, buffer: &str) -> T {
    // SAFETY: plain integers, read unaligned.
    unsafe { last::<T>(&mut function(function_name), buffer).as_ptr().cast::<T>().read_unaligned() }
}

fn put<T>(function: &mut Function, buffer: &str, element: T) {
    // SAFETY: plain integers, written unaligned.
    unsafe { last::<T>(function, buffer).as_mut_ptr().cast::<T>().write_unaligned(element) };
}

fn status_of(function: &Function) -> i32 {
    let call = Call::new(function);
    let status = call.run(function);
    if status != PODRANK_OK {
        call.rejected(function, status, "an unsound record");
    }
    status
}

/// Calls with each of these as the last element of a buffer have these statuses.
fn answers<T: Copy + Debug>(name: &str, buffer: &str, cases: &[(T, i32)]) {
    for (element, expected) in cases {
        let mut function = function(name);
        put(&mut function, buffer, *element);
        assert_eq!(status_of(&function), *expected, "{element:?}");
    }
}

fn each_reserved_byte_must_be_0<T: Copy + Debug, const N: usize>(
    name: &str,
    buffer: &str,
    sound: T,
    reserved: fn(&mut T) -> &mut [u8; N],
) {
    let with = |byte: usize| {
        let mut bad = sound;
        reserved(&mut bad)[byte] = 1;
        (bad, PODRANK_ERR_RESERVED)
    };
    answers(name, buffer, &(0..N).map(with).collect::<Vec<_>>());
}

#[test]
fn jobs() {
    const NEXT: &str = "podrank_job_next";
    let job: podrank_job = sound(NEXT, "job");
    let unknown = 2 * PODRANK_JOB_MAX_FAILED_INDEXES;
    answers(
        NEXT,
        "job",
        &[
            (job, PODRANK_OK),
            (podrank_job { parallelism: -1, ..job }, PODRANK_ERR_NEGATIVE),
            (podrank_job { completions: i32::MIN, ..job }, PODRANK_ERR_NEGATIVE),
            (podrank_job { succeeded: -1, ..job }, PODRANK_ERR_NEGATIVE),
            (podrank_job { flags: 1 << 31, ..job }, PODRANK_ERR_FLAGS),
            (podrank_job { flags: unknown, ..job }, PODRANK_ERR_FLAGS),
            (podrank_job { flags: unknown - 1, ..job }, PODRANK_OK),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "job", job, |job| &mut job.reserved);
    // Only an Indexed Job reads the indexes.
    for (flags, expected) in [
        (PODRANK_JOB_COMPLETIONS, PODRANK_OK),
        (PODRANK_JOB_COMPLETIONS | PODRANK_JOB_INDEXED, PODRANK_ERR_SHORT_BUFFER),
    ] {
        let mut next = function(NEXT);
        put(&mut next, "job", podrank_job { flags, ..job });
        next.lens[1] = 0;
        assert_eq!(status_of(&next), expected);
    }
}

#[test]
fn daemon_sets() {
    const NEXT: &str = "podrank_daemon_set_next";
    let set = podrank_daemon_set { flags: 0, ..sound(NEXT, "set") };
    let (surge, unavailable) = (PODRANK_DAEMON_SET_SURGE_PERCENT, PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT);
    let more = MOST_PERCENT + 1;
    answers(
        NEXT,
        "set",
        &[
            (set, PODRANK_OK),
            (podrank_daemon_set { max_surge: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_daemon_set { max_unavailable: i32::MIN, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_daemon_set { flags: 2 * unavailable, ..set }, PODRANK_ERR_FLAGS),
            (podrank_daemon_set { flags: 2 * unavailable - 1, ..set }, PODRANK_OK),
            (podrank_daemon_set { flags: surge, max_surge: more, ..set }, PODRANK_ERR_PERCENT_RANGE),
            (podrank_daemon_set { flags: surge, max_surge: MOST_PERCENT, ..set }, PODRANK_OK),
            (
                podrank_daemon_set { flags: unavailable, max_unavailable: more, ..set },
                PODRANK_ERR_PERCENT_RANGE,
            ),
            (podrank_daemon_set { flags: unavailable, max_unavailable: MOST_PERCENT, ..set }, PODRANK_OK),
            (podrank_daemon_set { max_surge: more, max_unavailable: i32::MAX, ..set }, PODRANK_OK),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "set", set, |set| &mut set.reserved);

    let is_known = |bit: u8| 1 << bit <= PODRANK_DAEMON_SET_NODE_IN_BACKOFF;
    let node = |bit| {
        let expected = if is_known(bit) { PODRANK_OK } else { PODRANK_ERR_FLAGS };
        (sound::<u8>(NEXT, "nodes") | 1 << bit, expected)
    };
    answers(NEXT, "nodes", &(0..8).map(node).collect::<Vec<_>>());

    let pod: podrank_daemon_set_pod = sound(NEXT, "pods");
    let with = |flags| podrank_daemon_set_pod { flags, ..pod };
    answers(NEXT, "pods", &(0..8).map(|bit| (with(1 << bit), PODRANK_OK)).collect::<Vec<_>>());
    let on = |node| podrank_daemon_set_pod { node, ..pod };
    answers(
        NEXT,
        "pods",
        &[
            (with(PODRANK_DAEMON_SET_POD_SUCCEEDED | PODRANK_DAEMON_SET_POD_FAILED), PODRANK_ERR_FLAGS),
            // Of four nodes.
            (on(3), PODRANK_OK),
            (on(4), PODRANK_ERR_NODE),
            (on(PODRANK_NONE - 1), PODRANK_ERR_NODE),
            (on(PODRANK_NONE), PODRANK_OK),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "pods", pod, |pod| &mut pod.reserved);
}

#[test]
fn stateful_sets() {
    const NEXT: &str = "podrank_stateful_set_next";
    let (set, pod) = (stateful_set(&StatefulSet::default()), member(&Member::new(1, MemberFlags::READY)));
    answers(
        NEXT,
        "members",
        &[
            (pod, PODRANK_OK),
            (podrank_stateful_set_pod { ordinal: -1, ..pod }, PODRANK_ERR_NEGATIVE),
            (podrank_stateful_set_pod { flags: 64, ..pod }, PODRANK_ERR_FLAGS),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "members", pod, |pod| &mut pod.reserved);
    let both = PODRANK_STATEFUL_SET_ON_DELETE | PODRANK_STATEFUL_SET_RECREATE;
    let percent = podrank_stateful_set { flags: PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT, ..set };
    answers(
        NEXT,
        "set",
        &[
            (set, PODRANK_OK),
            (podrank_stateful_set { replicas: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_stateful_set { start: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_stateful_set { partition: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_stateful_set { max_unavailable: i32::MIN, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_stateful_set { flags: 128, ..set }, PODRANK_ERR_FLAGS),
            (podrank_stateful_set { flags: both, ..set }, PODRANK_ERR_FLAGS),
            (
                podrank_stateful_set { max_unavailable: MOST_PERCENT + 1, ..percent },
                PODRANK_ERR_PERCENT_RANGE,
            ),
            (podrank_stateful_set { max_unavailable: MOST_PERCENT, ..percent }, PODRANK_OK),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "set", set, |set| &mut set.reserved);
}

#[test]
fn deployments() {
    const NEXT: &str = "podrank_deployment_next";
    let (deployment, set) = (deployment(&Deployment::default()), set(&ReplicaSet::new()));
    let desired = |desired_replicas, flags| podrank_replica_set { desired_replicas, flags, ..set };
    answers(
        NEXT,
        "sets",
        &[
            (set, PODRANK_OK),
            (podrank_replica_set { replicas: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_replica_set { status_replicas: -1, ..set }, PODRANK_ERR_NEGATIVE),
            (podrank_replica_set { available_replicas: i32::MIN, ..set }, PODRANK_ERR_NEGATIVE),
            (
                podrank_replica_set { max_replicas: -1, flags: PODRANK_REPLICA_SET_MAX, ..set },
                PODRANK_ERR_NEGATIVE,
            ),
            (desired(-1, PODRANK_REPLICA_SET_DESIRED), PODRANK_ERR_NEGATIVE),
            (desired(-1, PODRANK_REPLICA_SET_DESIRED_LENIENT), PODRANK_OK),
            (podrank_replica_set { flags: 16, ..set }, PODRANK_ERR_FLAGS),
        ],
    );
    each_reserved_byte_must_be_0(NEXT, "sets", set, |set| &mut set.reserved);
    answers(
        NEXT,
        "deployment",
        &[
            (deployment, PODRANK_OK),
            (podrank_deployment { replicas: -1, ..deployment }, PODRANK_ERR_NEGATIVE),
            (podrank_deployment { status_replicas: -1, ..deployment }, PODRANK_ERR_NEGATIVE),
            (podrank_deployment { max_surge: -1, ..deployment }, PODRANK_ERR_NEGATIVE),
            (podrank_deployment { max_unavailable: -1, ..deployment }, PODRANK_ERR_NEGATIVE),
            (podrank_deployment { max_surge: MOST_PERCENT, ..deployment }, PODRANK_OK),
        ],
    );
    let with = |bit: u32| (podrank_deployment { flags: 1 << bit, ..deployment }, PODRANK_ERR_FLAGS);
    answers(NEXT, "deployment", &(7..32).map(with).collect::<Vec<_>>());
    each_reserved_byte_must_be_0(NEXT, "deployment", deployment, |deployment| &mut deployment.reserved);
    for percent in [
        podrank_deployment { max_surge: MOST_PERCENT + 1, ..deployment },
        podrank_deployment { max_unavailable: MOST_PERCENT + 1, ..deployment },
    ] {
        // A number of pods can be as large as it likes, and Recreate reads neither.
        let recreate = percent.flags | PODRANK_DEPLOYMENT_RECREATE;
        answers(
            NEXT,
            "deployment",
            &[
                (percent, PODRANK_ERR_PERCENT_RANGE),
                (podrank_deployment { flags: 0, ..percent }, PODRANK_OK),
                (podrank_deployment { flags: recreate, ..percent }, PODRANK_OK),
            ],
        );
    }
}
