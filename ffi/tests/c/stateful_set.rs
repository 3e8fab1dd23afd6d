//! The core's vectors of `StatefulSet`s, through the C functions, and what C alone refuses.

use podrank::controller::stateful_set::{Member, MemberFlags, Reason, StatefulSet};
use podrank_ffi::*;
use podrank_laws::vectors::stateful_set::check_stateful_set;
use podrank_through_c::implementation::C;
use podrank_through_c::stateful_set::{member, stateful_set};
use std::ffi::CStr;
use std::ptr::null;

#[test]
fn vectors() {
    check_stateful_set(&C);
}

/// The status of a call with this set and two members, of which the last is this one.
fn status(set: *const podrank_stateful_set, last: podrank_stateful_set_pod) -> i32 {
    let members = [member(&Member::new(0, MemberFlags::NONE)), last];
    let canary = podrank_stateful_set_outcome {
        member: 77,
        by: 77,
        by_ordinal: 77,
        verdict: 77,
        reason: 77,
        reserved: [77; 2],
    };
    let mut outcomes = [canary; 2];
    let mut step = podrank_stateful_set_step { deleted: 77, contested: 77, blocked: 77, reserved: 77 };
    let status = unsafe {
        podrank_stateful_set_next(set, members.as_ptr(), 2, outcomes.as_mut_ptr(), 2, &raw mut step)
    };
    let is_written = outcomes[1].member != 77 && step.deleted != 77;
    let is_untouched = outcomes.iter().all(|outcome| outcome.member == 77) && step.deleted == 77;
    assert!(if status == PODRANK_OK { is_written } else { is_untouched });
    status
}

#[test]
fn unsound_records_are_refused() {
    let (good, sound) = (stateful_set(&StatefulSet::default()), member(&Member::new(1, MemberFlags::READY)));
    assert_eq!(status(&good, sound), PODRANK_OK);
    assert_eq!(status(null(), sound), PODRANK_ERR_NULL);
    assert_eq!(status(&good, podrank_stateful_set_pod { ordinal: -1, ..sound }), PODRANK_ERR_NEGATIVE);
    assert_eq!(status(&good, podrank_stateful_set_pod { flags: 64, ..sound }), PODRANK_ERR_FLAGS);
    assert_eq!(
        status(&good, podrank_stateful_set_pod { reserved: [0, 0, 1], ..sound }),
        PODRANK_ERR_RESERVED
    );
    let both = PODRANK_STATEFUL_SET_ON_DELETE | PODRANK_STATEFUL_SET_RECREATE;
    let percent = PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT;
    for (bad, expected) in [
        (podrank_stateful_set { replicas: -1, ..good }, PODRANK_ERR_NEGATIVE),
        (podrank_stateful_set { start: -1, ..good }, PODRANK_ERR_NEGATIVE),
        (podrank_stateful_set { partition: -1, ..good }, PODRANK_ERR_NEGATIVE),
        (podrank_stateful_set { max_unavailable: i32::MIN, ..good }, PODRANK_ERR_NEGATIVE),
        (podrank_stateful_set { flags: 128, ..good }, PODRANK_ERR_FLAGS),
        (podrank_stateful_set { flags: both, ..good }, PODRANK_ERR_FLAGS),
        (podrank_stateful_set { reserved: [1; 12], ..good }, PODRANK_ERR_RESERVED),
        (
            podrank_stateful_set { flags: percent, max_unavailable: 4_194_305, ..good },
            PODRANK_ERR_PERCENT_RANGE,
        ),
        (podrank_stateful_set { flags: percent, max_unavailable: 4_194_304, ..good }, PODRANK_OK),
    ] {
        assert_eq!(status(&bad, sound), expected, "{bad:?}");
    }
}

#[test]
fn reasons_have_names() {
    for number in 0..=u8::MAX {
        let text = podrank_stateful_set_reason_str(number);
        let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        assert_eq!(name, Reason::from_number(number).map(Reason::name));
    }
}
