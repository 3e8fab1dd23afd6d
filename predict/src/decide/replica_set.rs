//! Decides which pods of one set are deleted when it is scaled, alone or by its Deployment.

use crate::answer::{Note, Owner, PodGroup, Preview, Size};
use crate::decide::{MOST_IN_ONE_SYNC, Ranking, complete, count, members, notes, ranked};
use crate::question::{Options, Order, gates};
use crate::reason::RankedPod;
use crate::snapshot::{Sets, WorkloadRef, to_time};
use crate::text::Error;
use podrank::Policy;

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
    let ranking = scene.rank(replicas, options);
    let odds = ranking.probabilities(options);
    notes.extend(odds.as_ref().err().map(|why| notes::no_odds(&id, why)));
    notes.extend(scene.notes(&ranking, options, Some(replicas)));
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
        groups: vec![PodGroup {
            replica_set: Some(id.name),
            delete: ranking.delete,
            pods: ranking.answers(&odds.unwrap_or_default()),
            ..PodGroup::default()
        }],
        ..Preview::new(id, options)
    })
}

/// A set and its active pods.
pub(crate) struct Scene<'s, 'a> {
    sets: &'s Sets<'a>,
    pub(crate) id: WorkloadRef<'a>,
    pub(crate) own: Vec<RankedPod<'a>>,
    notes: Vec<Note>,
}

impl<'s, 'a> Scene<'s, 'a> {
    pub(crate) fn read(sets: &'s Sets<'a>, id: WorkloadRef<'a>) -> Result<Self, Error> {
        let mut notes = Vec::new();
        // Without a pod of its own, no other one matters.
        let own = if sets.pods(id).iter().any(|pod| pod.is_active()) {
            ranked(&members(sets, id, &mut notes)?)
        } else {
            Vec::new()
        };
        Ok(Self { sets, id, own, notes })
    }

    /// Whether its controller deletes no pods.
    pub(crate) fn is_idle(&self) -> bool {
        self.sets.set(self.id).idle().is_some()
    }

    /// Decides which pods go if the set is scaled to `replicas`.
    pub(crate) fn rank(&self, replicas: u32, options: &Options) -> Ranking<'a> {
        let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
        let delete = if self.is_idle() { 0 } else { self.own.len().saturating_sub(replicas as usize) };
        Ranking::up(options.order, policy, &self.own, delete, None)
    }

    /// What else a reader should know of that. `alone` is the number of replicas if its Deployment does not scale it.
    pub(crate) fn notes(&self, ranking: &Ranking<'_>, options: &Options, alone: Option<u32>) -> Vec<Note> {
        let Scene { sets, id, own, .. } = self;
        let mut notes = self.notes.clone();
        notes.extend(notes::workload_listed_twice(sets.input, *id));
        notes.extend(sets.set(*id).idle().map(|why| notes::does_nothing(id, why)));
        if let Some(set) = sets.get(*id) {
            notes.extend(complete::more_pods_than_status(set, own.len()));
            if let Some(replicas) = alone {
                notes.extend(set.lags().then(|| notes::lagging(&[id])));
                notes.extend(notes::scaled_alone(sets, set, replicas));
            }
            notes.extend(notes::claims(sets, set));
        }
        let pods = || ranking.pods.iter().map(|ranked| ranked.pod);
        if options.gates.pod_deletion_cost {
            notes.extend(notes::invalid_costs(pods()));
        }
        notes.extend(notes::created_after_now(pods(), options.now));
        if options.order == Order::Kubernetes && ranking.delete > MOST_IN_ONE_SYNC {
            notes.push(notes::several_syncs(ranking.delete, MOST_IN_ONE_SYNC));
        }
        notes
    }
}
