//! One `ScaleDownPolicy` of podrank-webhook: whose pods it chooses. Which ones is not repeated.

use crate::snapshot::{LabelSelector, Metadata, OwnerReference, Selector, TargetReference};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A policy.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a ScaleDownPolicy")]
pub(crate) struct Policy {
    #[serde(rename = "metadata")]
    pub(crate) meta: Metadata,
    spec: Spec,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Spec {
    target_ref: Option<TargetReference>,
    selector: Option<LabelSelector>,
    rollouts: Option<String>,
}

impl Policy {
    /// Whether it also chooses among the pods that a rollout deletes.
    pub(crate) fn is_for_rollouts(&self) -> bool {
        self.spec.rollouts.as_deref() == Some("Steer")
    }

    /// Whether it matches a set: one of these owners is the set or its controller, and its pods have one of these sets of labels. It matches
    /// none if it is invalid or being deleted.
    pub(crate) fn matches(
        &self,
        owners: &[&OwnerReference],
        labels: &BTreeSet<&BTreeMap<String, String>>,
    ) -> bool {
        match (&self.spec.target_ref, &self.spec.selector) {
            _ if self.meta.deletion.is_some() => false,
            (Some(target), None) => owners.iter().any(|owner| is_target(target, owner)),
            (None, Some(selector)) => Selector::new(selector)
                .is_some_and(|selector| labels.iter().any(|labels| selector.matches(labels))),
            _ => false,
        }
    }

    /// Its rank among policies that match the same set: the lowest takes precedence, and then the first name.
    pub(crate) fn precedence(&self) -> u8 {
        let is_empty = |selector| Selector::new(selector).is_some_and(|selector| selector.is_empty());
        match &self.spec.selector {
            None => 0,
            Some(selector) => 1 + u8::from(is_empty(selector)),
        }
    }
}

/// Compares the group, and not the version.
fn is_target(target: &TargetReference, owner: &OwnerReference) -> bool {
    let is_in_group = group(&target.api_version) == group(&owner.api_version);
    is_in_group && target.kind == owner.kind && target.name == owner.name
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
