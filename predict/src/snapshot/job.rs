//! One Job, with the policies that can end it.

use crate::snapshot::{Condition, LabelSelector, Metadata, Object, Time, time};
use crate::sync::job::{Completion, JobState, State};
use crate::text;
use serde::Deserialize;
use std::collections::BTreeSet;

/// The name by which `spec.managedBy` means kube-controller-manager.
const KUBERNETES: &str = "kubernetes.io/job-controller";

/// A Job.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Object<Spec, Status>")]
pub(crate) struct Job {
    pub(crate) meta: Metadata,
    /// The record for the decision. What has succeeded is only what its status counts, and nothing has failed.
    pub(crate) record: JobState,
    pub(crate) spec: Spec,
    pub(crate) status: Status,
    /// The condition that ends the Job, if one does.
    pub(crate) condition: Option<String>,
    pub(crate) uncounted: Uncounted,
    /// Why the controller leaves it alone, if it does.
    pub(crate) left_alone: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct Spec {
    pub(crate) selector: Option<LabelSelector>,
    parallelism: Option<i32>,
    completions: Option<i32>,
    completion_mode: Option<String>,
    suspend: Option<bool>,
    managed_by: Option<String>,
    backoff_limit: Option<i32>,
    pub(crate) backoff_limit_per_index: Option<i32>,
    max_failed_indexes: Option<i32>,
    active_deadline_seconds: Option<i64>,
    pub(crate) pod_failure_policy: Option<Rules<FailureRule>>,
    pub(crate) pod_replacement_policy: Option<String>,
    pub(crate) success_policy: Option<Rules<SuccessRule>>,
    pub(crate) template: Option<Template>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct Status {
    pub(crate) observed_generation: Option<i64>,
    pub(crate) active: i32,
    succeeded: i32,
    pub(crate) failed: i32,
    start_time: Option<Time>,
    pub(crate) completed_indexes: String,
    pub(crate) failed_indexes: Option<String>,
    uncounted_terminated_pods: Option<Uncounted>,
    conditions: Option<Vec<Condition>>,
}

/// The UIDs of pods that the status lists but does not count yet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "an object")]
pub(crate) struct Uncounted {
    pub(crate) succeeded: Vec<String>,
    pub(crate) failed: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a pod template")]
pub(crate) struct Template {
    pub(crate) spec: Option<TemplateSpec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct TemplateSpec {
    pub(crate) restart_policy: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with rules")]
pub(crate) struct Rules<R> {
    pub(crate) rules: Option<Vec<R>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a rule")]
pub(crate) struct FailureRule {
    pub(crate) action: String,
    pub(crate) on_exit_codes: Option<ExitCodes>,
    pub(crate) on_pod_conditions: Option<Vec<ConditionPattern>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct ExitCodes {
    pub(crate) container_name: Option<String>,
    pub(crate) operator: String,
    pub(crate) values: Option<Vec<i32>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ConditionPattern {
    pub(crate) r#type: String,
    pub(crate) status: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a rule")]
pub(crate) struct SuccessRule {
    pub(crate) succeeded_indexes: Option<String>,
    pub(crate) succeeded_count: Option<i32>,
}

impl TryFrom<Object<Spec, Status>> for Job {
    type Error = String;

    fn try_from(object: Object<Spec, Status>) -> Result<Self, String> {
        let Object { mut metadata, spec, status } = object;
        let mut status: Status = status.unwrap_or_default();
        let completion = spec.completion()?;
        let condition = ["SuccessCriteriaMet", "FailureTarget"].into_iter().find(|name| status.has(name));
        let left_alone = left_alone(&spec, &status);
        let state = match (&left_alone, condition) {
            (Some(_), _) => State::LeftAlone,
            (None, Some(_)) => State::Ending,
            (None, None) => State::Running,
        };
        // What the API server sets.
        let most = if spec.backoff_limit_per_index.is_some() { i32::MAX } else { 6 };
        Ok(Self {
            meta: metadata.take(),
            record: JobState {
                parallelism: spec.parallelism.unwrap_or(1),
                completion,
                succeeded: status.succeeded,
                is_suspended: spec.suspend.unwrap_or(false),
                state,
                backoff_limit: spec.backoff_limit.unwrap_or(most),
                max_failed_indexes: spec.max_failed_indexes,
                active_deadline_seconds: spec.active_deadline_seconds,
                start_time: time(status.start_time.as_ref()),
                ..JobState::default()
            },
            uncounted: status.uncounted_terminated_pods.take().unwrap_or_default(),
            spec,
            status,
            condition: condition.map(str::to_owned),
            left_alone,
        })
    }
}

impl Spec {
    fn completion(&self) -> Result<Completion, String> {
        // If both are missing, the API server sets both to 1.
        let completions = self.completions.or(self.parallelism.is_none().then_some(1));
        match (self.completion_mode.as_deref(), completions) {
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
        self.conditions.iter().flatten().any(|condition| condition.is(name))
    }
}

/// Why the controller leaves the Job alone, if it does.
fn left_alone(spec: &Spec, status: &Status) -> Option<String> {
    let mode =
        spec.completion_mode.as_ref().filter(|mode| !matches!(mode.as_str(), "Indexed" | "NonIndexed"));
    let manager = spec.managed_by.as_ref().filter(|manager| *manager != KUBERNETES);
    match (mode, manager) {
        _ if status.has("Complete") => Some("is complete".to_owned()),
        _ if status.has("Failed") => Some("has failed".to_owned()),
        (_, Some(manager)) => Some(format!("is managed by {}", text::quoted(manager))),
        (Some(mode), None) => Some(format!("has an unknown completion mode, {}", text::quoted(mode))),
        (None, None) => None,
    }
}
