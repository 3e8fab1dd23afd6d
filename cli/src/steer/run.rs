//! The state `run`: writes the costs, waits until the controllers have observed them, reads again and proves, and
//! scales. It ends if it cannot prove the confirmed plan. Only with `--yes`, it plans again, if everything that the
//! user asked for still holds.

use super::Failure;
use super::interrupt;
use super::lock::Lock;
use super::outcome::{Outcome, RunError, Step};
use super::request::{Planned, ScaleRequest};
use crate::kubectl::Reason;
use podrank_predict::ErrorKind;
use podrank_predict::plan::{Plan, PlanRequest, Progress, difference, same_sets};
use std::collections::BTreeSet;
use std::mem;
use std::time::Duration;

/// The most attempts to prove a plan, if costs have to be written again, or pods or the object change.
const ATTEMPTS: u32 = 10;
/// How often it reads the count after a failed scale request, and the time between two of these.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);

/// A run under way.
pub(super) struct Run<'k> {
    pub(super) request: &'k ScaleRequest<'k>,
    /// What was confirmed.
    pub(super) confirmed: Plan,
    /// What proves it.
    proof: PlanRequest,
    /// `None` if the user may not lock, and once the Lease is deleted.
    pub(super) lock: Option<Lock<'k>>,
    pub(super) has_written: bool,
    pub(super) steps: Vec<Step>,
    /// Whether somebody else set the confirmed count right before this run did.
    pub(super) is_count_of_other: bool,
    /// What says which barrier pods are left.
    pub(super) left_behind: Vec<String>,
}

impl<'k> Run<'k> {
    pub(super) fn new(
        request: &'k ScaleRequest<'k>,
        planned: Planned,
        lock: Option<Lock<'k>>,
        steps: Vec<Step>,
    ) -> Self {
        Self {
            request,
            proof: planned.proof(lock.is_some()),
            confirmed: planned.plan,
            lock,
            has_written: false,
            steps,
            is_count_of_other: false,
            left_behind: Vec::new(),
        }
    }

    pub(super) fn go(mut self) -> Outcome {
        let scaled = self.prove(Step::ReadAgain).and_then(|(plan, _)| self.lower(plan));
        let deleted = scaled.and_then(|plan| self.watch(plan));
        self.end(deleted)
    }

    /// Returns an error unless no other run can have the lock. Asked before each write.
    pub(super) fn still_locked(&self) -> Result<(), RunError> {
        self.lock.as_ref().map_or(Ok(()), Lock::check).map_err(RunError::unchanged)
    }

    /// The pods whose costs may be removed. `None` for all, if no other run can be at work.
    pub(super) fn own_costs(&self) -> Option<&BTreeSet<String>> {
        self.proof.own_costs.as_ref()
    }

    /// Reads again. Returns a plan that takes what was confirmed, and whether it is a new plan.
    fn prove(&mut self, step: Step) -> Result<(Plan, bool), RunError> {
        self.steps.push(step);
        let plan = self.request.read_again(&mut self.proof);
        // An interrupt also ends kubectl.
        stop_if_interrupted()?;
        match self.compared(plan) {
            // Without a lock, it would take the costs of other runs for its own.
            Err(RunError::Differs(_)) if self.request.how.yes && self.lock.is_some() => {
                Ok((self.plan_again()?, true))
            }
            plan => Ok((plan?, false)),
        }
    }

    /// With `--yes`, plans again. The new plan counts as confirmed if it differs only in pods that nobody has named.
    fn plan_again(&mut self) -> Result<Plan, RunError> {
        self.steps.push(Step::Plan);
        let now = self.request.plan_again();
        stop_if_interrupted()?;
        let now = now.map_err(differs_or_unread)?;
        same_sets(&self.confirmed, &now.plan).map_err(RunError::unchanged)?;
        if let Some(difference) = difference(&self.confirmed, &now.plan).filter(|found| !found.holds) {
            return Err(RunError::differs(difference.text));
        }
        self.proof = now.proof(true);
        self.confirmed = now.plan.clone();
        Ok(now.plan)
    }

    /// Compares what was read with what was confirmed.
    fn compared(&self, plan: Result<Plan, Failure>) -> Result<Plan, RunError> {
        let plan = plan.map_err(differs_or_unread)?;
        same_sets(&self.confirmed, &plan).map_err(RunError::unchanged)?;
        if plan.from != self.confirmed.from {
            return Err(self.was_scaled(plan.from));
        }
        difference(&self.confirmed, &plan)
            .map_or(Ok(plan), |difference| Err(RunError::differs(difference.text)))
    }

    fn was_scaled(&self, replicas: u32) -> RunError {
        let target = &self.confirmed.target;
        RunError::differs(format!("{target} was scaled to {replicas} by somebody else meanwhile"))
    }

    /// Writes costs and scales, as soon as Kubernetes certainly deletes the selected pods. Returns the plan that was
    /// proved.
    fn lower(&mut self, mut plan: Plan) -> Result<Plan, RunError> {
        let mut last = String::from("the pods kept changing");
        let mut needs_barrier = true;
        let mut is_second = false;
        for _ in 0..ATTEMPTS {
            stop_if_interrupted()?;
            let mut is_written = true;
            if plan.writes > 0 {
                needs_barrier = true;
                if let Some(why) = self.write(&plan)? {
                    last = why;
                    is_written = false;
                }
            }
            if is_written && needs_barrier && plan.replicas > 0 {
                self.barrier()?;
                needs_barrier = false;
            }
            stop_if_interrupted()?;
            let (now, is_new) = self.prove(Step::Prove)?;
            let written = mem::replace(&mut plan, now);
            if is_new {
                needs_barrier = true;
                continue;
            }
            if !is_written || !plan.is_proved() {
                // They are written once more.
                let changed = plan.changed_costs(&written, is_written);
                if let Some(costs) = changed.as_ref().filter(|_| is_second) {
                    return Err(RunError::unchanged(format!("somebody else keeps changing {costs}")));
                }
                is_second |= changed.is_some();
                continue;
            }
            stop_if_interrupted()?;
            match self.lower_count(&plan)? {
                None => return Ok(plan),
                Some(why) => last = why,
            }
        }
        Err(RunError::unchanged(last))
    }

    /// Writes the costs of a plan. Returns why that failed, if another attempt may succeed.
    fn write(&mut self, plan: &Plan) -> Result<Option<String>, RunError> {
        self.steps.push(Step::Write);
        self.still_locked()?;
        self.has_written = true;
        if let Some(own) = &mut self.proof.own_costs {
            own.extend(plan.pods.iter().filter(|pod| pod.write.is_some()).map(|pod| pod.uid.clone()));
        }
        match self.request.cluster.write(plan) {
            Ok(()) => Ok(None),
            Err(error) if error.reason == Reason::Forbidden => Err(RunError::unchanged(error)),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    /// Lowers the count. Returns why that failed, if another attempt may succeed.
    fn lower_count(&mut self, plan: &Plan) -> Result<Option<String>, RunError> {
        self.steps.push(Step::Count);
        self.still_locked()?;
        let Err(error) = self.request.cluster.scale(plan, &[]) else { return Ok(None) };
        // A time-out leaves open whether it was done.
        let state = self.state_at_last().map_err(|unread| {
            RunError::unknown(format!(
                "the scale request failed, and the replica count cannot be read\n  {error}\n  {unread}"
            ))
        })?;
        if state.target.uid != plan.target.uid {
            return Err(RunError::unchanged(format!("{} was replaced meanwhile", plan.target)));
        }
        if state.replicas == plan.replicas {
            self.is_count_of_other = matches!(error.reason, Reason::Count | Reason::Conflict);
            return Ok(None);
        }
        if state.replicas != self.confirmed.from {
            return Err(self.was_scaled(state.replicas));
        }
        if error.reason == Reason::Forbidden {
            return Err(RunError::unchanged(error));
        }
        Ok(Some(error.to_string()))
    }

    /// Reads the state, also if the API server does not answer for some seconds.
    fn state_at_last(&self) -> Result<Progress, Failure> {
        for _ in 1..TRIES {
            if let Ok(state) = self.request.cluster.state() {
                return Ok(state);
            }
            interrupt::sleep(PAUSE);
        }
        self.request.cluster.state()
    }
}

fn stop_if_interrupted() -> Result<(), RunError> {
    if interrupt::is_set() { Err(RunError::unchanged("interrupted")) } else { Ok(()) }
}

/// The error if the confirmed plan is no longer possible, or if that is unknown because the cluster could not be read.
fn differs_or_unread(error: Failure) -> RunError {
    match error.downcast_ref::<podrank_predict::Error>() {
        Some(known) if known.kind != ErrorKind::Unavailable => RunError::differs(error),
        _ => RunError::unchanged(error),
    }
}
