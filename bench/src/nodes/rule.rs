//! Rules that choose the victims among the pods of one set. Core sorts, whatever the rule.

use super::cluster::Cluster;
use podrank::{EmptyNodesScratch, Neighbour, Pod, count_ranks, empty_nodes, node_weights};

/// What decides which pods go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Kubernetes' order, as it is.
    Default,
    /// Pods on two nodes of five first: the spot nodes, say.
    Prefer,
    /// Pods on the nodes with the fewest pods first, whosever they are: KEP-5982 and Karpenter's RFC.
    Fewest,
    /// podrank's whole nodes.
    Whole,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Default, Self::Prefer, Self::Fewest, Self::Whole];

    /// Its name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "Kubernetes' order",
            Self::Prefer => "preferred nodes first",
            Self::Fewest => "fewest pods first",
            Self::Whole => "whole nodes (podrank)",
        }
    }

    /// Returns the first `k` pods of a set, by index.
    ///
    /// # Panics
    /// If core rejects the cluster, which would be a mistake of the simulation.
    #[must_use]
    pub fn victims(self, cluster: &Cluster, set: usize, k: usize) -> Vec<u32> {
        let policy = Cluster::policy();
        let mut pods = cluster.sets[set].pods.clone();
        let mut counts = vec![0; cluster.nodes.len()];
        count_ranks(&mut pods, &[], &mut counts).expect("known nodes");
        match self {
            Self::Default => {}
            Self::Prefer => {
                for pod in &mut pods {
                    pod.tier = u16::from(pod.node % 5 >= 2);
                }
            }
            Self::Fewest => {
                let places = places(cluster);
                for pod in &mut pods {
                    pod.tier = places[pod.node as usize];
                }
            }
            Self::Whole => whole(cluster, set, &mut pods, &mut counts),
        }
        let mut victims = vec![0; k.min(pods.len())];
        policy.select(&pods, &mut victims).expect("few pods");
        victims
    }
}

/// The place of each node, the one with the fewest pods first. Equal ones go by number, so that a set takes one after the other.
fn places(cluster: &Cluster) -> Vec<u16> {
    let mut nodes: Vec<_> = (0..cluster.nodes.len()).collect();
    nodes.sort_by_key(|&node| cluster.nodes[node].pods);
    let mut places = vec![0; nodes.len()];
    for (place, node) in (0..).zip(nodes) {
        places[node] = place;
    }
    places
}

/// Makes core's tiers for whole nodes.
fn whole(cluster: &Cluster, own: usize, pods: &mut [Pod], counts: &mut [u32]) {
    let others = (0_u32..).zip(&cluster.sets).filter(|(set, _)| *set as usize != own);
    let mut others: Vec<_> = others
        .flat_map(|(set, of)| of.pods.iter().map(move |pod| Neighbour { set, node: pod.node }))
        .collect();
    let mut weights = vec![0; cluster.nodes.len()];
    node_weights(&mut others, &mut weights).expect("known nodes");
    let mut scratch = vec![EmptyNodesScratch::default(); pods.len()];
    empty_nodes(pods, &weights, &[], counts, &mut scratch).expect("few pods");
}
