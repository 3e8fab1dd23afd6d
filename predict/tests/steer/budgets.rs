//! What a plan says of `PodDisruptionBudget`s, which a scale-down ignores.

use crate::steer::dump::{dump, input, pod, request};
use podrank_laws::objects::with;
use podrank_predict::plan::{PlanSize, check_budgets, plan};
use serde_json::{Value, json};

/// A budget for the pods of the set, with a current status.
fn budget(name: &str, rule: &Value, allowed: u32, expected: u32) -> Value {
    let mut spec = rule.clone();
    spec["selector"] = json!({ "matchLabels": { "app": "web" } });
    json!({
        "kind": "PodDisruptionBudget",
        "metadata": { "name": name, "namespace": "shop", "generation": 1 },
        "spec": spec,
        "status": { "disruptionsAllowed": allowed, "expectedPods": expected, "observedGeneration": 1 },
    })
}

fn five() -> Vec<Value> {
    "abcde".chars().map(|letter| pod(letter, "n1")).collect()
}

/// What a plan says of them.
fn said(pods: &[Value], replicas: u32, budgets: &[Value]) -> Option<String> {
    let input = input(&[&*dump(pods), budgets].concat());
    let plan = plan(&input, &request(PlanSize::To(replicas), &[], Vec::new())).expect("a plan");
    check_budgets(&input, &plan).map(|note| note.to_string())
}

#[test]
fn budgets_of_other_pods_do_not_matter() {
    let rule = json!({ "maxUnavailable": 0 });
    let selecting = |labels: Value| with(budget("web", &rule, 0, 5), "spec selector", labels);
    let others = [
        selecting(json!({ "matchLabels": { "app": "api" } })),
        selecting(Value::Null),
        with(budget("web", &rule, 0, 5), "metadata namespace", json!("bar")),
        json!({ "kind": "HorizontalPodAutoscaler", "metadata": { "name": "web" } }),
    ];
    assert_eq!(said(&five(), 2, &others), None);
    // One that covers some of the pods.
    let mut some = five();
    some[1]["metadata"]["labels"]["track"] = json!("canary");
    let canary = [selecting(json!({ "matchLabels": { "track": "canary" } }))];
    assert!(said(&some, 2, &canary).is_some());
    assert_eq!(said(&some, 4, &canary), None, "its pod stays");
}

#[test]
fn a_scale_down_ignores_budgets_and_says_so() {
    let mut budgets = vec![budget("web", &json!({ "minAvailable": "50%" }), 0, 5)];
    assert_eq!(
        said(&five(), 0, &budgets).as_deref(),
        Some(
            "warning: PodDisruptionBudget web (minAvailable 50%) covers selected pods, but the controller ignores it when \
             it deletes pods"
        )
    );
    budgets.push(budget("all", &json!({}), 0, 5));
    let said = said(&five(), 4, &budgets).expect("a note");
    assert!(said.contains("web (minAvailable 50%), PodDisruptionBudget all cover selected pods"), "{said}");
}
