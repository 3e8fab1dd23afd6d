//! `drop --node`: the pods of a node, workload by workload, as one plan that is confirmed once. Reads and writes only through
//! kubectl, and never writes to the node itself.

use super::attempts::{Done, Work};
use super::outcome::{Document, Exit, NodeDocument, Outcome};
use super::planned::{Asked, Counted, Planned};
use super::shared::Shared;
use super::{Failure, end_dry_run, owners, told};
use crate::args::steer::{DropArgs, DryRun, How, SteerOutput, Wishes};
use crate::kubectl::Kubectl;
use crate::live;
use crate::progress::Waiting;
use crate::{complain, look_of_plan, print, print_line};
use kubectl_podrank::look::in_sentences;
use kubectl_podrank::render_plan::{count, of_node, place};
use podrank_predict::plan::{self, Scaled, Spared};
use podrank_predict::{Note, json};
use serde_json::Value;
use std::cell::RefCell;
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
    let asking = Asking { kubectl, args, count: &|_, _| Ok(args.count()), wishes: Wishes::default() };
    let (node, planned) = asking.plan(name)?;
    if how.dry_run == Some(DryRun::Client)
        && how.output == SteerOutput::Table
        && args.skip_others
        && !planned.is_empty()
    {
        return node.show(&planned);
    }
    node.say_what_stays(args.skip_others);
    node.check(&planned, args)?;
    let shown = node.plans(&planned);
    say_notes(&planned, &shown);
    if planned.is_empty() {
        return node.nothing_to_do(how);
    }
    if how.output == SteerOutput::Table {
        print(shown.as_bytes())?;
        node.say_what_becomes_of_it()?;
    }
    match how.dry_run {
        Some(dry_run) => end_dry_run(&planned, how, dry_run, || {
            let plans = planned.iter().map(|planned| Document::plan(&planned.plan));
            json(&node.document(plans.collect(), None))
        }),
        None => node.run(&asking, planned, how),
    }
}

/// What is asked about a node. It can be planned again and again.
struct Asking<'k> {
    kubectl: &'k Kubectl,
    args: &'k DropArgs,
    count: Counted<'k>,
    wishes: Wishes,
}

impl<'k> Asking<'k> {
    /// Reads the node, and plans each workload. The pods of one for which there is no plan cannot be dropped.
    fn plan(&'k self, name: &str) -> Result<(Node, Vec<Planned<'k>>), Failure> {
        let Self { kubectl, args, count, wishes } = self;
        let (mut node, workloads) = Node::read(kubectl, name)?;
        let mut planned = Vec::new();
        let waiting = Waiting::new();
        let shared = shared(kubectl, &workloads);
        for (Scaled { namespace, name }, pods) in workloads {
            waiting.tell(&format!("planning {name} in {namespace}"));
            let its = pods.clone();
            let plan = match shared.get(&namespace).and_then(|shared| shared.of(kubectl, &name)) {
                Some((cluster, input, around)) => {
                    Asked::of(cluster, &args.how, wishes, *count, its).plan(input, Some(around))
                }
                None => Asked::find(kubectl, &name, Some(&namespace), &args.how, wishes, *count, its)
                    .and_then(|(asked, input)| asked.plan(input, None)),
            };
            match plan {
                Ok(plan) => planned.push(plan),
                Err(error) => {
                    let pods = pods.into_iter().collect();
                    node.others.push(Spared { namespace, pods, why: error.to_string() });
                }
            }
        }
        Ok((node, planned))
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
    fn plans(&self, planned: &[Planned<'_>]) -> String {
        let plans: Vec<_> = planned.iter().map(|planned| &planned.plan).collect();
        of_node(&self.name, &plans)
    }

    /// Shows the plan, then what stays, and last how to carry it out.
    fn show(&self, planned: &[Planned<'_>]) -> Result<ExitCode, Failure> {
        let shown = self.plans(planned);
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
        let pods = live::pods_of_node(kubectl, name)?;
        let plan::Sorted { workloads, passed_over, others } = plan::sorted(owners(kubectl, pods)?);
        Ok((Self { name: name.to_owned(), is_cordoned, passed_over, others }, workloads))
    }

    fn say_what_stays(&self, skips_others: bool) {
        if !self.passed_over.is_empty() {
            let names = names(&self.passed_over);
            complain(&format!("note: passed over, as pods of DaemonSets and mirror pods are: {names}"));
        }
        let level = if skips_others { "note" } else { "error" };
        for Spared { namespace, pods, why } in &self.others {
            complain(&format!("{level}: {} in {namespace} cannot be dropped: {why}", pods.join(", ")));
        }
    }

    /// Returns an error if there are pods that cannot be dropped, and nobody said that they may stay: it says how to drop the rest.
    fn check(&self, planned: &[Planned<'_>], args: &DropArgs) -> Result<(), Failure> {
        if self.others.is_empty() || args.skip_others {
            return Ok(());
        }
        let others = count(self.others.iter().map(|spared| spared.pods.len()).sum(), "pod");
        let hint = match planned.iter().flat_map(|its| its.plan.wanted()).filter(|pod| pod.is_named).count() {
            0 => "there are no others to drop".to_owned(),
            rest => format!("--skip-others takes the rest, {}", count(rest, "pod")),
        };
        Err(format!("{others} on {} cannot be dropped, and nothing was changed: {hint}", self.name).into())
    }

    fn nothing_to_do(&self, how: &How) -> Result<ExitCode, Failure> {
        match how.output {
            SteerOutput::Json => {
                let exit = how.dry_run.is_none().then_some(Exit::Done);
                print(json(&self.document(Vec::new(), exit)).as_bytes())?;
            }
            SteerOutput::Table => {
                print_line(&format!("{} has no pods to drop: there is nothing to do.", self.name))?;
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
    fn run(self, asking: &Asking<'_>, planned: Vec<Planned<'_>>, how: &How) -> Result<ExitCode, Failure> {
        // As it was when it was planned last.
        let node = RefCell::new(self);
        let again = || {
            let (now, planned) = asking.plan(&node.borrow().name)?;
            now.check(&planned, asking.args)?;
            node.replace(now);
            Ok(planned)
        };
        let question = |planned: &[Planned<'_>]| {
            let pods = count(planned.iter().map(|planned| planned.plan.delete).sum(), "pod");
            format!("Drop {pods} of {}", count(planned.len(), "workload"))
        };
        let is_table = how.output == SteerOutput::Table;
        let tell = |outcome: &Outcome| if is_table { say(outcome) } else { Ok(()) };
        let named = BTreeSet::new();
        let work = Work { planned, how, named: &named, again: &again, question: &question, tell: &tell };
        let done = work.carry_out();
        told(done, |done| node.into_inner().report(asking.kubectl, &done, how))
    }

    /// Says what came of it all.
    fn report(mut self, kubectl: &Kubectl, done: &Done, how: &How) -> Result<ExitCode, Failure> {
        let Done { outcomes, not_begun } = done;
        let mut exit = outcomes.last().map_or(Exit::Done, |outcome| outcome.exit);
        if exit == Exit::Done {
            exit = self.look_for_others(kubectl).unwrap_or_else(|error| {
                complain(&format!("error: whether {} is empty is not known: {error}", self.name));
                Exit::Left
            });
        }
        if how.output == SteerOutput::Table {
            if !not_begun.is_empty() {
                let places: Vec<_> = not_begun.iter().map(place).collect();
                complain(&format!("error: not begun: {}", places.join(", ")));
            }
            self.say_that_it_is_not_cordoned()?;
        } else {
            let outcomes = outcomes.iter().map(|outcome| Document::outcome(outcome));
            let documents = outcomes.chain(not_begun.iter().map(|plan| Document::plan(plan)));
            print(json(&self.document(documents.collect(), Some(exit))).as_bytes())?;
        }
        Ok(ExitCode::from(exit as u8))
    }

    /// Looks whether pods have come to the node meanwhile.
    fn look_for_others(&mut self, kubectl: &Kubectl) -> Result<Exit, Failure> {
        let (now, workloads) = Self::read(kubectl, &self.name)?;
        let known: BTreeSet<_> = self
            .others
            .iter()
            .flat_map(|spared| spared.pods.iter().map(|pod| (&spared.namespace, pod)))
            .collect();
        let left = workloads.into_iter().map(|(of, pods)| (of.namespace, pods.into_iter().collect()));
        let left = left.chain(now.others.into_iter().map(|spared| (spared.namespace, spared.pods)));
        let came = left.map(|(namespace, mut pods): (_, Vec<_>)| {
            pods.retain(|pod| !known.contains(&(&namespace, pod)));
            Spared { namespace, pods, why: "it came meanwhile".to_owned() }
        });
        let came: Vec<_> = came.filter(|spared| !spared.pods.is_empty()).collect();
        if came.is_empty() {
            return Ok(Exit::Done);
        }
        let names = names(&came);
        complain(&format!("error: {} is not empty: these came meanwhile: {names}", self.name));
        self.others.extend(came);
        Ok(Exit::Others)
    }

    fn document<'a>(&'a self, workloads: Vec<Document<'a>>, exit: Option<Exit>) -> NodeDocument<'a> {
        let Self { name, is_cordoned, passed_over, others } = self;
        NodeDocument::new(name, *is_cordoned, workloads, [passed_over, others], exit)
    }
}

/// The pods with their namespaces.
fn names(spared: &[Spared]) -> String {
    let names = spared.iter().flat_map(|its| its.pods.iter().map(|pod| format!("{}/{pod}", its.namespace)));
    names.collect::<Vec<_>>().join(", ")
}

/// The namespaces in which many workloads are to be planned, each read at once.
fn shared(kubectl: &Kubectl, workloads: &Workloads) -> BTreeMap<String, Shared> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for Scaled { namespace, .. } in workloads.keys() {
        *counts.entry(namespace).or_default() += 1;
    }
    let many = counts.into_iter().filter(|(_, count)| *count >= live::MANY);
    many.filter_map(|(namespace, _)| Some((namespace.to_owned(), Shared::read(kubectl, namespace)?)))
        .collect()
}

/// Whether the scheduler leaves the node out. An error if there is no such node.
fn is_cordoned(kubectl: &Kubectl, name: &str) -> Result<bool, Failure> {
    let node = live::node(kubectl, name, "json")?;
    let node = serde_json::from_str::<Value>(&node).map_err(|error| format!("node {name}: {error}"))?;
    Ok(node["spec"]["unschedulable"] == true)
}

/// Says what became of one workload.
fn say(outcome: &Outcome) -> Result<(), Failure> {
    let Outcome { exit, plan, message, .. } = outcome;
    if *exit == Exit::Done {
        return print_line(&format!("In {}, {message}", plan.namespace));
    }
    complain(&format!("error: in {}, {message}", plan.namespace));
    Ok(())
}
