//! The C functions as a `StatefulSet`'s decisions, for the laws.

use crate::implementation::{C, canary, done};
use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    Member, NO_MEMBER, Outcome, PodManagement, StatefulSet, Step, Update, next_sync,
};
use podrank_ffi::*;
use podrank_laws::stateful_set::StatefulSets;

/// A `StatefulSet` as C sees it.
pub fn stateful_set(set: &StatefulSet) -> podrank_stateful_set {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let (partition, max_unavailable, strategy) = match set.update {
        Update::RollingUpdate { partition, max_unavailable: IntOrPercent::Int(number) } => {
            (partition, number, 0)
        }
        Update::RollingUpdate { partition, max_unavailable: IntOrPercent::Percent(percent) } => {
            (partition, percent.cast_signed(), PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT)
        }
        Update::OnDelete => (0, 0, PODRANK_STATEFUL_SET_ON_DELETE),
        Update::Recreate => (0, 0, PODRANK_STATEFUL_SET_RECREATE),
    };
    podrank_stateful_set {
        replicas: set.replicas,
        start: set.start,
        partition,
        max_unavailable,
        flags: strategy
            | flag(set.management == PodManagement::Parallel, PODRANK_STATEFUL_SET_PARALLEL)
            | flag(set.is_being_deleted, PODRANK_STATEFUL_SET_BEING_DELETED)
            | flag(!set.max_unavailable_gate, PODRANK_STATEFUL_SET_NO_MAX_UNAVAILABLE)
            | flag(set.recreate_gate, PODRANK_STATEFUL_SET_RECREATE_GATE),
        reserved: [0; 12],
    }
}

/// A member as C sees it.
pub fn member(member: &Member) -> podrank_stateful_set_pod {
    podrank_stateful_set_pod {
        ordinal: member.ordinal,
        flags: member.flags.bits(),
        reserved: member.reserved,
    }
}

impl StatefulSets for C {
    fn ordinal(&self, set: &str, pod: &str) -> Option<i32> {
        let mut ordinal = 77;
        done(unsafe {
            podrank_stateful_set_ordinal(
                set.as_ptr().cast(),
                set.len(),
                pod.as_ptr().cast(),
                pod.len(),
                &raw mut ordinal,
            )
        });
        Some(ordinal).filter(|ordinal| *ordinal != -1)
    }

    fn next_sync(&self, set: &StatefulSet, members: &[Member]) -> (Step, Vec<Outcome>) {
        let records: Vec<_> = members.iter().map(member).collect();
        let mut found = vec![canary::<podrank_stateful_set_outcome>(); members.len()];
        let mut step = canary::<podrank_stateful_set_step>();
        let record = stateful_set(set);
        done(unsafe {
            podrank_stateful_set_next(
                &record,
                records.as_ptr(),
                records.len(),
                found.as_mut_ptr(),
                found.len(),
                &raw mut step,
            )
        });
        assert_eq!((step.reserved, PODRANK_NONE), (0, NO_MEMBER));
        // The outcomes have private fields: those of the core, if C says the same.
        let mut outcomes = vec![Outcome::default(); members.len()];
        next_sync(set, members, &mut outcomes).unwrap();
        for (found, outcome) in found.iter().zip(&outcomes) {
            let numbers = (outcome.member, outcome.by, outcome.by_ordinal);
            assert_eq!((found.member, found.by, found.by_ordinal), numbers);
            assert_eq!((found.verdict, found.reason), (outcome.verdict.number(), outcome.reason.number()));
            assert_eq!(found.reserved, [0; 2]);
        }
        (Step { delete: step.deleted, contested: step.contested, blocked: step.blocked }, outcomes)
    }
}
