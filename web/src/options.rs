//! The options of a decision, as the page sends them: JSON with the names of `kubectl podrank -o json`.

use crate::failure::Failure;
use jiff::Timestamp;
use podrank::FeatureGates;
use podrank_predict::gates::GATES;
use podrank_predict::{NowSource, Options, Order, WorkloadName};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Asked {
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
    order: AskedOrder,
    feature_gates: BTreeMap<String, bool>,
    partial: bool,
    /// Whether to say how likely contested pods go, even if that takes a while.
    probabilities: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AskedOrder {
    #[default]
    Kubernetes,
    Total,
}

/// The options in this text.
pub(crate) fn read(text: &str) -> Result<Options, Failure> {
    let asked: Asked = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut options = match (asked.now, asked.clock) {
        (Some(now), _) => Options::new(0, now),
        (None, Some(clock)) => {
            let mut options = Options::new(0, asked.modified.unwrap_or(clock));
            options.now_source =
                if asked.modified.is_some() { NowSource::FileTime } else { NowSource::Clock };
            options
        }
        (None, None) => return Err("neither now nor clock says when to decide".to_owned().into()),
    };
    (options.replicas, options.parallelism) = (asked.replicas, asked.parallelism);
    options.namespace = asked.namespace;
    options.workload = asked.workload.map(|name| name.parse::<WorkloadName>()).transpose()?;
    options.order = match asked.order {
        AskedOrder::Kubernetes => Order::Kubernetes,
        AskedOrder::Total => Order::Total,
    };
    options.gates = FeatureGates::KUBERNETES;
    for (name, value) in asked.feature_gates {
        let (_, gate) = GATES
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| format!("unknown feature gate {name}"))?;
        *gate(&mut options.gates) = value;
    }
    (options.partial, options.probabilities) = (asked.partial, asked.probabilities);
    Ok(options)
}
