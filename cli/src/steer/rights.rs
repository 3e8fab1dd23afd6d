//! Whether the user is authorized for every request that a run may send, its clean-up included. The API server checks the writes
//! without carrying them out, and is asked about the rest by name.

use super::barrier;
use super::cluster::{Cluster, Right};
use super::lock;
use crate::kubectl::{Reason, Refusal};
use podrank_predict::Error;
use podrank_predict::plan::Plan;
use serde_json::{Value, json};

/// Returns why no Lease can keep other runs away, or `None` if one can.
///
/// # Errors
/// If the user may not do something else.
pub(super) fn check(cluster: &Cluster<'_>, plan: &Plan) -> Result<Option<String>, Error> {
    let cannot = |what: &str, error: Refusal| Error::new(format!("cannot {what}")).because(error.to_string());
    let dry_run = ["--dry-run=server"];
    match cluster.apply_plan(plan, false, &dry_run) {
        // Somebody has just written a cost, which the run will find.
        Err(error) if error.reason != Reason::Conflict => return Err(cannot("write deletion costs", error)),
        _ => {}
    }
    cluster.scale(plan, &dry_run).map_err(|error| match error.reason {
        // Of the two, kubectl does not say which it is.
        Reason::NotFound => Error::new("cannot scale")
            .because(format!("There is no {} with a /scale subresource.", plan.target.resource())),
        Reason::Count => {
            Error::new(format!("the replica count of {} has just changed", plan.target)).advise("Try again.")
        }
        _ => cannot("scale", error),
    })?;
    let [leases, barriers] = [lock::rights(&plan.target), barrier::rights()];
    let answers = ask(cluster, leases.iter().chain(&barriers));
    // What the API server does not answer clearly is not granted.
    let is_denied = |right: &&Right| !answers.iter().any(|answer| right.is_granted(answer));
    // At 0, all pods are deleted, so no barrier is needed.
    if plan.replicas > 0 {
        if let Some(right) = barriers.iter().find(is_denied) {
            return Err(Error::new(format!("you may not {right}")).because("The barrier pod needs that."));
        }
        barrier::check(cluster, &plan.target).map_err(|error| cannot("create the barrier pod", error))?;
    }
    Ok(leases.iter().find(is_denied).map(|right| format!("you may not {right}")))
}

/// Returns the answers of the API server, one for each right.
fn ask<'r>(cluster: &Cluster<'_>, rights: impl Iterator<Item = &'r Right>) -> Vec<Value> {
    let items: Vec<_> = rights.map(|right| right.review(cluster.namespace())).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    let words = ["create", "--validate=false", "--filename", "-", "--output=json"];
    let text = cluster.call(&words, &list).unwrap_or_default();
    serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect()
}
