//! A run on one workload, from the lock to the count: writes the costs, waits until the controllers have observed them, reads again
//! and proves, and scales. docs/protocol.md draws its steps. What it proves is what was confirmed, or it ends. Before the scale
//! request, any failure takes all costs off; after it, costs stay until the controllers are done.

use super::Failure;
use super::barrier;
use super::cluster::Cluster;
use super::interrupt::Interrupt;
use super::lock::Lock;
use super::outcome::{Outcome, Step};
use super::planned::{self, Planned};
use crate::args::steer::How;
use crate::kubectl::Reason;
use podrank_predict::plan::{Plan, Request, State, difference, same_sets};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

/// The most attempts to prove a plan, if costs have to be written again or the object changes.
const ATTEMPTS: u32 = 5;
/// How often it reads the count after a failed scale request, and the time between two of these.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);

/// A run under way.
pub(super) struct Run<'k> {
    pub(super) cluster: Rc<Cluster<'k>>,
    pub(super) how: &'k How,
    pub(super) interrupt: Interrupt,
    /// What was confirmed.
    pub(super) confirmed: Plan,
    /// What proves it.
    pub(super) request: Request,
    /// `None` if the user may not lock, and once the lock is given back.
    lock: Option<Lock>,
    /// Whether it has written anything that is not put back.
    pub(super) has_written: bool,
    /// The state once its costs were off. From then on, another run may write its own.
    pub(super) at_put_back: Option<State>,
    steps: RefCell<Vec<Step>>,
    /// Whether somebody else set the confirmed count right before this run did.
    pub(super) is_count_of_other: bool,
    /// What says which barrier pods and which lock are left.
    pub(super) left_behind: Vec<String>,
}

/// How a run ends.
pub(super) enum End<'k> {
    /// With an outcome.
    Told(Box<Outcome>),
    /// With a difference from what was confirmed, before the count has changed. All is put back.
    Differs(String, Box<Run<'k>>),
}

impl End<'_> {
    pub(super) fn told(outcome: Outcome) -> Self {
        Self::Told(Box::new(outcome))
    }
}

/// Why the run ended before a scale request that is known to have succeeded.
pub(super) enum Stop {
    /// The count is as it was.
    Unchanged(String),
    /// Something differs from what was confirmed.
    Differs(String),
    /// It is unknown whether the scale request was carried out.
    Unknown(String),
}

impl<T: std::fmt::Display> From<T> for Stop {
    fn from(error: T) -> Self {
        Self::Unchanged(error.to_string())
    }
}

impl<'k> Run<'k> {
    pub(super) fn new(
        planned: &Planned<'k>,
        how: &'k How,
        interrupt: Interrupt,
        lock: Option<Lock>,
        steps: Vec<Step>,
    ) -> Self {
        let mut request = planned.confirmed();
        request.own_costs = lock.is_none().then(BTreeSet::new);
        Self {
            cluster: Rc::clone(&planned.cluster),
            how,
            interrupt,
            confirmed: planned.plan.clone(),
            request,
            lock,
            has_written: false,
            at_put_back: None,
            steps: RefCell::new(steps),
            is_count_of_other: false,
            left_behind: Vec::new(),
        }
    }

    pub(super) fn go(mut self) -> End<'k> {
        let done = self.read(Step::ReadAgain).and_then(|plan| self.lower(plan));
        match done {
            Ok(plan) => {
                let seen = self.watch(&plan);
                End::told(self.conclude(&plan, seen))
            }
            Err(stop) => self.stop(stop),
        }
    }

    /// Ends before the count is known to have changed.
    pub(super) fn stop(mut self, stop: Stop) -> End<'k> {
        match stop {
            Stop::Differs(why) => {
                let put_back = self.put_back();
                if put_back.is_ok() && self.left_behind.is_empty() {
                    match self.unlock() {
                        None => return End::Differs(why, Box::new(self)),
                        Some(left) => self.left_behind.push(left),
                    }
                }
                End::told(self.aborted(&why, put_back))
            }
            Stop::Unchanged(why) => End::told(self.abort(&why)),
            Stop::Unknown(why) => End::told(self.unknown(&why)),
        }
    }

    pub(super) fn step(&self, step: Step) {
        self.steps.borrow_mut().push(step);
    }

    /// The steps so far.
    pub(super) fn steps(&self) -> Vec<Step> {
        self.steps.borrow().clone()
    }

    /// Gives the lock back. Returns what says that it is left.
    pub(super) fn unlock(&mut self) -> Option<String> {
        let lock = self.lock.take()?;
        self.step(Step::Unlock);
        lock.release().err().map(|left| format!("{left}; run: {}", self.cluster.undo()))
    }

    /// Returns an error unless no other run can have taken the lock. Asked before each write.
    pub(super) fn still_locked(&self) -> Result<(), String> {
        self.lock.as_ref().map_or(Ok(()), Lock::check)
    }

    /// The pods whose costs may be taken off. `None` for all, if no other run can be at work.
    pub(super) fn own_costs(&self) -> Option<&BTreeSet<String>> {
        self.request.own_costs.as_ref()
    }

    pub(super) fn stop_if_interrupted(&self) -> Result<(), Stop> {
        if self.interrupt.is_set() { Err(Stop::Unchanged("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Reads again. Returns a plan that takes what was confirmed.
    pub(super) fn read(&mut self, step: Step) -> Result<Plan, Stop> {
        self.step(step);
        let plan = planned::read_again(&self.cluster, &mut self.request);
        // An interrupt also ends kubectl.
        self.stop_if_interrupted()?;
        let plan = plan.map_err(|error| match error.downcast_ref::<podrank_predict::Error>() {
            Some(differs) => Stop::Differs(differs.to_string()),
            None => Stop::Unchanged(error.to_string()),
        })?;
        same_sets(&self.confirmed, &plan)?;
        if plan.from != self.confirmed.from {
            return Err(self.was_scaled(plan.from));
        }
        difference(&self.confirmed, &plan).map_or(Ok(plan), |found| Err(Stop::Differs(found.to_string())))
    }

    fn was_scaled(&self, replicas: u32) -> Stop {
        Stop::Differs(format!(
            "{} was scaled to {replicas} by somebody else meanwhile",
            self.confirmed.target
        ))
    }

    /// Writes costs and scales, as soon as Kubernetes certainly takes the wanted pods. Returns the plan that was proved.
    pub(super) fn lower(&mut self, mut plan: Plan) -> Result<Plan, Stop> {
        let mut last = String::from("the pods kept changing");
        let mut needs_barrier = true;
        let mut is_second = false;
        for _ in 0..ATTEMPTS {
            self.stop_if_interrupted()?;
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
            self.stop_if_interrupted()?;
            let written = mem::replace(&mut plan, self.read(Step::Prove)?);
            if !is_written || !plan.is_proved() {
                // They are written once more.
                let changed = plan.changed_costs(&written, is_written);
                if let Some(costs) = changed.as_ref().filter(|_| is_second) {
                    return Err(Stop::Unchanged(format!("somebody else keeps changing {costs}")));
                }
                is_second |= changed.is_some();
                continue;
            }
            self.stop_if_interrupted()?;
            match self.lower_count(&plan)? {
                None => return Ok(plan),
                Some(why) => last = why,
            }
        }
        Err(Stop::Unchanged(last))
    }

    /// Writes the costs of a plan. Returns why that failed, if another attempt may succeed.
    fn write(&mut self, plan: &Plan) -> Result<Option<String>, Stop> {
        self.step(Step::Write);
        self.still_locked()?;
        self.has_written = true;
        if let Some(own) = &mut self.request.own_costs {
            own.extend(plan.pods.iter().filter(|pod| pod.write.is_some()).map(|pod| pod.uid.clone()));
        }
        match self.cluster.write(plan) {
            Ok(()) => Ok(None),
            Err(error) if error.reason == Reason::Forbidden => Err(error.into()),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    fn barrier(&mut self) -> Result<(), Stop> {
        self.step(Step::Barrier);
        let (seen, left) =
            barrier::wait(&self.cluster, &self.confirmed.target, &self.interrupt, self.how.timeout);
        self.left_behind.extend(left);
        seen.map_err(Stop::from)
    }

    /// Lowers the count. Returns why that failed, if another attempt may succeed.
    fn lower_count(&mut self, plan: &Plan) -> Result<Option<String>, Stop> {
        self.step(Step::Count);
        self.still_locked()?;
        let Err(error) = self.cluster.scale(plan, &[]) else { return Ok(None) };
        // A time-out leaves open whether it was done.
        let state = self.state_at_last().map_err(|unread| {
            Stop::Unknown(format!(
                "the scale request failed ({error}), and the count cannot be read: {unread}"
            ))
        })?;
        if state.target.uid != plan.target.uid {
            return Err(Stop::Unchanged(format!("{} was replaced meanwhile", plan.target)));
        }
        if state.replicas == plan.replicas {
            self.is_count_of_other = matches!(error.reason, Reason::Count | Reason::Conflict);
            return Ok(None);
        }
        if state.replicas != self.confirmed.from {
            return Err(self.was_scaled(state.replicas));
        }
        if error.reason == Reason::Forbidden { Err(error.into()) } else { Ok(Some(error.to_string())) }
    }

    /// Reads the state, also if the API server does not answer for some seconds.
    fn state_at_last(&self) -> Result<State, Failure> {
        for _ in 1..TRIES {
            if let Ok(state) = self.cluster.state() {
                return Ok(state);
            }
            self.interrupt.sleep(PAUSE);
        }
        self.cluster.state()
    }
}
