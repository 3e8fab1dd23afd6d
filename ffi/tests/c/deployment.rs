//! The core's laws and vectors for Deployments, through the C functions, and what only the C functions reject.

use podrank::controller::deployment::{Deployment, Reason, ReplicaSet};
use podrank_ffi::*;
use podrank_laws::deployment::{cases, list_order_is_nothing, sync_is_upstreams};
use podrank_laws::generate::config;
use podrank_laws::vectors;
use podrank_through_c::deployment::{deployment, set};
use podrank_through_c::implementation::C;
use proptest::prelude::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn syncs((deployment, sets) in cases()) {
        sync_is_upstreams(&C, &deployment, &sets);
        let reversed: Vec<usize> = (0..sets.len()).rev().collect();
        list_order_is_nothing(&C, &deployment, &sets, &reversed);
    }
}

#[test]
fn vectors() {
    assert!(vectors::deployment::file().check(&C) > 120);
}

/// The status of a call with this Deployment and three sets, of which the last is this one.
fn status(deployment: &podrank_deployment, last: podrank_replica_set) -> i32 {
    let sets = [set(&ReplicaSet::new()), set(&ReplicaSet::new()), last];
    let mut changes =
        [podrank_replica_set_change { replicas: 77, part: 77, reason: 77, reserved: [77; 7] }; 3];
    let mut step = podrank_deployment_step {
        surge: 77,
        unavailable: 77,
        new_set: 77,
        path: 77,
        creates: 77,
        goes_on: 77,
        reserved: 77,
        new_change: changes[0],
    };
    let status = unsafe {
        podrank_deployment_next(deployment, sets.as_ptr(), 3, changes.as_mut_ptr(), 3, &raw mut step)
    };
    let is_written = [changes[0].replicas, changes[2].part, step.surge].iter().all(|number| *number != 77);
    let is_untouched =
        changes.iter().all(|change| change.replicas == 77 && change.reason == 77) && step.path == 77;
    assert!(if status == PODRANK_OK { is_written } else { is_untouched });
    status
}

#[test]
fn unsound_records_are_refused() {
    let (good, sound) = (deployment(&Deployment::default()), set(&ReplicaSet::new()));
    assert_eq!(status(&good, sound), PODRANK_OK);
    for bad in [
        podrank_replica_set { replicas: -1, ..sound },
        podrank_replica_set { status_replicas: -1, ..sound },
        podrank_replica_set { available_replicas: i32::MIN, ..sound },
        podrank_replica_set { max_replicas: -1, flags: PODRANK_REPLICA_SET_MAX, ..sound },
        podrank_replica_set { desired_replicas: -1, flags: PODRANK_REPLICA_SET_DESIRED, ..sound },
    ] {
        assert_eq!(status(&good, bad), PODRANK_ERR_NEGATIVE, "{bad:?}");
    }
    let lenient =
        podrank_replica_set { desired_replicas: -1, flags: PODRANK_REPLICA_SET_DESIRED_LENIENT, ..sound };
    assert_eq!(status(&good, lenient), PODRANK_OK);
    assert_eq!(status(&good, podrank_replica_set { flags: 16, ..sound }), PODRANK_ERR_FLAGS);
    let mut reserved = sound;
    reserved.reserved[14] = 1;
    assert_eq!(status(&good, reserved), PODRANK_ERR_RESERVED);

    for bad in [
        podrank_deployment { replicas: -1, ..good },
        podrank_deployment { status_replicas: -1, ..good },
        podrank_deployment { max_surge: -1, ..good },
        podrank_deployment { max_unavailable: -1, ..good },
    ] {
        assert_eq!(status(&bad, sound), PODRANK_ERR_NEGATIVE, "{bad:?}");
    }
    for bit in 7..32 {
        assert_eq!(
            status(&podrank_deployment { flags: 1 << bit, ..good }, sound),
            PODRANK_ERR_FLAGS,
            "{bit}"
        );
    }
    let mut reserved = good;
    reserved.reserved[11] = 1;
    assert_eq!(status(&reserved, sound), PODRANK_ERR_RESERVED);
    let most = 4_194_304;
    assert_eq!(status(&podrank_deployment { max_surge: most, ..good }, sound), PODRANK_OK);
    for percent in [
        podrank_deployment { max_surge: most + 1, ..good },
        podrank_deployment { max_unavailable: most + 1, ..good },
    ] {
        assert_eq!(status(&percent, sound), PODRANK_ERR_PERCENT_RANGE);
        // A number of pods can be as large as it likes, and Recreate reads neither.
        assert_eq!(status(&podrank_deployment { flags: 0, ..percent }, sound), PODRANK_OK);
        let flags = percent.flags | PODRANK_DEPLOYMENT_RECREATE;
        assert_eq!(status(&podrank_deployment { flags, ..percent }, sound), PODRANK_OK);
    }
}

#[test]
fn a_deployment_without_sets_and_reasons_in_words() {
    let record = podrank_deployment { replicas: 3, ..deployment(&Deployment::default()) };
    let mut step: podrank_deployment_step = unsafe { std::mem::zeroed() };
    let none = null::<podrank_replica_set>();
    let status = unsafe { podrank_deployment_next(&record, none, 0, null_mut(), 0, &raw mut step) };
    assert_eq!(status, PODRANK_OK);
    assert_eq!((step.new_set, step.creates, step.new_change.replicas), (PODRANK_NONE, 1, 3));

    for number in 0..=u8::MAX {
        let text = podrank_deployment_reason_str(number);
        let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        assert_eq!(name, Reason::from_number(number).map(Reason::name));
    }
}
