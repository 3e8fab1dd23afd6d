//! The preview of a Deployment: what its next sync does to its sets, and which pods each set then loses.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::{Asked, Pods, Preview, Rollout, SetPreview};
use crate::decide::count::asked;
use crate::decide::rank_range::Race;
use crate::decide::replica_set::{Scene, SetDecision};
use crate::decide::rollout::end::{self, Actor, RolloutOutcome};
use crate::decide::rollout::next::Next;
use crate::decide::{complete, notes};
use crate::question::gates;
use crate::question::options::{Options, Order};
use crate::reason::size::SetSize;
use crate::snapshot::deployment::{DeploymentEntry, DeploymentSpec, SetState};
use crate::snapshot::index::Sets;
use crate::snapshot::read::Input;
use crate::snapshot::replica_set::SetEntry;
use crate::snapshot::workload::WorkloadKind;
use crate::sync::deployment::{
    DeploymentState, ReplicaSetState, SizeChange, SizeReason, Strategy, Sync, next_sync,
};
use crate::text::error::Error;

/// One of the Deployment's sets.
struct Own<'a> {
    entry: &'a SetEntry,
    state: &'a SetState,
}

/// A Deployment with its sets, and its next sync.
struct ScaledDeployment<'s, 'a> {
    sets: &'s Sets<'a>,
    spec: &'a DeploymentSpec,
    options: &'s Options,
    own: Vec<Own<'a>>,
    /// Those and their pods.
    scenes: Vec<Scene<'s, 'a>>,
    /// What its controller reads of them.
    records: Vec<ReplicaSetState>,
    deployment: DeploymentState,
    sync: Sync,
}

pub(crate) fn preview_deployment<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    entry: &'a DeploymentEntry,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let (scaled, mut notes) = ScaledDeployment::read(input, sets, entry, options)?;
    let ScaledDeployment { spec, own, deployment, sync, .. } = &scaled;
    let mut decisions = scaled.count_all(&mut notes)?;
    let end = scaled.play_on()?;
    let states: Vec<_> = own.iter().map(|own| (own.entry.id(), own.state)).collect();
    let lacks_sets = notes.iter().any(|note| note.code == NoteCode::SetMissing);
    if own.is_empty() && !lacks_sets && entry.idle()?.is_none() {
        notes.push(notes::no_sets(entry));
    }
    notes.extend(notes::of_deployment(entry, spec, &states));
    let waits = !matches!(end.next, Next::Step | Next::Nothing);
    for (index, why) in end.without_odds {
        notes.push(notes::no_odds(&own[index].entry.id(), &why));
    }
    for (decision, pods) in decisions.iter_mut().zip(end.pods) {
        decision.pods = pods;
    }
    let previews = scaled.set_previews(decisions);
    let sum = |number: fn(&SetPreview<'_>) -> usize| previews.iter().map(number).sum();
    let mut preview = Preview {
        feature_gates: gates::of_sets(options.gates),
        rollout: Some(Rollout { path: sync.path.name(), goes_on: end.goes_on, waits }),
        active: sum(|set| set.active),
        asked: Asked { replicas: Some(deployment.replicas.unsigned_abs()), ..Asked::default() },
        delete: sum(|set| set.delete),
        notes,
        steps: Some(end.steps),
        rest: Some(end.rest),
        of: Pods::Sets(previews),
        ..Preview::new(entry.id(), options)
    };
    preview.count_quotas();
    Ok(preview)
}

impl<'s, 'a> ScaledDeployment<'s, 'a> {
    /// Reads it, with notes on what the input lacks.
    fn read(
        input: &'a Input,
        sets: &'s Sets<'a>,
        entry: &'a DeploymentEntry,
        options: &'s Options,
    ) -> Result<(Self, Vec<Note>), Error> {
        let spec = entry.spec()?;
        let own = own_sets(sets, entry, spec)?;
        let deployment =
            DeploymentState { replicas: asked(entry, spec.deployment.replicas, options)?, ..spec.deployment };
        let record = |own: &Own<'_>| ReplicaSetState {
            has_template: own.state.template == spec.template,
            ..own.state.set
        };
        let records: Vec<_> = own.iter().map(record).collect();
        let (deployment, sync) = next_step(sets, deployment, &records, &own);
        let mut notes = gaps(sets, entry, spec, &own)?;
        if !notes.is_empty() && options.order == Order::Kubernetes && !options.accepts_gaps() {
            return Err(complete::error(&entry.namespace, WorkloadKind::ReplicaSet, &notes));
        }
        notes.extend(notes::workload_listed_twice(input, entry.id()));
        let adopted = own.iter().filter(|own| own.entry.controller.is_none());
        notes.extend(adopted.map(|own| notes::adopts(entry, &own.entry.id())));
        let released = input.sets.iter().filter(|set| is_released(sets, entry, set));
        notes.extend(released.map(|set| notes::releases(entry, &set.id())));
        if own.iter().filter(|own| own.state.set.replicas > 0).count() > 1 {
            for own in &own {
                notes.extend(complete::stale_status(sets, own.entry)?);
            }
        }
        let read = |own: &Own<'a>| Scene::read(input, sets, own.entry.id());
        let scenes = own.iter().map(read).collect::<Result<_, _>>()?;
        Ok((Self { sets, spec, options, own, scenes, records, deployment, sync }, notes))
    }

    /// The sets that have pods, or get some, and the one that the sync creates.
    fn set_previews(&self, decisions: Vec<SetDecision<'a>>) -> Vec<SetPreview<'a>> {
        let mut previews = Vec::new();
        for (index, decision) in decisions.into_iter().enumerate() {
            let (own, change) = (&self.own[index], &self.sync.changes[index]);
            let from = own.state.set.replicas;
            if from == 0 && change.replicas == 0 && decision.active == 0 {
                continue;
            }
            previews.push(SetPreview {
                replica_set: Some(own.entry.id().name),
                is_new: self.sync.new_set == Some(index),
                active: decision.active,
                delete: decision.delete,
                quota: decision.quota,
                pods: decision.pods,
                ..self.set_preview(from, change, false)
            });
        }
        if self.sync.creates {
            previews.push(self.set_preview(0, &self.sync.new_change, true));
        }
        previews
    }

    /// A set that does not exist yet.
    fn set_preview(&self, from: i32, change: &SizeChange, is_created: bool) -> SetPreview<'a> {
        let (desired, budgets) = (self.deployment.replicas, self.sync.budgets);
        SetPreview {
            replica_set: None,
            is_new: true,
            size: SetSize { from, change: *change, desired, budgets, is_created },
            active: 0,
            delete: 0,
            quota: 0,
            pods: Vec::new(),
            is_settled: false,
        }
    }

    /// Plays the syncs to their end.
    fn play_on(&self) -> Result<RolloutOutcome<'a>, Error> {
        end::end(&self.deployment, &self.actors()?, self.options)
    }

    fn actors(&self) -> Result<Vec<Actor<'_, 'a>>, Error> {
        let mut actors = Vec::new();
        for (index, (own, scene)) in self.own.iter().zip(&self.scenes).enumerate() {
            let seconds = if self.sync.new_set == Some(index) {
                // The sync writes it.
                self.spec.min_ready_seconds.unwrap_or(0)
            } else {
                own.entry.spec()?.min_ready_seconds
            };
            let pods = self.sets.pods(own.entry.id());
            let ending = pods.iter().filter(|pod| pod.is_terminating && !pod.is_finished).count();
            actors.push(Actor {
                name: own.entry.id().name,
                scene,
                record: self.records[index],
                min_ready_seconds: u32::try_from(seconds).unwrap_or(0),
                is_idle: own.entry.idle()?.is_some(),
                terminating: u32::try_from(ending).unwrap_or(u32::MAX),
            });
        }
        Ok(actors)
    }

    /// Counts the pods that each set loses. Which ones they are is a matter of all syncs that follow.
    fn count_all(&self, notes: &mut Vec<Note>) -> Result<Vec<SetDecision<'a>>, Error> {
        let without_odds = Options { odds: false, ..self.options.clone() };
        let decide = |(scene, change): (&Scene<'s, 'a>, &SizeChange)| {
            scene.decide(to(change), &without_odds, Some(&Race::default()), Some(notes))
        };
        self.scenes.iter().zip(&self.sync.changes).map(decide).collect()
    }
}

/// The size that a set gets.
fn to(change: &SizeChange) -> u32 {
    u32::try_from(change.replicas).unwrap_or(0)
}

/// Whether the set refers to the Deployment, which releases it.
fn is_released(sets: &Sets<'_>, entry: &DeploymentEntry, set: &SetEntry) -> bool {
    let is_its = set.controller.as_ref().is_some_and(|owner| owner.uid == entry.uid);
    is_its && entry.deletion.is_none() && sets.controller(set).is_none()
}

/// Returns the sets that the Deployment owns and its selector matches, the oldest first.
fn own_sets<'a>(
    sets: &Sets<'a>,
    entry: &DeploymentEntry,
    spec: &DeploymentSpec,
) -> Result<Vec<Own<'a>>, Error> {
    if spec.selector().is_none() {
        return Ok(Vec::new());
    }
    let mut own = Vec::new();
    for entry in sets.controlled_by(&entry.uid).filter(|set| set.id().namespace == entry.namespace) {
        entry.replicas()?;
        own.extend(entry.state()?.map(|state| Own { entry, state }));
    }
    own.sort_by_key(|own| (own.state.creation_time.unix_nanos(), own.entry.id()));
    Ok(own)
}

/// What the input lacks.
fn gaps(
    sets: &Sets<'_>,
    entry: &DeploymentEntry,
    spec: &DeploymentSpec,
    own: &[Own<'_>],
) -> Result<Vec<Note>, Error> {
    let missing = if own.is_empty() { complete::missing_sets(sets, entry, spec) } else { None };
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

/// The next sync. The Deployment comes back with whether old pods run.
fn next_step(
    sets: &Sets<'_>,
    mut deployment: DeploymentState,
    records: &[ReplicaSetState],
    own: &[Own<'_>],
) -> (DeploymentState, Sync) {
    let mut sync = next_sync(&deployment, records);
    if let Strategy::Recreate { old_pods_run } = &mut deployment.strategy {
        let new = sync.new_set.map(|index| own[index].entry.id());
        let old = || own.iter().map(|own| own.entry.id()).filter(|id| Some(*id) != new);
        let old_pods = || old().flat_map(|id| sets.pods(id)).filter(|pod| !pod.is_finished);
        let goes_on_without_them = sync.goes_on;
        *old_pods_run = old_pods().next().is_some();
        sync = next_sync(&deployment, records);
        // Kubernetes waits for no kubelet to end a pod without a node: it is gone as soon as it is deleted.
        if sync.changes.iter().any(|change| change.reason == SizeReason::Recreated)
            && old_pods().all(|pod| pod.is_active() && pod.node().is_none())
        {
            sync.goes_on = goes_on_without_them;
        }
    }
    (deployment, sync)
}
