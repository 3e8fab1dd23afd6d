//! What a reader should know besides the decision. A note never changes the decision.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;

/// A remark on a preview. As JSON, an object with `level` (`note` or `warning`), `code` and `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub code: NoteCode,
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
    /// The set itself is not in the input.
    SetMissing,
    /// `ReplicaSets` of the same controller may be missing from the input.
    SiblingsMissing,
    /// The input has fewer pods of the set than its status counts.
    PodsMissing,
    /// The input has more active pods of the set than its status counts.
    MorePodsThanStatus,
    /// A pod or a workload is listed more than once.
    ListedTwice,
    /// A deletion cost that Kubernetes cannot read: probably a mistake in the cluster.
    InvalidDeletionCost,
    /// The controller needs several syncs for the deletions.
    SeveralSyncs,
    /// It is not said how likely contested pods go.
    NoOdds,
    /// The set's Deployment is in the middle of a rollout.
    MidRollout,
    /// The set's Deployment writes its own count back.
    WrittenBack,
    /// The controller would adopt a pod that the preview does not count.
    WouldAdopt,
    /// The controller would release a pod.
    WouldRelease,
    /// A pod was created after the time of the decision.
    CreatedAfterNow,
    /// The time of the decision comes from the file that was read.
    TimeOfDump,
    /// The status of a Deployment or of one of its sets is for an earlier spec.
    StatusLags,
    /// The Deployment has no `ReplicaSet`.
    NoSets,
    /// The controller deletes no pods: the workload is being deleted, or its selector does not allow it.
    DoesNothing,
    /// The garbage collector deletes all pods, because the workload is being deleted in the foreground.
    ForegroundDeletion,
    /// The Deployment is paused.
    RolloutPaused,
    /// More syncs of the workload follow and may take more pods.
    GoesOn,
    /// The Deployment waits for its pods, and takes or creates more after that.
    RolloutWaits,
    /// What the controller does depends on the release of Kubernetes.
    DependsOnRelease,
    /// Claims are deleted with their pods.
    ClaimsGo,
    /// The input has fewer nodes for pods of the `DaemonSet` than its status counts.
    NodesMissing,
    /// The input has no `ControllerRevision` of the `DaemonSet`, or the status of the `StatefulSet` no `updateRevision`.
    RevisionMissing,
    /// The controller may wait before it deletes a failed pod.
    MayBackOff,
    /// A pod becomes available in a moment, which changes what the controller does.
    BecomesAvailable,
    /// All pods match a wish, so it makes no difference.
    IdleWish,
    /// Not all pods that go match a wish.
    UnmetWish,
    /// A `PodDisruptionBudget` covers pods that go.
    DisruptionBudget,
    /// An autoscaler sets the asked count, too, within bounds that allow it.
    AutoscalerShares,
    /// The asked count is outside the bounds of an autoscaler.
    AutoscalerOverrides,
    /// The controller ignores a `PodDisruptionBudget` of pods that go.
    BudgetIgnored,
    /// Somebody else owns the count by managed fields.
    CountOwner,
    /// A `ScaleDownPolicy` of podrank-webhook selects the pods that go.
    ScaleDownPolicy,
    /// Pods have deletion costs that are not podrank's.
    DeletionCosts,
    /// Autoscalers, disruption budgets or policies could not be read.
    SurroundingsUnread,
    /// An autoscaler, a disruption budget or a policy is not sound.
    PassedOver,
    /// Pods have deletion costs that podrank itself left.
    LeftoverCosts,
    /// A scale-down to any count waits for a pod.
    ScaleDownWaits,
    /// The Job's deadline passes in some time, and then all its active pods go.
    DeadlinePasses,
}

impl Note {
    pub(crate) fn new(code: NoteCode, text: String) -> Self {
        Self { code, text, object: None }
    }

    /// What two notes have in common that say the same at different times.
    pub(crate) fn identity(&self) -> (NoteCode, &str) {
        (self.code, self.object.as_deref().unwrap_or(&self.text))
    }

    /// Returns whether something in the cluster or in the request is probably a mistake.
    pub fn is_warning(&self) -> bool {
        matches!(
            self.code,
            NoteCode::InvalidDeletionCost
                | NoteCode::StatusLags
                | NoteCode::UnmetWish
                | NoteCode::DisruptionBudget
                | NoteCode::AutoscalerOverrides
        )
    }

    /// `note` or `warning`.
    pub fn level(&self) -> &'static str {
        if self.is_warning() { "warning" } else { "note" }
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
