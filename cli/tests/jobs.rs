//! Jobs: what the program reads for the core's decision, which Kubernetes' own code judges, and what it shows.

use crate::common::{Change, JOB, STATEFUL_SET, changed, fails, items, list, pods, row, shown};
use serde_json::{Value, json};
use std::collections::BTreeSet;

// An Indexed Job with 6 completions: index 3 twice, a pod with index 7, and one without.

const INDEX: &str = "metadata annotations batch.kubernetes.io/job-completion-index";

fn job(place: &str, value: Value) -> Change<'_> {
    ("import", place, value)
}

fn without_indexes() -> Change<'static> {
    job("spec completionMode", json!("NonIndexed"))
}

/// The example, after these changes.
fn example(changes: &[Change<'_>]) -> String {
    changed(JOB, changes)
}

#[test]
fn indexes_decide_first() {
    let shown = shown("job/import --parallelism 2", JOB);
    shown.says(&[
        "4 of 6 go, quota 0",
        "import-3-b; delete; duplicate; index 3 has 2 pods, and one is enough",
        "import-2-a; delete; surplus; 6 active pods, and 2 wanted",
        "import-7-a; delete; beyond-completions; index 7 is not below the completions, 6",
        "import-x; delete; no-index; it has no completion index",
        "import-1-a; keep; kept; 2 of 6 active pods stay",
        "import-3-a; keep; kept; index 3 keeps this pod",
    ]);
    assert_eq!(shown.notes, "");
    let expected = r#"{"kind":"Job","name":"import"} 2 false"#;
    assert_eq!(row(&shown.json, "{workload} {parallelism} {suspend}"), expected);
}

#[test]
fn ties_are_contested() {
    let plain = example(&[without_indexes(), job("spec completions", json!(9))]);
    // Four of the pods became ready and were created at the same time.
    let tie =
        "…; contested; surplus; 6 active pods, and 3 wanted: one of 4 pods of which 1 goes, by list order";
    let shown = shown("job/import --parallelism 3", plain);
    shown.says(&["3 of 6 go, quota 1", "import-3-b; delete; …", "import-2-a; delete; …", tie, tie, tie, tie]);
    let odds: Vec<_> = list(&shown.json["pods"]).map(|pod| row(pod, "{odds}")).collect();
    assert_eq!(odds, ["null", "null", "0.25", "0.25", "0.25", "0.25"]);
}

/// The preview of the Job as it is, at noon, after these changes: what is said of the pods that go, if it is the same of all
/// active ones, and what the notes say.
fn end(changes: &[Change<'_>]) -> (Option<String>, String) {
    let shown = shown("job/import --rollout --partial", example(changes));
    let said: Vec<_> = pods(&shown.json);
    let why: BTreeSet<_> =
        said.iter().map(|pod| pod.split_once("; ").expect("a name").1.to_owned()).collect();
    let only = why.first().filter(|_| why.len() == 1).cloned();
    assert!(only.is_none() || shown.json["delete"] == shown.json["active"], "{shown}");
    (only, shown.notes)
}

/// Asserts that the Job ends for this reason, if there is one.
#[track_caller]
fn ends(changes: &[Change<'_>], why: Option<&str>) {
    assert_eq!(end(changes).0, why.map(|why| format!("delete; {why}")), "{changes:?}");
}

/// Each limit, and one step before it.
#[test]
fn a_sync_that_ends_the_job_takes_all_its_pods() {
    // Failures, by the status and since.
    let failed = |count: u32| job("status failed", json!(count));
    let fails = ("import-2-a", "status phase", json!("Failed"));
    let uncounted = |uid: &Value| job("status uncountedTerminatedPods", json!({ "failed": [uid] }));
    let example = items(JOB);
    let its = example.iter().find(|item| item["metadata"]["name"] == "import-2-a").expect("a pod");
    let goes = ("import-2-a", "metadata deletionTimestamp", json!("2026-03-10T11:59:00Z"));
    let seven = Some("backoff-limit; 7 failures exceed backoffLimit 6");
    ends(&[failed(6)], None);
    ends(&[failed(7)], seven);
    ends(&[failed(6), fails.clone()], seven);
    ends(&[failed(6), uncounted(&json!("5a3f0c1e-0000-4000-8000-00000000ffff"))], seven);
    // A pod that the status lists counts once.
    ends(&[failed(6), uncounted(&its["metadata"]["uid"]), fails.clone()], seven);
    // One that goes counts, unless its replacement waits for its end.
    ends(&[failed(6), goes.clone()], seven);
    ends(&[failed(6), goes, job("spec podReplacementPolicy", json!("Failed"))], None);
    // A limit per index takes the other limit away.
    ends(&[failed(7), job("spec backoffLimitPerIndex", json!(9))], None);
    let one = Some("backoff-limit; 1 failure exceeds backoffLimit 0");
    ends(&[failed(1), job("spec backoffLimit", json!(0))], one);

    // Restarts.
    let restarted = |name: &str| json!({ "name": name, "restartCount": 1 });
    let restarts = [
        ("import-2-a", "status containerStatuses", json!([restarted("a"), restarted("b")])),
        ("import-2-a", "status initContainerStatuses", json!([restarted("c")])),
    ];
    let policy = |policy: &str, limit: u32| {
        let template = json!({ "spec": { "restartPolicy": policy } });
        [job("spec backoffLimit", json!(limit)), job("spec template", template)]
    };
    let three = Some("restarts; 3 restarts, and backoffLimit is 3");
    ends(&[&policy("OnFailure", 3)[..], &restarts].concat(), three);
    ends(&[&policy("OnFailure", 4)[..], &restarts].concat(), None);
    ends(&policy("OnFailure", 0), None);
    ends(&[&policy("Never", 3)[..], &restarts].concat(), None);

    // Indexes. import-0-a has succeeded.
    let count = "metadata annotations batch.kubernetes.io/job-index-failure-count";
    let twice = ("import-2-a", count, json!("1"));
    let per_index = |most: Value, failed: Value, others: &[Change<'_>], why| {
        let limits = [job("spec backoffLimitPerIndex", json!(1)), job("spec maxFailedIndexes", most)];
        ends(&[&limits[..], &[job("status failedIndexes", failed)], others].concat(), why);
    };
    let two = Some("max-failed-indexes; 2 indexes failed, and maxFailedIndexes is 1");
    per_index(json!(2), json!("1,4"), &[], None);
    per_index(json!(1), json!("1,4"), &[], two);
    let one = Some("max-failed-indexes; 1 index failed, and maxFailedIndexes is 0");
    per_index(json!(0), Value::Null, std::slice::from_ref(&fails), None);
    per_index(json!(0), Value::Null, &[fails, twice], one);
    let all = Some("failed-indexes; 5 indexes failed, and the other 1 succeeded");
    per_index(Value::Null, json!("1-4"), &[], None);
    per_index(Value::Null, json!("1-5"), &[], all);
}

#[test]
fn policies_end_a_job() {
    let terminated = json!([{ "name": "main", "state": { "terminated": { "exitCode": 42 } } }]);
    let failed = [
        ("import-2-a", "status phase", json!("Failed")),
        ("import-2-a", "status containerStatuses", terminated),
        ("import-2-a", "status conditions", json!([{ "type": "DisruptionTarget", "status": "True" }])),
    ];
    let ends = |action: &str, mut rule: Value, others: &[Change<'_>], why| {
        rule["action"] = json!(action);
        let rules = json!({ "rules": [{ "action": "FailJob", "onPodConditions": [] }, rule] });
        ends(&[&failed[..], &[job("spec podFailurePolicy", rules)], others].concat(), why);
    };
    let codes =
        |operator: &str, codes: &[u8]| json!({ "onExitCodes": { "operator": operator, "values": codes } });
    let of = "podFailurePolicy.rules[1] fails the Job";
    let code = format!("pod-failure-policy; import-2-a failed with exit code 42, and {of}");
    ends("FailJob", codes("In", &[1, 42]), &[], Some(&*code));
    ends("FailJob", codes("In", &[1]), &[], None);
    ends("FailJob", codes("NotIn", &[1]), &[], Some(&*code));
    ends("Count", codes("NotIn", &[1]), &[], None);
    let other = json!({ "onExitCodes": { "operator": "In", "values": [42], "containerName": "other" } });
    ends("FailJob", other, &[], None);
    let condition =
        format!("pod-failure-policy; import-2-a failed with the condition DisruptionTarget=True, and {of}");
    ends("FailJob", json!({ "onPodConditions": [{ "type": "DisruptionTarget" }] }), &[], Some(&*condition));
    let is_false = json!({ "onPodConditions": [{ "type": "DisruptionTarget", "status": "False" }] });
    ends("FailJob", is_false, &[], None);
    // What a rule ignores is no failure.
    let none = [job("spec backoffLimit", json!(0))];
    ends("Ignore", codes("In", &[42]), &none, None);
    ends("Count", codes("In", &[42]), &none, Some("backoff-limit; 1 failure exceeds backoffLimit 0"));
}

#[test]
fn a_success_policy_ends_a_job() {
    // import-0-a has succeeded, and the status has index 0, too.
    let met = Some("success-policy; 1 index succeeded, which meets successPolicy.rules[1]");
    for (rule, expected) in [
        (json!({ "succeededCount": 1 }), met),
        (json!({ "succeededCount": 2 }), None),
        (json!({ "succeededIndexes": "0" }), met),
        (json!({ "succeededIndexes": "0-2" }), None),
        (json!({ "succeededIndexes": "0-2", "succeededCount": 1 }), met),
        (json!({ "succeededIndexes": "1-2", "succeededCount": 1 }), None),
    ] {
        let policy = json!({ "rules": [{ "succeededIndexes": "5" }, rule] });
        ends(&[job("spec successPolicy", policy)], expected);
    }
}

/// `shown` asks at noon.
#[test]
fn a_deadline_ends_a_job_when_it_passes() {
    let overflow = "activeDeadlineSeconds 10000000000 overflows in Kubernetes, so the deadline has passed";
    for (start, seconds, expected) in [
        ("11:59:30", 60_i64, Err("30s")),
        ("11:00:01", 3_600, Err("1s")),
        ("11:00:00", 3_600, Ok("the deadline of 3600 s passed 0s ago")),
        ("11:58:55", 60, Ok("the deadline of 60 s passed 5s ago")),
        ("11:58:55", 10_000_000_000, Ok(overflow)),
    ] {
        let expected = match expected {
            Ok(why) => (Some(format!("delete; deadline; {why}")), String::new()),
            Err(left) => {
                let passes = format!("passes in {left}, and then all its active pods go");
                (None, format!("note: the deadline of default Job/import {passes}\n"))
            }
        };
        let start = json!(format!("2026-03-10T{start}Z"));
        let changes = [job("spec activeDeadlineSeconds", json!(seconds)), job("status startTime", start)];
        assert_eq!(end(&changes), expected, "{changes:?}");
    }
    // None passes while the Job is suspended.
    let suspended = end(&[
        job("spec activeDeadlineSeconds", json!(60)),
        job("spec suspend", json!(true)),
        job("status startTime", json!("2026-03-10T11:58:55Z")),
    ]);
    let why = "delete; suspended; all pods of a suspended Job go".to_owned();
    assert_eq!(suspended, (Some(why), String::new()));
}

/// An elastic Indexed Job: both numbers fall together, and the highest indexes go.
#[test]
fn completions_and_parallelism_change_together() {
    let elastic = example(&[
        job("spec parallelism", json!(6)),
        job("status", json!({})),
        ("import-1-a", INDEX, json!("0")),
        ("import-2-a", INDEX, json!("1")),
        ("import-3-a", INDEX, json!("2")),
        ("import-3-b", INDEX, json!("3")),
        ("import-7-a", INDEX, json!("4")),
        ("import-x", INDEX, json!("5")),
        ("import-0-a", "metadata finalizers", json!([])),
    ]);
    let both = shown("job/import --completions 3 --parallelism 3", &elastic);
    assert_eq!(row(&both.json, "{completions} {parallelism} {delete}"), "3 3 3");
    for (pod, index) in [("import-3-b", 3), ("import-7-a", 4), ("import-x", 5)] {
        let why = format!("index {index} is not below the completions, 3");
        both.says(&[&format!("{pod}; delete; beyond-completions; {why}")]);
    }
    // The same number needs no other, and is no change.
    shown("job/import --completions 6 --parallelism 4", &elastic).says(&["2 of 6 go, quota 0"]);
    fails("job/import --completions 3", &elastic, "…which is 6: use --completions 3 --parallelism 3");
}

#[test]
fn no_pod_of_an_index_is_said_to_stay_if_all_go() {
    let same = example(&[("Pod", INDEX, json!("0"))]);
    let duplicate = "…; delete; duplicate; index 0 has 6 pods, and one is enough";
    shown("job/import --parallelism 0", same).says(&["6 of 6 go, …", duplicate]).lacks("stays");
}

/// What the status does not count yet counts all the same.
#[test]
fn successes_leave_less_to_do() {
    let stay = |changes: &[Change<'_>], stay: u32| {
        shown("job/import --parallelism 9", example(changes)).says(&[&format!("{} of 6 go, …", 6 - stay)]);
    };
    let completed = |indexes: &str| job("status completedIndexes", json!(indexes));
    // Five indexes are missing, and three of the pods work on one.
    stay(&[], 3);
    // Index 0 has a succeeded pod that is not counted, so one index is missing. It is counted once.
    stay(&[completed("1-4")], 1);
    stay(&[completed("0-4")], 1);
    stay(&[completed("1-4"), ("import-0-a", "metadata finalizers", json!([]))], 2);
    // Of a Job without indexes, pods that have succeeded count once: by number, by UID, or still to be counted. Of six
    // completions, one is counted, and import-0-a has succeeded since.
    let uncounted = |uids: Value| job("status uncountedTerminatedPods", json!({ "succeeded": uids }));
    let example = items(JOB);
    let its = example.iter().find(|item| item["metadata"]["name"] == "import-0-a").expect("a pod");
    stay(&[without_indexes(), uncounted(json!([]))], 4);
    stay(&[without_indexes(), uncounted(json!([its["metadata"]["uid"]]))], 4);
    stay(&[without_indexes(), uncounted(json!(["5a3f0c1e-0000-4000-8000-00000000ffff"]))], 3);
}

#[test]
fn completed_indexes_beyond_the_completions_count_for_nothing() {
    let wanted = |indexes: &str| {
        let done = example(&[job("status completedIndexes", json!(indexes))]);
        list(&shown("job/import --parallelism 9", done).json["pods"])
            .map(Value::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(wanted("0,2-9"), wanted("0,2-5"));
    assert_eq!(wanted("0,6-9"), wanted("0"));
    assert_ne!(wanted("0,2-5"), wanted("0"));
}

/// Which pods a Job's controller prefers is not for podrank's label to say.
#[test]
fn the_label_of_the_total_order_means_nothing_here() {
    let label = "metadata labels kubernetes.io/prefer-for-scale-down";
    let labelled = shown("job/import --parallelism 2", example(&[("import-1-a", label, json!("true"))]));
    assert_eq!(labelled.lines, shown("job/import --parallelism 2", JOB).lines);
}

#[test]
fn flags_belong_to_their_kind() {
    let replicas = "default Job/import has no replicas: use --parallelism N or --suspend";
    fails("job/import --replicas 2", JOB, replicas);
    let suspension = "…StatefulSet/db is not a Job, so it has no parallelism, completions or suspension";
    fails("sts/db --suspend", STATEFUL_SET, suspension);
    let bad = example(&[job("spec completions", Value::Null)]);
    let missing = "…spec.completions is missing, although spec.completionMode is Indexed";
    fails("job/import --suspend", bad, missing);
}
