//! What the views of one question have in common, and what each says first: the answer for a count, the order without one, the
//! overview, and one pod, from a file and in an order that Kubernetes does not follow. The script `fake/kubectl` stands in for kubectl.

use crate::common::kubectl::{self, answering, says};
use crate::common::{
    self, CONTESTED, DAEMON_SET, JOB, ROLLOUT, STATEFUL_SET, all_pods, autoscaler, bare_set, changed, dump,
    fails, fine, idle, items, owned_pod, put, ready, run, shown, with,
};
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view;
use podrank_predict::{Options, Snapshot, preview_workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SET: &str = "rs/api-6c9d8f7b5";
const PODRANKS: &str = "(in podrank's total order, which Kubernetes does not follow)";

/// The lines of standard output.
fn lines(words: &str, dump: impl AsRef<[u8]>) -> Vec<String> {
    fine(words, dump).0.lines().map(str::to_owned).collect()
}

/// The objects of several dumps as one.
fn together(dumps: &[&str]) -> String {
    dump(&dumps.iter().flat_map(|text| items(text)).collect::<Vec<_>>())
}

/// The example of a `StatefulSet`, of which all pods are ready.
fn healthy() -> String {
    changed(STATEFUL_SET, &[("Pod", "status conditions 0 status", json!("True"))])
}

/// In Kubernetes' order, each of three pods is deleted with a probability of 67%.
#[test]
fn podranks_own_order_is_no_prediction() {
    let to_two = format!("Scaling {SET} to 2 {PODRANKS} deletes 2 of 4 pods.");
    for format in ["", "-o wide", "-o markdown"] {
        for (count, said) in [("", PODRANKS), ("--replicas 2", &to_two)] {
            let text = fine(&format!("{SET} {count} {format} --order total"), CONTESTED).0;
            assert!(text.contains(said) && !text.contains("certain"), "{format}: {text}");
        }
    }
    for words in ["pod/api-6c9d8f7b5-8wz5c", "rs"] {
        let first = &lines(&format!("{words} --order total"), CONTESTED)[0];
        assert!(first.contains(PODRANKS), "{first}");
    }
    assert!(!fine(&format!("{SET} --replicas 2"), CONTESTED).0.contains(PODRANKS));
}

#[test]
fn podranks_own_order_has_no_colour_of_a_prediction() {
    let input = Snapshot::read(CONTESTED.as_bytes()).expect("sound");
    let mut options = Options::new(2, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.workload = Some(SET.parse().expect("a name"));
    let terminal = Terminal { in_colour: true, ..Terminal::default() };
    let colours = |options: &Options| {
        let preview = preview_workload(&input, options).expect("a preview");
        view::answer::table(&preview).text(terminal).matches("\u{1b}[3").count()
    };
    assert!(colours(&options) > 0);
    options.order = podrank_predict::Order::Total;
    assert_eq!(colours(&options), 0);
}

#[test]
fn a_reason_is_the_first_rule_that_parts_a_pod_from_those_that_stay() {
    let own = |number: u32, is_ready: bool, restarts: u32| {
        let mut pod =
            with(owned_pod(number, "web"), "status conditions", ready(is_ready, "2026-03-10T09:00:00Z"));
        put(&mut pod, "status containerStatuses", json!([{ "name": "main", "restartCount": restarts }]));
        pod
    };
    // Two are not ready, and one of them has restarted.
    let pods = [own(1, false, 1), own(2, false, 0), own(3, true, 0), own(4, true, 0)];
    let dump = dump(&[&pods[..], &[bare_set("web", 4)]].concat());
    let because = |line: &str| line.contains("not ready");
    let order = lines("rs/web", &dump);
    assert!(because(&order[2]) && because(&order[3]), "{order:?}");
    let pod = lines("pod/web-1", &dump);
    assert!(pod[1].starts_with("Why: not ready, but "), "{pod:?}");
    let one = lines("rs/web --replicas 3", &dump);
    assert!(one[2].contains("web-1") && because(&one[2]), "{one:?}");
    // Only the restarts part them once both are not ready and no other is there.
    let dump = common::dump(&[&pods[..2], &[bare_set("web", 2)]].concat());
    let alone = lines("rs/web --replicas 1", &dump);
    assert!(alone[2].contains("web-1") && alone[2].ends_with("1 restart"), "{alone:?}");
    let state = &lines("pod/web-1", &dump)[2];
    assert!(state.contains(", 1 restart") && !state.contains("restarts"), "{state}");
}

#[test]
fn the_same_pods_are_open_for_the_same_reason_at_the_same_counts() {
    let open = "by chance";
    let told = |words: &str| {
        lines(&format!("{SET} {words}"), CONTESTED).iter().filter(|line| line.ends_with(open)).count()
    };
    assert_eq!((told("--replicas 2"), told("")), (3, 3));
    assert!(fine("pod/api-6c9d8f7b5-8wz5c", CONTESTED).0.contains("chance decides"));
    let all = lines(SET, CONTESTED);
    for (line, start) in [
        (1, "DELETED AT  POSSIBLE AT  POD"),
        (2, "1           3            api-"),
        (5, "0           -            api-"),
    ] {
        assert!(all[line].starts_with(start), "{all:?}");
    }
}

#[test]
fn an_order_in_a_rollout_begins_with_what_happens_now() {
    let all = lines("deploy/web", ROLLOUT);
    let then = "Then the controller waits until 1 more new pod is available. Only after that, 2 old pods are deleted.";
    assert_eq!(
        all[..2],
        ["deploy/web: 2 of 13 pods are about to be deleted (its replica count is 10).", then]
    );
    let titles: Vec<_> = all.iter().filter(|line| line.contains("ReplicaSet web-")).collect();
    assert_eq!(
        titles,
        [
            "old ReplicaSet web-5d8c7f9b64: 4 pods in deletion order",
            "new ReplicaSet web-7f6b9d5c48: 9 pods in deletion order"
        ]
    );
    let firsts: Vec<_> = all.iter().enumerate().filter(|(_, line)| line.starts_with("#1 ")).collect();
    // Each below the title and the header of its own table.
    assert!(firsts.iter().all(|(place, _)| all[place - 2].contains("ReplicaSet web-")), "{all:?}");
    assert_eq!(shown("deploy/web", ROLLOUT).json["groups"][1]["isNew"], true);
}

#[test]
fn who_else_sets_the_count_is_said_without_one() {
    for words in ["deploy/web", "pod/web-7f6b9d5c48-d6sjr"] {
        let (_, notes) = fine(words, autoscaled());
        let said =
            "HorizontalPodAutoscaler web also sets this replica count, between 3 and 20, and wants 9 now";
        assert_eq!(notes.matches(said).count(), 1, "{words}: {notes}");
    }
}

/// `db-1` is not ready.
#[test]
fn a_workload_that_waits_says_so_in_each_view() {
    let waits = "A scale-down of sts/db to 2 or more waits for db-1: db-1 is not ready.";
    let all = lines("sts/db", STATEFUL_SET);
    assert_eq!(all[1], waits);
    assert!(all[2].starts_with("DELETED AT  POD"), "{all:?}");
    let pod = lines("pod/db-4", STATEFUL_SET);
    assert_eq!(
        pod[..2],
        ["db-4 (sts/db, 5 pods): kept at 5 or more, waits at 4 to 2, deleted at 1 or fewer.", waits]
    );
    let of_pod = "kept at 3 or more, waits at 2, deleted at 1 or fewer";
    assert_eq!(lines("pod/db-2", STATEFUL_SET)[0], format!("db-2 (sts/db, 5 pods): {of_pod}."));
    let fewer = changed(STATEFUL_SET, &[("db", "spec replicas", json!(3))]);
    assert_eq!(
        lines("pod/db-4", fewer)[0],
        "db-4 (sts/db, 5 pods): waits for db-1, and is deleted after that."
    );
    let overview = lines("sts", STATEFUL_SET);
    assert!(overview[1].contains("  waiting at 4"), "{overview:?}");
    // Nothing is said twice, and nothing in other words.
    assert!(!fine("sts/db", STATEFUL_SET).1.contains("waits for db-1"));
    for words in ["sts/db", "sts/db --replicas 4", "pod/db-4", "pod/db-4 --replicas 4", "sts --replicas 4"] {
        let (text, _) = fine(words, STATEFUL_SET);
        for other in ["waits for ready", "waits for 1 pod", "after others"] {
            assert!(text.contains("waits for db-1") && !text.contains(other), "{words}: {text}");
        }
    }
}

#[test]
fn an_overview_tells_what_goes_from_what_would() {
    let all = together(&[ROLLOUT, STATEFUL_SET, JOB, DAEMON_SET]);
    let lines = lines("", &all);
    assert!(lines[0].starts_with("WORKLOAD"), "{lines:?}");
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>().join(" "),
        "WORKLOAD PODS DELETED NOW NEXT WHEN NOTE"
    );
    let row = |name: &str| words_of(&lines, name);
    assert_eq!(row("deploy/web")[..6], ["deploy/web", "13", "2", "web-5d8c7f9b64-2fxcm", "now", "waits"]);
    assert_eq!(row("sts/db")[..5], ["sts/db", "5", "-", "db-4", "waiting"]);
    // Those that have no count are counted, too.
    let counted = self::lines("--replicas -1", &all);
    assert_eq!([words_of(&counted, "ds/agent")[1], words_of(&counted, "job/import")[1]], ["6", "6"]);
}

/// The words of the line that starts with a name.
fn words_of<'l>(lines: &'l [String], name: &str) -> Vec<&'l str> {
    let line = lines.iter().find(|line| line.starts_with(name)).expect("a row");
    line.split_whitespace().collect()
}

#[test]
fn a_file_is_asked_for_namespaces_and_labels() {
    let labels = ("StatefulSet", "metadata labels", json!({ "tier": "data" }));
    let all = together(&[ROLLOUT, &changed(STATEFUL_SET, &[labels])]);
    for (words, workloads) in [
        ("-A", &["deploy/web", "sts/db"][..]),
        ("-n default", &["deploy/web", "sts/db"]),
        ("-l tier=data", &["sts/db"]),
        ("-l !tier", &["deploy/web"]),
        ("sts -l tier", &["sts/db"]),
        ("-A --replicas 3", &["deploy/web", "sts/db"]),
    ] {
        let lines = lines(words, &all);
        let named: Vec<_> = lines[1..].iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(named, workloads, "{words}");
    }
    fails(
        "-l tier>1",
        &all,
        "\"tier>1\" is not a label selector\n  Write it as for kubectl, such as app=web.",
    );
    assert!(run("deploy/web -l tier", &all).2.contains("--selector cannot be used with deploy/web"));
    for (words, said) in [
        ("-l tier=none", "no workload with the labels tier=none has pods in the file\n"),
        ("-l tier=none -n shop", "no workload with the labels tier=none has pods in namespace shop\n"),
        ("-n shop deploy", "no Deployment has pods in namespace shop\n"),
    ] {
        let (_, error) = fine(words, &all);
        assert!(error.ends_with(said), "{words}: {error}");
    }
    let none = "no workload with the labels tier=none has pods in the file\n";
    assert_eq!(fine("-l tier=none", ROLLOUT), (String::new(), none.to_owned()));
}

#[test]
fn a_verbose_answer_ends_with_the_command_that_repeats_it() {
    let (_, notes) = fine("deploy/web --replicas 5 -v", ROLLOUT);
    let again = "\nAgain: kubectl podrank deploy/web --namespace default --replicas 5 \
                 --now 2026-03-10T12:00:00Z --order kubernetes -f -\n";
    assert!(notes.ends_with(again), "{notes}");
}

#[test]
fn a_pod_that_stays_for_now_is_not_said_to_stay_at_every_count() {
    let own = |number: u32| {
        with(owned_pod(number, "web"), "status conditions", ready(number > 1, "2026-03-10T09:00:00Z"))
    };
    let pods: Vec<_> = (1..4).map(own).collect();
    let dump = dump(&[&pods[..], &[bare_set("web", 2)]].concat());
    let said = "kept at the present replica count, and it is not known at which lower one it is deleted";
    assert_eq!(lines("pod/web-2", dump)[0], format!("web-2 (rs/web, 3 pods): {said}."));
}

#[test]
fn an_answer_ends_with_where_the_rest_is() {
    let own = |(number, node): (u32, &str)| {
        let pod = with(owned_pod(number, "web"), "spec nodeName", json!(node));
        with(pod, "status conditions", ready(number > 1, "2026-03-10T09:00:00Z"))
    };
    let pods: Vec<_> = [(1, "n1"), (2, "n2"), (3, "n2")].into_iter().map(own).collect();
    let small = dump(&[&pods[..], &[bare_set("web", 3)]].concat());
    for (words, dump, end) in [
        ("deploy/web --replicas 5", ROLLOUT, "The 5 left are on 4 nodes, 2 of them on worker-1."),
        (
            "rs/web-7f6b9d5c48 --replicas 1",
            ROLLOUT,
            "None of its pods are left on 3 nodes, and the pod that is kept is on worker-4.",
        ),
        ("rs/web --replicas 2", &small, "None of its pods are left on n1, and the 2 left share n2."),
        // Where chance decides, nobody knows where they are.
        ("rs/api-6c9d8f7b5 --replicas 2", CONTESTED, "kept: 1 pod of …"),
    ] {
        let last = lines(words, dump).pop().expect("a line");
        assert!(common::is_like(&last, end), "{words}: {last}");
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../predict/examples/rollout.json");

/// What a terminal shows of a question about the example's file.
fn at_terminal(words: &str) -> Vec<String> {
    let words: Vec<_> = words.split(' ').chain(["-f", FILE]).collect();
    let text = answering(&[]).shown_at_terminal(&words);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_to_type_next_keeps_the_file_and_the_flags_that_change_the_answer() {
    let now = "--now 2026-03-10T12:00:00Z";
    let flags = "--within 0s,5s --order total --kubernetes-version 1.35.2 --feature-gates PodDeletionCost=false --partial";
    for (words, next) in [
        ("deploy/web", "kubectl podrank deploy/web --replicas N"),
        ("deploy", "kubectl podrank deploy/web -n default"),
        ("pod/web-7f6b9d5c48-b7wfn", ""),
    ] {
        let text = at_terminal(&format!("{words} {now} {flags}")).join(" ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.ends_with(&format!("-f {FILE} {now} {flags}")) && text.contains(next),
            "{words}: {text}"
        );
    }
    // Scaling acts on a cluster, which the file need not be from.
    assert!(!at_terminal(&format!("deploy/web --replicas 5 {now}")).concat().contains("podrank scale"));
}

#[test]
fn a_pod_that_goes_now_waits_for_none() {
    let old = ["db-0", "db-1", "db-2"].map(|pod| (pod, REVISION, json!("db-1")));
    let (text, _) = fine("sts/db", changed(&healthy(), &old));
    let row = text.lines().find(|line| line.contains(" db-2 ")).expect("a row");
    assert!(row.starts_with("now ") && row.ends_with(" old"), "{text}");
}

const REVISION: &str = "metadata labels controller-revision-hash";

#[test]
fn a_count_that_is_there_already_is_not_advised() {
    let set = bare_set("web", 3);
    let pods: Vec<_> = (1..4).map(|number| owned_pod(number, "web")).collect();
    let none = || kubectl::list(&[]);
    let shown = |set: &Value, replicas: &str| {
        let answers = [says(set), kubectl::list(&pods), none(), kubectl::nothing()];
        answering(&answers).shown_at_terminal(&["rs/web", "--replicas", replicas])
    };
    let advice = "Select them yourself: kubectl podrank scale rs/web --replicas 2 --pod NAME";
    assert!(shown(&set, "2").contains(advice), "{}", shown(&set, "2"));
    // Its controller is about to take one anyway.
    let smaller = with(set.clone(), "spec replicas", json!(2));
    let text = shown(&smaller, "2");
    assert!(text.contains("deletes 1 of 3 pods") && !text.contains("Select them yourself"), "{text}");
}

#[test]
fn no_view_has_the_words_of_the_code() {
    let formats = ["", "-o wide", "-o markdown"];
    for (dump, words) in [
        (ROLLOUT, "deploy/web"),
        (ROLLOUT, "deploy/web --replicas 3"),
        (ROLLOUT, "deploy"),
        (CONTESTED, "--replicas 2"),
        (CONTESTED, "pod/api-6c9d8f7b5-8wz5c --replicas 2"),
        (STATEFUL_SET, "--replicas 2"),
        (STATEFUL_SET, "pod/db-4"),
        (DAEMON_SET, ""),
        (JOB, ""),
        (JOB, "--parallelism 1"),
    ] {
        for format in formats {
            let (text, _) = fine(&format!("{words} {format}"), dump);
            let found = text
                .split(|char: char| !char.is_ascii_alphanumeric() && char != '-')
                .find(|word| ["delete", "keep", "contested", "blocked", "WHY"].contains(word));
            assert_eq!(found, None, "{words} {format}: {text}");
        }
    }
}

/// The cell of a line below this name of the header.
fn cell(header: &str, line: &str, name: &str) -> String {
    let start = header.find(name).expect("a column");
    let cell: String = line.chars().skip(start).collect();
    cell.split("  ").next().unwrap_or_default().trim().to_owned()
}

/// The first row below the header that starts with this word: the pod, and its verdict.
fn first_row(lines: &[String]) -> Option<[String; 2]> {
    let place = lines.iter().position(|line| line.starts_with("VERDICT  "))?;
    let (header, row) = (&lines[place], lines.get(place + 1)?);
    Some(["POD", "VERDICT"].map(|name| cell(header, row, name)))
}

#[test]
fn without_a_count_one_learns_which_pods_go_now() {
    let all = lines("deploy/web", ROLLOUT);
    let header = all.iter().find(|line| line.starts_with("POSITION")).expect("a header");
    let now = shown("deploy/web --rollout", ROLLOUT).json;
    let mut seen = Vec::new();
    for pod in all_pods(&now) {
        let [name, verdict] = ["name", "verdict"].map(|field| pod[field].as_str().expect("text"));
        let (word, sentence) = match verdict {
            "deleted" => ("deleted", "deleted now."),
            "waiting" => ("waiting", "kept now, and deleted when the rollout continues."),
            "kept" => (
                "kept",
                "kept at the present replica count, and it is not known at which lower one it is deleted.",
            ),
            other => panic!("{other}"),
        };
        let row = all.iter().find(|line| line.contains(name)).expect("a row");
        assert_eq!(cell(header, row, "NOW"), word, "{row}");
        let one = &lines(&format!("pod/{name}"), ROLLOUT)[0];
        assert!(one.ends_with(&format!(": {sentence}")), "{one}");
        seen.push(verdict.to_owned());
    }
    seen.dedup();
    assert_eq!(seen, ["deleted", "waiting", "kept"]);
    let json = shown("deploy/web", ROLLOUT).json;
    let verdicts = |preview: &Value| {
        let pods = all_pods(preview);
        pods.map(|pod| (pod["uid"].to_string(), pod["verdict"].clone())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(verdicts(&json), verdicts(&now));
}

/// Kubernetes deletes two pods before the scale-down, so ranks have changed by then.
#[test]
fn counts_are_not_known_while_pods_go_at_the_present_one() {
    let mut objects = items(ROLLOUT);
    objects.retain(|object| !object.to_string().contains("web-5d8c7f9b64"));
    let all = objects.iter().filter(|object| object["kind"] == "Pod").count();
    for object in objects.iter_mut().filter(|object| object["status"]["replicas"].is_number()) {
        (object["spec"]["replicas"], object["status"]["replicas"]) = (json!(all - 3), json!(all));
    }
    let order = lines("deploy/web", dump(&objects));
    assert_eq!(
        order[0], "deploy/web: 2 of 9 pods are about to be deleted (its replica count is 7).",
        "{order:?}"
    );
    assert_eq!(order[1], "The replica counts of the others are known once these pods are deleted.");
    assert!(order[2].starts_with("POSITION  NOW"), "{order:?}");
    assert_eq!(order.iter().filter(|row| cell(&order[2], row, "NOW") == "deleted").count(), 2, "{order:?}");
    // Of two pods, Kubernetes deletes one if it deletes all in one sync, and the other one if it deletes the first two
    // earlier.
    let down = lines("deploy/web --replicas 2", dump(&objects));
    assert_eq!(down[0], "Scaling deploy/web to 2 deletes 7 of 9 pods: 6 for certain, and 1 of 2 by chance.");
    assert_eq!(down.iter().filter(|row| row.ends_with("timing decides")).count(), 2, "{down:?}");
    // One sync takes the two that go first, or sees the new count before it takes the second.
    let up = lines("deploy/web --replicas 8", dump(&objects));
    assert_eq!(
        up[0],
        "Scaling up deploy/web to 8 deletes 1 to 2 of 9 pods: 1 for certain, and up to 1 more."
    );
    let header = up.iter().position(|line| line.starts_with("VERDICT ")).expect("a header");
    let rows =
        up[header + 1..].iter().take(2).map(|row| cell(&up[header], row, "VERDICT")).collect::<Vec<_>>();
    assert_eq!(rows, ["deleted", "possible"], "{up:?}");
    assert!(up[header + 3].starts_with("kept: 7 pods of "), "{up:?}");
}

/// The update of an old pod takes it, but not for good.
#[test]
fn what_is_replaced_does_not_count_as_going() {
    let revisions = [("Pod", REVISION, json!("db-1")), ("db-4", REVISION, json!("db-2"))];
    let dump = changed(&healthy(), &revisions);
    let headline = |words: &str| lines(words, &dump)[0].clone();
    let to = "Scaling sts/db to 3 deletes 2 of 5 pods and replaces 3: 1 now and 4 after that.";
    assert_eq!(headline("sts/db --replicas 3"), to);
    let to = "Without scaling sts/db (5 replicas), Kubernetes replaces 4 of 5 pods: 1 now and 3 after that.";
    assert_eq!(headline("sts/db --replicas 5"), to);
    let overview = lines("-A --replicas 3", together(&[&dump, JOB]));
    assert_eq!(cell(&overview[0], &overview[1], "DELETED"), "2", "{overview:?}");
    let replaced = |pod: &&Value| pod["recreated"] == true;
    let json = shown("sts/db --replicas 3", &dump).json;
    let names: Vec<_> = all_pods(&json).filter(replaced).map(|pod| pod["name"].clone()).collect();
    assert_eq!(names, ["db-3", "db-2", "db-1", "db-0"].map(Value::from)[1..], "{json}");
    assert_eq!(fine("sts/db --replicas 3 -o name", &dump).0, "pod/db-4\npod/db-3\n");
    assert_eq!(headline("sts/db"), "sts/db: 1 of 5 pods is about to be replaced (its replica count is 5).");
    // A pod that only waits for its turn needs no repair.
    let waits = lines("sts/db --replicas 3", &dump);
    assert!(waits.iter().any(|row| row.ends_with("after higher ordinals")), "{waits:?}");
}

#[test]
fn a_slip_is_answered_with_what_was_meant() {
    let is_deployment = |item: &Value| item["kind"] == "Deployment";
    let deployment = items(ROLLOUT).into_iter().find(is_deployment).expect("one");
    let other = [("namespace", "shop"), ("name", "api"), ("uid", "5a5a5a5a-0000-4000-8000-0000000000ff")]
        .into_iter()
        .fold(deployment, |other, (field, text)| with(other, &format!("metadata {field}"), json!(text)));
    let both = dump(&[items(ROLLOUT), vec![other]].concat());
    for (words, said) in [
        ("dploy/web", "Did you mean deploy/web?"),
        ("scale deploy/web --replicas 3", "kubectl podrank TYPE/NAME --replicas N -f FILE"),
        (
            "web-7f6b9d5c48-hq8zt",
            "web-7f6b9d5c48-hq8zt is a pod\n  Ask about it as pod/web-7f6b9d5c48-hq8zt.",
        ),
        ("deploy/web -n shop", "deploy/web is in namespace default, not in shop\n  Use -n default."),
    ] {
        let (_, _, error) = run(words, &both);
        assert!(error.contains(said), "{words}: {error}");
    }
}

#[test]
fn a_pod_that_may_go_now_says_so() {
    // Two of four alike go as soon as the controller acts.
    let pods: Vec<_> = (1..5).map(|number| owned_pod(number, "web")).collect();
    let dump = dump(&[&pods[..], &[bare_set("web", 2)]].concat());
    let one = &lines("pod/web-1", &dump)[0];
    assert_eq!(one, "web-1 (rs/web, 4 pods): possibly deleted now (50%).");
    let all = lines("rs/web", &dump);
    assert_eq!(cell(&all[2], &all[3], "NOW"), "possible 50%", "{all:?}");
    let overview = lines("rs", &dump);
    assert_eq!(cell(&overview[0], &overview[1], "WHEN"), "possible 50% now", "{overview:?}");
    // At rest, there is no such column.
    let resting = common::dump(&[&pods[..], &[bare_set("web", 4)]].concat());
    assert!(!fine("rs/web", resting).0.contains("NOW"));
}

#[test]
fn the_overview_and_the_answer_about_one_agree() {
    let healthy = healthy();
    let counts = [0, 1, 2, 3, 4, 5, 6, 9, 10, 12, 13, 20];
    for (dump, kind, name) in [
        (ROLLOUT, "deploy", "deploy/web"),
        (CONTESTED, "rs", SET),
        (STATEFUL_SET, "sts", "sts/db"),
        (&healthy, "sts", "sts/db"),
    ] {
        for count in counts {
            let overview = lines(&format!("{kind} --replicas {count}"), dump);
            let (header, row) = (&overview[0], &overview[1]);
            let one = lines(&format!("{name} --replicas {count}"), dump);
            let said = format!("{name} {count}:\n{header}\n{row}\n{}", one.join("\n"));
            let [pod, verdict] = first_row(&one).unwrap_or_else(|| ["-", "-"].map(str::to_owned));
            assert_eq!([cell(header, row, "FIRST"), cell(header, row, "VERDICT")], [pod, verdict], "{said}");
            let number = one[0].split_once(" deletes ").expect("a number").1;
            let number = number.split(" of ").next().unwrap_or_default();
            assert_eq!(cell(header, row, "DELETED"), if number == "none" { "-" } else { number }, "{said}");
        }
    }
    let row = &lines("sts --replicas 1", &healthy)[1];
    assert!(row.contains("  4   ") && !row.contains("waits"), "{row}");
}

/// Fewer than the pods that it has for now, and more than its count.
#[test]
fn all_views_say_that_a_count_scales_up() {
    for (words, dump, says_so) in [
        ("deploy/web --replicas 12", ROLLOUT, true),
        ("deploy/web --replicas 12 -o wide", ROLLOUT, true),
        ("deploy/web --replicas 12 -o markdown", ROLLOUT, true),
        ("pod/web-7f6b9d5c48-d6sjr --replicas 12", ROLLOUT, true),
        ("deploy --replicas 12", ROLLOUT, true),
        ("deploy/web --replicas 20", ROLLOUT, true),
        ("sts/db --replicas 9", STATEFUL_SET, true),
        ("deploy/web --replicas 10", ROLLOUT, false),
        ("deploy/web --replicas 9", ROLLOUT, false),
        ("deploy/web --rollout", ROLLOUT, false),
    ] {
        assert_eq!(
            fine(words, dump).0.to_lowercase().contains("scaling up")
                || fine(words, dump).0.contains("scales up"),
            says_so,
            "{words}"
        );
    }
}

#[test]
fn a_workload_at_rest_does_not_say_that_nothing_follows() {
    let all = idle();
    for words in ["deploy/web", "pod/web-7f6b9d5c48-b7wfn", "deploy/web --rollout"] {
        let (text, _) = fine(words, &all);
        assert!(!text.contains("Nothing more follows"), "{words}: {text}");
    }
    // Where sizes change, what is then is worth telling.
    assert!(
        fine("deploy/web --replicas 8", &all)
            .0
            .contains("Nothing more follows, although 2 pods are not available.")
    );
}

/// The rollout, and an autoscaler that wants 9.
fn autoscaled() -> String {
    dump(&[items(ROLLOUT), vec![autoscaler(("Deployment", "web"), Some(3), 20, Some(9))]].concat())
}

/// Files by others have fields that Kubernetes does not write so.
#[test]
fn odd_conditions_and_claims_are_no_error() {
    let pod = with(owned_pod(1, "web"), "status conditions", json!([{ "type": "Ready", "status": null }]));
    fine("rs/web --replicas 0", dump(&[bare_set("web", 1), pod]));
    let redacted = json!([{ "type": "Complete", "status": "False", "lastTransitionTime": "REDACTED" }]);
    fine("job/import --parallelism 1", changed(JOB, &[("import", "status conditions", redacted)]));
    let claims = json!([{ "metadata": { "name": "data", "labels": { "tier": 1 } } }]);
    fine("sts/db --replicas 1", changed(STATEFUL_SET, &[("db", "spec volumeClaimTemplates", claims)]));
}
