//! `StatefulSets`: which pods their next sync takes. The decision is `sync`'s.

use crate::answer::{Note, NoteCode, PodAnswer};
use crate::decide::{Decision, becomes_available, complete, notes};
use crate::question::Options;
use crate::reason::{Reason, StatefulSetReason};
use crate::snapshot::{Pod, REVISION_LABEL, Release, StatefulSet, Workload, to_time};
use crate::sync::Verdict;
use crate::sync::stateful_set::{Member, MemberOutcome, MemberReason, StatefulSetState, next_sync, ordinal};
use crate::text::{self, Error};
use podrank::Time;
use podrank::controller::{Availability, availability};
use std::collections::BTreeSet;

impl StatefulSet {
    fn member(&self, pod: &Pod, ordinal: i32, now: Time) -> Member {
        let availability = availability(&pod.record, self.min_ready_seconds, now);
        let revision = pod.meta.labels.get(REVISION_LABEL).map_or("", String::as_str);
        Member {
            ordinal,
            is_running: pod.record.phase == podrank::Phase::RUNNING && !pod.is_finished(),
            is_finished: pod.is_finished(),
            is_ready: availability.is_ready(),
            is_available: availability == Availability::Available,
            is_terminating: pod.is_terminating(),
            is_updated: !self.knows_revision() || revision == self.update_revision,
        }
    }
}

/// Decides about the next sync with this count.
pub(crate) fn decide<'a>(
    spec: &'a StatefulSet,
    replicas: i32,
    pods: &[&'a Pod],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<Decision<'a>, Error> {
    let entry = Workload::StatefulSet(spec);
    let set = StatefulSetState {
        replicas,
        is_being_deleted: entry.idle().is_some(),
        behavior: options.stateful_sets(),
        ..spec.record
    };
    let now = to_time(options.now);
    let (mut counted, mut ignored) = (Vec::new(), Vec::new());
    for pod in pods {
        match ordinal(&spec.meta.name, &pod.meta.name, set.behavior.exact_names) {
            Some(ordinal) => counted.push((*pod, spec.member(pod, ordinal, now))),
            None => ignored.push(*pod),
        }
    }
    let members: Vec<_> = counted.iter().map(|(_, member)| *member).collect();
    let outcomes = next_sync(&set, &members);
    let lacks_pods = notes.iter().any(|note| note.code == NoteCode::Incomplete);
    let as_old: Vec<_> = members.iter().map(|member| Member { is_updated: false, ..*member }).collect();
    if !spec.knows_revision() && victims(&next_sync(&set, &as_old)) != victims(&outcomes) {
        let text = format!("the status of {entry} has no updateRevision, so its old pods are not known");
        let gap = Note::new(NoteCode::Incomplete, text);
        if !options.accepts_gaps() {
            return Err(complete::error(entry.id(), &[gap]));
        }
        notes.push(gap);
    }

    // Once those that are ready are available.
    let as_available: Vec<_> =
        members.iter().map(|member| Member { is_available: member.is_ready, ..*member }).collect();
    if victims(&next_sync(&set, &as_available)) != victims(&outcomes) {
        let pods = counted.iter().map(|(pod, _)| *pod);
        notes.extend(becomes_available(pods, spec.min_ready_seconds, now));
    }

    let context = Context { spec, set, pods: &counted, now, lacks_pods };
    let stays = |outcome: &&MemberOutcome| !counted[outcome.member].0.is_terminating();
    let decided = outcomes.iter().filter(stays).map(|outcome| context.decided(*outcome));
    let ignored = ignored.into_iter().filter(|pod| !pod.is_terminating());
    let pods: Vec<_> = decided.chain(ignored.map(|pod| context.ignored(pod))).collect();
    context.notes(&outcomes, notes);
    if let Some(pod) = pods.iter().find(|pod| pod.reason.is_stuck()) {
        let (why, by) = (pod.reason.sentence(), pod.waits_for().unwrap_or_default());
        let namespace = text::name(&spec.meta.namespace);
        let text = format!("{why}: kubectl delete pod {} -n {namespace}", text::name(&by));
        notes.push(Note::warning(NoteCode::Continues, text));
    }
    notes.extend(depends_on_release(options, &set, &members, &outcomes));
    // Any number of them may go.
    let quota = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Possible).count();
    Ok(Decision { pods, quota, later: Some(0) })
}

/// Says that other releases delete other pods, if the release is not known.
fn depends_on_release(
    options: &Options,
    set: &StatefulSetState,
    members: &[Member],
    outcomes: &[MemberOutcome],
) -> Option<Note> {
    let differs = |release: Release| {
        let behavior = release.stateful_sets(options.controller_gates);
        victims(&next_sync(&StatefulSetState { behavior, ..*set }, members)) != victims(outcomes)
    };
    let others = if options.release.is_none() { Release::others(differs) } else { Vec::new() };
    let text = || {
        format!(
            "this is what Kubernetes {} does, and {} would delete other pods: name the release (--kubernetes-version)",
            Release::TESTED,
            text::list(&others)
        )
    };
    (!others.is_empty()).then(|| Note::new(NoteCode::VersionDependent, text()))
}

/// The members that go or may go.
fn victims(outcomes: &[MemberOutcome]) -> BTreeSet<usize> {
    let go = outcomes.iter().filter(|it| matches!(it.verdict, Verdict::Deleted | Verdict::Possible));
    go.map(|outcome| outcome.member).collect()
}

/// What the reasons read.
struct Context<'w, 'a> {
    spec: &'a StatefulSet,
    set: StatefulSetState,
    pods: &'w [(&'a Pod, Member)],
    now: Time,
    /// Whether the input is known to lack pods.
    lacks_pods: bool,
}

impl<'a> Context<'_, 'a> {
    fn reason(&self, outcome: MemberOutcome, pod: &'a Pod, ordinal: i32) -> Reason<'a> {
        let Self { spec, set, pods, now, lacks_pods, .. } = *self;
        let by = outcome.by.and_then(|by| by.member).map(|index| pods[index].0);
        Reason::StatefulSet(StatefulSetReason { outcome, pod, ordinal, by, spec, set, now, lacks_pods })
    }

    fn decided(&self, outcome: MemberOutcome) -> PodAnswer<'a> {
        let (pod, Member { ordinal, .. }) = self.pods[outcome.member];
        let goes = matches!(outcome.verdict, Verdict::Deleted | Verdict::Waiting);
        let is_replaced = goes && self.set.is_in_range(ordinal);
        let decided = PodAnswer::new(pod, outcome.verdict, self.reason(outcome, pod, ordinal), self.now);
        PodAnswer { is_replaced, ..decided }
    }

    /// A pod that Kubernetes ignores.
    fn ignored(&self, pod: &'a Pod) -> PodAnswer<'a> {
        let (verdict, reason) = (Verdict::Kept, MemberReason::NoOrdinal);
        let outcome = MemberOutcome { member: usize::MAX, verdict, reason, by: None };
        PodAnswer::new(pod, verdict, self.reason(outcome, pod, -1), self.now)
    }

    /// Adds notes for the reader.
    fn notes(&self, outcomes: &[MemberOutcome], notes: &mut Vec<Note>) {
        if outcomes.iter().any(|outcome| outcome.reason == MemberReason::RecreateOff) {
            let why = "has the strategy Recreate, whose feature gate StatefulSetRecreateStrategy is off";
            notes.push(notes::does_nothing(&Workload::StatefulSet(self.spec), why));
        }
        let gone = outcomes.iter().filter(|outcome| outcome.reason == MemberReason::OutOfRange);
        let claims_of = |outcome: &MemberOutcome| {
            let name = self.pods[outcome.member].0.name();
            self.spec.claims_that_go.iter().map(move |claim| format!("{claim}-{name}"))
        };
        let claims: Vec<_> = gone.flat_map(claims_of).collect();
        if !claims.is_empty() {
            let text = format!(
                "whenScaled is Delete, so these claims are deleted with their pods unless another object owns them, too: {}",
                text::list(&claims)
            );
            notes.push(Note::new(NoteCode::ClaimsDeleted, text));
        }
    }
}
