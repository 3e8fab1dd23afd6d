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
    all(&["--parallelism", "9"], &failing, "ending; the condition FailureTarget is true, so all pods go");
    let complete = job(|job| job["status"]["conditions"] = conditions("Complete"));
    let (preview, stderr) = preview(&["job/import", "--suspend"], &complete);
    assert_eq!(preview["delete"], json!(0));
    assert_eq!(stderr, "note: default Job/import is complete: its controller deletes no pods\n");
}

/// The preview of the Job as it is, at noon, after this change of its spec and its status: what is said of the pods that go, if
/// it is the same of all active ones, and what the notes say.
fn end(spec: &Value, status: &Value, change: impl Fn(&mut Value)) -> (Option<String>, String) {
    let dump = changed(|item| {
        if item["kind"] == "Job" {
            for (part, fields) in [("spec", spec), ("status", status)] {
                for (name, value) in fields.as_object().expect("an object") {
                    item[part][name] = value.clone();
                }
            }
        } else {
            change(item);
        }
    });
    let (preview, stderr) = preview(&["job/import", "--rollout", "--partial"], &dump);
    let why: std::collections::BTreeSet<_> =
        pods(&preview).iter().map(|pod| pod.split_once("; ").expect("a name").1.to_owned()).collect();
    let only = why.first().filter(|_| why.len() == 1).cloned();
    if only.is_some() {
        assert_eq!(preview["delete"], preview["active"]);
    }
    (only, stderr)
}

/// Marks a pod.
fn with(name: &'static str, status: Value) -> impl Fn(&mut Value) {
    move |pod| {
        if pod["metadata"]["name"] == name {
            for (field, value) in status.as_object().expect("an object") {
                pod["status"][field] = value.clone();
            }
        }
    }
}

/// Each limit and policy, and one step before it.
#[test]
fn a_sync_that_ends_the_job_takes_all_its_pods() {
    let why = |spec: Value, status: Value, change: &dyn Fn(&mut Value)| end(&spec, &status, change).0;
    let same = |_: &mut Value| {};
    let none = json!({});
    // Failures, by the status and since.
    assert_eq!(why(none.clone(), json!({ "failed": 6 }), &same), None);
    let ended = Some("delete; backoff-limit; 7 failures exceed backoffLimit 6".to_owned());
    assert_eq!(why(none.clone(), json!({ "failed": 7 }), &same), ended);
    let failed = with("import-2-a", json!({ "phase": "Failed" }));
    assert_eq!(why(none.clone(), json!({ "failed": 6 }), &failed), ended);
    let uncounted = |uid: &str| json!({ "failed": 6, "uncountedTerminatedPods": { "failed": [uid] } });
    assert_eq!(why(none.clone(), uncounted("5a3f0c1e-0000-4000-8000-00000000ffff"), &same), ended);
    // A pod that the status lists counts once.
    let example: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let items = example["items"].as_array().expect("items");
    let its = items.iter().find(|item| item["metadata"]["name"] == "import-2-a").expect("a pod");
    assert_eq!(why(none.clone(), uncounted(its["metadata"]["uid"].as_str().expect("a UID")), &failed), ended);
    // One that goes counts, unless its replacement waits for its end.
    let goes = |pod: &mut Value| {
        if pod["metadata"]["name"] == "import-2-a" {
            pod["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
        }
    };
    assert_eq!(why(none.clone(), json!({ "failed": 6 }), &goes), ended);
    assert_eq!(why(json!({ "podReplacementPolicy": "Failed" }), json!({ "failed": 6 }), &goes), None);
    // A limit per index takes the other limit away.
    assert_eq!(why(json!({ "backoffLimitPerIndex": 9 }), json!({ "failed": 7 }), &same), None);
    assert_eq!(
        why(json!({ "backoffLimit": 0 }), json!({ "failed": 1 }), &same).as_deref(),
        Some("delete; backoff-limit; 1 failure exceeds backoffLimit 0")
    );

    // Restarts.
    let restarted = |pod: &mut Value| {
        if pod["metadata"]["name"] == "import-2-a" {
            pod["status"]["containerStatuses"] =
                json!([{ "name": "a", "restartCount": 1 }, { "name": "b", "restartCount": 1 }]);
            pod["status"]["initContainerStatuses"] = json!([{ "name": "c", "restartCount": 1 }]);
        }
    };
    let policy = |policy: &str, limit: i32| json!({ "backoffLimit": limit, "template": { "spec": { "restartPolicy": policy } } });
    assert_eq!(
        why(policy("OnFailure", 3), none.clone(), &restarted).as_deref(),
        Some("delete; restarts; 3 restarts, and backoffLimit is 3")
    );
    assert_eq!(why(policy("OnFailure", 4), none.clone(), &restarted), None);
    assert_eq!(why(policy("OnFailure", 0), none.clone(), &same), None);
    assert_eq!(why(policy("Never", 3), none.clone(), &restarted), None);

    // Indexes. import-0-a has succeeded.
    let per_index = |most: Value| json!({ "backoffLimitPerIndex": 1, "maxFailedIndexes": most });
    assert_eq!(why(per_index(json!(2)), json!({ "failedIndexes": "1,4" }), &same), None);
    assert_eq!(
        why(per_index(json!(1)), json!({ "failedIndexes": "1,4" }), &same).as_deref(),
        Some("delete; max-failed-indexes; 2 indexes failed, and maxFailedIndexes is 1")
    );
    let twice = |pod: &mut Value| {
        failed(pod);
        if pod["metadata"]["name"] == "import-2-a" {
            pod["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] = json!("1");
        }
    };
    assert_eq!(why(per_index(json!(0)), none.clone(), &failed), None);
    assert_eq!(
        why(per_index(json!(0)), none.clone(), &twice).as_deref(),
        Some("delete; max-failed-indexes; 1 index failed, and maxFailedIndexes is 0")
    );
    assert_eq!(why(per_index(Value::Null), json!({ "failedIndexes": "1-4" }), &same), None);
    assert_eq!(
        why(per_index(Value::Null), json!({ "failedIndexes": "1-5" }), &same).as_deref(),
        Some("delete; failed-indexes; 5 indexes failed, and the other 1 succeeded")
    );
}

#[test]
fn policies_end_a_job() {
    let why = |spec: Value, change: &dyn Fn(&mut Value)| end(&spec, &json!({}), change).0;
    let failed = with(
        "import-2-a",
        json!({ "phase": "Failed", "containerStatuses": [{ "name": "main", "state": { "terminated": { "exitCode": 42 } } }],
            "conditions": [{ "type": "DisruptionTarget", "status": "True" }] }),
    );
    let rule = |action: &str, matches: Value| {
        let mut rule = matches;
        rule["action"] = json!(action);
        json!({ "podFailurePolicy": { "rules": [{ "action": "FailJob", "onPodConditions": [] }, rule] } })
    };
    let codes =
        |operator: &str, values: Value| json!({ "onExitCodes": { "operator": operator, "values": values } });
    let ended = "delete; pod-failure-policy; import-2-a failed with exit code 42, and podFailurePolicy.rules[1] fails the Job";
    for (policy, expected) in [
        (rule("FailJob", codes("In", json!([1, 42]))), Some(ended)),
        (rule("FailJob", codes("In", json!([1]))), None),
        (rule("FailJob", codes("NotIn", json!([1]))), Some(ended)),
        (rule("Count", codes("NotIn", json!([1]))), None),
        (
            rule(
                "FailJob",
                json!({ "onExitCodes": { "operator": "In", "values": [42], "containerName": "other" } }),
            ),
            None,
        ),
        (
            rule("FailJob", json!({ "onPodConditions": [{ "type": "DisruptionTarget" }] })),
            Some(
                "delete; pod-failure-policy; import-2-a failed with the condition DisruptionTarget=True, and \
                 podFailurePolicy.rules[1] fails the Job",
            ),
        ),
        (
            rule(
                "FailJob",
                json!({ "onPodConditions": [{ "type": "DisruptionTarget", "status": "False" }] }),
            ),
            None,
        ),
    ] {
        assert_eq!(why(policy.clone(), &failed).as_deref(), expected, "{policy}");
    }
    // What a rule ignores is no failure.
    let mut ignored = rule("Ignore", codes("In", json!([42])));
    ignored["backoffLimit"] = json!(0);
    assert_eq!(why(ignored.clone(), &failed), None);
    ignored["podFailurePolicy"]["rules"][1]["action"] = json!("Count");
    assert_eq!(
        why(ignored, &failed).as_deref(),
        Some("delete; backoff-limit; 1 failure exceeds backoffLimit 0")
    );

    // import-0-a has succeeded, and the status has index 0, too.
    let success = |rule: Value| json!({ "successPolicy": { "rules": [{ "succeededIndexes": "5" }, rule] } });
    let met = Some("delete; success-policy; 1 index succeeded, which meets successPolicy.rules[1]");
    let same = |_: &mut Value| {};
    for (rule, expected) in [
        (json!({ "succeededCount": 1 }), met),
        (json!({ "succeededCount": 2 }), None),
        (json!({ "succeededIndexes": "0" }), met),
        (json!({ "succeededIndexes": "0-2" }), None),
        (json!({ "succeededIndexes": "0-2", "succeededCount": 1 }), met),
        (json!({ "succeededIndexes": "1-2", "succeededCount": 1 }), None),
    ] {
        assert_eq!(why(success(rule.clone()), &same).as_deref(), expected, "{rule}");
    }
}

/// `preview` asks at noon.
#[test]
fn a_deadline_ends_a_job_when_it_passes() {
    let at = |start: &str, seconds: i64| {
        end(&json!({ "activeDeadlineSeconds": seconds }), &json!({ "startTime": start }), |_| {})
    };
    let passes = |left: &str| {
        format!(
            "note: the deadline of default Job/import passes in {left}, and then all its active pods go\n"
        )
    };
    assert_eq!(at("2026-03-10T11:59:30Z", 60), (None, passes("30s")));
    assert_eq!(at("2026-03-10T11:00:01Z", 3_600), (None, passes("1s")));
    let ended = |why: &str| (Some(format!("delete; deadline; {why}")), String::new());
    assert_eq!(at("2026-03-10T11:00:00Z", 3_600), ended("the deadline of 3600 s passed 0s ago"));
    assert_eq!(at("2026-03-10T11:58:55Z", 60), ended("the deadline of 60 s passed 5s ago"));
    let overflow = "activeDeadlineSeconds 10000000000 overflows in Kubernetes, so the deadline has passed";
    assert_eq!(at("2026-03-10T11:58:55Z", 10_000_000_000), ended(overflow));
    // None passes while the Job is suspended.
    let (why, notes) = end(
        &json!({ "activeDeadlineSeconds": 60, "suspend": true }),
        &json!({ "startTime": "2026-03-10T11:58:55Z" }),
        |_| {},
    );
    assert_eq!((why.as_deref(), &*notes), (Some("delete; suspended; all pods of a suspended Job go"), ""));
}

/// An elastic Indexed Job: both numbers fall together, and the highest indexes go.
#[test]
fn completions_and_parallelism_change_together() {
    let elastic = changed(|item| {
        let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let indexes = [
            ("import-1-a", "0"),
            ("import-2-a", "1"),
            ("import-3-a", "2"),
            ("import-3-b", "3"),
            ("import-7-a", "4"),
            ("import-x", "5"),
        ];
        if item["kind"] == "Job" {
            item["spec"]["parallelism"] = json!(6);
            item["status"] = json!({});
        } else if let Some((_, index)) = indexes.iter().find(|(pod, _)| *pod == name) {
            item["metadata"]["annotations"] = json!({ "batch.kubernetes.io/job-completion-index": index });
        } else {
            item["metadata"]["finalizers"] = json!([]);
        }
    });
    let (both, _) = preview(&["job/import", "--completions", "3", "--parallelism", "3"], &elastic);
    assert_eq!(
        (&both["completions"], &both["parallelism"], &both["delete"]),
        (&json!(3), &json!(3), &json!(3))
    );
    let mut gone: Vec<_> = pods(&both).into_iter().filter(|pod| pod.contains("delete")).collect();
    gone.sort();
    assert_eq!(
        gone,
        [
            "import-3-b; delete; beyond-completions; index 3 is not below the completions, 3",
            "import-7-a; delete; beyond-completions; index 4 is not below the completions, 3",
            "import-x; delete; beyond-completions; index 5 is not below the completions, 3",
        ]
    );
    // The same number needs no other, and is no change.
    let (same, _) = preview(&["job/import", "--completions", "6", "--parallelism", "4"], &elastic);
    assert_eq!(same["delete"], json!(2));
    fails_with(
        &["job/import", "--completions", "3"],
        &elastic,
        "default Job/import: Kubernetes lets completions change only to the same number as parallelism, which is 6: use \
         --completions 3 --parallelism 3",
    );
    let plain = job(|job| job["spec"]["completionMode"] = json!("NonIndexed"));
    fails_with(
        &["job/import", "--completions", "3", "--parallelism", "3"],
        &plain,
        "default Job/import is not Indexed, so Kubernetes does not let its completions change: use --parallelism N alone, or \
         create another Job",
    );
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
        "StatefulSet/db is not a Job, so it has no parallelism, completions or suspension",
    );
    let bad = job(|job| drop(job["spec"].as_object_mut().expect("a spec").remove("completions")));
    fails_with(
        &["job/import", "--suspend"],
        &bad,
        "spec.completions is missing, although spec.completionMode is Indexed",
    );
}
