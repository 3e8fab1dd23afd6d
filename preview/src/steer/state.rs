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

/// A pod that a user names, and its set.
#[derive(Clone, Debug)]
pub struct Owned {
    /// The pod, in words.
    pub pod: String,
    /// Its namespace.
    pub namespace: String,
    /// Its set.
    pub set: WorkloadName,
}

/// Returns the set of each pod of the input.
///
/// # Errors
/// If there is no pod, or if one belongs to no set.
pub fn owners(input: &Input) -> Result<Vec<Owned>, Error> {
    if input.pods.is_empty() {
        return Err(Error::new("no pod is named"));
    }
    let owned = input.pods.iter().map(|pod| {
        let owner = pod.controller.as_ref();
        let kind = owner.and_then(|owner| WorkloadKind::of_object(&owner.kind, Some(&owner.api_version)));
        let set = kind
            .filter(|kind| kind.is_set())
            .zip(owner)
            .map(|(kind, owner)| WorkloadName { kind: Some(kind), name: owner.name.clone() });
        let set = set.ok_or_else(|| {
            let owner = owner
                .map_or_else(|| "no controller".to_owned(), |owner| format!("{} {}", owner.kind, owner.name));
            Error::new(format!("{pod} belongs to {owner}, not to a ReplicaSet or ReplicationController"))
        })?;
        Ok(Owned { pod: pod.to_string(), namespace: pod.namespace.clone(), set })
    });
    owned.collect()
}

/// Returns the workload to scale so that these pods can go: the Deployment of their sets, or else their set itself. The input has
/// these sets.
///
/// # Errors
/// If the pods belong to different workloads.
pub fn scalable(input: &Input, pods: &[Owned]) -> Result<Option<WorkloadName>, Error> {
    let workload = |pod: &Owned| {
        let is_it = |entry: &&SetEntry| {
            let id = entry.id();
            id.name == pod.set.name && Some(id.kind) == pod.set.kind
        };
        let owner = input.sets.iter().find(is_it).and_then(|entry| entry.controller.as_ref());
        match owner.filter(|owner| owner.kind == "Deployment") {
            Some(owner) => WorkloadName { kind: Some(WorkloadKind::Deployment), name: owner.name.clone() },
            None => pod.set.clone(),
        }
    };
    let Some(first) = pods.first() else { return Ok(None) };
    let wanted = workload(first);
    match pods.iter().find(|pod| pod.namespace != first.namespace || workload(pod) != wanted) {
        Some(other) => Err(Error::new(format!(
            "{} belongs to {}, but {} to {wanted}: name pods of one workload",
            other.pod,
            workload(other),
            first.pod
        ))),
        None => Ok(Some(wanted)),
    }
}
