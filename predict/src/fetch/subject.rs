//! Which workload a subject stands for: the owner of a pod, or the set that an object of another type uses.

use crate::question::OwnerName;
use crate::snapshot::{
    OwnerReference, Pod, Sets, Snapshot, Unreadable, Workload, WorkloadId, WorkloadKind, WorkloadName,
};
use crate::text::{self, Error};

impl Snapshot {
    /// Returns the workloads that a pod of the input belongs to, and its namespace: its controller, and then the Deployment of its set,
    /// if the input has the set.
    ///
    /// # Errors
    /// If there is no such pod or more than one, or if none of the known kinds controls it.
    pub fn workloads_of_pod(
        &self,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<(String, Vec<WorkloadName>), Error> {
        let is_it = |pod: &&Pod| {
            pod.meta.name == name && namespace.is_none_or(|namespace| namespace == pod.meta.namespace)
        };
        let mut found = self.pods.iter().filter(is_it);
        let Some(pod) = found.next() else {
            let is_unreadable = |its: &&Unreadable| its.kind == "Pod" && its.name == name;
            if let Some(unreadable) = self.unreadable.iter().find(is_unreadable) {
                return Err(unreadable.to_error());
            }
            let nearest = text::nearest(name, self.pods.iter().map(|pod| &*pod.meta.name));
            let nearest = nearest.map(|nearest| format!("Did you mean {}?", text::name(nearest)));
            let remedy = nearest.into_iter().collect();
            return Err(Error { remedy, ..Error::new(format!("no pod is named {}", text::name(name))) });
        };
        if let Some(other) = found.find(|other| other.meta.namespace != pod.meta.namespace) {
            return Err(Error::new(format!("several pods are named {}", text::name(name)))
                .because(format!("There are {pod} and {other}."))
                .advise("Name the namespace."));
        }
        let kind = pod.controller_kind();
        let is_replaced = !pod.is_terminating() && kind.is_some_and(WorkloadKind::replaces_ended_pods);
        if !pod.is_active() && !is_replaced {
            let state = if pod.is_terminating() { "is being deleted" } else { "has ended" };
            return Err(
                Error::new(format!("{pod} {state}")).because("A scale-down deletes only active pods.")
            );
        }
        let sets = Sets::of(self);
        if let Some(id) = sets.releaser(pod) {
            return Err(Error::new(format!("no scale-down deletes {pod}"))
                .because(format!("It does not match the selector of {id}, which releases it.")));
        }
        let known = |owner: &OwnerReference| {
            Some(WorkloadName { kind: Some(owner.workload_kind()?), name: owner.name.clone() })
        };
        let set = sets.owner(pod);
        let nearest = if let Some(owner) = &pod.meta.controller {
            known(owner).ok_or_else(|| {
                let (kind, name) = (text::name(&owner.kind), text::name(&owner.name));
                Error::new(format!("podrank does not know which pods {kind} {name} deletes first"))
                    .because(format!("{pod} belongs to it."))
            })?
        } else {
            let adopter =
                set.or_else(|| self.listed_workloads().find(|its| its.adopts(pod)).map(Workload::id));
            let none = || Error::new(format!("no scale-down deletes {pod}")).because("It has no controller.");
            adopter.ok_or_else(none)?.to_name()
        };
        let controller = set.and_then(|id| sets.controller(sets.get(id)?)).and_then(known);
        Ok((pod.meta.namespace.clone(), [nearest].into_iter().chain(controller).collect()))
    }

    /// Returns the namespace of a pod that is being deleted, and kind and name of its controller, if it has one. `None` if there is no such pod.
    pub fn going_pod(&self, name: &str) -> Option<(String, Option<(String, String)>)> {
        let pod = self.pods.iter().find(|pod| pod.meta.name == name && pod.is_terminating())?;
        let owner = pod.meta.controller.as_ref().map(|owner| (owner.kind.clone(), owner.name.clone()));
        Some((pod.meta.namespace.clone(), owner))
    }

    /// Returns the name of the Deployment of a set, if the input has the set.
    pub fn deployment_of(&self, set: &str) -> Option<&str> {
        let set = self.sets.iter().find(|its| its.id().name == set)?;
        set.meta.controller.as_ref().filter(|owner| owner.kind == "Deployment").map(|owner| &*owner.name)
    }

    /// Returns the names of the autoscalers.
    pub fn autoscalers(&self) -> impl Iterator<Item = &str> {
        self.autoscalers.iter().map(|autoscaler| &*autoscaler.meta.name)
    }

    /// Returns the `ReplicaSet`s that an object of another type owns and uses, at least one.
    ///
    /// # Errors
    /// If it owns none, or uses none, or deletes its pods itself.
    pub fn sets_in_use(&self, owner: &OwnerName, namespace: Option<&str>) -> Result<Vec<WorkloadId>, Error> {
        let sets = Sets::of(self);
        let is_here = |its: &str| namespace.is_none_or(|namespace| its == namespace);
        let here = sets.listed().filter(|set| is_here(&set.meta.namespace));
        let own: Vec<_> =
            here.filter(|set| set.meta.controller.as_ref().is_some_and(|its| owner.is(its))).collect();
        let in_use = own.iter().filter(|set| sets.is_in_use(set)).map(|set| set.id().to_id());
        let in_use: Vec<_> = in_use.collect();
        if !in_use.is_empty() {
            return Ok(in_use);
        }
        let pods = self.pods.iter().filter(|pod| is_here(&pod.meta.namespace));
        let of_pods = pods.filter_map(|pod| pod.meta.controller.as_ref()).find(|its| owner.is(its));
        Err(if let Some(its) = of_pods {
            Error::new(format!("podrank does not know which pods {owner} deletes first"))
                .because(format!("A {} deletes its pods itself.", text::name(&its.kind)))
        } else if own.is_empty() {
            let known: Vec<_> = self.workloads().iter().map(|id| id.to_ref().to_name()).collect();
            let name = WorkloadName { kind: None, name: owner.name.clone() };
            let hint = name.nearest(&known).map(|nearest| format!("Did you mean {nearest}?"));
            Error::new(format!("podrank does not know the type of {owner}"))
                .because("No ReplicaSet belongs to it.")
                .advise(hint.unwrap_or_else(|| "Ask about a workload, such as deploy/NAME.".to_owned()))
        } else {
            Error::new(format!("no ReplicaSet of {owner} has pods"))
        })
    }
}
