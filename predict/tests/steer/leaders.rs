//! Owners of kinds that no module knows, such as an Argo Rollout: their count falls in place of that of their set.

use crate::steer::dump::{dump, input, pod, refusal, request, selected_letters, set};
use podrank_laws::objects;
use podrank_predict::plan::{
    PlanRequest, PlanSize, leader, leaders, nothing_to_do, one_workload, plan, set_of_leader, state,
};
use podrank_predict::{OwnerName, WorkloadKind, WorkloadName};
use serde_json::{Value, json};

fn rollout(replicas: usize) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "rollout",
            "generation": 2,
            "resourceVersion": "9",
        },
        "spec": { "replicas": replicas },
        "status": { "observedGeneration": "2" },
    })
}

/// The set, with the Rollout as its controller.
fn led(mut set: Value, name: &str) -> Value {
    set["metadata"]["name"] = json!(name);
    set["metadata"]["uid"] = json!(name);
    set["metadata"]["ownerReferences"] = objects::owner("argoproj.io/v1alpha1", "Rollout", "web");
    set["metadata"]["ownerReferences"][0]["uid"] = json!("rollout");
    set
}

/// Three pods of `ReplicaSet` web, which the Rollout controls beside an old one of no pods.
fn three() -> Vec<Value> {
    let mut items = dump(&[pod('a', "n1"), pod('b', "n2"), pod('c', "n3")]);
    let own = items.pop().expect("a set");
    items.extend([led(set(0), "old"), led(own, "web"), rollout(3)]);
    items
}

fn about(mut request: PlanRequest, set: &str) -> PlanRequest {
    request.options.workload =
        Some(WorkloadName { kind: Some(WorkloadKind::ReplicaSet), name: set.to_owned() });
    request
}

fn to(replicas: u32) -> PlanRequest {
    about(request(PlanSize::To(replicas), &[], Vec::new()), "web")
}

/// The items, in which one that `kind` and `name` name is changed.
fn with(kind: &str, name: &str, place: &str, value: Value) -> Vec<Value> {
    let mut items = three();
    let is_it = |item: &&mut Value| item["kind"] == kind && item["metadata"]["name"] == name;
    objects::put(items.iter_mut().find(is_it).expect("an object"), place, value);
    items
}

#[test]
fn the_count_of_the_owner_falls() {
    let items = input(&three());
    let plan =
        plan(&items, &about(request(PlanSize::AllButNamed, &["web-b"], Vec::new()), "web")).expect("a plan");
    assert_eq!(
        (plan.target.to_string(), plan.target.resource()),
        ("rollout/web".into(), "rollout.argoproj.io/web".into())
    );
    assert_eq!((&*plan.target.uid, &*plan.target.resource_version), ("rollout", "9"));
    assert_eq!((plan.from, plan.replicas, plan.left, selected_letters(&plan)), (3, 2, 2, "b".to_owned()));
    assert!(!plan.is_rollout && plan.sets[0].replica_set == "web" && plan.sets.len() == 1);
    let json = serde_json::to_value(&plan).expect("JSON");
    assert_eq!(json["workload"], json!({ "kind": "Rollout", "name": "web" }));
}

/// Whichever of its sets is named: an owner may have begun to use another one.
#[test]
fn the_set_in_use_is_the_one_that_loses_pods() {
    let plan =
        plan(&input(&three()), &about(request(PlanSize::To(1), &[], Vec::new()), "old")).expect("a plan");
    assert_eq!((&*plan.sets[0].replica_set, plan.delete), ("web", 2));
}

#[test]
fn what_the_owner_has_not_settled_is_refused() {
    let several = "Rollout shop/web uses several ReplicaSets: old, web\n  Only its own controller decides how they share its replica count.\n  Wait for its rollout to end.";
    assert_eq!(refusal(&with("ReplicaSet", "old", "spec replicas", json!(1)), &to(1)), several);
    // A pod that an old set has still not lost.
    let mut left = pod('d', "n1");
    left["metadata"]["ownerReferences"] = objects::owner("apps/v1", "ReplicaSet", "old");
    assert_eq!(refusal(&[three(), vec![left]].concat(), &to(1)), several);
    let lags = "the controller of Rollout shop/web is still working\n  It has not acted on the latest change yet.\n  Try again soon.";
    for (kind, place, value, text) in [
        ("Rollout", "status observedGeneration", json!("1"), lags),
        ("Rollout", "status observedGeneration", json!(1), lags),
        ("ReplicaSet", "status observedGeneration", json!(0), lags),
        (
            "Rollout",
            "spec replicas",
            json!(4),
            "the controller of Rollout shop/web is still working\n  Rollout shop/web has 4 replicas, but its ReplicaSet web has 3.\n  Try again soon.",
        ),
        (
            "Rollout",
            "metadata deletionTimestamp",
            json!("2026-03-10T12:00:00Z"),
            "Rollout shop/web is being deleted",
        ),
        (
            "ReplicaSet",
            "metadata deletionTimestamp",
            json!("2026-03-10T12:00:00Z"),
            "ReplicaSet shop/web is being deleted",
        ),
    ] {
        assert_eq!(refusal(&with(kind, "web", place, value), &to(1)), text, "{kind} {place}");
    }
    let mut items = three();
    items.remove(0);
    assert_eq!(
        refusal(&items, &to(1)),
        "only 2 pods of ReplicaSet shop/web are listed, while its status counts 3\n  Try again soon."
    );
    let empty = [led(set(0), "web"), rollout(0)];
    assert_eq!(
        refusal(&empty, &about(request(PlanSize::AllButNamed, &["x"], Vec::new()), "web")),
        "Rollout shop/web has no pods"
    );
}

#[test]
fn without_its_owner_a_set_is_refused_with_the_command_that_works() {
    let alone: Vec<_> = three().into_iter().filter(|item| item["kind"] != "Rollout").collect();
    let told = "Rollout web controls ReplicaSet shop/web\n  It would reset the replica count.\n  Scale it instead: kubectl podrank scale rollout.argoproj.io/web -n shop --replicas N";
    assert_eq!(refusal(&alone, &to(1)), told);
    // Another object of that name, or one that is not sound, is not its owner.
    assert_eq!(refusal(&with("Rollout", "web", "metadata uid", json!("other")), &to(1)), told);
    assert_eq!(refusal(&with("Rollout", "web", "spec replicas", json!("3")), &to(1)), told);
    let elsewhere = with("Rollout", "web", "metadata namespace", json!("bar"));
    assert_eq!(refusal(&elsewhere, &to(1)), told);
    // A type that could be a flag is not repeated as a command.
    let mut strange = alone;
    let set = strange.last_mut().expect("a set");
    set["metadata"]["ownerReferences"][0]["kind"] = json!("--all");
    assert!(refusal(&strange, &to(1)).ends_with("Scale it instead if it has a replica count."));
}

#[test]
fn the_state_is_that_of_the_owner_and_all_its_sets() {
    let now = |items: &[Value]| state(&input(items), &to(1).options).expect("sound");
    let state = now(&three());
    assert_eq!((state.target.to_string(), state.replicas, state.pods.len()), ("rollout/web".into(), 3, 3));
    assert!(!state.lags);
    // Once it is scaled, until its controller has scaled the set.
    let state = now(&with("Rollout", "web", "spec replicas", json!(1)));
    assert!(state.lags && state.replicas == 1);
    assert!(now(&with("Rollout", "web", "status observedGeneration", json!("1"))).lags);
    let mut left = pod('d', "n1");
    left["metadata"]["ownerReferences"] = objects::owner("apps/v1", "ReplicaSet", "old");
    assert_eq!(now(&[three(), vec![left]].concat()).pods.len(), 4);
    let plan = nothing_to_do(&input(&three()), &to(3)).expect("sound").expect("nothing to do");
    assert_eq!((plan.target.to_string(), plan.notes.len()), ("rollout/web".into(), 0));
}

#[test]
fn pods_are_dropped_through_the_owner_of_their_set() {
    let workload =
        |items: &[Value]| one_workload(&input(items)).map(|it| format!("{} in {}", it.name, it.namespace));
    assert_eq!(workload(&three()), Ok("rollout.argoproj.io/web in shop".to_owned()));
    let named = |items: &[Value]| {
        leaders(&input(items)).into_iter().map(|(_, name)| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(named(&three()), ["rollout.argoproj.io/web"]);
    let none: [&str; 0] = [];
    assert_eq!(named(&crate::steer::dump::of_deployment(&[pod('a', "n1")])), none);
    // Pods of two sets belong to one owner, even if no plan can choose among them now.
    let mut other = pod('d', "n1");
    other["metadata"]["ownerReferences"] = objects::owner("apps/v1", "ReplicaSet", "old");
    assert_eq!(workload(&[three(), vec![other]].concat()), Ok("rollout.argoproj.io/web in shop".to_owned()));
    let without: Vec<_> = three().into_iter().filter(|item| item["kind"] != "Rollout").collect();
    let error = workload(&without).expect_err("no count").to_string();
    assert!(
        error.ends_with(
            "belongs to ReplicaSet web\n  Rollout web sets the replica count of ReplicaSet web.\n  \
             Scale Rollout web instead if it has a replica count."
        ),
        "{error}"
    );
}

#[test]
fn an_owner_is_known_by_its_object_whatever_the_user_calls_it() {
    let asked = OwnerName { resource: "ro".to_owned(), name: "web".to_owned() };
    let (namespace, name) = leader(&input(&three()), &asked).expect("an owner");
    assert_eq!((&*namespace, name.to_string()), ("shop", "rollout.argoproj.io/web".to_owned()));
    let set_of = |items: &[Value]| set_of_leader(&input(items)).map(|set| set.to_string());
    assert_eq!(set_of(&three()).as_deref(), Some("rs/web"));
    assert_eq!(set_of(&with("Rollout", "web", "metadata uid", json!("other"))), None);
    let error = leader(&input(&[set(1)]), &asked).expect_err("no owner").to_string();
    assert_eq!(error, "ro/web cannot be scaled down\n  It has no spec.replicas.");
}
