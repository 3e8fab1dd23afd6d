//! The preview of a cluster: how the program calls kubectl, and what it does with answers and failures. The script
//! `fake/kubectl` stands in for kubectl.
#![cfg(unix)]

use serde_json::{Value, json};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-podrank");
const KUBECTL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/kubectl");
const ROLLOUT: &str = include_str!("../../preview/examples/rollout.json");
const NOON: [&str; 2] = ["--now", "2026-03-10T12:00:00Z"];

/// The answers of the stand-in for kubectl. They go when this is dropped.
struct Kubectl(PathBuf);

/// What it says, to standard output and standard error, and its exit status.
type Answer = (String, &'static str, u8);

impl Kubectl {
    /// One that gives these answers in turn.
    fn new(answers: &[Answer]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = env::temp_dir().join(format!("podrank-live-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        for (index, (out, error, status)) in answers.iter().enumerate() {
            let write = |suffix, text: &str| {
                fs::write(directory.join(format!("{}.{suffix}", index + 1)), text).expect("a file");
            };
            write("out", out);
            write("err", error);
            write("status", &status.to_string());
        }
        Self(directory)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(args).env("KUBECTL", KUBECTL).env("ANSWERS", &self.0);
        command.output().expect("the program runs")
    }

    /// What it was asked so far, a line each, with `|` between the words.
    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.0.join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }
}

impl Drop for Kubectl {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[track_caller]
fn fine(output: &Output) -> (&str, &str) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Asserts that the program failed, and what it said.
#[track_caller]
fn fails(output: &Output, status: i32, stderr: &str) {
    let said = text(&output.stderr);
    assert!(
        said == stderr || stderr.ends_with('…') && said.starts_with(stderr.trim_end_matches('…')),
        "{said}"
    );
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(status), ""));
}

fn says(object: &Value) -> Answer {
    (object.to_string(), "", 0)
}

fn list(items: &[Value]) -> Answer {
    says(&json!({ "apiVersion": "v1", "kind": "List", "items": items }))
}

fn of_example(kind: &str) -> Vec<Value> {
    let list: Value = serde_json::from_str(ROLLOUT).expect("JSON");
    list["items"].as_array().expect("items").iter().filter(|item| item["kind"] == kind).cloned().collect()
}

/// The Deployment, the sets and the pods of the example.
fn example() -> [Answer; 3] {
    let [deployment] = &*of_example("Deployment") else { panic!("one Deployment") };
    [says(deployment), list(&of_example("ReplicaSet")), list(&of_example("Pod"))]
}

fn controller(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": { "name": name, "namespace": "shop", "uid": "c" },
        "spec": { "replicas": replicas, "selector": { "app": name, "tier": "" } },
        "status": { "replicas": replicas },
    })
}

fn controllers_pod(number: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("old-{number}"),
            "namespace": "shop",
            "uid": format!("{number:08x}-0000-4000-8000-000000000000"),
            "labels": { "app": "old", "tier": "" },
            "ownerReferences": [
                { "apiVersion": "v1", "kind": "ReplicationController", "name": "old", "uid": "c", "controller": true }
            ],
        },
        "status": { "phase": "Running" },
    })
}

// What is asked.

#[test]
fn the_decision_is_younger_than_all_answers() {
    let kubectl = Kubectl::new(&example());
    let output = kubectl.run(&["deploy/web", "-n", "shop", "--replicas", "4", "-o", "json"]);
    let json: Value = serde_json::from_str(fine(&output).0).expect("JSON");
    let now: jiff::Timestamp = json["now"].as_str().expect("a time").parse().expect("a time");
    let last = fs::metadata(kubectl.0.join("asked")).and_then(|asked| asked.modified()).expect("a time");
    assert!(now >= jiff::Timestamp::try_from(last).expect("a time"));
}

#[test]
fn a_deployment_its_namespaces_sets_and_its_pods_are_asked_for() {
    let kubectl = Kubectl::new(&example());
    let live = kubectl.run(&[&["deploy/web", "--replicas", "5", "-o", "json"][..], &NOON].concat());
    assert_eq!(
        kubectl.asked(),
        [
            "get|deployments.apps|web|--ignore-not-found|--output|json",
            "get|replicasets.apps|--namespace|default|--output|json",
            "get|pods|--selector|app=web|--namespace|default|--output|json",
        ]
    );
    // The same as of a file.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/rollout.json");
    let untouched = Kubectl::new(&[]);
    let dump =
        untouched.run(&[&["deploy/web", "--replicas", "5", "-o", "json", "-f", file][..], &NOON].concat());
    assert_eq!(fine(&live), fine(&dump));
    assert_eq!(untouched.asked(), Vec::<String>::new());
}

/// The page shows zones, and who manages costs.
#[test]
fn a_page_needs_nodes_and_does_without() {
    let node = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": "worker-1", "labels": { "topology.kubernetes.io/zone": "zone-a" } },
    });
    let refused = (String::new(), "Error from server (Forbidden): nodes is forbidden\n", 1);
    for (nodes, has_zone) in [(list(&[node]), true), (refused, false)] {
        let kubectl = Kubectl::new(&[&example()[..], &[nodes]].concat());
        let page = kubectl.run(&[&["deploy/web", "--replicas", "5", "-o", "html"][..], &NOON].concat());
        let (page, messages) = fine(&page);
        assert_eq!(page.contains(r#""topology.kubernetes.io/zone":"zone-a""#), has_zone);
        assert!(!messages.contains("forbidden"), "{messages}");
        assert_eq!(
            kubectl.asked()[2..],
            [
                "get|pods|--selector|app=web|--namespace|default|--show-managed-fields|--output|json",
                "get|nodes|--output|json",
            ]
        );
    }
}

#[test]
fn a_daemon_set_needs_its_revisions_and_all_nodes() {
    let example: Value =
        serde_json::from_str(include_str!("../../preview/examples/daemon-set.json")).expect("JSON");
    let of = |kind: &str| -> Vec<Value> {
        let items = example["items"].as_array().expect("items").iter();
        items.filter(|item| item["kind"] == kind).cloned().collect()
    };
    let kubectl = Kubectl::new(&[
        says(&of("DaemonSet")[0]),
        list(&of("ControllerRevision")),
        list(&of("Node")),
        list(&of("Pod")),
    ]);
    let live = kubectl.run(&[&["ds/agent", "-o", "json"][..], &NOON].concat());
    assert_eq!(
        kubectl.asked(),
        [
            "get|daemonsets.apps|agent|--ignore-not-found|--output|json",
            "get|controllerrevisions.apps|--selector|app=agent|--namespace|default|--output|json",
            "get|nodes|--output|json",
            "get|pods|--selector|app=agent|--namespace|default|--output|json",
        ]
    );
    // The same as of a file.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/daemon-set.json");
    let dump = Kubectl::new(&[]).run(&[&["ds/agent", "-o", "json", "-f", file][..], &NOON].concat());
    assert_eq!(fine(&live), fine(&dump));
}

#[test]
fn all_names_of_a_type_ask_for_the_same() {
    for words in
        [&["deploy/web"][..], &["deploy", "web"], &["Deployments.apps", "web"], &["deployment.v1.apps/web"]]
    {
        let kubectl = Kubectl::new(&example());
        fine(&kubectl.run(&[words, &["--rollout"]].concat()));
        assert_eq!(
            kubectl.asked()[0],
            "get|deployments.apps|web|--ignore-not-found|--output|json",
            "{words:?}"
        );
    }
}

#[test]
fn connection_flags_are_passed_on() {
    let kubectl = Kubectl::new(&example());
    let flags = [
        "--context",
        "a b",
        "--kubeconfig",
        "/k",
        "--cluster",
        "c",
        "--user",
        "u",
        "--as",
        "x",
        "--as-group",
        "g",
        "--as-group",
        "h",
        "--request-timeout",
        "5s",
        "-s",
        "https://s",
        "--token",
        "t",
        "--tls-server-name",
        "n",
        "--insecure-skip-tls-verify",
        "--certificate-authority",
        "/ca",
        "-n",
        "shop",
    ];
    // The answers are of the namespace default.
    fine(&kubectl.run(&[&["deploy/web", "--rollout"][..], &flags].concat()));
    let passed = "--context=a b|--kubeconfig=/k|--cluster=c|--user=u|--as=x|--request-timeout=5s|--server=https://s|\
         --token=t|--tls-server-name=n|--insecure-skip-tls-verify=true|--certificate-authority=/ca|--as-group=g|--as-group=h";
    let asked = kubectl.asked();
    assert_eq!(
        asked[0],
        format!("get|deployments.apps|web|--ignore-not-found|--namespace|shop|--output|json|{passed}")
    );
    assert!(asked.len() == 3 && asked.iter().all(|line| line.ends_with(passed)), "{asked:?}");
}

#[test]
fn a_set_of_a_deployment_needs_its_siblings() {
    let sets = of_example("ReplicaSet");
    let kubectl = Kubectl::new(&[says(&sets[1]), list(&sets), list(&of_example("Pod"))]);
    let output = kubectl.run(&[&["rs/web-7f6b9d5c48", "--replicas", "3", "-o", "name"][..], &NOON].concat());
    let (victims, notes) = fine(&output);
    assert_eq!(victims.lines().count(), 6, "{victims}");
    assert!(notes.contains("Deployment web is in the middle of a rollout"), "{notes}");
    assert_eq!(
        kubectl.asked(),
        [
            "get|replicasets.apps|web-7f6b9d5c48|--ignore-not-found|--output|json",
            "get|replicasets.apps|--namespace|default|--output|json",
            "get|pods|--selector|app=web|--namespace|default|--output|json",
        ]
    );
}

#[test]
fn a_replication_controller_needs_its_own_pods() {
    let kubectl =
        Kubectl::new(&[says(&controller("old", 2)), list(&[controllers_pod(1), controllers_pod(2)])]);
    let output = kubectl.run(&["rc/old", "--replicas", "0", "-o", "name"]);
    assert_eq!(fine(&output), ("pod/old-1\npod/old-2\n", ""));
    assert_eq!(
        kubectl.asked(),
        [
            "get|replicationcontrollers|old|--ignore-not-found|--output|json",
            "get|pods|--selector|app=old,tier=|--namespace|shop|--output|json",
        ]
    );
}

#[test]
fn a_bare_name_is_looked_for_among_all_types() {
    let pods = list(&[controllers_pod(1), controllers_pod(2)]);
    let kubectl = Kubectl::new(&[list(&[controller("old", 2)]), pods]);
    fine(&kubectl.run(&["old", "--replicas", "0"]));
    assert_eq!(
        kubectl.asked()[0],
        "get|deployments.apps,replicasets.apps,replicationcontrollers,statefulsets.apps,daemonsets.apps,jobs.batch|--field-selector|metadata.name=old|--output|json"
    );
}

#[test]
fn all_namespaces_are_searched_on_request() {
    let pods = list(&[controllers_pod(1), controllers_pod(2)]);
    let kubectl = Kubectl::new(&[list(&[controller("old", 2)]), pods]);
    fine(&kubectl.run(&["rc/old", "-A", "--replicas", "0"]));
    assert_eq!(
        kubectl.asked(),
        [
            "get|replicationcontrollers|--field-selector|metadata.name=old|--all-namespaces|--output|json",
            "get|pods|--selector|app=old,tier=|--namespace|shop|--output|json",
        ]
    );
}

// What goes wrong.

#[test]
fn ambiguous_names_are_listed() {
    let set = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "old", "namespace": "shop" } });
    let kubectl = Kubectl::new(&[list(&[controller("old", 2), set])]);
    let output = kubectl.run(&["old", "--replicas", "0"]);
    fails(
        &output,
        1,
        "error: old is ambiguous: there are rs/old in shop, rc/old in shop; name one as TYPE/NAME, with its namespace\n",
    );
}

#[test]
fn unknown_names_get_a_suggestion() {
    let names = ("deployment.apps/api\ndeployment.apps/web\n".to_owned(), "", 0);
    let kubectl = Kubectl::new(&[(String::new(), "", 0), names]);
    let output = kubectl.run(&["deploy/wep", "--replicas", "0", "-n", "shop"]);
    fails(&output, 1, "error: no Deployment is named wep in namespace shop; did you mean deploy/web?\n");
    assert_eq!(kubectl.asked()[1], "get|deployments.apps|--namespace|shop|--output|name");

    let kubectl = Kubectl::new(&[list(&[]), (String::new(), "no right", 1)]);
    let output = kubectl.run(&["web", "--replicas", "0"]);
    fails(
        &output,
        1,
        "error: no Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet or Job is named web in the context's namespace; name \
         another with --namespace\n",
    );
}

#[test]
fn a_namespace_that_does_not_exist_is_told() {
    let nothing = || (String::new(), "", 0);
    let missing = (String::new(), "Error from server (NotFound): namespaces \"shop\" not found", 1);
    let forbidden = (String::new(), "Error from server (Forbidden): namespaces \"shop\" is forbidden", 1);
    for (answer, error) in [
        (missing, "error: there is no namespace shop\n"),
        (forbidden, "error: no Deployment is named web in namespace shop; name another with --namespace\n"),
        (nothing(), "error: no Deployment is named web in namespace shop; name another with --namespace\n"),
    ] {
        let kubectl = Kubectl::new(&[nothing(), nothing(), answer]);
        fails(&kubectl.run(&["deploy/web", "--replicas", "0", "-n", "shop"]), 1, error);
        assert_eq!(kubectl.asked()[2], "get|namespace|shop|--output=name");
    }
}

#[test]
fn what_kubectl_says_on_failure_is_shown() {
    let refusal =
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n";
    let kubectl = Kubectl::new(&[(String::new(), refusal, 1)]);
    let output = kubectl.run(&["deploy/web", "--replicas", "0", "--token", "secret"]);
    let error = format!(
        "{refusal}error: `{KUBECTL} get deployments.apps web --ignore-not-found` failed (exit status: 1)\n"
    );
    fails(&output, 1, &error);

    // No right to list pods, once all else is known.
    let forbidden =
        "Error from server (Forbidden): pods is forbidden: User \"x\" cannot list resource \"pods\"\n";
    let [deployment, sets, _] = example();
    let kubectl = Kubectl::new(&[deployment, sets, (String::new(), forbidden, 1)]);
    fails(&kubectl.run(&["deploy/web", "--replicas", "0"]), 1, &format!("{forbidden}error: `…"));
}

#[test]
fn a_list_that_breaks_off_is_no_list() {
    let [deployment, sets, (pods, ..)] = example();
    let broken = pods[..pods.len() / 2].to_owned();
    // kubectl knows of the failure, or does not.
    for (said, status, expected) in [("gone\n", 1, "gone\nerror: `…"), ("", 0, "error: /…")] {
        let kubectl = Kubectl::new(&[deployment.clone(), sets.clone(), (broken.clone(), said, status)]);
        let output = kubectl.run(&["deploy/web", "--replicas", "0"]);
        fails(&output, 1, expected);
        assert!(status == 1 || text(&output.stderr).contains("cut off"), "{}", text(&output.stderr));
    }
}

#[test]
fn without_kubectl_the_error_says_what_to_do() {
    let run = |program: &str| {
        Command::new(PROGRAM)
            .args(["web", "--replicas", "1"])
            .env("KUBECTL", program)
            .output()
            .expect("it runs")
    };
    fails(
        &run("/nowhere/kubectl"),
        1,
        "error: /nowhere/kubectl: not found; install kubectl, name it in the environment variable KUBECTL, or read a \
         dump with -f\n",
    );
    fails(&run("/"), 1, "error: /: Permission denied (os error 13)\n");
    // An empty variable is none.
    let output =
        Command::new(PROGRAM).args(["web", "--replicas", "1"]).env("KUBECTL", "").env("PATH", "").output();
    fails(&output.expect("it runs"), 1, "error: kubectl: not found; …");
}

// Statuses that lag behind.

/// The example as it is a moment after the old set was scaled: its status does not know yet.
fn lagging() -> [Answer; 3] {
    let [deployment, _, pods] = example();
    let mut sets = of_example("ReplicaSet");
    sets[0]["metadata"]["generation"] = json!(10);
    [deployment, list(&sets), pods]
}

#[test]
fn statuses_that_lag_are_read_again() {
    let kubectl = Kubectl::new(&[lagging(), example()].concat());
    let output = kubectl.run(&["deploy/web", "--replicas", "5"]);
    let (_, notes) = fine(&output);
    assert_eq!(kubectl.asked().len(), 6);
    assert!(!notes.contains("earlier spec"), "{notes}");

    // Fewer pods than the status says may come yet as well.
    let [deployment, sets, _] = example();
    let few = [deployment, sets, list(&of_example("Pod")[2..])];
    let kubectl = Kubectl::new(&[few, example()].concat());
    fine(&kubectl.run(&["deploy/web", "--replicas", "5"]));
    assert_eq!(kubectl.asked().len(), 6);
}

#[test]
fn statuses_that_lag_for_good_are_noted() {
    let kubectl = Kubectl::new(&[lagging(), lagging(), lagging(), lagging()].concat());
    let output = kubectl.run(&["deploy/web", "--replicas", "5", "-o", "json"]);
    let (preview, notes) = fine(&output);
    assert_eq!(kubectl.asked().len(), 12);
    assert!(
        notes.contains("the status of default ReplicaSet/web-5d8c7f9b64 is for an earlier spec"),
        "{notes}"
    );
    assert!(preview.contains("\"code\": \"status-lags\""), "{preview}");
    // It replays: a cluster takes no --partial.
    assert!(preview.contains("\"partial\": false"), "{preview}");
    let kubectl = Kubectl::new(&[lagging(), lagging(), lagging(), lagging()].concat());
    let output = kubectl.run(&["deploy/web", "--replicas", "5"]);
    let header = fine(&output).0.lines().next().expect("a header");
    assert!(header.ends_with(" --order kubernetes"), "{header}");
}

// Completion.

#[test]
fn names_of_the_cluster_complete() {
    let complete = |words: &[&str], answer: &str| {
        let kubectl = Kubectl::new(&[(answer.to_owned(), "", 0)]);
        let output = kubectl.run(&[&["__complete"], words].concat());
        (fine(&output).0.to_owned(), kubectl.asked())
    };
    let deployments = "deployment.apps/api\ndeployment.apps/web\n";
    let (words, asked) = complete(&["--context", "c", "-n", "shop", "deploy/"], deployments);
    assert_eq!(words, "deploy/api\ndeploy/web\n:4\n");
    assert_eq!(asked, ["get|deployments.apps|--namespace=shop|--output|name|--context=c"]);
    let (words, _) = complete(&["Deployment", "w"], deployments);
    assert_eq!(words, "api\nweb\n:4\n");
    let (words, asked) = complete(&["w"], "deployment.apps/web\nreplicationcontroller/web-1\n");
    let words: Vec<_> = words.lines().map(|line| line.split('\t').next().expect("a word")).collect();
    assert_eq!(
        words,
        [
            "deploy/",
            "rs/",
            "rc/",
            "sts/",
            "ds/",
            "job/",
            "web",
            "web-1",
            "scale",
            "drop",
            "undo",
            "completion",
            ":6"
        ]
    );
    assert_eq!(
        asked,
        [
            "get|deployments.apps,replicasets.apps,replicationcontrollers,statefulsets.apps,daemonsets.apps,jobs.batch|--output|name"
        ]
    );
    let pods = "pod/web-a\npod/web-b\n";
    let (words, asked) = complete(&["drop", "--context", "c", "-n", "shop", "web-a", "web"], pods);
    assert_eq!(words, "web-b\n:4\n");
    assert_eq!(asked, ["get|pods|--namespace=shop|--output|name|--context=c"]);
    let (words, _) = complete(&["scale", "deploy/web", "--pod", ""], pods);
    assert_eq!(words, "web-a\nweb-b\n:4\n");
    let (words, asked) = complete(&["undo", "-n", "shop", "deploy", "w"], deployments);
    assert_eq!(words, "api\nweb\n:4\n");
    assert_eq!(asked, ["get|deployments.apps|--namespace=shop|--output|name"]);
    let (words, asked) = complete(&["scale", "w"], "deployment.apps/web\n");
    assert!(words.ends_with("\nweb\n:6\n") && !words.contains("sts/"), "{words}");
    assert_eq!(asked, ["get|deployments.apps,replicasets.apps,replicationcontrollers|--output|name"]);
    let (words, _) = complete(&["scale", "deploy/"], deployments);
    assert_eq!(words, "deploy/api\ndeploy/web\n:4\n");
    let (words, asked) = complete(&["--namespace", ""], "namespace/shop\n");
    assert_eq!((&*words, &*asked), ("shop\n:4\n", &["get|namespaces|--output|name".to_owned()][..]));
    let (words, asked) = complete(&["--context", ""], "a\nb\n");
    assert_eq!((&*words, &*asked), ("a\nb\n:4\n", &["config|get-contexts|--output|name".to_owned()][..]));
    // A type that is none asks nobody.
    assert_eq!(complete(&["x/"], ""), (":4\n".to_owned(), Vec::new()));
}
