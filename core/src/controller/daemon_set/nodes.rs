//! The nodes with their pods, without memory for either.

use super::{NO_NODE, NodeFlags, Pod, PodFlags};
use crate::select::fill_with_indices;
use crate::sort::sort;

/// All nodes, as an iterator. Each comes with its pods, those that stay longest first.
#[derive(Clone)]
pub(super) struct Nodes<'a> {
    flags: &'a [NodeFlags],
    /// The number of the next node.
    next: u32,
    pods: NodePods<'a>,
}

/// A node.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    flags: NodeFlags,
    pub(super) pods: NodePods<'a>,
}

/// Some pods.
#[derive(Clone, Copy)]
pub(super) struct NodePods<'a> {
    all: &'a [Pod],
    order: &'a [u32],
}

impl<'a> Nodes<'a> {
    /// Sorts `order`. Pods that the controller does not see are left out.
    pub(super) fn new(nodes: &'a [NodeFlags], pods: &'a [Pod], order: &'a mut [u32]) -> Self {
        fill_with_indices(order);
        let place = |index: u32| {
            let pod = pods.get(index as usize)?;
            let node = if pod.is_seen() { pod.node } else { NO_NODE };
            // Upstream's podByCreationTimestampAndPhase. An unset time is the smallest number.
            Some((node, !pod.is(PodFlags::ASSIGNED), pod.creation_time.bits(), pod.name_order, index))
        };
        sort(order, &|a, b| place(a) < place(b));
        let seen = order.partition_point(|index| place(*index).is_some_and(|place| place.0 != NO_NODE));
        let order = order.get(..seen).unwrap_or_default();
        Self { flags: nodes, next: 0, pods: NodePods { all: pods, order } }
    }

    /// Returns on how many nodes a pod may start.
    pub(super) fn wanted(&self) -> u32 {
        let may_start =
            self.flags.iter().filter(|node| node.contains(NodeFlags::EXISTS | NodeFlags::MAY_START));
        u32::try_from(may_start.count()).unwrap_or(u32::MAX)
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let flags = *self.flags.get(self.next as usize)?;
        let NodePods { all, order } = self.pods;
        let is_here = |index: &u32| all.get(*index as usize).is_some_and(|pod| pod.node == self.next);
        let len = order.iter().take_while(|index| is_here(index)).count();
        let (here, rest) = order.split_at_checked(len).unwrap_or_default();
        self.pods.order = rest;
        self.next = self.next.wrapping_add(1);
        Some(Node { flags, pods: NodePods { all, order: here } })
    }
}

impl<'a> Node<'a> {
    pub(super) const fn is(&self, flags: NodeFlags) -> bool {
        self.flags.contains(flags)
    }

    /// Returns the pods that are not being deleted.
    pub(super) fn staying(&self) -> impl Iterator<Item = (u32, &'a Pod)> + use<'a> {
        self.pods.iter().filter(|(_, pod)| !pod.is(PodFlags::BEING_DELETED))
    }
}

impl<'a> NodePods<'a> {
    pub(super) const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &'a Pod)> + use<'a> {
        let all = self.all;
        self.order.iter().filter_map(move |index| Some((*index, all.get(*index as usize)?)))
    }
}
