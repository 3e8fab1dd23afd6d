//! Several workloads, a line each, for people. Computes text and reads nothing.

use crate::view::{Row, Table, amount, in_order, named, verdict_cell};
use podrank_predict::{CountRange, Note, NoteCode, Order, Overview, OverviewRow, Verdict, WorkloadRef};

/// How many pods of a workload go: in the end, if a count is asked for.
fn delete_of(line: &OverviewRow<'_>) -> CountRange {
    line.one_by_one.map_or(line.delete, CountRange::one)
}

/// The same with a title, to paste into a page or a channel.
pub fn titled(overview: &Overview<'_>, is_asked: bool) -> Table {
    let title = format!("{TITLE}{}", in_order(overview.order));
    Table { sentences: vec![title], ..table(overview, is_asked) }
}

/// The notes about the input that more than one line has, or the only one. They are printed once.
pub fn once<'o>(overview: &'o Overview<'_>) -> Vec<&'o Note> {
    let lines: Vec<_> = overview.workloads.iter().filter(|line| line.error.is_none()).collect();
    let is_of_input =
        |note: &&Note| matches!(note.code, NoteCode::Time | NoteCode::Incomplete | NoteCode::Unreadable);
    let mut once: Vec<&Note> = Vec::new();
    for note in lines.iter().flat_map(|line| line.notes.iter().filter(is_of_input)) {
        let is_shared = || lines.iter().filter(|line| line.notes.contains(note)).nth(1).is_some();
        if !once.contains(&note) && (lines.len() == 1 || is_shared()) {
            once.push(note);
        }
    }
    once
}

/// What the lines are about.
const TITLE: &str = "Which pods are deleted first";

/// A row for each workload. `is_asked` says whether a count is asked for.
pub fn table(overview: &Overview<'_>, is_asked: bool) -> Table {
    let namespace = overview.workloads.first().map_or("", |line| line.namespace);
    let several = overview.workloads.iter().any(|line| line.namespace != namespace);
    let once = once(overview);
    let row = |line: &OverviewRow<'_>| {
        let name = named(WorkloadRef { namespace: "default", ..line.workload }, line.owner);
        let verdict = if line.delete.max > 0 { Verdict::Deleted } else { Verdict::Kept };
        let next = line.next.map_or_else(|| "-".to_owned(), str::to_owned);
        let cells = [
            name,
            line.active.to_string(),
            deleted(line),
            next,
            when(line, is_asked),
            note(line, is_asked, &once),
        ];
        let namespace = several.then(|| line.namespace.to_owned());
        Row::new(verdict, overview.order, namespace.into_iter().chain(cells).collect())
    };
    let [deleted, next, when] =
        if is_asked { ["DELETED", "FIRST", "VERDICT"] } else { ["DELETED NOW", "NEXT", "WHEN"] };
    let header = ["WORKLOAD", "PODS", deleted, next, when, "NOTE"];
    let title = (overview.order == Order::Total).then(|| format!("{TITLE}{}", in_order(overview.order)));
    Table {
        header: several.then_some("NAMESPACE").into_iter().chain(header).collect(),
        rows: overview.workloads.iter().map(row).collect(),
        optional: vec!["NOTE", when],
        is_cut: true,
        ..Table::of_sentences(title)
    }
}

/// How many pods are deleted at the count that is asked for, or at the present one: `2 to 3`.
fn deleted(line: &OverviewRow<'_>) -> String {
    match delete_of(line) {
        _ if line.error.is_some() => "?".to_owned(),
        CountRange { max: 0, .. } => "-".to_owned(),
        delete => amount(delete),
    }
}

/// Whether the first pod is deleted at the count that is asked for, and otherwise when: `now`, or `at 6`.
fn when(line: &OverviewRow<'_>, is_asked: bool) -> String {
    let Some(fate) = line.fate else { return "-".to_owned() };
    let when = line.next_at.map_or_else(|| "now".to_owned(), |count| format!("at {count}"));
    match verdict_cell(fate, line.probability) {
        verdict if is_asked => verdict,
        _ if fate == Verdict::Deleted => when,
        verdict => format!("{verdict} {when}"),
    }
}

fn note(line: &OverviewRow<'_>, is_asked: bool, once: &[&Note]) -> String {
    if let Some(error) = &line.error {
        return format!("error: {error}");
    }
    if !line.workload.kind.has_count() && line.delete.max == 0 && line.rest.is_none() {
        return "its nodes decide".to_owned();
    }
    let is_up = is_asked && line.present.is_some() && line.size.replicas > line.present;
    // If they go one by one, the number of those that go has them.
    let waits = line.rest.as_ref().filter(|_| line.one_by_one.is_none()).and_then(|rest| rest.short());
    let autoscaler = line.autoscaler.as_ref();
    let autoscaler =
        autoscaler.map(|its| format!("HPA {} ({} to {})", its.name, its.min_replicas, its.max_replicas));
    let up = is_up.then(|| "scales up".to_owned());
    let parts: Vec<_> = up.into_iter().chain(waits.map(|text| text.to_string())).chain(autoscaler).collect();
    if parts.is_empty() {
        line.notes.iter().find(|note| !once.contains(note)).map_or_else(String::new, |note| note.text.clone())
    } else {
        parts.join("; ")
    }
}
