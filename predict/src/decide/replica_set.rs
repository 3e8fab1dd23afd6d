//! Decides which pods of one set are deleted when it is scaled, alone or by its Deployment.

use crate::answer::{Note, Owner, PodGroup, Preview, Size};
use crate::decide::{MOST_IN_ONE_SYNC, Ranking, Related, complete, count, members, notes, ranked};
use crate::question::{Options, Order, gates};
use crate::reason::RankedPod;
use crate::snapshot::{ReplicaSet, Sets, WorkloadRef, to_time};
use crate::text::Error;
use podrank::Policy;
use std::collections::HashMap;

pub(crate) fn preview_set<'a>(
    sets: &Sets<'a>,
    id: WorkloadRef<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let mut notes = complete::gaps(sets, id);
    if sets.input.has_only_pods() {
        notes = vec![complete::only_pods(sets.input)];
    } else if !notes.is_empty() && options.order == Order::Kubernetes && !options.accepts_gaps() {
        return Err(complete::error(id, &notes));
    }
    let replicas = options.replicas.unwrap_or_else(|| count::of_set(sets, id));
    let scene = Scene::read(sets, id)?;
    let group = scene.decide(replicas, options, true, Some(&mut notes));
    let controller = sets.get(id).and_then(|set| set.meta.controller.as_ref());
    let owner = controller.filter(|owner| owner.kind != "Deployment").map(|owner| Owner {
        api_version: &owner.api_version,
        kind: &owner.kind,
        name: &owner.name,
    });
    Ok(Preview {
        owner,
        feature_gates: gates::of_sets(options.gates),
        size: Size { replicas: Some(replicas), ..Size::default() },
        notes,
        groups: vec![group],
        ..Preview::new(id, options)
    })
}

/// A set and its active pods.
pub(crate) struct Scene<'s, 'a> {
    sets: &'s Sets<'a>,
    pub(crate) id: WorkloadRef<'a>,
    set: Option<&'a ReplicaSet>,
    pub(crate) own: Vec<RankedPod<'a>>,
    notes: Vec<Note>,
}

impl<'s, 'a> Scene<'s, 'a> {
    pub(crate) fn read(sets: &'s Sets<'a>, id: WorkloadRef<'a>) -> Result<Self, Error> {
        let (set, mut notes) = (sets.get(id), Vec::new());
        // Without a pod of its own, no other one matters.
        let own = if sets.pods(id).iter().any(|pod| pod.is_active()) {
            ranked(&members(sets, id, &Related::of(id, set, sets), &mut notes)?)
        } else {
            Vec::new()
        };
        Ok(Self { sets, id, set, own, notes })
    }

    /// Whether its controller deletes no pods.
    pub(crate) fn is_idle(&self) -> bool {
        self.sets.set(self.id).idle().is_some()
    }

    /// Decides which pods go if the set is scaled to `replicas`, alone or by its Deployment. `notes` gets what else a reader should know.
    pub(crate) fn decide(
        &self,
        replicas: u32,
        options: &Options,
        is_alone: bool,
        notes: Option<&mut Vec<Note>>,
    ) -> PodGroup<'a> {
        let Scene { sets, id, set, own, .. } = self;
        let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
        let idle = sets.set(*id).idle();
        let delete = if idle.is_some() { 0 } else { own.len().saturating_sub(replicas as usize) };
        let line = Ranking::up(options.order, policy, own, delete, None);

        let mut probabilities = HashMap::new();
        if let Some(notes) = notes {
            if options.probabilities {
                probabilities = line.probabilities();
                notes.extend(line.without_odds().map(|why| notes::no_odds(id, &why)));
            }
            notes.extend(self.notes.iter().cloned());
            notes.extend(notes::workload_listed_twice(sets.input, *id));
            notes.extend(idle.map(|why| notes::does_nothing(id, why)));
            if let Some(set) = set {
                notes.extend(complete::more_pods_than_status(set, own.len()));
                if is_alone {
                    notes.extend(set.lags().then(|| notes::lagging(&[id])));
                    notes.extend(notes::scaled_alone(sets, set, replicas));
                }
                notes.extend(notes::claims(sets, set));
            }
            if options.gates.pod_deletion_cost {
                notes.extend(notes::invalid_costs(line.pods.iter().map(|ranked| ranked.pod)));
            }
            notes.extend(notes::created_after_now(line.pods.iter().map(|ranked| ranked.pod), options.now));
            if options.order == Order::Kubernetes && delete > MOST_IN_ONE_SYNC {
                notes.push(notes::several_syncs(delete, MOST_IN_ONE_SYNC));
            }
        }
        let pods = line.answers(&probabilities);
        PodGroup { replica_set: Some(id.name), delete, pods, ..PodGroup::default() }
    }
}
