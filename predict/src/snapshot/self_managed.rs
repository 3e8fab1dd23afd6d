//! Workloads whose controllers delete pods themselves, whichever their kind.

use crate::snapshot::{
    DaemonSet, Job, LabelSelector, Metadata, OwnerReference, Pod, Selector, StatefulSet, WorkloadKind,
    WorkloadRef,
};
use std::fmt;

/// Such a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SelfManaged<'a> {
    StatefulSet(&'a StatefulSet),
    DaemonSet(&'a DaemonSet),
    Job(&'a Job),
}

impl<'a> SelfManaged<'a> {
    pub(crate) fn kind(self) -> WorkloadKind {
        match self {
            Self::StatefulSet(_) => WorkloadKind::StatefulSet,
            Self::DaemonSet(_) => WorkloadKind::DaemonSet,
            Self::Job(_) => WorkloadKind::Job,
        }
    }

    pub(crate) fn meta(self) -> &'a Metadata {
        match self {
            Self::StatefulSet(set) => &set.meta,
            Self::DaemonSet(set) => &set.meta,
            Self::Job(job) => &job.meta,
        }
    }

    fn written_selector(self) -> Option<&'a LabelSelector> {
        match self {
            Self::StatefulSet(set) => set.selector.as_ref(),
            Self::DaemonSet(set) => set.selector.as_ref(),
            Self::Job(job) => job.spec.selector.as_ref(),
        }
    }

    /// Its selector. `None` if Kubernetes calls it invalid, or if there is none.
    pub(crate) fn selector(self) -> Option<Selector<'a>> {
        self.written_selector().and_then(Selector::new)
    }

    /// Whether its status is for an earlier spec. A dump that someone wrote may lack the observed generation.
    pub(crate) fn lags(self) -> bool {
        let observed = match self {
            Self::StatefulSet(set) => set.observed_generation,
            Self::DaemonSet(set) => set.observed_generation,
            Self::Job(job) => job.status.observed_generation,
        };
        observed.is_some_and(|observed| observed < self.meta().generation)
    }

    /// The least number of pods by the status.
    pub(crate) fn status_pods(self) -> i32 {
        match self {
            Self::StatefulSet(set) => set.status_replicas,
            Self::DaemonSet(set) => set.status_nodes,
            Self::Job(job) => job.status.active,
        }
    }

    pub(crate) fn id(self) -> WorkloadRef<'a> {
        self.meta().id(self.kind())
    }

    /// Why its controller deletes no pods, whatever is asked: `is being deleted`. `None` if it does its work.
    pub(crate) fn idle(self) -> Option<String> {
        let left_alone = if let Self::Job(job) = self { job.left_alone.as_deref() } else { None };
        let why = match self.written_selector().map(Selector::new) {
            _ if self.meta().deletion.is_some() => Some("is being deleted"),
            _ if left_alone.is_some() => left_alone,
            Some(None) => Some("has an invalid selector"),
            Some(Some(selector)) if self.kind() == WorkloadKind::DaemonSet && selector.is_empty() => {
                Some("has a selector that selects all pods")
            }
            _ => None,
        };
        why.map(str::to_owned)
    }

    pub(crate) fn owns(self, pod: &Pod) -> bool {
        let owner = pod.meta.controller.as_ref().filter(|_| pod.meta.namespace == self.meta().namespace);
        owner.is_some_and(|owner| self.is(owner))
    }

    /// Whether this is the owner, given that the namespace is the same.
    pub(crate) fn is(self, owner: &OwnerReference) -> bool {
        let meta = self.meta();
        owner.name == meta.name && owner.workload_kind() == Some(self.kind()) && owner.uid == meta.uid
    }
}

impl fmt::Display for SelfManaged<'_> {
    /// The workload as messages show it: `StatefulSet default/db`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}
