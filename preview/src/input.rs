//! Reads a dump as a stream, object by object, and keeps of each what a decision may need. Reads from any reader, and opens
//! none.

use crate::deployment::DeploymentEntry;
use crate::error::{Error, parse, without_place};
use crate::pod::PodEntry;
use crate::set::{SetEntry, SetKind};
use crate::text;
use crate::workload::WorkloadKind;
use crate::yaml::{self, AsJson};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// The pods, `ReplicaSets`, `ReplicationControllers` and Deployments of a dump, in its order.
#[derive(Debug, Default)]
pub struct Input {
    pub(crate) pods: Vec<PodEntry>,
    pub(crate) sets: Vec<SetEntry>,
    pub(crate) deployments: Vec<DeploymentEntry>,
    /// The number of objects of other kinds.
    others: u64,
}

/// What to do about an input that is of no use.
const PRINT: &str = "print the objects with kubectl get pods,replicasets,deployments -o json";

/// The number of bytes read at a time: a few pods.
const BUFFER: usize = 64 << 10;

/// The most bytes of white space before the first document.
const MOST_WHITE_SPACE: usize = 1 << 20;

impl Input {
    /// Reads what `kubectl get -o json` or `-o yaml` prints: lists and single objects, one document or several. Objects of
    /// other kinds are skipped.
    ///
    /// JSON is held as text one object at a time, never as a whole. An error within a pod is kept with that pod, since
    /// only pods that the decision looks at must be valid.
    ///
    /// # Errors
    /// If the input cannot be read, is neither JSON nor YAML, ends too early, or has no Pod, `ReplicaSet`,
    /// `ReplicationController` or Deployment; or if an object has no name. The error says where.
    pub fn read(reader: impl Read) -> Result<Self, Error> {
        let input =
            Self::read_part(reader)?.ok_or_else(|| Error::new(format!("the input is empty: {PRINT}")))?;
        if input.is_empty() {
            return Err(Error::new(match input.others {
                0 => "the list is empty: check the namespace and the labels given to kubectl get".to_owned(),
                others => format!(
                    "no Pod, ReplicaSet, ReplicationController or Deployment among {}: {PRINT}",
                    text::count(others, "object")
                ),
            }));
        }
        Ok(input)
    }

    /// Reads one part of an input, as [`Input::read`] does, which may hold no object of any use. `None` if there is nothing
    /// at all to read.
    ///
    /// # Errors
    /// Those of [`Input::read`], but for what the input has none of.
    pub fn read_part(reader: impl Read) -> Result<Option<Self>, Error> {
        let mut input = Self::default();
        let mut reader = BufReader::with_capacity(BUFFER, reader);
        let (head, first) = head(&mut reader).map_err(|error| Error::new(error.to_string()))?;
        let reader = head.chain(reader);
        match first {
            None => return Ok(None),
            Some(b'{' | b'[') => {
                input.read_json(reader).map_err(|error| Error::new(json_error(error)))?;
            }
            Some(0xFE | 0xFF) => {
                return Err(Error::new(
                    "not UTF-8, but perhaps UTF-16, as PowerShell writes: convert it to UTF-8",
                ));
            }
            Some(_) => {
                let text = yaml::text(reader)?;
                if is_table(&text) {
                    return Err(Error::new(format!("the input is a table for people: {PRINT}")));
                }
                input.read_json(AsJson::new(&text)).map_err(|error| Error::new(yaml_error(error)))?;
            }
        }
        Ok(Some(input))
    }

    /// Adds a part that was read later. Of an object that both have, the later counts.
    pub fn add_part(&mut self, mut later: Self) {
        later.pods.append(&mut self.pods);
        later.sets.append(&mut self.sets);
        later.deployments.append(&mut self.deployments);
        later.others += self.others;
        *self = later;
    }

    fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.sets.is_empty() && self.deployments.is_empty()
    }

    /// Reads JSON documents, one after the other.
    fn read_json(&mut self, reader: impl Read) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER, reader));
        loop {
            json.deserialize_any(Document(self))?;
            match json.end() {
                Ok(()) => return Ok(()),
                Err(error) if error.is_io() => return Err(error),
                // Another document begins.
                Err(_) => {}
            }
        }
    }

    /// Keeps one object. If it has no type, its list has it, as `list`. Returns it as untyped if the type of its list is not
    /// known yet.
    fn add(&mut self, object: &RawValue, list: Option<&TypeMeta>) -> Result<Option<Untyped>, String> {
        let own: TypeMeta = parse(object)?;
        let Some(type_meta) = Some(&own).filter(|own| own.kind.is_some()).or(list) else {
            return Ok(Some(Untyped::read(object)));
        };
        match type_meta.class() {
            Some(Class::Pod) => self.pods.push(PodEntry::read(object)?),
            Some(Class::Set(kind)) => self.sets.push(SetEntry::read(kind, object)?),
            Some(Class::Deployment) => self.deployments.push(DeploymentEntry::read(object)?),
            None => self.others += 1,
        }
        Ok(None)
    }

    fn add_typed(&mut self, object: Untyped, class: Class) -> Result<(), String> {
        match class {
            Class::Pod => self.pods.push(object.pod?),
            Class::Set(SetKind::ReplicaSet) => self.sets.push(object.replica_set?),
            Class::Set(SetKind::ReplicationController) => self.sets.push(object.replication_controller?),
            Class::Deployment => self.deployments.push(object.deployment?),
        }
        Ok(())
    }
}

/// Returns the white space before the first other byte, and that byte. The lines of errors count the white space, but a
/// byte order mark, which editors on Windows write, is left out.
fn head(reader: &mut impl BufRead) -> io::Result<(io::Cursor<Vec<u8>>, Option<u8>)> {
    const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();
    let mut head = Vec::new();
    let first = loop {
        let Some(&byte) = reader.fill_buf()?.first() else { break None };
        let is_mark = head.len() < BYTE_ORDER_MARK.len() && byte == BYTE_ORDER_MARK[head.len()];
        if !is_mark && !byte.is_ascii_whitespace() || head.len() == MOST_WHITE_SPACE {
            break Some(byte);
        }
        head.push(byte);
        reader.consume(1);
        if head == BYTE_ORDER_MARK {
            head.clear();
        }
    };
    Ok((io::Cursor::new(head), first))
}

/// Whether this is what `kubectl get` prints without `-o`: a line of column names comes first.
fn is_table(text: &str) -> bool {
    let mut words = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").split_whitespace();
    matches!(words.next(), Some("NAME" | "NAMESPACE")) && words.next().is_some_and(|word| !word.contains(':'))
}

/// The error of a JSON text, after its place. One of the reader itself has no place.
fn json_error(error: serde_json::Error) -> String {
    let place = format!("line {} column {}", error.line(), error.column());
    match error.classify() {
        Category::Io => io::Error::from(error).to_string(),
        Category::Eof => format!("{place}: the input is cut off here"),
        Category::Syntax => format!("{place}: not JSON: {}", without_place(&error)),
        Category::Data => format!("{place}: {}", without_place(&error)),
    }
}

/// The error of a YAML text, after its line. Columns would be those of the JSON that the YAML became.
fn yaml_error(error: serde_json::Error) -> String {
    match error.classify() {
        // That of the YAML reader, which has a place.
        Category::Io => io::Error::from(error).to_string(),
        Category::Eof => format!("the input has no object: {PRINT}"),
        Category::Syntax | Category::Data => format!("line {}: {}", error.line(), without_place(&error)),
    }
}

/// What type an object says it has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a Kubernetes object")]
struct TypeMeta {
    api_version: Option<String>,
    kind: Option<String>,
}

/// The kinds of objects that are kept.
#[derive(Clone, Copy)]
enum Class {
    Pod,
    Set(SetKind),
    Deployment,
}

impl TypeMeta {
    fn class(&self) -> Option<Class> {
        let (kind, api_version) = (self.kind.as_deref()?, self.api_version.as_deref());
        if kind == "Pod" && api_version.is_none_or(|version| version == "v1") {
            return Some(Class::Pod);
        }
        match WorkloadKind::of_object(kind, api_version)? {
            WorkloadKind::Deployment => Some(Class::Deployment),
            WorkloadKind::Set(kind) => Some(Class::Set(kind)),
        }
    }
}

/// An item without a kind, in a list whose kind comes after its items. Read as each kind that it may be, which takes less
/// memory than its text.
struct Untyped {
    pod: Result<PodEntry, String>,
    replica_set: Result<SetEntry, String>,
    replication_controller: Result<SetEntry, String>,
    deployment: Result<DeploymentEntry, String>,
}

impl Untyped {
    fn read(object: &RawValue) -> Self {
        Self {
            pod: PodEntry::read(object),
            replica_set: SetEntry::read(SetKind::ReplicaSet, object),
            replication_controller: SetEntry::read(SetKind::ReplicationController, object),
            deployment: DeploymentEntry::read(object),
        }
    }
}

/// The object at the top: a list if it has `items`, else the one object of the document.
struct Document<'a>(&'a mut Input);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object or list of them")
    }

    /// Text without a structure is YAML, too.
    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        Err(E::custom(format_args!("plain text in place of Kubernetes objects: {PRINT}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut fields = BTreeMap::<String, Box<RawValue>>::new();
        let mut items = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" && items.is_none() {
                let list = type_of_items(&fields).map_err(A::Error::custom)?;
                let mut untyped = Vec::new();
                map.next_value_seed(Items { input: self.0, list, untyped: &mut untyped })?;
                items = Some(untyped);
            } else if fields.insert(key.clone(), map.next_value()?).is_some() || key == "items" {
                return Err(A::Error::custom(format_args!("{} is twice in one object", text::word(&key))));
            }
        }
        let Some(untyped) = items else {
            let object = to_raw_value(&fields).map_err(A::Error::custom)?;
            return self.0.add(&object, Some(&TypeMeta::default())).map(drop).map_err(A::Error::custom);
        };
        // In YAML the kind comes last: without it the rest of the items may be missing, too.
        let Some(list) = type_of_items(&fields).map_err(A::Error::custom)? else {
            return Err(A::Error::custom("the list has no kind, so the input may be cut off"));
        };
        let Some(class) = list.class() else {
            self.0.others += untyped.len() as u64;
            return Ok(());
        };
        for (index, object) in untyped {
            let added = self.0.add_typed(object, class);
            added.map_err(|error| A::Error::custom(format_args!("items[{index}]: {error}")))?;
        }
        Ok(())
    }
}

/// Returns the type of items that have none themselves, by the type of their list: a `PodList` holds Pods. `None` if the list
/// has no kind, or none yet.
fn type_of_items(list: &BTreeMap<String, Box<RawValue>>) -> Result<Option<TypeMeta>, String> {
    let field = |name| list.get(name).map(|value| parse::<Option<String>>(value)).transpose();
    let Some(kind) = field("kind")?.flatten() else { return Ok(None) };
    let Some(kind) = kind.strip_suffix("List") else {
        return Err(format!("{} is not the kind of a list, so the input may be cut off", text::word(&kind)));
    };
    let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
    Ok(Some(TypeMeta { api_version: field("apiVersion")?.flatten(), kind }))
}

/// The `items` of a list.
struct Items<'a> {
    input: &'a mut Input,
    /// Their type by the list, if it is known yet.
    list: Option<TypeMeta>,
    /// Items without a type, with their index.
    untyped: &'a mut Vec<(usize, Untyped)>,
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
            let added = self.input.add(&item, self.list.as_ref());
            let untyped = added.map_err(|error| A::Error::custom(format_args!("items[{index}]: {error}")))?;
            self.untyped.extend(untyped.map(|object| (index, object)));
            index += 1;
        }
        Ok(())
    }
}
