//! Whether Kubernetes calls two pod templates equal, which separates a Deployment's new set from its old ones.
//!
//! Kubernetes compares templates by value and without the label `pod-template-hash`: an empty list or map equals a missing
//! one, and quantities are compared by value, however they are written.

use crate::words::quantity::billionths;
use podrank::DELETION_COST_ANNOTATION;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

/// What is kept from a pod template: equal templates have equal fingerprints. With 128 bits, it is very unlikely that
/// different ones have, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint([u64; 2]);

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut template = Value::deserialize(deserializer)?;
        template.sort_all_objects();
        let normal = Normal { accepts_all: true, ..Normal::default() };
        normal.read(template).map(|normal| Self::of(&normal.text)).map_err(D::Error::custom)
    }
}

impl Fingerprint {
    /// It as a text.
    pub(crate) fn hex(self) -> String {
        let Self([high, low]) = self;
        format!("{high:016x}{low:016x}")
    }

    fn of(text: &[u8]) -> Self {
        let hash = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(seed);
            // Not as a usize, so that a browser, which has 32 bits, finds the same.
            hasher.write_u64(text.len() as u64);
            hasher.write(text);
            hasher.finish()
        };
        Self([hash(0), hash(1)])
    }
}

/// What is kept from a valid template whose fields are in order, as kubectl prints them. Reading it is faster than
/// reading a [`Fingerprint`] alone, because only one text is kept from its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) fingerprint: Fingerprint,
    /// The deletion cost in its annotations.
    pub(crate) cost: Option<String>,
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let normal = Normal::default().read(deserializer)?;
        Ok(Self { fingerprint: Fingerprint::of(&normal.text), cost: normal.cost })
    }
}

/// A text that is the same for templates which Kubernetes calls equal, written while the template is read.
#[derive(Default)]
struct Normal {
    text: Vec<u8>,
    cost: Option<String>,
    /// Whether a template may be invalid: anything may stand in place of the objects around the cost, which then is not read.
    accepts_all: bool,
}

impl Normal {
    fn read<'de, D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Self, D::Error> {
        let root = Place { field: "", parent: "", depth: 0, form: Form::Field };
        Reader { normal: &mut self, at: root }.deserialize(deserializer)?;
        Ok(self)
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    field: &'a str,
    parent: &'a str,
    /// The number of objects and lists around it.
    depth: u8,
    form: Form,
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Field,
    Quantity,
    /// As it is, like all within a field that means nothing to Kubernetes.
    Verbatim,
}

/// Writes one value. Returns whether it is empty, without which no field can be as good as missing.
struct Reader<'a> {
    normal: &'a mut Normal,
    at: Place<'a>,
}

impl Reader<'_> {
    /// Whether an object is read here for more than its text.
    fn is_structure(&self) -> bool {
        !self.normal.accepts_all
            && matches!(
                (self.at.depth, self.at.parent, self.at.field),
                (0, ..) | (1, _, "metadata") | (2, "metadata", "annotations")
            )
    }

    /// Fails where nothing but an object can stand.
    fn no_structure<E: serde::de::Error>(&self) -> Result<(), E> {
        if self.is_structure() { Err(E::custom("not an object")) } else { Ok(()) }
    }

    fn write<E: serde::de::Error>(&mut self, value: impl Serialize) -> Result<Empty, E> {
        serde_json::to_writer(&mut self.normal.text, &value).map_err(E::custom)?;
        Ok(Empty::No)
    }

    /// YAML lets users write a number.
    fn quantity<E: serde::de::Error>(&mut self, written: &str) -> Result<Option<Empty>, E> {
        match (self.at.form, billionths(written)) {
            (Form::Quantity, Some(value)) => self.write(value.to_string()).map(Some),
            _ => Ok(None),
        }
    }

    fn number<E: serde::de::Error>(mut self, number: serde_json::Number) -> Result<Empty, E> {
        self.no_structure()?;
        match self.quantity(&number.to_string())? {
            Some(empty) => Ok(empty),
            None => self.write(number),
        }
    }
}

/// Whether a value is one that may be as good as missing.
#[derive(Clone, Copy, PartialEq)]
enum Empty {
    No,
    Null,
    List,
    Object,
}

impl Empty {
    /// Whether a field of this name counts as missing.
    fn is_absent(self, name: &str) -> bool {
        match self {
            Self::No => false,
            Self::Null | Self::List => true,
            Self::Object => is_map(name) || NEVER_ABSENT.contains(&name),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Empty;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Empty, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Empty;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a pod template")
    }

    fn visit_unit<E: serde::de::Error>(mut self) -> Result<Empty, E> {
        self.write(()).map(|_| Empty::Null)
    }

    fn visit_bool<E: serde::de::Error>(mut self, value: bool) -> Result<Empty, E> {
        self.no_structure()?;
        self.write(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Empty, E> {
        self.number(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Empty, E> {
        self.number(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Empty, E> {
        self.number(serde_json::Number::from_f64(value).ok_or_else(|| E::custom("not a number"))?)
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> Result<Empty, E> {
        self.no_structure()?;
        match self.quantity(value)? {
            Some(empty) => Ok(empty),
            None => self.write(value),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Empty, A::Error> {
        self.no_structure()?;
        let Self { normal, at } = self;
        // An item of a list stands where its list does.
        let form = if at.form == Form::Quantity { Form::Verbatim } else { at.form };
        let at = Place { depth: at.depth.saturating_add(1), form, ..at };
        let mut is_empty = true;
        normal.text.push(b'[');
        while items.next_element_seed(Item(Reader { normal, at }, is_empty))?.is_some() {
            is_empty = false;
        }
        normal.text.push(b']');
        Ok(if is_empty { Empty::List } else { Empty::No })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Empty, A::Error> {
        let Self { normal, at } = self;
        let is_free = at.form != Form::Field || FREE.contains(&at.field);
        let is_metadata_of_template = at.depth == 2 && at.parent == "metadata";
        let is_cost_read = is_metadata_of_template && !normal.accepts_all;
        let mut last: Option<String> = None;
        let mut is_empty = true;
        normal.text.push(b'{');
        while let Some(name) = fields.next_key::<String>()? {
            if last.as_ref().is_some_and(|last| *last >= name) {
                return Err(A::Error::custom("the fields are not in order"));
            }
            if is_metadata_of_template && at.field == "labels" && name == "pod-template-hash" {
                fields.next_value::<IgnoredAny>()?;
                last = Some(name);
                continue;
            }
            let start = normal.text.len();
            if !is_empty {
                normal.text.push(b',');
            }
            serde_json::to_writer(&mut normal.text, &name).map_err(A::Error::custom)?;
            normal.text.push(b':');
            let form = match is_free {
                true => Form::Verbatim,
                false if is_quantity(&name, at.field, at.parent) => Form::Quantity,
                false => Form::Field,
            };
            let place = Place { field: &name, parent: at.field, depth: at.depth.saturating_add(1), form };
            let value = if is_cost_read && at.field == "annotations" {
                let text: String = fields.next_value()?;
                serde_json::to_writer(&mut normal.text, &text).map_err(A::Error::custom)?;
                if name == DELETION_COST_ANNOTATION {
                    normal.cost = Some(text);
                }
                Empty::No
            } else {
                fields.next_value_seed(Reader { normal, at: place })?
            };
            if !is_free && value.is_absent(&name) {
                normal.text.truncate(start);
            } else {
                is_empty = false;
            }
            last = Some(name);
        }
        normal.text.push(b'}');
        Ok(if is_empty { Empty::Object } else { Empty::No })
    }
}

/// Writes an item of a list, behind a comma if it is not the first.
struct Item<'a>(Reader<'a>, bool);

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = Empty;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Empty, D::Error> {
        let Self(reader, is_first) = self;
        if !is_first {
            reader.normal.text.push(b',');
        }
        reader.deserialize(deserializer)
    }
}

/// Fields whose names and texts are the user's, and mean nothing to Kubernetes.
const FREE: [&str; 7] = [
    "labels",
    "annotations",
    "nodeSelector",
    "matchLabels",
    "volumeAttributes",
    "options",
    "userAnnotations",
];

/// Fields that always exist in Kubernetes' memory, so that an empty one equals a missing one. Elsewhere an empty object means
/// something: `emptyDir: {}` is a volume.
const NEVER_ABSENT: [&str; 3] = ["metadata", "spec", "resources"];

/// Whether the field `name` of the object at `field` of `parent` is a quantity. These are all that a pod template has.
fn is_quantity(name: &str, field: &str, parent: &str) -> bool {
    match field {
        // Of a container, of the pod, and of an ephemeral volume's claim.
        "limits" | "requests" => parent == "resources",
        "overhead" => parent == "spec",
        "emptyDir" => name == "sizeLimit",
        "resourceFieldRef" => name == "divisor",
        _ => false,
    }
}

fn is_map(name: &str) -> bool {
    FREE.contains(&name) || ["limits", "requests", "overhead"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_laws::vectors::{self, places};
    use serde_json::json;

    /// A case of `tests/vectors/templates.json`.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        name: String,
        templates: [Fingerprint; 2],
        equal: bool,
    }

    #[test]
    fn fingerprints_are_equal_where_kubernetes_calls_templates_equal() {
        let cases: Vec<Case> =
            serde_json::from_str(&vectors::read("templates.json")).expect("templates.json");
        for Case { name, templates: [a, b], equal } in &cases {
            assert_eq!(a == b, *equal, "{name}");
        }
        assert!(cases.len() > 20, "{} cases", cases.len());
    }

    /// Each template as it is, and with something odd in each place.
    fn variants(template: &Value) -> Vec<Value> {
        let odd = [
            json!(null),
            json!(-1),
            json!(1.5),
            json!(18_446_744_073_709_551_615_u64),
            json!(true),
            json!("1e3"),
            json!("\u{1}\"é"),
            json!([]),
            json!([null]),
            json!({}),
            json!({ "limits": { "cpu": "1000m" }, "metadata": {} }),
            json!({ "labels": { "a": null, "b": {} }, "annotations": { DELETION_COST_ANNOTATION: "7" } }),
            json!([{ "requests": { "cpu": { "a": "1" } } }, [{}]]),
        ];
        let places = places(template);
        let with = |place: &String, odd: &Value| {
            let mut template = template.clone();
            *template.pointer_mut(place).expect("a place") = odd.clone();
            template
        };
        let all = places.iter().flat_map(|place| odd.iter().map(move |odd| with(place, odd)));
        all.chain([template.clone()]).collect()
    }

    #[test]
    fn a_template_that_is_read_at_once_has_the_same_fingerprint() {
        #[derive(Deserialize)]
        struct Case {
            templates: [Value; 2],
        }
        let cases: Vec<Case> =
            serde_json::from_str(&vectors::read("templates.json")).expect("templates.json");
        let mut costs = 0;
        let mut all = 0;
        for template in cases.iter().flat_map(|case| &case.templates).flat_map(variants) {
            let text = template.to_string();
            let annotations = template.pointer("/metadata/annotations").and_then(Value::as_object);
            let objects = ["", "/metadata", "/metadata/annotations"].map(|place| template.pointer(place));
            let is_sound = objects.iter().flatten().all(|value| value.is_object() || value.is_null())
                && annotations.is_none_or(|all| all.values().all(Value::is_string));
            match serde_json::from_str::<Template>(&text) {
                Ok(template) => {
                    let cost = annotations.and_then(|all| all.get(DELETION_COST_ANNOTATION)?.as_str());
                    assert_eq!(template.cost.as_deref(), cost, "{text}");
                    let slow: Fingerprint = serde_json::from_str(&text).expect("JSON");
                    assert_eq!(template.fingerprint, slow, "{text}");
                    assert!(is_sound, "{text}");
                    costs += u32::from(cost.is_some());
                }
                Err(error) => assert!(!is_sound, "{error}: {text}"),
            }
            all += 1;
        }
        assert!(costs > 20 && all > 5_000, "{costs} of {all}");
    }

    #[test]
    fn fields_out_of_order_are_not_read_at_once() {
        for text in [r#"{"spec": {}, "metadata": {}}"#, r#"{"spec": {"a": 1, "a": 2}}"#] {
            assert!(serde_json::from_str::<Template>(text).is_err(), "{text}");
        }
        let ordered = serde_json::from_str::<Template>(r#"{"metadata": {}, "spec": {}}"#).expect("in order");
        assert_eq!(
            ordered.fingerprint,
            serde_json::from_str(r#"{"spec": {}, "metadata": {}}"#).expect("JSON")
        );
    }
}
