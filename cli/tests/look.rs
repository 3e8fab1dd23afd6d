//! The table on terminals, and the lines that it leaves whole for a pipe.

use kubectl_podrank::render::{self, Look};
use podrank_laws::objects;
use podrank_preview::{Input, Options, preview_workload};
use serde_json::json;
use std::fs::File;

const NAME: &str = "web-7f6b9d5c48";

fn table(input: &Input, replicas: u32, look: Look) -> String {
    let mut options = Options::new(replicas, "2026-03-10T12:00:00Z".parse().expect("a time"));
    options.workload = Some(NAME.parse().expect("a name"));
    render::workload(&preview_workload(input, &options).expect("a preview"), look)
}

fn example() -> Input {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/rollout.json");
    Input::read(File::open(file).expect("the example")).expect("sound")
}

fn terminal(columns: usize) -> Look {
    Look { terminal_width: Some(columns), ..Look::default() }
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_narrow_terminal_has_the_reason_below_the_pod() {
    let text = table(&example(), 7, terminal(80));
    let expected = "\
2 of 9 active pods of ReplicaSet default/web-7f6b9d5c48 go at --replicas 7 --now
2026-03-10T12:00:00Z --order kubernetes

#  VERDICT  POD                   NODE      RANK  AGE
1  delete   web-7f6b9d5c48-hq8zt  <none>    1     90s
            unassigned: not assigned to a node, but web-7f6b9d5c48-k2v5d is
2  delete   web-7f6b9d5c48-m9c4x  worker-3  3     25s
            phase: Pending, web-7f6b9d5c48-k2v5d is Running
-------------------------------------------------------
3  keep     web-7f6b9d5c48-k2v5d  worker-2  3     90m
            phase: Running, web-7f6b9d5c48-m9c4x is Pending
";
    assert!(text.starts_with(expected), "{text}");
    let wide = table(&example(), 7, Look { is_wide: true, ..terminal(80) });
    let details = "
            PHASE Running  READY no  RESTARTS 14+0  COST 0  UID
            698c59e5-193c-49ca-af34-bc3b0ade7699
";
    assert!(wide.contains(details), "{wide}");
    assert!(longest(&wide) <= 80, "{wide}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [64, 80, 100, 118, 119, 200] {
        for is_wide in [false, true] {
            let text = table(&example(), 3, Look { is_wide, ..terminal(columns) });
            assert!(longest(&text) <= columns, "{columns}: {text}");
        }
    }
    // Even where a word is wider, nothing breaks.
    assert!(table(&example(), 3, terminal(1)).contains("web-7f6b9d5c48-z5tgq"));
    let roomy = table(&example(), 3, terminal(200));
    assert!(roomy.contains("RULE  ") && roomy.lines().count() == 13, "{roomy}");
}

#[test]
fn long_node_names_lose_their_middle_on_a_terminal_alone() {
    let pod = |number: u32| {
        let cost = "metadata annotations controller.kubernetes.io/pod-deletion-cost";
        let pod = objects::with(objects::owned_pod(number, NAME), cost, json!(number.to_string()));
        let node = format!("ip-10-0-12-{number}.eu-west-1.compute.internal");
        objects::with(pod, "spec nodeName", json!(node))
    };
    let items: Vec<_> = (10..70).map(pod).chain([objects::bare_set(NAME, 60)]).collect();
    let dump = objects::dump(&items);
    let input = Input::read(dump.as_bytes()).expect("sound");
    let text = table(&input, 58, terminal(80));
    assert!(longest(&text) <= 80, "{text}");
    assert!(text.contains("ip-10-0-12-1") && text.contains(".internal") && text.contains('…'), "{text}");

    // Victims are not to be scrolled off a terminal by those that stay.
    assert!(text.ends_with("… and 48 more that stay: use -o wide or a pager to see them\n"), "{text}");
    assert_eq!(text.matches("  keep  ").count(), 10);
    assert_eq!(table(&input, 58, Look { is_wide: true, ..terminal(80) }).matches("  keep  ").count(), 58);
    let pipe = table(&input, 58, Look::default());
    assert_eq!(pipe.matches("  keep  ").count(), 58);
    assert!(pipe.contains("ip-10-0-12-10.eu-west-1.compute.internal"), "{pipe}");
}
