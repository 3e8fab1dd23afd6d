//! Whether the user is authorized for every request that a run may send, its clean-up included. The API server checks the writes
//! without carrying them out, and is asked about the rest by name.

use super::barrier::{self, check_canary};
use super::cluster::Cluster;
use super::lock;
use crate::args::steer::{By, How};
use crate::kubectl::{Reason, Refusal};
use podrank_preview::steer::Plan;
use serde_json::{Value, json};
use std::fmt;

/// A request that a run may send, in the workload's namespace.
pub(super) struct Right {
    pub(super) verb: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) subresource: &'static str,
    pub(super) name: String,
}

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
    cluster.apply_plan(plan, false, &dry_run).map_err(|error| cannot("write deletion costs", error))?;
    cluster.scale_call(plan, &dry_run).map_err(|error| match error.reason {
        // Of the two, kubectl does not say which it is.
        Reason::NotFound => {
            format!("cannot scale: there is no {} with a /scale subresource", plan.target.resource())
        }
        _ => cannot("scale", error),
    })?;
    let [leases, canaries, evictions] = [lease(plan), barrier::rights(), evictions(plan, how)];
    let answers = Answers::ask(cluster, leases.iter().chain(&canaries).chain(&evictions));
    if let Some(right) = answers.first_denied(&evictions) {
        return Err(format!("you may not {right}"));
    }
    let canary = match answers.first_denied(&canaries) {
        Some(right) => Err(format!("you may not {right}, which the canary needs")),
        None => check_canary(cluster).map_err(|error| format!("cannot create the canary: {error}")),
    };
    match &canary {
        Err(why) if how.by == By::Scale && plan.replicas > 0 => {
            return Err(format!("{why}; use --by eviction"));
        }
        _ => {}
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

fn evictions(plan: &Plan, how: &How) -> Vec<Right> {
    let right = |name: &String| Right {
        verb: "create",
        group: "",
        resource: "pods",
        subresource: "eviction",
        name: name.clone(),
    };
    plan.wanted().filter(|_| how.by == By::Eviction).map(|pod| right(&pod.name)).collect()
}

/// What the API server says about rights.
pub(super) struct Answers(Vec<Value>);

impl Answers {
    pub(super) fn ask<'r>(cluster: &Cluster<'_>, rights: impl Iterator<Item = &'r Right>) -> Self {
        let review = |right: &Right| {
            json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": { "resourceAttributes": {
                    "namespace": cluster.namespace(),
                    "verb": right.verb,
                    "group": right.group,
                    "resource": right.resource,
                    "subresource": right.subresource,
                    "name": right.name,
                } },
            })
        };
        let items: Vec<_> = rights.map(review).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
        let text = cluster.call(&["create", "--filename", "-", "--output=json"], &list).unwrap_or_default();
        // One document for each.
        let answers = serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok);
        Self(answers.collect())
    }

    /// The first of these rights that is not there. What the API server does not answer clearly is not.
    pub(super) fn first_denied(&self, rights: &[Right]) -> Option<String> {
        let is_there = |right: &&Right| {
            self.0.iter().any(|answer| {
                let about = &answer["spec"]["resourceAttributes"];
                let is = |field: &str, text: &str| about[field].as_str().unwrap_or_default() == text;
                let is_about = is("verb", right.verb)
                    && is("group", right.group)
                    && is("resource", right.resource)
                    && is("subresource", right.subresource)
                    && is("name", &right.name);
                is_about && answer["status"]["allowed"] == true
            })
        };
        rights.iter().find(|right| !is_there(right)).map(ToString::to_string)
    }
}

impl fmt::Display for Right {
    /// `delete replicasets.apps`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, subresource, .. } = self;
        let dot = if group.is_empty() { "" } else { "." };
        let slash = if subresource.is_empty() { "" } else { "/" };
        write!(f, "{verb} {resource}{slash}{subresource}{dot}{group}")
    }
}
