//! What a link holds: the same that `kubectl podrank -o html` writes into its page.

use podrank_predict::{Error, Input, Options, Preview, WorkloadId, gates};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The part of the dump that the decision needs, and what is asked, as JSON.
///
/// # Errors
/// If that part is unsound, or if no link can hold workloads of its kind.
pub(crate) fn given(input: &Input, options: &Options, preview: &Preview<'_>) -> Result<String, Error> {
    let Preview { namespace, workload, .. } = *preview;
    let id =
        WorkloadId { namespace: namespace.to_owned(), kind: workload.kind, name: workload.name.to_owned() };
    let short = format!("{}/{}", workload.kind.short(), workload.name);
    let dump: Value = serde_json::from_str(&input.extract(&id)?).expect("it is JSON");
    let given = json!({
        "title": format!("{short} in {namespace}"),
        "dump": dump,
        "options": {
            "namespace": namespace,
            "workload": short,
            "replicas": preview.asked.replicas,
            "now": options.now,
            "order": options.order,
            "featureGates": gates::changed(&preview.feature_gates, None).into_iter().collect::<BTreeMap<_, _>>(),
            "burstReplicas": options.burst_replicas,
            "partial": options.accepts_gaps(),
        },
    });
    Ok(given.to_string())
}
