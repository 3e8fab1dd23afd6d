//! `StatefulSets`: what the program reads for the core's decision, which Kubernetes' own code judges, and what it shows.

use crate::common::{Change, STATEFUL_SET, changed, fails, fine, plain, row, shown, with_twin, without};
use serde_json::json;

/// Of the five pods of the example, `db-1` is not ready. Here it is, after which come these changes.
fn mended(changes: &[Change<'_>]) -> String {
    changed(&changed(STATEFUL_SET, &[is_ready("db-1", true)]), changes)
}

fn is_ready(pod: &str, is_ready: bool) -> Change<'_> {
    (pod, "status conditions 0 status", json!(if is_ready { "True" } else { "False" }))
}

fn ready_since<'a>(pod: &'a str, time: &str) -> Change<'a> {
    (pod, "status conditions 0 lastTransitionTime", json!(format!("2026-03-10T{time}Z")))
}

/// The dump without this pod, of a set whose status counts none.
fn lacks(dump: &str, pod: &str) -> String {
    let dump = without(dump, |item| item["metadata"]["name"] == pod);
    changed(&dump, &[("db", "status replicas", json!(0))])
}

#[test]
fn a_broken_ordinal_is_named() {
    let shown = shown("sts/db --replicas 3", STATEFUL_SET);
    shown.says(&[
        "0 of 5 go, quota 0",
        "db-4; blocked; waits-for-ready; db-1 is not ready",
        "db-3; blocked; waits-for-ready; db-1 is not ready",
        "db-2; keep; in-range; ordinal 2 is within 0 to 2",
        "db-1; keep; in-range; ordinal 1 is within 0 to 2",
        "db-0; keep; in-range; ordinal 0 is within 0 to 2",
        "db-4 waits for db-1; waits-for-ready; db-1 is not ready",
        "db-3 waits for db-1; waits-for-ready; db-1 is not ready",
    ]);
    assert_eq!(
        row(&shown.json, "{workload} {replicas} {featureGates}"),
        r#"{"kind":"StatefulSet","name":"db"} 3 {"MaxUnavailableStatefulSet":true,"StatefulSetRecreateStrategy":false}"#
    );
}

#[test]
fn the_table_says_who_waits_for_whom() {
    let (table, notes) = fine("sts/db --replicas 3", STATEFUL_SET);
    let expected = "\
sts/db to 3: none of 5 pods goes yet
It waits for db-1; 2 pods go only after that.
GOES   POD   NODE    BECAUSE
waits  db-4  node-1  waits for db-1
waits  db-3  node-0  waits for db-1
no     db-2  node-2  ordinal 2 is within 0 to 2
no     db-1  node-1  ordinal 1 is within 0 to 2
no     db-0  node-0  ordinal 0 is within 0 to 2
";
    assert_eq!(table, expected);
    let (proof, _) = fine("sts/db --replicas 3 -o wide", STATEFUL_SET);
    assert!(proof.contains("waits-for-ready  db-1 is not ready"), "{proof}");
    assert!(proof.ends_with("in-range         ordinal 0 is within 0 to 2\n"), "{proof}");
    assert_eq!(notes, "");
}

#[test]
fn names_alone_say_who_waits() {
    let note = "note: It waits for db-1; 2 pods go only after that.\n";
    assert_eq!(fine("sts/db --replicas 3 -o name", STATEFUL_SET), (String::new(), note.to_owned()));
    // One goes after the other, and both are certain. The only workload with pods needs no name.
    let note = "note: Then it waits for db-4; 1 pod goes only after that.\n";
    for words in ["sts/db --replicas 3 -o name", "--replicas 3 -o name"] {
        assert_eq!(fine(words, mended(&[])), ("pod/db-4\npod/db-3\n".to_owned(), note.to_owned()));
    }
}

const OFF: &str = "sts/db --rollout --feature-gates MaxUnavailableStatefulSet=false";
const OLDER: &str = "before Kubernetes 1.37, this step takes other pods";

#[test]
fn a_partition_counts_from_the_start() {
    let rolling = json!({ "partition": 2, "maxUnavailable": "50%" });
    let update = mended(&[
        ("db", "status updateRevision", json!("db-3")),
        ("db", "spec ordinals", json!({ "start": 1 })),
        ("db", "spec replicas", json!(4)),
        ("db", "spec updateStrategy rollingUpdate", rolling),
    ]);
    let update = lacks(&update, "db-0");
    shown("sts/db --rollout", &update).says(&[
        "2 of 4 go, quota 0",
        "db-4; delete; old; its revision is db-2, not db-3",
        "db-3; delete; old; …",
        "db-2; keep; below-partition; it is old, but index 1 is below the partition, 2",
        "db-1; keep; below-partition; …",
        &format!("note: …{OLDER}…"),
    ]);
    shown(OFF, &update).says(&["1 of 4 go, quota 0"]).lacks(OLDER);
    // The JSON says how to get it again.
    let replay = |words: &str| shown(words, &update).json["replay"].as_str().expect("words").to_owned();
    assert!(replay(OFF).ends_with(" --feature-gates MaxUnavailableStatefulSet=false"), "{}", replay(OFF));
    assert!(!replay("sts/db --rollout").contains("feature-gates"), "{}", replay("sts/db --rollout"));
    // To scale down, the gate makes no difference.
    shown("sts/db --replicas 2", &update).lacks(OLDER);
}

#[test]
fn pods_of_one_ordinal_are_contested() {
    let twins = with_twin(&mended(&[]), "db-4", &[("metadata name", json!("db-04"))]);
    let twin = "…; contested; twins; … has the same ordinal as another pod: the list order decides";
    shown("sts/db --replicas 4", twins).says(&[twin, twin]);
}

#[test]
fn bad_input_says_what_is_wrong() {
    let later = changed(STATEFUL_SET, &[("db", "spec podManagementPolicy", json!("Later"))]);
    for (words, dump, error) in [
        ("", &*later, "spec.podManagementPolicy: \"Later\" is neither OrderedReady nor Parallel"),
        (
            " --order total",
            STATEFUL_SET,
            "the total order is for Deployments, ReplicaSets and ReplicationControllers; a StatefulSet has its own",
        ),
    ] {
        fails(&format!("sts/db --replicas 1{words}"), dump, &format!("default StatefulSet/db: {error}"));
    }
    let (status, _, error) = plain("scale sts/db --replicas 3");
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("the controller of a StatefulSet reads no deletion costs"), "{error}");
}

/// Without the revision of the update, nobody knows which pods are old.
#[test]
fn no_pod_is_called_old_without_a_revision() {
    let unknown = mended(&[("db", "status", json!({ "replicas": 5 }))]);
    let missing = "the status of default StatefulSet/db has no updateRevision, so its old pods are not known";
    let refused = format!(
        "the input is incomplete: {missing}; get all of it with: kubectl get pods,statefulsets -n default -o json; \
         --partial accepts what is missing"
    );
    fails("sts/db --rollout", &unknown, &refused);
    // Where the update takes no pod, old or new makes no difference.
    let scaled = shown("sts/db --replicas 4", &unknown);
    scaled
        .says(&["db-4; delete; out-of-range; …"])
        .says(&["…; keep; in-range; …"; 4])
        .lacks("updateRevision");
    let on_delete = changed(&unknown, &[("db", "spec updateStrategy", json!({ "type": "OnDelete" }))]);
    shown("sts/db --rollout", on_delete).says(&["0 of 5 go, quota 0"]);
    // A parallel update takes pods in the same sync as scaling.
    let parallel = changed(&unknown, &[("db", "spec podManagementPolicy", json!("Parallel"))]);
    fails("sts/db --replicas 4", parallel, &refused);
}

#[test]
fn an_edge_that_moves_with_the_clock_is_noted() {
    let at = |replicas: u32, min_ready_seconds: u32, time: &str| {
        let changes = [("db", "spec minReadySeconds", json!(min_ready_seconds)), ready_since("db-1", time)];
        shown(&format!("sts/db --replicas {replicas}"), mended(&changes))
    };
    let note = "note: pod default/db-1 becomes available in 1s, and then this step takes other pods";
    let early = at(3, 10, "11:59:51");
    early.says(&["0 of 5 go, quota 0", note]);
    assert_eq!(early.json["notes"][0]["code"], "becomes-available");
    at(3, 10, "11:59:50").says(&["1 of 5 go, quota 0"]).lacks("becomes available");
    // It makes no difference here.
    at(5, 10, "11:59:51").lacks("becomes available");

    let waits =
        "db-4 waits for db-1; waits-for-available; db-1 has been ready for 20s, and minReadySeconds is 30";
    at(4, 30, "11:59:40").says(&[waits]);
    // A ready time to come is no negative age.
    let early = "db-1 became ready 5m after the time of this decision, and minReadySeconds is 10";
    at(3, 10, "12:05:00").says(&[&format!("db-4 waits for db-1; …; {early}")]);
}
