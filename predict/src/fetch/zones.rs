//! The zones of nodes, as far as an input tells them.

use crate::snapshot::{Snapshot, ZONE_LABEL};
use std::collections::BTreeMap;

impl Snapshot {
    /// Returns the zone of each node whose zone the input tells, by the name of the node.
    pub fn zones(&self) -> BTreeMap<&str, &str> {
        let of_pods = self
            .pods
            .iter()
            .filter_map(|pod| Some((&**pod.node.as_ref()?, &**pod.meta.labels.get(ZONE_LABEL)?)));
        // What a node says itself counts.
        let of_nodes = self
            .nodes
            .iter()
            .filter_map(|node| Some((&*node.meta.name, &**node.meta.labels.get(ZONE_LABEL)?)));
        of_pods.chain(of_nodes).collect()
    }
}
