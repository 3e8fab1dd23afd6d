//! Whether the user is authorized for every request that a run may send, its clean-up included. The API server checks the writes
//! without carrying them out, and is asked about the rest by name.

use super::access::{Answers, Right};
use super::barrier::{self, check_pod};
use super::cluster::Cluster;
use super::lock;
use crate::kubectl::{Reason, Refusal};
use podrank_predict::plan::Plan;

/// Returns why no Lease can keep other runs away, or `None` if one can.
///
/// # Errors
/// A sentence that says what the user may not do.
pub(super) fn check(cluster: &Cluster<'_>, plan: &Plan) -> Result<Option<String>, String> {
    let cannot = |what: &str, error: Refusal| format!("cannot {what}: {error}");
    let dry_run = ["--dry-run=server"];
    match cluster.apply_plan(plan, false, &dry_run) {
        // Somebody has written a cost meanwhile, which the run will find.
        Err(error) if error.reason != Reason::Conflict => return Err(cannot("write deletion costs", error)),
        _ => {}
    }
    cluster.scale(plan, &dry_run).map_err(|error| match error.reason {
        // Of the two, kubectl does not say which it is.
        Reason::NotFound => {
            format!("cannot scale: there is no {} with a /scale subresource", plan.target.resource())
        }
        Reason::Count => format!("{} has another count than a moment ago: try again", plan.target),
        _ => cannot("scale", error),
    })?;
    let [leases, barriers] = [lease(plan), barrier::rights()];
    let answers = Answers::ask(cluster, leases.iter().chain(&barriers));
    let barrier = match answers.first_denied(&barriers) {
        Some(right) => Err(format!("you may not {right}, which the barrier pod needs")),
        None => check_pod(cluster, &plan.target)
            .map_err(|error| format!("cannot create the barrier pod: {error}")),
    };
    // At 0, all pods go, so no barrier is needed.
    if plan.replicas > 0 {
        barrier?;
    }
    Ok(answers.first_denied(&leases).map(|right| format!("you may not {right}")))
}

fn lease(plan: &Plan) -> Vec<Right> {
    let right = |verb| Right {
        verb,
        group: "coordination.k8s.io",
        resource: "leases",
        subresource: "",
        name: lock::name(&plan.target),
    };
    lock::VERBS.map(right).into()
}
