//! The answer at a glance: one sentence, then a row for each pod that goes or may go, with a reason of a few words. On a terminal, it
//! fits on a screen. The whole proof is in [`render`](crate::render).

use crate::left;
use crate::look::{Grid, Look, MOST_IN_MARKDOWN, namespace_flag, plain};
use podrank_preview::{
    Bounds, Contest, Details, NoteCode, Odds, Order, Owner, PodPreview, Preview, Rollout, SetPreview,
    Verdict, WorkloadKind,
};
use std::collections::HashMap;
use std::iter;

/// The fewest pods that stay or go alike and are shown as one row.
const FEW: usize = 3;

/// A row of the table: one pod, or several that are alike.
struct Row {
    verdict: Verdict,
    goes: String,
    pods: usize,
    pod: String,
    node: String,
    because: String,
}

/// Returns the answer, with room for what is printed after it.
pub fn glance(preview: &Preview<'_>, after: &[String], look: Look) -> String {
    let mut rows = rows(preview);
    if let Some(most) = grid(preview, Vec::new()).room(look, after) {
        rows = folded(preview, rows, most);
    }
    grid(preview, rows).text(look)
}

/// What becomes of it as a colour says it. In an order that Kubernetes does not follow, no colour says so.
pub(crate) fn shade(verdict: Verdict, order: Order) -> Verdict {
    if order == Order::Kubernetes { verdict } else { Verdict::Keep }
}

/// Returns the answer to paste into a page or a channel.
pub fn markdown(preview: &Preview<'_>) -> String {
    grid(preview, folded(preview, rows(preview), MOST_IN_MARKDOWN)).markdown()
}

/// Returns the answer with every pod, what the rules read of it, and both values that decide about it.
pub fn whole(preview: &Preview<'_>) -> Grid {
    let is_direct = preview.workload.kind.is_direct();
    let waits = waits(preview);
    let row = |pod: &&PodPreview<'_>| {
        let because = match pod.verdict {
            Verdict::Blocked | Verdict::Later => because(pod, waits.get(pod.name).copied()),
            _ => pod.why.clone(),
        };
        let read = READ.iter().zip(read(&pod.details)).filter(|(name, _)| !is_direct || **name != COST);
        let cells = [goes(pod), pod.name.to_owned(), pod.node.unwrap_or("-").to_owned(), because];
        let cells = cells.into_iter().chain(read.map(|(_, cell)| cell)).collect();
        (shade(pod.verdict, preview.order), cells)
    };
    let read = READ.into_iter().filter(|name| !is_direct || *name != COST);
    let mut answer = grid(preview, Vec::new());
    answer.header.extend(read);
    answer.rows = sorted(preview).iter().map(row).collect();
    answer
}

fn grid(preview: &Preview<'_>, rows: Vec<Row>) -> Grid {
    // Pods that do not exist yet are not available, either.
    let grows = preview.asked.replicas.is_some_and(|replicas| replicas as usize > preview.active);
    let follows = preview.rest.as_ref().filter(|rest| !grows || rest.waits_for.is_some());
    let follows = follows.filter(|_| !goes_on_by_itself(preview)).and_then(|rest| rest.text.clone());
    let cells =
        |row: Row| (shade(row.verdict, preview.order), vec![row.goes, row.pod, row.node, row.because]);
    let sets = preview.sets().iter().filter(|set| set.active > 0);
    let sets: Vec<_> = sets.filter_map(|set| set.replica_set.map(str::to_owned)).collect();
    Grid {
        sentences: iter::once(headline(preview)).chain(shares(preview)).chain(follows).collect(),
        header: vec!["GOES", "POD", "NODE", "BECAUSE"],
        rows: rows.into_iter().map(cells).collect(),
        below: left::left(preview).into_iter().collect(),
        give_way: vec!["NODE"],
        is_cut: false,
        sets: if sets.len() > 1 { sets } else { Vec::new() },
    }
}

/// How many pods of one of its sets go.
pub(crate) fn deleted_of(preview: &Preview<'_>, set: &SetPreview<'_>) -> Bounds {
    let step = Bounds::one(u32::try_from(set.delete).unwrap_or(u32::MAX));
    preview.rest.as_ref().map_or(step, |rest| rest.delete_of(set.replica_set))
}

/// How many pods of each set go, if several have pods: the oldest set first.
fn shares(preview: &Preview<'_>) -> Option<String> {
    let sets: Vec<_> = preview.sets().iter().filter(|set| set.active > 0).collect();
    let share = |set: &&SetPreview<'_>| {
        let (delete, active) = (deleted_of(preview, set), set.active);
        Some(format!("{} of the {active} pods of {}", delete.text(), plain(set.replica_set?)))
    };
    let shares: Vec<_> = sets.iter().filter_map(share).collect();
    // If all is certain, the rows tell.
    let is_worth_telling = shares.len() > 1 && preview.count(Verdict::Contested) > 0;
    is_worth_telling.then(|| format!("That is {}.", shares.join(" and ")))
}

/// The workload as people type it: `deploy/web`, with its namespace unless that is `default`.
pub(crate) fn named(kind: WorkloadKind, name: &str, namespace: &str, owner: Option<Owner<'_>>) -> String {
    let owner = owner.map_or_else(String::new, |owner| format!(" of {} {}", owner.kind, owner.name));
    let place = if namespace == "default" { String::new() } else { format!(" in {namespace}") };
    format!("{}/{name}{owner}{place}", kind.short())
}

/// Whether all pods that wait also go, one after the other, although others go first.
pub(crate) fn goes_on_by_itself(preview: &Preview<'_>) -> bool {
    let is_certain = preview.deletions().max > 0 && preview.count(Verdict::Contested) == 0;
    is_certain && !preview.blocked.is_empty() && preview.asked.replicas.is_some()
}

/// What an answer about the other order says before all else.
pub(crate) fn in_order(order: Order) -> &'static str {
    match order {
        Order::Kubernetes => "",
        Order::Total => ", in podrank's order, which Kubernetes does not follow",
    }
}

/// The answer in a sentence: `deploy/web to 5: 8 of 13 pods go, all certainly`.
pub fn headline(preview: &Preview<'_>) -> String {
    let name = named(preview.workload.kind, preview.workload.name, preview.namespace, preview.owner);
    let asked = &preview.asked;
    let asked = [
        asked.replicas.map(|replicas| format!(" to {replicas}")),
        asked.completions.map(|completions| format!(" to completions {completions}")),
        asked.parallelism.map(|parallelism| format!(" at parallelism {parallelism}")),
        asked.suspend.filter(|suspend| *suspend).map(|_| " suspended".to_owned()),
    ];
    let asked = asked.into_iter().flatten().collect::<String>();
    let asked = asked + in_order(preview.order);
    let (delete, active) = (preview.deletions(), preview.active);
    let certain = preview.count(Verdict::Delete);
    let contested = preview.count(Verdict::Contested);
    let pods = if active == 1 { "pod" } else { "pods" };
    let sure = u32::try_from(certain).unwrap_or(u32::MAX);
    let chance = Bounds { min: delete.min.saturating_sub(sure), max: delete.max.saturating_sub(sure) };
    let goes = if delete.min == 1 && delete.max == 1 { "goes" } else { "go" };
    let grows = preview.asked.replicas.filter(|replicas| *replicas as usize > active);
    let blocked = preview.blocked.len();
    let what = match (delete.max, active) {
        (0, 0) => "it has no pods".to_owned(),
        (0, _) if blocked > 0 || preview.count(Verdict::Later) > 0 => {
            let up = grows.map_or("", |_| "that scales up, and ");
            format!("{up}none of {active} {pods} goes yet")
        }
        (0, _) if grows.is_some() => format!("that scales up, and all {active} {pods} stay"),
        // One after the other: those that wait go, too.
        _ if goes_on_by_itself(preview) => {
            let all = delete.max as usize + blocked;
            return format!(
                "{name}{asked}: {all} of {active} pods go, {} now and {blocked} after that",
                delete.text()
            );
        }
        (0, _) if preview.workload.kind == WorkloadKind::DaemonSet => {
            format!("{active} {pods}, and none goes: it has no count, its nodes decide")
        }
        (0, 1) => "its pod stays".to_owned(),
        (0, _) => format!("all {active} {pods} stay"),
        _ => format!("{} of {active} {pods} {goes}", delete.text()),
    };
    let how = match (certain, contested) {
        _ if delete.max == 0 || preview.order == Order::Total => String::new(),
        (1, 0) => ", certainly".to_owned(),
        (_, 0) => ", all certainly".to_owned(),
        (0, _) => format!(" ({} of {contested} by chance)", chance.text()),
        _ => format!(" ({certain} certainly, {} of {contested} by chance)", chance.text()),
    };
    let goes_on = preview.rollout.is_some_and(|Rollout { goes_on, waits, .. }| goes_on || waits);
    let is_step = preview.rest.is_none() && (goes_on || !preview.blocked.is_empty());
    let step = if is_step { ", in the next step" } else { "" };
    let left = (!is_step && delete.min == delete.max && delete.max > 0).then(|| active - delete.max as usize);
    let left = left.filter(|left| preview.asked.replicas.is_some_and(|asked| asked as usize != *left));
    let left = left.map_or_else(String::new, |left| format!("; {left} are left"));
    format!("{name}{asked}: {what}{how}{step}{left}")
}

/// Returns what happens to one pod, and why. `None` if it is no active pod of the workload.
pub fn of_pod(preview: &Preview<'_>, pod: &str) -> Option<Grid> {
    let pod = preview.pods().find(|its| its.name == pod)?;
    let fate = match (pod.verdict, pod.odds) {
        (Verdict::Delete, _) => "goes".to_owned(),
        (Verdict::Contested, Some(odds)) => format!("may go ({})", odds.text()),
        (Verdict::Contested, None) => "may go".to_owned(),
        (Verdict::Blocked, _) => "goes after others".to_owned(),
        (Verdict::Later, _) => "goes when the rollout goes on".to_owned(),
        (Verdict::Keep, _) => "stays".to_owned(),
    };
    let rule = pod.rule.map_or_else(String::new, |rule| format!(" ({rule})"));
    let besides = also_goes(preview.workload.kind).map(str::to_owned);
    let sentences = [format!("{} {fate}: {}{rule}", pod.name, pod.why), headline(preview)];
    Some(Grid::of_sentences(sentences.into_iter().chain(besides)))
}

/// What else takes pods of such a workload.
pub(crate) fn also_goes(kind: WorkloadKind) -> Option<&'static str> {
    match kind {
        WorkloadKind::Deployment => Some("A new template would replace it, too, whatever the count."),
        WorkloadKind::StatefulSet => Some("A new template would replace it, too, in the order of ordinals."),
        WorkloadKind::DaemonSet => Some("It also goes if its node leaves or no longer fits the DaemonSet."),
        WorkloadKind::Job => Some("It also goes when the Job completes, fails or is suspended."),
        WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController => None,
    }
}

/// What to type next.
pub fn hint(preview: &Preview<'_>) -> Option<String> {
    // If all go, there is nothing to choose.
    let goes = preview.deletions().max;
    let replicas = preview.asked.replicas.filter(|_| goes > 0 && (goes as usize) < preview.active)?;
    if preview.notes.iter().any(|note| matches!(note.code, NoteCode::MidRollout | NoteCode::WrittenBack)) {
        // The Deployment would write its own count back.
        return None;
    }
    let (kind, name) = (preview.workload.kind, preview.workload.name);
    let owner = matches!(
        kind,
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController
    );
    let namespace = namespace_flag(preview.namespace);
    let target = match preview.owner {
        None => format!("{}/{name}", kind.short()),
        Some(owner) => {
            let group =
                owner.api_version.split_once('/').map_or_else(String::new, |(group, _)| format!(".{group}"));
            format!("{}{group}/{}", owner.kind.to_lowercase(), owner.name)
        }
    };
    owner.then(|| {
        format!(
            "Choose them yourself: kubectl podrank scale {target}{namespace} --replicas {replicas} --pod NAME"
        )
    })
}

const COST: &str = "COST";

/// What the rules read of a pod, a column each.
pub(crate) const READ: [&str; 4] = ["READY", "AGE", COST, "RESTARTS"];

/// The cells of [`READ`].
pub(crate) fn read(details: &Details) -> [String; 4] {
    let ready = match details {
        Details { is_ready: true, ready_age, .. } => ready_age.as_deref().unwrap_or("yes"),
        Details { phase: "Running", .. } => "no",
        Details { phase, .. } => phase,
    };
    let age = details.age.as_deref().unwrap_or("-");
    [ready.to_owned(), age.to_owned(), details.deletion_cost.to_string(), details.restarts.to_string()]
}

/// The pods: those that go, those that may, those that wait, and those that stay.
fn sorted<'p, 'a>(preview: &'p Preview<'a>) -> Vec<&'p PodPreview<'a>> {
    let mut pods: Vec<_> = preview.pods().collect();
    let rank = |pod: &PodPreview<'_>| match pod.verdict {
        Verdict::Delete => 0,
        Verdict::Contested => 1,
        Verdict::Blocked => 2,
        Verdict::Later => 3,
        Verdict::Keep => 4,
    };
    // Of those whose odds nobody knows, each may well go.
    let most = |pod: &PodPreview<'_>| pod.odds.map_or(1.0, |odds| odds.most.unwrap_or(odds.odds));
    let least = |pod: &PodPreview<'_>| pod.odds.map_or(0.0, |odds| odds.odds);
    pods.sort_by(|a, b| {
        let likelier = || most(b).total_cmp(&most(a)).then_with(|| least(b).total_cmp(&least(a)));
        rank(a).cmp(&rank(b)).then_with(likelier)
    });
    pods
}

/// The pods that wait, each with the one that it waits for.
fn waits<'p>(preview: &'p Preview<'_>) -> HashMap<&'p str, &'p str> {
    preview.blocked.iter().map(|pod| (pod.name, &*pod.by)).collect()
}

/// A row for each pod.
fn rows(preview: &Preview<'_>) -> Vec<Row> {
    let waits = waits(preview);
    let row = |pod: &&PodPreview<'_>| Row {
        verdict: pod.verdict,
        goes: goes(pod),
        pods: 1,
        pod: plain(pod.name).into_owned(),
        node: plain(pod.node.unwrap_or("-")).into_owned(),
        because: plain(&because(pod, waits.get(pod.name).copied())).into_owned(),
    };
    sorted(preview).iter().map(row).collect()
}

fn goes(pod: &PodPreview<'_>) -> String {
    fate(pod.verdict, pod.odds)
}

/// What becomes of a pod, in a word: how likely it goes, if chance decides and that is known.
pub(crate) fn fate(verdict: Verdict, odds: Option<Odds>) -> String {
    match odds.filter(|_| verdict == Verdict::Contested) {
        Some(odds) => odds.text(),
        None => verdict.goes().to_owned(),
    }
}

/// The reason in a few words. `waits` is the pod that it waits for.
pub fn because(pod: &PodPreview<'_>, waits: Option<&str>) -> String {
    match pod.verdict {
        Verdict::Contested => {
            return match pod.contest {
                Some(contest) => contested(contest),
                None if pod.rule.is_some() => "at random",
                None if pod.why.contains("power of two") => "ages decide, at an edge",
                None if pod.why.contains("ranks") => "pods per node may change",
                None => "timing decides",
            }
            .to_owned();
        }
        Verdict::Later => return "after the rollout goes on".to_owned(),
        Verdict::Blocked | Verdict::Delete | Verdict::Keep => {}
    }
    if let Some(by) = waits {
        return if by == pod.name { "waits until it is ready".to_owned() } else { format!("waits for {by}") };
    }
    few_words(pod.rule, &pod.why, &pod.details, pod.rank, pod.node)
}

/// Why chance decides between pods, in a few words.
pub(crate) fn contested(contest: Contest) -> &'static str {
    match contest {
        Contest::Tie => "no rule separates them",
        Contest::Between => "ties with both sides",
        Contest::Cycle => "the rules form a cycle",
    }
}

/// What this rule finds in a pod, in a few words.
pub(crate) fn few_words(
    rule: Option<&str>,
    why: &str,
    details: &Details,
    rank: u32,
    node: Option<&str>,
) -> String {
    let count = |number: u32, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    // The rules after the cost separate it only from pods with the same cost.
    let is_before_cost = matches!(rule, None | Some("unassigned" | "phase" | "not-ready" | "tier"));
    if details.is_own_cost && !is_before_cost {
        return format!("podrank's cost {}", details.deletion_cost);
    }
    match rule {
        Some("unassigned") if node.is_none() => "has no node".to_owned(),
        Some("unassigned") => "has a node".to_owned(),
        Some("phase") => details.phase.to_owned(),
        Some("not-ready") if details.is_ready => "ready".to_owned(),
        Some("not-ready") => "not ready".to_owned(),
        Some("deletion-cost") => format!("deletion cost {}", details.deletion_cost),
        Some("rank") => format!("{} on its node", count(rank, "pod")),
        Some("ready-time") => {
            details.ready_age.as_ref().map_or("no ready time".to_owned(), |age| format!("ready for {age}"))
        }
        Some("restarts") => count(details.restarts, "restart"),
        Some("sidecar-restarts") => count(details.sidecar_restarts, "sidecar restart"),
        Some("creation-time") => {
            details.age.as_ref().map_or("no creation time".to_owned(), |age| format!("age {age}"))
        }
        Some("uid") => "order of UIDs".to_owned(),
        Some("out-of-range") => "ordinal out of range".to_owned(),
        Some("old-unavailable") => "old and not available".to_owned(),
        Some("duplicate") => "duplicate of its index".to_owned(),
        Some("surplus") => "beyond parallelism".to_owned(),
        Some("no-index") => "has no index".to_owned(),
        Some(rule) => rule.replace('-', " "),
        None => why.to_owned(),
    }
}

/// The rows on so many lines. If there are more, those that stay are counted, and sets that go as a whole are one row; if that does not
/// do, so are pods that are alike, and then others.
fn folded(preview: &Preview<'_>, rows: Vec<Row>, most: usize) -> Vec<Row> {
    if rows.len() <= most {
        return rows;
    }
    let sets: Vec<_> = preview.sets().iter().filter(|set| set.active > 0).collect();
    let goes_whole =
        |set: &&SetPreview<'_>| sets.len() > 1 && set.pods.iter().all(|pod| pod.verdict == Verdict::Delete);
    let whole: HashMap<_, _> = sets
        .iter()
        .copied()
        .filter(goes_whole)
        .flat_map(|set| set.pods.iter().map(|pod| (plain(pod.name), set.replica_set.unwrap_or_default())))
        .collect();
    let mut rows = together(rows, |row| match row.verdict {
        Verdict::Delete => {
            whole.get(&*row.pod).map(|set| (format!(" of {set}"), "all of its ReplicaSet".to_owned()))
        }
        Verdict::Keep => Some((" (--all lists them)".to_owned(), String::new())),
        _ => None,
    });
    if rows.len() > most {
        rows = together(rows, |row| {
            let is_open = matches!(row.verdict, Verdict::Contested | Verdict::Later);
            is_open.then(|| (String::new(), row.because.clone()))
        });
    }
    if rows.len() > most {
        rows = together(rows, |row| (row.pods == 1).then(|| (String::new(), row.because.clone())));
    }
    if rows.len() > most {
        // Those that stay are counted in any case.
        let stay: Vec<_> = rows.pop_if(|row| row.verdict == Verdict::Keep).into_iter().collect();
        let rest = rows.split_off(most.saturating_sub(1 + stay.len()));
        let pods = rest.iter().map(|row| row.pods).sum();
        let pod = format!("{pods} more (--all lists them)");
        let [goes, node, because] = ["…", "", ""].map(str::to_owned);
        rows.push(Row { verdict: Verdict::Keep, goes, pods, pod, node, because });
        rows.extend(stay);
    }
    rows
}

/// Makes one row of those that are of one group, if they are enough: how the group is called after the number of its pods, and the
/// reason. `None` is for a row that stays as it is.
fn together(rows: Vec<Row>, group: impl Fn(&Row) -> Option<(String, String)>) -> Vec<Row> {
    let group = |row: &Row| Some((row.verdict, row.goes.clone(), group(row)?));
    let mut counts = HashMap::<_, usize>::new();
    for group in rows.iter().filter_map(group) {
        *counts.entry(group).or_default() += 1;
    }
    let mut all = Vec::new();
    for row in rows {
        let least = if row.verdict == Verdict::Keep { 2 } else { FEW };
        match group(&row).filter(|group| counts.get(group).is_none_or(|pods| *pods >= least)) {
            // Only the first of a group is still counted.
            Some(group) => all.extend(counts.remove(&group).map(|pods| {
                let (_, _, (name, because)) = group;
                let pod = format!("{pods} {}{name}", if pods == 1 { "pod" } else { "pods" });
                Row { pods, pod, because, node: String::new(), ..row }
            })),
            None => all.push(row),
        }
    }
    all
}
