//! At which counts each pod goes, and what happens to one pod, for people. Computes text and reads nothing.

use crate::curve::{self, MOST_LISTED};
use crate::glance::{NO_RULE, READ, also_goes, few_words, named, read};
use crate::look::{Grid, Look, namespace_flag};
use podrank_preview::{ScaleDownOrder, Standing, Verdict, WorkloadKind};
use std::iter;

/// Returns the order: a row for each pod, those that go first at the top. With `whole` reasons, each has both values.
pub fn order_table(order: &ScaleDownOrder<'_>, whole: bool, look: Look) -> String {
    let mut grid = order_grid(order, whole);
    let after: Vec<_> = order.notes.iter().map(ToString::to_string).chain([hint(order)]).collect();
    if let Some(most) = grid.room(look, &after).filter(|most| !whole && grid.rows.len() > *most) {
        let more = grid.rows.len() - (most - 1);
        grid.rows.truncate(most - 1);
        let cells = ["…".to_owned(), format!("{more} more (--all lists them)")];
        let rest = iter::repeat_n(String::new(), grid.header.len() - 2);
        grid.rows.push((Verdict::Keep, cells.into_iter().chain(rest).collect()));
    }
    grid.text(look)
}

/// Returns the order to paste into a page or a channel.
pub fn order_markdown(order: &ScaleDownOrder<'_>) -> String {
    order_grid(order, false).markdown()
}

/// What to type next.
pub fn hint(order: &ScaleDownOrder<'_>) -> String {
    let (kind, name) = (order.workload.kind, order.workload.name);
    let namespace = namespace_flag(order.namespace);
    let flag = if kind == WorkloadKind::Job { "--parallelism" } else { "--replicas" };
    format!("See what a count does: kubectl podrank {}/{name}{namespace} {flag} N", kind.short())
}

/// Returns the order with every pod, and what the rules read of it.
pub fn whole(order: &ScaleDownOrder<'_>) -> Grid {
    order_grid(order, true)
}

fn order_grid(order: &ScaleDownOrder<'_>, whole: bool) -> Grid {
    let several = order.sets.len() > 1;
    let counted = order.pods().any(|pod| pod.may_go_at.is_some());
    let present = order.asked.replicas.or(order.asked.parallelism);
    let rows = order.sets.iter().flat_map(|set| {
        set.pods.iter().enumerate().map(move |(place, pod)| {
            let at = if counted { goes_at(pod, present) } else { format!("#{}", place + 1) };
            let because = if whole { pod.why.clone() } else { because(pod) };
            let cells = [at, pod.name.to_owned(), pod.node.unwrap_or("-").to_owned()];
            let read = whole.then(|| read(&pod.details)).into_iter().flatten();
            (Verdict::Keep, cells.into_iter().chain(read).chain([because]).collect())
        })
    });
    let rest = order.rest.as_ref().and_then(|rest| rest.text.clone());
    let shared = (several && !counted).then(|| {
        let sets = order.sets.iter().filter_map(|set| Some((set.replica_set?, set.pods.len())));
        let sets: Vec<_> = sets.map(|(name, pods)| format!("{name} has {pods}")).collect();
        format!("Its count is shared among ReplicaSets, each with an order of its own: {}.", sets.join(", "))
    });
    let header = [if counted { "GOES AT" } else { "PLACE" }, "POD", "NODE"].into_iter();
    let read: &[_] = if whole { &READ } else { &[] };
    Grid {
        sentences: iter::once(headline(order)).chain(rest).chain(shared).collect(),
        header: header.chain(read.iter().copied()).chain(["BECAUSE"]).collect(),
        rows: rows.collect(),
        give_way: if whole { Vec::new() } else { vec!["NODE"] },
        is_cut: !whole,
    }
}

/// The counts at which a pod goes: `7`, or `4, may at 6`, or `now` if that is the present one.
fn goes_at(pod: &Standing<'_>, present: Option<u32>) -> String {
    if pod.goes_at.is_some() && pod.goes_at >= present {
        return "now".to_owned();
    }
    match (pod.goes_at, pod.may_go_at) {
        (Some(goes), Some(may)) if goes == may => goes.to_string(),
        (Some(goes), Some(may)) => format!("{goes}, may at {may}"),
        (None, Some(may)) => format!("may at {may}"),
        (_, None) => "-".to_owned(),
    }
}

fn because(pod: &Standing<'_>) -> String {
    match pod.rule {
        None if pod.may_go_at != pod.goes_at => NO_RULE.to_owned(),
        rule => few_words(rule, &pod.why, &pod.details, pod.rank, pod.node),
    }
}

fn headline(order: &ScaleDownOrder<'_>) -> String {
    let name = named(order.workload.kind, order.workload.name, order.namespace, order.owner);
    let pods = order.active;
    let text = match pods {
        0 => "it has no pods".to_owned(),
        1 => "1 pod".to_owned(),
        _ => format!("{pods} pods, those that go first at the top"),
    };
    format!("{name}: {text}")
}

/// Returns what becomes of one pod at each count, and why. The order has that pod alone.
pub fn of_pod(order: &ScaleDownOrder<'_>) -> Grid {
    let Some(pod) = order.pods().next() else { return Grid::of_sentences([]) };
    let name = named(order.workload.kind, order.workload.name, order.namespace, order.owner);
    let pods = if order.active == 1 { "1 pod".to_owned() } else { format!("{} pods", order.active) };
    let mut sentences = vec![format!("{} ({name}, {pods}): {}", pod.name, fate(order, pod))];
    sentences.extend(curve::line(&pod.chances).filter(|_| pod.chances.len() > MOST_LISTED));
    if !pod.why.is_empty() {
        sentences.push(match pod.rule {
            Some(rule) => format!("What decides: {} ({rule}).", pod.why),
            None => format!("What decides: {}.", pod.why),
        });
    }
    sentences.push(state(order, pod));
    sentences.extend(order.rest.as_ref().and_then(|rest| rest.text.clone()));
    sentences.extend(also_goes(order.workload.kind).map(str::to_owned));
    Grid::of_sentences(sentences)
}

/// At which counts it stays, may go and goes.
fn fate(order: &ScaleDownOrder<'_>, pod: &Standing<'_>) -> String {
    let Some(may) = pod.may_go_at else {
        return if order.workload.kind == WorkloadKind::Deployment {
            "at which count it goes depends on the rollout".to_owned()
        } else {
            "it stays at every count".to_owned()
        };
    };
    let below = |count: u32| if count == 0 { "0".to_owned() } else { format!("{count} or fewer") };
    let present = order.asked.replicas.or(order.asked.parallelism);
    let stays = match present {
        Some(present) if may >= present => None,
        _ => Some(format!("stays at {} or more", may.saturating_add(1))),
    };
    if pod.chances.len() > MOST_LISTED {
        let may = Some(format!("may go at {}", below(may)));
        let points = curve::turning_points(&pod.chances).into_iter().chain(unknown(pod));
        let certain = pod.goes_at.map(|goes| format!("certain at {}", below(goes)));
        let fate: Vec<_> = stays.into_iter().chain(may).collect();
        let points: Vec<_> = points.chain(certain).collect();
        return format!("{}: {}", fate.join(", "), points.join(", "));
    }
    let chances: Vec<_> =
        pod.chances.iter().map(|chance| format!("{} ({})", chance.replicas, chance.odds.text())).collect();
    let may = (pod.goes_at != Some(may)).then(|| match &*chances {
        [] => format!("may go at {}", below(may)),
        [only] => format!("may go at {only}"),
        [all @ .., last] => format!("may go at {} and {last}", all.join(", ")),
    });
    let goes = pod.goes_at.map(|goes| format!("goes at {}", below(goes)));
    stays.into_iter().chain(may).chain(unknown(pod)).chain(goes).collect::<Vec<_>>().join(", ")
}

/// The counts below those with odds at which it is not known how likely the pod goes.
fn unknown(pod: &Standing<'_>) -> Option<String> {
    let below = pod.chances.last()?.replicas;
    let least = pod.goes_at.map_or(0, |goes| goes + 1);
    match below.checked_sub(least)? {
        0 => None,
        1 => Some(format!("unknown at {least}")),
        _ => Some(format!("unknown from {} to {least}", below - 1)),
    }
}

/// What the rules read from it.
fn state(order: &ScaleDownOrder<'_>, pod: &Standing<'_>) -> String {
    let details = &pod.details;
    let ready = match (&details.ready_age, details.is_ready) {
        (Some(age), true) => format!("ready for {age}"),
        (None, true) => "ready".to_owned(),
        (_, false) => "not ready".to_owned(),
    };
    let node = pod.node.map_or("without a node".to_owned(), |node| format!("on {node}"));
    let age = details.age.as_ref().map(|age| format!("age {age}"));
    let rank = (pod.rank > 0).then(|| format!("{} of its workload's pods there", pod.rank));
    let cost = (!order.workload.kind.is_direct()).then(|| format!("deletion cost {}", details.deletion_cost));
    let restarts = format!("{} restarts", details.restarts);
    let all = [Some(details.phase.to_owned()), Some(ready), Some(node), rank, cost, Some(restarts), age];
    format!("Now: {}.", all.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
