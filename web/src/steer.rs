//! The plan of a scale-down that takes exactly the pods that were clicked, with the commands that carry it out.

use crate::failure::Failure;
use podrank::DELETION_COST_ANNOTATION;
use podrank_preview::steer::{Count, Plan, PlannedPod, Request, plan as planned};
use podrank_preview::{Input, Options};
use serde::Serialize;

#[derive(Serialize)]
struct Steered {
    #[serde(flatten)]
    plan: Plan,
    /// One command that does all of it, waits where it must and compares afterwards.
    drop: String,
    /// What it does, step by step, with kubectl alone.
    commands: Vec<String>,
}

pub(crate) fn plan(
    input: &Input,
    options: Options,
    names: &[String],
    ahead: bool,
) -> Result<String, Failure> {
    let request = Request {
        options,
        count: if ahead { Count::AllButNamedAndAhead } else { Count::AllButNamed },
        named: names.iter().cloned().collect(),
        wishes: Vec::new(),
        force: false,
        only_if_needed: false,
        by_cost: true,
    };
    let plan = planned(input, &request)?;
    let steered = Steered { drop: drop(&plan, names, ahead), commands: commands(&plan), plan };
    Ok(super::json(&steered))
}

/// `kubectl podrank drop` for these pods.
fn drop(plan: &Plan, names: &[String], ahead: bool) -> String {
    let also = if ahead { " --also" } else { "" };
    format!("kubectl podrank drop {}{also}{}", names.join(" "), namespace(plan))
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
