//! Reads a dump object by object, and keeps what a decision may need from each. Opens no file.

use crate::snapshot::{Event, OtherOwner, Snapshot, Unreadable, WorkloadKind};
use crate::text::{self, Error, parse, without_place};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use std::fmt;

/// The remedy for an input without any workload.
const PRINT: &str = "Print the objects with: kubectl get pods,replicasets,deployments -o json";

/// The kind of an object whose kind is not known.
const OBJECT: &str = "list item";

const NO_KIND: &str = "the object has no kind";

/// How a list of kubectl begins. Its kind comes after its items, which have one each.
const LIST: [&str; 8] = ["{", "\"apiVersion\"", ":", "\"v1\"", ",", "\"items\"", ":", "["];

/// The most lists that a list may be in.
const DEEPEST_LIST: u32 = 8;

/// The most values that the aliases of a YAML text stand for.
const MOST_ALIASED: usize = 100_000;

/// The most bytes of YAML, whose parser needs several times as much memory.
const LONGEST_YAML: usize = 256 << 20;

impl Snapshot {
    /// Reads what `kubectl get -o json` or `-o yaml` prints: lists and single objects, one document or several. Objects of
    /// other kinds are skipped.
    ///
    /// An object that is not as Kubernetes writes it is an error only if the decision needs it.
    ///
    /// # Errors
    /// If the text is neither JSON nor YAML, ends too early, or has no Pod or workload. The error says where.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        Self::of_parts(Self::read_part(text)?.into_iter().collect())
    }

    /// Joins parts that were read one by one. If several have an object, the first one counts.
    ///
    /// # Errors
    /// If none has a Pod or workload.
    pub fn of_parts(parts: Vec<Self>) -> Result<Self, Error> {
        if parts.is_empty() {
            return Err(Error::new("the input is empty").advise(PRINT));
        }
        let mut input = Self::default();
        parts.into_iter().rev().for_each(|part| input.add_part(part));
        if input.is_empty() {
            // The first one of a known kind, or else the first one.
            let unreadable = input.unreadable.iter().min_by_key(|its| its.kind == OBJECT);
            return Err(match unreadable.map(|its| (&*its.kind, its.to_error())) {
                Some((OBJECT, error)) => error.advise(PRINT),
                Some((_, error)) => error,
                None => input.without_workload(),
            });
        }
        input.tell_apart();
        input.tell_pods_apart();
        Ok(input)
    }

    /// The error for an input without a Pod or workload: what it has instead.
    fn without_workload(&self) -> Error {
        let nodes = self.nodes.len() as u64;
        let kept = self.revisions.len() + self.autoscalers.len() + self.budgets.len() + self.policies.len();
        let others = self.others + kept as u64;
        let what = match (nodes, others) {
            (0, 0) => {
                return Error::new("the list is empty")
                    .advise("Check the namespace and the labels that you gave to kubectl get.");
            }
            (0, others) => text::count(others, "object"),
            (nodes, 0) => text::count(nodes, "Node"),
            _ => format!("{} and {}", text::count(nodes, "Node"), text::count(others, "other object")),
        };
        let error = Error::new("the input has no Pod or workload that podrank knows");
        error.because(format!("It has {what}.")).advise(PRINT)
    }

    /// Reads one part of an input, as [`Snapshot::read`] does. The part may have no object of a known kind. Returns `None` if
    /// there is nothing at all to read.
    ///
    /// # Errors
    /// Those of [`Snapshot::read`], except that a part may lack all known kinds.
    pub fn read_part(text: &[u8]) -> Result<Option<Self>, Error> {
        let decoded;
        let text = if text.starts_with(&[0xFE, 0xFF]) || text.starts_with(&[0xFF, 0xFE]) {
            decoded = of_utf16(text);
            &decoded
        } else {
            text
        };
        // A byte order mark, which editors on Windows write.
        let text = text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(text);
        if text.starts_with(&[0x1F, 0x8B]) {
            return Err(Error::new("the input is compressed with gzip")
                .advise("Decompress it first: gunzip --stdout FILE | kubectl podrank -f -"));
        }
        if let Some(list) = Self::read_list(text) {
            return Ok(Some(list));
        }
        let mut input = Self::default();
        let messages = messages(text);
        match text[messages..].trim_ascii_start().first() {
            None => return Ok(None),
            Some(b'{' | b'[') => {
                let mut read = input.read_documents(text, json_error);
                if read.is_err()
                    && let Some(blanked) = without_messages(text)
                {
                    input = Self::default();
                    read = input.read_documents(&blanked, json_error);
                }
                read?;
            }
            _ if is_too_long(text) => {
                let most = LONGEST_YAML >> 20;
                return Err(Error::new(format!("the YAML is longer than {most} MiB"))
                    .advise("Print the objects with -o json, which has no limit."));
            }
            _ => {
                let mut text = text.to_vec();
                blank(&mut text[..messages]);
                input.read_yaml(text)?;
            }
        }
        Ok(Some(input))
    }

    fn read_yaml(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.split(|byte| *byte == b'\n').count();
            Error::new(format!("the input is not UTF-8 at line {line}"))
        })?;
        if is_table(&text) {
            return Err(Error::new("the input is a table for people").advise(PRINT));
        }
        // libyaml, which Kubernetes uses, lets brackets end at any column.
        let documents = yaml(&text).or_else(|error| yaml(&with_brackets_joined(&text)).map_err(|_| error))?;
        if documents.is_empty() {
            return Err(Error::new("the input has no object").advise(PRINT));
        }
        for document in documents {
            // No place in this text is that in the YAML.
            self.read_documents(document.to_string().as_bytes(), without_place)?;
        }
        Ok(())
    }

    /// Reads a list as kubectl prints it, and each item once. Returns `None` for any other text, which
    /// [`Self::read_documents`] reads, or refuses.
    fn read_list(text: &[u8]) -> Option<Self> {
        let mut input = Self::default();
        let mut text = after(&LIST, str::from_utf8(text).ok()?)?;
        loop {
            let own = TypeMeta::read(text).ok()?;
            match own.known_kind() {
                Some(kind) => input.keep(kind, &mut text)?,
                None => input.add(parse(&mut text).ok()?, &own, 1).ok()?,
            }
            let Some(next) = after(&[","], text) else { break };
            text = next;
        }
        // It ends with its kind and its resource version. Behind a longer end, there are other documents.
        let rest = after(&["]"], text).filter(|rest| rest.len() < 1_000)?;
        let whole = format!("{}]{rest}", LIST.concat());
        (serde_json::from_str::<Document<'_>>(&whole).ok()?.kind? == "List").then_some(input)
    }

    /// Reads JSON documents, one after the other.
    fn read_documents(&mut self, text: &[u8], wrong: fn(&serde_json::Error) -> String) -> Result<(), Error> {
        if text.trim_ascii_start().starts_with(b"[") {
            // `jq .items` prints the items alone.
            let items = serde_json::from_slice(text).map_err(|error| Error::new(wrong(&error)))?;
            return self.add_items(items, &TypeMeta::default(), 0);
        }
        let mut documents = Deserializer::from_slice(text).into_iter();
        loop {
            let start = documents.byte_offset();
            match text[start..].trim_ascii_start().first() {
                Some(b'[') => return Err(Error::new("a list is not a Kubernetes object")),
                // Text without a structure is YAML, too.
                Some(b'"') => return Err(Error::new("the input is plain text").advise(PRINT)),
                _ => {}
            }
            match documents.next() {
                Some(Ok(document)) => {
                    self.add_document(&text[start..documents.byte_offset()], document, 0)?;
                }
                Some(Err(error)) => return Err(Error::new(wrong(&error))),
                None => return Ok(()),
            }
        }
    }

    /// Adds the items of a list, or the object itself, if it has none. `depth` is the number of lists around it.
    fn add_document(&mut self, text: &[u8], document: Document<'_>, depth: u32) -> Result<(), Error> {
        let own = TypeMeta { api_version: document.api_version, kind: document.kind };
        let Some(items) = document.items else {
            let object = serde_json::from_slice(text).map_err(|error| Error::new(without_place(&error)))?;
            return self.add(object, &own, depth);
        };
        let list = own.of_items().map_err(Error::new)?;
        self.add_items(items, &list, depth)
    }

    /// Adds the items of a list, in which those without a type have this one.
    fn add_items(&mut self, items: Vec<&RawValue>, list: &TypeMeta, depth: u32) -> Result<(), Error> {
        for (index, item) in items.into_iter().enumerate() {
            let place = format_args!("items[{index}]");
            let own = TypeMeta::read(item.get());
            let known = own.as_ref().map(|own| if own.kind.is_some() { own } else { list });
            let wrong = match known {
                Ok(known) if known.kind.is_some() => {
                    self.add(item, known, depth + 1).map_err(|error| error.at(place))?;
                    continue;
                }
                Ok(_) => NO_KIND,
                Err(error) => error.as_str(),
            };
            self.unreadable.push(Unreadable::new(OBJECT, item, format!("{place}: {wrong}")));
        }
        Ok(())
    }

    /// Adds one object of this type, and of another kind what matters.
    fn add(&mut self, object: &RawValue, own: &TypeMeta, depth: u32) -> Result<(), Error> {
        let Some(written) = &own.kind else { return Err(Error::new(NO_KIND).advise(PRINT)) };
        if let Some(kind) = own.known_kind() {
            self.keep(kind, &mut object.get());
            return Ok(());
        }
        let list = if own.is_list() { parse::<Document<'_>>(&mut object.get()).ok() } else { None };
        if let Some(list) = list.filter(|list| list.items.as_ref().is_some_and(|items| !items.is_empty())) {
            if depth > DEEPEST_LIST {
                return Err(Error::new(format!("a list in more than {DEEPEST_LIST} lists")));
            }
            return self.add_document(object.get().as_bytes(), list, depth);
        }
        if written == "Event" {
            self.events.extend(Event::read(object));
        } else {
            self.owners.extend(OtherOwner::read(object));
        }
        self.others += 1;
        Ok(())
    }
}

/// The rest of a text that begins with these tokens.
fn after<'a>(tokens: &[&str], text: &'a str) -> Option<&'a str> {
    let next =
        |text: &'a str, token: &&str| text.trim_start_matches([' ', '\t', '\n', '\r']).strip_prefix(*token);
    tokens.iter().try_fold(text, next)
}

/// The documents of a YAML text, without empty ones. Aliases are replaced by what they stand for, which is at most
/// [`LONGEST_YAML`] bytes, since no value is longer than the text.
fn yaml(text: &str) -> Result<Vec<Value>, Error> {
    let most_aliased = MOST_ALIASED.min(LONGEST_YAML / text.len().max(1));
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_documents: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: most_aliased },
        // As in JSON.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        legacy_octal_numbers: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| Error::new("the input is not YAML").because(text::brief(&error.to_string())))
}

/// The text, with brackets that stand alone in a line behind what is before them.
fn with_brackets_joined(text: &str) -> String {
    let is_end = |line: &str| {
        line.trim_start().starts_with([']', '}']) && line.trim().chars().all(|char| "]},".contains(char))
    };
    let lines = text.lines().map(|line| format!("{}{line}", if is_end(line) { " " } else { "\n" }));
    lines.collect()
}

/// The text of a UTF-16 text with a byte order mark, as PowerShell writes it.
fn of_utf16(bytes: &[u8]) -> Vec<u8> {
    let is_little = bytes.starts_with(&[0xFF]);
    let unit = |pair: &[u8]| match *pair {
        [low, high] if is_little => u16::from_be_bytes([high, low]),
        [high, low] => u16::from_be_bytes([high, low]),
        // Half of a unit.
        _ => 0xFFFD,
    };
    String::from_utf16_lossy(&bytes.chunks(2).map(unit).collect::<Vec<_>>()).into()
}

/// The length of the messages before a text.
fn messages(text: &[u8]) -> usize {
    let mut rest = text;
    while is_message(rest) {
        let end = rest.iter().position(|byte| *byte == b'\n');
        rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
    }
    text.len() - rest.len()
}

/// Whether an input that begins so is refused, however it goes on: it is longer than any YAML may be, and neither JSON nor begins with
/// a byte order mark.
pub fn is_too_long(start: &[u8]) -> bool {
    let first = || start[messages(start)..].trim_ascii_start().first();
    start.len() > LONGEST_YAML && !matches!(first(), Some(b'{' | b'[' | 0xEF | 0xFE | 0xFF))
}

/// Whether a text begins with a message of kubectl, which it writes to standard error: a warning, or a line of its log.
fn is_message(text: &[u8]) -> bool {
    let is_date = |date: [&u8; 4]| date.into_iter().all(u8::is_ascii_digit);
    text.starts_with(b"Warning: ")
        || matches!(text, [b'I' | b'W' | b'E' | b'F', a, b, c, d, b' ', ..] if is_date([a, b, c, d]))
}

/// The text with spaces for messages between JSON documents, and for the logs that `kubectl cluster-info dump` prints. A JSON text has
/// no line that begins like one. `None` if there are none.
fn without_messages(text: &[u8]) -> Option<Vec<u8>> {
    let (mut is_log, mut found) = (false, false);
    let mut text = text.to_vec();
    for line in text.split_inclusive_mut(|byte| *byte == b'\n') {
        is_log |= line.starts_with(b"==== START logs for container ");
        let is_end = line.starts_with(b"==== END logs for container ");
        if is_log || is_end || is_message(line) {
            blank(line);
            found = true;
        }
        is_log &= !is_end;
    }
    found.then_some(text)
}

/// Replaces all but the ends of lines by spaces, so that places stay the same.
fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Whether this is what `kubectl get` prints without `-o`: a line of column names comes first.
fn is_table(text: &str) -> bool {
    let mut words = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").split_whitespace();
    matches!(words.next(), Some("NAME" | "NAMESPACE")) && words.next().is_some_and(|word| !word.contains(':'))
}

/// The error in a JSON text, after its place.
fn json_error(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Eof => "the input is cut off here".to_owned(),
        Category::Data => without_place(error),
        _ => format!("not JSON: {}", without_place(error)),
    };
    format!("line {} column {}: {what}", error.line(), error.column())
}

/// An object at the top level: a list if it has `items`, and otherwise the only object in the document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a Kubernetes object or list of them")]
struct Document<'a> {
    api_version: Option<String>,
    kind: Option<String>,
    #[serde(borrow, default, deserialize_with = "items")]
    items: Option<Vec<&'a RawValue>>,
}

/// Go writes an empty list as `null`.
fn items<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<&'a RawValue>>, D::Error> {
    Option::deserialize(deserializer).map(|items| Some(items.unwrap_or_default()))
}

/// What type an object says it has.
#[derive(Clone, Default)]
struct TypeMeta {
    api_version: Option<String>,
    kind: Option<String>,
}

/// Reads an object only until its type is known: kubectl writes that first.
impl<'de> Visitor<'de> for &mut TypeMeta {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(field) = fields.next_key::<String>()? {
            match &*field {
                "apiVersion" => self.api_version = fields.next_value()?,
                "kind" => self.kind = fields.next_value()?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
            if self.api_version.is_some() && self.kind.is_some() {
                return Err(A::Error::custom("no more is of interest"));
            }
        }
        Ok(())
    }
}

impl TypeMeta {
    fn read(text: &str) -> Result<Self, String> {
        let mut own = Self::default();
        let read = Deserializer::from_str(text).deserialize_any(&mut own);
        match read {
            Err(error) if own.api_version.is_none() || own.kind.is_none() => Err(without_place(&error)),
            _ => Ok(own),
        }
    }

    /// The type of items without one: a `PodList` has Pods. Those of a `List` have no kind.
    fn of_items(&self) -> Result<Self, String> {
        let own = self.kind.as_deref().ok_or("the list has no kind, so the input may be cut off")?;
        let not_of_list =
            || format!("{} is not the kind of a list, so the input may be cut off", text::word(own));
        let kind = own.strip_suffix("List").ok_or_else(not_of_list)?;
        let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
        Ok(Self { api_version: self.api_version.clone(), kind })
    }

    /// Whether it is a list of any objects, or of a kind that is kept.
    fn is_list(&self) -> bool {
        match self.of_items() {
            Ok(Self { kind: None, api_version }) => api_version.is_none_or(|version| version == "v1"),
            Ok(items) => items.known_kind().is_some(),
            Err(_) => false,
        }
    }

    /// The kind, if objects of it are kept.
    fn known_kind(&self) -> Option<&str> {
        let (kind, api_version) = (self.kind.as_deref()?, self.api_version.as_deref());
        let is_in = |group: &str| api_version.is_none_or(|version| version.starts_with(group));
        let is_known = match kind {
            "Pod" | "Node" => api_version.is_none_or(|version| version == "v1"),
            "ControllerRevision" => is_in("apps/"),
            "HorizontalPodAutoscaler" => is_in("autoscaling/"),
            "PodDisruptionBudget" => is_in("policy/"),
            "ScaleDownPolicy" => is_in("podrank.dev/"),
            _ => WorkloadKind::of_object(kind, api_version).is_some(),
        };
        is_known.then_some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    #[test]
    fn yaml_is_what_kubernetes_reads() {
        for (text, expected) in [
            ("[true, TRUE, yes, On, y]", json!([true, true, true, true, true])),
            ("[N, off, False]", json!([false, false, false])),
            ("[~, null, Null]", json!([null, null, null])),
            ("[0, -12, 012, 0o17, 0x1F, 0b101, 1_000]", json!([0, -12, 10, 15, 31, 5, 1000])),
            ("[1.5, -.5, 18446744073709551615]", json!([1.5, -0.5, u64::MAX])),
            (
                "[2026-03-10, 2026-03-10T12:00:00Z, 12:30:45]",
                json!(["2026-03-10", "2026-03-10T12:00:00Z", "12:30:45"]),
            ),
            ("[a, inf, NaN, \"1\", !!str 1, 1a, 1.2.3]", json!(["a", "inf", "NaN", "1", "1", "1a", "1.2.3"])),
            ("a: |\n  x\n  \"y\nb: >-\n  x\n  y\n", json!({ "a": "x\n\"y\n", "b": "x y" })),
            ("a: {b: 1, b: 2}", json!({ "a": { "b": 2 } })),
            (
                "a: &a {b: 1}\nc: *a\nd:\n  <<: *a\n  e: 2\n",
                json!({ "a": { "b": 1 }, "c": { "b": 1 }, "d": { "b": 1, "e": 2 } }),
            ),
        ] {
            assert_eq!(yaml(text).unwrap_or_else(|error| panic!("{text}: {error}")), [expected], "{text}");
        }
        let documents = yaml("---\n# nothing\n---\na: 1\n---\n...\n---\nb: 2\n").expect("YAML");
        assert_eq!(documents, [json!({ "a": 1 }), json!({ "b": 2 })]);
        let error = yaml("a: 1\nb: *x").expect_err("there is no x").to_string();
        assert!(error.starts_with("the input is not YAML\n") && error.contains("line 2"), "{error}");
    }

    /// Reading each item once is only faster: what it accepts says the same when it is read as any list is, also if some
    /// characters are others, and it accepts what kubectl prints.
    #[test]
    fn a_list_of_kubectl_says_what_any_list_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reports");
        let mut random = fastrand::Rng::with_seed(1);
        let [mut odd, mut accepted] = [0, 0];
        for entry in fs::read_dir(path).expect("reports") {
            let text = fs::read_to_string(entry.expect("a report").path()).expect("a report");
            let report: Value = serde_json::from_str(&text).expect("a report");
            let list = json!({
                "apiVersion": "v1", "items": report["input"]["items"], "kind": "List", "metadata": { "resourceVersion": "" },
            });
            let list = serde_json::to_string_pretty(&list).expect("JSON").into_bytes();
            assert!(Snapshot::read_list(&list).is_some(), "{}", report["explanation"]);
            for _ in 0..100 {
                let mut list = list.clone();
                let place = random.usize(..list.len());
                for place in [place, list.len() - 1 - place.min(80)] {
                    list[place] = random.choice(*b"{}[],:\"0 knPx\n\x0C\xFF").expect("a character");
                    let Some(read) = Snapshot::read_list(&list) else { continue };
                    let mut any = Snapshot::default();
                    any.read_documents(&list, json_error).expect("a list that is accepted is JSON");
                    assert_eq!(format!("{read:?}"), format!("{any:?}"));
                    odd += read.unreadable.len();
                    accepted += 1;
                }
            }
        }
        assert!(accepted > 2_000 && odd > 100, "{accepted} lists with {odd} unreadable objects");
    }
}
