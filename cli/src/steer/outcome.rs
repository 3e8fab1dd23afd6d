//! The outcome of a scale-down, why a run ends early, and the JSON of plans and outcomes: docs/schemas says what each name
//! means. Computes text and reads nothing.

use podrank_predict::API_VERSION;
use podrank_predict::plan::{Plan, PlannedPod, Progress};
use serde::Serialize;
use std::fmt::Display;

/// The steps of a run, as docs/protocol.md names them, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    Read,
    Plan,
    Confirm,
    Lock,
    ReadAgain,
    Write,
    Barrier,
    Prove,
    Count,
    Watch,
    CleanUp,
    Unlock,
    Report,
}

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub(super) enum Exit {
    /// Kubernetes deleted exactly the selected pods.
    Done = 0,
    /// podrank has not changed the count, and nothing of it is left.
    Unchanged = 1,
    /// The workload was scaled down, but Kubernetes did not delete exactly the selected pods.
    Others = 3,
    /// Something is left, or the outcome is unknown.
    Left = 4,
}

/// Why a run ends before the controllers have deleted the pods. Only these functions make one, so that no other error is taken for
/// one by mistake.
pub(super) enum RunError {
    /// The count is as it was.
    Unchanged(String),
    /// The count is as it was, because this differs from what was confirmed.
    Differs(String),
    /// It is unknown whether the scale request was carried out.
    Unknown(String),
    /// The count fell. The state is the last that could be read.
    Incomplete(String, Box<(Plan, Option<Progress>)>),
}

impl RunError {
    pub(super) fn unchanged(why: impl Display) -> Self {
        Self::Unchanged(why.to_string())
    }

    pub(super) fn differs(how: impl Display) -> Self {
        Self::Differs(how.to_string())
    }

    pub(super) fn unknown(why: impl Display) -> Self {
        Self::Unknown(why.to_string())
    }

    pub(super) fn incomplete(why: impl Display, plan: Plan, state: Option<Progress>) -> Self {
        Self::Incomplete(why.to_string(), Box::new((plan, state)))
    }
}

/// A pod, for a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) uid: String,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as Self
    }
}

/// The outcome of a scale-down.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub(super) exit: Exit,
    #[serde(skip)]
    pub(super) plan: Plan,
    /// The selected pods that were deleted.
    #[serde(rename = "deleted")]
    pub(super) went: Vec<Named>,
    /// The selected pods that were kept.
    pub(super) missed: Vec<Named>,
    /// The unselected pods that were deleted.
    #[serde(rename = "unexpected")]
    pub(super) others: Vec<Named>,
    /// The pods that still have a cost of podrank's.
    #[serde(rename = "leftovers")]
    pub(super) left: Vec<Named>,
    /// A sentence for a reader.
    pub(super) message: String,
    /// What the run did.
    pub(super) steps: Vec<Step>,
    /// Whether nothing was changed because something differs from what was confirmed.
    #[serde(skip)]
    pub(super) differs: bool,
}

/// A plan or an outcome as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    plan: &'a Plan,
    #[serde(flatten)]
    result: Option<&'a Outcome>,
}

impl Outcome {
    /// An outcome in which no pod was deleted.
    pub(super) fn of(exit: Exit, plan: Plan, message: String) -> Self {
        let (went, missed, others, left, steps, differs) = Default::default();
        Self { exit, plan, went, missed, others, left, message, steps, differs }
    }
}

impl Named {
    pub(super) fn of(pod: &PlannedPod) -> Self {
        Self { name: pod.name.clone(), uid: pod.uid.clone() }
    }
}

impl<'a> Document<'a> {
    pub(super) fn plan(plan: &'a Plan) -> Self {
        Self { api_version: API_VERSION, kind: "ScalePlan", plan, result: None }
    }

    pub(super) fn outcome(outcome: &'a Outcome) -> Self {
        Self { kind: "ScaleOutcome", result: Some(outcome), ..Self::plan(&outcome.plan) }
    }
}
