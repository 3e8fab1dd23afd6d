//! What becomes of a Deployment's pods by the time its syncs lead to nothing more. Which pods of a set go is the core's decision, and
//! how many is that of [`play`].

use crate::answer::odds::{Cases, Odds};
use crate::answer::preview::{PodPreview, Verdict};
use crate::answer::rest::{Bounds, Facts, Rest, SetAtRest, SetStep, StepPreview, WaitsFor};
use crate::ask::options::Options;
use crate::decide::agree::agree;
use crate::decide::line::Line;
use crate::decide::members::{RankedPod, ranked};
use crate::decide::next::{Next, what_is_next};
use crate::decide::play::{Fate, Outcome, Played, Start, play};
use crate::decide::race::Race;
use crate::decide::sample::{Event, sample};
use crate::decide::set::Scene;
use crate::object::time::to_time;
use crate::words::error::Error;
use podrank::controller::deployment::{Deployment, Path, Reason, ReplicaSet};
use podrank::controller::{Availability, availability};
use podrank::{Phase, Pod, Policy, Uid};
use std::cell::RefCell;
use std::collections::HashMap;

/// One of the Deployment's sets.
pub(crate) struct Actor<'s, 'a> {
    pub(crate) scene: &'s Scene<'a>,
    /// What the Deployment's controller reads of it.
    pub(crate) record: ReplicaSet,
    pub(crate) min_ready_seconds: u32,
    pub(crate) is_idle: bool,
    /// Its pods that are being deleted and have not ended.
    pub(crate) terminating: u32,
}

/// What becomes of the pods.
pub(crate) struct End<'a> {
    /// Those of each set, in the order in which they go.
    pub(crate) pods: Vec<Vec<PodPreview<'a>>>,
    pub(crate) steps: Vec<StepPreview<'a>>,
    pub(crate) rest: Rest<'a>,
    pub(crate) next: Next,
    /// Whether a sync follows the next one at once, and writes something.
    pub(crate) goes_on: bool,
    /// Why there are no odds for the contested pods of a set.
    pub(crate) without_odds: Vec<(usize, String)>,
}

/// Plays a Deployment's syncs to their end. `names` are those of the sets, in the order of `actors`.
pub(crate) fn end<'a>(
    deployment: &Deployment,
    actors: &[Actor<'_, 'a>],
    names: &[&'a str],
    options: &Options,
) -> Result<End<'a>, Error> {
    let own: Vec<_> = actors.iter().map(|actor| ranked(actor.scene.members())).collect();
    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let crowd = Crowd { options, policy, own: &own };
    let failed = RefCell::new(None);
    let start = |(index, actor): (usize, &Actor<'_, 'a>)| {
        let own = &own[index];
        Start {
            record: actor.record,
            pods: number(own.len()),
            is_idle: actor.is_idle,
            unassigned: number(own.iter().filter(|(member, _)| member.record.node.is_none()).count()),
            terminating: actor.terminating,
            available: Box::new(crowd.available(index, actor.min_ready_seconds, &failed)),
        }
    };
    let outcome = play(deployment, actors.iter().enumerate().map(start).collect(), options.neglect);
    if let Some(error) = failed.take() {
        return Err(error);
    }
    let (next, facts) = facts(&outcome);
    let new = outcome.rest.step.new_set.map(|index| index as usize);
    let is_later = |index: usize| facts.waits_for == Some(WaitsFor::NewPods) && Some(index) != new;

    let gone: Vec<_> = own.iter().zip(&outcome.fates).map(|(own, fate)| gone(own, fate)).collect();
    let races = crowd.races(&outcome.fates, &gone)?;
    let mut sampled = None;
    let (mut pods, mut without_odds) = (Vec::new(), Vec::new());
    for (index, (gone, race)) in gone.iter().zip(&races).enumerate() {
        let most = crowd.line(index, gone.max, race)?;
        let mut previews = if gone.min == gone.max {
            let odds = if !options.odds || most.is_certain() {
                HashMap::new()
            } else if outcome.fates[index].first == 0 && !most.is_race() {
                without_odds.extend(most.without_odds().map(|why| (index, why)));
                most.odds()?
            } else {
                match sampled.get_or_insert_with(|| crowd.sample(&outcome)) {
                    Ok(odds) => odds.clone(),
                    Err(why) => {
                        without_odds.push((index, why.clone()));
                        HashMap::new()
                    }
                }
            };
            most.previews(&odds)
        } else {
            let least = crowd.line(index, gone.min, race)?;
            let odds = |line: &Line<'_, 'a>| if options.odds { line.odds() } else { Ok(HashMap::new()) };
            let why = format!(
                "{} to {} pods of this ReplicaSet go, by what the controllers see first",
                gone.min, gone.max
            );
            agree(vec![least.previews(&odds(&least)?), most.previews(&odds(&most)?)], Cases::Unknown, &why)
        };
        for pod in previews.iter_mut().filter(|pod| is_later(index) && pod.verdict == Verdict::Keep) {
            pod.verdict = Verdict::Later;
        }
        pods.push(previews);
    }
    let name = |index: usize| names.get(index).copied();
    Ok(End {
        pods,
        steps: steps(&outcome, name),
        rest: rest(&outcome, &gone, &facts, name),
        next,
        goes_on: outcome.steps.iter().any(|step| !step.is_next),
        without_odds,
    })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many of a set's pods go. If pods that are created meanwhile go again, pods that are as young may go in their place.
fn gone(own: &[RankedPod<'_, '_>], fate: &Fate) -> Bounds {
    let is_young =
        |(member, pod): &&RankedPod<'_, '_>| member.record.node.is_none() || pod.phase == Phase::PENDING;
    let young = number(own.iter().filter(is_young).count());
    let Bounds { min, max } = fate.gone;
    Bounds { min, max: max.max(max.saturating_add(fate.replaced).min(young)).min(number(own.len())) }
}

/// The pods of all sets.
struct Crowd<'c, 'a> {
    options: &'c Options,
    policy: Policy,
    own: &'c [Vec<RankedPod<'c, 'a>>],
}

impl<'c, 'a> Crowd<'c, 'a> {
    fn line(&self, index: usize, delete: u32, race: &Race<'_>) -> Result<Line<'c, 'a>, Error> {
        Line::up(self.options.order, self.policy, &self.own[index], delete as usize, Some(race))
    }

    /// How many pods of a set are available once so many have gone. An error is left in `failed`.
    fn available<'s>(
        &'s self,
        index: usize,
        min_ready_seconds: u32,
        failed: &'s RefCell<Option<Error>>,
    ) -> impl Fn(u32) -> (u32, u32) + 's {
        let known = RefCell::new(HashMap::new());
        let is_available =
            move |pod: &Pod| availability(pod, min_ready_seconds, self.policy.now) == Availability::Available;
        move |gone: u32| {
            *known.borrow_mut().entry(gone).or_insert_with(|| {
                match self.line(index, gone, &Race::unknown()) {
                    Ok(line) => {
                        let count = |pods: &[&RankedPod<'_, '_>]| {
                            number(pods.iter().filter(|(_, pod)| is_available(pod)).count())
                        };
                        let [_, contested, survivors] = line.parts();
                        let (safe, open) = (count(survivors), count(contested));
                        let [quota, stay] = [line.quota(), contested.len() - line.quota()].map(number);
                        (safe + open.saturating_sub(quota), safe + open.min(stay))
                    }
                    Err(error) => {
                        *failed.borrow_mut() = Some(error);
                        (0, 0)
                    }
                }
            })
        }
    }

    /// What may change the ranks of each set's pods before its controller reads them.
    fn races(&self, fates: &[Fate], gone: &[Bounds]) -> Result<Vec<Race<'c>>, Error> {
        let mut nodes = Vec::new();
        for (index, gone) in gone.iter().enumerate() {
            let line = self.line(index, gone.max, &Race::unknown())?;
            let [victims, contested, _] = line.parts();
            let node = |(member, _): &&RankedPod<'c, 'a>| member.record.node.as_deref();
            nodes.push(victims.iter().chain(contested).map(node).collect::<Vec<_>>());
        }
        let race = |(index, fate): (usize, &Fate)| {
            let mut race = Race::default();
            race.gain(fate.coming as usize);
            race.lose(fate.first as usize, nodes[index].iter().copied());
            for &other in fate.after.iter().filter(|other| **other < gone.len()) {
                race.lose(gone[other].max as usize, nodes[other].iter().copied());
            }
            race
        };
        Ok(fates.iter().take(gone.len()).enumerate().map(race).collect())
    }

    /// How likely pods go if that depends on more than one list.
    fn sample(&self, outcome: &Outcome) -> Result<HashMap<Uid, Odds>, String> {
        let mut schedules: Vec<Vec<Event>> = Vec::new();
        for steps in [Some(&outcome.steps), outcome.late_steps.as_ref()].into_iter().flatten() {
            for is_reversed in [false, true] {
                let events = events(steps, self.own.len(), is_reversed);
                if !schedules.contains(&events) {
                    schedules.push(events);
                }
            }
        }
        sample(&self.policy, self.own, &schedules)
    }
}

/// The deletions in turn. Nobody knows which set's pods go first in one step.
fn events(steps: &[Played], sets: usize, is_reversed: bool) -> Vec<Event> {
    let mut gone = vec![0; sets];
    let mut events = Vec::new();
    for step in steps {
        let mut now: Vec<_> = (0..sets.min(step.sets.len()))
            .map(|set| Event { set, count: step.sets[set].gone.saturating_sub(gone[set]) as usize })
            .filter(|event| event.count > 0)
            .collect();
        if is_reversed {
            now.reverse();
        }
        events.extend(now);
        for (gone, set) in gone.iter_mut().zip(&step.sets) {
            *gone = set.gone;
        }
    }
    events
}

/// What follows, and what the words about it read.
fn facts(outcome: &Outcome) -> (Next, Facts) {
    let rest = &outcome.rest;
    let sets: Vec<_> = rest.sets.iter().collect();
    let next = what_is_next(&rest.deployment, &rest.step, &rest.changes, &sets);
    let new = rest.step.new_set.and_then(|index| rest.sets.get(index as usize));
    let is_old = |index: &usize| rest.step.new_set.is_none_or(|new| new as usize != *index);
    let old = || rest.sets.iter().enumerate().filter(|(index, _)| is_old(index)).map(|(_, set)| set);
    let sum = |numbers: &mut dyn Iterator<Item = i32>| numbers.map(i64::from).sum::<i64>();
    let old_pods = sum(&mut old().map(|set| set.replicas));
    let missing = |set: &ReplicaSet| set.replicas.saturating_sub(set.available_replicas).max(0);
    let new_missing = i64::from(new.map_or(0, missing));

    let count = i64::from(rest.deployment.replicas);
    let least = count - i64::from(rest.step.budgets.unavailable);
    let in_use = || rest.sets.iter().filter(|set| set.replicas > 0);
    let spare = sum(&mut in_use().map(|set| set.replicas)) - least - new_missing;
    let excess = sum(&mut in_use().map(|set| set.available_replicas)) - least;
    let has_unavailable_old = old().any(|set| set.replicas > 0 && missing(set) > 0);
    let needed = if has_unavailable_old { 1 - spare } else { (1 - spare).max(1 - excess) };
    let at_most = |pods: i64| if pods <= new_missing { u32::try_from(pods).unwrap_or(0) } else { 0 };

    let is_stuck = rest.step.path == Path::Scale && !rest.deployment.is_paused;
    let has_count = new.is_some_and(|new| i64::from(new.replicas) == count);
    let is_over = rest.step.path == Path::Nothing || has_count && old_pods == 0;
    let (waits_for, pods) = match next {
        Next::NewPods => (Some(WaitsFor::NewPods), at_most(needed)),
        Next::AllNewPods(_) => (Some(WaitsFor::NewPods), at_most(new_missing)),
        Next::OldPods(_) => (Some(WaitsFor::OldPods), rest.terminating),
        Next::Nothing if is_over || sets.is_empty() => (None, 0),
        Next::Nothing if rest.deployment.is_paused && old_pods > 0 => (Some(WaitsFor::Resume), 0),
        Next::Nothing if is_stuck => (Some(WaitsFor::AnotherCount), 0),
        Next::Step | Next::Nothing => (None, 0),
    };
    let goes_later = matches!(waits_for, Some(WaitsFor::NewPods | WaitsFor::Resume));
    let facts = Facts {
        waits_for,
        pods,
        then: if goes_later { u32::try_from(old_pods).unwrap_or(u32::MAX) } else { 0 },
        new_pods: if let Next::OldPods(pods) = next { pods } else { 0 },
        unavailable: u32::try_from(sum(&mut in_use().map(missing))).unwrap_or(u32::MAX),
        is_certain: outcome.is_complete,
        is_rollback: rest.step.path == Path::Rollback,
        is_rejected: rest.changes.iter().any(|change| change.reason == Reason::Rejected),
        follows: outcome.steps.iter().any(|step| step.sets.iter().any(|set| set.from != set.to)),
    };
    (next, facts)
}

fn steps<'a>(outcome: &Outcome, name: impl Fn(usize) -> Option<&'a str>) -> Vec<StepPreview<'a>> {
    let mut gone = vec![0; outcome.fates.len()];
    let mut steps = Vec::new();
    for step in &outcome.steps {
        let mut sets = Vec::new();
        for (index, set) in step.sets.iter().enumerate() {
            let delete = set.gone - gone[index];
            gone[index] = set.gone;
            if set.from != set.to || delete > 0 {
                sets.push(SetStep { replica_set: name(index), from: set.from, to: set.to, delete });
            }
        }
        if !sets.is_empty() {
            steps.push(StepPreview { path: path_name(step.path), sets });
        }
    }
    steps
}

fn rest<'a>(
    outcome: &Outcome,
    gone: &[Bounds],
    facts: &Facts,
    name: impl Fn(usize) -> Option<&'a str>,
) -> Rest<'a> {
    let extra: u32 = gone.iter().zip(&outcome.fates).map(|(gone, fate)| gone.max - fate.gone.max).sum();
    let set = |(index, fate): (usize, &Fate)| SetAtRest {
        replica_set: name(index),
        replicas: fate.size,
        delete: gone.get(index).copied().unwrap_or(fate.gone),
    };
    let sets = outcome.fates.iter().enumerate().map(set);
    Rest {
        sets: sets.filter(|set| set.replicas.max > 0 || set.delete.max > 0).collect(),
        delete: Bounds { min: outcome.gone.min, max: outcome.gone.max + extra },
        waits_for: facts.waits_for,
        pods: facts.pods,
        then: facts.then,
        is_certain: facts.is_certain,
        waits: facts.waits(),
        text: facts.text(),
    }
}

pub(crate) fn path_name(path: Path) -> &'static str {
    match path {
        Path::Scale => "scale",
        Path::Roll => "roll",
        Path::Recreate => "recreate",
        Path::Rollback => "rollback",
        _ => "nothing",
    }
}
