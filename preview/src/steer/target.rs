//! The target of a scale-down: the object whose count falls, and the sets that may lose pods. Returns an error for what no
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

/// The sets that may lose pods.
pub(super) struct Chosen<'a> {
    pub(super) target: Target,
    /// One, unless a rollout is under way.
    pub(super) sets: Vec<&'a SetEntry>,
    /// `spec.replicas` of the object whose count falls.
    pub(super) from: u32,
    /// Whether a Deployment's controller shares the count among its sets, or has more to do than to scale one.
    pub(super) is_rolling: bool,
}

impl Chosen<'_> {
    pub(super) fn namespace(&self) -> &str {
        self.sets.first().map_or("", |set| set.id().namespace)
    }

    /// The only set, or else the workload.
    pub(super) fn name(&self) -> String {
        match &*self.sets {
            [only] => only.id().to_string(),
            _ => self.target.to_string(),
        }
    }
}

/// Finds the sets that may lose pods if the workload that the options name gets another count.
pub(super) fn choose<'a>(input: &'a Input, sets: &Sets<'a>, options: &Options) -> Result<Chosen<'a>, Error> {
    let chosen = match choose_workload(input, sets, options)? {
        Choice::Set(id) => of_set(sets, id)?,
        Choice::Deployment(entry) => of_deployment(input, sets, entry, options)?,
        Choice::Direct(entry) => return Err(no_costs(entry)),
    };
    if let Some(set) = chosen.sets.iter().find(|set| set.is_being_deleted) {
        return Err(Error::new(format!("{} is being deleted", set.id())));
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
    let from = u32::try_from(set.replicas()?).unwrap_or(0);
    Ok(Chosen { target: Target::of_set(set), sets: vec![set], from, is_rolling: false })
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
    let preview = preview_deployment(input, sets, entry, &Options { odds: false, ..options.clone() })?;
    let in_use: Vec<_> = preview.sets().iter().filter(|set| set.from > 0).collect();
    let set = |name| {
        let id = WorkloadRef { namespace: &entry.namespace, kind: WorkloadKind::ReplicaSet, name };
        sets.get(id).ok_or_else(|| Error::new(format!("{id} is missing")))
    };
    let own = in_use.iter().filter_map(|set| set.replica_set).map(set).collect::<Result<Vec<_>, _>>()?;
    if own.iter().any(|set| set.lags()) {
        return Err(lags(entry));
    }
    let from = u32::try_from(spec.deployment.replicas).unwrap_or(0);
    let target = Target::of_deployment(entry);
    let rolls = preview.rollout.is_some_and(|rollout| rollout.goes_on || rollout.waits);
    let is_rolling = match &*in_use {
        [] => return Err(Error::new(format!("{entry} has no pods"))),
        [only] => rolls || i64::from(only.to) != i64::from(preview.asked.replicas.unwrap_or(0)),
        _ => true,
    };
    if !is_rolling && in_use.iter().any(|only| i64::from(only.from) != i64::from(from)) {
        return Err(lags(entry));
    }
    Ok(Chosen { target, sets: own, from, is_rolling })
}

fn lags(what: &impl fmt::Display) -> Error {
    Error::new(format!(
        "{what}: its controller has not acted on its latest change yet: try again in a moment"
    ))
}
