//! What a plan says of `PodDisruptionBudget`s, and which evictions it refuses.

use crate::steer::dump::{dump, input, not_ready, pod, request, set};
use podrank_laws::objects::with;
use podrank_predict::plan::{Count, Plan, check_budgets, plan};
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

/// What is said of an eviction, or of a plain scale-down: the notes, or the refusal.
fn say(pods: &[Value], replicas: u32, by_eviction: bool, budgets: &[Value]) -> Result<Vec<String>, String> {
    let input = input(&[&*dump(pods), budgets].concat());
    let mut request = request(Count::To(replicas), &[], Vec::new());
    request.by_cost = !by_eviction;
    let plan: Plan = plan(&input, &request).expect("a plan");
    let notes = check_budgets(&input, &plan, by_eviction).map_err(|error| error.to_string())?;
    Ok(notes.iter().map(ToString::to_string).collect())
}

/// The lowest count of five that evictions reach, as the refusals say.
fn lowest(pods: &[Value], budgets: &[Value]) -> u32 {
    let is_refused = |replicas: &u32| say(pods, *replicas, true, budgets).is_err();
    let lowest = (0..5).rev().find(is_refused).map_or(0, |refused| refused + 1);
    for replicas in 0..lowest {
        let refusal = say(pods, replicas, true, budgets).expect_err("it is lower");
        assert!(refusal.contains(&format!("keep {lowest} or more")), "{refusal}");
    }
    lowest
}

#[test]
fn evictions_that_a_budget_never_allows_are_refused() {
    let budgets = [budget("web", &json!({ "minAvailable": 3 }), 2, 5)];
    assert_eq!(say(&five(), 3, true, &budgets), Ok(Vec::new()));
    assert_eq!(
        say(&five(), 2, true, &budgets),
        Err("PodDisruptionBudget web (minAvailable 3) allows 2 disruptions now, and never lets \
             evictions lower rs/web below 3 replicas, but 2 would be left: keep 3 or more, or change the budget"
            .to_owned())
    );
    // The disruption controller rounds both percentages up, and pods of others count.
    for (rule, expected, reached) in [
        (json!({ "minAvailable": 5 }), 5, 5),
        (json!({ "minAvailable": 9 }), 5, 5),
        (json!({ "minAvailable": 0 }), 5, 0),
        (json!({ "minAvailable": 3 }), 7, 1),
        (json!({ "minAvailable": "100%" }), 5, 5),
        // 3 of 4, and 3 of 3.
        (json!({ "minAvailable": "70%" }), 5, 3),
        (json!({ "minAvailable": "70%" }), 6, 2),
        (json!({ "maxUnavailable": 0 }), 5, 5),
        (json!({ "maxUnavailable": "0%" }), 50, 5),
        (json!({ "maxUnavailable": "1%" }), 5, 0),
        (json!({ "maxUnavailable": 1 }), 5, 0),
        (json!({}), 0, 5),
    ] {
        assert_eq!(lowest(&five(), &[budget("web", &rule, 0, expected)]), reached, "{rule} of {expected}");
    }
}

/// A number that must be available is one of pods, and a percentage one of replicas.
#[test]
fn pods_that_terminate_are_no_pods_of_others() {
    let mut six = five();
    six.push(pod('f', "n1"));
    six[5]["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
    let with_five = |replicas, rule: &Value, expected| {
        let mut items = six.clone();
        items.extend([set(5), budget("web", rule, 1, expected)]);
        let mut request = request(Count::To(replicas), &[], Vec::new());
        request.by_cost = false;
        let input = input(&items);
        let plan = plan(&input, &request).expect("a plan");
        check_budgets(&input, &plan, true).is_ok()
    };
    for (least, expected, lowest) in [(json!(3), 6, 3), (json!("70%"), 5, 3), (json!("70%"), 6, 2)] {
        let rule = json!({ "minAvailable": least });
        assert!(with_five(lowest, &rule, expected) && !with_five(lowest - 1, &rule, expected), "{rule}");
    }
}

#[test]
fn what_only_may_change_is_no_refusal() {
    let budgets = [budget("web", &json!({ "minAvailable": 3 }), 0, 5)];
    let waits = "warning: PodDisruptionBudget web (minAvailable 3) allows no disruption now: each eviction waits until \
                 it does, for --timeout at most";
    assert_eq!(say(&five(), 4, true, &budgets), Ok(vec![waits.to_owned()]));
    // Without a status for this spec it is not known how many pods there are.
    let old = json!({ "expectedPods": 5, "disruptionsAllowed": 0, "observedGeneration": 0 });
    for status in [Value::Null, old] {
        assert_eq!(say(&five(), 0, true, &[with(budgets[0].clone(), "status", status)]), Ok(Vec::new()));
    }
    let none = with(budget("web", &json!({ "maxUnavailable": 0 }), 0, 5), "status", Value::Null);
    let refusal = say(&five(), 4, true, &[none]).expect_err("never");
    assert!(refusal.starts_with("PodDisruptionBudget web (maxUnavailable 0) never lets"), "{refusal}");
    // Pods that are not ready may be evicted.
    let mut some = five();
    some[0] = not_ready(some[0].clone());
    assert_eq!(lowest(&some, &[budget("web", &json!({ "maxUnavailable": 0 }), 0, 5)]), 4);
}

#[test]
fn budgets_of_other_pods_do_not_matter() {
    let rule = json!({ "maxUnavailable": 0 });
    let selecting = |labels: Value| with(budget("web", &rule, 0, 5), "spec selector", labels);
    let others = [
        selecting(json!({ "matchLabels": { "app": "api" } })),
        selecting(Value::Null),
        json!({ "kind": "HorizontalPodAutoscaler", "metadata": { "name": "web" } }),
    ];
    for by_eviction in [true, false] {
        assert_eq!(say(&five(), 2, by_eviction, &others), Ok(Vec::new()));
    }
    // One that covers some of the pods: how many of these go is not known before, but if none may, that is certain.
    let mut some = five();
    some[1]["metadata"]["labels"]["track"] = json!("canary");
    let of_some = |rule: &Value| {
        let canary = json!({ "matchLabels": { "track": "canary" } });
        say(&some, 2, true, &[with(budget("canary", rule, 2, 12), "spec selector", canary)])
    };
    assert!(of_some(&rule).is_err());
    assert_eq!(of_some(&json!({ "minAvailable": 10 })), Ok(Vec::new()));
    // Its pod stays.
    let all = selecting(json!({ "matchLabels": { "track": "canary" } }));
    assert_eq!(say(&some, 4, true, &[all]), Ok(Vec::new()));
}

#[test]
fn pods_with_two_budgets_are_not_evicted() {
    let budgets = ["a", "b"].map(|name| budget(name, &json!({ "maxUnavailable": 1 }), 1, 5));
    assert_eq!(
        say(&five(), 4, true, &budgets),
        Err("web-a has PodDisruptionBudget a (maxUnavailable 1) and PodDisruptionBudget b \
             (maxUnavailable 1), and Kubernetes evicts no pod that has several: delete all but one of them"
            .to_owned())
    );
}

#[test]
fn a_plain_scale_down_ignores_budgets_and_says_so() {
    let mut budgets = vec![budget("web", &json!({ "minAvailable": "50%" }), 0, 5)];
    assert_eq!(
        say(&five(), 0, false, &budgets),
        Ok(vec![
            "warning: PodDisruptionBudget web (minAvailable 50%) covers pods that go, but the controller ignores it when \
             it deletes pods: --by eviction respects it, if evictions can go that far"
                .to_owned()
        ])
    );
    budgets.push(budget("all", &json!({}), 0, 5));
    let said = say(&five(), 4, false, &budgets).expect("no refusal");
    assert!(
        said[0].contains("web (minAvailable 50%), PodDisruptionBudget all cover pods that go"),
        "{said:?}"
    );
}
