//! Reads a dump as a stream, object by object, and keeps of each what a decision may need.

use crate::error::{Error, parse};
use crate::pod::PodEntry;
use crate::set::{SetEntry, SetKind};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read};

/// The pods, `ReplicaSets` and `ReplicationControllers` of a dump, in its order.
#[derive(Debug, Default)]
pub struct Input {
    pub(crate) pods: Vec<PodEntry>,
    pub(crate) sets: Vec<SetEntry>,
}

impl Input {
    /// Reads what `kubectl get -o json` prints: a list, or one object. Objects of other kinds are skipped.
    ///
    /// One object at a time is held as text, never the whole input. What is wrong within a pod is kept with the
    /// pod, since only pods that the decision looks at need to be sound.
    ///
    /// # Errors
    /// Says where the input is not JSON, is no Kubernetes object, or holds one that cannot be told apart.
    pub fn read(reader: impl Read) -> Result<Self, Error> {
        let mut input = Self::default();
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
        json.deserialize_map(Document(&mut input))
            .and_then(|()| json.end())
            .map_err(|error| Error::new(error.to_string()))?;
        if input.pods.is_empty() && input.sets.is_empty() {
            return Err(Error::new("neither a Pod nor a ReplicaSet nor a ReplicationController"));
        }
        Ok(input)
    }

    /// Keeps one object, whose type may be left to the list it stands in.
    fn add(&mut self, object: &RawValue, list: &TypeMeta) -> Result<(), String> {
        let own: TypeMeta = parse(object)?;
        let TypeMeta { api_version, kind: Some(kind) } = (if own.kind.is_some() { &own } else { list })
        else {
            return Ok(());
        };
        let api_version = api_version.as_deref();
        if kind == "Pod" && api_version.is_none_or(|version| version == "v1") {
            self.pods.push(PodEntry::read(object)?);
        } else if let Some(kind) = SetKind::of(kind, api_version) {
            self.sets.push(SetEntry::read(kind, object)?);
        }
        Ok(())
    }
}

/// What type an object says it has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a Kubernetes object")]
struct TypeMeta {
    api_version: Option<String>,
    kind: Option<String>,
}

/// The object at the top: a list if it has `items`, else the one object of the input.
struct Document<'a>(&'a mut Input);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object or list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut fields = BTreeMap::<String, Box<RawValue>>::new();
        let mut is_list = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" {
                is_list = true;
                let list = type_of_items(&fields).map_err(A::Error::custom)?;
                map.next_value_seed(Items { input: self.0, list })?;
            } else {
                fields.insert(key, map.next_value()?);
            }
        }
        if !is_list {
            let object = to_raw_value(&fields).map_err(A::Error::custom)?;
            self.0.add(&object, &TypeMeta::default()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// The type that a typed list gives those items that do not say one: a `PodList` holds Pods.
fn type_of_items(list: &BTreeMap<String, Box<RawValue>>) -> Result<TypeMeta, String> {
    let field = |name| list.get(name).map(|value| parse(value)).transpose();
    let kind: Option<String> = field("kind")?;
    let kind = kind.and_then(|kind| kind.strip_suffix("List").map(str::to_owned));
    Ok(TypeMeta { api_version: field("apiVersion")?, kind })
}

/// The `items` of a list.
struct Items<'a> {
    input: &'a mut Input,
    list: TypeMeta,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a list")
    }

    /// Go writes an empty list as `null`.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while let Some(item) = items.next_element::<Box<RawValue>>()? {
            self.input
                .add(&item, &self.list)
                .map_err(|error| A::Error::custom(format_args!("items[{index}]: {error}")))?;
            index += 1;
        }
        Ok(())
    }
}
