//! A `StatefulSet`'s next sync, written a second time as Kubernetes' code goes: over a list of slots, pod by pod.

use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{
    Member, MemberFlags, Outcome, PodManagement, Reason, StatefulSet, Step, TooFewOutcomes, Update, Verdict,
    next_sync, ordinal,
};
use std::collections::BTreeSet;

/// An implementation of the decisions: the core's, or C's.
pub trait StatefulSets {
    /// Does what [`ordinal`] does.
    fn ordinal(&self, set: &str, pod: &str) -> Option<i32>;
    /// Does what [`next_sync`] does, with enough outcomes.
    fn next_sync(&self, set: &StatefulSet, members: &[Member]) -> (Step, Vec<Outcome>);
}

impl StatefulSets for crate::Core {
    fn ordinal(&self, set: &str, pod: &str) -> Option<i32> {
        ordinal(set, pod)
    }

    fn next_sync(&self, set: &StatefulSet, members: &[Member]) -> (Step, Vec<Outcome>) {
        let mut outcomes = vec![Outcome::default(); members.len()];
        if let Some((_, short)) = outcomes.split_first_mut() {
            assert_eq!(next_sync(set, members, short), Err(TooFewOutcomes));
        }
        let step = next_sync(set, members, &mut outcomes).expect("there are as many outcomes");
        (step, outcomes)
    }
}

/// The most slots that the naive implementation makes.
pub const MOST_REPLICAS: i32 = 64;

/// The ordinals of the pods that Kubernetes deletes, by its own steps. Without two pods of one ordinal.
fn deleted(set: &StatefulSet, members: &[Member]) -> BTreeSet<i32> {
    let is = |member: Member, flag| member.flags.contains(flag);
    let is_terminating = |member| is(member, MemberFlags::TERMINATING);
    let is_old = |member| !is(member, MemberFlags::UPDATED);
    let is_available = |member| is(member, MemberFlags::AVAILABLE);
    let is_unavailable = |member| !is_available(member) || is_terminating(member);
    let is_running = |member| is(member, MemberFlags::RUNNING) && !is(member, MemberFlags::FINISHED);
    let is_running_and_ready = |member| is_running(member) && is(member, MemberFlags::READY);
    let mut gone = BTreeSet::new();

    let is_recreate = set.update == Update::Recreate;
    if is_recreate && !set.recreate_gate || set.is_being_deleted {
        return gone;
    }
    let mut slots = vec![None; usize::try_from(set.replicas).expect("not negative")];
    let mut condemned = Vec::new();
    for member in members.iter().copied() {
        let index = i64::from(member.ordinal) - i64::from(set.start);
        let slot = usize::try_from(index).ok().and_then(|index| slots.get_mut(index));
        match slot {
            Some(slot) => *slot = Some(member),
            None => condemned.push(member),
        }
    }
    condemned.sort_by_key(|member| -i64::from(member.ordinal));
    let pods = slots.iter().flatten().chain(condemned.iter().rev()).copied();
    // A pod that is missing in the range is made, and comes first.
    let first_unavailable = pods.clone().find(|pod| is_unavailable(*pod)).map(|pod| pod.ordinal);
    let first_unavailable = first_unavailable.filter(|_| slots.iter().all(Option::is_some));

    if is_recreate {
        let old: Vec<_> = pods.filter(|pod| is_old(*pod)).collect();
        gone.extend(old.iter().filter(|pod| !is_terminating(**pod)).map(|pod| pod.ordinal));
        if !old.is_empty() {
            return gone;
        }
    }
    let is_ordered = set.management == PodManagement::OrderedReady;
    for slot in &slots {
        let stops = match *slot {
            None => true,
            Some(pod) if is(pod, MemberFlags::FINISHED) => {
                if !is_terminating(pod) {
                    gone.insert(pod.ordinal);
                }
                true
            }
            Some(pod) => is_terminating(pod) || !is_running_and_ready(pod) || !is_available(pod),
        };
        if stops && is_ordered {
            return gone;
        }
    }
    for pod in condemned {
        if is_terminating(pod) {
            if is_ordered {
                return gone;
            }
            continue;
        }
        let is_healthy = is_running_and_ready(pod) && is_available(pod);
        if is_ordered && !is_healthy && first_unavailable != Some(pod.ordinal) {
            return gone;
        }
        gone.insert(pod.ordinal);
        if is_ordered {
            return gone;
        }
    }
    let Update::RollingUpdate { partition, max_unavailable } = set.update else { return gone };
    let lowest = usize::try_from(partition).expect("not negative");
    let from_top = || slots.iter().enumerate().skip(lowest).rev().map(|(_, slot)| *slot);
    if !set.max_unavailable_gate {
        for slot in from_top() {
            // A pod that is made in this sync is of the new revision.
            let Some(pod) = slot else { return gone };
            if is_old(pod) && !is_terminating(pod) {
                gone.insert(pod.ordinal);
                return gone;
            }
            if is_unavailable(pod) {
                return gone;
            }
        }
        return gone;
    }
    let most = match max_unavailable {
        IntOrPercent::Int(number) => i64::from(number),
        IntOrPercent::Percent(percent) => i64::from(percent) * i64::from(set.replicas) / 100,
    };
    let unavailable = slots.iter().filter(|slot| slot.is_none_or(is_unavailable)).count();
    let mut budget = most.max(1) - i64::try_from(unavailable).expect("few slots");
    if !is_ordered {
        let broken =
            from_top().flatten().filter(|pod| is_old(*pod) && !is_available(*pod) && !is_terminating(*pod));
        gone.extend(broken.map(|pod| pod.ordinal));
    }
    for pod in from_top().flatten().filter(|pod| is_old(*pod) && !is_unavailable(*pod)) {
        if budget <= 0 {
            break;
        }
        budget -= 1;
        gone.insert(pod.ordinal);
    }
    gone
}

/// What goes is what the naive implementation says, and what waits names a pod that could go on.
pub fn sync_is_upstreams(implementation: &impl StatefulSets, set: &StatefulSet, members: &[Member]) {
    let (step, outcomes) = implementation.next_sync(set, members);
    let at = |outcome: &Outcome| members[outcome.member as usize];
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let counts = [step.delete, step.contested, step.blocked].map(|count| count as usize);
    assert_eq!(counts, [Verdict::Delete, Verdict::Contested, Verdict::Blocked].map(count));
    assert!(outcomes.is_sorted_by_key(|outcome| -i64::from(at(outcome).ordinal)), "{outcomes:?}");
    let mut ordinals = BTreeSet::new();
    let has_twins = !members.iter().all(|member| ordinals.insert(member.ordinal));
    if has_twins {
        return;
    }
    assert_eq!(step.contested, 0, "{set:?} {members:?}");
    let gone: BTreeSet<_> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::Delete)
        .map(|outcome| at(outcome).ordinal)
        .collect();
    assert_eq!(gone, deleted(set, members), "{set:?} {members:?}");
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Blocked) {
        let by = members.get(outcome.by as usize);
        assert_eq!(by.map_or(outcome.by_ordinal, |by| by.ordinal), outcome.by_ordinal, "{outcomes:?}");
        let is = |flag| by.is_some_and(|by| by.flags.contains(flag));
        let is_so = match outcome.reason {
            Reason::WaitsForMissing => by.is_none() && !ordinals.contains(&outcome.by_ordinal),
            Reason::WaitsForFinished => is(MemberFlags::FINISHED),
            Reason::WaitsForTermination => is(MemberFlags::TERMINATING),
            Reason::WaitsForRunning => !is(MemberFlags::RUNNING),
            Reason::WaitsForReady => !is(MemberFlags::READY),
            Reason::WaitsForAvailable | Reason::WaitsForEither => {
                !is(MemberFlags::AVAILABLE) || is(MemberFlags::TERMINATING)
            }
            // One that goes itself, or that is gone from the budget.
            Reason::OneAtATime | Reason::AfterScaling | Reason::Budget | Reason::AfterRecreate => true,
            other => panic!("{other} does not block"),
        };
        assert!(is_so, "{outcome:?} {set:?} {members:?}");
    }
}
