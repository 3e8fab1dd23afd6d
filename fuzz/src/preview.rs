//! `preview`: dumps of any bytes, and what they come to against a reference: no panic, and where there is a preview, it is
//! that of a second reading of the same text.
//!
//! Bytes that start with `{` are the text itself; others choose a dump of objects that have to do with each other, and
//! what to ask of it. The reference is written here and not that of `cli/tests`, which only decides dumps of its own
//! generator: this one takes any text that the program takes.

mod dump;
mod reference;

use crate::case::{self, extended};
use arbitrary::{Result, Unstructured};
use jiff::Timestamp;
use kubectl_podrank::render::{self, Look};
use podrank::FeatureGates;
use podrank_preview::{Input, Note, Options, Order, SetKind, SetName, preview};
use serde_json::Value;
use std::num::NonZeroU32;

/// The target.
pub fn run(data: &[u8]) {
    if data.first() == Some(&b'{') {
        for order in [Order::Total, Order::Kubernetes] {
            let now = "2026-03-10T12:00:00Z".parse().expect("a moment");
            let mut gates = FeatureGates::KUBERNETES;
            gates.prefer_for_scale_down = true;
            let (set, namespace, burst_replicas) = (None, None, None);
            check(data, &Options { replicas: 1, set, namespace, now, order, gates, burst_replicas });
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
    let options = Options {
        replicas: u.int_in_range(0..=6)?,
        set: set.map(|(kind, name)| SetName { kind, name: name.to_owned() }),
        namespace: u.ratio(1, 8)?.then(|| "default".to_owned()),
        now,
        order: if u.ratio(1, 3)? { Order::Kubernetes } else { Order::Total },
        gates: policy.gates,
        burst_replicas: if u.ratio(1, 8)? { NonZeroU32::new(u.int_in_range(1..=3)?) } else { None },
    };
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
    let Ok((preview, notes)) = preview(&input, options) else { return };
    let shown = String::from_utf8_lossy(text);
    if let Some(set) = &options.set {
        assert_eq!(preview.replica_set, set.name, "{shown}");
        assert!(set.kind.is_none_or(|kind| kind == preview.set_kind), "{shown}");
    }
    assert!(options.namespace.as_ref().is_none_or(|namespace| namespace == preview.namespace), "{shown}");

    let actual: Value = serde_json::from_str(&preview.to_json()).expect("a preview is JSON");
    let pods = actual["pods"].as_array().expect("pods");
    assert_eq!(actual["active"], pods.len(), "{shown}");
    let victims = pods.iter().filter(|pod| pod["verdict"] == "delete").count();
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&render::name(&preview)), victims, "{shown}");
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

    let id = (preview.namespace, preview.set_kind, preview.replica_set);
    // None of texts that are read differently for what no cluster writes: see there.
    let Some(expected) = reference::reference(text, id, options) else { return };
    assert_eq!(actual["delete"], expected.delete, "{options:?} {shown}");
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
    let warnings = notes.iter().filter(|note| matches!(note, Note::Warning(_))).count();
    assert_eq!(warnings, if options.gates.pod_deletion_cost { expected.invalid_costs } else { 0 }, "{shown}");
}

/// What is said of a pod, but for the words; and for the rule, where that is not the order's.
fn without_words(pod: &Value, order: Order) -> Value {
    let mut pod = pod.as_object().expect("a pod").clone();
    let why = pod.remove("why");
    assert!(why.is_some_and(|why| !why.as_str().expect("words").is_empty()));
    if order == Order::Kubernetes {
        pod.remove("rule");
        pod.remove("position");
    }
    Value::Object(pod)
}
