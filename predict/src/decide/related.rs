//! Which pods count towards a set's ranks. Looks at the input alone.

use crate::snapshot::{Pod, ReplicaSet, Selector, Sets, WorkloadKind, WorkloadRef};

/// The pods that are related to a set's own.
pub(crate) enum Related<'a> {
    /// None, so that every rank is 0: Kubernetes counts no pods for a set without a controller, nor for a
    /// `ReplicationController`.
    Nobody,
    /// Only the set's own pods, because the set is not in the input, and most sets have a controller.
    Own,
    /// The pods that any `ReplicaSet` of the same controller selects, each in that set's namespace.
    Selected(Vec<(&'a str, Selector<'a>)>),
}

impl<'a> Related<'a> {
    pub(crate) fn of(id: WorkloadRef<'_>, set: Option<&'a ReplicaSet>, sets: &Sets<'a>) -> Self {
        let is_replica_set = id.kind == WorkloadKind::ReplicaSet;
        let controller = set.and_then(|set| sets.controller(set)).filter(|_| is_replica_set);
        let Some(controller) = controller else {
            let is_known = set.is_some() || !is_replica_set;
            return if is_known { Self::Nobody } else { Self::Own };
        };
        let mut selected = Vec::new();
        for set in sets.controlled_by(&controller.uid) {
            selected.extend(set.selector().map(|selector| (set.meta.namespace.as_str(), selector)));
        }
        Self::Selected(selected)
    }

    pub(crate) fn contains(&self, pod: &Pod, is_own: bool) -> bool {
        match self {
            Self::Own => is_own,
            Self::Nobody => false,
            Self::Selected(selected) => selected.iter().any(|(namespace, selector)| {
                pod.meta.namespace == *namespace && selector.matches(&pod.meta.labels)
            }),
        }
    }
}
