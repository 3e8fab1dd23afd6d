//! `preview`: previews of any bytes. Nothing panics, whatever the kind of workload, and what the parts of a preview say agrees.
//! Kubernetes' decision on an incomplete dump of a set is an error.
//!
//! Bytes that start with `{` are the text itself. Others choose a dump of related objects, or changes to an example, and what to
//! ask about it.

mod dump;
mod example;
mod workloads;

use crate::case::{self, extended};
use arbitrary::{Result, Unstructured};
use jiff::Timestamp;
use kubectl_podrank::glance::glance;
use kubectl_podrank::look::Look;
use kubectl_podrank::render;
use podrank_preview::{
    Error, Input, Note, NoteCode, Options, Order, Preview, Remedy, Verdict, WorkloadKind, WorkloadName,
    preview_workload,
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
    let (options, dump) = chosen(data);
    check(&dump, &options);
}

/// What these bytes ask, and the dump that they ask it of.
pub fn chosen(data: &[u8]) -> (Options, Vec<u8>) {
    let bytes = extended(data, 1024);
    choose(&mut Unstructured::new(&bytes)).expect("zeros where bytes end")
}

fn choose(u: &mut Unstructured<'_>) -> Result<(Options, Vec<u8>)> {
    let policy = case::policy(u)?;
    let now = Timestamp::from_nanosecond(policy.now.unix_nanos().unwrap_or(0).into());
    let now = if policy.now.is_unset() { "0001-01-01T00:00:00Z".parse() } else { now };
    let now = now.expect("64 bits of nanoseconds are a timestamp");
    let mut options = Options::new(u.int_in_range(0..=6)?, now);
    options.namespace = u.ratio(1, 8)?.then(|| "default".to_owned());
    options.order = if u.ratio(1, 3)? { Order::Kubernetes } else { Order::Total };
    options.gates = policy.gates;
    options.burst_replicas = if u.ratio(1, 8)? { NonZeroU32::new(u.int_in_range(1..=3)?) } else { None };
    let mut text = if u.ratio(1, 8)? {
        example::changed(u, &mut options)?
    } else if u.ratio(1, 4)? {
        workloads::dump(u, &mut options)?
    } else {
        let set = match u.int_in_range(0..=7_u8)? {
            0 => None,
            1 => Some((None, "web-1")),
            2 => Some((Some(WorkloadKind::ReplicationController), "web-0")),
            3 => Some((None, "wbe-0")),
            _ => Some((Some(WorkloadKind::ReplicaSet), "web-0")),
        };
        let named = |(kind, name): (Option<_>, &str)| WorkloadName { kind, name: name.to_owned() };
        options.workload = set.map(named);
        dump::dump(u, now)?.into_bytes()
    };
    if u.ratio(1, 8)? {
        for _ in 0..u.int_in_range(1..=3_u8)? {
            let at = u.arbitrary::<u32>()? as usize % text.len();
            text[at] = u.arbitrary()?;
        }
    }
    Ok((options, text))
}

/// Checks what comes of a dump. Returns the preview, if there is one.
pub fn check(text: &[u8], options: &Options) -> Option<Value> {
    // Odds take longer than all else together.
    let mut options = options.clone();
    options.odds = text.len().is_multiple_of(16);
    let options = &options;
    // JSON is YAML too; with a line before it, it is read as such.
    if text.len() % 4 == 1 {
        check_as(&[b"---\n", text].concat(), text, options);
    }
    check_as(text, text, options)
}

/// Checks what comes of a dump, which says what `text` says.
fn check_as(dump: &[u8], text: &[u8], options: &Options) -> Option<Value> {
    let input = Input::read(dump).ok()?;
    let strict = preview_workload(&input, options);
    let mut partial = options.clone();
    partial.partial = true;
    let Ok(whole) = preview_workload(&input, &partial) else {
        // What is wrong besides stays wrong.
        assert!(strict.is_err(), "{options:?}");
        return None;
    };
    let lines = |text: &str| text.lines().count();
    let count = |verdict| whole.pods().filter(|pod| pod.verdict == verdict).count();
    let victims = count(Verdict::Delete);
    // Those of a StatefulSet that wait for others go after them.
    let goes_on = victims > 0 && count(Verdict::Contested) == 0 && whole.asked.replicas.is_some();
    let goes = |verdict| verdict == Verdict::Delete || goes_on && verdict == Verdict::Blocked;
    let named = whole.pods().filter(|pod| goes(pod.verdict) && !pod.is_replaced).count();
    assert_eq!(lines(&render::names(&whole)), named);
    // Tables take longer than all else together.
    if text.len().is_multiple_of(8) {
        let look = |in_colour, terminal_width| Look { in_colour, terminal_width, ..Look::default() };
        let after: Vec<_> = whole.notes.iter().map(ToString::to_string).collect();
        let tables: [&dyn Fn(Look) -> String; 2] =
            [&|look| glance(&whole, &after, look), &|look| render::proof(&whole, "", look)];
        for table in tables {
            let text = table(look(false, None));
            // The proof of a Deployment leaves out sets that lose no pods.
            let least =
                if whole.workload.kind == WorkloadKind::Deployment { 0 } else { whole.pods().count() };
            assert!(lines(&text) > least && !text.contains('\u{1b}'), "{text}");
            assert_eq!(lines(&table(look(true, None))), lines(&text));
        }
        let width = text.len() / 8 % 120;
        render::proof(&whole, "", look(false, Some(width)));
        let lines = lines(&glance(&whole, &after, look(false, Some(width.max(80)))));
        assert!(lines <= 22, "{lines} lines");
    }
    let json = whole.to_json();
    let preview = whole;
    let shown = String::from_utf8_lossy(text);
    if let Some(set) = &options.workload {
        assert_eq!(preview.workload.name, set.name, "{shown}");
        assert!(set.kind.is_none_or(|kind| kind == preview.workload.kind), "{shown}");
    }
    assert!(options.namespace.as_ref().is_none_or(|namespace| namespace == preview.namespace), "{shown}");

    let mut actual: Value = serde_json::from_str(&json).expect("a preview is JSON");
    take_odds(&mut actual, &shown);
    if preview.replica_set.is_some() {
        let pods = actual["pods"].as_array().expect("pods");
        assert_eq!(actual["active"], pods.len(), "{shown}");
        assert_eq!(
            actual["quota"],
            actual["delete"].as_u64().expect("a number") - victims as u64,
            "{options:?} {shown}"
        );
        check_completeness(&strict, &preview, options, &shown);
        pods.iter().for_each(check_words);
    }
    Some(actual)
}

/// Takes the odds out of a preview: `odds` looks at them. Only contested pods have odds, which add up to the quota.
fn take_odds(preview: &mut Value, shown: &str) {
    let sets = preview["sets"].as_array_mut().map_or_else(Vec::new, |sets| sets.iter_mut().collect());
    let of = if sets.is_empty() { vec![preview] } else { sets };
    for part in of {
        let quota = part["quota"].as_f64();
        let pods = part["pods"].as_array_mut().map_or(&mut [][..], |pods| pods);
        let taken = pods.iter_mut().filter_map(|pod| {
            let odds = pod.as_object_mut()?.remove("odds").zip(pod.as_object_mut()?.remove("oddsError"))?;
            assert_eq!(pod["verdict"], "contested", "{shown}");
            odds.0.as_f64()
        });
        let odds: Vec<_> = taken.collect();
        assert!(odds.iter().all(|odds| (0.0..=1.0).contains(odds)), "{odds:?} {shown}");
        // They have four places. Some contested pods of a Job may have none.
        let sum: f64 = odds.iter().sum();
        let has_all = odds.len() == pods.iter().filter(|pod| pod["verdict"] == "contested").count();
        assert!(
            !has_all || quota.is_some_and(|quota| (sum - quota).abs() < 0.1),
            "{odds:?} {quota:?} {shown}"
        );
    }
}

/// Under `kubernetes`, an input that lacks something is an error, unless that is accepted.
fn check_completeness(
    strict: &Result<Preview<'_>, Error>,
    partial: &Preview<'_>,
    options: &Options,
    shown: &str,
) {
    let is_lack = |note: &Note| {
        matches!(note.code, NoteCode::SetMissing | NoteCode::SiblingsMissing | NoteCode::PodsMissing)
    };
    let lacks = partial.notes.iter().any(is_lack);
    match strict {
        Err(error) => {
            assert!(lacks && options.order == Order::Kubernetes, "{error} {options:?} {shown}");
            assert_eq!(error.remedy(), Some(Remedy::AcceptPartial), "{error}");
        }
        Ok(strict) => {
            assert!(!lacks || options.order == Order::Total, "{options:?} {shown}");
            let replay = format!("{} --partial", strict.replay);
            let same = Preview { partial: true, replay, ..strict.clone() };
            assert_eq!(same.to_json(), partial.to_json(), "{options:?} {shown}");
        }
    }
}

/// There is a reason for each pod, and an age wherever there is a time.
fn check_words(pod: &Value) {
    assert!(!pod["why"].as_str().expect("words").is_empty(), "{pod}");
    for (age, time) in [("age", "creationTime"), ("readyAge", "readyTime")] {
        assert_eq!(pod.get(age).is_some_and(Value::is_null), pod[time].is_null(), "{pod}");
    }
}
