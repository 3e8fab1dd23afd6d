//! Deployments: what the program shows of their sets and of what follows. `judge/code` compares the sizes, the reasons and the ends with
//! Kubernetes' own syncs.

use crate::common::{Change, ROLLOUT, Shown, changed, fails, fine, list, row, shown, without};
use serde_json::{Value, json};

// Of 13 pods of the example, 4 are of the old set, and 9 of the new one, of which 3 are unavailable.

const OLD: &str = "web-5d8c7f9b64";
const NEW: &str = "web-7f6b9d5c48";
const SCALE: &str = "deploy/web --replicas 5";
const ROLL: &str = "deploy/web --rollout";

/// The preview of the example, after these changes.
#[track_caller]
fn example(words: &str, changes: &[Change<'_>]) -> Shown {
    shown(words, changed(ROLLOUT, changes))
}

fn available(set: &str, count: u32) -> Change<'_> {
    (set, "status availableReplicas", json!(count))
}

fn paused() -> Change<'static> {
    ("web", "spec paused", json!(true))
}

fn recreate() -> Change<'static> {
    ("web", "spec strategy", json!({ "type": "Recreate" }))
}

fn deleted(name: &str) -> Change<'_> {
    (name, "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"))
}

/// Whether the object is a pod of the old set.
fn is_old(item: &Value) -> bool {
    item["kind"] == "Pod" && item["metadata"]["name"].as_str().is_some_and(|it| it.starts_with(OLD))
}

/// As in several files for one question, whether it names the Deployment or not.
#[test]
fn of_a_deployment_that_is_listed_twice_the_first_entry_counts() {
    let mut file: Value = serde_json::from_str(ROLLOUT).expect("JSON");
    let items = file["items"].as_array_mut().expect("a list");
    let again = items.iter().find(|item| item["kind"] == "Deployment").expect("one").clone();
    let first = items.iter_mut().find(|item| item["kind"] == "Deployment").expect("one");
    first["spec"]["replicas"] = json!(0);
    items.push(again);
    let answer = |words: &str| fine(&format!("{words} --rollout -o json"), file.to_string()).0;
    assert_eq!(answer(""), answer("deploy/web"));
}

/// From 10 to 5, with 13 pods: count + surge is 7 (a quarter of 5, rounded up, is 2), so 6 go in the next sync.
#[test]
fn the_next_sync_of_each_set_is_said() {
    let scaled = shown(SCALE, ROLLOUT);
    scaled.says(&[
        "…; scale",
        "web-5d8c7f9b64: 4 to 2; share; its share is 2 of 7 pods (5 replicas and a surge of 2)",
        "web-7f6b9d5c48: 9 to 5; share; its share is 5 of 7 pods (5 replicas and a surge of 2)",
        "…-hq8zt; deleted; …",
    ]);
    let head = row(&scaled.json, "{kind} {workload} {replicas} {pods} {replicaSet}");
    assert_eq!(head, r#"ScaleDownPreview {"kind":"Deployment","name":"web"} 5 null null"#);

    let selector = ("web", "spec selector", json!({}));
    let rollback = ("web", "metadata annotations deprecated.deployment.rollback.to", json!("3"));
    let restarted = json!({ "kubectl.kubernetes.io/restartedAt": "2026-03-10T11:59:00Z" });
    let restart = ("web", "spec template metadata annotations", restarted);
    let invalid = "…Deployment default/web has a selector that is invalid or selects all pods…";
    let stays = "note: ReplicaSet default/web-7f6b9d5c48 is being deleted, so kube-controller-manager deletes none of its pods";
    let desired = (NEW, "metadata annotations deployment.kubernetes.io/desired-replicas", json!("9"));
    let no_pod = "web-5d8c7f9b64: 4 to 0; share; its share is 0 of 0 pods";
    for (words, changes, says) in [
        (
            "deploy/web --replicas 9",
            &[paused(), available(NEW, 9), desired][..],
            &[
                "web-5d8c7f9b64: 4 to 0; saturated; all 9 pods of the new ReplicaSet are available, so old ReplicaSets shrink to 0",
                "web-7f6b9d5c48: 9 to 9; saturated; all 9 pods of the new ReplicaSet are available",
            ][..],
        ),
        ("deploy/web --replicas 0", &[], &[no_pod]),
        (ROLL, &[available(NEW, 2)][..], &["0 of 13 go; roll", "waits: …"][..]),
        (SCALE, &[paused(), available(NEW, 4)], &["…; scale"]),
        (ROLL, &[recreate()], &["4 of 13 go; recreate", "…; recreated; …", "waits: …"]),
        (ROLL, &[restart], &["null: 0 to 0; no-surge; …"]),
        (SCALE, &[rollback], &["0 of 13 go; rollback"]),
        (SCALE, &[selector], &["0 of 0 go; …", invalid]),
        // The set keeps its pods, whatever the Deployment writes.
        (SCALE, &[deleted(NEW)], &["web-7f6b9d5c48: 9 to …", stays]),
    ] {
        example(words, changes).says(says);
    }
    let step = example(ROLL, &[available(OLD, 3), available(NEW, 9)]);
    step.says(&["web-5d8c7f9b64: 4 to 0; unhealthy-and-available; …"]);
    assert_eq!(step.json["groups"][0]["writes"], json!([3, 0]));
    let bare = without(ROLLOUT, |item| item["kind"] != "Deployment");
    let bare = shown(SCALE, changed(&bare, &[("web", "status", json!({ "observedGeneration": 12 }))]));
    bare.says(&["null: 0 to 5; grows; …", "…no ReplicaSet of Deployment web is listed…"]);
}

#[test]
fn the_only_deployment_is_meant_if_none_is_named() {
    let named = shown(SCALE, ROLLOUT).json;
    for words in ["", "web", "Deployment web -n default"] {
        assert_eq!(shown(&format!("--replicas 5 {words}"), ROLLOUT).json, named, "{words}");
    }
    // A set of it is meant if it is named.
    for words in [format!("rs {NEW}"), NEW.to_owned()] {
        let of_set = shown(&format!("{words} --replicas 5"), ROLLOUT);
        assert_eq!(row(&of_set.json, "{workload.name} {deletions.max}"), format!("{NEW} 4"), "{words}");
    }
}

/// The first sync makes the old set 2 and the new one 5. Then there are 7 pods, of which 4 must be available. The 3
/// unavailable pods of the new set are no longer there, so all 6 pods are available, and the 2 old ones are not needed
/// either.
#[test]
fn a_rollout_is_shown_to_its_end() {
    let shown = shown("deploy/web --replicas 5", ROLLOUT);
    let of_step = |step: &Value| {
        let sets =
            list(&step["replicaSets"]).map(|set| row(set, "; {replicaSet} {from} {to} {deletions.max}"));
        row(step, "{path}") + &sets.collect::<String>()
    };
    assert_eq!(
        list(&shown.json["steps"]).map(of_step).collect::<Vec<_>>(),
        ["scale; web-5d8c7f9b64 4 2 2; web-7f6b9d5c48 9 5 4", "roll; web-5d8c7f9b64 2 0 2"]
    );
    assert_eq!(shown.json["deletions"], json!({ "min": 8, "max": 8 }));
    assert_eq!(row(&shown.json, "{waitsFor} {complete}"), "null true");
    let verdicts: Vec<_> = list(&shown.json["groups"][0]["pods"]).map(|pod| row(pod, "{verdict}")).collect();
    assert_eq!(verdicts, ["deleted"; 4], "all of the old set go, so it is open no more which go first");
    // Of the 13 pods, 8 must be available. The new set has 9 of which 2 are, so 6 are.
    for (words, change, event) in [
        ("--rollout", available(NEW, 2), "new-pods …"),
        ("--replicas 8", paused(), "resume …"),
        ("--rollout", recreate(), "old-pods …"),
    ] {
        let waits = example(&format!("deploy/web {words}"), &[change]);
        let said = row(&waits.json["waitsFor"], "{event} {text}");
        assert!(crate::common::is_like(&said, event), "{said}");
        let waiting =
            list(&waits.json["groups"][0]["pods"]).filter(|pod| pod["verdict"] == "waiting").count();
        let deletions = &waits.json["waitsFor"]["deletions"]["max"];
        assert!(!event.starts_with("new") || *deletions == json!(waiting), "{waits}");
    }
}

/// The answer leaves out a set with nothing to show, but not a set that only has a size, or only gets one.
#[test]
fn sets_that_only_have_a_size_are_listed() {
    let of_old = |replicas: u32| {
        let changes = [
            (OLD, "spec replicas", json!(replicas)),
            (OLD, "status", json!({ "replicas": 0, "observedGeneration": 9 })),
            ("web", "status replicas", json!(13)),
        ];
        shown(ROLL, changed(&without(ROLLOUT, is_old), &[&changes[..], &[recreate()]].concat()))
    };
    of_old(4).says(&[&format!("{OLD}: 4 to 0; recreated; …")]);
    of_old(0).says(&[&format!("{NEW}: 9 to 10; to-count; …")]).lacks(&format!("{OLD}: "));
}

// Errors.

#[test]
fn unsound_deployments_name_the_field() {
    let negative = "spec.replicas: -4 is negative, which Kubernetes does not allow";
    let text = "spec.strategy.rollingUpdate.maxSurge: it does not end with '%': write a number of pods as an integer, without quotes";
    let neither = "spec.strategy.type: \"BlueGreen\" is neither RollingUpdate nor Recreate";
    for (name, place, value, error) in [
        ("web", "spec strategy rollingUpdate maxSurge", json!("3"), text),
        ("web", "spec strategy type", json!("BlueGreen"), neither),
        ("web", "spec replicas", json!(-4), negative),
        (OLD, "spec replicas", json!(-4), negative),
    ] {
        let dump = changed(ROLLOUT, &[(name, place, value)]);
        let kind = if name == OLD { "ReplicaSet" } else { "Deployment" };
        fails(ROLL, &dump, &format!("{kind} default/{name}: {error}"));
        // Only a preview of the Deployment itself minds.
        if kind == "Deployment" {
            fine(&format!("{NEW} --replicas 5"), &dump);
        }
    }
    // Another one is not the one that cannot be read.
    let dump = changed(ROLLOUT, &[("web", "spec replicas", json!(-4))]);
    fails("deploy/api --replicas 5", &dump, "no Deployment is named api\n  …");
    fails("deploy/web -n shop --replicas 5", &dump, "no Deployment …");
}

#[test]
fn its_deployment_sets_a_set_back_that_is_scaled_alone() {
    // A set is part of a rollout if it has pods or replicas.
    for (replicas, has_pods, said) in
        [(0, false, "would reset"), (4, false, "middle of a rollout"), (0, true, "middle of a rollout")]
    {
        let dump = without(ROLLOUT, |item| !has_pods && is_old(item));
        let dump = changed(&dump, &[(OLD, "spec replicas", json!(replicas))]);
        let notes = |count: u32| shown(&format!("rs/{NEW} --replicas {count} --partial"), &dump).notes;
        assert!(notes(3).contains(said), "{said}: {}", notes(3));
        // At the count that it has, there is nothing to reset.
        assert!(!notes(9).contains("would reset"), "{}", notes(9));
    }
}

#[test]
fn a_dump_without_sets_is_incomplete() {
    let no_sets = without(ROLLOUT, |item| item["kind"] == "ReplicaSet");
    let none = "Deployment default/web has 14 pods, and none of its ReplicaSets is listed";
    fails(SCALE, no_sets, &format!("the input is incomplete\n  {none}…"));
}

#[test]
fn the_wide_table_has_the_sizes_of_each_set() {
    let (wide, _) = fine(&format!("{SCALE} -o wide"), ROLLOUT);
    let lines: Vec<_> = wide.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for said in [
        "REPLICASET FROM TO PODS DELETED REASON",
        "web-5d8c7f9b64 4 2, 0 4 4 its share is 2 of 7 pods (5 replicas and a surge of 2)",
        "web-7f6b9d5c48 9 5 9 4 its share is 5 of 7 pods (5 replicas and a surge of 2)",
    ] {
        assert!(lines.iter().any(|line| line == said), "{said}\nis not in {wide}");
    }
}
