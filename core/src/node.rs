//! Nodes: numbers for their names, and ranks, which are the numbers of active related pods per node.

use crate::{Error, Pod};

/// Looks up a node name in an open-addressed table. Returns the number of the slot that holds `name`, or else of
/// the free slot in which the caller must put it. Returns `None` if the table lacks the name and is full.
///
/// `held` returns the name in a slot, or `None` if the slot is free. While at least a quarter of the slots are
/// free, the lookup inspects few of them on average. At worst, it inspects all of them.
#[must_use]
pub fn node_number<S>(slots: &[S], name: &[u8], held: impl Fn(&S) -> Option<&[u8]>) -> Option<u32> {
    let len = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    // 32-bit FNV-1a.
    let hash =
        name.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let start = hash.checked_rem(len)?;
    (start..len).chain(0..start).find(|&slot| {
        let held = slots.get(slot as usize).and_then(&held);
        // Byte by byte, because slices would be compared by `bcmp`, which minimal C libraries lack.
        held.is_none_or(|held| held.len() == name.len() && held.iter().eq(name))
    })
}

/// Counts pods per node, in one `u32` per node number: an array, or a slice that the caller owns.
///
/// Unassigned pods share one count, and their node number is not read. A count stops at `u32::MAX`.
#[derive(Clone, Debug)]
pub struct NodeCounts<C> {
    counts: C,
    unassigned: u32,
}

impl<C: AsRef<[u32]> + AsMut<[u32]>> NodeCounts<C> {
    /// Resets every count to zero. Node numbers must be below the length of `counts`.
    pub fn new(mut counts: C) -> Self {
        counts.as_mut().fill(0);
        Self { counts, unassigned: 0 }
    }

    /// Counts an active related pod.
    ///
    /// # Errors
    /// [`Error::UnknownNode`] if the node number is not below the number of counts. In that case nothing is
    /// counted.
    pub fn add(&mut self, pod: &Pod) -> Result<(), Error> {
        let count = self.count(pod)?;
        *count = count.saturating_add(1);
        Ok(())
    }

    /// Removes a counted pod from its count. Returns its rank before the removal.
    ///
    /// # Errors
    /// [`Error::UnknownNode`] if the node number is not below the number of counts. In that case nothing is
    /// changed.
    pub(crate) fn remove(&mut self, pod: &Pod) -> Result<u32, Error> {
        let count = self.count(pod)?;
        let rank = *count;
        *count = rank.saturating_sub(1);
        Ok(rank)
    }

    /// Returns the count of the pod's node.
    fn count(&mut self, pod: &Pod) -> Result<&mut u32, Error> {
        if !pod.is_assigned() {
            return Ok(&mut self.unassigned);
        }
        let counts = self.counts.as_mut();
        let unknown = Error::UnknownNode { node: pod.node, nodes: counts.len() };
        counts.get_mut(pod.node as usize).ok_or(unknown)
    }

    /// Returns the pod's rank: how many pods were counted on its node.
    ///
    /// # Errors
    /// [`Error::UnknownNode`] if the node number is not below the number of counts.
    pub fn rank(&self, pod: &Pod) -> Result<u32, Error> {
        if !pod.is_assigned() {
            return Ok(self.unassigned);
        }
        let counts = self.counts.as_ref();
        let unknown = Error::UnknownNode { node: pod.node, nodes: counts.len() };
        counts.get(pod.node as usize).copied().ok_or(unknown)
    }
}

impl<const NODES: usize> NodeCounts<[u32; NODES]> {
    pub(crate) const fn zero() -> Self {
        Self { counts: [0; NODES], unassigned: 0 }
    }
}

/// Sets the rank of every pod to the number of pods on its node, counting both `pods` and `others`. In `others` are
/// all other related pods that are active. Pods are related if they belong to the same `ReplicaSet`, or if their
/// `ReplicaSet`s have the same controller, such as one Deployment. `counts` is scratch memory: one `u32` per node
/// number.
///
/// Kubernetes counts ranks once, before it sorts, and not again as it deletes pods.
///
/// # Errors
/// [`Error::UnknownNode`] if a node number is not below the length of `counts`. In that case no rank
/// changes.
pub fn count_ranks(pods: &mut [Pod], others: &[Pod], counts: &mut [u32]) -> Result<(), Error> {
    let mut counts = NodeCounts::new(counts);
    for pod in pods.iter().chain(others) {
        counts.add(pod)?;
    }
    for pod in pods {
        pod.rank = counts.rank(pod)?;
    }
    Ok(())
}
