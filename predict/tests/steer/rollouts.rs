//! Scale-downs in the middle of a rollout: which are planned, that the costs settle which pods go, and which are refused.

use crate::steer::dump::{self, COST, input, pod, refusal, request};
use fastrand::Rng;
use podrank_laws::generate::seeds;
use podrank_predict::plan::{Plan, PlanRequest, PlanSize, plan};
use podrank_predict::{Verdict, WorkloadName, preview_workload};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn of_deployment(count: PlanSize, named: &[&str]) -> PlanRequest {
    let mut request = request(count, named, Vec::new());
    request.options.workload = Some("deploy/web".parse::<WorkloadName>().expect("a name"));
    if let PlanSize::To(replicas) = count {
        request.options.replicas = Some(replicas);
    }
    request
}

/// Four old pods, and nine new ones of which three are not available; ten are asked for.
fn example() -> Vec<Value> {
    let rollout: Value = serde_json::from_str(include_str!("../../examples/rollout.json")).expect("JSON");
    rollout["items"].as_array().expect("items").clone()
}

fn of_example(count: PlanSize, named: &[&str]) -> PlanRequest {
    let mut request = of_deployment(count, named);
    request.options.namespace = Some("default".to_owned());
    request
}

fn deletions(plan: &Plan) -> Vec<(&str, usize)> {
    plan.sets.iter().map(|set| (&*set.replica_set, set.delete)).collect()
}

/// The items once the costs are written.
fn steered(items: &[Value], plan: &Plan) -> Vec<Value> {
    let mut items = items.to_vec();
    for pod in items.iter_mut().filter(|item| item["kind"] == "Pod") {
        let planned = plan.pods.iter().find(|planned| pod["metadata"]["name"] == *planned.name);
        if let Some(cost) = planned.and_then(|planned| planned.write) {
            pod["metadata"]["annotations"][COST] = json!(cost.to_string());
        }
    }
    items
}

/// What the preview says goes, and what it says may go.
fn verdicts(items: &[Value], request: &PlanRequest, replicas: u32) -> [BTreeSet<String>; 2] {
    let mut options = request.options.clone();
    options.replicas = Some(replicas);
    let input = input(items);
    let preview = preview_workload(&input, &options).expect("a preview");
    [Verdict::Deleted, Verdict::Possible].map(|verdict| {
        preview.pods().filter(|pod| pod.verdict == verdict).map(|pod| pod.name().to_owned()).collect()
    })
}

/// What Kubernetes leaves to chance is certain once the costs are written; the wanted pods of a set that goes as a whole need none.
#[test]
fn what_is_left_to_chance_is_settled() {
    let request = of_example(PlanSize::To(2), &[]);
    let plan = plan(&input(&example()), &request).expect("a plan");
    assert_eq!(verdicts(&example(), &request, 2)[1].len(), 4);
    let settled = verdicts(&steered(&example(), &plan), &request, 2);
    assert_eq!(settled, [plan.selected().map(|pod| pod.name.clone()).collect(), BTreeSet::new()]);
    let of_old = |name: &str| name.starts_with("web-5d8c7f9b64");
    assert!(plan.pods.iter().all(|pod| !of_old(&pod.name) || pod.is_selected && pod.write.is_none()));
    assert!(!plan.is_proved());
    let proved = podrank_predict::plan::plan(&input(&steered(&example(), &plan)), &request).expect("a plan");
    assert!(proved.is_proved());
}

#[test]
fn what_no_costs_settle_is_refused() {
    assert_eq!(
        refusal(&example(), &of_example(PlanSize::To(9), &[])),
        "deploy/web is in the middle of a rollout\n  Deletion costs cannot decide which pods are deleted at 9 replicas: \
         0 to 1 pods of web-7f6b9d5c48 are deleted, depending on what its controller sees first.\n  \
         Wait for the rollout to end."
    );
    let five = ["b7wfn", "d6sjr", "hq8zt", "m9c4x", "k2v5d"].map(|pod| format!("web-7f6b9d5c48-{pod}"));
    let five = five.each_ref().map(String::as_str);
    let share = "4 pods of web-5d8c7f9b64 and 4 pods of web-7f6b9d5c48.\n  Name that many, or wait for the rollout to end.";
    assert_eq!(
        refusal(&example(), &of_example(PlanSize::To(5), &five)),
        format!("deploy/web is in the middle of a rollout\n  At 5 replicas, its controller deletes {share}")
    );
    assert_eq!(
        refusal(&example(), &of_example(PlanSize::AllButNamed, &five)),
        format!("deploy/web is in the middle of a rollout\n  At 5 replicas, its controller deletes {share}")
    );
    // In a rollout, there are more pods than replicas.
    let mut to_0 = example();
    for workload in to_0.iter_mut().filter(|item| item["kind"] == "Deployment") {
        workload["spec"]["replicas"] = json!(4);
    }
    assert_eq!(
        refusal(&to_0, &of_example(PlanSize::AllButNamed, &five)),
        "5 pods would be deleted, but deploy/web has 4 replicas\n  Wait for its rollout to end."
    );
    // A status that the pods contradict.
    let mut lags = example();
    for set in lags.iter_mut().filter(|item| item["metadata"]["name"] == "web-5d8c7f9b64") {
        set["status"]["availableReplicas"] = json!(1);
    }
    assert_eq!(
        refusal(&lags, &of_example(PlanSize::To(5), &[])),
        "the status of ReplicaSet default/web-5d8c7f9b64 counts 1 available pod, while 4 are ready, so its controller is \
         still working and the rollout may continue in another way: try again in some seconds"
    );
}

/// Pods go until the Deployment waits for new ones, and others after that.
#[test]
fn a_rollout_that_begins() {
    let mut begins = dump::of_deployment(&[pod('a', "n1"), pod('b', "n2"), pod('c', "n3")]);
    begins[3]["status"]["availableReplicas"] = json!(3);
    begins[4]["spec"]["template"]["spec"]["nodeName"] = json!("n1");
    let request = of_deployment(PlanSize::To(1), &["web-b"]);
    let begun = plan(&input(&begins), &request).expect("a plan");
    assert_eq!((deletions(&begun), begun.left), (vec![("web", 2)], 2));
    assert_eq!(
        begun.notes.iter().map(|note| &*note.text).collect::<Vec<_>>(),
        [
            "Then the controller waits until 1 more new pod is available. Only after that, 1 old pod is deleted."
        ]
    );
    assert!(begun.selected().any(|pod| pod.name == "web-b"));
    // Nothing goes before a new pod is available.
    begins[4]["spec"]["strategy"]["rollingUpdate"] = json!({ "maxSurge": 1, "maxUnavailable": 0 });
    let waits = plan(&input(&begins), &of_deployment(PlanSize::To(3), &[]));
    assert!(waits.is_err() || waits.is_ok_and(|plan| plan.delete == 0));
}

/// Paused Deployments of two sets, with random sizes and counts: whatever is planned is certain once the costs are written.
#[test]
fn whatever_is_planned_is_certain() {
    let (mut plans, mut settled) = (0, 0);
    for seed in seeds(300) {
        let mut rng = Rng::with_seed(seed);
        let sizes = [rng.usize(1..7), rng.usize(1..7)];
        let pods: Vec<_> = ('a'..)
            .take(sizes[0] + sizes[1])
            .map(|letter| {
                let node = ["n1", "n2", "n3"][rng.usize(..3)];
                let pod = pod(letter, node);
                if rng.u8(..5) == 0 { dump::not_ready(pod) } else { pod }
            })
            .collect();
        let items = dump::of_two_sets(&pods, sizes[0], rng.bool());
        let total = sizes[0] + sizes[1];
        let to = u32::try_from(rng.usize(..total)).expect("few");
        let name = format!("web-{}", ('a'..).nth(rng.usize(..total)).expect("a letter"));
        let named = [&*name];
        let request = of_deployment(PlanSize::To(to), &named[..rng.usize(..2)]);
        let Ok(planned) = plan(&input(&items), &request) else { continue };
        plans += 1;
        let [_, open] = verdicts(&items, &request, to);
        settled += usize::from(!open.is_empty());
        let then = verdicts(&steered(&items, &planned), &request, to);
        assert_eq!(then, [planned.selected().map(|pod| pod.name.clone()).collect(), BTreeSet::new()]);
        assert!(request.named.iter().all(|name| planned.selected().any(|pod| pod.name == *name)));
    }
    assert!(plans > 100 && settled > 30, "{plans} plans, of which {settled} settle something");
}

/// Pods that come to another set may change which pods of a surplus go.
#[test]
fn a_surplus_is_open_while_another_set_gets_pods() {
    let nodes = ["n1", "n1", "n2", "n3", "n4"];
    let pods: Vec<_> = "abcde".chars().zip(nodes).map(|(letter, node)| pod(letter, node)).collect();
    let mut items = dump::of_two_sets(&pods, 4, true);
    // Both should have 2 pods: the old set has 4, and the new one has 1.
    for set in items.iter_mut().filter(|item| item["kind"] == "ReplicaSet") {
        set["spec"]["replicas"] = json!(2);
        set["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"] = json!("4");
    }
    let input = input(&items);
    let preview = preview_workload(&input, &of_deployment(PlanSize::To(6), &[]).options).expect("a preview");
    let open = preview.pods().filter(|pod| pod.verdict == Verdict::Possible);
    let open: BTreeSet<_> = open.map(|pod| pod.name().to_owned()).collect();
    assert_eq!(open, ["web-a", "web-b", "web-c", "web-d"].map(str::to_owned).into());
}

/// As when a run proves what was confirmed.
#[test]
fn more_pods_may_be_named_than_the_count_falls() {
    let chosen = plan(&input(&example()), &of_example(PlanSize::To(5), &[])).expect("a plan");
    let names: Vec<_> = chosen.selected().map(|pod| &*pod.name).collect();
    assert_eq!(names.len(), 8);
    let again = plan(&input(&example()), &of_example(PlanSize::To(5), &names)).expect("the same plan");
    assert_eq!((again.delete, again.replicas), (8, 5));
}
