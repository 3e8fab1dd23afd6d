//! `StatefulSets`: what the program reads for the core's decision, which Kubernetes' own code judges, and what it shows.

mod common;

use common::{PROGRAM, fails, fails_with, preview, run};
use serde_json::{Value, json};
use std::process::Command;

const EXAMPLE: &str = include_str!("../../preview/examples/stateful-set.json");

/// The example, after a change: five pods, of which `db-1` is not ready.
fn changed(change: impl FnOnce(&mut Dump)) -> String {
    let list: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let mut dump = Dump(list["items"].as_array().expect("items").clone());
    change(&mut dump);
    json!({ "apiVersion": "v1", "kind": "List", "items": dump.0 }).to_string()
}

struct Dump(Vec<Value>);

impl Dump {
    fn get(&mut self, kind: &str, name: &str) -> &mut Value {
        let is_meant = |item: &&mut Value| item["kind"] == kind && item["metadata"]["name"] == name;
        self.0.iter_mut().find(is_meant).expect("it is in the example")
    }

    fn set(&mut self) -> &mut Value {
        self.get("StatefulSet", "db")
    }

    fn pod(&mut self, name: &str) -> &mut Value {
        self.get("Pod", name)
    }

    fn mend(&mut self) {
        self.pod("db-1")["status"]["conditions"][0]["status"] = json!("True");
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|item| item["metadata"]["name"] != name);
        self.set()["status"]["replicas"] = json!(0);
    }
}

/// Name, verdict and rule of each pod.
fn pods(preview: &Value) -> Vec<(&str, &str, &str)> {
    fn text(value: &Value) -> &str {
        value.as_str().expect("a text")
    }
    let pods = preview["pods"].as_array().expect("pods");
    pods.iter().map(|pod| (text(&pod["name"]), text(&pod["verdict"]), text(&pod["rule"]))).collect()
}

#[test]
fn a_broken_ordinal_is_named() {
    let (preview, _) = preview(&["sts/db", "--replicas", "3"], EXAMPLE);
    assert_eq!(preview["workload"], json!({ "kind": "StatefulSet", "name": "db" }));
    assert_eq!(
        (&preview["delete"], &preview["active"], &preview["replicas"]),
        (&json!(0), &json!(5), &json!(3))
    );
    let why = "db-1 is not ready";
    assert_eq!(
        preview["blocked"],
        json!([
            { "name": "db-4", "by": "db-1", "rule": "waits-for-ready", "why": why },
            { "name": "db-3", "by": "db-1", "rule": "waits-for-ready", "why": why },
        ])
    );
    assert_eq!(
        pods(&preview),
        [
            ("db-4", "blocked", "waits-for-ready"),
            ("db-3", "blocked", "waits-for-ready"),
            ("db-2", "keep", "in-range"),
            ("db-1", "keep", "in-range"),
            ("db-0", "keep", "in-range")
        ]
    );
    assert_eq!(
        preview["featureGates"],
        json!({ "MaxUnavailableStatefulSet": true, "StatefulSetRecreateStrategy": false })
    );
}

#[test]
fn the_table_says_who_waits_for_whom() {
    let (status, table, notes) = run(&["sts/db", "--replicas", "3"], EXAMPLE);
    assert_eq!((status, &*notes), (Some(0), ""));
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(
        lines[0],
        "0 of 5 active pods of StatefulSet default/db go in the next step, 2 wait at --replicas 3 --now \
         2026-03-10T12:00:00Z --order kubernetes"
    );
    assert!(
        lines[3].starts_with("1  blocked  db-4  node-1  120m  waits-for-ready  db-1 is not ready"),
        "{table}"
    );
    assert!(lines.last().expect("lines").ends_with("in-range         ordinal 0 is within 0 to 2"), "{table}");
}

#[test]
fn with_it_mended_one_pod_goes_at_a_time() {
    let (preview, notes) = preview(&["sts/db", "--replicas", "3"], &changed(Dump::mend));
    assert_eq!(
        pods(&preview)[..2],
        [("db-4", "delete", "out-of-range"), ("db-3", "blocked", "one-at-a-time")]
    );
    assert_eq!(preview["pods"][0]["why"], "ordinal 4 is beyond 2");
    assert_eq!(notes, "note: this is only the next step: later ones may take the pod that waits now\n");
    let (_, names, _) = run(&["sts/db", "--replicas", "3", "-o", "name"], &changed(Dump::mend));
    assert_eq!(names, "pod/db-4\n");
    // The only workload with pods needs no name.
    let (_, names, _) = run(&["--replicas", "3", "-o", "name"], &changed(Dump::mend));
    assert_eq!(names, "pod/db-4\n");
}

#[test]
fn parallel_takes_all_and_a_partition_counts_from_the_start() {
    let parallel = changed(|dump| dump.set()["spec"]["podManagementPolicy"] = json!("Parallel"));
    let (scaled, _) = preview(&["sts/db", "--replicas", "1"], &parallel);
    assert_eq!((&scaled["delete"], &scaled["blocked"]), (&json!(4), &json!([])));

    let update = changed(|dump| {
        dump.mend();
        dump.set()["status"]["updateRevision"] = json!("db-3");
        dump.set()["spec"]["ordinals"] = json!({ "start": 1 });
        dump.set()["spec"]["replicas"] = json!(4);
        dump.set()["spec"]["updateStrategy"]["rollingUpdate"] =
            json!({ "partition": 2, "maxUnavailable": "50%" });
        dump.remove("db-0");
    });
    let (updated, notes) = preview(&["sts/db", "--rollout"], &update);
    assert_eq!(
        pods(&updated),
        [
            ("db-4", "delete", "old"),
            ("db-3", "delete", "old"),
            ("db-2", "keep", "below-partition"),
            ("db-1", "keep", "below-partition")
        ]
    );
    assert_eq!(updated["pods"][0]["why"], "its revision is db-2, not db-3");
    assert_eq!(updated["pods"][2]["why"], "it is old, but index 1 is below the partition, 2");
    let older = "before Kubernetes 1.37, this step takes other pods";
    assert!(notes.contains(older), "{notes}");
    let off = ["sts/db", "--rollout", "--feature-gates", "MaxUnavailableStatefulSet=false"];
    let (updated, notes) = preview(&off, &update);
    assert_eq!((&updated["delete"], notes.contains(older)), (&json!(1), false));
    // The table's heading says how to get it again.
    let heading = |args: &[&str]| run(args, &update).1.lines().next().expect("a heading").to_owned();
    assert!(heading(&off).ends_with(" --feature-gates MaxUnavailableStatefulSet=false"), "{}", heading(&off));
    assert!(!heading(&off[..2]).contains("feature-gates"), "{}", heading(&off[..2]));
    // To scale down, the gate makes no difference.
    let (_, notes) = preview(&["sts/db", "--replicas", "2"], &update);
    assert!(!notes.contains(older), "{notes}");
}

#[test]
fn one_unavailable_pod_makes_a_parallel_update_depend_on_the_release() {
    let update = changed(|dump| {
        dump.set()["status"]["updateRevision"] = json!("db-3");
        dump.set()["spec"]["podManagementPolicy"] = json!("Parallel");
        dump.pod("db-1")["metadata"]["labels"]["controller-revision-hash"] = json!("db-3");
    });
    let (now, notes) = preview(&["sts/db", "--rollout"], &update);
    assert_eq!((&now["delete"], pods(&now)[0]), (&json!(0), ("db-4", "blocked", "budget")));
    assert!(notes.contains("before Kubernetes 1.37"), "{notes}");
    let off = ["sts/db", "--rollout", "--feature-gates", "MaxUnavailableStatefulSet=false"];
    let (before, _) = preview(&off, &update);
    assert_eq!((&before["delete"], pods(&before)[0]), (&json!(1), ("db-4", "delete", "old")));
}

#[test]
fn the_budget_of_an_update_is_named() {
    let update = changed(|dump| {
        dump.set()["status"]["updateRevision"] = json!("db-3");
        dump.set()["spec"]["podManagementPolicy"] = json!("Parallel");
        dump.set()["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = json!("50%");
        for new in ["db-1", "db-2"] {
            dump.pod(new)["metadata"]["labels"]["controller-revision-hash"] = json!("db-3");
        }
        dump.pod("db-2")["status"]["conditions"][0]["status"] = json!("False");
    });
    let (preview, _) = preview(&["sts/db", "--rollout"], &update);
    let why = "db-2 is one of as many pods as may be unavailable, 2";
    let blocked = json!({ "name": "db-4", "by": "db-2", "rule": "budget", "why": why });
    assert_eq!(preview["blocked"][0], blocked);
}

#[test]
fn pods_of_one_ordinal_are_contested() {
    let twins = changed(|dump| {
        let mut twin = dump.pod("db-4").clone();
        twin["metadata"]["name"] = json!("db-04");
        twin["metadata"]["uid"] = json!("5a3f0c1e-0000-4000-8000-00000000ffff");
        dump.0.push(twin);
        dump.mend();
    });
    let (preview, _) = preview(&["sts/db", "--replicas", "4"], &twins);
    let twins: Vec<_> =
        preview["pods"].as_array().expect("pods").iter().filter(|pod| pod["rule"] == "twins").collect();
    assert_eq!(twins.len(), 2);
    for pod in twins {
        assert_eq!(pod["verdict"], "contested");
        let why = pod["why"].as_str().expect("a text");
        assert!(why.ends_with(" has the same ordinal as another pod: the list order decides"), "{why}");
    }
}

#[test]
fn pods_that_are_finished_terminating_or_missing_count() {
    let dump = changed(|dump| {
        dump.mend();
        dump.pod("db-2")["status"]["phase"] = json!("Failed");
        dump.pod("db-2")["status"]["conditions"][0]["status"] = json!("False");
    });
    let (finished, _) = preview(&["sts/db", "--replicas", "4"], &dump);
    assert_eq!(finished["pods"][2]["phase"], "Failed");
    assert_eq!(
        pods(&finished)[..3],
        [
            ("db-4", "blocked", "waits-for-finished"),
            ("db-3", "keep", "in-range"),
            ("db-2", "delete", "finished")
        ]
    );

    let dump = changed(|dump| {
        dump.mend();
        dump.pod("db-0")["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
    });
    let (terminating, _) = preview(&["sts/db", "--replicas", "4"], &dump);
    assert_eq!(terminating["blocked"][0]["by"], "db-0");
    assert_eq!(terminating["pods"].as_array().expect("pods").len(), 4);

    let (missing, _) = preview(&["sts/db", "--replicas", "4"], &changed(|dump| dump.remove("db-0")));
    assert_eq!(
        missing["blocked"],
        json!([{ "name": "db-4", "by": "db-0", "rule": "waits-for-missing", "why": "db-0 does not exist yet and is created first" }])
    );
}

#[test]
fn what_is_ready_for_too_short_a_time_says_for_how_long() {
    let dump = changed(|dump| {
        dump.mend();
        dump.set()["spec"]["minReadySeconds"] = json!(30);
        dump.pod("db-1")["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T11:59:40Z");
    });
    let (waiting, _) = preview(&["sts/db", "--replicas", "4"], &dump);
    assert_eq!(waiting["blocked"][0]["rule"], "waits-for-available");
    assert_eq!(waiting["blocked"][0]["why"], "db-1 has been ready for 20s, and minReadySeconds is 30");
}

#[test]
fn claims_go_with_their_pods() {
    let dump = changed(|dump| {
        dump.mend();
        dump.set()["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({ "whenScaled": "Delete" });
        dump.set()["spec"]["volumeClaimTemplates"] = json!([{ "metadata": { "name": "data" }, "spec": {} }]);
    });
    let (_, notes) = preview(&["sts/db", "--replicas", "3"], &dump);
    assert!(
        notes.contains("so claims go with their pods, unless others own them, too: data-db-4\n"),
        "{notes}"
    );
}

#[test]
fn bad_input_says_what_is_wrong() {
    fails(&["sts/dbx", "--replicas", "1"], EXAMPLE, "no StatefulSet is named dbx; did you mean sts/db?");
    fails(
        &["sts/db", "--replicas", "1"],
        &changed(|dump| dump.0.retain(|item| item["metadata"]["name"] != "db-2")),
        "the input is incomplete: only 4 pods of default StatefulSet/db are listed, while its status counts 5; get all of it \
         with: kubectl get pods,statefulsets -n default -o json; --partial accepts what is missing",
    );
    fails(
        &["sts/db", "--replicas", "1"],
        &changed(|dump| dump.set()["spec"]["podManagementPolicy"] = json!("Later")),
        "default StatefulSet/db: spec.podManagementPolicy: \"Later\" is neither OrderedReady nor Parallel",
    );
    fails(
        &["sts/db", "--replicas", "1", "--order", "total"],
        EXAMPLE,
        "default StatefulSet/db: the total order is for Deployments, ReplicaSets and ReplicationControllers; a StatefulSet has its own",
    );
    let (_, notes) = preview(
        &["sts/db", "--replicas", "1"],
        &changed(|dump| dump.set()["spec"]["updateStrategy"] = json!({ "type": "Recreate" })),
    );
    assert!(notes.contains("whose feature gate StatefulSetRecreateStrategy is off"), "{notes}");
}

/// A list that only says at its end of what it is, as YAML and old kubectl write it.
#[test]
fn the_kind_of_a_list_may_come_last() {
    let list: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let mut set = list["items"][0].clone();
    set.as_object_mut().expect("an object").retain(|key, _| key != "kind" && key != "apiVersion");
    let pods = json!({ "apiVersion": "v1", "kind": "List", "items": &list["items"].as_array().expect("items")[1..] });
    let sets = format!("{{\"items\": [{set}], \"apiVersion\": \"apps/v1\", \"kind\": \"StatefulSetList\"}}");
    let (preview, _) = preview(&["sts/db", "--replicas", "3"], &format!("{sets}\n{pods}"));
    assert_eq!(preview["blocked"].as_array().expect("blocked").len(), 2);
}

#[test]
fn no_costs_steer_it() {
    let output =
        Command::new(PROGRAM).args(["scale", "sts/db", "--replicas", "3"]).output().expect("it runs");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("the controller of a StatefulSet reads no deletion costs"), "{error}");
}

#[test]
fn names_alone_say_who_waits() {
    let (status, names, notes) = run(&["sts/db", "--replicas", "3", "-o", "name"], EXAMPLE);
    let note = "note: 2 pods wait, db-4 for db-1: db-1 is not ready (-o table lists all)\n";
    assert_eq!((status, &*names, &*notes), (Some(0), "", note));
    // If one goes, a note says that this is one step of several.
    let (_, names, notes) = run(&["sts/db", "--replicas", "3", "-o", "name"], &changed(Dump::mend));
    assert_eq!(names, "pod/db-4\n");
    assert!(!notes.contains("for db-"), "{notes}");
}

/// Without the revision of the update, nobody knows which pods are old.
#[test]
fn no_pod_is_called_old_without_a_revision() {
    let unknown = |dump: &mut Dump| {
        dump.mend();
        dump.set()["status"] = json!({ "replicas": 5 });
    };
    let missing = "the status of default StatefulSet/db has no updateRevision, so its old pods are not known";
    let dump = changed(unknown);
    fails(
        &["sts/db", "--rollout"],
        &dump,
        &format!(
            "the input is incomplete: {missing}; get all of it with: kubectl get pods,statefulsets -n default -o json; \
             --partial accepts what is missing"
        ),
    );
    let (accepted, notes) = preview(&["sts/db", "--rollout", "--partial"], &dump);
    assert_eq!(accepted["delete"], json!(0));
    assert!(pods(&accepted).iter().all(|pod| pod.2 == "in-range"), "{accepted}");
    assert_eq!(notes, format!("note: {missing}\n"));
    assert_eq!(accepted["notes"][0]["code"], json!("revision-missing"));

    // Where the update takes no pod, old or new makes no difference.
    let (scaled, notes) = preview(&["sts/db", "--replicas", "4"], &dump);
    assert_eq!(pods(&scaled)[0], ("db-4", "delete", "out-of-range"));
    assert!(pods(&scaled)[1..].iter().all(|pod| pod.2 == "in-range"), "{scaled}");
    assert!(!notes.contains("updateRevision"), "{notes}");
    let on_delete = changed(|dump| {
        unknown(dump);
        dump.set()["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
    });
    assert_eq!(preview(&["sts/db", "--rollout"], &on_delete).0["delete"], json!(0));
    // A parallel update takes pods in the same sync as scaling.
    let parallel = changed(|dump| {
        unknown(dump);
        dump.set()["spec"]["podManagementPolicy"] = json!("Parallel");
    });
    fails_with(&["sts/db", "--replicas", "4"], &parallel, missing);
}

#[test]
fn a_pod_that_the_dump_may_lack_is_not_said_to_be_missing() {
    let mut dump = changed(|dump| {
        dump.mend();
        dump.remove("db-1");
    });
    let why = |dump: &str| {
        let (preview, _) = preview(&["sts/db", "--replicas", "3", "--partial"], dump);
        assert_eq!(preview["blocked"][0]["by"], json!("db-1"));
        preview["blocked"][0]["why"].clone()
    };
    assert_eq!(why(&dump), "db-1 does not exist yet and is created first");
    dump = dump.replace("\"replicas\":0", "\"replicas\":5");
    assert_eq!(why(&dump), "db-1 is not listed: if it does not exist, it is created first");
}

#[test]
fn an_edge_that_moves_with_the_clock_is_noted() {
    let at = |seconds: u32| {
        changed(|dump| {
            dump.mend();
            dump.set()["spec"]["minReadySeconds"] = json!(10);
            let time = format!("2026-03-10T11:59:{seconds}Z");
            dump.pod("db-1")["status"]["conditions"][0]["lastTransitionTime"] = json!(time);
        })
    };
    let (early, notes) = preview(&["sts/db", "--replicas", "3"], &at(51));
    assert_eq!((&early["delete"], &early["notes"][0]["code"]), (&json!(0), &json!("becomes-available")));
    assert_eq!(
        notes,
        "note: pod default/db-1 becomes available in 1s, and then this step takes other pods\n"
    );
    let (late, notes) = preview(&["sts/db", "--replicas", "3"], &at(50));
    assert_eq!(late["delete"], json!(1));
    assert!(!notes.contains("becomes available"), "{notes}");
    // It makes no difference here.
    let (_, notes) = preview(&["sts/db", "--replicas", "5"], &at(51));
    assert!(!notes.contains("becomes available"), "{notes}");
}

#[test]
fn a_ready_time_to_come_is_no_negative_age() {
    let dump = changed(|dump| {
        dump.mend();
        dump.set()["spec"]["minReadySeconds"] = json!(10);
        dump.pod("db-1")["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-03-10T12:05:00Z");
    });
    let (preview, _) = preview(&["sts/db", "--replicas", "3"], &dump);
    assert_eq!(
        preview["blocked"][0]["why"],
        "db-1 became ready 5m after the time of this decision, and minReadySeconds is 10"
    );
}
