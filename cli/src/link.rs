//! A question about a workload as a link to the page: the part of the input that decides, and what is asked, in the fragment, which
//! browsers send to no server. Computes text and reads nothing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use podrank_predict::{Input, Options, Order, Preview, WorkloadId, WorkloadName, gates, preview_workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::Write;

/// Where the page is.
pub const PAGE: &str = env!("CARGO_PKG_HOMEPAGE");

/// The most characters of a link. Browsers accept different lengths, and a line of a chat or a command line has limits, too.
pub const LONGEST: usize = 65_536;

/// What such a link contains, for whoever is about to pass it on.
pub const CONTENTS: &str = "the link contains names (pods, nodes, ReplicaSets, the workload), UIDs, the labels that selectors read, zones, times, \
     restarts and deletion costs with who wrote them; no containers, environment variables or volumes. Whoever has the link can read \
     them, but browsers send them to no server";

/// Returns the link that asks this about the workload. Without `replicas`, the page chooses the count.
///
/// It holds the JSON of what the page opens with: the part of the dump, and all that is asked. What a reader may want to change by hand
/// follows as text.
///
/// # Errors
/// If a link cannot hold the workload or would be longer than [`LONGEST`].
pub fn link(
    input: &Input,
    options: &Options,
    id: &WorkloadId,
    replicas: Option<u32>,
) -> Result<String, Box<dyn Error>> {
    let short = format!("{}/{}", id.kind.short(), id.name);
    let dump: Value = serde_json::from_str(&input.extract(id)?)?;
    let gates: BTreeMap<_, _> = gates::changed(&gates::of_sets(options.gates), None).into_iter().collect();
    let given = json!({
        "title": format!("{short} in {}", id.namespace),
        "dump": dump,
        "options": {
            "namespace": id.namespace,
            "workload": short,
            "replicas": replicas,
            "now": options.now,
            "order": options.order,
            "featureGates": gates,
            "burstReplicas": options.burst_replicas,
            "partial": options.accepts_gaps(),
        },
    });
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(given.to_string().as_bytes())?;
    let mut link = format!("{PAGE}#dump={}", URL_SAFE_NO_PAD.encode(encoder.finish()?));
    link.extend(replicas.map(|replicas| format!("&replicas={replicas}")));
    link.extend(["&now=", &options.now.to_string()]);
    if options.order == Order::Total {
        link += "&order=total";
    }
    link.extend(gates.iter().map(|(gate, is_on)| format!("&{gate}={is_on}")));
    if link.len() > LONGEST {
        return Err(format!(
            "the link would have {} characters, and not every browser opens more than {LONGEST}: -o html > page.html writes a page",
            link.len()
        )
        .into());
    }
    Ok(link)
}

/// Returns a warning that names the pods which have another verdict on the page: it decides at one moment, and shows all steps.
///
/// # Errors
/// If a part of the input that matters is unsound.
pub fn differs(
    preview: &Preview<'_>,
    input: &Input,
    options: &Options,
    id: &WorkloadId,
) -> Result<Option<String>, Box<dyn Error>> {
    let input = Input::read(input.extract(id)?.as_bytes())?;
    let mut asked = Options::new(0, options.now);
    asked.replicas = preview.asked.replicas;
    asked.namespace = Some(id.namespace.clone());
    asked.workload = Some(WorkloadName { kind: Some(id.kind), name: id.name.clone() });
    (asked.order, asked.gates, asked.burst_replicas) = (options.order, options.gates, options.burst_replicas);
    (asked.partial, asked.odds) = (options.accepts_gaps(), false);
    let there = preview_workload(&input, &asked)?;
    let verdicts: HashMap<_, _> = there.pods().map(|pod| (pod.name, pod.verdict)).collect();
    let other: Vec<_> = preview.pods().filter(|pod| verdicts.get(pod.name) != Some(&pod.verdict)).collect();
    if other.is_empty() {
        return Ok(None);
    }
    let named: Vec<_> = other.iter().take(3).map(|pod| pod.name).collect();
    let more = if other.len() > named.len() { ", …" } else { "" };
    let pods = if other.len() == 1 { "pod has" } else { "pods have" };
    Ok(Some(format!(
        "warning: {} {pods} another verdict on the page ({}{more}), which decides at {} alone and shows all steps of a rollout",
        other.len(),
        named.join(", "),
        options.now
    )))
}
