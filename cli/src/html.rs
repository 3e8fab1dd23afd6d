//! The preview as a page: one file that opens without a network. Computes text and reads nothing.

use podrank_preview::{Error, Input, Options, Preview, WorkloadId, gates};
use serde_json::json;
use std::collections::BTreeMap;

/// The page of `web/`, as `make web` makes it: `page.html` is a link to it.
const PAGE: &str = include_str!("page.html");
const _: () = assert!(
    PAGE.len() > 1000,
    "src/page.html is a link to web/dist/index.html, but was checked out as text: set core.symlinks in git"
);

/// Where the page looks for what it is to show.
const PLACE: &str = r#"<script type="application/json" id="given">null</script>"#;

/// Returns the page that shows this decision. It has the part of the input that the decision needs, and no more.
///
/// # Errors
/// If a part of the input that matters is unsound.
///
/// # Panics
/// Never: the page has a place for the answer, which a test makes sure of.
pub fn page(input: &Input, options: &Options, preview: &Preview<'_>) -> Result<String, Error> {
    let Preview { namespace, workload, .. } = *preview;
    let id =
        WorkloadId { namespace: namespace.to_owned(), kind: workload.kind, name: workload.name.to_owned() };
    let short = format!("{}/{}", workload.kind.short(), workload.name);
    let dump: serde_json::Value = serde_json::from_str(&input.extract(&id)?).expect("it is JSON");
    let given = json!({
        "title": format!("{short} in {namespace}"),
        "dump": dump,
        "options": {
            "namespace": namespace,
            "workload": short,
            "replicas": preview.asked.replicas,
            "now": options.now,
            "order": options.order,
            "featureGates": gates::changed(&preview.feature_gates).into_iter().collect::<BTreeMap<_, _>>(),
            "burstReplicas": options.burst_replicas,
            "partial": options.accepts_gaps(),
        },
    });
    // Within a script element, `<` could end it. In JSON, it only stands in texts.
    let given = given.to_string().replace('<', "\\u003c");
    let (before, after) = PAGE.split_once(PLACE).expect("the page has a place for the answer");
    Ok(format!(r#"{before}<script type="application/json" id="given">{given}</script>{after}"#))
}
