//! The answer at a glance, and what it only counts.

use crate::common::written_by;
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view;
use kubectl_podrank::view::answer::hint;
use podrank_laws::objects;
use podrank_predict::plan::{self, PlanRequest, PlanSize};
use podrank_predict::{Options, Preview, Snapshot, preview_workload};
use serde_json::{Value, json};
use std::fs;

const NAME: &str = "web-7f6b9d5c48";

fn example(name: &str) -> Snapshot {
    let file = format!("{}/../predict/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    Snapshot::read(&fs::read(file).expect("the example")).expect("sound")
}

fn with_preview<T>(
    input: &Snapshot,
    workload: &str,
    replicas: u32,
    use_it: impl FnOnce(&Preview<'_>) -> T,
) -> T {
    let mut options = Options::new(replicas, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.workload = Some(workload.parse().expect("a name"));
    use_it(&preview_workload(input, &options).expect("a preview"))
}

fn at_a_glance(input: &Snapshot, workload: &str, replicas: u32, terminal: Terminal) -> String {
    with_preview(input, workload, replicas, |preview| view::answer::table(preview).text(terminal))
}

fn proof(input: &Snapshot, replicas: u32, terminal: Terminal) -> String {
    let text = |preview: &Preview<'_>| {
        view::wide::tables(preview, "").iter().map(|table| table.text(terminal)).collect()
    };
    with_preview(input, NAME, replicas, text)
}

fn terminal(columns: usize) -> Terminal {
    Terminal { width: Some(columns), ..Terminal::default() }
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// A `ReplicaSet` of this many pods, whose deletion costs differ.
fn large(pods: u32) -> Snapshot {
    large_by(pods, &json!(null))
}

/// The same, with costs of these managers.
fn large_by(pods: u32, managers: &Value) -> Snapshot {
    let pod = |number: u32| {
        let cost = "metadata annotations controller.kubernetes.io/pod-deletion-cost";
        let pod = objects::with(objects::owned_pod(number, NAME), cost, json!(number.to_string()));
        let node = format!("ip-10-0-12-{number}.eu-west-1.compute.internal");
        let pod = objects::with(pod, "spec nodeName", json!(node));
        objects::with(pod, "metadata managedFields", managers.clone())
    };
    let items: Vec<_> = (0..pods).map(pod).chain([objects::bare_set(NAME, pods as usize)]).collect();
    Snapshot::read(objects::dump(&items).as_bytes()).expect("sound")
}

#[test]
fn an_answer_is_a_sentence_and_a_row_for_each_pod_that_goes() {
    let text = at_a_glance(&example("rollout.json"), "deploy/web", 5, terminal(80));
    let expected = "\
Scaling deploy/web to 5 deletes 8 of 13 pods, all certain.
VERDICT  POD                   NODE      REASON
deleted  web-5d8c7f9b64-2fxcm  worker-1  all pods of its set are deleted
deleted  web-5d8c7f9b64-c9vzt  worker-3  all pods of its set are deleted
deleted  web-5d8c7f9b64-8kqjd  worker-2  all pods of its set are deleted
deleted  web-5d8c7f9b64-rl5wh  worker-4  all pods of its set are deleted
deleted  web-7f6b9d5c48-hq8zt  -         has no node
deleted  web-7f6b9d5c48-m9c4x  worker-3  Pending
deleted  web-7f6b9d5c48-k2v5d  worker-2  not ready
deleted  web-7f6b9d5c48-b7wfn  worker-1  deletion cost -10
kept: 5 pods of web-7f6b9d5c48 (-o wide lists them)
The 5 left are on 4 nodes, 2 of them on worker-1.
";
    assert_eq!(text, expected);
}

/// Where chance decides, the rows do not tell how many of each set go.
#[test]
fn the_share_of_each_set_is_told() {
    let second = |replicas| {
        let text = at_a_glance(&example("rollout.json"), "deploy/web", replicas, terminal(80));
        text.lines()
            .find(|line| line.starts_with("That is ") || line.starts_with("VERDICT"))
            .map(str::to_owned)
    };
    let shares = "That is 4 of 4 pods of web-5d8c7f9b64 and 6 of 9 pods of web-7f6b9d5c48.";
    assert_eq!(second(3).as_deref(), Some(shares));
    assert_eq!(second(5).as_deref(), Some("VERDICT  POD                   NODE      REASON"));
}

#[test]
fn where_nothing_goes_there_is_nothing_to_choose() {
    assert_eq!(with_preview(&example("rollout.json"), NAME, 9, hint), None);
}

#[test]
fn pods_that_are_kept_are_counted() {
    for pods in [10, 60, 1_000] {
        let input = large(pods);
        for replicas in [0, 1, pods / 2, pods - 1, pods] {
            let text = at_a_glance(&input, NAME, replicas, terminal(80));
            assert_eq!(
                text.lines().filter(|line| line.starts_with("deleted ")).count(),
                (pods - replicas) as usize
            );
            let kept = match replicas {
                0 => String::new(),
                1 => format!("\nkept: 1 pod of {NAME} (-o wide lists it)\n"),
                _ => format!("\nkept: {replicas} pods of {NAME} (-o wide lists them)\n"),
            };
            assert!(text.contains(&kept) && text.contains("kept") != kept.is_empty(), "{text}");
            assert!(longest(&text) <= 80 && text.lines().all(|line| !line.starts_with("kept  ")), "{text}");
            let all = proof(&input, replicas, Terminal::default());
            assert_eq!(all.lines().filter(|line| line.contains("ip-10-0-12-")).count(), pods as usize);
        }
    }
}

#[test]
fn nodes_give_way_and_names_do_not() {
    let [narrow, wide] = [60, 200].map(|columns| at_a_glance(&large(60), NAME, 58, terminal(columns)));
    assert!(!narrow.contains("NODE") && narrow.contains("REASON"), "{narrow}");
    assert!(wide.contains("NODE") && wide.contains("ip-10-0-12-0.eu-west-1.compute.internal"), "{wide}");
}

#[test]
fn a_reason_is_a_few_words() {
    for (file, workload) in [("rollout.json", "deploy/web"), ("contested.yaml", "rs/api-6c9d8f7b5")] {
        for replicas in 0..13 {
            with_preview(&example(file), workload, replicas, |preview| {
                for pod in preview.pods() {
                    let because = pod.short().to_string();
                    assert!(!because.is_empty() && because.chars().count() <= 35, "{because}");
                }
            });
        }
    }
}

#[test]
fn a_plan_counts_the_pods_that_it_keeps() {
    for (pods, replicas) in [(10, 9), (60, 58), (60, 5), (1_000, 500)] {
        let mut options = Options::new(replicas, "2026-03-10T12:00:00Z".parse().expect("a time"));
        options.workload = Some(NAME.parse().expect("a name"));
        let request = PlanRequest {
            options,
            count: PlanSize::To(replicas),
            named: std::iter::once(format!("{NAME}-3")).collect(),
            preferences: Vec::new(),
            foreign_costs: plan::ForeignCosts::Override,
            own_costs: None,
        };
        let plan = plan::plan(&large_by(pods, &written_by("keda", "Update")), &request).expect("a plan");
        let text = view::plan::table(&plan).text(terminal(80));
        assert!(longest(&text) <= 80, "{text}");
        // The rows and those that are counted are all the pods.
        let rows = text.lines().filter(|line| line.contains(NAME) && !line.contains(':')).count();
        let kept = text.lines().find_map(|line| line.strip_prefix("kept, with or without the plan: "));
        let kept = kept.and_then(|kept| kept.split(' ').next()?.parse().ok()).unwrap_or(0);
        assert!(rows > 0 && rows + kept == pods as usize, "{text}");
    }
}
