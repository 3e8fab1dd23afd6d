//! A workload of an input, whichever its kind.

use crate::snapshot::{
    CountManagers, DaemonSet, Deployment, Job, LabelSelector, Metadata, OwnerReference, ReplicaSet, Selector,
    StatefulSet, WorkloadKind, WorkloadRef,
};
use std::fmt;

/// A workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Workload<'a> {
    Deployment(&'a Deployment),
    /// Or a `ReplicationController`.
    ReplicaSet(&'a ReplicaSet),
    /// A set of which the input has only pods.
    Unlisted(WorkloadRef<'a>),
    StatefulSet(&'a StatefulSet),
    DaemonSet(&'a DaemonSet),
    Job(&'a Job),
}

impl<'a> Workload<'a> {
    /// Its kind, its metadata and its selector as it is written. Of an unlisted set, only the ID is known.
    fn parts(self) -> Result<(WorkloadKind, &'a Metadata, Option<&'a LabelSelector>), WorkloadRef<'a>> {
        Ok(match self {
            Self::Deployment(entry) => (WorkloadKind::Deployment, &entry.meta, entry.selector.as_ref()),
            Self::ReplicaSet(set) => (set.kind, &set.meta, set.selector.as_ref()),
            Self::Unlisted(id) => return Err(id),
            Self::StatefulSet(set) => (WorkloadKind::StatefulSet, &set.meta, set.selector.as_ref()),
            Self::DaemonSet(set) => (WorkloadKind::DaemonSet, &set.meta, set.selector.as_ref()),
            Self::Job(job) => (WorkloadKind::Job, &job.meta, job.spec.selector.as_ref()),
        })
    }

    pub(crate) fn id(self) -> WorkloadRef<'a> {
        self.parts().map_or_else(|id| id, |(kind, meta, _)| meta.id(kind))
    }

    pub(crate) fn kind(self) -> WorkloadKind {
        self.id().kind
    }

    pub(crate) fn meta(self) -> Option<&'a Metadata> {
        self.parts().ok().map(|(_, meta, _)| meta)
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if there is none.
    pub(crate) fn selector(self) -> Option<Selector<'a>> {
        match self {
            Self::Deployment(entry) => entry.selector(),
            _ => self.parts().ok()?.2.and_then(Selector::new),
        }
    }

    /// Its replicas, and who writes them. `None` for a kind without any.
    pub(crate) fn replicas(self) -> Option<(i32, &'a CountManagers)> {
        match self {
            Self::Deployment(entry) => Some((entry.record.replicas, &entry.managers)),
            Self::ReplicaSet(set) => Some((set.record.replicas, &set.managers)),
            Self::StatefulSet(set) => Some((set.record.replicas, &set.managers)),
            Self::Unlisted(_) | Self::DaemonSet(_) | Self::Job(_) => None,
        }
    }

    /// Why its controller deletes no pods, whatever is asked: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(self) -> Option<&'a str> {
        let (_, meta, written) = self.parts().ok()?;
        match (self, self.selector()) {
            _ if meta.deletion.is_some() => Some("is being deleted"),
            (Self::Job(Job { left_alone: Some(why), .. }), _) => Some(why),
            (Self::Deployment(_), None) => Some("has a selector that is invalid or selects all pods"),
            (Self::DaemonSet(_), Some(selector)) if selector.is_empty() => {
                Some("has a selector that selects all pods")
            }
            (_, None) if written.is_some() => Some("has an invalid selector"),
            _ => None,
        }
    }

    /// Whether it controls the object with this metadata, a pod or a revision.
    pub(crate) fn owns(self, object: &Metadata) -> bool {
        let WorkloadRef { namespace, kind, name } = self.id();
        let is_it = |owner: &OwnerReference| {
            owner.name == name
                && owner.workload_kind() == Some(kind)
                && self.meta().is_some_and(|meta| owner.uid == meta.uid)
        };
        object.namespace == namespace && object.controller.as_ref().is_some_and(is_it)
    }
}

impl fmt::Display for Workload<'_> {
    /// The workload as messages show it: `StatefulSet default/db`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}
