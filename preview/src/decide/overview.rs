//! Several workloads of an input, a line each: the count, who goes first, and what is under way.

use crate::answer::odds::Odds;
use crate::answer::overview::{Overview, OverviewLine};
use crate::answer::preview::{Asked, Preview, Verdict, Workload};
use crate::answer::rest::Bounds;
use crate::ask::options::Options;
use crate::ask::replicas::Replicas;
use crate::decide::choose::{Choice, with_pods_in};
use crate::decide::count::of_choice;
use crate::decide::interference;
use crate::decide::standing::at;
use crate::decide::workload::preview_choice;
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::workload::{WorkloadKind, WorkloadName, WorkloadRef};
use crate::words::error::Error;

/// Says who goes first in each of the workloads that have pods, or what happens if each gets this count. `is_wanted` chooses among
/// them, by kind, namespace and name. A set that belongs to a Deployment is one of them only `with_parts`.
pub fn overview<'a>(
    input: &'a Input,
    options: &Options,
    replicas: Option<Replicas>,
    with_parts: bool,
    is_wanted: impl Fn(WorkloadKind, &str, &str) -> bool,
) -> Overview<'a> {
    let sets = Sets::of(input);
    let all = with_pods_in(input, &sets, options.namespace.as_deref(), with_parts).into_iter();
    let chosen = all.filter(|choice| is_wanted(choice.id().kind, choice.id().namespace, choice.id().name));
    let lines = chosen.map(|choice| {
        line(input, &sets, options, replicas, choice)
            .unwrap_or_else(|error| unanswered(input, &sets, options, choice, &error))
    });
    Overview {
        api_version: "podrank/v1",
        kind: "ScaleDownOverview",
        now: options.now,
        now_source: options.now_source,
        order: options.order,
        unread: Vec::new(),
        workloads: lines.collect(),
    }
}

/// A workload that cannot be asked this, with its pods if they can be counted.
fn unanswered<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    options: &Options,
    choice: Choice<'a>,
    error: &Error,
) -> OverviewLine<'a> {
    let id = choice.id();
    let as_it_is = Options { replicas: None, odds: false, ..named(options, id) };
    let now = preview_choice(input, sets, choice, &as_it_is);
    let active = now.map_or(0, |preview| preview.active);
    OverviewLine { active, error: Some(error.to_string()), ..empty(id) }
}

/// The options for this workload.
fn named(options: &Options, id: WorkloadRef<'_>) -> Options {
    Options {
        workload: Some(WorkloadName { kind: Some(id.kind), name: id.name.to_owned() }),
        namespace: Some(id.namespace.to_owned()),
        ..options.clone()
    }
}

fn empty(id: WorkloadRef<'_>) -> OverviewLine<'_> {
    OverviewLine {
        namespace: id.namespace,
        workload: Workload { kind: id.kind, name: id.name },
        owner: None,
        asked: Asked::default(),
        active: 0,
        delete: Bounds::one(0),
        certain: 0,
        next: None,
        odds: None,
        autoscaler: None,
        rest: None,
        notes: Vec::new(),
        error: None,
    }
}

fn line<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    options: &Options,
    replicas: Option<Replicas>,
    choice: Choice<'a>,
) -> Result<OverviewLine<'a>, Error> {
    let id = choice.id();
    let mut its = Options { replicas: None, ..named(options, id) };
    if let Some(replicas) = replicas {
        its.replicas = Some(of_choice(sets, choice, replicas)?);
    }
    let preview = preview_choice(input, sets, choice, &its)?;
    let mut line = OverviewLine {
        owner: preview.owner,
        autoscaler: interference::autoscaler(&preview, input),
        asked: preview.asked,
        active: preview.active,
        delete: preview.deletions(),
        certain: preview.count(Verdict::Delete),
        ..empty(id)
    };
    let count = preview.asked.replicas.or(preview.asked.parallelism).filter(|_| replicas.is_none());
    let pods = u32::try_from(preview.active).unwrap_or(u32::MAX);
    if let Some(fewer) = count.map(|count| count.min(pods)).and_then(|count| count.checked_sub(1))
        && line.delete.max == 0
        && preview.blocked.is_empty()
    {
        let one = preview_choice(input, sets, choice, &at(&its, id.kind, fewer))?;
        (line.next, line.odds) = likeliest(&one).unzip();
        if let (None, Some(blocked)) = (line.next, one.blocked.first()) {
            (line.next, line.rest) = (Some(blocked.name), one.rest);
        }
    }
    if replicas.is_some() {
        (line.next, line.odds) = likeliest(&preview).unzip();
    }
    let Preview { rest, notes, .. } = preview;
    Ok(OverviewLine { rest: rest.filter(|rest| rest.then > 0).or(line.rest.take()), notes, ..line })
}

/// The pod that is the likeliest to go, and the first of several.
fn likeliest<'a>(preview: &Preview<'a>) -> Option<(&'a str, Odds)> {
    let chances = preview.pods().filter_map(|pod| Some((pod, pod.chance()?)));
    let pod = chances.max_by(|a, b| a.1.odds.total_cmp(&b.1.odds).then(b.0.position.cmp(&a.0.position)));
    pod.map(|(pod, odds)| (pod.name, odds)).filter(|(_, odds)| odds.odds > 0.0)
}
