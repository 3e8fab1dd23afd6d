//! What a decision about a workload needs besides the workload itself: what to ask a cluster for next.

use crate::complete;
use crate::deployment::DeploymentEntry;
use crate::direct::{DirectEntry, DirectKind};
use crate::error::Error;
use crate::input::Input;
use crate::notes::{self, Note};
use crate::selector::Selector;
use crate::set::{SetEntry, SetId, SetKind, Sets};
use crate::workload::{WorkloadKind, WorkloadName};
use serde::Serialize;
use std::fmt;

/// A workload that an input holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WorkloadId {
    /// Its namespace.
    pub namespace: String,
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its name.
    pub name: String,
}

impl WorkloadId {
    /// Whether it is this set.
    pub(crate) fn is(&self, id: SetId<'_>) -> bool {
        (self.kind, &*self.namespace, &*self.name) == (WorkloadKind::Set(id.kind), id.namespace, id.name)
    }
}

impl fmt::Display for WorkloadId {
    /// The workload as a list for the user shows it: `default Deployment/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.namespace, self.kind, self.name)
    }
}

impl Input {
    /// Returns the workload with this name, or `None` if there is none.
    ///
    /// # Errors
    /// If there are several. The error lists them.
    pub fn workload(&self, name: &WorkloadName) -> Result<Option<WorkloadId>, Error> {
        let sets = self.sets.iter().map(|set| {
            let id = set.id();
            (id.namespace, WorkloadKind::Set(id.kind), id.name)
        });
        let deployments = self
            .deployments
            .iter()
            .map(|entry| (entry.namespace.as_str(), WorkloadKind::Deployment, entry.name.as_str()));
        let direct = self
            .direct
            .iter()
            .map(|entry| (entry.namespace.as_str(), WorkloadKind::Direct(entry.kind), entry.name.as_str()));
        let mut found: Vec<_> = deployments
            .chain(sets)
            .chain(direct)
            .filter(|(_, kind, its)| *its == name.name && name.kind.is_none_or(|wanted| wanted == *kind))
            .map(|(namespace, kind, name)| WorkloadId {
                namespace: namespace.to_owned(),
                kind,
                name: name.to_owned(),
            })
            .collect();
        found.sort();
        found.dedup();
        if found.len() > 1 {
            let list: Vec<_> = found
                .iter()
                .map(|found| format!("{}/{} in {}", found.kind.short(), found.name, found.namespace))
                .collect();
            return Err(Error::new(format!(
                "{name} is ambiguous: there are {}; name one as TYPE/NAME, with its namespace",
                list.join(", ")
            )));
        }
        Ok(found.pop())
    }

    /// Returns whether other `ReplicaSet`s matter, too: those of the same Deployment or other controller.
    pub fn has_siblings(&self, workload: &WorkloadId) -> bool {
        match workload.kind {
            WorkloadKind::Deployment => true,
            WorkloadKind::Set(SetKind::ReplicationController) | WorkloadKind::Direct(_) => false,
            WorkloadKind::Set(SetKind::ReplicaSet) => {
                self.set(workload).is_some_and(|set| set.controller.is_some())
            }
        }
    }

    /// Returns whether nodes matter, and the revisions of the workload's template.
    pub fn has_nodes(&self, workload: &WorkloadId) -> bool {
        workload.kind == WorkloadKind::Direct(DirectKind::DaemonSet)
    }

    /// Returns a label selector, as `kubectl get --selector` reads it, for all pods that count: what the selectors of all
    /// related sets have in common. `None` if they have nothing in common.
    ///
    /// The sets of a Deployment have its own selector in common, so one list has all their pods.
    ///
    /// # Errors
    /// Says which workload is unsound.
    pub fn pod_selector(&self, workload: &WorkloadId) -> Result<Option<String>, Error> {
        let sets = Sets::of(self);
        let mut selectors = Vec::new();
        let controller = match workload.kind {
            WorkloadKind::Deployment => {
                let deployment = self.deployment(workload);
                if let Some(deployment) = deployment {
                    selectors.extend(deployment.spec()?.selector());
                }
                deployment.map(|deployment| deployment.uid.as_str())
            }
            WorkloadKind::Direct(kind) => {
                if let Some(entry) = self.direct(kind, workload) {
                    selectors.extend(entry.selector()?);
                }
                None
            }
            WorkloadKind::Set(_) => {
                let set = self.set(workload);
                if let Some(set) = set {
                    selectors.extend(set.selector()?);
                }
                let controller = set.and_then(|set| set.controller.as_ref());
                controller.map(|controller| controller.uid.as_str())
            }
        };
        for set in controller.into_iter().flat_map(|uid| sets.controlled_by(uid)) {
            selectors.extend(set.selector()?);
        }
        Ok(Selector::in_common(selectors).filter(|selector| !selector.is_empty()).map(|it| it.to_string()))
    }

    /// Returns whether statuses that decide are older than their specs, or do not agree with the pods, so that reading
    /// again may help.
    ///
    /// # Errors
    /// Says which workload is unsound.
    pub fn lags(&self, workload: &WorkloadId) -> Result<bool, Error> {
        let sets = Sets::of(self);
        let (deployment_lags, ids): (_, Vec<_>) = match workload.kind {
            WorkloadKind::Deployment => {
                let Some(deployment) = self.deployment(workload) else { return Ok(false) };
                let own = sets.controlled_by(&deployment.uid).map(SetEntry::id);
                (deployment.spec()?.lags, own.collect())
            }
            WorkloadKind::Direct(kind) => {
                let Some(entry) = self.direct(kind, workload) else { return Ok(false) };
                return entry.is_behind(self);
            }
            WorkloadKind::Set(_) => (false, self.set(workload).map(SetEntry::id).into_iter().collect()),
        };
        let mut lags = deployment_lags;
        for id in ids {
            let state = sets.get(id).map(SetEntry::state).transpose()?.flatten();
            lags |= state.is_some_and(|state| state.lags) || !complete::gaps(&sets, id)?.is_empty();
            if let Some(set) = sets.get(id).filter(|_| workload.kind == WorkloadKind::Deployment) {
                lags |= complete::stale_availability(&sets, set)?.is_some();
            }
        }
        Ok(lags)
    }

    /// Returns a note if the workload is listed more than once, perhaps with other values.
    pub(crate) fn listed_twice(&self, workload: &WorkloadId) -> Option<Note> {
        let is_it =
            |namespace: &str, name: &str| (namespace, name) == (&*workload.namespace, &*workload.name);
        let entries = match workload.kind {
            WorkloadKind::Deployment => {
                self.deployments.iter().filter(|entry| is_it(&entry.namespace, &entry.name)).count()
            }
            WorkloadKind::Set(_) => self.sets.iter().filter(|set| workload.is(set.id())).count(),
            WorkloadKind::Direct(kind) => {
                let of_kind = self.direct.iter().filter(|entry| entry.kind == kind);
                of_kind.filter(|entry| is_it(&entry.namespace, &entry.name)).count()
            }
        };
        (entries > 1).then(|| notes::listed_twice(workload))
    }

    pub(crate) fn deployment(&self, workload: &WorkloadId) -> Option<&DeploymentEntry> {
        let is_meant =
            |entry: &&DeploymentEntry| entry.namespace == workload.namespace && entry.name == workload.name;
        self.deployments.iter().find(is_meant)
    }

    fn direct(&self, kind: DirectKind, workload: &WorkloadId) -> Option<&DirectEntry> {
        self.direct.iter().find(|entry| {
            entry.kind == kind && entry.namespace == workload.namespace && entry.name == workload.name
        })
    }

    fn set(&self, workload: &WorkloadId) -> Option<&SetEntry> {
        let WorkloadKind::Set(kind) = workload.kind else { return None };
        let id = SetId { namespace: &workload.namespace, kind, name: &workload.name };
        self.sets.iter().find(|set| set.id() == id)
    }
}

impl WorkloadName {
    /// Returns which of `known` the user may have meant.
    pub fn nearest<'a>(&self, known: &'a [Self]) -> Option<&'a Self> {
        // Less similar names have little in common. clap uses this limit for its own suggestions.
        const ALIKE: f64 = 0.7;
        let likeness = |other: &Self| strsim::jaro_winkler(&self.name, &other.name);
        known
            .iter()
            .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
            .filter(|nearest| likeness(nearest) > ALIKE)
    }
}
