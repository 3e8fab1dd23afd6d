//! Ranks that are counted again after each pick, computed in one pass.

use crate::node::NodeCounts;
use crate::select::fill_with_indices;
use crate::sort::sort;
use crate::{Error, Pod, Policy};

impl Policy {
    /// Sets ranks such that each victim comes from the node that has the most pods *at that time*, as if you
    /// deleted one pod at a time and counted again after each. The rules before [`Rule::Rank`](crate::Rule::Rank)
    /// still come first. Kubernetes counts once (see [`count_ranks`](crate::count_ranks)): with three pods on one
    /// node and two on another, if three are deleted, all three are from the first node.
    ///
    /// A pod's rank becomes the number of pods that remain on its node when its turn comes: this includes itself,
    /// the other `pods` and the `others`, which are related pods that cannot be victims. The ranks are input and
    /// output: the old ranks take part in the order of the pods of each node, and then they are overwritten. So set
    /// them to 0 before you spread, but not between the levels that the next paragraph describes.
    ///
    /// A node can be any domain with a number, such as a zone. To spread over zones and, within each zone, over
    /// nodes: call this with the node numbers; keep the ranks, but set each pod's [`node`](Pod::node) to the
    /// number of its zone, also in `others`; and call it again. Any number of levels is possible: start with the
    /// innermost. Unassigned pods share a domain of their own.
    ///
    /// `counts` and `order` are scratch memory: one `u32` per node number, and one per pod. The call takes O(n log n)
    /// steps.
    ///
    /// # Errors
    /// [`Error::UnknownNode`] if a node number is not below the number of counts, [`Error::ShortBuffer`] if `order` is
    /// shorter than `pods`, and [`Error::TooManyPods`]. In that case no rank changes.
    pub fn spread(
        &self,
        pods: &mut [Pod],
        others: &[Pod],
        counts: &mut [u32],
        order: &mut [u32],
    ) -> Result<(), Error> {
        let mut counts = NodeCounts::new(counts);
        for pod in pods.iter().chain(others) {
            counts.add(pod)?;
        }
        self.spread_counted(pods, &mut counts, order)
    }

    /// Does what [`spread`](Policy::spread) does, but does not count the pods, which the caller has done.
    pub(crate) fn spread_counted<C: AsRef<[u32]> + AsMut<[u32]>>(
        &self,
        pods: &mut [Pod],
        counts: &mut NodeCounts<C>,
        order: &mut [u32],
    ) -> Result<(), Error> {
        if u32::try_from(pods.len()).is_err() {
            return Err(Error::TooManyPods);
        }
        let short = Error::ShortBuffer { len: order.len(), needed: pods.len() };
        let order = order.get_mut(..pods.len()).ok_or(short)?;
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
