//! Simulates the syncs of a Deployment until one changes nothing. It reads numbers of pods, but no pods. A pure
//! function.
//!
//! After a sync, the controller of each set deletes or creates pods, and the set's status follows. The Deployment's controller may
//! sync again before it sees some of the statuses, and then writes other sizes. So [`simulate`] follows every way in which sets can be
//! seen late, and says what holds on all of them. It does not look at statuses half-way between the old and the new one: what a sync
//! writes lies between what it writes for these two.

use crate::answer::{CountRange, SizeStep};
use crate::sync::deployment::{
    DeploymentState, Path, ReplicaSetState, SizeChange, SizeReason, Strategy, Sync, new_set, next_sync,
};
use crate::text::number;
use std::collections::HashSet;
use std::mem;

/// The most states that are looked at. Few plays reach a hundred.
const MOST_STATES: usize = 2_000;
/// The most sets of which each combination may be seen late.
const MOST_LATE: usize = 5;
/// The most syncs that are played in turn. Hardly a play has five.
const MOST_STEPS: usize = 50;

/// A set at the start.
#[derive(Default)]
pub(crate) struct SetStart {
    /// What the Deployment's controller reads of it, with its status as it is listed.
    pub(crate) record: ReplicaSetState,
    /// Its active pods.
    pub(crate) pods: u32,
    /// Whether its controller does nothing.
    pub(crate) is_idle: bool,
    /// Those that have no node, so that nobody has to end them once they are deleted.
    pub(crate) unassigned: u32,
    /// Its pods that are being deleted and have not ended.
    pub(crate) terminating: u32,
    /// The least and the most of its pods that are available, by the number of pods that have been deleted.
    pub(crate) available: Vec<(u32, u32)>,
}

/// The pods of a set at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct SetPods {
    /// How many of the pods at the start have been deleted.
    gone: u32,
    /// How many were created and still exist. They have no node and are not available.
    created: u32,
    /// Whether created pods have been deleted again. They may have been assigned to a node before, and then take time
    /// to end.
    shed: bool,
    available: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SimulatedSet {
    /// Its size and annotations, and the status that the Deployment's controller has seen.
    seen: ReplicaSetState,
    /// Its pods once its controller has done all that its size asks for.
    pods: SetPods,
    /// Its pods before that, if the Deployment's controller has not seen what became of them.
    before: Option<SetPods>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Simulated {
    sets: Vec<SimulatedSet>,
    status_replicas: i32,
}

/// A set at the end of the simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetEnd {
    /// Its size.
    pub(crate) size: CountRange,
    /// How many of its pods have been deleted.
    pub(crate) gone: CountRange,
    /// The most created pods that go again. Pods that were there before go with them if they are as young.
    pub(crate) replaced: u32,
    /// The most pods that are created by the time it deletes some.
    pub(crate) coming: u32,
    /// The sets that a sync changes together with it.
    beside: Vec<usize>,
    /// The sets whose pods may have been deleted before it deletes some.
    pub(crate) after: Vec<usize>,
    /// How many of its own pods may have been deleted when it counts ranks again.
    pub(crate) first: u32,
    /// Whether it has more pods than its size at the start, so that pods go before any are created.
    pub(crate) is_surplus: bool,
}

/// A sync that writes something.
pub(crate) struct SimulatedSync {
    pub(crate) path: Path,
    /// What it does to each set, also to one that the simulation creates at the end. No name is known here.
    pub(crate) sets: Vec<SizeStep<'static>>,
}

/// The state in which a sync changes nothing, if the controller sees every status immediately.
pub(crate) struct SteadyState {
    pub(crate) deployment: DeploymentState,
    /// The sync that writes nothing any more.
    pub(crate) sync: Sync,
    /// The sets with their statuses.
    pub(crate) sets: Vec<ReplicaSetState>,
    /// The pods of old sets that are being deleted and have not ended.
    pub(crate) terminating: u32,
}

/// All that a play shows.
pub(crate) struct Endings {
    /// One for each set, and one for a set that is created, at the end.
    pub(crate) fates: Vec<SetEnd>,
    /// How many pods go in all.
    pub(crate) gone: CountRange,
    /// The next sync, which reads the statuses as they are listed.
    pub(crate) first: Synced,
    /// The syncs in turn if the controller sees every status immediately. The first one reads the statuses as they are
    /// listed.
    pub(crate) steps: Vec<SimulatedSync>,
    /// The syncs in turn if statuses are seen as late as they can be.
    pub(crate) late_steps: Vec<SimulatedSync>,
    pub(crate) rest: SteadyState,
    /// Whether all that can happen has been looked at, and comes to rest.
    pub(crate) is_complete: bool,
}

/// Returns each combination of these sets, and true. If they are too many, returns some of them, and false.
fn every_way(unseen: &[usize]) -> (Vec<Vec<usize>>, bool) {
    if unseen.len() <= MOST_LATE {
        let of = |bits: usize| {
            (0..unseen.len()).filter(move |bit| bits >> bit & 1 == 1).map(|bit| unseen[bit]).collect()
        };
        return ((0..1 << unseen.len()).map(of).collect(), true);
    }
    let each = unseen.iter().map(|index| vec![*index]);
    ([Vec::new(), unseen.to_vec()].into_iter().chain(each).collect(), false)
}

/// Plays a Deployment's syncs from the start.
pub(crate) fn simulate(deployment: &DeploymentState, mut starts: Vec<SetStart>) -> Endings {
    starts.push(SetStart { available: vec![(0, 0)], ..SetStart::default() });
    let simulation = Simulation { deployment, starts };
    let start = simulation.start();
    let first = simulation.sync(&start, false);
    let mut recorder = simulation.explore(&start);
    let (steps, rest) = simulation.in_turn(&start, false);
    let (late_steps, _) = simulation.in_turn(&start, true);
    if recorder.ends == 0 {
        // It never came to rest: what is known is how far it came.
        recorder.end(&rest.1);
    }
    let Recorder { mut fates, peaks, is_complete, gone, .. } = recorder;
    for (fate, start) in fates.iter_mut().zip(&simulation.starts) {
        fate.is_surplus = i64::from(start.pods) > i64::from(start.record.replicas);
        let beside = fate.beside.iter().map(|set| peaks[*set]);
        fate.coming = beside.fold(fate.coming, u32::saturating_add);
    }
    Endings { rest: simulation.rest(rest), fates, gone, first, late_steps, steps, is_complete }
}

/// Records bounds over all states of a simulation.
struct Recorder {
    fates: Vec<SetEnd>,
    /// The most pods that are created in each set.
    peaks: Vec<u32>,
    is_complete: bool,
    gone: CountRange,
    /// How many states were found in which nothing follows.
    ends: usize,
}

impl Recorder {
    fn new(sets: usize) -> Self {
        let nothing = CountRange { min: u32::MAX, max: 0 };
        let fate = SetEnd { size: nothing, gone: nothing, ..SetEnd::default() };
        Self { fates: vec![fate; sets], peaks: vec![0; sets], is_complete: true, gone: nothing, ends: 0 }
    }

    /// Records what a sync means for the ranks that sets count. Sets wait for their controller in a queue, in the order of the syncs: what a
    /// later sync leads to comes later, unless it is about a set that waits as well.
    fn record(&mut self, view: Option<&Simulated>, after: &Simulated) {
        let base = |index: usize| view.and_then(|view| view.sets.get(index));
        let is_written =
            |index: usize| base(index).is_none_or(|set| set.seen.replicas != after.sets[index].seen.replicas);
        let others = after.sets.iter().enumerate().filter(|(index, _)| !is_written(*index));
        let created = others.map(|(_, set)| set.pods.created).fold(0, u32::saturating_add);
        for (index, set) in after.sets.iter().enumerate() {
            let base = base(index).map_or(SetPods::default(), |set| set.pods);
            self.peaks[index] = self.peaks[index].max(set.pods.created);
            let fate = &mut self.fates[index];
            fate.replaced = fate.replaced.max(base.created.saturating_sub(set.pods.created));
            if set.pods.gone <= base.gone {
                continue;
            }
            fate.coming = fate.coming.max(created);
            fate.first = fate.first.max(base.gone);
            for (other, theirs) in after.sets.iter().enumerate() {
                if other != index && theirs.pods.gone > 0 && !fate.after.contains(&other) {
                    fate.after.push(other);
                }
                if is_written(other) && !fate.beside.contains(&other) {
                    fate.beside.push(other);
                }
            }
        }
    }

    /// Records the sets that get two sizes in one sync.
    fn record_two_sizes(&mut self, view: &Simulated, changes: &[SizeChange]) {
        for ((fate, set), change) in self.fates.iter_mut().zip(&view.sets).zip(changes) {
            if change.reason == SizeReason::UnhealthyAndAvailable {
                fate.first = fate.first.max(set.pods.gone + change.part.unsigned_abs());
            }
        }
    }

    /// Records a state in which nothing follows.
    fn end(&mut self, state: &Simulated) {
        self.ends += 1;
        let mut all = 0;
        for (index, fate) in self.fates.iter_mut().enumerate() {
            // A set that is created in other ways only.
            let set = state.sets.get(index);
            let size = set.map_or(0, |set| set.seen.replicas.unsigned_abs());
            fate.size = fate.size.and(CountRange::one(size));
            let gone = set.map_or(0, |set| set.pods.gone);
            fate.gone = fate.gone.and(CountRange::one(gone));
            all += gone;
        }
        self.gone = self.gone.and(CountRange::one(all));
    }
}

struct Simulation<'p> {
    deployment: &'p DeploymentState,
    starts: Vec<SetStart>,
}

/// What a sync does to a state.
pub(crate) struct Synced {
    deployment: DeploymentState,
    pub(crate) sync: Sync,
    /// Whether it writes something.
    pub(crate) writes: bool,
}

impl Simulation<'_> {
    fn start(&self) -> Simulated {
        let of = |(index, start): (usize, &SetStart)| {
            let pods = SetPods { available: start.available[0].1, ..SetPods::default() };
            // Its controller may still be at work.
            let after = self.act(index, pods, start.record.replicas).swap_remove(0);
            SimulatedSet { seen: start.record, pods: after, before: (after != pods).then_some(pods) }
        };
        Simulated {
            // The last one is yet to be created.
            sets: self.starts[..self.starts.len() - 1].iter().enumerate().map(of).collect(),
            status_replicas: self.deployment.status_replicas,
        }
    }

    /// How many pods a set has.
    fn active(&self, index: usize, pods: SetPods) -> i64 {
        i64::from(self.starts[index].pods) - i64::from(pods.gone) + i64::from(pods.created)
    }

    /// What the set's status becomes.
    fn status(&self, index: usize, pods: SetPods) -> [i32; 2] {
        [self.active(index, pods), i64::from(pods.available)]
            .map(|number| i32::try_from(number).unwrap_or(i32::MAX))
    }

    /// Returns the pods once the set's controller has as many as `size`, in one or two ways, because possible pods may
    /// be available.
    fn act(&self, index: usize, pods: SetPods, size: i32) -> Vec<SetPods> {
        let (active, size) = (self.active(index, pods), i64::from(size.max(0)));
        if self.starts[index].is_idle {
            return vec![pods];
        }
        if size >= active {
            let more = number(size - active);
            return vec![SetPods { created: pods.created.saturating_add(more), ..pods }];
        }
        let surplus = number(active - size);
        let created = pods.created.saturating_sub(surplus);
        let gone = pods.gone + (surplus - (pods.created - created));
        let (least, most) = if gone == pods.gone {
            (pods.available, pods.available)
        } else {
            let (least, most) = self.starts[index].available[gone as usize];
            (least.min(pods.available), most.min(pods.available))
        };
        let shed = pods.shed || created < pods.created;
        let with = |available| SetPods { gone, created, shed, available };
        if least == most { vec![with(most)] } else { vec![with(most), with(least)] }
    }

    /// The sets whose status the Deployment's controller has not seen.
    fn unseen(&self, state: &Simulated) -> Vec<usize> {
        let is_unseen = |(index, set): &(usize, &SimulatedSet)| {
            set.before.is_some()
                || self.status(*index, set.pods) != [set.seen.status_replicas, set.seen.available_replicas]
        };
        state.sets.iter().enumerate().filter(is_unseen).map(|(index, _)| index).collect()
    }

    /// The state once the statuses of all sets but these have been seen.
    fn view(&self, state: &Simulated, late: &[usize]) -> Simulated {
        let mut view = state.clone();
        for (index, set) in view.sets.iter_mut().enumerate().filter(|(index, _)| !late.contains(index)) {
            [set.seen.status_replicas, set.seen.available_replicas] = self.status(index, set.pods);
            set.before = None;
        }
        view
    }

    /// Whether any pod of an old set still runs, or `unknown` if nobody knows.
    fn old_pods_run(&self, state: &Simulated, new: Option<usize>, unknown: bool) -> bool {
        state.sets.iter().enumerate().any(|(index, set)| {
            let start = &self.starts[index];
            let run = start.terminating > 0 || self.active(index, set.pods) > 0 || set.before.is_some();
            Some(index) != new && (run || set.pods.gone > start.unassigned || unknown && set.pods.shed)
        })
    }

    /// The sync that follows, in one or two ways.
    fn syncs(&self, state: &Simulated) -> Vec<Synced> {
        let is_open = matches!(self.deployment.strategy, Strategy::Recreate { .. })
            && state.sets.iter().any(|set| set.pods.shed);
        let all = if is_open { &[false, true][..] } else { &[false] };
        all.iter().map(|unknown| self.sync(state, *unknown)).collect()
    }

    fn sync(&self, state: &Simulated, unknown: bool) -> Synced {
        let records: Vec<_> = state.sets.iter().map(|set| set.seen).collect();
        let mut deployment = DeploymentState { status_replicas: state.status_replicas, ..*self.deployment };
        if let Strategy::Recreate { old_pods_run } = &mut deployment.strategy {
            *old_pods_run = self.old_pods_run(state, new_set(&records), unknown);
        }
        let sync = next_sync(&deployment, &records);
        let is_written =
            |(set, change): (&ReplicaSetState, &SizeChange)| set.with(change, &deployment, &sync) != *set;
        let writes = sync.creates || records.iter().zip(&sync.changes).any(is_written);
        Synced { deployment, sync, writes }
    }

    /// The states to which a sync leads.
    fn after(&self, view: &Simulated, synced: &Synced) -> Vec<Simulated> {
        let sync = &synced.sync;
        let seen = ReplicaSetState { has_template: true, ..ReplicaSetState::default() };
        let created = SimulatedSet { seen, pods: SetPods::default(), before: None };
        // It is the newest set, so it comes last.
        let created = sync.creates.then_some((&created, &sync.new_change));
        let mut states = vec![Vec::new()];
        for (index, (set, change)) in view.sets.iter().zip(&sync.changes).chain(created).enumerate() {
            let seen = set.seen.with(change, &synced.deployment, sync);
            let before = set.before.unwrap_or(set.pods);
            let mut ways = self.act(index, set.pods, seen.replicas);
            if seen.replicas > set.seen.replicas && set.before.is_some() {
                // Its controller may not have got to the smaller size.
                ways.extend(self.act(index, before, seen.replicas));
                ways.dedup();
            }
            let set = |pods| SimulatedSet { seen, pods, before: (pods != before).then_some(before) };
            let with = |sets: &Vec<SimulatedSet>, pods| [&sets[..], &[set(pods)]].concat();
            let all = states.iter().flat_map(|sets| ways.iter().map(move |pods| with(sets, *pods)));
            states = all.take(MOST_STATES).collect();
        }
        let state = |sets: Vec<SimulatedSet>| {
            let all = sets.iter().enumerate().map(|(index, set)| self.status(index, set.pods)[0]);
            Simulated { status_replicas: all.fold(0, i32::wrapping_add), sets }
        };
        states.into_iter().map(state).collect()
    }

    /// How the Deployment's controller may see a state, with what its sync does then, and whether these are all ways.
    fn successors(&self, state: &Simulated) -> (Vec<(Simulated, Synced)>, bool) {
        let (ways, are_all) = every_way(&self.unseen(state));
        let mut successors = Vec::new();
        for late in ways {
            let view = self.view(state, &late);
            // While a status is still to come, so is another sync.
            let syncs = self.syncs(&view).into_iter().filter(|synced| synced.writes || late.is_empty());
            successors.extend(syncs.map(|synced| (view.clone(), synced)));
        }
        (successors, are_all)
    }

    /// Looks at all states that can follow.
    fn explore(&self, start: &Simulated) -> Recorder {
        let mut recorder = Recorder::new(self.starts.len());
        let mut known = HashSet::from([start.clone()]);
        let mut next = vec![(start.clone(), 0)];
        recorder.record(None, start);
        while let Some((state, steps)) = next.pop() {
            let (successors, are_all) = self.successors(&state);
            recorder.is_complete &= are_all;
            for (view, synced) in successors {
                if !synced.writes {
                    // Of a rollback, it is not known what follows.
                    recorder.is_complete &= synced.sync.path != Path::Rollback && !synced.sync.is_rejected();
                    recorder.end(&view);
                    continue;
                }
                for after in self.after(&view, &synced) {
                    recorder.record(Some(&view), &after);
                    recorder.record_two_sizes(&view, &synced.sync.changes);
                    if known.contains(&after) {
                        continue;
                    }
                    if known.len() >= MOST_STATES || steps + 1 >= MOST_STEPS {
                        recorder.is_complete = false;
                    } else {
                        known.insert(after.clone());
                        next.push((after, steps + 1));
                    }
                }
            }
        }
        recorder
    }

    /// Plays one schedule: the controller sees every status immediately, or as late as possible.
    fn in_turn(&self, start: &Simulated, is_late: bool) -> (Vec<SimulatedSync>, (Synced, Simulated)) {
        let mut state = start.clone();
        let mut steps = Vec::new();
        // The first sync reads the statuses that are listed.
        let mut late = true;
        let mut gone = vec![0; self.starts.len()];
        loop {
            let unseen = if late { self.unseen(&state) } else { Vec::new() };
            let view = self.view(&state, &unseen);
            let synced = self.sync(&view, false);
            if steps.len() >= MOST_STEPS || !synced.writes && unseen.is_empty() {
                return (steps, (synced, view));
            }
            late = is_late && synced.writes;
            if !synced.writes {
                continue;
            }
            state = self.after(&view, &synced).swap_remove(0);
            let set = |(index, set): (usize, &SimulatedSet)| SizeStep {
                replica_set: None,
                from: view.sets.get(index).map_or(0, |set| set.seen.replicas),
                to: set.seen.replicas,
                delete: set.pods.gone - mem::replace(&mut gone[index], set.pods.gone),
            };
            let sets = state.sets.iter().enumerate().map(set).collect();
            steps.push(SimulatedSync { path: synced.sync.path, sets });
        }
    }

    fn rest(&self, (synced, state): (Synced, Simulated)) -> SteadyState {
        let new = synced.sync.new_set;
        let old = state.sets.iter().enumerate().filter(|(index, _)| Some(*index) != new);
        let terminating = old.map(|(index, set)| {
            let start = &self.starts[index];
            start.terminating + set.pods.gone.saturating_sub(start.unassigned)
        });
        SteadyState {
            terminating: terminating.sum(),
            deployment: synced.deployment,
            sync: synced.sync,
            sets: state.sets.iter().map(|set| set.seen).collect(),
        }
    }
}
