//! Nodes, and the pods on them: placed as kube-scheduler would, and removed by number.

use super::scenario::{ROOM, Scenario, Workload};
use crate::data::NOW;
use fastrand::Rng;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// How much is requested of its room.
    pub used: u32,
    /// How many pods it has.
    pub pods: u32,
}

/// The pods of a workload.
#[derive(Clone, Debug)]
pub struct Set {
    /// What it is.
    pub workload: Workload,
    /// Its pods: all run and are ready.
    pub pods: Vec<Pod>,
}

/// Nodes with pods.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The nodes, by number.
    pub nodes: Vec<Node>,
    /// The workloads.
    pub sets: Vec<Set>,
    random: Rng,
}

/// The time of the whole scenario.
const MOMENT: Time = Time::from_unix_nanos(NOW);

impl Cluster {
    /// Places so many pods of each workload of the scenario, in turns.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, replicas: &[u32]) -> Self {
        let nodes = vec![Node { used: 0, pods: 0 }; scenario.nodes as usize];
        let sets =
            scenario.workloads(seed).into_iter().map(|workload| Set { workload, pods: Vec::new() }).collect();
        let mut cluster = Self { nodes, sets, random: Rng::with_seed(!seed) };
        let mut pending = replicas.to_vec();
        while pending.iter().any(|pods| *pods > 0) {
            for (set, pods) in pending.iter_mut().enumerate().filter(|(_, pods)| **pods > 0) {
                *pods -= 1;
                cluster.add(set);
            }
        }
        cluster
    }

    /// Returns the order.
    #[must_use]
    pub const fn policy() -> Policy {
        Policy::at(MOMENT)
    }

    /// Returns how many nodes have pods.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        self.nodes.iter().map(|node| u32::from(node.pods > 0)).sum()
    }

    /// Adds a pod to a set, on the node that the scheduler chooses.
    ///
    /// # Panics
    /// If no node has room, because then the rules would be compared with different numbers of pods.
    pub fn add(&mut self, set: usize) {
        let node = self.choose(set).expect("a node with room: give the scenario more nodes");
        let uid = Uid::from_bytes(self.random.u128(..).to_be_bytes());
        let number = u32::try_from(node).expect("few nodes");
        let (phase, flags) = (Phase::RUNNING, Flags::ASSIGNED | Flags::READY);
        let pod =
            Pod { uid, phase, flags, node: number, creation_time: MOMENT, ready_time: MOMENT, ..Pod::new() };
        let Set { workload, pods } = &mut self.sets[set];
        pods.push(pod);
        let node = &mut self.nodes[node];
        *node = Node { used: node.used + workload.request, pods: node.pods + 1 };
    }

    /// Removes pods from a set, by index.
    pub fn remove(&mut self, set: usize, victims: &[u32]) {
        let Set { workload, pods } = &mut self.sets[set];
        let mut victims = victims.to_vec();
        victims.sort_unstable();
        for victim in victims.into_iter().rev() {
            let pod = pods.swap_remove(victim as usize);
            let node = &mut self.nodes[pod.node as usize];
            node.used -= workload.request;
            node.pods -= 1;
        }
    }

    /// The node with the highest score, by lot if there are several. As by kube-scheduler's defaults, few pods of the same workload
    /// count twice as much as much room.
    fn choose(&mut self, set: usize) -> Option<usize> {
        let Set { workload, pods } = &self.sets[set];
        let mut own = vec![0_u32; self.nodes.len()];
        for pod in pods {
            own[pod.node as usize] += 1;
        }
        let fits = |node: &Node| node.used + workload.request <= ROOM;
        let candidates = || self.nodes.iter().zip(&own).filter(|(node, _)| fits(node)).map(|(_, own)| *own);
        let (fewest, most) = (candidates().min()?, candidates().max()?);
        let score = |node: &Node, own: u32| {
            let full = 100 * (node.used + workload.request) / ROOM;
            let spread = (100 * (most + fewest - own)).checked_div(most).unwrap_or(100);
            2 * spread + (100 - full)
        };
        let (mut best, mut highest, mut ties) = (None, 0, 0);
        for (number, (node, own)) in
            self.nodes.iter().zip(&own).enumerate().filter(|(_, (node, _))| fits(node))
        {
            let score = score(node, *own);
            if best.is_none() || score > highest {
                (best, highest, ties) = (Some(number), score, 1);
            } else if score == highest {
                ties += 1;
                if self.random.u32(..ties) == 0 {
                    best = Some(number);
                }
            }
        }
        best
    }
}
