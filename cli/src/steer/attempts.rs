//! From a plan to an outcome: asks, locks, runs, and if something differs from what was confirmed, plans and asks again. docs/protocol.md
//! draws the steps. Reads and writes nothing itself but the terminal.

use super::Failure;
use super::interrupt::Interrupt;
use super::lock::{self, Lock};
use super::outcome::{Outcome, Step};
use super::planned::{Asked, Planned};
use super::rights;
use super::run::{End, Run};
use crate::args::steer::How;
use crate::complain;
use kubectl_podrank::view::plain;
use podrank_predict::plan::{Plan, difference, same_sets};
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The most differences after which it plans and asks again.
const MOST: usize = 3;
/// How long it waits for an answer before it looks whether it was interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// Carries a plan out.
pub(super) fn carry_out<'k>(asked: &Asked<'k>, mut planned: Planned<'k>) -> Result<Outcome, Failure> {
    let how = asked.how;
    if !how.yes && !io::stdin().is_terminal() {
        return Err(
            "there is no terminal to ask: confirm with --yes, or see the plan with --dry-run client".into()
        );
    }
    let mut steps = vec![Step::Read, Step::Plan];
    let may_lock = may_lock(&planned, how)?;
    if !how.yes {
        steps.push(Step::Confirm);
        confirm(&planned.plan, None)?;
    }
    let interrupt = Interrupt::catch()?;
    let mut run = start(&planned, how, may_lock, &interrupt, steps)
        .map_err(|why| format!("nothing was changed: {why}"))?;
    let mut attempts = 0;
    loop {
        let (why, mut last) = match run.go() {
            End::Told(outcome) => return Ok(*outcome),
            End::Differs(why, last) => (why, *last),
        };
        if attempts == MOST {
            return Ok(last.abort(&format!("what was confirmed kept changing: {why}")));
        }
        attempts += 1;
        run = match next_attempt(asked, &mut planned, &last, &interrupt) {
            Ok(next) => next,
            Err(why) => return Ok(last.abort(&why.to_string())),
        };
    }
}

/// Plans anew, shows what is different, asks, and locks again.
fn next_attempt<'k>(
    asked: &Asked<'k>,
    planned: &mut Planned<'k>,
    last: &Run<'k>,
    interrupt: &Interrupt,
) -> Result<Run<'k>, Failure> {
    let how = asked.how;
    if interrupt.is_set() {
        return Err("interrupted".into());
    }
    let mut steps = last.steps();
    steps.push(Step::Plan);
    let now = asked.plan_again()?;
    same_sets(&planned.plan, &now.plan)?;
    let news = difference(&planned.plan, &now.plan);
    if let Some(news) = &news {
        complain(&format!("What changed: {news}"));
    }
    if how.yes
        && let Some(name) = named_that_changed(asked, &planned.plan, &now.plan)
    {
        return Err(format!("{name} was named, and is gone or another pod now").into());
    }
    *planned = now;
    let may_lock = may_lock(planned, how)?;
    if !how.yes && news.is_some() {
        steps.push(Step::Confirm);
        confirm(&planned.plan, Some(interrupt))?;
    }
    start(planned, how, may_lock, interrupt, steps)
}

/// Takes the lock.
fn start<'k>(
    planned: &Planned<'k>,
    how: &'k How,
    may_lock: bool,
    interrupt: &Interrupt,
    mut steps: Vec<Step>,
) -> Result<Run<'k>, Failure> {
    let Planned { cluster, plan, .. } = planned;
    let take = || Lock::take(cluster, &plan.target, interrupt, false);
    let lock = may_lock.then(take).transpose().map_err(|refused| format!("{}: {refused}", plan.target))?;
    steps.push(Step::Lock);
    Ok(Run::new(planned, how, interrupt.clone(), lock, steps))
}

/// A pod that was named on the command line and is no longer the pod of that name.
fn named_that_changed(asked: &Asked<'_>, before: &Plan, now: &Plan) -> Option<String> {
    let mut named = before.wanted().filter(|pod| asked.named.contains(&pod.name));
    named.find(|pod| !now.wanted().any(|now| now.uid == pod.uid)).map(|pod| pod.name.clone())
}

/// Asks whether the user may do all of it. Returns whether that includes a Lease that keeps other runs away.
pub(super) fn may_lock(planned: &Planned<'_>, how: &How) -> Result<bool, Failure> {
    let no_lock = rights::check(&planned.cluster, &planned.plan);
    let no_lock = no_lock.map_err(|why| format!("nothing was changed: {why}"))?;
    if let Some(why) = &no_lock {
        if how.yes && !how.no_lock && how.dry_run.is_none() {
            let why = format!("{}; --no-lock goes on all the same", lock::not_locked(why));
            return Err(format!("nothing was changed: {why}").into());
        }
        complain(&format!("warning: {}", lock::not_locked(why)));
    }
    Ok(no_lock.is_none())
}

/// Asks the user whether to do this.
fn confirm(plan: &Plan, interrupt: Option<&Interrupt>) -> Result<(), Failure> {
    let what = format!("Scale {} from {} to {}", plan.target, plan.from, plan.replicas);
    let _ = write!(io::stderr(), "{} like this? [y/N] ", plain(&what));
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
