//! The preview of a Deployment: what its next sync does to its sets, and which pods each set then loses.

use crate::answer::{Note, NoteCode, PodAnswer, PodGroup, Preview, Rollout, Size, WaitsFor};
use crate::decide::rollout::end::RankedSets;
use crate::decide::rollout::simulate::SetStart;
use crate::decide::{Scene, asked, complete, notes};
use crate::question::{Options, Order, gates};
use crate::reason::SetSize;
use crate::snapshot::{Deployment, Pod, ReplicaSet, Sets, Workload};
use crate::sync::deployment::{DeploymentState, ReplicaSetState, SizeChange, Sync, new_set};
use crate::text::{Error, number};

/// A Deployment with its sets.
struct ScaledDeployment<'s, 'a> {
    sets: &'s Sets<'a>,
    entry: &'a Deployment,
    options: &'s Options,
    own: Vec<&'a ReplicaSet>,
    /// Those and their pods.
    scenes: Vec<Scene<'s, 'a>>,
    /// What its controller reads of them.
    records: Vec<ReplicaSetState>,
    deployment: DeploymentState,
}

pub(crate) fn preview_deployment<'a>(
    sets: &Sets<'a>,
    entry: &'a Deployment,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let (scaled, mut notes) = ScaledDeployment::read(sets, entry, options)?;
    let ScaledDeployment { own, deployment, .. } = &scaled;
    let pods = RankedSets::of(&scaled.scenes, options);
    let end = pods.end(deployment, scaled.starts(&pods));
    let groups = scaled.groups(end.pods, &end.first, &mut notes);
    let is_incomplete = notes.iter().any(|note| note.code == NoteCode::Incomplete);
    if own.is_empty() && !is_incomplete && Workload::Deployment(entry).idle().is_none() {
        notes.push(notes::no_sets(entry));
    }
    notes.extend(notes::of_deployment(entry, own.iter().copied()));
    let waits = matches!(end.rest.waits_for, Some(WaitsFor::NewPods | WaitsFor::OldPods));
    let rollout = Rollout { path: end.first.path.name(), is_under_way: end.goes_on || waits };
    let without_odds = own.iter().zip(end.without_odds);
    notes.extend(without_odds.filter_map(|(set, why)| Some(notes::no_odds(&set.id(), &why?))));
    Ok(Preview {
        feature_gates: gates::of_sets(options.gates),
        rollout: Some(rollout),
        size: Size { replicas: Some(deployment.replicas.unsigned_abs()), ..Size::default() },
        notes,
        steps: Some(end.steps),
        rest: Some(end.rest),
        groups,
        ..Preview::new(entry.id(), options)
    })
}

impl<'s, 'a> ScaledDeployment<'s, 'a> {
    /// Reads it, with notes on what the input lacks.
    fn read(
        sets: &'s Sets<'a>,
        entry: &'a Deployment,
        options: &'s Options,
    ) -> Result<(Self, Vec<Note>), Error> {
        let own = own_sets(sets, entry);
        let deployment =
            DeploymentState { replicas: asked(&entry.id(), entry.record.replicas, options)?, ..entry.record };
        let has_template = |own: &ReplicaSet| own.template.fingerprint == entry.template;
        let record = |own: &&ReplicaSet| ReplicaSetState { has_template: has_template(own), ..own.record };
        let records: Vec<_> = own.iter().map(record).collect();
        let mut notes = gaps(sets, entry, &own);
        if !notes.is_empty() && options.order == Order::Kubernetes && !options.accepts_gaps() {
            return Err(complete::error(entry.id(), &notes));
        }
        notes.extend(notes::workload_listed_twice(sets.input, entry.id()));
        let adopted = own.iter().filter(|own| own.meta.controller.is_none());
        notes.extend(adopted.map(|own| notes::adopts(&entry.id(), &own.id())));
        let released = sets.input.sets.iter().filter(|set| is_released(sets, entry, set));
        notes.extend(released.map(|set| notes::releases(&entry.id(), &set.id())));
        if own.iter().filter(|own| own.replicas() > 0).count() > 1 {
            notes.extend(own.iter().filter_map(|own| complete::stale_status(sets, own)));
        }
        let read = |own: &&'a ReplicaSet| Scene::read(sets, own.id());
        let scenes = own.iter().map(read).collect::<Result<_, _>>()?;
        Ok((Self { sets, entry, options, own, scenes, records, deployment }, notes))
    }

    /// The sets that have pods, or get some, and the one that the sync creates. This sync says how many pods each set loses, and all that
    /// follow say which.
    fn groups(&self, pods: Vec<Vec<PodAnswer<'a>>>, sync: &Sync, notes: &mut Vec<Note>) -> Vec<PodGroup<'a>> {
        let size = |from, change: &SizeChange, is_created| {
            let (desired, budgets) = (self.deployment.replicas, sync.budgets);
            Some(SetSize { from, change: *change, desired, budgets, is_created })
        };
        let mut groups = Vec::new();
        for (index, (scene, pods)) in self.scenes.iter().zip(pods).enumerate() {
            let (from, change) = (self.records[index].replicas, &sync.changes[index]);
            let ranking = scene.rank(u32::try_from(change.replicas).unwrap_or(0), self.options);
            notes.extend(scene.notes(&ranking, self.options, None));
            if from == 0 && change.replicas == 0 && pods.is_empty() {
                continue;
            }
            groups.push(PodGroup {
                replica_set: Some(scene.id.name),
                is_new: Some(sync.new_set == Some(index)),
                size: size(from, change, false),
                delete: ranking.delete,
                pods,
                is_settled: false,
            });
        }
        if sync.creates {
            let size = size(0, &sync.new_change, true);
            groups.push(PodGroup { is_new: Some(true), size, ..PodGroup::default() });
        }
        groups
    }

    /// The sets at the start of a simulation.
    fn starts(&self, pods: &RankedSets<'_, 'a>) -> Vec<SetStart> {
        let new = new_set(&self.records);
        let start = |(index, (set, scene)): (usize, (&&ReplicaSet, &Scene<'s, 'a>))| {
            let seconds = if new == Some(index) {
                // The sync writes it.
                self.entry.min_ready_seconds.unwrap_or(0)
            } else {
                set.min_ready_seconds
            };
            let ending = |pod: &&&Pod| pod.is_terminating() && !pod.is_finished();
            SetStart {
                record: self.records[index],
                pods: number(scene.own.len()),
                is_idle: scene.is_idle(),
                unassigned: number(scene.own.iter().filter(|pod| pod.pod.node().is_none()).count()),
                terminating: number(self.sets.pods(set.id()).iter().filter(ending).count()),
                available: pods.available(&scene.own, u32::try_from(seconds).unwrap_or(0)),
            }
        };
        self.own.iter().zip(&self.scenes).enumerate().map(start).collect()
    }
}

/// Whether the set refers to the Deployment, which releases it.
fn is_released(sets: &Sets<'_>, entry: &Deployment, set: &ReplicaSet) -> bool {
    let is_its = set.meta.controller.as_ref().is_some_and(|owner| owner.uid == entry.meta.uid);
    is_its && entry.meta.deletion.is_none() && sets.controller(set).is_none()
}

/// Returns the sets that the Deployment owns and its selector matches, the oldest first.
fn own_sets<'a>(sets: &Sets<'a>, entry: &Deployment) -> Vec<&'a ReplicaSet> {
    let has_selector = entry.selector().is_some();
    let is_own = |set: &&ReplicaSet| has_selector && set.meta.namespace == entry.meta.namespace;
    let mut own: Vec<_> = sets.controlled_by(&entry.meta.uid).filter(is_own).collect();
    own.sort_by_key(|own| (own.creation_time.unix_nanos(), own.id()));
    own
}

/// What the input lacks.
fn gaps(sets: &Sets<'_>, entry: &Deployment, own: &[&ReplicaSet]) -> Vec<Note> {
    let missing = if own.is_empty() { complete::missing_sets(sets, entry) } else { None };
    let mut gaps: Vec<_> = missing.into_iter().collect();
    for gap in own.iter().flat_map(|own| complete::gaps(sets, own.id())) {
        // Each set's gaps are also those of its related sets.
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    gaps
}
