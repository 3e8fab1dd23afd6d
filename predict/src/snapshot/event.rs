//! What Kubernetes and podrank-webhook reported of a pod, or of what deletes pods: an `Event`. Nothing in it makes an input unreadable.

use crate::snapshot::{Lenient, Time, nanos};
use podrank::Uid;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The reasons of the events that can say so: of a set and of another controller, of a Deployment, of an autoscaler, and of pods.
const REASONS: [&str; 7] = [
    "SuccessfulDelete",
    "ScalingReplicaSet",
    "SuccessfulRescale",
    "Preempted",
    "TaintManagerEviction",
    "DeviceTaintManagerEviction",
    "Evicted",
];

/// The beginning of the message of an event that stands for many: its text is that of the last of them.
const COMBINED: &str = "(combined from similar events): ";

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) namespace: String,
    /// Kind and name of the object that it is about.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// The UID of that object, if it is one.
    pub(crate) uid: Option<Uid>,
    /// Empty for one that only shows that there was such a pod, and for one of podrank-webhook.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// What podrank-webhook says in it of a scale-down.
    pub(crate) selection: Option<Selection>,
    /// When it last happened, in nanoseconds since the Unix epoch.
    pub(crate) at: i64,
    /// How many events it stands for whose messages it does not have, because there were too many of them.
    pub(crate) combined: u32,
}

/// The annotation `podrank.dev/scale-down`, which `docs/decisions.md` describes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Selection {
    v: u32,
    mode: String,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pods: Vec<Selected>,
}

#[derive(Clone, Debug, Deserialize)]
struct Selected {
    uid: String,
    rule: String,
}

impl Selection {
    /// Whether these are the pods that were deleted while podrank-webhook only observed, and not those that it selected.
    pub(crate) fn is_observed(&self) -> bool {
        self.mode == "Observe"
    }

    /// The rule by which a pod was selected or deleted.
    pub(crate) fn rule(&self, uid: Uid) -> Option<&str> {
        self.pods.iter().find(|pod| Uid::parse(&pod.uid) == Ok(uid)).map(|pod| &*pod.rule)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default)]
    metadata: Lenient<Metadata>,
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
    #[serde(default)]
    uid: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    annotations: HashMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    last_observed_time: Lenient<Time>,
}

impl Event {
    /// `None` if it is none, or says nothing of who deleted a pod, nor that there was one.
    pub(crate) fn read(object: &RawValue) -> Option<Self> {
        let event: Written = serde_json::from_str(object.get()).ok()?;
        let annotated =
            event.metadata.0.as_ref().and_then(|its| its.annotations.get("podrank.dev/scale-down"));
        let selection =
            annotated.and_then(|text| serde_json::from_str(text).ok()).filter(|its: &Selection| its.v == 1);
        let known = REASONS.iter().find(|reason| event.reason == **reason).copied();
        let reason =
            known.or_else(|| (event.involved_object.kind == "Pod" || selection.is_some()).then_some(""))?;
        let last = event.series.0.as_ref().and_then(|series| nanos(&series.last_observed_time));
        let at = last.or_else(|| nanos(&event.last_timestamp)).or_else(|| nanos(&event.time))?;
        let combined = event.message.strip_prefix(COMBINED);
        Some(Self {
            namespace: event.involved_object.namespace,
            kind: event.involved_object.kind,
            name: event.involved_object.name,
            uid: Uid::parse(&event.involved_object.uid).ok(),
            reason,
            selection,
            at,
            // The last of them is in the message.
            combined: combined.map_or(0, |_| event.count.0.unwrap_or(1).saturating_sub(1)),
            message: combined.unwrap_or(&event.message).to_owned(),
        })
    }
}
