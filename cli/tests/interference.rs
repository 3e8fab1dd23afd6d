//! What will interfere with a scale-down: what a preview says of autoscalers, disruption budgets, other owners of the count, policies of
//! podrank-webhook and deletion costs, from a file and from a cluster. For objects that the user may not list, there is
//! a note.

use crate::common::{self, JOB, ROLLOUT, STATEFUL_SET, Shown, changed, dump, fine, idle, items, shown, with};
use serde_json::{Value, json};
use std::slice;

const NEW: &str = "web-7f6b9d5c48";
const COSTS: &str = "note: 2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)\n";
const NOT_COUNTED: &str = "note: kubectl get pods lists 1 more pod of Deployment default/web, which podrank does not count (1 being deleted)\n";

fn autoscaler(least: Option<u32>, most: u32, wanted: Option<u32>) -> Value {
    common::autoscaler(("Deployment", "web"), least, most, wanted)
}

fn budget(name: &str, selector: &Value) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "minAvailable": 1, "selector": selector },
    })
}

fn policy(name: &str, selector: &Value) -> Value {
    json!({
        "apiVersion": "podrank.dev/v1alpha1",
        "kind": "ScaleDownPolicy",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "selector": selector, "rollouts": "Ignore" },
    })
}

/// An example with these objects beside it.
fn with_objects(example: &str, more: &[Value]) -> String {
    dump(&[&*items(example), more].concat())
}

/// The same with these objects beside it.
fn at_rest(more: &[Value]) -> String {
    with_objects(&idle(), more)
}

fn of(replicas: u32, more: &[Value]) -> Shown {
    shown(&format!("deploy/web --replicas {replicas}"), at_rest(more))
}

/// The lines of this preview that are about what interferes.
fn notes(shown: &Shown) -> Vec<&str> {
    shown.notes.lines().filter(|line| !COSTS.contains(line) && !NOT_COUNTED.contains(line)).collect()
}

/// Since 1.37, it wakes what it has scaled to 0 itself. Before, its least count decided.
#[test]
fn who_has_scaled_to_zero_matters() {
    let off = |least: u32| format!("warning: … ({least} to 20) sets no replica count while this one is 0");
    let raises = "warning: … (1 to 20) will raise the replica count again, and wants 12 now";
    let shares = "note: … also sets this replica count, between 0 and 20, and wants 12 now";
    for (release, least, is_its, said) in [
        ("1.37", 1, "True", raises.to_owned()),
        ("1.37", 0, "True", shares.to_owned()),
        ("1.37", 1, "False", off(1)),
        ("1.37", 0, "False", off(0)),
        ("1.36", 1, "True", off(1)),
        ("1.36", 0, "False", shares.to_owned()),
    ] {
        let mut autoscaler = autoscaler(Some(least), 20, Some(12));
        autoscaler["status"]["conditions"] = json!([{ "type": "ScaledToZero", "status": is_its }]);
        let words = format!("deploy/web --replicas 0 --kubernetes-version {release}");
        let shown = shown(&words, at_rest(&[autoscaler]));
        assert_eq!(
            notes(&shown),
            [said.replace('…', "HorizontalPodAutoscaler web")],
            "{release} {least} {is_its}"
        );
    }
}

#[test]
fn an_autoscaler_has_bounds() {
    for (least, most, replicas, said) in [
        (Some(8), 20, 7, "warning: … (8 to 20) will raise the replica count again, and wants 12 now"),
        (Some(8), 20, 8, "note: … also sets this replica count, between 8 and 20, and wants 12 now"),
        (Some(1), 8, 8, "note: … also sets this replica count, between 1 and 8, and wants 12 now"),
        (Some(1), 7, 8, "warning: … (1 to 7) will lower the replica count again, and wants 12 now"),
        (None, 20, 1, "note: … also sets this replica count, between 1 and 20, and wants 12 now"),
        // Scaling to 0 turns the autoscaler off.
        (None, 20, 0, "warning: … (1 to 20) sets no replica count while this one is 0"),
        (Some(0), 20, 0, "warning: … (0 to 20) sets no replica count while this one is 0"),
    ] {
        let shown = of(replicas, &[autoscaler(least, most, Some(12))]);
        assert_eq!(notes(&shown), [said.replace('…', "HorizontalPodAutoscaler web")]);
        let least = least.unwrap_or(1);
        let json = json!({
            "name": "web",
            "minReplicas": least,
            "maxReplicas": most,
            "desiredReplicas": 12,
            "withinBounds": (least..=most).contains(&replicas),
        });
        assert_eq!(shown.json["autoscaler"], json);
    }
    // Without metrics, it wants nothing yet: Kubernetes writes 0.
    for wanted in [None, Some(0)] {
        let shown = of(8, &[autoscaler(Some(2), 9, wanted)]);
        assert_eq!(
            notes(&shown),
            ["note: HorizontalPodAutoscaler web also sets this replica count, between 2 and 9"]
        );
        assert_eq!(shown.json["autoscaler"]["desiredReplicas"], Value::Null);
    }
    // Nobody asks for a count.
    let rollout = shown("deploy/web --rollout", at_rest(&[autoscaler(Some(20), 30, None)]));
    assert_eq!((notes(&rollout), rollout.json.get("autoscaler")), (vec![], None));
}

#[test]
fn an_autoscaler_names_kind_group_and_name() {
    for (place, value, is_its) in [
        ("spec scaleTargetRef apiVersion", json!("apps/v1beta2"), true),
        ("spec scaleTargetRef apiVersion", json!("extensions/v1beta1"), false),
        ("spec scaleTargetRef apiVersion", json!("v1"), false),
        ("spec scaleTargetRef apiVersion", Value::Null, false),
        ("spec scaleTargetRef kind", json!("ReplicaSet"), false),
        ("spec scaleTargetRef name", json!("api"), false),
        ("metadata namespace", json!("shop"), false),
    ] {
        let object = with(autoscaler(Some(8), 20, None), place, value.clone());
        let shown = of(3, &[object]);
        assert_eq!(shown.json.get("autoscaler").is_some(), is_its, "{place} {value}");
        assert_eq!(notes(&shown).is_empty(), !is_its);
    }
    let database = common::autoscaler(("StatefulSet", "db"), Some(8), 20, None);
    let shown = shown("sts/db --replicas 3", with_objects(STATEFUL_SET, &[database]));
    shown.says(&["warning: HorizontalPodAutoscaler web (8 to 20) will raise the replica count again"]);
}

#[test]
fn a_budget_covers_pods_that_go() {
    let of_app = |app: &str| json!({ "matchLabels": { "app": app } });
    let odd = json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] });
    let (web, all) = (of_app("web"), json!({}));
    let one = "note: PodDisruptionBudget web: the controller ignores it when it scales down";
    let two = "note: PodDisruptionBudgets web, all: the controller ignores them when it scales down";
    for (replicas, budgets, said) in [
        (3, vec![("web", &web)], Some(one)),
        (3, vec![("web", &all)], Some(one)),
        (3, vec![("web", &Value::Null)], None),
        (3, vec![("web", &of_app("api"))], None),
        (3, vec![("web", &odd)], None),
        (3, vec![("web", &web), ("all", &all)], Some(two)),
        // No pod is deleted.
        (9, vec![("web", &web), ("all", &all)], None),
    ] {
        let shown = of(replicas, &budgets.iter().map(|(name, of)| budget(name, of)).collect::<Vec<_>>());
        assert_eq!(notes(&shown), said.into_iter().collect::<Vec<_>>(), "{budgets:?}");
    }
    // One of another namespace covers none of them.
    let elsewhere = with(budget("web", &web), "metadata namespace", json!("shop"));
    assert!(notes(&of(3, &[elsewhere])).is_empty());
    // Before v1, an empty selector covers none.
    let old = with(budget("web", &all), "apiVersion", json!("policy/v1beta1"));
    assert!(notes(&of(3, &[old])).is_empty());
    // The budget only covers pods that are kept.
    let canary = changed(&idle(), &[(&format!("{NEW}-p4xkl"), "metadata labels track", json!("canary"))]);
    let canary = with_objects(&canary, &[budget("web", &json!({ "matchLabels": { "track": "canary" } }))]);
    let covered =
        |replicas: u32| shown(&format!("deploy/web --replicas {replicas}"), &canary).notes.contains(one);
    assert_eq!([0, 1].map(covered), [true, false]);
    // Another kind, which has no count.
    let words = "job/import --parallelism 1";
    let said = "note: PodDisruptionBudget web: the controller ignores it when it deletes pods";
    shown(words, with_objects(JOB, &[budget("web", &json!({}))])).says(&[said]);
}

#[test]
fn whoever_owns_the_count_is_named() {
    let owned = |kind: &str, example: &str, managers: &[&str]| {
        let entry = |manager: &&str| {
            let fields = json!({ "f:spec": { "f:replicas": {}, "f:selector": {} } });
            json!({ "manager": manager, "operation": "Apply", "fieldsV1": fields })
        };
        changed(example, &[(kind, "metadata managedFields", managers.iter().map(entry).collect())])
    };
    let rest = idle();
    let (set, two) = (format!("rs/{NEW} --replicas 3"), &["helm", "kubectl", "flux"][..]);
    let own = "note: helm, flux own spec.replicas and may reset it";
    shown("deploy/web --replicas 3", owned("Deployment", &rest, two)).says(&[own]);
    shown("sts/db --replicas 3", owned("StatefulSet", STATEFUL_SET, two)).says(&[own]);
    shown(&set, owned("ReplicaSet", &rest, &two[..1])).says(&["note: helm owns spec.replicas …"]);
    shown(&set, owned("ReplicaSet", &rest, two)).says(&[own]);
    let ours = &["podrank", "kube-controller-manager", "kubectl-edit"];
    shown("deploy/web --replicas 3", owned("Deployment", &rest, ours)).lacks("spec.replicas");
    // The replica count does not change.
    shown("deploy/web --replicas 9", owned("Deployment", &rest, two)).lacks("spec.replicas");
}

#[test]
fn a_policy_chooses_the_pods() {
    let [web, api] = ["web", "api"].map(|app| json!({ "matchLabels": { "app": app } }));
    let odd = json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] });
    let chooses = |name: &str| format!("note: ScaleDownPolicy {name}: podrank-webhook will select the pods");
    let said = &*chooses("all");
    let targeting = |name: &str, api_version: &str, kind: &str, target: &str| {
        let target = json!({ "apiVersion": api_version, "kind": kind, "name": target });
        with(with(policy(name, &Value::Null), "spec targetRef", target), "spec selector", Value::Null)
    };
    // The most specific one, and then the one whose name is first.
    let all = policy("all", &json!({}));
    assert_eq!(notes(&of(3, &[policy("every", &json!({})), all.clone()])), [said]);
    let webs = [policy("web", &web), policy("zoo", &web)];
    assert_eq!(notes(&of(3, &[&webs[..], slice::from_ref(&all)].concat())), [chooses("web")]);
    let zebra = targeting("zebra", "apps/v1beta2", "Deployment", "web");
    assert_eq!(notes(&of(3, &[&webs[..], slice::from_ref(&zebra)].concat())), [chooses("zebra")]);
    assert_eq!(notes(&of(3, &[targeting("new", "apps/v1", "ReplicaSet", NEW)])), [chooses("new")]);
    let deleted = with(policy("deleted", &web), "metadata deletionTimestamp", json!("2026-02-01T00:00:00Z"));
    let none = [
        policy("api", &api),
        policy("odd", &odd),
        deleted,
        targeting("group", "extensions/v1beta1", "Deployment", "web"),
        targeting("kind", "apps/v1", "StatefulSet", "web"),
        targeting("name", "apps/v1", "Deployment", "api"),
        with(zebra, "spec selector", json!({})),
        policy("neither", &Value::Null),
    ];
    assert!(notes(&of(3, &none)).is_empty());
    assert!(notes(&of(9, &webs)).is_empty());
    // Rollouts are left alone, unless the policy says otherwise. It has no say about other kinds.
    for (words, example, rollouts, is_said) in [
        ("deploy/web --rollout", ROLLOUT, "Steer", true),
        ("deploy/web --rollout", ROLLOUT, "Ignore", false),
        ("sts/db --replicas 3", STATEFUL_SET, "Steer", false),
    ] {
        let policy = with(all.clone(), "spec rollouts", json!(rollouts));
        let shown = shown(words, with_objects(example, &[policy]));
        assert_eq!(notes(&shown).contains(&said), is_said, "{words} {rollouts}");
    }
}

#[test]
fn what_is_not_sound_is_passed_over_and_named() {
    let mut odd = autoscaler(Some(8), 20, None);
    odd["spec"]["maxReplicas"] = json!("many");
    let nameless = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": 7 });
    let shown = of(3, &[odd, nameless]);
    let said = "note: this preview ignores objects that cannot be read: HorizontalPodAutoscaler default/web (spec.maxReplicas: …), \
                a PodDisruptionBudget without a name (metadata: invalid type: integer `7`, expected an object)";
    shown.says(&["6 of 9 go; …", said]);
    // Of other namespaces, nothing is said.
    let mut elsewhere = autoscaler(Some(8), 20, None);
    (elsewhere["metadata"]["namespace"], elsewhere["spec"]) = (json!("shop"), json!(7));
    assert!(notes(&of(3, &[elsewhere])).is_empty());
}

#[test]
fn lists_of_one_kind_are_read_as_well() {
    let bare = with(with(autoscaler(Some(8), 20, None), "apiVersion", Value::Null), "kind", Value::Null);
    // As `kubectl get --raw` prints it, and with the kind at the end.
    let first = format!(
        r#"{{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscalerList", "items": [{bare}]}}"#
    );
    let last = format!(
        r#"{{"items": [{bare}], "kind": "HorizontalPodAutoscalerList", "apiVersion": "autoscaling/v2"}}"#
    );
    for list in [first, last] {
        let (_, notes) = fine("deploy/web --replicas 3 -o name", idle() + &list);
        assert!(notes.contains("HorizontalPodAutoscaler web (8 to 20) will raise"), "{notes}");
    }
    // Without a workload there is still nothing to preview.
    let error = "the input has no Pod or workload that podrank knows\n  It has 1 object.\n…";
    common::fails("--replicas 1", dump(&[autoscaler(None, 2, None)]), error);
}

#[cfg(unix)]
mod cluster {
    use super::*;
    use crate::common::kubectl::{self, Answer, list, refused};

    /// The notes of a preview of this workload at rest, with these answers about it and its surroundings.
    fn read(words: &str, first: &[Answer], around: &[Answer; 2]) -> String {
        // Pods that have costs are listed again, with whose these are.
        let pods = list(&of_kind("Pod"));
        let ran = kubectl::run(
            &format!("{words} --replicas 3 -o name"),
            &[first, &[pods.clone(), pods], around].concat(),
        );
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let is_other = |line: &&str| !COSTS.contains(line) && !NOT_COUNTED.contains(line);
        ran.stderr.lines().filter(is_other).collect::<Vec<_>>().join("\n")
    }

    fn of_kind(kind: &str) -> Vec<Value> {
        items(&idle()).into_iter().filter(|item| item["kind"] == kind).collect()
    }

    fn of_deployment(around: &[Answer; 2]) -> String {
        read("deploy/web", &["Deployment", "ReplicaSet"].map(|kind| list(&of_kind(kind))), around)
    }

    #[test]
    fn surroundings_are_read_after_the_pods() {
        let web = json!({ "matchLabels": { "app": "web" } });
        let common = [autoscaler(Some(8), 20, Some(12)), budget("web", &web)];
        let policies = [policy("spot", &web)];
        assert_eq!(
            of_deployment(&[list(&common), list(&policies)]),
            "warning: HorizontalPodAutoscaler web (8 to 20) will raise the replica count again, and wants 12 now\n\
             note: PodDisruptionBudget web: the controller ignores it when it scales down\n\
             note: ScaleDownPolicy spot: podrank-webhook will select the pods"
        );
    }

    /// It is read once by its name, with the managers of its fields, and once among the related sets, without them.
    #[test]
    fn a_set_with_siblings_keeps_the_owner_of_its_count() {
        let sets = of_kind("ReplicaSet");
        let fields = json!({ "f:spec": { "f:replicas": {} } });
        let managers = json!([{ "manager": "rollouts-controller", "fieldsV1": fields }]);
        let set = with(sets[0].clone(), "metadata managedFields", managers);
        let first = [kubectl::says(&set), list(&sets)];
        let said = read(&format!("rs/{NEW}"), &first, &[list(&[]), list(&[])]);
        assert!(said.contains("note: rollouts-controller owns spec.replicas"), "{said}");
    }

    #[test]
    fn what_may_not_be_listed_is_passed_over_with_a_word() {
        const REFUSALS: &str = "\
Error from server (Forbidden): horizontalpodautoscalers.autoscaling is forbidden: User \"x\" cannot list resource \"horizontalpodautoscalers\"
Error from server (Forbidden): poddisruptionbudgets.policy is forbidden: User \"x\" cannot list resource \"poddisruptionbudgets\"
";
        const BOTH: &str = "note: autoscalers and disruption budgets could not be read";
        let (autoscalers, budgets): (&'static str, &'static str) =
            REFUSALS.split_at(REFUSALS.find('\n').expect("two lines") + 1);
        let none = list(&[]).0;
        let web = list(&[autoscaler(Some(8), 20, None)]).0;
        let raises = "warning: HorizontalPodAutoscaler web (8 to 20) will raise the replica count again";
        let no_budgets = format!("{raises}\nnote: disruption budgets could not be read");
        // Of several types, kubectl prints a list even if it may not read any.
        for (answer, said) in [
            ((web.clone(), "", 0), raises),
            ((web, budgets, 1), &*no_budgets),
            ((none.clone(), autoscalers, 1), "note: autoscalers could not be read"),
            ((none, REFUSALS, 1), BOTH),
            (refused("Unable to connect to the server\n"), BOTH),
        ] {
            // If the user may not list policies, or there are none, no note says so.
            for policies in [
                "Error from server (NotFound): the server could not find the requested resource\n",
                "Error from server (Forbidden): scaledownpolicies.podrank.dev is forbidden: User \"x\" cannot list resource \"scaledownpolicies\"\n",
            ] {
                assert_eq!(of_deployment(&[answer.clone(), refused(policies)]), said);
            }
        }
    }
}

#[test]
fn costs_have_writers() {
    let mut objects = items(&idle());
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    let with_cost = |object: &&mut Value| object["metadata"]["annotations"][cost].is_string();
    for (pod, manager) in objects.iter_mut().filter(with_cost).zip(["keda", "karpenter"]) {
        let fields = json!({ "f:metadata": { "f:annotations": { format!("f:{cost}"): {} } } });
        pod["metadata"]["managedFields"] =
            json!([{ "manager": manager, "operation": "Update", "fieldsV1": fields }]);
    }
    let shown = shown("deploy/web --replicas 8", dump(&objects));
    let said = "note: 2 pods have deletion costs, written by karpenter, keda (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)";
    assert!(shown.notes.lines().any(|line| line == said), "{}", shown.notes);
}
