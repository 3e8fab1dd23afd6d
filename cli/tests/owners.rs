//! `scale`, `drop` and `undo` of an owner of `ReplicaSets` that podrank does not know, such as an Argo Rollout: what they read, what
//! they refuse, and what they write. The script `fake/kubectl` stands in for kubectl.

use crate::common::kubectl::{
    self, Answer, Run, authorized, leased, list, nothing, pod, refused, run, says, writes_nothing,
};
use crate::common::{autoscaler, owner, with, written_by};
use serde_json::{Value, json};

fn rollout(replicas: usize) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": { "name": "web", "namespace": "shop", "uid": "web", "resourceVersion": "9", "generation": 1 },
        "spec": { "replicas": replicas },
        "status": { "observedGeneration": "1" },
    })
}

fn set(name: &str, replicas: usize) -> Value {
    let owner = owner("argoproj.io/v1alpha1", "Rollout", "web");
    with(kubectl::set("shop", name, replicas), "metadata ownerReferences", owner)
}

fn pods() -> [Value; 3] {
    kubectl::three("shop", "web-1")
}

fn sets() -> [Value; 2] {
    [set("web-0", 0), set("web-1", 3)]
}

/// What finds the Rollout and its set.
fn found() -> Vec<Answer> {
    vec![says(&rollout(3)), list(&sets())]
}

/// What one read of the cluster gets.
fn state() -> Vec<Answer> {
    vec![says(&set("web-1", 3)), says(&rollout(3)), list(&sets()), list(&pods())]
}

/// The answers until the plan, with these autoscalers.
fn until_plan(autoscalers: &[Value]) -> Vec<Answer> {
    [found(), state(), vec![list(autoscalers)]].concat()
}

/// It failed before the first write, with this error.
#[track_caller]
fn refuses(words: &str, answers: &[Answer], error: &str) -> Run {
    let ran = run(words, answers);
    writes_nothing(&ran);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.ends_with(&format!("error: {error}\n")), "{}", ran.stderr);
    ran
}

const DRY: &str = "scale rollout/web --replicas 1 --pod web-a -n shop --dry-run client";

#[test]
fn the_owner_is_read_beside_its_set_by_any_of_its_names() {
    let json: Value =
        serde_json::from_str(&run(&format!("{DRY} -o json"), &until_plan(&[])).stdout).expect("JSON");
    assert_eq!(json["workload"], json!({ "kind": "Rollout", "name": "web" }));
    // By a short name that only the cluster knows.
    let ran = run(&DRY.replace("rollout/web", "ro web"), &until_plan(&[]));
    let head = "Plan for rollout/web from 3 to 1: delete 2 pods, write 2 deletion costs.\n";
    assert!(ran.stdout.starts_with(head), "{}", ran.stdout);
    let asked = [
        "get|ro|web|--output=json|--namespace|shop",
        "get|replicasets.apps|--namespace|shop|--output|json",
        "get|replicasets.apps|web-1|--ignore-not-found|--namespace|shop|--show-managed-fields|--output|json",
        "get|rollout.argoproj.io|web|--namespace|shop|--output|json",
        "get|replicasets.apps|--namespace|shop|--output|json",
        "get|pods|--selector|app=web|--namespace|shop|--show-managed-fields|--output|json",
    ];
    assert_eq!(ran.asked[..6], asked);
}

#[test]
fn a_node_can_be_preferred_by_its_name() {
    let nodes = |names: &[&str]| {
        let node = |name: &&str| json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        list(&names.iter().map(node).collect::<Vec<_>>())
    };
    let words = "scale rollout/web --replicas 2 --node worker-2 -n shop --dry-run client";
    let answers = |known: &[&str]| [found(), state(), vec![nothing(), nodes(known)]].concat();
    // The nodes are read once for all that is wanted of them.
    let everybody = [answers(&["worker-1", "worker-2"]), vec![list(&[]), list(&[])]].concat();
    let ran = run(words, &everybody);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    let row = ran.stdout.lines().find(|line| line.contains("web-c")).expect("a row");
    assert!(row.contains("  deleted  ") && ran.stdout.contains("worker-2 becomes empty."), "{}", ran.stdout);
    assert_eq!(&*ran.asked[6], "get|nodes|--selector=worker-2|--output=name|--namespace|shop");
    let error = "no node matches --prefer-nodes worker-2\n  None of the nodes has the label worker-2.";
    refuses(words, &answers(&["worker-1"]), error);
}

#[test]
fn an_autoscaler_of_the_owner_is_named() {
    let of = |name: &str, api_version: &str, kind: &str| {
        let mut object = autoscaler((kind, "web"), Some(2), 9, None);
        object["spec"]["scaleTargetRef"]["apiVersion"] = json!(api_version);
        with(with(object, "metadata namespace", json!("shop")), "metadata name", json!(name))
    };
    let around = [of("a", "apps/v1", "Deployment"), of("b", "argoproj.io/v1alpha1", "Rollout")];
    let ran = run(DRY, &until_plan(&around));
    assert_eq!(
        ran.stderr,
        "warning: HorizontalPodAutoscaler b (2 to 9) will raise the replica count again\n"
    );
}

#[test]
fn a_count_that_is_there_already_needs_no_plan() {
    let ran = run("scale rollout/web --replicas 3 -n shop", &[found(), state()].concat());
    let nothing = "rollout/web has 3 replicas already. Nothing to do.\n";
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), nothing, ""));
}

#[test]
fn asked_about_without_a_count_each_of_several_sets_gets_a_line() {
    let canary = with(set("web-2", 1), "spec selector", json!({ "matchLabels": { "app": "canary" } }));
    let mut first = pod("shop", "web-1", 'd', "worker-2");
    first["metadata"]["labels"] = json!({ "app": "canary" });
    first["metadata"]["ownerReferences"] = owner("apps/v1", "ReplicaSet", "web-2");
    let sets = [set("web-0", 0), set("web-1", 3), canary];
    let pods = [&pods()[..], &[first]].concat();
    let answers = [("rollout.argoproj.io/web\n".to_owned(), "", 0), list(&sets), list(&pods)];
    let ran = run("rollout/web -n shop", &answers);
    let expected = "\
WORKLOAD                 PODS  DELETED NOW  NEXT   WHEN               NOTE
rs/web-1 of Rollout web  3     -            web-a  possible 33% at 2
rs/web-2 of Rollout web  1     -            web-d  at 0
";
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), expected, ""));
    let ran = run("rollout/web -n shop --replicas -1", &answers);
    let error = "error: rollout/web uses several ReplicaSets: rs/web-1, rs/web-2\n  \
                 Only its own controller decides how they share its replica count.\n  \
                 Ask about one: kubectl podrank rs/web-1 -n shop --replicas N\n";
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(1), "", error));
}

#[test]
fn an_owner_whose_status_lags_is_read_again() {
    let mut lagging = state();
    lagging[1] = says(&with(rollout(3), "status observedGeneration", json!("0")));
    let ran = run(DRY, &[found(), lagging, state(), vec![list(&[])]].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
}

#[test]
fn what_cannot_be_scaled_so_is_named() {
    let words = "scale rollout/web --replicas 1 -n shop --yes";
    let unknown = "error: the server doesn't have a resource type \"rollout\"";
    refuses(words, &[refused(unknown)], "unknown type 'rollout'\n  Supported types are deploy, rs and rc.");
    let missing = "Error from server (NotFound): rollouts.argoproj.io \"web\" not found";
    refuses(words, &[refused(missing)], missing);
    let without = with(rollout(3), "spec", json!({}));
    refuses(words, &[says(&without)], "rollout/web cannot be scaled down\n  It has no spec.replicas.");
    // It has a count, but deletes its pods itself.
    let clone_set =
        with(with(rollout(3), "kind", json!("CloneSet")), "apiVersion", json!("apps.kruise.io/v1alpha1"));
    let its = with(
        pod("shop", "web-1", 'a', "n1"),
        "metadata ownerReferences",
        owner("apps.kruise.io/v1alpha1", "CloneSet", "web"),
    );
    let answers = [says(&clone_set), list(&[]), list(&[its])];
    let error = "podrank does not know which pods cloneset.apps.kruise.io/web deletes first\n  \
                 A CloneSet deletes its pods itself.";
    refuses("scale cloneset/web --replicas 1 -n shop --yes", &answers, error);
    let none = [says(&rollout(3)), list(&[]), list(&[])];
    refuses(
        words,
        &none,
        "podrank does not know the type of rollout.argoproj.io/web\n  No ReplicaSet belongs to it.\n  \
         Ask about a workload, such as deploy/NAME.",
    );
}

#[test]
fn nothing_is_written_if_the_owner_has_no_scale() {
    let words = "scale rollout/web --replicas 1 -n shop --yes";
    let answers = [
        until_plan(&[]),
        vec![nothing(), refused("Error from server (NotFound): rollouts.argoproj.io \"web\" not found")],
    ];
    let error = "cannot scale\n  There is no rollout.argoproj.io/web with a /scale subresource.\n  Nothing was changed.";
    let ran = refuses(words, &answers.concat(), error);
    let scale =
        "scale|rollout.argoproj.io/web|--replicas=1|--current-replicas=3|--dry-run=server|--namespace|shop";
    assert_eq!(ran.asked.last().map(String::as_str), Some(scale));
}

/// The run is interrupted by the loss of a right, before it scales.
#[test]
fn costs_are_left_and_undo_names_the_owner() {
    let forbidden = "Error from server (Forbidden): pods \"web-a\" is forbidden";
    let rights = vec![nothing(), nothing(), authorized("web"), nothing()];
    // The lock, everything again, and a check of the lock before the write.
    let locked = [vec![leased(), list(&[])], state(), vec![leased()]].concat();
    let words = "scale rollout/web --replicas 1 -n shop --yes";
    let until_write = [until_plan(&[]), rights, locked, vec![refused(forbidden), leased()]].concat();
    // Nothing can be read any more, but the Lease is deleted.
    let unread = vec![refused(forbidden); 5];
    let ran = run(words, &[until_write, unread, vec![nothing()]].concat());
    let end = "\n  Run: kubectl podrank undo rollout.argoproj.io/web -n shop\n";
    assert!(ran.status == Some(4) && ran.stderr.ends_with(end), "{}", ran.stderr);
}

#[test]
fn undo_looks_at_all_sets_of_the_owner() {
    let steered = |pod: Value| {
        let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "-1" });
        with(
            with(pod, "metadata annotations", cost),
            "metadata managedFields",
            written_by("podrank", "Apply"),
        )
    };
    let [a, b, c] = pods();
    let left = with(steered(c), "metadata ownerReferences", owner("apps/v1", "ReplicaSet", "web-0"));
    let pods = [steered(a), b, left];
    let sets = [set("web-0", 1), set("web-1", 2)];
    let state = |pods: &[Value]| vec![says(&sets[1]), says(&rollout(3)), list(&sets), list(pods)];
    let answers = [
        vec![says(&rollout(3)), list(&sets)],
        state(&pods),
        state(&pods),
        vec![leased(), nothing()],
        state(&pods),
        vec![nothing()],
        state(&[]),
        vec![nothing()],
    ];
    let ran = run("undo rollout/web -n shop", &answers.concat());
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "Removed podrank's deletion cost from 2 pods.\n"),
        "{}",
        ran.stderr
    );
}

/// docs/protocol.md: what podrank-webhook wrote is its own to remove, at each of its steps.
#[test]
fn undo_removes_nothing_that_podrank_webhook_wrote() {
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    let steered = "00000000-0000-4000-8000-000000000001/1/00000000-0000-4000-8000-000000000002";
    let costs = json!({ cost: "-1", "podrank.dev/steered": format!("{steered}/first[0]") });
    let steps = [
        ("the cost is written", costs, "Apply"),
        (
            "on a pod that is kept",
            json!({ cost: "1", "podrank.dev/steered": format!("{steered}/kept") }),
            "Apply",
        ),
        ("the cost is taken off", json!({}), "Apply"),
        (
            "an earlier undo has put the cost back",
            json!({ cost: "-1", "podrank.dev/steered": format!("{steered}/first[0]") }),
            "Update",
        ),
    ];
    for (step, annotations, operation) in steps {
        let [a, b, c] = pods();
        let a = with(a, "metadata annotations", annotations);
        let a = with(a, "metadata managedFields", written_by("podrank-webhook", operation));
        let own = with(b, "metadata annotations", json!({ cost: "-1" }));
        let own = with(own, "metadata managedFields", written_by("podrank", "Apply"));
        let state =
            |pods: &[Value]| vec![says(&set("web-1", 3)), says(&rollout(3)), list(&sets()), list(pods)];
        let pods = [a, own, c];
        let answers = [
            found(),
            state(&pods),
            state(&pods),
            vec![leased(), nothing()],
            state(&pods),
            vec![nothing()],
            state(&[pods[0].clone()]),
            vec![nothing()],
        ];
        let ran = run("undo rollout/web -n shop", &answers.concat());
        let said = (ran.status, &*ran.stdout, &*ran.stderr);
        assert_eq!(said, (Some(0), "Removed podrank's deletion cost from 1 pod.\n", ""), "{step}");
    }
}

#[test]
fn an_owner_without_a_count_cannot_be_scaled() {
    let error = "pod shop/web-a belongs to ReplicaSet web-1\n  Rollout web sets the replica count of ReplicaSet web-1.\n  \
                 Scale Rollout web instead if it has a replica count.";
    for answer in [says(&with(rollout(3), "spec replicas", json!(null))), nothing(), refused("Forbidden")] {
        let whose = [list(&pods()[..2]), says(&set("web-1", 3)), answer];
        refuses("drop web-a web-b -n shop --dry-run client", &whose, error);
    }
}
