//! Whose pods are: the workload to scale so that they go, or why none can be.

use crate::steer::dump::{input, not_ready, of_deployment, pod, set};
use podrank_laws::objects;
use podrank_predict::plan::{Owned, Sorted, one_workload, owners, sets_of_pods, sorted};
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

fn owned(items: &[Value]) -> Vec<Owned> {
    owners(&input(items))
}

fn workload(items: &[Value]) -> Result<String, String> {
    let found = one_workload(&owned(items));
    found.map(|it| format!("{} in {}", it.name, it.namespace)).map_err(|it| it.to_string())
}

/// The workloads with their pods, and then what is passed over and what cannot be dropped, a line each.
fn lines(items: &[Value]) -> [Vec<String>; 3] {
    let Sorted { workloads, passed_over, others } = sorted(owned(items));
    let workloads = workloads.into_iter().map(|(id, pods)| {
        let pods: Vec<_> = pods.into_iter().collect();
        format!("{} in {}: {}", id.name, id.namespace, pods.join(", "))
    });
    let spared = [passed_over, others].map(|list| {
        list.iter().map(|it| format!("{} in {}: {}", it.pods.join(", "), it.namespace, it.why)).collect()
    });
    let [passed_over, others] = spared;
    [workloads.collect(), passed_over, others]
}

#[test]
fn named_pods_belong_to_one_workload_that_can_be_scaled() {
    let alone = "not to a ReplicaSet or ReplicationController";
    for (api_version, kind, alone) in [
        ("apps/v1", "StatefulSet", alone),
        ("apps/v1", "DaemonSet", alone),
        ("batch/v1", "Job", "which has no replicas to lower"),
    ] {
        let refused = workload(&[owned_by('a', api_version, kind, "web")]);
        assert_eq!(refused, Err(format!("pod shop/web-a belongs to {kind} web, {alone}")));
    }
    let mut bare = pod('a', "n1");
    bare["metadata"]["ownerReferences"] = json!([]);
    let delete = "and nothing replaces it: kubectl delete pod web-a -n shop";
    assert_eq!(workload(&[bare]), Err(format!("pod shop/web-a belongs to no controller, {delete}")));
    assert_eq!(one_workload(&[]).expect_err("no pod").to_string(), "no pod is named");

    let (a, b) = (pod('a', "n1"), owned_by('b', "apps/v1", "ReplicaSet", "api"));
    let alone = Ok("rs/web in shop".to_owned());
    assert_eq!(workload(&[a.clone(), set(1)]), alone);
    // A set that is not there any more.
    assert_eq!(workload(std::slice::from_ref(&a)), alone);
    assert_eq!(
        workload(&[a.clone(), b.clone(), set(1)]),
        Err("pod shop/web-b belongs to rs/api, but pod shop/web-a to rs/web: name pods of one workload"
            .to_owned())
    );
    // Pods of two sets can go if one Deployment owns both.
    let deployment = || objects::owner("apps/v1", "Deployment", "web");
    let both = [a, b, led("web", deployment()), led("api", deployment())];
    assert_eq!(workload(&both), Ok("deploy/web in shop".to_owned()));
}

#[test]
fn the_pods_of_a_node_are_sorted_by_workload_and_namespace() {
    let controller = owned_by('d', "v1", "ReplicationController", "web");
    let elsewhere = in_namespace(pod('a', "n1"), "bar");
    let mut items = of_deployment(&[pod('b', "n1"), pod('a', "n1")]);
    // A set of the same name elsewhere has no Deployment, and a controller is no ReplicaSet.
    items.extend([controller, elsewhere, in_namespace(set(1), "bar")]);
    let expected = ["rs/web in bar: web-a", "deploy/web in shop: web-a, web-b", "rc/web in shop: web-d"];
    assert_eq!(lines(&items), [expected.map(str::to_owned).to_vec(), vec![], vec![]]);
}

#[test]
fn pods_of_the_node_itself_are_passed_over() {
    let mirror = |pod| {
        objects::with(pod, "metadata annotations", json!({ "kubernetes.io/config.mirror": "5f", "x": "" }))
    };
    let items = [
        owned_by('a', "apps/v1", "DaemonSet", "agent"),
        mirror(owned_by('b', "v1", "Node", "n1")),
        // Another's DaemonSet is none of Kubernetes'.
        owned_by('c', "example.com/v1", "DaemonSet", "agent"),
    ];
    let [workloads, passed_over, others] = lines(&items);
    assert_eq!(workloads, [""; 0]);
    let alone = "it belongs to DaemonSet agent, not to a ReplicaSet or ReplicationController";
    let mirror = "web-b in shop: it is a mirror pod: kubelet runs it without a workload";
    assert_eq!(passed_over, [format!("web-a in shop: {alone}"), mirror.to_owned()]);
    assert_eq!(others, [format!("web-c in shop: {alone}")]);
}

#[test]
fn pods_that_no_count_chooses_are_others() {
    let rollout = objects::owner("argoproj.io/v1alpha1", "Rollout", "web");
    let strange = objects::owner("example.com/v1", "Deployment", "api");
    let items = [
        owned_by('a', "apps/v1", "StatefulSet", "db"),
        objects::with(pod('b', "n1"), "metadata ownerReferences", Value::Null),
        pod('c', "n1"),
        owned_by('d', "apps/v1", "ReplicaSet", "api"),
        led("web", rollout),
        led("api", strange),
    ];
    let [workloads, passed_over, others] = lines(&items);
    assert_eq!((workloads, passed_over), (vec![], vec![]));
    let ends = "scale that instead if it has a count";
    assert_eq!(
        others,
        [
            "web-a in shop: it belongs to StatefulSet db, not to a ReplicaSet or ReplicationController"
                .to_owned(),
            "web-b in shop: it belongs to no controller, and nothing replaces it: kubectl delete pod web-b -n shop"
                .to_owned(),
            format!("web-c in shop: it belongs to ReplicaSet web, whose count Rollout web sets: {ends}"),
            format!("web-d in shop: it belongs to ReplicaSet api, whose count Deployment api sets: {ends}"),
        ]
    );
}

/// The lowest of its ordinals on the node says how far a `StatefulSet` has to shrink.
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
    let others = |set: Value, pods: &[Value]| lines(&[pods, &[set]].concat())[2].clone();
    let shrinks = |from: u32, to: u32| {
        format!(
            "belongs to StatefulSet db, which has to shrink from {from} to {to} first: \
             kubectl scale sts/db --replicas {to} -n shop"
        )
    };
    let [three, four] = [of_db('a', 3), of_db('b', 4)];
    let both = [format!("db-4, db-3 in shop: each {}", shrinks(6, 3))];
    assert_eq!(others(db(6, 0), &[four.clone(), three.clone()]), both);
    assert_eq!(
        others(db(6, 2), std::slice::from_ref(&four)),
        [format!("db-4 in shop: it {}", shrinks(6, 2))]
    );
    // One that has ended counts no more, and neither does that of another set.
    let ended = objects::with(of_db('c', 1), "status phase", json!("Failed"));
    let cache = owned_by('d', "apps/v1", "StatefulSet", "cache");
    let cache = objects::with(cache, "metadata name", json!("cache-0"));
    let found = others(db(6, 0), &[three.clone(), ended, cache]);
    assert_eq!(found[0], format!("db-3 in shop: it {}", shrinks(6, 3)));
    // A count lets go neither of what is no ordinal of the set nor of what it deletes already.
    let usual = "belongs to StatefulSet db, not to a ReplicaSet or ReplicationController";
    for (set, pod) in [
        (db(3, 0), three.clone()),
        (db(6, 4), three.clone()),
        (db(6, 0), objects::with(three.clone(), "metadata name", json!("db-x"))),
        (objects::with(db(6, 0), "spec replicas", json!("many")), three.clone()),
        (objects::with(db(6, 0), "metadata namespace", json!("bar")), three.clone()),
    ] {
        let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
        assert_eq!(others(set, &[pod]), [format!("{name} in shop: it {usual}")]);
    }
}

#[test]
fn pods_that_are_gone_or_on_their_way_do_not_count() {
    let bare = |letter| objects::with(pod(letter, "n1"), "metadata ownerReferences", Value::Null);
    let ended = |letter, phase: &str| objects::with(bare(letter), "status phase", json!(phase));
    let terminating =
        objects::with(pod('c', "n1"), "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let items = [ended('a', "Failed"), ended('b', "Succeeded"), terminating, not_ready(pod('d', "n1"))];
    assert_eq!(lines(&items), [vec!["rs/web in shop: web-d".to_owned()], vec![], vec![]]);
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
