//! What will interfere with a scale-down: what a preview says of autoscalers, disruption budgets, other owners of the count, policies of
//! podrank-webhook and deletion costs, from a file and from a cluster. What the user may not list is passed over with a word.

use crate::common::{self, JOB, ROLLOUT, STATEFUL_SET, Shown, changed, dump, fine, items, shown, without};
use serde_json::{Value, json};

const NEW: &str = "web-7f6b9d5c48";
const COSTS: &str = "note: 2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)\n";

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

fn policy(name: &str, selector: &Value, created: &str) -> Value {
    json!({
        "apiVersion": "podrank.dev/v1alpha1",
        "kind": "ScaleDownPolicy",
        "metadata": { "name": name, "namespace": "default", "creationTimestamp": created },
        "spec": { "selector": selector, "rollouts": false },
    })
}

/// An example with these objects beside it.
fn with_objects(example: &str, more: &[Value]) -> String {
    dump(&[&*items(example), more].concat())
}

/// The example without its rollout: 9 pods, all of one set.
fn idle() -> String {
    let is_old = |item: &Value| {
        item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("web-5d8c7f9b64"))
    };
    changed(
        &without(ROLLOUT, is_old),
        &[
            ("web", "spec replicas", json!(9)),
            ("web", "status replicas", json!(9)),
            (NEW, "metadata annotations deployment.kubernetes.io/desired-replicas", json!("9")),
        ],
    )
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
    shown.notes.lines().filter(|line| !COSTS.contains(line)).collect()
}

#[test]
fn an_autoscaler_has_bounds() {
    let web = "HorizontalPodAutoscaler web";
    for (least, most, replicas, said) in [
        (Some(8), 20, 3, format!("warning: {web} (8 to 20) will raise the count again; it wants 12 now")),
        (Some(8), 20, 7, format!("warning: {web} (8 to 20) will raise the count again; it wants 12 now")),
        (Some(8), 20, 8, format!("note: {web} also sets this count, between 8 and 20; it wants 12 now")),
        (Some(1), 8, 8, format!("note: {web} also sets this count, between 1 and 8; it wants 12 now")),
        (Some(1), 7, 8, format!("warning: {web} (1 to 7) will lower the count again; it wants 12 now")),
        (None, 20, 1, format!("note: {web} also sets this count, between 1 and 20; it wants 12 now")),
        // Kubernetes turns it off.
        (None, 20, 0, format!("warning: {web} (1 to 20) sets no count while this one is 0")),
        (Some(0), 20, 0, format!("note: {web} also sets this count, between 0 and 20; it wants 12 now")),
    ] {
        let shown = of(replicas, &[autoscaler(least, most, Some(12))]);
        assert_eq!(notes(&shown), [said], "{least:?} {most} {replicas}");
        let least = least.unwrap_or(1);
        let json = json!({
            "name": "web",
            "minReplicas": least,
            "maxReplicas": most,
            "desiredReplicas": 12,
            "inside": (least..=most).contains(&replicas),
        });
        assert_eq!(shown.json["autoscaler"], json);
    }
    // Without metrics, it wants nothing yet: Kubernetes writes 0.
    for wanted in [None, Some(0)] {
        let shown = of(8, &[autoscaler(Some(2), 9, wanted)]);
        assert_eq!(notes(&shown), [format!("note: {web} also sets this count, between 2 and 9")]);
        assert_eq!(shown.json["autoscaler"]["desiredReplicas"], Value::Null);
    }
    // Nobody asks for a count.
    let rollout = shown("deploy/web --rollout", at_rest(&[autoscaler(Some(20), 30, None)]));
    assert_eq!((notes(&rollout), rollout.json.get("autoscaler")), (vec![], None));
}

#[test]
fn an_autoscaler_names_kind_group_and_name() {
    for (place, value, is_its) in [
        ("apiVersion", json!("apps/v1"), true),
        ("apiVersion", json!("apps/v1beta2"), true),
        ("apiVersion", json!("extensions/v1beta1"), false),
        ("apiVersion", json!("v1"), false),
        ("apiVersion", json!("example.com/v1"), false),
        ("apiVersion", Value::Null, false),
        ("kind", json!("ReplicaSet"), false),
        ("kind", json!("StatefulSet"), false),
        ("name", json!("api"), false),
    ] {
        let mut object = autoscaler(Some(8), 20, None);
        let target = &mut object["spec"]["scaleTargetRef"];
        target[place] = value.clone();
        if value.is_null() {
            target.as_object_mut().expect("an object").remove(place);
        }
        assert_eq!(of(3, &[object]).json.get("autoscaler").is_some(), is_its, "{place} {value}");
    }
    let mut elsewhere = autoscaler(Some(8), 20, None);
    elsewhere["metadata"]["namespace"] = json!("shop");
    assert!(notes(&of(3, &[elsewhere])).is_empty());
    let database = common::autoscaler(("StatefulSet", "db"), Some(8), 20, None);
    let shown = shown("sts/db --replicas 3", with_objects(STATEFUL_SET, &[database]));
    shown.says(&["warning: HorizontalPodAutoscaler web (8 to 20) will raise the count again"]);
}

#[test]
fn a_budget_covers_pods_that_go() {
    let web = json!({ "matchLabels": { "app": "web" } });
    let ignored =
        |what: &str, them: &str| format!("note: {what}: the controller ignores {them} when it scales down");
    for (selector, covers) in [
        (web.clone(), true),
        (json!({}), true),
        (Value::Null, false),
        (json!({ "matchLabels": { "app": "api" } }), false),
        (json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] }), false),
    ] {
        let shown = of(3, &[budget("web", &selector)]);
        let expected = covers.then(|| ignored("PodDisruptionBudget web", "it"));
        assert_eq!(notes(&shown), expected.iter().collect::<Vec<_>>(), "{selector}");
    }
    let both = [budget("web", &web), budget("all", &json!({}))];
    assert_eq!(notes(&of(3, &both)), [ignored("PodDisruptionBudgets web, all", "them")]);
    // None goes.
    assert!(notes(&of(9, &both)).is_empty());
    // Only pods that stay are covered.
    let mut objects = items(&idle());
    let stays =
        objects.iter_mut().find(|it| it["metadata"]["name"] == format!("{NEW}-p4xkl")).expect("a pod");
    stays["metadata"]["labels"]["track"] = json!("canary");
    objects.push(budget("web", &json!({ "matchLabels": { "track": "canary" } })));
    let canary = |replicas: u32| shown(&format!("deploy/web --replicas {replicas}"), dump(&objects));
    assert!(notes(&canary(1)).is_empty());
    assert_eq!(notes(&canary(0)), [ignored("PodDisruptionBudget web", "it")]);
    // Another kind, which has no count.
    let words = "job/import --parallelism 1";
    let said = "note: PodDisruptionBudget web: the controller ignores it when it deletes pods";
    shown(words, with_objects(JOB, &[budget("web", &json!({}))])).says(&[said]);
}

#[test]
fn whoever_owns_the_count_is_named() {
    let owned = |kind: &str, example: &str, managers: &[&str]| {
        let mut objects = items(example);
        let workload = objects.iter_mut().find(|it| it["kind"] == kind).expect("a workload");
        let entry = |manager: &&str| {
            let fields = json!({ "f:spec": { "f:replicas": {}, "f:selector": {} } });
            json!({ "manager": manager, "operation": "Apply", "fieldsV1": fields })
        };
        workload["metadata"]["managedFields"] = managers.iter().map(entry).collect();
        dump(&objects)
    };
    let rest = idle();
    for (managers, said) in [
        (
            &["argocd-controller"][..],
            Some("note: argocd-controller owns spec.replicas and may write it back"),
        ),
        (&["helm", "kubectl", "flux"], Some("note: helm, flux own spec.replicas and may write it back")),
        (&["podrank", "kube-controller-manager", "kubectl", "kubectl-edit"], None),
    ] {
        let shown = shown("deploy/web --replicas 3", owned("Deployment", &rest, managers));
        assert_eq!(notes(&shown), said.iter().copied().collect::<Vec<_>>());
    }
    // The count stays as it is.
    let same = shown("deploy/web --replicas 9", owned("Deployment", &rest, &["argocd-controller"]));
    assert!(notes(&same).is_empty());
    let database = owned("StatefulSet", STATEFUL_SET, &["argocd-controller"]);
    shown("sts/db --replicas 3", database).says(&["note: argocd-controller owns spec.replicas …"]);
    let set = owned("ReplicaSet", &rest, &["rollouts-controller"]);
    shown(&format!("rs/{NEW} --replicas 3"), set).says(&["note: rollouts-controller owns spec.replicas …"]);
}

#[test]
fn a_policy_chooses_the_pods() {
    let web = json!({ "matchLabels": { "app": "web" } });
    let said = |name: &str| format!("note: ScaleDownPolicy {name}: podrank-webhook will choose the pods");
    let [old, new] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"];
    assert_eq!(notes(&of(3, &[policy("new", &web, new), policy("old", &json!({}), old)])), [said("old")]);
    let others = [
        policy("api", &json!({ "matchLabels": { "app": "api" } }), old),
        policy("odd", &json!({ "matchExpressions": [{ "key": "app", "operator": "Like" }] }), old),
        common::with(policy("going", &web, old), "metadata deletionTimestamp", json!(new)),
    ];
    assert!(notes(&of(3, &others)).is_empty());
    assert!(notes(&of(9, &[policy("web", &web, old)])).is_empty());
    // Rollouts are left alone, unless the policy says otherwise.
    let rolling = |rollouts: bool| {
        let policy = common::with(policy("web", &web, old), "spec rollouts", json!(rollouts));
        shown("deploy/web --rollout", with_objects(ROLLOUT, &[policy]))
    };
    assert!(notes(&rolling(true)).contains(&&*said("web")));
    rolling(false).lacks("podrank-webhook");
    // It has no say about other kinds.
    shown("sts/db --replicas 3", with_objects(STATEFUL_SET, &[policy("all", &json!({}), old)]))
        .lacks("podrank-webhook");
}

#[test]
fn what_is_not_sound_is_passed_over_and_named() {
    let mut odd = autoscaler(Some(8), 20, None);
    odd["spec"]["maxReplicas"] = json!("many");
    let nameless = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": 7 });
    let shown = of(3, &[odd, nameless]);
    let said = "note: this preview passes over what is not sound: HorizontalPodAutoscaler web (spec.maxReplicas: …), \
                a PodDisruptionBudget without a name (metadata.name is missing)";
    shown.says(&["6 of 9 go; …", said]);
    // Of other namespaces, nothing is said.
    let mut elsewhere = autoscaler(Some(8), 20, None);
    (elsewhere["metadata"]["namespace"], elsewhere["spec"]) = (json!("shop"), json!(7));
    assert!(notes(&of(3, &[elsewhere])).is_empty());
}

#[test]
fn lists_of_one_kind_and_yaml_are_read_as_well() {
    let mut bare = autoscaler(Some(8), 20, None);
    for field in ["apiVersion", "kind"] {
        bare.as_object_mut().expect("an object").remove(field);
    }
    // As `kubectl get --raw` prints it, and with the kind at the end.
    let first =
        json!({ "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscalerList", "items": [bare] });
    let last = format!(
        r#"{{"items": [{bare}], "kind": "HorizontalPodAutoscalerList", "apiVersion": "autoscaling/v2"}}"#
    );
    // YAML as well: JSON is YAML.
    let yaml = format!("# YAML\n{}", at_rest(&[autoscaler(Some(8), 20, None)]));
    for dump in [idle() + &first.to_string(), idle() + &last, yaml] {
        let (_, notes) = fine("deploy/web --replicas 3 -o name", dump);
        assert!(notes.contains("HorizontalPodAutoscaler web (8 to 20) will raise"), "{notes}");
    }
    // Without a workload there is still nothing to preview.
    let error = "no Pod or workload that has a preview among 1 object: print the objects with kubectl get \
                 pods,replicasets,deployments -o json";
    common::fails("--replicas 1", dump(&[autoscaler(None, 2, None)]), error);
}

#[cfg(unix)]
mod cluster {
    use super::*;
    use crate::common::kubectl::Kubectl;

    /// What kubectl prints of the surroundings: to standard output, to standard error, and its exit status.
    type Answer<'a> = (&'a [Value], &'a str, u8);

    /// The notes of a preview of the example at rest, and what was asked about its surroundings.
    fn read(common: Answer<'_>, policies: Answer<'_>) -> (String, Vec<String>) {
        let example = items(&idle());
        let of =
            |kind: &str| dump(&example.iter().filter(|it| it["kind"] == kind).cloned().collect::<Vec<_>>());
        // Pods that have costs are listed again, with whose these are.
        let workload = ["Deployment", "ReplicaSet", "Pod", "Pod"].map(|kind| (of(kind), "", 0));
        let around = [common, policies].map(|(found, said, status)| {
            // Of several types, it prints a list even if it may not read any.
            let is_nothing = found.is_empty() && status != 0 && !said.contains("(Forbidden)");
            (if is_nothing { String::new() } else { dump(found) }, said, status)
        });
        let kubectl = Kubectl::with(workload.into_iter().chain(around).map(|(out, err, status)| {
            vec![("out", out), ("err", err.to_owned()), ("status", status.to_string())]
        }));
        let output = kubectl.run(&["deploy/web", "--replicas", "3", "-o", "name"], b"");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(0), "{said}");
        (said.lines().filter(|line| !COSTS.contains(line)).collect::<Vec<_>>().join("\n"), kubectl.asked())
    }

    fn refusal(resource: &str) -> String {
        let name = resource.split('.').next().expect("a name");
        format!(
            "Error from server (Forbidden): {resource} is forbidden: User \"x\" cannot list resource \"{name}\"\n"
        )
    }

    const NONE: Answer<'_> =
        (&[], "Error from server (NotFound): the server could not find the requested resource\n", 1);

    #[test]
    fn surroundings_are_read_after_the_pods() {
        let web = json!({ "matchLabels": { "app": "web" } });
        let common = [autoscaler(Some(8), 20, Some(12)), budget("web", &web)];
        let policies = [policy("spot", &web, "2026-01-01T00:00:00Z")];
        let (said, asked) = read((&common, "", 0), (&policies, "", 0));
        assert_eq!(
            said,
            "warning: HorizontalPodAutoscaler web (8 to 20) will raise the count again; it wants 12 now\n\
             note: PodDisruptionBudget web: the controller ignores it when it scales down\n\
             note: ScaleDownPolicy spot: podrank-webhook will choose the pods"
        );
        assert_eq!(
            asked[4..],
            [
                "get|horizontalpodautoscalers.autoscaling,poddisruptionbudgets.policy|--output=json|--namespace|default",
                "get|--raw|/apis/podrank.dev/v1alpha1/namespaces/default/scaledownpolicies",
            ]
        );
    }

    /// It is read once by its name, with the managers of its fields, and once among its siblings, without them.
    #[test]
    fn a_set_with_siblings_keeps_the_owner_of_its_count() {
        let example = items(&idle());
        let of = |kind: &str| example.iter().filter(|it| it["kind"] == kind).cloned().collect::<Vec<_>>();
        let mut set = of("ReplicaSet")[0].clone();
        let fields = json!({ "f:spec": { "f:replicas": {} } });
        set["metadata"]["managedFields"] = json!([{ "manager": "rollouts-controller", "fieldsV1": fields }]);
        let pods = dump(&of("Pod"));
        let answers = [set.to_string(), dump(&of("ReplicaSet")), pods.clone(), pods, dump(&[]), dump(&[])];
        let kubectl = Kubectl::with(
            answers.map(|out| vec![("out", out), ("err", String::new()), ("status", "0".to_owned())]),
        );
        let output = kubectl.run(&[&format!("rs/{NEW}"), "--replicas", "3", "-o", "name"], b"");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains("note: rollouts-controller owns spec.replicas"), "{said}");
    }

    #[test]
    fn what_may_not_be_listed_is_passed_over_with_a_word() {
        let [autoscalers, budgets] =
            ["horizontalpodautoscalers.autoscaling", "poddisruptionbudgets.policy"].map(refusal);
        let web = [autoscaler(Some(8), 20, None)];
        let raises = "warning: HorizontalPodAutoscaler web (8 to 20) will raise the count again";
        for (found, error, said) in [
            (&web[..], "", raises.to_owned()),
            (&web, &*budgets, format!("{raises}\nnote: disruption budgets could not be read")),
            (&[], &*autoscalers, "note: autoscalers could not be read".to_owned()),
            (
                &[],
                &format!("{autoscalers}{budgets}"),
                "note: autoscalers and disruption budgets could not be read".to_owned(),
            ),
            (
                &[],
                "Unable to connect to the server\n",
                "note: autoscalers and disruption budgets could not be read".to_owned(),
            ),
        ] {
            // Nobody may list policies, or there are none: that is no news.
            for policies in [NONE, (&[], &*refusal("scaledownpolicies.podrank.dev"), 1)] {
                let status = u8::from(!error.is_empty());
                assert_eq!(read((found, error, status), policies).0, said);
            }
        }
    }
}
