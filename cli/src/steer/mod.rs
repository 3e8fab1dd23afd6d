//! `scale`, `drop` and `undo`: make Kubernetes delete the pods that the user wants. They plan with `podrank_preview::steer`,
//! and read and write only through kubectl.

mod barrier;
mod cluster;
mod evict;
mod interrupt;
mod outcome;
mod rights;
mod run;
mod wishes;

use crate::args::steer::{By, DropArgs, DryRun, How, ScaleArgs, SteerOutput, UndoArgs, Wishes};
use crate::kubectl::Kubectl;
use crate::live::{self, Live, Managers, Scope};
use crate::surroundings;
use crate::{complain, look_of_plan, print};
use cluster::Cluster;
use jiff::Timestamp;
use kubectl_podrank::render_plan;
use outcome::{Document, Exit, Outcome};
use podrank_preview::steer::{self, Count, Plan, Request};
use podrank_preview::{Options, WorkloadName};
use run::Run;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

type Failure = Box<dyn Error>;

pub(crate) fn scale(args: &ScaleArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let count = Count::To(args.replicas);
    let named = args.wishes.pod.iter().map(|pod| bare(pod).to_owned()).collect();
    steer(&kubectl, &args.workload()?, args.how.namespace.as_deref(), &args.how, &args.wishes, count, named)
}

pub(crate) fn drop(args: &DropArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.how.connection.arguments());
    let named: BTreeSet<_> = args.pods.iter().map(|pod| bare(pod).to_owned()).collect();
    let (name, namespace) = owner(&kubectl, &named, args.how.namespace.as_deref())?;
    let count = if args.also { Count::AllButNamedAndAhead } else { Count::AllButNamed };
    steer(&kubectl, &name, Some(&namespace), &args.how, &Wishes::default(), count, named)
}

pub(crate) fn undo(args: &UndoArgs) -> Result<ExitCode, Failure> {
    let kubectl = Kubectl::new(args.connection.arguments());
    let scope = Scope::Namespace(args.namespace.as_deref());
    let Live { workload, .. } = live::read_once(&kubectl, &args.workload()?, scope, Managers::Pods)?;
    let cluster = Cluster::new(&kubectl, workload);
    let canaries = barrier::remove_canaries(&cluster)?;
    let done = cluster.take_off()?;
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
    print(format!("{text}{canaries}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a pod without the prefix that `kubectl get -o name` prints.
fn bare(pod: &str) -> &str {
    ["pod/", "pods/", "po/"].iter().find_map(|kind| pod.strip_prefix(kind)).unwrap_or(pod)
}

/// Returns the workload to scale so that these pods can go, and its namespace.
fn owner(
    kubectl: &Kubectl,
    pods: &BTreeSet<String>,
    namespace: Option<&str>,
) -> Result<(WorkloadName, String), Failure> {
    let place: Vec<_> = namespace.into_iter().flat_map(|namespace| ["--namespace", namespace]).collect();
    let names: Vec<_> = pods.iter().map(String::as_str).collect();
    let input = kubectl.get(&[&["pods"], &names[..], &place[..]].concat())?;
    let pods = steer::owners(&input)?;
    let namespace = pods[0].namespace.clone();
    let kind = pods[0].set.kind.expect("an owner has a kind");
    let sets = pods.iter().filter(|pod| pod.set.kind == Some(kind)).map(|pod| pod.set.name.as_str());
    let sets: Vec<_> = sets.collect::<BTreeSet<_>>().into_iter().collect();
    let resource = [&*kind.resource()];
    let place = ["--ignore-not-found", "--namespace", &namespace];
    let input = kubectl.get(&[&resource[..], &sets, &place].concat())?;
    let workload = steer::scalable(&input, &pods)?.ok_or("no pod is named")?;
    Ok((workload, namespace))
}

fn steer(
    kubectl: &Kubectl,
    name: &WorkloadName,
    namespace: Option<&str>,
    how: &How,
    wishes: &Wishes,
    count: Count,
    named: BTreeSet<String>,
) -> Result<ExitCode, Failure> {
    let scope = Scope::Namespace(namespace);
    let Live { mut input, workload, .. } = live::read(kubectl, name, scope, Managers::Pods)?;
    let cluster = Cluster::new(kubectl, workload);
    let mut options = Options::new(0, Timestamp::now());
    cluster.name_workload(&mut options);
    options.replicas = if let Count::To(replicas) = count { Some(replicas) } else { None };
    options.gates = how.gates();
    let mut request = Request {
        options,
        count,
        named,
        wishes: Vec::new(),
        force: how.force_conflicts,
        only_if_needed: false,
        by_cost: how.by == By::Scale,
    };
    if let Some(plan) = steer::nothing_to_do(&input, &request)? {
        return done_already(plan, how);
    }
    request.wishes = wishes::resolve(&cluster, wishes)?;
    let mut plan = steer::plan(&input, &request)?;
    input.add_part(surroundings::common(kubectl, cluster.namespace()));
    plan.notes.extend(steer::check_budgets(&input, &plan, how.by == By::Eviction)?);
    plan.notes.extend(steer::check_autoscalers(&input, &plan));
    for note in &plan.notes {
        complain(&note.to_string());
    }
    if how.output == SteerOutput::Table {
        print(render_plan::table(&plan, how.by == By::Eviction, look_of_plan()).as_bytes())?;
    }
    if let Some(dry_run) = how.dry_run {
        return try_out(&cluster, &plan, how, dry_run);
    }
    if !how.yes {
        confirm(&plan)?;
    }
    rights::check(&cluster, &plan, how)?;
    let run = Run::new(&cluster, request, how, plan)?;
    let outcome = match how.by {
        By::Scale => run.go(),
        By::Eviction => evict::go(run),
    };
    report(&outcome, how)
}

/// Says that the workload has the wanted count already.
fn done_already(plan: Plan, how: &How) -> Result<ExitCode, Failure> {
    let replicas = if plan.from == 1 { "1 replica".to_owned() } else { format!("{} replicas", plan.from) };
    let message = format!("{} has {replicas} already: there is nothing to do.", plan.target);
    for note in &plan.notes {
        complain(&note.to_string());
    }
    let (went, missed, others, left) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let outcome = Outcome { exit: Exit::Done, plan, went, missed, others, left, message };
    match how.dry_run.filter(|_| how.output == SteerOutput::Json) {
        Some(_) => {
            print(Document::plan(&outcome.plan, how).to_json().as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        None => report(&outcome, how),
    }
}

/// A dry run: changes nothing, and has the API server check each write if that is asked for.
fn try_out(cluster: &Cluster<'_>, plan: &Plan, how: &How, dry_run: DryRun) -> Result<ExitCode, Failure> {
    if dry_run == DryRun::Server {
        rights::check(cluster, plan, how)?;
    }
    match how.output {
        SteerOutput::Json => print(Document::plan(plan, how).to_json().as_bytes())?,
        SteerOutput::Table if dry_run == DryRun::Server => {
            let text = match how.by {
                By::Scale => "The API server accepts every write. Nothing was changed.\n",
                By::Eviction => {
                    "The API server accepts the new count. It was not asked about the evictions. Nothing was changed.\n"
                }
            };
            print(text.as_bytes())?;
        }
        SteerOutput::Table => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks the user, who must be at a terminal.
fn confirm(plan: &Plan) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(
            "there is no terminal to ask: confirm with --yes, or see the plan with --dry-run client".into()
        );
    }
    let Plan { from, replicas, .. } = plan;
    let _ = write!(io::stderr(), "Scale {} from {from} to {replicas} like this? [y/N] ", plan.target);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err("nothing was changed".into())
}

fn report(outcome: &Outcome, how: &How) -> Result<ExitCode, Failure> {
    match how.output {
        SteerOutput::Json => print(Document::outcome(outcome, how).to_json().as_bytes())?,
        SteerOutput::Table if outcome.exit == Exit::Done => {
            print(format!("{}\n", outcome.message).as_bytes())?;
        }
        SteerOutput::Table => complain(&format!("error: {}", outcome.message)),
    }
    Ok(ExitCode::from(outcome.exit as u8))
}
