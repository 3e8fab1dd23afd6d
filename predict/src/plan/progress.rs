//! The state of a workload while it is scaled down: the count, the pods, and which of them have a cost from podrank.

use crate::decide::choose_workload;
use crate::decide::count::unknown;
use crate::plan::Target;
use crate::plan::target::controls;
use crate::question::{Options, OwnerName};
use crate::snapshot::{PreviousCost, Sets, Snapshot, Workload};
use crate::text::Error;

/// The state of a workload at one time.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The namespace of the workload.
    pub namespace: String,
    /// The object whose count falls.
    pub target: Target,
    /// Its `spec.replicas`.
    pub replicas: u32,
    /// Who wrote that last, as far as the managed fields of a workload of Kubernetes say it.
    pub count_writer: Option<String>,
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
    pub previous: Option<PreviousCost>,
}

impl Progress {
    /// The pods that have a cost from podrank, or its note of the cost that it overwrote.
    pub fn steered(&self) -> impl Iterator<Item = &ActivePod> {
        self.pods.iter().filter(|pod| pod.cost.is_some() || pod.previous.is_some())
    }

    /// Whether a pod of this UID is active.
    pub fn has(&self, uid: &str) -> bool {
        self.pods.iter().any(|pod| pod.uid == uid)
    }
}

/// Checks that runs are on the workload that the options name, and not on what controls it.
///
/// # Errors
/// If they are not: the text says on what. If the options do not name exactly one workload of the input.
pub fn check_whole(input: &Snapshot, options: &Options) -> Result<(), Error> {
    let sets = Sets::of(input);
    let Workload::ReplicaSet(set) = choose_workload(&sets, options)? else { return Ok(()) };
    let owner = set.meta.controller.as_ref().filter(|_| input.leader(set).is_none());
    let Some(owner) = owner else { return Ok(()) };
    let id = set.id();
    let undo = |name| format!("Name it instead: kubectl podrank undo {name} -n {}", id.namespace);
    let error = controls(owner, id).because("Runs are on that object.");
    Err(OwnerName::argument(owner).map(undo).into_iter().fold(error, Error::advise))
}

/// Returns the current state of the workload that the options name.
///
/// # Errors
/// If the options do not name exactly one workload of the input, or if that workload is unsound.
pub fn state(input: &Snapshot, options: &Options) -> Result<Progress, Error> {
    let sets = Sets::of(input);
    let choice = choose_workload(&sets, options)?;
    let id = choice.id();
    let controlled = |uid| sets.controlled_by(uid).collect::<Vec<_>>();
    let (target, replicas, managers, lags, own) = match choice {
        Workload::ReplicaSet(set) => {
            if let Some(owner) = input.leader(set) {
                let own = controlled(&owner.meta.uid);
                let sizes: u64 = own.iter().map(|set| u64::from(set.replicas())).sum();
                let lags = owner.lags || sizes != u64::from(owner.replicas);
                (Target::of_owner(owner), owner.replicas, None, lags, own)
            } else {
                (Target::known(id, &set.meta), set.replicas(), Some(&set.managers), false, vec![set])
            }
        }
        Workload::Deployment(entry) => {
            let (target, replicas) = (Target::known(id, &entry.meta), entry.record.replicas.unsigned_abs());
            (target, replicas, Some(&entry.managers), entry.lags, controlled(&entry.meta.uid))
        }
        Workload::Unlisted(id) => return Err(unknown(id)),
        other => return Err(super::target::no_costs(other)),
    };
    let pods = own.iter().flat_map(|set| sets.pods(set.id()));
    let active = pods.filter_map(|pod| {
        let cost = pod.cost.as_deref().filter(|cost| cost.is_podranks());
        pod.is_active().then(|| ActivePod {
            name: pod.meta.name.clone(),
            uid: pod.record.uid.to_string(),
            cost: cost.map(|cost| cost.text.clone()),
            previous: pod.previous().cloned(),
        })
    });
    Ok(Progress {
        namespace: id.namespace.to_owned(),
        target,
        replicas,
        count_writer: managers.and_then(|managers| Some(managers.writer.as_ref()?.name.clone())),
        lags: lags || own.iter().any(|set| set.lags()),
        pods: active.collect(),
    })
}
