//! The end of a run: watches the wanted pods, takes costs off, gives the lock back, looks which pods went, by UID, and tells it against
//! what was confirmed.

use super::Failure;
use super::outcome::{Exit, Named, Outcome, Step};
use super::run::Run;
use super::wishes;
use crate::progress::Waiting;
use podrank_predict::MOST_IN_ONE_SYNC;
use podrank_predict::plan::{Plan, PlannedPod, State, keeps};
use std::time::{Duration, Instant};

/// The time between two looks while the controllers work.
const PAUSE: Duration = Duration::from_millis(250);
/// After this many looks in a row at which nothing is left to wait for, the watch ends although wanted pods are left.
const STABLE: u32 = 4;

/// What was seen once the count had fallen.
pub(super) struct Seen {
    /// The last state that could be read.
    pub(super) state: Option<State>,
    /// Why the watch ended before the controllers were done.
    pub(super) early: Option<String>,
}

/// What became of the pods that were confirmed, and of those that were to stay.
struct Fates {
    went: Vec<Named>,
    missed: Vec<Named>,
    others: Vec<Named>,
}

impl Run<'_> {
    /// Waits until the wanted pods have gone.
    pub(super) fn watch(&self, plan: &Plan) -> Seen {
        self.step(Step::Watch);
        // Each sync gets that long.
        let syncs = plan.delete.div_ceil(MOST_IN_ONE_SYNC).max(1);
        let end = Instant::now() + self.how.timeout * u32::try_from(syncs).unwrap_or(1);
        let waiting = Waiting::new();
        let (mut stable, mut last) = (0, None);
        loop {
            let mut early = String::from("the pods did not go in time");
            match self.cluster.state() {
                Ok(state) => {
                    let left = plan.wanted().filter(|pod| state.has(&pod.uid)).count();
                    waiting.tell(&format!(
                        "waiting for pods to go: {} of {}",
                        plan.delete - left,
                        plan.delete
                    ));
                    // The controllers are done, or have got another count.
                    let is_over =
                        !state.lags && (state.pods.len() <= plan.left || state.replicas != plan.replicas);
                    stable = if is_over || left == 0 { stable + 1 } else { 0 };
                    let is_done = left == 0 && is_over || stable >= STABLE;
                    last = Some(state);
                    if is_done {
                        return Seen { state: last, early: None };
                    }
                }
                Err(error) => early = error.to_string(),
            }
            if self.interrupt.is_set() {
                "interrupted".clone_into(&mut early);
            }
            if self.interrupt.is_set() || Instant::now() > end {
                return Seen { state: last, early: Some(early) };
            }
            self.interrupt.sleep(PAUSE);
        }
    }

    /// Compares what went with what was confirmed, by UID, and takes costs off the pods that stay.
    pub(super) fn conclude(&mut self, plan: &Plan, seen: Seen) -> Outcome {
        let who = if self.is_count_of_other { " by somebody else" } else { "" };
        let scaled =
            format!("{} was scaled from {} to {}{who}", plan.target, self.confirmed.from, plan.replicas);
        let report = self.report_of(plan);
        let (state, early) = match seen {
            Seen { state: Some(state), early } => (state, early),
            Seen { state: None, early } => {
                let why = early.unwrap_or_default();
                let message = format!(
                    "{scaled}, but it is not known which pods went: {why}; when they have gone, run: {}",
                    self.cluster.undo()
                );
                return self
                    .finish(Outcome { left: self.left(), ..Outcome::of(Exit::Left, report, message) });
            }
        };
        let Fates { went, missed, others } = fates(plan, &state);
        if let Some(why) = early {
            let message = format!(
                "{scaled}, but {why}: {} of the {} wanted pods have gone so far; when all have, run: {}",
                went.len(),
                went.len() + missed.len(),
                self.cluster.undo()
            );
            let left = self.left();
            return self.finish(Outcome { went, missed, left, ..Outcome::of(Exit::Left, report, message) });
        }
        let occupied = self.occupied(&report);
        let is_exact = missed.is_empty() && others.is_empty();
        let mut message = if is_exact {
            let unmet: Vec<_> =
                report.unmet().iter().map(|unmet| format!("; {}", unmet.afterwards())).collect();
            let kind = if unmet.is_empty() { "wanted" } else { "planned" };
            let pods = match went.len() {
                1 => format!("the {kind} pod"),
                count => format!("the {count} {kind} pods"),
            };
            format!("{scaled}: {pods} went, and no other{}", unmet.concat())
        } else {
            format!("{scaled}, but not all went as planned")
        };
        say(&mut message, "these stayed", &missed);
        say(&mut message, "these went although they should have stayed", &others);
        message.extend(occupied.iter().map(|text| format!("; {text}")));
        message.extend(self.count_now(plan, &state));
        let mut exit = if is_exact && occupied.is_empty() { Exit::Done } else { Exit::Others };
        let mut left = if self.how.keep_costs { self.left() } else { Vec::new() };
        if !self.how.keep_costs
            && let Err(error) = self.put_back()
        {
            exit = Exit::Left;
            left = self.left();
            message.extend(["; costs are left: ", &error.to_string(), "; run: ", &self.cluster.undo()]);
        }
        self.finish(Outcome { went, missed, others, left, ..Outcome::of(exit, report, message) })
    }

    /// Ends the run before podrank has changed the count.
    pub(super) fn abort(&mut self, why: &str) -> Outcome {
        let put_back = self.put_back();
        self.aborted(why, put_back)
    }

    /// Tells of a run that has tried to take its costs off.
    pub(super) fn aborted(&mut self, why: &str, put_back: Result<State, Failure>) -> Outcome {
        let mut message = format!("{} was not scaled: {why}", self.confirmed.target);
        let report = self.confirmed.clone();
        let had_written = self.has_written || self.at_put_back.is_some();
        let state = match put_back {
            Ok(state) => state,
            Err(error) if self.has_written => {
                message.extend(["; costs are left: ", &error.to_string()]);
                message.extend(["; run: ", &self.cluster.undo()]);
                return self
                    .finish(Outcome { left: self.left(), ..Outcome::of(Exit::Left, report, message) });
            }
            Err(error) => {
                message.extend(["; its pods cannot be read: ", &error.to_string()]);
                return self.finish(Outcome::of(Exit::Unchanged, report, message));
            }
        };
        let Fates { went, others, .. } = fates(&self.confirmed, &state);
        let is_rescaled = state.replicas != self.confirmed.from;
        if had_written {
            message.push_str("; all costs are put back");
        }
        let have_gone = !(went.is_empty() && others.is_empty());
        if is_rescaled && have_gone {
            message.extend(["; its count is ", &state.replicas.to_string(), " now"]);
        }
        say(&mut message, "of the wanted pods, these went meanwhile", &went);
        say(&mut message, "these went, too", &others);
        // While podrank's costs stood, these may have gone by them.
        let exit = if is_rescaled && had_written && have_gone { Exit::Others } else { Exit::Unchanged };
        self.finish(Outcome { went, others, ..Outcome::of(exit, report, message) })
    }

    /// Ends the run when it is not known whether the count has changed.
    pub(super) fn unknown(&mut self, why: &str) -> Outcome {
        let message = format!(
            "{}: {why}; look at its count, and when its pods have gone, run: {}",
            self.confirmed.target,
            self.cluster.undo()
        );
        let left = self.left();
        self.finish(Outcome { left, ..Outcome::of(Exit::Left, self.confirmed.clone(), message) })
    }

    /// Takes costs off once, unless another run has the lock. Returns the state afterwards.
    pub(super) fn put_back(&mut self) -> Result<State, Failure> {
        if let Some(state) = &self.at_put_back {
            return Ok(state.clone());
        }
        if !self.has_written {
            return self.cluster.state();
        }
        self.step(Step::CleanUp);
        let state = match self.still_locked() {
            Ok(()) => self.cluster.take_off(self.own_costs())?.1,
            // Another run may have written those that there are.
            Err(why) => match self.cluster.state()? {
                state if state.steered().next().is_none() => state,
                _ => return Err(why.into()),
            },
        };
        self.has_written = false;
        self.at_put_back = Some(state.clone());
        Ok(state)
    }

    /// Gives the lock back, and adds what is left besides costs.
    fn finish(&mut self, mut outcome: Outcome) -> Outcome {
        let lock = self.unlock();
        for text in self.left_behind.iter().chain(&lock) {
            outcome.exit = Exit::Left;
            outcome.message.extend(["; ", text]);
        }
        if outcome.exit == Exit::Done {
            outcome.message.push('.');
        }
        self.step(Step::Report);
        outcome.steps = self.steps();
        outcome
    }

    /// The confirmed plan, but with the pods that the last plan wanted, those that came since, and what becomes of the nodes.
    fn report_of(&self, last: &Plan) -> Plan {
        let wanted = |pod: &PlannedPod| last.wanted().any(|it| it.uid == pod.uid);
        let mut plan = self.confirmed.clone();
        for pod in &mut plan.pods {
            pod.is_wanted = wanted(pod);
        }
        let is_new = |pod: &&PlannedPod| !self.confirmed.pods.iter().any(|known| known.uid == pod.uid);
        plan.pods.extend(last.pods.iter().filter(is_new).cloned());
        plan
    }

    /// The nodes that were to become empty and are not.
    fn occupied(&self, report: &Plan) -> Vec<String> {
        let promised: Vec<_> = report.nodes.iter().flatten().filter(|node| node.becomes_empty).collect();
        if promised.is_empty() {
            return Vec::new();
        }
        match wishes::everybody(&self.cluster) {
            Ok(now) => {
                let nodes = now.left_on(promised.iter().map(|node| &*node.name));
                keeps(&nodes).map(|text| format!("but {text}")).collect()
            }
            Err(error) => vec![format!("whether nodes became empty cannot be read: {error}")],
        }
    }

    /// The count, if somebody has changed it since.
    fn count_now(&self, plan: &Plan, state: &State) -> Option<String> {
        if state.replicas == plan.replicas {
            return None;
        }
        let again = if state.replicas == self.confirmed.from { "again" } else { "now" };
        let who = self.cluster.count_writer().map_or_else(String::new, |who| format!(", written by {who}"));
        Some(format!("; the count is {} {again}{who}", state.replicas))
    }

    fn left(&self) -> Vec<Named> {
        let state = self.cluster.state();
        let of = |state: State| {
            state.steered().map(|pod| Named { name: pod.name.clone(), uid: pod.uid.clone() }).collect()
        };
        state.map(of).unwrap_or_default()
    }
}

/// Adds these pods to a message, if there are any.
fn say(message: &mut String, what: &str, pods: &[Named]) {
    if !pods.is_empty() {
        let names: Vec<_> = pods.iter().map(|pod| pod.name.as_str()).collect();
        message.extend(["; ", what, ": ", &names.join(", ")]);
    }
}

/// Looks which of the wanted pods and of those that a plan keeps are gone.
fn fates(plan: &Plan, state: &State) -> Fates {
    let named = |pods: Vec<&PlannedPod>| pods.into_iter().map(Named::of).collect();
    let (missed, went) = plan.wanted().partition(|pod| state.has(&pod.uid));
    let stays = |pod: &&PlannedPod| !pod.is_wanted && !state.has(&pod.uid);
    let others = plan.pods.iter().filter(stays).collect();
    Fates { went: named(went), missed: named(missed), others: named(others) }
}
