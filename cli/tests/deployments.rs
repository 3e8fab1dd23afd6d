//! Deployments: which sets shrink, by how much and why, and which of their pods go. The core computes the numbers, and
//! `judge/code` compares them with Kubernetes' own functions. These tests check what the program reads for them and what it
//! shows.

mod common;

use common::{fails, preview, run};
use serde_json::{Value, json};

const ROLLOUT: &str = include_str!("../../preview/examples/rollout.json");
const OLD: &str = "web-5d8c7f9b64";
const NEW: &str = "web-7f6b9d5c48";

/// The example, after a change.
fn changed(change: impl FnOnce(&mut Dump)) -> String {
    let list: Value = serde_json::from_str(ROLLOUT).expect("JSON");
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

    fn deployment(&mut self) -> &mut Value {
        self.get("Deployment", "web")
    }

    fn set(&mut self, name: &str) -> &mut Value {
        self.get("ReplicaSet", name)
    }

    /// Leaves out the pods of a set.
    fn remove_pods(&mut self, set: &str) {
        let is_its = |item: &Value| item["metadata"]["name"].as_str().is_some_and(|its| its.starts_with(set));
        self.0.retain(|item| item["kind"] != "Pod" || !is_its(item));
    }

    /// Leaves out a set and its pods.
    fn remove_set(&mut self, name: &str) {
        let is_its =
            |item: &Value| item["metadata"]["name"].as_str().is_some_and(|its| its.starts_with(name));
        self.0.retain(|item| !is_its(item));
    }
}

/// Name, from, to, deletions and reason of each set. What is written leads from the one size to the other.
fn sets(preview: &Value) -> Vec<(Option<&str>, i64, i64, u64, &str)> {
    let sets = preview["sets"].as_array().expect("sets");
    let number = |set: &Value, name| set[name].as_i64().expect("a number");
    sets.iter()
        .map(|set| {
            let reason = set["reason"].as_str().expect("a reason");
            let go = set["delete"].as_u64().expect("a number");
            let (from, to) = (number(set, "from"), number(set, "to"));
            let writes: Vec<_> = set["writes"].as_array().expect("sizes").iter().map(Value::as_i64).collect();
            // A new set is created with its size.
            if from == to || set["replicaSet"].is_null() {
                assert_eq!(writes, []);
            } else {
                assert_eq!(writes.last(), Some(&Some(to)));
                assert_eq!(writes.len(), if reason == "unhealthy-and-available" { 2 } else { 1 });
            }
            (set["replicaSet"].as_str(), from, to, go, reason)
        })
        .collect()
}

fn verdicts(set: &Value) -> Vec<&str> {
    let pods = set["pods"].as_array().expect("pods");
    pods.iter().map(|pod| pod["verdict"].as_str().expect("a verdict")).collect()
}

/// From 10 to 5, with 13 pods: count + surge is 7 (a quarter of 5, rounded up, is 2), so 6 go. The larger set, of 9, has the
/// share round(9 * 7 / 13) = 5, and the set of 4 has round(4 * 7 / 13) = 2.
#[test]
fn scaling_in_the_middle_of_a_rollout_is_proportional() {
    let (preview, notes) = preview(&["deploy/web", "--replicas", "5"], ROLLOUT);
    assert_eq!(sets(&preview), [(Some(OLD), 4, 2, 2, "share"), (Some(NEW), 9, 5, 4, "share")]);
    assert_eq!(preview["workload"], json!({ "kind": "Deployment", "name": "web" }));
    assert_eq!((&preview["path"], &preview["goesOn"]), (&json!("scale"), &json!(true)));
    assert_eq!(
        (&preview["active"], &preview["delete"], &preview["replicas"]),
        (&json!(13), &json!(6), &json!(5))
    );
    assert_eq!(preview["kind"], "ScaleDownPreview");
    assert!(preview["pods"].is_null() && preview["replicaSet"].is_null());
    assert!(notes.contains("another one follows at once"), "{notes}");
}

/// Of the new set's pods, rules 1 to 4 take hq8zt, m9c4x, k2v5d and b7wfn, whatever the ranks are. The old set's four are
/// alike in these rules, and what the new set loses first may change their ranks.
#[test]
fn ranks_are_a_race_where_two_sets_shrink() {
    let (preview, _) = preview(&["deploy/web", "--replicas", "5"], ROLLOUT);
    assert_eq!(verdicts(&preview["sets"][1])[..4], ["delete"; 4]);
    assert_eq!(verdicts(&preview["sets"][1])[4..], ["keep"; 5]);
    let old = &preview["sets"][0];
    let contested = old["pods"].as_array().expect("pods").iter().filter(|pod| pod["verdict"] == "contested");
    for pod in contested.clone() {
        let why = pod["why"].as_str().expect("a reason");
        assert!(why.ends_with(": ranks change as other ReplicaSets get or lose pods"), "{why}");
    }
    assert!(contested.count() > 0, "{old}");
    // The names are those of the certain ones, of all sets.
    let (_, names, notes) = run(&["deploy/web", "--replicas", "5", "-o", "name"], ROLLOUT);
    assert!(names.contains(&format!("pod/{NEW}-hq8zt\n")) && !names.contains("x4rvp"), "{names}");
    assert!(notes.contains("only the certain victims are printed"), "{notes}");
}

#[test]
fn the_only_deployment_is_meant_if_none_is_named() {
    let named = preview(&["deploy/web", "--replicas", "5"], ROLLOUT);
    assert_eq!(preview(&["--replicas", "5"], ROLLOUT), named);
    assert_eq!(preview(&["web", "--replicas", "5"], ROLLOUT), named);
    assert_eq!(preview(&["Deployment", "web", "--replicas", "5", "-n", "default"], ROLLOUT), named);
    // A set of it is meant if it is named.
    for args in [&["rs", NEW][..], &[NEW]] {
        let (of_set, _) = preview(&[args, &["--replicas", "5"]].concat(), ROLLOUT);
        assert_eq!((&of_set["replicaSet"], &of_set["delete"]), (&json!(NEW), &json!(4)), "{args:?}");
    }
}

#[test]
fn tables_show_the_sets_and_then_their_pods() {
    let (_, table, _) = run(&["deploy/web", "--replicas", "5"], ROLLOUT);
    let lines: Vec<_> = table.lines().collect();
    assert!(
        lines[0].starts_with("6 of 13 active pods of Deployment default/web go in the next step ("),
        "{table}"
    );
    assert!(lines[0].contains(" at --replicas 5 --now 2026-03-10T12:00:00Z --order kubernetes"), "{table}");
    assert_eq!(lines[2], "REPLICASET      FROM  TO  PODS  GO  WHY");
    assert_eq!(
        lines[3],
        "web-5d8c7f9b64  4     2   4     2   gets its share: 2 of 7 pods (5 replicas and a surge of 2)"
    );
    assert_eq!(
        lines[4],
        "web-7f6b9d5c48  9     5   9     4   gets its share: 5 of 7 pods (5 replicas and a surge of 2)"
    );
    assert!(lines[6].starts_with("ReplicaSet web-5d8c7f9b64: 2 of 4 active pods go ("), "{table}");
    assert!(lines[7].starts_with("#  VERDICT"), "{table}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ReplicaSet ")).count(), 2);
}

/// 10 are wanted and at most 3 may be missing (a quarter, rounded down, is 2, so 8 must stay available); the 3 unavailable
/// ones of the new set count as gone: nothing of 13 - 8 - 3 = 2 is unhealthy in the old set, so 10 - 8 = 2 of it can go.
#[test]
fn a_rollout_shows_its_next_step() {
    let (rolled, _) = preview(&["deploy/web", "--rollout"], ROLLOUT);
    assert_eq!(rolled["path"], "roll");
    assert_eq!(sets(&rolled), [(Some(OLD), 4, 2, 2, "available"), (Some(NEW), 9, 9, 0, "no-surge")]);
    assert_eq!(rolled["replicas"], 10);
    // One set changes, so its pods are as certain as if it were alone.
    let (alone, _) = preview(&["rs", OLD, "--replicas", "2"], ROLLOUT);
    assert_eq!(rolled["sets"][0]["pods"], alone["pods"]);
    // The same count is no other step.
    assert_eq!(preview(&["deploy/web", "--replicas", "10"], ROLLOUT).0, rolled);
}

/// With 12 of 13 pods available, of which 8 must stay: first the one of the old set that is not, then as many as may go.
#[test]
fn what_is_unavailable_goes_by_a_write_of_its_own() {
    let unhealthy = changed(|dump| {
        dump.set(OLD)["status"]["availableReplicas"] = json!(3);
        dump.set(NEW)["status"]["availableReplicas"] = json!(9);
    });
    let (step, _) = preview(&["deploy/web", "--rollout"], &unhealthy);
    assert_eq!(sets(&step)[0], (Some(OLD), 4, 0, 4, "unhealthy-and-available"));
    assert_eq!(step["sets"][0]["writes"], json!([3, 0]));
    let why = "1 unavailable pod goes first, and 3 more can go, because 8 must stay available";
    assert_eq!(step["sets"][0]["why"], why);
}

/// A set with nothing to show is left out; one that has only a size, or only gets one, is not.
#[test]
fn sets_that_only_have_a_size_are_listed() {
    let without_pods = |dump: &mut Dump, name: &str, replicas: u32| {
        dump.remove_pods(name);
        dump.set(name)["spec"]["replicas"] = json!(replicas);
        dump.set(name)["status"] = json!({ "replicas": 0, "observedGeneration": 9 });
        dump.deployment()["status"]["replicas"] = json!(13);
    };
    let step =
        |change: &dyn Fn(&mut Dump)| preview(&["deploy/web", "--rollout"], &changed(|dump| change(dump))).0;
    let shrinks = step(&|dump| {
        without_pods(dump, OLD, 4);
        dump.deployment()["spec"]["strategy"] = json!({ "type": "Recreate" });
    });
    assert_eq!(sets(&shrinks)[0], (Some(OLD), 4, 0, 0, "recreated"));
    let grows = step(&|dump| without_pods(dump, NEW, 0));
    assert_eq!(sets(&grows)[1], (Some(NEW), 0, 9, 0, "grows"));
    let nothing = step(&|dump| without_pods(dump, OLD, 0));
    assert_eq!(sets(&nothing), [(Some(NEW), 9, 10, 0, "grows")]);
}

#[test]
fn an_idle_deployment_scales_its_one_set() {
    let idle = changed(|dump| {
        dump.remove_set(OLD);
        dump.deployment()["spec"]["replicas"] = json!(9);
        dump.deployment()["status"]["replicas"] = json!(9);
        dump.set(NEW)["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] = json!("9");
    });
    let (preview_of, notes) = preview(&["deploy/web", "--replicas", "3"], &idle);
    assert_eq!(sets(&preview_of), [(Some(NEW), 9, 3, 6, "only-active")]);
    assert_eq!((&preview_of["goesOn"], &preview_of["waits"], &*notes), (&json!(false), &json!(false), ""));
    let (alone, _) = preview(&["rs", NEW, "--replicas", "3"], &idle);
    assert_eq!(preview_of["sets"][0]["pods"], alone["pods"]);
    // Growing takes no pod.
    let (grown, _) = preview(&["deploy/web", "--replicas", "20"], &idle);
    assert_eq!(sets(&grown), [(Some(NEW), 9, 20, 0, "only-active")]);
}

#[test]
fn a_paused_deployment_is_scaled_and_does_not_roll() {
    let paused = changed(|dump| dump.deployment()["spec"]["paused"] = json!(true));
    let (scaled, notes) = preview(&["deploy/web", "--replicas", "8"], &paused);
    assert_eq!(sets(&scaled), [(Some(OLD), 4, 3, 1, "share"), (Some(NEW), 9, 7, 2, "share")]);
    assert_eq!(scaled["goesOn"], false);
    assert!(notes.contains("Deployment web is paused") && !notes.contains("follows"), "{notes}");
    // Here the new set gets the whole count, and once all of it is available, the controller takes the old one.
    let (scaled, notes) = preview(&["deploy/web", "--replicas", "5"], &paused);
    assert_eq!(sets(&scaled), [(Some(OLD), 4, 2, 2, "share"), (Some(NEW), 9, 5, 4, "share")]);
    assert_eq!(scaled["goesOn"], true);
    assert!(notes.contains("another one follows at once"), "{notes}");
    // Until then, it waits.
    let broken = changed(|dump| {
        dump.deployment()["spec"]["paused"] = json!(true);
        available(dump, 4);
    });
    let (scaled, notes) = preview(&["deploy/web", "--replicas", "5"], &broken);
    assert_eq!((&scaled["goesOn"], &scaled["waits"]), (&json!(false), &json!(true)));
    let waits = "once 5 pods of its new ReplicaSet are available, Deployment web deletes all old pods";
    assert!(notes.contains(waits), "{notes}");
    let (rolled, _) = preview(&["deploy/web", "--rollout"], &paused);
    assert_eq!((&rolled["path"], &rolled["delete"]), (&json!("scale"), &json!(0)));
}

/// A dump whose new pods are available, so many of them.
fn available(dump: &mut Dump, new: u32) {
    dump.set(NEW)["status"]["availableReplicas"] = json!(new);
}

/// All but 2 of the 9 new pods are unavailable: 8 of 13 must be available, and 6 are.
#[test]
fn a_rollout_waits_for_new_pods() {
    let held_back = changed(|dump| available(dump, 2));
    let (rolled, notes) = preview(&["deploy/web", "--rollout"], &held_back);
    assert_eq!(sets(&rolled), [(Some(OLD), 4, 4, 0, "held-back"), (Some(NEW), 9, 9, 0, "no-surge")]);
    assert_eq!((&rolled["goesOn"], &rolled["waits"]), (&json!(false), &json!(true)));
    let waits = "after this step, Deployment web waits until more of its new pods are available; then it deletes old pods that \
                 are marked `keep` here";
    assert!(notes.contains(waits), "{notes}");
    let (_, table, _) = run(&["deploy/web", "--rollout"], &held_back);
    assert!(
        table.starts_with("0 of 13 active pods of Deployment default/web go in the next step at "),
        "{table}"
    );
}

/// Kubernetes waits for pods on nodes to end. Others are gone at once.
#[test]
fn recreate_waits_for_the_old_pods_on_nodes() {
    let recreate = |change: &dyn Fn(&mut Dump)| {
        let dump = changed(|dump| {
            dump.deployment()["spec"]["strategy"] = json!({ "type": "Recreate" });
            change(dump);
        });
        let (preview, notes) = preview(&["deploy/web", "--rollout"], &dump);
        assert_eq!(sets(&preview)[0], (Some(OLD), 4, 0, 4, "recreated"));
        (preview["goesOn"].clone(), preview["waits"].clone(), notes)
    };
    let waits = "after this step, Deployment web waits until no old pod is left; then its new ReplicaSet gets 10 pods";
    let (goes_on, is_waiting, notes) = recreate(&|_| ());
    assert_eq!((goes_on, is_waiting, notes.contains(waits)), (json!(false), json!(true), true), "{notes}");
    let unassign = |dump: &mut Dump, but: usize| {
        let is_old = |item: &&mut Value| {
            item["kind"] == "Pod"
                && item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(OLD))
        };
        for pod in dump.0.iter_mut().filter(is_old).skip(but) {
            pod["spec"].as_object_mut().expect("a spec").remove("nodeName");
        }
    };
    let (goes_on, is_waiting, notes) = recreate(&|dump| unassign(dump, 0));
    assert_eq!((goes_on, is_waiting, notes.contains(waits)), (json!(true), json!(false), false), "{notes}");
    let (goes_on, is_waiting, _) = recreate(&|dump| unassign(dump, 1));
    assert_eq!((goes_on, is_waiting), (json!(false), json!(true)));
}

#[test]
fn a_status_that_counts_other_pods_than_are_ready_is_told() {
    let told = |available: u32, min_ready_seconds: u32| {
        let dump = changed(|dump| {
            dump.set(OLD)["status"]["availableReplicas"] = json!(available);
            dump.set(OLD)["spec"]["minReadySeconds"] = json!(min_ready_seconds);
        });
        let (_, notes) = preview(&["deploy/web", "--replicas", "8"], &dump);
        notes.contains(&format!(
            "warning: the status of default ReplicaSet/{OLD} counts {available} available pods, while 4 are ready: its \
             controller has not observed all pods yet, and the rollout may go on in another way: try again in a moment\n"
        ))
    };
    assert_eq!([3, 4, 5].map(|available| told(available, 0)), [true, false, true]);
    // Not all that are ready need be available yet.
    assert_eq!([3, 4, 5].map(|available| told(available, 10)), [false, false, true]);
}

#[test]
fn a_set_alone_whose_status_lags_is_told() {
    let note = |generation: u32| {
        let dump = changed(|dump| {
            let set = dump.set(OLD);
            set["metadata"]["generation"] = json!(generation);
            set["status"]["observedGeneration"] = json!(6);
            dump.deployment()["metadata"]["name"] = json!("other");
        });
        let (_, notes) = preview(&[&format!("rs/{OLD}"), "--replicas", "1"], &dump);
        notes.contains(&format!(
            "warning: the status of default ReplicaSet/{OLD} is for an earlier spec, so its controller is still working, and \
             may delete pods that are marked `keep` here: try again in a moment\n"
        ))
    };
    assert_eq!((note(6), note(7)), (false, true));
}

/// Its set keeps its pods, whatever the Deployment writes.
#[test]
fn a_set_that_is_being_deleted_takes_no_pods() {
    let dump = changed(|dump| {
        dump.set(NEW)["metadata"]["deletionTimestamp"] = json!("2026-03-10T12:00:00Z");
    });
    let (preview, notes) = preview(&["deploy/web", "--replicas", "3"], &dump);
    let set = &preview["sets"][1];
    assert_eq!((&set["replicaSet"], &set["delete"]), (&json!(NEW), &json!(0)));
    assert_ne!(set["from"], set["to"]);
    let note = format!("note: default ReplicaSet/{NEW} is being deleted: its controller deletes no pods\n");
    assert!(notes.contains(&note), "{notes}");
}

#[test]
fn recreate_takes_all_old_pods_first() {
    let recreate = |dump: &mut Dump| dump.deployment()["spec"]["strategy"] = json!({ "type": "Recreate" });
    let (step, _) = preview(&["deploy/web", "--rollout"], &changed(recreate));
    assert_eq!(step["path"], "recreate");
    assert_eq!(sets(&step), [(Some(OLD), 4, 0, 4, "recreated"), (Some(NEW), 9, 9, 0, "waits")]);
    assert_eq!(verdicts(&step["sets"][0]), ["delete"; 4]);
    // Then the new set waits for as long as a pod of the old one runs, be it a terminating one.
    let drained = |dump: &mut Dump| {
        recreate(dump);
        dump.set(OLD)["spec"]["replicas"] = json!(0);
        dump.set(OLD)["status"] = json!({ "replicas": 0, "observedGeneration": 9 });
    };
    let terminating = changed(|dump| {
        drained(dump);
        for pod in dump.0.iter_mut().filter(|item| item["kind"] == "Pod") {
            if pod["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(OLD)) {
                pod["metadata"]["deletionTimestamp"] = json!("2026-03-10T12:00:30Z");
            }
        }
    });
    assert_eq!(sets(&preview(&["deploy/web", "--rollout"], &terminating).0), [(Some(NEW), 9, 9, 0, "waits")]);
    let gone = changed(|dump| {
        drained(dump);
        dump.remove_pods(OLD);
    });
    assert_eq!(sets(&preview(&["deploy/web", "--rollout"], &gone).0), [(Some(NEW), 9, 10, 0, "to-count")]);
}

#[test]
fn a_new_template_makes_a_new_set() {
    let restarted = changed(|dump| {
        let template = &mut dump.deployment()["spec"]["template"];
        template["metadata"]["annotations"] =
            json!({ "kubectl.kubernetes.io/restartedAt": "2026-03-10T11:59:00Z" });
    });
    let (step, _) = preview(&["deploy/web", "--rollout"], &restarted);
    let sets = sets(&step);
    assert_eq!(sets[2], (None, 0, 0, 0, "no-surge"));
    assert!(sets[0].3 + sets[1].3 > 0, "{sets:?}");
    // A quantity in another spelling is the same template.
    let spelled = changed(|dump| {
        let requests =
            &mut dump.deployment()["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"];
        assert_eq!(requests["cpu"], "100m");
        requests["cpu"] = json!("0.1");
    });
    assert_eq!(
        preview(&["deploy/web", "--rollout"], &spelled),
        preview(&["deploy/web", "--rollout"], ROLLOUT)
    );
}

#[test]
fn what_stops_the_controller_is_noted() {
    for (change, note) in [
        (
            json!({ "metadata": { "deletionTimestamp": "2026-03-10T12:00:00Z" } }),
            "Deployment web is being deleted",
        ),
        (
            json!({ "spec": { "selector": {} } }),
            "Deployment web has a selector that is invalid or selects all pods",
        ),
        (
            json!({ "metadata": { "generation": 13 } }),
            "the status of default Deployment/web is for an earlier spec",
        ),
    ] {
        let dump = changed(|dump| merge(dump.deployment(), &change));
        let (preview, notes) = preview(&["deploy/web", "--replicas", "5"], &dump);
        assert!(notes.contains(note), "{notes}");
        if !note.contains("earlier") {
            assert_eq!(preview["delete"], 0, "{note}");
        }
    }
    let rollback = changed(|dump| {
        dump.deployment()["metadata"]["annotations"]["deprecated.deployment.rollback.to"] = json!("3");
    });
    let (preview_of, _) = preview(&["deploy/web", "--replicas", "5"], &rollback);
    assert_eq!((&preview_of["path"], &preview_of["delete"]), (&json!("rollback"), &json!(0)));
    let bare = changed(|dump| {
        dump.remove_set(OLD);
        dump.remove_set(NEW);
        dump.deployment()["status"] = json!({ "observedGeneration": 12 });
    });
    let (preview_of, notes) = preview(&["deploy/web", "--replicas", "5"], &bare);
    assert!(notes.contains("no ReplicaSet of Deployment web is listed"), "{notes}");
    assert_eq!(sets(&preview_of), [(None, 0, 5, 0, "grows")]);
}

fn merge(object: &mut Value, change: &Value) {
    match (object, change) {
        (Value::Object(object), Value::Object(change)) if !change.is_empty() => {
            for (name, change) in change {
                merge(object.entry(name).or_insert(Value::Null), change);
            }
        }
        (object, change) => object.clone_from(change),
    }
}

// What is wrong.

#[test]
fn unknown_deployments_get_a_suggestion() {
    fails(
        &["deploy/wep", "--replicas", "5"],
        ROLLOUT,
        "no Deployment is named wep; did you mean deploy/web?",
    );
    fails(
        &["deploy/xyz", "--replicas", "5"],
        ROLLOUT,
        "no Deployment is named xyz; the input has: default Deployment/web",
    );
    let none = changed(|dump| dump.0.retain(|item| item["kind"] != "Deployment"));
    fails(
        &["deploy/web", "--replicas", "5"],
        &none,
        "no Deployment is named web; the input has none; get it with kubectl get pods,replicasets,deployments -o json",
    );
}

#[test]
fn several_workloads_are_listed() {
    let bare = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "x-1", "uid": "00000001-0000-4000-8000-000000000000",
            "ownerReferences": [{ "apiVersion": "v1", "kind": "ReplicationController", "name": "x", "uid": "x", "controller": true }],
        },
    });
    let two = changed(|dump| dump.0.push(bare));
    fails(
        &["--replicas", "5"],
        &two,
        "the input has pods of several workloads: default Deployment/web, default ReplicationController/x; choose one as \
         TYPE/NAME, with --namespace",
    );
    let namesake = changed(|dump| {
        let mut set = dump.set(OLD).clone();
        set["metadata"]["name"] = json!("web");
        dump.0.push(set);
    });
    fails(
        &["web", "--replicas", "5"],
        &namesake,
        "several workloads are named web: default Deployment/web, default ReplicaSet/web; choose one as TYPE/NAME, with \
         --namespace",
    );
}

#[test]
fn unsound_deployments_name_the_field() {
    for (change, error) in [
        (
            json!({ "spec": { "strategy": { "rollingUpdate": { "maxSurge": "3" } } } }),
            "spec.strategy.rollingUpdate.maxSurge: it does not end with '%': write a number of pods as an integer, \
             without quotes",
        ),
        (
            json!({ "spec": { "strategy": { "type": "BlueGreen" } } }),
            "spec.strategy.type: \"BlueGreen\" is neither RollingUpdate nor Recreate",
        ),
    ] {
        let dump = changed(|dump| merge(dump.deployment(), &change));
        fails(&["deploy/web", "--replicas", "5"], &dump, &format!("default Deployment/web: {error}"));
        // Only a preview of the Deployment itself minds.
        preview(&[NEW, "--replicas", "5"], &dump);
    }
}

#[test]
fn its_deployment_sets_a_set_back_that_is_scaled_alone() {
    let one = changed(|dump| dump.remove_set(OLD));
    let name = format!("rs/{NEW}");
    let (scaled, notes) = preview(&[&name, "--replicas", "3"], &one);
    let note = format!(
        "note: Deployment web writes its own count back to default ReplicaSet/{NEW}: scale deploy/web instead\n"
    );
    assert_eq!(notes, note);
    assert_eq!(scaled["notes"][0]["code"], json!("written-back"));
    // A set without pods and without replicas is no part of a rollout; one with either is.
    let old = |replicas: u32, has_pods: bool| {
        let dump = changed(|dump| {
            if !has_pods {
                dump.remove_pods(OLD);
            }
            dump.set(OLD)["spec"]["replicas"] = json!(replicas);
        });
        let (preview, _) = preview(&[&name, "--replicas", "3", "--partial"], &dump);
        let notes = preview["notes"].as_array().expect("notes").iter();
        notes.map(|note| note["code"].as_str().expect("a code").to_owned()).collect::<Vec<_>>()
    };
    for (replicas, has_pods, code) in
        [(0, false, "written-back"), (4, false, "mid-rollout"), (0, true, "mid-rollout")]
    {
        assert!(old(replicas, has_pods).contains(&code.to_owned()), "{replicas} {has_pods}");
    }
    // At the count that it has, there is nothing to write back.
    assert_eq!(preview(&[&name, "--replicas", "9"], &one).1, "");
}

#[test]
fn a_deployment_that_is_listed_twice_is_noted() {
    let twice = changed(|dump| {
        let mut other = dump.deployment().clone();
        other["spec"]["replicas"] = json!(1);
        dump.0.push(other);
    });
    let (preview, notes) = preview(&["deploy/web", "--rollout"], &twice);
    assert_eq!(preview["replicas"], json!(10));
    let note = "note: default Deployment/web is listed more than once: only the first entry counts\n";
    assert!(notes.contains(note), "{notes}");
}

#[test]
fn negative_counts_name_the_field() {
    let error =
        |what: &str| format!("{what}: spec.replicas: -4 is negative, which Kubernetes does not allow");
    let dump = changed(|dump| dump.deployment()["spec"]["replicas"] = json!(-4));
    fails(&["deploy/web", "--rollout"], &dump, &error("default Deployment/web"));
    let dump = changed(|dump| dump.set(OLD)["spec"]["replicas"] = json!(-4));
    fails(&["deploy/web", "--replicas", "3"], &dump, &error(&format!("default ReplicaSet/{OLD}")));
}

#[test]
fn incomplete_dumps_are_refused_unless_accepted() {
    let fewer = changed(|dump| {
        let last = dump.0.iter().position(|item| item["kind"] == "Pod").expect("a pod");
        dump.0.remove(last);
    });
    let (status, _, error) = run(&["deploy/web", "--replicas", "5"], &fewer);
    assert_eq!(status, Some(1));
    assert!(
        error
            .contains("the input is incomplete: only 3 pods of default ReplicaSet/web-5d8c7f9b64 are listed"),
        "{error}"
    );
    assert!(error.contains("kubectl get pods,replicasets,deployments -n default -o json"), "{error}");
    let (preview_of, notes) = preview(&["deploy/web", "--replicas", "5", "--partial"], &fewer);
    assert_eq!(preview_of["partial"], true);
    assert!(notes.contains("only 3 pods of"), "{notes}");

    let no_sets = changed(|dump| dump.0.retain(|item| item["kind"] != "ReplicaSet"));
    let (status, _, error) = run(&["deploy/web", "--replicas", "5"], &no_sets);
    assert_eq!(status, Some(1));
    assert!(error.contains("the input is incomplete: default Deployment/web has 13 pods, and none of its ReplicaSets is listed"), "{error}");
}

/// All pods of the new set are available, so a paused Deployment takes those of the old one.
#[test]
fn a_saturated_new_set_is_why_old_ones_go() {
    let dump = changed(|dump| {
        dump.deployment()["spec"]["paused"] = json!(true);
        dump.set(NEW)["spec"]["replicas"] = json!(10);
        dump.set(NEW)["status"]["availableReplicas"] = json!(10);
    });
    let (preview, _) = preview(&["deploy/web", "--replicas", "10"], &dump);
    let sets = preview["sets"].as_array().expect("sets");
    let why: Vec<_> = sets.iter().map(|set| [&set["reason"], &set["why"]]).collect();
    assert_eq!(
        why,
        [
            [&json!("saturated"), &json!("the new set has all 10 pods available, so old sets go")],
            [&json!("saturated"), &json!("all 10 pods of the new set are available")],
        ]
    );
}

/// From 501 deletions on, a sync counts ranks anew in between, so they settle nothing while another set shrinks, too.
#[test]
fn above_500_deletions_ranks_settle_nothing() {
    let dump = |each: u32| {
        changed(|dump| {
            let pod = dump
                .0
                .iter()
                .find(|item| item["metadata"]["name"] == format!("{OLD}-2fxcm"))
                .expect("a pod")
                .clone();
            let is_pod = |item: &Value| item["kind"] == "Pod";
            dump.0.retain(|item| !is_pod(item));
            for (prefix, name) in [(1, OLD), (2, NEW)] {
                let set = dump.set(name);
                let (uid, labels) = (set["metadata"]["uid"].clone(), set["metadata"]["labels"].clone());
                set["spec"]["replicas"] = json!(each);
                let sizes = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
                for size in sizes {
                    set["status"][size] = json!(each);
                }
                set["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"] =
                    json!((2 * each).to_string());
                for number in 0..each {
                    let mut pod = pod.clone();
                    pod["metadata"]["name"] = json!(format!("{name}-{number:05}"));
                    pod["metadata"]["uid"] = json!(format!("5a3f0c1e-0000-4000-800{prefix}-{number:012x}"));
                    pod["metadata"]["labels"] = labels.clone();
                    pod["metadata"]["ownerReferences"][0]["name"] = json!(name);
                    pod["metadata"]["ownerReferences"][0]["uid"] = uid.clone();
                    pod["spec"]["nodeName"] = json!(if number < each / 7 { "worker-2" } else { "worker-1" });
                    dump.0.push(pod);
                }
            }
            let deployment = dump.deployment();
            deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = json!(0);
            deployment["spec"]["replicas"] = json!(2 * each);
            for size in ["replicas", "availableReplicas", "readyReplicas"] {
                deployment["status"][size] = json!(2 * each);
            }
        })
    };
    let shown = |each: u32| {
        let (preview, _) = preview(&["deploy/web", "--replicas", &(each / 5).to_string()], &dump(each));
        let sets = preview["sets"].as_array().expect("sets").clone();
        sets.iter()
            .map(|set| [&set["delete"], &set["quota"]].map(|it| it.as_u64().expect("a number")))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(70), [[63, 3]; 2]);
    assert_eq!(shown(700), [[630, 630]; 2]);
}
