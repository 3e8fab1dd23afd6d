//! Whether the user is authorized for every request that a run may send, its clean-up included. The API server checks the writes
//! without carrying them out, and is asked about the rest by name.

use super::access::{Answers, Right};
use super::barrier::{self, check_canary};
use super::cluster::Cluster;
use super::lock;
use crate::args::steer::{By, How};
use crate::kubectl::{Reason, Refusal};
use podrank_predict::plan::Plan;

/// What the user may do besides the writes of a plan, which needs these.
pub(super) struct Rights {
    /// Why no Lease can keep other runs away. `None` if it can.
    pub(super) no_lock: Option<String>,
    /// Whether a canary can be made and removed.
    pub(super) has_canary: bool,
}

/// Returns an error that says what the user may not do.
pub(super) fn check(cluster: &Cluster<'_>, plan: &Plan, how: &How) -> Result<Rights, String> {
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
    let [leases, canaries, evictions] = [lease(plan), barrier::rights(), evictions(plan, how)];
    let answers = Answers::ask(cluster, leases.iter().chain(&canaries).chain(&evictions));
    if let Some(right) = answers.first_denied(&evictions) {
        return Err(format!("you may not {right}"));
    }
    let canary = match answers.first_denied(&canaries) {
        Some(right) => Err(format!("you may not {right}, which the canary needs")),
        None => {
            check_canary(cluster, &plan.target).map_err(|error| format!("cannot create the canary: {error}"))
        }
    };
    if let Err(why) = &canary
        && how.by == By::Scale
        && plan.replicas > 0
    {
        return Err(format!("{why}; use --by eviction"));
    }
    let no_lock = answers.first_denied(&leases).map(|right| format!("you may not {right}"));
    Ok(Rights { no_lock, has_canary: canary.is_ok() })
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

/// For the pods, and for the costs of those that replace them.
fn evictions(plan: &Plan, how: &How) -> Vec<Right> {
    let right = |verb, subresource, name: &String| Right {
        verb,
        group: "",
        resource: "pods",
        subresource,
        name: name.clone(),
    };
    let wanted = plan.wanted().filter(|_| how.by == By::Eviction);
    wanted.flat_map(|pod| [right("create", "eviction", &pod.name), right("patch", "", &pod.name)]).collect()
}
