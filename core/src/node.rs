//! Nodes: numbers for their names, and ranks, how many active related pods share one.

use crate::Pod;
use core::fmt;

/// An assigned pod's node number is not below the number of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNode {
    /// The node number.
    pub node: u32,
    /// How many nodes are counted.
    pub nodes: usize,
}

/// Returns the number of the node `name`: that of the slot that holds it in an open-addressed table of node names, or
/// that of a free slot in which the caller must put it. `None` if the table lacks the name and is full. `held` returns
/// the name in a slot, or `None` if the slot is free.
///
/// While at least a quarter of the slots are free, it inspects few slots on average; at worst, it inspects all.
#[must_use]
pub fn node_number<S>(slots: &[S], name: &[u8], held: impl Fn(&S) -> Option<&[u8]>) -> Option<u32> {
    let len = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    // 32-bit FNV-1a.
    let hash =
        name.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let start = hash.checked_rem(len)?;
    (start..len).chain(0..start).find(|&slot| {
        let held = slots.get(slot as usize).and_then(&held);
        // Byte by byte: as slices they would be compared by `bcmp`, which bare C libraries lack.
        held.is_none_or(|held| held.len() == name.len() && held.iter().eq(name))
    })
}

/// Counts pods per node, in one `u32` per node number: an array, or a slice of the caller.
///
/// Unassigned pods share one count of their own, and their node number is not read. A count stops at
/// `u32::MAX`.
#[derive(Clone, Debug)]
pub struct NodeCounts<C> {
    counts: C,
    unassigned: u32,
}

impl<C: AsRef<[u32]> + AsMut<[u32]>> NodeCounts<C> {
    /// Starts at no pods anywhere, whatever `counts` held. Node numbers are those below its length.
    pub fn new(mut counts: C) -> Self {
        counts.as_mut().fill(0);
        Self { counts, unassigned: 0 }
    }

    /// Counts an active related pod.
    ///
    /// # Errors
    /// [`UnknownNode`] for a node number beyond the counts; then nothing is counted.
    pub fn add(&mut self, pod: &Pod) -> Result<(), UnknownNode> {
        let count = self.count(pod)?;
        *count = count.saturating_add(1);
        Ok(())
    }

    /// Counts a pod no longer. Returns its rank until now.
    pub(crate) fn remove(&mut self, pod: &Pod) -> Result<u32, UnknownNode> {
        let count = self.count(pod)?;
        let rank = *count;
        *count = rank.saturating_sub(1);
        Ok(rank)
    }

    fn count(&mut self, pod: &Pod) -> Result<&mut u32, UnknownNode> {
        if !pod.is_assigned() {
            return Ok(&mut self.unassigned);
        }
        let counts = self.counts.as_mut();
        let unknown = UnknownNode { node: pod.node, nodes: counts.len() };
        counts.get_mut(pod.node as usize).ok_or(unknown)
    }

    /// How many pods were counted where this pod is: its rank.
    ///
    /// # Errors
    /// [`UnknownNode`] for a node number beyond the counts.
    pub fn rank(&self, pod: &Pod) -> Result<u32, UnknownNode> {
        if !pod.is_assigned() {
            return Ok(self.unassigned);
        }
        let counts = self.counts.as_ref();
        let unknown = UnknownNode { node: pod.node, nodes: counts.len() };
        counts.get(pod.node as usize).copied().ok_or(unknown)
    }
}

impl<const NODES: usize> NodeCounts<[u32; NODES]> {
    pub(crate) const fn zero() -> Self {
        Self { counts: [0; NODES], unassigned: 0 }
    }
}

/// Sets the rank of every pod to the number of pods on its node, among `pods` and the `others` related to
/// them together. `counts` is scratch: one `u32` per node number.
///
/// Kubernetes fixes ranks before it sorts and does not count again as pods go.
///
/// # Errors
/// [`UnknownNode`] for a node number beyond `counts`; then no rank is changed.
pub fn count_ranks(pods: &mut [Pod], others: &[Pod], counts: &mut [u32]) -> Result<(), UnknownNode> {
    let mut counts = NodeCounts::new(counts);
    for pod in pods.iter().chain(others) {
        counts.add(pod)?;
    }
    for pod in pods {
        pod.rank = counts.rank(pod)?;
    }
    Ok(())
}

impl fmt::Display for UnknownNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node number {} where there are {} nodes", self.node, self.nodes)
    }
}

impl core::error::Error for UnknownNode {}
