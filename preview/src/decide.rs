//! From an input to a preview: chooses the workload, checks that the input is complete, and decides.

use crate::choose::{Choice, choose_workload};
use crate::circle::Arrow;
use crate::direct::preview_direct;
use crate::error::Error;
use crate::input::Input;
use crate::line::{Line, MOST_IN_ONE_SYNC};
use crate::members::{Member, members, ranked};
use crate::notes::Note;
use crate::options::{Options, Order};
use crate::pod::{PodEntry, to_time};
use crate::preview::{PodPreview, Preview, Workload, WorkloadPreview};
use crate::race::Race;
use crate::related::Related;
use crate::rollout::preview_deployment;
use crate::set::{SetEntry, Sets};
use crate::workload::{WorkloadKind, WorkloadRef};
use crate::{circle as circles, complete, moment, notes, text};
use podrank::Policy;

/// Decides which pods of a workload go, and notes what else the reader should know.
///
/// # Errors
/// If the options do not name one workload of the input, if a set or pod that matters is unsound, or if the input is
/// incomplete, unless [`Options::partial`] accepts that.
pub fn preview_workload<'a>(input: &'a Input, options: &Options) -> Result<WorkloadPreview<'a>, Error> {
    let mut preview = preview_at(input, options)?;
    moment::add_notes(&mut preview, options, |options| preview_at(input, options))?;
    Ok(preview)
}

/// Decides without looking at where the time of the decision comes from.
fn preview_at<'a>(input: &'a Input, options: &Options) -> Result<WorkloadPreview<'a>, Error> {
    let sets = Sets::of(input);
    let choice = choose_workload(input, &sets, options)?;
    let is_job = matches!(choice, Choice::Direct(entry) if entry.kind == WorkloadKind::Job);
    if !is_job && (options.parallelism.is_some() || options.completions.is_some() || options.suspend) {
        return Err(Error::new(format!(
            "{choice} is not a Job, so it has no parallelism, completions or suspension"
        )));
    }
    match choice {
        Choice::Set(id) => preview_set(input, &sets, id, options).map(WorkloadPreview::Set),
        Choice::Deployment(entry) => {
            preview_deployment(input, &sets, entry, options).map(WorkloadPreview::Deployment)
        }
        Choice::Direct(entry) => preview_direct(input, entry, options).map(WorkloadPreview::Direct),
    }
}

/// Returns three pods about which Kubernetes' rules contradict each other, the active pod with this UID first, or `None` if
/// there are none: each goes before the next, and the last before the first, or one of these pairs ties although the third pod
/// goes between the two. This is what makes pods contested that do not all tie.
///
/// # Errors
/// If no such pod belongs to a set of the input, or if the set or a pod that matters is unsound.
pub fn circle(input: &Input, options: &Options, uid: &str) -> Result<Option<[Arrow; 3]>, Error> {
    let sets = Sets::of(input);
    let is_it = |pod: &&PodEntry| {
        pod.record
            .as_ref()
            .and_then(|record| record.as_ref().ok())
            .is_some_and(|it| it.pod.uid.to_string() == uid)
    };
    let id = input.pods.iter().find(is_it).and_then(|pod| sets.owner(pod));
    let id =
        id.ok_or_else(|| Error::new(format!("no active pod of a set has the UID {}", text::word(uid))))?;
    let related = Related::of(id, sets.get(id), &sets, options.order)?;
    let members = members(input, &sets, id, &related, &mut Vec::new())?;
    let own = ranked(&members);
    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let start = own.iter().position(|(_, pod)| pod.uid.to_string() == uid);
    Ok(start.and_then(|start| circles::circle(&policy, &own, start)))
}

fn preview_set<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    id: WorkloadRef<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let gaps = complete::gaps(sets, id)?;
    if !gaps.is_empty() && options.order == Order::Kubernetes && !options.accepts_gaps() {
        return Err(complete::error(id.namespace, id.kind, &gaps));
    }
    let mut notes = gaps;
    let replicas = match (options.replicas, sets.get(id)) {
        (Some(replicas), _) => replicas,
        (None, Some(set)) => u32::try_from(set.replicas()?).unwrap_or(0),
        (None, None) => {
            return Err(Error::new(format!("{id} is missing, so it has no number of replicas to keep")));
        }
    };
    let scene = Scene::read(input, sets, id, options.order)?;
    let decision = decide(input, sets, &scene, replicas, options, None, Some(&mut notes))?;
    Ok(Preview {
        api_version: "podrank/v1",
        kind: "ScaleDownPreview",
        namespace: id.namespace,
        workload: Workload { kind: id.kind, name: id.name },
        replica_set: id.name,
        now: options.now,
        now_source: options.now_source,
        order: options.order,
        feature_gates: options.gates,
        active: decision.active,
        replicas,
        burst_replicas: options.burst_replicas,
        partial: options.partial,
        delete: decision.delete,
        quota: decision.quota,
        notes,
        blocked: [],
        pods: decision.pods,
    })
}

/// What happens to the pods of one set.
pub(crate) struct SetDecision<'a> {
    /// How many are active.
    pub(crate) active: usize,
    /// How many go.
    pub(crate) delete: usize,
    /// How many of the contested ones go.
    pub(crate) quota: usize,
    /// The active pods in the order.
    pub(crate) pods: Vec<PodPreview<'a>>,
}

/// A set and the pods that a decision about it reads.
pub(crate) struct Scene<'a> {
    id: WorkloadRef<'a>,
    set: Option<&'a SetEntry>,
    members: Vec<Member<'a>>,
    notes: Vec<Note>,
}

impl<'a> Scene<'a> {
    pub(crate) fn read(
        input: &'a Input,
        sets: &Sets<'a>,
        id: WorkloadRef<'a>,
        order: Order,
    ) -> Result<Self, Error> {
        let (set, mut notes) = (sets.get(id), Vec::new());
        // Without a pod of its own, no other one matters.
        let members = if sets.pods(id).iter().any(|pod| pod.is_active()) {
            members(input, sets, id, &Related::of(id, set, sets, order)?, &mut notes)?
        } else {
            Vec::new()
        };
        Ok(Self { id, set, members, notes })
    }
}

/// Decides which pods of one set go if it is scaled to `replicas`. In a `race`, its Deployment changes other sets at the same
/// time. Without one, the set is scaled alone. `notes` gets what else a reader should know.
pub(crate) fn decide<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    scene: &Scene<'a>,
    replicas: u32,
    options: &Options,
    race: Option<&Race<'_>>,
    notes: Option<&mut Vec<Note>>,
) -> Result<SetDecision<'a>, Error> {
    let Scene { id, set, members, .. } = scene;
    let own = ranked(members);
    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let most = options.burst_replicas.map_or(usize::MAX, |most| most.get() as usize);
    let idle = set.map(SetEntry::idle).transpose()?.flatten();
    let surplus = if idle.is_some() { 0 } else { own.len().saturating_sub(replicas as usize) };
    let delete = surplus.min(most);
    let line = Line::up(options.order, policy, &own, delete, race)?;

    if let Some(notes) = notes {
        notes.extend(scene.notes.iter().cloned());
        notes.extend(input.listed_twice(*id));
        notes.extend(idle.map(|why| notes::does_nothing(id, why)));
        if let Some(set) = set {
            notes.extend(complete::more_pods_than_status(set, own.len())?);
            if race.is_none() {
                notes.extend(set.lags().then(|| notes::lagging(id)));
                notes.extend(notes::scaled_alone(sets, set, replicas)?);
            }
            notes.extend(notes::claims(input, sets, set)?);
        }
        if options.gates.pod_deletion_cost {
            notes.extend(line.pods().filter_map(|(member, _)| notes::invalid_cost(member)));
        }
        notes.extend(notes::created_after_now(line.pods().map(|(member, _)| *member), options.now));
        if options.order == Order::Kubernetes && delete > MOST_IN_ONE_SYNC {
            notes.push(notes::several_syncs(delete, MOST_IN_ONE_SYNC));
        }
    }
    Ok(SetDecision { active: own.len(), delete, quota: line.quota(), pods: line.previews() })
}
