//! Which pods count towards a set's ranks.

use crate::error::Error;
use crate::pod::PodEntry;
use crate::selector::Selector;
use crate::set::{SetEntry, SetKind, Sets};

/// The pods that are related to a set's own.
pub(crate) enum Related<'a> {
    /// The set's own pods: Kubernetes knows of no others for a set without a controller and for a
    /// `ReplicationController`, and the input for a set that is not in it.
    Own,
    /// The pods that any `ReplicaSet` of the same controller selects, each in its namespace.
    Selected(Vec<(&'a str, Selector<'a>)>),
}

impl<'a> Related<'a> {
    pub(crate) fn of(set: Option<&'a SetEntry>, sets: &Sets<'a>) -> Result<Self, Error> {
        let replica_set = set.filter(|set| set.id().kind == SetKind::ReplicaSet);
        let Some(controller) = replica_set.and_then(|set| set.controller.as_ref()) else {
            return Ok(Self::Own);
        };
        let mut selected = Vec::new();
        for set in sets.controlled_by(controller) {
            selected.extend(set.selector()?.map(|selector| (set.namespace.as_str(), selector)));
        }
        Ok(Self::Selected(selected))
    }

    pub(crate) fn contains(&self, pod: &PodEntry, is_own: bool) -> bool {
        match self {
            Self::Own => is_own,
            Self::Selected(selected) => selected
                .iter()
                .any(|(namespace, selector)| pod.namespace == *namespace && selector.matches(&pod.labels)),
        }
    }
}
