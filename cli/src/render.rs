//! A preview as text: a table for people, names for other commands. Computes text and reads nothing.

use crate::glance::{self, amount, chance, deleted_of, go, goes_on_by_itself, headline};
use crate::look::{Look, in_columns, in_sentences, paint, plain, style, widest};
use anstyle::Style;
use podrank_predict::{Bounds, Details, Order, PodAnswer, Pods, Preview, SetPreview, Verdict};
use std::iter;

/// Returns `pod/NAME` of every certain victim, a line each, also of those that go one after the other. One that is replaced is no victim.
pub fn names(preview: &Preview<'_>) -> String {
    let (certain, waits) = (certain(preview), |pod: &&PodAnswer<'_>| pod.verdict == Verdict::Blocked);
    let after = preview.pods().filter(waits).filter(|pod| goes_on_by_itself(preview) && !pod.is_replaced);
    certain.chain(after).flat_map(|pod| ["pod/".into(), plain(pod.name()), "\n".into()]).collect()
}

fn certain<'a>(preview: &'a Preview<'_>) -> impl Iterator<Item = &'a PodAnswer<'a>> {
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
    let follows = follows(preview);
    let blocked = || preview.pods().filter_map(|pod| Some((pod, pod.waits_for()?)));
    let first = blocked().next().filter(|_| certain == 0 && follows.is_none());
    let wait = first.map(|(first, by)| {
        let pods = match blocked().count() {
            1 => "1 pod waits".to_owned(),
            pods => format!("{pods} pods wait"),
        };
        let why = first.reason.sentence();
        format!("{pods}, {} for {by}: {why} (-o table lists all)", first.name())
    });
    (contested > 0).then(contest).into_iter().chain(wait).chain(follows).collect()
}

fn follows(preview: &Preview<'_>) -> Option<String> {
    Some(preview.rest.as_ref()?.sentence(false)?.to_string())
}

fn number(pods: usize) -> u32 {
    u32::try_from(pods).unwrap_or(u32::MAX)
}

/// The command that prints the same again. `source` are the flags that name the file.
pub fn again(preview: &Preview<'_>, source: &str) -> String {
    format!("Again: kubectl podrank {}{source}", preview.replay)
}

/// Returns everything: a table, victims first; of a Deployment, one of its sets, and then one for each set that has pods. `source` are the flags that name the file.
pub fn proof(preview: &Preview<'_>, source: &str, look: Look) -> String {
    let above: Vec<_> =
        [headline(preview), again(preview, source)].into_iter().chain(follows(preview)).collect();
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
    let why = set.size.sentence().to_string();
    let [name, why] = [set.replica_set.unwrap_or("<new>"), &why].map(|text| plain(text).into_owned());
    let go = amount(deleted_of(preview, set));
    vec![name, set.size.from.to_string(), sizes(preview, set), set.active.to_string(), go, why]
}

/// A line for each set.
fn sets(sets: &[SetPreview<'_>], preview: &Preview<'_>, look: Look) -> String {
    let lines = in_columns(&SET_HEADERS, sets.iter().map(|set| set_cells(preview, set)));
    let [header, rows @ ..] = &*lines else { return String::new() };
    let row = |(line, set): (&String, &SetPreview<'_>)| {
        let goes = deleted_of(preview, set).max > 0;
        paint(look, if goes { style(Verdict::Delete) } else { Style::new() }, line)
    };
    paint(look, Style::new().bold(), header) + &rows.iter().zip(sets).map(row).collect::<String>()
}

/// The sizes that a set gets in turn.
fn sizes(preview: &Preview<'_>, set: &SetPreview<'_>) -> String {
    let later = preview.steps.iter().flatten().flat_map(|step| &step.sets);
    let later = later.filter(|step| step.replica_set == set.replica_set && step.from != step.to);
    let mut sizes: Vec<_> = iter::once(set.size.to()).chain(later.map(|step| step.to)).collect();
    sizes.dedup();
    sizes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

/// The pods, with a header, in those of the columns that say something about them, and with a line between the verdicts.
fn pods_table(pods: &[PodAnswer<'_>], order: Order, look: Look, has: impl Fn(&Column) -> bool) -> String {
    let pods = by_odds(pods);
    let columns: Vec<_> = COLUMNS.iter().filter(|column| has(column)).collect();
    let headers: Vec<_> = columns.iter().map(|column| column.header).collect();
    let cells = |(position, pod): &(usize, &PodAnswer<'_>)| {
        let line = Line { position: *position, pod, details: pod.details() };
        columns.iter().map(|column| plain(&(column.cell)(&line)).into_owned()).collect()
    };
    let lines = in_columns(&headers, pods.iter().map(cells));
    let [header, rows @ ..] = &*lines else { return String::new() };
    let rule = "-".repeat(widest(&lines).min(look.terminal_width.unwrap_or(usize::MAX)));
    let mut text = paint(look, Style::new().bold(), header);
    for (place, (line, (_, pod))) in rows.iter().zip(&pods).enumerate() {
        text += &paint(look, style(glance::shade(pod.verdict, order)), line);
        if pods.get(place + 1).is_some_and(|(_, next)| next.verdict != pod.verdict) {
            text += &paint(look, Style::new().dimmed(), &rule);
        }
    }
    text
}

/// The pods with their places, but of the contested ones the likeliest to go first.
fn by_odds<'p, 'a>(pods: &'p [PodAnswer<'a>]) -> Vec<(usize, &'p PodAnswer<'a>)> {
    let mut pods: Vec<_> = (1..).zip(pods).collect();
    let odds = |pod: &PodAnswer<'_>| pod.odds.map_or(0.0, |odds| odds.odds);
    for contested in pods.chunk_by_mut(|(_, a), (_, b)| a.verdict == b.verdict) {
        contested.sort_by(|(_, a), (_, b)| odds(b).total_cmp(&odds(a)));
    }
    pods
}

fn count<'p, 'a: 'p>(pods: impl IntoIterator<Item = &'p PodAnswer<'a>>, verdict: Verdict) -> usize {
    pods.into_iter().filter(|pod| pod.verdict == verdict).count()
}

/// A column of the table.
struct Column {
    header: &'static str,
    cell: fn(&Line<'_>) -> String,
}

/// A pod with its place, and what the rules read of it.
struct Line<'p> {
    position: usize,
    pod: &'p PodAnswer<'p>,
    details: Details,
}

const RANK: &str = "RANK";
const COST: &str = "COST";

const COLUMNS: [Column; 13] = {
    const fn new(header: &'static str, cell: fn(&Line<'_>) -> String) -> Column {
        Column { header, cell }
    }
    [
        // Of contested pods, none is first.
        new("#", |line| match line.pod.verdict {
            Verdict::Contested => "-".to_owned(),
            _ => line.position.to_string(),
        }),
        new("GOES", |line| glance::fate(line.pod.verdict, line.pod.odds)),
        new("POD", |line| line.pod.name().to_owned()),
        new("NODE", |line| line.pod.node().unwrap_or("<none>").to_owned()),
        new(RANK, |line| line.pod.rank.to_string()),
        new("AGE", |line| or_unknown(line.details.age.as_ref())),
        new("PHASE", |line| line.details.phase.to_owned()),
        new("READY", |line| ready(&line.details)),
        new("RESTARTS", |line| format!("{}+{}", line.details.restarts, line.details.sidecar_restarts)),
        new(COST, |line| line.details.deletion_cost.to_string()),
        new("UID", |line| line.pod.uid().to_string()),
        new("RULE", |line| line.pod.reason.rule().unwrap_or("-").to_owned()),
        new("BECAUSE", |line| line.pod.reason.sentence().to_string()),
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
