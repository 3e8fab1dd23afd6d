//! The built program: what it prints, where, and how it exits. Every sentence of its contract has a test:
//!
//! | what the contract says | tests |
//! |---|---|
//! | reads a List or one object, JSON or YAML, of files and standard input; others are skipped | `printed_now_replays_byte_for_byte`, `objects_and_lists_are_read_one_after_the_other_in_json_and_yaml`, `neither_a_pod_nor_a_set`; `fuzz/tests/preview.rs` |
//! | `--replicas` is of this one set; mid-rollout a note | `example_as_json` |
//! | names, `--namespace`; several sets are listed; a missing namespace is `default` | `the_workload_that_is_meant_is_found_or_asked_for`; `every_kind.rs` |
//! | `--now` replays | `printed_now_replays_byte_for_byte` |
//! | both orders, `kubernetes` the default | `a_cycle_is_contested`; `fuzz/tests/preview.rs` |
//! | the feature gates | `gates_change_the_choice_and_are_replayed`, `wrong_flags` |
//! | more than 500 deletions | `more_than_one_sync`; `predict/tests/syncs.rs` |
//! | the outputs | `example_as_wide_table`, `example_as_json`; `look.rs`, and the commands in `docs/path.md` |
//! | the owner reference decides whose a pod is, never labels; adoption and release get a note | `pods_to_adopt_count_as_related_and_those_to_release_do_not`; `predict/tests/sentences.rs`, `fuzz/tests/preview.rs` |
//! | incomplete dumps, `--partial` | the section on incomplete dumps; `fuzz/tests/preview.rs` |
//! | `ReplicationController`s; bare sets | the recorded rounds of `predict/tests/rounds.rs` |
//! | nothing to delete is valid | `a_set_without_pods_is_fine` |
//! | duplicates | `every_kind.rs`; `predict/tests/sentences.rs` |
//! | only pods that matter need to be sound | `only_pods_that_matter_need_to_be_sound` |
//! | the names and meaning of the JSON; rules and reasons | `example_as_json`, `the_document_on_the_json_names_every_note`; `fuzz/tests/preview.rs`, `predict/tests/sentences.rs` |
//! | notes and warnings on standard error | the section on notes |
//! | exit 0, 1 with one line that names the place and nothing on standard output, 2 | all that call `fine`, `shown`, `bad_input`, `bad_flags`; `hostile.rs` |

use crate::common::{
    self, CONTESTED, NOON, PROGRAM, ROLLOUT, Shown, all_pods, dump, fails, fine, output, owned_pod, owner,
    plain, pod, put, row, run, set, shown, uid, with,
};
use podrank::Uid;
use podrank_predict::{Snapshot, is_too_long};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const ROLLOUT_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../predict/examples/rollout.json");
const NO_WORKLOAD: &str = "the input has no Pod or workload that podrank knows";
const NEW_SET: &str = "web-7f6b9d5c48 --order total";
const PRINT: &str = "\n  Print the objects with: kubectl get pods,replicasets,deployments -o json";
const CONTROLLER: &str = "metadata ownerReferences";

/// Asserts that the dump is refused with exactly this line, whatever the time is.
#[track_caller]
fn bad_input(dump: &str, words: &str, line: &str) {
    fails(&format!("--replicas 1 {words}"), dump, line);
}

/// Whether it is one error, whose reasons and remedies are indented.
fn has_one_error(stderr: &str) -> bool {
    stderr.starts_with("error: ") && stderr.lines().skip(1).all(|line| line.starts_with("  "))
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
    all_pods(&preview.json).map(|pod| row(pod, text).replace("web-7f6b9d5c48-", "")).collect()
}

// The shipped example.

/// By hand: one pod has no node; of those that do, one is Pending; one is not ready; one costs -10 and one 100. The other four
/// tie so far. Their nodes hold 4, 4, 3 and 3 active pods of both sets, terminating t6zgb left out. On worker-1, z5tgq is
/// ready for 5m30s (d6sjr: 3h). Of w8nlc (170m) and x4rvp (190m), both in the band from 2^43 ns to 2^44 ns (146m to 293m),
/// the first has a restarted sidecar; the five restarts of the other's `migrate` are of an ordinary init container.
#[test]
fn example_as_json() {
    let shown = shown(&format!("{NEW_SET} --replicas 3"), ROLLOUT);
    let rows = [
        "1 hq8zt null 1 deleted unassigned",
        "2 m9c4x worker-3 3 deleted phase",
        "3 k2v5d worker-2 3 deleted not-ready",
        "4 b7wfn worker-1 4 deleted deletion-cost",
        "5 z5tgq worker-1 4 deleted rank",
        "6 d6sjr worker-1 4 deleted rank",
        "7 w8nlc worker-2 3 kept rank",
        "8 x4rvp worker-3 3 kept rank",
        "9 p4xkl worker-4 2 kept deletion-cost",
    ];
    assert_eq!(each_pod(&shown, "{position} {name} {node} {rank} {verdict} {reason.rule}"), rows);
    // The names are the contract.
    let note = "Deployment web is in the middle of a rollout (with web-5d8c7f9b64) and may reset the replica count of \
                web-7f6b9d5c48: scale deploy/web instead";
    let costs = "2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)";
    let terminating = "kubectl get pods lists 1 more pod of ReplicaSet default/web-7f6b9d5c48, which podrank does not count (1 being deleted)";
    assert_eq!(shown.notes, format!("note: {note}\nnote: {costs}\nnote: {terminating}\n"));
    let mut head = shown.json.clone();
    put(&mut head, "groups", Value::Null);
    assert_eq!(
        head,
        json!({
            "apiVersion": "podrank/v1",
            "kind": "ScaleDownPreview",
            "namespace": "default",
            "workload": { "kind": "ReplicaSet", "name": "web-7f6b9d5c48" },
            "now": "2026-03-10T12:00:00Z",
            "timeSource": "given",
            "within": { "before": 0.0, "after": 0.0 },
            "order": "total",
            "featureGates": { "PodDeletionCost": true, "LogarithmicScaleDown": true, "PreferForScaleDown": false },
            "activePods": 9,
            "currentReplicas": 9,
            "replicas": 3,
            "partial": false,
            "deletions": { "min": 6, "max": 6 },
            "certainDeletions": 6,
            "waitsFor": null,
            "complete": true,
            "replay": "rs/web-7f6b9d5c48 --namespace default --replicas 3 --now 2026-03-10T12:00:00Z --order total",
            "notes": [
                { "level": "note", "code": "controlled-by-owner", "text": note },
                { "level": "note", "code": "deletion-costs", "text": costs },
                { "level": "note", "code": "not-counted", "text": terminating },
            ],
        })
    );
}

#[test]
fn a_pod_of_the_example_as_json() {
    let shown = shown(&format!("{NEW_SET} --replicas 3"), ROLLOUT);
    let group = &shown.json["groups"][0];
    assert_eq!(row(group, "{replicaSet} {deletions.max}"), "web-7f6b9d5c48 6");
    let pods = &group["pods"];
    assert_eq!(pods[3]["reason"]["text"], "deletion cost -10 (web-7f6b9d5c48-x4rvp: 0)");
    assert_eq!(pods[0]["uid"].as_str().map(str::len), Some(36));
    assert_eq!(
        pods[6],
        json!({
            "name": "web-7f6b9d5c48-w8nlc",
            "uid": "c8176cc5-dadb-41aa-baa8-57b0ad64b720",
            "node": "worker-2",
            "rank": 3,
            "position": 7,
            "verdict": "kept",
            "reason": {
                "rule": "rank",
                "text": "3 related pods on its node (web-7f6b9d5c48-d6sjr: 4)",
                "own": 3,
                "other": { "name": "web-7f6b9d5c48-d6sjr", "uid": pods[5]["uid"], "value": 4 },
            },
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

/// docs/preview-json.md names each code of a note, and nothing else.
#[test]
fn the_document_on_the_json_names_every_note() {
    let document = include_str!("../../docs/preview-json.md");
    let (_, table) = document.split_once("| code | what the note is about |").expect("the table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut documented: Vec<_> = rows.map(|(code, _)| code).collect();
    let source = include_str!("../../predict/src/answer/note.rs");
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

/// docs/path.md has the table and a row of the wide one.
#[test]
fn example_as_wide_table() {
    let (wide, _) = fine(&format!("{NEW_SET} --replicas 3 -o wide"), ROLLOUT);
    let rows: Vec<_> = wide.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    let head = "# VERDICT POD NODE PODS ON NODE AGE PHASE READY RESTARTS COST UID RULE REASON";
    assert_eq!(rows[3].join(" "), head);
    assert_eq!(rows[4][..4], ["1", "deleted", "web-7f6b9d5c48-hq8zt", "<none>"]);
    let restarted =
        ["3", "90m", "Running", "no", "14+0", "0", "698c59e5-193c-49ca-af34-bc3b0ade7699", "not-ready"];
    assert_eq!(rows[6][4..12], restarted);
    assert!(rows[10].concat().chars().all(|c| c == '-') && rows[11][8] == "0+2", "{wide}");
    assert!(!wide.contains('\u{1b}'), "a pipe gets no colour");
}

#[test]
fn a_cycle_is_contested() {
    let example: Value = serde_norway::from_str(CONTESTED).expect("YAML");
    let pending = ("api-6c9d8f7b5-pm6vr", "status phase", json!("Pending"));
    let pending = common::changed(&example.to_string(), &[pending]);
    let preview = shown("--replicas 2", &pending);
    let open = "…; possible; by-chance; by chance, 1 of 3 such pods is deleted";
    preview.says(&["2 of 4 go, quota 1", "api-6c9d8f7b5-pm6vr; deleted; …", open, open, open]);
    let (table, _) = fine("--replicas 2 -o wide", &pending);
    let (certain, by_chance) = table.split_once("\n---").expect("a line between them");
    assert!(certain.contains("-pm6vr") && by_chance.matches("api-6c9d8f7b5-").count() >= 3, "{table}");
    // The total order decides it.
    let (names, _) = fine("--replicas 2 -o name --order total", &pending);
    assert_eq!(names.lines().count(), 2);
}

#[test]
fn gates_change_the_choice_and_are_replayed() {
    let all = "hq8zt m9c4x k2v5d b7wfn z5tgq d6sjr";
    // With costs ignored, b7wfn (ready for 3h11m) is in one band with d6sjr, and its name does not count.
    let ignored = "hq8zt m9c4x k2v5d z5tgq d6sjr b7wfn";
    for (flags, victims, replay) in [
        ("", all, ""),
        (
            "--feature-gates PodDeletionCost=false,LogarithmicScaleDown=false",
            ignored,
            " --feature-gates PodDeletionCost=false,LogarithmicScaleDown=false",
        ),
        ("--feature-gates PodDeletionCost=false --feature-gates PodDeletionCost=true", all, ""),
        (
            "--feature-gates PreferForScaleDown=true,LogarithmicScaleDown=false",
            all,
            " --feature-gates LogarithmicScaleDown=false,PreferForScaleDown=true",
        ),
        ("--partial", all, " --partial"),
    ] {
        let words = format!("{NEW_SET} --replicas 3 {flags}");
        let (names, _) = fine(&format!("{words} -o name"), ROLLOUT);
        assert_eq!(names.replace("pod/web-7f6b9d5c48-", "").trim().replace('\n', " "), victims, "{flags}");
        // The JSON says what was asked.
        let json = shown(&words, ROLLOUT).json;
        assert!(row(&json, "{replay}").ends_with(&format!(" --order total{replay}")), "{json}");
        assert_eq!(json["partial"], flags == "--partial", "{json}");
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
    let at_now = format!("--now {} --within 1s,5s", row(&preview, "{now}"));
    let again: Value = serde_json::from_str(&of_file(&format!("-o json {at_now}"))).expect("JSON");
    // Nothing but where that time comes from is another.
    let mut expected = preview.clone();
    expected["timeSource"] = json!("given");
    expected["notes"].as_array_mut().expect("notes").retain(|note| note["code"] != "time");
    assert_ne!(expected["notes"], preview["notes"]);
    assert_eq!(again, expected);
    assert_eq!(of_file("-o table"), of_file(&at_now));
    // A file is read as standard input is.
    assert_eq!(of_file(&NOON.join(" ")), fine(&format!("{NEW_SET} --replicas 3"), ROLLOUT).0);
}

// Bad input.

#[test]
fn neither_json_nor_yaml() {
    let empty = format!("the input is empty{PRINT}");
    let plain = format!("the input is plain text{PRINT}");
    let table = format!("the input is a table for people{PRINT}");
    let nameless =
        "a list item without a name: items[0]: invalid type: integer `1`, expected a Kubernetes object";
    // Not quoted, as no label is that kubectl prints: what Kubernetes says too.
    let numeric = "kind: Pod\nmetadata:\n  name: a\n  labels: {b: 1e3}\n";
    for (dump, line) in [
        ("", &*empty),
        (" \n\n", &empty),
        ("{\n  \"kind\": Pod\n}", "line 2 column 11: not JSON: expected value"),
        ("{\"kind\": \"List\", \"items\": []} x", "line 1 column 31: not JSON: expected value"),
        ("{\"kind\": \"List\", \"items\": [], \"items\": []}", "line 1 column 37: duplicate field `items`"),
        ("[]", "the list is empty\n  Check the namespace and the labels that you gave to kubectl get."),
        ("hello", &plain),
        (&"hello world ".repeat(10_000), &plain),
        ("web-1   1/1   Running   2 (5m ago)   3h\nweb-2   0/1   Pending   0   3h\n", &plain),
        ("- 1\n", &format!("{nameless}{PRINT}")),
        ("---\n# nothing\n", &format!("the input has no object{PRINT}")),
        ("kind: List\nitems:\n- {\n", "the input is not YAML\n  …"),
        ("kind: List\nitems:\n- 1\n", &format!("{nameless}{PRINT}")),
        // kubectl writes a list's kind last.
        ("apiVersion: v1\nitems: []\n", "the list has no kind, so the input may be cut off"),
        ("items: []\nkind: Li\n", "Li is not the kind of a list, so the input may be cut off"),
        (
            numeric,
            "pod default/a: metadata.labels.b: invalid type: floating point `1000.0`, expected a string",
        ),
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
    let refused = |bytes: &[u8]| Snapshot::read(bytes).expect_err("it is refused").to_string();
    // PowerShell writes UTF-16, in either order of bytes.
    let text = dump(&[set("web"), pod(1)]);
    for (mark, bytes) in
        [(b"\xFF\xFE", u16::to_le_bytes as fn(u16) -> [u8; 2]), (b"\xFE\xFF", u16::to_be_bytes)]
    {
        let text: Vec<u8> = mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect();
        assert_eq!(Snapshot::read(&text).expect("UTF-16").workloads().len(), 1);
        // A file that is cut within a character.
        let cut = refused(&[&text[..], b" "].concat());
        assert!(cut.contains("not JSON"), "{cut}");
    }
    assert_eq!(refused(b"a: b\nc: \xC3"), "the input is not UTF-8 at line 2");
    assert!(refused(b"{\"kind\": \"\xC3\"}").contains("unicode"), "{}", refused(b"{\"kind\": \"\xC3\"}"));
    // podrank ignores the byte order mark that editors on Windows write.
    fine("--replicas 1", format!("\u{FEFF}{}", dump(&[set("web"), pod(1)])));
}

#[test]
#[cfg(unix)]
fn an_input_without_an_end() {
    let (status, stdout, stderr) = plain("-f /dev/zero");
    let error = "error: /dev/zero: the YAML is longer than 256 MiB\n  Print the objects with -o json, which has no limit.\n";
    assert_eq!((status, &*stdout, &*stderr), (Some(1), "", error));
}

#[test]
fn json_of_any_length() {
    for begin in ["{", " \n[", "\u{FEFF}{", "Warning: x\n{", "\u{FEFF}Warning: x\n{"] {
        let mut text = begin.as_bytes().to_vec();
        text.resize((256 << 20) + 1, b' ');
        assert!(!is_too_long(&text), "{begin:?}");
    }
}

#[test]
fn neither_a_pod_nor_a_set() {
    let empty = "the list is empty\n  Check the namespace and the labels that you gave to kubectl get.";
    let others = |count: &str| format!("{NO_WORKLOAD}\n  It has {count}.{PRINT}");
    let object = |kind: &str| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": "web" } });
    let other_group = with(pod(1), "apiVersion", json!("example.com/v1"));
    let cron_job = json!({ "apiVersion": "batch/v1", "kind": "CronJob" });
    for (dump, line) in [
        (r#"{"apiVersion":"v1","kind":"List","items":null}"#, empty),
        ("apiVersion: v1\nitems: []\nkind: List\n", empty),
        (&dump(&[object("Service")]), &others("1 object")),
        (&dump(&[object("Node"), object("Node")]), &others("2 Nodes")),
        (&dump(&[object("Node"), object("Service")]), &others("1 Node and 1 other object")),
        ("{}", &format!("the object has no kind{PRINT}")),
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
    for dump in [
        long.clone(),
        format!("{long}: {long}"),
        format!("items: []\nkind: {long}\n"),
        format!("{{\"{long}\": 1, \"{long}\": 2}}"),
        format!("a: !!{long} b"),
        format!("\"{long}\": *{long}"),
        dump(&[json!(long)]),
        dump(&[with(pod(1), "metadata labels", json!({ long.clone(): 1 }))]),
        pod_with("metadata uid", json!(long)),
        pod_with("metadata creationTimestamp", json!(long)),
        pod_with("status containerStatuses", json!([{ "restartCount": long }])),
        dump(&[set(&long), owned_pod(1, &long), set("web"), pod(2)]),
        dump(&(0..1_000).map(|number| set(&format!("{number}{}", "y".repeat(100)))).collect::<Vec<_>>()),
    ] {
        let (status, _, stderr) = run("--replicas 1", &dump);
        let start = &stderr[..stderr.len().min(999)];
        assert_eq!((status, has_one_error(&stderr)), (Some(1), true), "{start}");
        assert!(stderr.len() < 3_500, "{} bytes: {start}", stderr.len());
    }
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": long });
    let (_, stderr) = fine("--replicas 1", pod_with("metadata annotations", cost));
    assert!(stderr.len() < 300, "{stderr}");
}

#[test]
fn unreadable_objects() {
    // Nobody asks about an item without a name.
    let integer = "items[2]: invalid type: integer `1`, expected a Kubernetes object";
    let ignored = fine("--replicas 1", dump(&[set("web"), pod(1), json!(1)])).1;
    assert!(ignored.contains(integer), "{ignored}");
    let restarts = json!([{ "name": "a", "restartCount": "3" }]);
    let restart = "status.containerStatuses[0].restartCount: invalid type: string \"3\", expected i32";
    let time = "metadata.creationTimestamp: \"yester\\nday\" is not a time as in RFC 3339";
    let uid_error = |text: &str| format!("metadata.uid: {}", Uid::parse(text).expect_err("it is no UID"));
    let pods = "pod default/web-1";
    for (place, value, error) in [
        ("metadata name", Value::Null, "a Pod without a name: metadata: missing field `name`".to_owned()),
        ("metadata uid", json!("?"), format!("{pods}: {}", uid_error("?"))),
        ("metadata uid", json!(uid(1)[1..]), format!("{pods}: {}", uid_error(&uid(1)[1..]))),
        ("metadata uid", Value::Null, format!("{pods}: metadata.uid is missing")),
        ("metadata creationTimestamp", json!("yester\nday"), format!("{pods}: {time}")),
        ("status containerStatuses", restarts, format!("{pods}: {restart}")),
    ] {
        bad_input(&dump(&[with(pod(1), place, value), set("web")]), "", &error);
    }
    // A set of which only the pods can be read.
    let negative = with(set("web"), "spec replicas", json!(-4));
    let error = "ReplicaSet default/web: spec.replicas: -4 is negative, which Kubernetes does not allow";
    bad_input(&dump(&[pod(1), negative]), "web", error);
}

#[test]
fn only_pods_that_matter_need_to_be_sound() {
    let unsound =
        |pod: Value| with(with(pod, "metadata uid", json!("?")), "metadata creationTimestamp", json!("?"));
    let elsewhere = with(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": 3 }), "spec", json!(1));
    let other_namespace = with(unsound(pod(8)), "metadata namespace", json!("other"));
    let of_another = unsound(owned_pod(7, "api"));
    let objects = [set("web"), pod(1), pod(2), of_another.clone(), other_namespace];
    let (names, stderr) = fine("--replicas 1 web --order total -o name", dump(&objects));
    assert_eq!(names, "pod/web-1\n");
    let time = "metadata.creationTimestamp: \"?\" is not a time as in RFC 3339";
    let noted = format!("this preview ignores objects that cannot be read: pod default/api-7 ({time})\n");
    assert_eq!(stderr, format!("note: {noted}"));
    // A set with the same controller matters, and so do its pods, and a pod of which nobody knows whose it is.
    let sibling = with(set("api"), "status", json!({ "replicas": "3" }));
    let status = "status.replicas: invalid type: string \"3\", expected i32";
    for (objects, error) in [
        (vec![set("web"), pod(1), set("api"), of_another], format!("pod default/api-7: {time}")),
        (vec![set("web"), pod(1), sibling], format!("ReplicaSet default/api: {status}")),
        (
            vec![set("web"), pod(1), elsewhere],
            "a Pod without a name: metadata: invalid type: integer `3`, expected an object".to_owned(),
        ),
    ] {
        bad_input(&dump(&objects), "web", &error);
    }
}

#[test]
fn missing_file() {
    // The system's own words.
    let cause = std::fs::read("/nowhere/pods.json").expect_err("there is none");
    let error = format!("error: /nowhere/pods.json: {cause}\n");
    assert_eq!(plain("-f /nowhere/pods.json --replicas 1"), (Some(1), String::new(), error));
}

// Which set.

#[test]
fn the_workload_that_is_meant_is_found_or_asked_for() {
    const CHOOSE: &str = ".\n  Choose one as TYPE/NAME, with --namespace, or ask about all with -A.";
    let elsewhere = with(pod(3), "metadata namespace", json!("a"));
    let pods = dump(&[pod(1), owned_pod(2, "api"), elsewhere]);
    let of_controller = with(owned_pod(2, "rc"), CONTROLLER, owner("v1", "ReplicationController", "web"));
    let kinds = dump(&[pod(1), of_controller]);
    let two = dump(&[set("web"), set("api")]);
    let orphan = dump(&[with(pod(1), CONTROLLER, Value::Null)]);
    let all = "ReplicaSet a/web, ReplicaSet default/api, ReplicaSet default/web";
    let both = "ReplicaSet default/web, ReplicationController default/web";
    let sets = "ReplicaSet default/api, ReplicaSet default/web";
    let none = "no ReplicationController is named xyz\n  The input has no ReplicationController.\n  Get it with: \
                kubectl get pods,replicationcontrollers -o json";
    let unowned =
        "the input has no workload\n  None of its 1 pod belongs to a ReplicaSet or ReplicationController.";
    for (dump, words, error) in [
        (&pods, "", &*format!("the input has pods of several workloads\n  There are {all}{CHOOSE}")),
        (&kinds, "web", &format!("several workloads are named web\n  There are {both}{CHOOSE}")),
        (&two, "", &format!("the input has several workloads, none with pods\n  There are {sets}{CHOOSE}")),
        (&two, "wbe", "no workload is named wbe\n  Did you mean rs/web?"),
        (&two, "rc/xyz", none),
        (&two, "-n prod", &format!("no workload in namespace prod\n  The input has {sets}.")),
        (&two, "d", &format!("the input lacks Deployment d\n  Name one of its ReplicaSets: {sets}.")),
        (&orphan, "", unowned),
    ] {
        bad_input(dump, words, error);
    }
    // The answer is about the only set with pods, however many sets without pods there are.
    let with_pods = dump(&[set("web"), set("api"), pod(1)]);
    for (dump, words, victim) in [
        (&pods, "-n a", "pod/web-3\n"),
        (&pods, "-n default api", "pod/api-2\n"),
        (&with_pods, "", "pod/web-1\n"),
        (&kinds, "replicaset.apps/web", "pod/web-1\n"),
        (&kinds, "rc/web", "pod/rc-2\n"),
    ] {
        assert_eq!(fine(&format!("--replicas 0 --partial -o name {words}"), dump).0, victim, "{words}");
    }
}

#[test]
fn a_set_without_pods_is_fine() {
    let (table, notes) = fine("--replicas 1", set("web").to_string());
    assert_eq!((&*table, &*notes), ("rs/web: it has no pods.\n", ""));
}

#[test]
fn objects_and_lists_are_read_one_after_the_other_in_json_and_yaml() {
    let (metadata, rest) = (&pod(1)["metadata"], r#""spec":{},"status":{"phase":"Running"}"#);
    let sets = dump(&[set("web")]);
    let (one, both) = ("pod/web-1\n", "pod/web-1\npod/web-2\n");
    // `jq --sort-keys` and YAML write `items` before the kind that a typed list gives them.
    let bare = with(with(pod(1), "kind", Value::Null), "apiVersion", Value::Null);
    let bare_set = with(with(set("web"), "kind", Value::Null), "apiVersion", Value::Null);
    // Flow style: JSON within YAML.
    let many: Vec<_> = (0..5_000).map(|number| format!("- {}", pod(number))).collect();
    for (text, names) in [
        (format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata},{rest}}}"#), one),
        (format!(r#"{{{rest},"metadata":{metadata},"apiVersion":"v1","kind":"Pod"}}"#), one),
        (format!("{sets}\n{}\n{}\n", dump(&[pod(1)]), dump(&[pod(2)])), both),
        (format!(" \n\t{}\n\n{}{sets} ", pod(1), pod(2)), both),
        (format!("---\n{}\n---\n{}\n---\n---\n{sets}\n", pod(1), pod(2)), both),
        (format!("# two\n{}\n...\n{}\n", pod(1), dump(&[pod(2)])), both),
        (format!(r#"{{"kind":"PodList","apiVersion":"v1","items":[{bare}]}}{sets}"#), one),
        (format!(r#"{{"apiVersion":"v1","items":[{bare}],"kind":"PodList"}}{sets}"#), one),
        (
            format!(r#"{{"apiVersion":"apps/v1","items":[{bare_set}],"kind":"ReplicaSetList"}}{}"#, pod(1)),
            one,
        ),
        (format!("apiVersion: v1\nitems:\n{}\nkind: List\n", many.join("\n")), "pod/web-0\n"),
    ] {
        let count = if names == "pod/web-0\n" { 4_999 } else { 0 };
        let words = format!("--replicas {count} --order total -o name");
        assert_eq!(fine(&words, &text).0, names, "{}", &text[..text.len().min(999)]);
    }
    let no_spec =
        r#"{"apiVersion":"v1","items":[{"metadata":{"name":"web"}}],"kind":"ReplicationControllerList"}"#;
    assert_eq!(fine("--replicas 1", no_spec).0, "rc/web: it has no pods.\n");
    let services = r#"{"apiVersion":"v1","items":[{"metadata":1}],"kind":"ServiceList"}"#;
    bad_input(services, "", &format!("{NO_WORKLOAD}\n  It has 1 object.{PRINT}"));
    let nameless = r#"{"items":[{"metadata":{}}],"kind":"PodList"}"#;
    bad_input(nameless, "", "a Pod without a name: metadata: missing field `name`");
}

/// As Kubernetes does, unquoted times are taken for text.
#[test]
fn times_in_yaml_need_no_quotes() {
    let unquoted = CONTESTED.replace("\"2026-03-10T11:59:00Z\"", "2026-03-10T11:59:00Z");
    assert_ne!(CONTESTED, unquoted);
    assert_eq!(shown("--replicas 3", unquoted).json, shown("--replicas 3", CONTESTED).json);
}

/// A day after the last time that other parsers accept.
#[test]
fn the_last_day_of_the_calendar_saturates() {
    let at = |number, time: &str| with(pod(number), "metadata creationTimestamp", json!(time));
    let last = dump(&[set("web"), at(1, "2026-03-10T11:00:00Z"), at(2, "9999-12-31T23:59:59Z")]);
    shown("--replicas 1 --order total", last).says(&["… of 2 go, …", "web-2; deleted; creation-time; …"]);
    bad_input(&dump(&[set("web"), at(1, "9999-12-31")]), "--order total", "…");
}

// Incomplete dumps.

/// With the order `kubernetes`, an incomplete dump is an error that names the command for a complete one. With
/// `--partial` or the order `total`, it is a note.
#[test]
fn incomplete_dumps_are_refused_unless_accepted() {
    const ALL: &str = "kubectl get pods,replicasets,deployments -n default -o json";
    let counts = |replicas: u32, pods: &[Value]| {
        let set = with(set("web"), "status", json!({ "replicas": replicas }));
        dump(&[&[set], pods].concat())
    };
    // With pods alone, podrank would take the set from its pods.
    let in_namespace =
        |namespace: &str| dump(&[with(pod(1), "metadata namespace", json!(namespace)), set("other")]);
    let controller =
        dump(&[with(pod(1), CONTROLLER, owner("v1", "ReplicationController", "web")), set("other")]);
    let of_rollout = with(set("web"), CONTROLLER, owner("argoproj.io/v1alpha1", "Rollout", "web"));
    let canary = dump(&[of_rollout, pod(1), pod(2), owned_pod(3, "canary")]);
    let old = siblings(&[sibling(3, "old"), sibling(4, "old"), sibling(5, "older")]);
    let few = "ReplicaSet default/web is listed, while its status counts 2";
    let itself = "web itself is missing, so the pods per node of related ReplicaSets are not counted";
    let left_out = "are missing, so their pods are not counted per node: ReplicaSet default";
    for (dump, gap, command) in [
        // `kubectl get replicasets` alone.
        (counts(2, &[]), &*format!("only 0 pods of {}", few.replace("is listed", "are listed")), ALL),
        (counts(2, &[pod(1)]), &format!("only 1 pod of {few}"), ALL),
        (in_namespace("prod"), &format!("ReplicaSet prod/{itself}"), &ALL.replace("default", "prod")),
        // Nobody should paste more than a namespace.
        (
            in_namespace("$(reboot)"),
            &format!("ReplicaSet $(reboot)/{itself}"),
            &ALL.replace(" -n default", ""),
        ),
        (
            controller,
            "ReplicationController default/web itself is missing",
            "kubectl get pods,replicationcontrollers -n default -o json",
        ),
        // The labels of pods do not tell whose set of an Argo Rollout they are of, nor of any other owner but a Deployment.
        (
            canary,
            &format!("ReplicaSets that may be related to ReplicaSet default/web {left_out}/canary (1 pod)"),
            ALL,
        ),
        (
            old,
            &format!(
                "ReplicaSets related to ReplicaSet default/web {left_out}/old (2 pods), ReplicaSet default/older (1 pod)"
            ),
            ALL,
        ),
    ] {
        let end = "Get all of it with: ";
        bad_input(
            &dump,
            "web",
            &format!(
                "the input is incomplete\n  {gap}.\n  {end}{command}\n  To accept what is missing, use --partial."
            ),
        );
        for accepting in ["--partial", "--order total"] {
            let partial = shown(&format!("--replicas 1 web {accepting}"), &dump);
            assert_eq!(partial.notes, format!("note: {gap}\n"));
        }
    }
}

/// A pod of a set whose template has the hash of its name.
fn sibling(number: u32, set: &str) -> Value {
    with(owned_pod(number, set), "metadata labels", json!({ "app": "web", "pod-template-hash": set }))
}

/// A Deployment's set `web` with two pods, and these objects.
fn siblings(others: &[Value]) -> String {
    let labels = json!({ "app": "web", "pod-template-hash": "web" });
    let set = with(set("web"), "spec selector matchLabels", labels);
    dump(&[&[set, sibling(1, "web"), sibling(2, "web")], others].concat())
}

#[test]
fn what_does_not_count_is_not_missed() {
    // Pods that finished or are being deleted were active when the status was written. A status lags behind when pods
    // are created, not when pods terminate.
    let with_status = with(set("web"), "status", json!({ "replicas": 3 }));
    let gone = with(pod(2), "status phase", json!("Failed"));
    let going = with(pod(3), "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let late = dump(&[with_status, pod(1), gone, going]);
    // These are not related: other labels, another namespace, no ReplicaSet, a pod that does not count, or a set
    // without related sets.
    let strangers = [
        ("metadata labels app", "api"),
        ("metadata namespace", "prod"),
        ("metadata ownerReferences 0 kind", "StatefulSet"),
        ("status phase", "Succeeded"),
        ("metadata deletionTimestamp", "2026-03-10T12:00:00Z"),
    ];
    let strangers = strangers.map(|(place, value)| siblings(&[with(sibling(3, "old"), place, json!(value))]));
    let bare = common::changed(&siblings(&[sibling(3, "old")]), &[("ReplicaSet", CONTROLLER, Value::Null)]);
    for dump in strangers.into_iter().chain([late, bare]) {
        let shown = shown("--replicas 1 web", dump);
        // A note on pods that kubectl lists besides says nothing of a gap.
        let notes = shown.json["notes"].as_array().expect("notes").iter();
        assert_eq!(notes.filter(|note| note["code"] != "not-counted").count(), 0, "{}", shown.notes);
    }
    // With the sibling, its pods count towards the ranks.
    let old =
        with(set("old"), "spec selector matchLabels", json!({ "app": "web", "pod-template-hash": "old" }));
    let whole = siblings(&[old, sibling(3, "old"), sibling(4, "old")]);
    assert_eq!(shown("--replicas 1 web", whole).json["groups"][0]["pods"][0]["rank"], 4);
}

// Notes.

#[test]
fn pods_from_after_the_decision_have_negative_ages() {
    let created = |number, time: &str| with(pod(number), "metadata creationTimestamp", json!(time));
    let late = [set("web"), created(1, "2026-03-10T12:05:00Z"), created(2, "2026-03-10T09:00:00Z")];
    let rows = [
        "web-1 -5m created 5m after this decision (web-2: 3h), in different age buckets",
        "web-2 3h age 3h (web-1: created 5m after this decision), in different age buckets",
    ];
    assert_eq!(each_pod(&shown("--replicas 1", dump(&late)), "{name} {age} {reason.text}"), rows);
}

#[test]
fn an_invalid_deletion_cost_is_told_while_costs_count() {
    let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "+10" });
    let dump = dump(&[set("web"), with(pod(1), "metadata annotations", cost)]);
    let error = podrank::deletion_cost("+10").expect_err("it is invalid").to_string();
    assert!(fine("--replicas 1", &dump).1.contains(&error));
    assert_eq!(fine("--replicas 1 --feature-gates PodDeletionCost=false", &dump).1, "");
}

/// The orphan is related: with web-3 it makes two on the node, and web-2 is counted nowhere.
#[test]
fn pods_to_adopt_count_as_related_and_those_to_release_do_not() {
    let orphan = with(pod(1), CONTROLLER, Value::Null);
    let released = with(pod(2), "metadata labels app", json!("api"));
    let preview = shown("--replicas 1", dump(&[set("web"), orphan, released, pod(3)]));
    assert_eq!(
        (&preview.json["activePods"], &preview.json["groups"][0]["pods"][0]["rank"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn more_than_one_sync() {
    let of = |set, count| dump(&[set].into_iter().chain((0..count).map(pod)).collect::<Vec<_>>());
    let many = of(with(set("web"), CONTROLLER, Value::Null), 501);
    let none_is_certain =
        "note: no deletion is certain: chance selects 500 of 501 pods (-o table lists them)\n";
    for (flags, note) in [
        (
            "--replicas 0",
            "note: 501 deletions take 2 syncs of at most 500, each of which counts the pods per node again, and this \
             preview assumes that the pods do not change meanwhile\n",
        ),
        ("--replicas 1", none_is_certain),
        ("--replicas 0 --order total", ""),
    ] {
        assert_eq!(fine(&format!("-o name {flags}"), &many).1, note);
    }
    let preview = shown("--replicas 50", of(set("web"), 600));
    let last = "…; by chance, 550 of 600 such pods are deleted, and each sync counts the pods per node again";
    let no_odds = "note: no probability is given for the possible deletions of ReplicaSet default/web: above 500 deletions, it \
                   depends on what happens between the syncs";
    preview.says(&["550 of 600 go, quota 550", last, no_odds]);
    assert_eq!(each_pod(&preview, "{probability}"), vec!["null"; 600]);
}

#[test]
fn possible_pods_have_probabilities() {
    let preview = shown("--replicas 3", CONTESTED);
    assert_eq!(
        each_pod(&preview, "{probability} {probabilityError}"),
        ["0.3333 0.0", "0.3333 0.0", "0.3333 0.0", "null null"]
    );
    assert!(fine("--replicas 3 -o wide", CONTESTED).0.contains("\n-  possible 33%  api-"));
    // Nothing tells one from another.
    let of = |count| dump(&[set("web")].into_iter().chain((0..count).map(pod)).collect::<Vec<_>>());
    assert!(fine("--replicas 1", of(501)).0.contains("\npossible >99%  "));
    let many = fine("-o name --replicas 5000", of(5_001));
    assert!(many.1.contains("above 5000 pods, it takes too long to compute\n"), "{}", many.1);
    assert_eq!(each_pod(&shown("--replicas 3 --order total", CONTESTED), "{probability}"), ["null"; 4]);
}

// Flags.

#[test]
fn wrong_flags() {
    let gate = "no Kubernetes release has PreferForScaleDown\n  Use it with --order total.";
    for (flags, words) in [
        ("--feature-gates PodCost=true", "`PodCost`"),
        ("--feature-gates PodCost=true", "PodDeletionCost, LogarithmicScaleDown, PreferForScaleDown"),
        ("--feature-gates PodDeletionCost=maybe", "`maybe`"),
        ("--feature-gates PodDeletionCost", "NAME=true"),
        ("--now noon", "write it as in 2026-03-10T12:00:00Z"),
        ("--now 2026-03-10T12:00:00", "--now"),
        ("--within 1s,10m1s", "`10m1s` is more than 10m"),
        ("--feature-gates PreferForScaleDown=true", gate),
        ("--feature-gates PreferForScaleDown=true --order kubernetes", gate),
        ("--order random", "random"),
        ("--next-step", "--next-step"),
        ("rs/", "the name is empty"),
        (
            "deploy/web 5",
            "'5' is not a name\n  For a replica count, use: kubectl podrank deploy/web --replicas 5",
        ),
        ("-o toml", "toml"),
        ("--rollout", "--rollout"),
        ("--watch", "--watch"),
        ("--context c", "--context"),
        ("-A -n a", "--namespace"),
    ] {
        bad_flags(&format!("-f {ROLLOUT_FILE} --replicas 1 {flags}"), &[words]);
    }
    for replicas in ["4294967296", "five", "+2", "30%", "-101%"] {
        bad_flags(&format!("-f {ROLLOUT_FILE} --replicas {replicas}"), &[replicas]);
    }
    fine(&format!("{NEW_SET} --replicas 1 --within 10m"), ROLLOUT);
}

#[test]
fn help_has_examples_of_every_kind() {
    let (_, help, _) = plain("--help");
    let examples = help.split("Examples:").nth(1).expect("examples");
    assert_eq!(examples.matches("\n  # ").count(), 11, "{help}");
    // The short one fits a screen, and has the flags that most need.
    for words in ["-h", "scale -h", "drop -h", "undo -h", "completion -h", "version -h", "help -h"] {
        let (_, help, _) = plain(words);
        let columns = help.lines().map(|line| line.chars().count()).max();
        assert!(help.lines().count() <= 24 && columns <= Some(80), "{help}");
        for flag in ["--filename", "--replicas", "--namespace", "--output", "completion"] {
            assert!(words != "-h" || help.contains(flag), "{flag}: {help}");
        }
    }
}

#[test]
fn a_wrong_flag_gets_the_usage_of_its_command() {
    for (words, usage) in [
        ("--spread zone", "[OPTIONS] [TYPE/NAME]...\n       kubectl podrank <COMMAND>"),
        ("deploy/web --foo", "[OPTIONS] [TYPE/NAME]...\n       kubectl podrank <COMMAND>"),
        ("--rollout --replicas 3", "[OPTIONS] [TYPE/NAME]...\n       kubectl podrank <COMMAND>"),
        ("scale deploy/web --foo", "scale [OPTIONS] --replicas <N> <TYPE/NAME>"),
        ("-n shop drop --foo", "drop [OPTIONS] <POD>..."),
        ("undo", "undo [OPTIONS] <TYPE/NAME>"),
    ] {
        bad_flags(words, &[&format!("\nUsage: kubectl podrank {usage}\n")]);
    }
}

// Shells.

#[test]
fn completions_need_no_second_build() {
    let (status, script, stderr) = plain("completion zsh");
    assert_eq!((status, &*stderr), (Some(0), ""));
    assert!(script.contains("#compdef kubectl-podrank"), "{script}");
    bad_flags("completion", &[]);
}

/// As kubectl does: it runs the script by its name, with the words so far.
#[cfg(unix)]
#[test]
fn the_script_for_kubectl_runs_the_program() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let directory = std::env::temp_dir().join(format!("podrank-completion-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let script = directory.join("kubectl_complete-podrank");
    fs::write(&script, plain("completion kubectl").1).expect("the script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = std::path::Path::new(PROGRAM).parent().expect("a directory");
    let path = format!("{}:/usr/bin:/bin", program.display());
    for (words, candidates) in [(&["--order", "k"][..], "kubernetes\t"), (&["-f", ""], ":0\n")] {
        let (status, stdout, stderr) =
            common::ran(output(Command::new(&script).args(words).env("PATH", &path), b""));
        assert!(status == Some(0) && stdout.starts_with(candidates), "{stdout}{stderr}");
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

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the device");
    let output = command().stdout(full).stderr(Stdio::piped()).output().expect("the program runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.starts_with("error: standard output: No space left on device"), "{stderr}");
}

#[test]
fn no_color_is_heeded() {
    let of = |command: &mut Command, variables: &[(&str, &str)]| {
        let output = output(command.env_remove("NO_COLOR").envs(variables.iter().copied()), b"");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let table = |variables| of(&mut command(), variables);
    assert!(table(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[31mdeleted  web-7f6b9d5c48-b7wfn"));
    let wide = of(command().args(["-o", "wide"]), &[("CLICOLOR_FORCE", "1")]);
    assert!(
        wide.contains("\u{1b}[2m---"),
        "the line between those that go and those that stay is dim: {wide}"
    );
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
