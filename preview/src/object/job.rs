//! What the controller of Jobs reads from them. Reads one object's JSON text.

use crate::object::job_end::{Counts, Ends, Limits};
use crate::sync::job::{Completion, Job, State};
use crate::words::error::parse;
use crate::words::text;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The name by which `spec.managedBy` means kube-controller-manager.
const KUBERNETES: &str = "kubernetes.io/job-controller";

/// What its controller reads from it.
#[derive(Clone, Debug)]
pub(crate) struct JobSpec {
    /// The record for the decision. What has succeeded is only what its status counts, and nothing can end it.
    pub(crate) job: Job,
    pub(crate) ends: Ends,
    pub(crate) status_active: i32,
    /// The indexes that have succeeded, by the status.
    pub(crate) completed_indexes: String,
    /// The condition that ends the Job, if one does.
    pub(crate) condition: Option<&'static str>,
    /// The UIDs of succeeded pods that the status lists but does not count yet.
    pub(crate) uncounted: Vec<String>,
    /// Why the controller leaves it alone, if it does.
    pub(crate) left_alone: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "a Job")]
struct Object {
    spec: Spec,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    parallelism: Option<i32>,
    completions: Option<i32>,
    completion_mode: Option<String>,
    suspend: Option<bool>,
    managed_by: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct Status {
    active: i32,
    succeeded: i32,
    completed_indexes: String,
    uncounted_terminated_pods: Option<Uncounted>,
    conditions: Option<Vec<Condition>>,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object")]
struct Uncounted {
    succeeded: Vec<String>,
    failed: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "a condition")]
struct Condition {
    r#type: String,
    status: String,
}

/// What can end it is read in a second pass.
#[derive(Deserialize)]
#[serde(expecting = "a Job")]
struct Ending {
    spec: Limits,
    #[serde(default)]
    status: Option<Counts>,
}

impl JobSpec {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        let Object { spec, status } = parse(object)?;
        let ending: Ending = parse(object)?;
        let status = status.unwrap_or_default();
        let completion = spec.completion()?;
        let condition = ["SuccessCriteriaMet", "FailureTarget"].into_iter().find(|name| status.has(name));
        let left_alone = left_alone(&spec, &status);
        let state = match (&left_alone, condition) {
            (Some(_), _) => State::LeftAlone,
            (None, Some(_)) => State::Ending,
            (None, None) => State::Running,
        };
        let uncounted = status.uncounted_terminated_pods.unwrap_or_default();
        Ok(Self {
            job: Job {
                parallelism: spec.parallelism.unwrap_or(1),
                completion,
                succeeded: status.succeeded,
                is_suspended: spec.suspend.unwrap_or(false),
                state,
                ..Job::default()
            },
            ends: Ends::new(ending.spec, ending.status.unwrap_or_default(), uncounted.failed),
            status_active: status.active,
            completed_indexes: status.completed_indexes,
            condition,
            uncounted: uncounted.succeeded,
            left_alone,
        })
    }
}

impl Spec {
    fn completion(&self) -> Result<Completion, String> {
        match (self.completion_mode.as_deref(), self.completions) {
            (Some("Indexed"), Some(completions)) => Ok(Completion::Indexed(completions)),
            (Some("Indexed"), None) => {
                Err("spec.completions is missing, although spec.completionMode is Indexed".to_owned())
            }
            (_, Some(completions)) => Ok(Completion::Count(completions)),
            (_, None) => Ok(Completion::Any),
        }
    }
}

impl Status {
    /// Whether this condition is true.
    fn has(&self, name: &str) -> bool {
        let mut conditions = self.conditions.iter().flatten();
        conditions.any(|condition| condition.r#type == name && condition.status == "True")
    }
}

/// Why the controller leaves the Job alone, if it does.
fn left_alone(spec: &Spec, status: &Status) -> Option<String> {
    let mode =
        spec.completion_mode.as_ref().filter(|mode| !matches!(mode.as_str(), "Indexed" | "NonIndexed"));
    let manager = spec.managed_by.as_ref().filter(|manager| *manager != KUBERNETES);
    match (mode, manager) {
        _ if status.has("Complete") => Some("is complete: its controller deletes no pods".to_owned()),
        _ if status.has("Failed") => Some("has failed: its controller deletes no pods".to_owned()),
        (_, Some(manager)) => {
            let manager = text::quoted(manager);
            Some(format!("is managed by {manager}, so kube-controller-manager leaves it alone"))
        }
        (Some(mode), None) => {
            let mode = text::quoted(mode);
            Some(format!("has an unknown completion mode, {mode}: its controller deletes no pods"))
        }
        (None, None) => None,
    }
}
