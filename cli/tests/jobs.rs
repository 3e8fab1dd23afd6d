//! Jobs: what the program reads for the core's decision, which Kubernetes' own code judges, and what it shows.

mod common;

use common::{fails_with, pods, preview};
use serde_json::{Value, json};

/// An Indexed Job with 6 completions: index 3 twice, a pod with index 7, and one without.
const EXAMPLE: &str = include_str!("../../preview/examples/job.json");

/// The example, after a change of the Job and of its pods.
fn changed(change: impl Fn(&mut Value)) -> String {
    let mut list: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    list["items"].as_array_mut().expect("items").iter_mut().for_each(change);
    list.to_string()
}

/// The example, after a change of the Job.
fn job(change: impl Fn(&mut Value)) -> String {
    changed(|item| {
        if item["kind"] == "Job" {
            change(item);
        }
    })
}

#[test]
fn indexes_decide_first() {
    let (preview, stderr) = preview(&["job/import", "--parallelism", "2"], EXAMPLE);
    assert_eq!(stderr, "");
    assert_eq!(preview["workload"], json!({ "kind": "Job", "name": "import" }));
    assert_eq!((&preview["parallelism"], &preview["suspend"]), (&json!(2), &json!(false)));
    assert_eq!(
        (&preview["active"], &preview["delete"], &preview["quota"]),
        (&json!(6), &json!(4), &json!(0))
    );
    assert_eq!(
        pods(&preview),
        [
            "import-3-b; delete; duplicate; index 3 has 2 pods, and one is enough",
            "import-2-a; delete; surplus; 6 active pods, and 2 wanted",
            "import-7-a; delete; beyond-completions; index 7 is not below the completions, 6",
            "import-x; delete; no-index; it has no completion index",
            "import-1-a; keep; kept; 6 active pods, and 2 wanted",
            "import-3-a; keep; kept; index 3 keeps this pod",
        ]
    );
}

#[test]
fn ties_are_contested() {
    let plain = changed(|item| {
        if item["kind"] == "Job" {
            item["spec"]["completionMode"] = json!("NonIndexed");
            item["spec"]["completions"] = json!(9);
        }
    });
    // Four of the pods became ready and were created at the same time.
    let (preview, _) = preview(&["job/import", "--parallelism", "3"], &plain);
    assert_eq!((&preview["delete"], &preview["quota"]), (&json!(3), &json!(1)));
    let pods = pods(&preview);
    assert!(pods[0].starts_with("import-3-b; delete") && pods[1].starts_with("import-2-a; delete"));
    for pod in &pods[2..] {
        let why =
            "contested; surplus; 6 active pods, and 3 wanted: one of 4 pods of which 1 goes, by list order";
        assert!(pod.ends_with(why), "{pod}");
    }
}

#[test]
fn all_go_or_none() {
    let all = |args: &[&str], dump: &str, why: &str| {
        let (preview, _) = preview(&[&["job/import"], args].concat(), dump);
        assert_eq!(preview["delete"], json!(6));
        assert!(pods(&preview).iter().all(|pod| pod.ends_with(why)), "{:?}", pods(&preview));
    };
    all(&["--suspend"], EXAMPLE, "suspended; all pods of a suspended Job go");
    let conditions = |name: &str| json!([{ "type": name, "status": "True" }]);
    let failing = job(|job| job["status"]["conditions"] = conditions("FailureTarget"));
    all(&["--parallelism", "9"], &failing, "ending; the Job's end is decided, so all its pods go");
    let complete = job(|job| job["status"]["conditions"] = conditions("Complete"));
    let (preview, stderr) = preview(&["job/import", "--suspend"], &complete);
    assert_eq!(preview["delete"], json!(0));
    assert_eq!(stderr, "note: default Job/import is complete: its controller deletes no pods\n");
}

#[test]
fn no_pod_of_an_index_is_said_to_stay_if_all_go() {
    let same = changed(|item| {
        if item["kind"] == "Pod" {
            item["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = json!("0");
        }
    });
    let (preview, _) = preview(&["job/import", "--parallelism", "0"], &same);
    assert_eq!(preview["delete"], json!(6));
    let pods = pods(&preview);
    assert!(
        pods.iter().any(|pod| pod.ends_with("duplicate; index 0 has 6 pods, and one is enough")),
        "{pods:?}"
    );
    assert!(!pods.iter().any(|pod| pod.contains("stays")), "{pods:?}");
}

#[test]
fn another_controller_may_delete_pods() {
    let managed = job(|job| job["spec"]["managedBy"] = json!("example.com/kueue"));
    let (preview, stderr) = preview(&["job/import", "--suspend"], &managed);
    assert_eq!(preview["delete"], json!(0));
    assert_eq!(
        stderr,
        "note: default Job/import is managed by \"example.com/kueue\", so kube-controller-manager leaves it alone\n"
    );
}

/// What the status does not count yet counts all the same.
#[test]
fn successes_leave_less_to_do() {
    let stay = |dump: &str| {
        let (preview, _) = preview(&["job/import", "--parallelism", "9"], dump);
        6 - preview["delete"].as_u64().expect("a number")
    };
    // Five indexes are missing, and three of the pods work on one.
    assert_eq!(stay(EXAMPLE), 3);
    let more = job(|job| job["status"]["completedIndexes"] = json!("1-4"));
    // Index 0 has a succeeded pod that is not counted, so one index is missing.
    assert_eq!(stay(&more), 1);
    // It is counted once.
    let already = job(|job| job["status"]["completedIndexes"] = json!("0-4"));
    assert_eq!(stay(&already), 1);
    let counted = changed(|item| {
        if item["kind"] == "Job" {
            item["status"]["completedIndexes"] = json!("1-4");
        } else if item["metadata"]["name"] == "import-0-a" {
            item["metadata"]["finalizers"] = json!([]);
        }
    });
    assert_eq!(stay(&counted), 2);
}

/// Of a Job without indexes, pods that have succeeded count once: by number, by UID, or still to be counted.
#[test]
fn successes_of_a_job_without_indexes_count_once() {
    let stay = |uncounted: Value| {
        let plain = job(|job| {
            job["spec"]["completionMode"] = json!("NonIndexed");
            job["status"]["uncountedTerminatedPods"] = json!({ "succeeded": uncounted });
        });
        let (preview, _) = preview(&["job/import", "--parallelism", "9"], &plain);
        6 - preview["delete"].as_u64().expect("a number")
    };
    // Of six completions, one is counted, and import-0-a has succeeded since.
    assert_eq!(stay(json!([])), 4);
    let example: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let items = example["items"].as_array().expect("items");
    let its = items.iter().find(|item| item["metadata"]["name"] == "import-0-a").expect("a pod");
    assert_eq!(stay(json!([its["metadata"]["uid"]])), 4);
    assert_eq!(stay(json!(["5a3f0c1e-0000-4000-8000-00000000ffff"])), 3);
}

#[test]
fn completed_indexes_beyond_the_completions_count_for_nothing() {
    let wanted = |indexes: &str| {
        let done = job(|job| job["status"]["completedIndexes"] = json!(indexes));
        let (preview, _) = preview(&["job/import", "--parallelism", "9"], &done);
        preview["pods"].to_string()
    };
    assert_eq!(wanted("0,2-9"), wanted("0,2-5"));
    assert_eq!(wanted("0,6-9"), wanted("0"));
    assert_ne!(wanted("0,2-5"), wanted("0"));
}

/// Which pods a Job's controller prefers is not for podrank's label to say.
#[test]
fn the_label_of_the_total_order_means_nothing_here() {
    let labelled = changed(|item| {
        if item["kind"] == "Pod" && item["metadata"]["name"] == "import-1-a" {
            item["metadata"]["labels"]["kubernetes.io/prefer-for-scale-down"] = json!("true");
        }
    });
    let args = ["job/import", "--parallelism", "2"];
    assert_eq!(pods(&preview(&args, &labelled).0), pods(&preview(&args, EXAMPLE).0));
}

#[test]
fn flags_belong_to_their_kind() {
    fails_with(
        &["job/import", "--replicas", "2"],
        EXAMPLE,
        "default Job/import has no replicas: use --parallelism N or --suspend",
    );
    let set = include_str!("../../preview/examples/stateful-set.json");
    fails_with(
        &["sts/db", "--suspend"],
        set,
        "StatefulSet/db is not a Job, so it has neither a parallelism nor a suspension",
    );
    let bad = job(|job| drop(job["spec"].as_object_mut().expect("a spec").remove("completions")));
    fails_with(
        &["job/import", "--suspend"],
        &bad,
        "spec.completions is missing, although spec.completionMode is Indexed",
    );
}
