//! `StatefulSets`: which pods their next sync takes, in words. The decision is `sync`'s.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::{Contest, PodPreview};
use crate::decide::self_managed::{Decision, OwnPod, becomes_available, not_yet};
use crate::decide::{complete, notes};
use crate::question::options::Options;
use crate::snapshot::direct::DirectEntry;
use crate::snapshot::meta::REVISION_LABEL;
use crate::snapshot::release::Release;
use crate::snapshot::stateful_set::StatefulSetSpec;
use crate::snapshot::time::to_time;
use crate::sync::Verdict;
use crate::sync::stateful_set::{
    By, Member, MemberOutcome, MemberReason, StatefulSet, Update, next_sync, ordinal,
};
use crate::text;
use crate::text::error::Error;
use podrank::Time;
use podrank::controller::{Availability, availability};
use std::collections::BTreeSet;

impl StatefulSetSpec {
    fn member(&self, pod: OwnPod<'_>, ordinal: i32, now: Time) -> Member {
        let OwnPod { entry, record } = pod;
        let availability = availability(&record.pod, self.min_ready_seconds, now);
        let revision = entry.labels.get(REVISION_LABEL).map_or("", String::as_str);
        Member {
            ordinal,
            is_running: record.pod.phase == podrank::Phase::RUNNING && !entry.is_finished,
            is_finished: entry.is_finished,
            is_ready: availability.is_ready(),
            is_available: availability == Availability::Available,
            is_terminating: entry.is_terminating,
            is_updated: !self.knows_revision() || revision == self.update_revision,
        }
    }
}

/// Decides about the next sync with this count.
pub(crate) fn decide<'a>(
    entry: &DirectEntry,
    spec: &StatefulSetSpec,
    replicas: i32,
    pods: &[OwnPod<'a>],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<Decision<'a>, Error> {
    let set = StatefulSet {
        replicas,
        is_being_deleted: entry.idle().is_some(),
        behavior: options.stateful_sets(),
        ..spec.set
    };
    let now = to_time(options.now);
    let (mut counted, mut ignored) = (Vec::new(), Vec::new());
    for pod in pods {
        match ordinal(&entry.name, &pod.entry.name, set.behavior.exact_names) {
            Some(ordinal) => counted.push((*pod, spec.member(*pod, ordinal, now))),
            None => ignored.push(*pod),
        }
    }
    let members: Vec<_> = counted.iter().map(|(_, member)| *member).collect();
    let outcomes = next_sync(&set, &members);
    if !spec.knows_revision() {
        let old: Vec<_> = members.iter().map(|member| Member { is_updated: false, ..*member }).collect();
        if victims(&next_sync(&set, &old)) != victims(&outcomes) {
            let text = format!("the status of {entry} has no updateRevision, so its old pods are not known");
            let gap = Note::new(NoteCode::RevisionMissing, text);
            if !options.accepts_gaps() {
                return Err(complete::error(&entry.namespace, entry.kind, &[gap]));
            }
            notes.push(gap);
        }
    }

    // Once those that are ready are available.
    let as_available: Vec<_> =
        members.iter().map(|member| Member { is_available: member.is_ready, ..*member }).collect();
    if victims(&next_sync(&set, &as_available)) != victims(&outcomes) {
        let are_soon = counted.iter().zip(&as_available).filter(|((_, member), later)| member != *later);
        let pods = are_soon.map(|((pod, _), _)| *pod);
        notes.extend(becomes_available(pods, spec.min_ready_seconds, now));
    }

    let lacks_pods = notes.iter().any(|note| note.code == NoteCode::PodsMissing);
    let words = StatefulSetWords { entry, spec, set, pods: &counted, now, lacks_pods };
    let stays = |outcome: &&MemberOutcome| !counted[outcome.member].0.entry.is_terminating;
    let decided = outcomes.iter().filter(stays).map(|outcome| words.decided(outcome));
    let ignored = ignored.into_iter().filter(|pod| !pod.entry.is_terminating).map(|pod| {
        let why =
            format!("its name is not {}, a hyphen and an ordinal, so Kubernetes ignores it", entry.name);
        pod.decided(Verdict::Keep, MemberReason::NoOrdinal.name(), why, now)
    });
    let pods = decided.chain(ignored).collect();
    words.notes(&outcomes, notes);
    notes.extend(depends_on_release(options, &set, &members, &outcomes));
    // Any number of them may go.
    let quota = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Contested).count();
    Ok(Decision { pods, quota, later: Some(0) })
}

/// Says that other releases delete other pods, if the release is not known.
fn depends_on_release(
    options: &Options,
    set: &StatefulSet,
    members: &[Member],
    outcomes: &[MemberOutcome],
) -> Option<Note> {
    let differs = |release: Release| {
        let behavior = release.stateful_sets(options.controller_gates);
        victims(&next_sync(&StatefulSet { behavior, ..*set }, members)) != victims(outcomes)
    };
    let others = if options.release.is_none() { Release::others(differs) } else { Vec::new() };
    let text = || {
        format!(
            "this is what Kubernetes {} does, and {} would not delete the same pods: name the release with --kubernetes-version",
            Release::TESTED,
            text::list(&others)
        )
    };
    (!others.is_empty()).then(|| Note::new(NoteCode::DependsOnRelease, text()))
}

/// The members that go or may go.
fn victims(outcomes: &[MemberOutcome]) -> BTreeSet<usize> {
    let go = outcomes.iter().filter(|it| matches!(it.verdict, Verdict::Delete | Verdict::Contested));
    go.map(|outcome| outcome.member).collect()
}

/// What the words about a decision read.
struct StatefulSetWords<'w, 'a> {
    entry: &'w DirectEntry,
    spec: &'w StatefulSetSpec,
    set: StatefulSet,
    pods: &'w [(OwnPod<'a>, Member)],
    now: Time,
    /// Whether the input is known to lack pods.
    lacks_pods: bool,
}

impl<'a> StatefulSetWords<'_, 'a> {
    fn decided(&self, outcome: &MemberOutcome) -> PodPreview<'a> {
        let (pod, member) = self.pods[outcome.member];
        let why = self.why(outcome, pod, member);
        let by = outcome.by.filter(|_| outcome.verdict == Verdict::Blocked).map(|by| self.name(by));
        let goes = matches!(outcome.verdict, Verdict::Delete | Verdict::Blocked);
        let is_replaced = goes && self.set.is_in_range(member.ordinal);
        let mut decided = pod.decided(outcome.verdict, outcome.reason.name(), why, self.now);
        if outcome.reason == MemberReason::AfterCreation {
            decided.contest = Some(Contest::Creation);
        }
        PodPreview { is_replaced, by, ..decided }
    }

    /// The name of the pod that is waited for, even if it does not exist.
    fn name(&self, by: By) -> String {
        match by.member {
            None => format!("{}-{}", self.entry.name, by.ordinal),
            Some(index) => self.pods[index].0.entry.name.clone(),
        }
    }

    fn why(&self, outcome: &MemberOutcome, pod: OwnPod<'_>, member: Member) -> String {
        let by = match outcome.by {
            Some(by) if by.member == Some(outcome.member) => "it".to_owned(),
            by => by.map(|by| self.name(by)).unwrap_or_default(),
        };
        let (start, ordinal) = (self.set.start, member.ordinal);
        let last = i64::from(start) + i64::from(self.set.replicas) - 1;
        match outcome.reason {
            MemberReason::InRange => format!("ordinal {ordinal} is within {start} to {last}"),
            MemberReason::RecreateOff => {
                "the strategy Recreate needs a feature gate that is off, so every sync fails".to_owned()
            }
            MemberReason::BelowPartition => {
                let index = i64::from(ordinal) - i64::from(start);
                let Update::RollingUpdate { partition, .. } = self.set.update else { return String::new() };
                format!("it is old, but index {index} is below the partition, {partition}")
            }
            MemberReason::OnDelete => "it is old, but with OnDelete only a user replaces pods".to_owned(),
            MemberReason::OutOfRange if last < i64::from(start) => "no pod is wanted".to_owned(),
            MemberReason::OutOfRange if ordinal < start => {
                format!("ordinal {ordinal} is below the first, {start}")
            }
            MemberReason::OutOfRange => format!("ordinal {ordinal} is beyond {last}"),
            MemberReason::Finished => "it is finished, so it is deleted and created anew".to_owned(),
            MemberReason::Old => self.revisions(pod),
            MemberReason::OldUnavailable => format!("{}, and it is unavailable", self.revisions(pod)),
            MemberReason::Twins => {
                format!(
                    "{} has the same ordinal as another pod: the list order decides",
                    outcome.by.map(|by| self.name(by)).unwrap_or_default()
                )
            }
            MemberReason::AfterCreation => {
                let missing = if self.lacks_pods {
                    "is not listed: if it does not exist, it"
                } else {
                    "does not exist and"
                };
                format!("{by} {missing} is created first, and this pod is deleted only if that succeeds")
            }
            MemberReason::WaitsForMissing if self.lacks_pods => {
                format!("{by} is not listed: if it does not exist, it is created first")
            }
            MemberReason::WaitsForMissing => format!("{by} does not exist yet and is created first"),
            MemberReason::WaitsForFinished => {
                format!("{by} is finished, and is deleted and created anew first")
            }
            MemberReason::WaitsForTermination => format!("{by} is still being deleted"),
            MemberReason::WaitsForRunning => format!("{by} is not Running"),
            MemberReason::WaitsForReady => format!("{by} is not ready"),
            MemberReason::WaitsForAvailable => self.not_yet(&by, outcome),
            MemberReason::WaitsForEither => {
                format!("neither it nor {by} is available: it waits until one of the two is")
            }
            MemberReason::OneAtATime => format!("{by} goes first: pods go one at a time"),
            MemberReason::AfterScaling => format!("{by} goes first: scaling down comes before updating"),
            MemberReason::Budget => {
                format!("{by} is one of as many pods as may be unavailable, {}", self.set.budget())
            }
            MemberReason::AfterRecreate => format!("{by} is old, and all old pods go first"),
            MemberReason::SetDeleted | MemberReason::Terminating | MemberReason::NoOrdinal => {
                outcome.reason.name().to_owned()
            }
        }
    }

    fn revisions(&self, pod: OwnPod<'_>) -> String {
        let wanted = text::name(&self.spec.update_revision);
        match pod.entry.labels.get(REVISION_LABEL) {
            Some(revision) => format!("its revision is {}, not {wanted}", text::name(revision)),
            None => format!("it has no revision, not {wanted}"),
        }
    }

    fn not_yet(&self, by: &str, outcome: &MemberOutcome) -> String {
        let pod = outcome.by.and_then(|by| by.member).map(|index| self.pods[index].0);
        let since = pod.map_or(Time::UNSET, |pod| pod.record.pod.ready_time);
        format!("{by} {}", not_yet(since, self.now, self.spec.min_ready_seconds))
    }

    /// What a reader should know besides.
    fn notes(&self, outcomes: &[MemberOutcome], notes: &mut Vec<Note>) {
        let entry = self.entry;
        let all = |reason| outcomes.iter().any(|outcome| outcome.reason == reason);
        let recreate_off = || {
            let why = "has the strategy Recreate, whose feature gate StatefulSetRecreateStrategy is off";
            all(MemberReason::RecreateOff).then_some(why)
        };
        notes.extend(recreate_off().map(|why| notes::does_nothing(entry, why)));
        let mut note = |code, text| notes.push(Note::new(code, text));
        let gone = outcomes.iter().filter(|outcome| outcome.reason == MemberReason::OutOfRange);
        let mut claims = Vec::new();
        for outcome in gone {
            let name = &self.pods[outcome.member].0.entry.name;
            claims.extend(self.spec.claims_that_go.iter().map(|claim| format!("{claim}-{name}")));
        }
        if !claims.is_empty() {
            let text = format!(
                "whenScaled is Delete, so claims go with their pods, unless others own them, too: {}",
                text::list(&claims)
            );
            note(NoteCode::ClaimsGo, text);
        }
    }
}
