//! What happens at the counts that an autoscaler may set, as plain data and as JSON: docs/preview-json.md says what each name means.

use crate::answer::preview::Preview;
use serde::Serialize;

/// What happens at the counts that an autoscaler may set. Serialized, it is JSON that other programs read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Autoscaled<'a> {
    /// The version of the JSON: `podrank/v1`.
    pub api_version: &'static str,
    /// `AutoscalerPreview`.
    pub kind: &'static str,
    /// The autoscaler's namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The least count that it sets.
    pub min_replicas: u32,
    /// The greatest count that it sets.
    pub max_replicas: u32,
    /// The count that it wants now, if it has found one.
    pub desired_replicas: Option<u32>,
    /// What happens at the count that it wants, and at its least one; once, if both are the same. The larger count comes first.
    pub previews: Vec<Preview<'a>>,
}
