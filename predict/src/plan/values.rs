//! Values of pods: from the metrics APIs, which autoscalers read, too, or from an annotation on each pod.

use crate::text::{Error, billionths, human};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Where the values of pods come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A metric of `custom.metrics.k8s.io`.
    Named(String),
    /// The processor time that metrics-server knows, in cores.
    Cpu,
    /// The memory that metrics-server knows, in bytes.
    Memory,
    /// What the pods say of themselves, in the annotation with this key.
    Annotation(String),
}

/// The value of each pod that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The flag that asks for them, as the user gave it.
    pub flag: String,
    /// What they are values of. `None` if they come from the user.
    pub measure: Option<Metric>,
    /// The values, by the name of the pod.
    pub of: HashMap<String, f64>,
    /// Up to which value a pod is idle, if no busy pod may be deleted.
    pub only_idle: Option<f64>,
    /// When the oldest was taken.
    oldest: Option<Timestamp>,
}

/// How far two clocks may differ: a value from later than that is none.
const FUTURE: SignedDuration = SignedDuration::from_secs(5);

/// Where numbers are no longer exact, 2 to the power of 53. Adapters turn infinities into numbers beyond it, such as the smallest integer.
const LIMIT: f64 = 9_007_199_254_740_992.0;

impl FromStr for Metric {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        let is_name = |name: &str| (1..=253).contains(&name.len()) && name.bytes().all(is_of_name);
        let is_key = |key: &str| key.split('/').count() <= 2 && key.split('/').all(is_name);
        match text.split_once('/') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "memory" => Ok(Self::Memory),
            Some(("metric", "" | "." | "..")) => Err("expected the name of a metric after metric/"),
            Some(("metric", name)) if is_name(name) => Ok(Self::Named(name.to_owned())),
            Some(("metric", _)) => {
                Err("the name of a metric has at most 253 letters, digits and `_`, `.`, `:` or `-`")
            }
            Some(("annotation", key)) if is_key(key) => Ok(Self::Annotation(key.to_owned())),
            Some(("annotation", _)) => {
                Err("expected the key of an annotation after annotation/, such as example.com/sessions")
            }
            _ => Err("expected cpu, memory, metric/NAME or annotation/KEY"),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "metric/{name}"),
            Self::Cpu => f.write_str("cpu"),
            Self::Memory => f.write_str("memory"),
            Self::Annotation(key) => write!(f, "annotation/{key}"),
        }
    }
}

impl Metric {
    /// The paths at which an API server answers for all pods of a namespace, the newest version first.
    pub fn paths(&self, namespace: &str) -> Vec<String> {
        let path = |api: &str| format!("/{api}/namespaces/{namespace}/pods");
        match self {
            Self::Named(name) => ["v1beta2", "v1beta1"]
                .map(|version| path(&format!("apis/custom.metrics.k8s.io/{version}")) + "/*/" + name)
                .into(),
            // Kubernetes 1.37 has the first.
            Self::Cpu | Self::Memory => {
                ["apis/metrics.k8s.io/v1", "apis/metrics.k8s.io/v1beta1"].map(path).into()
            }
            Self::Annotation(_) => vec![path("api/v1")],
        }
    }

    /// Reads the values of the pods of a namespace from an answer. The texts that adapters write for NaN and infinities
    /// are not values, and neither is a value from the future or without a time. A pod with two values has none,
    /// because nobody knows which one counts.
    ///
    /// # Errors
    ///
    /// If the answer is not one of these APIs.
    pub fn read(&self, answer: &str, namespace: &str, now: Timestamp) -> Result<Values, Error> {
        let List { items } = serde_json::from_str(answer).map_err(|why| {
            Error::new(format!("cannot read the values of {self}")).because(why.to_string())
        })?;
        let mut rows: HashMap<String, Option<(f64, Timestamp)>> = HashMap::new();
        for item in items.unwrap_or_default() {
            let is_one = |pod: &&Object| pod.namespace == namespace && !pod.name.is_empty();
            let Some(pod) = self.pod(&item).filter(is_one) else { continue };
            let at = match self {
                // Nobody knows when it was written.
                Self::Annotation(_) => Some(now),
                _ => item.timestamp.filter(|at| *at <= now + FUTURE),
            };
            let value = self.value(&item).zip(at);
            rows.entry(pod.name.clone()).and_modify(|row| *row = None).or_insert(value);
        }
        let known = || rows.iter().filter_map(|(pod, value)| Some((pod, (*value)?)));
        Ok(Values {
            flag: format!("--lowest {self}"),
            measure: Some(self.clone()),
            oldest: known().map(|(_, (_, at))| at).min().filter(|_| !matches!(self, Self::Annotation(_))),
            of: known().map(|(pod, (value, _))| (pod.clone(), value)).collect(),
            only_idle: None,
        })
    }

    /// The pod that an item is about.
    fn pod<'i>(&self, item: &'i Item) -> Option<&'i Object> {
        match self {
            Self::Named(_) => item.described_object.as_ref().filter(|object| object.kind == "Pod"),
            Self::Cpu | Self::Memory | Self::Annotation(_) => item.metadata.as_ref(),
        }
    }

    /// The value of an item, if it has one.
    fn value(&self, item: &Item) -> Option<f64> {
        let sum = match self {
            Self::Named(_) => billionths(item.value.as_ref()?)?,
            Self::Annotation(key) => billionths(item.metadata.as_ref()?.annotations.as_ref()?.get(key)?)?,
            Self::Cpu | Self::Memory => {
                let resource = self.to_string();
                let containers = item.containers.as_ref().filter(|containers| !containers.is_empty())?;
                let usage = |container: &Container| billionths(container.usage.as_ref()?.get(&resource)?);
                containers.iter().map(usage).sum::<Option<i128>>()?
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "53 bits of a measured value are enough")]
        Some(sum as f64 / 1e9).filter(|value| value.abs() < LIMIT)
    }
}

impl Values {
    /// The values that a user measured, by the name of the pod.
    pub fn given(of: HashMap<String, f64>) -> Self {
        Self { flag: "--by-value".to_owned(), of, ..Self::default() }
    }

    /// How old the oldest value is, as `kubectl get` shows ages. `None` if there is none.
    pub fn age(&self, now: Timestamp) -> Option<String> {
        Some(human(now.duration_since(self.oldest?).as_secs().max(0).unsigned_abs()))
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
            Some(Metric::Named(name) | Metric::Annotation(name)) => format!("{name} {value}"),
            Some(Metric::Cpu) => format!("cpu {:.0}m", value * 1e3),
            Some(Metric::Memory) => format!("memory {:.0}Mi", value / f64::from(1 << 20)),
        })
    }
}

/// A list of any of these APIs. Go writes an empty one as null.
#[derive(Deserialize)]
struct List {
    items: Option<Vec<Item>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: Option<Object>,
    containers: Option<Vec<Container>>,
    described_object: Option<Object>,
    value: Option<String>,
    timestamp: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Container {
    usage: Option<HashMap<String, String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Object {
    kind: String,
    namespace: String,
    name: String,
    annotations: Option<HashMap<String, String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: &str = include_str!("../../../tests/vectors/values.json");

    #[derive(Deserialize)]
    struct Facts {
        now: Timestamp,
        names: HashMap<String, bool>,
        answers: Vec<Fact>,
    }

    /// What an answer of an API means. `values` is null if it cannot be read.
    #[derive(Deserialize)]
    struct Fact {
        why: String,
        of: String,
        answer: serde_json::Value,
        values: Option<HashMap<String, f64>>,
    }

    fn facts() -> Facts {
        serde_json::from_str(FACTS).expect("sound")
    }

    #[test]
    fn the_values_of_an_answer_are_those_that_the_webhook_reads() {
        let Facts { now, answers, .. } = facts();
        for fact in answers {
            let measure: Metric = fact.of.parse().expect("a measure");
            let read = measure.read(&fact.answer.to_string(), "shop", now).map(|values| values.of).ok();
            assert_eq!(read, fact.values, "{}", fact.why);
        }
    }

    #[test]
    fn values_have_units_and_the_oldest_an_age() {
        let Facts { now, answers, .. } = facts();
        let read = |of: &str| {
            let fact = answers.iter().find(|fact| fact.of == of).expect("one of each");
            let measure: Metric = of.parse().expect("a measure");
            measure.read(&fact.answer.to_string(), "shop", now).expect("sound")
        };
        assert_eq!(read("metric/sessions").text("a").as_deref(), Some("sessions 1.5"));
        assert_eq!(read("metric/sessions").age(now).as_deref(), Some("60s"));
        assert_eq!(read("cpu").text("a").as_deref(), Some("cpu 262m"));
        assert_eq!(read("memory").text("a").as_deref(), Some("memory 192Mi"));
    }

    #[test]
    fn names_of_metrics_are_those_that_policies_may_have() {
        for (name, is_one) in facts().names {
            assert_eq!(format!("metric/{name}").parse::<Metric>().is_ok(), is_one, "{name}");
        }
    }

    #[test]
    fn only_measures_have_a_path() {
        for text in ["sessions", "CPU", "", "metric", "disk/full"] {
            assert!(text.parse::<Metric>().is_err(), "{text}");
        }
        let measure: Metric = "metric/http:requests_per-second.5m".parse().expect("a metric");
        assert_eq!(
            measure.paths("shop")[0],
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/http:requests_per-second.5m"
        );
    }

    #[test]
    fn annotations_are_read_as_other_values_are() {
        let measure: Metric = "annotation/example.com/sessions".parse().expect("an annotation");
        let pod = |name: &str, value: &str| {
            let annotations = serde_json::json!({ "example.com/sessions": value, "other": "5" });
            serde_json::json!({ "metadata": { "namespace": "shop", "name": name, "annotations": annotations } })
        };
        let texts =
            ["3", "0.5", "1k", "-2", "", "many", "NaN", "inf", "1e400", "9007199254740993", " 3", "3\n"];
        let mut items: Vec<_> = texts.iter().map(|text| pod(text, text)).collect();
        items.push(serde_json::json!({ "metadata": { "namespace": "shop", "name": "none" } }));
        items.push(serde_json::json!({ "metadata": { "namespace": "other", "name": "web" } }));
        let answer = serde_json::json!({ "items": items }).to_string();
        let values = measure.read(&answer, "shop", Timestamp::UNIX_EPOCH).expect("values");
        let expected = [("3", 3.0), ("0.5", 0.5), ("1k", 1000.0), ("-2", -2.0)];
        assert_eq!(values.of, expected.map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(values.age(Timestamp::now()), None);
        assert_eq!(values.text("0.5").as_deref(), Some("example.com/sessions 0.5"));
        assert_eq!(measure.paths("shop"), ["/api/v1/namespaces/shop/pods"]);
        for wrong in ["annotation/", "annotation/a/b/", "annotation/a b", "annotation"] {
            assert!(wrong.parse::<Metric>().is_err(), "{wrong}");
        }
    }
}
