//! What makes a plan another one than that which was confirmed, and whose podrank's costs are while other runs may be at work.

use crate::steer::dump::{around, dump, input, not_ready, pod, refusal, request, with_cost};
use podrank_predict::plan::{
    Plan, PlanSize, Preference, Selected, check_interference, difference, plan, same_sets,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The plan that takes one of the four pods, preferably one on `spot`.
fn of(pods: &[Value]) -> Plan {
    let preference =
        Preference::Nodes(Selected { selector: "spot".to_owned(), names: ["spot".to_owned()].into() });
    plan(&input(&dump(pods)), &request(PlanSize::To(3), &[], vec![preference])).expect("a plan")
}

fn four() -> Vec<Value> {
    vec![pod('a', "base"), pod('b', "spot"), pod('c', "base"), pod('d', "other")]
}

#[test]
fn pods_that_age_or_stay_make_no_difference() {
    let confirmed = of(&four());
    assert_eq!(crate::steer::dump::selected_letters(&confirmed), "b");
    assert_eq!(difference(&confirmed, &confirmed), None);
    let mut older = four();
    older[0]["status"]["containerStatuses"] = json!([{ "restartCount": 7 }]);
    assert_eq!(difference(&confirmed, &of(&older)), None);
    // One that stays is gone, and another one has come in its place.
    let mut others = four();
    others[3] = pod('e', "other");
    assert_eq!(difference(&confirmed, &of(&others)), None);
}

#[test]
fn a_new_warning_is_a_difference_and_a_note_is_none() {
    let confirmed = of(&four());
    let noted = |cost: &str| {
        let mut pods = four();
        pods[3] = with_cost(pods[3].clone(), cost, "keda", "Update");
        of(&pods)
    };
    let found = difference(&confirmed, &noted("+5")).expect("a difference");
    assert!(found.text.contains("web-d") && !found.text.contains("; "), "{}", found.text);
    assert_eq!(difference(&noted("+5"), &noted("+5")), None);
    assert_eq!(difference(&noted("+5"), &confirmed), None);
}

/// What an autoscaler wants changes all the time, and says nothing new about the count that it would write.
#[test]
fn an_autoscaler_that_wants_another_count_is_no_new_warning() {
    let with_autoscaler = |name: &str, wanted: u32| {
        let spec = json!({ "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web" }, "minReplicas": 4, "maxReplicas": 9 });
        let autoscaler = json!({ "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": { "name": name, "namespace": "shop" }, "spec": spec, "status": { "desiredReplicas": wanted } });
        let mut plan = of(&four());
        plan.notes = check_interference(&around(&[autoscaler]), &plan, None);
        assert!(plan.notes[0].text.ends_with(&format!("wants {wanted} now")), "{:?}", plan.notes);
        plan
    };
    let confirmed = with_autoscaler("web", 5);
    assert_eq!(difference(&confirmed, &with_autoscaler("web", 7)), None);
    let found = difference(&confirmed, &with_autoscaler("other", 5)).expect("another one");
    assert!(found.text.contains("other") && !found.text.contains("; "), "{}", found.text);
}

/// With `--yes`, this decides whether a run goes on.
#[test]
fn what_the_user_asked_for_holds_whatever_else_differs() {
    let holds = |confirmed: &Plan, now: &Plan| difference(confirmed, now).expect("a difference").holds;
    let unready = |place: usize| {
        let mut pods = four();
        pods[place] = not_ready(pods[place].clone());
        pods
    };
    // A pod that is not ready goes first, whatever the preference says.
    assert!(holds(&of(&four()), &of(&unready(0))));
    assert!(holds(&of(&unready(0)), &of(&four())));
    // Of two pods that match, one is gone. Another one that matches may take its place, and no other.
    let two = |last: Value| {
        let preference =
            Preference::Nodes(Selected { selector: "spot".to_owned(), names: ["spot".to_owned()].into() });
        let pods = [four(), vec![last]].concat();
        plan(&input(&dump(&pods)), &request(PlanSize::To(3), &[], vec![preference])).expect("a plan")
    };
    let confirmed = two(pod('e', "spot"));
    assert!(holds(&confirmed, &two(pod('f', "spot"))));
    assert!(!holds(&confirmed, &two(pod('f', "base"))));

    let named = |pods: &[Value], count: PlanSize| {
        plan(&input(&dump(pods)), &request(count, &["web-b"], Vec::new())).expect("a plan")
    };
    let confirmed = named(&four(), PlanSize::AllButNamed);
    let mut replaced = four();
    replaced[1]["metadata"]["uid"] = json!("00000000-0000-4000-8000-0000000000ff");
    assert!(!holds(&confirmed, &named(&replaced, PlanSize::AllButNamed)));
    assert!(!holds(&confirmed, &named(&four(), PlanSize::To(2))));
    // Besides the named pod, another one than before.
    let confirmed = named(&four(), PlanSize::To(2));
    let kept = confirmed.pods.iter().find(|pod| !pod.is_selected).expect("a pod that is kept");
    let place = four().iter().position(|pod| pod["metadata"]["name"] == *kept.name).expect("its place");
    assert!(holds(&confirmed, &named(&unready(place), PlanSize::To(2))));
}

#[test]
fn costs_of_another_run_are_fixed() {
    let mut pods = four();
    pods[0] = with_cost(pods[0].clone(), "-2147483648", "podrank", "Apply");
    let mut named = request(PlanSize::AllButNamed, &["web-b"], Vec::new());
    // Left over: it is written.
    let of_all = plan(&input(&dump(&pods)), &named).expect("a plan");
    assert!(of_all.pods.iter().any(|pod| pod.name == "web-a" && pod.write.is_some()));
    named.own_costs = Some(BTreeSet::new());
    assert_eq!(
        refusal(&dump(&pods), &named),
        "existing deletion costs conflict with your choice\n  web-b (to delete) has cost 0.\n  \
         web-a (to keep) has cost -2147483648, written by another run of podrank."
    );
    named.own_costs =
        Some([of_all.pods.iter().find(|pod| pod.name == "web-a").expect("it").uid.clone()].into());
    assert!(plan(&input(&dump(&pods)), &named).is_ok());
}

#[test]
fn another_object_or_other_sets_are_not_those_that_were_confirmed() {
    let confirmed = of(&four());
    assert_eq!(same_sets(&confirmed, &of(&four())), Ok(()));
    let mut replaced = of(&four());
    replaced.target.uid = "other".to_owned();
    assert_eq!(same_sets(&confirmed, &replaced), Err("rs/web was replaced meanwhile".to_owned()));
    let mut rolled = of(&four());
    rolled.sets[0].replica_set = "web-2".to_owned();
    assert_eq!(same_sets(&confirmed, &rolled), Err("rs/web was rolled out meanwhile".to_owned()));
}
