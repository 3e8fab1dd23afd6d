//! The steps of the recorded runs, against the table of docs/protocol.md: what follows what, in both directions.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// The pairs of steps that follow each other in the recorded outcomes, each with the sessions that have it.
fn recorded() -> Edges {
    let mut edges = Edges::new();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions")).expect("sessions") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let session: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("a session")).expect("JSON");
        let lines = session["stdout"].as_array().expect("lines").iter().filter_map(Value::as_str);
        let Ok(printed) = serde_json::from_str::<Value>(&lines.collect::<Vec<_>>().join("\n")) else {
            continue;
        };
        let of_node = printed["workloads"].as_array().cloned().unwrap_or_default();
        for outcome in [printed].iter().chain(&of_node) {
            let steps = outcome["steps"].as_array().cloned().unwrap_or_default();
            for pair in steps.windows(2) {
                let [from, to] = [&pair[0], &pair[1]].map(|step| step.as_str().expect("a name"));
                edges.entry(format!("{from} {to}")).or_default().insert(name.clone());
            }
        }
    }
    edges
}

/// The rows `| from | to, to |` of the table.
fn documented() -> BTreeSet<String> {
    let document = include_str!("../../docs/protocol.md");
    let (_, table) = document.split_once("| From | To |\n|---|---|\n").expect("the table");
    let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let edges = rows.flat_map(|(from, to)| {
        to.split(", ").map(move |to| format!("{} {}", from.trim_matches('`'), to.trim_matches('`')))
    });
    edges.collect()
}

#[test]
fn every_documented_edge_is_visited_and_no_other() {
    let (recorded, documented) = (recorded(), documented());
    let visited: BTreeSet<_> = recorded.keys().cloned().collect();
    let unknown: Vec<_> = visited.difference(&documented).map(|edge| (edge, &recorded[edge])).collect();
    let missed: Vec<_> = documented.difference(&visited).collect();
    assert!(unknown.is_empty() && missed.is_empty(), "not documented: {unknown:?}\nnot visited: {missed:?}");
    assert!(documented.len() >= 20, "{} edges", documented.len());
}
