//! `scale`, `drop` and `undo`: make Kubernetes delete the pods that the user wants. They plan with `podrank_predict::plan`,
//! and read and write only through kubectl.

mod barrier;
mod cluster;
mod confirm;
mod ending;
mod interrupt;
mod lock;
mod outcome;
mod preferences;
mod request;
mod rights;
mod run;

use crate::args::steer::{DropArgs, DryRun, How, POD_TYPES, Preferences, ScaleArgs, SteerOutput, UndoArgs};
use crate::kubectl::Kubectl;
use crate::live;
use crate::{Failure, complain, explain, print, print_line, terminal};
use cluster::Cluster;
use kubectl_podrank::view;
use lock::{Lock, LockError};
use outcome::{Document, Exit, Outcome, Step};
use podrank_predict::plan::{self, Plan, PlanSize, ScaleTarget, Target};
use podrank_predict::{Options, Snapshot, count, json};
use request::ScaleRequest;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) fn scale(args: &ScaleArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let count = |input: &Snapshot, options: &Options| input.count(options, args.replicas).map(PlanSize::To);
    let named = args.preferences.pod.iter().map(|pod| bare(pod).to_owned()).collect();
    let (namespace, target) = (args.how.namespace.as_deref(), args.target.workload()?);
    let found = ScaleRequest::find(&kubectl, &target, namespace, &args.how, &args.preferences, &count, named);
    steer(found?)
}

pub(crate) fn drop(args: &DropArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let named: BTreeSet<_> = args.pods.iter().map(|pod| bare(pod).to_owned()).collect();
    let ScaleTarget { namespace, name } = workload_of(&kubectl, &named, args.how.namespace.as_deref())?;
    let (none, count) = (Preferences::default(), |_: &_, _: &_| Ok(args.count()));
    steer(ScaleRequest::find(&kubectl, &name, Some(&namespace), &args.how, &none, &count, named)?)
}

pub(crate) fn undo(args: &UndoArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.connection.arguments());
    let namespace = args.namespace.as_deref();
    let (cluster, input) = Cluster::find(&kubectl, &args.target.workload()?, namespace, 0)?;
    cluster.check_whole(&input)?;
    let target = cluster.state()?.target;
    interrupt::catch()?;
    let mut lock = Lock::create(&cluster, &target, lock::RESERVE);
    if let Err(LockError::Held(lease)) = &lock
        && (args.force || lease.is_expired())
    {
        lease.delete()?;
        lock = Lock::create(&cluster, &target, lock::RESERVE);
    }
    let lock = match lock {
        Ok(lock) => Some(lock),
        // Who may not use Leases has run without one, too.
        Err(LockError::Forbidden(why)) => {
            complain(&format!("warning: {}", lock::not_locked(&why)));
            None
        }
        Err(error) => return Err(error.explained(&cluster, &target).into()),
    };
    let removed = remove_all(&cluster, &target).and_then(|text| print_line(&text));
    let left = lock.and_then(|lock| lock.release().err());
    let errors: Vec<Failure> = removed.err().into_iter().chain(left.map(Failure::from)).collect();
    errors.iter().for_each(explain);
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Exit::Left as u8) })
}

/// Removes costs and barrier pods, and says so.
fn remove_all(cluster: &Cluster<'_>, target: &Target) -> Result<String, Failure> {
    let barriers = barrier::delete_all(cluster, target);
    let (done, _) = cluster.remove_costs(None)?;
    let has_barriers = barriers?;
    let done = [
        (done.off > 0).then(|| format!("removed podrank's deletion cost from {}", count(done.off, "pod"))),
        (done.back > 0).then(|| format!("restored the earlier deletion cost of {}", count(done.back, "pod"))),
        (done.off + done.back == 0).then(|| "no pod has a deletion cost from podrank".to_owned()),
        has_barriers.then(|| "removed a barrier pod".to_owned()),
    ];
    let mut done = done.into_iter().flatten().collect::<Vec<_>>().join(", and ") + ".";
    done[..1].make_ascii_uppercase();
    Ok(done)
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
) -> Result<ScaleTarget, Failure> {
    let place: Vec<_> = namespace.into_iter().flat_map(|namespace| ["--namespace", namespace]).collect();
    let names: Vec<_> = pods.iter().map(String::as_str).collect();
    let mut pods = kubectl.get(&[&["pods"], &names[..], &place[..]].concat())?;
    live::add_owners(kubectl, &mut pods)?;
    Ok(plan::one_workload(&pods)?)
}

fn steer((request, input): (ScaleRequest<'_>, Snapshot)) -> Result<ExitCode, Failure> {
    let how = request.how;
    if let Some(plan) = request.nothing_to_do(&input)? {
        return done_already(plan, how);
    }
    let planned = request.plan(input)?;
    let plan = &planned.plan;
    plan.notes.iter().for_each(|note| complain(&note.to_string()));
    let table = || view::plan::table(plan).text(terminal());
    if how.output == SteerOutput::Table {
        print(table().as_bytes())?;
    } else if !how.yes && how.dry_run.is_none() {
        // Who is asked to confirm the plan sees it. Standard output is for JSON alone.
        let _ = io::stderr().write_all(table().as_bytes());
    }
    if let Some(dry_run) = how.dry_run {
        return end_dry_run(&request, plan, dry_run);
    }
    let outcome = confirm::carry_out(&request, planned)?;
    Ok(outcome.map_or(ExitCode::FAILURE, |outcome| report(&outcome, how)))
}

/// Says that the workload already has the desired replica count.
fn done_already(plan: Plan, how: &How) -> Result<ExitCode, Failure> {
    let replicas = count(plan.from, "replica");
    let message = format!("{} has {replicas} already. Nothing to do.", plan.target);
    plan.notes.iter().for_each(|note| complain(&note.to_string()));
    let steps = vec![Step::Read, Step::Report];
    if how.dry_run.is_some() && how.output == SteerOutput::Json {
        print(json(&Document::plan(&plan)).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(report(&Outcome { steps, ..Outcome::of(Exit::Done, plan, message) }, how))
}

/// Ends a dry run, which has changed nothing, after asking the API server about each request if the user wants that.
fn end_dry_run(request: &ScaleRequest<'_>, plan: &Plan, dry_run: DryRun) -> Result<ExitCode, Failure> {
    let may_lock = dry_run == DryRun::Client || confirm::may_lock(request, plan)?;
    match request.how.output {
        SteerOutput::Json => {
            print(json(&Document::plan(plan)).as_bytes())?;
        }
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

/// Says what became of a run. If nobody can read that, the exit status still says it.
fn report(outcome: &Outcome, how: &How) -> ExitCode {
    let printed = match how.output {
        SteerOutput::Json => print(json(&Document::outcome(outcome)).as_bytes()),
        SteerOutput::Table if outcome.exit == Exit::Done => print_line(&outcome.message),
        SteerOutput::Table => {
            crate::report(&format!("error: {}", outcome.message));
            Ok(true)
        }
    };
    printed.err().iter().for_each(explain);
    ExitCode::from(outcome.exit as u8)
}
