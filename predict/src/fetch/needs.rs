//! Lists the objects to read next from a cluster, for a decision about a workload.

use crate::decide::complete;
use crate::snapshot::{
    Deployment, ReplicaSet, Selector, SelfManaged, Sets, Snapshot, WorkloadId, WorkloadKind, WorkloadName,
    WorkloadRef, ZONE_LABEL,
};
use crate::text::Error;
use std::collections::BTreeMap;

impl Snapshot {
    /// Returns the zone of each node whose zone the input tells, by the name of the node.
    pub fn zones(&self) -> BTreeMap<&str, &str> {
        let of_pods = self
            .pods
            .iter()
            .filter_map(|pod| Some((&**pod.node.as_ref()?, &**pod.meta.labels.get(ZONE_LABEL)?)));
        // What a node says itself counts.
        let of_nodes = self
            .nodes
            .iter()
            .filter_map(|node| Some((&*node.meta.name, &**node.meta.labels.get(ZONE_LABEL)?)));
        of_pods.chain(of_nodes).collect()
    }

    /// Returns all workloads of the input, also those without pods, sorted, each once.
    pub fn all_workloads(&self) -> Vec<WorkloadId> {
        let mut all: Vec<_> = self.workload_ids().collect();
        all.sort();
        all.dedup();
        all.into_iter().map(WorkloadRef::to_id).collect()
    }

    /// Returns the workload with this name, or `None` if there is none.
    ///
    /// # Errors
    /// If there are several, which the error lists, or if it cannot be read.
    pub fn workload(&self, name: &WorkloadName) -> Result<Option<WorkloadId>, Error> {
        let mut found = self.all_workloads();
        found.retain(|id| name.is(id.to_ref()));
        if found.len() > 1 {
            let list: Vec<_> = found
                .iter()
                .map(|found| format!("{}/{} in {}", found.kind.short(), found.name, found.namespace))
                .collect();
            return Err(Error::new(format!("{name} is ambiguous"))
                .because(format!("There are {}.", list.join(", ")))
                .advise("Name one as TYPE/NAME, with its namespace."));
        }
        match (found.pop(), self.unreadable_workload(Some(name))) {
            (None, Some(error)) => Err(error),
            (found, _) => Ok(found),
        }
    }

    /// Returns whether other `ReplicaSet`s matter, too: those of the same Deployment or other controller.
    pub fn has_siblings(&self, workload: &WorkloadId) -> bool {
        match workload.kind {
            WorkloadKind::Deployment => true,
            WorkloadKind::ReplicaSet => {
                self.set(workload.to_ref()).is_some_and(|set| set.meta.controller.is_some())
            }
            _ => false,
        }
    }

    /// Returns a label selector, as `kubectl get --selector` reads it, for all pods that count: what the selectors of all
    /// related sets have in common. `None` if they have nothing in common.
    ///
    /// The sets of a Deployment have its own selector in common, so one list has all their pods.
    pub fn pod_selector(&self, workload: &WorkloadId) -> Option<String> {
        let (sets, id) = (Sets::of(self), workload.to_ref());
        let (own, controller) = match workload.kind {
            WorkloadKind::Deployment => {
                let deployment = self.deployment(id);
                (deployment.and_then(Deployment::selector), deployment.map(|it| &*it.meta.uid))
            }
            kind if kind.is_direct() => {
                (self.self_managed().find(|its| its.id() == id).and_then(SelfManaged::selector), None)
            }
            _ => {
                let set = self.set(id);
                let owner = set.and_then(|set| set.meta.controller.as_ref());
                (set.and_then(ReplicaSet::selector), owner.map(|owner| &*owner.uid))
            }
        };
        let related = controller.into_iter().flat_map(|uid| sets.controlled_by(uid));
        let all = own.into_iter().chain(related.filter_map(ReplicaSet::selector)).collect();
        Selector::in_common(all).filter(|selector| !selector.is_empty()).map(|it| it.to_string())
    }

    /// Returns whether statuses that decide are older than their specs, or do not agree with the pods, so that reading
    /// again may help.
    pub fn lags(&self, workload: &WorkloadId) -> bool {
        let (sets, id) = (Sets::of(self), workload.to_ref());
        let is_deployment = workload.kind == WorkloadKind::Deployment;
        let (lags, own): (_, Vec<_>) = match workload.kind {
            _ if is_deployment => {
                let Some(deployment) = self.deployment(id) else { return false };
                (deployment.lags, sets.controlled_by(&deployment.meta.uid).collect())
            }
            kind if kind.is_direct() => {
                let own = self.self_managed().find(|its| its.id() == id);
                return own.is_some_and(|own| own.is_behind(self));
            }
            _ => {
                let set = self.set(id);
                let leader = set.and_then(|set| self.leader(set));
                (leader.is_some_and(|leader| leader.lags), set.into_iter().collect())
            }
        };
        let is_behind = |set: &&ReplicaSet| {
            set.is_ahead()
                || !complete::gaps(&sets, set.id()).is_empty()
                || is_deployment && complete::stale_status(&sets, set).is_some()
        };
        lags || own.iter().any(is_behind)
    }
}
