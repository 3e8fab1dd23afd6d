//! The answer at a glance on terminals, and what it leaves whole for a pipe.

use crate::common::written_by;
use kubectl_podrank::glance::{because, glance, hint};
use kubectl_podrank::look::Look;
use kubectl_podrank::{render, render_plan};
use podrank_laws::objects;
use podrank_predict::plan::{self, Count, Request};
use podrank_predict::{Input, Options, Preview, preview_workload};
use serde_json::{Value, json};
use std::fs::File;

const NAME: &str = "web-7f6b9d5c48";

fn example(name: &str) -> Input {
    let file = format!("{}/../predict/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    Input::read(File::open(file).expect("the example")).expect("sound")
}

fn with_preview<T>(
    input: &Input,
    workload: &str,
    replicas: u32,
    use_it: impl FnOnce(&Preview<'_>) -> T,
) -> T {
    let mut options = Options::new(replicas, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.workload = Some(workload.parse().expect("a name"));
    use_it(&preview_workload(input, &options).expect("a preview"))
}

fn at_a_glance(input: &Input, workload: &str, replicas: u32, look: Look) -> String {
    with_preview(input, workload, replicas, |preview| glance(preview, &beside(preview), look))
}

/// What is printed after the answer.
fn beside(preview: &Preview<'_>) -> Vec<String> {
    preview.notes.iter().map(ToString::to_string).chain(hint(preview)).collect()
}

fn proof(input: &Input, replicas: u32, look: Look) -> String {
    with_preview(input, NAME, replicas, |preview| render::proof(preview, "", look))
}

fn terminal(columns: usize) -> Look {
    Look { terminal_width: Some(columns), ..Look::default() }
}

/// A terminal of 80 columns and so many lines.
fn lines(lines: usize) -> Look {
    Look { terminal_height: Some(lines), ..terminal(80) }
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// A `ReplicaSet` of this many pods, whose deletion costs differ.
fn large(pods: u32) -> Input {
    large_by(pods, &json!(null))
}

/// The same, with costs of these managers.
fn large_by(pods: u32, managers: &Value) -> Input {
    let pod = |number: u32| {
        let cost = "metadata annotations controller.kubernetes.io/pod-deletion-cost";
        let pod = objects::with(objects::owned_pod(number, NAME), cost, json!(number.to_string()));
        let node = format!("ip-10-0-12-{number}.eu-west-1.compute.internal");
        let pod = objects::with(pod, "spec nodeName", json!(node));
        objects::with(pod, "metadata managedFields", managers.clone())
    };
    let items: Vec<_> = (0..pods).map(pod).chain([objects::bare_set(NAME, pods as usize)]).collect();
    Input::read(objects::dump(&items).as_bytes()).expect("sound")
}

#[test]
fn an_answer_is_a_sentence_and_a_row_for_each_pod_that_goes() {
    let text = at_a_glance(&example("rollout.json"), "deploy/web", 5, lines(15));
    let expected = "\
deploy/web to 5: 8 of 13 pods go, all certainly
GOES  POD                            NODE      BECAUSE
yes   web-5d8c7f9b64-2fxcm           worker-1  all pods go
yes   3 more pods of web-5d8c7f9b64            all of its ReplicaSet
yes   web-7f6b9d5c48-hq8zt           -         has no node
yes   web-7f6b9d5c48-m9c4x           worker-3  Pending
yes   web-7f6b9d5c48-k2v5d           worker-2  not ready
yes   web-7f6b9d5c48-b7wfn           worker-1  deletion cost -10
no    5 pods (--all lists them)
The 5 left are on 4 nodes, 2 of them on worker-1.
";
    assert_eq!(text, expected);
}

/// Where chance decides, the rows do not tell how many of each set go.
#[test]
fn the_share_of_each_set_is_told() {
    let second = |replicas| {
        let text = at_a_glance(&example("rollout.json"), "deploy/web", replicas, terminal(80));
        text.lines().nth(1).map(str::to_owned)
    };
    let shares = "That is 4 of the 4 pods of web-5d8c7f9b64 and 6 of the 9 pods of web-7f6b9d5c48.";
    assert_eq!(second(3).as_deref(), Some(shares));
    assert_eq!(second(5).as_deref(), Some("GOES  POD                   NODE      BECAUSE"));
}

#[test]
fn where_nothing_goes_there_is_nothing_to_choose() {
    assert_eq!(with_preview(&example("rollout.json"), NAME, 9, hint), None);
}

#[test]
fn an_answer_about_any_number_of_pods_fits_on_a_screen() {
    for pods in [10, 60, 1_000] {
        let input = large(pods);
        for replicas in [0, 1, pods / 2, pods - 1, pods] {
            let text = at_a_glance(&input, NAME, replicas, terminal(80));
            let next = with_preview(&input, NAME, replicas, |preview| beside(preview).len());
            assert!(text.lines().count() + next <= 22, "{pods} to {replicas}: {text}");
            assert!(longest(&text) <= 80, "{text}");
            let all = Look { shows_all: true, ..terminal(80) };
            for look in [all, Look::default()] {
                let text = at_a_glance(&input, NAME, replicas, look);
                let rows = text.lines().filter(|line| line.starts_with("yes ") || line.starts_with("no "));
                assert_eq!(rows.count(), pods as usize, "{text}");
            }
        }
    }
    // The rows that are left over are counted, so that the numbers add up.
    let text = at_a_glance(&large(1_000), NAME, 500, terminal(80));
    assert!(
        text.contains("487 more (--all lists them)") && text.contains("500 pods (--all lists them)"),
        "{text}"
    );
}

#[test]
fn nodes_give_way_and_names_do_not() {
    let [narrow, wide] = [60, 200].map(|columns| at_a_glance(&large(60), NAME, 58, terminal(columns)));
    assert!(!narrow.contains("NODE") && narrow.contains("BECAUSE"), "{narrow}");
    assert!(wide.contains("NODE") && wide.contains("ip-10-0-12-0.eu-west-1.compute.internal"), "{wide}");
}

#[test]
fn a_reason_is_a_few_words() {
    for (file, workload) in [("rollout.json", "deploy/web"), ("contested.yaml", "rs/api-6c9d8f7b5")] {
        for replicas in 0..13 {
            with_preview(&example(file), workload, replicas, |preview| {
                for pod in preview.pods() {
                    let because = because(pod, None);
                    assert!(!because.is_empty() && because.chars().count() <= 25, "{because}");
                }
            });
        }
    }
}

#[test]
fn the_proof_has_the_reason_below_the_pod_on_a_narrow_terminal() {
    let text = proof(&example("rollout.json"), 7, terminal(80));
    let expected = "\
rs/web-7f6b9d5c48 to 7: 2 of 9 pods go, all certainly
Again:
  kubectl podrank rs/web-7f6b9d5c48 --namespace default --replicas 7 --now 2026-03-10T12:00:00Z --order kubernetes
";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("         unassigned: not assigned to a node, but web-7f6b9d5c48-d6sjr is\n"),
        "{text}"
    );
    assert!(longest(&without_command(&text)) <= 80, "{text}");
}

/// The text without the line of a command, which must not be broken.
fn without_command(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("  kubectl podrank ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_line_of_the_proof_is_wider_than_the_terminal() {
    for columns in [64, 80, 100, 118, 119, 200] {
        let text = proof(&example("rollout.json"), 3, terminal(columns));
        assert!(longest(&without_command(&text)) <= columns, "{columns}: {text}");
    }
    // Even where a word is wider, nothing breaks.
    assert!(proof(&example("rollout.json"), 3, terminal(1)).contains("web-7f6b9d5c48-z5tgq"));
    let text = proof(&large(60), 58, terminal(80));
    assert!(text.contains(".internal") && text.contains('…'), "{text}");
    assert!(proof(&large(60), 58, Look::default()).contains("ip-10-0-12-10.eu-west-1.compute.internal"));
}

#[test]
fn a_plan_for_any_number_of_pods_fits_on_a_screen() {
    for (pods, replicas) in [(10, 9), (60, 58), (60, 5), (1_000, 500)] {
        let mut options = Options::new(replicas, "2026-03-10T12:00:00Z".parse().expect("a time"));
        options.workload = Some(NAME.parse().expect("a name"));
        let request = Request {
            options,
            count: Count::To(replicas),
            named: std::iter::once(format!("{NAME}-3")).collect(),
            wishes: Vec::new(),
            others: plan::Others::Override,
            own_costs: None,
        };
        let plan = plan::plan(&large_by(pods, &written_by("keda", "Update")), &request).expect("a plan");
        let text = render_plan::table(&plan, terminal(80));
        let notes: usize = plan.notes.iter().map(|note| note.to_string().len().div_ceil(70)).sum();
        assert!(text.lines().count() + notes <= 23, "{pods} to {replicas}: {text}");
        assert!(longest(&text) <= 80, "{text}");
        // The rows and those that are left out are all the pods.
        let rows = text.lines().filter(|line| line.contains(NAME) && !line.contains(':')).count();
        let more = text.lines().find_map(|line| line.strip_prefix("… and ")).unwrap_or_default();
        let more: usize = more.split(' ').filter_map(|word| word.parse::<usize>().ok()).sum();
        assert_eq!(rows + more, pods as usize, "{text}");
        let whole = render_plan::table(&plan, Look::default());
        assert_eq!(whole.lines().filter(|line| line.contains("ip-10-0-12-")).count(), pods as usize);
    }
}
