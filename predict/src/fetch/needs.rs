//! Lists the objects to read next from a cluster, for a decision about a workload.

use crate::decide::complete;
use crate::snapshot::{
    ReplicaSet, Selector, Sets, Snapshot, Workload, WorkloadId, WorkloadKind, WorkloadName, WorkloadRef,
    ZONE_LABEL,
};
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet};

impl Snapshot {
    /// Returns the zone of each node whose zone the input tells, by the name of the node.
    pub fn zones(&self) -> BTreeMap<&str, &str> {
        let of_pods = self.pods.iter().filter_map(|pod| Some((pod.node()?, &pod.meta.labels)));
        // What a node says itself counts.
        let of_nodes = self.nodes.iter().map(|node| (&*node.meta.name, &node.meta.labels));
        let all = of_pods.chain(of_nodes);
        all.filter_map(|(node, labels)| Some((node, &**labels.get(ZONE_LABEL)?))).collect()
    }

    /// Returns all workloads of the input, also those without pods, sorted, each once.
    pub fn all_workloads(&self) -> Vec<WorkloadId> {
        let all: BTreeSet<_> = self.listed_workloads().map(Workload::id).collect();
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
            let place = |id: &WorkloadId| format!("{}/{} in {}", id.kind.short(), id.name, id.namespace);
            let list: Vec<_> = found.iter().map(place).collect();
            return Err(Error::new(format!("{name} is ambiguous"))
                .because(format!("There are {}.", list.join(", ")))
                .advise("Name one as TYPE/NAME, with its namespace."));
        }
        match (found.pop(), self.unreadable_workload(Some(name), None)) {
            (None, Some(error)) => Err(error),
            (found, _) => Ok(found),
        }
    }

    /// Returns whether other `ReplicaSet`s matter, too: those of the same Deployment or other controller.
    pub fn has_siblings(&self, workload: &WorkloadId) -> bool {
        let found = self.find(workload.to_ref()).and_then(Workload::meta);
        let has_controller = found.is_some_and(|meta| meta.controller.is_some());
        let is_set = workload.kind == WorkloadKind::ReplicaSet;
        workload.kind == WorkloadKind::Deployment || is_set && has_controller
    }

    /// Returns a label selector, as `kubectl get --selector` reads it, for all pods that count: what the selectors of all
    /// related sets have in common. `None` if they have nothing in common.
    ///
    /// The sets of a Deployment have its own selector in common, so one list has all their pods.
    pub fn pod_selector(&self, workload: &WorkloadId) -> Option<String> {
        let (sets, workload) = (Sets::of(self), self.find(workload.to_ref())?);
        let controller = match workload {
            Workload::Deployment(entry) => Some(&entry.meta.uid),
            Workload::ReplicaSet(set) => set.meta.controller.as_ref().map(|owner| &owner.uid),
            _ => None,
        };
        let related = controller.into_iter().flat_map(|uid| sets.controlled_by(uid));
        let all = workload.selector().into_iter().chain(related.filter_map(ReplicaSet::selector)).collect();
        Selector::in_common(all).filter(|selector| !selector.is_empty()).map(|it| it.to_string())
    }

    /// Returns whether statuses that decide are older than their specs, or do not agree with the pods, so that reading
    /// again may help.
    pub fn lags(&self, workload: &WorkloadId) -> bool {
        let sets = Sets::of(self);
        let is_deployment = workload.kind == WorkloadKind::Deployment;
        let (lags, own): (_, Vec<_>) = match self.find(workload.to_ref()) {
            None => return false,
            Some(Workload::Deployment(entry)) => (entry.lags, sets.controlled_by(&entry.meta.uid).collect()),
            Some(Workload::ReplicaSet(set)) => {
                (self.leader(set).is_some_and(|leader| leader.lags), vec![set])
            }
            Some(own) => return own.is_behind(self),
        };
        let is_behind = |set: &&ReplicaSet| {
            set.is_ahead()
                || !complete::gaps(&sets, set.id()).is_empty()
                || is_deployment && complete::stale_status(&sets, set).is_some()
        };
        lags || own.iter().any(is_behind)
    }
}
