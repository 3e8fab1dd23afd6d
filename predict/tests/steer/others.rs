//! How plans treat foreign costs.

use crate::steer::dump::{dump, input, pod, refusal, request, selected_letters, with_cost};
use fastrand::Rng;
use podrank_laws::generate::seeds;
use podrank_predict::PREVIOUS_COST_ANNOTATION;
use podrank_predict::plan::{ForeignCosts, Plan, PlanSize, Preference, TopologyLevel, plan, state};
use serde_json::{Value, json};
use std::cmp::Reverse;

fn planned(pods: &[Value], replicas: u32, foreign_costs: ForeignCosts, preferences: Vec<Preference>) -> Plan {
    let mut request = request(PlanSize::To(replicas), &[], preferences);
    request.foreign_costs = foreign_costs;
    plan(&input(&dump(pods)), &request).expect("a plan")
}

fn goes(pods: &[Value], replicas: u32, foreign_costs: ForeignCosts) -> String {
    selected_letters(&planned(pods, replicas, foreign_costs, Vec::new()))
}

fn by_karpenter(letter: char, node: &str, cost: &str) -> Value {
    with_cost(pod(letter, node), cost, "karpenter", "Update")
}

/// Notes a cost that a manager has overwritten, beside the cost that it wrote.
fn noted(mut pod: Value, manager: &str) -> Value {
    pod["metadata"]["annotations"][PREVIOUS_COST_ANNOTATION] =
        json!({ "value": "-5", "manager": "karpenter" }).to_string().into();
    let fields =
        json!({ "f:metadata": { "f:annotations": { format!("f:{PREVIOUS_COST_ANNOTATION}"): {} } } });
    let entry = json!({ "manager": manager, "operation": "Apply", "fieldsV1": fields });
    pod["metadata"]["managedFields"].as_array_mut().expect("a manager of the cost").push(entry);
    pod
}

#[test]
fn costs_of_others_decide_what_is_left_open() {
    let pods = [pod('a', "n1"), by_karpenter('b', "n2", "-1"), by_karpenter('c', "n3", "-9")];
    assert_eq!(goes(&pods, 2, ForeignCosts::Keep), "c");
    assert_eq!(goes(&pods, 2, ForeignCosts::Override), "a");
}

/// A pod: its letter, its node and zone.
type Placed = (char, usize, usize);

/// The pod that is deleted next, by a naive search: from the zone and then the node with the most remaining pods.
fn next(left: &[Placed]) -> Placed {
    let node = |pod: &Placed| pod.1;
    let zone = |pod: &Placed| pod.2;
    let size =
        |of: fn(&Placed) -> usize, pod: &Placed| left.iter().filter(|other| of(other) == of(pod)).count();
    let first_of_node = |of: usize| left.iter().filter(|pod| node(pod) == of).min_by_key(|pod| pod.0);
    let first_of_zone = |of: usize| {
        let firsts = (0..4).filter_map(first_of_node).filter(|pod| zone(pod) == of);
        firsts.min_by_key(|pod| (Reverse(size(|pod| pod.1, pod)), pod.0))
    };
    let firsts = (0..2).filter_map(first_of_zone);
    *firsts.min_by_key(|pod| (Reverse(size(|pod| pod.2, pod)), pod.0)).expect("a pod")
}

#[test]
fn costs_that_are_overwritten_do_not_decide_about_a_spread() {
    let level = |key: &str, of: fn(usize) -> usize| TopologyLevel {
        key: key.to_owned(),
        domains: (0..4).map(|node| (format!("n{node}"), of(node).to_string())).collect(),
    };
    let mut overwritten = 0;
    for seed in seeds(500) {
        let mut random = Rng::with_seed(seed);
        let mut left: Vec<Placed> = Vec::new();
        let mut pods = Vec::new();
        for letter in ('a'..='j').take(random.usize(2..10)) {
            let (node, cost) = (random.usize(..4), random.i32(-2..2));
            left.push((letter, node, node % 2));
            pods.push(by_karpenter(letter, &format!("n{node}"), &cost.to_string()));
        }
        let stay = random.usize(..left.len());
        let spread = Preference::Spread(vec![level("zone", |node| node % 2), level("host", |node| node)]);
        let plan = planned(&pods, u32::try_from(stay).expect("few"), ForeignCosts::Override, vec![spread]);
        let mut expected = String::new();
        while left.len() > stay {
            let first = next(&left);
            expected.push(first.0);
            left.retain(|pod| pod.0 != first.0);
        }
        assert_eq!(selected_letters(&plan), expected, "seed {seed}: {left:?}");
        assert!(plan.pods.iter().all(|pod| pod.is_selected || pod.write.is_none()), "seed {seed}");
        overwritten += plan.writes;
    }
    assert!(overwritten > 300, "{overwritten}");
}

#[test]
fn the_cost_of_a_pod_that_stays_is_never_overwritten() {
    let pods = [by_karpenter('a', "n1", "3"), by_karpenter('b', "n2", "-2147483648")];
    let mut request = request(PlanSize::AllButNamed, &["web-a"], Vec::new());
    for foreign_costs in [ForeignCosts::Keep, ForeignCosts::Override] {
        request.foreign_costs = foreign_costs;
        assert_eq!(
            refusal(&dump(&pods), &request),
            "existing deletion costs conflict with your choice\n  web-a (to delete) has cost 3, written by karpenter.\n  \
             web-b (to keep) has cost -2147483648, written by karpenter."
        );
    }
    // A cost that podrank could not restore is kept, too.
    for cost in ["+3", "x"] {
        let pods = [by_karpenter('a', "n1", cost), by_karpenter('b', "n2", "-7")];
        assert!(
            refusal(&dump(&pods), &request)
                .contains("web-a (to delete) has cost 0, written by karpenter.\n  web-b (to keep)")
        );
    }
}

#[test]
fn what_podrank_webhook_has_overwritten_is_left_to_it_or_kept() {
    let of_webhook = noted(with_cost(pod('a', "n1"), "-6", "podrank-webhook", "Apply"), "podrank-webhook");
    let pods = [of_webhook, by_karpenter('b', "n2", "-9")];
    let mut request = request(PlanSize::AllButNamed, &["web-a"], Vec::new());
    let state = state(&input(&dump(&pods)), &request.options).expect("a state");
    assert_eq!(state.steered().count(), 0, "undo would take for podrank's what is not");
    request.foreign_costs = ForeignCosts::Override;
    let plan = plan(&input(&dump(&pods)), &request).expect("a plan");
    let replaced = plan.pods[0].replaces.as_ref().map(|previous| (&*previous.value, &*previous.manager));
    assert_eq!((plan.pods[0].write, replaced), (Some(-10), Some(("-5", "karpenter"))));
}

/// If the writer has written again over podrank's cost, that is what is overwritten and noted next.
#[test]
fn what_was_written_again_is_what_is_put_back() {
    // podrank's note of the first one is still there.
    let pods = [noted(by_karpenter('a', "n1", "9"), "podrank"), by_karpenter('b', "n2", "3")];
    let mut request = request(PlanSize::AllButNamed, &["web-a"], Vec::new());
    request.foreign_costs = ForeignCosts::Override;
    let over = plan(&input(&dump(&pods)), &request).expect("a plan");
    let replaced = over.pods[0].replaces.as_ref().map(|previous| (&*previous.value, &*previous.manager));
    assert_eq!((over.pods[0].write, replaced), (Some(2), Some(("9", "karpenter"))));
    request.foreign_costs = ForeignCosts::Keep;
    assert!(
        refusal(&dump(&pods), &request)
            .contains("web-a (to delete) has cost 9, written by karpenter.\n  web-b (to keep)")
    );
}

/// Other programs may write between podrank's writes and the scale-down.
#[test]
fn changed_costs_are_named_with_their_writer() {
    let before = [by_karpenter('a', "n1", "9"), by_karpenter('b', "n2", "3"), pod('c', "n3")];
    let mut request = request(PlanSize::AllButNamed, &["web-a"], Vec::new());
    request.foreign_costs = ForeignCosts::Override;
    let planned = |pods: &[Value]| plan(&input(&dump(pods)), &request).expect("a plan");
    let earlier = planned(&before);
    let ours = |cost| noted(with_cost(pod('a', "n1"), cost, "podrank", "Apply"), "podrank");
    let changed = |pods: &[Value], is_written| planned(pods).changed_costs(&earlier, is_written);
    let [b, c] = [before[1].clone(), before[2].clone()];
    // As it was, and as it is to be.
    assert_eq!(changed(&before, false), None);
    assert_eq!(changed(&[ours("-1"), b.clone(), c.clone()], true), None);
    // A cost that is written again, one that is removed, and one of a pod that is kept.
    let again = "the deletion costs of web-a, written by karpenter";
    assert_eq!(changed(&before, true).as_deref(), Some(again));
    assert_eq!(changed(&[by_karpenter('a', "n1", "8"), b.clone(), c.clone()], false).as_deref(), Some(again));
    let off = changed(&[pod('a', "n1"), b, c.clone()], true);
    assert_eq!(off.as_deref(), Some("the deletion costs of web-a"));
    let stays = changed(&[ours("-1"), by_karpenter('b', "n2", "-7"), c], true);
    assert_eq!(stays.as_deref(), Some("the deletion costs of web-b, written by karpenter"));
}
