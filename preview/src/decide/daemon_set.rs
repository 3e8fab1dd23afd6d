//! `DaemonSets`: which pods their next sync takes. The decision is the core's.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::Verdict;
use crate::ask::options::Options;
use crate::decide::notes;
use crate::decide::own::{Decided, Decision, OwnPod, becomes_available, chance, not_yet, odds, verdict};
use crate::dump::input::Input;
use crate::object::daemon_set::{DaemonSetSpec, REVISION_LABEL};
use crate::object::direct::DirectEntry;
use crate::object::node::NodeEntry;
use crate::object::pod::FinishedPhase;
use crate::object::time::to_time;
use crate::words::error::Error;
use crate::words::text;
use crate::words::text::count;
use podrank::Time;
use podrank::controller::daemon_set::{
    BURST_REPLICAS, DaemonSet, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Reason, Step, Strategy, next_sync,
};
use podrank::controller::{self, Availability, IntOrPercent, availability};
use std::collections::BTreeMap;

/// The label and the annotation with the number of the template, from the time before revisions. Both still count.
const GENERATION_LABEL: &str = "pod-template-generation";
impl DaemonSetSpec {
    /// Returns notes on what the input lacks besides pods.
    pub(crate) fn gaps(&self, input: &Input, entry: &DirectEntry) -> Result<Vec<Note>, Error> {
        let may_start =
            |node: &&NodeEntry| self.placement.on(node).0.contains(NodeFlags::EXISTS | NodeFlags::MAY_START);
        let nodes = nodes(input)?.into_values().filter(may_start).count();
        let wanted = usize::try_from(self.status_wanted).unwrap_or(0);
        let missing_nodes = || {
            let verb = if nodes == 1 { "is" } else { "are" };
            let text = format!(
                "only {} for {entry} {verb} listed, while its status counts {wanted}",
                count(nodes as u64, "node")
            );
            Note::new(NoteCode::NodesMissing, text)
        };
        let missing_revision = || {
            Note::new(
                NoteCode::RevisionMissing,
                format!("no ControllerRevision of {entry} is listed, so its old pods are not known"),
            )
        };
        let gaps = [
            (nodes < wanted && !entry.lags).then(missing_nodes),
            revision(input, entry).is_none().then(missing_revision),
        ];
        Ok(gaps.into_iter().flatten().collect())
    }

    fn surges(&self) -> bool {
        let surge = match self.strategy {
            Strategy::RollingUpdate { max_surge, .. } => max_surge,
            Strategy::OnDelete => IntOrPercent::Int(0),
        };
        !matches!(surge, IntOrPercent::Int(0) | IntOrPercent::Percent(0))
    }

    fn pod(&self, pod: OwnPod<'_>, node: u32, name_order: u32, revision: Option<&str>, now: Time) -> Pod {
        let OwnPod { entry, record } = pod;
        let availability = availability(&record.pod, self.min_ready_seconds, now);
        let label = |name| entry.labels.get(name).map(String::as_str);
        // If the current revision is not known, no pod is taken for an old one.
        let is_current = revision.is_none() || label(REVISION_LABEL) == revision;
        let is_of_generation =
            self.generation.is_some() && label(GENERATION_LABEL) == self.generation.as_deref();
        let flags = PodFlags::NONE
            .with(PodFlags::ASSIGNED, record.node.is_some())
            .with(PodFlags::READY, availability.is_ready())
            .with(PodFlags::AVAILABLE, availability == Availability::Available)
            .with(PodFlags::CURRENT_REVISION, is_current)
            .with(PodFlags::CURRENT_GENERATION, is_of_generation)
            .with(PodFlags::SUCCEEDED, entry.finished_phase == Some(FinishedPhase::Succeeded))
            .with(PodFlags::FAILED, entry.finished_phase == Some(FinishedPhase::Failed))
            .with(PodFlags::BEING_DELETED, entry.is_terminating);
        Pod { creation_time: record.pod.creation_time, name_order, node, flags, ..Pod::new() }
    }
}

/// The nodes by name. If one is listed twice, the first entry counts.
fn nodes(input: &Input) -> Result<BTreeMap<&str, &NodeEntry>, Error> {
    let mut nodes = BTreeMap::new();
    for node in &input.nodes {
        nodes.entry(node.name.as_str()).or_insert(node.sound()?);
    }
    Ok(nodes)
}

/// The current revision: the newest one.
fn revision<'a>(input: &'a Input, entry: &DirectEntry) -> Option<&'a str> {
    let own = input.revisions.iter().filter(|revision| {
        let owner = revision.controller.as_ref().filter(|_| revision.namespace == entry.namespace);
        owner.is_some_and(|owner| entry.is(owner))
    });
    own.max_by_key(|revision| revision.number).map(|revision| revision.hash.as_str())
}

/// Asks the core about the next sync.
pub(crate) fn decide<'a>(
    input: &Input,
    entry: &DirectEntry,
    spec: &DaemonSetSpec,
    pods: &[OwnPod<'a>],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<Decision<'a>, Error> {
    let now = to_time(options.now);
    let listed = nodes(input)?;
    let (mut names, mut flags, mut unfit): (Vec<&str>, Vec<_>, Vec<_>) = Default::default();
    for (name, node) in &listed {
        let (runs, why) = spec.placement.on(node);
        names.push(name);
        flags.push(runs);
        unfit.push(why);
    }
    // If nodes are known to be missing, those that have pods are taken to be among them.
    let all = NodeFlags::EXISTS | NodeFlags::MAY_START | NodeFlags::MAY_KEEP;
    let is_partial = notes.iter().any(|note| note.code == NoteCode::NodesMissing);
    let unlisted = if is_partial { all } else { NodeFlags::NONE };

    let mut numbers: BTreeMap<_, _> = (0..).zip(&names).map(|(number, name)| (*name, number)).collect();
    let mut sorted = pods.to_vec();
    sorted.sort_by_key(|pod| &pod.entry.name);
    let revision = revision(input, entry);
    let mut records = Vec::new();
    for (order, pod) in (0..).zip(&sorted) {
        let node = pod.record.node.as_deref().or(pod.record.target.as_deref());
        let number = node.map_or(NO_NODE, |node| {
            *numbers.entry(node).or_insert_with(|| {
                names.push(node);
                flags.push(unlisted);
                unfit.push(None);
                u32::try_from(names.len() - 1).expect("fewer nodes than pods")
            })
        });
        records.push(spec.pod(*pod, number, order, revision, now));
    }
    let set = DaemonSet { strategy: spec.strategy, is_being_deleted: entry.idle().is_some() };
    let (mut order, mut outcomes) = (vec![0; records.len()], vec![Outcome::default(); records.len()]);
    let mut step = next_sync(&set, &flags, &records, &mut order, &mut outcomes).expect("each pod has a node");

    let as_available: Vec<_> = records.iter().map(|record| as_available(*record)).collect();
    let (mut order, mut later) = (order, vec![Outcome::default(); records.len()]);
    next_sync(&set, &flags, &as_available, &mut order, &mut later).expect("each pod has a node");
    if victims(&later) != victims(&outcomes) {
        let are_soon = (0..sorted.len()).filter(|pod| records[*pod] != as_available[*pod]);
        let pods = are_soon.map(|pod| sorted[pod]);
        notes.extend(becomes_available(pods, spec.min_ready_seconds, now));
    }

    let knows_revision = revision.is_some();
    if !knows_revision && spec.surges() {
        // A node may keep an old pod and a new one, and which is which is not known.
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.reason == Reason::Surplus) {
            step.deleted -= u32::from(outcome.verdict == controller::Verdict::Delete);
            outcome.verdict = controller::Verdict::Keep;
        }
    }

    let words =
        Words { entry, spec, names, unfit, pods: &sorted, records, outcomes, step, now, knows_revision };
    let mut decided: Vec<_> = (0..sorted.len())
        .filter(|pod| !sorted[*pod].entry.is_terminating)
        .map(|pod| words.decided(pod))
        .collect();
    decided.sort_by_key(|pod| match pod.verdict {
        Verdict::Delete => 0,
        Verdict::Contested => 1,
        Verdict::Blocked => 2,
        Verdict::Later => 3,
        Verdict::Keep => 4,
    });
    words.notes(notes);
    // The next sync deletes some pods again that are on their way already.
    let is_certain = |outcome: &&Outcome| outcome.verdict == controller::Verdict::Delete;
    let certain = words.outcomes.iter().filter(is_certain).count();
    let later = words.later(&decided);
    Ok(Decision { pods: decided, quota: step.deleted as usize - certain, later })
}

/// The pod once it is available, if it is ready.
fn as_available(pod: Pod) -> Pod {
    let is_ready = pod.flags.contains(PodFlags::READY);
    Pod { flags: pod.flags.with(PodFlags::AVAILABLE, is_ready), ..pod }
}

/// The pods that go or may go, with how many of their group do.
fn victims(outcomes: &[Outcome]) -> Vec<(controller::Verdict, u32)> {
    let quota = |outcome: &Outcome| match outcome.verdict {
        controller::Verdict::Delete => (controller::Verdict::Delete, 0),
        controller::Verdict::Contested => (controller::Verdict::Contested, outcome.quota),
        _ => (controller::Verdict::Keep, 0),
    };
    outcomes.iter().map(quota).collect()
}

/// What the words about a decision read.
struct Words<'w, 'a> {
    entry: &'w DirectEntry,
    spec: &'w DaemonSetSpec,
    /// The names of the nodes by number, and why no pod may run there.
    names: Vec<&'w str>,
    unfit: Vec<Option<String>>,
    pods: &'w [OwnPod<'a>],
    records: Vec<Pod>,
    outcomes: Vec<Outcome>,
    step: Step,
    now: Time,
    /// Whether the revision is known that tells old pods from new ones.
    knows_revision: bool,
}

impl<'a> Words<'_, 'a> {
    fn decided(&self, pod: usize) -> Decided<'a> {
        let outcome = &self.outcomes[pod];
        let by = self.waits_for(pod);
        Decided {
            pod: self.pods[pod],
            verdict: match by {
                Some(_) => Verdict::Blocked,
                None if Self::is_later(outcome) => Verdict::Later,
                None => verdict(outcome.verdict),
            },
            // Kubernetes takes them in the order of a Go map, which tells no pod from another.
            odds: odds(outcome, &self.outcomes),
            rule: outcome.reason.name(),
            why: self.why(pod, by),
            by: by.map(|by| self.name(by).to_owned()),
        }
    }

    /// Whether it is old and goes once others have been replaced: the budget of this sync is used up, or its node gets a new pod first.
    fn is_later(outcome: &Outcome) -> bool {
        outcome.verdict == controller::Verdict::Keep
            && matches!(outcome.reason, Reason::OldAvailable | Reason::AwaitsNew)
    }

    /// How many pods wait for those that this sync replaces. `None` if another sync may follow at once.
    fn later(&self, decided: &[Decided<'_>]) -> Option<usize> {
        let comes_first = |outcome: &Outcome| outcome.reason == Reason::AfterFirstPart;
        if self.step.later > 0 || self.outcomes.iter().any(comes_first) {
            return None;
        }
        let sure = decided.iter().filter(|pod| pod.verdict == Verdict::Later).count();
        // Of the old pods that are available, any may go, and the others follow.
        let open: Vec<_> = self
            .outcomes
            .iter()
            .filter(|outcome| {
                outcome.verdict == controller::Verdict::Contested && outcome.reason == Reason::OldAvailable
            })
            .collect();
        Some(sure + open.len() - open.first().map_or(0, |outcome| outcome.quota as usize))
    }

    fn name(&self, pod: usize) -> &'a str {
        &self.pods[pod].entry.name
    }

    /// The pod that keeps this one from going, if there is one.
    fn waits_for(&self, pod: usize) -> Option<usize> {
        if self.outcomes[pod].verdict != controller::Verdict::Keep {
            return None;
        }
        let others = || (0..self.pods.len()).filter(|other| *other != pod);
        let on_its_node = || others().filter(|other| self.records[*other].node == self.records[pod].node);
        let is_terminating = |other: &usize| self.pods[*other].entry.is_terminating;
        match self.outcomes[pod].reason {
            Reason::AwaitsNew => on_its_node().find(|other| self.is_new(*other) && !is_terminating(other)),
            Reason::Unsettled => on_its_node().find(is_terminating),
            Reason::NodeMissing => self.step.blocked_by.map(|other| other as usize),
            // The budget is used up.
            Reason::OldAvailable => others().find(|other| {
                let is_available = self.records[*other].flags.contains(PodFlags::AVAILABLE);
                is_terminating(other)
                    || !is_available && self.outcomes[*other].verdict == controller::Verdict::Keep
            }),
            _ => None,
        }
    }

    /// Whether the update counts it as new.
    fn is_new(&self, pod: usize) -> bool {
        let flags = self.records[pod].flags;
        flags.contains(PodFlags::CURRENT_REVISION) || flags.contains(PodFlags::CURRENT_GENERATION)
    }

    fn why(&self, pod: usize, by: Option<usize>) -> String {
        self.reason(pod, by) + &chance(&self.outcomes[pod], &self.outcomes, "at random")
    }

    fn reason(&self, pod: usize, by: Option<usize>) -> String {
        let number = self.records[pod].node as usize;
        let name = self.names.get(number);
        let node = name.map_or_else(|| "no node".to_owned(), |it| format!("node {it}"));
        let state = by.map_or_else(String::new, |by| self.state(by));
        match self.outcomes[pod].reason {
            Reason::NotWanted => {
                let why = self.unfit.get(number).and_then(Option::clone);
                why.unwrap_or_else(|| format!("it may not run on {node}"))
            }
            Reason::Succeeded => "it has succeeded, and a new pod replaces it".to_owned(),
            Reason::Failed => "it has failed, and a new pod replaces it".to_owned(),
            Reason::Surplus if self.outcomes[pod].verdict == controller::Verdict::Keep => {
                format!("{node} has other pods: it stays only if it is the only old or the only new one")
            }
            Reason::Surplus => {
                format!(
                    "another pod of {node} stays: an assigned one, else the oldest, else the first by name"
                )
            }
            Reason::OldNotReady => format!("it is old and not ready, and {node} has a new pod"),
            Reason::Replaced => format!("it is old, and the new pod of {node} is available"),
            Reason::NoNode => format!("it waits for {node}, which does not exist"),
            Reason::OldUnavailable => format!("{} and unavailable", self.old(pod)),
            Reason::OldAvailable => {
                let (used, budget) = (self.step.used, self.step.unavailable);
                let verb = if used == 1 { "is" } else { "are" };
                let nodes = count(u64::try_from(budget).unwrap_or(0), "node");
                let budget = format!("{}; {nodes} may be unavailable, and {used} {verb}", self.old(pod));
                if state.is_empty() { budget } else { format!("{budget}: {state}") }
            }
            Reason::AwaitsNew if state.is_empty() => {
                format!("{}, and {node} gets a new pod first", self.old(pod))
            }
            Reason::AwaitsNew => format!("{}, and goes after the new pod of {node}: {state}", self.old(pod)),
            Reason::NotStartable => {
                format!("{} and unavailable, and no new pod may start on {node}", self.old(pod))
            }
            Reason::NotStartableAvailable => format!(
                "{}, and no new pod may start on {node}; {} have an available pod, and {} are wanted",
                self.old(pod),
                count(self.step.available, "node"),
                self.step.wanted
            ),
            Reason::Unsettled if state.is_empty() => format!("{}, like others of {node}", self.old(pod)),
            Reason::Unsettled => format!("{}, and {state}", self.old(pod)),
            Reason::OnDelete => format!("{}, but with OnDelete only a user replaces pods", self.old(pod)),
            Reason::AfterFirstPart => {
                format!("{}, but missing and unwanted pods of all nodes come first", self.old(pod))
            }
            Reason::NodeMissing => {
                let by = by.map_or("a pod", |by| self.name(by));
                format!("{}, but the update fails: the node of {by} does not exist", self.old(pod))
            }
            Reason::NextSync => format!("one sync deletes at most {BURST_REPLICAS} pods"),
            _ if name.is_none() => "it has no node, so Kubernetes ignores it".to_owned(),
            _ if !self.knows_revision => {
                format!("{node} keeps a pod, and whether this one is old is not known")
            }
            _ if self.is_new(pod) => "it is of the current revision".to_owned(),
            _ => format!("{node} keeps a pod"),
        }
    }

    /// Why a pod is not available.
    fn state(&self, pod: usize) -> String {
        let (OwnPod { entry, record }, name) = (self.pods[pod], self.name(pod));
        if entry.is_terminating {
            return format!("{name} is still being deleted");
        }
        if !self.records[pod].flags.contains(PodFlags::READY) {
            return format!("{name} is not ready");
        }
        format!("{name} {}", not_yet(record.pod.ready_time, self.now, self.spec.min_ready_seconds))
    }

    fn old(&self, pod: usize) -> String {
        match self.pods[pod].entry.labels.get(REVISION_LABEL) {
            Some(revision) => format!("it is old, of revision {}", text::name(revision)),
            None => "it is old, without a revision".to_owned(),
        }
    }

    /// What a reader should know besides.
    fn notes(&self, notes: &mut Vec<Note>) {
        let (entry, step) = (self.entry, &self.step);
        notes.extend(entry.idle().map(|why| notes::does_nothing(entry, why)));
        let mut note = |code, text| notes.push(Note::new(code, text));
        if step.later > 0 {
            let text = format!(
                "the controller deletes {} in this sync and {} more in later ones",
                count(step.deleted, "pod"),
                step.later
            );
            note(NoteCode::SeveralSyncs, text);
        } else if self.outcomes.iter().any(|outcome| outcome.reason == Reason::AfterFirstPart) {
            let text = format!(
                "the next sync deletes {} and creates {}; replacing old pods comes after that, perhaps at once",
                count(step.deleted, "pod"),
                step.creates
            );
            note(NoteCode::GoesOn, text);
        }
        if self.outcomes.iter().any(|outcome| outcome.reason == Reason::Failed) {
            let text = "if the controller has deleted a failed pod of the same node recently, it leaves the next one \
                        for later: only the controller knows";
            note(NoteCode::MayBackOff, text.to_owned());
        }
    }
}
