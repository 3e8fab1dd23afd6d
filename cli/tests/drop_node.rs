//! `drop --node`: what it reads, what it plans, what it refuses, and where it stops. The script `fake/kubectl` stands in for
//! kubectl. Runs that go through are in `steer.rs`.

use crate::common::kubectl::{
    self, Answer, Run, authorized, list, nothing, pod, refused, run, writes_nothing,
};
use crate::common::{owner, ready, with};
use serde_json::{Value, json};

const FORBIDDEN: &str = "Error from server (Forbidden): pods \"web-a\" is forbidden";
/// How far `StatefulSet` db has to shrink.
const SHRINKS: &str = "which has to shrink from 4 to 2 first: kubectl scale sts/db --replicas 2 -n shop";

fn node() -> Answer {
    (json!({ "kind": "Node", "metadata": { "name": "worker-1" }, "spec": {} }).to_string(), "", 0)
}

fn set(namespace: &str, replicas: usize) -> Value {
    kubectl::set(namespace, "web", replicas)
}

/// A pod that no count lets go.
fn of_stateful_set() -> Value {
    let pod = with(
        pod("shop", "web", 'x', "worker-1"),
        "metadata ownerReferences",
        owner("apps/v1", "StatefulSet", "db"),
    );
    with(pod, "metadata name", json!("db-2"))
}

fn stateful_set() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": { "name": "db", "namespace": "shop", "uid": "db" },
        "spec": { "replicas": 4, "selector": { "matchLabels": { "app": "db" } } },
    })
}

/// What a plan of the set with these pods reads.
fn workload(namespace: &str, pods: &[Value], surroundings: &[Value]) -> Vec<Answer> {
    vec![list(&[set(namespace, pods.len())]), list(pods), list(surroundings)]
}

fn three(namespace: &str) -> [Value; 3] {
    kubectl::three(namespace, "web")
}

/// The answers until the plan: the node, with `web-a` and `web-b` of the sets in both namespaces, and these pods besides.
fn two_workloads(besides: &[Value]) -> Vec<Answer> {
    let [bar, shop] = [three("bar"), three("shop")];
    let on_node = [&bar[..2], &shop[..2], besides].concat();
    let mut sets = vec![list(&[set("bar", 3)]), list(&[set("shop", 3)])];
    if !besides.is_empty() {
        sets.push(list(&[stateful_set()]));
    }
    let workloads = [workload("bar", &bar, &[]), workload("shop", &shop, &[])].concat();
    [vec![node(), list(&on_node)], sets, workloads].concat()
}

/// The answers about one workload in `shop`, of these pods, and with these autoscalers and budgets.
fn one_workload(pods: &[Value], surroundings: &[Value]) -> Vec<Answer> {
    let on_node: Vec<_> = pods.iter().filter(|pod| pod["spec"]["nodeName"] == "worker-1").cloned().collect();
    let read = [node(), list(&on_node), list(&[set("shop", pods.len())])];
    [read.to_vec(), workload("shop", pods, surroundings)].concat()
}

/// Runs `drop` with these words and answers.
#[track_caller]
fn drop_with(words: &str, answers: &[Answer]) -> Run {
    run(&format!("drop {words}"), answers)
}

#[track_caller]
fn says(ran: &Run, status: i32, stdout: &str, stderr: &str) {
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(status), stdout, stderr));
}

const PLAN: &str = "\
worker-1: 4 pods of 2 workloads to go, 4 deletion costs to write
rs/web in bar: 3 to 1: web-a, web-b
rs/web in shop: 3 to 1: web-a, web-b
worker-1 becomes empty.
worker-1 is not cordoned: new pods may come to it. `kubectl cordon worker-1` prevents that.
";

// What is planned.

#[test]
fn workloads_are_planned_before_anything_is_written() {
    let ran = drop_with("--node worker-1 --dry-run client", &two_workloads(&[]));
    says(&ran, 0, PLAN, "");
    let of_node = "get|pods|--all-namespaces|--field-selector|spec.nodeName=worker-1|--output|json";
    let set = |namespace, managers| {
        format!("get|replicasets.apps|web|--ignore-not-found|--namespace|{namespace}{managers}|--output|json")
    };
    assert_eq!(ran.asked[..2], ["get|node/worker-1|--output=json", of_node]);
    assert_eq!(ran.asked[2..4], [set("bar", ""), set("shop", "")]);
    let managers = "|--show-managed-fields";
    assert_eq!([&ran.asked[4], &ran.asked[7]], [&set("bar", managers), &set("shop", managers)]);
    // Asked about a node, it is the same plan, and what cannot be dropped stays.
    let how = "Nothing was changed. To do it: kubectl podrank drop --node worker-1\n";
    says(&run("node/worker-1", &two_workloads(&[])), 0, PLAN, how);
    // The name as kubectl prints it, of a node that is cordoned already.
    let mut cordoned = two_workloads(&[]);
    cordoned[0].0 = json!({ "kind": "Node", "spec": { "unschedulable": true } }).to_string();
    let (plan, _) = PLAN.split_once("worker-1 is not cordoned").expect("the last line");
    says(&drop_with("--node node/worker-1 --dry-run client", &cordoned), 0, plan, "");
}

/// Four workloads of one namespace, with a pod on the node each, and one beside it.
fn four_workloads() -> [Vec<Value>; 2] {
    let sets = (1..=4).map(|number| {
        let name = format!("web-{number}");
        let set = with(set("shop", 2), "metadata name", json!(name));
        with(with(set, "metadata uid", json!(name)), "spec selector matchLabels app", json!(name))
    });
    let pods = (1..=4).flat_map(|number| {
        let name = format!("web-{number}");
        [("worker-1", 'a'), ("worker-2", 'b')].map(|(node, letter)| {
            let pod = pod("shop", &name, letter, node);
            let uid = format!("00000000-0000-4000-8000-{number:08}000{letter}");
            let pod = with(pod, "metadata name", json!(format!("{name}-{letter}")));
            with(with(pod, "metadata uid", json!(uid)), "metadata labels app", json!(name))
        })
    });
    [sets.collect(), pods.collect()]
}

#[test]
fn many_workloads_of_a_namespace_are_read_at_once() {
    let [sets, pods] = four_workloads();
    let on_node: Vec<_> = pods.iter().filter(|pod| pod["spec"]["nodeName"] == "worker-1").cloned().collect();
    let plan = (1..=4).map(|number| format!("rs/web-{number} in shop: 2 to 1: web-{number}-a\n"));
    let plan = format!(
        "worker-1: 4 pods of 4 workloads to go, 4 deletion costs to write\n{}worker-1 becomes empty.\n\
         worker-1 is not cordoned: new pods may come to it. `kubectl cordon worker-1` prevents that.\n",
        plan.collect::<String>()
    );
    let read = [node(), list(&on_node), list(&sets)];
    let all = list(&[sets.clone(), pods.clone()].concat());
    let ran = drop_with("--node worker-1 --dry-run client", &[&read[..], &[all.clone(), list(&[])]].concat());
    says(&ran, 0, &plan, "");
    assert_eq!(ran.asked[2], "get|replicasets.apps|--ignore-not-found|--namespace|shop|--output|json");
    let everything = "get|deployments.apps,replicasets.apps,replicationcontrollers,pods";
    assert_eq!(ran.asked[3], format!("{everything}|--show-managed-fields|--namespace|shop|--output|json"));

    // Whoever may not read all of that gets the same plan, and so does a workload whose status lags behind.
    let alone = |number: usize| {
        let its = |pod: &&Value| pod["metadata"]["labels"]["app"] == format!("web-{number}");
        let pods: Vec<_> = pods.iter().filter(its).cloned().collect();
        vec![list(&sets[number - 1..number]), list(&pods), list(&[])]
    };
    let refused = [&read[..], &[refused(FORBIDDEN)], &(1..=4).flat_map(alone).collect::<Vec<_>>()].concat();
    says(&drop_with("--node worker-1 --dry-run client", &refused), 0, &plan, "");
    let mut late = sets.clone();
    late[1] = with(late[1].clone(), "status replicas", json!(3));
    let all = list(&[late, pods.clone()].concat());
    let late = [&read[..], &[all, list(&[])], &alone(2)].concat();
    says(&drop_with("--node worker-1 --dry-run client", &late), 0, &plan, "");
}

#[test]
fn pods_in_the_way_go_too_with_also() {
    let mut pods = three("shop");
    pods[2]["status"]["conditions"] = ready(false, "2026-03-10T11:00:00Z");
    let answers = one_workload(&pods, &[]);
    let ran = drop_with("--node worker-1 --also --dry-run client", &answers);
    let line = "rs/web in shop: 3 to 0: web-a, web-b; also web-c (not ready)\n";
    assert!(ran.status == Some(0) && ran.stdout.contains(line), "{}", ran.stdout);
    // Without it, there is no plan, so there are no surroundings to read.
    let ran = drop_with("--node worker-1 --dry-run client", &answers[..5]);
    let reason =
        "error: web-a, web-b in shop cannot be dropped: web-b would stay: web-c is not ready and goes first";
    assert!(ran.status == Some(1) && ran.stderr.starts_with(reason), "{}", ran.stderr);
}

#[test]
fn budgets_are_told_of_the_workload() {
    let budget = json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": { "name": "p", "namespace": "shop" },
        "spec": { "minAvailable": 3, "selector": { "matchLabels": { "app": "web" } } },
        "status": { "disruptionsAllowed": 0, "expectedPods": 3, "observedGeneration": 1 },
    });
    let answers = one_workload(&three("shop"), &[budget]);
    let ran = drop_with("--node worker-1 --dry-run client", &answers);
    assert!(ran.stderr.starts_with("warning: rs/web in shop: PodDisruptionBudget p "), "{}", ran.stderr);
}

#[test]
fn a_node_without_pods_to_drop_needs_nothing() {
    let of_daemon_set = owner("apps/v1", "DaemonSet", "agent");
    let agent = with(pod("shop", "web", 'a', "worker-1"), "metadata ownerReferences", of_daemon_set);
    let finished = with(of_stateful_set(), "status phase", json!("Succeeded"));
    let answers = [node(), list(&[agent, finished])];
    let passed = "note: passed over, as pods of DaemonSets and mirror pods are: shop/web-a\n";
    let nothing = "worker-1 has no pods to drop: there is nothing to do.\n";
    says(&drop_with("--node worker-1", &answers), 0, nothing, passed);
    for (words, kind, exit) in
        [("--yes", "NodeOutcome", json!(0)), ("--dry-run client", "NodePlan", Value::Null)]
    {
        let ran = drop_with(&format!("--node worker-1 -o json {words}"), &answers);
        let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!((&json["kind"], &json["workloads"]), (&json!(kind), &json!([])));
        assert_eq!(json["exit"], exit);
    }
}

// What is refused.

#[test]
fn other_pods_are_listed_and_nothing_is_written() {
    let answers = two_workloads(&[of_stateful_set()]);
    let other = format!("db-2 in shop cannot be dropped: it belongs to StatefulSet db, {SHRINKS}\n");
    let refusal = "error: 1 pod on worker-1 cannot be dropped, and nothing was changed: --skip-others takes the rest, 4 pods\n";
    for words in ["--dry-run client", "--yes -o json"] {
        let ran = drop_with(&format!("--node worker-1 {words}"), &answers);
        says(&ran, 1, "", &format!("error: {other}{refusal}"));
        writes_nothing(&ran);
    }
    let ran = drop_with("--node worker-1 --skip-others --dry-run client", &answers);
    let how = "Nothing was changed. To do it: kubectl podrank drop --node worker-1 --skip-others\n";
    let keeps = PLAN.replace("becomes empty.", "does not become empty: 1 pod stays.");
    says(&ran, 0, &keeps, &format!("note: {other}{how}"));
    // There is nobody to ask.
    let ran = drop_with("--node worker-1 --skip-others", &answers);
    assert!(ran.stderr.contains("error: there is no terminal to ask"), "{}", ran.stderr);
    writes_nothing(&ran);
}

#[test]
fn others_alone_leave_nothing_to_take() {
    let answers = [node(), list(&[of_stateful_set()]), list(&[stateful_set()])];
    let other = format!("db-2 in shop cannot be dropped: it belongs to StatefulSet db, {SHRINKS}\n");
    let nothing = "worker-1 has no pods to drop: there is nothing to do.\n";
    let ran = drop_with("--node worker-1 --yes --skip-others", &answers);
    says(&ran, 0, nothing, &format!("note: {other}"));
    // Whoever may not read it is only told whose the pod is.
    let answers = [node(), list(&[of_stateful_set()]), refused(FORBIDDEN)];
    let ran = drop_with("--node worker-1 --yes", &answers);
    let other = "db-2 in shop cannot be dropped: it belongs to StatefulSet db, not to a ReplicaSet or ReplicationController\n";
    let end =
        "error: 1 pod on worker-1 cannot be dropped, and nothing was changed: there are no others to drop\n";
    says(&ran, 1, "", &format!("error: {other}{end}"));
}

#[test]
fn a_workload_that_cannot_be_planned_is_another() {
    let mut answers = two_workloads(&[]);
    // Its controller has not caught up with the count. Without a plan, there are no surroundings to read.
    answers[4] = list(&[with(set("bar", 3), "spec replicas", json!(4))]);
    answers.remove(6);
    let ran = drop_with("--node worker-1 --yes", &answers);
    let reason = "error: web-a, web-b in bar cannot be dropped: bar ReplicaSet/web has 3 active pods, but its spec.replicas is 4: ";
    let end = "error: 2 pods on worker-1 cannot be dropped, and nothing was changed: --skip-others takes the rest, 2 pods\n";
    assert!(ran.status == Some(1) && ran.stderr.starts_with(reason), "{}", ran.stderr);
    assert!(ran.stderr.ends_with(end), "{}", ran.stderr);
    writes_nothing(&ran);
}

#[test]
fn a_node_that_cannot_be_read_is_named() {
    let missing = refused("Error from server (NotFound): nodes \"worker1\" not found");
    let names = ("node/control-plane\nnode/worker-1\n".to_owned(), "", 0);
    let forbidden = refused(FORBIDDEN);
    for (answers, error) in [
        (&[missing.clone(), names][..], "there is no node worker1; did you mean worker-1?"),
        (&[missing, refused("no right")], "there is no node worker1"),
        (&[forbidden], &*format!("node worker1 cannot be read: {FORBIDDEN}")),
    ] {
        says(&drop_with("--node worker1 --yes", answers), 1, "", &format!("error: {error}\n"));
    }
}

// What is written.

#[test]
fn all_rights_are_checked_before_the_first_write() {
    let rights = [nothing(), nothing(), authorized("web"), nothing()];
    let run = |words: &str, second: &[Answer]| {
        let ran = drop_with(
            &format!("--node worker-1 {words}"),
            &[&two_workloads(&[])[..], &rights, second].concat(),
        );
        writes_nothing(&ran);
        ran
    };
    let error =
        format!("error: nothing was changed: rs/web in shop: cannot write deletion costs: {FORBIDDEN}\n");
    says(&run("--yes", &[refused(FORBIDDEN)]), 1, PLAN, &error);
    let authorized = "You are authorized for every request. Quotas and admission may still refuse one. Nothing was changed.\n";
    says(&run("--dry-run server", &rights), 0, &format!("{PLAN}{authorized}"), "");
}
