//! `drop --node`: the pods of a node, workload by workload, as one plan that is confirmed once. Reads and writes only through
//! kubectl, and never writes to the node itself.

use super::interrupt::Interrupt;
use super::outcome::{Document, Exit, NodeDocument, Outcome};
use super::planned::{Planned, Wanted};
use super::shared::{MANY, Shared};
use super::{Failure, confirm, end_dry_run, owners, rights};
use crate::args::steer::{By, DropArgs, DryRun, How, SteerOutput, Wishes};
use crate::kubectl::{Answer, Kubectl, Reason};
use crate::progress::Planning;
use crate::{complain, look_of_plan, print};
use kubectl_podrank::look::in_sentences;
use kubectl_podrank::render_plan::{count, of_node, place};
use podrank_preview::steer::{self, Scaled, Spared};
use podrank_preview::{Input, Note, Options};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// A node, and those of its pods that stay.
struct Node {
    name: String,
    is_cordoned: bool,
    passed_over: Vec<Spared>,
    others: Vec<Spared>,
}

/// Names of pods by the workload to scale.
type Workloads = BTreeMap<Scaled, BTreeSet<String>>;

pub(super) fn drop(kubectl: &Kubectl, name: &str, args: &DropArgs) -> Result<ExitCode, Failure> {
    let how = &args.how;
    let (mut node, workloads) = Node::read(kubectl, name)?;
    let planned = node.plan(kubectl, workloads, args);
    if how.dry_run == Some(DryRun::Client)
        && how.output == SteerOutput::Table
        && args.skip_others
        && !planned.is_empty()
    {
        return node.show(&planned, how);
    }
    node.say_what_stays(args.skip_others);
    if !node.others.is_empty() && !args.skip_others {
        return Err(node.refusal(&planned).into());
    }
    let shown = node.plans(&planned, how);
    say_notes(&planned, &shown);
    if planned.is_empty() {
        return node.nothing_to_do(how);
    }
    let plans: Vec<_> = planned.iter().map(|planned| &planned.plan).collect();
    if how.output == SteerOutput::Table {
        print(shown.as_bytes())?;
        node.say_what_becomes_of_it()?;
    }
    if how.dry_run.is_none() && !how.yes {
        let pods = count(plans.iter().map(|plan| plan.delete).sum(), "pod");
        confirm(&format!("Drop {pods} of {}", count(plans.len(), "workload")))?;
    }
    if how.dry_run != Some(DryRun::Client) {
        for Planned { cluster, plan, .. } in &planned {
            rights::check(cluster, plan, how).map_err(|error| format!("{}: {error}", place(plan)))?;
        }
    }
    match how.dry_run {
        Some(dry_run) => end_dry_run(how, dry_run, || {
            let plans = plans.iter().map(|plan| Document::plan(plan, how));
            node.document(plans.collect(), None).to_json()
        }),
        None => node.run(planned, how),
    }
}

/// Says the notes of all plans, those of several workloads once, as far as there is room beside the plans as they are shown.
fn say_notes(planned: &[Planned<'_>], shown: &str) {
    let mut notes = Vec::<(_, Vec<_>)>::new();
    for Planned { plan, .. } in planned {
        for note in &plan.notes {
            let is_same =
                |(said, _): &&mut (&Note, _)| said.level() == note.level() && said.text == note.text;
            match notes.iter_mut().find(is_same) {
                Some((_, places)) => places.push(place(plan)),
                None => notes.push((note, vec![place(plan)])),
            }
        }
    }
    // If there is no room for all, warnings are said.
    notes.sort_by_key(|(note, _)| Reverse(note.level()));
    let said =
        notes.iter().map(|(note, places)| format!("{}: {}: {}", note.level(), places.join(", "), note.text));
    let notes: Vec<_> = said.collect();
    let (said, more) = notes.split_at(look_of_plan().fitting(&notes, shown));
    for note in said {
        complain(note);
    }
    if !more.is_empty() {
        complain(&format!("note: {} more notes (-o json has them)", more.len()));
    }
}

impl Node {
    /// The plans as a reader sees them.
    fn plans(&self, planned: &[Planned<'_>], how: &How) -> String {
        let plans: Vec<_> = planned.iter().map(|planned| &planned.plan).collect();
        of_node(&self.name, &plans, how.by == By::Eviction)
    }

    /// Shows the plan, then what stays, and last how to carry it out.
    fn show(&self, planned: &[Planned<'_>], how: &How) -> Result<ExitCode, Failure> {
        let shown = self.plans(planned, how);
        print(shown.as_bytes())?;
        self.say_what_stays(true);
        say_notes(planned, &shown);
        self.say_what_becomes_of_it()?;
        let others = if self.others.is_empty() { "" } else { " --skip-others" };
        complain(&format!(
            "Nothing was changed. To do it: kubectl podrank drop --node {}{others}",
            self.name
        ));
        Ok(ExitCode::SUCCESS)
    }

    /// Reads the node, its pods and their sets.
    fn read(kubectl: &Kubectl, name: &str) -> Result<(Self, Workloads), Failure> {
        let is_cordoned = is_cordoned(kubectl, name)?;
        let selector = format!("spec.nodeName={name}");
        let pods = kubectl.get(&["pods", "--all-namespaces", "--field-selector", &selector])?;
        let steer::Sorted { workloads, passed_over, others } = steer::sorted(owners(kubectl, pods)?);
        Ok((Self { name: name.to_owned(), is_cordoned, passed_over, others }, workloads))
    }

    /// Plans each workload. The pods of one for which there is no plan cannot be dropped.
    fn plan<'k>(&mut self, kubectl: &'k Kubectl, workloads: Workloads, args: &DropArgs) -> Vec<Planned<'k>> {
        let mut planned = Vec::new();
        let mut progress = Planning::of(workloads.len() as u64);
        let shared = shared(kubectl, &workloads);
        for (Scaled { namespace, name }, pods) in workloads {
            progress.next();
            let (count, its) = (|_: &Input, _: &Options| Ok(args.count()), pods.clone());
            let wanted = match shared.get(&namespace).and_then(|shared| shared.of(kubectl, &name)) {
                Some((cluster, input, around)) => {
                    Wanted::of(cluster, input, Some(around), &args.how, count, its)
                }
                None => Wanted::read(kubectl, &name, Some(&namespace), &args.how, count, its),
            };
            match wanted.and_then(|wanted| wanted.plan(&args.how, &Wishes::default())) {
                Ok(plan) => planned.push(plan),
                Err(error) => {
                    let pods = pods.into_iter().collect();
                    self.others.push(Spared { namespace, pods, why: error.to_string() });
                }
            }
        }
        planned
    }

    fn say_what_stays(&self, skips_others: bool) {
        if !self.passed_over.is_empty() {
            let names = self
                .passed_over
                .iter()
                .flat_map(|spared| spared.pods.iter().map(|pod| format!("{}/{pod}", spared.namespace)));
            let names = names.collect::<Vec<_>>().join(", ");
            complain(&format!("note: passed over, as pods of DaemonSets and mirror pods are: {names}"));
        }
        let level = if skips_others { "note" } else { "error" };
        for Spared { namespace, pods, why } in &self.others {
            complain(&format!("{level}: {} in {namespace} cannot be dropped: {why}", pods.join(", ")));
        }
    }

    /// Says that there are pods that cannot be dropped, and how to drop the rest.
    fn refusal(&self, planned: &[Planned<'_>]) -> String {
        let others = self.others.iter().map(|spared| spared.pods.len()).sum();
        let rest =
            planned.iter().flat_map(|planned| planned.plan.wanted()).filter(|pod| pod.is_named).count();
        let others = count(others, "pod");
        let hint = match rest {
            0 => "there are no others to drop".to_owned(),
            _ => format!("--skip-others takes the rest, {}", count(rest, "pod")),
        };
        format!("{others} on {} cannot be dropped, and nothing was changed: {hint}", self.name)
    }

    fn nothing_to_do(&self, how: &How) -> Result<ExitCode, Failure> {
        match how.output {
            SteerOutput::Json => {
                let exit = how.dry_run.is_none().then_some(Exit::Done);
                print(self.document(Vec::new(), exit).to_json().as_bytes())?;
            }
            SteerOutput::Table => {
                print(format!("{} has no pods to drop: there is nothing to do.\n", self.name).as_bytes())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Says whether the plans empty the node, and how to keep it so.
    fn say_what_becomes_of_it(&self) -> Result<(), Failure> {
        let Self { name, others, .. } = self;
        let becomes = match others.iter().map(|spared| spared.pods.len()).sum::<usize>() {
            0 => format!("{name} becomes empty."),
            1 => format!("{name} does not become empty: 1 pod stays."),
            stay => format!("{name} does not become empty: {stay} pods stay."),
        };
        print(in_sentences(&[becomes], look_of_plan()).as_bytes())?;
        self.say_that_it_is_not_cordoned()
    }

    fn say_that_it_is_not_cordoned(&self) -> Result<(), Failure> {
        let Self { name, is_cordoned, .. } = self;
        if *is_cordoned {
            return Ok(());
        }
        let text = format!(
            "{name} is not cordoned: new pods may come to it. `kubectl cordon {name}` prevents that."
        );
        print(in_sentences(&[text], look_of_plan()).as_bytes())
    }

    /// Carries the plans out, one after the other, and stops at the first failure.
    fn run(&self, planned: Vec<Planned<'_>>, how: &How) -> Result<ExitCode, Failure> {
        let interrupt = Interrupt::catch()?;
        let mut exit = Exit::Done;
        let mut outcomes = Vec::new();
        let mut rest = planned.into_iter();
        while exit == Exit::Done
            && let Some(planned) = rest.next()
        {
            let outcome = planned.run(how, interrupt.clone());
            exit = outcome.exit;
            if how.output == SteerOutput::Table {
                say(&outcome)?;
            }
            outcomes.push(outcome);
        }
        let not_begun: Vec<_> = rest.map(|planned| planned.plan).collect();
        if how.output == SteerOutput::Json {
            let outcomes = outcomes.iter().map(|outcome| Document::outcome(outcome, how));
            let documents = outcomes.chain(not_begun.iter().map(|plan| Document::plan(plan, how)));
            print(self.document(documents.collect(), Some(exit)).to_json().as_bytes())?;
        } else {
            if !not_begun.is_empty() {
                let places: Vec<_> = not_begun.iter().map(place).collect();
                complain(&format!("error: not begun: {}", places.join(", ")));
            }
            self.say_that_it_is_not_cordoned()?;
        }
        Ok(ExitCode::from(exit as u8))
    }

    fn document<'a>(&'a self, workloads: Vec<Document<'a>>, exit: Option<Exit>) -> NodeDocument<'a> {
        let Self { name, is_cordoned, passed_over, others } = self;
        NodeDocument::new(name, *is_cordoned, workloads, [passed_over, others], exit)
    }
}

/// The namespaces in which many workloads are to be planned, each read at once.
fn shared(kubectl: &Kubectl, workloads: &Workloads) -> BTreeMap<String, Shared> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for Scaled { namespace, .. } in workloads.keys() {
        *counts.entry(namespace).or_default() += 1;
    }
    let many = counts.into_iter().filter(|(_, count)| *count >= MANY);
    many.filter_map(|(namespace, _)| Some((namespace.to_owned(), Shared::read(kubectl, namespace)?)))
        .collect()
}

/// Whether the scheduler leaves the node out. An error if there is no such node.
fn is_cordoned(kubectl: &Kubectl, name: &str) -> Result<bool, Failure> {
    let answer = kubectl.call(&["get", &format!("node/{name}"), "--output=json"], "");
    match answer.and_then(Answer::result) {
        Ok(text) => {
            let node =
                serde_json::from_str::<Value>(&text).map_err(|error| format!("node {name}: {error}"))?;
            Ok(node["spec"]["unschedulable"] == true)
        }
        Err(error) if error.reason == Reason::NotFound => {
            let known = kubectl.lines(&["nodes"]);
            let known = known.iter().filter_map(|line| line.strip_prefix("node/"));
            Err(steer::unknown_node(name, known).into())
        }
        Err(error) => Err(format!("node {name} cannot be read: {error}").into()),
    }
}

/// Says what became of one workload.
fn say(outcome: &Outcome) -> Result<(), Failure> {
    let Outcome { exit, plan, message, .. } = outcome;
    if *exit == Exit::Done {
        return print(format!("In {}, {message}\n", plan.namespace).as_bytes());
    }
    complain(&format!("error: in {}, {message}", plan.namespace));
    Ok(())
}
