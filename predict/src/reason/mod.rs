//! Why a pod is deleted, kept or waits, and why a set gets its size: as data. Of each kind of reason, a file has what it reads, its rule,
//! a few words and a sentence. Nothing reads these words again: a sentence can only be shown.

pub(crate) mod chance;
mod comparison;
mod daemon_set;
mod job;
mod size;
mod stateful_set;

pub(crate) use chance::{Cause, Chance};
pub(crate) use comparison::{Comparison, RankedPod, Value, phase_name};
pub(crate) use daemon_set::DaemonSetReason;
pub(crate) use job::{ByPolicy, FailedBy, JobPodReason, duration};
pub(crate) use size::SetSize;
pub(crate) use stateful_set::StatefulSetReason;

use crate::snapshot::WorkloadKind;
use podrank::Uid;
use std::borrow::Cow;
use std::fmt::Display;

/// The word in place of a rule if none decides.
pub(crate) const BY_CHANCE: &str = "by-chance";

/// Why a pod is deleted, kept or waits.
#[derive(Clone, Debug)]
pub enum Reason<'a> {
    /// A rule separates it from another pod.
    Compared(Comparison<'a>),
    /// All pods of its set are deleted.
    AllDeleted,
    /// No pod of its set is deleted.
    NoneDeleted,
    /// Its set has no other pod.
    OnlyPod,
    /// The rules leave it open.
    Open(Chance),
    /// It is deleted once enough new pods are available.
    AfterNewPods,
    /// No count changes what becomes of it.
    AnyCount(AnyCount),
    /// Its `StatefulSet` decides.
    StatefulSet(StatefulSetReason<'a>),
    /// Its `DaemonSet` decides.
    DaemonSet(DaemonSetReason<'a>),
    /// Its Job decides.
    Job(JobPodReason<'a>),
}

/// Why no count changes what becomes of the pods of a workload.
#[derive(Clone, Debug)]
pub enum AnyCount {
    /// This object is being deleted in the foreground.
    Foreground(String),
    /// Its controller does nothing: the rule, and what the workload is or has.
    Idle(&'static str, WorkloadKind, String),
}

impl AnyCount {
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Foreground(object) => {
                format!(
                    "{object} is being deleted in the foreground, so the garbage collector deletes its pods"
                )
            }
            Self::Idle(_, kind, idle) => {
                format!("the {kind} {idle}, so kube-controller-manager deletes none of its pods")
            }
        }
    }
}

impl<'a> Reason<'a> {
    /// The rule that decides, as a word that does not change. `None` if none does.
    pub fn rule(&self) -> Option<&'static str> {
        match self {
            Self::Compared(comparison) => Some(comparison.rule.name()),
            Self::AnyCount(AnyCount::Foreground(_)) => Some("foreground-deletion"),
            Self::AnyCount(AnyCount::Idle(rule, ..)) => Some(rule),
            Self::StatefulSet(reason) => Some(reason.outcome.reason.name()),
            Self::DaemonSet(reason) => Some(reason.outcome.reason.name()),
            Self::Job(reason) => Some(reason.reason.name()),
            _ => None,
        }
    }

    /// The word in JSON: the rule that decides, or what decides in its place.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::AllDeleted => "all-deleted",
            Self::NoneDeleted => "none-deleted",
            Self::OnlyPod => "only-pod",
            Self::AfterNewPods => "after-new-pods",
            _ => self.rule().unwrap_or(BY_CHANCE),
        }
    }

    /// Why chance decides, if it does and that is data.
    pub(crate) fn by_chance(&self) -> Option<Chance> {
        match self {
            Self::Open(chance) => Some(*chance),
            Self::DaemonSet(reason) => reason.chance,
            Self::Job(reason) => reason.chance,
            _ => None,
        }
    }

    /// Why chance decides, in a few words, if it does.
    pub fn chance(&self) -> Option<&'static str> {
        match self {
            Self::StatefulSet(reason) => reason.chance(),
            _ => self.by_chance().map(Chance::short),
        }
    }

    /// A few words, whatever chance decides.
    pub fn short(&self) -> impl Display {
        match self {
            Self::Compared(comparison) => comparison.short(),
            Self::Open(chance) => chance.short().to_owned(),
            Self::AfterNewPods => AFTER_ROLLOUT.to_owned(),
            Self::AnyCount(AnyCount::Foreground(_)) => "foreground deletion".to_owned(),
            Self::AnyCount(AnyCount::Idle(_, kind, idle)) => format!("the {kind} {idle}"),
            Self::AllDeleted | Self::NoneDeleted | Self::OnlyPod => self.sentence().to_string(),
            Self::StatefulSet(reason) => reason.short(),
            Self::DaemonSet(reason) => reason.short(),
            Self::Job(reason) => reason.short(),
        }
    }

    /// A sentence with the values that decide.
    pub fn sentence(&self) -> impl Display {
        match self {
            Self::Compared(comparison) => comparison.sentence(),
            Self::AllDeleted => "all pods of its set are deleted".to_owned(),
            Self::NoneDeleted => "no pod of its set is deleted".to_owned(),
            Self::OnlyPod => "it is the only pod".to_owned(),
            Self::Open(chance) => chance.sentence(),
            Self::AfterNewPods => "old pods are deleted once enough new ones are available".to_owned(),
            Self::AnyCount(reason) => reason.sentence(),
            Self::StatefulSet(reason) => reason.sentence(),
            Self::DaemonSet(reason) => reason.sentence(),
            Self::Job(reason) => reason.sentence(),
        }
    }

    /// Whether the update strategy of its `StatefulSet` keeps it when the pod template changes.
    pub fn outlasts_template(&self) -> bool {
        matches!(self, Self::StatefulSet(reason) if reason.outlasts_template())
    }

    /// Whether its workload waits for a pod that never becomes ready.
    pub fn is_stuck(&self) -> bool {
        matches!(self, Self::StatefulSet(reason) if reason.is_stuck())
    }

    /// The UID of the pod that it is compared with.
    pub fn other(&self) -> Option<Uid> {
        let Self::Compared(comparison) = self else { return None };
        comparison.other.map(|other| other.pod.uid())
    }

    /// The pod that it waits for, which may not exist, and which can be itself.
    pub fn waits_for(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::StatefulSet(reason) => reason.waits_for(),
            Self::DaemonSet(reason) => reason.waits_for.map(|pod| pod.name().into()),
            _ => None,
        }
    }
}

const AFTER_ROLLOUT: &str = "waits for new pods";

/// That a pod waits for another, or for itself.
pub fn waiting(pod: &str, waits_for: &str) -> String {
    if waits_for == pod { "waits until it is ready".to_owned() } else { format!("waits for {waits_for}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Pod, StatefulSet};
    use crate::sync::daemon_set::DaemonReason;
    use crate::sync::job::{Completion, JobReason, JobState};
    use crate::sync::stateful_set::{By, MemberOutcome, MemberReason, StatefulSetState, Update};
    use crate::sync::{IntOrPercent, PodOutcome, Verdict};
    use podrank::Time;
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// Words that no reason of the kind has, because only other kinds have what they name.
    const FOREIGN: [(&str, &str); 3] = [
        ("DaemonSet", "parallelism completion index ordinal partition replica Job StatefulSet ReplicaSet"),
        ("StatefulSet", "parallelism completion node Job DaemonSet ReplicaSet"),
        ("Job", "node ordinal partition replica revision DaemonSet StatefulSet ReplicaSet"),
    ];

    const VERDICTS: [Verdict; 4] = [Verdict::Deleted, Verdict::Possible, Verdict::Waiting, Verdict::Kept];

    fn read<T: for<'a> Deserialize<'a>>(object: &Value) -> T {
        serde_json::from_str(&object.to_string()).expect("an object")
    }

    fn pod(name: &str) -> Pod {
        read(
            &json!({ "metadata": { "name": name, "uid": "6ce0ecd1-7893-41ef-a89c-b85497ef08f0" }, "spec": {} }),
        )
    }

    fn of_daemon_sets(check: &mut impl FnMut(&str, &Reason<'_>)) {
        let (own, other) = (pod("agent-a"), pod("agent-b"));
        for (reason, verdict) in
            DaemonReason::ALL.iter().flat_map(|it| VERDICTS.map(|verdict| (*it, verdict)))
        {
            for waits_for in [None, Some(&other)] {
                check(
                    "DaemonSet",
                    &Reason::DaemonSet(DaemonSetReason {
                        outcome: PodOutcome { verdict, reason, group: 0, quota: 1 },
                        pod: &own,
                        node: Some("worker-1"),
                        unfit: None,
                        waits_for,
                        is_updated: Some(false),
                        budget: (1, 1),
                        available: (1, 1),
                        chance: None,
                        min_ready_seconds: 0,
                        now: Time::from_unix_nanos(0),
                    }),
                );
            }
        }
    }

    fn of_stateful_sets(check: &mut impl FnMut(&str, &Reason<'_>)) {
        let (own, other) = (pod("db-1"), pod("db-0"));
        let spec: StatefulSet = read(&json!({ "metadata": { "name": "db" }, "spec": { "replicas": 1 } }));
        let update = Update::RollingUpdate { partition: 2, max_unavailable: IntOrPercent::Int(1) };
        let set = StatefulSetState { update, ..spec.record };
        for (reason, verdict) in
            MemberReason::ALL.iter().flat_map(|it| VERDICTS.map(|verdict| (*it, verdict)))
        {
            for by in [None, Some(&other)] {
                let member = by.map(|_| 0);
                check(
                    "StatefulSet",
                    &Reason::StatefulSet(StatefulSetReason {
                        outcome: MemberOutcome {
                            member: 1,
                            verdict,
                            reason,
                            by: Some(By { member, ordinal: 0 }),
                        },
                        pod: &own,
                        ordinal: 1,
                        by,
                        spec: &spec,
                        set,
                        now: Time::from_unix_nanos(0),
                        lacks_pods: by.is_none(),
                    }),
                );
            }
        }
    }

    fn of_jobs(check: &mut impl FnMut(&str, &Reason<'_>)) {
        for (reason, number) in JobReason::ALL.iter().flat_map(|it| [1, 2].map(|number| (*it, number))) {
            let job = JobState {
                completion: Completion::Indexed(number),
                failed: number,
                restarts: number,
                failed_indexes: number,
                succeeded: number,
                active_deadline_seconds: Some(number.into()),
                ..JobState::default()
            };
            check(
                "Job",
                &Reason::Job(JobPodReason {
                    reason,
                    job,
                    now: Time::from_unix_nanos(60_000_000_000),
                    by_policy: Some(ByPolicy::Succeeded { indexes: 1, rule: 0 }),
                    condition: None,
                    index: 3,
                    of_index: 2,
                    active: 1,
                    desired: 1,
                    kept: 1,
                    chance: None,
                    is_sorted: false,
                }),
            );
        }
    }

    #[test]
    fn every_reason_of_every_kind_has_words_of_its_own() {
        let (mut wrong, mut texts) = (Vec::new(), 0);
        let mut check = |kind: &str, reason: &Reason<'_>| {
            let (_, foreign) = FOREIGN.iter().find(|(its, _)| *its == kind).expect("a kind");
            let rule = reason.rule().unwrap_or_default();
            for text in [reason.short().to_string(), reason.sentence().to_string()] {
                let is_rule = rule.contains('-') && text.replace(' ', "-") == rule;
                let is_foreign = foreign.split(' ').any(|word| text.contains(word));
                let is_plural = ["pods", "nodes", "restarts", "failures", "indexes"]
                    .iter()
                    .any(|word| has_words(&text, "1", word));
                let is_none = ["restarts", "of the 1"].iter().any(|word| has_words(&text, "0", word));
                if text.is_empty() || is_rule || is_foreign || is_plural || is_none {
                    wrong.push(format!("{kind} {rule}: {text}"));
                }
                texts += 1;
            }
        };
        of_daemon_sets(&mut check);
        of_stateful_sets(&mut check);
        of_jobs(&mut check);
        assert!(texts > 500, "only {texts} texts");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Whether a number stands alone before a word.
    fn has_words(text: &str, number: &str, word: &str) -> bool {
        format!(" {text}").contains(&format!(" {number} {word}"))
    }

    #[test]
    fn no_sentence_about_sets_names_another_kind_of_set() {
        for reason in [Reason::AllDeleted, Reason::NoneDeleted, Reason::OnlyPod] {
            let texts = [reason.short().to_string(), reason.sentence().to_string()];
            assert!(!texts.concat().contains("ReplicaSet"), "{texts:?}");
        }
        for kind in WorkloadKind::ALL {
            let reason =
                Reason::AnyCount(AnyCount::Idle("does-nothing", kind, "is being deleted".to_owned()));
            let texts = [reason.short().to_string(), reason.sentence().to_string()];
            assert!(texts.iter().all(|text| text.starts_with(&format!("the {kind} is"))), "{texts:?}");
        }
    }
}
