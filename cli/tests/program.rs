//! The built program: what it prints, where, and how it exits. Every sentence of its contract has a test:
//!
//! | what the contract says | tests |
//! |---|---|
//! | reads a List or one object, JSON or YAML, of files and standard input; others are skipped | `standard_input_is_read`, `one_object_whatever_the_order_of_its_keys`, `several_documents`, `yaml_is_read_as_json_is`, `neither_a_pod_nor_a_set`; `fuzz/tests/preview.rs` |
//! | `--replicas` is of this one set; mid-rollout a note | `example_as_json` |
//! | names, `--namespace`; several sets are listed; a missing namespace is `default` | `several_sets`, `one_name_on_two_kinds`, `unknown_set` |
//! | `--now` replays | `printed_now_replays_byte_for_byte` |
//! | both orders, `kubernetes` the default | `example_by_kubernetes_order`, `a_circle_is_contested`; `fuzz/tests/preview.rs` |
//! | the feature gates | `gates_and_burst_change_the_choice`, `wrong_flags` |
//! | `--burst-replicas`; more than 500 deletions | `gates_and_burst_change_the_choice`, `more_than_one_sync`; `syncs.rs` |
//! | the outputs | `example_as_table`, `wide_shows_what_the_rules_look_at`, `example_as_json`, `example_as_names_of_the_victims`, `a_page_has_the_answer`, `names_in_a_page_are_no_markup`; `look.rs` |
//! | the owner reference decides whose a pod is, never labels; adoption and release get a note | `pods_to_adopt_and_to_release`; `fuzz/tests/preview.rs` |
//! | incomplete dumps, `--partial` | the section on incomplete dumps; `fuzz/tests/preview.rs` |
//! | `ReplicationController`s; bare sets | `replication_controllers`, `a_bare_set_has_ranks_in_the_total_order_alone` |
//! | nothing to delete is valid | `a_set_without_pods_is_fine`, `example_rules_move_with_the_cut` |
//! | duplicates | `one_pod_twice_and_one_uid_on_two_pods` |
//! | only pods that matter need to be sound | `only_pods_that_matter_need_to_be_sound` |
//! | the names and meaning of the JSON; rules and reasons | `example_as_json`, `everything_that_was_asked_is_in_the_json`, `example_rules_move_with_the_cut`, `a_circle_is_contested`; `fuzz/tests/preview.rs` |
//! | notes and warnings on standard error | the section on notes |
//! | exit 0, 1 with one line that names the place and nothing on standard output, 2 | all that call `fine`, `bad_input`, `bad_flags`; `hostile.rs` |

use podrank::Uid;
use podrank_preview::Input;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-podrank");
const ROLLOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/rollout.json");
const CONTESTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/contested.yaml");
const NEW_SET: [&str; 5] = ["-f", ROLLOUT, "web-7f6b9d5c48", "--order", "total"];
const PRINT: &str = "print the objects with kubectl get pods,replicasets,deployments -o json";
const NOON: [&str; 2] = ["--now", "2026-03-10T12:00:00Z"];

fn run(args: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let (mut input, stdin) = (child.stdin.take().expect("a pipe"), stdin.to_owned());
    // The program may exit with its input unread.
    let writer = thread::spawn(move || drop(input.write_all(stdin.as_bytes())));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Runs on standard input; what comes out on standard output and standard error.
#[track_caller]
fn fine(args: &[&str], stdin: &str) -> (String, String) {
    let output = run(args, stdin);
    let (stdout, stderr) = (text(&output.stdout).to_owned(), text(&output.stderr).to_owned());
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (stdout, stderr)
}

/// Asserts that the dump on standard input is refused with exactly this line.
#[track_caller]
fn bad_input(stdin: &str, args: &[&str], line: &str) {
    let output = run(&[&["-f", "-", "--replicas", "1"], args].concat(), stdin);
    assert_eq!(text(&output.stderr), format!("error: standard input: {line}\n"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(1));
}

#[track_caller]
fn bad_flags(args: &[&str], words: &[&str]) {
    let output = run(&[&["-f", ROLLOUT, "--replicas", "1"], args].concat(), "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
}

fn uid(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// A running pod of `ReplicaSet` web.
fn pod(number: u32) -> Value {
    owned_pod(number, "web")
}

fn owned_pod(number: u32, set: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{set}-{number}"),
            "uid": uid(number),
            "labels": { "app": set },
            "ownerReferences": [
                { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true }
            ],
        },
        "spec": { "nodeName": "a", "containers": [] },
        "status": { "phase": "Running" },
    })
}

fn set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "uid": name,
            "ownerReferences": [
                { "apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "d", "controller": true }
            ],
        },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": name } } },
    })
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = object.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    match value {
        Value::Null => drop(parent.remove(key)),
        value => drop(parent.insert(key.to_owned(), value)),
    }
    object
}

fn container_restarted(times: u32) -> Value {
    json!([{ "name": "app", "image": "", "imageID": "", "ready": true, "restartCount": times }])
}

fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

// The shipped example.

/// Position, name, node, rank, verdict and rule of each line. By hand: one pod has no node; of those that do, one
/// is Pending; one is not ready; one costs -10 and one 100. The other four tie so far. Their nodes hold 4, 4, 3
/// and 3 active pods of both sets, terminating t6zgb left out. On worker-1, z5tgq is ready for 5m30s, d6sjr for
/// 3h. Of w8nlc (170m) and x4rvp (190m), both in the band from 2^43 ns to 2^44 ns (146m to 293m), the first has
/// a restarted sidecar; the five restarts of the other's `migrate` are of an ordinary init container.
#[test]
fn example_as_json() {
    let args = [&NEW_SET[..], &NOON, &["--replicas", "3", "-o", "json"]].concat();
    let (stdout, stderr) = fine(&args, "");
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    let rows = preview["pods"].as_array().expect("pods").iter().map(|pod| {
        let name = pod["name"].as_str().expect("a name").trim_start_matches("web-7f6b9d5c48-");
        json!([pod["position"], name, pod["node"], pod["rank"], pod["verdict"], pod["rule"]])
    });
    let expected = json!([
        [1, "hq8zt", null, 1, "delete", "unassigned"],
        [2, "m9c4x", "worker-3", 3, "delete", "phase"],
        [3, "k2v5d", "worker-2", 3, "delete", "not-ready"],
        [4, "b7wfn", "worker-1", 4, "delete", "deletion-cost"],
        [5, "z5tgq", "worker-1", 4, "delete", "rank"],
        [6, "d6sjr", "worker-1", 4, "delete", "rank"],
        [7, "w8nlc", "worker-2", 3, "keep", "rank"],
        [8, "x4rvp", "worker-3", 3, "keep", "rank"],
        [9, "p4xkl", "worker-4", 2, "keep", "deletion-cost"],
    ]);
    assert_eq!(rows.collect::<Value>(), expected);
    assert_eq!(preview["pods"][3]["why"], "deletion cost -10, web-7f6b9d5c48-w8nlc has 0");
    assert_eq!(preview["pods"][0]["uid"].as_str().map(str::len), Some(36));

    // The names are the contract.
    let note = "Deployment web is in the middle of a rollout (also web-5d8c7f9b64): scaling it would divide its \
                replicas among its ReplicaSets, while this preview scales web-7f6b9d5c48 alone";
    assert_eq!(stderr, format!("note: {note}\n"));
    let mut head = preview.clone();
    head.as_object_mut().expect("an object").remove("pods");
    assert_eq!(
        head,
        json!({
            "apiVersion": "podrank/v1",
            "kind": "ScaleDownPreview",
            "namespace": "default",
            "workload": { "kind": "ReplicaSet", "name": "web-7f6b9d5c48" },
            "replicaSet": "web-7f6b9d5c48",
            "now": "2026-03-10T12:00:00Z",
            "nowSource": "given",
            "order": "total",
            "featureGates": { "PodDeletionCost": true, "LogarithmicScaleDown": true, "PreferForScaleDown": false },
            "active": 9,
            "replicas": 3,
            "burstReplicas": null,
            "partial": false,
            "delete": 6,
            "quota": 0,
            "notes": [{ "level": "note", "code": "mid-rollout", "text": note }],
            "blocked": [],
        })
    );
    let w8nlc = &preview["pods"][6];
    assert_eq!(
        w8nlc,
        &json!({
            "name": "web-7f6b9d5c48-w8nlc",
            "uid": "c8176cc5-dadb-41aa-baa8-57b0ad64b720",
            "node": "worker-2",
            "rank": 3,
            "position": 7,
            "verdict": "keep",
            "rule": "rank",
            "why": "3 related pods on its node, web-7f6b9d5c48-d6sjr has 4",
            "phase": "Running",
            "ready": true,
            "readyTime": "2026-03-10T09:10:00Z",
            "readyAge": "170m",
            "restarts": 0,
            "sidecarRestarts": 2,
            "deletionCost": 0,
            "creationTime": "2026-03-10T09:09:20Z",
            "age": "170m",
        })
    );
    let hq8zt = &preview["pods"][0];
    assert_eq!(
        (&hq8zt["ready"], &hq8zt["readyTime"], &hq8zt["readyAge"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
}

/// docs/preview-json.md names what there is, and nothing else.
#[test]
fn the_document_on_the_json_names_every_field_and_note() {
    let document = include_str!("../../docs/preview-json.md");
    let args = [&NEW_SET[..], &NOON, &["--replicas", "3", "-o", "json"]].concat();
    let preview: Value = serde_json::from_str(&fine(&args, "").0).expect("JSON");
    let args = [&["deploy/web", "-f", ROLLOUT, "--replicas", "3", "-o", "json"][..], &NOON].concat();
    let deployment: Value = serde_json::from_str(&fine(&args, "").0).expect("JSON");
    let of_example = |name: &str, words: &[&str]| -> Value {
        let file = format!("{}/../preview/examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let args = [words, &["-f", &*file, "-o", "json"], &NOON].concat();
        serde_json::from_str(&fine(&args, "").0).expect("JSON")
    };
    let stateful_set = of_example("stateful-set", &["sts/db", "--replicas", "3"]);
    let job = of_example("job", &["job/import", "--completions", "4", "--suspend"]);
    let daemon_set = of_example("daemon-set", &["ds/agent"]);
    let mut names: Vec<String> = Vec::new();
    for (prefix, object) in [
        ("", &preview),
        ("pods[].", &preview["pods"][0]),
        ("notes[].", &preview["notes"][0]),
        ("", &deployment),
        ("sets[].", &deployment["sets"][0]),
        ("", &stateful_set),
        ("blocked[].", &stateful_set["blocked"][0]),
        ("", &job),
        ("", &daemon_set),
    ] {
        names.extend(object.as_object().expect("an object").keys().map(|key| format!("{prefix}{key}")));
    }
    let rows: Vec<_> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).collect();
    let documented: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    for name in &names {
        assert!(documented.contains(&name.as_str()), "{name} is not documented");
    }
    for name in documented.iter().filter(|name| !name.contains('-') && **name != "workload.kind") {
        assert!(names.iter().any(|known| known == name) || *name == "workload.name", "there is no {name}");
    }
    let codes = [
        "set-missing",
        "siblings-missing",
        "pods-missing",
        "more-pods-than-status",
        "listed-twice",
        "invalid-deletion-cost",
        "several-syncs",
        "mid-rollout",
        "written-back",
        "would-adopt",
        "would-release",
        "created-after-now",
        "time-of-dump",
        "differs-at-clock",
        "differs-soon",
        "status-lags",
        "no-sets",
        "does-nothing",
        "rollout-paused",
        "goes-on",
        "rollout-waits",
        "depends-on-release",
        "claims-go",
        "nodes-missing",
        "revision-missing",
        "may-back-off",
        "becomes-available",
        "idle-wish",
        "unmet-wish",
        "disruption-budget",
        "deadline-passes",
    ];
    let mut documented: Vec<_> = documented.into_iter().filter(|name| name.contains('-')).collect();
    documented.sort_unstable();
    let mut sorted = codes;
    sorted.sort_unstable();
    assert_eq!(documented, sorted);
}

#[test]
fn everything_that_was_asked_is_in_the_json() {
    let flags = ["--replicas", "3", "-o", "json", "--burst-replicas", "2", "--partial"];
    let gates = ["--feature-gates", "PodDeletionCost=false"];
    let (stdout, _) = fine(&[&NEW_SET[..], &NOON, &flags, &gates].concat(), "");
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        (&preview["burstReplicas"], &preview["partial"], &preview["delete"]),
        (&json!(2), &json!(true), &json!(2))
    );
    assert_eq!(preview["featureGates"]["PodDeletionCost"], false);
}

#[test]
fn example_rules_move_with_the_cut() {
    let separating = |replicas, position: usize| {
        let args = [&NEW_SET[..], &NOON, &["--replicas", replicas, "-o", "json"]].concat();
        let preview: Value = serde_json::from_str(&fine(&args, "").0).expect("JSON");
        let pod = &preview["pods"][position - 1];
        (pod["rule"].clone(), pod["why"].as_str().expect("a sentence").replace("web-7f6b9d5c48-", ""))
    };
    assert_eq!(
        separating("4", 5),
        (json!("ready-time"), "ready for 5m30s, d6sjr for 3h: different age buckets".to_owned())
    );
    assert_eq!(separating("2", 8), (json!("sidecar-restarts"), "0 sidecar restarts, w8nlc has 2".to_owned()));
    assert_eq!(separating("8", 1), (json!("unassigned"), "not assigned to a node, but m9c4x is".to_owned()));
    assert_eq!(separating("7", 2), (json!("phase"), "Pending, k2v5d is Running".to_owned()));
    assert_eq!(separating("6", 4), (json!("not-ready"), "ready, but k2v5d is not".to_owned()));
    assert_eq!(separating("0", 9), (Value::Null, "all pods go".to_owned()));
    assert_eq!(separating("9", 1), (Value::Null, "nothing to delete".to_owned()));
    assert_eq!(separating("2147483647", 1), (Value::Null, "nothing to delete".to_owned()));
}

#[test]
fn example_as_table() {
    let (stdout, _) = fine(&[&NEW_SET[..], &NOON, &["--replicas", "4"]].concat(), "");
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(
        lines[0],
        "5 of 9 active pods of ReplicaSet default/web-7f6b9d5c48 go at --replicas 4 --now 2026-03-10T12:00:00Z \
         --order total"
    );
    let words = |line: usize| lines[line].split_whitespace().take(7).collect::<Vec<_>>();
    assert_eq!(words(2), ["#", "VERDICT", "POD", "NODE", "RANK", "AGE", "RULE"]);
    assert_eq!(words(3), ["1", "delete", "web-7f6b9d5c48-hq8zt", "<none>", "1", "90s", "unassigned"]);
    assert_eq!(words(7), ["5", "delete", "web-7f6b9d5c48-z5tgq", "worker-1", "4", "6m12s", "ready-time"]);
    assert!(!lines[8].is_empty() && lines[8].chars().all(|c| c == '-'), "{}", lines[8]);
    assert_eq!(words(9), ["6", "keep", "web-7f6b9d5c48-d6sjr", "worker-1", "4", "3h", "ready-time"]);
    assert_eq!(lines.len(), 13);
    assert!(!stdout.contains('\u{1b}'), "a pipe gets no colour");
}

/// By hand: kube-controller-manager asks the same up to the ready times. Of d6sjr and z5tgq, in different bands, the
/// younger goes first; x4rvp and w8nlc are in one band and became ready at different times, so it asks their UIDs,
/// where x4rvp's is the smaller: no circle among two.
#[test]
fn example_by_kubernetes_order() {
    let args = ["-f", ROLLOUT, "web-7f6b9d5c48", "--replicas", "2", "-o", "json"];
    let explicit = [&args[..], &NOON, &["--order", "kubernetes"]].concat();
    let (stdout, _) = fine(&explicit, "");
    assert_eq!(stdout, fine(&[&args[..], &NOON].concat(), "").0, "it is the default");
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(preview["order"], "kubernetes");
    let row = |position: usize| {
        let pod = &preview["pods"][position - 1];
        let name = pod["name"].as_str().expect("a name").trim_start_matches("web-7f6b9d5c48-").to_owned();
        (name, pod["verdict"].clone(), pod["rule"].clone())
    };
    assert_eq!(row(7), ("x4rvp".to_owned(), json!("delete"), json!("uid")));
    assert_eq!(row(8), ("w8nlc".to_owned(), json!("keep"), json!("uid")));
}

/// What the page of `-o html` shows: the text within the element that is for it.
fn given(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="given">"#).expect("the element");
    let (given, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(given).expect("JSON")
}

#[test]
fn a_page_has_the_answer() {
    let asked = ["--feature-gates", "PodDeletionCost=false", "--burst-replicas", "2"];
    let args = [&["deploy/web", "-f", ROLLOUT, "--replicas", "5"][..], &NOON, &asked].concat();
    let (page, notes) = fine(&[&args[..], &["-o", "html"]].concat(), "");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    let given = given(&page);
    assert_eq!(given["title"], "deploy/web in default");
    assert_eq!(
        given["options"],
        json!({
            "namespace": "default",
            "workload": "deploy/web",
            "replicas": 5,
            "now": "2026-03-10T12:00:00Z",
            "order": "kubernetes",
            "featureGates": { "PodDeletionCost": false },
            "burstReplicas": 2,
            "partial": false,
        })
    );
    // What it has of the dump leads to the same answer.
    let again = [&["deploy/web", "-f", "-", "--replicas", "5", "-o", "json"][..], &NOON, &asked].concat();
    let json = fine(&[&args[..], &["-o", "json"]].concat(), "");
    assert_eq!(fine(&again, &given["dump"].to_string()), json);
    assert_eq!(notes, json.1);
}

#[test]
fn names_in_a_page_are_no_markup() {
    let evil = "</script><!--<script>";
    let set = with(set("web"), "/metadata/name", json!(evil));
    let pod = with(pod(1), "/metadata/ownerReferences/0/name", json!(evil));
    let (page, _) = fine(&["-f", "-", "--replicas", "0", "--partial", "-o", "html"], &list(&[set, pod]));
    assert_eq!(given(&page)["options"]["workload"], format!("rs/{evil}"));
}

/// X before Z (the smaller UID, as they became ready a second apart), Z before Y likewise, and Y before X (restarted, as
/// they became ready together): a circle.
#[test]
fn a_circle_is_contested() {
    let ready = |number: u32, time: &str, restarts: u32| {
        let condition = json!([{ "type": "Ready", "status": "True", "lastTransitionTime": time }]);
        let pod = with(pod(number), "/status/conditions", condition);
        with(pod, "/status/containerStatuses", container_restarted(restarts))
    };
    let (x, y, z) = (
        ready(1, "2026-03-10T11:59:00Z", 0),
        ready(3, "2026-03-10T11:59:00Z", 5),
        ready(2, "2026-03-10T11:58:59Z", 0),
    );
    let first = with(pod(4), "/status/phase", json!("Pending"));
    let last = with(
        ready(5, "2026-03-09T11:59:00Z", 0),
        "/metadata/annotations",
        json!({
            "controller.kubernetes.io/pod-deletion-cost": "7"
        }),
    );
    let two = with(set("web"), "/spec/replicas", json!(2));
    let dump = list(&[two, last, x, first, y, z]);
    let args = [&["-f", "-", "--replicas", "2"], &NOON[..]].concat();
    let (stdout, _) = fine(&[&args[..], &["-o", "json"]].concat(), &dump);
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(3), &json!(2)));
    let rows = preview["pods"].as_array().expect("pods").iter();
    let rows: Value = rows.map(|pod| json!([pod["name"], pod["verdict"], pod["rule"], pod["why"]])).collect();
    let contested = "one of 3 pods of which 2 go, by list order: the rules form a cycle";
    assert_eq!(
        rows,
        json!([
            ["web-4", "delete", "phase", "Pending, web-3 is Running"],
            // In the total order: the restarted one, then by UID.
            ["web-3", "contested", null, contested],
            ["web-1", "contested", null, contested],
            ["web-2", "contested", null, contested],
            ["web-5", "keep", "deletion-cost", "deletion cost 7, web-2 has 0"],
        ])
    );
    let (names, stderr) = fine(&[&args[..], &["-o", "name"]].concat(), &dump);
    assert_eq!(names, "pod/web-4\n");
    assert_eq!(
        stderr,
        "note: only the certain victims are printed: 2 of 3 contested pods go (-o table lists them)\n"
    );

    let (table, _) = fine(&args, &dump);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(
        lines[0],
        "3 of 5 active pods of ReplicaSet default/web go (1 certain, and 2 of 3 contested ones) at --replicas 2 \
         --now 2026-03-10T12:00:00Z --order kubernetes"
    );
    let rules: Vec<_> = (0..lines.len()).filter(|&line| lines[line].starts_with("---")).collect();
    assert_eq!(rules, [4, 8], "a line before and after the contested: {table}");

    // The total order decides it.
    let (names, _) = fine(&[&args[..], &["-o", "name", "--order", "total"]].concat(), &dump);
    assert_eq!(names, "pod/web-4\npod/web-3\npod/web-1\n");
}

/// Kubernetes counts no ranks of a set without a controller: there, both pods tie; the total order spreads them.
#[test]
fn a_bare_set_has_ranks_in_the_total_order_alone() {
    let dump = list(&[
        with(set("web"), "/metadata/ownerReferences", Value::Null),
        with(pod(1), "/spec/nodeName", json!("a")),
        with(pod(2), "/spec/nodeName", json!("b")),
        with(pod(3), "/spec/nodeName", json!("b")),
    ]);
    let ranks = |order| {
        let args = ["-f", "-", "--replicas", "2", "-o", "json", "--order", order];
        let preview: Value = serde_json::from_str(&fine(&args, &dump).0).expect("JSON");
        let pods = preview["pods"].as_array().expect("pods").iter();
        pods.map(|pod| json!([pod["name"], pod["rank"], pod["verdict"]])).collect::<Value>()
    };
    assert_eq!(ranks("total"), json!([["web-2", 2, "delete"], ["web-3", 2, "keep"], ["web-1", 1, "keep"]]));
    let expected = json!([["web-1", 0, "contested"], ["web-2", 0, "contested"], ["web-3", 0, "contested"]]);
    assert_eq!(ranks("kubernetes"), expected);

    // A tie is contested like a cycle. No name is certain, and the program says so.
    let args = ["-f", "-", "--replicas", "2"];
    let (table, _) = fine(&args, &dump);
    assert_eq!(
        table.matches("one of 3 pods of which 1 goes, by list order: no rule separates them\n").count(),
        3
    );
    let (names, stderr) = fine(&[&args[..], &["-o", "name"]].concat(), &dump);
    assert_eq!(names, "");
    assert_eq!(stderr, "note: no victim is certain: 1 of 3 contested pods goes (-o table lists them)\n");
}

#[test]
fn example_as_names_of_the_victims() {
    let (stdout, _) = fine(&[&NEW_SET[..], &NOON, &["--replicas", "7", "-o", "name"]].concat(), "");
    assert_eq!(stdout, "pod/web-7f6b9d5c48-hq8zt\npod/web-7f6b9d5c48-m9c4x\n");
}

#[test]
fn gates_and_burst_change_the_choice() {
    let victims = |args: &[&str]| {
        let args = [&NEW_SET[..], &NOON, &["--replicas", "3", "-o", "name"], args].concat();
        fine(&args, "").0.replace("pod/web-7f6b9d5c48-", "")
    };
    assert_eq!(victims(&[]), "hq8zt\nm9c4x\nk2v5d\nb7wfn\nz5tgq\nd6sjr\n");
    // With costs ignored, b7wfn (ready for 3h11m) is in one band with d6sjr, and its name is no rule.
    let ignored = victims(&["--feature-gates", "PodDeletionCost=false,LogarithmicScaleDown=false"]);
    assert_eq!(ignored, "hq8zt\nm9c4x\nk2v5d\nz5tgq\nd6sjr\nb7wfn\n");
    // What was asked stands in the headline, so that no two previews look alike that are not.
    let args = [&NEW_SET[..], &NOON, &["--replicas", "3", "--feature-gates"]].concat();
    let headline = |gates| fine(&[&args[..], &[gates]].concat(), "").0.lines().next().map(str::to_owned);
    let ends = |gates, end: &str| assert!(headline(gates).is_some_and(|line| line.ends_with(end)), "{gates}");
    ends("PodDeletionCost=true", " --order total");
    ends("PodDeletionCost=false", " --order total --feature-gates PodDeletionCost=false");
    ends(
        "PreferForScaleDown=true,LogarithmicScaleDown=false",
        " --order total --feature-gates LogarithmicScaleDown=false,PreferForScaleDown=true",
    );
    let later_wins = ["--feature-gates", "PodDeletionCost=false", "--feature-gates", "PodDeletionCost=true"];
    assert_eq!(victims(&later_wins), victims(&[]));
    assert_eq!(victims(&["--burst-replicas", "2"]), "hq8zt\nm9c4x\n");
    let limited = [&NEW_SET[..], &NOON, &["--replicas", "3", "--burst-replicas", "2", "--partial"]].concat();
    let (table, _) = fine(&limited, "");
    assert!(
        table
            .lines()
            .next()
            .is_some_and(|line| line.ends_with(" --order total --burst-replicas 2 --partial")),
        "{table}"
    );
}

#[test]
fn printed_now_replays_byte_for_byte() {
    let args = [&NEW_SET[..], &["--replicas", "3", "-o", "json"]].concat();
    let (first, _) = fine(&args, "");
    let preview: Value = serde_json::from_str(&first).expect("JSON");
    let now = preview["now"].as_str().expect("a time");
    let (again, _) = fine(&[&args[..], &["--now", now]].concat(), "");
    // Nothing but where that time comes from is another.
    let mut expected = preview.clone();
    expected["nowSource"] = json!("given");
    expected["notes"].as_array_mut().expect("notes").retain(|note| note["code"] != "time-of-dump");
    assert_ne!(expected["notes"], preview["notes"]);
    assert_eq!(serde_json::from_str::<Value>(&again).expect("JSON"), expected);
    let table = [&NEW_SET[..], &["--replicas", "3"]].concat();
    assert_eq!(fine(&table, "").0, fine(&[&table[..], &["--now", now]].concat(), "").0);
}

#[test]
fn standard_input_is_read() {
    let dump = fs::read_to_string(ROLLOUT).expect("the example");
    let args = ["--replicas", "4", "rs/web-7f6b9d5c48", "-f"];
    let (from_file, _) = fine(&[&args[..], &[ROLLOUT], &NOON].concat(), "");
    let (from_stdin, _) = fine(&[&args[..], &["-"], &NOON].concat(), &dump);
    assert_eq!(from_file, from_stdin);
}

// Bad input.

#[test]
fn not_json() {
    let empty = format!("the input is empty: {PRINT}");
    bad_input("", &[], &empty);
    bad_input(" \n\n", &[], &empty);
    bad_input("{\n  \"kind\": Pod\n}", &[], "line 2 column 11: not JSON: expected value");
    bad_input("{\"kind\": \"List\", \"items\": []} x", &[], "line 1 column 31: not JSON: expected value");
    bad_input(
        "{\"kind\": \"List\", \"items\": [], \"items\": []}",
        &[],
        "line 1 column 42: items is twice in one object",
    );
    bad_input(
        "[]",
        &[],
        "line 1 column 1: invalid type: sequence, expected a Kubernetes object or list of them",
    );
}

#[test]
fn not_yaml() {
    let object = "expected a Kubernetes object or list of them";
    let text = format!("line 1: plain text in place of Kubernetes objects: {PRINT}");
    bad_input("hello", &[], &text);
    bad_input(&"hello world ".repeat(10_000), &[], &text);
    bad_input("web-1   1/1   Running   2 (5m ago)   3h\nweb-2   0/1   Pending   0   3h\n", &[], &text);
    bad_input("- 1\n", &[], &format!("line 1: invalid type: sequence, {object}"));
    bad_input("---\n# nothing\n", &[], &format!("the input has no object: {PRINT}"));
    bad_input(
        "kind: List\nitems:\n- {\n",
        &[],
        "line 4: not YAML: while parsing a node, did not find expected node content",
    );
    bad_input(
        "kind: List\nitems:\n- 1\n",
        &[],
        "line 3: items[0]: invalid type: integer `1`, expected a Kubernetes object",
    );
    bad_input("a: &x 1\nb: *x\n", &[], "line 2: a YAML alias, which kubectl never writes: use -o json");
    // kubectl writes a list's kind last.
    bad_input(
        "apiVersion: v1\nitems: []\n",
        &[],
        "line 2: the list has no kind, so the input may be cut off",
    );
    bad_input(
        "items: []\nkind: Li\n",
        &[],
        "line 2: Li is not the kind of a list, so the input may be cut off",
    );
    // Not quoted, as no label is that kubectl prints: what Kubernetes says too.
    let numeric = "kind: Pod\nmetadata:\n  name: a\n  labels: {b: 1e3}\n";
    bad_input(numeric, &[], "line 4: metadata.labels.b: invalid type: integer `1000`, expected a string");
}

#[test]
fn not_utf_8() {
    let refused = |bytes: &[u8]| Input::read(bytes).expect_err("it is refused").to_string();
    assert_eq!(
        refused(b"\xFF\xFE{\0}\0"),
        "not UTF-8, but perhaps UTF-16, as PowerShell writes: convert it to UTF-8"
    );
    assert_eq!(refused(b"a: b\nc: \xC3"), "not UTF-8 at line 2");
    assert!(refused(b"{\"kind\": \"\xC3\"}").contains("unicode"), "{}", refused(b"{\"kind\": \"\xC3\"}"));
    // The byte order mark that editors on Windows write is no matter.
    let dump = format!("\u{FEFF}{}", list(&[set("web"), pod(1)]));
    fine(&["-f", "-", "--replicas", "1"], &dump);
}

#[test]
fn yaml_past_the_limit() {
    let error = Input::read(std::io::repeat(b'#')).expect_err("it has no end");
    assert_eq!(
        error.to_string(),
        "the YAML is longer than 256 MiB: print the objects with -o json, which has no limit"
    );
}

#[test]
fn truncated() {
    let dump = list(&[set("web"), pod(1), pod(2)]);
    for length in [1, 20, dump.len() / 2, dump.len() - 2, dump.len() - 1] {
        let output = run(&["-f", "-", "--replicas", "1"], &dump[..length]);
        let stderr = text(&output.stderr);
        assert_eq!(
            stderr,
            format!("error: standard input: line 1 column {length}: the input is cut off here\n")
        );
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    }
}

#[test]
fn neither_a_pod_nor_a_set() {
    let empty = "the list is empty: check the namespace and the labels given to kubectl get";
    bad_input(r#"{"apiVersion":"v1","kind":"List","items":null}"#, &[], empty);
    bad_input("apiVersion: v1\nitems: []\nkind: List\n", &[], empty);
    let others = |count| format!("no Pod or workload that has a preview among {count}: {PRINT}");
    bad_input(r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}"#, &[], &others("1 object"));
    bad_input("{}", &[], &others("1 object"));
    let other_group = with(pod(1), "/apiVersion", json!("example.com/v1"));
    let cron_job = json!({ "apiVersion": "batch/v1", "kind": "CronJob" });
    bad_input(&list(&[other_group, cron_job]), &[], &others("2 objects"));
}

#[test]
fn a_table_for_people() {
    let line = format!("the input is a table for people: {PRINT}");
    bad_input(
        "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          3h\n",
        &[],
        &line,
    );
    bad_input("\nNAMESPACE   NAME\ndefault     web-1\n", &[], &line);
    let all = "NAME        READY   STATUS\npod/web-1   1/1     Running\n\nNAME      DESIRED\nreplicaset.apps/web   1\n";
    bad_input(all, &[], &line);
}

/// Whatever stands in an input, no error repeats it at length.
#[test]
fn errors_quote_forty_characters() {
    let long = "x".repeat(100_000);
    let uid = json!(long);
    for dump in [
        long.clone(),
        format!("{long}: {long}"),
        format!("items: []\nkind: {long}\n"),
        format!("{{\"{long}\": 1, \"{long}\": 2}}"),
        format!("a: !!{long} b"),
        format!("\"{long}\": *{long}"),
        list(&[json!(long)]),
        list(&[with(pod(1), "/metadata/labels", json!(long))]),
        list(&[with(pod(1), "/metadata/labels", json!({ long.clone(): 1 }))]),
        list(&[set("web"), with(pod(1), "/metadata/uid", uid.clone())]),
        list(&[set("web"), with(pod(1), "/metadata/creationTimestamp", json!(long))]),
        list(&[set("web"), with(pod(1), "/status/containerStatuses", json!([{ "restartCount": long }]))]),
        list(&[set("web"), with(pod(1), "/status/containerStatuses", json!([{ "restartCount": 1e300 }]))]),
        list(&[set(&long), owned_pod(1, &long), set("web"), pod(2)]),
        list(&[with(set("web"), "/metadata/namespace", json!(long)), set("web")]),
        list(&(0..1_000).map(|number| set(&format!("{number}{}", "y".repeat(100)))).collect::<Vec<_>>()),
        list(&[owned_pod(1, &long)]),
    ] {
        let output = run(&["-f", "-", "--replicas", "1"], &dump);
        let stderr = text(&output.stderr);
        assert_eq!(
            (output.status.code(), stderr.lines().count()),
            (Some(1), 1),
            "{}",
            &stderr[..stderr.len().min(999)]
        );
        assert!(stderr.len() < 3_500, "{} bytes: {}", stderr.len(), &stderr[..999]);
    }
    let dump = list(&[set("web"), with(pod(1), "/metadata/creationTimestamp", json!(long))]);
    let time = format!(
        "pod default/web-1: metadata.creationTimestamp: \"{}…\" is not a time as in RFC 3339",
        &long[..40]
    );
    bad_input(&dump, &[], &time);
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": long });
    let (_, stderr) = fine(
        &["-f", "-", "--replicas", "1"],
        &list(&[set("web"), with(pod(1), "/metadata/annotations", cost)]),
    );
    assert!(stderr.len() < 300, "{stderr}");
}

#[test]
fn unreadable_objects() {
    bad_input(
        &list(&[pod(1), json!(1)]),
        &[],
        &format!(
            "line 1 column {}: items[1]: invalid type: integer `1`, expected a Kubernetes object",
            list(&[pod(1), json!(1)]).find("],\"kind\":\"List\"").expect("the end of the items") + 1
        ),
    );
    let nameless = list(&[with(pod(1), "/metadata/name", Value::Null)]);
    let output = run(&["-f", "-", "--replicas", "1"], &nameless);
    let stderr = text(&output.stderr);
    assert!(stderr.ends_with(": items[0]: metadata: missing field `name`\n"), "{stderr}");
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1));
}

#[test]
fn unsound_pods() {
    let one = |pod: Value| list(&[set("web"), pod]);
    bad_input(
        &one(with(pod(1), "/metadata/uid", Value::Null)),
        &[],
        "pod default/web-1: metadata.uid is missing",
    );
    for wrong in [&uid(1)[1..], "0000000A-0000-4000-8000-000000000000", "?"] {
        let error = Uid::parse(wrong).expect_err("it is no UID");
        bad_input(
            &one(with(pod(1), "/metadata/uid", json!(wrong))),
            &[],
            &format!("pod default/web-1: metadata.uid: {error}"),
        );
    }
    bad_input(
        &one(with(pod(1), "/metadata/creationTimestamp", json!("yester\nday"))),
        &[],
        "pod default/web-1: metadata.creationTimestamp: \"yester\\nday\" is not a time as in RFC 3339",
    );
    bad_input(
        &list(&[with(set("web"), "/status", json!({ "replicas": "3" })), pod(1)]),
        &[],
        "default ReplicaSet/web: status.replicas: invalid type: string \"3\", expected i32",
    );
    bad_input(
        &one(with(pod(1), "/status/containerStatuses", json!([{ "name": "a", "restartCount": "3" }]))),
        &[],
        "pod default/web-1: status.containerStatuses[0].restartCount: invalid type: string \"3\", expected i32",
    );
    bad_input(
        &list(&[with(set("web"), "/spec/selector/matchLabels", json!(3)), pod(1)]),
        &[],
        "default ReplicaSet/web: spec.selector.matchLabels: invalid type: integer `3`, expected a map",
    );
}

#[test]
fn only_pods_that_matter_need_to_be_sound() {
    let unsound = |pod: Value| {
        let pod = with(pod, "/metadata/uid", json!("?"));
        with(pod, "/metadata/creationTimestamp", json!("?"))
    };
    let others = [
        unsound(owned_pod(7, "api")),
        with(unsound(pod(8)), "/status/phase", json!("Succeeded")),
        with(unsound(pod(9)), "/metadata/deletionTimestamp", json!("2026-03-10T12:00:00Z")),
    ];
    let dump = list(&[&[set("web"), pod(1), pod(2)], &others[..]].concat());
    let (stdout, _) = fine(&["-f", "-", "--replicas", "1", "web", "--order", "total", "-o", "name"], &dump);
    assert_eq!(stdout, "pod/web-1\n");
    // Once its labels make it related, it matters.
    let related = with(unsound(owned_pod(7, "api")), "/metadata/labels/app", json!("web"));
    bad_input(
        &list(&[set("web"), set("api"), pod(1), with(related, "/metadata/creationTimestamp", Value::Null)]),
        &["web"],
        &format!("pod default/api-7: metadata.uid: {}", Uid::parse("?").expect_err("it is no UID")),
    );
    // Nor does the status of a sibling matter.
    let sibling = with(set("api"), "/status", json!({ "replicas": "3" }));
    fine(&["-f", "-", "--replicas", "1", "web"], &list(&[set("web"), sibling, pod(1)]));
}

#[test]
fn one_pod_twice_and_one_uid_on_two_pods() {
    let args = ["-f", "-", "--replicas", "1", "--order", "total", "-o", "name"];
    let (stdout, stderr) = fine(&args, &list(&[set("web"), pod(1), pod(2), pod(1)]));
    assert_eq!(stdout, "pod/web-1\n");
    assert_eq!(stderr, "note: pod default/web-1 is listed more than once: only the first entry counts\n");

    let (_, thrice) = fine(&args, &list(&[set("web"), pod(1), pod(2), pod(1), pod(1)]));
    assert_eq!(thrice, stderr);

    let one = uid(1);
    bad_input(
        &list(&[set("web"), pod(1), with(pod(2), "/metadata/uid", json!(one))]),
        &[],
        &format!("pod default/web-2: metadata.uid: pod default/web-1 has {one}, too; UIDs must be unique"),
    );
    bad_input(
        &list(&[set("web"), pod(1), with(pod(2), "/metadata/name", json!("web-1"))]),
        &[],
        &format!(
            "pod default/web-1: metadata.uid: {}, but {one} where the pod is listed before; list it once",
            uid(2)
        ),
    );
}

#[test]
fn missing_file() {
    let output = run(&["-f", "/nowhere/pods.json", "--replicas", "1"], "");
    assert_eq!(text(&output.stderr), "error: /nowhere/pods.json: No such file or directory (os error 2)\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

// Which set.

#[test]
fn several_sets() {
    let several = "the input has pods of several workloads: ";
    let choose = "; choose one as TYPE/NAME, with --namespace";
    let elsewhere = with(pod(3), "/metadata/namespace", json!("a"));
    let dump = list(&[pod(1), owned_pod(2, "api"), elsewhere]);
    bad_input(
        &dump,
        &[],
        &format!("{several}a ReplicaSet/web, default ReplicaSet/api, default ReplicaSet/web{choose}"),
    );
    bad_input(
        &dump,
        &["-n", "default"],
        &format!("{several}default ReplicaSet/api, default ReplicaSet/web{choose}"),
    );
    bad_input(
        &dump,
        &["web"],
        &format!("several workloads are named web: a ReplicaSet/web, default ReplicaSet/web{choose}"),
    );
    bad_input(
        &list(&[set("web"), set("api")]),
        &[],
        &format!(
            "the input has several workloads, none with pods: default ReplicaSet/api, default ReplicaSet/web{choose}"
        ),
    );
    fine(&["-f", "-", "--replicas", "1", "--partial", "-n", "a"], &dump);
    fine(&["-f", "-", "--replicas", "1", "--partial", "-n", "default", "api"], &dump);
    // The only set with pods is meant, however many others there are.
    fine(&["-f", "-", "--replicas", "1"], &list(&[set("web"), set("api"), pod(1)]));
}

#[test]
fn one_name_on_two_kinds() {
    let controller = json!([{ "apiVersion": "v1", "kind": "ReplicationController", "name": "web", "uid": "rc", "controller": true }]);
    let dump = list(&[pod(1), with(owned_pod(2, "rc"), "/metadata/ownerReferences", controller)]);
    bad_input(
        &dump,
        &["web"],
        "several workloads are named web: default ReplicaSet/web, default ReplicationController/web; \
         choose one as TYPE/NAME, with --namespace",
    );
    for (name, victim) in [
        ("rs/web", "pod/web-1\n"),
        ("replicaset.apps/web", "pod/web-1\n"),
        ("ReplicaSet/web", "pod/web-1\n"),
        ("rc/web", "pod/rc-2\n"),
        ("replicationcontroller/web", "pod/rc-2\n"),
    ] {
        let args = ["-f", "-", "--replicas", "0", "--partial", "-o", "name", name];
        assert_eq!(fine(&args, &dump).0, victim, "{name}");
    }
}

#[test]
fn unknown_set() {
    let dump = list(&[set("web-7f6b9d5c48"), set("api-5d8c7f9b64")]);
    bad_input(
        &dump,
        &["web-7f6b9d5c84"],
        "no workload is named web-7f6b9d5c84; did you mean \
         rs/web-7f6b9d5c48?",
    );
    bad_input(
        &dump,
        &["rc/xyz"],
        "no ReplicationController is named xyz; the input has none; get it with kubectl get \
         pods,replicationcontrollers -o json",
    );
    bad_input(
        &dump,
        &["-n", "prod"],
        "no workload in namespace prod; the input has: default ReplicaSet/api-5d8c7f9b64, \
         default ReplicaSet/web-7f6b9d5c48",
    );
    bad_input(
        &list(&[set("web-1"), set("web-2"), set("api")]),
        &["d"],
        "d is a Deployment; name one of its ReplicaSets: default ReplicaSet/api, default ReplicaSet/web-1, \
         default ReplicaSet/web-2",
    );
    let orphan = with(pod(1), "/metadata/ownerReferences", Value::Null);
    bad_input(
        &list(&[orphan]),
        &[],
        "none of the 1 pod belongs to a ReplicaSet or ReplicationController, and no other workload is in the input",
    );
}

#[test]
fn a_set_without_pods_is_fine() {
    let (stdout, stderr) = fine(&["-f", "-", "--replicas", "1"], &set("web").to_string());
    assert!(
        stdout.starts_with("0 of 0 active pods of ReplicaSet default/web go at --replicas 1 "),
        "{stdout}"
    );
    assert_eq!((stdout.lines().count(), stderr.as_str()), (1, ""));
    let gone = with(pod(1), "/status/phase", json!("Failed"));
    let (stdout, _) = fine(&["-f", "-", "--replicas", "0", "-o", "name"], &list(&[gone, set("web")]));
    assert_eq!(stdout, "");
}

#[test]
fn one_object_whatever_the_order_of_its_keys() {
    let args = ["-f", "-", "--replicas", "0", "--order", "total", "-o", "name"];
    let (metadata, rest) = (&pod(1)["metadata"], r#""spec":{},"status":{"phase":"Running"}"#);
    for dump in [
        format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata},{rest}}}"#),
        format!(r#"{{{rest},"metadata":{metadata},"apiVersion":"v1","kind":"Pod"}}"#),
    ] {
        assert_eq!(fine(&args, &dump).0, "pod/web-1\n");
    }
}

#[test]
fn several_documents() {
    let args = ["-f", "-", "--replicas", "0", "--order", "total", "-o", "name"];
    let sets = list(&[set("web")]);
    let both = "pod/web-1\npod/web-2\n";
    for dump in [
        format!("{}{}", pod(1), pod(2)),
        format!("{sets}\n{}\n{}\n", list(&[pod(1)]), list(&[pod(2)])),
        format!(" \n\t{}\n\n{}{sets} ", pod(1), pod(2)),
        format!("---\n{}\n---\n{}\n---\n---\n{sets}\n", pod(1), pod(2)),
        format!("# two\n{}\n...\n{}\n", pod(1), list(&[pod(2)])),
    ] {
        assert_eq!(fine(&args, &dump).0, both, "{dump}");
    }
}

/// `jq --sort-keys` and YAML write `items` before the kind that a typed list gives them.
#[test]
fn items_without_a_kind_of_their_own() {
    let bare = |object: Value| with(with(object, "/kind", Value::Null), "/apiVersion", Value::Null);
    let typed = |kind: &str, version: &str, item: Value| {
        let (first, last) = (bare(item.clone()), bare(item));
        [
            format!(r#"{{"kind":"{kind}","apiVersion":"{version}","items":[{first}]}}"#),
            format!(r#"{{"apiVersion":"{version}","items":[{last}],"kind":"{kind}"}}"#),
        ]
    };
    let args = ["-f", "-", "--replicas", "1"];
    for (pods, sets) in
        typed("PodList", "v1", pod(1)).iter().zip(typed("ReplicaSetList", "apps/v1", set("web")))
    {
        let (stdout, stderr) = fine(&args, &format!("{pods}{sets}"));
        assert!(stdout.starts_with("0 of 1 active pods of ReplicaSet default/web go"), "{stdout}");
        assert_eq!(stderr, "", "the set is known");
    }
    let [_, controllers] = typed("ReplicationControllerList", "v1", with(set("web"), "/spec", Value::Null));
    let (stdout, _) = fine(&args, &controllers);
    assert!(stdout.starts_with("0 of 0 active pods of ReplicationController default/web go"), "{stdout}");
    let [_, services] = typed("ServiceList", "v1", json!({ "metadata": 1 }));
    bad_input(&services, &[], &format!("no Pod or workload that has a preview among 1 object: {PRINT}"));
    let nameless = r#"{"items":[{"metadata":{}}],"kind":"PodList"}"#;
    bad_input(nameless, &[], "line 1 column 44: items[0]: metadata: missing field `name`");
}

/// The same pods as kubectl prints them in YAML.
#[test]
fn yaml_is_read_as_json_is() {
    let dump = fs::read_to_string(CONTESTED).expect("the example");
    let args = ["-f", CONTESTED, "--replicas", "3", "-o", "json", NOON[0], NOON[1]];
    let preview: Value = serde_json::from_str(&fine(&args, "").0).expect("JSON");
    let rows = preview["pods"].as_array().expect("pods").iter();
    let rows: Value =
        rows.map(|pod| json!([pod["name"], pod["rank"], pod["verdict"], pod["rule"]])).collect();
    assert_eq!(
        rows,
        json!([
            ["api-6c9d8f7b5-8wz5c", 1, "contested", null],
            ["api-6c9d8f7b5-4kq2n", 1, "contested", null],
            ["api-6c9d8f7b5-t7xjd", 1, "contested", null],
            ["api-6c9d8f7b5-pm6vr", 1, "keep", "deletion-cost"],
        ])
    );
    // As Kubernetes does, unquoted times are taken for text.
    let unquoted = dump.replace("\"2026-03-10T11:59:00Z\"", "2026-03-10T11:59:00Z");
    assert_ne!(dump, unquoted);
    let args = [&["-f", "-"], &args[2..]].concat();
    let again: Value = serde_json::from_str(&fine(&args, &unquoted).0).expect("JSON");
    assert_eq!(preview, again);
}

#[test]
fn yaml_of_five_thousand_pods() {
    let mut dump = "apiVersion: v1\nitems:\n".to_owned();
    for number in 0..5_000 {
        // Flow style: JSON within YAML.
        dump.extend(["- ", &pod(number).to_string(), "\n"]);
    }
    dump += "kind: List\n";
    let (stdout, _) = fine(&["-f", "-", "--replicas", "4999", "-o", "name", "--order", "total"], &dump);
    assert_eq!(stdout, "pod/web-0\n");
}

/// A day after the last moment that other readers of timestamps know.
#[test]
fn the_last_day_of_the_calendar_saturates() {
    let at = |number, time: &str| with(pod(number), "/metadata/creationTimestamp", json!(time));
    let dump = list(&[set("web"), at(1, "2026-03-10T11:00:00Z"), at(2, "9999-12-31T23:59:59Z")]);
    let args = ["-f", "-", "--replicas", "1", "-o", "json", "--order", "total", NOON[0], NOON[1]];
    let preview: Value = serde_json::from_str(&fine(&args, &dump).0).expect("JSON");
    assert_eq!(
        (&preview["pods"][0]["name"], &preview["pods"][0]["rule"]),
        (&json!("web-2"), &json!("creation-time"))
    );
    let dump = list(&[set("web"), at(1, "9999-12-31")]);
    assert_eq!(run(&args, &dump).status.code(), Some(1));
}

#[test]
fn replication_controllers() {
    let owner = json!([{ "apiVersion": "v1", "kind": "ReplicationController", "name": "web", "uid": "web", "controller": true }]);
    let own = |number, node: &str| {
        with(with(pod(number), "/metadata/ownerReferences", owner.clone()), "/spec/nodeName", json!(node))
    };
    let controller = json!({
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": { "name": "web", "uid": "web" },
        "spec": { "replicas": 3, "selector": { "app": "web" } },
    });
    let dump = list(&[controller, own(1, "a"), own(2, "b"), own(3, "b")]);
    let ranks = |order| {
        let args = ["-f", "-", "--replicas", "2", "-o", "json", "--order", order];
        let preview: Value = serde_json::from_str(&fine(&args, &dump).0).expect("JSON");
        assert_eq!(preview["replicaSet"], "web");
        assert_eq!(preview["workload"], json!({ "kind": "ReplicationController", "name": "web" }));
        preview["pods"].as_array().expect("pods").iter().map(|pod| pod["rank"].clone()).collect::<Value>()
    };
    assert_eq!(ranks("total"), json!([2, 2, 1]));
    assert_eq!(ranks("kubernetes"), json!([0, 0, 0]));
}

// Incomplete dumps.

/// Under `kubernetes` an incomplete dump is an error with the command that mends it; `--partial` and `total` make it a note.
#[track_caller]
fn incomplete(dump: &str, args: &[&str], gap: &str, command: &str) {
    let line = format!(
        "the input is incomplete: {gap}; get all of it with: {command}; --partial accepts what is missing"
    );
    bad_input(dump, args, &line);
    for accepting in [&["--partial"][..], &["--order", "total"]] {
        let (stdout, stderr) =
            fine(&[&["-f", "-", "--replicas", "1", "-o", "json"], args, accepting].concat(), dump);
        assert_eq!(stderr, format!("note: {}\n", gap.replace("; ", "\nnote: ")));
        let preview: Value = serde_json::from_str(&stdout).expect("JSON");
        assert_eq!(preview["notes"].as_array().map(Vec::len), Some(stderr.lines().count()));
    }
}

const ALL: &str = "kubectl get pods,replicasets,deployments -n default -o json";

fn with_status(set: Value, replicas: i32) -> Value {
    with(set, "/status", json!({ "replicas": replicas }))
}

#[test]
fn a_set_that_is_not_in_the_input() {
    let gap = "default ReplicaSet/web itself is missing, so ranks can only count its own pods";
    incomplete(&list(&[pod(1)]), &[], gap, ALL);
    let elsewhere = |namespace: &str| list(&[with(pod(1), "/metadata/namespace", json!(namespace))]);
    let gap = "prod ReplicaSet/web itself is missing, so ranks can only count its own pods";
    incomplete(&elsewhere("prod"), &[], gap, &ALL.replace("default", "prod"));
    // Nobody should paste more than a namespace.
    let gap = "$(reboot) ReplicaSet/web itself is missing, so ranks can only count its own pods";
    incomplete(&elsewhere("$(reboot)"), &[], gap, &ALL.replace(" -n default", ""));

    let owner = json!([{ "apiVersion": "v1", "kind": "ReplicationController", "name": "web", "uid": "web", "controller": true }]);
    let dump = list(&[with(pod(1), "/metadata/ownerReferences", owner)]);
    let gap = "default ReplicationController/web itself is missing";
    incomplete(&dump, &[], gap, "kubectl get pods,replicationcontrollers -n default -o json");
    // Whatever is missing, Kubernetes counts no ranks for one.
    let (stdout, _) = fine(&["-f", "-", "--replicas", "1", "--partial", "-o", "json"], &dump);
    assert_eq!(serde_json::from_str::<Value>(&stdout).expect("JSON")["pods"][0]["rank"], 0);
}

#[test]
fn fewer_pods_than_the_status_counts() {
    // `kubectl get replicasets` alone.
    let gap = "only 0 pods of default ReplicaSet/web are listed, while its status counts 3";
    incomplete(&list(&[with_status(set("web"), 3)]), &[], gap, ALL);
    let gap = "only 1 pod of default ReplicaSet/web is listed, while its status counts 2";
    incomplete(&list(&[with_status(set("web"), 2), pod(1)]), &[], gap, ALL);
    // An entry twice is one pod.
    let args = ["-f", "-", "--replicas", "1"];
    assert_eq!(run(&args, &list(&[with_status(set("web"), 2), pod(1), pod(1)])).status.code(), Some(1));

    // Pods that finished or are being deleted were active when the status was written.
    let gone = with(pod(2), "/status/phase", json!("Failed"));
    let going = with(pod(3), "/metadata/deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let (_, stderr) = fine(&args, &list(&[with_status(set("web"), 3), pod(1), gone, going.clone()]));
    assert_eq!(stderr, "");
    // A status is behind when pods are created, not when others terminate.
    let (_, stderr) = fine(&args, &list(&[with_status(set("web"), 1), pod(1), going]));
    assert_eq!(stderr, "");
    let (_, stderr) = fine(&args, &list(&[with_status(set("web"), 1), pod(1), pod(2)]));
    assert_eq!(stderr, "note: default ReplicaSet/web has 2 active pods, while its status counts 1\n");
}

/// The labels of pods do not tell whose set of an Argo Rollout they are of, nor of any other owner but a Deployment.
#[test]
fn pods_that_may_be_of_siblings_of_another_owner() {
    let owner = json!([
        { "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": "rollout", "controller": true }
    ]);
    let own_set = with(set("web"), "/metadata/ownerReferences", owner.clone());
    let args = ["web"];
    let gap = "ReplicaSets that may be siblings of default ReplicaSet/web are missing, so ranks may leave pods out: default \
               ReplicaSet/canary (1 pod)";
    let canary = owned_pod(3, "canary");
    incomplete(&list(&[own_set.clone(), pod(1), pod(2), canary.clone()]), &args, gap, ALL);

    // Neither the set itself nor a pod that counts towards no rank is missed.
    let finished = with(canary.clone(), "/status/phase", json!("Succeeded"));
    let elsewhere = with(canary.clone(), "/metadata/namespace", json!("other"));
    for fine_dump in [
        list(&[own_set.clone(), set("canary"), pod(1), pod(2), canary.clone()]),
        list(&[own_set.clone(), pod(1), pod(2), finished, elsewhere]),
        list(&[with(set("web"), "/metadata/ownerReferences", Value::Null), pod(1), pod(2), canary]),
    ] {
        let (stdout, _) = fine(&["-f", "-", "--replicas", "1", "-o", "json", "web"], &fine_dump);
        assert!(!stdout.contains("siblings-missing"), "{stdout}");
    }
}

#[test]
fn pods_of_siblings_that_are_missing() {
    let hashed = |object: Value, pointer: &str, hash: &str| {
        let mut object = object;
        let labels = object.pointer_mut(pointer).and_then(Value::as_object_mut).expect("labels");
        labels.insert("app".to_owned(), json!("web"));
        labels.insert("pod-template-hash".to_owned(), json!(hash));
        object
    };
    let new_set = || hashed(set("web"), "/spec/selector/matchLabels", "new");
    let own = |number| hashed(pod(number), "/metadata/labels", "new");
    let old = |number| hashed(owned_pod(number, "old"), "/metadata/labels", "old");
    let args = ["web"];
    let gap = "siblings of default ReplicaSet/web are missing, so ranks may leave pods out: \
               default ReplicaSet/old (2 pods), default ReplicaSet/older (1 pod)";
    let older = hashed(owned_pod(5, "older"), "/metadata/labels", "older");
    incomplete(&list(&[new_set(), own(1), own(2), old(3), old(4), older]), &args, gap, ALL);

    // With the sibling, its pods count towards the ranks.
    let old_set = hashed(set("old"), "/spec/selector/matchLabels", "old");
    let whole = list(&[new_set(), old_set, own(1), own(2), old(3), old(4)]);
    let json_of = |dump: &str| {
        let args = ["-f", "-", "--replicas", "1", "-o", "json", "web"];
        serde_json::from_str::<Value>(&fine(&args, dump).0).expect("JSON")
    };
    assert_eq!(json_of(&whole)["pods"][0]["rank"], 4);

    // These are no siblings': other labels, another namespace, no ReplicaSet, a pod that counts for nobody, or a set that
    // nobody has siblings of.
    let strangers = [
        with(old(3), "/metadata/labels/app", json!("api")),
        with(old(3), "/metadata/namespace", json!("prod")),
        with(old(3), "/metadata/ownerReferences/0/kind", json!("StatefulSet")),
        with(old(3), "/status/phase", json!("Succeeded")),
        with(old(3), "/metadata/deletionTimestamp", json!("2026-03-10T12:00:00Z")),
    ];
    for stranger in strangers {
        assert_eq!(json_of(&list(&[new_set(), own(1), own(2), stranger]))["notes"], json!([]));
    }
    let bare = with(new_set(), "/metadata/ownerReferences", Value::Null);
    assert_eq!(json_of(&list(&[bare, own(1), own(2), old(3)]))["notes"], json!([]));
}

#[test]
fn several_gaps_are_one_error() {
    let dump = list(&[
        with_status(set("web"), 3),
        pod(1),
        with(owned_pod(2, "old"), "/metadata/labels/app", json!("web")),
    ]);
    let gaps = "siblings of default ReplicaSet/web are missing, so ranks may leave pods out: default ReplicaSet/old (1 pod); \
                only 1 pod of default ReplicaSet/web is listed, while its status counts 3";
    incomplete(&dump, &["web"], gaps, ALL);
}

// Notes.

#[test]
fn pods_from_after_the_decision() {
    let created = |number, time: &str| with(pod(number), "/metadata/creationTimestamp", json!(time));
    let dump = list(&[
        set("web"),
        created(1, "2026-03-10T12:05:00Z"),
        created(2, "2026-03-10T09:00:00Z"),
        created(3, "2026-03-10T12:06:00Z"),
    ]);
    let args = ["-f", "-", "--replicas", "1", "-o", "json", NOON[0], NOON[1]];
    let (stdout, stderr) = fine(&args, &dump);
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    let rows = preview["pods"].as_array().expect("pods").iter();
    let rows: Value = rows.map(|pod| json!([pod["name"], pod["age"], pod["why"]])).collect();
    let why = "created 5m after this decision, web-2 has 3h: different age buckets";
    let late = "created 6m after this decision, web-2 has 3h: different age buckets";
    let old = "age 3h, web-3 created 6m after this decision: different age buckets";
    assert_eq!(rows, json!([["web-1", "-5m", why], ["web-3", "-6m", late], ["web-2", "3h", old]]));
    assert_eq!(
        stderr,
        "note: pod default/web-1 and 1 other pod: created after 2026-03-10T12:00:00Z, the time of this decision, \
         so the age is negative\n"
    );
}

#[test]
fn invalid_deletion_cost() {
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "+10" });
    let dump = list(&[set("web"), with(pod(1), "/metadata/annotations", cost)]);
    let args = ["-f", "-", "--replicas", "1"];
    assert_eq!(
        fine(&args, &dump).1,
        format!(
            "warning: pod default/web-1: controller.kubernetes.io/pod-deletion-cost is \"+10\": {}; Kubernetes reads it \
             as 0\n",
            podrank::deletion_cost("+10").expect_err("it is invalid")
        )
    );
    let ignored = [&args[..], &["--feature-gates", "PodDeletionCost=false"]].concat();
    assert_eq!(fine(&ignored, &dump).1, "");
}

#[test]
fn pods_to_adopt_and_to_release() {
    let orphan = with(pod(1), "/metadata/ownerReferences", Value::Null);
    let released = with(pod(2), "/metadata/labels/app", json!("api"));
    let dump = |set: Value| list(&[set, orphan.clone(), released.clone(), pod(3)]);
    let args = ["-f", "-", "--replicas", "1", "-o", "json"];
    let (stdout, stderr) = fine(&args, &dump(set("web")));
    assert_eq!(
        stderr,
        "note: pod default/web-1 has no controller: default ReplicaSet/web would adopt it, but this preview does not \
         count it\n\
         note: pod default/web-2 does not match the selector: default ReplicaSet/web would release it, but this \
         preview counts it\n"
    );
    // The orphan is related: with web-3 it makes two on the node, and web-2 is counted nowhere.
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&preview["active"], &preview["pods"][0]["rank"]), (&json!(2), &json!(2)));

    let being_deleted = with(set("web"), "/metadata/deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let note = "note: default ReplicaSet/web is being deleted: its controller deletes no pods\n";
    assert_eq!(fine(&args, &dump(being_deleted)).1, note);
}

#[test]
fn more_than_one_sync() {
    let pods: Vec<_> = (0..501).map(pod).collect();
    let bare = with(set("web"), "/metadata/ownerReferences", Value::Null);
    let dump = list(&[&[bare], &pods[..]].concat());
    let note = |args: &[&str]| fine(&[&["-f", "-", "-o", "name"], args].concat(), &dump).1;
    assert_eq!(
        note(&["--replicas", "0"]),
        "note: 501 deletions take 2 syncs of at most 500, and the controller counts ranks anew in each; this \
         assumes that node assignment, phase, readiness and deletion cost stay as they are\n"
    );
    let none_is_certain = "note: no victim is certain: 500 of 501 contested pods go (-o table lists them)\n";
    assert_eq!(note(&["--replicas", "1"]), none_is_certain);
    assert_eq!(note(&["--replicas", "0", "--burst-replicas", "500"]), none_is_certain);
    assert_eq!(note(&["--replicas", "0", "--order", "total"]), "");
    // By hand: all but the number of the ready pods tie, so 200 of those that are not ready go, and some of the 400 others.
    let ready = |pod: Value, number: u32| {
        with(
            pod,
            "/status/conditions",
            json!([{ "type": "Ready", "status": if number < 200 { "False" } else { "True" } }]),
        )
    };
    let pods: Vec<_> = (0..600).map(|number| ready(pod(number), number)).collect();
    let dump = list(&[&[set("web")], &pods[..]].concat());
    let (stdout, _) = fine(&["-f", "-", "--replicas", "50", "-o", "json"], &dump);
    let preview: Value = serde_json::from_str(&stdout).expect("JSON");
    let count = |verdict: &str| {
        preview["pods"].as_array().expect("pods").iter().filter(|pod| pod["verdict"] == verdict).count()
    };
    assert_eq!((count("delete"), count("contested"), count("keep")), (200, 400, 0));
    assert_eq!(preview["quota"], 350);
    assert_eq!(
        preview["pods"][599]["why"],
        "one of 400 pods of which 350 go, by list order and ranks counted anew"
    );
}

// Flags.

#[test]
fn wrong_flags() {
    bad_flags(
        &["--feature-gates", "PodCost=true"],
        &["`PodCost`", "PodDeletionCost, LogarithmicScaleDown, PreferForScaleDown"],
    );
    bad_flags(&["--feature-gates", "PodDeletionCost=maybe"], &["`maybe`"]);
    bad_flags(&["--feature-gates", "PodDeletionCost"], &["NAME=true"]);
    bad_flags(&["--now", "noon"], &["--now", "noon", "write it as in 2026-03-10T12:00:00Z"]);
    bad_flags(&["--now", "2026-03-10T12:00:00"], &["--now"]);
    bad_flags(&["--feature-gates", "PreferForScaleDown=true"], &["PreferForScaleDown", "--order total"]);
    bad_flags(
        &["--feature-gates", "PreferForScaleDown=true", "--order", "kubernetes"],
        &["PreferForScaleDown", "--order total"],
    );
    bad_flags(&["--order", "random"], &["--order", "random"]);
    bad_flags(&["--burst-replicas", "0"], &["--burst-replicas"]);
    bad_flags(&["rs/"], &["the name is empty"]);
    bad_flags(&["completion", "bash"], &["completion"]);
    bad_flags(&["-o", "yaml"], &["yaml"]);
    for args in [
        &["-f", ROLLOUT][..],
        &["--replicas", "1"],
        &["-f", ROLLOUT, "--replicas", "-1"],
        &["-f", ROLLOUT, "--replicas=-1"],
        &["-f", ROLLOUT, "--replicas", "4294967296"],
    ] {
        let output = run(args, "");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    }
}

#[test]
fn help_has_examples_of_every_kind() {
    let (help, _) = fine(&["--help"], "");
    let examples = help.split("Examples:").nth(1).expect("examples");
    assert_eq!(examples.matches("\n  # ").count(), 9, "{help}");
    for flag in [
        "-f, --filename",
        "--replicas",
        "-n, --namespace",
        "--now",
        "--order",
        "--feature-gates",
        "--burst-replicas",
        "--partial",
        "-o, --output",
        "TYPE/NAME",
        "--rollout",
        "--context",
        "completion",
    ] {
        assert!(help.contains(flag), "{flag}: {help}");
    }
}

#[test]
fn wide_shows_what_the_rules_look_at() {
    let (stdout, _) = fine(&[&NEW_SET[..], &NOON, &["--replicas", "3", "-o", "wide"]].concat(), "");
    let lines: Vec<_> = stdout.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().skip(4).take(8).collect::<Vec<_>>();
    assert_eq!(words(2), ["RANK", "AGE", "PHASE", "READY", "RESTARTS", "COST", "UID", "RULE"]);
    assert_eq!(
        words(5),
        ["3", "90m", "Running", "no", "14+0", "0", "698c59e5-193c-49ca-af34-bc3b0ade7699", "not-ready"]
    );
    assert_eq!(
        words(10),
        ["3", "170m", "Running", "170m", "0+2", "0", "c8176cc5-dadb-41aa-baa8-57b0ad64b720", "rank"]
    );
}

// Shells.

#[test]
fn completions_and_the_man_page_need_no_second_build() {
    for (shell, words) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef kubectl-podrank"),
        ("fish", "complete -c kubectl-podrank"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let (script, stderr) = fine(&["completion", shell], "");
        assert!(script.contains(words) && script.contains("burst-replicas") && stderr.is_empty(), "{script}");
    }
    let (page, _) = fine(&["man"], "");
    assert!(page.contains(".TH kubectl-podrank 1") && page.contains("burst"), "{page}");
    let output = run(&["completion"], "");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

/// As kubectl does: it runs the script by its name, with the words so far.
#[cfg(unix)]
#[test]
fn the_script_for_kubectl_runs_the_program() {
    use std::os::unix::fs::PermissionsExt;
    let directory = std::env::temp_dir().join(format!("podrank-completion-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let script = directory.join("kubectl_complete-podrank");
    fs::write(&script, fine(&["completion", "kubectl"], "").0).expect("the script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = std::path::Path::new(PROGRAM).parent().expect("a directory");
    let complete = |words: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", program.display());
        let output = Command::new(&script).args(words).env("PATH", path).output().expect("it runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    assert_eq!(complete(&["--replicas", "3", "-o", "j"]).lines().last(), Some(":4"));
    assert!(complete(&["--order", ""]).starts_with("kubernetes\t"));
    assert_eq!(complete(&["-f", ""]), ":0\n");
    let names = complete(&["--"]);
    for flag in ["--filename\t", "--partial\t", "--output\t"] {
        assert!(names.contains(flag), "{names}");
    }
    fs::remove_dir_all(directory).expect("it is ours");
}

// The terminal.

#[test]
fn no_color_is_heeded() {
    let table = |variables: &[(&str, &str)]| {
        let mut command = Command::new(PROGRAM);
        command.args([&NEW_SET[..], &NOON, &["--replicas", "4"]].concat()).env_remove("NO_COLOR");
        let output = command.envs(variables.iter().copied()).output().expect("the program runs");
        text(&output.stdout).to_owned()
    };
    assert!(table(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[31m5  delete"));
    assert!(!table(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let hostile = with(pod(1), "/metadata/name", json!("web\u{1b}[31m\n1"));
    let (stdout, _) =
        fine(&["-f", "-", "--replicas", "0", "-o", "name"], &list(&[set("web"), hostile.clone()]));
    assert_eq!(stdout, "pod/web\\u{1b}[31m\\n1\n");
    bad_input(
        &list(&[set("web"), with(hostile, "/metadata/uid", Value::Null)]),
        &[],
        "pod default/web\\u{1b}[31m\\n1: metadata.uid is missing",
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let args = [&NEW_SET[..], &["--replicas", "3"]].concat();
    let mut child = Command::new(PROGRAM)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
}
