//! Compares at which counts each pod is deleted with the preview of each count, on recorded and generated scenes.

use podrank_laws::objects;
use podrank_predict::{
    DeletionOrder, Options, Order, Snapshot, Verdict, Window, WorkloadKind, deletion_order, preview_workload,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A scene of any of the recordings.
#[derive(Deserialize)]
struct Scene {
    now: String,
    items: Vec<Value>,
}

/// How much was compared.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    workloads: usize,
    counts: usize,
    contested: usize,
    without_counts: usize,
}

fn agree(
    input: &Snapshot,
    options: &Options,
    order: &DeletionOrder<'_>,
    counts: impl Iterator<Item = u32>,
    compared: &mut Compared,
) {
    let name = format!("{} {}", order.now.workload.kind, order.now.workload.name);
    compared.workloads += 1;
    for count in counts {
        let of_job = order.now.workload.kind == WorkloadKind::Job;
        let mut at = options.clone();
        (at.replicas, at.parallelism) = (Some(count).filter(|_| !of_job), Some(count).filter(|_| of_job));
        let preview = preview_workload(input, &at).expect("a preview");
        compared.counts += 1;
        for pod in preview.pods() {
            let place = order.pods().find(|its| its.pod.uid() == pod.uid()).expect("the same pods");
            let expected = match pod.verdict {
                Verdict::Deleted => [true, true],
                Verdict::Waiting if pod.waits_for().is_some() => [true, true],
                Verdict::Possible | Verdict::Waiting => [true, false],
                Verdict::Kept => [false, false],
            };
            let at_or_above = |least: Option<u32>| least.is_some_and(|least| count <= least);
            let said = [at_or_above(place.possible_at), at_or_above(place.deleted_at)];
            assert_eq!(said, expected, "{name} at {count}: {} is {:?}", pod.name(), pod.verdict);
            compared.contested += usize::from(pod.verdict == Verdict::Possible);
        }
    }
}

fn compare(scene: &Scene, compared: &mut Compared) {
    let Ok(input) = Snapshot::read(objects::dump(&scene.items).as_bytes()) else { return };
    for workload in input.workloads() {
        for (order, within) in [
            (Order::Kubernetes, Window::default()),
            (Order::Kubernetes, Window::USUAL),
            (Order::Total, Window::default()),
        ] {
            let mut options = Options::new(0, scene.now.parse().expect("a time"));
            options.replicas = None;
            options.workload =
                Some(format!("{}/{}", workload.kind.short(), workload.name).parse().expect("a name"));
            options.namespace = Some(workload.namespace.clone());
            (options.order, options.within, options.probabilities) = (order, within, false);
            let Ok(order) = deletion_order(&input, &options) else { continue };
            let pods = u32::try_from(order.now.active()).expect("few");
            if order.pods().all(|pod| pod.possible_at.is_none()) && pods > 0 {
                compared.without_counts += 1;
                continue;
            }
            let present = order.now.size.replicas.or(order.now.size.parallelism).expect("a count");
            agree(&input, &options, &order, 0..pods.min(present + 1), compared);
        }
    }
}

#[test]
fn each_count_has_the_answer_of_its_own_preview() {
    let mut compared = Compared::default();
    for file in ["rounds.jsonl.gz", "ends.jsonl.gz", "workload-rounds.jsonl.gz"] {
        for scene in crate::recorded::rounds::<Scene>(file).iter().step_by(8) {
            compare(scene, &mut compared);
        }
    }
    println!("{compared:?}");
    assert!(
        compared.counts > 1_000 && compared.contested > 1_000 && compared.without_counts > 50,
        "{compared:?}"
    );
}

/// After 500 deletions, the controller counts ranks again, so only the rules before the rank say which pods it deletes.
#[test]
fn above_500_deletions_the_rules_before_the_rank_decide() {
    const NAME: &str = "web-7f6b9d5c48";
    let pod = |number: u32| {
        let cost = "metadata annotations controller.kubernetes.io/pod-deletion-cost";
        let pod = objects::with(objects::owned_pod(number, NAME), cost, json!((number / 40).to_string()));
        objects::with(pod, "spec nodeName", json!(format!("node-{}", number % 97 % 13)))
    };
    let items: Vec<_> =
        (0..620).map(pod).chain([objects::with(objects::set(NAME), "spec replicas", json!(620))]).collect();
    let input = Snapshot::read(objects::dump(&items).as_bytes()).expect("sound");
    let mut options = Options::new(0, "2026-03-10T12:00:00Z".parse().expect("a time"));
    (options.replicas, options.probabilities) = (None, false);
    let order = deletion_order(&input, &options).expect("an order");
    let mut compared = Compared::default();
    agree(&input, &options, &order, (0..200).chain([300, 500, 619]), &mut compared);
    assert!(compared.contested > 1_000, "{compared:?}");
}
