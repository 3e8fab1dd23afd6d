//! Decides which of a Deployment's pods are deleted until its syncs change nothing more. [`simulate`] decides how many
//! of each set, and the core decides which.

use crate::answer::{
    Cases, CountRange, EndState, GroupAtEnd, PodAnswer, Probability, RolloutEnd, SizeStep, StepPreview,
    Verdict, WaitsFor,
};
use crate::decide::rollout::sample::{SetDeletion, sample};
use crate::decide::rollout::simulate::{Endings, SetEnd, SetStart, SimulatedSync, SteadyState, simulate};
use crate::decide::{MOST_IN_ONE_SYNC, RankRange, Ranking, Scene, agree, groups, lasting};
use crate::question::{Options, Order};
use crate::reason::{Chance, RankedPod, Reason};
use crate::snapshot::to_time;
use crate::sync::deployment::{
    DeploymentState, Path, ReplicaSetState, SizeChange, SizeReason, Strategy, Sync,
};
use crate::text::number;
use podrank::controller::{Availability, availability};
use podrank::{Phase, Policy, Uid};
use std::collections::{BTreeSet, HashMap};

/// The outcome for all pods.
pub(crate) struct RolloutOutcome<'a> {
    /// Those of each set, in deletion order.
    pub(crate) pods: Vec<Vec<PodAnswer<'a>>>,
    /// The next sync.
    pub(crate) first: Sync,
    pub(crate) steps: Vec<StepPreview<'a>>,
    pub(crate) rest: EndState<'a>,
    /// Whether another sync immediately follows the next one, and writes something.
    pub(crate) goes_on: bool,
    /// For each set, why there are no probabilities for its possible pods.
    pub(crate) without_odds: Vec<Option<String>>,
}

/// How many of a set's pods are deleted. If Kubernetes also deletes pods that it creates during the rollout, it may
/// delete equally young pods in their place.
fn gone(own: &[RankedPod<'_>], fate: &SetEnd) -> CountRange {
    let is_young = |pod: &&RankedPod<'_>| pod.pod.node().is_none() || pod.record.phase == Phase::PENDING;
    let young = number(own.iter().filter(is_young).count());
    let CountRange { min, max } = fate.gone;
    CountRange { min, max: max.max(max.saturating_add(fate.replaced).min(young)).min(number(own.len())) }
}

/// Whether pods of a set go before its count changes, in one sync, and no other set's pods go or come until then.
fn is_alone(index: usize, outcome: &Endings, gone: CountRange) -> bool {
    let is_only = |(its, fate): (usize, &SetEnd)| its == index || fate.size.max == 0 && fate.gone.max == 0;
    let fits = outcome.steps.len() <= 1 && gone.max as usize <= MOST_IN_ONE_SYNC;
    fits && outcome.fates[index].is_surplus && outcome.fates.iter().enumerate().all(is_only)
}

/// The sets with their pods.
pub(crate) struct RankedSets<'c, 'a> {
    options: &'c Options,
    policy: Policy,
    scenes: &'c [Scene<'c, 'a>],
}

impl<'c, 'a> RankedSets<'c, 'a> {
    pub(crate) fn of(scenes: &'c [Scene<'c, 'a>], options: &'c Options) -> Self {
        Self { options, policy: Policy::at(to_time(options.now)).with_gates(options.gates), scenes }
    }

    /// Simulates a Deployment's syncs to their end.
    pub(crate) fn end(&self, deployment: &DeploymentState, starts: Vec<SetStart>) -> RolloutOutcome<'a> {
        let outcome = simulate(deployment, starts);
        let mut rest = rest_of(&outcome);
        let new = outcome.rest.sync.new_set;
        let is_later = |index: usize| rest.waits_for == Some(WaitsFor::NewPods) && Some(index) != new;

        let sets = self.scenes.iter().zip(&outcome.fates);
        let gone: Vec<_> = sets.map(|(scene, fate)| gone(&scene.own, fate)).collect();
        let (mut pods, without_odds) = self.pods(&outcome, &gone);
        for (_, previews) in pods.iter_mut().enumerate().filter(|(index, _)| is_later(*index)) {
            for pod in previews.iter_mut().filter(|pod| pod.verdict == Verdict::Kept) {
                (pod.verdict, pod.reason) = (Verdict::Waiting, Reason::AfterNewPods);
            }
        }
        let name = |index: usize| self.scenes.get(index).map(|scene| scene.id.name);
        let sets = outcome.fates.iter().enumerate().map(|(index, fate)| GroupAtEnd {
            replica_set: name(index),
            replicas: fate.size,
            delete: gone.get(index).copied().unwrap_or(fate.gone),
        });
        rest.sets = sets.filter(|set| set.replicas.max > 0 || set.delete.max > 0).collect();
        rest.delete.max +=
            gone.iter().zip(&outcome.fates).map(|(gone, fate)| gone.max - fate.gone.max).sum::<u32>();
        RolloutOutcome {
            pods,
            steps: steps(&outcome, name),
            rest,
            goes_on: outcome.steps.len() > usize::from(outcome.first.writes),
            without_odds,
            first: outcome.first.sync,
        }
    }

    fn line(&self, index: usize, delete: u32, race: &RankRange<'_>) -> Ranking<'a> {
        Ranking::up(self.options.order, self.policy, &self.scenes[index].own, delete as usize, Some(race))
    }

    /// The pods of each set, and why there are no probabilities for the possible ones, if there are none.
    fn pods(&self, outcome: &Endings, gone: &[CountRange]) -> (Vec<Vec<PodAnswer<'a>>>, Vec<Option<String>>) {
        let races = self.races(&outcome.fates, gone);
        let mut sampled = None;
        let nothing = RankRange::default();
        let pods = |(index, (gone, race)): (usize, (&CountRange, &RankRange<'a>))| {
            if let Some(previews) = self.in_turn(index, outcome, *gone) {
                return (previews, None);
            }
            let is_open = gone.min != gone.max;
            // One sync takes the fewest or the most of the pods that there are, before any are created.
            let race = if is_open && is_alone(index, outcome, *gone) { &nothing } else { race };
            let most = self.line(index, gone.max, race);
            if is_open {
                let least = self.line(index, gone.min, race);
                let odds = |line: &Ranking<'a>| line.probabilities(self.options).unwrap_or_default();
                let cases = [least, most].map(|line| line.answers(&odds(&line))).into();
                return (agree(cases, Cases::Unknown, Chance::Timing(gone.min, gone.max)), None);
            }
            let is_alone = outcome.fates[index].first == 0 && !most.is_race;
            let odds = if is_alone || most.is_certain() || !self.options.probabilities {
                most.probabilities(self.options)
            } else {
                sampled.get_or_insert_with(|| self.sample(outcome)).clone()
            };
            (most.answers(odds.as_ref().unwrap_or(&HashMap::new())), odds.err())
        };
        gone.iter().zip(&races).enumerate().map(pods).unzip()
    }

    /// The pods of a set of which some are deleted before its count changes, as long as nothing else changes ranks: its
    /// controller deletes them together with the rest or earlier. `None` if that is not so, or if chance decides which
    /// are deleted earlier.
    fn in_turn(&self, index: usize, outcome: &Endings, gone: CountRange) -> Option<Vec<PodAnswer<'a>>> {
        let fate = &outcome.fates[index];
        let is_alone = fate.after.is_empty() && fate.coming == 0 && outcome.steps.len() <= 1;
        if !is_alone || fate.first == 0 || gone.min != gone.max || gone.max as usize > MOST_IN_ONE_SYNC {
            return None;
        }
        let nothing = RankRange::default();
        let before = self.line(index, fate.first.min(gone.max), &nothing);
        let together = self.line(index, gone.max, &nothing);
        if !before.is_certain() {
            return None;
        }
        let [victims, _, survivors] = before.parts();
        let mut without = RankRange::default();
        without.lose(number(victims.len()), victims.iter().map(|its| its.pod.node()));
        let mut left = survivors.to_vec();
        for its in &mut left {
            its.record.rank = without.range(its.pod.node(), &its.record).min;
        }
        let delete = gone.max as usize - victims.len();
        let after = Ranking::up(self.options.order, self.policy, &left, delete, None);
        let no_odds = HashMap::new();
        let first = before.answers(&no_odds).into_iter().filter(|pod| pod.verdict == Verdict::Deleted);
        let in_turn = first.chain(after.answers(&no_odds)).collect();
        Some(agree(vec![in_turn, together.answers(&no_odds)], Cases::Unknown, Chance::Turns))
    }

    /// How many pods of a set are available once so many of them are deleted, for each number: the least and the most. Other sets' pods
    /// may change ranks before that, and deletions may take several syncs.
    pub(crate) fn available(&self, own: &[RankedPod<'_>], min_ready_seconds: u32) -> Vec<(u32, u32)> {
        let Self { policy, options: Options { order, .. }, .. } = self;
        let records: Vec<_> = own.iter().map(|pod| pod.record).collect();
        let all = groups(*policy, *order, &records);
        let ends = |groups: &[Vec<usize>]| {
            let mut cuts = vec![(0, 0)];
            for group in groups {
                let (start, end) = (cuts.len() - 1, cuts.len() - 1 + group.len());
                cuts.extend((start + 1..end).map(|_| (start, end)).chain([(end, end)]));
            }
            cuts
        };
        // For each number of deletions, the places of the pods of which some are deleted.
        let line = all.concat();
        let (mut cuts, exact) = (ends(&all), ends(&all));
        if *order == Order::Kubernetes {
            let lasting: Vec<_> = records.iter().map(lasting).collect();
            cuts = ends(&groups(*policy, *order, &lasting));
            let shares_node = |pair: &[usize]| own[pair[0]].pod.node() == own[pair[1]].pod.node();
            let mut known = ((0, 0), false);
            for (delete, cut) in cuts.iter_mut().enumerate() {
                if known.0 != *cut {
                    known = (*cut, line[cut.0..cut.1].windows(2).all(shares_node));
                }
                // No rank changes among pods of one node, unless a later sync counts them again.
                *cut = match (known.1, delete) {
                    (false, _) => *cut,
                    (true, ..=MOST_IN_ONE_SYNC) => exact[delete],
                    (true, _) => (exact[MOST_IN_ONE_SYNC].0.max(cut.0), cut.1),
                };
            }
        }
        // How many pods are available from each place on.
        let mut safe = vec![0; line.len() + 1];
        for (place, &index) in line.iter().enumerate().rev() {
            let availability = availability(&records[index], min_ready_seconds, policy.now);
            safe[place] = safe[place + 1] + u32::from(availability == Availability::Available);
        }
        let of = |(delete, (start, end)): (usize, (usize, usize))| {
            let open = safe[start] - safe[end];
            let [quota, stay] = [delete - start, end - delete].map(number);
            (safe[end] + open.saturating_sub(quota), safe[end] + open.min(stay))
        };
        cuts.into_iter().enumerate().map(of).collect()
    }

    /// What may change the ranks of each set's pods before its controller reads them.
    fn races(&self, fates: &[SetEnd], gone: &[CountRange]) -> Vec<RankRange<'a>> {
        let mut nodes = Vec::new();
        for (index, gone) in gone.iter().enumerate() {
            let line = self.line(index, gone.max, &RankRange::unknown());
            let [victims, contested, _] = line.parts();
            nodes.push(victims.iter().chain(contested).map(|pod| pod.pod.node()).collect::<Vec<_>>());
        }
        let race = |(index, fate): (usize, &SetEnd)| {
            let mut race = RankRange::default();
            race.gain(fate.coming);
            race.lose(fate.first, nodes[index].iter().copied());
            for &other in fate.after.iter().filter(|other| **other < gone.len()) {
                race.lose(gone[other].max, nodes[other].iter().copied());
            }
            race
        };
        fates.iter().take(gone.len()).enumerate().map(race).collect()
    }

    /// How likely pods go if that depends on more than one list.
    fn sample(&self, outcome: &Endings) -> Result<HashMap<Uid, Probability>, String> {
        let mut schedules: Vec<Vec<SetDeletion>> = Vec::new();
        for steps in [&outcome.steps, &outcome.late_steps] {
            for is_reversed in [false, true] {
                let events = events(steps, self.scenes.len(), is_reversed);
                if !schedules.contains(&events) {
                    schedules.push(events);
                }
            }
        }
        sample(&self.policy, self.scenes.iter().map(|scene| scene.own.clone()).collect(), &schedules)
    }
}

/// The deletions in turn. Nobody knows which set's pods go first in one step.
fn events(steps: &[SimulatedSync], sets: usize, is_reversed: bool) -> Vec<SetDeletion> {
    let deletions = |step: &SimulatedSync| {
        let own = step.sets.iter().take(sets).enumerate();
        let own = own.map(|(set, its)| SetDeletion { set, count: its.delete as usize });
        let mut now: Vec<_> = own.filter(|event| event.count > 0).collect();
        if is_reversed {
            now.reverse();
        }
        now
    };
    steps.iter().flat_map(deletions).collect()
}

fn sum(numbers: impl Iterator<Item = i32>) -> i64 {
    numbers.map(i64::from).sum()
}

/// The pods of a set that are not available.
fn missing(set: &ReplicaSetState) -> i32 {
    set.replicas.saturating_sub(set.available_replicas).max(0)
}

/// What follows: without sets and counts, which are not known here.
fn rest_of<'a>(outcome: &Endings) -> EndState<'a> {
    let rest = &outcome.rest;
    let is_old = |index: &usize| rest.sync.new_set != Some(*index);
    let old = rest.sets.iter().enumerate().filter(|(index, _)| is_old(index)).map(|(_, set)| set);
    let old: Vec<_> = old.collect();
    let old_pods = sum(old.iter().map(|set| set.replicas));
    let (waits_for, pods) = waits_for(rest, &old, old_pods);
    let goes_later = matches!(waits_for, Some(WaitsFor::NewPods | WaitsFor::Resume));
    let in_use = rest.sets.iter().filter(|set| set.replicas > 0);
    let end = RolloutEnd {
        new_pods: rest.deployment.replicas.unsigned_abs(),
        unavailable: number(sum(in_use.map(missing))),
        is_rollback: rest.sync.path == Path::Rollback,
        is_rejected: rest.sync.changes.iter().any(|change| change.reason == SizeReason::Rejected),
        follows: outcome.steps.iter().any(|step| step.sets.iter().any(|set| set.from != set.to)),
    };
    EndState {
        sets: Vec::new(),
        delete: outcome.gone,
        waits_for,
        pods,
        then: if goes_later { number(old_pods) } else { 0 },
        is_certain: outcome.is_complete,
        rollout: Some(end),
        names: BTreeSet::new(),
    }
}

/// What the Deployment waits for, and for how many pods: 0 if that is not known. `None` if another sync follows immediately, or if
/// nothing follows.
fn waits_for(rest: &SteadyState, old: &[&ReplicaSetState], old_pods: i64) -> (Option<WaitsFor>, u32) {
    let SteadyState { deployment, sync, sets, terminating } = rest;
    let new = sync.new_set.and_then(|index| sets.get(index));
    let new_missing = i64::from(new.map_or(0, missing));
    let at_most = |pods: i64| if pods <= new_missing { u32::try_from(pods).unwrap_or(0) } else { 0 };
    let needed = || {
        let least = i64::from(deployment.replicas) - i64::from(sync.budgets.unavailable);
        let in_use = || sets.iter().filter(|set| set.replicas > 0);
        let spare = sum(in_use().map(|set| set.replicas)) - least - new_missing;
        let excess = sum(in_use().map(|set| set.available_replicas)) - least;
        let has_unavailable_old = old.iter().any(|set| set.replicas > 0 && missing(set) > 0);
        if has_unavailable_old { 1 - spare } else { (1 - spare).max(1 - excess) }
    };

    let count = deployment.replicas;
    let is_over = sync.path == Path::Nothing || new.is_some_and(|new| new.replicas == count) && old_pods == 0;
    let unless_changed = match sync.path {
        _ if is_over || sets.is_empty() => None,
        _ if deployment.is_paused && old_pods > 0 => Some(WaitsFor::Resume),
        Path::Scale if !deployment.is_paused => Some(WaitsFor::AnotherCount),
        _ => None,
    };

    let mut changes = sync.changes.iter().enumerate().filter(|(index, _)| Some(*index) != sync.new_set);
    let keeps_old_pods = changes.any(|(_, change)| change.replicas > 0);
    let has_count = (sync.new_set.is_some() || sync.creates) && sync.new_change.replicas == count;
    // The annotation of a set still records another count, so each sync scales, and none rolls.
    let does_not_roll = |change: &SizeChange| {
        change.reason == SizeReason::NotRolling || change.reason == SizeReason::OnlyActive && change.part == 0
    };
    let scales_again =
        deployment.is_paused || sync.path == Path::Scale && sync.changes.iter().any(does_not_roll);
    let records_count = new.is_some_and(|new| new.desired.leniently() == Some(count));
    match deployment.strategy {
        _ if sync.goes_on(deployment, sets) => (None, 0),
        _ if sync.path == Path::Nothing || has_count && !keeps_old_pods => (unless_changed, 0),
        Strategy::RollingUpdate { .. } if !scales_again => (Some(WaitsFor::NewPods), at_most(needed())),
        Strategy::Recreate { .. } if !scales_again => (Some(WaitsFor::OldPods), *terminating),
        Strategy::Recreate { .. } if !records_count => (unless_changed, 0),
        // Even if the Deployment is paused. With a RollingUpdate, proportional scaling has just recorded the count.
        _ if has_count => (Some(WaitsFor::NewPods), at_most(new_missing)),
        _ => (unless_changed, 0),
    }
}

fn steps<'a>(outcome: &Endings, name: impl Fn(usize) -> Option<&'a str>) -> Vec<StepPreview<'a>> {
    let step = |SimulatedSync { path, sets, .. }: &SimulatedSync| {
        let sets = sets.iter().enumerate().filter(|(_, set)| set.from != set.to || set.delete > 0);
        let sets = sets.map(|(index, set)| SizeStep { replica_set: name(index), ..*set }).collect();
        StepPreview { path: path.name(), sets }
    };
    outcome.steps.iter().map(step).filter(|step| !step.sets.is_empty()).collect()
}
