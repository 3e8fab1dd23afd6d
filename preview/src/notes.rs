//! What a reader should know besides the decision. Nothing here changes it.

use crate::error::Error;
use crate::input::Input;
use crate::pod::{PodEntry, Record};
use crate::set::{SetEntry, SetId, Sets};
use podrank::DELETION_COST_ANNOTATION;
use std::fmt;

/// A remark on a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Something to know.
    Note(String),
    /// Something that is probably a mistake in the cluster.
    Warning(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(text) => write!(f, "note: {text}"),
            Self::Warning(text) => write!(f, "warning: {text}"),
        }
    }
}

pub(crate) fn set_not_in_input(id: SetId<'_>) -> Note {
    Note::Note(format!("{id} is not in the input: ranks are counted over its own pods"))
}

pub(crate) fn listed_twice(pod: &PodEntry) -> Note {
    Note::Note(format!("{pod} is listed more than once and counts once, as first listed"))
}

pub(crate) fn invalid_cost(pod: &PodEntry, record: &Record) -> Option<Note> {
    let (text, error) = record.invalid_cost.as_ref()?;
    Some(Note::Warning(format!(
        "{pod}: {DELETION_COST_ANNOTATION} {text:?}: {error}; Kubernetes reads it as 0"
    )))
}

pub(crate) fn several_syncs(delete: usize) -> Option<Note> {
    /// Upstream's `BurstReplicas`.
    const BURST: usize = 500;
    (delete > BURST).then(|| {
        Note::Note(format!(
            "{delete} deletions: the controller deletes {BURST} at a time and recounts ranks in between \
             (--burst-replicas {BURST} shows the first time)"
        ))
    })
}

/// Whether other `ReplicaSets` of the same Deployment hold pods too.
pub(crate) fn mid_rollout(input: &Input, sets: &Sets<'_>, set: &SetEntry) -> Result<Option<Note>, Error> {
    let Some(deployment) = set.controller.as_ref().filter(|controller| controller.kind == "Deployment")
    else {
        return Ok(None);
    };
    let mut others = Vec::new();
    for other in sets.controlled_by(deployment).filter(|other| other.id() != set.id()) {
        let has_pods = || input.pods.iter().any(|pod| pod.is_active() && sets.owner(pod) == Some(other.id()));
        if other.replicas()? > 0 || has_pods() {
            others.push(other.id().name);
        }
    }
    Ok((!others.is_empty()).then(|| {
        Note::Note(format!(
            "Deployment {} is mid-rollout (also {}): scaling it splits its count over its ReplicaSets, \
             while --replicas counts for {} alone",
            deployment.name,
            others.join(", "),
            set.id().name,
        ))
    }))
}

/// Pods that the controller would release or adopt before it deletes any.
pub(crate) fn claims(input: &Input, sets: &Sets<'_>, set: &SetEntry) -> Result<Vec<Note>, Error> {
    let Some(selector) = set.selector()?.filter(|_| !set.is_being_deleted) else { return Ok(Vec::new()) };
    let id = set.id();
    let claim = |pod: &PodEntry| {
        let matches = selector.matches(&pod.labels);
        if pod.controller.is_none() && matches {
            Some(format!("{pod} has no controller: {id} would adopt it, here it is not counted"))
        } else if sets.owner(pod) == Some(id) && !matches {
            Some(format!("{pod} does not match the selector: {id} would release it, here it is counted"))
        } else {
            None
        }
    };
    let pods = input.pods.iter().filter(|pod| pod.is_active() && pod.namespace == set.namespace);
    Ok(pods.filter_map(claim).map(Note::Note).collect())
}
