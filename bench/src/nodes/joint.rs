//! The most nodes that any choice can make empty, for all workloads together: an integer program.

use super::cluster::Cluster;
use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// Returns the most nodes that can become empty if each set loses so many pods, as numbers of nodes.
///
/// A node becomes empty if all its pods go, so of each set, the nodes that become empty may have as many pods as go, together.
///
/// # Panics
/// If the solver fails, or if its result is not a solution.
#[must_use]
pub fn empty_nodes(cluster: &Cluster, k: &[u32]) -> Vec<u32> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let is_empty: Vec<_> =
        cluster.nodes.iter().map(|node| (node.pods > 0).then(|| problem.add_binary_var(1.0))).collect();
    let mut counts = Vec::new();
    for (set, k) in cluster.sets.iter().zip(k) {
        let mut own = vec![0; cluster.nodes.len()];
        for pod in &set.pods {
            own[pod.node as usize] += 1;
        }
        let terms = own.iter().zip(&is_empty).filter(|(own, _)| **own > 0);
        let terms: Vec<_> =
            terms.filter_map(|(own, is_empty)| Some(((*is_empty)?, f64::from(*own)))).collect();
        if !terms.is_empty() {
            problem.add_constraint(&terms, ComparisonOp::Le, f64::from(*k));
        }
        counts.push(own);
    }
    let solution = problem.solve().expect("a solution").into_solution().expect("an optimal solution");
    let becomes_empty = |var: &Option<_>| var.is_some_and(|var| solution.var_value(var) > 0.5);
    let nodes: Vec<u32> =
        (0..).zip(&is_empty).filter(|(_, var)| becomes_empty(var)).map(|(node, _)| node).collect();
    for (own, k) in counts.iter().zip(k) {
        assert!(nodes.iter().map(|node| own[*node as usize]).sum::<u32>() <= *k, "more pods than go");
    }
    nodes
}
