//! Deletion costs that podrank itself left: previews name them, whoever else wrote costs.

use crate::common::{ROLLOUT, changed, fine};
use serde_json::{Value, json};

const FIRST: [&str; 2] = ["web-7f6b9d5c48-d6sjr", "web-7f6b9d5c48-z5tgq"];

/// The managers of a pod's deletion cost.
fn written_by(manager: &str, operation: &str) -> Value {
    let cost = json!({ "f:controller.kubernetes.io/pod-deletion-cost": {} });
    let fields = json!({ "f:metadata": { "f:annotations": cost } });
    json!([{ "manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields }])
}

/// The example, in which two ready pods have this cost.
fn with_costs(manager: &str, operation: &str) -> String {
    let changes = FIRST.map(|pod| {
        let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "-1" });
        [(pod, "metadata annotations", cost), (pod, "metadata managedFields", written_by(manager, operation))]
    });
    changed(ROLLOUT, &changes.concat())
}

const NOTE: &str = "note: 2 pods have podrank's own deletion costs (-1), which an interrupted run or --keep-costs left; to take them off: \
                    kubectl podrank undo deploy/web -n default\n";

#[test]
fn own_costs_are_named_once_with_undo() {
    let dump = with_costs("podrank", "Apply");
    for words in ["deploy/web", "deploy/web --replicas 1", "deploy/web -o wide", "pod/web-7f6b9d5c48-d6sjr"] {
        let (_, notes) = fine(words, &dump);
        assert_eq!(notes.matches(NOTE).count(), 1, "{words}: {notes}");
    }
    let (json, _) = fine("deploy/web --replicas 1 -o json", &dump);
    assert_eq!(json.matches(r#""ownCost": true"#).count(), 2);
    assert!(json.contains(r#""code": "leftover-costs""#), "{json}");
}

#[test]
fn the_reason_is_podranks_cost() {
    for words in ["deploy/web", "deploy/web --replicas 3"] {
        let (table, _) = fine(words, with_costs("podrank", "Apply"));
        for pod in FIRST {
            let row = table.lines().find(|line| line.contains(pod)).expect("its row");
            assert!(row.ends_with("podrank's cost -1"), "{words}: {table}");
        }
    }
}

#[test]
fn costs_of_others_are_not_podranks() {
    for (manager, operation) in [("karpenter", "Update"), ("podrank", "Update")] {
        let (table, notes) = fine("deploy/web --replicas 4", with_costs(manager, operation));
        assert!(!table.contains("podrank's") && !notes.contains("podrank's"), "{table}{notes}");
    }
}
