//! One `ScaleDownPolicy` of podrank-webhook: whose pods it chooses. Which ones is not repeated. Reads one object's JSON text.

use crate::object::selector::{LabelSelector, Selector};
use crate::object::time::{Time, time};
use crate::words::error::parse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// What is kept from a policy.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    selector: LabelSelector,
    /// Whether it also chooses among the pods that a rollout takes.
    pub(crate) in_rollouts: bool,
    /// When it was created, in nanoseconds since the Unix epoch: of several, the oldest counts.
    pub(crate) created: Option<i64>,
    is_being_deleted: bool,
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
            creation_timestamp: Option<Time>,
            deletion_timestamp: Option<IgnoredAny>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Spec {
            selector: LabelSelector,
            #[serde(default)]
            rollouts: bool,
        }
        let Object { metadata, spec } = parse(object)?;
        Ok(Self {
            selector: spec.selector,
            in_rollouts: spec.rollouts,
            created: time(metadata.creation_timestamp.as_ref()).unix_nanos(),
            is_being_deleted: metadata.deletion_timestamp.is_some(),
        })
    }

    /// Selects sets by the labels of their pod templates, with which pods are created. `None` if it is invalid, or if the policy is
    /// being deleted.
    pub(crate) fn selector(&self) -> Option<Selector<'_>> {
        Selector::new(&self.selector).filter(|_| !self.is_being_deleted)
    }
}
