//! Workloads whose controllers delete pods themselves: their next sync, whichever their kind.

use crate::answer::{CountRange, EndState, Note, PodAnswer, PodGroup, Preview, Size, Verdict};
use crate::decide::{Decision, Seen, complete, count, daemon_set, job, notes, stateful_set};
use crate::question::{Options, Order, gates};
use crate::snapshot::{Pod, Snapshot, Workload, WorkloadKind, WorkloadRef, to_time};
use crate::sync::stateful_set::ordinal;
use crate::text::{Error, number};

/// Says what a workload's next sync does.
pub(crate) fn preview_direct<'a>(
    input: &'a Snapshot,
    entry: Workload<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    if options.order == Order::Total {
        return Err(Error::new(format!("podrank's total order does not apply to {entry}"))
            .because("It is for Deployments, ReplicaSets and ReplicationControllers."));
    }
    let mut notes = entry.gaps(input);
    if !notes.is_empty() && !options.accepts_gaps() {
        return Err(complete::error(entry.id(), &notes));
    }
    notes.extend(notes::workload_listed_twice(input, entry.id()));
    notes.extend(entry.lags().then(|| notes::lagging(&[entry])));
    let pods = entry.pods(input, &mut notes)?;
    let (size, feature_gates, decision) = decide(input, entry, &pods, options, &mut notes)?;
    let certain = decision.pods.iter().filter(|pod| pod.verdict == Verdict::Deleted).count();
    let rest = rest(entry, &decision, certain);
    let delete = certain + decision.quota;
    let groups = vec![PodGroup { delete, pods: decision.pods, ..PodGroup::default() }];
    Ok(Preview { feature_gates, rest, size, notes, groups, ..Preview::new(entry.id(), options) })
}

/// The names of feature gates, and whether they are on.
type Gates = Vec<(&'static str, bool)>;

/// The question, the feature gates that matter, and the decision of the kind.
pub(crate) fn decide<'a>(
    input: &'a Snapshot,
    entry: Workload<'a>,
    pods: &[&'a Pod],
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<(Size, Gates, Decision<'a>), Error> {
    match entry {
        Workload::StatefulSet(spec) => {
            let count = count::asked(&entry, spec.record.replicas, options)?;
            let asked = Size { replicas: Some(count.unsigned_abs()), ..Size::default() };
            let gates = gates::of_stateful_sets(options.stateful_sets());
            Ok((asked, gates, stateful_set::decide(spec, count, pods, options, notes)?))
        }
        Workload::DaemonSet(spec) => {
            if options.replicas.is_some() {
                return Err(count::none(entry).advise("Leave out --replicas."));
            }
            let decision = daemon_set::decide(input, spec, pods, options, notes);
            Ok((Size::default(), Vec::new(), decision))
        }
        Workload::Job(spec) => {
            let asked = job::asked(spec, options)?;
            notes.extend(job::refusal(spec, &asked, pods, options));
            let decision = job::decide(spec, &asked, pods, to_time(options.now), notes);
            Ok((asked, Vec::new(), decision))
        }
        _ => unreachable!("the pods of {entry} are those of its sets"),
    }
}

/// The rest of the scale-down after this sync.
fn rest<'a>(entry: Workload<'_>, decision: &Decision<'a>, certain: usize) -> Option<EndState<'a>> {
    let later = decision.later?;
    let max = number(certain + decision.quota);
    // A StatefulSet deletes at most this many of its possible pods.
    let min = if entry.kind() == WorkloadKind::StatefulSet { number(certain) } else { max };
    let waits = decision.pods.iter().filter_map(PodAnswer::waits_for).collect();
    Some(EndState::of_waiting(CountRange { min, max }, waits, number(later)))
}

impl Workload<'_> {
    /// Returns the pods that it owns and its selector matches, each once.
    pub(crate) fn pods<'a>(&self, input: &'a Snapshot, notes: &mut Vec<Note>) -> Result<Vec<&'a Pod>, Error> {
        let selector = self.selector();
        let mut seen = Seen::default();
        let mut pods = Vec::new();
        for entry in input.pods.iter().filter(|pod| pod.meta.namespace == self.id().namespace) {
            let matches = selector.as_ref().is_some_and(|selector| selector.matches(&entry.meta.labels));
            if self.adopts(entry) {
                notes.push(notes::adopts(self, entry));
            } else if !self.owns(&entry.meta) {
                continue;
            } else if !matches && self.idle().is_none() {
                notes.push(notes::releases(self, entry));
                continue;
            } else if !matches && selector.as_ref().is_some_and(|selector| !selector.is_empty()) {
                // A workload that is being deleted does not release it, and does not look at it either.
                continue;
            }
            if seen.is_new(entry, notes)? {
                pods.push(entry);
            }
        }
        Ok(pods)
    }

    /// Whether its controller, which deletes pods itself, adopts the pod before it does anything else. That of a `StatefulSet` adopts only
    /// pods with its name and an ordinal.
    pub(crate) fn adopts(&self, pod: &Pod) -> bool {
        let WorkloadRef { namespace, kind, name } = self.id();
        let is_orphan = kind.is_direct()
            && pod.meta.controller.is_none()
            && !pod.is_terminating()
            && pod.meta.namespace == namespace;
        let is_member =
            || kind != WorkloadKind::StatefulSet || ordinal(name, &pod.meta.name, false).is_some();
        let selects = || self.selector().is_some_and(|it| !it.is_empty() && it.matches(&pod.meta.labels));
        is_orphan && is_member() && selects() && self.idle().is_none()
    }

    /// Returns what the input lacks. Empty if the input looks complete.
    pub(crate) fn gaps(&self, input: &Snapshot) -> Vec<Note> {
        let status = u64::try_from(self.status_pods()).unwrap_or(0);
        let pods = input.pods.iter().filter(|pod| self.owns(&pod.meta));
        let mut gaps: Vec<_> = complete::fewer_pods_than_status(self, pods, status).into_iter().collect();
        if let Self::DaemonSet(set) = self {
            gaps.extend(set.gaps(input));
        }
        gaps
    }

    /// The least number of pods by the status, and the generation for which it is.
    fn status(&self) -> (i32, Option<i64>) {
        match self {
            Self::StatefulSet(set) => (set.status_replicas, set.observed_generation),
            Self::DaemonSet(set) => (set.status_nodes, set.observed_generation),
            Self::Job(job) => (job.status.active, job.status.observed_generation),
            _ => (0, None),
        }
    }

    /// The least number of pods by the status.
    pub(crate) fn status_pods(&self) -> i32 {
        self.status().0
    }

    /// Whether its status is for an earlier spec. A dump that someone wrote may lack the observed generation.
    pub(crate) fn lags(&self) -> bool {
        let (_, observed) = self.status();
        observed.zip(self.meta()).is_some_and(|(observed, meta)| observed < meta.generation)
    }

    /// Whether its controller still has work to do, so that the status changes soon.
    pub(crate) fn is_behind(self, input: &Snapshot) -> bool {
        let lacks_revision = matches!(self, Self::StatefulSet(set) if !set.knows_revision());
        self.lags() || lacks_revision || !self.gaps(input).is_empty()
    }
}
