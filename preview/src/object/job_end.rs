//! What can end a Job, of its spec and status: its limits and policies, and what counts towards them.

use crate::object::time::{Time, time};
use serde::Deserialize;
use std::collections::BTreeSet;

/// What can end a Job, of its spec.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct Limits {
    pub(crate) backoff_limit: Option<i32>,
    pub(crate) backoff_limit_per_index: Option<i32>,
    pub(crate) max_failed_indexes: Option<i32>,
    pub(crate) active_deadline_seconds: Option<i64>,
    pub(crate) pod_failure_policy: Option<Rules<FailureRule>>,
    pub(crate) pod_replacement_policy: Option<String>,
    pub(crate) success_policy: Option<Rules<SuccessRule>>,
    pub(crate) template: Option<Template>,
}

/// What counts towards the limits, of its status.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object")]
pub(crate) struct Counts {
    start_time: Option<Time>,
    failed: i32,
    failed_indexes: Option<String>,
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

/// What can end a Job: its limits, and what counts towards them.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) limits: Limits,
    pub(crate) start_time: podrank::Time,
    pub(crate) failed: i32,
    pub(crate) failed_indexes: String,
    /// The UIDs of failed pods that the status lists but does not count yet.
    pub(crate) uncounted: BTreeSet<String>,
}

impl Ends {
    pub(crate) fn new(limits: Limits, counts: Counts, uncounted: Vec<String>) -> Self {
        Self {
            limits,
            start_time: time(counts.start_time.as_ref()),
            failed: counts.failed,
            failed_indexes: counts.failed_indexes.unwrap_or_default(),
            uncounted: uncounted.into_iter().collect(),
        }
    }
}
