//! Reads a dump as a stream, object by object, and keeps what a decision may need from each. Reads from any reader, and opens
//! none.

use crate::snapshot::daemon_set::RevisionEntry;
use crate::snapshot::deployment::DeploymentEntry;
use crate::snapshot::direct::DirectEntry;
use crate::snapshot::event::EventEntry;
use crate::snapshot::json::{Fault, Json};
use crate::snapshot::node::NodeEntry;
use crate::snapshot::owner::OwnerEntry;
use crate::snapshot::pod::{Pod, PodEntry};
use crate::snapshot::replica_set::SetEntry;
use crate::snapshot::surrounding::{SurroundingEntry, SurroundingKind};
use crate::snapshot::workload::{WorkloadKind, WorkloadRef};
use crate::snapshot::yaml;
use crate::snapshot::yaml::AsJson;
use crate::text;
use crate::text::error::{Error, parse};
use serde::Deserialize;
use serde::de::{IgnoredAny, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// The pods and workloads in a dump, in the order of the dump.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub(crate) pods: Vec<PodEntry>,
    pub(crate) sets: Vec<SetEntry>,
    pub(crate) deployments: Vec<DeploymentEntry>,
    /// Workloads whose controllers delete pods themselves.
    pub(crate) direct: Vec<DirectEntry>,
    pub(crate) nodes: Vec<NodeEntry>,
    /// The revisions of the templates of such workloads.
    pub(crate) revisions: Vec<RevisionEntry>,
    /// Autoscalers, disruption budgets and policies.
    pub(crate) surroundings: Vec<SurroundingEntry>,
    /// The kinds of these that could not be read.
    pub(crate) unread: Vec<SurroundingKind>,
    /// Objects of other kinds that have a count, and so may own sets.
    pub(crate) owners: Vec<OwnerEntry>,
    /// What was reported of deletions.
    pub(crate) events: Vec<EventEntry>,
    /// The number of objects of other kinds.
    others: u64,
    /// How many lists the list that is being read is in.
    depth: u32,
}

/// The remedy for an input without any workload.
const PRINT: &str = "print the objects with kubectl get pods,replicasets,deployments -o json";

/// The most lists that a list may be in.
const DEEPEST_LIST: u32 = 8;

/// The most bytes of white space before the first document.
const MOST_WHITE_SPACE: usize = 1 << 20;

impl Input {
    /// Reads what `kubectl get -o json` or `-o yaml` prints: lists and single objects, one document or several. Objects of
    /// other kinds are skipped.
    ///
    /// JSON is held as text one object at a time, never as a whole. An error in a pod is kept with that pod, because only
    /// pods that the decision reads must be valid.
    ///
    /// # Errors
    /// If the input cannot be read, is neither JSON nor YAML, ends too early, or has no Pod or workload; or if an object has
    /// no name. The error says where.
    pub fn read(reader: impl Read) -> Result<Self, Error> {
        let input =
            Self::read_part(reader)?.ok_or_else(|| Error::new(format!("the input is empty: {PRINT}")))?;
        if input.is_empty() {
            return Err(Error::new(input.without_workload()));
        }
        Ok(input)
    }

    /// What it holds in place of a Pod or workload.
    fn without_workload(&self) -> String {
        let nodes = self.nodes.len() as u64;
        let others = self.others + (self.surroundings.len() + self.revisions.len()) as u64;
        let what = match (nodes, others) {
            (0, 0) => {
                return "the list is empty: check the namespace and the labels given to kubectl get"
                    .to_owned();
            }
            (0, others) => text::count(others, "object"),
            (nodes, 0) => text::count(nodes, "Node"),
            _ => format!("{} and {}", text::count(nodes, "Node"), text::count(others, "other object")),
        };
        format!("no Pod or workload that has a preview among {what}: {PRINT}")
    }

    /// Reads one part of an input, as [`Input::read`] does. The part may have no object of a known kind. Returns `None` if
    /// there is nothing at all to read.
    ///
    /// # Errors
    /// Those of [`Input::read`], except that a part may lack all known kinds.
    pub fn read_part(reader: impl Read) -> Result<Option<Self>, Error> {
        let mut input = Self::default();
        let mut reader = BufReader::new(reader);
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

    /// Adds a part that was read later. If both have an object, the later one counts.
    pub fn add_part(&mut self, mut later: Self) {
        // A set that is asked for by its name is also among all sets of its namespace.
        let ids: BTreeSet<_> = later.sets.iter().map(SetEntry::id).collect();
        let earlier = self.sets.extract_if(.., |set| ids.contains(&set.id()));
        // By its name, a set is read with the managers of its fields.
        let owners: BTreeMap<_, _> =
            earlier.map(|set| (set.uid, (set.count_owners, set.count_writer))).collect();
        for set in later.sets.iter_mut().filter(|set| set.count_writer.is_none()) {
            (set.count_owners, set.count_writer) = owners.get(&set.uid).cloned().unwrap_or_default();
        }
        later.pods.append(&mut self.pods);
        later.sets.append(&mut self.sets);
        later.deployments.append(&mut self.deployments);
        later.direct.append(&mut self.direct);
        later.nodes.append(&mut self.nodes);
        later.revisions.append(&mut self.revisions);
        later.surroundings.append(&mut self.surroundings);
        later.unread.append(&mut self.unread);
        later.owners.append(&mut self.owners);
        later.events.append(&mut self.events);
        later.others += self.others;
        *self = later;
    }

    /// Notes that objects of these kinds may be there, but could not be read.
    pub fn lacks(&mut self, kinds: &[SurroundingKind]) {
        self.unread.extend(kinds);
    }

    /// Whether it has no pod and no workload.
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.sets.is_empty() && self.deployments.is_empty() && self.direct.is_empty()
    }

    /// Reads JSON documents, one after the other.
    fn read_json(&mut self, reader: impl Read) -> Result<(), Fault> {
        let mut json = Json::new(reader);
        loop {
            self.read_document(&mut json)?;
            if json.peek()?.is_none() {
                return Ok(());
            }
        }
    }

    /// Reads the object at the top level: a list if it has `items`, and otherwise the only object in the document.
    fn read_document(&mut self, json: &mut Json<impl Read>) -> Result<(), Fault> {
        if json.peek()? != Some(b'{') {
            return Err(json.refuse(Document));
        }
        json.hold();
        let mut fields = BTreeMap::new();
        let mut items = None;
        let mut elements = json.open();
        while let Some(key) = json.next_key(&mut elements)? {
            let is_items = key == "items";
            if is_items && items.is_none() {
                json.release();
                let list =
                    type_of_items(&fields).map_err(|error| Fault::Data(error, json.place_of_next()))?;
                json.colon()?;
                items = Some(self.read_items(json, list.as_ref())?);
                continue;
            }
            json.colon()?;
            if fields.insert(key.clone(), json.value()?).is_some() || is_items {
                let what = format!("{} is twice in one object", text::word(&key));
                return Err(Fault::Data(what, json.place_of_next()));
            }
        }
        let end = json.next_place();
        let Some(untyped) = items else {
            json.rewind();
            let added = self.add_next(json, Some(&TypeMeta::default()))?;
            return added.map(drop).map_err(|error| Fault::Data(error, end));
        };
        // In YAML, the kind comes last, so if it is missing, some of the items may be missing, too.
        let list = type_of_items(&fields).map_err(|error| Fault::Data(error, end))?;
        let Some(list) = list else {
            return Err(Fault::Data("the list has no kind, so the input may be cut off".to_owned(), end));
        };
        for (index, object) in untyped {
            let added = self.add(object, Some(&list));
            added.map_err(|error| Fault::Data(format!("items[{index}]: {error}"), end))?;
        }
        Ok(())
    }

    /// Reads the `items` of a list. `list` is their type according to the list, if that is known yet. Returns the items
    /// without a type, by their index.
    fn read_items(
        &mut self,
        json: &mut Json<impl Read>,
        list: Option<&TypeMeta>,
    ) -> Result<Vec<(usize, Box<RawValue>)>, Fault> {
        let mut untyped = Vec::new();
        match json.peek()? {
            Some(b'[') => {}
            // Go writes an empty list as `null`.
            Some(b'n') => return json.value().map(|_| untyped),
            _ => return Err(json.refuse(Items)),
        }
        let mut elements = json.open();
        let mut index = 0_usize;
        while json.next_element(&mut elements)? {
            let added = self.add_next(json, list)?;
            let object = added
                .map_err(|error| Fault::Data(format!("items[{index}]: {error}"), json.place_of_next()))?;
            untyped.extend(object.map(|object| (index, object)));
            index += 1;
        }
        Ok(untyped)
    }

    /// Does what [`Input::add`] does with the next object: fast if it is a valid pod, as nearly all are.
    fn add_next(&mut self, json: &mut Json<impl Read>, list: Option<&TypeMeta>) -> Result<Added, Fault> {
        let is_taken = json.take_if(|mut pod: Pod| {
            let own = TypeMeta { api_version: pod.api_version.take(), kind: pod.kind.take() };
            let is_pod = matches!(own.class(list), Some(Class::Pod));
            if is_pod {
                self.pods.push(pod.into());
            }
            is_pod
        })?;
        if is_taken { Ok(Ok(None)) } else { Ok(self.add(json.value()?, list)) }
    }

    /// Keeps one object. If it has no type, its list has it: `list`. Returns the object as untyped if the type of its list is
    /// not known yet.
    fn add(&mut self, object: Box<RawValue>, list: Option<&TypeMeta>) -> Added {
        let own: TypeMeta = parse(&object)?;
        if own.kind.is_none() && list.is_none() {
            return Ok(Some(object));
        }
        let object = &object;
        match own.class(list) {
            Some(Class::Pod) => self.pods.push(PodEntry::read(object)?),
            Some(Class::Workload(WorkloadKind::Deployment)) => {
                self.deployments.push(DeploymentEntry::read(object)?);
            }
            Some(Class::Workload(kind)) if kind.is_set() => self.sets.push(SetEntry::read(kind, object)?),
            Some(Class::Workload(kind)) => self.direct.push(DirectEntry::read(kind, object)?),
            Some(Class::Node) => self.nodes.push(NodeEntry::read(object)?),
            Some(Class::Revision) => self.revisions.push(RevisionEntry::read(object)?),
            Some(Class::Surrounding(kind)) => self.surroundings.push(SurroundingEntry::read(kind, object)),
            None if own.is_list() && has_items(object) => self.add_list(object)?,
            None => {
                self.owners.extend(OwnerEntry::read(object));
                self.events.extend(EventEntry::read(object));
                self.others += 1;
            }
        }
        Ok(None)
    }

    /// Adds the items of a list that is itself an item, as `jq -s` makes one of several lists.
    fn add_list(&mut self, list: &RawValue) -> Result<(), String> {
        if self.depth == DEEPEST_LIST {
            return Err(format!("a list in more than {DEEPEST_LIST} lists"));
        }
        self.depth += 1;
        let read = self.read_document(&mut Json::new(list.get().as_bytes()));
        self.depth -= 1;
        read.map_err(|fault| match fault {
            Fault::Reader(error) => error.to_string(),
            Fault::End(_) => "the list is cut off".to_owned(),
            Fault::Syntax(what, _) | Fault::Data(what, _) => what,
        })
    }
}

impl Input {
    /// The autoscalers, disruption budgets and policies in a namespace, or in all.
    pub(crate) fn surroundings_in(&self, namespace: Option<&str>) -> impl Iterator<Item = &SurroundingEntry> {
        self.surroundings
            .iter()
            .filter(move |entry| namespace.is_none_or(|namespace| entry.namespace == namespace))
    }

    pub(crate) fn deployment(&self, workload: WorkloadRef<'_>) -> Option<&DeploymentEntry> {
        self.deployments.iter().find(|entry| entry.id() == workload)
    }

    pub(crate) fn direct(&self, workload: WorkloadRef<'_>) -> Option<&DirectEntry> {
        self.direct.iter().find(|entry| entry.id() == workload)
    }

    pub(crate) fn set(&self, workload: WorkloadRef<'_>) -> Option<&SetEntry> {
        self.sets.iter().find(|set| set.id() == workload)
    }

    /// The object of an unknown kind that controls the set, if it has a count and is in the input.
    pub(crate) fn leader(&self, set: &SetEntry) -> Option<&OwnerEntry> {
        let controller = set.controller.as_ref()?;
        self.owners.iter().find(|owner| owner.uid == controller.uid && owner.namespace == set.namespace)
    }
}

/// Returns the white space before the first other byte, and that byte. Line numbers in errors count the white space. A byte
/// order mark, which editors on Windows write, is skipped.
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

/// The error in a JSON text, after its place.
fn json_error(fault: Fault) -> String {
    match fault {
        Fault::Reader(error) => error.to_string(),
        Fault::End(place) => format!("{place}: the input is cut off here"),
        Fault::Syntax(what, place) => format!("{place}: not JSON: {what}"),
        Fault::Data(what, place) => format!("{place}: {what}"),
    }
}

/// The error in a YAML text, after its line. It has no column, which would be that in the JSON made from the YAML.
fn yaml_error(fault: Fault) -> String {
    match fault {
        // The YAML reader's own error, which has a place.
        Fault::Reader(error) => error.to_string(),
        Fault::End(_) => format!("the input has no object: {PRINT}"),
        Fault::Syntax(what, place) | Fault::Data(what, place) => format!("line {}: {what}", place.line),
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
    Workload(WorkloadKind),
    Node,
    Revision,
    Surrounding(SurroundingKind),
}

impl TypeMeta {
    /// Whether it is a list of any objects, or of a kind that is kept.
    fn is_list(&self) -> bool {
        let Some(kind) = self.kind.as_deref().and_then(|kind| kind.strip_suffix("List")) else {
            return false;
        };
        if kind.is_empty() {
            return self.api_version.as_deref().is_none_or(|version| version == "v1");
        }
        let item = Self { api_version: self.api_version.clone(), kind: Some(kind.to_owned()) };
        item.class(None).is_some()
    }

    /// What an object of this type is, in a list whose items without a type have that of `list`.
    fn class(&self, list: Option<&Self>) -> Option<Class> {
        let own_or_list = Some(self).filter(|own| own.kind.is_some()).or(list)?;
        let (kind, api_version) = (own_or_list.kind.as_deref()?, own_or_list.api_version.as_deref());
        match kind {
            "Pod" if api_version.is_none_or(|version| version == "v1") => return Some(Class::Pod),
            "Node" if api_version.is_none_or(|version| version == "v1") => return Some(Class::Node),
            "ControllerRevision" if api_version.is_none_or(|version| version.starts_with("apps/")) => {
                return Some(Class::Revision);
            }
            _ => {}
        }
        let surrounding = || SurroundingKind::of_object(kind, api_version).map(Class::Surrounding);
        WorkloadKind::of_object(kind, api_version).map(Class::Workload).or_else(surrounding)
    }
}

/// What became of an object: kept or counted, or untyped as yet; or why it cannot be read.
type Added = Result<Option<Box<RawValue>>, String>;

/// Whether the object has `items`.
fn has_items(object: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct List {
        items: Vec<IgnoredAny>,
    }
    parse::<List>(object).is_ok_and(|list| !list.items.is_empty())
}

/// Returns the type of items without a type, by the type of their list: a `PodList` has Pods. `None` if the list has no kind,
/// or none yet.
fn type_of_items(list: &BTreeMap<String, Box<RawValue>>) -> Result<Option<TypeMeta>, String> {
    let field = |name| list.get(name).map(|value| parse::<Option<String>>(value)).transpose();
    let Some(kind) = field("kind")?.flatten() else { return Ok(None) };
    let Some(kind) = kind.strip_suffix("List") else {
        return Err(format!("{} is not the kind of a list, so the input may be cut off", text::word(&kind)));
    };
    let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
    Ok(Some(TypeMeta { api_version: field("apiVersion")?.flatten(), kind }))
}

/// Says what is wrong with a document that is not an object.
#[derive(Clone, Copy)]
struct Document;

impl Visitor<'_> for Document {
    type Value = Infallible;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object or list of them")
    }

    /// Text without a structure is YAML, too.
    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Infallible, E> {
        Err(E::custom(format_args!("plain text in place of Kubernetes objects: {PRINT}")))
    }
}

/// Says what is wrong with `items` that are not a list.
#[derive(Clone, Copy)]
struct Items;

impl Visitor<'_> for Items {
    type Value = Infallible;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a list")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_laws::vectors::places;
    use serde_json::{Value, json};

    /// Reading an object once gives what reading it step by step gives, whatever is odd about it.
    #[test]
    fn the_fast_way_is_the_slow_one() {
        let example: Value = serde_json::from_str(include_str!("../../examples/rollout.json")).expect("JSON");
        let of_kind = |kind| {
            let mut items = example["items"].as_array().expect("items").iter();
            items.find(|item| item["kind"] == kind).expect("an object of this kind").clone()
        };
        let list = |kind: &str| TypeMeta { api_version: Some("v1".to_owned()), kind: Some(kind.to_owned()) };
        let odd = json!([null, 1, "", "Pod", "ReplicaSet", "Succeeded", [], {}, "2026-03-10T12:00:00Z", ["v1", "Pod"], { "Pod": null }]);
        let odd = odd.as_array().expect("a list");
        let mut fast = 0;
        let mut all = 0;
        for object in [of_kind("Pod"), of_kind("ReplicaSet")] {
            for place in &places(&object) {
                for value in odd {
                    let mut object = object.clone();
                    *object.pointer_mut(place).expect("a place") = value.clone();
                    for list in [None, Some(list("")), Some(list("Pod")), Some(list("ReplicaSet"))] {
                        let text = object.to_string();
                        let raw: Box<RawValue> = serde_json::from_str(&text).expect("JSON");
                        let (mut slowly, mut quickly) = (Input::default(), Input::default());
                        let slow = slowly.add(raw, list.as_ref()).map(|untyped| untyped.is_some());
                        let mut json = Json::new(text.as_bytes());
                        let quick = quickly.add_next(&mut json, list.as_ref()).expect("JSON");
                        assert_eq!(quick.map(|untyped| untyped.is_some()), slow, "{text}");
                        assert_eq!(format!("{quickly:?}"), format!("{slowly:?}"), "{text}");
                        assert_eq!(json.peek().expect("no failure"), None, "{text}");
                        fast += usize::from(!quickly.pods.is_empty());
                        all += 1;
                    }
                }
            }
        }
        assert!(fast > 1_000 && all > 4_000, "{fast} of {all}");
    }
}
