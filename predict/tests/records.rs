//! Records of pods, as Kubernetes' objects.

use jiff::Timestamp;
use podrank::{Flags, Phase, Pod, Time};
use podrank_laws::objects;
use serde_json::{Value, json};

pub(crate) const NOW: i64 = 1_773_144_000; // 2026-03-10T12:00:00Z

/// So many seconds before now.
pub(crate) fn before(seconds: i64) -> Time {
    Time::from_unix(NOW - seconds, 0)
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(NOW).expect("a time")
}

/// As Kubernetes writes it.
pub(crate) fn timestamp(time: Time) -> String {
    Timestamp::from_nanosecond(time.unix_nanos().unwrap_or(0).into()).expect("a time").to_string()
}

/// A set `web` of a Deployment, and these pods of it. Without a Deployment, no ranks would be counted.
pub(crate) fn dump(pods: &[Pod]) -> String {
    let set = objects::with(objects::set("web"), "spec replicas", json!(pods.len()));
    let set = objects::with(set, "status replicas", json!(pods.len()));
    objects::dump(&(0..).zip(pods).map(|(number, pod)| object(number, pod)).chain([set]).collect::<Vec<_>>())
}

/// The pod with this number in its name. The record says whether it is on its node.
pub(crate) fn object(number: u32, pod: &Pod) -> Value {
    let is = |flag| pod.flags.contains(flag);
    let node = is(Flags::ASSIGNED).then(|| pod.node.to_string());
    let mut object = objects::pod(number);
    for (place, value) in [
        ("metadata uid", json!(pod.uid.to_string())),
        ("metadata creationTimestamp", json!(timestamp(pod.creation_time))),
        (
            "metadata annotations",
            json!({ "controller.kubernetes.io/pod-deletion-cost": pod.deletion_cost.to_string() }),
        ),
        ("spec nodeName", json!(node)),
        ("status phase", json!(if pod.phase == Phase::PENDING { "Pending" } else { "Running" })),
        ("status conditions", objects::ready(is(Flags::READY), &timestamp(pod.ready_time))),
        ("status containerStatuses", json!([{ "name": "web", "restartCount": pod.restarts }])),
    ] {
        objects::put(&mut object, place, value);
    }
    object
}
