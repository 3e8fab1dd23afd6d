//! The pods that each preference selects.

use crate::steer::dump::{
    around, dump, goes, input, not_ready, of_deployment, old_set, owned_by, pod, request, selected_letters,
};
use podrank_laws::objects::with;
use podrank_predict::NoteCode;
use podrank_predict::plan::{
    Cluster, PlanSize, PlannedPod, Preference, Selected, TopologyLevel, Values, add_budgets, keeps_others,
    nodes_text, plan,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Six pods on nodes of their own. Left alone, they go in the order of their UIDs.
fn six() -> Vec<Value> {
    "abcdef".chars().map(|letter| pod(letter, &format!("node-{letter}"))).collect()
}

fn selected(selector: &str, prefix: &str, letters: &str) -> Selected {
    let names = letters.chars().map(|letter| format!("{prefix}-{letter}")).collect();
    Selected { selector: selector.to_owned(), names }
}

fn nodes(letters: &str) -> Preference {
    Preference::Nodes(selected("spot", "node", letters))
}

fn pods(letters: &str) -> Preference {
    Preference::Pods(selected("idle", "web", letters))
}

fn values(values: &[(&str, f64)]) -> Preference {
    Preference::Values(Values::given(
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    ))
}

/// A level in which each of these names of nodes has a domain, of one letter.
fn level(nodes: &[&str], domains: &str) -> TopologyLevel {
    let domains = nodes.iter().zip(domains.chars());
    let domains = domains.map(|(node, domain)| ((*node).to_owned(), domain.to_string()));
    TopologyLevel { key: "zone".to_owned(), domains: domains.collect() }
}

#[test]
fn pods_that_match_go_first() {
    let some = || values(&[("web-d", -1.0), ("web-f", 0.5), ("web-b", 0.5), ("web-a", 1e9), ("other", -9.0)]);
    for (replicas, preferences, expected) in [
        (2, vec![], "abcd"),
        (3, vec![nodes("ec")], "cea"),
        (3, vec![pods("fd")], "dfa"),
        // More of them than go.
        (5, vec![pods("fd")], "d"),
        // The first preference counts first.
        (2, vec![nodes("ef"), pods("cf")], "feca"),
        (2, vec![pods("cf"), nodes("ef")], "fcea"),
        // The lowest values go first, and pods without one last.
        (0, vec![some()], "dbface"),
        (0, vec![some(), pods("f")], "dfbace"),
    ] {
        assert_eq!(goes(&six(), replicas, preferences.clone()), expected, "{preferences:?}");
    }
}

/// Values of which only idle pods may be deleted.
fn idle(most: f64, of: &[(&str, f64)]) -> Preference {
    let of = of.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let mut values = Values::given(of);
    values.only_idle = Some(most);
    Preference::Values(values)
}

#[test]
fn busy_pods_are_kept() {
    let values = [("web-a", 7.0), ("web-b", 0.0), ("web-c", 0.5), ("web-d", 0.0), ("web-e", -1.0)];
    let only = |most| idle(most, &values);
    let planned = |items: &[Value], replicas, named: &[&str], preferences: Vec<Preference>| {
        plan(&input(&dump(items)), &request(PlanSize::To(replicas), named, preferences))
    };
    let busy = |count, to| format!("{count} pods are busy, so rs/web scales to {to}");
    // `f` has no value, so it is busy as long as it is ready.
    for (most, replicas, preferences, expected, note) in [
        (0.0, 5, vec![], "e", None),
        (0.0, 4, vec![], "eb", None),
        (0.0, 1, vec![], "ebd", Some(busy(3, 3))),
        (0.5, 0, vec![], "ebdc", Some(busy(2, 2))),
        (-1.0, 0, vec![], "e", Some(busy(5, 5))),
        // Preferences that come first choose among idle pods alone.
        (0.0, 4, vec![nodes("ad")], "de", None),
        (0.0, 4, vec![pods("abcdef")], "eb", None),
    ] {
        let all = preferences.into_iter().chain([only(most)]).collect();
        let plan = planned(&six(), replicas, &[], all).expect("a plan");
        assert_eq!(selected_letters(&plan), expected, "{most} {replicas}");
        assert_eq!(plan.replicas as usize, 6 - expected.len());
        let notes: Vec<_> = plan.notes.iter().map(|note| &*note.text).collect();
        assert_eq!(notes.iter().find(|text| text.contains("busy")).copied(), note.as_deref(), "{notes:?}");
    }
    let refused = |items: &[Value], named: &[&str], most| {
        planned(items, 2, named, vec![only(most)]).expect_err("it is refused").to_string()
    };
    assert!(refused(&six(), &[], -2.0).starts_with("no pod of rs/web is idle"));
    assert!(refused(&six(), &["web-a"], 0.0).starts_with("web-a is busy, but would be deleted"));
    // A pod that is not ready is deleted first. Without a value, it is idle, and with one, that decides.
    let with = |letter: char| {
        let mut pods = six();
        pods[letter as usize - 'a' as usize] = not_ready(pod(letter, &format!("node-{letter}")));
        pods
    };
    let plan = planned(&with('f'), 3, &[], vec![only(0.0)]).expect("a plan");
    assert_eq!(selected_letters(&plan), "feb");
    assert!(refused(&with('a'), &[], 0.0).starts_with("web-a is busy, but would be deleted"));
    // A tool that redacts files may give all pods one UID.
    assert!(refused(&of_one_uid(), &["web-a"], 0.0).starts_with("web-a is busy, but would be deleted"));
}

/// A rollout has more pods than its count, so some may be idle while as many are busy as should be left.
#[test]
fn as_many_pods_may_be_busy_as_there_are_replicas() {
    let rollout: Value = serde_json::from_str(include_str!("../../examples/rollout.json")).expect("JSON");
    let input = input(rollout["items"].as_array().expect("items"));
    let is_ready = |pod: &&Value| {
        let conditions = pod["status"]["conditions"].as_array();
        let ready = conditions.into_iter().flatten().find(|one| one["type"] == "Ready");
        pod["kind"] == "Pod" && ready.is_some_and(|ready| ready["status"] == "True")
    };
    let ready = rollout["items"].as_array().expect("items").iter().filter(is_ready);
    let values: Vec<_> = ready.map(|pod| (pod["metadata"]["name"].as_str().expect("a name"), 5.0)).collect();
    let mut asked = request(PlanSize::To(5), &[], vec![idle(0.0, &values)]);
    asked.options.workload = Some("deploy/web".parse().expect("a name"));
    asked.options.namespace = Some("default".to_owned());
    let refused = plan(&input, &asked).expect_err("it is refused").to_string();
    assert!(refused.starts_with("10 of the 13 pods of deploy/web are busy"), "{refused}");
}

/// And not in place of another one that is not ready either.
#[test]
fn what_goes_before_a_wish_goes_in_place_of_one_that_matches() {
    let mut some = six();
    for pod in &mut some[..2] {
        *pod = not_ready(pod.clone());
    }
    let request = request(PlanSize::To(5), &[], vec![pods("ef")]);
    let plan = plan(&input(&dump(&some)), &request).expect("a plan");
    let [ahead] = &*plan.unsteerable else { panic!("{:?}", plan.unsteerable) };
    assert_eq!((&*ahead.name, &*ahead.before), ("web-a", "web-e"));
}

/// A pod without a value becomes ready while the plan is confirmed, and so it is busy.
#[test]
fn a_pod_that_becomes_busy_is_kept_although_it_was_confirmed() {
    let mut pods = six();
    pods[5] = not_ready(pod('f', "node-f"));
    let values = [("web-a", 7.0), ("web-b", 0.0), ("web-c", 0.5), ("web-d", 0.0), ("web-e", -1.0)];
    let mut asked = request(PlanSize::To(5), &[], vec![idle(0.0, &values)]);
    let confirmed = plan(&input(&dump(&pods)), &asked).expect("a plan");
    assert_eq!(selected_letters(&confirmed), "f");
    asked.named = confirmed.selected().map(|pod| pod.name.clone()).collect();
    asked.retain_conditions(false);
    plan(&input(&dump(&pods)), &asked).expect("the same plan");
    let refused = plan(&input(&dump(&six())), &asked).expect_err("it is refused").to_string();
    assert!(refused.starts_with("web-f is busy, but would be deleted"), "{refused}");
}

/// Six pods that have one UID.
fn of_one_uid() -> Vec<Value> {
    let mut pods = six();
    for pod in &mut pods {
        pod["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000001");
    }
    pods
}

#[test]
fn nodes_become_empty_whatever_the_uids_of_their_pods() {
    for pods in [six(), of_one_uid()] {
        let input = input(&dump(&pods));
        let cluster = Cluster::of(&input, []);
        let request = request(PlanSize::To(3), &[], vec![Preference::EmptyNodes(cluster)]);
        let nodes = plan(&input, &request).expect("a plan").nodes.expect("nodes");
        assert_eq!(nodes.iter().filter(|node| node.becomes_empty).count(), 3, "{nodes:?}");
    }
}

#[test]
fn a_wish_that_all_pods_match_is_told() {
    let codes = |preferences: Vec<Preference>| {
        let plan = plan(&input(&dump(&six())), &request(PlanSize::To(3), &[], preferences)).expect("a plan");
        plan.notes.iter().map(|note| (note.code, note.text.clone())).collect::<Vec<_>>()
    };
    let told = |preference: &str| {
        let text =
            format!("all active pods of rs/web match --prefer-{preference}, so it makes no difference");
        (NoteCode::Preference, text)
    };
    assert_eq!(codes(vec![pods("abcdef")]), [told("pods idle")]);
    assert_eq!(codes(vec![pods("abc"), nodes("abcdef")]), [told("nodes spot")]);
    assert_eq!(codes(vec![pods("abcde")]), []);
    assert!(codes(vec![Preference::NotAvailable]).iter().all(|(_, text)| text.contains("selected pod")));
}

#[test]
fn pods_that_are_not_available_go_first() {
    let mut young = six();
    young[4]["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T11:59:51Z");
    young[5]["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T11:59:50Z");
    let first = |replicas: u32, preferences: &[Preference]| {
        [0, 10, 11].map(|seconds| {
            let mut items = dump(&young);
            items[6]["spec"]["minReadySeconds"] = json!(seconds);
            let request = request(PlanSize::To(replicas), &[], preferences.to_vec());
            selected_letters(&plan(&input(&items), &request).expect("a plan"))
        })
    };
    // Without a preference, Kubernetes deletes the youngest first. A pod that has been ready for exactly 10 s is
    // available.
    assert_eq!(first(4, &[Preference::NotAvailable]), ["ef", "ef", "ef"]);
    assert_eq!(first(3, &[Preference::NotAvailable, pods("af")]), ["fae", "efa", "fea"]);
}

#[test]
fn named_pods_go_before_all_wishes() {
    let request = request(PlanSize::To(4), &["web-f"], vec![pods("cd")]);
    let plan = plan(&input(&dump(&six())), &request).expect("a plan");
    assert_eq!(selected_letters(&plan), "fc");
    let named: Vec<_> = plan.pods.iter().filter(|pod| pod.is_named).map(|pod| pod.name.as_str()).collect();
    assert_eq!(named, ["web-f"]);
}

#[test]
fn what_goes_before_a_wish_is_reported() {
    let mut pods_of_dump = six();
    pods_of_dump[0] = not_ready(pods_of_dump[0].clone());
    let request = request(PlanSize::To(4), &[], vec![pods("ef")]);
    let plan = plan(&input(&dump(&pods_of_dump)), &request).expect("a plan");
    assert_eq!(selected_letters(&plan), "ae");
    let [ahead] = &*plan.unsteerable else { panic!("{:?}", plan.unsteerable) };
    assert_eq!((&*ahead.name, &*ahead.before, &*ahead.reason.rule), ("web-a", "web-f", "not-ready"));
    assert_eq!(ahead.reason.text, "not ready, but web-f is");
}

fn cluster(pods: &[Value]) -> Preference {
    Preference::EmptyNodes(Cluster::of(&input(&dump(pods)), []))
}

/// Pods of the set on these nodes, by their letters.
fn on(places: &[&str]) -> Vec<Value> {
    ('a'..).zip(places).map(|(letter, node)| pod(letter, node)).collect()
}

/// 20 pods, four on each of five nodes, three of them spot, to 14: preferring nodes alone empties none.
#[test]
fn preferred_nodes_become_empty() {
    let places: Vec<_> =
        (0..20).map(|number| ["node-0", "node-1", "node-2", "node-3", "node-4"][number % 5]).collect();
    let pods = on(&places);
    let nodes_of = |preferences: Vec<Preference>| {
        let plan = plan(&input(&dump(&pods)), &request(PlanSize::To(14), &[], preferences)).expect("a plan");
        let mut lost = BTreeMap::<_, usize>::new();
        for pod in plan.pods.iter().filter(|pod| pod.is_selected) {
            *lost.entry(pod.node.clone().unwrap_or_default()).or_default() += 1;
        }
        (lost.into_values().collect::<Vec<_>>(), plan.nodes.as_deref().and_then(nodes_text))
    };
    let spot = || nodes("012");
    assert_eq!(nodes_of(vec![spot()]), (vec![2, 2, 2], None));
    let told = "node-0 becomes empty; node-1 keeps 2 pods of ReplicaSet web";
    assert_eq!(nodes_of(vec![spot(), cluster(&pods)]), (vec![4, 2], Some(told.to_owned())));
}

/// The pods that remain on a node, and their owners.
#[test]
fn a_node_that_others_keep_comes_last() {
    let pods = on(&["n1", "n2", "n2", "n3", "n3", "n3"]);
    let everybody = |others: Vec<Value>| cluster(&[pods.clone(), others].concat());
    let db = || owned_by(pod('A', "n1"), "StatefulSet", "db");
    assert_eq!(goes(&pods, 3, vec![everybody(vec![db()])]), "bcd");
    // A pod of a DaemonSet and a mirror pod leave with their node, and one that has ended is not there.
    let mut mirror = owned_by(pod('B', "n1"), "Node", "n1");
    mirror["metadata"]["annotations"] = json!({ "kubernetes.io/config.mirror": "x" });
    let mut ended = owned_by(pod('C', "n1"), "Job", "import");
    ended["status"]["phase"] = json!("Succeeded");
    let agent = owned_by(pod('D', "n1"), "DaemonSet", "agent");
    assert_eq!(goes(&pods, 3, vec![everybody(vec![agent, mirror, ended])]), "abc");
    // Of equally good nodes, cordoned ones come first, and otherwise the name decides.
    let two = on(&["n1", "n2"]);
    assert_eq!(goes(&two, 1, vec![cluster(&two)]), "a");
    let cordoned = Cluster::of(&input(&dump(&two)), ["n2".to_owned()]);
    assert_eq!(goes(&two, 1, vec![Preference::EmptyNodes(cordoned)]), "b");
    let one = owned_by(pod('E', "n1"), "StatefulSet", "other");
    let bare = {
        let mut bare = pod('F', "n1");
        bare["metadata"]["ownerReferences"] = json!([]);
        bare
    };
    let plan =
        plan(&input(&dump(&pods)), &request(PlanSize::To(0), &[], vec![everybody(vec![db(), one, bare])]))
            .expect("a plan");
    let told = plan.nodes.as_deref().and_then(nodes_text);
    let expected =
        "n2, n3 become empty; n1 keeps 1 pod of StatefulSet db, 1 pod of StatefulSet other, pod web-F";
    assert_eq!(told.as_deref(), Some(expected));
}

/// Pods that a drain cannot move weigh like any other, since a scale-down asks neither annotations nor budgets, and the plan names them.
#[test]
fn pods_that_a_drain_cannot_move_weigh_like_any_other() {
    let budget = |namespace: &str, allowed: u32, observed: u32| {
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": { "name": "closed", "namespace": namespace, "generation": 2 },
            "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": "web" } } },
            "status": { "disruptionsAllowed": allowed, "observedGeneration": observed },
        })
    };
    let noted = |key: &str, value: &str, pod: Value| {
        with(pod, "metadata annotations", json!({ key: value, "x": "" }))
    };
    let karpenter = |pod| noted("karpenter.sh/do-not-disrupt", "true", pod);
    let (own, db) =
        (on(&["n1", "n1", "n2"]), |letter, node| owned_by(pod(letter, node), "StatefulSet", "db"));
    let told_of = |own: &[Value], others: &[Value], budgets: &[Value]| {
        let Preference::EmptyNodes(cluster) = cluster(&[own, others].concat()) else { unreachable!() };
        let mut request = request(PlanSize::To(1), &[], vec![Preference::EmptyNodes(cluster)]);
        let mut plan = plan(&input(&dump(own)), &request).expect("a plan");
        add_budgets(&mut request, &around(budgets), &mut plan);
        (
            selected_letters(&plan),
            keeps_others(&request, &plan),
            plan.nodes.as_deref().and_then(nodes_text).expect("nodes"),
        )
    };
    let plain = ("ca".to_owned(), false);
    let says = |keeps: &str| (plain.0.clone(), plain.1, format!("n2 becomes empty; n1 keeps {keeps}"));
    let n1 = |others: &[Value]| told_of(&own, others, &[]);
    assert_eq!(n1(&[]), says("1 pod of ReplicaSet web"));
    // Marked ones go as if they were not.
    for (key, value) in
        [("karpenter.sh/do-not-disrupt", "true"), ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")]
    {
        let all: Vec<_> = own.iter().map(|pod| noted(key, value, pod.clone())).collect();
        let kept = format!("1 pod of ReplicaSet web (a drain cannot move it: {key})");
        assert_eq!(told_of(&all, &[], &[]), says(&kept));
    }
    // Another value says nothing.
    let willing = noted("karpenter.sh/do-not-disrupt", "false", own[1].clone());
    assert_eq!(
        told_of(&[own[0].clone(), willing, own[2].clone()], &[], &[]),
        says("1 pod of ReplicaSet web")
    );
    let kept = "1 pod of ReplicaSet web, 2 pods of StatefulSet db (a drain cannot move them: karpenter.sh/do-not-disrupt)";
    assert_eq!(n1(&[db('A', "n1"), karpenter(db('B', "n1"))]), says(kept));
    // A budget counts in its namespace, by its labels, if it allows nothing and its status is current.
    let covered = "1 pod of ReplicaSet web (a drain cannot move it: PodDisruptionBudget closed)";
    assert_eq!(told_of(&own, &[], &[budget("shop", 0, 2)]), says(covered));
    for open in [budget("shop", 1, 2), budget("shop", 0, 1), budget("bar", 0, 2)] {
        assert_eq!(told_of(&own, &[], &[open]), says("1 pod of ReplicaSet web"));
    }
    let elsewhere = with(db('A', "n1"), "metadata namespace", json!("bar"));
    let kept = "1 pod of ReplicaSet web, 1 pod of StatefulSet db (a drain cannot move it: PodDisruptionBudget closed)";
    assert_eq!(told_of(&own, &[elsewhere], &[budget("bar", 0, 2)]), (plain.0.clone(), true, says(kept).2));
}

/// Without a node, there is none to empty, and the order decides.
#[test]
fn unassigned_pods_leave_no_node() {
    let mut pods = on(&["n1", "n1", "n1"]);
    for pod in &mut pods {
        pod["spec"]["nodeName"] = Value::Null;
        pod["status"]["phase"] = json!("Pending");
        *pod = not_ready(pod.clone());
    }
    let plan =
        plan(&input(&dump(&pods)), &request(PlanSize::To(1), &[], vec![cluster(&pods)])).expect("a plan");
    assert_eq!((selected_letters(&plan), plan.nodes.as_deref()), ("ab".to_owned(), Some(&[][..])));
    assert_eq!(plan.nodes.as_deref().and_then(nodes_text), None);
}

/// One pod at a time: from the domain of the first level that has most left, as its own levels say, and of equal ones that with the
/// smaller UID.
#[test]
fn spreading_takes_from_the_domain_that_has_most_left() {
    let names = ["n1", "n2", "n3", "n4", "n5", "n6"];
    let pods = on(&["n2", "n1", "n1", "n3", "n4", "n5", "n6"]);
    let (by_zone, by_node) = (level(&names, "112222"), level(&names, "123456"));
    for (levels, expected) in [
        (vec![by_zone.clone(), by_node.clone()], "dbeafcg"),
        (vec![by_zone], "daebfcg"),
        (vec![by_node], "bacdefg"),
    ] {
        // For every count, not only for all.
        for replicas in 0..7 {
            let found = goes(&pods, replicas, vec![Preference::Spread(levels.clone())]);
            assert_eq!(found, expected[..7 - replicas as usize], "{levels:?}");
        }
    }
}

/// A pod that its old set has not deleted yet counts on its node, but does not go.
#[test]
fn spreading_counts_pods_of_other_sets() {
    let preference = vec![Preference::Spread(vec![level(&["n1", "n2", "n3"], "123")])];
    let own = [pod('a', "n1"), pod('b', "n2"), pod('c', "n3")];
    let first = |of_old: Option<Value>| {
        let mut items = of_deployment(&own);
        items.push(old_set(&items[3]));
        items.extend(of_old);
        selected_letters(
            &plan(&input(&items), &request(PlanSize::To(2), &[], preference.clone())).expect("a plan"),
        )
    };
    let of_old = |node: Option<&str>| {
        let mut pod = pod('x', "n1");
        pod["spec"]["nodeName"] = json!(node);
        pod["metadata"]["labels"]["pod-template-hash"] = json!("old");
        pod["metadata"]["ownerReferences"][0]["name"] = json!("old");
        pod["metadata"]["ownerReferences"][0]["uid"] = json!("old");
        Some(pod)
    };
    assert_eq!(first(None), "a");
    for (node, goes) in [("n1", "a"), ("n2", "b"), ("n3", "c")] {
        assert_eq!(first(of_old(Some(node))), goes);
    }
    // One without a node counts nowhere.
    assert_eq!(first(of_old(None)), "a");
}

/// The reasons of each selected pod, and the warnings of the plan.
fn reasons(
    pods: &[Value],
    replicas: u32,
    named: &[&str],
    preferences: Vec<Preference>,
) -> (Vec<String>, Vec<String>) {
    let plan =
        plan(&input(&dump(pods)), &request(PlanSize::To(replicas), named, preferences)).expect("a plan");
    let of = |pod: &PlannedPod| {
        let why: Vec<_> = pod.why.iter().map(|why| format!("{}: {}", why.by, why.text)).collect();
        format!("{} {}", pod.name, why.join(", "))
    };
    (plan.selected().map(of).collect(), plan.notes.iter().map(ToString::to_string).collect())
}

#[test]
fn each_pod_that_goes_has_its_reason() {
    let zones = level(&["node-a", "node-b", "node-c"], "112");
    let mut some = six();
    some[5] = not_ready(some[5].clone());
    let preferences =
        vec![nodes("cb"), pods("b"), values(&[("web-b", 0.25)]), Preference::Spread(vec![zones])];
    let (why, _) = reasons(&some, 0, &["web-d"], preferences);
    assert_eq!(
        why,
        [
            "web-f order: not ready",
            "web-d named: named",
            "web-b prefer-nodes: spot, prefer-pods: idle, by-value: value 0.25, spread: zone=1",
            "web-c prefer-nodes: spot, spread: zone=2",
            "web-a spread: zone=1",
            "web-e spread: no zone",
        ]
    );
    let (why, _) = reasons(&some, 4, &[], vec![Preference::NotAvailable, cluster(&some)]);
    assert_eq!(
        why,
        ["web-f not-available-first: not available, order: not ready", "web-a empty-nodes: whole node",]
    );
    let (why, warnings) = reasons(&six(), 5, &[], Vec::new());
    assert_eq!((why, warnings), (vec!["web-a order: order".to_owned()], Vec::new()));
}

#[test]
fn a_wish_that_fewer_pods_match_than_go_is_a_warning() {
    let spot = || nodes("ef");
    let zones = Preference::Spread(vec![level(&["node-a"], "1")]);
    let not_available = || vec![Preference::NotAvailable];
    for (replicas, named, preferences, warnings) in [
        (4, &[][..], vec![spot()], &[][..]),
        (1, &[], vec![spot()], &["warning: only 2 of the 5 selected pods match --prefer-nodes spot"]),
        (3, &[], vec![pods("b")], &["warning: only 1 of the 3 selected pods matches --prefer-pods idle"]),
        (3, &[], not_available(), &["warning: none of the 3 selected pods matches --not-available-first"]),
        (5, &[], not_available(), &["warning: the selected pod does not match --not-available-first"]),
        (
            3,
            &[],
            vec![values(&[("web-a", 1.0), ("web-b", 2.0)])],
            &["warning: only 2 of the 3 selected pods match --by-value"],
        ),
        // Each preference has its own reason.
        (
            3,
            &[],
            vec![spot(), pods("be")],
            &[
                "warning: only 2 of the 3 selected pods match --prefer-nodes spot",
                "warning: only 2 of the 3 selected pods match --prefer-pods idle",
            ],
        ),
        // One that all pods match fulfils no other.
        (
            1,
            &[],
            vec![pods("abcdef"), spot()],
            &[
                "note: all active pods of rs/web match --prefer-pods idle, so it makes no difference",
                "warning: only 2 of the 5 selected pods match --prefer-nodes spot",
            ],
        ),
        // Pods that the user named need not match.
        (3, &["web-a"], vec![spot()], &[]),
        (
            2,
            &["web-a"],
            vec![spot(), zones],
            &["warning: only 2 of the 3 other selected pods match --prefer-nodes spot"],
        ),
    ] {
        assert_eq!(reasons(&six(), replicas, named, preferences).1, warnings);
    }
    // A pod that is not ready is deleted in place of a pod that matches.
    let mut some = six();
    some[0] = not_ready(some[0].clone());
    assert_eq!(
        reasons(&some, 4, &[], vec![spot()]).1,
        ["warning: only 1 of the 2 selected pods matches --prefer-nodes spot"]
    );
}
