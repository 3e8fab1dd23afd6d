//! Whose pods are: the workload to scale so that they go, or why none can be.

use crate::steer::dump::{around, input, pod, set};
use podrank_laws::objects;
use podrank_predict::plan::{one_workload, sets_of_pods};
use serde_json::{Value, json};

fn owned_by(letter: char, api_version: &str, kind: &str, name: &str) -> Value {
    let owner = objects::owner(api_version, kind, name);
    objects::with(pod(letter, "n1"), "metadata ownerReferences", owner)
}

fn in_namespace(object: Value, namespace: &str) -> Value {
    objects::with(object, "metadata namespace", json!(namespace))
}

/// The set with this name, led by whom.
fn led(name: &str, leader: Value) -> Value {
    let mut set = set(1);
    set["metadata"]["name"] = json!(name);
    set["metadata"]["uid"] = json!(name);
    objects::with(set, "metadata ownerReferences", leader)
}

fn workload(items: &[Value]) -> Result<String, String> {
    let found = one_workload(&around(items));
    found.map(|it| format!("{} in {}", it.name, it.namespace)).map_err(|it| it.to_string())
}

#[test]
fn named_pods_belong_to_one_workload_that_can_be_scaled() {
    let alone = "podrank can only choose pods of ReplicaSets and ReplicationControllers.";
    for (api_version, kind, alone) in [
        ("apps/v1", "StatefulSet", alone),
        ("apps/v1", "DaemonSet", alone),
        ("batch/v1", "Job", "A Job has no replica count."),
    ] {
        let refused = workload(&[owned_by('a', api_version, kind, "web")]);
        assert_eq!(refused, Err(format!("pod shop/web-a belongs to {kind} web\n  {alone}")));
    }
    let mut bare = pod('a', "n1");
    bare["metadata"]["ownerReferences"] = json!([]);
    let delete = "Nothing replaces it if you delete it.\n  Delete it: kubectl delete pod web-a -n shop";
    assert_eq!(workload(&[bare]), Err(format!("pod shop/web-a has no controller\n  {delete}")));
    assert_eq!(workload(&[]), Err("no pod is named".to_owned()));

    let (a, b) = (pod('a', "n1"), owned_by('b', "apps/v1", "ReplicaSet", "api"));
    let alone = Ok("rs/web in shop".to_owned());
    assert_eq!(workload(&[a.clone(), set(1)]), alone);
    // A set that is not there any more.
    assert_eq!(workload(std::slice::from_ref(&a)), alone);
    assert_eq!(
        workload(&[a.clone(), b.clone(), set(1)]),
        Err("the pods belong to different workloads\n  pod shop/web-b belongs to rs/api, but pod shop/web-a belongs \
             to rs/web.\n  Name pods of one workload."
            .to_owned())
    );
    // Pods of two sets can go if one Deployment owns both.
    let deployment = || objects::owner("apps/v1", "Deployment", "web");
    let both = [a, b, led("web", deployment()), led("api", deployment())];
    assert_eq!(workload(&both), Ok("deploy/web in shop".to_owned()));
}

#[test]
fn pods_that_no_count_chooses_are_refused() {
    let mirror = objects::with(
        owned_by('b', "v1", "Node", "n1"),
        "metadata annotations",
        json!({ "kubernetes.io/config.mirror": "5f", "x": "" }),
    );
    let refused = |items: &[Value]| workload(items).expect_err("no count chooses it");
    assert_eq!(
        refused(&[mirror]),
        "pod shop/web-b is a mirror pod\n  The kubelet runs it without a workload."
    );
    // A Deployment of another API group is none of Kubernetes'.
    for (api_version, kind) in [("argoproj.io/v1alpha1", "Rollout"), ("example.com/v1", "Deployment")] {
        let leader = objects::owner(api_version, kind, "api");
        assert_eq!(
            refused(&[pod('c', "n1"), led("web", leader)]),
            format!(
                "pod shop/web-c belongs to ReplicaSet web\n  {kind} api sets the replica count of ReplicaSet web.\n  \
                 Scale {kind} api instead if it has a replica count."
            )
        );
    }
}

/// The lowest of its ordinals says how far a `StatefulSet` has to shrink.
#[test]
fn a_stateful_set_says_how_far_it_has_to_shrink() {
    let of_db = |letter, ordinal: u32| {
        let pod = owned_by(letter, "apps/v1", "StatefulSet", "db");
        objects::with(pod, "metadata name", json!(format!("db-{ordinal}")))
    };
    let db = |replicas: u32, start: u32| {
        let selector = json!({ "matchLabels": { "app": "db" } });
        json!({
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": { "name": "db", "namespace": "shop", "uid": "db" },
            "spec": { "replicas": replicas, "ordinals": { "start": start }, "selector": selector },
        })
    };
    let refused = |set: Value, pods: &[Value]| workload(&[pods, &[set]].concat()).expect_err("no count");
    let shrinks = |from: u32, to: u32| {
        format!(
            "belongs to StatefulSet db\n  A StatefulSet deletes the pod with the highest ordinal first.\n  \
             Scale it from {from} to {to}: kubectl scale sts/db --replicas {to} -n shop"
        )
    };
    let [three, four] = [of_db('a', 3), of_db('b', 4)];
    assert_eq!(refused(db(6, 0), &[four.clone(), three.clone()]), format!("pod shop/db-4 {}", shrinks(6, 3)));
    assert_eq!(refused(db(6, 2), std::slice::from_ref(&four)), format!("pod shop/db-4 {}", shrinks(6, 2)));
    // One that has ended counts no more, and neither does that of another set.
    let ended = objects::with(of_db('c', 1), "status phase", json!("Failed"));
    let cache = owned_by('d', "apps/v1", "StatefulSet", "cache");
    let cache = objects::with(cache, "metadata name", json!("cache-0"));
    let found = refused(db(6, 0), &[three.clone(), ended, cache]);
    assert_eq!(found, format!("pod shop/db-3 {}", shrinks(6, 3)));
    // One patch deletes the lowest ordinals and no other.
    let [zero, one] = [of_db('e', 0), of_db('f', 1)];
    let patched = |start: u32, replicas: u32| {
        format!(
            "belongs to StatefulSet db\n  A StatefulSet deletes the pod with the highest ordinal first.\n  Raise its first ordinal: \
             kubectl patch sts/db -n shop -p '{{\"spec\":{{\"ordinals\":{{\"start\":{start}}},\"replicas\":{replicas}}}}}'"
        )
    };
    let lowest = std::slice::from_ref(&zero);
    assert_eq!(refused(db(3, 0), lowest), format!("pod shop/db-0 {}", patched(1, 2)));
    assert_eq!(refused(db(3, 0), &[one.clone(), zero.clone()]), format!("pod shop/db-1 {}", patched(2, 1)));
    assert_eq!(refused(db(4, 3), std::slice::from_ref(&three)), format!("pod shop/db-3 {}", patched(4, 3)));
    // Not if others stand between them, or none would be left.
    let usual = "belongs to StatefulSet db\n  A StatefulSet deletes the pod with the highest ordinal first.\n  Only scaling it from";
    for (replicas, pods) in
        [(4, vec![zero.clone(), three.clone()]), (2, vec![zero.clone(), one]), (1, vec![zero])]
    {
        let found = refused(db(replicas, 0), &pods);
        assert!(found.ends_with(&format!("{usual} {replicas} to 0 deletes this pod.")), "{found}");
    }
    // No replica count deletes a pod without an ordinal of the set, or one that the set already deletes.
    let usual = "belongs to StatefulSet db\n  podrank can only choose pods of ReplicaSets and ReplicationControllers.";
    for (set, pod) in [
        (db(3, 0), three.clone()),
        (db(6, 4), three.clone()),
        (db(6, 0), objects::with(three.clone(), "metadata name", json!("db-x"))),
        (objects::with(db(6, 0), "spec replicas", json!("many")), three.clone()),
        (objects::with(db(6, 0), "metadata namespace", json!("bar")), three.clone()),
    ] {
        let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
        assert_eq!(refused(set, &[pod]), format!("pod shop/{name} {usual}"));
    }
}

#[test]
fn the_sets_to_read_are_named_by_namespace_and_kind() {
    let items = [
        pod('a', "n1"),
        pod('b', "n1"),
        owned_by('c', "apps/v1", "ReplicaSet", "api"),
        owned_by('d', "v1", "ReplicationController", "old"),
        owned_by('e', "apps/v1", "StatefulSet", "db"),
        in_namespace(pod('a', "n1"), "bar"),
    ];
    let sets = sets_of_pods(&input(&items)).into_iter().map(|((namespace, kind), names)| {
        let names: Vec<_> = names.into_iter().collect();
        format!("{namespace} {} {}", kind.short(), names.join(","))
    });
    assert_eq!(sets.collect::<Vec<_>>(), ["bar rs web", "shop rs api,web", "shop rc old", "shop sts db"]);
}
