//! The C functions as a Deployment's decisions, for the laws.

use crate::implementation::{C, canary, done};
use podrank::controller::deployment::{Budgets, Deployment, Path, Reason, ReplicaSet, SetFlags, Strategy};
use podrank::controller::{IntOrPercent, IntOrPercentError};
use podrank_ffi::*;
use podrank_laws::deployment::{Deployments, Effect, Outcome};

/// A set as C sees it.
pub fn set(set: &ReplicaSet) -> podrank_replica_set {
    podrank_replica_set {
        creation_time: set.creation_time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET),
        name_order: set.name_order,
        replicas: set.replicas,
        status_replicas: set.status_replicas,
        available_replicas: set.available_replicas,
        desired_replicas: set.desired_replicas,
        max_replicas: set.max_replicas,
        flags: set.flags.bits(),
        reserved: set.reserved,
    }
}

/// A Deployment as C sees it.
pub fn deployment(deployment: &Deployment) -> podrank_deployment {
    let percent = |percent: u32| i32::try_from(percent).unwrap();
    let (max_surge, max_unavailable, strategy_flags) = match deployment.strategy {
        Strategy::Recreate { old_pods_run: true } => {
            (0, 0, PODRANK_DEPLOYMENT_RECREATE | PODRANK_DEPLOYMENT_OLD_PODS_RUN)
        }
        Strategy::Recreate { old_pods_run: false } => (0, 0, PODRANK_DEPLOYMENT_RECREATE),
        Strategy::RollingUpdate { max_surge, max_unavailable } => {
            let budget = |budget, flag| match budget {
                IntOrPercent::Int(number) => (number, 0),
                IntOrPercent::Percent(number) => (percent(number), flag),
            };
            let (surge, surge_flag) = budget(max_surge, PODRANK_DEPLOYMENT_SURGE_PERCENT);
            let (unavailable, flag) = budget(max_unavailable, PODRANK_DEPLOYMENT_UNAVAILABLE_PERCENT);
            (surge, unavailable, surge_flag | flag)
        }
    };
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    podrank_deployment {
        replicas: deployment.replicas,
        status_replicas: deployment.status_replicas,
        max_surge,
        max_unavailable,
        flags: strategy_flags
            | flag(deployment.is_paused, PODRANK_DEPLOYMENT_PAUSED)
            | flag(deployment.is_being_deleted, PODRANK_DEPLOYMENT_BEING_DELETED)
            | flag(deployment.is_rolling_back, PODRANK_DEPLOYMENT_ROLLING_BACK),
        reserved: [0; 12],
    }
}

fn effect(change: &podrank_replica_set_change) -> Effect {
    assert_eq!(change.reserved, [0; 6]);
    assert!(change.annotates < 2);
    let reason = Reason::from_number(change.reason).unwrap();
    Effect { replicas: change.replicas, part: change.part, reason, annotates: change.annotates == 1 }
}

impl Deployments for C {
    fn next_sync(&self, subject: &Deployment, sets: &[ReplicaSet]) -> Outcome {
        let sets: Vec<_> = sets.iter().map(set).collect();
        let mut changes = vec![canary::<podrank_replica_set_change>(); sets.len()];
        let mut step = canary::<podrank_deployment_step>();
        let record = deployment(subject);
        done(unsafe {
            podrank_deployment_next(
                &record,
                sets.as_ptr(),
                sets.len(),
                changes.as_mut_ptr(),
                changes.len(),
                &raw mut step,
            )
        });
        assert_eq!(step.reserved, 0);
        let paths = [Path::Nothing, Path::Scale, Path::Roll, Path::Recreate, Path::Rollback];
        Outcome {
            path: paths.into_iter().find(|path| path.number() == step.path).unwrap(),
            budgets: Budgets { surge: step.surge, unavailable: step.unavailable },
            new_set: Some(step.new_set).filter(|index| *index != PODRANK_NONE),
            new: effect(&step.new_change),
            creates: [false, true][usize::from(step.creates)],
            goes_on: [false, true][usize::from(step.goes_on)],
            sets: changes.iter().map(effect).collect(),
        }
    }

    fn percent(&self, text: &[u8]) -> Result<u32, IntOrPercentError> {
        let mut percent = 77;
        let status = unsafe { podrank_percent_parse(text.as_ptr().cast(), text.len(), &raw mut percent) };
        let error = match status {
            PODRANK_OK => return Ok(percent),
            PODRANK_ERR_PERCENT_SIGN => IntOrPercentError::NoPercentSign,
            PODRANK_ERR_PERCENT_NO_DIGITS => IntOrPercentError::NoDigits,
            // Where the byte is, C does not say.
            PODRANK_ERR_PERCENT_DIGIT => IntOrPercentError::NotDigit(0),
            PODRANK_ERR_PERCENT_RANGE => IntOrPercentError::OutOfRange,
            status => panic!("{status}"),
        };
        assert_eq!(percent, 77);
        Err(error)
    }

    fn set_annotations(&self, record: &mut ReplicaSet, desired: &[u8], max: &[u8]) {
        let mut written = set(record);
        done(unsafe {
            podrank_replica_set_annotations(
                desired.as_ptr().cast(),
                desired.len(),
                max.as_ptr().cast(),
                max.len(),
                &raw mut written,
            )
        });
        record.desired_replicas = written.desired_replicas;
        record.max_replicas = written.max_replicas;
        record.flags = SetFlags::from_bits(written.flags);
        // Nothing else changes.
        assert_eq!(set(record).reserved, written.reserved);
        let others = |set: &podrank_replica_set| {
            let numbers = (set.replicas, set.status_replicas, set.available_replicas);
            (set.creation_time, set.name_order, numbers)
        };
        assert_eq!(others(&set(record)), others(&written));
    }
}
