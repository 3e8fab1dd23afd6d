//! Several workloads of an input, a line each: the count, the pod that is deleted first, and the deletions under way.

use crate::answer::{Overview, OverviewRow, Preview, Verdict};
use crate::decide::{at, context, in_use, of_choice, preview_choice};
use crate::question::{Options, Replicas};
use crate::snapshot::{Sets, Snapshot, Workload, WorkloadId};
use crate::text::{API_VERSION, Error, number};

/// Returns which pod is deleted first in each of the workloads that have pods or should have some, or what happens if each gets this count.
/// The overview includes sets of Deployments only `with_parts`.
pub fn overview<'a>(
    input: &'a Snapshot,
    options: &Options,
    replicas: Option<Replicas>,
    with_parts: bool,
    is_selected: impl Fn(&WorkloadId) -> bool,
) -> Overview<'a> {
    let sets = Sets::of(input);
    let all = in_use(&sets, options.namespace.as_deref(), with_parts).into_iter();
    let chosen = all.filter(|choice| is_selected(&choice.id().to_id()));
    let lines = chosen.map(|choice| {
        let id = choice.id();
        let (workload, namespace) = (Some(id.to_name()), Some(id.namespace.to_owned()));
        let options = Options { workload, namespace, replicas: None, ..options.clone() };
        line(&sets, &options, replicas, choice)
            .unwrap_or_else(|error| unanswered(&sets, &options, choice, &error))
    });
    Overview {
        api_version: API_VERSION,
        kind: "Overview",
        now: options.now,
        time_source: options.time_source,
        order: options.order,
        unread: Vec::new(),
        workloads: lines.collect(),
    }
}

/// A workload that cannot be asked this, with its pods if they can be counted.
fn unanswered<'a>(
    sets: &Sets<'a>,
    options: &Options,
    choice: Workload<'a>,
    error: &Error,
) -> OverviewRow<'a> {
    let as_it_is = Options { probabilities: false, ..options.clone() };
    let active = preview_choice(sets, choice, &as_it_is).map_or(0, |preview| preview.active());
    let error = Some(error.in_one_line());
    OverviewRow { active, error, ..row(sets, &Preview::new(choice.id(), options)) }
}

/// What a preview says of its workload as a whole.
fn row<'a>(sets: &Sets<'a>, preview: &Preview<'a>) -> OverviewRow<'a> {
    OverviewRow {
        namespace: preview.workload.namespace,
        workload: preview.workload,
        owner: preview.owner,
        size: preview.size,
        active: preview.active(),
        delete: preview.deletions(),
        one_by_one: None,
        certain: preview.count(Verdict::Deleted),
        next: None,
        next_at: None,
        fate: None,
        probability: None,
        present: preview.present,
        autoscaler: context::autoscaler(preview, sets.input),
        rest: None,
        notes: Vec::new(),
        error: None,
    }
}

fn line<'a>(
    sets: &Sets<'a>,
    options: &Options,
    replicas: Option<Replicas>,
    choice: Workload<'a>,
) -> Result<OverviewRow<'a>, Error> {
    let count = replicas.map(|replicas| of_choice(sets, choice, replicas)).transpose()?;
    let its = Options { replicas: count.map(|(count, _)| count), ..options.clone() };
    let preview = preview_choice(sets, choice, &its)?;
    let one_by_one = preview.one_by_one().filter(|_| replicas.is_some());
    let mut line = OverviewRow { one_by_one, ..row(sets, &preview) };
    if replicas.is_some() || line.delete.max > 0 || preview.waiting() > 0 {
        first(&mut line, &preview);
    }
    let count = preview.size.replicas.or(preview.size.parallelism).filter(|_| replicas.is_none());
    let pods = number(preview.active());
    if let Some(fewer) = count.map(|count| count.min(pods)).and_then(|count| count.checked_sub(1))
        && line.next.is_none()
    {
        let one = preview_choice(sets, choice, &at(&its, choice.kind(), fewer))?;
        first(&mut line, &one);
        let waits = one.waiting() > 0;
        line.next_at = line.next.map(|_| fewer);
        line.rest = one.rest.filter(|_| line.fate == Some(Verdict::Waiting) && waits);
    }
    let Preview { rest, notes, .. } = preview;
    Ok(OverviewRow { rest: rest.filter(|rest| rest.waits_for.is_some()).or(line.rest.take()), notes, ..line })
}

/// Names the pod that is deleted first, as the answer about this workload alone does.
fn first<'a>(line: &mut OverviewRow<'a>, preview: &Preview<'a>) {
    let pod = preview.in_sequence().into_iter().next();
    let Some(pod) = pod.filter(|pod| pod.verdict != Verdict::Kept) else { return };
    let is_open = matches!(pod.verdict, Verdict::Deleted | Verdict::Possible);
    (line.next, line.fate) = (Some(pod.name()), Some(pod.verdict));
    line.probability = pod.chance().filter(|_| is_open);
}
