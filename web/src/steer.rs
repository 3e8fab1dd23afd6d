//! The plan of a scale-down that takes the pods that were clicked, with the commands that carry it out.

use crate::failure::Failure;
use podrank::DELETION_COST_ANNOTATION;
use podrank_preview::steer::{Count, Plan, PlannedPod, Request, plan as planned};
use podrank_preview::{Input, Note, Options, Verdict};
use serde::Serialize;

/// The most pods whose costs are listed: each is an object to be written.
const MOST_LISTED: usize = 200;

#[derive(Serialize)]
struct Steered<'p> {
    /// How many costs are to be written.
    writes: usize,
    notes: &'p [Note],
    /// Those that were named or whose costs change.
    pods: Vec<&'p PlannedPod>,
    /// All of them, as in a decision, those that go first.
    all: Vec<(&'p str, Option<&'p str>, Verdict, Option<String>)>,
    /// One command that does all of it, waits where it must and compares afterwards.
    scale: String,
    /// What it does, step by step, with kubectl alone.
    commands: Vec<String>,
}

pub(crate) fn plan(input: &Input, options: Options, names: &[String]) -> Result<String, Failure> {
    let count = options.replicas.ok_or_else(|| "without a count, there is nothing to choose".to_owned())?;
    let request = Request {
        options,
        count: Count::To(count),
        named: names.iter().cloned().collect(),
        wishes: Vec::new(),
        force: false,
        only_if_needed: false,
        by_cost: true,
        own_costs: None,
    };
    let plan = planned(input, &request)?;
    let is_listed = |pod: &&PlannedPod| pod.is_named || pod.write.is_some();
    let tile = |pod| {
        let PlannedPod { name, node, is_wanted, .. }: &PlannedPod = pod;
        let verdict = if *is_wanted { Verdict::Delete } else { Verdict::Keep };
        (&**name, node.as_deref(), verdict, None)
    };
    let steered = Steered {
        writes: plan.writes,
        notes: &plan.notes,
        pods: plan.pods.iter().filter(is_listed).take(MOST_LISTED).collect(),
        all: plan.pods.iter().map(tile).collect(),
        scale: scale(&plan, names),
        commands: commands(&plan),
    };
    Ok(super::json(&steered))
}

/// `kubectl podrank scale` for these pods.
fn scale(plan: &Plan, names: &[String]) -> String {
    let pods = names.iter().map(|name| format!(" --pod {name}")).collect::<Vec<_>>().concat();
    format!("kubectl podrank scale {} --replicas {}{}{pods}", plan.target, plan.replicas, namespace(plan))
}

/// Writes the costs, and then scales.
fn commands(plan: &Plan) -> Vec<String> {
    let namespace = namespace(plan);
    let write = |pod: &PlannedPod| {
        let cost = pod.write?;
        Some(format!(
            "kubectl annotate pod {}{namespace} --overwrite {DELETION_COST_ANNOTATION}={cost}",
            pod.name
        ))
    };
    let scale = format!(
        "kubectl scale {} --current-replicas={} --replicas={}{namespace}",
        plan.target, plan.from, plan.replicas
    );
    plan.pods.iter().filter_map(write).chain([scale]).collect()
}

fn namespace(plan: &Plan) -> String {
    if plan.namespace == "default" { String::new() } else { format!(" --namespace {}", plan.namespace) }
}
