//! Ranks that count again after each pick, all at once.

use crate::node::NodeCounts;
use crate::select::fill_with_indices;
use crate::sort::sort;
use crate::{OrderError, Pod, Policy, UnknownNode};
use core::fmt;

/// Why [`Policy::spread`] gives no ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpreadError {
    /// An assigned pod's node number is not below the number of counts.
    UnknownNode(UnknownNode),
    /// There are too many pods, or `order` is shorter than the list of pods.
    Order(OrderError),
}

impl Policy {
    /// Ranks by which the pods to go are always taken from where most are *then*: sorted by these, the pods come in
    /// the order in which they would if one went at a time and the rest were counted anew. Kubernetes counts once
    /// (see [`count_ranks`](crate::count_ranks)): of three pods on one node and two on another, three that go empty the first.
    ///
    /// The rank is marginal: how many pods of its node are left when it is a pod's turn, itself and the related `others`
    /// included. Turns among the pods of a node go by the order, with the ranks as they are: leave these at 0.
    ///
    /// A node may be any domain with a number. For zones of nodes, call it with the node numbers, set each pod's
    /// [`node`](Pod::node) to the number of its zone, and call it again: then each zone gives the pod that its
    /// own nodes would, and the zone with the most pods gives the next. Any number of levels will do, the innermost first.
    /// Unassigned pods share a domain of their own.
    ///
    /// `counts` is scratch of one number per node number, `order` of one index per pod. Takes O(n log n) steps.
    ///
    /// # Errors
    /// See [`SpreadError`]; then no rank is changed.
    pub fn spread(
        &self,
        pods: &mut [Pod],
        others: &[Pod],
        counts: &mut [u32],
        order: &mut [u32],
    ) -> Result<(), SpreadError> {
        let mut counts = NodeCounts::new(counts);
        for pod in pods.iter().chain(others) {
            counts.add(pod)?;
        }
        self.spread_counted(pods, &mut counts, order)
    }

    /// As [`spread`](Policy::spread), with all pods counted. Leaves the others counted.
    pub(crate) fn spread_counted<C: AsRef<[u32]> + AsMut<[u32]>>(
        &self,
        pods: &mut [Pod],
        counts: &mut NodeCounts<C>,
        order: &mut [u32],
    ) -> Result<(), SpreadError> {
        if u32::try_from(pods.len()).is_err() {
            return Err(SpreadError::Order(OrderError::TooManyPods));
        }
        let short = OrderError::ShortBuffer { len: order.len(), pods: pods.len() };
        let order = order.get_mut(..pods.len()).ok_or(SpreadError::Order(short))?;
        fill_with_indices(order);
        sort(order, &|a, b| self.index_goes_before(pods, a, b));
        for &index in &*order {
            if let Some(pod) = pods.get_mut(index as usize) {
                pod.rank = counts.remove(pod)?;
            }
        }
        Ok(())
    }
}

impl From<UnknownNode> for SpreadError {
    fn from(error: UnknownNode) -> Self {
        Self::UnknownNode(error)
    }
}

impl fmt::Display for SpreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(unknown) => unknown.fmt(f),
            Self::Order(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SpreadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(match self {
            Self::UnknownNode(unknown) => unknown,
            Self::Order(error) => error,
        })
    }
}
