//! What each wish does to the choice of pods.

use crate::steer::dump::{
    around, dump, goes, input, not_ready, of_deployment, old_set, owned_by, pod, request, wanted,
};
use fastrand::Rng;
use podrank_laws::generate::seeds;
use podrank_laws::objects::with;
use podrank_preview::NoteCode;
use podrank_preview::steer::{
    Cluster, Count, Level, PlannedPod, Request, Selected, Wish, add_budgets, keeps_others, plan, told,
};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

fn set_of(names: &[&str]) -> HashSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Six pods on nodes of their own. Left alone, they go in the order of their UIDs.
fn six() -> Vec<Value> {
    "abcdef".chars().map(|letter| pod(letter, &format!("node-{letter}"))).collect()
}

fn nodes(names: &[&str]) -> Wish {
    Wish::Nodes(Selected { selector: "spot".to_owned(), names: set_of(names) })
}

fn pods(names: &[&str]) -> Wish {
    Wish::Pods(Selected { selector: "idle".to_owned(), names: set_of(names) })
}

fn level(domains: HashMap<String, String>) -> Level {
    Level { key: "zone".to_owned(), domains }
}

#[test]
fn without_a_wish_the_order_decides() {
    assert_eq!(goes(&six(), 2, Vec::new()), "abcd");
}

#[test]
fn preferred_nodes_and_pods_go_first() {
    assert_eq!(goes(&six(), 3, vec![nodes(&["node-e", "node-c"])]), "cea");
    assert_eq!(goes(&six(), 3, vec![pods(&["web-f", "web-d"])]), "dfa");
    // More of them than go.
    assert_eq!(goes(&six(), 5, vec![pods(&["web-f", "web-d"])]), "d");
}

#[test]
fn a_wish_that_all_pods_match_is_told() {
    let all_nodes = ["node-a", "node-b", "node-c", "node-d", "node-e", "node-f"];
    let all = ["web-a", "web-b", "web-c", "web-d", "web-e", "web-f"];
    let codes = |wishes: Vec<Wish>| {
        let plan = plan(&input(&dump(&six())), &request(Count::To(3), &[], wishes)).expect("a plan");
        plan.notes.iter().map(|note| (note.code, note.text.clone())).collect::<Vec<_>>()
    };
    let told = |wish: &str| {
        (
            NoteCode::IdleWish,
            format!("all active pods of rs/web match --prefer-{wish}, so it makes no difference"),
        )
    };
    assert_eq!(codes(vec![pods(&all)]), [told("pods idle")]);
    assert_eq!(codes(vec![pods(&all[..3]), nodes(&all_nodes)]), [told("nodes spot")]);
    assert_eq!(codes(vec![pods(&all[..5])]), []);
    assert!(codes(vec![Wish::NotAvailable]).iter().all(|(code, _)| *code == NoteCode::UnmetWish));
}

#[test]
fn the_wish_given_first_counts_first() {
    let (on_nodes, by_name) = (nodes(&["node-e", "node-f"]), pods(&["web-c", "web-f"]));
    assert_eq!(goes(&six(), 2, vec![on_nodes.clone(), by_name.clone()]), "feca");
    assert_eq!(goes(&six(), 2, vec![by_name, on_nodes]), "fcea");
}

#[test]
fn the_lowest_values_go_first_and_pods_without_one_last() {
    let values = |values: &[(&str, f64)]| {
        Wish::Values(values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    };
    let wish = values(&[("web-d", -1.0), ("web-f", 0.5), ("web-b", 0.5), ("web-a", 1e9), ("other", -9.0)]);
    assert_eq!(goes(&six(), 0, vec![wish.clone()]), "dbface");
    assert_eq!(goes(&six(), 0, vec![wish, pods(&["web-f"])]), "dfbace");
}

#[test]
fn pods_that_are_not_available_go_first() {
    let mut young = six();
    young[4]["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T11:59:51Z");
    young[5]["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T11:59:50Z");
    let first = |replicas: u32, wishes: &[Wish]| {
        [0, 10, 11].map(|seconds| {
            let mut items = dump(&young);
            items[6]["spec"]["minReadySeconds"] = json!(seconds);
            let request = request(Count::To(replicas), &[], wishes.to_vec());
            wanted(&plan(&input(&items), &request).expect("a plan"))
        })
    };
    // By itself, the youngest goes first. Ready for exactly 10 s is available.
    assert_eq!(first(4, &[Wish::NotAvailable]), ["ef", "ef", "ef"]);
    assert_eq!(first(3, &[Wish::NotAvailable, pods(&["web-a", "web-f"])]), ["fae", "efa", "fea"]);
}

#[test]
fn named_pods_go_before_all_wishes() {
    let request = request(Count::To(4), &["web-f"], vec![pods(&["web-c", "web-d"])]);
    let plan = plan(&input(&dump(&six())), &request).expect("a plan");
    assert_eq!(wanted(&plan), "fc");
    let named: Vec<_> = plan.pods.iter().filter(|pod| pod.is_named).map(|pod| pod.name.as_str()).collect();
    assert_eq!(named, ["web-f"]);
}

#[test]
fn what_goes_before_a_wish_is_reported() {
    let mut pods_of_dump = six();
    pods_of_dump[0] = not_ready(pods_of_dump[0].clone());
    let request = request(Count::To(4), &[], vec![pods(&["web-e", "web-f"])]);
    let plan = plan(&input(&dump(&pods_of_dump)), &request).expect("a plan");
    assert_eq!(wanted(&plan), "ae");
    let [ahead] = &*plan.blocked else { panic!("{:?}", plan.blocked) };
    assert_eq!((&*ahead.name, &*ahead.before, ahead.rule), ("web-a", "web-f", "not-ready"));
    assert_eq!(ahead.why, "not ready, but web-f is");
}

fn cluster(pods: &[Value]) -> Wish {
    Wish::EmptyNodes(Cluster::of(&input(&dump(pods)), []))
}

/// Pods of the set on these nodes, by their letters.
fn on(places: &[&str]) -> Vec<Value> {
    ('a'..).zip(places).map(|(letter, node)| pod(letter, node)).collect()
}

/// 20 pods, four on each of five nodes, three of them spot, to 14: preferring nodes alone empties none.
#[test]
fn preferred_nodes_become_empty() {
    let places: Vec<_> = (0..20).map(|number| ["n0", "n1", "n2", "n3", "n4"][number % 5]).collect();
    let pods = on(&places);
    let nodes_of = |wishes: Vec<Wish>| {
        let plan = plan(&input(&dump(&pods)), &request(Count::To(14), &[], wishes)).expect("a plan");
        let mut lost = BTreeMap::<_, usize>::new();
        for pod in plan.pods.iter().filter(|pod| pod.is_wanted) {
            *lost.entry(pod.node.clone().unwrap_or_default()).or_default() += 1;
        }
        (lost.into_values().collect::<Vec<_>>(), plan.nodes.as_deref().and_then(told))
    };
    let spot = || nodes(&["n0", "n1", "n2"]);
    assert_eq!(nodes_of(vec![spot()]), (vec![2, 2, 2], None));
    let told = "n0 becomes empty; n1 keeps 2 pods of ReplicaSet web";
    assert_eq!(nodes_of(vec![spot(), cluster(&pods)]), (vec![4, 2], Some(told.to_owned())));
}

/// What stays on a node, and whose it is.
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
    // Cordoned nodes come first of those that are as good, and else the name decides.
    let two = on(&["n1", "n2"]);
    assert_eq!(goes(&two, 1, vec![cluster(&two)]), "a");
    let cordoned = Cluster::of(&input(&dump(&two)), ["n2".to_owned()]);
    assert_eq!(goes(&two, 1, vec![Wish::EmptyNodes(cordoned)]), "b");
    let one = owned_by(pod('E', "n1"), "StatefulSet", "other");
    let bare = {
        let mut bare = pod('F', "n1");
        bare["metadata"]["ownerReferences"] = json!([]);
        bare
    };
    let plan =
        plan(&input(&dump(&pods)), &request(Count::To(0), &[], vec![everybody(vec![db(), one, bare])]))
            .expect("a plan");
    let told = plan.nodes.as_deref().and_then(told);
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
        let Wish::EmptyNodes(cluster) = cluster(&[own, others].concat()) else { unreachable!() };
        let mut request = request(Count::To(1), &[], vec![Wish::EmptyNodes(cluster)]);
        let mut plan = plan(&input(&dump(own)), &request).expect("a plan");
        add_budgets(&mut request, &around(budgets), &mut plan);
        (wanted(&plan), keeps_others(&request, &plan), plan.nodes.as_deref().and_then(told).expect("nodes"))
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
    let plan = plan(&input(&dump(&pods)), &request(Count::To(1), &[], vec![cluster(&pods)])).expect("a plan");
    assert_eq!((wanted(&plan), plan.nodes.as_deref()), ("ab".to_owned(), Some(&[][..])));
    assert_eq!(plan.nodes.as_deref().and_then(told), None);
}

/// As many nodes become empty as any choice can make empty, by deletion costs and by evictions, whatever wishes come before.
#[test]
fn no_choice_empties_more_nodes() {
    let mut emptied = 0;
    for seed in seeds(1_000) {
        let mut random = Rng::with_seed(seed);
        let node = |random: &mut Rng| format!("n{}", random.u8(..3));
        let letters: Vec<_> = ('a'..).take(random.usize(1..8)).collect();
        let mut pods: Vec<_> = letters.iter().map(|&letter| pod(letter, &node(&mut random))).collect();
        for pod in &mut pods {
            if random.u8(..5) == 0 {
                *pod = not_ready(pod.clone());
            }
        }
        let others = (0..random.u8(..3))
            .map(|number| owned_by(pod(char::from(b'A' + number), &node(&mut random)), "StatefulSet", "db"));
        let others: Vec<_> = others.collect();
        let preferred: Vec<_> =
            letters.iter().filter(|_| random.bool()).map(|letter| format!("web-{letter}")).collect();
        let preferred: Vec<_> = preferred.iter().map(String::as_str).collect();
        let by_cost = random.bool();
        let k = random.usize(1..=pods.len());
        let replicas = u32::try_from(pods.len() - k).expect("few");
        let mut wishes = vec![cluster(&[pods.clone(), others.clone()].concat())];
        if !preferred.is_empty() {
            wishes.insert(0, self::pods(&preferred));
        }
        let request = Request { by_cost, ..request(Count::To(replicas), &[], wishes) };
        let plan = plan(&input(&dump(&pods)), &request).expect("a plan");
        let node_of = |pod: &Value| pod["spec"]["nodeName"].as_str().expect("a node").to_owned();
        let stage = |pod: &Value| {
            let is_ready = by_cost && pod["status"]["conditions"][0]["status"] == "True";
            (is_ready, !preferred.contains(&pod["metadata"]["name"].as_str().expect("a name")))
        };
        let empty = |goes: u32| {
            let stays = |node: &str| {
                let own =
                    (0..).zip(&pods).any(|(index, pod)| goes >> index & 1 == 0 && node_of(pod) == *node);
                own || others.iter().any(|pod| node_of(pod) == *node)
            };
            let had: HashSet<_> = pods.iter().map(node_of).collect();
            had.iter().filter(|node| !stays(node)).count()
        };
        let follows = |goes: u32| {
            let pick = |which: u32| {
                (0..)
                    .zip(&pods)
                    .filter(move |(index, _)| goes >> index & 1 == which)
                    .map(|(_, pod)| stage(pod))
            };
            pick(1).max().zip(pick(0).min()).is_none_or(|(latest, earliest)| latest <= earliest)
        };
        let choices =
            (0..1_u32 << pods.len()).filter(|goes| goes.count_ones() as usize == k && follows(*goes));
        let best = choices.map(empty).max().expect("there is a choice");
        let nodes = plan.nodes.expect("nodes should become empty");
        let got = nodes.iter().filter(|node| node.becomes_empty).count();
        assert_eq!(got, best, "seed {seed}: {nodes:?}");
        emptied += best;
    }
    assert!(emptied > 300, "only {emptied} nodes could become empty");
}

/// One pod at a time: in each domain of the first level, what its own levels would take; then the fullest of them, and of
/// equal ones that with the smaller UID. Pods are numbers, and UIDs follow them.
fn next(left: &[usize], levels: &[Vec<usize>]) -> usize {
    let Some((level, inner)) = levels.split_first() else { return left[0] };
    let mut domains = BTreeMap::<usize, Vec<usize>>::new();
    for &pod in left {
        domains.entry(level[pod]).or_default().push(pod);
    }
    let of = |pods: &Vec<usize>| (Reverse(pods.len()), next(pods, inner));
    domains.values().map(of).min().expect("a pod is left").1
}

#[test]
fn spreading_takes_from_the_domain_that_has_most_left() {
    let letters: Vec<_> = ('a'..='z').collect();
    for seed in seeds(3_000) {
        let mut random = Rng::with_seed(seed);
        let (count, zones, nodes) = (random.usize(1..12), random.usize(1..4), random.usize(1..6));
        let node_zone: Vec<_> = (0..nodes).map(|_| random.usize(0..zones)).collect();
        let place: Vec<_> = (0..count).map(|_| random.usize(0..nodes)).collect();
        let pods: Vec<_> = (0..count).map(|i| pod(letters[i], &format!("n{}", place[i]))).collect();
        let zone_level: Vec<_> = place.iter().map(|&node| node_zone[node]).collect();
        let names = |of: &dyn Fn(usize) -> usize| {
            level((0..nodes).map(|node| (format!("n{node}"), format!("d{}", of(node)))).collect())
        };
        let (by_zone, by_node) = (names(&|node| node_zone[node]), names(&|node| node));
        let (wish, levels) = match random.u8(..3) {
            0 => (vec![by_zone, by_node], vec![zone_level, place]),
            1 => (vec![by_zone], vec![zone_level]),
            _ => (vec![by_node], vec![place]),
        };
        let mut left: Vec<_> = (0..count).collect();
        let mut expected = String::new();
        while !left.is_empty() {
            let pod = next(&left, &levels);
            expected.push(letters[pod]);
            left.retain(|&other| other != pod);
        }
        // For every count, not only for all.
        let replicas = random.usize(0..count);
        let found = goes(&pods, u32::try_from(replicas).expect("few"), vec![Wish::Spread(wish)]);
        assert_eq!(found, expected[..count - replicas], "seed {seed}: {levels:?}");
    }
}

/// A pod that its old set has not deleted yet counts on its node, but does not go.
#[test]
fn spreading_counts_pods_of_other_sets() {
    let by_node = ["n1", "n2", "n3"].map(|node| (node.to_owned(), node.to_owned()));
    let wish = vec![Wish::Spread(vec![level(HashMap::from(by_node))])];
    let own = [pod('a', "n1"), pod('b', "n2"), pod('c', "n3")];
    let first = |of_old: Option<Value>| {
        let mut items = of_deployment(&own);
        items.push(old_set(&items[3]));
        items.extend(of_old);
        wanted(&plan(&input(&items), &request(Count::To(2), &[], wish.clone())).expect("a plan"))
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

/// What the plan says of each pod that goes, and what it warns of.
fn reasons(pods: &[Value], replicas: u32, named: &[&str], wishes: Vec<Wish>) -> (Vec<String>, Vec<String>) {
    let plan = plan(&input(&dump(pods)), &request(Count::To(replicas), named, wishes)).expect("a plan");
    let of = |pod: &PlannedPod| {
        let why: Vec<_> = pod.why.iter().map(|why| format!("{}: {}", why.by, why.text)).collect();
        format!("{} {}", pod.name, why.join(", "))
    };
    (plan.wanted().map(of).collect(), plan.notes.iter().map(ToString::to_string).collect())
}

#[test]
fn each_pod_that_goes_has_its_reason() {
    let zones = [("node-a", "1"), ("node-b", "1"), ("node-c", "2")];
    let zones = level(zones.map(|(node, zone)| (node.to_owned(), zone.to_owned())).into());
    let values = HashMap::from([("web-b".to_owned(), 0.25)]);
    let mut some = six();
    some[5] = not_ready(some[5].clone());
    let wishes =
        vec![nodes(&["node-c", "node-b"]), pods(&["web-b"]), Wish::Values(values), Wish::Spread(vec![zones])];
    let (why, _) = reasons(&some, 0, &["web-d"], wishes);
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
    let (why, _) = reasons(&some, 4, &[], vec![Wish::NotAvailable, cluster(&some)]);
    assert_eq!(
        why,
        ["web-f not-available-first: not available, order: not ready", "web-a empty-nodes: whole node",]
    );
    let (why, warnings) = reasons(&six(), 5, &[], Vec::new());
    assert_eq!((why, warnings), (vec!["web-a order: order".to_owned()], Vec::new()));
}

#[test]
fn a_wish_that_fewer_pods_match_than_go_is_a_warning() {
    let spot = || nodes(&["node-e", "node-f"]);
    let values = Wish::Values(HashMap::from([("web-a".to_owned(), 1.0), ("web-b".to_owned(), 2.0)]));
    let all = pods(&["web-a", "web-b", "web-c", "web-d", "web-e", "web-f"]);
    let zones = Wish::Spread(vec![level(HashMap::from([("node-a".into(), "1".into())]))]);
    let not_available = || vec![Wish::NotAvailable];
    for (replicas, named, wishes, warnings) in [
        (4, &[][..], vec![spot()], &[][..]),
        (1, &[], vec![spot()], &["warning: 2 of the 5 that go match --prefer-nodes spot"]),
        (3, &[], vec![pods(&["web-b"])], &["warning: 1 of the 3 that go matches --prefer-pods idle"]),
        (3, &[], not_available(), &["warning: none of the 3 that go matches --not-available-first"]),
        (5, &[], not_available(), &["warning: the pod that goes does not match --not-available-first"]),
        (3, &[], vec![values], &["warning: 2 of the 3 that go match --by-value"]),
        // Each wish is told apart.
        (
            3,
            &[],
            vec![spot(), pods(&["web-b", "web-e"])],
            &[
                "warning: 2 of the 3 that go match --prefer-nodes spot",
                "warning: 2 of the 3 that go match --prefer-pods idle",
            ],
        ),
        // One that all pods match fulfils no other.
        (
            1,
            &[],
            vec![all, spot()],
            &[
                "note: all active pods of rs/web match --prefer-pods idle, so it makes no difference",
                "warning: 2 of the 5 that go match --prefer-nodes spot",
            ],
        ),
        // Pods that the user named need not match.
        (3, &["web-a"], vec![spot()], &[]),
        (
            2,
            &["web-a"],
            vec![spot(), zones],
            &["warning: 2 of the 3 that go besides those named match --prefer-nodes spot"],
        ),
    ] {
        assert_eq!(reasons(&six(), replicas, named, wishes).1, warnings);
    }
    // One that is not ready goes in place of a pod that matches.
    let mut some = six();
    some[0] = not_ready(some[0].clone());
    assert_eq!(
        reasons(&some, 4, &[], vec![spot()]).1,
        ["warning: 1 of the 2 that go matches --prefer-nodes spot"]
    );
}
