//! At which counts each pod goes, and what happens to one pod, for people. Computes text and reads nothing.

use crate::view::wide::age_of_set;
use crate::view::{
    READ, Row, Table, also_deleted, amount, count, in_order, is, named, namespace_flag, no_pods, read,
    verdict_cell,
};
use podrank_predict::{
    CountRange, DeletionOrder, Note, NoteCode, OrderedGroup, OrderedPod, Verdict, WorkloadKind, waiting,
};
use std::iter;

/// What to type next.
pub fn hint(order: &DeletionOrder<'_>) -> String {
    let (kind, name) = (order.now.workload.kind, order.now.workload.name);
    let namespace = namespace_flag(order.now.workload.namespace);
    let flag = if kind == WorkloadKind::Job { "--parallelism" } else { "--replicas" };
    format!("Preview a replica count: kubectl podrank {}/{name}{namespace} {flag} N", kind.short())
}

/// The order: a row for each pod, those that go first at the top. With `whole` reasons, each has both values. If the workload has
/// several sets, there is a table for each.
pub fn tables(order: &DeletionOrder<'_>, whole: bool) -> Vec<Table> {
    let then = then(order);
    let is_told = then.is_some();
    let sentences = iter::once(headline(order)).chain(waits(order)).chain(then);
    if let [only] = &*order.sets {
        let is_unknown = !order.now.is_settled
            && order.now.deletions().max > 0
            && only.pods.iter().all(|pod| pod.possible_at.is_none());
        let why = "The replica counts of the others are known once these pods are deleted.";
        let why = (is_unknown && !is_told).then(|| why.to_owned());
        return vec![Table { sentences: sentences.chain(why).collect(), ..of_set(order, only, whole) }];
    }
    let shared = "Each of its ReplicaSets has its own deletion order.".to_owned();
    let is_shared = order.sets.len() > 1;
    let head = Table::of_sentences(sentences.chain(is_shared.then_some(shared)));
    let names: Vec<_> = order.sets.iter().filter_map(|set| set.replica_set.map(str::to_owned)).collect();
    let titled = |set: &OrderedGroup<'_>| {
        let age = set.is_new.map_or_else(String::new, |_| format!("{} ", age_of_set(set.is_new)));
        let pods = count(set.pods.len(), "pod");
        let title =
            format!("{age}ReplicaSet {}: {pods} in deletion order", set.replica_set.unwrap_or_default());
        Table { sentences: vec![title], sets: names.clone(), ..of_set(order, set, whole) }
    };
    iter::once(head).chain(order.sets.iter().map(titled)).collect()
}

/// The pods of a set, those that go first at the top.
fn of_set(order: &DeletionOrder<'_>, set: &OrderedGroup<'_>, whole: bool) -> Table {
    let counted = order.now.is_settled || set.pods.iter().any(|pod| pod.possible_at.is_some());
    let open = counted && set.pods.iter().any(|pod| pod.possible_at != pod.deleted_at);
    // That of all its sets, so that their tables have the same columns. Counts say by themselves which pods certainly go now.
    let is_told = |pod: &OrderedPod<'_>| match pod.pod.verdict {
        Verdict::Kept => false,
        Verdict::Deleted => pod.deleted_at.is_none(),
        Verdict::Possible | Verdict::Waiting => true,
    };
    let is_going = order.pods().any(is_told);
    let row = |pod: &OrderedPod<'_>| {
        let at = if counted { deleted_at(pod) } else { place_of(pod) };
        let now = is_going.then(|| verdict_cell(pod.pod.verdict, pod.pod.probability));
        let may = open.then(|| possible_at(pod));
        let why = || pod.why().map_or_else(String::new, |why| why.to_string());
        let because = if whole { why() } else { because(pod, counted) };
        let cells = [pod.pod.name(), pod.pod.node().unwrap_or("-")].map(str::to_owned);
        let read = whole.then(|| read(&pod.pod.details())).into_iter().flatten();
        let cells = iter::once(at).chain(may).chain(now).chain(cells).chain(read).chain([because]);
        Row::new(pod.pod.verdict, order.now.order, cells.collect())
    };
    let at = if counted { "DELETED AT" } else { "POSITION" };
    let now = is_going.then_some("NOW");
    let header = iter::once(at).chain(open.then_some("POSSIBLE AT")).chain(now).chain(["POD", "NODE"]);
    let read: &[_] = if whole { &READ } else { &[] };
    Table {
        header: header.chain(read.iter().copied()).chain(["REASON"]).collect(),
        rows: set.pods.iter().map(row).collect(),
        optional: if whole { Vec::new() } else { vec!["NODE"] },
        is_cut: !whole,
        ..Table::default()
    }
}

/// That a scale-down waits until another pod is ready.
fn waits(order: &DeletionOrder<'_>) -> Option<String> {
    let note = order.now.notes.iter().find(|note| note.code == NoteCode::Continues)?;
    let mut text = note.text.clone();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some(text + ".")
}

/// The notes that are not said above the rows.
pub fn notes<'o>(order: &'o DeletionOrder<'_>) -> impl Iterator<Item = &'o Note> {
    order.now.notes.iter().filter(|note| note.code != NoteCode::Continues)
}

/// What follows at the present count.
fn then(order: &DeletionOrder<'_>) -> Option<String> {
    if order.pods().any(|pod| pod.pod.reason.is_stuck()) {
        // A note says so.
        return None;
    }
    Some(order.now.rest.as_ref()?.sentence(order.now.deletions().max == 0)?.to_string())
}

/// The largest count at which a pod certainly goes, or `now` if it goes at the present one.
fn deleted_at(pod: &OrderedPod<'_>) -> String {
    if pod.pod.verdict == Verdict::Deleted {
        return "now".to_owned();
    }
    pod.deleted_at.map_or_else(|| "-".to_owned(), |goes| goes.to_string())
}

/// The largest count at which it may go, if that is another one.
fn possible_at(pod: &OrderedPod<'_>) -> String {
    let may = pod.possible_at.filter(|_| pod.possible_at != pod.deleted_at);
    may.map_or_else(|| "-".to_owned(), |may| may.to_string())
}

/// The present count.
fn present_of(order: &DeletionOrder<'_>) -> Option<u32> {
    order.now.size.replicas.or(order.now.size.parallelism)
}

/// Its place, or those that it shares with others: `#1 to 3`.
fn place_of(pod: &OrderedPod<'_>) -> String {
    let (first, last) = pod.places;
    if first == last { format!("#{first}") } else { format!("#{first} to {last}") }
}

/// Why chance decides at some counts, or if there are no counts, what puts it before those that stay longer.
fn because(pod: &OrderedPod<'_>, counted: bool) -> String {
    // One that goes now does not wait, although it would at a lower count.
    let waits_for = pod.waits_for.as_ref().filter(|_| pod.pod.verdict != Verdict::Deleted);
    if let Some(by) = waits_for.filter(|_| !pod.pod.reason.is_stuck()) {
        return waiting(pod.pod.name(), by);
    }
    let words = || pod.reason.as_ref().map_or_else(String::new, |reason| reason.short().to_string());
    match pod.chance {
        Some(chance) if pod.rule().is_none() => chance.to_owned(),
        // What puts them all before those that stay longer, and why none of them is first.
        Some(chance) if counted => format!("{}, {chance}", words()),
        _ => words(),
    }
}

fn headline(order: &DeletionOrder<'_>) -> String {
    let name = named(order.now.workload, order.now.owner);
    let pods = order.now.active();
    let name = name + in_order(order.now.order);
    let text = match (pods, deleted_now(order)) {
        (0, _) => no_pods(&order.now.notes).to_owned(),
        (_, Some(deleted)) => deleted,
        (_, None) if order.now.is_settled => format!("all {pods} pods are kept"),
        (_, None) => format!(
            "{} in deletion order, and the {} at which each is deleted",
            count(pods, "pod"),
            counted(order)
        ),
    };
    format!("{name}: {text}.")
}

/// What people scale.
fn counted(order: &DeletionOrder<'_>) -> &'static str {
    if order.now.workload.kind == WorkloadKind::Job { "parallelism" } else { "replica count" }
}

/// How many pods are deleted at the present count, before any other is asked for.
fn deleted_now(order: &DeletionOrder<'_>) -> Option<String> {
    let pods = count(order.now.active(), "pod");
    let its = counted(order);
    let at = present_of(order).map_or_else(String::new, |count| format!(" (its {its} is {count})"));
    let CountRange { min, max } = order.now.deletions();
    let going =
        CountRange { min: min.saturating_sub(order.replaced()), max: max.saturating_sub(order.replaced()) };
    let deleted = format!("{} of {pods} {} about to be deleted", amount(going), is(going.max));
    (max > 0).then(|| match (going.max, order.replaced()) {
        (_, 0) => format!("{deleted}{at}"),
        (0, replaced) => format!("{replaced} of {pods} {} about to be replaced{at}", is(replaced)),
        (_, replaced) => format!("{deleted}, and {replaced} to be replaced{at}"),
    })
}

/// Returns what becomes of one pod at each count, and why. The order has that pod alone.
pub fn of_pod(order: &DeletionOrder<'_>) -> Table {
    let Some(pod) = order.pods().next() else { return Table::of_sentences([]) };
    let name = named(order.now.workload, order.now.owner);
    let pods = count(order.now.active(), "pod");
    let in_order = in_order(order.now.order);
    let mut sentences =
        vec![format!("{} ({name}, {pods}){in_order}: {}.", pod.pod.name(), at_each_count(order, pod))];
    sentences.extend(waits(order));
    sentences.extend(pod.why().map(|why| match pod.rule() {
        Some(rule) => format!("Why: {why} ({rule})."),
        None => format!("Why: {why}."),
    }));
    sentences.push(state(order, pod));
    let now = deleted_now(order).map(|deleted| format!("Of its workload, {deleted}."));
    let now: Vec<_> = now.into_iter().chain(then(order)).collect();
    sentences.extend((!now.is_empty()).then(|| now.join(" ")));
    let besides = also_deleted(order.now.workload.kind, &order.now.notes, &pod.pod.reason);
    sentences.extend(besides.filter(|_| !order.now.is_settled).map(str::to_owned));
    Table::of_sentences(sentences)
}

/// At which counts it is kept, possibly deleted and deleted.
fn at_each_count(order: &DeletionOrder<'_>, pod: &OrderedPod<'_>) -> String {
    let open =
        || pod.pod.probability.map_or_else(String::new, |probability| format!(" ({})", probability.text()));
    let now = match pod.pod.verdict {
        Verdict::Deleted => return "deleted now".to_owned(),
        Verdict::Waiting if pod.pod.waits_for().is_none() => {
            return "kept now, and deleted when the rollout continues".to_owned();
        }
        Verdict::Waiting if pod.pod.reason.is_stuck() => {
            return "kept until somebody deletes the pod that it waits for".to_owned();
        }
        Verdict::Waiting => {
            let waits = pod.waits_for.as_ref().map(|by| waiting(pod.pod.name(), by));
            return format!(
                "{}, and is deleted after that",
                waits.as_deref().unwrap_or("waits for other pods")
            );
        }
        Verdict::Possible => {
            let is_old = order.sets.iter().any(|set| set.is_new == Some(false));
            let goes_on = is_old && order.now.rest.as_ref().is_some_and(|rest| rest.then > 0);
            let otherwise = if goes_on { ", or when the rollout continues" } else { "" };
            Some(format!("possibly deleted now{}{otherwise}", open()))
        }
        Verdict::Kept => None,
    };
    let Some(may) = pod.possible_at else {
        return match now {
            Some(now) => now,
            None if !order.now.workload.kind.is_direct() && !order.now.is_settled => {
                "kept at the present replica count, and it is not known at which lower one it is deleted"
                    .to_owned()
            }
            None => "kept at every replica count".to_owned(),
        };
    };
    let below = |count: u32| if count == 0 { "0".to_owned() } else { format!("{count} or fewer") };
    let (is_open, present) = (now.is_some(), present_of(order));
    let stays = now.or_else(|| {
        let stays = || format!("kept at {} or more", may.saturating_add(1));
        present.is_none_or(|present| may < present).then(stays)
    });
    // What it may do now has been said.
    let may = present.filter(|_| is_open).map_or(may, |present| may.min(present.saturating_sub(1)));
    let may = match pod.deleted_at {
        Some(goes) if goes >= may => None,
        Some(goes) if goes.saturating_add(1) == may => Some(format!("possibly deleted at {may}")),
        Some(goes) => Some(format!("possibly deleted at {may} to {}", goes.saturating_add(1))),
        None if is_open && present.is_none_or(|present| present == 0) => None,
        None => Some(format!("possibly deleted at {}", below(may))),
    };
    let goes = pod.deleted_at.map(|at| match order.waits_down_to.filter(|least| at >= *least) {
        None => format!("deleted at {}", below(at)),
        Some(0) => format!("waits at {}", below(at)),
        Some(least) if least == at => format!("waits at {at}, deleted at {}", below(least - 1)),
        Some(least) => format!("waits at {at} to {least}, deleted at {}", below(least - 1)),
    });
    stays.into_iter().chain(may).chain(goes).collect::<Vec<_>>().join(", ")
}

/// What the rules read from it.
fn state(order: &DeletionOrder<'_>, pod: &OrderedPod<'_>) -> String {
    let (pod, details) = (&pod.pod, pod.pod.details());
    let ready = match (&details.ready_age, details.is_ready) {
        (Some(age), true) => format!("ready for {age}"),
        (None, true) => "ready".to_owned(),
        (_, false) => "not ready".to_owned(),
    };
    let node = pod.node().map_or("without a node".to_owned(), |node| format!("on {node}"));
    let age = details.age.as_ref().map(|age| format!("age {age}"));
    let rank =
        (pod.rank > 0 && pod.node().is_some()).then(|| format!("{} of its workload's pods there", pod.rank));
    let cost =
        (!order.now.workload.kind.is_direct()).then(|| format!("deletion cost {}", details.deletion_cost));
    let restarts = count(details.restarts as usize, "restart");
    let all = [Some(details.phase.to_owned()), Some(ready), Some(node), rank, cost, Some(restarts), age];
    format!("Now: {}.", all.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
