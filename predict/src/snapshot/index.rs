//! The sets of an input by name, and the pods of each, as their controllers claim them first: Kubernetes' `ClaimPods` and
//! `ClaimReplicaSets`. Reads only the input.

use crate::snapshot::{
    Deployment, OwnerReference, Pod, ReplicaSet, Selector, Snapshot, Workload, WorkloadKind, WorkloadRef,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The sets of an input by name, and whose its pods are.
pub(crate) struct Sets<'a> {
    pub(crate) input: &'a Snapshot,
    by_id: BTreeMap<WorkloadRef<'a>, Listed<'a>>,
    /// The pods that each set claims, in the order of the input, also of sets that are not in it.
    pods: BTreeMap<WorkloadRef<'a>, Vec<&'a Pod>>,
    /// The pods that refer to a set which does not claim them.
    released: BTreeMap<WorkloadRef<'a>, Vec<&'a Pod>>,
}

/// A set in the input.
struct Listed<'a> {
    entry: &'a ReplicaSet,
    /// `None` if it has none, or an invalid one: its controller claims nothing then.
    selector: Option<Selector<'a>>,
    /// Its controller, once its Deployment has released or adopted it.
    controller: Option<Cow<'a, OwnerReference>>,
}

impl<'a> Listed<'a> {
    fn of(entry: &'a ReplicaSet, deployments: &'a [Deployment]) -> Self {
        let here = || deployments.iter().filter(|its| its.meta.namespace == entry.meta.namespace);
        let selects = |its: &Deployment| its.selector().map(|it| it.matches(&entry.meta.labels));
        let controller = match &entry.meta.controller {
            Some(owner) => {
                let is_released =
                    here().find(|its| its.meta.uid == owner.uid).and_then(selects) == Some(false);
                Some(Cow::Borrowed(owner)).filter(|_| !is_released)
            }
            // Of several, any may be the first.
            None => here()
                .filter(|_| entry.kind == WorkloadKind::ReplicaSet && entry.meta.deletion.is_none())
                .find(|its| its.meta.deletion.is_none() && selects(its) == Some(true))
                .map(|its| Cow::Owned(OwnerReference::of_deployment(&its.meta.name, &its.meta.uid))),
        };
        Self { entry, selector: entry.selector(), controller }
    }

    /// Whether its controller counts a pod that refers to it.
    fn keeps(&self, pod: &Pod) -> bool {
        !pod.is_active() || self.selector.as_ref().is_none_or(|selector| selector.matches(&pod.meta.labels))
    }

    /// Whether its controller adopts an active pod that refers to no controller.
    fn adopts(&self, pod: &Pod) -> bool {
        let selects = |it: &Selector<'_>| !it.is_empty() && it.matches(&pod.meta.labels);
        self.entry.meta.deletion.is_none() && self.selector.as_ref().is_some_and(selects)
    }
}

impl<'a> Sets<'a> {
    /// If a set is listed twice, the first entry counts, which the map takes last.
    pub(crate) fn of(input: &'a Snapshot) -> Self {
        let listed = input.sets.iter().rev().map(|set| (set.id(), Listed::of(set, &input.deployments)));
        let by_id = listed.collect();
        let mut sets = Self { input, by_id, pods: BTreeMap::new(), released: BTreeMap::new() };
        for pod in &input.pods {
            if let Some(id) = sets.owner(pod) {
                sets.pods.entry(id).or_default().push(pod);
            } else if let Some(id) = sets.releaser(pod) {
                sets.released.entry(id).or_default().push(pod);
            }
        }
        sets
    }

    /// The pods that belong to a set, in whatever state.
    pub(crate) fn pods<'s>(&'s self, id: WorkloadRef<'s>) -> &'s [&'a Pod] {
        self.pods.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The pods that the set releases, because its selector no longer matches them. Its status may still count them.
    pub(crate) fn released<'s>(&'s self, id: WorkloadRef<'s>) -> &'s [&'a Pod] {
        self.released.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The sets of which the input has only pods.
    pub(crate) fn unlisted(&self) -> impl Iterator<Item = WorkloadRef<'a>> {
        self.pods.keys().copied().filter(|id| self.get(*id).is_none())
    }

    pub(crate) fn get(&self, id: WorkloadRef<'_>) -> Option<&'a ReplicaSet> {
        self.by_id.get(&id).map(|set| set.entry)
    }

    /// The set, of which the input may have only pods.
    pub(crate) fn set(&self, id: WorkloadRef<'a>) -> Workload<'a> {
        self.get(id).map_or(Workload::Unlisted(id), Workload::ReplicaSet)
    }

    /// The pods of a workload that refer to it or to its sets, and those that a set adopts.
    pub(crate) fn pods_of(&self, workload: Workload<'a>) -> Vec<&'a Pod> {
        match workload {
            Workload::Deployment(entry) => {
                let sets = self.controlled_by(&entry.meta.uid);
                sets.flat_map(|set| self.pods(set.id())).copied().collect()
            }
            Workload::ReplicaSet(_) | Workload::Unlisted(_) => self.pods(workload.id()).to_vec(),
            _ => self.input.pods.iter().filter(|pod| workload.owns(&pod.meta)).collect(),
        }
    }

    /// The sets that are in the input, by ID.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &'a ReplicaSet> {
        self.by_id.values().map(|set| set.entry)
    }

    /// Whether a set has active pods or should have some.
    pub(crate) fn is_in_use(&self, set: &ReplicaSet) -> bool {
        set.replicas() > 0 || self.pods(set.id()).iter().any(|pod| pod.is_active())
    }

    /// The set that claims the pod: the one that the pod refers to, unless it releases the pod, or the one that adopts it.
    pub(crate) fn owner(&self, pod: &'a Pod) -> Option<WorkloadRef<'a>> {
        if pod.meta.controller.is_some() {
            let id = self.referred(pod)?;
            return self.by_id.get(&id).is_none_or(|set| set.keeps(pod)).then_some(id);
        }
        let id = |kind| WorkloadRef { namespace: &pod.meta.namespace, kind, name: "" };
        let here = id(WorkloadKind::ReplicaSet)..id(WorkloadKind::StatefulSet);
        self.by_id.range(here).find(|(_, set)| pod.is_active() && set.adopts(pod)).map(|(id, _)| *id)
    }

    /// The set that releases the pod.
    pub(crate) fn releaser(&self, pod: &'a Pod) -> Option<WorkloadRef<'a>> {
        self.referred(pod).filter(|_| self.owner(pod).is_none())
    }

    /// The set that the pod's controller reference names. If the input has that set, the UID must agree, too.
    fn referred(&self, pod: &'a Pod) -> Option<WorkloadRef<'a>> {
        let owner = pod.meta.controller.as_ref()?;
        let kind = owner.workload_kind().filter(|kind| kind.is_set())?;
        let id = WorkloadRef { namespace: &pod.meta.namespace, kind, name: &owner.name };
        self.get(id).is_none_or(|set| set.meta.uid == owner.uid).then_some(id)
    }

    /// The controller of a set, once its Deployment has released or adopted it.
    pub(crate) fn controller<'s>(&'s self, set: &'s ReplicaSet) -> Option<&'s OwnerReference> {
        self.by_id.get(&set.id())?.controller.as_deref()
    }

    /// The Deployment that controls a set, if it is in the input.
    pub(crate) fn deployment(&self, set: &ReplicaSet) -> Option<&'a Deployment> {
        let owner = self.controller(set)?;
        self.input.deployments.iter().find(|entry| entry.meta.uid == owner.uid)
    }

    /// Returns the `ReplicaSets` of the controller with this UID, including those that are being deleted.
    pub(crate) fn controlled_by<'s>(&'s self, uid: &'s str) -> impl Iterator<Item = &'a ReplicaSet> + 's {
        let is_its = move |set: &&Listed<'a>| set.controller.as_ref().is_some_and(|theirs| theirs.uid == uid);
        let sets = self.by_id.values().filter(|set| set.entry.kind == WorkloadKind::ReplicaSet);
        sets.filter(is_its).map(|set| set.entry)
    }
}
