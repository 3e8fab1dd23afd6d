//! The built program: what it prints, where, and how it exits. Every sentence of its contract has a test:
//!
//! | what the contract says | tests |
//! |---|---|
//! | reads a List or one object, JSON or YAML, of files and standard input; others are skipped | `printed_now_replays_byte_for_byte`, `one_object_or_several_documents`, `yaml_is_read_as_json_is`, `neither_a_pod_nor_a_set`; `fuzz/tests/preview.rs` |
//! | `--replicas` is of this one set; mid-rollout a note | `example_as_json` |
//! | names, `--namespace`; several sets are listed; a missing namespace is `default` | `several_sets`, `unknown_set` |
//! | `--now` replays | `printed_now_replays_byte_for_byte` |
//! | both orders, `kubernetes` the default | `a_link_has_what_decides_and_nothing_else`, `a_circle_is_contested`; `fuzz/tests/preview.rs` |
//! | the feature gates | `gates_and_burst_change_the_choice`, `wrong_flags` |
//! | `--burst-replicas`; more than 500 deletions | `gates_and_burst_change_the_choice`, `more_than_one_sync`; `syncs.rs` |
//! | the outputs | `example_as_table`, `example_as_json`, `gates_and_burst_change_the_choice`, `a_page_has_the_answer`, `names_in_a_page_are_no_markup`; `look.rs` |
//! | the owner reference decides whose a pod is, never labels; adoption and release get a note | `pods_to_adopt_and_to_release`; `fuzz/tests/preview.rs` |
//! | incomplete dumps, `--partial` | the section on incomplete dumps; `fuzz/tests/preview.rs` |
//! | `ReplicationController`s; bare sets | `bare_sets_and_replication_controllers_have_no_ranks_in_either_order` |
//! | nothing to delete is valid | `a_set_without_pods_is_fine` |
//! | duplicates | `every_kind.rs`; `preview/tests/sentences.rs` |
//! | only pods that matter need to be sound | `only_pods_that_matter_need_to_be_sound` |
//! | the names and meaning of the JSON; rules and reasons | `example_as_json`, `gates_and_burst_change_the_choice`, `a_circle_is_contested`; `fuzz/tests/preview.rs`, `preview/tests/sentences.rs` |
//! | notes and warnings on standard error | the section on notes |
//! | exit 0, 1 with one line that names the place and nothing on standard output, 2 | all that call `fine`, `shown`, `bad_input`, `bad_flags`; `hostile.rs` |

use crate::common::{
    self, CONTESTED, DAEMON_SET, JOB, NOON, PROGRAM, ROLLOUT, STATEFUL_SET, Shown, autoscaler, dump, fails,
    fine, list, output, owned_pod, owner, plain, pod, put, row, run, set, shown, uid, with,
};
use podrank::Uid;
use podrank_preview::Input;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};

const ROLLOUT_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/rollout.json");
const NEW_SET: &str = "web-7f6b9d5c48 --order total";
const PRINT: &str = "print the objects with kubectl get pods,replicasets,deployments -o json";
const CONTROLLER: &str = "metadata ownerReferences";

/// Asserts that the dump is refused with exactly this line, whatever the time is.
#[track_caller]
fn bad_input(dump: &str, words: &str, line: &str) {
    fails(&format!("--replicas 1 {words}"), dump, line);
}

/// Asserts that these flags are refused, in words of which these are some.
#[track_caller]
fn bad_flags(flags: &str, words: &[&str]) {
    let (status, stdout, stderr) = plain(flags);
    assert_eq!((status, &*stdout), (Some(2), ""), "{flags}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
}

/// A line of this text for each pod.
fn each_pod(preview: &Shown, text: &str) -> Vec<String> {
    list(&preview.json["pods"]).map(|pod| row(pod, text).replace("web-7f6b9d5c48-", "")).collect()
}

fn container_restarted(times: u32) -> Value {
    json!([{ "name": "app", "image": "", "imageID": "", "ready": true, "restartCount": times }])
}

// The shipped example.

/// By hand: one pod has no node; of those that do, one is Pending; one is not ready; one costs -10 and one 100. The other four
/// tie so far. Their nodes hold 4, 4, 3 and 3 active pods of both sets, terminating t6zgb left out. On worker-1, z5tgq is
/// ready for 5m30s, d6sjr for 3h. Of w8nlc (170m) and x4rvp (190m), both in the band from 2^43 ns to 2^44 ns (146m to 293m),
/// the first has a restarted sidecar; the five restarts of the other's `migrate` are of an ordinary init container.
#[test]
fn example_as_json() {
    let shown = shown(&format!("{NEW_SET} --replicas 3"), ROLLOUT);
    let rows = [
        "1 hq8zt null 1 delete unassigned",
        "2 m9c4x worker-3 3 delete phase",
        "3 k2v5d worker-2 3 delete not-ready",
        "4 b7wfn worker-1 4 delete deletion-cost",
        "5 z5tgq worker-1 4 delete rank",
        "6 d6sjr worker-1 4 delete rank",
        "7 w8nlc worker-2 3 keep rank",
        "8 x4rvp worker-3 3 keep rank",
        "9 p4xkl worker-4 2 keep deletion-cost",
    ];
    assert_eq!(each_pod(&shown, "{position} {name} {node} {rank} {verdict} {rule}"), rows);
    // The names are the contract.
    let note = "Deployment web is in the middle of a rollout (also web-5d8c7f9b64) and sizes its sets itself: it may write \
                the count of web-7f6b9d5c48 back, and this preview is about web-7f6b9d5c48 alone; scale deploy/web instead";
    let costs = "2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)";
    assert_eq!(shown.notes, format!("note: {note}\nnote: {costs}\n"));
    let mut head = shown.json.clone();
    put(&mut head, "pods", Value::Null);
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
            "within": { "before": 0.0, "after": 0.0 },
            "order": "total",
            "featureGates": { "PodDeletionCost": true, "LogarithmicScaleDown": true, "PreferForScaleDown": false },
            "active": 9,
            "replicas": 3,
            "burstReplicas": null,
            "partial": false,
            "delete": 6,
            "quota": 0,
            "replay": "rs/web-7f6b9d5c48 --namespace default --replicas 3 --now 2026-03-10T12:00:00Z --order total",
            "notes": [
                { "level": "note", "code": "mid-rollout", "text": note },
                { "level": "note", "code": "deletion-costs", "text": costs },
            ],
            "blocked": [],
        })
    );
}

#[test]
fn a_pod_of_the_example_as_json() {
    let shown = shown(&format!("{NEW_SET} --replicas 3"), ROLLOUT);
    let pods = &shown.json["pods"];
    assert_eq!(pods[3]["why"], "deletion cost -10, web-7f6b9d5c48-x4rvp has 0");
    assert_eq!(pods[0]["uid"].as_str().map(str::len), Some(36));
    assert_eq!(
        pods[6],
        json!({
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
    assert_eq!(row(&pods[0], "{ready} {readyTime} {readyAge}"), "false null null");
}

/// The names of all fields of answers that have all of them, with the path to each.
fn fields_of_answers() -> Vec<String> {
    let preview = shown(&format!("{NEW_SET} --replicas 3"), ROLLOUT).json;
    let deployment = shown("deploy/web --replicas 3", ROLLOUT).json;
    let stateful_set = shown("sts/db --replicas 3", STATEFUL_SET).json;
    let job = shown("job/import --completions 4 --suspend", JOB).json;
    let daemon_set = shown("ds/agent", DAEMON_SET).json;
    let contested = shown("--replicas 3", CONTESTED).json;
    let autoscaled = STATEFUL_SET.to_owned() + &autoscaler(("StatefulSet", "db"), None, 9, None).to_string();
    let shared = shown("sts/db --replicas 3", &autoscaled).json;
    let rollout = owner("argoproj.io/v1alpha1", "Rollout", "web");
    let owned = common::changed(ROLLOUT, &[("web-7f6b9d5c48", CONTROLLER, rollout)]);
    let owned = shown(&format!("{NEW_SET} --replicas 3"), &owned).json;
    let order = shown("po api-6c9d8f7b5-8wz5c", CONTESTED).json;
    let scaled = shown("hpa/web", &autoscaled).json;
    let several = shown("rs/api-6c9d8f7b5 rs/api-6c9d8f7b5", CONTESTED).json;
    // What has the same meaning as in a preview of one count is documented there.
    let besides = |object: &Value, of: &Value| {
        let mut object = object.clone();
        object.as_object_mut().expect("an object").retain(|key, _| of.get(key).is_none());
        object
    };
    let order_pod = besides(&order["sets"][0]["pods"][0], &contested["pods"][0]);
    let mut names: Vec<String> = Vec::new();
    for (prefix, object) in [
        ("", &owned),
        ("", &order),
        ("sets[].pods[].", &order_pod),
        (
            "sets[].pods[].chances[].",
            &besides(&order["sets"][0]["pods"][0]["chances"][0], &json!({ "oddsError": 0 })),
        ),
        ("", &scaled),
        ("", &several),
        ("workloads[].", &besides(&several["workloads"][0], &besides(&owned, &json!({ "delete": 0 })))),
        ("", &preview),
        ("pods[].", &contested["pods"][0]),
        ("notes[].", &preview["notes"][0]),
        ("", &deployment),
        ("sets[].", &deployment["sets"][0]),
        ("steps[].", &deployment["steps"][0]),
        ("steps[].sets[].", &deployment["steps"][0]["sets"][0]),
        ("rest.", &deployment["rest"]),
        ("rest.sets[].", &deployment["rest"]["sets"][0]),
        ("", &stateful_set),
        ("blocked[].", &stateful_set["blocked"][0]),
        ("", &shared),
        ("autoscaler.", &shared["autoscaler"]),
        ("", &job),
        ("", &daemon_set),
    ] {
        names.extend(object.as_object().expect("an object").keys().map(|key| format!("{prefix}{key}")));
    }
    names
}

/// docs/preview-json.md names what there is, and nothing else.
#[test]
fn the_document_on_the_json_names_every_field_and_note() {
    let document = include_str!("../../docs/preview-json.md");
    let names = fields_of_answers();
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let (mut documented, fields): (Vec<_>, Vec<_>) =
        rows.map(|(name, _)| name).partition(|name| name.contains('-'));
    for name in &names {
        assert!(fields.contains(&name.as_str()), "{name} is not documented");
    }
    // The least and the most differ in few previews: those of preview/src/answer/odds.rs. An error leaves the rest out.
    // Own costs, types that are refused, nodes and updates have tests of their own: leftovers.rs, live.rs, node.rs and views.rs.
    let elsewhere = [
        "workload.kind",
        "workload.name",
        "pods[].oddsMost",
        "workloads[].error",
        "workloads[].namespace",
        "pods[].ownCost",
        "pods[].replaced",
        "unread",
        "node",
        "workloads[].target",
        "workloads[].pods",
        "passedOver",
        "others",
    ];
    for name in fields.iter().filter(|name| !elsewhere.contains(name)) {
        assert!(names.iter().any(|known| known == name), "there is no {name}");
    }
    let source = include_str!("../../preview/src/answer/note.rs");
    let (_, variants) = source.split_once("pub enum NoteCode {").expect("the codes");
    let variants =
        variants.lines().take_while(|line| *line != "}").filter_map(|line| line.trim().strip_suffix(','));
    let kebab = |variant: &str| -> String {
        let hyphen = |at: usize, letter: char| (at > 0 && letter.is_uppercase()).then_some('-');
        let letters = variant.char_indices();
        letters.flat_map(|(at, letter)| hyphen(at, letter).into_iter().chain(letter.to_lowercase())).collect()
    };
    let mut codes: Vec<_> = variants.map(kebab).collect();
    codes.sort_unstable();
    documented.sort_unstable();
    assert_eq!(documented, codes);
}

/// The words of the lines of a table, from the first column to the last of these.
fn columns(table: &str, from: usize, count: usize) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().skip(from).take(count).collect::<Vec<_>>().join(" ");
    table.lines().map(words).collect()
}

#[test]
fn example_as_table() {
    let (table, _) = fine(&format!("{NEW_SET} --replicas 4"), ROLLOUT);
    let expected = "\
rs/web-7f6b9d5c48 to 4, in podrank's order, which Kubernetes does not follow: 5 of 9 pods go
GOES  POD                   NODE      BECAUSE
yes   web-7f6b9d5c48-hq8zt  -         has no node
yes   web-7f6b9d5c48-m9c4x  worker-3  Pending
yes   web-7f6b9d5c48-k2v5d  worker-2  not ready
yes   web-7f6b9d5c48-b7wfn  worker-1  deletion cost -10
yes   web-7f6b9d5c48-z5tgq  worker-1  4 pods on its node
no    web-7f6b9d5c48-d6sjr  worker-1  ready for 3h
no    web-7f6b9d5c48-w8nlc  worker-2  3 pods on its node
no    web-7f6b9d5c48-x4rvp  worker-3  3 pods on its node
no    web-7f6b9d5c48-p4xkl  worker-4  deletion cost 100
";
    assert_eq!(table, expected);

    let (wide, _) = fine(&format!("{NEW_SET} --replicas 3 -o wide"), ROLLOUT);
    let rows = columns(&wide, 0, 4);
    assert_eq!(rows[3], "# GOES POD NODE");
    assert_eq!(rows[4], "1 yes web-7f6b9d5c48-hq8zt <none>");
    assert!(!rows[10].is_empty() && rows[10].chars().all(|c| c == '-'), "{}", rows[10]);
    let rows = columns(&wide, 4, 8);
    assert_eq!(rows[3], "RANK AGE PHASE READY RESTARTS COST UID RULE");
    assert_eq!(rows[6], "3 90m Running no 14+0 0 698c59e5-193c-49ca-af34-bc3b0ade7699 not-ready");
    assert_eq!(rows[11], "3 170m Running 170m 0+2 0 c8176cc5-dadb-41aa-baa8-57b0ad64b720 rank");
    assert!(!wide.contains('\u{1b}'), "a pipe gets no colour");
}

/// X before Z (the smaller UID, as they became ready a second apart), Z before Y likewise, and Y before X (restarted, as
/// they became ready together): a circle.
#[test]
fn a_circle_is_contested() {
    let ready = |number: u32, time: &str, restarts: u32| {
        let pod = with(pod(number), "status conditions", common::ready(true, time));
        with(pod, "status containerStatuses", container_restarted(restarts))
    };
    let x = ready(1, "2026-03-10T11:59:00Z", 0);
    let y = ready(3, "2026-03-10T11:59:00Z", 5);
    let z = ready(2, "2026-03-10T11:58:59Z", 0);
    let first = with(pod(4), "status phase", json!("Pending"));
    let cost = "metadata annotations controller.kubernetes.io/pod-deletion-cost";
    let last = with(ready(5, "2026-03-09T11:59:00Z", 0), cost, json!("7"));
    let dump = dump(&[with(set("web"), "spec replicas", json!(2)), last, x, first, y, z]);
    let circle = "contested; null; one of 3 pods of which 2 go, by list order: the rules form a cycle";
    // In the total order: the restarted one, then by UID.
    let contested = ["web-3", "web-1", "web-2"].map(|name| format!("{name}; {circle}"));
    shown("--replicas 2", &dump).says(&["3 of 5 go, quota 2"]).says(&contested.each_ref().map(|it| &**it));
    let note = "note: 1 pod has a deletion cost (web-5 7)\n\
                note: only the certain victims are printed: 2 of 3 pods go by chance (-o table lists them)\n";
    assert_eq!(fine("--replicas 2 -o name", &dump), ("pod/web-4\n".to_owned(), note.to_owned()));
    let (table, _) = fine("--replicas 2 -o wide", &dump);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "rs/web to 2: 3 of 5 pods go (1 certainly, 2 of 3 by chance)");
    let rules: Vec<_> = (0..lines.len()).filter(|&line| lines[line].starts_with("---")).collect();
    assert_eq!(rules, [5, 9], "a line before and after the contested: {table}");
    // The total order decides it.
    let (names, _) = fine("--replicas 2 -o name --order total", &dump);
    assert_eq!(names, "pod/web-4\npod/web-3\npod/web-1\n");
}

/// Kubernetes counts no ranks of a set without a controller, nor of a `ReplicationController`. So the pods tie, and in the total order
/// the UID decides.
#[test]
fn bare_sets_and_replication_controllers_have_no_ranks_in_either_order() {
    let pods =
        [(1, "a"), (2, "b"), (3, "b")].map(|(number, node)| with(pod(number), "spec nodeName", json!(node)));
    let controller = json!({
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": { "name": "web", "uid": "web" },
        "spec": { "replicas": 3, "selector": { "app": "web" } },
    });
    let of_controller =
        pods.clone().map(|pod| with(pod, CONTROLLER, owner("v1", "ReplicationController", "web")));
    let bare = [vec![with(set("web"), CONTROLLER, Value::Null)], pods.to_vec()].concat();
    for (kind, items) in
        [("ReplicaSet", bare), ("ReplicationController", [vec![controller], of_controller.to_vec()].concat())]
    {
        let rows = |order: &str| {
            let shown = shown(&format!("--replicas 2 --order {order}"), dump(&items));
            assert_eq!(row(&shown.json, "{replicaSet}"), "web");
            assert_eq!(shown.json["workload"], json!({ "kind": kind, "name": "web" }));
            each_pod(&shown, "{name} {rank} {verdict}")
        };
        assert_eq!(rows("total"), ["web-1 0 delete", "web-2 0 keep", "web-3 0 keep"]);
        assert_eq!(rows("kubernetes"), ["web-1 0 contested", "web-2 0 contested", "web-3 0 contested"]);
    }
}

#[test]
fn gates_and_burst_change_the_choice() {
    let victims = |flags: &str| {
        let (names, _) = fine(&format!("{NEW_SET} -o name {flags}"), ROLLOUT);
        names.replace("pod/web-7f6b9d5c48-", "").trim().replace('\n', " ")
    };
    assert_eq!(victims("--replicas 7"), "hq8zt m9c4x");
    let all = "hq8zt m9c4x k2v5d b7wfn z5tgq d6sjr";
    assert_eq!(victims("--replicas 3"), all);
    // With costs ignored, b7wfn (ready for 3h11m) is in one band with d6sjr, and its name is no rule.
    let ignored = victims("--replicas 3 --feature-gates PodDeletionCost=false,LogarithmicScaleDown=false");
    assert_eq!(ignored, "hq8zt m9c4x k2v5d z5tgq d6sjr b7wfn");
    let twice = "--feature-gates PodDeletionCost=false --feature-gates PodDeletionCost=true";
    assert_eq!(victims(&format!("--replicas 3 {twice}")), all);
    assert_eq!(victims("--replicas 3 --burst-replicas 2"), "hq8zt m9c4x");
    // The JSON says what was asked.
    let asked = shown(&format!("{NEW_SET} --replicas 3 --burst-replicas 2 --partial"), ROLLOUT).json;
    assert_eq!(row(&asked, "{burstReplicas} {partial} {delete}"), "2 true 2");
    for (flags, end) in [
        (" --feature-gates PodDeletionCost=true", ""),
        (" --feature-gates PodDeletionCost=false", " --feature-gates PodDeletionCost=false"),
        (
            " --feature-gates PreferForScaleDown=true,LogarithmicScaleDown=false",
            " --feature-gates LogarithmicScaleDown=false,PreferForScaleDown=true",
        ),
        (" --burst-replicas 2 --partial", " --burst-replicas 2 --partial"),
    ] {
        let replay = row(&shown(&format!("{NEW_SET} --replicas 3{flags}"), ROLLOUT).json, "{replay}");
        assert!(replay.ends_with(&format!(" --order total{end}")), "{flags}: {replay}");
    }
}

#[test]
fn printed_now_replays_byte_for_byte() {
    let of_file = |flags: &str| {
        let (status, stdout, stderr) = plain(&format!("-f {ROLLOUT_FILE} {NEW_SET} --replicas 3 {flags}"));
        assert_eq!(status, Some(0), "{stderr}");
        stdout
    };
    let preview: Value = serde_json::from_str(&of_file("-o json")).expect("JSON");
    let now = row(&preview, "{now}");
    let again: Value =
        serde_json::from_str(&of_file(&format!("-o json --now {now} --within 1s,5s"))).expect("JSON");
    // Nothing but where that time comes from is another.
    let mut expected = preview.clone();
    expected["nowSource"] = json!("given");
    expected["notes"].as_array_mut().expect("notes").retain(|note| note["code"] != "time-of-dump");
    assert_ne!(expected["notes"], preview["notes"]);
    assert_eq!(again, expected);
    let at_now = format!("-o table --now {now} --within 1s,5s");
    assert_eq!(of_file("-o table"), of_file(&at_now));
    // A file is read as standard input is.
    let at_noon = format!("-o table {}", NOON.join(" "));
    assert_eq!(of_file(&at_noon), fine(&format!("{NEW_SET} --replicas 3"), ROLLOUT).0);
}

// Bad input.

#[test]
fn neither_json_nor_yaml() {
    let empty = format!("the input is empty: {PRINT}");
    let object = "expected a Kubernetes object or list of them";
    let plain = format!("line 1: plain text in place of Kubernetes objects: {PRINT}");
    let table = format!("the input is a table for people: {PRINT}");
    // Not quoted, as no label is that kubectl prints: what Kubernetes says too.
    let numeric = "kind: Pod\nmetadata:\n  name: a\n  labels: {b: 1e3}\n";
    for (dump, line) in [
        ("", &*empty),
        (" \n\n", &empty),
        ("{\n  \"kind\": Pod\n}", "line 2 column 11: not JSON: expected value"),
        ("{\"kind\": \"List\", \"items\": []} x", "line 1 column 31: not JSON: expected value"),
        (
            "{\"kind\": \"List\", \"items\": [], \"items\": []}",
            "line 1 column 42: items is twice in one object",
        ),
        ("[]", &format!("line 1 column 1: invalid type: sequence, {object}")),
        ("hello", &plain),
        (&"hello world ".repeat(10_000), &plain),
        ("web-1   1/1   Running   2 (5m ago)   3h\nweb-2   0/1   Pending   0   3h\n", &plain),
        ("- 1\n", &format!("line 1: invalid type: sequence, {object}")),
        ("---\n# nothing\n", &format!("the input has no object: {PRINT}")),
        (
            "kind: List\nitems:\n- {\n",
            "line 4: not YAML: while parsing a node, did not find expected node content",
        ),
        (
            "kind: List\nitems:\n- 1\n",
            "line 3: items[0]: invalid type: integer `1`, expected a Kubernetes object",
        ),
        ("a: &x 1\nb: *x\n", "line 2: a YAML alias, which kubectl never writes: use -o json"),
        // kubectl writes a list's kind last.
        ("apiVersion: v1\nitems: []\n", "line 2: the list has no kind, so the input may be cut off"),
        ("items: []\nkind: Li\n", "line 2: Li is not the kind of a list, so the input may be cut off"),
        (numeric, "line 4: metadata.labels.b: invalid type: integer `1000`, expected a string"),
        ("NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          3h\n", &table),
        ("\nNAMESPACE   NAME\ndefault     web-1\n", &table),
        (
            "NAME        READY   STATUS\npod/web-1   1/1     Running\n\nNAME      DESIRED\nreplicaset.apps/web   1\n",
            &table,
        ),
    ] {
        bad_input(dump, "", line);
    }
}

#[test]
fn not_utf_8() {
    let refused = |bytes: &[u8]| Input::read(bytes).expect_err("it is refused").to_string();
    let utf_16 = "not UTF-8, but perhaps UTF-16, as PowerShell writes: convert it to UTF-8";
    assert_eq!(refused(b"\xFF\xFE{\0}\0"), utf_16);
    assert_eq!(refused(b"a: b\nc: \xC3"), "not UTF-8 at line 2");
    assert!(refused(b"{\"kind\": \"\xC3\"}").contains("unicode"), "{}", refused(b"{\"kind\": \"\xC3\"}"));
    // The byte order mark that editors on Windows write is no matter.
    fine("--replicas 1", format!("\u{FEFF}{}", dump(&[set("web"), pod(1)])));
}

#[test]
fn yaml_past_the_limit() {
    let error = Input::read(std::io::repeat(b'#')).expect_err("it has no end").to_string();
    assert_eq!(error, "the YAML is longer than 256 MiB: print the objects with -o json, which has no limit");
}

#[test]
fn neither_a_pod_nor_a_set() {
    let empty = "the list is empty: check the namespace and the labels given to kubectl get";
    let others = |count: &str| format!("no Pod or workload that has a preview among {count}: {PRINT}");
    let object = |kind: &str| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": "web" } });
    let other_group = with(pod(1), "apiVersion", json!("example.com/v1"));
    let cron_job = json!({ "apiVersion": "batch/v1", "kind": "CronJob" });
    for (dump, line) in [
        (r#"{"apiVersion":"v1","kind":"List","items":null}"#, empty),
        ("apiVersion: v1\nitems: []\nkind: List\n", empty),
        (&dump(&[object("Service")]), &others("1 object")),
        (&dump(&[object("Node"), object("Node")]), &others("2 Nodes")),
        (&dump(&[object("Node"), object("Service")]), &others("1 Node and 1 other object")),
        ("{}", &others("1 object")),
        (&dump(&[other_group, cron_job]), &others("2 objects")),
    ] {
        bad_input(dump, "", line);
    }
}

/// Whatever stands in an input, no error repeats it at length.
#[test]
fn errors_quote_forty_characters() {
    let long = "x".repeat(100_000);
    let pod_with = |place: &str, value: Value| dump(&[set("web"), with(pod(1), place, value)]);
    let restarts = |count: Value| pod_with("status containerStatuses", json!([{ "restartCount": count }]));
    for dump in [
        long.clone(),
        format!("{long}: {long}"),
        format!("items: []\nkind: {long}\n"),
        format!("{{\"{long}\": 1, \"{long}\": 2}}"),
        format!("a: !!{long} b"),
        format!("\"{long}\": *{long}"),
        dump(&[json!(long)]),
        dump(&[with(pod(1), "metadata labels", json!(long))]),
        dump(&[with(pod(1), "metadata labels", json!({ long.clone(): 1 }))]),
        pod_with("metadata uid", json!(long)),
        pod_with("metadata creationTimestamp", json!(long)),
        restarts(json!(long)),
        restarts(json!(1e300)),
        dump(&[set(&long), owned_pod(1, &long), set("web"), pod(2)]),
        dump(&[with(set("web"), "metadata namespace", json!(long)), set("web")]),
        dump(&(0..1_000).map(|number| set(&format!("{number}{}", "y".repeat(100)))).collect::<Vec<_>>()),
        dump(&[owned_pod(1, &long)]),
    ] {
        let (status, _, stderr) = run("--replicas 1", &dump);
        let start = &stderr[..stderr.len().min(999)];
        assert_eq!((status, stderr.lines().count()), (Some(1), 1), "{start}");
        assert!(stderr.len() < 3_500, "{} bytes: {start}", stderr.len());
    }
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": long });
    let (_, stderr) = fine("--replicas 1", pod_with("metadata annotations", cost));
    assert!(stderr.len() < 300, "{stderr}");
}

#[test]
fn unreadable_objects() {
    let number = dump(&[pod(1), json!(1)]);
    let end = number.find("],\"kind\":\"List\"").expect("the end of the items") + 1;
    let integer = "items[1]: invalid type: integer `1`, expected a Kubernetes object";
    bad_input(&number, "", &format!("line 1 column {end}: {integer}"));
    let nameless = dump(&[with(pod(1), "metadata name", Value::Null)]);
    bad_input(&nameless, "", "…: items[0]: metadata: missing field `name`");

    let uids = [uid(1)[1..].to_owned(), "0000000A-0000-4000-8000-000000000000".to_owned(), "?".to_owned()];
    for wrong in uids {
        let error = Uid::parse(&wrong).expect_err("it is no UID");
        let dump = dump(&[set("web"), with(pod(1), "metadata uid", json!(wrong))]);
        bad_input(&dump, "", &format!("pod default/web-1: metadata.uid: {error}"));
    }
    let restarts = json!([{ "name": "a", "restartCount": "3" }]);
    for (object, place, value, error) in [
        (0, "metadata uid", Value::Null, "metadata.uid is missing"),
        (
            0,
            "metadata creationTimestamp",
            json!("yester\nday"),
            "metadata.creationTimestamp: \"yester\\nday\" is not a time as in RFC 3339",
        ),
        (
            0,
            "status containerStatuses",
            restarts,
            "status.containerStatuses[0].restartCount: invalid type: string \"3\", expected i32",
        ),
    ] {
        let mut items = [pod(1), set("web")];
        put(&mut items[object], place, value);
        let name = ["pod default/web-1", "default ReplicaSet/web"][object];
        bad_input(&dump(&items), "", &format!("{name}: {error}"));
    }
}

#[test]
fn only_pods_that_matter_need_to_be_sound() {
    let unsound =
        |pod: Value| with(with(pod, "metadata uid", json!("?")), "metadata creationTimestamp", json!("?"));
    let others = [
        unsound(owned_pod(7, "api")),
        with(unsound(pod(8)), "status phase", json!("Succeeded")),
        with(unsound(pod(9)), "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z")),
    ];
    let unread = dump(&[&[set("web"), pod(1), pod(2)], &others[..]].concat());
    assert_eq!(fine("--replicas 1 web --order total -o name", unread).0, "pod/web-1\n");
    // Once its labels make it related, it matters.
    let related = with(unsound(owned_pod(7, "api")), "metadata labels app", json!("web"));
    let related = with(related, "metadata creationTimestamp", Value::Null);
    let error = format!("pod default/api-7: metadata.uid: {}", Uid::parse("?").expect_err("it is no UID"));
    bad_input(&dump(&[set("web"), set("api"), pod(1), related]), "web", &error);
    // Nor does the status of a sibling matter.
    let sibling = with(set("api"), "status", json!({ "replicas": "3" }));
    fine("--replicas 1 web", dump(&[set("web"), sibling, pod(1)]));
}

#[test]
fn missing_file() {
    let error = "error: /nowhere/pods.json: No such file or directory (os error 2)\n";
    assert_eq!(plain("-f /nowhere/pods.json --replicas 1"), (Some(1), String::new(), error.to_owned()));
}

// Which set.

#[test]
fn several_sets() {
    let elsewhere = with(pod(3), "metadata namespace", json!("a"));
    let pods = dump(&[pod(1), owned_pod(2, "api"), elsewhere]);
    let of_controller = with(owned_pod(2, "rc"), CONTROLLER, owner("v1", "ReplicationController", "web"));
    let kinds = dump(&[pod(1), of_controller]);
    let several = "the input has pods of several workloads: ";
    let named = "several workloads are named web: ";
    for (dump, words, start, sets) in [
        (&pods, "", several, "a ReplicaSet/web, default ReplicaSet/api, default ReplicaSet/web"),
        (&pods, "-n default", several, "default ReplicaSet/api, default ReplicaSet/web"),
        (&pods, "web", named, "a ReplicaSet/web, default ReplicaSet/web"),
        (&kinds, "web", named, "default ReplicaSet/web, default ReplicationController/web"),
        (
            &dump(&[set("web"), set("api")]),
            "",
            "the input has several workloads, none with pods: ",
            "default ReplicaSet/api, default ReplicaSet/web",
        ),
    ] {
        bad_input(
            dump,
            words,
            &format!("{start}{sets}; choose one as TYPE/NAME, with --namespace, or ask about all with -A"),
        );
    }
    fine("--replicas 1 --partial -n a", &pods);
    fine("--replicas 1 --partial -n default api", &pods);
    // The only set with pods is meant, however many others there are.
    fine("--replicas 1", dump(&[set("web"), set("api"), pod(1)]));
    for (name, victim) in [
        ("rs/web", "pod/web-1\n"),
        ("replicaset.apps/web", "pod/web-1\n"),
        ("ReplicaSet/web", "pod/web-1\n"),
        ("rc/web", "pod/rc-2\n"),
        ("replicationcontroller/web", "pod/rc-2\n"),
    ] {
        assert_eq!(fine(&format!("--replicas 0 --partial -o name {name}"), &kinds).0, victim, "{name}");
    }
}

#[test]
fn unknown_set() {
    let two = dump(&[set("web-7f6b9d5c48"), set("api-5d8c7f9b64")]);
    let three = dump(&[set("web-1"), set("web-2"), set("api")]);
    let orphan = dump(&[with(pod(1), CONTROLLER, Value::Null)]);
    for (dump, words, line) in [
        (&two, "web-7f6b9d5c84", "no workload is named web-7f6b9d5c84; did you mean rs/web-7f6b9d5c48?"),
        (
            &two,
            "rc/xyz",
            "no ReplicationController is named xyz; the input has none; get it with kubectl get \
             pods,replicationcontrollers -o json",
        ),
        (
            &two,
            "-n prod",
            "no workload in namespace prod; the input has: default ReplicaSet/api-5d8c7f9b64, \
             default ReplicaSet/web-7f6b9d5c48",
        ),
        (
            &three,
            "d",
            "d is a Deployment; name one of its ReplicaSets: default ReplicaSet/api, default ReplicaSet/web-1, \
             default ReplicaSet/web-2",
        ),
        (
            &orphan,
            "",
            "none of the 1 pod belongs to a ReplicaSet or ReplicationController, and no other workload is in the input",
        ),
    ] {
        bad_input(dump, words, line);
    }
}

#[test]
fn a_set_without_pods_is_fine() {
    let (table, notes) = fine("--replicas 1", set("web").to_string());
    assert_eq!((&*table, &*notes), ("rs/web to 1: it has no pods\n", ""));
    let gone = with(pod(1), "status phase", json!("Failed"));
    assert_eq!(fine("--replicas 0 -o name", dump(&[gone, set("web")])).0, "");
}

#[test]
fn one_object_or_several_documents() {
    let (metadata, rest) = (&pod(1)["metadata"], r#""spec":{},"status":{"phase":"Running"}"#);
    let sets = dump(&[set("web")]);
    let (one, both) = ("pod/web-1\n", "pod/web-1\npod/web-2\n");
    for (text, names) in [
        (format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata},{rest}}}"#), one),
        (format!(r#"{{{rest},"metadata":{metadata},"apiVersion":"v1","kind":"Pod"}}"#), one),
        (format!("{}{}", pod(1), pod(2)), both),
        (format!("{sets}\n{}\n{}\n", dump(&[pod(1)]), dump(&[pod(2)])), both),
        (format!(" \n\t{}\n\n{}{sets} ", pod(1), pod(2)), both),
        (format!("---\n{}\n---\n{}\n---\n---\n{sets}\n", pod(1), pod(2)), both),
        (format!("# two\n{}\n...\n{}\n", pod(1), dump(&[pod(2)])), both),
    ] {
        assert_eq!(fine("--replicas 0 --order total -o name", &text).0, names, "{text}");
    }
}

/// `jq --sort-keys` and YAML write `items` before the kind that a typed list gives them.
#[test]
fn items_without_a_kind_of_their_own() {
    let typed = |kind: &str, version: &str, item: Value| {
        let item = with(with(item, "kind", Value::Null), "apiVersion", Value::Null);
        [
            format!(r#"{{"kind":"{kind}","apiVersion":"{version}","items":[{item}]}}"#),
            format!(r#"{{"apiVersion":"{version}","items":[{item}],"kind":"{kind}"}}"#),
        ]
    };
    let sets = typed("ReplicaSetList", "apps/v1", set("web"));
    for (pods, sets) in typed("PodList", "v1", pod(1)).iter().zip(&sets) {
        let (table, notes) = fine("--replicas 1", format!("{pods}{sets}"));
        assert!(table.starts_with("rs/web to 1: its pod stays\n"), "{table}");
        assert_eq!(notes, "", "the set is known");
    }
    let [_, controllers] = typed("ReplicationControllerList", "v1", with(set("web"), "spec", Value::Null));
    let (table, _) = fine("--replicas 1", controllers);
    assert_eq!(table, "rc/web to 1: it has no pods\n");
    let [_, services] = typed("ServiceList", "v1", json!({ "metadata": 1 }));
    bad_input(&services, "", &format!("no Pod or workload that has a preview among 1 object: {PRINT}"));
    let nameless = r#"{"items":[{"metadata":{}}],"kind":"PodList"}"#;
    bad_input(nameless, "", "line 1 column 44: items[0]: metadata: missing field `name`");
}

/// The same pods as kubectl prints them in YAML.
#[test]
fn yaml_is_read_as_json_is() {
    let preview = shown("--replicas 3", CONTESTED);
    let rows = [
        "8wz5c 1 contested null",
        "4kq2n 1 contested null",
        "t7xjd 1 contested null",
        "pm6vr 1 keep deletion-cost",
    ];
    let rows = rows.map(|row| format!("api-6c9d8f7b5-{row}"));
    assert_eq!(each_pod(&preview, "{name} {rank} {verdict} {rule}"), rows);
    // As Kubernetes does, unquoted times are taken for text.
    let unquoted = CONTESTED.replace("\"2026-03-10T11:59:00Z\"", "2026-03-10T11:59:00Z");
    assert_ne!(CONTESTED, unquoted);
    assert_eq!(shown("--replicas 3", unquoted).json, preview.json);
}

#[test]
fn yaml_of_five_thousand_pods() {
    // Flow style: JSON within YAML.
    let items: Vec<_> = (0..5_000).map(|number| format!("- {}", pod(number))).collect();
    let dump = format!("apiVersion: v1\nitems:\n{}\nkind: List\n", items.join("\n"));
    assert_eq!(fine("--replicas 4999 -o name --order total", dump).0, "pod/web-0\n");
}

/// A day after the last moment that other readers of timestamps know.
#[test]
fn the_last_day_of_the_calendar_saturates() {
    let at = |number, time: &str| with(pod(number), "metadata creationTimestamp", json!(time));
    let last = dump(&[set("web"), at(1, "2026-03-10T11:00:00Z"), at(2, "9999-12-31T23:59:59Z")]);
    shown("--replicas 1 --order total", last).says(&["… of 2 go, …", "web-2; delete; creation-time; …"]);
    bad_input(&dump(&[set("web"), at(1, "9999-12-31")]), "--order total", "…");
}

// Incomplete dumps.

/// Under `kubernetes` an incomplete dump is an error with the command that mends it; `--partial` and `total` make it a note.
#[track_caller]
fn incomplete(dump: &str, name: &str, gap: &str, command: &str) {
    let line = format!(
        "the input is incomplete: {gap}; get all of it with: {command}; --partial accepts what is missing"
    );
    bad_input(dump, name, &line);
    for accepting in ["--partial", "--order total"] {
        let partial = shown(&format!("--replicas 1 {name} {accepting}"), dump);
        assert_eq!(partial.notes, format!("note: {}\n", gap.replace("; ", "\nnote: ")));
        assert_eq!(list(&partial.json["notes"]).count(), partial.notes.lines().count());
    }
}

const ALL: &str = "kubectl get pods,replicasets,deployments -n default -o json";

fn with_status(set: Value, replicas: i32) -> Value {
    with(set, "status", json!({ "replicas": replicas }))
}

#[test]
fn a_set_that_is_not_in_the_input() {
    for (namespace, command) in [
        ("default", ALL.to_owned()),
        ("prod", ALL.replace("default", "prod")),
        // Nobody should paste more than a namespace.
        ("$(reboot)", ALL.replace(" -n default", "")),
    ] {
        let dump = dump(&[with(pod(1), "metadata namespace", json!(namespace))]);
        let gap =
            format!("{namespace} ReplicaSet/web itself is missing, so ranks can only count its own pods");
        incomplete(&dump, "", &gap, &command);
    }
    let dump = dump(&[with(pod(1), CONTROLLER, owner("v1", "ReplicationController", "web"))]);
    let gap = "default ReplicationController/web itself is missing";
    incomplete(&dump, "", gap, "kubectl get pods,replicationcontrollers -n default -o json");
    // Whatever is missing, Kubernetes counts no ranks for one.
    assert_eq!(shown("--replicas 1 --partial", &dump).json["pods"][0]["rank"], 0);
}

#[test]
fn fewer_pods_than_the_status_counts() {
    let listed = |status: i32, pods: &[Value]| dump(&[&[with_status(set("web"), status)], pods].concat());
    // `kubectl get replicasets` alone.
    let gap = "only 0 pods of default ReplicaSet/web are listed, while its status counts 3";
    incomplete(&listed(3, &[]), "", gap, ALL);
    let gap = "only 1 pod of default ReplicaSet/web is listed, while its status counts 2";
    incomplete(&listed(2, &[pod(1)]), "", gap, ALL);
    // An entry twice is one pod.
    bad_input(&listed(2, &[pod(1), pod(1)]), "", "the input is incomplete: …");

    // Pods that finished or are being deleted were active when the status was written. A status is behind when pods are
    // created, not when others terminate.
    let gone = with(pod(2), "status phase", json!("Failed"));
    let going = with(pod(3), "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let more = "note: default ReplicaSet/web has 2 active pods, while its status counts 1\n";
    for (dump, notes) in [
        (listed(3, &[pod(1), gone, going.clone()]), ""),
        (listed(1, &[pod(1), going]), ""),
        (listed(1, &[pod(1), pod(2)]), more),
    ] {
        assert_eq!(fine("--replicas 1", dump).1, notes);
    }
}

/// The labels of pods do not tell whose set of an Argo Rollout they are of, nor of any other owner but a Deployment.
#[test]
fn pods_that_may_be_of_siblings_of_another_owner() {
    let own_set = with(set("web"), CONTROLLER, owner("argoproj.io/v1alpha1", "Rollout", "web"));
    let gap = "ReplicaSets that may be siblings of default ReplicaSet/web are missing, so ranks may leave pods out: default \
               ReplicaSet/canary (1 pod)";
    let canary = owned_pod(3, "canary");
    let own = [own_set, pod(1), pod(2)];
    incomplete(&dump(&[&own[..], std::slice::from_ref(&canary)].concat()), "web", gap, ALL);

    // Neither the set itself nor a pod that counts towards no rank is missed.
    let finished = with(canary.clone(), "status phase", json!("Succeeded"));
    let elsewhere = with(canary.clone(), "metadata namespace", json!("other"));
    let bare = [with(set("web"), CONTROLLER, Value::Null), pod(1), pod(2), canary.clone()];
    for items in [
        [&own[..], &[set("canary"), canary]].concat(),
        [&own[..], &[finished, elsewhere]].concat(),
        bare.to_vec(),
    ] {
        let preview = shown("--replicas 1 web", dump(&items));
        assert!(!preview.json.to_string().contains("siblings-missing"), "{preview}");
    }
}

#[test]
fn pods_of_siblings_that_are_missing() {
    let hashed = |object: Value, labels: &str, hash: &str| {
        with(object, labels, json!({ "app": "web", "pod-template-hash": hash }))
    };
    let of_set = |name: &str, hash: &str| hashed(set(name), "spec selector matchLabels", hash);
    let of_pod = |number, name: &str, hash: &str| hashed(owned_pod(number, name), "metadata labels", hash);
    let own = || vec![of_set("web", "new"), of_pod(1, "web", "new"), of_pod(2, "web", "new")];
    let old = |number| of_pod(number, "old", "old");
    let and = |others: &[Value]| dump(&[&own(), others].concat());
    let gap = "siblings of default ReplicaSet/web are missing, so ranks may leave pods out: \
               default ReplicaSet/old (2 pods), default ReplicaSet/older (1 pod)";
    incomplete(&and(&[old(3), old(4), of_pod(5, "older", "older")]), "web", gap, ALL);

    // With the sibling, its pods count towards the ranks.
    let whole = and(&[of_set("old", "old"), old(3), old(4)]);
    assert_eq!(shown("--replicas 1 web", whole).json["pods"][0]["rank"], 4);

    // These are no siblings': other labels, another namespace, no ReplicaSet, a pod that counts for nobody, or a set that
    // nobody has siblings of.
    let strangers = [
        ("metadata labels app", "api"),
        ("metadata namespace", "prod"),
        ("metadata ownerReferences 0 kind", "StatefulSet"),
        ("status phase", "Succeeded"),
        ("metadata deletionTimestamp", "2026-03-10T12:00:00Z"),
    ];
    let mut bare = own();
    bare[0] = with(bare[0].take(), CONTROLLER, Value::Null);
    bare.push(old(3));
    let strangers = strangers.map(|(place, value)| and(&[with(old(3), place, json!(value))]));
    for dump in strangers.into_iter().chain([dump(&bare)]) {
        assert_eq!(shown("--replicas 1 web", dump).json["notes"], json!([]));
    }
}

// Notes.

#[test]
fn pods_from_after_the_decision() {
    let created = |number, time: &str| with(pod(number), "metadata creationTimestamp", json!(time));
    let times = ["2026-03-10T12:05:00Z", "2026-03-10T09:00:00Z", "2026-03-10T12:06:00Z"];
    let pods = (1..).zip(times).map(|(number, time)| created(number, time));
    let late = shown("--replicas 1", dump(&[set("web")].into_iter().chain(pods).collect::<Vec<_>>()));
    let rows = [
        "web-1 -5m created 5m after this decision, web-2 has 3h: different age buckets",
        "web-3 -6m created 6m after this decision, web-2 has 3h: different age buckets",
        "web-2 3h age 3h, web-3 created 6m after this decision: different age buckets",
    ];
    assert_eq!(each_pod(&late, "{name} {age} {why}"), rows);
    assert_eq!(
        late.notes,
        "note: pod default/web-1 and 1 other pod: created after 2026-03-10T12:00:00Z, the time of this decision, \
         so the age is negative\n"
    );
}

#[test]
fn invalid_deletion_cost() {
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "+10" });
    let dump = dump(&[set("web"), with(pod(1), "metadata annotations", cost)]);
    let error = podrank::deletion_cost("+10").expect_err("it is invalid");
    let warning = format!(
        "warning: pod default/web-1: controller.kubernetes.io/pod-deletion-cost is \"+10\": {error}; Kubernetes reads it \
         as 0\n"
    );
    assert_eq!(fine("--replicas 1", &dump).1, warning);
    assert_eq!(fine("--replicas 1 --feature-gates PodDeletionCost=false", &dump).1, "");
}

#[test]
fn pods_to_adopt_and_to_release() {
    let orphan = with(pod(1), CONTROLLER, Value::Null);
    let released = with(pod(2), "metadata labels app", json!("api"));
    let of = |set: Value| shown("--replicas 1", dump(&[set, orphan.clone(), released.clone(), pod(3)]));
    let preview = of(set("web"));
    preview
        .says(&["note: pod default/web-1 has no controller: …", "note: pod default/web-2 does not match …"]);
    // The orphan is related: with web-3 it makes two on the node, and web-2 is counted nowhere.
    assert_eq!((&preview.json["active"], &preview.json["pods"][0]["rank"]), (&json!(2), &json!(2)));
    let note = "note: default ReplicaSet/web is being deleted: its controller deletes no pods\n";
    let time = json!("2026-03-10T12:00:00Z");
    assert_eq!(of(with(set("web"), "metadata deletionTimestamp", time)).notes, note);
}

#[test]
fn more_than_one_sync() {
    let bare = with(set("web"), CONTROLLER, Value::Null);
    let pods = |count| (0..count).map(pod);
    let many = dump(&[bare].into_iter().chain(pods(501)).collect::<Vec<_>>());
    let none_is_certain = "note: no victim is certain: 500 of 501 pods go by chance (-o table lists them)\n";
    for (flags, note) in [
        (
            "--replicas 0",
            "note: 501 deletions take 2 syncs of at most 500, and the controller counts ranks anew in each; this \
             assumes that node assignment, phase, readiness and deletion cost stay as they are\n",
        ),
        ("--replicas 1", none_is_certain),
        ("--replicas 0 --burst-replicas 500", none_is_certain),
        ("--replicas 0 --order total", ""),
    ] {
        assert_eq!(fine(&format!("-o name {flags}"), &many).1, note);
    }
    // By hand: all but the number of the ready pods tie, so 200 of those that are not ready go, and some of the 400 others.
    let pods = (0..).zip(pods(600)).map(|(number, pod)| {
        let status = if number < 200 { "False" } else { "True" };
        with(pod, "status conditions", json!([{ "type": "Ready", "status": status }]))
    });
    let preview = shown("--replicas 50", dump(&[set("web")].into_iter().chain(pods).collect::<Vec<_>>()));
    let verdicts = [vec!["delete"; 200], vec!["contested"; 400]].concat();
    assert_eq!(each_pod(&preview, "{verdict}"), verdicts);
    let last = "…; one of 400 pods of which 350 go, by list order and ranks counted anew";
    let no_odds = "note: there are no odds for the contested pods of default ReplicaSet/web: above 500 deletions, they depend \
                   on what happens between the syncs";
    preview.says(&["550 of 600 go, quota 350", last]).says(&[no_odds]);
    assert_eq!(each_pod(&preview, "{odds}"), vec!["null"; 600]);
}

#[test]
fn contested_pods_have_odds() {
    let preview = shown("--replicas 3", CONTESTED);
    assert_eq!(
        each_pod(&preview, "{odds} {oddsError}"),
        ["0.3333 0.0", "0.3333 0.0", "0.3333 0.0", "null null"]
    );
    assert!(fine("--replicas 3", CONTESTED).0.contains("\n33 %  api-"));
    assert!(fine("--replicas 3 -o wide", CONTESTED).0.contains("\n-  33 %  api-"));
    // Nothing tells one from another.
    let of = |count| dump(&[set("web")].into_iter().chain((0..count).map(pod)).collect::<Vec<_>>());
    assert!(fine("--replicas 1", of(501)).0.contains("\n>99 %  "));
    let many = fine("-o name --replicas 5000", of(5_001));
    assert!(many.1.contains("above 5000 pods, they take too long to work out\n"), "{}", many.1);
    assert_eq!(each_pod(&shown("--replicas 3 --order total", CONTESTED), "{odds}"), ["null"; 4]);
}

// Flags.

#[test]
fn wrong_flags() {
    let gate = &["PreferForScaleDown", "--order total"][..];
    for (flags, words) in [
        (
            "--feature-gates PodCost=true",
            &["`PodCost`", "PodDeletionCost, LogarithmicScaleDown, PreferForScaleDown"][..],
        ),
        ("--feature-gates PodDeletionCost=maybe", &["`maybe`"]),
        ("--feature-gates PodDeletionCost", &["NAME=true"]),
        ("--now noon", &["--now", "noon", "write it as in 2026-03-10T12:00:00Z"]),
        ("--now 2026-03-10T12:00:00", &["--now"]),
        ("--feature-gates PreferForScaleDown=true", gate),
        ("--feature-gates PreferForScaleDown=true --order kubernetes", gate),
        ("--order random", &["--order", "random"]),
        ("--burst-replicas 0", &["--burst-replicas"]),
        ("rs/", &["the name is empty"]),
        ("deploy/web 5", &["`5` is no name; for a count, type kubectl podrank deploy/web --replicas 5"]),
        ("-o toml", &["toml"]),
    ] {
        bad_flags(&format!("-f {ROLLOUT_FILE} --replicas 1 {flags}"), words);
    }
    for replicas in ["4294967296", "five", "+2", "30%", "-101%"] {
        bad_flags(&format!("-f {ROLLOUT_FILE} --replicas {replicas}"), &["--replicas", replicas]);
    }
}

#[test]
fn help_has_examples_of_every_kind() {
    let (_, help, _) = plain("--help");
    let examples = help.split("Examples:").nth(1).expect("examples");
    assert_eq!(examples.matches("\n  # ").count(), 11, "{help}");
    // The short one is a screen.
    for words in ["-h", "scale -h", "drop -h", "undo -h"] {
        let (_, help, _) = plain(words);
        assert!(help.lines().count() <= 40, "{help}");
    }
    let flags = "-f, --filename|--replicas|-n, --namespace|--now|--order|--feature-gates|--burst-replicas|--partial|\
                 -o, --output|TYPE/NAME|--rollout|--context|completion";
    for flag in flags.split('|') {
        assert!(help.contains(flag), "{flag}: {help}");
    }
}

// Shells.

#[test]
fn completions_need_no_second_build() {
    for (words, expected) in [
        ("completion bash", ["complete -F", "burst-replicas"]),
        ("completion zsh", ["#compdef kubectl-podrank", "burst-replicas"]),
        ("completion fish", ["complete -c kubectl-podrank", "burst-replicas"]),
        ("completion powershell", ["Register-ArgumentCompleter", "burst-replicas"]),
    ] {
        let (status, script, stderr) = plain(words);
        assert_eq!((status, &*stderr), (Some(0), ""));
        assert!(expected.iter().all(|word| script.contains(word)), "{script}");
    }
    bad_flags("completion", &[]);
}

/// As kubectl does: it runs the script by its name, with the words so far.
#[cfg(unix)]
#[test]
fn the_script_for_kubectl_runs_the_program() {
    use std::os::unix::fs::PermissionsExt;
    let directory = std::env::temp_dir().join(format!("podrank-completion-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let script = directory.join("kubectl_complete-podrank");
    fs::write(&script, plain("completion kubectl").1).expect("the script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = std::path::Path::new(PROGRAM).parent().expect("a directory");
    let path = format!("{}:/usr/bin:/bin", program.display());
    let complete = |words: &[&str]| {
        let output = output(Command::new(&script).args(words).env("PATH", &path), b"");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
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

/// The program on the example, and its words.
fn command() -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["-f", ROLLOUT_FILE, "--replicas", "4", "rs/web-7f6b9d5c48"]).args(NOON);
    command
}

#[test]
fn no_color_is_heeded() {
    let table = |variables: &[(&str, &str)]| {
        let output = output(command().env_remove("NO_COLOR").envs(variables.iter().copied()), b"");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(table(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[31myes   web-7f6b9d5c48-b7wfn"));
    assert!(!table(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let hostile = with(pod(1), "metadata name", json!("web\u{1b}[31m\n1"));
    let (names, _) = fine("--replicas 0 -o name", dump(&[set("web"), hostile.clone()]));
    assert_eq!(names, "pod/web\\u{1b}[31m\\n1\n");
    let missing = dump(&[set("web"), with(hostile, "metadata uid", Value::Null)]);
    bad_input(&missing, "", "pod default/web\\u{1b}[31m\\n1: metadata.uid is missing");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child =
        command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}
