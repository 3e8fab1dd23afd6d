//! What is measured of pods: the values that metrics APIs have of them, which autoscalers read, too.

use crate::words::error::Error;
use crate::words::quantity::billionths;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Where the values of pods come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A metric of `custom.metrics.k8s.io`.
    Metric(String),
    /// The processor time that metrics-server knows, in cores.
    Cpu,
    /// The memory that metrics-server knows, in bytes.
    Memory,
}

/// The value of each pod that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The flag that asks for them, as the user gave it.
    pub flag: String,
    /// What they are values of. `None` if they come from the user.
    pub measure: Option<Measure>,
    /// The values, by the name of the pod.
    pub of: HashMap<String, f64>,
    /// When the oldest was taken.
    pub oldest: Option<Timestamp>,
}

/// How far two clocks may differ: a value from later than that is none.
const FUTURE: SignedDuration = SignedDuration::from_secs(5);

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        match text.split_once('/') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "memory" => Ok(Self::Memory),
            Some(("metric", "" | "." | "..")) => {
                Err("expected the name of a metric after metric/".to_owned())
            }
            Some(("metric", name)) if name.len() <= 253 && name.bytes().all(is_of_name) => {
                Ok(Self::Metric(name.to_owned()))
            }
            Some(("metric", _)) => {
                Err("the name of a metric has at most 253 letters, digits and `_`, `.`, `:` or `-`"
                    .to_owned())
            }
            _ => Err("expected cpu, memory or metric/NAME".to_owned()),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metric(name) => write!(f, "metric/{name}"),
            Self::Cpu => f.write_str("cpu"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

impl Measure {
    /// The path at which an API server answers for all pods of a namespace.
    pub fn path(&self, namespace: &str) -> String {
        match self {
            Self::Metric(name) => {
                format!("/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/pods/*/{name}")
            }
            Self::Cpu | Self::Memory => format!("/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"),
        }
    }

    /// Reads the values from an answer. What adapters make of NaN and infinities is no value, and neither is one from the future.
    ///
    /// # Errors
    ///
    /// If the answer is not one of these APIs, or has two values of one pod.
    pub fn read(&self, answer: &str, now: Timestamp) -> Result<Values, Error> {
        let error =
            |what: &dyn fmt::Display| Error::new(format!("the values of {self} cannot be read: {what}"));
        let List { items } = serde_json::from_str(answer).map_err(|why| error(&why))?;
        let mut values =
            Values { flag: format!("--lowest {self}"), measure: Some(self.clone()), ..Values::default() };
        for item in items {
            let Some((name, value)) = self.value(&item) else {
                return Err(error(&"an item has no pod, or no quantity"));
            };
            let is_one = value.is_some() && item.timestamp.is_none_or(|at| at <= now + FUTURE);
            let Some(value) = value.filter(|_| is_one) else { continue };
            values.oldest = values.oldest.into_iter().chain(item.timestamp).min();
            if values.of.insert(name.to_owned(), value).is_some() {
                return Err(error(&format_args!("{name} has two")));
            }
        }
        Ok(values)
    }

    /// The name of an item's pod, and its value if that is one.
    fn value<'i>(&self, item: &'i Item) -> Option<(&'i str, Option<f64>)> {
        let value = |quantities: &mut dyn Iterator<Item = &String>| {
            let each: Option<Vec<_>> = quantities.map(|text| billionths(text)).collect();
            // No quantity is less than this one, and adapters write it for what they cannot.
            let is_one = |of: &i128| of.abs() < i128::from(i64::MAX) * 1_000_000_000;
            #[expect(clippy::cast_precision_loss, reason = "53 bits of a measured value are enough")]
            each.map(|each| Some(each.iter().sum::<i128>()).filter(is_one).map(|sum| sum as f64 / 1e9))
        };
        match self {
            Self::Metric(_) => {
                let object = item.described_object.as_ref().filter(|object| object.kind == "Pod")?;
                Some((&object.name, value(&mut item.value.iter())?.filter(|_| item.value.is_some())))
            }
            Self::Cpu | Self::Memory => {
                let usage = item.containers.iter().map(|container| container.usage.get(&self.to_string()));
                let usage: Vec<_> = usage.collect::<Option<_>>()?;
                Some((&item.metadata.name, value(&mut usage.into_iter())?))
            }
        }
    }
}

impl Values {
    /// The values that a user measured, by the name of the pod.
    pub fn given(of: HashMap<String, f64>) -> Self {
        Self { flag: "--by-value".to_owned(), of, ..Self::default() }
    }

    /// The name of the flag, without its dashes.
    pub(super) fn by(&self) -> &'static str {
        if self.measure.is_some() { "lowest" } else { "by-value" }
    }

    /// A pod's value for a reader.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.of.get(name)?;
        Some(match &self.measure {
            None => format!("value {value}"),
            Some(Measure::Metric(metric)) => format!("{metric} {value}"),
            Some(Measure::Cpu) => format!("cpu {:.0}m", value * 1e3),
            Some(Measure::Memory) => format!("memory {:.0}Mi", value / f64::from(1 << 20)),
        })
    }
}

#[derive(Deserialize)]
struct List {
    items: Vec<Item>,
}

/// An item of either API.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    containers: Vec<Container>,
    described_object: Option<Object>,
    value: Option<String>,
    timestamp: Option<Timestamp>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Container {
    usage: HashMap<String, String>,
}

#[derive(Deserialize)]
struct Object {
    kind: String,
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(measure: &str, items: &str) -> Result<Values, String> {
        let now = "2026-03-10T12:00:00Z".parse().expect("a time");
        let measure: Measure = measure.parse().expect("a measure");
        measure.read(&format!(r#"{{"items": [{items}]}}"#), now).map_err(|error| error.to_string())
    }

    fn sessions(pod: &str, value: &str, at: &str) -> String {
        format!(
            r#"{{"describedObject": {{"kind": "Pod", "name": "{pod}"}}, "value": "{value}", "timestamp": "2026-03-10T{at}Z"}}"#
        )
    }

    #[test]
    fn values_of_a_metric_are_quantities() {
        let items = [
            sessions("a", "1500m", "11:59:30"),
            sessions("b", "2k", "12:00:05"),
            sessions("c", "0", "11:59:00"),
        ];
        let values = read("metric/sessions", &items.join(",")).expect("sound");
        assert_eq!(
            values.of,
            HashMap::from(
                [("a", 1.5), ("b", 2000.0), ("c", 0.0)].map(|(name, value)| (name.to_owned(), value))
            )
        );
        assert_eq!(values.oldest.map(|at| at.to_string()).as_deref(), Some("2026-03-10T11:59:00Z"));
        assert_eq!(values.text("a").as_deref(), Some("sessions 1.5"));
    }

    #[test]
    fn what_adapters_make_of_no_number_is_no_value() {
        for item in [sessions("a", "-9223372036854775808", "11:59:00"), sessions("a", "1", "12:00:06")] {
            assert_eq!(read("metric/sessions", &item).expect("sound").of, HashMap::new(), "{item}");
        }
    }

    #[test]
    fn usage_is_that_of_all_containers() {
        let items = r#"{"metadata": {"name": "a"}, "timestamp": "2026-03-10T11:59:00Z", "containers": [
            {"usage": {"cpu": "250m", "memory": "128Mi"}}, {"usage": {"cpu": "12345678n", "memory": "64Mi"}}]}"#;
        assert_eq!(read("cpu", items).expect("sound").text("a").as_deref(), Some("cpu 262m"));
        assert_eq!(read("memory", items).expect("sound").text("a").as_deref(), Some("memory 192Mi"));
    }

    #[test]
    fn other_answers_are_errors() {
        let pod = sessions("a", "1", "11:59:00");
        for (items, error) in [
            (format!("{pod},{pod}"), "a has two"),
            (sessions("a", "many", "11:59:00"), "an item has no pod, or no quantity"),
            (pod.replace("Pod", "Service"), "an item has no pod, or no quantity"),
            ("1".to_owned(), "invalid type: integer `1`, expected struct Item at line 1 column 12"),
        ] {
            assert_eq!(
                read("metric/sessions", &items),
                Err(format!("the values of metric/sessions cannot be read: {error}"))
            );
        }
    }

    #[test]
    fn a_name_cannot_leave_its_path() {
        for text in [
            "metric/..",
            "metric/a/b",
            "metric/a%2fb",
            "metric/a?x",
            "metric/",
            "metric/a b",
            "sessions",
            "CPU",
        ] {
            assert!(text.parse::<Measure>().is_err(), "{text}");
        }
        let measure: Measure = "metric/http:requests_per-second.5m".parse().expect("a metric");
        assert_eq!(
            measure.path("shop"),
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/http:requests_per-second.5m"
        );
    }
}
