//! `StatefulSets`: what the program shows of them. `judge/code` compares which pods go, and why, with Kubernetes' own syncs.

use crate::common::kubectl::{answering, list};
use crate::common::{Change, STATEFUL_SET, changed, fails, fine, items, plain, row, shown, with_twin};
use serde_json::{Value, json};
use std::fs;

/// Of the five pods of the example, `db-1` is not ready. Here it is, after which come these changes.
fn mended(changes: &[Change<'_>]) -> String {
    let ready = ("db-1", "status conditions 0 status", json!("True"));
    changed(&changed(STATEFUL_SET, &[ready]), changes)
}

#[test]
fn who_waits_for_whom_is_said_in_each_output() {
    let shown = shown("sts/db --replicas 3", STATEFUL_SET);
    shown.says(&[
        "0 of 5 go, quota 0",
        "db-4; waiting; waits-for-ready; db-1 is not ready",
        "db-3; waiting; waits-for-ready; db-1 is not ready",
        "db-2; kept; in-range; ordinal 2 is within 0 to 2",
        "db-1; kept; in-range; ordinal 1 is within 0 to 2",
        "db-0; kept; in-range; ordinal 0 is within 0 to 2",
        "db-4 waits for db-1; waits-for-ready; db-1 is not ready",
        "db-3 waits for db-1; waits-for-ready; db-1 is not ready",
    ]);
    assert_eq!(
        row(&shown.json, "{workload} {replicas} {featureGates}"),
        r#"{"kind":"StatefulSet","name":"db"} 3 {"MaxUnavailableStatefulSet":true,"StatefulSetRecreateStrategy":false}"#
    );
    // docs/workloads.md has its table.
    let (proof, _) = fine("sts/db --replicas 3 -o wide", STATEFUL_SET);
    assert!(proof.contains("waits-for-ready  db-1 is not ready"), "{proof}");
    assert!(proof.ends_with("in-range         ordinal 0 is within 0 to 2\n"), "{proof}");
    let note = "note: The controller waits for db-1. Only after that, 2 pods are deleted.\n";
    assert_eq!(fine("sts/db --replicas 3 -o name", STATEFUL_SET), (String::new(), note.to_owned()));
    // Kubernetes deletes one after the other, and both are certain. The only workload with pods needs no name.
    let note = "note: Then the controller waits for db-4. Only after that, 1 pod is deleted.\n";
    for words in ["sts/db --replicas 3 -o name", "--replicas 3 -o name"] {
        assert_eq!(fine(words, mended(&[])), ("pod/db-4\npod/db-3\n".to_owned(), note.to_owned()));
    }
}

#[test]
fn a_gate_that_changes_the_step_is_noted_and_replayed() {
    const OFF: &str = "sts/db --rollout --feature-gates MaxUnavailableStatefulSet=false";
    const OLDER: &str = "name the release (--kubernetes-version)";
    let rolling = json!({ "partition": 2, "maxUnavailable": "50%" });
    let update = mended(&[
        ("db", "status updateRevision", json!("db-3")),
        ("db", "spec updateStrategy rollingUpdate", rolling),
    ]);
    let on = shown("sts/db --rollout", &update);
    on.says(&["2 of 5 go, quota 0", "db-4; deleted; old; …", &format!("note: …{OLDER}…")]);
    let off = shown(OFF, &update);
    off.says(&["1 of 5 go, quota 0"]).lacks(OLDER);
    // 50% of the pods from the partition on.
    shown("sts/db --rollout --kubernetes-version 1.38", &update).says(&["1 of 5 go, quota 0"]).lacks(OLDER);
    // The JSON says how to get it again.
    let replay = row(&off.json, "{replay}");
    assert!(replay.ends_with(" --feature-gates MaxUnavailableStatefulSet=false"), "{replay}");
    assert!(!row(&on.json, "{replay}").contains("feature-gates"), "{on}");
    // To scale down, the gate makes no difference.
    shown("sts/db --replicas 2", &update).lacks(OLDER);
    // The release has the gate off, and there is no note once the release is known.
    for release in ["1.34", "1.35", "v1.36.3-eks-0c1d2e"] {
        let words = format!("sts/db --rollout --kubernetes-version {release}");
        shown(&words, &update).says(&["1 of 5 go, quota 0"]).lacks(OLDER);
    }
    let old = shown("sts/db --rollout --kubernetes-version 1.35.2", &update);
    old.says(&["2 of 5 go, quota 0"]).lacks(OLDER);
    assert!(row(&old.json, "{replay}").ends_with(" --kubernetes-version 1.35.2"), "{old}");
    assert_eq!(old.json["kubernetesVersion"], "1.35.2");
}

#[test]
fn the_release_is_that_of_the_cluster() {
    let rolling = json!({ "partition": 0, "maxUnavailable": 2 });
    let update = mended(&[
        ("db", "status updateRevision", json!("db-3")),
        ("db", "spec updateStrategy rollingUpdate", rolling),
    ]);
    let objects = items(&update);
    let [set, pods] = ["StatefulSet", "Pod"].map(|kind| {
        list(&objects.iter().filter(|object| object["kind"] == kind).cloned().collect::<Vec<_>>())
    });
    for (version, deleted) in [
        (r#"{"gitVersion":"v1.37.1"}"#, 2),
        (r#"{"gitVersion":"v1.36.3+k3s1"}"#, 1),
        // If the user may not read the version, a note says which one podrank assumes.
        ("", 2),
    ] {
        let kubectl = answering(&[set.clone(), pods.clone(), list(&[])]);
        fs::write(kubectl.path("version"), version).expect("a file");
        let output = kubectl.run(&["sts/db", "--rollout", "-o", "json"], b"");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["deletions"]["max"], deleted, "{version}");
        assert_eq!(json["kubernetesVersion"].is_string(), !version.is_empty());
        let notes = String::from_utf8_lossy(&output.stderr).contains("--kubernetes-version");
        assert_eq!(notes, version.is_empty());
    }
}

#[test]
fn pods_of_one_ordinal_are_contested() {
    let twins = with_twin(&mended(&[]), "db-4", &[("metadata name", json!("db-04"))]);
    let twin = "…; possible; twins; … has the same ordinal as another pod, and chance decides";
    shown("sts/db --replicas 4", twins).says(&[twin, twin]);
}

#[test]
fn bad_input_says_what_is_wrong() {
    let later = changed(STATEFUL_SET, &[("db", "spec podManagementPolicy", json!("Later"))]);
    for (words, dump, error) in [
        (
            "",
            &*later,
            "StatefulSet default/db: spec.podManagementPolicy: \"Later\" is neither OrderedReady nor Parallel",
        ),
        (
            " --order total",
            STATEFUL_SET,
            "podrank's total order does not apply to StatefulSet default/db\n  \
             It is for Deployments, ReplicaSets and ReplicationControllers.",
        ),
    ] {
        fails(&format!("sts/db --replicas 1{words}"), dump, error);
    }
    let (status, _, error) = plain("scale sts/db --replicas 3");
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("StatefulSet controllers ignore deletion costs"), "{error}");
}

/// Without the revision of the update, nobody knows which pods are old.
#[test]
fn no_pod_is_called_old_without_a_revision() {
    let unknown = mended(&[("db", "status", json!({ "replicas": 5 }))]);
    let refused =
        "…the status of StatefulSet default/db has no updateRevision, so its old pods are not known.\n…";
    fails("sts/db --rollout", &unknown, refused);
    // Where the update takes no pod, old or new makes no difference.
    let scaled = shown("sts/db --replicas 4", &unknown);
    scaled.says(&["db-4; deleted; out-of-range; …"]).lacks("updateRevision");
    let on_delete = changed(&unknown, &[("db", "spec updateStrategy", json!({ "type": "OnDelete" }))]);
    shown("sts/db --rollout", on_delete).says(&["0 of 5 go, quota 0"]);
    // A parallel update takes pods in the same sync as scaling.
    let parallel = changed(&unknown, &[("db", "spec podManagementPolicy", json!("Parallel"))]);
    fails("sts/db --replicas 4", parallel, refused);
}

#[test]
fn an_edge_that_moves_with_the_clock_is_noted() {
    let at = |replicas: u32, time: &str| {
        let since = json!(format!("2026-03-10T{time}Z"));
        let changes = [
            ("db", "spec minReadySeconds", json!(10)),
            ("db-1", "status conditions 0 lastTransitionTime", since),
        ];
        shown(&format!("sts/db --replicas {replicas}"), mended(&changes))
    };
    let note = "note: pod default/db-1 becomes available in 1s, and then this sync deletes other pods";
    at(3, "11:59:51").says(&["0 of 5 go, quota 0", note]);
    at(3, "11:59:50").says(&["1 of 5 go, quota 0"]).lacks("becomes available");
    // It makes no difference here.
    at(5, "11:59:51").lacks("becomes available");
    // A ready time in the future is not a negative age.
    let early = "db-1 became ready 5m after the time of this decision, and minReadySeconds is 10";
    at(3, "12:05:00").says(&[&format!("db-4 waits for db-1; …; {early}")]);
}
