//! The sets of an input by name, and the pods of each. Reads only the input.

use crate::dump::input::Input;
use crate::object::pod::PodEntry;
use crate::object::set::SetEntry;
use crate::object::workload::{WorkloadKind, WorkloadRef};
use std::collections::BTreeMap;

/// The sets of an input by name, and whose its pods are.
pub(crate) struct Sets<'a> {
    by_id: BTreeMap<WorkloadRef<'a>, &'a SetEntry>,
    /// The pods of each set, in the order of the input, also of sets that are not in it.
    pods: BTreeMap<WorkloadRef<'a>, Vec<&'a PodEntry>>,
}

impl<'a> Sets<'a> {
    /// If a set is listed twice, the first entry counts.
    pub(crate) fn of(input: &'a Input) -> Self {
        let mut by_id = BTreeMap::new();
        for set in &input.sets {
            by_id.entry(set.id()).or_insert(set);
        }
        let mut sets = Self { by_id, pods: BTreeMap::new() };
        for pod in &input.pods {
            if let Some(id) = sets.owner(pod) {
                sets.pods.entry(id).or_default().push(pod);
            }
        }
        sets
    }

    /// The pods that belong to a set, in whatever state.
    pub(crate) fn pods<'s>(&'s self, id: WorkloadRef<'s>) -> &'s [&'a PodEntry] {
        self.pods.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The sets that have pods, and of which the input may have nothing else.
    pub(crate) fn with_pods(&self) -> impl Iterator<Item = WorkloadRef<'a>> {
        self.pods.keys().copied()
    }

    pub(crate) fn get(&self, id: WorkloadRef<'_>) -> Option<&'a SetEntry> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = WorkloadRef<'a>> {
        self.by_id.keys().copied()
    }

    /// The set that the pod's controller reference names. If the input has that set, the UID must agree, too.
    pub(crate) fn owner(&self, pod: &'a PodEntry) -> Option<WorkloadRef<'a>> {
        let owner = pod.controller.as_ref()?;
        let kind = owner.workload_kind().filter(|kind| kind.is_set())?;
        let id = WorkloadRef { namespace: &pod.namespace, kind, name: &owner.name };
        self.get(id).is_none_or(|set| set.uid == owner.uid).then_some(id)
    }

    /// Returns the `ReplicaSets` of the controller with this UID, including those that are being deleted.
    pub(crate) fn controlled_by(&self, uid: &str) -> impl Iterator<Item = &'a SetEntry> {
        self.by_id.values().copied().filter(move |set| {
            let theirs = set.controller.as_ref();
            set.kind == WorkloadKind::ReplicaSet && theirs.is_some_and(|theirs| theirs.uid == uid)
        })
    }
}
