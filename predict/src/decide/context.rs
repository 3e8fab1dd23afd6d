//! What will interfere before a scale-down or after it: autoscalers, disruption budgets, other owners of the count, podrank-webhook,
//! and deletion costs that pods already have. Decides nothing: it only says what it finds in the input.

use crate::answer::{AutoscalerPreview, DeletionOrder, Note, NoteCode, PodAnswer, Preview, Verdict};
use crate::question::{Options, OwnerName};
use crate::snapshot::{
    Autoscaler, Budget, CostOwner, OwnerReference, Pod, Release, Snapshot, WorkloadKind, WorkloadRef,
};
use crate::text::{self, count};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The most pods whose deletion costs a note shows.
const MOST_COSTS: usize = 3;

/// Adds all of it to a preview.
pub(crate) fn add<'a>(preview: &mut Preview<'a>, input: &'a Snapshot, options: &Options) {
    let id = preview.workload;
    let mut notes = Vec::new();
    if let (Some(replicas), Some(_)) = (preview.size.replicas, options.replicas) {
        preview.autoscaler = autoscaler(preview, input);
        notes.extend(autoscaler_notes(input, &Scaled::of(preview, replicas)));
        notes.extend(owner_note(input, id, replicas));
    }
    if preview.deletions().max > 0 {
        let victims = preview.pods().filter(|pod| pod.verdict != Verdict::Kept);
        let victims: Vec<_> = victims.map(|pod| pod.pod).collect();
        let labels = labels_of(&victims, input);
        notes.extend(budget_note(id.namespace, preview.size.replicas.is_some(), input, &labels));
        // Unless a policy says otherwise, it ignores the sets that a rollout scales down.
        let is_of_rollout = preview.rollout.is_some_and(|rollout| rollout.path != "scale");
        notes.extend(policy_note(id, is_of_rollout, input, &victims, &labels));
        notes.extend(cost_note(id.kind, preview.pods(), options));
    }
    notes.extend(ignored_costs_note(id.kind, preview));
    notes.extend(not_permitted_note(input));
    notes.extend(unreadable_note(input, id.namespace));
    notes.extend(shared_uids_note(input));
    notes.extend(leftover_note(input, preview));
    preview.notes.extend(notes);
}

/// Adds to an order who would interfere at another count, unless that is said already.
pub(crate) fn add_to_order(order: &mut DeletionOrder<'_>, input: &Snapshot, options: &Options) {
    let now = &order.now;
    let id = now.workload;
    let Some(replicas) = now.size.replicas else { return };
    let mut notes = autoscaler_notes(input, &Scaled::of(now, replicas));
    let victims: Vec<_> = order.pods().map(|pod| pod.pod.pod).collect();
    let labels = labels_of(&victims, input);
    notes.extend(budget_note(id.namespace, true, input, &labels));
    notes.extend(policy_note(id, false, input, &victims, &labels));
    notes.retain(|note| !now.notes.iter().any(|said| said.code == note.code));
    let costs = cost_note(id.kind, order.pods().map(|pod| &pod.pod), options);
    notes.extend(costs.filter(|note| !now.notes.contains(note)));
    order.now.notes.extend(notes);
}

/// Returns the autoscaler of a preview's workload, if this input, which the preview is about, has one.
pub fn autoscaler<'a>(preview: &Preview<'a>, input: &'a Snapshot) -> Option<AutoscalerPreview<'a>> {
    autoscalers(input, &Scaled::of(preview, preview.size.replicas?)).into_iter().next()
}

/// An object that gets a replica count.
pub(crate) struct Scaled<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) name: &'a str,
    pub(crate) replicas: u32,
    pub(crate) release: Release,
}

impl<'a> Scaled<'a> {
    /// The object whose count an answer is about.
    fn of(preview: &Preview<'a>, replicas: u32) -> Self {
        let (kind, name) = match preview.owner {
            Some(owner) => (owner.kind.into(), owner.name),
            None => (preview.workload.kind.to_string().into(), preview.workload.name),
        };
        let release = preview.release.unwrap_or(Release::TESTED);
        Self { namespace: preview.workload.namespace, kind, name, replicas, release }
    }
}

/// The autoscalers of an object.
fn autoscalers<'a>(input: &'a Snapshot, scaled: &Scaled<'_>) -> Vec<AutoscalerPreview<'a>> {
    let Scaled { namespace, kind, name, replicas, release } = scaled;
    let here = input.autoscalers.iter().filter(|its| its.meta.namespace == *namespace);
    let wakes = release.wakes_what_it_scaled_to_zero();
    let preview = |its: &'a Autoscaler| {
        let is_awake = if wakes { its.has_scaled_to_zero } else { its.min_replicas == 0 };
        AutoscalerPreview {
            name: &its.meta.name,
            min_replicas: its.min_replicas,
            max_replicas: its.max_replicas,
            desired_replicas: its.desired_replicas,
            is_inside: (its.min_replicas..=its.max_replicas).contains(replicas),
            is_off: *replicas == 0 && !is_awake,
        }
    };
    here.filter(|its| its.targets(kind, name)).map(preview).collect()
}

/// What the autoscalers of a workload do to this count.
pub(crate) fn autoscaler_notes(input: &Snapshot, scaled: &Scaled<'_>) -> Vec<Note> {
    let note = |its: AutoscalerPreview<'_>| {
        let (name, least, most) = (text::name(its.name), its.min_replicas, its.max_replicas);
        let wants =
            its.desired_replicas.map_or_else(String::new, |wanted| format!(", and wants {wanted} now"));
        let of = format!("HorizontalPodAutoscaler {name}");
        // The count that it wants changes all the time.
        let object = Some(its.name.to_owned());
        if its.is_inside && !its.is_off {
            let text = format!("{of} also sets this replica count, between {least} and {most}{wants}");
            return Note { object, ..Note::new(NoteCode::Autoscaler, text) };
        }
        let does = match scaled.replicas {
            // Scaling to 0 turns the autoscaler off.
            _ if its.is_off => "sets no replica count while this one is 0".to_owned(),
            replicas if replicas < least => format!("will raise the replica count again{wants}"),
            _ => format!("will lower the replica count again{wants}"),
        };
        let text = format!("{of} ({least} to {most}) {does}");
        Note { object, ..Note::warning(NoteCode::Autoscaler, text) }
    };
    autoscalers(input, scaled).into_iter().map(note).collect()
}

/// Returns a note on another program that writes the replica count, unless the count does not change.
pub(crate) fn owner_note(input: &Snapshot, id: WorkloadRef<'_>, replicas: u32) -> Option<Note> {
    let (current, managers) = input.find(id)?.replicas()?;
    let owners = &managers.owners;
    if owners.is_empty() || i64::from(current) == i64::from(replicas) {
        return None;
    }
    let names: Vec<_> = owners.iter().map(|owner| text::name(owner)).collect();
    let own = if names.len() == 1 { "owns" } else { "own" };
    let text = format!("{} {own} spec.replicas and may reset it", text::list(&names));
    Some(Note::new(NoteCode::CountOwner, text))
}

/// The labels of these pods, each set of labels once, if anything selects pods by them.
fn labels_of<'a>(pods: &[&'a Pod], input: &Snapshot) -> BTreeSet<&'a BTreeMap<String, String>> {
    let is_read = !input.budgets.is_empty() || !input.policies.is_empty();
    pods.iter().filter(|_| is_read).map(|pod| &pod.meta.labels).collect()
}

/// The disruption budgets that cover pods that go.
fn budget_note(
    namespace: &str,
    has_count: bool,
    input: &Snapshot,
    labels: &BTreeSet<&BTreeMap<String, String>>,
) -> Option<Note> {
    let covers = |budget: &&Budget| {
        let selector = budget.selector().filter(|_| budget.meta.namespace == namespace);
        selector.is_some_and(|selector| labels.iter().any(|labels| selector.matches(labels)))
    };
    let names: Vec<_> =
        input.budgets.iter().filter(covers).map(|budget| text::name(&budget.meta.name)).collect();
    let (kind, them) = match names.len() {
        0 => return None,
        1 => ("PodDisruptionBudget", "it"),
        _ => ("PodDisruptionBudgets", "them"),
    };
    let does = if has_count { "scales down" } else { "deletes pods" };
    let text = format!("{kind} {}: the controller ignores {them} when it {does}", text::list(&names));
    Some(Note::new(NoteCode::DisruptionBudget, text))
}

/// The sets of these pods, and the controllers of these sets.
fn owners_of<'a>(pods: &[&'a Pod], input: &'a Snapshot) -> Vec<&'a OwnerReference> {
    let mut owners: Vec<_> = pods.iter().filter_map(|pod| pod.meta.controller.as_ref()).collect();
    owners.sort_by_key(|owner| &owner.uid);
    owners.dedup_by_key(|owner| &owner.uid);
    let controllers = input.sets.iter().filter(|set| owners.iter().any(|owner| owner.uid == set.meta.uid));
    let controllers: Vec<_> = controllers.filter_map(|set| set.meta.controller.as_ref()).collect();
    owners.extend(controllers);
    owners
}

/// The policy by which podrank-webhook chooses the pods.
fn policy_note(
    id: WorkloadRef<'_>,
    is_of_rollout: bool,
    input: &Snapshot,
    victims: &[&Pod],
    labels: &BTreeSet<&BTreeMap<String, String>>,
) -> Option<Note> {
    if id.kind.is_direct() || input.policies.is_empty() {
        return None;
    }
    let owners = owners_of(victims, input);
    let policies = input.policies.iter().filter(|policy| policy.meta.namespace == id.namespace);
    let policies = policies.filter(|policy| policy.matches(&owners, labels));
    let policy = policies.min_by_key(|policy| (policy.precedence(), &policy.meta.name))?;
    let name = text::name(&policy.meta.name);
    let text = format!("ScaleDownPolicy {name}: podrank-webhook will select the pods");
    (policy.is_for_rollouts() || !is_of_rollout).then(|| Note::new(NoteCode::ScaleDownPolicy, text))
}

/// A pod's deletion cost, if it is not podrank's, and who wrote it, if that is known.
fn cost_of<'a>(pod: &PodAnswer<'a>) -> Option<(i32, Option<&'a str>)> {
    let cost = pod.pod.cost.as_ref()?;
    (cost.value.is_ok() && cost.owner(None) != CostOwner::Podrank).then(|| (cost.number(), cost.writer()))
}

/// The deletion costs that somebody else has given to the pods.
fn cost_note<'a>(
    kind: WorkloadKind,
    pods: impl Iterator<Item = &'a PodAnswer<'a>>,
    options: &Options,
) -> Option<Note> {
    if kind.is_direct() || !options.gates.pod_deletion_cost {
        return None;
    }
    let mut its: Vec<_> = pods.filter_map(|pod| Some((cost_of(pod)?, pod.name()))).collect();
    // Those that go first come first.
    its.sort();
    let has = match its.len() {
        0 => return None,
        1 => "1 pod has a deletion cost".to_owned(),
        more => format!("{} have deletion costs", count(more as u64, "pod")),
    };
    let writers: BTreeSet<_> = its.iter().filter_map(|((_, writer), _)| *writer).map(text::name).collect();
    let by = match writers.len() {
        0 => String::new(),
        _ => format!(", written by {}", text::list(&writers.into_iter().collect::<Vec<_>>())),
    };
    let shown: Vec<_> = its.iter().map(|((cost, _), name)| format!("{} {cost}", text::name(name))).collect();
    let text = format!("{has}{by} ({})", text::first(&shown, MOST_COSTS));
    Some(Note::new(NoteCode::DeletionCosts, text))
}

/// Deletion costs on pods whose controller does not read them.
fn ignored_costs_note(kind: WorkloadKind, preview: &Preview<'_>) -> Option<Note> {
    let with_costs = preview.pods().filter(|pod| pod.pod.cost.is_some()).count();
    let text = || {
        let has = if with_costs == 1 { "has a deletion cost" } else { "have deletion costs" };
        format!("{} {has}, which no {kind} controller reads", count(with_costs as u64, "pod"))
    };
    (kind.is_direct() && with_costs > 0).then(|| Note::new(NoteCode::DeletionCosts, text()))
}

/// podrank's own deletion costs on pods, which an interrupted run left or `--keep-costs` kept.
fn leftover_note(input: &Snapshot, preview: &Preview<'_>) -> Option<Note> {
    let own = preview.pods().filter(|pod| pod.is_own_cost).map(|pod| pod.pod.record.deletion_cost);
    let own: Vec<_> = own.collect();
    let has = match own.len() {
        0 => return None,
        1 => "has podrank's own deletion cost",
        _ => "have podrank's own deletion costs",
    };
    let costs: Vec<_> = own.iter().collect::<BTreeSet<_>>().into_iter().collect();
    // The run was on what controls the set.
    let set = input.sets.iter().find(|set| set.id() == preview.workload);
    let owner = set.and_then(|set| OwnerName::argument(set.meta.controller.as_ref()?));
    let text = format!(
        "{} {has} ({}), which an earlier run left: kubectl podrank undo {} -n {}",
        count(own.len() as u64, "pod"),
        text::list(&costs),
        owner.unwrap_or_else(|| preview.workload.to_name().to_string()),
        text::name(preview.workload.namespace),
    );
    Some(Note::new(NoteCode::DeletionCosts, text))
}

impl Snapshot {
    /// Whether active pods have deletion costs of which the input does not say who wrote them.
    pub fn has_costs_of_nobody(&self) -> bool {
        let active = self.pods.iter().filter(|pod| pod.is_active());
        active.filter_map(|pod| pod.cost.as_ref()).any(|cost| cost.managers.is_empty())
    }
}

/// The kinds of which the user may not read the objects.
fn not_permitted_note(input: &Snapshot) -> Option<Note> {
    let kinds: BTreeSet<_> = input.not_permitted.iter().collect();
    let kinds: Vec<_> = kinds.into_iter().map(|kind| kind.plural()).collect();
    let text = || format!("{} could not be read", kinds.join(" and "));
    (!kinds.is_empty()).then(|| Note::new(NoteCode::NotPermitted, text()))
}

/// The workloads and pods whose UIDs identify none of them.
fn shared_uids_note(input: &Snapshot) -> Option<Note> {
    let shared = [(input.with_shared_uids, "workload"), (input.pods_with_shared_uids, "pod")];
    let shared = shared.into_iter().filter(|(number, _)| *number > 0);
    let shared: Vec<_> = shared.map(|(number, of)| count(number as u64, of)).collect();
    let text = || {
        let of = text::list(&shared);
        format!(
            "the UIDs of {of} are not unique, as in a redacted file, so objects are found by kind, namespace and name"
        )
    };
    (!shared.is_empty()).then(|| Note::new(NoteCode::Unreadable, text()))
}

/// The objects that are not as they should be, without those that no workload of the namespace needs.
fn unreadable_note(input: &Snapshot, namespace: &str) -> Option<Note> {
    let here = input.unreadable.iter().filter(|its| its.namespace == namespace && its.kind != "Node");
    let wrong: Vec<_> = here.map(|its| format!("{its} ({})", its.error)).collect();
    let text = || format!("this preview ignores objects that cannot be read: {}", text::list(&wrong));
    (!wrong.is_empty()).then(|| Note::new(NoteCode::Unreadable, text()))
}
