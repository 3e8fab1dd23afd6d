//! `preview`: previews of any bytes. Nothing panics, whatever the kind of workload, and what the parts of a preview say agrees.
//! Kubernetes' decision on an incomplete dump of a set is an error.
//!
//! Bytes that start with `{` are the text itself. Others choose a dump of related objects, or changes to an example, and what to
//! ask about it.

mod example;
mod workloads;

use crate::case;
use arbitrary::{Result, Unstructured};
use jiff::Timestamp;
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view::{self, Table};
use podrank_predict::{
    Error, ErrorKind, NoteCode, Options, Order, PodAnswer, Preview, Snapshot, Verdict, WorkloadKind, json,
    preview_workload,
};
use serde_json::Value;

/// The target.
pub fn run(data: &[u8]) {
    if data.first() == Some(&b'{') {
        for order in [Order::Total, Order::Kubernetes] {
            let mut options = Options::new(1, now());
            options.order = order;
            options.gates.prefer_for_scale_down = true;
            check(data, &options);
        }
        return;
    }
    // As YAML, which has no reference but where it is JSON.
    if let Ok(input) = Snapshot::read(data) {
        drop(format!("{input:?}"));
    }
    let (options, dump) = chosen(data);
    check(&dump, &options);
}

fn now() -> Timestamp {
    "2026-03-10T12:00:00Z".parse().expect("a time")
}

/// What these bytes ask, and the dump that they ask it of.
pub fn chosen(data: &[u8]) -> (Options, Vec<u8>) {
    choose(&mut Unstructured::new(data)).expect("zeros where bytes end")
}

fn choose(u: &mut Unstructured<'_>) -> Result<(Options, Vec<u8>)> {
    let policy = case::policy(u)?;
    // Rarely before 1970, or at the ends of the range.
    let nanos = policy.now.unix_nanos().filter(|_| matches!(u.ratio(1, 8), Ok(true)));
    let now = nanos.map(|nanos| Timestamp::from_nanosecond(nanos.into()).expect("64 bits of nanoseconds"));
    let mut options = Options::new(u.int_in_range(0..=6)?, now.unwrap_or_else(self::now));
    options.namespace = u.ratio(1, 8)?.then(|| "default".to_owned());
    options.order = if u.ratio(1, 3)? { Order::Kubernetes } else { Order::Total };
    options.gates = policy.gates;
    let mut text =
        if u.ratio(1, 8)? { example::changed(u, &mut options)? } else { workloads::dump(u, &mut options)? };
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
    // Probabilities take longer than everything else together.
    let mut options = options.clone();
    options.probabilities = text.len().is_multiple_of(16);
    let options = &options;
    let answer = check_as(text, text, options);
    // JSON is YAML too; with a line before it, it is read as such.
    if text.len() % 4 == 1 {
        let of_yaml = check_as(&[b"---\n", text].concat(), text, options);
        let is_plain = text.iter().all(|byte| (b' '..=b'~').contains(byte));
        assert!(!is_plain || answer.is_none() || answer == of_yaml, "{}", String::from_utf8_lossy(text));
    }
    answer
}

/// Checks what comes of a dump, which says what `text` says.
fn check_as(dump: &[u8], text: &[u8], options: &Options) -> Option<Value> {
    let input = Snapshot::read(dump).ok()?;
    let strict = preview_workload(&input, options);
    let mut partial = options.clone();
    partial.partial = true;
    let Ok(whole) = preview_workload(&input, &partial) else {
        // An error that `partial` does not allow is an error without it, too.
        assert!(strict.is_err(), "{options:?}");
        return None;
    };
    let lines = |text: &str| text.lines().count();
    let count = |verdict| whole.pods().filter(|pod| pod.verdict == verdict).count();
    let victims = count(Verdict::Deleted);
    // Those of a StatefulSet that wait for others go after them.
    let goes_on = victims > 0 && count(Verdict::Possible) == 0 && whole.size.replicas.is_some();
    let goes = |pod: &PodAnswer<'_>| pod.verdict == Verdict::Deleted || goes_on && pod.waits_for().is_some();
    let named = whole.pods().filter(|pod| goes(pod) && !pod.is_replaced).count();
    assert_eq!(lines(&view::wide::names(&whole)), named);
    // Tables take longer than all else together.
    if text.len().is_multiple_of(8) {
        let tables = [
            (vec![view::answer::table(&whole)], whole.pods().count() - count(Verdict::Kept)),
            // The proof of a Deployment leaves out sets that lose no pods.
            (
                view::wide::tables(&whole, ""),
                if whole.workload.kind == WorkloadKind::Deployment { 0 } else { whole.pods().count() },
            ),
        ];
        let shown = |tables: &[Table], in_colour, width| -> String {
            tables.iter().map(|table| table.text(Terminal { in_colour, width })).collect()
        };
        for (tables, least) in &tables {
            let plain = shown(tables, false, None);
            assert!(lines(&plain) > *least && !plain.contains('\u{1b}'), "{plain}");
            assert_eq!(lines(&shown(tables, true, None)), lines(&plain));
            shown(tables, false, Some(text.len() / 8 % 120));
        }
    }
    let written = json(&whole);
    let preview = whole;
    let shown = String::from_utf8_lossy(text);
    if let Some(set) = &options.workload {
        assert_eq!(preview.workload.name, set.name, "{shown}");
        assert!(set.kind.is_none_or(|kind| kind == preview.workload.kind), "{shown}");
    }
    let is_asked = |namespace: &String| namespace == preview.workload.namespace;
    assert!(options.namespace.as_ref().is_none_or(is_asked), "{shown}");

    let actual: Value = serde_json::from_str(&written).expect("a preview is JSON");
    check_probabilities(&actual, &shown);
    if preview.workload.kind.is_set() {
        let pods = actual["groups"][0]["pods"].as_array().expect("pods");
        assert_eq!(actual["activePods"], pods.len(), "{shown}");
        assert_eq!(actual["certainDeletions"], victims, "{options:?} {shown}");
        check_completeness(&strict, &preview, options, &shown);
        pods.iter().for_each(check_words);
    }
    Some(actual)
}

/// Only possible deletions have a probability. If all have one, they add up to the deletions that are not certain. If it is a range, its
/// end is that of the highest probabilities.
fn check_probabilities(preview: &Value, shown: &str) {
    for group in preview["groups"].as_array().expect("groups") {
        let pods = || group["pods"].as_array().into_iter().flatten();
        let count = |verdict: &str| pods().filter(|pod| pod["verdict"] == verdict).count();
        assert!(pods().all(|pod| pod["probability"].is_null() || pod["verdict"] == "possible"), "{shown}");
        let highest = |pod: &Value| pod["probabilityMax"].as_f64().or(pod["probability"].as_f64());
        let found: Vec<f64> = pods().filter_map(highest).collect();
        assert!(found.iter().all(|probability| (0.0..=1.0).contains(probability)), "{found:?} {shown}");
        // They have four places. Some possible deletions of a Job may have none.
        let certain = u32::try_from(count("deleted")).expect("few pods");
        let open = group["deletions"]["max"].as_f64().unwrap_or(f64::NAN) - f64::from(certain);
        let has_all = found.len() == count("possible");
        let sum: f64 = found.iter().sum();
        assert!(!has_all || (sum - open).abs() < 0.1, "{found:?} {open:?} {shown}");
    }
}

/// Under `kubernetes`, an input that lacks something is an error, unless that is accepted.
fn check_completeness(
    strict: &Result<Preview<'_>, Error>,
    partial: &Preview<'_>,
    options: &Options,
    shown: &str,
) {
    let lacks = partial.notes.iter().any(|note| note.code == NoteCode::Incomplete);
    match strict {
        Err(error) => {
            assert!(lacks && options.order == Order::Kubernetes, "{error} {options:?} {shown}");
            assert_eq!(error.kind, ErrorKind::Incomplete, "{error}");
        }
        Ok(strict) => {
            // With pods alone, each set is taken from its pods, and a note says so.
            let has_only_pods = partial.notes.iter().any(|note| note.text.contains("has only pods"));
            assert!(!lacks || has_only_pods || options.order == Order::Total, "{options:?} {shown}");
            let same = Preview { partial: true, ..strict.clone() };
            assert_eq!(json(&same), json(&partial), "{options:?} {shown}");
        }
    }
}

/// There is a reason for each pod, and an age wherever there is a time.
fn check_words(pod: &Value) {
    assert!(!pod["reason"]["text"].as_str().expect("words").is_empty(), "{pod}");
    for (age, time) in [("age", "creationTime"), ("readyAge", "readyTime")] {
        assert_eq!(pod.get(age).is_some_and(Value::is_null), pod[time].is_null(), "{pod}");
    }
}
