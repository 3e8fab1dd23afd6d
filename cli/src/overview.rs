//! Several workloads, a line each, for people. Computes text and reads nothing.

use crate::glance::named;
use crate::look::{Grid, Look};
use podrank_preview::{Bounds, Overview, OverviewLine, Rest, Verdict, WaitsFor};

/// Returns a line for each workload.
pub fn overview_table(overview: &Overview<'_>, look: Look) -> String {
    grid(overview).text(look)
}

/// Returns the lines to paste into a page or a channel.
pub fn overview_markdown(overview: &Overview<'_>) -> String {
    whole(overview).markdown()
}

/// Returns a line for each workload, uncut.
pub fn whole(overview: &Overview<'_>) -> Grid {
    Grid { sentences: vec![TITLE.to_owned()], ..grid(overview) }
}

/// What the lines are about.
const TITLE: &str = "Who goes first";

fn grid(overview: &Overview<'_>) -> Grid {
    let namespace = overview.workloads.first().map_or("", |line| line.namespace);
    let several = overview.workloads.iter().any(|line| line.namespace != namespace);
    let row = |line: &OverviewLine<'_>| {
        let name = named(line.workload.kind, line.workload.name, "default", line.owner);
        let verdict = if line.delete.max > 0 { Verdict::Delete } else { Verdict::Keep };
        let cells = [name, line.active.to_string(), next(line), sure(line), note(line)];
        let namespace = several.then(|| line.namespace.to_owned());
        (verdict, namespace.into_iter().chain(cells).collect())
    };
    let header = ["WORKLOAD", "PODS", "NEXT TO GO", "SURE", "NOTE"];
    Grid {
        sentences: Vec::new(),
        header: several.then_some("NAMESPACE").into_iter().chain(header).collect(),
        rows: overview.workloads.iter().map(row).collect(),
        give_way: vec!["NOTE", "SURE"],
        is_cut: true,
    }
}

fn next(line: &OverviewLine<'_>) -> String {
    let Bounds { min, max } = line.delete;
    match line.next {
        Some(next) if max > 1 => {
            format!("{next} and {} more", Bounds { min: min.saturating_sub(1), max: max - 1 }.text())
        }
        Some(next) => next.to_owned(),
        None if max == 1 => format!("{} pod", line.delete.text()),
        None if max > 0 => format!("{} pods", line.delete.text()),
        None => "-".to_owned(),
    }
}

fn sure(line: &OverviewLine<'_>) -> String {
    match &line.odds {
        _ if line.delete.max > 0 && line.certain == line.delete.max as usize => "yes".to_owned(),
        _ if line.delete.max > 1 && line.certain > 0 => format!("{} of them", line.certain),
        Some(_) if line.delete.max > 1 => "by chance".to_owned(),
        Some(odds) if odds.odds >= 1.0 => "yes".to_owned(),
        Some(odds) => odds.text(),
        None if line.delete.max > 0 => "no".to_owned(),
        None => "-".to_owned(),
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
        line.notes.first().map_or_else(String::new, |note| note.text.clone())
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
