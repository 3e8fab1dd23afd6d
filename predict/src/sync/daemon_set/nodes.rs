//! The nodes with their pods.

use super::{DaemonPod, NodeFit};

/// A node with the pods that the controller sees there, those that are kept longest first. Each comes with its index.
pub(super) struct Node<'a> {
    pub(super) fit: NodeFit,
    pub(super) pods: Vec<(usize, &'a DaemonPod)>,
}

/// Returns all nodes with their pods.
pub(super) fn nodes<'a>(fits: &[NodeFit], pods: &'a [DaemonPod]) -> Vec<Node<'a>> {
    let mut nodes: Vec<_> = fits.iter().map(|fit| Node { fit: *fit, pods: Vec::new() }).collect();
    for (index, pod) in pods.iter().enumerate() {
        // The controller skips a pod without a node, and one of which nothing is left to do.
        if let Some(node) = pod.node.filter(|_| !(pod.is_terminating && pod.has_ended())) {
            nodes[node].pods.push((index, pod));
        }
    }
    for node in &mut nodes {
        // Upstream's podByCreationTimestampAndPhase. The pods are sorted by name already.
        node.pods.sort_by_key(|(_, pod)| (!pod.is_assigned, pod.creation_time.unix_nanos()));
    }
    nodes
}

impl<'a> Node<'a> {
    /// Returns the pods that are not being deleted.
    pub(super) fn staying(&self) -> impl Iterator<Item = (usize, &'a DaemonPod)> {
        self.pods.iter().copied().filter(|(_, pod)| !pod.is_terminating)
    }
}
