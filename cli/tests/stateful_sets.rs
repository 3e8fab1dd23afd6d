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

fn of_revision<'a>(pod: &'a str, revision: &str) -> Change<'a> {
    (pod, "metadata labels controller-revision-hash", json!(revision))
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
fn a_set_that_waits_says_so_in_each_view() {
    let waits = "A scale-down of sts/db to 2 or more waits for db-1: db-1 is not ready.\n";
    for words in ["sts/db", "pod/db-4", "sts/db -o wide", "pod/db-2"] {
        let (text, _) = fine(words, STATEFUL_SET);
        assert!(text.contains(waits), "{words}: {text}");
        let (text, notes) = fine(words, mended(&[]));
        assert!(!text.contains("waits for db-1") && !notes.contains("waits for"), "{words}: {text}{notes}");
    }
    for words in ["sts/db --replicas 3", "sts", "pod/db-4 --replicas 3"] {
        let (table, _) = fine(words, STATEFUL_SET);
        assert!(
            ["waits for db-1", "waits for 1 pod", "db-1 is not ready"].iter().any(|it| table.contains(it)),
            "{words}: {table}"
        );
    }
    let (json, _) = fine("pod/db-4 -o json", STATEFUL_SET);
    assert!(json.contains(r#""code": "scale-down-waits""#), "{json}");
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

#[test]
fn with_it_mended_one_pod_goes_at_a_time() {
    shown("sts/db --replicas 3", mended(&[])).says(&[
        "1 of 5 go, quota 0",
        "db-4; delete; out-of-range; ordinal 4 is beyond 2",
        "db-3; blocked; one-at-a-time; …",
        "rest: Then it waits for db-4; 1 pod goes only after that.",
    ]);
}

const OFF: &str = "sts/db --rollout --feature-gates MaxUnavailableStatefulSet=false";
const OLDER: &str = "before Kubernetes 1.37, this step takes other pods";

#[test]
fn parallel_takes_all_and_a_partition_counts_from_the_start() {
    let parallel = changed(STATEFUL_SET, &[("db", "spec podManagementPolicy", json!("Parallel"))]);
    shown("sts/db --replicas 1", &parallel).says(&["4 of 5 go, quota 0"]).lacks("waits for");

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
fn one_unavailable_pod_makes_a_parallel_update_depend_on_the_release() {
    let update = [
        ("db", "status updateRevision", json!("db-3")),
        ("db", "spec podManagementPolicy", json!("Parallel")),
        of_revision("db-1", "db-3"),
    ];
    let dump = changed(STATEFUL_SET, &update);
    let note = format!("note: …{OLDER}…");
    shown("sts/db --rollout", &dump).says(&["0 of 5 go, quota 0", "db-4; blocked; budget; …", &note]);
    shown(OFF, &dump).says(&["1 of 5 go, quota 0", "db-4; delete; old; …"]);
    // The budget of an update is named.
    let more = [
        ("db", "spec updateStrategy rollingUpdate maxUnavailable", json!("50%")),
        of_revision("db-2", "db-3"),
        is_ready("db-2", false),
    ];
    let blocked = "db-4 waits for db-2; budget; db-2 is one of as many pods as may be unavailable, 2";
    shown("sts/db --rollout", changed(&dump, &more)).says(&[blocked]);
}

#[test]
fn pods_of_one_ordinal_are_contested() {
    let twins = with_twin(&mended(&[]), "db-4", &[("metadata name", json!("db-04"))]);
    let twin = "…; contested; twins; … has the same ordinal as another pod: the list order decides";
    shown("sts/db --replicas 4", twins).says(&[twin, twin]);
}

#[test]
fn pods_that_are_finished_terminating_or_missing_count() {
    let asked = |dump: &str| shown("sts/db --replicas 4", dump);
    let finished = asked(&mended(&[("db-2", "status phase", json!("Failed")), is_ready("db-2", false)]));
    finished.says(&[
        "db-4; blocked; waits-for-finished; …",
        "db-3; keep; in-range; …",
        "db-2; delete; finished; …",
    ]);
    assert_eq!(finished.json["pods"][2]["phase"], "Failed");
    let terminating = [("db-0", "metadata deletionTimestamp", json!("2026-03-10T11:59:00Z"))];
    asked(&mended(&terminating)).says(&["0 of 4 go, quota 0", "db-4 waits for db-0; …"]);
    let missing = "db-4 waits for db-0; waits-for-missing; db-0 does not exist yet and is created first";
    asked(&lacks(&mended(&[]), "db-0")).says(&[missing]);
}

#[test]
fn claims_go_with_their_pods() {
    let claims = mended(&[
        ("db", "spec persistentVolumeClaimRetentionPolicy", json!({ "whenScaled": "Delete" })),
        ("db", "spec volumeClaimTemplates", json!([{ "metadata": { "name": "data" }, "spec": {} }])),
    ]);
    let note = "note: …so claims go with their pods, unless others own them, too: data-db-4";
    shown("sts/db --replicas 3", claims).says(&[note]);
}

#[test]
fn bad_input_says_what_is_wrong() {
    fails("sts/dbx --replicas 1", STATEFUL_SET, "no StatefulSet is named dbx; did you mean sts/db?");
    fails(
        "sts/db --replicas 1",
        without(STATEFUL_SET, |item| item["metadata"]["name"] == "db-2"),
        "the input is incomplete: only 4 pods of default StatefulSet/db are listed, while its status counts 5; get all of it \
         with: kubectl get pods,statefulsets -n default -o json; --partial accepts what is missing",
    );
    fails(
        "sts/db --replicas 1",
        changed(STATEFUL_SET, &[("db", "spec podManagementPolicy", json!("Later"))]),
        "default StatefulSet/db: spec.podManagementPolicy: \"Later\" is neither OrderedReady nor Parallel",
    );
    fails(
        "sts/db --replicas 1 --order total",
        STATEFUL_SET,
        "default StatefulSet/db: the total order is for Deployments, ReplicaSets and ReplicationControllers; a StatefulSet has its own",
    );
    let recreate = changed(STATEFUL_SET, &[("db", "spec updateStrategy", json!({ "type": "Recreate" }))]);
    let note = "…whose feature gate StatefulSetRecreateStrategy is off…";
    shown("sts/db --replicas 1", recreate).says(&[note]);
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
    let accepted = shown("sts/db --rollout --partial", &unknown);
    let all = ["…; keep; in-range; …"; 5];
    accepted.says(&["0 of 5 go, quota 0"]).says(&all).says(&[&format!("note: {missing}")]);
    assert_eq!(accepted.json["notes"][0]["code"], "revision-missing");

    // Where the update takes no pod, old or new makes no difference.
    let scaled = shown("sts/db --replicas 4", &unknown);
    scaled.says(&["db-4; delete; out-of-range; …"]).says(&all[1..]).lacks("updateRevision");
    let on_delete = changed(&unknown, &[("db", "spec updateStrategy", json!({ "type": "OnDelete" }))]);
    shown("sts/db --rollout", on_delete).says(&["0 of 5 go, quota 0"]);
    // A parallel update takes pods in the same sync as scaling.
    let parallel = changed(&unknown, &[("db", "spec podManagementPolicy", json!("Parallel"))]);
    fails("sts/db --replicas 4", parallel, &refused);
}

#[test]
fn a_pod_that_the_dump_may_lack_is_not_said_to_be_missing() {
    let dump = lacks(&mended(&[]), "db-1");
    for (counted, why) in [
        (0, "db-1 does not exist yet and is created first"),
        (5, "db-1 is not listed: if it does not exist, it is created first"),
    ] {
        let dump = changed(&dump, &[("db", "status replicas", json!(counted))]);
        shown("sts/db --replicas 3 --partial", dump).says(&[&format!("db-4 waits for db-1; …; {why}")]);
    }
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
