//! A preview as text: a table for people, names for other commands. Computes text and reads nothing.

use crate::glance::{self, amount, chance, deleted_of, go, goes_on_by_itself, headline};
use crate::look::{Look, in_columns, in_sentences, paint, plain, shortened, style, widest, wrapped};
use anstyle::Style;
use podrank_predict::{Bounds, Details, Order, PodPreview, Pods, Preview, SetPreview, Verdict};
use std::iter;
use unicode_width::UnicodeWidthStr;

/// Returns `pod/NAME` of every certain victim, a line each, also of those that go one after the other. One that is replaced is no victim.
pub fn names(preview: &Preview<'_>) -> String {
    let (certain, waits) = (certain(preview), |pod: &&PodPreview<'_>| pod.verdict == Verdict::Blocked);
    let after = preview.pods().filter(waits).filter(|pod| goes_on_by_itself(preview) && !pod.is_replaced);
    certain.chain(after).flat_map(|pod| ["pod/".into(), plain(pod.name), "\n".into()]).collect()
}

fn certain<'a>(preview: &'a Preview<'_>) -> impl Iterator<Item = &'a PodPreview<'a>> {
    preview.pods().filter(|pod| pod.verdict == Verdict::Delete && !pod.is_replaced)
}

/// Returns what [`names`] leaves out: the victims among the contested pods, and what follows. If only one step is shown, and nothing is named, the pods that wait.
pub fn unnamed(preview: &Preview<'_>) -> Vec<String> {
    let (certain, contested) = (certain(preview).count(), preview.count(Verdict::Contested));
    let certainty =
        if certain == 0 { "no victim is certain" } else { "only the certain victims are printed" };
    let contest = || {
        let all = preview.deletions();
        let quota = Bounds { min: all.min - number(certain), max: all.max - number(certain) };
        let what = match (quota.min, contested) {
            (0, 1) => "1 other pod may go".to_owned(),
            (0, _) if quota.max as usize == contested => format!("{contested} other pods may go"),
            _ => format!("{} by chance", go(quota, &format!("{contested} pods"))),
        };
        format!("{certainty}: {what} (-o table lists them)")
    };
    let follows = preview.rest.as_ref().and_then(|rest| rest.text.clone());
    let blocked = if certain == 0 && follows.is_none() { &*preview.blocked } else { &[] };
    let wait = blocked.first().map(|first| {
        let pods = match blocked.len() {
            1 => "1 pod waits".to_owned(),
            pods => format!("{pods} pods wait"),
        };
        format!("{pods}, {} for {}: {} (-o table lists all)", first.name, first.by, first.why)
    });
    (contested > 0).then(contest).into_iter().chain(wait).chain(follows).collect()
}

fn number(pods: usize) -> u32 {
    u32::try_from(pods).unwrap_or(u32::MAX)
}

/// The command that prints the same again. `source` are the flags that name the file.
pub fn again(preview: &Preview<'_>, source: &str) -> String {
    format!("Again: kubectl podrank {}{source}", preview.replay)
}

/// Returns everything: a table, victims first; of a Deployment, one of its sets, and then one for each set that has pods. On a terminal that
/// is too narrow, the reason for each pod is below the pod. `source` are the flags that name the file.
pub fn proof(preview: &Preview<'_>, source: &str, look: Look) -> String {
    let follows = preview.rest.as_ref().and_then(|rest| rest.text.clone());
    let above: Vec<_> = [headline(preview), again(preview, source)].into_iter().chain(follows).collect();
    let mut text = in_sentences(&above, look);
    // A controller that deletes pods itself counts no ranks.
    let is_direct = preview.workload.kind.is_direct();
    let has = |column: &Column| !is_direct || column.header != RANK && column.header != COST;
    match &preview.of {
        Pods::Pods(pods) if !pods.is_empty() => {
            text.push('\n');
            text += &pods_table(pods, preview.order, look, has);
        }
        Pods::Sets(all) if !all.is_empty() => {
            text.push('\n');
            text += &sets(all, preview, look);
            for set in all {
                let delete = deleted_of(preview, set);
                if delete.max == 0 && set.active == 0 {
                    continue;
                }
                let title = format!(
                    "{} ReplicaSet {}: {}{}",
                    age_of_set(set.is_new),
                    set.replica_set.unwrap_or("<new>"),
                    go(delete, &format!("{} active pods", set.active)),
                    chance(delete, count(&set.pods, Verdict::Delete), count(&set.pods, Verdict::Contested))
                );
                text.push('\n');
                text += &in_sentences(&[title], look);
                text += &pods_table(&set.pods, preview.order, look, has);
            }
        }
        _ => {}
    }
    text
}

const SET_HEADERS: [&str; 6] = ["REPLICASET", "FROM", "TO", "PODS", "GO", "BECAUSE"];

/// The cells of [`SET_HEADERS`].
fn set_cells(preview: &Preview<'_>, set: &SetPreview<'_>) -> Vec<String> {
    let [name, why] = [set.replica_set.unwrap_or("<new>"), &set.why].map(|text| plain(text).into_owned());
    let go = amount(deleted_of(preview, set));
    vec![name, set.from.to_string(), sizes(preview, set), set.active.to_string(), go, why]
}

/// A line for each set; on a narrow terminal, the reason is below it.
fn sets(sets: &[SetPreview<'_>], preview: &Preview<'_>, look: Look) -> String {
    let width = look.terminal_width.unwrap_or(usize::MAX);
    let layout = |with_reason: bool| {
        let columns = SET_HEADERS.len() - usize::from(!with_reason);
        let rows = sets.iter().map(|set| set_cells(preview, set).into_iter().take(columns).collect());
        in_columns(&SET_HEADERS[..columns], rows)
    };
    let full = layout(true);
    let is_narrow = widest(&full) > width;
    let lines = if is_narrow { layout(false) } else { full };
    painted(look, &lines, |place, _| {
        let set = &sets[place];
        let goes = deleted_of(preview, set).max > 0;
        let why = wrapped(&plain(&set.why), width.saturating_sub(2));
        let why = why.iter().filter(|_| is_narrow).map(|part| format!("  {part}"));
        (if goes { style(Verdict::Delete) } else { Style::new() }, why.collect())
    })
}

/// The header and a line for each row. `row` is the style of one, and what stands below it.
fn painted(look: Look, lines: &[String], row: impl Fn(usize, &str) -> (Style, Vec<String>)) -> String {
    let Some((header, rows)) = lines.split_first() else { return String::new() };
    let mut text = paint(look, Style::new().bold(), header);
    for (place, line) in rows.iter().enumerate() {
        let (style, below) = row(place, line);
        text += &paint(look, style, line);
        text.extend(below.iter().map(|part| paint(look, Style::new().dimmed(), part)));
    }
    text
}

/// The sizes that a set gets in turn.
fn sizes(preview: &Preview<'_>, set: &SetPreview<'_>) -> String {
    let later = preview.steps.iter().flatten().flat_map(|step| &step.sets);
    let later = later.filter(|step| step.replica_set == set.replica_set && step.from != step.to);
    let mut sizes: Vec<_> = iter::once(set.to).chain(later.map(|step| step.to)).collect();
    sizes.dedup();
    sizes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

/// The pods, with a header, in those of the columns that say something about them.
fn pods_table(pods: &[PodPreview<'_>], order: Order, look: Look, has: impl Fn(&Column) -> bool) -> String {
    let width = look.terminal_width.unwrap_or(usize::MAX);
    let pods = by_odds(pods);
    let full = grid(&pods, &COLUMNS.iter().filter(|column| has(column)).collect::<Vec<_>>(), usize::MAX);
    let is_narrow = widest(&full) > width;
    let of_narrow = |column: &&Column| has(column) && column.shown == Shown::Always;
    let lines = if is_narrow {
        grid(&pods, &COLUMNS.iter().filter(of_narrow).collect::<Vec<_>>(), width)
    } else {
        full
    };
    let rule = "-".repeat(widest(&lines).min(width));
    painted(look, &lines, |place, line| {
        let pod = pods[place];
        let indent = line.find(&*plain(pod.name)).unwrap_or(0);
        let parts = [reason(pod), details(pod)].into_iter().filter(|_| is_narrow);
        let parts = parts.flat_map(|part| wrapped(&part, width.saturating_sub(indent)));
        let is_last = pods.get(place + 1).is_some_and(|next| next.verdict != pod.verdict);
        let below = parts.map(|part| format!("{:indent$}{part}", "")).chain(is_last.then(|| rule.clone()));
        (style(glance::shade(pod.verdict, order)), below.collect())
    })
}

/// The pods as they are, but of the contested ones the likeliest to go first.
fn by_odds<'p, 'a>(pods: &'p [PodPreview<'a>]) -> Vec<&'p PodPreview<'a>> {
    let mut pods: Vec<_> = pods.iter().collect();
    let odds = |pod: &PodPreview<'_>| pod.odds.map_or(0.0, |odds| odds.odds);
    for contested in pods.chunk_by_mut(|a, b| a.verdict == b.verdict) {
        contested.sort_by(|a, b| odds(b).total_cmp(&odds(a)));
    }
    pods
}

/// Returns the header and a line for each pod, within `width` columns if possible.
fn grid(pods: &[&PodPreview<'_>], columns: &[&Column], width: usize) -> Vec<String> {
    /// The fewest characters of a shortened node name. Names by cloud providers are long, and differ at one of their ends.
    const SHORTEST_NODE: usize = 12;
    let layout = |longest_node: usize| {
        let headers: Vec<_> = columns.iter().map(|column| column.header).collect();
        let row = |pod: &&PodPreview<'_>| {
            let cells = columns.iter().map(|column| {
                let cell = (column.cell)(pod);
                let cell = plain(&cell);
                if column.header == NODE { shortened(&cell, longest_node) } else { cell.into_owned() }
            });
            cells.collect()
        };
        in_columns(&headers, pods.iter().map(row))
    };
    let lines = layout(usize::MAX);
    let excess = widest(&lines).saturating_sub(width);
    if excess == 0 {
        return lines;
    }
    let longest = pods.iter().filter_map(|pod| pod.node).map(UnicodeWidthStr::width).max().unwrap_or(0);
    layout(longest.saturating_sub(excess).max(SHORTEST_NODE))
}

/// The rule and the reason, as one text.
fn reason(pod: &PodPreview<'_>) -> String {
    let why = plain(&pod.why);
    pod.rule.map_or_else(|| why.to_string(), |rule| format!("{rule}: {why}"))
}

/// The cells that only the wide table has, as one text.
fn details(pod: &PodPreview<'_>) -> String {
    let wide = COLUMNS.iter().filter(|column| column.shown == Shown::Wide);
    wide.map(|column| format!("{} {}", column.header, plain(&(column.cell)(pod))))
        .collect::<Vec<_>>()
        .join("  ")
}

fn count<'p, 'a: 'p>(pods: impl IntoIterator<Item = &'p PodPreview<'a>>, verdict: Verdict) -> usize {
    pods.into_iter().filter(|pod| pod.verdict == verdict).count()
}

/// A column of the table.
struct Column {
    header: &'static str,
    shown: Shown,
    cell: fn(&PodPreview<'_>) -> String,
}

/// Which tables have a column.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Always,
    /// Wide tables, if there is room.
    Wide,
    /// All tables, if there is room.
    Roomy,
}

const NODE: &str = "NODE";
const RANK: &str = "RANK";
const COST: &str = "COST";

const COLUMNS: [Column; 13] = {
    const fn new(shown: Shown, header: &'static str, cell: fn(&PodPreview<'_>) -> String) -> Column {
        Column { header, shown, cell }
    }
    use Shown::{Always, Roomy, Wide};
    [
        // Of contested pods, none is first.
        new(Always, "#", |pod| match pod.verdict {
            Verdict::Contested => "-".to_owned(),
            _ => pod.position.to_string(),
        }),
        new(Always, "GOES", |pod| glance::fate(pod.verdict, pod.odds)),
        new(Always, "POD", |pod| pod.name.to_owned()),
        new(Always, NODE, |pod| pod.node.unwrap_or("<none>").to_owned()),
        new(Always, RANK, |pod| pod.rank.to_string()),
        new(Always, "AGE", |pod| or_unknown(pod.details.age.as_ref())),
        new(Wide, "PHASE", |pod| pod.details.phase.to_owned()),
        new(Wide, "READY", |pod| ready(&pod.details)),
        new(Wide, "RESTARTS", |pod| format!("{}+{}", pod.details.restarts, pod.details.sidecar_restarts)),
        new(Wide, COST, |pod| pod.details.deletion_cost.to_string()),
        new(Wide, "UID", |pod| pod.uid.clone()),
        new(Roomy, "RULE", |pod| pod.rule.unwrap_or("-").to_owned()),
        new(Roomy, "BECAUSE", |pod| pod.why.clone()),
    ]
};

/// Whether a set of a Deployment has the present template, in a word.
pub(crate) fn age_of_set(is_new: bool) -> &'static str {
    if is_new { "new" } else { "old" }
}

/// For how long the pod has been ready.
fn ready(details: &Details) -> String {
    if details.is_ready { or_unknown(details.ready_age.as_ref()) } else { "no".to_owned() }
}

fn or_unknown(age: Option<&String>) -> String {
    age.cloned().unwrap_or_else(|| "<unknown>".to_owned())
}
