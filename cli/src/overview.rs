//! Several workloads, a line each, for people. Computes text and reads nothing.

use crate::glance::{in_order, named, shade};
use crate::look::{Grid, Look};
use podrank_preview::{Bounds, Note, NoteCode, Order, Overview, OverviewLine, Rest, Verdict, WaitsFor};

/// Returns a line for each workload. `is_asked` says whether a count is asked for.
pub fn overview_table(overview: &Overview<'_>, is_asked: bool, look: Look) -> String {
    grid(overview, is_asked).text(look)
}

/// Returns the lines to paste into a page or a channel.
pub fn overview_markdown(overview: &Overview<'_>, is_asked: bool) -> String {
    whole(overview, is_asked).markdown()
}

/// Returns a line for each workload, uncut.
pub fn whole(overview: &Overview<'_>, is_asked: bool) -> Grid {
    let title = format!("{TITLE}{}", in_order(overview.order));
    Grid { sentences: vec![title], ..grid(overview, is_asked) }
}

/// What is true of all lines, and is said once.
pub fn once<'o>(overview: &'o Overview<'_>) -> Option<&'o Note> {
    overview.workloads.iter().flat_map(|line| &line.notes).find(|note| is_said_once(note))
}

fn is_said_once(note: &Note) -> bool {
    note.code == NoteCode::TimeOfDump
}

/// What the lines are about.
const TITLE: &str = "Who goes first";

fn grid(overview: &Overview<'_>, is_asked: bool) -> Grid {
    let namespace = overview.workloads.first().map_or("", |line| line.namespace);
    let several = overview.workloads.iter().any(|line| line.namespace != namespace);
    let row = |line: &OverviewLine<'_>| {
        let name = named(line.workload.kind, line.workload.name, "default", line.owner);
        let verdict = if line.delete.max > 0 { Verdict::Delete } else { Verdict::Keep };
        let next = line.next.map_or_else(|| "-".to_owned(), str::to_owned);
        let cells = [name, line.active.to_string(), going(line), next, goes(line), note(line)];
        let namespace = several.then(|| line.namespace.to_owned());
        (shade(verdict, overview.order), namespace.into_iter().chain(cells).collect())
    };
    let [going, next] = if is_asked { ["GO", "FIRST"] } else { ["GOING NOW", "NEXT TO GO"] };
    let header = ["WORKLOAD", "PODS", going, next, "GOES", "NOTE"];
    let title = (overview.order == Order::Total).then(|| format!("{TITLE}{}", in_order(overview.order)));
    Grid {
        header: several.then_some("NAMESPACE").into_iter().chain(header).collect(),
        rows: overview.workloads.iter().map(row).collect(),
        give_way: vec!["NOTE", "GOES"],
        is_cut: true,
        ..Grid::of_sentences(title)
    }
}

/// How many pods go at the count that is asked for, or at the present one: `2 to 3`.
fn going(line: &OverviewLine<'_>) -> String {
    match line.delete {
        _ if line.error.is_some() => "?".to_owned(),
        Bounds { max: 0, .. } => "-".to_owned(),
        delete => delete.text(),
    }
}

/// How likely the next pod goes.
fn goes(line: &OverviewLine<'_>) -> String {
    match (&line.odds, line.next) {
        // Sampled odds are never certain.
        (Some(odds), _) if odds.odds >= 1.0 && odds.error == 0.0 => "yes".to_owned(),
        (Some(odds), _) => odds.text(),
        (None, Some(_)) => "waits".to_owned(),
        (None, None) => "-".to_owned(),
    }
}

fn note(line: &OverviewLine<'_>) -> String {
    if let Some(error) = &line.error {
        return format!("error: {error}");
    }
    if !line.workload.kind.has_count() && line.delete.max == 0 {
        return "its nodes decide".to_owned();
    }
    let autoscaler = line.autoscaler.as_ref();
    let autoscaler =
        autoscaler.map(|its| format!("HPA {} ({} to {})", its.name, its.min_replicas, its.max_replicas));
    let parts: Vec<_> = line.rest.as_ref().and_then(waits).into_iter().chain(autoscaler).collect();
    if parts.is_empty() {
        let mut notes = line.notes.iter().filter(|note| !is_said_once(note));
        notes.next().map_or_else(String::new, |note| note.text.clone())
    } else {
        parts.join("; ")
    }
}

/// What it waits for, in a few words.
fn waits(rest: &Rest<'_>) -> Option<String> {
    let pods = match rest.pods {
        0 => "pods".to_owned(),
        1 => "1 pod".to_owned(),
        pods => format!("{pods} pods"),
    };
    Some(match rest.waits_for? {
        WaitsFor::NewPods => format!("waits for {pods} to be available"),
        WaitsFor::OldPods => "waits until old pods end".to_owned(),
        WaitsFor::Resume => "rollout is paused".to_owned(),
        WaitsFor::AnotherCount => "waits for another count".to_owned(),
        WaitsFor::Pods => format!("waits for {pods}"),
    })
}
