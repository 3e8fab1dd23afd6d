//! Shared by the kinds whose controllers delete pods themselves: the pods, and the answer about each.

use crate::answer::{Note, NoteCode, PodAnswer, Probability};
use crate::reason::{Cause, Chance, duration};
use crate::snapshot::Pod;
use crate::sync::{PodOutcome, Verdict};
use podrank::Time;
use podrank::controller::availability;

/// What a kind's module decides.
pub(crate) struct Decision<'a> {
    /// The pods that are not being deleted yet, in the order in which they go.
    pub(crate) pods: Vec<PodAnswer<'a>>,
    /// How many of the possible pods are deleted.
    pub(crate) quota: usize,
    /// How many of the kept pods wait for the pods that this sync replaces. `None` if another sync may follow
    /// immediately, and for a Job, whose controller does everything in one sync.
    pub(crate) later: Option<usize>,
}

/// Returns a note on the first of these pods that becomes available, for a step that is another one from then on.
pub(crate) fn becomes_available<'a>(
    pods: impl Iterator<Item = &'a Pod>,
    min_ready_seconds: u32,
    now: Time,
) -> Option<Note> {
    let wait =
        |pod: &'a Pod| Some((availability(&pod.record, min_ready_seconds, now).next_check_after()?, pod));
    let (wait, pod) = pods.filter_map(wait).min_by_key(|(wait, _)| *wait)?;
    let left = duration(wait.cast_signed());
    let text = format!("{pod} becomes available in {left}, and then this sync deletes other pods");
    Some(Note::new(NoteCode::ChangesSoon, text))
}

/// Why chance decides about a possible pod, by `cause`, and its probability, among pods that nothing distinguishes.
pub(crate) fn chance<R>(
    outcome: &PodOutcome<R>,
    outcomes: &[PodOutcome<R>],
    cause: Cause,
) -> Option<(Chance, Probability)> {
    let is_possible = |outcome: &&PodOutcome<R>| outcome.verdict == Verdict::Possible;
    let PodOutcome { quota: deleted, group, .. } = *Some(outcome).filter(is_possible)?;
    let of = outcomes.iter().filter(is_possible).filter(|other| other.group == group).count();
    Some((Chance::Group { deleted, of, cause }, Probability::shared(deleted, of)))
}
