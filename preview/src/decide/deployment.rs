//! The preview of a Deployment: what its next sync does to its sets, and which pods each set then loses.

use crate::answer::note::Note;
use crate::answer::preview::{Asked, Pods, Preview, Rollout, SetPreview, Verdict};
use crate::answer::set_why::set_why;
use crate::ask::gates;
use crate::ask::options::{Options, Order};
use crate::decide::end::{self, Actor, End, path_name};
use crate::decide::next::{Next, what_is_next};
use crate::decide::race::Race;
use crate::decide::set::{Scene, SetDecision, decide_set};
use crate::decide::{complete, notes};
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::deployment::{DeploymentEntry, DeploymentSpec, SetState};
use crate::object::set::SetEntry;
use crate::object::workload::WorkloadKind;
use crate::words::error::{Error, not_negative};
use podrank::controller::deployment::{
    Change, Deployment, Reason, ReplicaSet, SetFlags, Step, Strategy, next_sync,
};

/// One of the Deployment's sets.
struct Own<'a> {
    entry: &'a SetEntry,
    state: &'a SetState,
}

pub(crate) fn preview_deployment<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    entry: &'a DeploymentEntry,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let spec = entry.spec()?;
    let own = own_sets(sets, entry, spec)?;
    let deployment = Deployment { replicas: replicas(entry, spec, options)?, ..spec.deployment };
    let records = records(spec, &own);
    let (deployment, step, changes) = next_step(sets, deployment, &records, &own);
    let states: Vec<_> = own.iter().map(|own| (own.entry.id(), own.state)).collect();
    let gaps = gaps(sets, entry, spec, &own)?;
    if !gaps.is_empty() && options.order == Order::Kubernetes && !options.accepts_gaps() {
        return Err(complete::error(&entry.namespace, WorkloadKind::ReplicaSet, &gaps));
    }
    let mut notes = gaps;
    notes.extend(notes::workload_listed_twice(input, entry.id()));
    if own.iter().filter(|own| own.state.set.replicas > 0).count() > 1 {
        for own in &own {
            notes.extend(complete::stale_status(sets, own.entry)?);
        }
    }
    let read = |own: &Own<'a>| Scene::read(input, sets, own.entry.id());
    let scenes = own.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let is_step = options.next_step || options.burst_replicas.is_some();
    let mut decisions = if is_step {
        decide_all(input, sets, &own, &scenes, &step, &changes, options, &mut notes)?
    } else {
        count_all(input, sets, &scenes, &changes, options, &mut notes)?
    };
    let all_states: Vec<_> = own.iter().map(|own| &own.state.set).collect();
    let next = what_is_next(&deployment, &step, &changes, &all_states);
    let end = if is_step {
        None
    } else {
        Some(play_on(sets, spec, &own, &scenes, &records, &deployment, &step, options)?)
    };
    notes.extend(notes::of_deployment(entry, spec, end.is_none().then_some(&next), &states));
    let goes_on = end.as_ref().map_or(matches!(next, Next::Step), |end| end.goes_on);
    let next = end.as_ref().map_or(&next, |end| &end.next);
    let waits = !matches!(next, Next::Step | Next::Nothing);
    let (steps, rest) = end
        .map(|end| {
            for (index, why) in end.without_odds {
                notes.push(notes::no_odds(&own[index].entry.id(), &why));
            }
            for (decision, pods) in decisions.iter_mut().zip(end.pods) {
                decision.pods = pods;
            }
            (end.steps, end.rest)
        })
        .unzip();
    let previews = set_previews(&deployment, &step, &changes, &own, decisions);
    let sum = |number: fn(&SetPreview<'_>) -> usize| previews.iter().map(number).sum();
    let mut preview = Preview {
        feature_gates: gates::of_sets(options.gates),
        rollout: Some(Rollout { path: path_name(step.path), goes_on, waits }),
        active: sum(|set| set.active),
        asked: Asked { replicas: Some(deployment.replicas.unsigned_abs()), ..Asked::default() },
        burst_replicas: Some(options.burst_replicas),
        delete: sum(|set| set.delete),
        notes,
        steps,
        rest,
        of: Pods::Sets(previews),
        ..Preview::new(entry.id(), options)
    };
    preview.count_quotas();
    Ok(preview)
}

/// The sets that have pods, or get some, and the one that the sync creates.
fn set_previews<'a>(
    deployment: &Deployment,
    step: &Step,
    changes: &[Change],
    own: &[Own<'a>],
    decisions: Vec<SetDecision<'a>>,
) -> Vec<SetPreview<'a>> {
    let new = step.new_set.map(|index| index as usize);
    let mut previews: Vec<_> = own
        .iter()
        .zip(changes)
        .zip(decisions)
        .enumerate()
        .filter(|(_, ((own, change), decision))| {
            own.state.set.replicas != 0 || change.replicas != 0 || decision.active != 0
        })
        .map(|(index, ((own, change), decision))| {
            let from = own.state.set.replicas;
            SetPreview {
                replica_set: Some(own.entry.id().name),
                is_new: new == Some(index),
                from,
                to: change.replicas,
                writes: writes(from, change),
                reason: change.reason.name(),
                why: set_why(deployment, step, from, change),
                active: decision.active,
                delete: decision.delete,
                quota: decision.quota,
                pods: decision.pods,
            }
        })
        .collect();
    if step.creates {
        let change = &step.new_change;
        previews.push(SetPreview {
            replica_set: None,
            is_new: true,
            from: 0,
            to: change.replicas,
            writes: Vec::new(),
            reason: change.reason.name(),
            why: set_why(deployment, step, 0, change),
            active: 0,
            delete: 0,
            quota: 0,
            pods: Vec::new(),
        });
    }
    previews
}

/// The sizes that the sync writes to a set, in turn.
fn writes(from: i32, change: &Change) -> Vec<i32> {
    let first = from.wrapping_add(change.part);
    let all = [Some(first).filter(|_| is_in_two_steps(change)), Some(change.replicas)];
    all.into_iter().flatten().filter(|size| *size != from).collect()
}

/// Whether the set shrinks twice in the sync: the pods that are not available go first.
fn is_in_two_steps(change: &Change) -> bool {
    change.reason == Reason::UnhealthyAndAvailable
}

/// The count to decide for.
fn replicas(entry: &DeploymentEntry, spec: &DeploymentSpec, options: &Options) -> Result<i32, Error> {
    let Some(wanted) = options.replicas else { return not_negative(entry, spec.deployment.replicas) };
    i32::try_from(wanted).map_err(|_| {
        Error::new(format!("{entry}: {wanted} replicas are more than Kubernetes stores, {}", i32::MAX))
    })
}

/// Returns the sets that the Deployment owns and its selector matches, the oldest first.
fn own_sets<'a>(
    sets: &Sets<'a>,
    entry: &DeploymentEntry,
    spec: &DeploymentSpec,
) -> Result<Vec<Own<'a>>, Error> {
    let Some(selector) = spec.selector() else { return Ok(Vec::new()) };
    let mut own = Vec::new();
    for entry in sets.controlled_by(&entry.uid).filter(|set| set.id().namespace == entry.namespace) {
        entry.replicas()?;
        let state = entry.state()?.filter(|state| selector.matches(&state.labels));
        own.extend(state.map(|state| Own { entry, state }));
    }
    own.sort_by_key(|own| (own.state.set.creation_time.unix_nanos(), own.entry.id()));
    Ok(own)
}

/// What the input lacks.
fn gaps(
    sets: &Sets<'_>,
    entry: &DeploymentEntry,
    spec: &DeploymentSpec,
    own: &[Own<'_>],
) -> Result<Vec<Note>, Error> {
    let pods = if spec.selector().is_some() { spec.deployment.status_replicas } else { 0 };
    let missing = complete::missing_sets(entry, pods, own.len());
    let mut gaps: Vec<_> = missing.into_iter().collect();
    for own in own {
        for gap in complete::gaps(sets, own.entry.id())? {
            // Each set's gaps are also those of its siblings.
            if !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
    }
    Ok(gaps)
}

/// What the Deployment's controller reads of the sets.
fn records(spec: &DeploymentSpec, own: &[Own<'_>]) -> Vec<ReplicaSet> {
    let mut names: Vec<_> = own.iter().map(|own| own.entry.id().name).collect();
    names.sort_unstable();
    let record = |own: &Own<'_>| {
        let place = names.binary_search(&own.entry.id().name).expect("each name is in the list");
        let is_current = own.state.template == spec.template;
        ReplicaSet {
            name_order: u32::try_from(place).unwrap_or(u32::MAX),
            flags: own.state.set.flags.with(SetFlags::CURRENT_TEMPLATE, is_current),
            ..own.state.set
        }
    };
    own.iter().map(record).collect()
}

/// Asks the core.
fn next_step(
    sets: &Sets<'_>,
    mut deployment: Deployment,
    records: &[ReplicaSet],
    own: &[Own<'_>],
) -> (Deployment, Step, Vec<Change>) {
    let mut changes = vec![Change::default(); own.len()];
    let mut sync = |deployment: &Deployment| {
        next_sync(deployment, records, &mut changes).expect("there is a change for each set")
    };
    let mut step = sync(&deployment);
    if let Strategy::Recreate { old_pods_run } = &mut deployment.strategy {
        let new = step.new_set.and_then(|index| own.get(index as usize)).map(|own| own.entry.id());
        let old = || own.iter().map(|own| own.entry.id()).filter(|id| Some(*id) != new);
        let old_pods = || old().flat_map(|id| sets.pods(id)).filter(|pod| !pod.is_finished);
        let goes_on_without_them = step.goes_on;
        *old_pods_run = old_pods().next().is_some();
        step = sync(&deployment);
        // Kubernetes waits for no kubelet to end a pod without a node: it is gone as soon as it is deleted.
        if changes.iter().any(|change| change.reason == Reason::Recreated)
            && old_pods().all(|pod| pod.is_active() && pod.node().is_none())
        {
            step.goes_on = goes_on_without_them;
        }
    }
    (deployment, step, changes)
}

/// Plays the syncs to their end.
#[expect(clippy::too_many_arguments, reason = "all that a sync is about")]
fn play_on<'a>(
    sets: &Sets<'a>,
    spec: &DeploymentSpec,
    own: &[Own<'a>],
    scenes: &[Scene<'a>],
    records: &[ReplicaSet],
    deployment: &Deployment,
    step: &Step,
    options: &Options,
) -> Result<End<'a>, Error> {
    let mut actors = Vec::new();
    for (((own, scene), record), index) in own.iter().zip(scenes).zip(records).zip(0..) {
        let seconds = if step.new_set == Some(index) {
            // The sync writes it.
            spec.min_ready_seconds.unwrap_or(0)
        } else {
            own.entry.spec()?.min_ready_seconds
        };
        let pods = sets.pods(own.entry.id());
        let ending = pods.iter().filter(|pod| pod.is_terminating && !pod.is_finished).count();
        actors.push(Actor {
            scene,
            record: *record,
            min_ready_seconds: u32::try_from(seconds).unwrap_or(0),
            is_idle: own.entry.idle()?.is_some(),
            terminating: u32::try_from(ending).unwrap_or(u32::MAX),
        });
    }
    let names: Vec<_> = own.iter().map(|own| own.entry.id().name).collect();
    end::end(deployment, &actors, &names, options)
}

/// Counts the pods that each set loses. Which ones they are is a matter of all syncs that follow.
fn count_all<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    scenes: &[Scene<'a>],
    changes: &[Change],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<Vec<SetDecision<'a>>, Error> {
    let without_odds = Options { odds: false, ..options.clone() };
    let decide = |(scene, change): (&Scene<'a>, &Change)| {
        let to = u32::try_from(change.replicas).unwrap_or(0);
        decide_set(input, sets, scene, to, &without_odds, Some(&Race::default()), Some(notes))
    };
    scenes.iter().zip(changes).map(decide).collect()
}

/// Decides which pods each set loses. What another set does at the same time may change the ranks.
#[expect(clippy::too_many_arguments, reason = "all that a sync is about")]
fn decide_all<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    own: &[Own<'a>],
    scenes: &[Scene<'a>],
    step: &Step,
    changes: &[Change],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<Vec<SetDecision<'a>>, Error> {
    let to = |change: &Change| u32::try_from(change.replicas).unwrap_or(0);
    let decide = |(scene, change): (&Scene<'a>, &Change), race: &Race<'_>, notes: Option<&mut Vec<Note>>| {
        decide_set(input, sets, scene, to(change), options, Some(race), notes)
    };
    let mut decisions = Vec::new();
    for pair in scenes.iter().zip(changes) {
        // Pods that stay whatever the ranks are do not change the ranks in other sets.
        decisions.push(decide(pair, &Race::unknown(), None)?);
    }
    let races: Vec<_> = (0..own.len())
        .map(|index| {
            let mut race = Race::default();
            if step.creates {
                race.gain(to(&step.new_change) as usize);
            }
            if is_in_two_steps(&changes[index]) {
                // Its own first victims are gone when it counts ranks for the second time.
                let first = changes[index].part.unsigned_abs() as usize;
                race.lose(first, decisions[index].pods.iter().map(|pod| pod.node));
            }
            for (_, (decision, change)) in
                decisions.iter().zip(changes).enumerate().filter(|(other, _)| *other != index)
            {
                let may_go = decision.pods.iter().filter(|pod| pod.verdict != Verdict::Keep);
                race.lose(decision.delete, may_go.map(|pod| pod.node));
                race.gain((to(change) as usize).saturating_sub(decision.active));
            }
            race
        })
        .collect();
    scenes.iter().zip(changes).zip(&races).map(|(pair, race)| decide(pair, race, Some(notes))).collect()
}
