//! Label selectors, valid and matching as in Kubernetes. Pure functions on text.

use crate::text::{self, Error};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::slice;

/// A selector as a `ReplicaSet` has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a label selector")]
pub(crate) struct LabelSelector {
    pub(crate) match_labels: Option<BTreeMap<String, String>>,
    pub(crate) match_expressions: Option<Vec<Expression>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a requirement of a label selector")]
pub(crate) struct Expression {
    pub(crate) key: String,
    pub(crate) operator: String,
    pub(crate) values: Option<Vec<String>>,
}

/// A valid selector. It matches labels that meet every requirement, so an empty one matches all labels.
#[derive(Clone)]
pub(crate) struct Selector<'a>(Vec<Requirement<'a>>);

#[derive(Clone, Copy, PartialEq)]
struct Requirement<'a> {
    key: &'a str,
    operator: Operator<'a>,
}

#[derive(Clone, Copy, PartialEq)]
enum Operator<'a> {
    In(&'a [String]),
    NotIn(&'a [String]),
    Exists,
    DoesNotExist,
}

impl<'a> Selector<'a> {
    /// Returns the selector, or `None` if Kubernetes calls it invalid.
    pub(crate) fn new(selector: &'a LabelSelector) -> Option<Self> {
        let labels = selector.match_labels.iter().flatten();
        let labels = labels.map(|(key, value)| Requirement::new(key, "In", slice::from_ref(value)));
        let expressions = selector.match_expressions.iter().flatten().map(Requirement::read);
        labels.chain(expressions).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether it has no requirement, and so matches all labels.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the requirements that all of `selectors` have in common, so that it matches what any of them matches. `None`
    /// if there are no selectors.
    pub(crate) fn in_common(selectors: Vec<Self>) -> Option<Self> {
        selectors.into_iter().reduce(|mut common, selector| {
            common.0.retain(|requirement| selector.0.contains(requirement));
            common
        })
    }

    /// Returns whether it matches the labels without its requirements on `key`.
    pub(crate) fn matches_but_for(&self, key: &str, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.key == key || requirement.matches(labels))
    }
}

/// Returns whether a node with these labels meets all requirements, which are those of a label selector and comparisons of
/// numbers. No node meets an invalid one.
pub(crate) fn matches_node(expressions: &[Expression], labels: &BTreeMap<String, String>) -> bool {
    expressions.iter().all(|expression| {
        let bound = || match expression.values.as_deref() {
            Some([bound]) if is_label_key(&expression.key) && is_label_value(bound) => bound.parse().ok(),
            _ => None,
        };
        let actual = || labels.get(&expression.key)?.parse::<i64>().ok();
        match expression.operator.as_str() {
            "Gt" => bound().zip(actual()).is_some_and(|(bound, actual)| actual > bound),
            "Lt" => bound().zip(actual()).is_some_and(|(bound, actual)| actual < bound),
            _ => Requirement::read(expression).is_some_and(|requirement| requirement.matches(labels)),
        }
    })
}

/// Adds to an error why a label selector as `kubectl get --selector` reads it matches none of these labels: which key or value is
/// missing from all of them, if one requirement alone rules all of them out. `whose` completes "None ... has the label".
pub(crate) fn explain(
    error: Error,
    selector: &str,
    whose: &str,
    labels: &[&BTreeMap<String, String>],
) -> Error {
    let selector = LabelSelector::of_text(selector);
    let mut wanted = selector.match_expressions.iter().flatten().filter_map(|expression| {
        let is_positive = matches!(&*expression.operator, "In" | "Exists");
        is_positive.then(|| (&*expression.key, expression.values.as_deref().unwrap_or_default()))
    });
    let found = wanted.find_map(|(key, wanted)| {
        let values: BTreeSet<_> = labels.iter().filter_map(|labels| labels.get(key)).collect();
        if values.is_empty() {
            let keys: BTreeSet<_> = labels.iter().flat_map(|labels| labels.keys()).collect();
            let nearest = text::nearest(key, keys.into_iter());
            return Some((
                format!("None {whose} has the label {key}."),
                nearest.map(|key| format!("Did you mean {key}?")),
            ));
        }
        if wanted.is_empty() || wanted.iter().any(|wanted| values.contains(wanted)) {
            return None;
        }
        let hint = match wanted {
            [only] => text::nearest(only, values.iter()),
            _ => None,
        };
        let hint = hint.map(|value| format!("Did you mean {key}={value}?"));
        let values: Vec<_> = values.into_iter().collect();
        let why = match &*values {
            [only] => format!("The only value of {key} is {only}."),
            several => format!("The values of {key} are {}.", text::list(several)),
        };
        Some((why, hint))
    });
    let Some((why, remedy)) = found else { return error };
    Error { remedy: remedy.into_iter().collect(), ..error.because(why) }
}

impl LabelSelector {
    /// Reads a selector as kubectl does: `app=web,tier in (a,b),!canary`.
    pub(crate) fn of_text(selector: &str) -> Self {
        let mut depth = 0;
        let parts = selector.split(move |char| {
            depth += i32::from(char == '(') - i32::from(char == ')');
            char == ',' && depth == 0
        });
        let parts = parts.map(str::trim).filter(|part| !part.is_empty());
        Self { match_labels: None, match_expressions: Some(parts.map(Expression::of_text).collect()) }
    }
}

impl Expression {
    /// Reads one requirement as kubectl does. What it cannot read has no valid key.
    fn of_text(text: &str) -> Self {
        let with = |key: &str, operator: &str, values: Vec<&str>| Self {
            key: key.trim().to_owned(),
            operator: operator.to_owned(),
            values: Some(values.into_iter().map(|value| value.trim().to_owned()).collect()),
        };
        if let Some((head, values)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            let values = values.split(',').collect();
            return match head.trim().rsplit_once(' ') {
                Some((key, "in")) => with(key, "In", values),
                Some((key, "notin")) => with(key, "NotIn", values),
                _ => with(text, "", values),
            };
        }
        if let Some((key, value)) = text.split_once("!=") {
            return with(key, "NotIn", vec![value]);
        }
        if let Some((key, value)) = text.split_once('=') {
            return with(key, "In", vec![value.strip_prefix('=').unwrap_or(value)]);
        }
        match text.strip_prefix('!') {
            Some(key) => with(key, "DoesNotExist", Vec::new()),
            None => with(text, "Exists", Vec::new()),
        }
    }
}

impl<'a> Requirement<'a> {
    fn read(expression: &'a Expression) -> Option<Self> {
        Self::new(&expression.key, &expression.operator, expression.values.as_deref().unwrap_or_default())
    }

    fn new(key: &'a str, operator: &str, values: &'a [String]) -> Option<Self> {
        let operator = match (operator, values) {
            ("In", [_, ..]) => Operator::In(values),
            ("NotIn", [_, ..]) => Operator::NotIn(values),
            ("Exists", []) => Operator::Exists,
            ("DoesNotExist", []) => Operator::DoesNotExist,
            _ => return None,
        };
        let are_valid = is_label_key(key) && values.iter().all(|value| is_label_value(value));
        are_valid.then_some(Self { key, operator })
    }

    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(self.key);
        match self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            // Kubernetes: a pod without the key is not in the values.
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl fmt::Display for Selector<'_> {
    /// As `kubectl get --selector` reads it: `app=web,tier in (a,b)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requirements = self.0.iter().map(|Requirement { key, operator }| match operator {
            Operator::In([value]) => format!("{key}={value}"),
            Operator::In(values) => format!("{key} in ({})", values.join(",")),
            Operator::NotIn(values) => format!("{key} notin ({})", values.join(",")),
            Operator::Exists => (*key).to_owned(),
            Operator::DoesNotExist => format!("!{key}"),
        });
        f.write_str(&requirements.collect::<Vec<_>>().join(","))
    }
}

/// A name of letters, digits, `-`, `_` and `.`, perhaps after a DNS domain and `/`.
fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_label_name(name),
        None => is_label_name(key),
    }
}

fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

fn is_label_name(name: &str) -> bool {
    name.len() <= 63 && is_word(name, |char| char.is_ascii_alphanumeric(), &['-', '_', '.'])
}

pub(crate) fn is_dns_subdomain(domain: &str) -> bool {
    let is_edge = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
    domain.len() <= 253 && domain.split('.').all(|label| is_word(label, is_edge, &['-']))
}

/// Whether `text` is one or more `edge` characters, with `inner` ones allowed between the first and the last.
fn is_word(text: &str, edge: impl Fn(char) -> bool, inner: &[char]) -> bool {
    let has_edges = !text.is_empty() && !text.starts_with(inner) && !text.ends_with(inner);
    has_edges && text.chars().all(|char| edge(char) || inner.contains(&char))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> LabelSelector {
        serde_json::from_str(json).expect("a selector")
    }

    #[test]
    fn selectors_are_written_as_kubectl_reads_them() {
        let selector = read(
            r#"{"matchLabels": {"app": "web", "empty": ""}, "matchExpressions": [
                {"key": "a.b/c", "operator": "In", "values": ["x", "y"]}, {"key": "d", "operator": "NotIn", "values": ["z"]},
                {"key": "e", "operator": "Exists"}, {"key": "f", "operator": "DoesNotExist"}]}"#,
        );
        let selector = Selector::new(&selector).expect("valid");
        assert_eq!(selector.to_string(), "app=web,empty=,a.b/c in (x,y),d notin (z),e,!f");
    }

    #[test]
    fn selectors_are_read_as_kubectl_writes_them() {
        let labels = BTreeMap::from([("app", "web"), ("a.b/c", "x"), ("empty", "")]);
        let labels = labels.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let matches = |text| {
            let selector = LabelSelector::of_text(text);
            Selector::new(&selector).map(|selector| selector.matches(&labels))
        };
        for text in [
            "",
            "app",
            "app=web",
            "app==web",
            " app = web , a.b/c in (y, x)",
            "app!=api",
            "other!=x",
            "!other",
            "app notin (api,db)",
            "empty=",
            "app=web,!other",
            "app=web, !other",
        ] {
            assert_eq!(matches(text), Some(true), "{text}");
        }
        for text in
            ["other", "app=api", "app!=web", "!app", "app in (api)", "app notin (web,db)", "app=web,other"]
        {
            assert_eq!(matches(text), Some(false), "{text}");
        }
        for text in ["app>1", "app in web", "a b", "app=web=x", "app!=web-", "in (a)", "app out (a)"] {
            assert_eq!(matches(text), None, "{text}");
        }
    }

    #[test]
    fn what_selectors_have_in_common_matches_what_any_matches() {
        let [deployment, old, new] = [
            r#"{"matchLabels": {"app": "web"}}"#,
            r#"{"matchLabels": {"app": "web", "pod-template-hash": "1"}}"#,
            r#"{"matchLabels": {"app": "web", "pod-template-hash": "2"}}"#,
        ]
        .map(read);
        let select = |selector| Selector::new(selector).expect("valid");
        let common = |all: &[&LabelSelector]| {
            let all = all.iter().map(|selector| Selector::new(selector).expect("valid")).collect();
            Selector::in_common(all).map(|common| common.to_string())
        };
        assert_eq!(common(&[&old]).as_deref(), Some("app=web,pod-template-hash=1"));
        assert_eq!(common(&[&old, &new]), Some(select(&deployment).to_string()));
        assert_eq!(common(&[&deployment, &old]), Some(select(&deployment).to_string()));
        let other = read(r#"{"matchLabels": {"app": "api"}}"#);
        assert_eq!(common(&[&old, &other]).as_deref(), Some(""));
        assert_eq!(common(&[]), None);
    }

    #[test]
    fn keys_and_values_are_as_long_and_plain_as_kubernetes_allows() {
        let (longest, domain) = ("x".repeat(63), "x".repeat(253));
        let too_long = longest.clone() + "x";
        for key in ["a", "A-b_c.D", "a.b-c/D_e", "1/2", &longest, &format!("{domain}/{longest}")] {
            assert!(is_label_key(key), "{key}");
        }
        for key in ["", "-a", "a.", "a b", "/a", "a/", "a/b/c", "A.b/c", "a..b/c", "a_b/c", "é", &too_long] {
            assert!(!is_label_key(key), "{key}");
        }
        assert!(!is_label_key(&format!("x{domain}/a")));
        assert!(is_label_value("") && is_label_value(&longest));
        assert!(!is_label_value(&too_long) && !is_label_value("a/b"));
    }
}
