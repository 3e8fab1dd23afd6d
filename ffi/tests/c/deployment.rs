//! The core's laws and vectors for Deployments, through the C functions.

use podrank::controller::deployment::Deployment;
use podrank_ffi::*;
use podrank_laws::deployment::{cases, list_order_is_nothing, sync_is_upstreams};
use podrank_laws::generate::config;
use podrank_laws::vectors;
use podrank_through_c::deployment::deployment;
use podrank_through_c::implementation::C;
use proptest::prelude::*;
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

#[test]
fn a_deployment_without_sets() {
    let record = podrank_deployment { replicas: 3, ..deployment(&Deployment::default()) };
    let mut step: podrank_deployment_step = unsafe { std::mem::zeroed() };
    let none = null::<podrank_replica_set>();
    let status = unsafe { podrank_deployment_next(&record, none, 0, null_mut(), 0, &raw mut step) };
    assert_eq!(status, PODRANK_OK);
    assert_eq!((step.new_set, step.creates, step.new_change.replicas), (PODRANK_NONE, 1, 3));
}
