//! What can end a Job, of its spec: its policies.

use serde::Deserialize;

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
