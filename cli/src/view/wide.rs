//! The answer about a count in full: every pod, every value, and the names of pods for other commands.

use crate::view::answer::{by_chance, chance, count_of, headline};
use crate::view::{COST, Row, Table, amount, count, is, plain, verdict_cell};
use podrank_predict::{PodAnswer, PodGroup, Preview, Verdict, WorkloadKind};
use std::iter;

/// Returns `pod/NAME` of every certain victim, a line each, also of those that Kubernetes deletes one after the other.
/// A pod that is replaced is not a victim.
pub fn names(preview: &Preview<'_>) -> String {
    let (certain, waits) = (certain(preview), |pod: &&PodAnswer<'_>| pod.waits_for().is_some());
    let goes_on = preview.one_by_one().is_some();
    let after = preview.pods().filter(waits).filter(|pod| goes_on && !pod.is_replaced);
    certain.chain(after).flat_map(|pod| ["pod/".into(), plain(pod.name()), "\n".into()]).collect()
}

fn certain<'a>(preview: &'a Preview<'_>) -> impl Iterator<Item = &'a PodAnswer<'a>> {
    preview.pods().filter(|pod| pod.verdict == Verdict::Deleted && !pod.is_replaced)
}

/// Returns what [`names`] leaves out: the victims among the contested pods, and what follows. If only one step is shown, and nothing is named, the pods that wait.
pub fn unnamed(preview: &Preview<'_>) -> Vec<String> {
    let (certain, contested) = (certain(preview).count(), preview.count(Verdict::Possible));
    let certainty =
        if certain == 0 { "no deletion is certain" } else { "only the certain deletions are printed" };
    let contest = || {
        let quota = by_chance(preview.deletions(), certain);
        let pods = count(contested, if certain == 0 { "pod" } else { "other pod" });
        let what = match quota.min {
            0 if quota.max as usize == contested => format!("{pods} may be deleted"),
            _ => format!("chance selects {} of {pods}", amount(quota)),
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

/// The command that prints the same again. `source` are the flags that name the file.
pub fn again(preview: &Preview<'_>, source: &str) -> String {
    format!("Again: kubectl podrank {}{source}", preview.replay())
}

/// Returns everything: a table, victims first; of a Deployment, one of its sets, and then one for each set that has pods. `source` are the
/// flags that name the file. An empty sentence keeps each apart from what is above it.
pub fn tables(preview: &Preview<'_>, source: &str) -> Vec<Table> {
    let above = [headline(preview), again(preview, source)].into_iter().chain(follows(preview));
    let mut tables = vec![Table::of_sentences(above)];
    let sets = preview.sets();
    if preview.workload.kind == WorkloadKind::Deployment {
        tables.extend((!sets.is_empty()).then(|| of_sets(preview, sets)));
        for set in sets {
            let delete = preview.deletions_of(set);
            if delete.max == 0 && set.pods.is_empty() {
                continue;
            }
            let [certain, contested] =
                [Verdict::Deleted, Verdict::Possible].map(|verdict| count_of(&set.pods, verdict));
            let title = format!(
                "{} of {} of {} ReplicaSet {} {} deleted{}",
                amount(delete),
                count(set.pods.len(), "pod"),
                age_of_set(set.is_new),
                set.replica_set.unwrap_or("<new>"),
                is(delete.max),
                chance(delete, certain, contested)
            );
            tables.push(Table { sentences: vec![String::new(), title], ..of_pods(preview, &set.pods) });
        }
    } else {
        let pods = preview.groups.iter().map(|group| &*group.pods).filter(|pods| !pods.is_empty());
        tables.extend(pods.map(|pods| of_pods(preview, pods)));
    }
    tables
}

/// A row for each set.
fn of_sets(preview: &Preview<'_>, sets: &[PodGroup<'_>]) -> Table {
    let row = |set: &PodGroup<'_>| {
        let (delete, size) = (preview.deletions_of(set), set.size?);
        let cells = vec![
            set.replica_set.unwrap_or("<new>").to_owned(),
            size.from.to_string(),
            sizes(preview, set.replica_set, size.to()),
            set.pods.len().to_string(),
            amount(delete),
            size.sentence().to_string(),
        ];
        Some(Row { verdict: if delete.max > 0 { Verdict::Deleted } else { Verdict::Kept }, cells })
    };
    Table {
        header: vec!["REPLICASET", "FROM", "TO", "PODS", "DELETED", "REASON"],
        rows: sets.iter().filter_map(row).collect(),
        ..Table::of_sentences([String::new()])
    }
}

/// The sizes that a set gets in turn.
fn sizes(preview: &Preview<'_>, replica_set: Option<&str>, next: i32) -> String {
    let later = preview.steps.iter().flatten().flat_map(|step| &step.sets);
    let later = later.filter(|step| step.replica_set == replica_set && step.from != step.to);
    let mut sizes: Vec<_> = iter::once(next).chain(later.map(|step| step.to)).collect();
    sizes.dedup();
    sizes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

/// A row for each pod: of the contested ones, the likeliest to go first.
fn of_pods(preview: &Preview<'_>, pods: &[PodAnswer<'_>]) -> Table {
    let mut pods: Vec<_> = (1..).zip(pods).collect();
    let probability = |pod: &PodAnswer<'_>| pod.probability.map_or(0.0, |probability| probability.min);
    for contested in pods.chunk_by_mut(|(_, a), (_, b)| a.verdict == b.verdict) {
        contested.sort_by(|(_, a), (_, b)| probability(b).total_cmp(&probability(a)));
    }
    // A controller that deletes pods itself counts no ranks.
    let is_direct = preview.workload.kind.is_direct();
    let is_shown = |name: &str| !is_direct || name != RANK && name != COST;
    let row = |(position, pod): &(usize, &PodAnswer<'_>)| {
        let cells = HEADER.into_iter().zip(cells(*position, pod)).filter(|(name, _)| is_shown(name));
        Row::new(pod.verdict, preview.order, cells.map(|(_, cell)| cell).collect())
    };
    Table {
        header: HEADER.into_iter().filter(|name| is_shown(name)).collect(),
        rows: pods.iter().map(row).collect(),
        ruled: (1..pods.len()).filter(|&next| pods[next].1.verdict != pods[next - 1].1.verdict).collect(),
        ..Table::of_sentences([String::new()])
    }
}

const RANK: &str = "PODS ON NODE";

const HEADER: [&str; 13] =
    ["#", "VERDICT", "POD", "NODE", RANK, "AGE", "PHASE", "READY", "RESTARTS", COST, "UID", "RULE", "REASON"];

/// The cells of a pod.
fn cells(position: usize, pod: &PodAnswer<'_>) -> [String; 13] {
    let details = pod.details();
    let or_unknown = |age: Option<String>| age.unwrap_or_else(|| "<unknown>".to_owned());
    [
        // Of contested pods, none is first.
        if pod.verdict == Verdict::Possible { "-".to_owned() } else { position.to_string() },
        verdict_cell(pod.verdict, pod.probability),
        pod.name().to_owned(),
        pod.node().unwrap_or("<none>").to_owned(),
        pod.rank.to_string(),
        or_unknown(details.age),
        details.phase.to_owned(),
        if details.is_ready { or_unknown(details.ready_age) } else { "no".to_owned() },
        format!("{}+{}", details.restarts, details.sidecar_restarts),
        details.deletion_cost.to_string(),
        pod.uid().to_string(),
        pod.reason.rule().unwrap_or("-").to_owned(),
        pod.reason.sentence().to_string(),
    ]
}

/// Whether a set of a Deployment has the present template, in a word.
pub(super) fn age_of_set(is_new: Option<bool>) -> &'static str {
    if is_new == Some(true) { "new" } else { "old" }
}
