//! What a reader should know besides the decision. A note never changes the decision.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;

/// A remark on a preview. As JSON, an object with `level` (`note` or `warning`), `code` and `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub code: NoteCode,
    /// Whether something in the cluster or in the request is probably a mistake.
    pub is_warning: bool,
    /// A sentence for people.
    pub text: String,
    /// The object whose note it is, if the sentence also says what changes from one time to the next.
    pub(crate) object: Option<String>,
}

/// What a note is about. Further codes may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteCode {
    /// The input lacks `ReplicaSet`s, pods, nodes or revisions that the decision reads.
    Incomplete,
    /// Something is ignored: an object that cannot be read or is listed a second time, or UIDs that several objects have.
    Unreadable,
    /// Pods of the workload have ended or are being deleted, so that they do not count.
    NotCounted,
    /// The user may not read autoscalers, disruption budgets or policies.
    NotPermitted,
    /// Kubernetes cannot read a deletion cost.
    InvalidDeletionCost,
    /// The deletions take several syncs, or there are too many pods for probabilities.
    Limits,
    /// The Deployment of the `ReplicaSet` resets its replica count.
    ControlledByOwner,
    /// The controller adopts or releases a pod or a `ReplicaSet` first.
    Adoption,
    /// The time of the decision comes from the file, or a pod was created after it.
    Time,
    /// The controller has not acted on the latest change yet.
    ControllerBusy,
    /// No replica count changes anything: the controller does nothing, has no `ReplicaSet`, or is paused, or the garbage collector deletes
    /// all pods.
    ControllerIdle,
    /// More follows what is shown, or a scale-down to any count waits for a pod.
    Continues,
    /// Another release of Kubernetes does something else.
    VersionDependent,
    /// Claims are deleted with their pods.
    ClaimsDeleted,
    /// The answer changes soon: a pod becomes available, a deadline passes, or the controller retries later.
    ChangesSoon,
    /// A preference makes no difference, or not all selected pods match it.
    Preference,
    /// An autoscaler sets the replica count, too.
    Autoscaler,
    /// A `PodDisruptionBudget` covers pods that are deleted. The controller ignores it.
    DisruptionBudget,
    /// Somebody else owns the replica count by managed fields.
    CountOwner,
    /// A `ScaleDownPolicy` of podrank-webhook selects the pods.
    ScaleDownPolicy,
    /// Pods have deletion costs: foreign ones, or those that podrank left.
    DeletionCosts,
}

impl Note {
    pub(crate) fn new(code: NoteCode, text: String) -> Self {
        Self { code, is_warning: false, text, object: None }
    }

    pub(crate) fn warning(code: NoteCode, text: String) -> Self {
        Self { is_warning: true, ..Self::new(code, text) }
    }

    /// What two notes have in common that say the same at different times.
    pub(crate) fn identity(&self) -> (NoteCode, &str) {
        (self.code, self.object.as_deref().unwrap_or(&self.text))
    }

    /// `note` or `warning`.
    pub fn level(&self) -> &'static str {
        if self.is_warning { "warning" } else { "note" }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level(), self.text)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut note = serializer.serialize_struct("Note", 3)?;
        note.serialize_field("level", self.level())?;
        note.serialize_field("code", &self.code)?;
        note.serialize_field("text", &self.text)?;
        note.end()
    }
}
