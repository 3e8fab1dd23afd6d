//! The options of a decision, as the page sends them: JSON with the names of `kubectl podrank -o json`.

use crate::failure::Failure;
use jiff::Timestamp;
use podrank::FeatureGates;
use podrank_predict::gates::GATES;
use podrank_predict::{Options, Order, TimeSource, WorkloadName};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PageOptions {
    namespace: Option<String>,
    /// `TYPE/NAME`, or the only workload.
    workload: Option<String>,
    replicas: Option<u32>,
    parallelism: Option<u32>,
    /// The time of the decision. Without one, it is that of the file, or else the clock's.
    now: Option<Timestamp>,
    /// The modification time of the file that was read, if it was one.
    modified: Option<Timestamp>,
    /// The clock's time, which an input without a file has.
    clock: Option<Timestamp>,
    order: Order,
    feature_gates: BTreeMap<String, bool>,
    partial: bool,
    /// Whether to say how likely contested pods go, even if that takes a while.
    probabilities: bool,
}

/// The options in this text.
pub(crate) fn read(text: &str) -> Result<Options, Failure> {
    let page: PageOptions = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut options = match (page.now, page.clock) {
        (Some(now), _) => Options::new(0, now),
        (None, Some(clock)) => {
            let mut options = Options::new(0, page.modified.unwrap_or(clock));
            options.time_source =
                if page.modified.is_some() { TimeSource::FileTime } else { TimeSource::Clock };
            options
        }
        (None, None) => return Err("neither now nor clock says when to decide".to_owned().into()),
    };
    (options.replicas, options.parallelism) = (page.replicas, page.parallelism);
    options.namespace = page.namespace;
    options.workload = page.workload.map(|name| name.parse::<WorkloadName>()).transpose()?;
    options.order = page.order;
    options.gates = FeatureGates::KUBERNETES;
    for (name, value) in page.feature_gates {
        let (_, gate) = GATES
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| format!("unknown feature gate {name}"))?;
        *gate(&mut options.gates) = value;
    }
    (options.partial, options.probabilities) = (page.partial, page.probabilities);
    Ok(options)
}
