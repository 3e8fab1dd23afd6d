//! The target of a scale-down: the object whose count falls, and the one set that loses pods. Returns an error for what no
//! costs can steer.

use crate::ask::options::Options;
use crate::decide::choose::{Choice, choose_workload};
use crate::decide::deployment::preview_deployment;
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::deployment::DeploymentEntry;
use crate::object::direct::DirectEntry;
use crate::object::set::SetEntry;
use crate::object::workload::{WorkloadKind, WorkloadRef};
use crate::words::error::Error;
use std::fmt;

/// The object whose count falls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// `metadata.resourceVersion`, which changes with every change to the object.
    pub resource_version: String,
}

impl Target {
    pub(super) fn of_set(set: &SetEntry) -> Self {
        let id = set.id();
        Self {
            kind: id.kind,
            name: id.name.to_owned(),
            uid: set.uid.clone(),
            resource_version: set.resource_version.clone(),
        }
    }

    pub(super) fn of_deployment(entry: &DeploymentEntry) -> Self {
        Self {
            kind: WorkloadKind::Deployment,
            name: entry.name.clone(),
            uid: entry.uid.clone(),
            resource_version: entry.resource_version.clone(),
        }
    }

    /// The object as `kubectl` accepts it: `deployments.apps/web`.
    pub fn resource(&self) -> String {
        format!("{}/{}", self.kind.resource(), self.name)
    }
}

impl fmt::Display for Target {
    /// As people type it: `deploy/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.short(), self.name)
    }
}

/// The set that loses pods.
pub(super) struct Chosen<'a> {
    pub(super) target: Target,
    pub(super) set: &'a SetEntry,
    pub(super) id: WorkloadRef<'a>,
    /// `spec.replicas` of the object whose count falls.
    pub(super) from: u32,
}

/// Finds the set that loses pods if the workload that the options name gets another count.
pub(super) fn choose<'a>(input: &'a Input, sets: &Sets<'a>, options: &Options) -> Result<Chosen<'a>, Error> {
    let chosen = match choose_workload(input, sets, options)? {
        Choice::Set(id) => of_set(sets, id)?,
        Choice::Deployment(entry) => of_deployment(input, sets, entry, options)?,
        Choice::Direct(entry) => return Err(no_costs(entry)),
    };
    if chosen.set.is_being_deleted {
        return Err(Error::new(format!("{} is being deleted", chosen.id)));
    }
    Ok(chosen)
}

/// The error for a workload whose controller reads no deletion costs.
pub(super) fn no_costs(entry: &DirectEntry) -> Error {
    Error::new(format!("{entry}: its controller reads no deletion costs, so none can steer it"))
}

fn of_set<'a>(sets: &Sets<'a>, id: WorkloadRef<'a>) -> Result<Chosen<'a>, Error> {
    let set = sets.get(id).ok_or_else(|| Error::new(format!("{id} is missing")))?;
    if let Some(owner) = &set.controller {
        let hint = if owner.kind == "Deployment" {
            format!("scale it instead: deploy/{}", owner.name)
        } else {
            "scale that instead if it has a count, because it may set this one again".to_owned()
        };
        return Err(Error::new(format!("{id} belongs to {} {}: {hint}", owner.kind, owner.name)));
    }
    if set.lags() {
        return Err(lags(&id));
    }
    Ok(Chosen { target: Target::of_set(set), set, id, from: u32::try_from(set.replicas()?).unwrap_or(0) })
}

fn of_deployment<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    entry: &'a DeploymentEntry,
    options: &Options,
) -> Result<Chosen<'a>, Error> {
    let spec = entry.spec()?;
    if spec.lags {
        return Err(lags(entry));
    }
    if spec.deployment.is_being_deleted {
        return Err(Error::new(format!("{entry} is being deleted")));
    }
    let preview = preview_deployment(input, sets, entry, options)?;
    let in_use: Vec<_> = preview.sets().iter().filter(|set| set.from > 0).collect();
    let [only] = &*in_use else {
        return Err(Error::new(match in_use.len() {
            0 => format!("{entry} has no pods"),
            count => format!(
                "{entry} has {count} ReplicaSets in use, and its controller splits the count between them: {}wait for the rollout to end",
                if spec.deployment.is_paused { "it is paused, so resume it and " } else { "" }
            ),
        }));
    };
    let name = only.replica_set.expect("a set in use has a name");
    let id = WorkloadRef { namespace: &entry.namespace, kind: WorkloadKind::ReplicaSet, name };
    let is_rolling = preview.rollout.is_some_and(|rollout| rollout.goes_on || rollout.waits);
    if is_rolling || i64::from(only.to) != i64::from(preview.asked.replicas.unwrap_or(0)) {
        return Err(Error::new(format!("{entry} is in the middle of a rollout: wait for it to end")));
    }
    let set = sets.get(id).ok_or_else(|| Error::new(format!("{id} is missing")))?;
    let from = u32::try_from(spec.deployment.replicas).unwrap_or(0);
    if i64::from(only.from) != i64::from(from) || set.lags() {
        return Err(lags(entry));
    }
    Ok(Chosen { target: Target::of_deployment(entry), set, id, from })
}

fn lags(what: &impl fmt::Display) -> Error {
    Error::new(format!(
        "{what}: its controller has not acted on its latest change yet: try again in a moment"
    ))
}
