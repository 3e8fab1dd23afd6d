//! What the C function for a `DaemonSet`'s sync refuses, and the names of its reasons. `ffi/check/vectors.c` runs the vectors.

use podrank::controller::daemon_set::Reason;
use podrank_ffi::*;
use std::ffi::CStr;
use std::ptr::null;

const GOOD: podrank_daemon_set =
    podrank_daemon_set { max_surge: 0, max_unavailable: 1, flags: 0, reserved: [0; 20] };
const NODE: u8 =
    PODRANK_DAEMON_SET_NODE_EXISTS | PODRANK_DAEMON_SET_NODE_MAY_START | PODRANK_DAEMON_SET_NODE_MAY_KEEP;
const POD: podrank_daemon_set_pod = podrank_daemon_set_pod {
    creation_time: 5,
    name_order: 0,
    node: 0,
    flags: PODRANK_DAEMON_SET_POD_ASSIGNED,
    reserved: [0; 7],
};

/// The status of a call with this set, two nodes of which the last is this one, and two pods, likewise.
fn status(set: *const podrank_daemon_set, node: u8, pod: podrank_daemon_set_pod) -> i32 {
    let canary = podrank_outcome { group: 77, quota: 77, verdict: 77, reason: 77, reserved: [77; 2] };
    let (mut order, mut outcomes) = ([77; 2], [canary; 2]);
    let mut step = podrank_daemon_set_step {
        surge: 77,
        unavailable: 77,
        wanted: 77,
        used: 77,
        available: 77,
        deleted: 77,
        creates: 77,
        later: 77,
        blocked_by: 77,
        is_update: 77,
        reserved: [77; 3],
    };
    let status = unsafe {
        podrank_daemon_set_next(
            set,
            [NODE, node].as_ptr(),
            2,
            [POD, podrank_daemon_set_pod { name_order: 1, ..pod }].as_ptr(),
            2,
            order.as_mut_ptr(),
            2,
            outcomes.as_mut_ptr(),
            2,
            &raw mut step,
        )
    };
    let is_written = outcomes.iter().all(|outcome| outcome.verdict != 77) && step.deleted != 77;
    let is_untouched = outcomes.iter().all(|outcome| outcome.verdict == 77) && step.deleted == 77;
    assert!(if status == PODRANK_OK { is_written } else { is_untouched });
    status
}

#[test]
fn unsound_sets_are_refused() {
    assert_eq!(status(&GOOD, NODE, POD), PODRANK_OK);
    assert_eq!(status(null(), NODE, POD), PODRANK_ERR_NULL);
    let (surge, unavailable) = (PODRANK_DAEMON_SET_SURGE_PERCENT, PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT);
    for (bad, expected) in [
        (podrank_daemon_set { max_surge: -1, ..GOOD }, PODRANK_ERR_NEGATIVE),
        (podrank_daemon_set { max_unavailable: i32::MIN, ..GOOD }, PODRANK_ERR_NEGATIVE),
        (podrank_daemon_set { flags: 2 * unavailable, ..GOOD }, PODRANK_ERR_FLAGS),
        (podrank_daemon_set { flags: 2 * unavailable - 1, ..GOOD }, PODRANK_OK),
        (podrank_daemon_set { flags: surge, max_surge: 4_194_305, ..GOOD }, PODRANK_ERR_PERCENT_RANGE),
        (podrank_daemon_set { flags: surge, max_surge: 4_194_304, ..GOOD }, PODRANK_OK),
        (
            podrank_daemon_set { flags: unavailable, max_unavailable: 4_194_305, ..GOOD },
            PODRANK_ERR_PERCENT_RANGE,
        ),
        (podrank_daemon_set { flags: unavailable, max_unavailable: 4_194_304, ..GOOD }, PODRANK_OK),
        (podrank_daemon_set { max_surge: 4_194_305, max_unavailable: i32::MAX, ..GOOD }, PODRANK_OK),
    ] {
        assert_eq!(status(&bad, NODE, POD), expected, "{bad:?}");
    }
    for byte in 0..GOOD.reserved.len() {
        let mut bad = GOOD;
        bad.reserved[byte] = 1;
        assert_eq!(status(&bad, NODE, POD), PODRANK_ERR_RESERVED, "{byte}");
    }
}

#[test]
fn unsound_nodes_and_pods_are_refused() {
    for bit in 0..8 {
        let expected =
            if 1 << bit > PODRANK_DAEMON_SET_NODE_IN_BACKOFF { PODRANK_ERR_FLAGS } else { PODRANK_OK };
        assert_eq!(status(&GOOD, NODE | 1 << bit, POD), expected, "{bit}");
        assert_eq!(
            status(&GOOD, NODE, podrank_daemon_set_pod { flags: 1 << bit, ..POD }),
            PODRANK_OK,
            "{bit}"
        );
    }
    let ended = PODRANK_DAEMON_SET_POD_SUCCEEDED | PODRANK_DAEMON_SET_POD_FAILED;
    assert_eq!(status(&GOOD, NODE, podrank_daemon_set_pod { flags: ended, ..POD }), PODRANK_ERR_FLAGS);
    for byte in 0..POD.reserved.len() {
        let mut bad = POD;
        bad.reserved[byte] = 1;
        assert_eq!(status(&GOOD, NODE, bad), PODRANK_ERR_RESERVED, "{byte}");
    }
    for (node, expected) in [
        (1, PODRANK_OK),
        (2, PODRANK_ERR_NODE),
        (PODRANK_NONE - 1, PODRANK_ERR_NODE),
        (PODRANK_NONE, PODRANK_OK),
    ] {
        assert_eq!(status(&GOOD, NODE, podrank_daemon_set_pod { node, ..POD }), expected, "{node}");
    }
}

#[test]
fn reasons_have_names() {
    for number in 0..=u8::MAX {
        let text = podrank_daemon_set_reason_str(number);
        let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        assert_eq!(name, Reason::from_number(number).map(Reason::name));
    }
}
