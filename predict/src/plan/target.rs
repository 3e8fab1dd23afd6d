//! The target of a scale-down: the object whose count falls, and the sets that may lose pods. Returns an error for what no
//! costs can steer.

use crate::decide::count::unknown;
use crate::decide::{choose_workload, preview_deployment};
use crate::question::{Options, OwnerName};
use crate::snapshot::{
    Deployment, Metadata, OtherOwner, OwnerReference, ReplicaSet, Sets, Workload, WorkloadKind, WorkloadRef,
};
use crate::text::{self, Error, ErrorKind};
use std::fmt;

/// The object whose count falls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind: `Deployment`, or one that no module knows.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// `metadata.resourceVersion`, which changes with every change to the object.
    pub resource_version: String,
    /// Its type as `kubectl` accepts it: `deployments.apps`.
    pub(super) full_type: String,
    /// Its type as people type it: `deploy`.
    pub(super) short_type: String,
}

impl Target {
    pub(super) fn of_owner(entry: &OtherOwner) -> Self {
        Self {
            api_version: entry.api_version.clone(),
            kind: entry.kind.clone(),
            name: entry.meta.name.clone(),
            uid: entry.meta.uid.clone(),
            resource_version: entry.meta.resource_version.clone(),
            full_type: entry.resource.clone(),
            short_type: entry.kind.to_ascii_lowercase(),
        }
    }

    /// One of a kind whose rules are known.
    pub(super) fn known(id: WorkloadRef<'_>, meta: &Metadata) -> Self {
        Self {
            api_version: id.kind.api_version(),
            kind: id.kind.to_string(),
            name: id.name.to_owned(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
            full_type: id.kind.resource(),
            short_type: id.kind.short().to_owned(),
        }
    }

    /// Its kind, if the rules of that kind are known.
    pub(super) fn workload_kind(&self) -> Option<WorkloadKind> {
        WorkloadKind::ALL.into_iter().find(|kind| kind.resource() == self.full_type)
    }

    /// The object as `kubectl` accepts it: `deployments.apps/web`.
    pub fn resource(&self) -> String {
        format!("{}/{}", self.full_type, self.name)
    }
}

impl fmt::Display for Target {
    /// As people type it: `deploy/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.short_type, self.name)
    }
}

/// The sets that may lose pods.
pub(super) struct Chosen<'a> {
    pub(super) target: Target,
    /// One, unless a rollout is under way.
    pub(super) sets: Vec<&'a ReplicaSet>,
    /// `spec.replicas` of the object whose count falls.
    pub(super) from: u32,
    /// Whether a Deployment's controller shares the count among its sets, or has more to do than to scale one.
    pub(super) is_rolling: bool,
}

/// Finds the sets that may lose pods if the workload that the options name gets another count.
pub(super) fn choose<'a>(sets: &Sets<'a>, options: &Options) -> Result<Chosen<'a>, Error> {
    let chosen = match choose_workload(sets, options)? {
        Workload::Deployment(entry) => of_deployment(sets, entry, options)?,
        Workload::ReplicaSet(set) => of_set(sets, set)?,
        Workload::Unlisted(id) => return Err(unknown(id)),
        other => return Err(no_costs(other)),
    };
    chosen.sets.iter().try_for_each(|set| check_kept(&set.id(), &set.meta))?;
    Ok(chosen)
}

/// The error for a workload whose controller reads no deletion costs.
pub(super) fn no_costs(entry: Workload<'_>) -> Error {
    Error::new(format!("podrank cannot choose pods of {entry}"))
        .because("Its controller ignores deletion costs.")
}

/// The error for a set that is a part of something else.
pub(super) fn controls(owner: &OwnerReference, id: WorkloadRef<'_>) -> Error {
    let [kind, name] = [&owner.kind, &owner.name].map(|it| text::name(it));
    Error::new(format!("{kind} {name} controls {id}"))
}

fn of_set<'a>(sets: &Sets<'a>, set: &'a ReplicaSet) -> Result<Chosen<'a>, Error> {
    let id = set.id();
    if let Some(owner) = sets.input.leader(set) {
        return of_owner(sets, owner);
    }
    if let Some(owner) = &set.meta.controller {
        let hint = match OwnerName::argument(owner) {
            Some(name) => {
                let namespace = text::name(id.namespace);
                format!("Scale it instead: kubectl podrank scale {name} -n {namespace} --replicas N")
            }
            None => "Scale it instead if it has a replica count.".to_owned(),
        };
        return Err(controls(owner, id).because("It would reset the replica count.").advise(hint));
    }
    check_current(&id, set.lags())?;
    let from = set.replicas();
    Ok(Chosen { target: Target::known(id, &set.meta), sets: vec![set], from, is_rolling: false })
}

/// Only the controller of an owner of a kind that no module knows decides how several sets share its count. If it uses one, that
/// one gets its count.
fn of_owner<'a>(sets: &Sets<'a>, owner: &'a OtherOwner) -> Result<Chosen<'a>, Error> {
    check_kept(owner, &owner.meta)?;
    let in_use: Vec<_> = sets.controlled_by(&owner.meta.uid).filter(|set| sets.is_in_use(set)).collect();
    let only = match &*in_use {
        [] => return Err(Error::new(format!("{owner} has no pods"))),
        [only] => *only,
        several => {
            let names: Vec<_> = several.iter().map(|set| set.id().name).collect();
            return Err(Error::new(format!("{owner} uses several ReplicaSets: {}", text::list(&names)))
                .because("Only its own controller decides how they share its replica count.")
                .advise("Wait for its rollout to end."));
        }
    };
    check_current(owner, owner.lags || only.lags())?;
    let size = only.replicas();
    if size != owner.replicas {
        let replicas = text::count(owner.replicas, "replica");
        let why = format!("{owner} has {replicas}, but its ReplicaSet {} has {size}.", only.id().name);
        return Err(busy(owner, why));
    }
    Ok(Chosen { target: Target::of_owner(owner), sets: vec![only], from: size, is_rolling: false })
}

fn of_deployment<'a>(sets: &Sets<'a>, entry: &'a Deployment, options: &Options) -> Result<Chosen<'a>, Error> {
    let id = entry.id();
    check_current(&id, entry.lags)?;
    check_kept(&id, &entry.meta)?;
    let preview = preview_deployment(sets, entry, &Options { probabilities: false, ..options.clone() })?;
    let sizes = preview.sets().iter().filter_map(|set| Some((set.replica_set, set.size?)));
    let in_use: Vec<_> = sizes.filter(|(_, size)| size.from > 0).collect();
    let set = |name| {
        let id = WorkloadRef { namespace: &entry.meta.namespace, kind: WorkloadKind::ReplicaSet, name };
        sets.get(id).ok_or_else(|| unknown(id))
    };
    let own = in_use.iter().filter_map(|(name, _)| *name).map(set).collect::<Result<Vec<_>, _>>()?;
    check_current(&id, own.iter().any(|set| set.lags()))?;
    let from = entry.record.replicas.unsigned_abs();
    let target = Target::known(id, &entry.meta);
    let rolls = preview.rollout.is_some_and(|rollout| rollout.is_under_way);
    let is_rolling = match &*in_use {
        [] => return Err(Error::new(format!("{id} has no pods"))),
        [(_, only)] => rolls || i64::from(only.to()) != i64::from(preview.size.replicas.unwrap_or(0)),
        _ => true,
    };
    let is_other = in_use.iter().any(|(_, only)| i64::from(only.from) != i64::from(from));
    check_current(&id, !is_rolling && is_other)?;
    Ok(Chosen { target, sets: own, from, is_rolling })
}

/// Returns an error for an object that is being deleted.
fn check_kept(object: &impl fmt::Display, meta: &Metadata) -> Result<(), Error> {
    let error = || Error::new(format!("{object} is being deleted"));
    meta.deletion.as_ref().map_or(Ok(()), |_| Err(error()))
}

/// Returns an error if the controller lags behind its workload.
fn check_current(workload: &impl fmt::Display, lags: bool) -> Result<(), Error> {
    let error = || busy(workload, "It has not acted on the latest change yet.".to_owned());
    if lags { Err(error()) } else { Ok(()) }
}

/// The error for a workload whose controller has not caught up.
pub(super) fn busy(what: &impl fmt::Display, why: String) -> Error {
    Error::new(format!("the controller of {what} is still working"))
        .because(why)
        .advise("Try again soon.")
        .of_kind(ErrorKind::Busy)
}
