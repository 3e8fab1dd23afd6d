//! What a decision about a workload needs besides the workload itself: what to ask a cluster for next.

use crate::decide::complete;
use crate::snapshot::deployment::DeploymentEntry;
use crate::snapshot::direct::DirectEntry;
use crate::snapshot::index::Sets;
use crate::snapshot::read::Input;
use crate::snapshot::replica_set::SetEntry;
use crate::snapshot::selector::Selector;
use crate::snapshot::workload::{WorkloadId, WorkloadKind, WorkloadName, WorkloadRef};
use crate::text::error::Error;

impl Input {
    /// Returns all workloads of the input, also those without pods, sorted, each once.
    pub fn all_workloads(&self) -> Vec<WorkloadId> {
        let deployments = self.deployments.iter().map(DeploymentEntry::id);
        let direct = self.direct.iter().map(DirectEntry::id);
        let mut all: Vec<_> = deployments.chain(self.sets.iter().map(SetEntry::id)).chain(direct).collect();
        all.sort();
        all.dedup();
        all.into_iter().map(WorkloadRef::to_id).collect()
    }

    /// Returns the workload with this name, or `None` if there is none.
    ///
    /// # Errors
    /// If there are several. The error lists them.
    pub fn workload(&self, name: &WorkloadName) -> Result<Option<WorkloadId>, Error> {
        let mut found = self.all_workloads();
        found.retain(|id| id.name == name.name && name.kind.is_none_or(|wanted| wanted == id.kind));
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
            WorkloadKind::ReplicaSet => {
                self.set(workload.to_ref()).is_some_and(|set| set.controller.is_some())
            }
            _ => false,
        }
    }

    /// Returns whether nodes matter, and the revisions of the workload's template.
    pub fn has_nodes(&self, workload: &WorkloadId) -> bool {
        workload.kind == WorkloadKind::DaemonSet
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
                let deployment = self.deployment(workload.to_ref());
                if let Some(deployment) = deployment {
                    selectors.extend(deployment.spec()?.selector());
                }
                deployment.map(|deployment| deployment.uid.as_str())
            }
            kind if kind.is_direct() => {
                if let Some(entry) = self.direct(workload.to_ref()) {
                    selectors.extend(entry.selector()?);
                }
                None
            }
            _ => {
                let set = self.set(workload.to_ref());
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
                let Some(deployment) = self.deployment(workload.to_ref()) else { return Ok(false) };
                let own = sets.controlled_by(&deployment.uid).map(SetEntry::id);
                (deployment.spec()?.lags, own.collect())
            }
            kind if kind.is_direct() => {
                let Some(entry) = self.direct(workload.to_ref()) else { return Ok(false) };
                return entry.is_behind(self);
            }
            _ => (false, self.set(workload.to_ref()).map(SetEntry::id).into_iter().collect()),
        };
        let set = self.set(workload.to_ref());
        let leader = set.and_then(|set| self.leader(set));
        let mut lags = deployment_lags || leader.is_some_and(|leader| leader.lags);
        for id in ids {
            let state = sets.get(id).map(SetEntry::state).transpose()?.flatten();
            lags |= state.is_some_and(|state| state.lags) || !complete::gaps(&sets, id)?.is_empty();
            if let Some(set) = sets.get(id).filter(|_| workload.kind == WorkloadKind::Deployment) {
                lags |= complete::stale_status(&sets, set)?.is_some();
            }
        }
        Ok(lags)
    }
}
