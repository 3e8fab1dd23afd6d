//! The zones of nodes, for those who show pods by zone: no decision reads them. A node says its zone itself, and newer
//! releases of Kubernetes copy it to its pods.

use crate::input::Input;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(crate) const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// What is kept from a node.
#[derive(Debug)]
pub(crate) struct NodeEntry {
    pub(crate) name: String,
    pub(crate) zone: String,
}

/// Returns the node if it has a zone. A node is no part of the decision, so an invalid one is no error.
pub(crate) fn read(object: &RawValue) -> Option<NodeEntry> {
    #[derive(Deserialize)]
    struct Node {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        name: String,
        labels: Option<BTreeMap<String, String>>,
    }
    let Node { metadata } = serde_json::from_str(object.get()).ok()?;
    let zone = metadata.labels?.remove(ZONE_LABEL)?;
    Some(NodeEntry { name: metadata.name, zone })
}

impl Input {
    /// Returns the zone of each node whose zone the input tells, by the name of the node.
    pub fn zones(&self) -> BTreeMap<&str, &str> {
        let of_pods =
            self.pods.iter().filter_map(|pod| Some((pod.node()?, pod.labels.get(ZONE_LABEL)?.as_str())));
        // What a node says itself counts.
        of_pods.chain(self.nodes.iter().map(|node| (&*node.name, &*node.zone))).collect()
    }
}
