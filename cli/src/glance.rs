//! The answer at a glance: one sentence, then a row for each pod that goes or may go, with a reason of a few words, and a line for each
//! group of pods that are kept. The whole proof is in [`render`](crate::render).

use crate::left;
use crate::look::{Grid, Look, namespace_flag, plain};
use podrank_predict::{
    Bounds, Details, Note, NoteCode, Odds, Order, Owner, PodAnswer, Preview, SetPreview, Verdict,
    WorkloadKind, waiting,
};
use std::iter;

/// Returns the answer.
pub fn glance(preview: &Preview<'_>, look: Look) -> String {
    grid(preview).text(look)
}

/// What becomes of it as a colour says it. In an order that Kubernetes does not follow, no colour says so.
pub(crate) fn shade(verdict: Verdict, order: Order) -> Verdict {
    if order == Order::Kubernetes { verdict } else { Verdict::Keep }
}

/// Returns the answer to paste into a page or a channel.
pub fn markdown(preview: &Preview<'_>) -> String {
    grid(preview).markdown()
}

fn grid(preview: &Preview<'_>) -> Grid {
    // Pods that do not exist yet are not available, either.
    let grows = preview.scales_up()
        || preview.asked.replicas.is_some_and(|replicas| replicas as usize > preview.active);
    let follows = preview.rest.as_ref().filter(|rest| !grows || rest.waits_for.is_some());
    let follows = follows.filter(|_| !goes_on_by_itself(preview)).and_then(|rest| rest.sentence(false));
    let row = |pod: &&PodAnswer<'_>| {
        let [name, node] = [pod.name(), pod.node().unwrap_or("-")].map(str::to_owned);
        let cells = vec![fate(pod.verdict, pod.odds), name, node, pod.short().to_string()];
        (shade(pod.verdict, preview.order), cells)
    };
    let pods = preview.in_sequence();
    let sets = preview.sets().iter().filter(|set| set.active > 0);
    let sets: Vec<_> = sets.filter_map(|set| set.replica_set.map(str::to_owned)).collect();
    Grid {
        sentences: iter::once(headline(preview))
            .chain(shares(preview))
            .chain(follows.map(|text| text.to_string()))
            .collect(),
        header: vec!["GOES", "POD", "NODE", "BECAUSE"],
        rows: pods.iter().filter(|pod| pod.verdict != Verdict::Keep).map(row).collect(),
        below: kept(preview).into_iter().chain(left::left(preview)).collect(),
        give_way: vec!["NODE"],
        is_cut: false,
        sets: if sets.len() > 1 { sets } else { Vec::new() },
    }
}

/// How many pods of each group are kept: of each of its sets, or of the workload.
fn kept(preview: &Preview<'_>) -> Vec<String> {
    let kept = |pods: &mut dyn Iterator<Item = &PodAnswer<'_>>| {
        pods.filter(|pod| pod.verdict == Verdict::Keep).count()
    };
    let groups: Vec<_> = match preview.sets() {
        [] => vec![(preview.workload.name, kept(&mut preview.pods()))],
        sets => sets
            .iter()
            .map(|set| (set.replica_set.unwrap_or(preview.workload.name), kept(&mut set.pods.iter())))
            .collect(),
    };
    let line = |(name, pods): (&str, usize)| match pods {
        0 => None,
        1 => Some(format!("kept: 1 pod of {name} (-o wide lists it)")),
        _ => Some(format!("kept: {pods} pods of {name} (-o wide lists them)")),
    };
    groups.into_iter().filter_map(line).collect()
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
        Some(format!("{} of the {active} pods of {}", amount(delete), plain(set.replica_set?)))
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
    preview.one_by_one().is_some()
}

/// What an answer about the other order says before all else.
pub(crate) fn in_order(order: Order) -> &'static str {
    match order {
        Order::Kubernetes => "",
        Order::Total => ", in podrank's order, which Kubernetes does not follow",
    }
}

/// How many pods go, if that is open: `2 to 3`, or `up to 3` if perhaps none.
pub(crate) fn amount(delete: Bounds) -> String {
    match delete {
        Bounds { min: 0, max: 1.. } => format!("up to {}", delete.max),
        _ => delete.text(),
    }
}

/// How many go of these pods: `2 of 5 pods go`, or `1 of 5 pods may go`.
pub(crate) fn go(delete: Bounds, of: &str) -> String {
    match delete {
        Bounds { min: 0, max: 1 } => format!("1 of {of} may go"),
        Bounds { min: 1, max: 1 } => format!("1 of {of} goes"),
        _ => format!("{} of {of} go", amount(delete)),
    }
}

/// How certain it is that so many go: ` (2 certainly, 1 of 3 by chance)`. Nothing if chance decides nothing, or if it is said already.
pub(crate) fn chance(delete: Bounds, certain: usize, contested: usize) -> String {
    let sure = u32::try_from(certain).unwrap_or(u32::MAX);
    let [min, max] = [delete.min, delete.max].map(|pods| pods.saturating_sub(sure));
    let open = match (min, max) {
        _ if contested == 0 => return String::new(),
        (0, _) if max as usize == contested && certain == 0 => return String::new(),
        (0, _) if max as usize == contested => format!("{max} more may go"),
        _ => format!("{} of {contested} by chance", amount(Bounds { min, max })),
    };
    if certain == 0 { format!(" ({open})") } else { format!(" ({certain} certainly, {open})") }
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
    let up = if preview.scales_up() { "that scales up, and " } else { "" };
    format!("{name}{asked}{}: {up}{}", in_order(preview.order), what_goes(preview))
}

/// That a workload has no pods, if nothing says that the input lacks some.
pub(crate) fn no_pods(notes: &[Note]) -> &'static str {
    let is_gap = |note: &Note| {
        matches!(note.code, NoteCode::SetMissing | NoteCode::SiblingsMissing | NoteCode::PodsMissing)
    };
    if notes.iter().any(is_gap) { "none of its pods is listed" } else { "it has no pods" }
}

/// How many pods go, and how certain that is.
fn what_goes(preview: &Preview<'_>) -> String {
    let (delete, active) = (preview.deletions(), preview.active);
    let certain = preview.count(Verdict::Delete);
    let contested = preview.count(Verdict::Contested);
    let pods = if active == 1 { "pod" } else { "pods" };
    let blocked = preview.count(Verdict::Blocked);
    let what = match (delete.max, active) {
        (0, 0) => no_pods(&preview.notes).to_owned(),
        (0, _) if blocked > 0 || preview.count(Verdict::Later) > 0 => {
            format!("none of {active} {pods} goes yet")
        }
        (0, _) if preview.workload.kind == WorkloadKind::DaemonSet => {
            format!("{active} {pods}, and none goes: it has no count, its nodes decide")
        }
        (0, 1) => "its pod stays".to_owned(),
        (0, _) => format!("all {active} {pods} stay"),
        _ => match preview.one_by_one() {
            Some(all) => {
                let order = format!("{} now and {blocked} after that", delete.text());
                return match preview.replaced() {
                    0 => format!("{all} of {active} {pods} go, {order}"),
                    replaced => {
                        let goes = match all {
                            0 => format!("none of {active} {pods} goes"),
                            _ => go(Bounds::one(all), &format!("{active} {pods}")),
                        };
                        format!("{goes}, and {replaced} are replaced: {order}")
                    }
                };
            }
            None => go(delete, &format!("{active} {pods}")),
        },
    };
    let how = match (certain, contested) {
        _ if delete.max == 0 || preview.order == Order::Total => String::new(),
        (1, 0) => ", certainly".to_owned(),
        (_, 0) => ", all certainly".to_owned(),
        _ => chance(delete, certain, contested),
    };
    let follows = matches!(
        preview.workload.kind,
        WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::DaemonSet
    );
    let is_step = preview.rest.is_none() && follows;
    let step = if is_step { ", in the next step" } else { "" };
    let left = (!is_step && delete.min == delete.max && delete.max > 0).then(|| active - delete.max as usize);
    let left = left.filter(|left| preview.asked.replicas.is_some_and(|asked| asked as usize != *left));
    let left = left.map_or_else(String::new, |left| format!("; {left} are left"));
    format!("{what}{how}{step}{left}")
}

/// Returns what happens to one pod, and why. `None` if it is no active pod of the workload.
pub fn of_pod(preview: &Preview<'_>, pod: &str) -> Option<Grid> {
    let pod = preview.pods().find(|its| its.name() == pod)?;
    let fate = match (pod.verdict, pod.odds) {
        (Verdict::Delete, _) => "goes".to_owned(),
        (Verdict::Contested, odds) => {
            let odds = odds.map_or_else(String::new, |odds| format!(" ({})", odds.text()));
            let goes_on = preview.workload.kind == WorkloadKind::DaemonSet
                && preview.rest.as_ref().is_some_and(|rest| rest.then > 0);
            format!("may go{odds}{}", if goes_on { ", and otherwise goes later" } else { "" })
        }
        (Verdict::Blocked, _) => waiting(pod.name(), &pod.waits_for().unwrap_or_default()),
        (Verdict::Later, _) => "goes when the rollout goes on".to_owned(),
        (Verdict::Keep, _) => "stays".to_owned(),
    };
    let rule = pod.reason.rule().map_or_else(String::new, |rule| format!(" ({rule})"));
    let besides = also_goes(preview.workload.kind).filter(|_| !preview.is_settled).map(str::to_owned);
    let sentences = [format!("{} {fate}: {}{rule}", pod.name(), pod.reason.sentence()), headline(preview)];
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

/// What becomes of a pod, in a word: how likely it goes, if chance decides and that is known.
pub(crate) fn fate(verdict: Verdict, odds: Option<Odds>) -> String {
    match odds.filter(|_| verdict == Verdict::Contested) {
        Some(odds) => odds.text(),
        None => verdict.goes().to_owned(),
    }
}
