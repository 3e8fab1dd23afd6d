//! Computes at which counts each pod is deleted. For sets, one sequence of groups answers for all counts. For other
//! kinds, each count is a decision of its own.

use crate::answer::{
    DeletionOrder, Note, NoteCode, OrderedGroup, OrderedPod, PodAnswer, PodGroup, Preview, Verdict, WaitsFor,
};
use crate::decide::{
    MOST_IN_ONE_SYNC, Scene, choose_workload, context, count, decision_times, direct, groups, lasting,
    preview_choice,
};
use crate::question::{Options, Order};
use crate::reason::{Comparison, RankedPod, Reason, chance};
use crate::snapshot::{Sets, Snapshot, Workload, WorkloadKind, WorkloadRef, to_time};
use crate::sync::stateful_set::MemberReason;
use crate::text::{self, Error, number};
use podrank::{Pod, Policy, Uid};
use std::collections::HashMap;

/// Computes at which counts each pod of a workload is deleted.
///
/// # Errors
/// As [`preview_workload`](crate::preview_workload), and for a workload without a count.
pub fn deletion_order<'a>(input: &'a Snapshot, options: &Options) -> Result<DeletionOrder<'a>, Error> {
    let mut order = without_context(input, options)?;
    context::add_to_order(&mut order, input, options);
    Ok(order)
}

/// Says it without what would interfere.
fn without_context<'a>(input: &'a Snapshot, options: &Options) -> Result<DeletionOrder<'a>, Error> {
    let as_it_is =
        Options { replicas: None, parallelism: None, completions: None, suspend: false, ..options.clone() };
    let sets = Sets::of(input);
    let choice = choose_workload(&sets, options)?;
    let mut now = preview_choice(&sets, choice, &as_it_is)?;
    let kind = now.workload.kind;
    if !kind.has_count() {
        return Err(count::none(choice));
    }
    let mut waits_down_to = None;
    let standings = if now.is_settled {
        let groups = now.groups.iter().filter(|group| group.is_new.is_none() || !group.pods.is_empty());
        groups.map(|group| settled(&now, group)).collect()
    } else if kind.is_direct() {
        let (pods, wait) = by_each_count(input, choice, &as_it_is, &now)?;
        if let Some((down_to, waits)) = wait {
            let to = if down_to == 0 { String::new() } else { format!(" to {down_to} or more") };
            let name = text::name(now.workload.name);
            let text = format!("a scale-down of {}/{name}{to} {waits}", kind.short());
            now.notes.push(Note::new(NoteCode::Continues, text));
            waits_down_to = Some(down_to);
        }
        vec![OrderedGroup { replica_set: None, is_new: None, pods }]
    } else {
        of_sets(&sets, &as_it_is, &now)?
    };
    Ok(DeletionOrder { now, waits_down_to, sets: standings })
}

/// Pods that go at every count, or at none.
fn settled<'a>(now: &Preview<'a>, group: &PodGroup<'a>) -> OrderedGroup<'a> {
    let present = now.size.replicas.or(now.size.parallelism);
    let standing = |(place, pod): (usize, &PodAnswer<'a>)| {
        OrderedPod::new(pod, place, present.filter(|_| pod.verdict == Verdict::Deleted))
    };
    let pods = (1..).zip(&group.pods).map(standing).collect();
    OrderedGroup { replica_set: group.replica_set, is_new: group.is_new, pods }
}

/// Says the same about one pod of a workload.
///
/// # Errors
/// As [`deletion_order`], and if the workload has no active pod of this name.
pub fn deletion_order_of_pod<'a>(
    input: &'a Snapshot,
    options: &Options,
    pod: &str,
) -> Result<DeletionOrder<'a>, Error> {
    let mut order = without_context(input, options)?;
    for set in &mut order.sets {
        set.pods.retain(|its| its.pod.name() == pod);
    }
    order.sets.retain(|set| !set.pods.is_empty());
    if order.sets.is_empty() {
        return Err(Error::new(format!(
            "{} is not an active pod of {}/{}",
            text::name(pod),
            order.now.workload.kind.short(),
            text::name(order.now.workload.name)
        )));
    }
    context::add_to_order(&mut order, input, options);
    Ok(order)
}

/// The options for this count.
pub(crate) fn at(options: &Options, kind: WorkloadKind, count: u32) -> Options {
    let is_job = kind == WorkloadKind::Job;
    let (replicas, parallelism) = ((!is_job).then_some(count), is_job.then_some(count));
    Options { replicas, parallelism, completions: None, suspend: false, ..options.clone() }
}

/// The sets of the workload that have pods. Only if it has one, and no rollout is under way, the counts are known.
fn of_sets<'a>(
    sets: &Sets<'a>,
    options: &Options,
    now: &Preview<'a>,
) -> Result<Vec<OrderedGroup<'a>>, Error> {
    let answers: HashMap<_, _> = now.pods().map(|pod| (pod.uid(), pod)).collect();
    let of_set = |kind, name, is_new, is_alone| {
        let id = WorkloadRef { kind, name, ..now.workload };
        let scene = Scene::read(sets, id)?;
        let pods = of_set(options, &answers, &scene.own, is_alone && !scene.is_idle());
        Ok(OrderedGroup { replica_set: Some(name), is_new, pods })
    };
    // If pods are deleted before the count changes, the controller counts ranks again until then.
    let is_at_rest = now.delete() == 0 && now.rollout.is_none_or(|rollout| !rollout.is_under_way);
    let WorkloadRef { kind, name, .. } = now.workload;
    if kind != WorkloadKind::Deployment {
        return Ok(vec![of_set(kind, name, None, is_at_rest)?]);
    }
    let used: Vec<_> = now.sets().iter().filter(|set| !set.pods.is_empty()).collect();
    let is_alone = is_at_rest && used.len() == 1;
    let of = |set: &&PodGroup<'a>| match set.replica_set {
        _ if set.is_settled => Some(Ok(settled(now, set))),
        Some(name) => Some(of_set(WorkloadKind::ReplicaSet, name, set.is_new, is_alone)),
        None => None,
    };
    used.iter().filter_map(of).collect()
}

/// The pods of one set. `has_counts` is false if other sets share its workload's count.
fn of_set<'a>(
    options: &Options,
    answers: &HashMap<Uid, &PodAnswer<'a>>,
    own: &[RankedPod<'a>],
    has_counts: bool,
) -> Vec<OrderedPod<'a>> {
    let records: Vec<_> = own.iter().map(|pod| pod.record).collect();
    let times = records.iter().flat_map(|pod| [pod.creation_time, pod.ready_time]);
    let policy = |now| Policy::at(to_time(now)).with_gates(options.gates);
    let groups = groups(policy(options.now), options.order, &records);
    let (line, at_now) = (groups.concat(), places(&groups, own.len()));
    let mut open = deletions(policy(options.now), options.order, &records);
    for at in decision_times(times, options) {
        for (all, here) in open.iter_mut().zip(deletions(policy(at), options.order, &records)) {
            *all = (all.0.min(here.0), all.1.max(here.1));
        }
    }
    let count =
        |deletions: usize| u32::try_from(own.len().checked_sub(deletions)?).ok().filter(|_| has_counts);
    let standing = |&index: &usize| {
        let (own_pod, (may, goes), (first, last)) = (own[index], open[index], at_now[index]);
        // The pod in the middle of those that are deleted later, or for a single one at the end, the one before it.
        let later = line.get(last + (line.len() - last) / 2);
        let before = first.checked_sub(2).filter(|_| first == last).map(|before| &line[before]);
        let reason = match later.or(before) {
            Some(other) => Comparison::new(policy(options.now), options.order, own_pod, own[*other])
                .map(Reason::Compared),
            None => (first == last).then_some(Reason::OnlyPod),
        };
        let now = *answers.get(&own_pod.pod.uid())?;
        Some(OrderedPod {
            pod: PodAnswer { rank: own_pod.record.rank, ..now.clone() },
            possible_at: count(may),
            deleted_at: count(goes),
            waits_for: None,
            reason,
            chance: (first < last).then_some(chance::BY_CHANCE),
            places: (first, last),
        })
    };
    line.iter().filter_map(standing).collect()
}

/// For each pod by index, the number of deletions from which it may go, and from which it certainly goes.
fn deletions(policy: Policy, order: Order, records: &[Pod]) -> Vec<(usize, usize)> {
    let mut deletions = places(&groups(policy, order, records), records.len());
    if order == Order::Kubernetes && records.len() > MOST_IN_ONE_SYNC {
        // In each sync after the first, the controller counts ranks again, so only the rules before the rank say which
        // pods it deletes.
        let lasting: Vec<_> = records.iter().map(lasting).collect();
        let later = places(&groups(policy, order, &lasting), records.len());
        for (here, later) in deletions.iter_mut().zip(later) {
            if here.0 > MOST_IN_ONE_SYNC {
                here.0 = later.0.max(MOST_IN_ONE_SYNC + 1);
            }
            if here.1 > MOST_IN_ONE_SYNC {
                here.1 = later.1;
            }
        }
    }
    deletions
}

/// For each pod by index, the places of its group in the line, the first and the last, from 1.
fn places(groups: &[Vec<usize>], pods: usize) -> Vec<(usize, usize)> {
    let mut places = vec![(0, 0); pods];
    let mut start = 0;
    for group in groups {
        let end = start + group.len();
        for &index in group {
            places[index] = (start + 1, end);
        }
        start = end;
    }
    places
}

/// The least count to which a scale-down waits, and for what: the pod that is waited for is deleted itself at lower ones.
type Wait = (u32, String);

/// The pods of a workload whose controller deletes pods itself, by its next sync at each count, and whether a scale-down waits. What
/// waits already is in the rest.
fn by_each_count<'a>(
    input: &'a Snapshot,
    entry: Workload<'a>,
    options: &Options,
    now: &Preview<'a>,
) -> Result<(Vec<OrderedPod<'a>>, Option<Wait>), Error> {
    let (own, gaps) = (entry.pods(input, &mut Vec::new())?, entry.gaps(input));
    let present = now.size.replicas.or(now.size.parallelism).unwrap_or(0);
    let most = present.min(number(now.active()));
    let least = most.saturating_sub(number(MOST_IN_ONE_SYNC));
    let new = |(place, pod)| OrderedPod { reason: None, ..OrderedPod::new(pod, place, None) };
    let mut pods: Vec<_> = (1..).zip(now.pods()).map(new).collect();
    let places: HashMap<_, _> = pods.iter().map(|pod| pod.pod.uid()).zip(0_usize..).collect();
    let is_said = now.rest.as_ref().is_some_and(|rest| rest.waits_for == Some(WaitsFor::Pods));
    let mut may_wait = now.size.replicas.is_some() && !is_said;
    let mut wait: Option<Wait> = None;
    for count in (least..=most).rev() {
        let (.., decision) =
            direct::decide(input, entry, &own, &at(options, entry.kind(), count), &mut gaps.clone())?;
        for pod in &decision.pods {
            let standing = &mut pods[places[&pod.uid()]];
            // Pods that only have other pods before them do not wait.
            if standing.waits_for.is_none() && pod.reason.rule() != Some(MemberReason::OneAtATime.name()) {
                standing.waits_for = pod.waits_for();
            }
            if pod.verdict != Verdict::Kept && standing.possible_at.is_none() {
                (standing.possible_at, standing.reason) = (Some(count), Some(pod.reason.clone()));
            }
            let goes = matches!(pod.verdict, Verdict::Deleted | Verdict::Waiting);
            standing.deleted_at = goes.then(|| standing.deleted_at.unwrap_or(count));
        }
        if may_wait && count < most {
            let goes = |pod: &PodAnswer<'_>| matches!(pod.verdict, Verdict::Deleted | Verdict::Possible);
            let first = decision.pods.iter().find_map(|pod| Some((pod.waits_for()?, &pod.reason)));
            let first = first.filter(|_| !decision.pods.iter().any(goes));
            may_wait = first.is_some();
            if let (Some((down_to, _)), true) = (&mut wait, may_wait) {
                *down_to = count;
            } else if let Some((pod, reason)) = first {
                wait = Some((count, format!("waits for {}: {}", text::name(&pod), reason.sentence())));
            }
        }
    }
    pods.sort_by_key(|pod| [pod.possible_at, pod.deleted_at].map(std::cmp::Reverse));
    Ok((pods, wait))
}
