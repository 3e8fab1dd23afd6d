//! `DaemonSets`: which pods their next sync takes. The decision is `sync`'s.

use crate::answer::{Note, NoteCode, PodAnswer};
use crate::decide::{Decision, becomes_available, chance};
use crate::question::Options;
use crate::reason::{Cause, DaemonSetReason, Reason};
use crate::snapshot::{DaemonSet, FinishedPhase, Node, Pod, REVISION_LABEL, Snapshot, Workload, to_time};
use crate::sync::daemon_set::{DaemonPod, DaemonReason, DaemonSetState, NodeFit, Sync, next_sync};
use crate::sync::{PodOutcome, Verdict};
use crate::text::{count, is};
use podrank::Time;
use podrank::controller::{Availability, availability};
use std::collections::BTreeMap;

/// The label and the annotation with the number of the template, from the time before revisions. Both still count.
const GENERATION_LABEL: &str = "pod-template-generation";
impl DaemonSet {
    /// Returns notes on missing objects, apart from pods.
    pub(crate) fn gaps(&self, input: &Snapshot) -> Vec<Note> {
        let entry = Workload::DaemonSet(self);
        let nodes = self.too_few_nodes(input).map(|(nodes, wanted)| {
            let (verb, nodes) = (is(nodes), count(nodes as u64, "node"));
            format!("only {nodes} for {entry} {verb} listed, while its status counts {wanted}")
        });
        let revision = revision(input, self).is_none().then(|| {
            format!(
                "no ControllerRevision of {entry} is listed, so it is not known which of its pods are old"
            )
        });
        nodes.into_iter().chain(revision).map(|text| Note::new(NoteCode::Incomplete, text)).collect()
    }

    /// How many nodes for its pods are listed, and how many its status counts, if those are more.
    fn too_few_nodes(&self, input: &Snapshot) -> Option<(usize, usize)> {
        let may_start = |node: &&Node| self.placement.on(node).0 == NodeFit::MayStart;
        let nodes = nodes(input).into_values().filter(may_start).count();
        let counted = usize::try_from(self.status_wanted).unwrap_or(0);
        (nodes < counted && !Workload::DaemonSet(self).lags()).then_some((nodes, counted))
    }

    fn pod(&self, pod: &Pod, node: Option<usize>, revision: Option<&str>, now: Time) -> DaemonPod {
        let availability = availability(&pod.record, self.min_ready_seconds, now);
        let label = |name| pod.meta.labels.get(name).map(String::as_str);
        DaemonPod {
            creation_time: pod.record.creation_time,
            node,
            is_assigned: pod.node.is_some(),
            is_ready: availability.is_ready(),
            is_available: availability == Availability::Available,
            // If the current revision is not known, no pod is taken for an old one.
            has_revision: revision.is_none() || label(REVISION_LABEL) == revision,
            has_generation: self.generation.is_some()
                && label(GENERATION_LABEL) == self.generation.as_deref(),
            is_succeeded: pod.finished_phase == Some(FinishedPhase::Succeeded),
            is_failed: pod.finished_phase == Some(FinishedPhase::Failed),
            is_terminating: pod.is_terminating(),
        }
    }
}

/// The nodes by name. If one is listed twice, the first entry counts, which the map takes last.
fn nodes(input: &Snapshot) -> BTreeMap<&str, &Node> {
    input.nodes.iter().rev().map(|node| (node.meta.name.as_str(), node)).collect()
}

/// The label of the pods that were made from the current revision: the newest one.
fn revision<'a>(input: &'a Snapshot, spec: &DaemonSet) -> Option<&'a str> {
    let own = input.revisions.iter().filter(|revision| Workload::DaemonSet(spec).owns(&revision.meta));
    let newest = own.max_by_key(|revision| revision.number)?;
    Some(newest.meta.labels.get(REVISION_LABEL).map_or("", String::as_str))
}

/// The node of a pod, or the one for which it was made.
fn node_of(pod: &Pod) -> Option<&str> {
    pod.node.as_deref().or(pod.target_node.as_deref())
}

/// Decides about the next sync.
pub(crate) fn decide<'a>(
    input: &'a Snapshot,
    spec: &DaemonSet,
    pods: &[&'a Pod],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Decision<'a> {
    let now = to_time(options.now);
    // If nodes are known to be missing, those that have pods are taken to be among them.
    let unlisted = if spec.too_few_nodes(input).is_some() { NodeFit::MayStart } else { NodeFit::Missing };
    let listed = nodes(input);
    let mut fits: Vec<_> = listed.values().map(|node| spec.placement.on(node).0).collect();
    let mut numbers: BTreeMap<_, _> = listed.keys().copied().zip(0..).collect();
    let mut sorted = pods.to_vec();
    sorted.sort_by_key(|pod| &pod.meta.name);
    let revision = revision(input, spec);
    let mut records = Vec::new();
    for pod in &sorted {
        let node = node_of(pod).map(|name| *numbers.entry(name).or_insert(fits.len()));
        if node == Some(fits.len()) {
            fits.push(unlisted);
        }
        records.push(spec.pod(pod, node, revision, now));
    }
    let is_idle = Workload::DaemonSet(spec).idle().is_some();
    let set = DaemonSetState { strategy: spec.strategy, is_being_deleted: is_idle };
    let mut sync = next_sync(&set, &fits, &records);

    // Once those that are ready are available.
    let as_available: Vec<_> =
        records.iter().map(|pod| DaemonPod { is_available: pod.is_ready, ..*pod }).collect();
    if victims(&next_sync(&set, &fits, &as_available)) != victims(&sync) {
        notes.extend(becomes_available(sorted.iter().copied(), spec.min_ready_seconds, now));
    }

    let knows_revision = revision.is_some();
    if !knows_revision && spec.strategy.allows_surge() {
        // A node may keep an old pod and a new one, and which is which is not known.
        for outcome in sync.outcomes.iter_mut().filter(|outcome| outcome.reason == DaemonReason::Surplus) {
            sync.deleted -= usize::from(outcome.verdict == Verdict::Deleted);
            outcome.verdict = Verdict::Kept;
        }
    }

    let decided = Decided { spec, nodes: listed, pods: &sorted, records, sync, now, knows_revision };
    decided.notes(notes);
    decided.decision()
}

/// The pods that go or may go, with how many of their group do.
fn victims(sync: &Sync) -> Vec<(Verdict, usize)> {
    sync.outcomes.iter().map(|outcome| (outcome.verdict, outcome.quota)).collect()
}

/// A decision, and what the reasons read.
struct Decided<'w, 'a> {
    spec: &'w DaemonSet,
    /// Those that are listed, by name.
    nodes: BTreeMap<&'a str, &'a Node>,
    pods: &'w [&'a Pod],
    records: Vec<DaemonPod>,
    sync: Sync,
    now: Time,
    /// Whether the revision is known that tells old pods from new ones.
    knows_revision: bool,
}

impl<'a> Decided<'_, 'a> {
    fn decision(&self) -> Decision<'a> {
        let pods = (0..self.pods.len()).filter(|pod| !self.pods[*pod].is_terminating());
        let mut pods: Vec<_> = pods.map(|pod| self.pod(pod)).collect();
        pods.sort_by_key(|pod| pod.verdict);
        // The next sync deletes some pods again that are on their way already.
        let certain = self.sync.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Deleted).count();
        let later = self.later(&pods);
        Decision { pods, quota: self.sync.deleted - certain, later }
    }

    fn pod(&self, index: usize) -> PodAnswer<'a> {
        let (outcome, pod, sync) = (self.sync.outcomes[index], self.pods[index], &self.sync);
        let (node, now) = (node_of(pod), self.now);
        // Kubernetes takes them in the order of a Go map, which tells no pod from another.
        let (chance, probability) = chance(&outcome, &sync.outcomes, Cause::Random).unzip();
        let reason = DaemonSetReason {
            outcome,
            pod,
            node,
            unfit: node.and_then(|node| self.spec.placement.on(self.nodes.get(node)?).1),
            waits_for: self.waits_for(index).map(|other| self.pods[other]),
            is_updated: self.knows_revision.then(|| self.records[index].is_updated()),
            budget: (u64::try_from(sync.unavailable).unwrap_or(0), sync.used),
            available: (sync.available, sync.wanted),
            chance,
            min_ready_seconds: self.spec.min_ready_seconds,
            now,
        };
        let is_waiting = reason.waits_for.is_some() || reason.is_later();
        let verdict = if is_waiting { Verdict::Waiting } else { outcome.verdict };
        PodAnswer { probability, ..PodAnswer::new(pod, verdict, Reason::DaemonSet(reason), now) }
    }

    /// How many pods wait for those that this sync replaces. `None` if another sync may follow immediately.
    fn later(&self, decided: &[PodAnswer<'_>]) -> Option<usize> {
        let comes_first = |outcome: &PodOutcome<DaemonReason>| outcome.reason == DaemonReason::AfterFirstPart;
        if self.sync.later > 0 || self.sync.outcomes.iter().any(comes_first) {
            return None;
        }
        let sure = decided.iter().filter(|pod| pod.verdict == Verdict::Waiting && pod.waits_for().is_none());
        let sure = sure.count();
        // Any of the available old pods may be deleted now, and the rest later.
        let is_open = |outcome: &&PodOutcome<DaemonReason>| {
            outcome.verdict == Verdict::Possible && outcome.reason == DaemonReason::OldAvailable
        };
        let open: Vec<_> = self.sync.outcomes.iter().filter(is_open).collect();
        Some(sure + open.len() - open.first().map_or(0, |outcome| outcome.quota))
    }

    /// The pod that keeps this one from going, if there is one.
    fn waits_for(&self, pod: usize) -> Option<usize> {
        let outcome = &self.sync.outcomes[pod];
        let others = || (0..self.pods.len()).filter(|other| *other != pod);
        let on_its_node = || others().filter(|other| self.records[*other].node == self.records[pod].node);
        let is_terminating = |other: &usize| self.pods[*other].is_terminating();
        match outcome.reason {
            _ if outcome.verdict != Verdict::Kept => None,
            DaemonReason::AwaitsNew => {
                on_its_node().find(|other| self.records[*other].is_updated() && !is_terminating(other))
            }
            DaemonReason::Unsettled => on_its_node().find(is_terminating),
            DaemonReason::NodeMissing => self.sync.blocked_by,
            // The budget is used up.
            DaemonReason::OldAvailable => others().find(|other| {
                is_terminating(other)
                    || !self.records[*other].is_available
                        && self.sync.outcomes[*other].verdict == Verdict::Kept
            }),
            _ => None,
        }
    }

    /// Adds notes for the reader.
    fn notes(&self, notes: &mut Vec<Note>) {
        let sync = &self.sync;
        let has = |reason| sync.outcomes.iter().any(|outcome| outcome.reason == reason);
        let mut note = |code, text| notes.push(Note::new(code, text));
        if sync.later > 0 {
            let text = format!(
                "the controller deletes {} in this sync and {} more in later ones",
                count(sync.deleted as u64, "pod"),
                sync.later
            );
            note(NoteCode::Limits, text);
        } else if has(DaemonReason::AfterFirstPart) {
            let text = format!(
                "the next sync deletes {} and creates {}, and old pods are replaced after that, perhaps immediately",
                count(sync.deleted as u64, "pod"),
                sync.creates
            );
            note(NoteCode::Continues, text);
        }
        if has(DaemonReason::Failed) {
            let text = "the controller deletes a failed pod later if it has recently deleted one of the same node, \
                        which only the controller knows";
            note(NoteCode::ChangesSoon, text.to_owned());
        }
    }
}
