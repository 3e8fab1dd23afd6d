//! Who took a pod, and why that one: from pods as they are while they terminate, and from events.

use jiff::Timestamp;
use podrank_predict::{DeletionCause, Options, PodDeletion, Snapshot, explain_deletion};
use serde_json::{Value, json};

/// When pods were asked to go.
const ASKED: &str = "2026-03-10T12:00:00Z";

fn at(seconds: i64) -> String {
    let asked: Timestamp = ASKED.parse().expect("a time");
    Timestamp::from_second(asked.as_second() + seconds).expect("a time").to_string()
}

/// The rule by which Kubernetes took the pod.
fn rule(taken: &PodDeletion) -> Option<&str> {
    taken.reason.as_ref().map(|reason| &*reason.rule)
}

/// A pod of web-5d on a node, ready for an hour, if it is a, and the others for ten hours, a hundred and so on.
fn pod(name: char, node: &str) -> Value {
    let ready = -3600 * 10_i64.pow(u32::from(name) - u32::from('a'));
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": format!("web-5d-{name}"), "uid": format!("00000000-0000-0000-0000-00000000000{name}"),
            "labels": { "app": "web" }, "creationTimestamp": at(ready - 100),
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "set", "controller": true }],
        },
        "spec": { "nodeName": node },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": at(ready) }] },
    })
}

/// The same, asked to go then.
fn going(mut pod: Value, seconds: i64) -> Value {
    pod["metadata"]["deletionTimestamp"] = json!(at(seconds + 30));
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    pod
}

/// The same, which has not been ready since then.
fn unready(mut pod: Value, seconds: i64) -> Value {
    pod["status"]["conditions"][0] =
        json!({ "type": "Ready", "status": "False", "lastTransitionTime": at(seconds) });
    pod
}

fn set(replicas: u32, template: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "namespace": "shop", "name": "web-5d", "uid": "set", "generation": 2, "labels": { "app": "web" },
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web", "controller": true }],
        },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": { "spec": { "containers": [{ "name": template, "image": "x" }] } } },
        "status": { "replicas": replicas, "observedGeneration": 2 },
    })
}

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "namespace": "shop", "name": "web", "uid": "web",
            "managedFields": [{ "manager": "kubectl", "subresource": "scale", "fieldsV1": { "f:spec": { "f:replicas": {} } } }],
        },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": { "spec": { "containers": [{ "name": "new", "image": "x" }] } } },
    })
}

fn event(kind: &str, name: &str, reason: &str, message: &str, seconds: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "namespace": "shop", "name": "event" },
        "involvedObject": { "namespace": "shop", "kind": kind, "name": name },
        "reason": reason, "message": message, "lastTimestamp": at(seconds), "count": 1,
    })
}

fn deleted(pod: char) -> Value {
    event("ReplicaSet", "web-5d", "SuccessfulDelete", &format!("Deleted pod: web-5d-{pod}"), 0)
}

fn scaled(from: u32, to: u32, seconds: i64) -> Value {
    let message = format!("Scaled down replica set web-5d from {from} to {to}");
    event("Deployment", "web", "ScalingReplicaSet", &message, seconds)
}

fn ask(name: char, objects: &[Value]) -> PodDeletion {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    let input = Snapshot::read_part(list.as_bytes()).expect("an input").expect("an input");
    let now = at(20).parse().expect("a time");
    explain_deletion(&input, "shop", &format!("web-5d-{name}"), &Options::new(0, now))
}

/// Two of three pods on one node, of which one has been asked to go, and its Deployment.
fn three(of_a: Value) -> Vec<Value> {
    vec![of_a, pod('b', "n1"), pod('c', "n2"), set(2, "new"), deployment(2)]
}

fn with(mut objects: Vec<Value>, more: impl IntoIterator<Item = Value>) -> Vec<Value> {
    objects.extend(more);
    objects
}

#[test]
fn a_pod_that_is_named_is_taken_by_the_scale_down() {
    let objects = with(three(going(pod('a', "n1"), 0)), [deleted('a'), scaled(3, 2, 0)]);
    let taken = ask('a', &objects);
    assert_eq!(
        taken.to_string(),
        "pod/web-5d-a is being deleted, because rs/web-5d was scaled from 3 to 2 by kubectl.\n\
         Why this pod: 2 related pods on its node (web-5d-c: 1)."
    );
    assert_eq!(
        (taken.cause, rule(&taken), taken.is_probable),
        (Some(DeletionCause::ScaleDown), Some("rank"), false)
    );
    assert_eq!(taken.requested_at.map(|asked| asked.to_string()).as_deref(), Some(ASKED));
    // Kubernetes before 1.25 did not say from where.
    let old = event("Deployment", "web", "ScalingReplicaSet", "Scaled down replica set web-5d to 2", 0);
    let objects = with(three(going(pod('a', "n1"), 0)), [deleted('a'), old]);
    assert!(ask('a', &objects).to_string().contains("because rs/web-5d was scaled to 2 by kubectl"));
}

#[test]
fn an_autoscaler_and_its_reason_are_named() {
    let autoscaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "namespace": "shop", "name": "web" },
        "spec": { "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" }, "maxReplicas": 2 },
    });
    let rescaled = |name, seconds| {
        event(
            "HorizontalPodAutoscaler",
            name,
            "SuccessfulRescale",
            "New size: 2; reason: Current number of replicas above Spec.MaxReplicas",
            seconds,
        )
    };
    let because = |more: [Value; 2]| {
        let objects = with(three(going(pod('a', "n1"), 0)), [deleted('a'), scaled(3, 2, 0)]);
        ask('a', &with(objects, more)).event.expect("a reason")
    };
    let by_it =
        "rs/web-5d was scaled from 3 to 2 by hpa/web (Current number of replicas above Spec.MaxReplicas)";
    assert_eq!(because([autoscaler.clone(), rescaled("web", 0)]), by_it);
    // Another one, and a change long before.
    for other in [rescaled("api", 0), rescaled("web", -90)] {
        assert_eq!(because([autoscaler.clone(), other]), "rs/web-5d was scaled from 3 to 2 by kubectl");
    }
    // One of its name that scales something else.
    let mut of_api = autoscaler;
    of_api["spec"]["scaleTargetRef"]["name"] = json!("api");
    assert_eq!(because([of_api, rescaled("web", 0)]), "rs/web-5d was scaled from 3 to 2 by kubectl");
}

/// 20 seconds later, both are in one age bucket, which begins at 2^41 ns (2199 s), and the UID decides.
#[test]
fn ages_are_those_at_the_request() {
    let ready = |name, node, since: i64| {
        let mut pod = pod(name, node);
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(-since));
        pod
    };
    let pods = vec![going(ready('a', "n1", 2_190), 0), ready('b', "n2", 3_000)];
    let events = [set(1, "new"), deployment(1), deleted('a'), scaled(2, 1, 0)];
    assert_eq!(rule(&ask('a', &with(pods, events))), Some("ready-time"));
}

#[test]
fn readiness_is_that_before_the_request() {
    let why = |a: Value| {
        let objects = with(three(going(a, 0)), [deleted('a'), scaled(3, 2, 0)]);
        let taken = ask('a', &objects);
        (rule(&taken).map(str::to_owned), taken.reason_unknown.is_some())
    };
    let a = || pod('a', "n2");
    // On the node of one other pod: with c, two of three.
    assert_eq!(why(a()), (Some("rank".to_owned()), false));
    assert_eq!(why(unready(a(), -6)), (Some("not-ready".to_owned()), false));
    // Since then, its containers have stopped.
    assert_eq!(why(unready(a(), 6)), (Some("rank".to_owned()), false));
    for near in [-5, 0, 5] {
        assert_eq!(why(unready(a(), near)), (None, true), "{near} s");
    }
    // If readiness makes no difference, it need not be known.
    let mut pending = unready(pod('a', "n2"), 3);
    pending["status"]["phase"] = json!("Pending");
    assert_eq!(why(pending), (Some("phase".to_owned()), false));
    // How long it had been ready is lost.
    let alone = |turned| {
        let objects = [
            going(unready(pod('a', "n1"), turned), 0),
            pod('b', "n2"),
            set(1, "new"),
            deployment(1),
            deleted('a'),
            scaled(2, 1, 0),
        ];
        ask('a', &objects).reason_unknown.is_some()
    };
    assert!(alone(6) && !alone(-6));
}

#[test]
fn a_pod_that_has_ended_since_was_running() {
    let mut a = unready(pod('a', "n2"), 8);
    a["status"]["phase"] = json!("Failed");
    let taken = ask('a', &with(three(going(a, 0)), [deleted('a'), scaled(3, 2, 0)]));
    assert_eq!((rule(&taken), taken.reason_unknown), (Some("rank"), None));
}

#[test]
fn a_shortened_grace_period_hides_when_it_was_asked_to_go() {
    let mut a = going(pod('a', "n1"), 0);
    a["metadata"]["deletionGracePeriodSeconds"] = json!(5);
    let taken = ask('a', &with(three(a.clone()), [deleted('a'), scaled(3, 2, 0)]));
    assert_eq!((taken.requested_at, rule(&taken)), (None, None));
    assert!(taken.reason_unknown.is_some_and(|why| why.contains("grace period")));
    // Unless that is the pod's own.
    a["spec"]["terminationGracePeriodSeconds"] = json!(5);
    a["metadata"]["deletionTimestamp"] = json!(at(5));
    assert_eq!(rule(&ask('a', &with(three(a), [deleted('a'), scaled(3, 2, 0)]))), Some("rank"));
}

#[test]
fn pods_that_went_before_or_came_later_do_not_count() {
    // With b, a would have been one of two on its node.
    let before = [going(pod('a', "n1"), 0), going(pod('b', "n1"), -6), pod('c', "n2"), pod('d', "n2")];
    let after =
        [going(pod('a', "n1"), 0), going(pod('b', "n1"), 6), pod('c', "n2"), unready(pod('d', "n2"), -60)];
    let events = || [set(2, "new"), deployment(2), deleted('a'), scaled(3, 2, 0)];
    let first = ask('a', &with(before.to_vec(), events()));
    assert_eq!(rule(&first), None, "{first}");
    let mut later = after.to_vec();
    // It was created after the request, not ready yet.
    later[3]["metadata"]["creationTimestamp"] = json!(at(5));
    assert_eq!(rule(&ask('a', &with(later, events()))), Some("rank"));
}

#[test]
fn nobody_blames_the_scale_down_for_what_a_user_deleted() {
    // One pod had to go, and the event names another.
    let objects =
        [going(pod('a', "n1"), 0), going(pod('b', "n1"), 0), pod('c', "n2"), set(2, "new"), deployment(2)];
    let objects = with(objects.to_vec(), [deleted('b'), scaled(3, 2, 0)]);
    assert_eq!(ask('b', &objects).cause, Some(DeletionCause::ScaleDown));
    let users = ask('a', &objects);
    assert_eq!((users.cause, users.reason.clone()), (None, None));
    assert_eq!(
        users.to_string(),
        "pod/web-5d-a is being deleted, and no event reports a scale-down, a rollout, an eviction, a taint or a preemption that deleted it"
    );
    // Without a scale-down at all.
    assert_eq!(ask('a', &three(going(pod('a', "n1"), 0))).cause, None);
}

#[test]
fn what_no_event_names_is_probable_if_its_turn_had_come() {
    let two = |a: Value| {
        [
            a,
            going(pod('b', "n1"), 0),
            pod('c', "n2"),
            set(1, "new"),
            deployment(1),
            deleted('b'),
            scaled(3, 1, 0),
        ]
    };
    let taken = ask('a', &two(going(pod('a', "n1"), 0)));
    assert!(
        taken
            .to_string()
            .starts_with("pod/web-5d-a is being deleted, probably because rs/web-5d was scaled from 3 to 1"),
        "{taken}"
    );
    assert!(taken.is_probable);
    // It would have been the last to go.
    let mut last = two(going(pod('a', "n1"), 0));
    last[2] = unready(pod('c', "n2"), -60);
    last[0]["spec"]["nodeName"] = json!("n3");
    last[0]["status"]["conditions"][0]["lastTransitionTime"] = json!(at(-3_600_000));
    assert_eq!(ask('a', &last).cause, None);
}

#[test]
fn a_rollout_takes_old_pods() {
    let risen =
        event("Deployment", "web", "ScalingReplicaSet", "Scaled up replica set web-6f from 0 to 1", -5);
    let objects = [
        going(pod('a', "n1"), 0),
        pod('b', "n1"),
        pod('c', "n2"),
        set(2, "old"),
        deployment(3),
        deleted('a'),
        scaled(3, 2, 0),
    ];
    let taken = ask('a', &with(objects.to_vec(), [risen]));
    assert_eq!(taken.event.as_deref(), Some("the rollout of deploy/web scaled rs/web-5d from 3 to 2"));
    assert_eq!((taken.cause, rule(&taken)), (Some(DeletionCause::Rollout), Some("rank")));
    // The set was the only one when its count fell.
    assert_eq!(ask('a', &objects).cause, Some(DeletionCause::ScaleDown));
}

#[test]
fn disruptions_are_told_as_what_they_are() {
    for (reason, by) in [
        ("PreemptionByScheduler", DeletionCause::Preemption),
        ("DeletionByTaintManager", DeletionCause::Taint),
        ("DeletionByDeviceTaintManager", DeletionCause::Taint),
        ("EvictionByEvictionAPI", DeletionCause::Eviction),
        ("DeletionByPodGC", DeletionCause::Node),
        ("TerminationByKubelet", DeletionCause::Node),
    ] {
        let mut a = going(pod('a', "n1"), 0);
        let disrupted = json!({ "type": "DisruptionTarget", "status": "True", "reason": reason });
        a["status"]["conditions"].as_array_mut().expect("conditions").push(disrupted);
        let taken = ask('a', &with(three(a), [scaled(3, 2, 0)]));
        assert_eq!((taken.cause, taken.reason), (Some(by), None), "{reason}");
    }
    for (reason, message, by) in [
        ("Preempted", "Preempted by pod x on node n1", Some(DeletionCause::Preemption)),
        ("TaintManagerEviction", "Marking for deletion Pod shop/web-5d-a", Some(DeletionCause::Taint)),
        ("DeviceTaintManagerEviction", "Marking for deletion", Some(DeletionCause::Taint)),
        ("TaintManagerEviction", "Cancelling deletion of Pod shop/web-5d-a", None),
        ("Evicted", "The node was low on resource: memory.", Some(DeletionCause::Node)),
    ] {
        let told = event("Pod", "web-5d-a", reason, message, 0);
        assert_eq!(ask('a', &[told]).cause, by, "{message}");
    }
    let of_daemon_set = event("DaemonSet", "web-5d", "SuccessfulDelete", "Deleted pod: web-5d-a", 0);
    let taken = ask('a', &[of_daemon_set]);
    assert_eq!(
        taken.to_string(),
        "pod/web-5d-a was deleted, because the controller of DaemonSet web-5d decided so."
    );
}

#[test]
fn of_pods_that_are_gone_events_tell() {
    let there = || vec![pod('b', "n1"), pod('c', "n2"), set(2, "new"), deployment(2)];
    let named = ask('a', &with(there(), [deleted('a'), scaled(3, 2, 0)]));
    assert_eq!(
        named.to_string(),
        "pod/web-5d-a was deleted, because rs/web-5d was scaled from 3 to 2 by kubectl.\nWhy this pod: no longer known."
    );
    // The set is gone, too.
    assert_eq!(ask('a', &[deleted('a'), scaled(3, 2, 0)]).cause, Some(DeletionCause::ScaleDown));
    let unnamed = || with(there(), [deleted('d'), scaled(4, 2, 0)]);
    assert_eq!(ask('a', &unnamed()).cause, None, "nothing shows that there was such a pod");
    let lost = ask('a', &with(unnamed(), [event("Pod", "web-5d-a", "Scheduled", "to n1", -600)]));
    assert!(lost.is_probable && lost.cause == Some(DeletionCause::ScaleDown), "{lost}");
    // All are named, or two scale-downs have lost names.
    assert_eq!(ask('a', &with(there(), [deleted('d'), scaled(3, 2, 0)])).cause, None);
    assert_eq!(ask('a', &with(there(), [scaled(5, 4, -300), scaled(4, 2, 0)])).cause, None);
}

#[test]
fn podrank_webhook_knows_the_rule() {
    let there = || vec![pod('b', "n1"), pod('c', "n2"), set(2, "new"), deployment(2), scaled(4, 2, 0)];
    // The text says something else: nobody reads it.
    let record = |mode: &str, seconds| {
        let mut event = event(
            "ReplicaSet",
            "web-5d",
            "Any",
            "Scaling from 9 to 8: selected 1 pod: web-5d-z (UID)",
            seconds,
        );
        let uid = |pod| format!("00000000-0000-0000-0000-00000000000{pod}");
        let pods = json!([{ "uid": uid('a'), "rule": "first[0]" }, { "uid": uid('d'), "rule": "not-ready" }]);
        let selection = json!({ "v": 1, "mode": mode, "from": 4, "to": 2, "pods": pods });
        event["metadata"]["annotations"] = json!({ "podrank.dev/scale-down": selection.to_string() });
        event
    };
    let of_pod = |pod: char| {
        let mut event = event("Pod", &format!("web-5d-{pod}"), "Scheduled", "to n1", -600);
        event["involvedObject"]["uid"] = json!(format!("00000000-0000-0000-0000-00000000000{pod}"));
        event
    };
    let there = || with(there(), [of_pod('a'), of_pod('d')]);
    let steered = ask('a', &with(there(), [record("Steer", 0), deleted('a')]));
    assert_eq!(
        steered.to_string(),
        "pod/web-5d-a was deleted, because rs/web-5d was scaled from 4 to 2 by kubectl.\nWhy this pod: podrank-webhook selected it (first[0])."
    );
    let observed = ask('d', &with(there(), [record("Observe", 2), deleted('d')])).to_string();
    assert!(observed.ends_with("Why this pod: not-ready, as podrank-webhook observed."), "{observed}");
    // Without Deployments, podrank-webhook alone tells the replica counts.
    let alone = ask('a', &[of_pod('a'), set(2, "new"), record("Steer", 0), deleted('a')]).to_string();
    assert!(alone.contains("was scaled from 4 to 2"), "{alone}");
    // Nothing else is read: neither another version, nor what is no JSON, nor what has no annotation.
    for change in [
        |event: &mut Value| {
            let annotation = &mut event["metadata"]["annotations"]["podrank.dev/scale-down"];
            *annotation = json!(annotation.as_str().expect("text").replace("\"v\":1", "\"v\":2"));
        },
        |event: &mut Value| {
            event["metadata"]["annotations"] = json!({ "podrank.dev/scale-down": "from 4 to 2" });
        },
        |event: &mut Value| event["metadata"] = json!({ "name": "event", "annotations": 7 }),
    ] {
        let mut other = record("Steer", 0);
        change(&mut other);
        assert_eq!(ask('a', &with(there(), [other, deleted('a')])).selected_by, None);
    }
    // It names the pod if nothing else does, and another time is another scale-down.
    assert!(ask('a', &with(there(), [record("Steer", 0)])).is_probable);
    assert_eq!(ask('a', &with(there(), [record("Steer", -600), deleted('a')])).selected_by, None);
    // All that went are named, so a user deleted this one, although it was chosen.
    let users = ask('a', &with(there(), [record("Steer", 0), deleted('d'), deleted('e')]));
    assert_eq!(users.cause, None, "{users}");
    // Its mark on the pod says so as well.
    let mut a = going(pod('a', "n1"), 0);
    a["metadata"]["annotations"] = json!({
        "podrank.dev/steered": "00000000-0000-0000-0000-000000000001/2/00000000-0000-0000-0000-000000000002/first[0]",
        "controller.kubernetes.io/pod-deletion-cost": "-1",
    });
    let marked = ask('a', &with(there(), [a, deleted('a')]));
    assert_eq!(marked.selected_by.as_deref(), Some("first[0]"));
    assert_eq!(marked.reason.map(|reason| reason.text).as_deref(), Some("deletion cost -1 (web-5d-c: 0)"));
}
