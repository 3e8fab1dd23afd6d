//! `preview`: previews of any bytes against a reference. Nothing panics, every preview is that of a second reading of the
//! same text, and Kubernetes' decision on an incomplete dump is an error.
//!
//! Bytes that start with `{` are the text itself. Others choose a dump of related objects, and what to ask about it.
//! `preview/tests` has another reference, which decides only the dumps of its own generator. This one reads any text that
//! the program reads.

mod dump;
mod reference;

use crate::case::{self, extended};
use arbitrary::{Result, Unstructured};
use jiff::Timestamp;
use kubectl_podrank::render::{self, Look};
use podrank_preview::{
    Error, Input, Note, Options, Order, Preview, Remedy, SetKind, SetName, WorkloadKind, WorkloadPreview,
    preview,
};
use serde_json::Value;
use std::num::NonZeroU32;

/// The target.
pub fn run(data: &[u8]) {
    if data.first() == Some(&b'{') {
        for order in [Order::Total, Order::Kubernetes] {
            let now = "2026-03-10T12:00:00Z".parse().expect("a moment");
            let mut options = Options::new(1, now);
            options.order = order;
            options.gates.prefer_for_scale_down = true;
            check(data, &options);
        }
        return;
    }
    // As YAML, which has no reference but where it is JSON.
    if let Ok(input) = Input::read(data) {
        drop(format!("{input:?}"));
    }
    let bytes = extended(data, 1024);
    let mut u = Unstructured::new(&bytes);
    let (options, dump) = chosen(&mut u).expect("zeros where bytes end");
    check(&dump, &options);
}

/// What to ask, and the dump to ask it of.
fn chosen(u: &mut Unstructured<'_>) -> Result<(Options, Vec<u8>)> {
    let policy = case::policy(u)?;
    let now = Timestamp::from_nanosecond(policy.now.unix_nanos().unwrap_or(0).into());
    let now = if policy.now.is_unset() { "0001-01-01T00:00:00Z".parse() } else { now };
    let now = now.expect("64 bits of nanoseconds are a timestamp");
    let set = match u.int_in_range(0..=7_u8)? {
        0 => None,
        1 => Some((None, "web-1")),
        2 => Some((Some(SetKind::ReplicationController), "web-0")),
        3 => Some((None, "wbe-0")),
        _ => Some((Some(SetKind::ReplicaSet), "web-0")),
    };
    let mut options = Options::new(u.int_in_range(0..=6)?, now);
    options.set = set.map(|(kind, name)| SetName { kind, name: name.to_owned() });
    options.namespace = u.ratio(1, 8)?.then(|| "default".to_owned());
    options.order = if u.ratio(1, 3)? { Order::Kubernetes } else { Order::Total };
    options.gates = policy.gates;
    options.burst_replicas = if u.ratio(1, 8)? { NonZeroU32::new(u.int_in_range(1..=3)?) } else { None };
    let mut text = dump::dump(u, now)?.into_bytes();
    if u.ratio(1, 8)? {
        for _ in 0..u.int_in_range(1..=3_u8)? {
            let at = u.arbitrary::<u32>()? as usize % text.len();
            text[at] = u.arbitrary()?;
        }
    }
    Ok((options, text))
}

fn check(text: &[u8], options: &Options) {
    check_as(text, text, options);
    // JSON is YAML too; with a line before it, it is read as such.
    if text.len() % 4 == 1 {
        check_as(&[b"---\n", text].concat(), text, options);
    }
}

/// Checks what comes of a dump, which says what `text` says.
fn check_as(dump: &[u8], text: &[u8], options: &Options) {
    let Ok(input) = Input::read(dump) else { return };
    let strict = preview(&input, options);
    let mut partial = options.clone();
    partial.partial = true;
    let Ok(preview) = preview(&input, &partial) else {
        // What is wrong besides stays wrong.
        assert!(strict.is_err(), "{options:?}");
        return;
    };
    let shown = String::from_utf8_lossy(text);
    let WorkloadKind::Set(set_kind) = preview.workload.kind else { panic!("not a set: {shown}") };
    if let Some(set) = &options.set {
        assert_eq!(preview.replica_set, set.name, "{shown}");
        assert!(set.kind.is_none_or(|kind| kind == set_kind), "{shown}");
    }
    assert!(options.namespace.as_ref().is_none_or(|namespace| namespace == preview.namespace), "{shown}");

    let actual: Value = serde_json::from_str(&preview.to_json()).expect("a preview is JSON");
    let pods = actual["pods"].as_array().expect("pods");
    assert_eq!(actual["active"], pods.len(), "{shown}");
    let victims = pods.iter().filter(|pod| pod["verdict"] == "delete").count();
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&render::names(&WorkloadPreview::Set(preview.clone()))), victims, "{shown}");
    // Tables take longer than all else together.
    if text.len().is_multiple_of(8) {
        let look = |in_colour, terminal_width| Look {
            in_colour,
            terminal_width,
            is_wide: pods.len().is_multiple_of(2),
        };
        let table = render::table(&preview, look(false, None));
        assert!(lines(&table) > pods.len() && !table.contains('\u{1b}'), "{table}");
        assert_eq!(lines(&render::table(&preview, look(true, None))), lines(&table));
        render::table(&preview, look(false, Some(text.len() / 8 % 120)));
    }

    let id = (preview.namespace, set_kind, preview.workload.name);
    // None of texts that are read differently for what no cluster writes: see there.
    let Some(expected) = reference::reference(text, id, options) else { return };
    assert_eq!(actual["delete"], expected.delete, "{options:?} {shown}");
    assert_eq!(actual["quota"], expected.delete - victims, "{options:?} {shown}");
    check_completeness(&strict, &preview, &expected.notes, options, &shown);
    let about: Vec<Value> = pods.iter().map(|pod| without_words(pod, options.order)).collect();
    if options.order == Order::Total {
        assert_eq!(about, expected.pods, "{options:?} {shown}");
    } else {
        // The order of the contested says nothing.
        let by_name = |pods: &[Value]| {
            let mut pods = pods.to_vec();
            pods.sort_by_key(|pod| pod["uid"].to_string());
            pods
        };
        assert_eq!(by_name(&about), by_name(&expected.pods), "{options:?} {shown}");
        let verdict = |pod: &Value| {
            ["delete", "contested", "keep"].iter().position(|verdict| pod["verdict"] == *verdict)
        };
        assert!(pods.iter().map(verdict).is_sorted(), "{options:?} {shown}");
    }
    let warnings = preview.notes.iter().filter(|note| note.is_warning()).count();
    assert_eq!(warnings, if options.gates.pod_deletion_cost { expected.invalid_costs } else { 0 }, "{shown}");
}

/// The notes on what the dump lacks are as expected. Under `kubernetes` they are an error, unless that is accepted.
fn check_completeness(
    strict: &Result<Preview<'_>, Error>,
    partial: &Preview<'_>,
    expected: &[&str],
    options: &Options,
    shown: &str,
) {
    let code = |note: &Note| serde_json::to_value(note.code).expect("a code");
    let codes: Vec<Value> = partial.notes.iter().map(code).collect();
    for known in reference::COMPLETENESS {
        assert_eq!(codes.contains(&known.into()), expected.contains(&known), "{known} {options:?} {shown}");
    }
    let lacks = expected.iter().any(|code| *code != "more-pods-than-status");
    match strict {
        Err(error) => {
            assert!(lacks && options.order == Order::Kubernetes, "{error} {options:?} {shown}");
            assert_eq!(error.remedy(), Some(Remedy::AcceptPartial), "{error}");
        }
        Ok(strict) => {
            assert!(!lacks || options.order == Order::Total, "{options:?} {shown}");
            let same = Preview { partial: true, ..strict.clone() };
            assert_eq!(same.to_json(), partial.to_json(), "{options:?} {shown}");
        }
    }
}

/// What is said of a pod, but for the words; and for the rule, unless the order is podrank's own.
fn without_words(pod: &Value, order: Order) -> Value {
    let mut pod = pod.as_object().expect("a pod").clone();
    let why = pod.remove("why");
    assert!(why.is_some_and(|why| !why.as_str().expect("words").is_empty()));
    for (age, time) in [("age", "creationTime"), ("readyAge", "readyTime")] {
        assert_eq!(pod.remove(age).is_some_and(|age| age.is_null()), pod[time].is_null());
    }
    if order == Order::Kubernetes {
        pod.remove("rule");
        pod.remove("position");
    }
    Value::Object(pod)
}
