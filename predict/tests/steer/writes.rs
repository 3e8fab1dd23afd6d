//! The manifests that write, remove and restore costs. Also checks that a plan is proved once its costs are written.

use crate::steer::dump::{COST, dump, input, not_ready, owned_by, pod, request, with_cost};
use fastrand::Rng;
use podrank_laws::generate::seeds;
use podrank_laws::objects::with;
use podrank_predict::plan::{
    ActivePod, Cluster, ForeignCosts, Manifest, Plan, PlanRequest, PlanSize, Preference, Selected,
    TopologyLevel, Values, plan, putting_back, state,
};
use podrank_predict::{PREVIOUS_COST_ANNOTATION, PreviousCost};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn planned(pods: &[Value], request: &PlanRequest) -> Plan {
    plan(&input(&dump(pods)), request).expect("a plan")
}

fn parsed(manifest: Option<&Manifest>) -> Value {
    manifest.map_or(Value::Null, |manifest| serde_json::from_str(&manifest.text).expect("JSON"))
}

/// A pod as a manifest has it.
fn object(letter: char, annotations: Option<Value>) -> Value {
    let uid = pod(letter, "")["metadata"]["uid"].clone();
    let mut metadata = json!({ "name": format!("web-{letter}"), "namespace": "shop", "uid": uid });
    if let Some(annotations) = annotations {
        metadata["annotations"] = annotations;
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata })
}

fn list(items: &[Value]) -> Value {
    json!({ "apiVersion": "v1", "kind": "List", "items": items })
}

/// Manifests have UIDs. The version of a pod is in the one that overwrites, if that needs an unchanged pod.
#[test]
fn what_is_written_over_is_kept_beside_it() {
    let mut pods = [
        with_cost(pod('a', "n1"), "70", "karpenter", "Update"),
        // podrank's own, from an earlier run: written again without force.
        with_cost(pod('b', "n2"), "80", "podrank", "Apply"),
        pod('c', "n3"),
    ];
    for pod in &mut pods {
        pod["metadata"]["resourceVersion"] = json!("7");
    }
    let mut request = request(PlanSize::AllButNamed, &["web-a", "web-b"], Vec::new());
    request.foreign_costs = ForeignCosts::Override;
    let previous = r#"{"value":"70","manager":"karpenter"}"#;
    let both = json!({ COST: "-1", PREVIOUS_COST_ANNOTATION: previous });
    for (unchanged_only, version) in [(true, json!("7")), (false, Value::Null)] {
        let [free, over] = planned(&pods, &request).manifests(unchanged_only);
        assert_eq!(parsed(free.as_ref()), list(&[object('b', Some(json!({ COST: "-1" })))]));
        let expected = with(object('a', Some(both.clone())), "metadata resourceVersion", version);
        assert_eq!(parsed(over.as_ref()), list(&[expected]));
    }
}

/// podrank writes no cost that somebody else is to have again: that one is put back. Another one is written, and so is one of its own.
#[test]
fn a_cost_is_put_back_rather_than_written_with_its_own_value() {
    let steered = |letter, previous: &str| {
        let previous = json!({ "value": previous, "manager": "theirs" }).to_string();
        let pod = with_cost(pod(letter, "n1"), "-2", "podrank", "Apply");
        with(pod, &format!("metadata annotations {PREVIOUS_COST_ANNOTATION}"), json!(previous))
    };
    let fixed = with_cost(pod('d', "n1"), "-1", "karpenter", "Update");
    let own = with_cost(pod('c', "n1"), "-2", "podrank", "Apply");
    let plan = planned(
        &[steered('a', "0"), steered('b', "5"), own, fixed],
        &request(PlanSize::AllButNamed, &["web-d"], Vec::new()),
    );
    let back: Vec<_> = plan.put_back().into_iter().map(|pod| (pod.name, pod.previous)).collect();
    let previous = PreviousCost { value: "0".to_owned(), manager: "theirs".to_owned() };
    assert_eq!(back, [("web-a".to_owned(), Some(previous))]);
    let [written, over] = plan.manifests(true);
    assert_eq!(
        (written.expect("two pods").names, over),
        (vec!["web-b".to_owned(), "web-c".to_owned()], None)
    );
}

#[test]
fn a_cost_from_the_template_is_written_over_without_force() {
    let mut items = dump(&[
        with_cost(pod('a', "n1"), "5", "kube-controller-manager", "Update"),
        with_cost(pod('b', "n2"), "5", "kube-controller-manager", "Update"),
    ]);
    items[2]["spec"]["template"]["metadata"]["annotations"] = json!({ COST: "5" });
    let request = request(PlanSize::AllButNamed, &["web-b"], Vec::new());
    let [plain, over] = plan(&input(&items), &request).expect("a plan").manifests(true);
    assert_eq!(plain, None);
    let previous = r#"{"value":"5","manager":"kube-controller-manager"}"#;
    let both = json!({ COST: "4", PREVIOUS_COST_ANNOTATION: previous });
    assert_eq!(parsed(over.as_ref()), list(&[object('b', Some(both))]));
}

#[test]
fn what_is_taken_off_and_put_back() {
    let mut steered = with_cost(pod('a', "n1"), "-1", "podrank", "Apply");
    let previous = PreviousCost { value: "70".to_owned(), manager: "karpenter".to_owned() };
    steered["metadata"]["annotations"][PREVIOUS_COST_ANNOTATION] =
        serde_json::to_string(&previous).expect("JSON").into();
    let others = [pod('b', "n2"), with_cost(pod('c', "n3"), "1", "karpenter", "Update")];
    let items = dump(&[&[steered], &others[..]].concat());
    let options = request(PlanSize::To(0), &[], Vec::new()).options;
    let state = state(&input(&items), &options).expect("a state");
    let steered: Vec<_> = state.steered().collect();
    let [only] = &*steered else { panic!("{steered:?}") };
    assert_eq!((&*only.name, only.cost.is_some(), only.previous.as_ref()), ("web-a", true, Some(&previous)));
    let off = Manifest::taking_off("shop", steered.iter().copied());
    assert_eq!(parsed(off.as_ref()), list(&[object('a', None)]));
    assert_eq!(Manifest::taking_off("shop", []), None);
    let (patch, back) = putting_back(only).expect("a cost to put back");
    let cost = only.cost.as_ref().expect("podrank's");
    let annotation = format!("/metadata/annotations/{}", COST.replace('/', "~1"));
    let expected = json!([
        { "op": "test", "path": "/metadata/uid", "value": only.uid },
        { "op": "test", "path": annotation, "value": cost },
        { "op": "replace", "path": annotation, "value": "70" },
    ]);
    assert_eq!((serde_json::from_str::<Value>(&patch).expect("JSON"), back), (expected, &previous));
    // A cost of podrank-webhook was for one scale-down. If podrank restored it, podrank-webhook would not remove it
    // again.
    let webhooks = PreviousCost { value: "-1".to_owned(), manager: "podrank-webhook".to_owned() };
    assert_eq!(putting_back(&ActivePod { previous: Some(webhooks), ..(*only).clone() }), None);
}

#[test]
fn a_note_is_taken_off_although_somebody_removed_the_cost() {
    let mut noted = pod('a', "n1");
    let previous = r#"{"value":"70","manager":"karpenter"}"#;
    noted["metadata"]["annotations"] = json!({ PREVIOUS_COST_ANNOTATION: previous });
    let items = dump(&[noted, pod('b', "n2")]);
    let state = state(&input(&items), &request(PlanSize::To(0), &[], Vec::new()).options).expect("a state");
    let off = Manifest::taking_off("shop", state.steered());
    assert_eq!(parsed(off.as_ref()), list(&[object('a', None)]));
}

/// What server-side apply makes of a pod: forced, the cost is podrank's alone.
fn apply(pod: &mut Value, annotations: &Value) {
    let cost = annotations[COST].as_str().expect("a cost");
    pod["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    *pod = with_cost(pod.take(), cost, "podrank", "Apply");
    for (name, value) in annotations.as_object().expect("annotations") {
        pod["metadata"]["annotations"][name] = value.clone();
    }
}

fn random_pod(random: &mut Rng, letter: char) -> Value {
    let mut pod = pod(letter, &format!("n{}", random.u8(..3)));
    match random.u8(..12) {
        0 => pod = not_ready(pod),
        1 => pod["spec"] = json!({}),
        2 => pod["status"] = json!({ "phase": "Pending" }),
        _ => {}
    }
    let cost = [0, 1, 5, i32::MIN, i32::MAX][random.usize(..5)].wrapping_add(random.i32(-2..=2)).to_string();
    match random.u8(..8) {
        0 => with_cost(pod, &cost, "karpenter", "Update"),
        1 => with_cost(pod, &cost, "podrank", "Apply"),
        2 => with_cost(pod, &cost, "kube-controller-manager", "Update"),
        3 => with_cost(with_cost(pod, &cost, "podrank", "Apply"), &cost, "karpenter", "Apply"),
        _ => pod,
    }
}

/// Pods of other workloads on the same nodes.
fn cluster(random: &mut Rng) -> Cluster {
    let others = (0..random.usize(..4)).map(|number| {
        let other =
            pod(char::from(b'A' + u8::try_from(number).expect("few")), &format!("n{}", random.u8(..3)));
        owned_by(other, "StatefulSet", &random.u8(..2).to_string())
    });
    Cluster::of(
        &input(&dump(&others.collect::<Vec<_>>())),
        (0..3).filter(|_| random.bool()).map(|node| format!("n{node}")),
    )
}

fn random_wish(random: &mut Rng, letters: &[char]) -> Preference {
    let some = |random: &mut Rng| -> Vec<String> {
        let chosen = letters.iter().filter(|_| random.bool());
        chosen.map(|letter| format!("web-{letter}")).collect()
    };
    let level = |random: &mut Rng| -> TopologyLevel {
        let domains = (0..3).map(|node| (format!("n{node}"), random.u8(..2).to_string())).collect();
        TopologyLevel { key: "zone".to_owned(), domains }
    };
    let selected = |names: &mut dyn Iterator<Item = String>| Selected {
        selector: "any".to_owned(),
        names: names.collect(),
    };
    match random.u8(..6) {
        0 => Preference::Pods(selected(&mut some(random).into_iter())),
        1 => {
            Preference::Nodes(selected(&mut (0..3).filter(|_| random.bool()).map(|node| format!("n{node}"))))
        }
        2 => Preference::Values(Values::given(
            some(random).into_iter().map(|name| (name, f64::from(random.u8(..3)))).collect(),
        )),
        3 => Preference::NotAvailable,
        4 => Preference::EmptyNodes(cluster(random)),
        _ => Preference::Spread((0..random.usize(1..3)).map(|_| level(random)).collect()),
    }
}

#[test]
fn a_plan_is_proved_once_its_costs_are_written() {
    let mut seen = BTreeMap::<&str, u32>::new();
    for seed in seeds(5_000) {
        let mut random = Rng::with_seed(seed);
        let letters: Vec<_> = ('a'..).take(random.usize(2..9)).collect();
        let mut pods: Vec<_> = letters.iter().map(|&letter| random_pod(&mut random, letter)).collect();
        let preferences: Vec<_> =
            (0..random.usize(..3)).map(|_| random_wish(&mut random, &letters)).collect();
        let named: Vec<_> =
            letters.iter().filter(|_| random.u8(..5) == 0).map(|letter| format!("web-{letter}")).collect();
        let named: Vec<_> = named.iter().map(String::as_str).collect();
        let replicas = u32::try_from(random.usize(..letters.len())).expect("few");
        let mut request = request(PlanSize::To(replicas), &named, preferences);
        request.foreign_costs = [ForeignCosts::Keep, ForeignCosts::Override][random.usize(..2)];
        let Ok(before) = plan(&input(&dump(&pods)), &request) else {
            *seen.entry("refused").or_default() += 1;
            continue;
        };
        let [free, over] = before.manifests(true);
        let count = |manifest: Option<&Manifest>| manifest.map_or(0, |manifest| manifest.names.len());
        assert_eq!(count(free.as_ref()) + count(over.as_ref()), before.writes, "seed {seed}");
        *seen.entry("written over").or_default() += u32::from(over.is_some());
        *seen.entry("with unsteerable pods").or_default() += u32::from(!before.unsteerable.is_empty());
        *seen.entry("without writes").or_default() += u32::from(before.writes == 0);
        for manifest in [free, over] {
            for object in parsed(manifest.as_ref())["items"].as_array().into_iter().flatten() {
                let uid = &object["metadata"]["uid"];
                let pod = pods.iter_mut().find(|pod| pod["metadata"]["uid"] == *uid).expect("a pod");
                apply(pod, &object["metadata"]["annotations"]);
            }
        }
        let after = planned(&pods, &request);
        assert_eq!(after.writes, 0, "seed {seed}: {before:#?} {after:#?}");
        assert!(after.is_proved(), "seed {seed}: {before:#?} {after:#?}");
        let sorted = |plan: &Plan| {
            let mut uids: Vec<_> = plan.selected().map(|pod| pod.uid.clone()).collect();
            uids.sort();
            uids
        };
        assert_eq!(sorted(&before), sorted(&after), "seed {seed}: {before:#?} {after:#?}");
        *seen.entry("proved").or_default() += 1;
    }
    assert!(seen["proved"] > 2_000 && seen.values().all(|count| *count > 50), "{seen:?}");
}
