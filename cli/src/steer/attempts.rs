//! From plans to outcomes: asks, locks, runs, and if something differs from what was confirmed, plans and asks again. docs/protocol.md
//! draws the steps. Reads and writes nothing itself but the terminal.

use super::Failure;
use super::interrupt::Interrupt;
use super::lock::{self, Lock};
use super::outcome::{Exit, Outcome, Step};
use super::planned::Planned;
use super::rights;
use super::run::{End, Run};
use crate::args::steer::How;
use crate::complain;
use kubectl_podrank::look::plain;
use kubectl_podrank::render_plan::{count, place};
use podrank_predict::plan::{Plan, difference, same_sets};
use std::collections::{BTreeSet, VecDeque};
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The most differences after which it plans and asks again.
const MOST: usize = 3;
/// How long it waits for an answer before it looks whether it was interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// What is to be done, how to plan it again, and how to ask about it.
pub(super) struct Work<'w, 'k> {
    pub(super) planned: Vec<Planned<'k>>,
    pub(super) how: &'k How,
    /// The names of pods on the command line.
    pub(super) named: &'w BTreeSet<String>,
    pub(super) again: &'w dyn Fn() -> Result<Vec<Planned<'k>>, Failure>,
    pub(super) question: &'w dyn Fn(&[Planned<'k>]) -> String,
    /// Hears each outcome as soon as it is there.
    pub(super) tell: &'w dyn Fn(&Outcome) -> Result<(), Failure>,
}

/// Nothing was changed, but locks are left.
#[derive(Debug)]
pub(super) struct Left {
    why: String,
    /// What says which.
    locks: Vec<String>,
}

/// What came of it.
pub(super) struct Done {
    pub(super) outcomes: Vec<Outcome>,
    /// The plans that were not begun, because an earlier one failed.
    pub(super) not_begun: Vec<Plan>,
}

/// A run that has put everything back, because something differs from what was confirmed: why.
type Differs<'k> = (String, Run<'k>);

impl<'k> Work<'_, 'k> {
    /// Carries it out, one workload after the other, until one fails.
    pub(super) fn carry_out(mut self) -> Result<Done, Failure> {
        if !self.how.yes && !io::stdin().is_terminal() {
            return Err(
                "there is no terminal to ask: confirm with --yes, or see the plan with --dry-run client"
                    .into(),
            );
        }
        let mut steps = vec![Step::Read, Step::Plan];
        let rights = rights(&self.planned, self.how)?;
        if !self.how.yes {
            steps.push(Step::Confirm);
            confirm(&(self.question)(&self.planned), None)?;
        }
        let interrupt = Interrupt::catch()?;
        let mut runs = self.lock(&rights, &interrupt, &steps).map_err(|why| {
            if why.is::<Left>() { why } else { format!("nothing was changed: {why}").into() }
        })?;
        let mut attempts = 0;
        loop {
            let (why, run) = match self.run(runs)? {
                Ok(done) => return Ok(done),
                Err(differs) => differs,
            };
            if attempts == MOST {
                return self.end(run, format!("what was confirmed kept changing: {why}").into());
            }
            attempts += 1;
            runs = match self.next_attempt(&why, &run, &interrupt) {
                Ok(runs) => runs,
                Err(why) => return self.end(run, why),
            };
        }
    }

    /// Plans anew, shows what is different, asks, and locks again.
    fn next_attempt(
        &mut self,
        why: &str,
        last: &Run<'k>,
        interrupt: &Interrupt,
    ) -> Result<VecDeque<Run<'k>>, Failure> {
        if interrupt.is_set() {
            return Err("interrupted".into());
        }
        if self.how.exact {
            return Err(format!("not as confirmed: {why}").into());
        }
        let mut steps = last.steps();
        steps.push(Step::Plan);
        let now = (self.again)()?;
        let news = news(&self.planned, &now)?;
        for line in &news {
            complain(&format!("What changed: {line}"));
        }
        if now.is_empty() {
            return Err("there are no pods left to drop".into());
        }
        if self.how.yes
            && let Some(name) = self.named_that_changed(&now)
        {
            return Err(format!("{name} was named, and is gone or another pod now").into());
        }
        self.planned = now;
        let rights = rights(&self.planned, self.how)?;
        if !self.how.yes && !news.is_empty() {
            steps.push(Step::Confirm);
            confirm(&(self.question)(&self.planned), Some(interrupt))?;
        }
        self.lock(&rights, interrupt, &steps)
    }

    /// Takes all locks, in an order that is the same for everybody. If one fails, the others are given back.
    fn lock(
        &self,
        no_locks: &[Option<String>],
        interrupt: &Interrupt,
        steps: &[Step],
    ) -> Result<VecDeque<Run<'k>>, Failure> {
        let mut order: Vec<_> = (0..self.planned.len()).collect();
        order.sort_by_key(|&place| &self.planned[place].plan.target.uid);
        let mut locks: Vec<Option<Lock>> = self.planned.iter().map(|_| None).collect();
        for place in order.into_iter().filter(|&place| no_locks[place].is_none()) {
            let Planned { cluster, plan, .. } = &self.planned[place];
            match Lock::take(cluster, &plan.target, interrupt, false) {
                Ok(lock) => locks[place] = Some(lock),
                Err(refused) => {
                    let taken = locks.into_iter().flatten();
                    let left: Vec<_> = taken.filter_map(|lock| lock.release().err()).collect();
                    let why = format!("{}: {refused}", self.name(plan));
                    return Err(if left.is_empty() { why.into() } else { Left { why, locks: left }.into() });
                }
            }
        }
        let mut steps = steps.to_vec();
        steps.push(Step::Lock);
        let runs = self
            .planned
            .iter()
            .zip(locks)
            .map(|(planned, lock)| Run::new(planned, self.how, interrupt.clone(), lock, steps.clone()));
        Ok(runs.collect())
    }

    /// The workload, with its namespace if there are several.
    fn name(&self, plan: &Plan) -> String {
        if self.planned.len() > 1 { place(plan) } else { plan.target.to_string() }
    }

    /// Runs one after the other. Of several, all are looked at before the first is changed.
    fn run(&self, mut runs: VecDeque<Run<'k>>) -> Result<Result<Done, Differs<'k>>, Failure> {
        if runs.len() > 1
            && let Some((place, why)) =
                runs.iter_mut().enumerate().find_map(|(place, run)| Some((place, run.look_again()?)))
            && let Some(mut run) = runs.remove(place)
        {
            give_back(runs.iter_mut());
            give_back([&mut run]);
            return Ok(Err((why, run)));
        }
        let mut outcomes = Vec::new();
        while let Some(run) = runs.pop_front() {
            let outcome = match run.go() {
                End::Told(outcome) => *outcome,
                End::Differs(why, run) if outcomes.is_empty() => {
                    give_back(runs.iter_mut());
                    return Ok(Err((why, *run)));
                }
                End::Differs(why, mut run) => run.abort(&format!("not as confirmed: {why}")),
            };
            (self.tell)(&outcome)?;
            let is_done = outcome.exit == Exit::Done;
            outcomes.push(outcome);
            if !is_done {
                break;
            }
        }
        let left: Vec<_> = runs.iter_mut().filter_map(Run::unlock).collect();
        if let (Some(last), false) = (outcomes.last_mut(), left.is_empty()) {
            last.exit = Exit::Left;
            last.message.extend(["; ", &left.join("; ")]);
            complain(&format!("error: {}", left.join("; ")));
        }
        let not_begun = runs.into_iter().map(Run::into_plan).collect();
        Ok(Ok(Done { outcomes, not_begun }))
    }

    /// A pod that was named on the command line and is no longer the pod of that name.
    fn named_that_changed(&self, now: &[Planned<'_>]) -> Option<String> {
        let goes_on = |uid: &str| now.iter().any(|now| now.plan.wanted().any(|pod| pod.uid == uid));
        let wanted = self.planned.iter().flat_map(|before| before.plan.wanted());
        let mut named = wanted.filter(|pod| self.named.contains(&pod.name));
        named.find(|pod| !goes_on(&pod.uid)).map(|pod| pod.name.clone())
    }

    /// Ends after a difference.
    fn end(&self, mut run: Run<'k>, why: Failure) -> Result<Done, Failure> {
        let why = match why.downcast::<Left>() {
            Ok(left) => {
                run.left_behind.extend(left.locks);
                left.why
            }
            Err(why) => why.to_string(),
        };
        let outcome = run.abort(&why);
        (self.tell)(&outcome)?;
        let others = self.planned.iter().filter(|planned| planned.plan.target.uid != outcome.plan.target.uid);
        let not_begun = others.map(|planned| planned.plan.clone()).collect();
        Ok(Done { outcomes: vec![outcome], not_begun })
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing was changed: {}; {}", self.why, self.locks.join("; "))
    }
}

impl Error for Left {}

/// Asks whether the user may do all of it. Returns why no Lease can keep other runs away from each workload, if none can.
pub(super) fn rights(planned: &[Planned<'_>], how: &How) -> Result<Vec<Option<String>>, Failure> {
    let check = |Planned { cluster, plan, .. }: &Planned<'_>| {
        let rights = rights::check(cluster, plan);
        let of = if planned.len() > 1 { format!("{}: ", place(plan)) } else { String::new() };
        let no_lock = rights.map_err(|why| format!("nothing was changed: {of}{why}"))?;
        if let Some(why) = &no_lock {
            if how.yes && !how.no_lock && how.dry_run.is_none() {
                let why = format!("{}; --no-lock goes on all the same", lock::not_locked(why));
                return Err(format!("nothing was changed: {of}{why}").into());
            }
            complain(&format!("warning: {of}{}", lock::not_locked(why)));
        }
        Ok(no_lock)
    };
    planned.iter().map(check).collect()
}

/// Gives the locks of runs back that have changed nothing.
fn give_back<'r, 'k: 'r>(runs: impl IntoIterator<Item = &'r mut Run<'k>>) {
    for left in runs.into_iter().filter_map(Run::unlock) {
        complain(&format!("warning: {left}"));
    }
}

/// What is different now, a line for each workload. An error if a workload is another one, or has other sets: what was confirmed says
/// nothing about these.
fn news(before: &[Planned<'_>], now: &[Planned<'_>]) -> Result<Vec<String>, String> {
    let several = before.len().max(now.len()) > 1;
    let of = |plan: &Plan, text: String| if several { format!("{}: {text}", place(plan)) } else { text };
    let mut news = Vec::new();
    for Planned { plan, .. } in now {
        let same = |earlier: &&Planned<'_>| {
            let earlier = &earlier.plan;
            (&earlier.namespace, &earlier.target.kind, &earlier.target.name)
                == (&plan.namespace, &plan.target.kind, &plan.target.name)
        };
        match before.iter().find(same) {
            None => news.push(of(plan, format!("{} to go, too", count(plan.delete, "pod")))),
            Some(Planned { plan: earlier, .. }) => {
                same_sets(earlier, plan)?;
                news.extend(difference(earlier, plan).map(|difference| of(plan, difference.to_string())));
            }
        }
    }
    let is_left =
        |earlier: &&Planned<'_>| now.iter().any(|now| now.plan.target.uid == earlier.plan.target.uid);
    let left_out = before.iter().filter(|earlier| !is_left(earlier));
    news.extend(left_out.map(|Planned { plan, .. }| of(plan, "no pod of it goes any more".to_owned())));
    Ok(news)
}

/// Asks the user whether to do this.
fn confirm(what: &str, interrupt: Option<&Interrupt>) -> Result<(), Failure> {
    let _ = write!(io::stderr(), "{} like this? [y/N] ", plain(what));
    let (send, answers) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        let _ = send.send(read.map(|_| answer));
    });
    let answer = loop {
        match answers.recv_timeout(PAUSE) {
            Ok(answer) => break answer?,
            Err(RecvTimeoutError::Timeout) if interrupt.is_some_and(Interrupt::is_set) => {
                return Err("interrupted".into());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("standard input ended".into()),
        }
    };
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(if interrupt.is_some() { "you said no".into() } else { "nothing was changed".into() })
}
