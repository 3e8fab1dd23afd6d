//! Jobs: what the program shows of them, and its flags. `judge/code` compares which pods go, and why, with Kubernetes' own syncs.

use crate::common::{JOB, STATEFUL_SET, Shown, all_pods, changed, dump, fails, owner, put, row, shown, uid};
use serde_json::{Value, json};

// An Indexed Job with 6 completions: index 3 twice, a pod with index 7, and one without.

const INDEX: &str = "metadata annotations batch.kubernetes.io/job-completion-index";

/// docs/workloads.md has the table.
#[test]
fn the_json_names_what_was_asked() {
    let shown = shown("job/import --parallelism 2", JOB);
    shown.says(&[
        "4 of 6 go, quota 0",
        "import-3-b; deleted; duplicate; index 3 has 2 pods, and one is enough",
    ]);
    let note = "note: kubectl get pods lists 1 more pod of Job default/import, which podrank does not count (1 ended)\n";
    assert_eq!(shown.notes, note);
    let expected = r#"{"kind":"Job","name":"import"} 2 false"#;
    assert_eq!(row(&shown.json, "{workload} {parallelism} {suspend}"), expected);
}

/// Four of the pods became ready and were created at the same time.
#[test]
fn ties_have_odds() {
    let mode = ("import", "spec completionMode", json!("NonIndexed"));
    let plain = changed(JOB, &[mode, ("import", "spec completions", json!(9))]);
    let shown = shown("job/import --parallelism 3", plain);
    shown.says(&["3 of 6 go, quota 1"]);
    let odds: Vec<_> = all_pods(&shown.json).map(|pod| row(pod, "{probability}")).collect();
    assert_eq!(odds, ["null", "null", "0.25", "0.25", "0.25", "0.25"]);
}

/// An elastic Indexed Job: both numbers fall together, and the highest indexes go.
#[test]
fn completions_and_parallelism_change_together() {
    let pods = ["import-1-a", "import-2-a", "import-3-a", "import-3-b", "import-7-a", "import-x"];
    let mut changes: Vec<_> =
        (0..).zip(pods).map(|(index, pod)| (pod, INDEX, json!(index.to_string()))).collect();
    changes.push(("import", "spec parallelism", json!(6)));
    changes.push(("import", "status", json!({})));
    changes.push(("import-0-a", "metadata finalizers", json!([])));
    let elastic = changed(JOB, &changes);
    let both = shown("job/import --completions 3 --parallelism 3", &elastic);
    assert_eq!(row(&both.json, "{completions} {parallelism} {deletions.max}"), "3 3 3");
    both.says(&[
        "import-3-b; deleted; beyond-completions; index 3 is not below the number of completions, 3",
    ]);
    // The completions do not change, so the parallelism may differ from them.
    shown("job/import --completions 6 --parallelism 4", &elastic).says(&["2 of 6 go, quota 0"]);
    fails(
        "job/import --completions 3",
        &elastic,
        "…\n  Its parallelism is 6.\n  Use --completions 3 --parallelism 3.",
    );
}

#[test]
fn no_pod_of_an_index_is_said_to_stay_if_all_go() {
    let same = changed(JOB, &[("Pod", INDEX, json!("0"))]);
    let duplicate = "…; deleted; duplicate; index 0 has 6 pods, and one is enough";
    shown("job/import --parallelism 0", same).says(&["6 of 6 go, …", duplicate]).lacks("stays");
}

#[test]
fn flags_belong_to_their_kind() {
    let replicas = "Job default/import has no replica count\n  Use --parallelism N or --suspend.";
    fails("job/import --replicas 2", JOB, replicas);
    let suspension = "…StatefulSet default/db is not a Job\n  Only a Job has a parallelism, has completions or can be suspended.";
    fails("sts/db --suspend", STATEFUL_SET, suspension);
    let bad = changed(JOB, &[("import", "spec completions", Value::Null)]);
    let missing = "…spec.completions is missing, although spec.completionMode is Indexed";
    fails("job/import --suspend", bad, missing);
}

/// A Job `import` without indexes, with this spec and status, and its active pods.
fn counted(spec: &Value, status: &Value, active: u32) -> Vec<Value> {
    let labels = json!({ "app": "import" });
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": "import", "namespace": "default", "uid": "import" },
        "spec": spec,
        "status": status,
    });
    put(&mut job, "spec selector", json!({ "matchLabels": labels }));
    let pod = |number| {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": format!("import-{number}"),
                "namespace": "default",
                "uid": uid(number),
                "labels": labels,
                "finalizers": ["batch.kubernetes.io/job-tracking"],
                "ownerReferences": owner("batch/v1", "Job", "import"),
            },
            "spec": { "nodeName": "a" },
            "status": { "phase": "Running" },
        })
    };
    [job].into_iter().chain((0..active).map(pod)).collect()
}

fn of_import(items: &[Value]) -> Shown {
    shown("job/import --rollout", dump(items))
}

/// Its controller adopts the pod, and counts it in the same sync.
#[test]
fn an_orphan_that_has_succeeded_counts() {
    let mut items = counted(&json!({ "parallelism": 3, "completions": 3 }), &json!({}), 4);
    put(&mut items[4], "metadata ownerReferences", json!([]));
    put(&mut items[4], "metadata finalizers", json!([]));
    put(&mut items[4], "status phase", json!("Succeeded"));
    of_import(&items).says(&["1 of 3 go, …", "…; 3 active pods, and 2 completions are left…"]);
    // Without a match, it does not.
    put(&mut items[4], "metadata labels app", json!("other"));
    of_import(&items).says(&["0 of 3 go, …"]);
}

#[test]
fn what_allows_fewer_pods_is_said() {
    let spec = json!({ "parallelism": 3, "completions": 5 });
    of_import(&counted(&spec, &json!({ "succeeded": 4 }), 2))
        .says(&["…; 2 active pods, and 1 completion is left…"]);
    let spec = json!({ "parallelism": 1, "completions": 5 });
    of_import(&counted(&spec, &json!({}), 2)).says(&["…; 2 active pods, and the parallelism allows 1…"]);
}

/// The API server sets both to 1.
#[test]
fn a_job_without_completions_and_parallelism_has_one_of_each() {
    of_import(&counted(&json!({}), &json!({ "succeeded": 1 }), 2)).says(&["2 of 2 go, …"]);
    of_import(&counted(&json!({ "parallelism": 2 }), &json!({ "succeeded": 1 }), 2)).says(&["0 of 2 go, …"]);
}

/// A Job that is being deleted neither releases nor claims a pod that its selector does not match.
#[test]
fn a_pod_without_the_labels_is_not_one_of_a_job_that_is_being_deleted() {
    let mut items = counted(&json!({ "parallelism": 2 }), &json!({}), 2);
    put(&mut items[0], "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    put(&mut items[1], "metadata labels app", json!("other"));
    of_import(&items).says(&["0 of 1 go, …"]).lacks("releases");
}
