//! What makes a plan another one than that which was confirmed, and whose podrank's costs are while other runs may be at work.

use crate::steer::dump::{dump, input, not_ready, pod, refusal, request, with_cost};
use podrank_preview::steer::{Cluster, Count, Difference, Plan, Selected, Wish, difference, plan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The plan that takes one of these pods, preferably one on `spot`.
fn of(pods: &[Value]) -> Plan {
    let wish = Wish::Nodes(Selected { selector: "spot".to_owned(), names: ["spot".to_owned()].into() });
    plan(&input(&dump(pods)), &request(Count::AllButNamed, &[], Vec::new()).to(pods.len() - 1, vec![wish]))
        .expect("a plan")
}

trait To {
    fn to(self, replicas: usize, wishes: Vec<Wish>) -> Self;
}

impl To for podrank_preview::steer::Request {
    fn to(mut self, replicas: usize, wishes: Vec<Wish>) -> Self {
        let replicas = u32::try_from(replicas).expect("few pods");
        (self.count, self.options.replicas, self.wishes) = (Count::To(replicas), Some(replicas), wishes);
        self
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn four() -> Vec<Value> {
    vec![pod('a', "base"), pod('b', "spot"), pod('c', "base"), pod('d', "other")]
}

#[test]
fn pods_that_age_or_stay_make_no_difference() {
    let confirmed = of(&four());
    assert_eq!(crate::steer::dump::wanted(&confirmed), "b");
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
fn a_pod_that_turns_unready_is_named_with_the_one_that_stays_instead() {
    let mut turned = four();
    turned[2] = not_ready(turned[2].clone());
    let found = difference(&of(&four()), &of(&turned)).expect("a difference");
    assert_eq!((&found.minus, &found.plus), (&names(&["web-b"]), &names(&["web-c"])));
    assert_eq!(
        found.to_string(),
        "-web-b +web-c: web-c is no longer ready; the pod that goes does not match --prefer-nodes spot"
    );
}

#[test]
fn a_pod_that_is_gone_is_named_with_the_new_one() {
    let mut replaced = four();
    replaced[1] = pod('e', "spot");
    let found = difference(&of(&four()), &of(&replaced)).expect("a difference");
    assert_eq!(found.to_string(), "-web-b +web-e: web-b is gone; web-e is new");
}

#[test]
fn another_count_is_a_difference() {
    let more = [four(), vec![pod('e', "base")]].concat();
    let mut now = of(&more);
    assert_eq!(crate::steer::dump::wanted(&now), "b");
    let found = difference(&of(&four()), &now).expect("a difference");
    assert_eq!(found.to_string(), "rs/web has 5 replicas now and gets 4");
    (now.from, now.replicas) = (4, 3);
    assert_eq!(difference(&of(&four()), &now), None);
}

#[test]
fn a_promised_node_that_stays_occupied_is_a_difference() {
    let guest = |node: &str| {
        let mut guest = crate::steer::dump::owned_by(pod('x', node), "StatefulSet", "db");
        guest["metadata"]["namespace"] = json!("blog");
        guest
    };
    let with = |node: &str| {
        let everybody = Cluster::of(&input(&[dump(&four()), vec![guest(node)]].concat()), []);
        let request = request(Count::AllButNamed, &[], Vec::new()).to(3, vec![Wish::EmptyNodes(everybody)]);
        plan(&input(&dump(&four())), &request).expect("a plan")
    };
    let confirmed = with("base");
    let node = confirmed.wanted().next().and_then(|pod| pod.node.clone()).expect("a node");
    let mut now = with(&node);
    // The same pods go.
    now.pods.clone_from(&confirmed.pods);
    now.nodes = with(&node).nodes;
    now.nodes.iter_mut().flatten().for_each(|it| it.becomes_empty = false);
    let found = difference(&confirmed, &now).expect("a difference");
    assert_eq!(
        found,
        Difference { because: names(&[&format!("{node} does not become empty")]), ..Difference::default() }
    );
    assert_eq!(difference(&now, &confirmed), None);
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
    assert!(found.because.len() == 1 && found.because[0].contains("web-d"), "{found}");
    assert_eq!(difference(&noted("+5"), &noted("+5")), None);
    assert_eq!(difference(&noted("+5"), &confirmed), None);
}

#[test]
fn costs_of_another_run_are_fixed() {
    let mut pods = four();
    pods[0] = with_cost(pods[0].clone(), "-2147483648", "podrank", "Apply");
    let mut named = request(Count::AllButNamed, &["web-b"], Vec::new());
    // Left over: it is written.
    let of_all = plan(&input(&dump(&pods)), &named).expect("a plan");
    assert!(of_all.pods.iter().any(|pod| pod.name == "web-a" && pod.write.is_some()));
    named.own_costs = Some(BTreeSet::new());
    assert_eq!(
        refusal(&dump(&pods), &named),
        "somebody else's deletion costs leave no room: web-b (cost 0) must go before web-a (cost -2147483648, written by another run of \
         podrank); --force-conflicts writes over them and puts them back"
    );
    named.own_costs =
        Some([of_all.pods.iter().find(|pod| pod.name == "web-a").expect("it").uid.clone()].into());
    assert!(plan(&input(&dump(&pods)), &named).is_ok());
}
