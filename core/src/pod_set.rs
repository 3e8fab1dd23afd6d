//! From node names to victims, in a fixed amount of memory.

use crate::node::node_number;
use crate::{Flags, InvalidPod, NodeCounts, Pod, Policy};
use core::fmt;
use heapless::Vec;

/// A set of up to `PODS` pods on up to `NODES` nodes. It counts ranks by node name and selects victims,
/// without an allocator.
///
/// It takes 64 bytes and a 4-byte index per pod, and a name and a count per node. It borrows node names for
/// as long as it lives. Give `NODES` a third more than there are nodes: the fuller the table of names, the
/// longer it takes to find one.
///
/// ```
/// use podrank::{Flags, Phase, Pod, PodSet, Policy, Uid};
///
/// let pod = |uid| Pod {
///     uid: Uid::from_bytes([uid; 16]),
///     phase: Phase::RUNNING,
///     flags: Flags::READY,
///     ..Pod::new()
/// };
/// let mut set = PodSet::<8, 4>::new();
/// set.push(pod(1), "worker-a").unwrap();
/// set.push(pod(2), "worker-b").unwrap();
/// set.push(pod(3), "worker-b").unwrap();
///
/// // worker-b runs two of the three pods: they are deleted first, the one with UID 2 before the one with UID 3.
/// assert_eq!(set.victims(&Policy::without_now(), 2), [1, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct PodSet<'n, const PODS: usize, const NODES: usize> {
    pods: Vec<Pod, PODS>,
    victims: [u32; PODS],
    names: [Option<&'n str>; NODES],
    counts: NodeCounts<[u32; NODES]>,
}

/// Why a [`PodSet`] rejects a pod. The set is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PodSetError {
    /// The set already holds `PODS` pods.
    PodsFull,
    /// The pod is on a new node, and the set already knows `NODES` nodes.
    NodesFull,
    /// [`Pod::validate`] rejects the record.
    Invalid(InvalidPod),
}

impl<'n, const PODS: usize, const NODES: usize> PodSet<'n, PODS, NODES> {
    /// Returns an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { pods: Vec::new(), victims: [0; PODS], names: [None; NODES], counts: NodeCounts::zero() }
    }

    /// Adds a pod on the node with this name, or an unassigned pod if the name is empty. The set fills in the node
    /// number and [`Flags::ASSIGNED`], and when you ask for victims, the rank.
    ///
    /// # Errors
    /// [`PodSetError`] says why the pod was rejected. In that case the set is unchanged.
    pub fn push(&mut self, pod: Pod, node: &'n str) -> Result<(), PodSetError> {
        pod.validate().map_err(PodSetError::Invalid)?;
        if self.pods.is_full() {
            return Err(PodSetError::PodsFull);
        }
        let pod = self.count(pod, node)?;
        self.pods.push(pod).map_err(|_| PodSetError::PodsFull)
    }

    /// Counts an active pod that is related to the pods of the set but cannot be a victim, such as one from
    /// another `ReplicaSet` of the same Deployment. An empty name means that it is unassigned.
    ///
    /// # Errors
    /// [`PodSetError::NodesFull`] if the name is new and the set already knows `NODES` nodes. In that case
    /// the set is unchanged.
    pub fn push_related(&mut self, node: &'n str) -> Result<(), PodSetError> {
        self.count(Pod::new(), node).map(|_| ())
    }

    /// Counts the ranks and returns the first `k` pods of the order, or all if there are fewer, in deletion
    /// order. Pods are numbered from 0 in the order in which they were pushed.
    pub fn victims(&mut self, policy: &Policy, k: usize) -> &[u32] {
        for pod in &mut self.pods {
            pod.rank = self.counts.rank(pod).unwrap_or(pod.rank);
        }
        let k = k.min(PODS);
        let victims = self.victims.get_mut(..k).unwrap_or_default();
        policy.select(&self.pods, victims).unwrap_or_default()
    }

    /// Returns how many pods were pushed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pods.len()
    }

    /// Returns whether no pod was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    /// Forgets all pods and nodes.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the pods in the order in which they were pushed, with their ranks as of the last call that
    /// returned victims.
    #[must_use]
    pub fn pods(&self) -> &[Pod] {
        &self.pods
    }

    /// Counts `pod` on `node` and returns it with its node number and [`Flags::ASSIGNED`].
    fn count(&mut self, pod: Pod, node: &'n str) -> Result<Pod, PodSetError> {
        let assigned = !node.is_empty();
        let slot = if assigned {
            let slot = node_number(&self.names, node.as_bytes(), |held| held.map(str::as_bytes));
            let slot = slot.ok_or(PodSetError::NodesFull)?;
            *self.names.get_mut(slot as usize).ok_or(PodSetError::NodesFull)? = Some(node);
            slot
        } else {
            0
        };
        let placed = Pod { node: slot, flags: pod.flags.with(Flags::ASSIGNED, assigned), ..pod };
        self.counts.add(&placed).map_err(|_| PodSetError::NodesFull)?;
        Ok(placed)
    }
}

impl<const PODS: usize, const NODES: usize> Default for PodSet<'_, PODS, NODES> {
    /// Returns [`PodSet::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for PodSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodsFull => f.write_str("the set is full: give it a larger PODS"),
            Self::NodesFull => {
                f.write_str("the set knows too many nodes to add another: give it a larger NODES")
            }
            Self::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl core::error::Error for PodSetError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Invalid(invalid) => Some(invalid),
            Self::PodsFull | Self::NodesFull => None,
        }
    }
}
