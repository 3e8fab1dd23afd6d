//! One `ScaleDownPolicy` of podrank-webhook: whose pods it chooses. Which ones is not repeated. Reads one object's JSON text.

use crate::snapshot::meta::OwnerReference;
use crate::snapshot::selector::{LabelSelector, Selector};
use crate::text::error::parse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// What is kept from a policy.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    target: Option<Target>,
    selector: Option<LabelSelector>,
    /// Whether it also chooses among the pods that a rollout deletes.
    pub(crate) in_rollouts: bool,
    is_being_deleted: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Target {
    api_version: String,
    kind: String,
    name: String,
}

impl Policy {
    pub(crate) fn read(object: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "a ScaleDownPolicy")]
        struct Object {
            metadata: Metadata,
            spec: Spec,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Metadata {
            deletion_timestamp: Option<IgnoredAny>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", expecting = "an object")]
        struct Spec {
            target_ref: Option<Target>,
            selector: Option<LabelSelector>,
            rollouts: Option<String>,
        }
        let Object { metadata, spec } = parse(object)?;
        Ok(Self {
            target: spec.target_ref,
            selector: spec.selector,
            in_rollouts: spec.rollouts.as_deref() == Some("Steer"),
            is_being_deleted: metadata.deletion_timestamp.is_some(),
        })
    }

    /// Whether it matches a set: one of these owners is the set or its controller, and its pods have one of these sets of labels. It matches
    /// none if it is invalid or being deleted.
    pub(crate) fn matches(
        &self,
        owners: &[&OwnerReference],
        labels: &BTreeSet<&BTreeMap<String, String>>,
    ) -> bool {
        match (&self.target, &self.selector) {
            _ if self.is_being_deleted => false,
            (Some(target), None) => owners.iter().any(|owner| target.is(owner)),
            (None, Some(selector)) => Selector::new(selector)
                .is_some_and(|selector| labels.iter().any(|labels| selector.matches(labels))),
            _ => false,
        }
    }

    /// Its rank among policies that match the same set: the lowest takes precedence, and then the first name.
    pub(crate) fn precedence(&self) -> u8 {
        let is_empty = |selector| Selector::new(selector).is_some_and(|selector| selector.is_empty());
        match &self.selector {
            None => 0,
            Some(selector) => 1 + u8::from(is_empty(selector)),
        }
    }
}

impl Target {
    /// Compares the group, and not the version.
    fn is(&self, owner: &OwnerReference) -> bool {
        let is_in_group = group(&self.api_version) == group(&owner.api_version);
        is_in_group && self.kind == owner.kind && self.name == owner.name
    }
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
