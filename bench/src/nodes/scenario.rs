//! What runs: the workloads, from a seed.

use fastrand::Rng;

/// How large a simulated cluster is.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of workloads.
    pub workloads: u32,
    /// How many of 100 workloads never scale.
    pub never: u32,
}

/// A workload before it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// How many pods it has at the highest load.
    pub replicas: u32,
    /// How much of a node each of its pods requests: [`ROOM`] is all of one.
    pub request: u32,
    /// Whether it ever scales.
    pub scales: bool,
}

/// What a node has room for.
pub const ROOM: u32 = 20;

impl Scenario {
    /// 100 nodes and 60 workloads, of which 30% never scale.
    pub const USUAL: Self = Self { nodes: 100, workloads: 60, never: 30 };

    /// Returns the workloads, those that never scale first: these have 1 to 5 pods, the others 4 to 16.
    #[must_use]
    pub fn workloads(&self, seed: u64) -> Vec<Workload> {
        let mut random = Rng::with_seed(seed);
        let never = self.workloads * self.never / 100;
        (0..self.workloads)
            .map(|number| {
                let scales = number >= never;
                let replicas = random.u32(if scales { 4..=16 } else { 1..=5 });
                Workload { replicas, request: random.u32(1..=4), scales }
            })
            .collect()
    }
}
