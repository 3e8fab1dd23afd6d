//! The state `confirm`: asks the user, and if something differs from what was confirmed, shows that and asks again. docs/protocol.md
//! has the steps. Reads and writes nothing itself but the terminal.

use super::Failure;
use super::interrupt;
use super::lock::{self, LockError};
use super::outcome::{Exit, Outcome, Step};
use super::request::{Planned, ScaleRequest};
use super::rights;
use super::run::Run;
use crate::complain;
use kubectl_podrank::view::plain;
use podrank_predict::Error;
use podrank_predict::plan::{Plan, difference, same_sets};
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often it asks again.
const MOST: usize = 3;
/// How long it waits for an answer before it looks whether it was interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// Carries a plan out once it is confirmed. `None` if it is not.
pub(super) fn carry_out(
    request: &ScaleRequest<'_>,
    mut planned: Planned,
) -> Result<Option<Outcome>, Failure> {
    let how = request.how;
    if !how.yes && !io::stdin().is_terminal() {
        return Err(Error::new("there is no terminal to confirm the plan")
            .advise("Confirm with --yes, or see the plan with --dry-run client.")
            .into());
    }
    let mut steps = vec![Step::Read, Step::Plan];
    let may_lock = may_lock(request, &planned.plan)?;
    if !how.yes {
        steps.push(Step::Confirm);
        if !ask(&planned.plan)? {
            complain("Cancelled. Nothing was changed.");
            return Ok(None);
        }
    }
    interrupt::catch()?;
    let mut asked_again = 0;
    loop {
        let confirmed = planned.plan.clone();
        let lock = match lock::lock(request, &confirmed, may_lock, &mut steps) {
            Ok(lock) => lock,
            Err(LockError::Unknown(why)) => {
                let [target, undo] = [confirmed.target.to_string(), request.cluster.undo()];
                let message = format!("{target} was not scaled: {why}\n  Run: {undo}");
                return Ok(Some(Outcome { steps, ..Outcome::of(Exit::Left, confirmed, message) }));
            }
            Err(error) => return Err(error.explained(&request.cluster, &confirmed.target).into()),
        };
        let mut outcome = Run::new(request, planned, lock, steps).go();
        if how.yes || !outcome.differs || outcome.exit != Exit::Unchanged || asked_again == MOST {
            return Ok(Some(outcome));
        }
        asked_again += 1;
        match ask_again(request, &confirmed, &mut outcome.steps) {
            Ok(next) => (planned, steps) = (next, outcome.steps),
            Err(why) => {
                outcome.message.extend(["\n  ", &why.to_string()]);
                return Ok(Some(outcome));
            }
        }
    }
}

/// Plans again, shows what differs, and asks.
fn ask_again(
    request: &ScaleRequest<'_>,
    confirmed: &Plan,
    steps: &mut Vec<Step>,
) -> Result<Planned, Failure> {
    if interrupt::is_set() {
        return Err("interrupted".into());
    }
    let now = request.plan_again()?;
    same_sets(confirmed, &now.plan)?;
    // The report comes once the last run has ended.
    steps.pop();
    steps.push(Step::Plan);
    if let Some(difference) = difference(confirmed, &now.plan) {
        complain(&format!("The plan changed: {}", difference.text));
        steps.push(Step::Confirm);
        if !ask(&now.plan)? {
            steps.push(Step::Report);
            return Err("cancelled".into());
        }
    }
    Ok(now)
}

/// Asks whether the user may do all of it. Returns whether that includes a Lease that keeps other runs away.
pub(super) fn may_lock(request: &ScaleRequest<'_>, plan: &Plan) -> Result<bool, Failure> {
    let how = request.how;
    let unchanged = |error: Error| error.because("Nothing was changed.");
    let no_lock = rights::check(&request.cluster, plan).map_err(unchanged)?;
    if let Some(why) = &no_lock {
        if how.yes && !how.no_lock && how.dry_run.is_none() {
            let error = Error::new(format!("cannot lock {}: {why}", plan.target));
            return Err(unchanged(error)
                .advise("--no-lock continues without the lock. Another run of podrank may then interfere.")
                .into());
        }
        complain(&format!("warning: {}", lock::not_locked(why)));
    }
    Ok(no_lock.is_none())
}

/// Asks the user whether to do this.
fn ask(plan: &Plan) -> Result<bool, Failure> {
    let what = format!("Scale {} from {} to {}", plan.target, plan.from, plan.replicas);
    let _ = write!(io::stderr(), "{}? [y/N] ", plain(&what));
    let (send, answers) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        let _ = send.send(read.map(|_| answer));
    });
    let answer = loop {
        match answers.recv_timeout(PAUSE) {
            Ok(answer) => break answer?,
            Err(RecvTimeoutError::Timeout) if !interrupt::is_set() => {}
            Err(RecvTimeoutError::Timeout) => return Err("interrupted".into()),
            Err(RecvTimeoutError::Disconnected) => return Err("standard input ended".into()),
        }
    };
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
