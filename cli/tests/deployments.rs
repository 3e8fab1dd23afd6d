//! Deployments: which sets shrink, by how much and why, and which of their pods go. The core computes the numbers, and
//! `judge/code` compares them with Kubernetes' own functions. These tests check what the program reads for them and what it
//! shows.

use crate::common::{
    Change, ROLLOUT, Shown, changed, dump, fails, fine, items, list, put, row, shown, with, without,
};
use serde_json::{Value, json};

// Of 13 pods of the example, 4 are of the old set, and 9 of the new one, of which 3 are unavailable.

const OLD: &str = "web-5d8c7f9b64";
const NEW: &str = "web-7f6b9d5c48";
const SCALE: &str = "deploy/web --next-step --replicas 5";
const ROLL: &str = "deploy/web --next-step --rollout";
const COSTS: &str = "note: 2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)\n";

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

/// Whether the object is a pod of the set.
fn is_of(set: &str) -> impl Fn(&Value) -> bool {
    move |item| {
        item["kind"] == "Pod" && item["metadata"]["name"].as_str().is_some_and(|it| it.starts_with(set))
    }
}

/// A dump without the old set and its pods.
fn without_old(dump: &str) -> String {
    without(dump, |item| is_of(OLD)(item) || item["metadata"]["name"] == OLD)
}

/// From 10 to 5, with 13 pods: count + surge is 7 (a quarter of 5, rounded up, is 2), so 6 go. The larger set, of 9, has the
/// share round(9 * 7 / 13) = 5, and the set of 4 has round(4 * 7 / 13) = 2.
///
/// Of the new set's pods, rules 1 to 4 take hq8zt, m9c4x, k2v5d and b7wfn, whatever the ranks are. The old set's four are
/// alike in these rules, and what the new set loses first may change their ranks.
#[test]
fn scaling_in_the_middle_of_a_rollout_is_proportional() {
    let scaled = shown(SCALE, ROLLOUT);
    let race = "…; contested; …: ranks change as other ReplicaSets get or lose pods";
    scaled.says(&[
        "6 of 13 go; scale; goes on: true; waits: false",
        &format!("{OLD}: 4 to 2, 2 go; share; gets its share: 2 of 7 pods (5 replicas and a surge of 2)"),
        race,
        &format!("{NEW}: 9 to 5, 4 go; share; gets its share: 5 of 7 pods (5 replicas and a surge of 2)"),
        "…-hq8zt; delete; …",
        "…-m9c4x; delete; …",
        "…-k2v5d; delete; …",
        "…-b7wfn; delete; …",
        "…; keep; …",
        "…; keep; …",
        "…; keep; …",
        "…; keep; …",
        "…; keep; …",
        "note: …another one follows at once…",
    ]);
    let head = row(&scaled.json, "{kind} {workload} {replicas} {pods} {replicaSet}");
    assert_eq!(head, r#"ScaleDownPreview {"kind":"Deployment","name":"web"} 5 null null"#);
    let contested: Vec<_> =
        list(&scaled.json["sets"][0]["pods"]).filter(|pod| pod["verdict"] == "contested").collect();
    let races =
        contested.iter().filter(|pod| row(pod, "{why}").ends_with(race.rsplit('…').next().expect("words")));
    assert_eq!(races.count(), contested.len(), "{scaled}");
    // The names are those of the certain ones, of all sets.
    let (names, notes) = fine(&format!("{SCALE} -o name"), ROLLOUT);
    assert!(names.contains(&format!("pod/{NEW}-hq8zt\n")) && !names.contains("x4rvp"), "{names}");
    assert!(notes.contains("only the certain victims are printed"), "{notes}");
}

#[test]
fn the_only_deployment_is_meant_if_none_is_named() {
    let named = shown(SCALE, ROLLOUT);
    for words in [
        "--next-step --replicas 5",
        "--next-step web --replicas 5",
        "--next-step Deployment web --replicas 5 -n default",
    ] {
        let meant = shown(words, ROLLOUT);
        assert_eq!((meant.json, meant.notes), (named.json.clone(), named.notes.clone()), "{words}");
    }
    // A set of it is meant if it is named.
    for words in [format!("rs {NEW}"), NEW.to_owned()] {
        let of_set = shown(&format!("{words} --replicas 5"), ROLLOUT);
        assert_eq!(row(&of_set.json, "{replicaSet} {delete}"), format!("{NEW} 4"), "{words}");
    }
}

#[test]
fn tables_show_the_sets_and_then_their_pods() {
    let headline = "deploy/web to 5: 6 of 13 pods go (4 certainly, 2 of 4 by chance), in the next step";
    assert_eq!(fine(SCALE, ROLLOUT).0.lines().next(), Some(headline));
    let (table, _) = fine(&format!("{SCALE} -o wide"), ROLLOUT);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], headline);
    let again =
        "Again: kubectl podrank deploy/web --namespace default --replicas 5 --now 2026-03-10T12:00:00Z ";
    assert!(lines[1].starts_with(again), "{table}");
    let sets = [
        "REPLICASET      FROM  TO  PODS  GO  BECAUSE",
        "web-5d8c7f9b64  4     2   4     2   gets its share: 2 of 7 pods (5 replicas and a surge of 2)",
        "web-7f6b9d5c48  9     5   9     4   gets its share: 5 of 7 pods (5 replicas and a surge of 2)",
    ];
    assert_eq!(lines[3..6], sets);
    assert!(lines[7].starts_with("old ReplicaSet web-5d8c7f9b64: 2 of 4 active pods go ("), "{table}");
    assert!(lines[8].starts_with("#  GOES"), "{table}");
    assert_eq!(lines.iter().filter(|line| line.contains(" ReplicaSet web-")).count(), 2);
}

/// The first sync makes the old set 2 and the new one 5. Then 7 pods are there and 4 must be available; the new set has 3 that are not
/// left, so all 6 of them are available, and the 2 old pods are not needed either.
#[test]
fn a_rollout_is_shown_to_its_end() {
    let shown = shown("deploy/web --replicas 5", ROLLOUT);
    assert_eq!(row(&shown.json, "{delete} {goesOn} {waits}"), "6 true false");
    let steps: Vec<_> = list(&shown.json["steps"])
        .map(|step| {
            let sets = list(&step["sets"]).map(|set| row(set, "{replicaSet} {from} {to} {delete}"));
            (row(step, "{path}"), sets.collect::<Vec<_>>())
        })
        .collect();
    let set = |name: &str, rest: &str| format!("{name} {rest}");
    let expected = [
        ("scale".to_owned(), vec![set(OLD, "4 2 2"), set(NEW, "9 5 4")]),
        ("roll".to_owned(), vec![set(OLD, "2 0 2")]),
    ];
    assert_eq!(steps, expected);
    let rest = &shown.json["rest"];
    assert_eq!(rest["delete"], json!({ "min": 8, "max": 8 }));
    assert_eq!(row(rest, "{waitsFor} {pods} {then} {isCertain} {text}"), "null 0 0 true null");
    let verdicts: Vec<_> = list(&shown.json["sets"][0]["pods"]).map(|pod| row(pod, "{verdict}")).collect();
    assert_eq!(verdicts, ["delete"; 4], "all of the old set go, so it is open no more which go first");
}

/// Of the 13 pods, 8 must be available. The new set has 9 of which 2 are, so 6 are.
#[test]
fn what_a_rollout_waits_for_is_said() {
    let held_back = changed(ROLLOUT, &[available(NEW, 2)]);
    let at_once = shown("deploy/web --rollout", &held_back);
    let rest = &at_once.json["rest"];
    assert_eq!(rest["waitsFor"], "new-pods");
    let later = list(&at_once.json["sets"][0]["pods"]).filter(|pod| pod["verdict"] == "later").count();
    assert_eq!(json!(later), rest["then"], "{at_once}");
    let text = row(rest, "{text}");
    assert!(text.contains("of its new pods") && text.ends_with("only after that."), "{text}");
    let paused = example("deploy/web --replicas 8", &[paused()]);
    let rest = &paused.json["rest"];
    assert_eq!(row(rest, "{waitsFor} {text}"), "resume Its rollout is paused, so 3 old pods stay.");
    let recreated = example("deploy/web --rollout", &[recreate()]);
    let text = "Then it waits until 4 old pods have ended; its new ReplicaSet gets 10 pods only after that.";
    assert_eq!(row(&recreated.json["rest"], "{waitsFor} {text}"), format!("old-pods {text}"));
}

/// 10 are wanted and at most 3 may be missing (a quarter, rounded down, is 2, so 8 must stay available); the 3 unavailable
/// ones of the new set count as gone: nothing of 13 - 8 - 3 = 2 is unhealthy in the old set, so 10 - 8 = 2 of it can go.
#[test]
fn a_rollout_shows_its_next_step() {
    let rolled = shown(ROLL, ROLLOUT);
    rolled.says(&[
        "2 of 13 go; roll; …",
        &format!("{OLD}: 4 to 2, 2 go; available; …"),
        &format!("{NEW}: 9 to 9, 0 go; no-surge; …"),
    ]);
    assert_eq!(rolled.json["replicas"], 10);
    // One set changes, so its pods are as certain as if it were alone.
    assert_eq!(
        rolled.json["sets"][0]["pods"],
        shown(&format!("rs {OLD} --replicas 2"), ROLLOUT).json["pods"]
    );
    // The same count is no other step.
    assert_eq!(shown("deploy/web --next-step --replicas 10", ROLLOUT).json, rolled.json);
    // Nor is a quantity in another spelling another template.
    let cpu = "spec template spec containers 0 resources requests cpu";
    let spelled = example(ROLL, &[("web", cpu, json!("0.1"))]);
    assert!(ROLLOUT.contains(r#""cpu": "100m""#));
    assert_eq!((spelled.json, spelled.notes), (rolled.json, rolled.notes));
}

/// With 12 of 13 pods available, of which 8 must stay: first the one of the old set that is not, then as many as may go.
#[test]
fn what_is_unavailable_goes_by_a_write_of_its_own() {
    let step = example(ROLL, &[available(OLD, 3), available(NEW, 9)]);
    let why = "1 unavailable pod goes first, and 3 more can go, because 8 must stay available";
    step.says(&[&format!("{OLD}: 4 to 0, 4 go; unhealthy-and-available; {why}")]);
    assert_eq!(step.json["sets"][0]["writes"], json!([3, 0]));
}

/// A set with nothing to show is left out; one that has only a size, or only gets one, is not.
#[test]
fn sets_that_only_have_a_size_are_listed() {
    let step = |name: &str, replicas: u32, others: &[Change<'_>]| {
        let changes = [
            (name, "spec replicas", json!(replicas)),
            (name, "status", json!({ "replicas": 0, "observedGeneration": 9 })),
            ("web", "status replicas", json!(13)),
        ];
        shown(ROLL, changed(&without(ROLLOUT, is_of(name)), &[&changes, others].concat()))
    };
    step(OLD, 4, &[recreate()]).says(&[&format!("{OLD}: 4 to 0, 0 go; recreated; …")]);
    step(NEW, 0, &[]).says(&[&format!("{OLD}: …"), &format!("{NEW}: 0 to 9, 0 go; grows; …")]);
    let nothing = step(OLD, 0, &[]);
    nothing.says(&[&format!("{NEW}: 9 to 10, 0 go; grows; …")]).lacks(&format!("{OLD}: "));
}

#[test]
fn a_paused_deployment_is_scaled_and_does_not_roll() {
    let old = |rest: &str| format!("{OLD}: {rest}");
    let new = |rest: &str| format!("{NEW}: {rest}");
    let scaled = example("deploy/web --next-step --replicas 8", &[paused()]);
    scaled.says(&[
        "3 of 13 go; scale; goes on: false; …",
        &old("4 to 3, 1 go; share; …"),
        &new("9 to 7, 2 go; share; …"),
        "…Deployment web is paused…",
    ]);
    scaled.lacks("follows");
    // Here the new set gets the whole count, and once all of it is available, the controller takes the old one.
    example(SCALE, &[paused()]).says(&[
        "6 of 13 go; scale; goes on: true; …",
        &old("4 to 2, 2 go; share; …"),
        &new("9 to 5, 4 go; share; …"),
        "…another one follows at once…",
    ]);
    // Until then, it waits.
    let waits = "…once 5 pods of its new ReplicaSet are available, Deployment web deletes all old pods…";
    let broken = example(SCALE, &[paused(), available(NEW, 4)]);
    broken.says(&["…; scale; goes on: false; waits: true", waits]);
    example(ROLL, &[paused()]).says(&["0 of 13 go; scale; …"]);
    // All pods of the new set are available, so a paused Deployment takes those of the old one.
    let saturated = [paused(), (NEW, "spec replicas", json!(10)), available(NEW, 10)];
    example("deploy/web --next-step --replicas 10", &saturated).says(&[
        &old("…; saturated; the new set has all 10 pods available, so old sets go"),
        &new("…; saturated; all 10 pods of the new set are available"),
    ]);
}

/// All but 2 of the 9 new pods are unavailable: 8 of 13 must be available, and 6 are.
#[test]
fn a_rollout_waits_for_new_pods() {
    let held_back = changed(ROLLOUT, &[available(NEW, 2)]);
    shown(ROLL, &held_back).says(&[
        "0 of 13 go; roll; goes on: false; waits: true",
        &format!("{OLD}: 4 to 4, 0 go; held-back; …"),
        &format!("{NEW}: 9 to 9, 0 go; no-surge; …"),
        "…after this step, Deployment web waits until more of its new pods are available; then it deletes old pods that \
         stay in this preview…",
    ]);
    let (table, _) = fine(ROLL, &held_back);
    assert!(table.starts_with("deploy/web to 10: all 13 pods stay, in the next step\n"), "{table}");
}

/// Kubernetes waits for pods on nodes to end. Others are gone at once.
#[test]
fn recreate_takes_all_old_pods_first_and_waits_for_those_on_nodes() {
    let takes = format!("{OLD}: 4 to 0, 4 go; recreated; …");
    let is_old = is_of(OLD);
    let old = items(ROLLOUT).into_iter().filter(|item| is_old(item));
    let names: Vec<_> = old.map(|pod| row(&pod["metadata"], "{name}")).collect();
    let waits = "after this step, Deployment web waits until no old pod is left; then its new ReplicaSet gets 10 pods";
    for unassigned in [0, 3, 4] {
        let nowhere = names.iter().take(unassigned).map(|name| (&**name, "spec nodeName", Value::Null));
        let changes: Vec<_> = nowhere.chain([recreate()]).collect();
        let step = example(ROLL, &changes);
        let is_waiting = unassigned < 4;
        let head = format!("4 of 13 go; recreate; goes on: {}; waits: {is_waiting}", !is_waiting);
        step.says(&[&head, &takes])
            .says(&["…; delete; …"; 4])
            .says(&[&format!("{NEW}: 9 to 9, 0 go; waits; …")]);
        assert_eq!(step.notes.contains(waits), is_waiting, "{step}");
    }
    // Then the new set waits for as long as a pod of the old one runs, be it a terminating one.
    let drained = changed(
        ROLLOUT,
        &[
            recreate(),
            (OLD, "spec replicas", json!(0)),
            (OLD, "status", json!({ "replicas": 0, "observedGeneration": 9 })),
        ],
    );
    let deleted = |name| (name, "metadata deletionTimestamp", json!("2026-03-10T12:00:30Z"));
    let terminating: Vec<_> = names.iter().map(|name| deleted(&**name)).collect();
    let terminating = shown(ROLL, changed(&drained, &terminating));
    terminating.says(&[&format!("{NEW}: 9 to 9, 0 go; waits; …")]).lacks(&format!("{OLD}: "));
    let gone = shown(ROLL, without(&drained, is_of(OLD)));
    gone.says(&[&format!("{NEW}: 9 to 10, 0 go; to-count; …")]).lacks(&format!("{OLD}: "));
}

#[test]
fn statuses_that_lag_behind_are_told() {
    let told = |count: u32, min_ready_seconds: u32| {
        let waits = (OLD, "spec minReadySeconds", json!(min_ready_seconds));
        let shown = example("deploy/web --next-step --replicas 8", &[available(OLD, count), waits]);
        shown.notes.contains(&format!(
            "warning: the status of default ReplicaSet/{OLD} counts {count} available pods, while 4 are ready: its \
             controller is at work, and the rollout may go on in another way: try again in a moment\n"
        ))
    };
    assert_eq!([3, 4, 5].map(|count| told(count, 0)), [true, false, true]);
    // Not all that are ready need be available yet.
    assert_eq!([3, 4, 5].map(|count| told(count, 10)), [false, false, true]);
    let lags = |generation: u32| {
        let changes = [
            (OLD, "metadata generation", json!(generation)),
            (OLD, "status observedGeneration", json!(6)),
            ("web", "metadata name", json!("other")),
        ];
        example(&format!("rs/{OLD} --replicas 1"), &changes).notes.contains(&format!(
            "warning: the status of default ReplicaSet/{OLD} is for an earlier spec, so its controller is still working, and \
             may delete pods that stay in this preview: try again in a moment\n"
        ))
    };
    assert_eq!([6, 7].map(lags), [false, true]);
}

#[test]
fn a_new_template_makes_a_new_set() {
    let restarted = json!({ "kubectl.kubernetes.io/restartedAt": "2026-03-10T11:59:00Z" });
    let step = example(ROLL, &[("web", "spec template metadata annotations", restarted)]);
    step.says(&["null: 0 to 0, 0 go; no-surge; …"]).lacks("0 of 13 go");
    assert_eq!(list(&step.json["sets"]).count(), 3);
}

#[test]
fn what_stops_the_controller_is_noted() {
    let deleted = |name| (name, "metadata deletionTimestamp", json!("2026-03-10T12:00:00Z"));
    let rollback = "metadata annotations deprecated.deployment.rollback.to";
    for (change, head, note) in [
        (deleted("web"), "0 of 13 go; …", "…Deployment web is being deleted…"),
        (
            ("web", "spec selector", json!({})),
            "0 of 0 go; …",
            "…Deployment web has a selector that is invalid or selects all pods…",
        ),
        (
            ("web", "metadata generation", json!(13)),
            "…",
            "…the status of default Deployment/web is for an earlier spec…",
        ),
        (("web", rollback, json!("3")), "0 of 13 go; rollback; …", "…"),
    ] {
        example(SCALE, &[change]).says(&[head, note]);
    }
    let bare = without(ROLLOUT, |item| item["kind"] != "Deployment");
    let bare = shown(SCALE, changed(&bare, &[("web", "status", json!({ "observedGeneration": 12 }))]));
    bare.says(&["null: 0 to 5, 0 go; grows; …", "…no ReplicaSet of Deployment web is listed…"]);
    // Its set keeps its pods, whatever the Deployment writes.
    let set = example("deploy/web --next-step --replicas 3", &[deleted(NEW)]);
    let note = format!("note: default ReplicaSet/{NEW} is being deleted: its controller deletes no pods");
    set.says(&[&format!("{NEW}: …, 0 go; …"), &note]);
    assert_ne!(set.json["sets"][1]["from"], set.json["sets"][1]["to"]);
}

// What is wrong.

#[test]
fn unsound_deployments_name_the_field() {
    for (place, value, error) in [
        (
            "spec strategy rollingUpdate maxSurge",
            json!("3"),
            "spec.strategy.rollingUpdate.maxSurge: it does not end with '%': write a number of pods as an integer, without quotes",
        ),
        (
            "spec strategy type",
            json!("BlueGreen"),
            "spec.strategy.type: \"BlueGreen\" is neither RollingUpdate nor Recreate",
        ),
        ("spec replicas", json!(-4), "spec.replicas: -4 is negative, which Kubernetes does not allow"),
    ] {
        let dump = changed(ROLLOUT, &[("web", place, value)]);
        fails("deploy/web --next-step --rollout", &dump, &format!("default Deployment/web: {error}"));
        // Only a preview of the Deployment itself minds.
        fine(&format!("{NEW} --replicas 5"), &dump);
    }
    let error =
        format!("default ReplicaSet/{OLD}: spec.replicas: -4 is negative, which Kubernetes does not allow");
    fails(
        "deploy/web --next-step --replicas 3",
        changed(ROLLOUT, &[(OLD, "spec replicas", json!(-4))]),
        &error,
    );
}

#[test]
fn its_deployment_sets_a_set_back_that_is_scaled_alone() {
    let one = without_old(ROLLOUT);
    let scaled = shown(&format!("rs/{NEW} --replicas 3"), &one);
    let note = format!(
        "note: Deployment web writes its own count back to default ReplicaSet/{NEW}: scale deploy/web instead\n{COSTS}"
    );
    assert_eq!((&*scaled.notes, &scaled.json["notes"][0]["code"]), (&*note, &json!("written-back")));
    // A set without pods and without replicas is no part of a rollout; one with either is.
    for (replicas, has_pods, code) in
        [(0, false, "written-back"), (4, false, "mid-rollout"), (0, true, "mid-rollout")]
    {
        let dump = without(ROLLOUT, |item| !has_pods && is_of(OLD)(item));
        let dump = changed(&dump, &[(OLD, "spec replicas", json!(replicas))]);
        let shown = shown(&format!("rs/{NEW} --replicas 3 --partial"), dump);
        assert!(list(&shown.json["notes"]).any(|note| note["code"] == code), "{code}: {shown}");
    }
    // At the count that it has, there is nothing to write back.
    assert_eq!(shown(&format!("rs/{NEW} --replicas 9"), &one).notes, "");
}

#[test]
fn incomplete_dumps_are_refused_unless_accepted() {
    let fewer = without(ROLLOUT, |item| item["metadata"]["name"] == format!("{OLD}-2fxcm"));
    let missing = format!("only 3 pods of default ReplicaSet/{OLD} are listed");
    let command = "kubectl get pods,replicasets,deployments -n default -o json";
    fails(SCALE, &fewer, &format!("the input is incomplete: {missing}…{command}…"));
    let partial = shown(&format!("{SCALE} --partial"), &fewer);
    partial.says(&[&format!("note: {missing}…")]);
    assert_eq!(partial.json["partial"], true);
    let no_sets = without(ROLLOUT, |item| item["kind"] == "ReplicaSet");
    let none = "default Deployment/web has 13 pods, and none of its ReplicaSets is listed";
    fails(SCALE, no_sets, &format!("the input is incomplete: {none}…"));
}

/// From 501 deletions on, a sync counts ranks anew in between, so they settle nothing while another set shrinks, too.
#[test]
fn above_500_deletions_ranks_settle_nothing() {
    for (each, quota) in [(70, 3), (700, 630)] {
        let sizes = |name, count: u32| {
            let sizes = ["status replicas", "status readyReplicas", "status availableReplicas"];
            sizes.map(|size| (name, size, json!(count)))
        };
        let mut changes = sizes("web", 2 * each).to_vec();
        changes.push(("web", "spec strategy rollingUpdate maxSurge", json!(0)));
        changes.push(("web", "spec replicas", json!(2 * each)));
        for set in [OLD, NEW] {
            let most = "metadata annotations deployment.kubernetes.io/max-replicas";
            changes.extend(sizes(set, each));
            changes.push((set, "status fullyLabeledReplicas", json!(each)));
            changes.push((set, "spec replicas", json!(each)));
            changes.push((set, most, json!((2 * each).to_string())));
        }
        let mut objects = items(&changed(&without(ROLLOUT, |item| item["kind"] == "Pod"), &changes));
        let pod = items(ROLLOUT).into_iter().find(|item| item["metadata"]["name"] == format!("{OLD}-2fxcm"));
        let pod = pod.expect("a pod");
        for (prefix, name) in [(1, OLD), (2, NEW)] {
            let set = objects.iter().find(|item| item["metadata"]["name"] == name).expect("a set").clone();
            objects.extend((0..each).map(|number| {
                let mut pod = with(pod.clone(), "metadata name", json!(format!("{name}-{number:05}")));
                let uid = format!("5a3f0c1e-0000-4000-800{prefix}-{number:012x}");
                put(&mut pod, "metadata uid", json!(uid));
                put(&mut pod, "metadata labels", set["metadata"]["labels"].clone());
                put(&mut pod, "metadata ownerReferences 0 name", json!(name));
                put(&mut pod, "metadata ownerReferences 0 uid", set["metadata"]["uid"].clone());
                let node = if number < each / 7 { "worker-2" } else { "worker-1" };
                with(pod, "spec nodeName", json!(node))
            }));
        }
        let shown = shown(&format!("deploy/web --next-step --replicas {}", each / 5), dump(&objects));
        let said: Vec<_> = list(&shown.json["sets"]).map(|set| row(set, "{delete} {quota}")).collect();
        assert_eq!(said, [(); 2].map(|()| format!("{} {quota}", each / 10 * 9)));
    }
}
