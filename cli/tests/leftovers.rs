//! Previews name the deletion costs that podrank itself left, also if other programs wrote costs.

use crate::common::{ROLLOUT, changed, fine, written_by};
use serde_json::json;

const READY: [&str; 2] = ["web-7f6b9d5c48-d6sjr", "web-7f6b9d5c48-z5tgq"];

/// The example, in which these pods have this cost.
fn with_costs(pods: &[&str], manager: &str, operation: &str) -> String {
    let changes = pods.iter().flat_map(|pod| {
        let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "-1" });
        [
            (*pod, "metadata annotations", cost),
            (*pod, "metadata managedFields", written_by(manager, operation)),
        ]
    });
    changed(ROLLOUT, &changes.collect::<Vec<_>>())
}

const NOTE: &str = "note: 2 pods have podrank's own deletion costs (-1), which an earlier run left: kubectl podrank undo deploy/web -n default\n";

#[test]
fn own_costs_are_named_once_with_undo_and_as_the_reason() {
    let dump = with_costs(&READY, "podrank", "Apply");
    for words in ["deploy/web", "deploy/web --replicas 3", "deploy/web -o wide", "pod/web-7f6b9d5c48-d6sjr"] {
        let (table, notes) = fine(words, &dump);
        assert_eq!(notes.matches(NOTE).count(), 1, "{words}: {notes}");
        let rows = table.lines().filter(|line| line.ends_with("podrank's cost -1"));
        assert_eq!(
            rows.count(),
            if words.contains("-o") || words.contains("pod/") { 0 } else { 2 },
            "{table}"
        );
    }
    // Of a set, it was a run on its Deployment.
    let (_, notes) = fine("rs/web-7f6b9d5c48 --replicas 7", &dump);
    assert_eq!(notes.matches(NOTE).count(), 1, "{notes}");
    let (json, _) = fine("deploy/web --replicas 1 -o json", &dump);
    assert_eq!(json.matches(r#""ownCost": true"#).count(), 2);
    assert!(json.contains(r#""code": "deletion-costs""#), "{json}");
    // The first pod of the input is treated the same.
    let (_, notes) = fine("deploy/web", with_costs(&["web-5d8c7f9b64-2fxcm"], "podrank", "Apply"));
    assert!(
        notes.contains("note: 1 pod has podrank's own deletion cost (-1), which an earlier run"),
        "{notes}"
    );
    // The note about other costs does not name them.
    let (_, notes) = fine("deploy/web --replicas 1", &dump);
    let others = "note: 2 pods have deletion costs (web-7f6b9d5c48-b7wfn -10, web-7f6b9d5c48-p4xkl 100)\n";
    assert!(notes.contains(others), "{notes}");
}

#[test]
fn costs_of_others_are_not_podranks() {
    for (manager, operation) in [("karpenter", "Update"), ("podrank", "Update")] {
        let (table, notes) = fine("deploy/web --replicas 4", with_costs(&READY, manager, operation));
        assert!(!table.contains("podrank's") && !notes.contains("podrank's"), "{table}{notes}");
    }
}
