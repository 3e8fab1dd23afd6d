//! Which pods count towards a set's ranks.

use crate::error::Error;
use crate::order::Order;
use crate::pod::PodEntry;
use crate::selector::Selector;
use crate::set::{SetEntry, SetKind, Sets};

/// The pods that are related to a set's own.
pub(crate) enum Related<'a> {
    /// The set's own pods: nobody knows of others for a set without a controller, for a `ReplicationController`, and
    /// for a set that is not in the input.
    Own,
    /// None, so that every rank is 0: what Kubernetes counts for a set without a controller, and for a
    /// `ReplicationController`.
    Nobody,
    /// The pods that any `ReplicaSet` of the same controller selects, each in its namespace.
    Selected(Vec<(&'a str, Selector<'a>)>),
}

impl<'a> Related<'a> {
    pub(crate) fn of(set: Option<&'a SetEntry>, sets: &Sets<'a>, order: Order) -> Result<Self, Error> {
        let replica_set = set.filter(|set| set.id().kind == SetKind::ReplicaSet);
        let Some(controller) = replica_set.and_then(|set| set.controller.as_ref()) else {
            return Ok(if set.is_some() && order == Order::Kubernetes { Self::Nobody } else { Self::Own });
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
            Self::Nobody => false,
            Self::Selected(selected) => selected
                .iter()
                .any(|(namespace, selector)| pod.namespace == *namespace && selector.matches(&pod.labels)),
        }
    }
}
