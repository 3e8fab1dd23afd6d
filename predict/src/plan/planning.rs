//! From an input and a request to the plan. Reads only the input.

use crate::answer::{Note, NoteCode};
use crate::decide::{MOST_IN_ONE_SYNC, Member, Ranking, complete, members, notes, ranked};
use crate::plan::progress::state as current;
use crate::plan::{
    Chosen, Cluster, Plan, PlanRequest, PlanSize, PlannedNode, PlannedPod, PlannedSet, Preference, SetPlan,
    Shares, busy, choose, shares,
};
use crate::question::{Options, Order};
use crate::reason::RankedPod;
use crate::snapshot::{ReplicaSet, Sets, Snapshot, to_time};
use crate::text::{self, Error, ErrorKind};
use podrank::Policy;
use std::collections::HashSet;

/// The plan of a workload that already has the desired replica count, which deletes no pod in any state. `None` if it
/// has another count, or if pods are named.
///
/// # Errors
/// If the options do not name exactly one workload of the input, or if that workload is unsound.
pub fn nothing_to_do(input: &Snapshot, request: &PlanRequest) -> Result<Option<Plan>, Error> {
    let PlanSize::To(replicas) = request.count else { return Ok(None) };
    let state = current(input, &request.options)?;
    if state.replicas != replicas || !request.named.is_empty() {
        return Ok(None);
    }
    let is_at_work = state.lags || state.pods.len() != replicas as usize;
    let pods = text::count(state.pods.len(), "active pod");
    let text = format!("{} has {pods}, so its controllers are still working", state.target);
    let notes = is_at_work.then(|| Note::warning(NoteCode::ControllerBusy, text));
    Ok(Some(Plan {
        namespace: state.namespace,
        target: state.target,
        now: request.options.now,
        from: replicas,
        replicas,
        notes: notes.into_iter().collect(),
        left: replicas as usize,
        ..Plan::default()
    }))
}

/// Plans a scale-down of the workload that the request names.
///
/// # Errors
/// If a preference matches no pod, if no costs can make Kubernetes delete exactly the named pods, if the input is
/// incomplete, or if the workload's controllers are still busy. The text says what to do.
pub fn plan(input: &Snapshot, request: &PlanRequest) -> Result<Plan, Error> {
    let options = &request.options;
    if !options.gates.pod_deletion_cost {
        return Err(
            Error::new("deletion costs have no effect").because("The feature gate PodDeletionCost is off.")
        );
    }
    let sets = Sets::of(input);
    let chosen = choose(&sets, options)?;
    let mut notes = Vec::new();
    for set in chosen.sets.iter().filter(|_| chosen.is_rolling) {
        if let Some(lag) = complete::stale_status(&sets, set) {
            return Err(Error::new(lag.text).of_kind(ErrorKind::Busy));
        }
    }
    let members = chosen.sets.iter().map(|set| members_of(&sets, set, &mut notes));
    let members = members.collect::<Result<Vec<_>, _>>()?;
    let all: Vec<_> = members.iter().flat_map(|members| ranked(members)).collect();
    check_names(request, &chosen, &all)?;
    request.preferences.iter().try_for_each(|preference| preference.check(&chosen.target, &all))?;

    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let parts =
        chosen.sets.iter().zip(&members).map(|(set, members)| SetPlan::new(request, policy, set, members));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let busy: Vec<_> = all.iter().filter(|pod| request.is_busy(pod)).collect();
    let fewer = delete(request, &chosen, &parts, text::number(busy.len()))?;
    let replicas = u32::try_from(fewer).ok().and_then(|fewer| chosen.from.checked_sub(fewer));
    let replicas = replicas.ok_or_else(|| {
        let [pods, from] = [text::count(fewer, "pod"), text::count(chosen.from, "replica")];
        Error::new(format!("{pods} would be deleted, but {} has {from}", chosen.target))
            .advise("Wait for its rollout to end.")
    })?;
    let shares = match &*parts {
        [only] if !chosen.is_rolling => alone(only, policy, fewer, options),
        _ => shares(input, request, &chosen.target, &parts, replicas)?,
    };
    let (mut shrinking, mut pods, mut unsteerable) = (Vec::new(), Vec::new(), Vec::new());
    for (part, delete) in parts.iter().zip(&shares.delete) {
        shrinking.push(PlannedSet { replica_set: part.set.id().name.to_owned(), delete: *delete });
        part.check_blocked(*delete)?;
        notes.extend(notes_on_set(&sets, part, *delete));
        pods.extend(part.planned(*delete, &shares.default_verdict)?);
        unsteerable.extend(part.ahead(*delete));
    }
    notes.extend(shares.follows.map(|text| Note::new(NoteCode::Continues, text)));
    pods.sort_by_key(|pod| !pod.is_selected);
    let preferences = (0..).zip(&request.preferences);
    let preferences = preferences.filter_map(|(place, it)| Some((place, it.for_some()?)));
    let mut plan = Plan {
        namespace: chosen.sets.first().map_or_else(String::new, |set| set.meta.namespace.clone()),
        sets: shrinking,
        is_rollout: chosen.is_rolling,
        now: options.now,
        from: chosen.from,
        replicas,
        delete: shares.delete.iter().sum(),
        writes: pods.iter().filter(|pod| pod.write.is_some()).count(),
        nodes: request.empty_nodes().map(|cluster| outcome(cluster, &pods)),
        unsteerable,
        target: chosen.target,
        left: shares.left,
        preferences: preferences.collect(),
        pods,
        notes,
    };
    plan.notes.extend(notes_on_wishes(request, &plan, &all));
    keep_busy(request, &busy, plan)
}

/// Says by how many pods fewer the workload is scaled down because they are busy. An error if a busy pod would be deleted.
fn keep_busy(request: &PlanRequest, busy: &[&RankedPod<'_>], mut plan: Plan) -> Result<Plan, Error> {
    let selected: HashSet<_> = plan.selected().map(|selected| &*selected.uid).collect();
    let is_lost = |pod: &&&RankedPod<'_>| selected.contains(&*pod.pod.uid().to_string());
    if let Some(pod) = busy.iter().find(is_lost) {
        return Err(Error::new(format!("{} is busy, but would be deleted", text::name(pod.pod.name())))
            .because("You named it, or Kubernetes deletes it before idle pods, whatever its deletion cost.")
            .advise("Try again once it is idle, or leave out --only-idle."));
    }
    let busy = busy.len();
    if matches!(request.count, PlanSize::To(replicas) if (replicas as usize) < busy) {
        let [pods, is] = [text::count(busy, "pod"), text::is(busy).to_owned()];
        let text = format!("{pods} {is} busy, so {} scales to {busy}", plan.target);
        plan.notes.push(Note::new(NoteCode::Preference, text));
    }
    Ok(plan)
}

/// Adds the disruption budgets of an input, so that this plan and later ones say which of the pods that keep a node a
/// drain cannot move.
pub fn add_budgets(request: &mut PlanRequest, input: &Snapshot, plan: &mut Plan) {
    for preference in &mut request.preferences {
        if let Preference::EmptyNodes(cluster) = preference {
            cluster.add_budgets(input);
            plan.nodes = Some(outcome(cluster, &plan.pods));
        }
    }
}

/// Whether pods of other namespaces keep a node, so that the budgets there count.
pub fn keeps_others(request: &PlanRequest, plan: &Plan) -> bool {
    let kept = plan.nodes.iter().flatten().filter(|node| !node.becomes_empty);
    let kept: HashSet<_> = kept.map(|node| &*node.name).collect();
    let mut pods = request.empty_nodes().into_iter().flat_map(|cluster| &cluster.pods);
    pods.any(|pod| pod.meta.namespace != plan.namespace && pod.node().is_some_and(|node| kept.contains(node)))
}

/// The nodes of the selected pods, and whether each becomes empty.
fn outcome(cluster: &Cluster, pods: &[PlannedPod]) -> Vec<PlannedNode> {
    let goes = pods.iter().filter(|pod| pod.is_selected);
    cluster.outcome(goes.map(|pod| (&*pod.uid, pod.node.as_deref())))
}

/// The pods that a decision about a set reads. An error if the set has another number of pods than it should.
fn members_of<'a>(
    sets: &Sets<'a>,
    set: &'a ReplicaSet,
    notes: &mut Vec<Note>,
) -> Result<Vec<Member<'a>>, Error> {
    let id = set.id();
    if let Some(gap) = complete::gaps(sets, id).first() {
        return Err(Error::new(&gap.text).advise("Try again soon.").of_kind(ErrorKind::Busy));
    }
    let members = members(sets, id, notes)?;
    let (own, size) = (members.iter().filter(|member| member.is_own).count(), set.replicas());
    if u64::from(size) != own as u64 {
        let pods = text::count(own, "active pod");
        return Err(busy(&id, format!("{id} has {pods}, but its spec.replicas is {size}.")));
    }
    Ok(members)
}

/// The one set of a workload that is in no rollout loses all pods that go.
fn alone(part: &SetPlan<'_>, policy: Policy, delete: usize, options: &Options) -> Shares {
    let line = Ranking::up(Order::Kubernetes, policy, &part.own, delete, None);
    let pods = line.answers(&line.probabilities(options).unwrap_or_default()).into_iter();
    let default_verdict = pods.map(|pod| (pod.uid(), (pod.verdict, pod.probability))).collect();
    Shares { delete: vec![delete], default_verdict, left: part.own.len() - delete, follows: None }
}

/// Notes on the preferences that all pods match, and on those that not all selected pods match.
fn notes_on_wishes(request: &PlanRequest, plan: &Plan, own: &[RankedPod<'_>]) -> Vec<Note> {
    let idle = plan.preferences.iter().filter(|(place, _)| request.preferences[*place].selects_all(own));
    let idle = idle.map(|(_, preference)| {
        let text =
            format!("all active pods of {} match {preference}, so it makes no difference", plan.target);
        Note::new(NoteCode::Preference, text)
    });
    let unmet = plan.unmet(false).into_iter().map(|text| Note::warning(NoteCode::Preference, text));
    idle.chain(unmet).collect()
}

/// What a reader should know of the pods of a set, and of many deletions.
fn notes_on_set(sets: &Sets<'_>, part: &SetPlan<'_>, delete: usize) -> Vec<Note> {
    let invalid = notes::invalid_costs(part.own.iter().map(|pod| pod.pod));
    let mut notes: Vec<_> = notes::claims(sets, part.set).into_iter().chain(invalid).collect();
    if delete > MOST_IN_ONE_SYNC {
        notes.push(notes::several_syncs(delete, MOST_IN_ONE_SYNC));
    }
    notes
}

/// Returns an error if a name is not that of an active pod of the set.
fn check_names(request: &PlanRequest, chosen: &Chosen<'_>, own: &[RankedPod<'_>]) -> Result<(), Error> {
    let is_own = |name: &&String| own.iter().any(|pod| pod.pod.name() == **name);
    let strangers: Vec<_> = request.named.iter().filter(|name| !is_own(name)).collect();
    if strangers.is_empty() {
        return Ok(());
    }
    let verb = if strangers.len() == 1 { "is not an active pod" } else { "are not active pods" };
    let place = match &*chosen.sets {
        [only] => only.id().to_string(),
        _ => chosen.target.to_string(),
    };
    Err(Error::new(format!("{} {verb} of {place}", text::list(&strangers))))
}

/// How many pods go.
fn delete(
    request: &PlanRequest,
    chosen: &Chosen<'_>,
    parts: &[SetPlan<'_>],
    busy: u32,
) -> Result<usize, Error> {
    let desired = match request.count {
        PlanSize::To(replicas) => replicas,
        PlanSize::AllButNamed => return Ok(request.named.len()),
        PlanSize::AllButNamedAndAhead => return Ok(parts.iter().map(SetPlan::ahead_of_named).sum()),
    };
    let (target, from) = (&chosen.target, text::count(chosen.from, "replica"));
    if desired < busy && busy >= chosen.from {
        let all: usize = parts.iter().map(|part| part.own.len()).sum();
        let none = match busy as usize {
            busy if busy == all => format!("no pod of {target} is idle"),
            busy => format!("{busy} of the {all} pods of {target} {} busy", text::is(busy)),
        };
        return Err(Error::new(none)
            .because("With --only-idle, podrank deletes no busy pod.")
            .advise("Try again later, or leave out --only-idle."));
    }
    let replicas = desired.max(busy);
    let Some(delete) = chosen.from.checked_sub(replicas) else {
        return Err(Error::new("podrank only scales down")
            .because(format!("{target} has {from}, so {replicas} would scale it up."))
            .advise("Use kubectl scale."));
    };
    let named = text::count(request.named.len(), "pod");
    match delete as usize {
        0 => {
            let are = text::is(request.named.len());
            Err(Error::new(format!("{named} {are} named, but none would be deleted"))
                .because(format!("{target} already has {from}."))
                .advise("Lower --replicas."))
        }
        // In a rollout, more pods may go than the count falls: each set's share is checked.
        delete if request.named.len() > delete && !chosen.is_rolling => {
            let is = text::is(delete);
            Err(Error::new(format!("{named} are named, but only {delete} {is} deleted"))
                .advise("Lower --replicas, or name fewer."))
        }
        delete => Ok(delete),
    }
}
