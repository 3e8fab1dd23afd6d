//! The state `ending`: watches the selected pods, removes costs, deletes the Lease, and compares the deleted pods, by
//! UID, with the confirmed plan.

use super::Failure;
use super::interrupt;
use super::lock::{Lock, syncs};
use super::outcome::{Exit, Named, Outcome, RunError, Step};
use super::preferences;
use super::run::Run;
use crate::progress::Waiting;
use podrank_predict::plan::{ActivePod, Plan, PlannedPod, Progress, keeps};
use std::time::{Duration, Instant};

/// The time between two looks while the controllers work.
const PAUSE: Duration = Duration::from_millis(250);
/// After this many reads in a row at which there is nothing to wait for, the watch ends although selected pods still
/// exist.
const STABLE: u32 = 4;

impl Run<'_> {
    /// Waits until the selected pods have been deleted. Returns the plan that was proved, and the last state.
    pub(super) fn watch(&mut self, plan: Plan) -> Result<(Plan, Progress), RunError> {
        self.steps.push(Step::Watch);
        let end = Instant::now() + self.request.how.timeout.saturating_mul(syncs(&plan));
        let waiting = Waiting::new();
        let (mut stable, mut last) = (0, None);
        loop {
            let mut early = String::from("the pods were not deleted in time");
            match self.request.cluster.state() {
                Ok(state) => {
                    let left = plan.selected().filter(|pod| state.has(&pod.uid)).count();
                    waiting.tell(&format!("deleted {} of {} pods", plan.delete - left, plan.delete));
                    // The controllers are done, or have got another count.
                    let is_over =
                        !state.lags && (state.pods.len() <= plan.left || state.replicas != plan.replicas);
                    stable = if is_over || left == 0 { stable + 1 } else { 0 };
                    if left == 0 && is_over || stable >= STABLE {
                        return Ok((plan, state));
                    }
                    last = Some(state);
                }
                Err(error) => early = error.to_string(),
            }
            if interrupt::is_set() {
                return Err(RunError::incomplete("interrupted", plan, last));
            }
            if Instant::now() > end {
                return Err(RunError::incomplete(early, plan, last));
            }
            interrupt::sleep(PAUSE);
        }
    }

    /// Removes what the run leaves, and says what became of it.
    pub(super) fn end(mut self, deleted: Result<(Plan, Progress), RunError>) -> Outcome {
        let mut outcome = match deleted {
            Ok((plan, state)) => self.conclude(&plan, &state),
            Err(RunError::Unchanged(why)) => self.abort(&why),
            Err(RunError::Differs(how)) => Outcome { differs: true, ..self.abort(&how) },
            Err(RunError::Unknown(why)) => {
                let message = format!(
                    "{}: {why}\n  Check its replica count. When its pods are deleted, run: {}",
                    self.confirmed.target,
                    self.request.cluster.undo()
                );
                let left = self.left();
                Outcome { left, ..Outcome::of(Exit::Left, self.confirmed.clone(), message) }
            }
            Err(RunError::Incomplete(why, at)) => {
                let (plan, state) = *at;
                self.incomplete(&why, &plan, state)
            }
        };
        let lock = self.lock.take().map(|lock| {
            self.steps.push(Step::Unlock);
            lock.release().map_err(|left| format!("{left}\n  Run: {}", self.request.cluster.undo()))
        });
        for text in self.left_behind.into_iter().chain(lock.and_then(Result::err)) {
            outcome.exit = Exit::Left;
            outcome.message.extend(["\n  ", &text]);
        }
        if outcome.exit == Exit::Done {
            outcome.message.push('.');
        }
        self.steps.push(Step::Report);
        Outcome { steps: self.steps, ..outcome }
    }

    /// Compares the deleted pods with the confirmed plan, by UID, and removes costs from the pods that are kept.
    fn conclude(&mut self, plan: &Plan, state: &Progress) -> Outcome {
        let report = self.report_of(plan);
        let [went, missed, others] = fates(plan, state);
        let occupied = self.occupied(&report);
        let is_exact = missed.is_empty() && others.is_empty();
        let mut message = self.scaled(plan);
        if is_exact {
            let unmet: Vec<_> = report.unmet(true).iter().map(|unmet| format!("; {unmet}")).collect();
            let pods = match went.len() {
                1 => "the selected pod".to_owned(),
                count => format!("the {count} selected pods"),
            };
            message.extend([". Deleted exactly ", &pods, &unmet.concat()]);
        } else {
            message.push_str(", but not as planned");
            say(&mut message, "; deleted as selected", &went);
        }
        say(&mut message, "; kept although selected", &missed);
        say(&mut message, "; deleted although not selected", &others);
        message.extend(occupied.iter().map(|text| format!("; {text}")));
        message.extend(self.count_now(plan, state));
        let mut exit = if is_exact && occupied.is_empty() { Exit::Done } else { Exit::Others };
        let mut left = Vec::new();
        if self.request.how.keep_costs {
            left = self.left();
        } else if self.has_written
            && let Err(error) = self.clean_up()
        {
            exit = Exit::Left;
            left = self.left();
            self.say_left(&mut message, &error);
        }
        Outcome { went, missed, others, left, ..Outcome::of(exit, report, message) }
    }

    /// Ends the run after the scale-down, before the controllers are known to be done. It keeps the costs, so that
    /// Kubernetes deletes no other pods.
    fn incomplete(&self, why: &str, plan: &Plan, state: Option<Progress>) -> Outcome {
        let [scaled, undo] = [self.scaled(plan), self.request.cluster.undo()];
        let (mut went, mut missed) = Default::default();
        let message = if let Some(state) = state {
            [went, missed, _] = fates(plan, &state);
            let [gone, all] = [went.len(), went.len() + missed.len()];
            format!(
                "{scaled}, but {why}\n  {gone} of the {all} selected pods are deleted so far.\n  When all are, run: {undo}"
            )
        } else {
            format!(
                "{scaled}, but {why}\n  It is unknown which pods were deleted.\n  When they are, run: {undo}"
            )
        };
        Outcome { went, missed, left: self.left(), ..Outcome::of(Exit::Left, self.report_of(plan), message) }
    }

    /// Ends the run before podrank has changed the count.
    fn abort(&mut self, why: &str) -> Outcome {
        let mut message = format!("{} was not scaled: {why}", self.confirmed.target);
        let report = self.confirmed.clone();
        let state = match self.clean_up() {
            Ok(state) => state,
            Err(error) if self.has_written => {
                self.say_left(&mut message, &error);
                return Outcome { left: self.left(), ..Outcome::of(Exit::Left, report, message) };
            }
            Err(error) => {
                message.extend(["\n  Its pods cannot be read: ", &error.to_string()]);
                return Outcome::of(Exit::Unchanged, report, message);
            }
        };
        let [went, _, others] = fates(&self.confirmed, &state);
        let is_rescaled = state.replicas != self.confirmed.from;
        if self.has_written {
            message.push_str("\n  Its deletion costs are restored.");
        }
        let have_gone = !(went.is_empty() && others.is_empty());
        if is_rescaled && have_gone {
            message.extend(["\n  Its replica count is ", &state.replicas.to_string(), " now."]);
        }
        say(&mut message, "\n  Selected pods that were deleted meanwhile", &went);
        say(&mut message, "\n  Other pods that were deleted", &others);
        // podrank's costs were written, so they may have decided about these pods.
        let exit = if is_rescaled && self.has_written && have_gone { Exit::Others } else { Exit::Unchanged };
        Outcome { went, others, ..Outcome::of(exit, report, message) }
    }

    /// Removes costs, unless another run has the lock. Returns the state afterwards.
    fn clean_up(&mut self) -> Result<Progress, Failure> {
        let cluster = &self.request.cluster;
        if !self.has_written {
            return cluster.state();
        }
        self.steps.push(Step::CleanUp);
        match self.lock.as_ref().map_or(Ok(()), Lock::check) {
            Ok(()) => Ok(cluster.remove_costs(self.own_costs())?.1),
            // Another run may have written those that there are.
            Err(why) => match cluster.state()? {
                state if state.steered().next().is_none() => Ok(state),
                _ => Err(why.into()),
            },
        }
    }

    /// The confirmed plan, but with the pods that the last plan selected, those that came since, and the nodes of the
    /// last plan.
    fn report_of(&self, last: &Plan) -> Plan {
        let wanted = |pod: &PlannedPod| last.selected().any(|it| it.uid == pod.uid);
        let mut plan = self.confirmed.clone();
        for pod in &mut plan.pods {
            pod.is_selected = wanted(pod);
        }
        let is_new = |pod: &&PlannedPod| !self.confirmed.pods.iter().any(|known| known.uid == pod.uid);
        plan.pods.extend(last.pods.iter().filter(is_new).cloned());
        plan
    }

    fn scaled(&self, plan: &Plan) -> String {
        let scaled = if self.is_count_of_other { "Somebody else scaled" } else { "Scaled" };
        format!("{scaled} {} from {} to {}", plan.target, self.confirmed.from, plan.replicas)
    }

    fn say_left(&self, message: &mut String, error: &Failure) {
        let undo = self.request.cluster.undo();
        message.extend(["\n  Deletion costs are left: ", &error.to_string(), "\n  Run: ", &undo]);
    }

    /// The nodes that were to become empty and are not.
    fn occupied(&self, report: &Plan) -> Vec<String> {
        let promised: Vec<_> = report.nodes.iter().flatten().filter(|node| node.becomes_empty).collect();
        if promised.is_empty() {
            return Vec::new();
        }
        match preferences::everybody(&self.request.cluster) {
            Ok(now) => {
                let nodes = now.left_on(promised.iter().map(|node| &*node.name));
                keeps(&nodes).collect()
            }
            Err(error) => vec![format!("it cannot be read whether nodes became empty: {error}")],
        }
    }

    /// The count, if somebody has changed it since.
    fn count_now(&self, plan: &Plan, state: &Progress) -> Option<String> {
        if state.replicas == plan.replicas {
            return None;
        }
        let again = if state.replicas == self.confirmed.from { "again" } else { "now" };
        let by = state.count_writer.as_ref().map_or_else(String::new, |by| format!(", written by {by}"));
        Some(format!("; the replica count is {} {again}{by}", state.replicas))
    }

    /// The pods that still have costs of podrank's.
    fn left(&self) -> Vec<Named> {
        let of = |pod: &ActivePod| Named { name: pod.name.clone(), uid: pod.uid.clone() };
        self.request.cluster.state().map_or_else(|_| Vec::new(), |state| state.steered().map(of).collect())
    }
}

/// Adds these pods to a message, if there are any.
fn say(message: &mut String, what: &str, pods: &[Named]) {
    if !pods.is_empty() {
        let names: Vec<_> = pods.iter().map(|pod| pod.name.as_str()).collect();
        message.extend([what, ": ", &names.join(", ")]);
    }
}

/// Returns the selected pods that were deleted, those that still exist, and the other deleted pods.
fn fates(plan: &Plan, state: &Progress) -> [Vec<Named>; 3] {
    [(true, false), (true, true), (false, false)].map(|fate| {
        let is_it = |pod: &&PlannedPod| (pod.is_selected, state.has(&pod.uid)) == fate;
        plan.pods.iter().filter(is_it).map(Named::of).collect()
    })
}
