//! The state of a workload while it is scaled down: the count, the pods, and which of them have a cost from podrank.

use crate::ask::options::Options;
use crate::decide::choose::{Choice, choose_workload};
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::cost::Previous;
use crate::object::set::SetEntry;
use crate::object::workload::{WorkloadKind, WorkloadName};
use crate::steer::target::Target;
use crate::words::error::Error;
use crate::words::text;

/// The state of a workload at one moment.
#[derive(Clone, Debug)]
pub struct State {
    /// The namespace of the workload.
    pub namespace: String,
    /// The object whose count falls.
    pub target: Target,
    /// Its `spec.replicas`.
    pub replicas: u32,
    /// Whether its status, or that of one of its sets, is for an earlier spec.
    pub lags: bool,
    /// The active pods of its sets.
    pub pods: Vec<ActivePod>,
}

/// An active pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivePod {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its deletion cost, if that is podrank's.
    pub cost: Option<String>,
    /// The cost that podrank overwrote and has not put back yet.
    pub previous: Option<Previous>,
}

impl State {
    /// The pods that have a cost from podrank, or its note of the cost that it overwrote.
    pub fn steered(&self) -> impl Iterator<Item = &ActivePod> {
        self.pods.iter().filter(|pod| pod.cost.is_some() || pod.previous.is_some())
    }

    /// Whether a pod of this UID is active.
    pub fn has(&self, uid: &str) -> bool {
        self.pods.iter().any(|pod| pod.uid == uid)
    }
}

/// Returns the current state of the workload that the options name.
///
/// # Errors
/// If the options do not name exactly one workload of the input, or if that workload is unsound.
pub fn state(input: &Input, options: &Options) -> Result<State, Error> {
    let sets = Sets::of(input);
    let (namespace, target, replicas, lags, own) = match choose_workload(input, &sets, options)? {
        Choice::Set(id) => {
            let set = sets.get(id).ok_or_else(|| Error::new(format!("{id} is missing")))?;
            (id.namespace, Target::of_set(set), set.replicas()?, set.lags(), vec![set])
        }
        Choice::Deployment(entry) => {
            let own: Vec<&SetEntry> = sets.controlled_by(&entry.uid).collect();
            let spec = entry.spec()?;
            let lags = spec.lags || own.iter().any(|set| set.lags());
            (&*entry.namespace, Target::of_deployment(entry), spec.deployment.replicas, lags, own)
        }
        Choice::Direct(entry) => return Err(super::target::no_costs(entry)),
    };
    let pods = own.iter().flat_map(|set| sets.pods(set.id()));
    let active = pods.filter_map(|pod| {
        let record = pod.record.as_ref()?.as_ref().ok()?;
        let cost = record.cost.as_deref().filter(|cost| cost.is_podranks());
        Some(ActivePod {
            name: pod.name.clone(),
            uid: record.pod.uid.to_string(),
            cost: cost.map(|cost| cost.text.clone()),
            previous: record.previous.as_deref().cloned(),
        })
    });
    Ok(State {
        namespace: namespace.to_owned(),
        target,
        replicas: u32::try_from(replicas).unwrap_or(0),
        lags,
        pods: active.collect(),
    })
}

/// Returns the set that owns all pods of the input, and its namespace.
///
/// # Errors
/// If a pod belongs to no set, or if pods belong to different sets.
pub fn owner(input: &Input) -> Result<(WorkloadName, String), Error> {
    let mut owners = input.pods.iter().map(|pod| {
        let owner = pod.controller.as_ref();
        let kind = owner.and_then(|owner| WorkloadKind::of_object(&owner.kind, Some(&owner.api_version)));
        let kind = kind.filter(|kind| kind.is_set());
        owner.zip(kind).map(|(owner, kind)| (pod, kind, owner.name.as_str())).ok_or_else(|| {
            let owner = owner
                .map_or_else(|| "no controller".to_owned(), |owner| format!("{} {}", owner.kind, owner.name));
            Error::new(format!("{pod} belongs to {owner}, not to a ReplicaSet or ReplicationController"))
        })
    });
    let Some(first) = owners.next() else { return Err(Error::new("no pod is named")) };
    let (first, kind, name) = first?;
    for other in owners {
        let (pod, their_kind, their_name) = other?;
        if (their_kind, their_name) != (kind, name) {
            return Err(Error::new(format!(
                "{pod} belongs to {their_kind}/{}, but {first} to {kind}/{}: name pods of one workload",
                text::name(their_name),
                text::name(name)
            )));
        }
    }
    Ok((WorkloadName { kind: Some(kind), name: name.to_owned() }, first.namespace.clone()))
}

/// Returns the workload to scale so that the set with this name gets another count: its Deployment, or else the set itself.
pub fn scalable(input: &Input, set: WorkloadName) -> WorkloadName {
    let is_it = |entry: &&SetEntry| {
        let id = entry.id();
        id.name == set.name && set.kind == Some(id.kind)
    };
    let owner = input.sets.iter().find(is_it).and_then(|entry| entry.controller.as_ref());
    match owner.filter(|owner| owner.kind == "Deployment") {
        Some(owner) => WorkloadName { kind: Some(WorkloadKind::Deployment), name: owner.name.clone() },
        None => set,
    }
}
