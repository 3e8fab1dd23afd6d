//! The answer about one pod.

use crate::answer::Probability;
use crate::reason::{Reason, phase_name};
use crate::snapshot::Pod;
use crate::sync::Verdict;
use crate::text::age;
use jiff::Timestamp;
use podrank::{Flags, Time, Uid};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;

/// The verdict about one active pod, and its reason.
#[derive(Clone, Debug)]
pub struct PodAnswer<'a> {
    pub(crate) pod: &'a Pod,
    /// The number of active related pods on its node.
    pub rank: u32,
    /// Whether it goes.
    pub verdict: Verdict,
    /// How likely it goes, if it is contested and that is known.
    pub probability: Option<Probability>,
    /// Why.
    pub reason: Reason<'a>,
    /// Whether its `StatefulSet` creates it again after it has been deleted.
    pub is_replaced: bool,
    /// Whether podrank itself wrote its deletion cost, and nobody else. Only known if the input has the managers of its fields.
    pub is_own_cost: bool,
    /// The time from which ages count.
    pub(crate) now: Time,
}

/// What the rules read from a pod, besides its node, rank and UID. Ages are as `kubectl get` shows them, with a minus sign
/// for times after the decision. Unset times are `None`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// `Pending`, `Unknown` or `Running`.
    pub phase: &'static str,
    /// Whether it is ready.
    #[serde(rename = "ready")]
    pub is_ready: bool,
    /// When it became ready.
    pub ready_time: Option<Timestamp>,
    /// For how long it has been ready.
    pub ready_age: Option<String>,
    /// The most restarts of one of its containers.
    pub restarts: u32,
    /// The most restarts of one of its sidecars.
    pub sidecar_restarts: u32,
    /// Its deletion cost; 0 if it has no valid one.
    pub deletion_cost: i32,
    /// Whether podrank itself wrote that cost, and nobody else.
    #[serde(rename = "ownCost", skip_serializing_if = "std::ops::Not::not")]
    pub is_own_cost: bool,
    /// When it was created.
    pub creation_time: Option<Timestamp>,
    /// The time since its creation.
    pub age: Option<String>,
}

impl<'a> PodAnswer<'a> {
    pub(crate) fn new(pod: &'a Pod, verdict: Verdict, reason: Reason<'a>, now: Time) -> Self {
        let (probability, is_replaced, is_own_cost) = (None, false, false);
        Self { pod, rank: 0, verdict, probability, reason, is_replaced, is_own_cost, now }
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.pod.name()
    }

    /// Its UID.
    pub fn uid(&self) -> Uid {
        self.pod.uid()
    }

    /// Its node, if assigned.
    pub fn node(&self) -> Option<&'a str> {
        self.pod.node()
    }

    /// The pod that it waits for, which may not exist, and which can be itself.
    pub fn waits_for(&self) -> Option<Cow<'a, str>> {
        self.reason.waits_for().filter(|_| self.verdict == Verdict::Waiting)
    }

    /// Why, in a few words.
    pub fn short(&self) -> impl Display {
        match self.reason.chance().filter(|_| self.verdict == Verdict::Possible) {
            Some(chance) => chance.to_owned(),
            None => self.reason.short().to_string(),
        }
    }

    /// What else the rules read.
    pub fn details(&self) -> Details {
        let (pod, now) = (&self.pod.record, self.now);
        // A time that 64 bits cannot hold has no age.
        let timestamp = |time: Time| {
            age(now, time)?;
            Timestamp::from_nanosecond(time.unix_nanos()?.into()).ok()
        };
        let phase = || phase_name(pod.phase.ordinal().into());
        Details {
            phase: self.pod.finished_phase.map_or_else(phase, |phase| phase.name()),
            is_ready: pod.flags.contains(Flags::READY),
            ready_time: timestamp(pod.ready_time),
            ready_age: age(now, pod.ready_time),
            restarts: pod.restarts,
            sidecar_restarts: pod.sidecar_restarts,
            deletion_cost: pod.deletion_cost,
            is_own_cost: self.is_own_cost,
            creation_time: timestamp(pod.creation_time),
            age: age(now, pod.creation_time),
        }
    }

    /// How likely it goes, if that is known: 1 if it certainly does.
    pub(crate) fn chance(&self) -> Option<Probability> {
        match self.verdict {
            Verdict::Deleted => Some(Probability::new(1.0, 0.0)),
            Verdict::Possible => self.probability,
            Verdict::Waiting | Verdict::Kept => Some(Probability::new(0.0, 0.0)),
        }
    }
}
