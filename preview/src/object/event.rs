//! What Kubernetes and podrank-webhook reported of a pod, or of what deletes pods: an `Event`. Reads one object's JSON text. Nothing in it makes an input unreadable.

use crate::object::time::{Lenient, Time, nanos};
use crate::words::error::parse;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The reasons of the events that can say so: of a set and of another controller, of a Deployment, of an autoscaler, of podrank-webhook, and of pods.
const REASONS: [&str; 10] = [
    "SuccessfulDelete",
    "ScalingReplicaSet",
    "SuccessfulRescale",
    "Steered",
    "Unconfirmed",
    "Observed",
    "PredictedWrongly",
    "Preempted",
    "TaintManagerEviction",
    "Evicted",
];

/// The beginning of the message of an event that stands for many: its text is that of the last of them.
const COMBINED: &str = "(combined from similar events): ";

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct EventEntry {
    pub(crate) namespace: String,
    /// Kind and name of the object that it is about.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Empty for one that only shows that there was such a pod.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// When it last happened, in nanoseconds since the Unix epoch.
    pub(crate) at: i64,
    /// How many events it stands for whose messages it does not have, because there were too many of them.
    pub(crate) combined: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    kind: Option<String>,
    involved_object: Involved,
    reason: String,
    message: String,
    #[serde(default)]
    last_timestamp: Lenient<Time>,
    #[serde(default, rename = "eventTime")]
    time: Lenient<Time>,
    #[serde(default)]
    count: Lenient<u32>,
    #[serde(default)]
    series: Lenient<Series>,
}

#[derive(Deserialize)]
struct Involved {
    #[serde(default)]
    namespace: String,
    kind: String,
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    last_observed_time: Lenient<Time>,
}

impl EventEntry {
    /// `None` if it is none, or says nothing of who deleted a pod, nor that there was one.
    pub(crate) fn read(object: &RawValue) -> Option<Self> {
        let event: Event = parse(object).ok()?;
        let known = REASONS.iter().find(|reason| event.reason == **reason).copied();
        let reason = known.or_else(|| (event.involved_object.kind == "Pod").then_some(""))?;
        let last = event.series.0.as_ref().and_then(|series| nanos(&series.last_observed_time));
        let at = last.or_else(|| nanos(&event.last_timestamp)).or_else(|| nanos(&event.time))?;
        let combined = event.message.strip_prefix(COMBINED);
        event.kind.is_none_or(|kind| kind == "Event").then(|| Self {
            namespace: event.involved_object.namespace,
            kind: event.involved_object.kind,
            name: event.involved_object.name,
            reason,
            at,
            // The last of them is in the message.
            combined: combined.map_or(0, |_| event.count.0.unwrap_or(1).saturating_sub(1)),
            message: combined.unwrap_or(&event.message).to_owned(),
        })
    }

    /// Whether podrank-webhook says in it which pods it wants to go.
    pub(crate) fn is_choice(&self) -> bool {
        ["Steered", "Unconfirmed"].contains(&self.reason)
    }

    /// Whether podrank-webhook says in it which pods went in a scale-down that it only watched.
    pub(crate) fn is_observation(&self) -> bool {
        ["Observed", "PredictedWrongly"].contains(&self.reason)
    }

    /// Whether it is about this object.
    pub(crate) fn is_about(&self, namespace: &str, kind: &str, name: &str) -> bool {
        self.namespace == namespace && self.kind == kind && self.name == name
    }
}
