//! Several workloads, a line each, as plain data and as JSON: docs/schemas says what each name means.

use crate::answer::{AutoscalerPreview, CountRange, EndState, Note, Owner, Probability, Size, Verdict};
use crate::question::{Order, TimeSource};
use crate::snapshot::WorkloadRef;
use jiff::Timestamp;
use serde::Serialize;

/// Who goes first in each of several workloads. Serialized, it is JSON that other programs read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview<'a> {
    /// The version of the JSON: `podrank/v1`.
    pub api_version: &'static str,
    /// `Overview`.
    pub kind: &'static str,
    /// The exact time of the decision.
    pub now: Timestamp,
    /// Where that time comes from.
    pub time_source: TimeSource,
    /// Whose decision it is.
    pub order: Order,
    /// Why some types of workloads could not be read, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// The workloads, sorted by namespace, kind and name.
    pub workloads: Vec<OverviewRow<'a>>,
}

/// Who goes first in one workload.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverviewRow<'a> {
    /// The workload's namespace.
    pub namespace: &'a str,
    /// The workload.
    pub workload: WorkloadRef<'a>,
    /// The object of another kind that its set belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner<'a>>,
    /// Its present count, or the one that is asked for.
    #[serde(flatten)]
    pub size: Size,
    /// The number of its active pods.
    #[serde(rename = "activePods")]
    pub active: usize,
    /// How many of them go at the count that is asked for. Without one, how many go anyway.
    #[serde(rename = "deletions")]
    pub delete: CountRange,
    /// How many go in the end at the count that is asked for, if they go one by one.
    #[serde(skip)]
    pub one_by_one: Option<u32>,
    /// How many of them certainly go.
    #[serde(rename = "certainDeletions")]
    pub certain: usize,
    /// The pod that goes first, or that is the likeliest to go first: at the count that is asked for, or else at the present one, or if none
    /// goes then, at one less.
    #[serde(rename = "nextPod")]
    pub next: Option<&'a str>,
    /// That count, if it is neither asked for nor the present one.
    #[serde(rename = "nextPodAt", skip_serializing_if = "Option::is_none")]
    pub next_at: Option<u32>,
    /// What becomes of that pod at that count.
    #[serde(skip)]
    pub fate: Option<Verdict>,
    /// How likely that pod goes at that count: 1 if it certainly does. `None` if it waits, or if that is not known.
    #[serde(flatten)]
    pub probability: Option<Probability>,
    /// The autoscaler that sets its count, if the input has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaler: Option<AutoscalerPreview<'a>>,
    /// Its present count, if it has one.
    #[serde(rename = "currentReplicas", skip_serializing_if = "Option::is_none")]
    pub present: Option<u32>,
    /// What its controllers are about to do.
    #[serde(rename = "waitsFor")]
    pub rest: Option<EndState<'a>>,
    /// What else a reader should know.
    pub notes: Vec<Note>,
    /// Why there is no answer about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
