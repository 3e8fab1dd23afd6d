//! The answer about a count at a glance: one sentence, then a row for each pod that goes or may go, with a reason of a few words, and a
//! line for each group of pods that are kept. The whole proof is in [`wide`](crate::view::wide).

use crate::view::{
    Row, Table, also_deleted, amount, count, in_order, is, named, namespace_flag, no_pods, plain, remaining,
    verdict_cell,
};
use podrank_predict::{
    CountRange, NoteCode, Order, PodAnswer, PodGroup, Preview, Verdict, WorkloadKind, waiting,
};
use std::iter;

/// The answer: a sentence, then a row for each pod that goes or may go, and a line for each group of pods that are kept.
pub fn table(preview: &Preview<'_>) -> Table {
    // Pods that do not exist yet are not available, either.
    let grows = preview.scales_up()
        || preview.size.replicas.is_some_and(|replicas| replicas as usize > preview.active());
    let follows = preview.rest.as_ref().filter(|rest| !grows || rest.waits_for.is_some());
    let is_stuck = preview.pods().any(|pod| pod.reason.is_stuck());
    let is_said = is_stuck || preview.one_by_one().is_some();
    let follows = follows.filter(|_| !is_said).and_then(|rest| rest.sentence(false));
    let row = |pod: &&PodAnswer<'_>| {
        let [name, node] = [pod.name(), pod.node().unwrap_or("-")].map(str::to_owned);
        let cells = vec![verdict_cell(pod.verdict, pod.probability), name, node, pod.short().to_string()];
        Row::new(pod.verdict, preview.order, cells)
    };
    let pods = preview.in_sequence();
    let sets = preview.sets().iter().filter(|set| !set.pods.is_empty());
    let sets: Vec<_> = sets.filter_map(|set| set.replica_set.map(str::to_owned)).collect();
    Table {
        sentences: iter::once(headline(preview))
            .chain(shares(preview))
            .chain(follows.map(|text| text.to_string()))
            .collect(),
        header: vec!["VERDICT", "POD", "NODE", "REASON"],
        rows: pods.iter().filter(|pod| pod.verdict != Verdict::Kept).map(row).collect(),
        below: kept(preview).into_iter().chain(remaining::nodes(preview)).collect(),
        optional: vec!["NODE"],
        sets: if sets.len() > 1 { sets } else { Vec::new() },
        ..Table::default()
    }
}

/// How many pods of each group are kept: of each of its sets, or of the workload.
fn kept(preview: &Preview<'_>) -> Vec<String> {
    let name = preview.workload.name;
    let groups = match preview.sets() {
        [] => vec![(name, preview.count(Verdict::Kept))],
        sets => sets
            .iter()
            .map(|set| (set.replica_set.unwrap_or(name), count_of(&set.pods, Verdict::Kept)))
            .collect(),
    };
    let line = |(name, pods): (&str, usize)| match pods {
        0 => None,
        1 => Some(format!("kept: 1 pod of {name} (-o wide lists it)")),
        _ => Some(format!("kept: {pods} pods of {name} (-o wide lists them)")),
    };
    groups.into_iter().filter_map(line).collect()
}

/// How many pods of each set go, if several have pods: the oldest set first.
fn shares(preview: &Preview<'_>) -> Option<String> {
    let sets: Vec<_> = preview.sets().iter().filter(|set| !set.pods.is_empty()).collect();
    let share = |set: &&PodGroup<'_>| {
        let (delete, active) = (preview.deletions_of(set), set.pods.len());
        Some(format!("{} of {} of {}", amount(delete), count(active, "pod"), plain(set.replica_set?)))
    };
    let shares: Vec<_> = sets.iter().filter_map(share).collect();
    // If all is certain, the rows tell.
    let is_worth_telling = shares.len() > 1 && preview.count(Verdict::Possible) > 0;
    is_worth_telling.then(|| format!("That is {}.", shares.join(" and ")))
}

/// How many of the contested pods go.
pub(super) fn by_chance(delete: CountRange, certain: usize) -> CountRange {
    let certain = u32::try_from(certain).unwrap_or(u32::MAX);
    CountRange { min: delete.min.saturating_sub(certain), max: delete.max.saturating_sub(certain) }
}

/// How certain it is that so many are deleted: `: 2 for certain, and 1 of 3 by chance`. Nothing if chance decides nothing, or if it is
/// said already.
pub(super) fn chance(delete: CountRange, certain: usize, contested: usize) -> String {
    let open = by_chance(delete, certain);
    let open = match (open.min, open.max) {
        _ if contested == 0 => return String::new(),
        (0, max) if max as usize == contested && certain == 0 => return String::new(),
        (0, max) if max as usize == contested => format!("up to {max} more"),
        _ => format!("{} of {contested} by chance", amount(open)),
    };
    if certain == 0 { format!(": {open}") } else { format!(": {certain} for certain, and {open}") }
}

/// The answer in a sentence: `Scaling deploy/web to 5 deletes 8 of 13 pods, all certain.`
pub fn headline(preview: &Preview<'_>) -> String {
    let name = named(preview.workload, preview.owner);
    let in_order = in_order(preview.order);
    if preview.active() == 0 && preview.deletions().max == 0 {
        return format!("{name}{in_order}: {}.", no_pods(&preview.notes));
    }
    let asked = &preview.size;
    let scale = if preview.scales_up() { "Scaling up" } else { "Scaling" };
    let to = [
        asked.replicas.map(|replicas| replicas.to_string()),
        asked.completions.map(|completions| format!("{completions} completions")),
        asked.parallelism.map(|parallelism| format!("parallelism {parallelism}")),
    ];
    let to = to.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let subject = match asked.suspend {
        Some(true) => format!("Suspending {name}"),
        _ if to.is_empty() => format!("The next sync of {name}"),
        _ if asked.replicas.is_some() && asked.replicas == preview.present => {
            format!("Without scaling {name} ({to} replicas), Kubernetes")
        }
        _ => format!("{scale} {name} to {to}"),
    };
    format!("{subject}{in_order} {}", deletes(preview))
}

/// How many pods are deleted, and how certain that is: `deletes 8 of 13 pods, all certain.`
fn deletes(preview: &Preview<'_>) -> String {
    let (kind, delete, active) = (preview.workload.kind, preview.deletions(), preview.active());
    let certain = preview.count(Verdict::Deleted);
    let contested = preview.count(Verdict::Possible);
    let waiting = preview.count(Verdict::Waiting);
    let pods = count(active, "pod");
    let of_pods = |delete: CountRange| match delete {
        CountRange { min: 0, max: 1 } => format!("may delete 1 of {pods}"),
        _ => format!("deletes {} of {pods}", amount(delete)),
    };
    let what = match (delete.max, preview.one_by_one()) {
        (0, _) if waiting > 0 => format!("deletes none of {pods} yet"),
        (0, _) if !kind.has_count() => {
            format!("deletes none of {pods}: a {kind} has no replica count, its nodes decide")
        }
        (0, _) => format!("deletes none of {pods}"),
        (_, None) => of_pods(delete),
        (_, Some(all)) => {
            let order = format!("{} now and {waiting} after that.", delete.text());
            return match (all, preview.replaced()) {
                (_, 0) => format!("{}, one after the other: {order}", of_pods(CountRange::one(all))),
                (0, replaced) => format!("replaces {replaced} of {pods}: {order}"),
                (_, replaced) => {
                    format!("{} and replaces {replaced}: {order}", of_pods(CountRange::one(all)))
                }
            };
        }
    };
    let how = match (certain, contested) {
        _ if delete.max == 0 || preview.order == Order::Total => String::new(),
        (1, 0) => ", for certain".to_owned(),
        (_, 0) => ", all certain".to_owned(),
        _ => chance(delete, certain, contested),
    };
    let follows = matches!(kind, WorkloadKind::Deployment | WorkloadKind::StatefulSet);
    let is_sync = preview.rest.is_none() && follows;
    let sync = if is_sync { " in its next sync" } else { "" };
    let left = (!is_sync && delete.min == delete.max && delete.max > 0).then(|| active - delete.max as usize);
    let left = left.filter(|left| preview.size.replicas.is_some_and(|asked| asked as usize != *left));
    let left = left.map_or_else(String::new, |left| format!(". {} {} left", count(left, "pod"), is(left)));
    format!("{what}{sync}{how}{left}.")
}

/// Returns what happens to one pod, and why. `None` if it is not an active pod of the workload.
pub fn of_pod(preview: &Preview<'_>, pod: &str) -> Option<Table> {
    let pod = preview.pods().find(|its| its.name() == pod)?;
    let verdict = match (pod.verdict, pod.probability) {
        (Verdict::Deleted, _) => "is deleted".to_owned(),
        (Verdict::Possible, probability) => {
            let probability =
                probability.map_or_else(String::new, |probability| format!(" ({})", probability.text()));
            let goes_on =
                !preview.workload.kind.has_count() && preview.rest.as_ref().is_some_and(|rest| rest.then > 0);
            format!("is possibly deleted{probability}{}", if goes_on { ", now or later" } else { "" })
        }
        (Verdict::Waiting, _) => match pod.waits_for() {
            Some(_) if pod.reason.is_stuck() => {
                "is kept until somebody deletes the pod that it waits for".to_owned()
            }
            Some(other) => waiting(pod.name(), &other),
            None => "is deleted when the rollout continues".to_owned(),
        },
        (Verdict::Kept, _) => "is kept".to_owned(),
    };
    let rule = pod.reason.rule().map_or_else(String::new, |rule| format!(" ({rule})"));
    let besides = also_deleted(preview.workload.kind, &preview.notes, &pod.reason);
    let besides = besides.filter(|_| !preview.is_settled).map(str::to_owned);
    let sentences =
        [format!("{} {verdict}: {}{rule}.", pod.name(), pod.reason.sentence()), headline(preview)];
    Some(Table::of_sentences(sentences.into_iter().chain(besides)))
}

/// What to type next.
pub fn hint(preview: &Preview<'_>) -> Option<String> {
    // If all go, there is nothing to choose.
    let goes = preview.deletions().max;
    let replicas = preview.size.replicas.filter(|_| goes > 0 && (goes as usize) < preview.active())?;
    if preview.notes.iter().any(|note| note.code == NoteCode::ControlledByOwner) {
        // The Deployment would write its own count back.
        return None;
    }
    let (kind, name) = (preview.workload.kind, preview.workload.name);
    let owner = matches!(
        kind,
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController
    );
    let namespace = namespace_flag(preview.workload.namespace);
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
            "Select them yourself: kubectl podrank scale {target}{namespace} --replicas {replicas} --pod NAME"
        )
    })
}

/// How many of the pods have this verdict.
pub(super) fn count_of(pods: &[PodAnswer<'_>], verdict: Verdict) -> usize {
    pods.iter().filter(|pod| pod.verdict == verdict).count()
}
