//! `scale`, `drop` and `undo`: make Kubernetes delete the pods that the user wants. They plan with `podrank_predict::plan`,
//! and read and write only through kubectl.

mod access;
mod attempts;
mod barrier;
mod cluster;
mod ending;
mod interrupt;
mod lock;
mod outcome;
mod planned;
mod rights;
mod run;
mod wishes;

use crate::args::steer::{DropArgs, DryRun, How, POD_TYPES, ScaleArgs, SteerOutput, UndoArgs, Wishes};
use crate::kubectl::Kubectl;
use crate::live;
use crate::{complain, print, print_line, terminal};
use cluster::Cluster;
use interrupt::Interrupt;
use kubectl_podrank::view;
use lock::{Lock, Refused};
use outcome::{Document, Exit, Outcome, Step};
use planned::{Asked, Planned};
use podrank_predict::plan::{self, Count, Plan, Scaled};
use podrank_predict::{Options, Snapshot, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;

type Failure = Box<dyn Error>;

pub(crate) fn scale(args: &ScaleArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let count = |input: &Snapshot, options: &Options| input.count(options, args.replicas).map(Count::To);
    let named = args.wishes.pod.iter().map(|pod| bare(pod).to_owned()).collect();
    let namespace = args.how.namespace.as_deref();
    steer(Asked::find(&kubectl, &args.target.workload()?, namespace, &args.how, &args.wishes, &count, named)?)
}

pub(crate) fn drop(args: &DropArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let named: BTreeSet<_> = args.pods.iter().map(|pod| bare(pod).to_owned()).collect();
    let Scaled { namespace, name } = workload_of(&kubectl, &named, args.how.namespace.as_deref())?;
    let (wishes, count) = (Wishes::default(), |_: &_, _: &_| Ok(args.count()));
    steer(Asked::find(&kubectl, &name, Some(&namespace), &args.how, &wishes, &count, named)?)
}

pub(crate) fn undo(args: &UndoArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.connection.arguments());
    let namespace = args.namespace.as_deref();
    let (cluster, _) = Cluster::find(&kubectl, &args.target.workload()?, namespace, 0)?;
    let target = cluster.state()?.target;
    let lock = match Lock::take(&cluster, &target, &Interrupt::catch()?, args.force) {
        Ok(lock) => Some(lock),
        // Whoever may not use Leases has run without one, too.
        Err(Refused::Forbidden(why)) => {
            complain(&format!("warning: {}", lock::not_locked(&why)));
            None
        }
        Err(refused @ Refused::Held(_)) => {
            return Err(format!("nothing was changed: {target}: {refused}, or stop it with --force").into());
        }
        Err(refused) => return Err(format!("nothing was changed: {target}: {refused}").into()),
    };
    let barriers = barrier::remove_all(&cluster, &target)?;
    let (done, _) = cluster.take_off(None)?;
    let left = lock.and_then(|lock| lock.release().err());
    let said = |number: usize, what: &str| match number {
        0 => None,
        1 => Some(format!("{what} 1 pod")),
        _ => Some(format!("{what} {number} pods")),
    };
    let done = [
        said(done.off, "took podrank's deletion cost off"),
        said(done.back, "put the earlier deletion cost back on"),
    ];
    let done: Vec<_> = done.into_iter().flatten().collect();
    let text = if done.is_empty() {
        "no pod has a deletion cost from podrank".to_owned()
    } else {
        done.join(", and ")
    };
    print_line(&format!("{text}{barriers}"))?;
    Ok(match left {
        None => ExitCode::SUCCESS,
        Some(left) => {
            complain(&format!("error: {left}"));
            ExitCode::from(Exit::Left as u8)
        }
    })
}

/// Returns the name of a pod without the prefix that `kubectl get -o name` prints.
fn bare(pod: &str) -> &str {
    pod.split_once('/').filter(|(word, _)| POD_TYPES.contains(word)).map_or(pod, |(_, name)| name)
}

/// Returns the workload to scale so that these pods can go.
fn workload_of(
    kubectl: &Kubectl,
    pods: &BTreeSet<String>,
    namespace: Option<&str>,
) -> Result<Scaled, Failure> {
    let place: Vec<_> = namespace.into_iter().flat_map(|namespace| ["--namespace", namespace]).collect();
    let names: Vec<_> = pods.iter().map(String::as_str).collect();
    let mut pods = kubectl.get(&[&["pods"], &names[..], &place[..]].concat())?;
    live::add_owners(kubectl, &mut pods)?;
    Ok(plan::one_workload(&pods)?)
}

fn steer((asked, input): (Asked<'_>, Snapshot)) -> Result<ExitCode, Failure> {
    let how = asked.how;
    if let Some(plan) = asked.nothing_to_do(&input)? {
        return done_already(plan, how);
    }
    let planned = asked.plan(input)?;
    let plan = &planned.plan;
    for note in &plan.notes {
        complain(&note.to_string());
    }
    if how.output == SteerOutput::Table {
        print(view::plan::table(plan).text(terminal()).as_bytes())?;
    }
    if let Some(dry_run) = how.dry_run {
        return end_dry_run(&planned, how, dry_run);
    }
    report(&attempts::carry_out(&asked, planned)?, how)
}

/// Says that the workload has the wanted count already.
fn done_already(plan: Plan, how: &How) -> Result<ExitCode, Failure> {
    let replicas = if plan.from == 1 { "1 replica".to_owned() } else { format!("{} replicas", plan.from) };
    let message = format!("{} has {replicas} already: there is nothing to do.", plan.target);
    for note in &plan.notes {
        complain(&note.to_string());
    }
    let steps = vec![Step::Read, Step::Report];
    let outcome = Outcome { steps, ..Outcome::of(Exit::Done, plan, message) };
    match how.dry_run.filter(|_| how.output == SteerOutput::Json) {
        Some(_) => {
            print(json(&Document::plan(&outcome.plan)).as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        None => report(&outcome, how),
    }
}

/// Ends a dry run, which has changed nothing, once the API server has been asked about each request if that is wanted.
fn end_dry_run(planned: &Planned<'_>, how: &How, dry_run: DryRun) -> Result<ExitCode, Failure> {
    let may_lock = dry_run == DryRun::Client || attempts::may_lock(planned, how)?;
    match how.output {
        SteerOutput::Json => print(json(&Document::plan(&planned.plan)).as_bytes())?,
        SteerOutput::Table if dry_run == DryRun::Server => {
            let but = if may_lock { "" } else { " but those of the lock: --yes needs --no-lock" };
            let text = format!(
                "You are authorized for every request{but}. Quotas and admission may still refuse one. Nothing was changed.\n"
            );
            print(text.as_bytes())?;
        }
        SteerOutput::Table => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn report(outcome: &Outcome, how: &How) -> Result<ExitCode, Failure> {
    match how.output {
        SteerOutput::Json => print(json(&Document::outcome(outcome)).as_bytes())?,
        SteerOutput::Table if outcome.exit == Exit::Done => {
            print_line(&outcome.message)?;
        }
        SteerOutput::Table => complain(&format!("error: {}", outcome.message)),
    }
    Ok(ExitCode::from(outcome.exit as u8))
}
