//! Whether the user may do what a plan needs. The API server checks every write without carrying it out.

use super::Failure;
use super::barrier::{NO_FIRST_VICTIM, check_canary};
use super::cluster::Cluster;
use crate::args::steer::{Barrier, By, How};
use crate::kubectl::{Reason, Refusal};
use podrank_preview::steer::Plan;

/// Returns an error that says what the user may not do, before anything is changed.
pub(super) fn check(cluster: &Cluster<'_>, plan: &Plan, how: &How) -> Result<(), Failure> {
    missing(cluster, plan, how).map_err(|why| format!("nothing was changed: {why}").into())
}

fn missing(cluster: &Cluster<'_>, plan: &Plan, how: &How) -> Result<(), String> {
    let cannot = |what: &str, error: Refusal| format!("cannot {what}: {error}");
    let may =
        |verb: &str, resource: &str| cluster.call(&["auth", "can-i", verb, resource, "--quiet"], "").is_ok();
    let dry_run = ["--dry-run=server"];
    cluster.apply_plan(plan, false, &dry_run).map_err(|error| cannot("write deletion costs", error))?;
    cluster.scale_call(plan, &dry_run).map_err(|error| match error.reason {
        // Of the two, kubectl does not say which it is.
        Reason::NotFound => {
            format!("cannot scale: there is no {} with a /scale subresource", plan.target.resource())
        }
        _ => cannot("scale", error),
    })?;
    match (how.by, how.barrier()) {
        (By::Eviction, _) if !may("create", "pods/eviction") => {
            Err("you may not evict pods in this namespace".to_owned())
        }
        (By::Scale, Barrier::Canary) if plan.replicas > 0 => check_canary(cluster)
            .map_err(|error| format!("cannot create the canary: {error}; use --barrier first-victim")),
        (By::Eviction, _) | (By::Scale, Barrier::Canary) => Ok(()),
        (By::Scale, Barrier::FirstVictim) => {
            if check_canary(cluster).is_ok() {
                Err("--barrier first-victim is for those who may not create pods, and you may: leave it out"
                    .to_owned())
            } else if !may("delete", "pods") {
                Err("--barrier first-victim needs the right to delete pods".to_owned())
            } else if plan.first_victim().is_none() {
                Err(NO_FIRST_VICTIM.to_owned())
            } else {
                Ok(())
            }
        }
    }
}
