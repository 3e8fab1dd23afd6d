//! What the modules of kinds have in common whose controllers delete pods themselves: the pods, what becomes of each, and some of
//! the words.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::{Contest, Details, PodPreview};
use crate::answer::probability::Odds;
use crate::snapshot::pod::{PodEntry, Record};
use crate::sync::{PodOutcome, Verdict};
use crate::text::age::age;
use crate::text::{count, goes};
use podrank::Time;

/// A pod that the workload owns and selects.
#[derive(Clone, Copy)]
pub(crate) struct OwnPod<'a> {
    pub(crate) entry: &'a PodEntry,
    pub(crate) record: &'a Record,
}

/// What a kind's module decides.
pub(crate) struct Decision<'a> {
    /// The pods that are not being deleted yet, in the order in which they go.
    pub(crate) pods: Vec<PodPreview<'a>>,
    /// How many of the contested pods go.
    pub(crate) quota: usize,
    /// How many of the pods that do not go wait for the pods that this sync replaces. `None` if another sync may follow at once.
    pub(crate) later: Option<usize>,
}

/// Why a ready pod is not available yet: `has been ready for 5s, and minReadySeconds is 10`.
pub(crate) fn not_yet(ready_time: Time, now: Time, min_ready_seconds: u32) -> String {
    let since = match age(now, ready_time) {
        None => "has been ready since an unknown time".to_owned(),
        Some(age) => match age.strip_prefix('-') {
            None => format!("has been ready for {age}"),
            Some(ahead) => format!("became ready {ahead} after the time of this decision"),
        },
    };
    format!("{since}, and minReadySeconds is {min_ready_seconds}")
}

/// Returns a note on the first of these ready pods that becomes available, for a step that is another one from then on.
pub(crate) fn becomes_available<'a>(
    pods: impl Iterator<Item = OwnPod<'a>>,
    min_ready_seconds: u32,
    now: Time,
) -> Option<Note> {
    let wait = i64::from(min_ready_seconds).saturating_mul(1_000_000_000);
    let at = |pod: &OwnPod<'_>| Some(pod.record.pod.ready_time.unix_nanos()?.saturating_add(wait));
    let (pod, at) = pods.filter_map(|pod| Some((pod, at(&pod)?))).min_by_key(|(_, at)| *at)?;
    let left = age(now, Time::from_unix_nanos(at))?;
    let left = left.trim_start_matches('-');
    let text = format!("{} becomes available in {left}, and then this step takes other pods", pod.entry);
    Some(Note::new(NoteCode::BecomesAvailable, text))
}

/// How many pods are contested together with this one.
fn group_of<R>(outcome: &PodOutcome<R>, outcomes: &[PodOutcome<R>]) -> usize {
    let is_contested = |outcome: &&PodOutcome<R>| outcome.verdict == Verdict::Contested;
    outcomes.iter().filter(is_contested).filter(|other| other.group == outcome.group).count()
}

/// How likely a pod goes that is contested among pods of which nothing tells one from another.
pub(crate) fn odds<R>(outcome: &PodOutcome<R>, outcomes: &[PodOutcome<R>]) -> Option<Odds> {
    let number = |pods: usize| u32::try_from(pods).unwrap_or(u32::MAX);
    let is_contested = outcome.verdict == Verdict::Contested;
    is_contested.then(|| Odds::shared(number(outcome.quota), number(group_of(outcome, outcomes))))
}

/// What to add to the reason for a pod if it is one of several of which chance takes some: what decides is `how`.
pub(crate) fn chance<R>(outcome: &PodOutcome<R>, outcomes: &[PodOutcome<R>], how: &str) -> String {
    if outcome.verdict != Verdict::Contested {
        return String::new();
    }
    let (group, quota) = (count(group_of(outcome, outcomes) as u64, "pod"), outcome.quota);
    format!(": one of {group} of which {quota} {}, {how}", goes(quota as u64))
}

impl<'a> OwnPod<'a> {
    /// What becomes of it. Its place is not known yet.
    pub(crate) fn decided(
        self,
        verdict: Verdict,
        rule: &'static str,
        why: String,
        now: Time,
    ) -> PodPreview<'a> {
        let Self { entry, record } = self;
        let mut details = Details::of(&record.pod, now);
        if let Some(phase) = entry.finished_phase {
            details.phase = phase.name();
        }
        PodPreview {
            name: &entry.name,
            uid: record.pod.uid.to_string(),
            node: record.node.as_deref(),
            rank: 0,
            position: 0,
            verdict,
            odds: None,
            rule: Some(rule),
            why,
            is_replaced: false,
            contest: (verdict == Verdict::Contested).then_some(Contest::Random),
            by: None,
            details,
        }
    }
}
