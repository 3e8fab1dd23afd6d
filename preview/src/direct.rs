//! Workloads whose controllers delete pods themselves, and not through sets: what all their kinds have in common. Each kind is
//! a variant of [`WorkloadKind`] and a module with what its controller reads and what its next sync does.

use crate::age::age;
use crate::complete;
use crate::daemon_set::DaemonSetSpec;
use crate::error::{Error, not_negative, parse};
use crate::input::Input;
use crate::job::JobSpec;
use crate::members::Seen;
use crate::notes::{Note, NoteCode};
use crate::options::{Options, Order};
use crate::pod::{Metadata, OwnerReference, PodEntry, Record, to_time};
use crate::preview::{Asked, BlockedPod, Details, DirectPreview, PodPreview, Verdict, Workload};
use crate::selector::{LabelSelector, Selector};
use crate::stateful_set::StatefulSetSpec;
use crate::text::{count, goes};
use crate::workload::{WorkloadKind, WorkloadRef};
use podrank::Time;
use podrank::controller::{self, Outcome};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is kept from such a workload.
#[derive(Debug)]
pub(crate) struct DirectEntry {
    pub(crate) kind: WorkloadKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) is_being_deleted: bool,
    /// Whether its status is for an earlier spec.
    pub(crate) lags: bool,
    selector: Result<Option<LabelSelector>, String>,
    spec: Result<Spec, String>,
}

/// What the controller of a kind reads from it.
#[derive(Debug)]
pub(crate) enum Spec {
    StatefulSet(StatefulSetSpec),
    DaemonSet(DaemonSetSpec),
    Job(JobSpec),
}

/// A pod that the workload owns and selects.
#[derive(Clone, Copy)]
pub(crate) struct OwnPod<'a> {
    pub(crate) entry: &'a PodEntry,
    pub(crate) record: &'a Record,
}

/// What a kind's module decides.
pub(crate) struct Decision<'a> {
    /// The pods that are not being deleted yet, in the order in which they go.
    pub(crate) pods: Vec<Decided<'a>>,
    /// How many of the contested pods go.
    pub(crate) quota: usize,
}

/// What happens to one pod.
pub(crate) struct Decided<'a> {
    pub(crate) pod: OwnPod<'a>,
    pub(crate) verdict: Verdict,
    pub(crate) rule: &'static str,
    pub(crate) why: String,
    /// The pod that it waits for, which may not exist.
    pub(crate) by: Option<String>,
}

/// The verdict of the core's.
pub(crate) fn verdict(verdict: controller::Verdict) -> Verdict {
    match verdict {
        controller::Verdict::Delete => Verdict::Delete,
        controller::Verdict::Contested => Verdict::Contested,
        controller::Verdict::Blocked => Verdict::Blocked,
        _ => Verdict::Keep,
    }
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

/// What to add to the reason for a pod if it is one of several of which chance takes some: what decides is `how`.
pub(crate) fn chance<R>(outcome: &Outcome<R>, outcomes: &[Outcome<R>], how: &str) -> String {
    let is_contested = |outcome: &Outcome<R>| outcome.verdict == controller::Verdict::Contested;
    if !is_contested(outcome) {
        return String::new();
    }
    let group = outcomes.iter().filter(|other| is_contested(other) && other.group == outcome.group).count();
    let (group, quota) = (count(group as u64, "pod"), outcome.quota);
    format!(": one of {group} of which {quota} {}, {how}", goes(quota))
}

impl Spec {
    fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        match kind {
            WorkloadKind::StatefulSet => StatefulSetSpec::read(object).map(Self::StatefulSet),
            WorkloadKind::DaemonSet => DaemonSetSpec::read(object).map(Self::DaemonSet),
            // Jobs: no other kind deletes its pods itself.
            _ => JobSpec::read(object).map(Self::Job),
        }
    }

    /// The least number of pods by the status.
    fn status_pods(&self) -> i32 {
        match self {
            Self::StatefulSet(spec) => spec.status_replicas,
            Self::DaemonSet(spec) => spec.status_nodes,
            Self::Job(spec) => spec.status_active,
        }
    }
}

/// Says what a workload's next sync does.
pub(crate) fn preview_direct<'a>(
    input: &'a Input,
    entry: &'a DirectEntry,
    options: &Options,
) -> Result<DirectPreview<'a>, Error> {
    if options.order == Order::Total {
        return Err(Error::new(format!(
            "{entry}: the total order is for Deployments, ReplicaSets and ReplicationControllers; a {} has its own",
            entry.kind
        )));
    }
    let mut notes = entry.gaps(input)?;
    if !notes.is_empty() && !options.accepts_gaps() {
        return Err(complete::incomplete(&entry.namespace, entry.kind.types(), &notes));
    }
    notes.extend(input.listed_twice(entry.id()));
    notes.extend(entry.lagging());
    let pods = entry.pods(input, &mut notes)?;
    let (asked, gates, mut decision) = match entry.spec()? {
        Spec::StatefulSet(spec) => {
            let count = entry.count(options, spec.set.replicas)?;
            let asked = Asked { replicas: Some(count.unsigned_abs()), ..Asked::default() };
            let gates = crate::gates::of_stateful_sets(options.controller_gates).collect();
            (asked, gates, crate::stateful_set::decide(entry, spec, count, &pods, options, &mut notes)?)
        }
        Spec::DaemonSet(spec) => {
            if options.replicas.is_some() {
                let text = format!("{entry} has no replicas, as its nodes decide: leave out --replicas");
                return Err(Error::new(text));
            }
            let decision = crate::daemon_set::decide(input, entry, spec, &pods, options, &mut notes)?;
            (Asked::default(), BTreeMap::new(), decision)
        }
        Spec::Job(spec) => {
            let asked = crate::job::asked(entry, spec, options)?;
            let decision = crate::job::decide(entry, spec, &asked, &pods, to_time(options.now), &mut notes);
            (asked, BTreeMap::new(), decision)
        }
    };
    if let Some(why) = entry.idle().filter(|_| !entry.is_being_deleted) {
        for pod in &mut decision.pods {
            pod.rule = "does-nothing";
            pod.why = format!("the {} {why}, so its controller does nothing", entry.kind);
        }
    }
    let count = |verdict| decision.pods.iter().filter(|pod| pod.verdict == verdict).count();
    let blocked = decision.pods.iter().filter(|pod| pod.verdict == Verdict::Blocked);
    Ok(DirectPreview {
        api_version: "podrank/v1",
        kind: "ScaleDownPreview",
        namespace: &entry.namespace,
        workload: Workload { kind: entry.kind, name: &entry.name },
        now: options.now,
        now_source: options.now_source,
        order: options.order,
        feature_gates: gates,
        active: decision.pods.len(),
        asked,
        partial: options.partial,
        delete: count(Verdict::Delete) + decision.quota,
        quota: decision.quota,
        notes,
        blocked: blocked
            .map(|pod| BlockedPod {
                name: &pod.pod.entry.name,
                by: pod.by.clone().unwrap_or_default(),
                rule: pod.rule,
                why: pod.why.clone(),
            })
            .collect(),
        pods: (1..).zip(decision.pods.iter()).map(|(place, pod)| pod.preview(place, options)).collect(),
    })
}

impl DirectEntry {
    pub(crate) fn read(kind: WorkloadKind, object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Body {
            #[serde(default)]
            spec: Option<Selecting>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Selecting {
            selector: Option<LabelSelector>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Observing {
            #[serde(default)]
            status: Option<Observed>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Observed {
            observed_generation: Option<i64>,
        }
        let Object { mut metadata } = parse(object)?;
        let observed = parse::<Observing>(object).ok().and_then(|object| object.status?.observed_generation);
        Ok(Self {
            kind,
            namespace: metadata.namespace(),
            is_being_deleted: metadata.is_being_deleted(),
            // A Job has no observed generation, and a dump that someone wrote may lack it.
            lags: observed.is_some_and(|observed| observed < metadata.generation),
            name: metadata.name,
            uid: metadata.uid.unwrap_or_default(),
            selector: parse::<Body>(object).map(|object| object.spec.and_then(|spec| spec.selector)),
            spec: Spec::read(kind, object),
        })
    }

    pub(crate) fn id(&self) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind: self.kind, name: &self.name }
    }

    pub(crate) fn spec(&self) -> Result<&Spec, Error> {
        self.spec.as_ref().map_err(|error| Error::new(format!("{self}: {error}")))
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if there is none.
    pub(crate) fn selector(&self) -> Result<Option<Selector<'_>>, Error> {
        let selector = self.selector.as_ref().map_err(|error| Error::new(format!("{self}: {error}")))?;
        Ok(selector.as_ref().and_then(Selector::new))
    }

    /// Why its controller deletes no pods, whatever is asked: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(&self) -> Option<&'static str> {
        let written = self.selector.as_ref().ok().and_then(Option::as_ref);
        match written.map(Selector::new) {
            _ if self.is_being_deleted => Some("is being deleted"),
            Some(None) => Some("has an invalid selector"),
            Some(Some(selector)) if self.kind == WorkloadKind::DaemonSet && selector.is_empty() => {
                Some("has a selector that selects all pods")
            }
            _ => None,
        }
    }

    fn owns(&self, pod: &PodEntry) -> bool {
        let owner = pod.controller.as_ref().filter(|_| pod.namespace == self.namespace);
        owner.is_some_and(|owner| self.is(owner))
    }

    /// Whether this is the owner, given that the namespace is the same.
    pub(crate) fn is(&self, owner: &OwnerReference) -> bool {
        owner.name == self.name
            && WorkloadKind::of_object(&owner.kind, Some(&owner.api_version)) == Some(self.kind)
            && owner.uid == self.uid
    }

    /// Returns the pods that it owns and its selector matches, each once.
    fn pods<'a>(&self, input: &'a Input, notes: &mut Vec<Note>) -> Result<Vec<OwnPod<'a>>, Error> {
        let selector = self.selector()?;
        let mut seen = Seen::default();
        let mut pods = Vec::new();
        for entry in input.pods.iter().filter(|pod| pod.namespace == self.namespace) {
            let matches = selector.as_ref().is_some_and(|selector| selector.matches(&entry.labels));
            if !self.owns(entry) {
                let is_orphan = entry.controller.is_none() && matches && entry.is_active();
                notes.extend((is_orphan && self.idle().is_none()).then(|| {
                    let text = format!(
                        "{entry} has no controller: {self} may adopt it, but this preview does not count it"
                    );
                    Note::new(NoteCode::WouldAdopt, text)
                }));
                continue;
            }
            if !matches && self.idle().is_none() {
                let text = format!(
                    "{entry} does not match the selector: {self} releases it, so this preview does not count it"
                );
                notes.push(Note::new(NoteCode::WouldRelease, text));
                continue;
            }
            let record = entry.any_record().ok_or_else(|| Error::new(format!("{entry} has no record")))?;
            let record = record.map_err(|error| Error::new(format!("{entry}: {error}")))?;
            if seen.is_new(entry, record.pod.uid, notes)? {
                pods.push(OwnPod { entry, record });
            }
        }
        Ok(pods)
    }

    /// Returns whether any of these pods is its.
    pub(crate) fn has_pods(&self, input: &Input) -> bool {
        input.pods.iter().any(|pod| self.owns(pod))
    }

    /// Returns what the input lacks. Empty if the input looks complete.
    pub(crate) fn gaps(&self, input: &Input) -> Result<Vec<Note>, Error> {
        let mut gaps: Vec<_> = self.missing_pods(input)?.into_iter().collect();
        if let Spec::DaemonSet(spec) = self.spec()? {
            gaps.extend(spec.gaps(input, self)?);
        }
        Ok(gaps)
    }

    /// Returns a note if the input has fewer of its pods than its status counts.
    fn missing_pods(&self, input: &Input) -> Result<Option<Note>, Error> {
        let status = u64::try_from(self.spec()?.status_pods()).unwrap_or(0);
        let names = input.pods.iter().filter(|pod| self.owns(pod)).map(|pod| &pod.name);
        let listed = names.collect::<BTreeSet<_>>().len() as u64;
        let text = || {
            let verb = if listed == 1 { "is" } else { "are" };
            format!("only {} of {self} {verb} listed, while its status counts {status}", count(listed, "pod"))
        };
        Ok((listed < status).then(|| Note::new(NoteCode::PodsMissing, text())))
    }

    /// Whether its controller still has work to do, so that the status changes soon.
    pub(crate) fn is_behind(&self, input: &Input) -> Result<bool, Error> {
        let lacks_revision = matches!(self.spec()?, Spec::StatefulSet(spec) if !spec.knows_revision());
        Ok(self.lags || lacks_revision || !self.gaps(input)?.is_empty())
    }

    fn lagging(&self) -> Option<Note> {
        self.lags.then(|| crate::notes::lagging(self))
    }

    /// The count to decide for.
    fn count(&self, options: &Options, current: i32) -> Result<i32, Error> {
        let Some(wanted) = options.replicas else { return not_negative(self, current) };
        i32::try_from(wanted).map_err(|_| {
            Error::new(format!("{self}: {wanted} replicas are more than Kubernetes stores, {}", i32::MAX))
        })
    }
}

impl fmt::Display for DirectEntry {
    /// The workload as messages show it: `default StatefulSet/db`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

impl<'a> Decided<'a> {
    fn preview(&self, position: usize, options: &Options) -> PodPreview<'a> {
        let OwnPod { entry, record } = self.pod;
        let mut details = Details::of(&record.pod, to_time(options.now));
        if let Some(phase) = entry.finished_phase {
            details.phase = phase.name();
        }
        PodPreview {
            name: &entry.name,
            uid: record.pod.uid.to_string(),
            node: record.node.as_deref(),
            rank: 0,
            position,
            verdict: self.verdict,
            rule: Some(self.rule),
            why: self.why.clone(),
            is_passing: false,
            contest: None,
            details,
        }
    }
}
