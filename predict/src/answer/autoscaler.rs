//! What an autoscaler does to the asked count, as plain data.

use serde::Serialize;

/// An autoscaler of the workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerPreview<'a> {
    /// Its name.
    pub name: &'a str,
    /// The least count that it sets.
    pub min_replicas: u32,
    /// The greatest count that it sets.
    pub max_replicas: u32,
    /// The count that it wants now, if it has found one.
    pub desired_replicas: Option<u32>,
    /// Whether the asked count is within its bounds.
    #[serde(rename = "withinBounds")]
    pub is_inside: bool,
    /// Whether it sets no count while the asked one, which is 0, stands.
    #[serde(skip)]
    pub is_off: bool,
}
