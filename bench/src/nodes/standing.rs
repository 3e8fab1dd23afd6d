//! How many writes it takes to keep deletion costs on all pods up to date, as Karpenter's RFC 2935 describes it: once a minute,
//! nodes are numbered, the one with the fewest pods first, and each pod whose cost is not its node's number gets it.

use super::cluster::Cluster;
use super::rule::places;
use podrank::{SteerScratch, Uid};
use std::collections::HashMap;

/// The costs that are there, and how many were written.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    costs: HashMap<Uid, i32>,
    /// The number of writes.
    pub writes: u32,
}

impl Standing {
    /// Writes the node's number on each pod that has another one, or none. With n nodes, the numbers start from -n.
    ///
    /// # Panics
    /// If there are 2^31 nodes.
    pub fn numbered(&mut self, cluster: &Cluster) {
        let places = places(cluster);
        let nodes = i32::try_from(places.len()).expect("few nodes");
        for pod in cluster.sets.iter().flat_map(|set| &set.pods) {
            let cost = i32::from(places[pod.node as usize]) - nodes;
            if self.costs.insert(pod.uid, cost) != Some(cost) {
                self.writes += 1;
            }
        }
    }

    /// Writes as few costs as make the same pods go first: within each set, only the order of the costs counts. A pod without a
    /// cost has 0.
    ///
    /// # Panics
    /// If core finds no costs, which would be a mistake of the simulation.
    pub fn fewest(&mut self, cluster: &Cluster) {
        let places = places(cluster);
        for set in &cluster.sets {
            let mut pods = set.pods.clone();
            for pod in &mut pods {
                pod.tier = places[pod.node as usize];
                pod.deletion_cost = self.costs.get(&pod.uid).copied().unwrap_or(0);
            }
            let (mut costs, mut scratch) = (vec![0; pods.len()], vec![SteerScratch::default(); pods.len()]);
            let steered =
                cluster.policy().steer(&pods, |_| Some(1), &mut costs, &mut scratch).expect("free costs");
            self.writes += u32::try_from(steered.changed()).expect("few pods");
            self.costs.extend(pods.iter().map(|pod| pod.uid).zip(steered.costs().iter().copied()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::once;
    use crate::nodes::scenario::Scenario;

    #[test]
    fn costs_follow_the_nodes_and_stay_if_nothing_changes() {
        let mut cluster = once::start(&Scenario { nodes: 14, workloads: 8, never: 25 }, 0);
        let (mut numbered, mut fewest) = (Standing::default(), Standing::default());
        for round in 0..40 {
            let set = round % cluster.sets.len();
            if round % 3 == 0 {
                cluster.add(set);
            } else if cluster.sets[set].pods.len() > 1 {
                cluster.remove(set, &[1]);
            }
            numbered.numbered(&cluster);
            fewest.fewest(&cluster);
            let places = places(&cluster);
            for set in &cluster.sets {
                for (a, b) in set.pods.iter().flat_map(|a| set.pods.iter().map(move |b| (a, b))) {
                    for standing in [&numbered, &fewest] {
                        let cost = |pod: &podrank::Pod| standing.costs.get(&pod.uid).copied().unwrap_or(0);
                        let place = |pod: &podrank::Pod| places[pod.node as usize];
                        assert!(place(a) >= place(b) || cost(a) < cost(b), "round {round}");
                    }
                }
            }
        }
        assert!(fewest.writes > 0 && fewest.writes < numbered.writes);
        let writes = (numbered.writes, fewest.writes);
        numbered.numbered(&cluster);
        fewest.fewest(&cluster);
        assert_eq!((numbered.writes, fewest.writes), writes);
    }
}
