//! One scale-down: every workload that scales deletes half of its pods, in one step or in several.

use super::cluster::Cluster;
use super::joint;
use super::rule::Rule;
use super::scenario::Scenario;

/// Returns the cluster before it.
#[must_use]
pub fn start(scenario: &Scenario, seed: u64) -> Cluster {
    let replicas: Vec<_> = scenario.workloads(seed).iter().map(|workload| workload.replicas).collect();
    Cluster::new(scenario, seed, &replicas)
}

/// Returns how many pods of each set go.
#[must_use]
pub fn falls(cluster: &Cluster) -> Vec<u32> {
    let workloads = cluster.sets.iter().map(|set| set.workload);
    workloads.map(|workload| if workload.scales { workload.replicas / 2 } else { 0 }).collect()
}

/// Returns how many nodes become empty if each set takes its pods by this rule, in so many steps: in each, one set after the
/// other loses its share.
#[must_use]
pub fn freed(start: &Cluster, rule: Rule, steps: u32) -> u32 {
    let mut cluster = start.clone();
    let falls = falls(start);
    for step in 0..steps {
        for (set, fall) in falls.iter().enumerate() {
            let k = fall * (step + 1) / steps - fall * step / steps;
            let victims = rule.victims(&cluster, set, k as usize);
            cluster.remove(set, &victims);
        }
    }
    start.in_use() - cluster.in_use()
}

/// Returns how many nodes could become empty if all sets chose together.
///
/// # Panics
/// If there are 2^32 nodes.
#[must_use]
pub fn jointly_freed(start: &Cluster) -> u32 {
    u32::try_from(joint::empty_nodes(start, &falls(start)).len()).expect("few nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Scenario = Scenario { nodes: 14, workloads: 8, never: 25 };

    /// Clusters in which nodes have few pods, so that some become empty. In half of the clusters, pods have already
    /// been deleted.
    fn clusters() -> impl Iterator<Item = Cluster> {
        (0..40).map(|seed| {
            let mut cluster = start(&SMALL, seed);
            for set in (0..cluster.sets.len()).filter(|_| seed % 2 == 0) {
                let victims = Rule::Fewest.victims(&cluster, set, cluster.sets[set].pods.len() / 2);
                cluster.remove(set, &victims);
            }
            cluster
        })
    }

    /// All choices of nodes, one by one.
    #[test]
    fn the_joint_optimum_is_the_most_of_all_choices() {
        for cluster in clusters() {
            let falls = falls(&cluster);
            let on =
                |set: usize, node: u32| cluster.sets[set].pods.iter().filter(|pod| pod.node == node).count();
            let own: Vec<Vec<usize>> =
                (0..falls.len()).map(|set| (0..SMALL.nodes).map(|node| on(set, node)).collect()).collect();
            let used: u32 =
                (0..).zip(&cluster.nodes).filter(|(_, node)| node.pods > 0).map(|(at, _)| 1_u32 << at).sum();
            let is_possible = |choice: u32| {
                let nodes = || (0..SMALL.nodes as usize).filter(|node| choice >> node & 1 == 1);
                own.iter()
                    .zip(&falls)
                    .all(|(own, fall)| nodes().map(|node| own[node]).sum::<usize>() <= *fall as usize)
            };
            let choices = (0..1_u32 << SMALL.nodes).filter(|choice| choice & !used == 0);
            let most = choices.filter(|choice| is_possible(*choice)).map(u32::count_ones).max();
            assert_eq!(most, Some(jointly_freed(&cluster)));
        }
    }
}
