//! Explains who deleted a pod, by events, and why that one, by a decision over the pods before. Reads only the input.

use crate::answer::{DeletionCause, PodDeletion, Verdict};
use crate::decide::{SECOND, ScaleDown, ScaleEvents, Scene, causes, disruption};
use crate::question::Options;
use crate::reason::BY_CHANCE;
use crate::snapshot::{
    CostOwner, CountWriter, Deployment, Event, Pod, ReplicaSet, Selection, Sets, Snapshot, Termination,
    Workload, WorkloadKind, WorkloadRef,
};
use crate::text::{self, API_VERSION, TextReason};
use jiff::Timestamp;
use podrank::{Flags, Phase, Time, Uid};
use std::collections::{HashMap, HashSet};

/// By how much two clocks that write whole seconds may differ, and within what time the pods of one scale-down are asked to go.
const CLOCKS: i64 = 5 * SECOND;
/// How much earlier or later podrank-webhook may report a deletion.
const RECENT: i64 = 60 * SECOND;

/// Says who took a pod that is being deleted or is not there, and why that one.
pub fn explain_deletion(input: &Snapshot, namespace: &str, pod: &str, options: &Options) -> PodDeletion {
    let mut named = input.pods.iter().filter(|its| its.meta.namespace == namespace && its.meta.name == pod);
    let deleted = named.find(|its| its.is_terminating());
    let going = deleted.and_then(|deleted| deleted.termination.as_deref());
    let sets = Sets::of(input);
    // Kubernetes makes a pod's name of that of its set, and five characters.
    let by_name = || pod.rsplit_once('-').map_or(pod, |(set, _)| set);
    let owner = deleted.and_then(|deleted| deleted.meta.controller.as_ref());
    let set = owner.map_or_else(by_name, |owner| &owner.name);
    let of_name = || input.sets.iter().find(|its| its.meta.namespace == namespace && its.id().name == set);
    let entry = deleted.and_then(|deleted| sets.get(sets.owner(deleted)?)).or_else(of_name);
    let reports = ScaleEvents::of(input, namespace, set);
    let case = Case { input, namespace, pod, set, entry, deleted, going, reports };
    let before = case.before(options);
    let who = case.who(before.as_ref());
    let is_by_count =
        who.as_ref().is_some_and(|who| matches!(who.by, DeletionCause::ScaleDown | DeletionCause::Rollout));
    let because = |rule: &'static str, text| Some(TextReason { rule: rule.into(), text });
    let (reason, unknown) = match before {
        _ if !is_by_count => (None, None),
        Some(Ok(PastDecision { why, verdict: Verdict::Possible, .. })) => {
            let why = format!("{why}, unless deletion costs decided that have been removed since");
            (because(BY_CHANCE, why), None)
        }
        Some(Ok(PastDecision { rule, why, verdict })) if verdict != Verdict::Kept => {
            (because(rule, why), None)
        }
        Some(Ok(_)) => {
            (None, Some("not known, because by its rules Kubernetes would have deleted another pod"))
        }
        Some(Err(why)) => (None, Some(why)),
        None if going.is_some() => (None, Some("not known")),
        None => (None, Some("no longer known")),
    };
    let recorded = case.recorded().filter(|_| is_by_count);
    let observed = recorded.filter(|(_, its, _)| its.is_observed()).map(|(.., rule)| TextReason {
        rule: rule.to_owned().into(),
        text: format!("{}, as podrank-webhook observed", text::word(rule)),
    });
    let reason = reason.or(observed);
    let chosen = recorded.filter(|(_, its, _)| !its.is_observed()).map(|(.., rule)| rule.to_owned());
    let steered = going.filter(|_| is_by_count).and_then(|going| going.steered.clone());
    PodDeletion {
        api_version: API_VERSION,
        kind: "PodDeletion",
        namespace: namespace.to_owned(),
        pod: pod.to_owned(),
        is_terminating: going.is_some(),
        requested_at: case.requested_at().and_then(|asked| Timestamp::from_nanosecond(asked.into()).ok()),
        cause: who.as_ref().map(|who| who.by),
        is_probable: who.as_ref().is_some_and(|who| !who.is_named),
        event: who.map(|who| who.because),
        reason_unknown: unknown.filter(|_| reason.is_none()),
        reason,
        selected_by: chosen.or(steered),
    }
}

/// Who took a pod.
struct Who {
    by: DeletionCause,
    because: String,
    /// Whether something names the pod.
    is_named: bool,
}

/// A deleted pod, its set, and their events.
struct Case<'a> {
    input: &'a Snapshot,
    namespace: &'a str,
    pod: &'a str,
    /// The name of its set, or of what else controls it.
    set: &'a str,
    /// The set, if it is still there.
    entry: Option<&'a ReplicaSet>,
    /// The pod, if it is still there.
    deleted: Option<&'a Pod>,
    going: Option<&'a Termination>,
    reports: ScaleEvents<'a>,
}

impl<'a> Case<'a> {
    /// When the pod was asked to go, if it is still there and that is known.
    fn requested_at(&self) -> Option<i64> {
        self.going?.requested_at
    }

    /// What podrank-webhook reported of it when it was deleted: when, what, and the rule for this pod.
    fn recorded(&self) -> Option<(i64, &'a Selection, &'a str)> {
        let uid = self.deleted.map(|pod| pod.record.uid);
        let recorded = self.reports.recorded(uid.or_else(|| self.reports.uid(self.pod))?)?;
        let went =
            self.requested_at().or_else(|| Some(self.reports.deleted(self.pod)?.at)).unwrap_or(recorded.0);
        ((went - recorded.0).abs() <= RECENT).then_some(recorded)
    }

    /// Decides over the pods as they were when the pod was asked to go. Those that were asked to go together with it go. `None` if the
    /// pod or its set is not there any more, or if the set has no such pod then.
    fn before(&self, options: &Options) -> Option<Before> {
        let (pod, going, set) = (self.deleted?, self.going?, self.entry?);
        let shortened =
            "not known, because its grace period was shortened, so it may have been deleted twice";
        let Some(asked) = going.requested_at else { return Some(Err(shortened)) };
        let options = Options { now: Timestamp::from_nanosecond(asked.into()).ok()?, ..options.clone() };
        let (mut then, together) = as_it_was(self.input, asked);
        let mut decisions =
            states(pod.record, going.ready_since, asked).into_iter().map(|(flags, ready_time)| {
                let mut its = then.pods.iter_mut().filter(|its| its.meta.namespace == pod.meta.namespace);
                let record = &mut its.find(|its| its.meta.name == pod.meta.name)?.record;
                (record.flags, record.ready_time) = (flags, ready_time);
                decide(&then, set.id(), pod, &together, &options)
            });
        let first = decisions.next()??;
        let is_sure = decisions.all(|other| {
            let is_same = |other: PastDecision| other.verdict == first.verdict && other.rule == first.rule;
            // The ready time of an unknown pod is made up, so the answer must not show it.
            other.is_some_and(is_same) && first.rule != podrank::Rule::ReadyTime.name()
        });
        let unsure = "not known, because its readiness changed when it was deleted or since, and that may have decided";
        Some(if is_sure { Ok(first) } else { Err(unsure) })
    }

    fn who(&self, before: Option<&Before>) -> Option<Who> {
        let told = self.going.and_then(|going| disruption(going.disrupted.as_deref()?));
        if let Some((by, because)) = told.or_else(|| self.reports.disruption(self.pod)) {
            return Some(Who { by, because: because.to_owned(), is_named: true });
        }
        let asked = self.requested_at();
        let is_then = |event: &&Event| asked.is_none_or(|asked| event.at >= asked - CLOCKS);
        if let Some(event) = self.reports.deleted(self.pod).filter(is_then) {
            if ["ReplicaSet", "ReplicationController"].contains(&&*event.kind) {
                return Some(self.by_count(event.at, true));
            }
            let because = format!("the controller of {} {} decided so", event.kind, text::name(&event.name));
            return Some(Who { by: DeletionCause::Controller, because, is_named: true });
        }
        if self.going.is_none() {
            let recorded = self.recorded().map(|(at, ..)| at);
            let recorded = recorded.filter(|at| self.reports.has_unnamed(*at, RECENT));
            // A name that nothing knows may be mistyped.
            let is_known = || self.reports.about(self.pod).next().is_some();
            let unnamed = || self.reports.only_fall_with_unnamed().filter(|_| is_known());
            let at = recorded.or_else(unnamed)?;
            return self.reports.fall(at).map(|_| self.by_count(at, false));
        }
        let asked = asked?;
        let fits = before?.as_ref().is_ok_and(|decided| decided.verdict != Verdict::Kept);
        (fits && self.reports.has_unnamed(asked, CLOCKS)).then(|| self.by_count(asked, false))
    }

    /// The count of the pod's set fell then.
    fn by_count(&self, at: i64, is_named: bool) -> Who {
        let kind = self.entry.map_or(WorkloadKind::ReplicaSet, |set| set.kind);
        let set = format!("{}/{}", kind.short(), text::name(self.set));
        let fall = self.reports.fall(at);
        let scaled = match fall {
            Some(ScaleDown { from: Some(from), to, .. }) => format!("from {from} to {to}"),
            Some(ScaleDown { to, .. }) => format!("to {to}"),
            None => "down".to_owned(),
        };
        let (by_autoscaler, writer) = (self.autoscaler(at), self.writer(at));
        let is_scaled = by_autoscaler.is_some() || writer.is_some_and(|writer| writer.at.is_none());
        if let Some(deployment) = fall.and_then(|fall| fall.deployment)
            && !is_scaled
            && self.is_of_rollout(deployment, at)
        {
            let because = format!("the rollout of deploy/{} scaled {set} {scaled}", text::name(deployment));
            return Who { by: DeletionCause::Rollout, because, is_named };
        }
        let by = by_autoscaler.or_else(|| writer.map(|writer| text::name(&writer.name).into_owned()));
        let by = by.map_or_else(String::new, |by| format!(" by {by}"));
        let cost = self.deleted.and_then(|pod| pod.cost.as_ref());
        let is_own = cost.is_some_and(|cost| cost.owner(None) == CostOwner::Podrank);
        let podrank = if is_own { ", and kubectl podrank selected the pods" } else { "" };
        Who {
            by: DeletionCause::ScaleDown,
            because: format!("{set} was scaled {scaled}{by}{podrank}"),
            is_named,
        }
    }

    /// The autoscaler that set the count then, with its reason.
    fn autoscaler(&self, at: i64) -> Option<String> {
        let deployment = self.reports.fall(at).and_then(|fall| fall.deployment);
        let is_its = |name: &str| {
            self.input.autoscalers.iter().any(|its| {
                let targets = || {
                    deployment.is_some_and(|name| its.targets("Deployment", name))
                        || its.targets("ReplicaSet", self.set)
                        || its.targets("ReplicationController", self.set)
                };
                its.meta.namespace == self.namespace && its.meta.name == name && targets()
            })
        };
        let (name, reason) = self.reports.rescaled(at, is_its)?;
        Some(format!("hpa/{} ({})", text::name(name), text::name(reason)))
    }

    /// Who wrote the count that was lowered then, if it is still that one.
    fn writer(&self, at: i64) -> Option<&'a CountWriter> {
        let fall = self.reports.fall(at);
        let deployment = fall.and_then(|fall| self.deployment(fall.deployment?)).map(Workload::Deployment);
        let (count, managers) = deployment.or(self.entry.map(Workload::ReplicaSet))?.replicas()?;
        let is_its = fall.is_none_or(|fall| fall.to == count.unsigned_abs());
        let is_then = |written| causes(at).contains(&written);
        managers.writer.as_ref().filter(|writer| is_its && writer.at.is_none_or(is_then))
    }

    fn deployment(&self, name: &str) -> Option<&'a Deployment> {
        let mut deployments = self.input.deployments.iter();
        deployments.find(|its| its.meta.namespace == self.namespace && its.meta.name == name)
    }

    /// Whether the set was not its Deployment's newest then.
    fn is_of_rollout(&self, deployment: &str, at: i64) -> bool {
        let both = self.entry.zip(self.deployment(deployment));
        let is_newest = both.is_some_and(|(set, its)| set.template.fingerprint == its.template);
        !is_newest && self.reports.has_other_risen(at)
    }
}

/// The decision that deleted a pod, or why it cannot be reconstructed.
type Before = Result<PastDecision, &'static str>;

struct PastDecision {
    verdict: Verdict,
    rule: &'static str,
    why: String,
}

/// The readiness that the pod may have had when it was asked to go: whether it was ready, and since when. If it may be that which it has, that is
/// the first.
fn states(pod: podrank::Pod, turned: Option<i64>, asked: i64) -> Vec<(Flags, Time)> {
    let present = (pod.flags, pod.ready_time);
    let Some(turned) = turned.filter(|turned| *turned >= asked - CLOCKS) else { return vec![present] };
    let mut states = if turned > asked + CLOCKS { Vec::new() } else { vec![present] };
    if pod.flags.contains(Flags::READY) {
        states.push((pod.flags.with(Flags::READY, false), Time::UNSET));
    } else {
        // For as long as it may have been.
        let since = [pod.creation_time, Time::from_unix_nanos(asked)];
        states.extend(since.map(|since| (pod.flags.with(Flags::READY, true), since)));
    }
    states
}

/// The input as it was then, with the pods that were there, and those of them that were asked to go together.
fn as_it_was(input: &Snapshot, asked: i64) -> (Snapshot, HashSet<Uid>) {
    let (mut then, mut together) = (input.clone(), HashSet::new());
    then.pods.retain_mut(|pod| {
        let its = pod.termination.as_ref().and_then(|termination| termination.requested_at);
        if let Some(its) = its.filter(|its| *its >= asked - CLOCKS) {
            together.extend((its <= asked + CLOCKS).then_some(pod.record.uid));
            pod.termination = None;
            // If it has ended, that was after the request: otherwise, it would not have counted any more.
            if pod.finished_phase.take().is_some() {
                pod.record.phase = Phase::RUNNING;
            }
        }
        pod.record.creation_time.unix_nanos().is_none_or(|created| created <= asked + SECOND)
    });
    (then, together)
}

/// Decides about a pod in such an input.
fn decide(
    then: &Snapshot,
    set: WorkloadRef<'_>,
    entry: &Pod,
    together: &HashSet<Uid>,
    options: &Options,
) -> Option<PastDecision> {
    let sets = Sets::of(then);
    let scene = Scene::read(&sets, set).ok()?;
    let stay = scene.own.iter().filter(|its| !together.contains(&its.record.uid)).count();
    let pods = scene.rank(u32::try_from(stay).ok()?, options).answers(&HashMap::new());
    let its = pods.into_iter().find(|pod| pod.name() == entry.meta.name)?;
    let (rule, why) = (its.reason.name(), its.reason.sentence().to_string());
    Some(PastDecision { verdict: its.verdict, rule, why })
}
