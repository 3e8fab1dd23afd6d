//! Nodes, and the pods on them: placed as kube-scheduler would, and removed by number.

use super::scenario::{ROOM, Scenario, Workload};
use fastrand::Rng;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};

/// How kube-scheduler scores nodes that have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The defaults: nodes with few pods of the same workload (weight 2), then with much room (weight 1).
    Spreading,
    /// The same, and somebody taints nodes `PreferNoSchedule` (weight 3) as they become empty, until they are used again.
    Tainted,
    /// The nodes with the least room: `MostAllocated`, without spreading.
    Packing,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Spreading, Self::Tainted, Self::Packing];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spreading => "spreading",
            Self::Tainted => "spreading, taints",
            Self::Packing => "packing",
        }
    }
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// How much is requested of its room.
    pub used: u32,
    /// How many pods it has.
    pub pods: u32,
    /// Whether it has the taint `PreferNoSchedule`.
    pub is_tainted: bool,
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
    scheduler: Scheduler,
    random: Rng,
    minute: u32,
}

const MINUTE: i64 = 60 * 1_000_000_000;

/// The moment of the first minute: 2026-03-10T12:00:00Z.
const START: i64 = 1_773_144_000_000_000_000;

impl Cluster {
    /// Places so many pods of each workload of the scenario, in turns.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, scheduler: Scheduler, replicas: &[u32]) -> Self {
        let nodes = vec![Node { used: 0, pods: 0, is_tainted: false }; scenario.nodes as usize];
        let sets =
            scenario.workloads(seed).into_iter().map(|workload| Set { workload, pods: Vec::new() }).collect();
        let mut cluster = Self { nodes, sets, scheduler, random: Rng::with_seed(!seed), minute: 0 };
        let mut pending = replicas.to_vec();
        while pending.iter().any(|pods| *pods > 0) {
            for (set, pods) in pending.iter_mut().enumerate().filter(|(_, pods)| **pods > 0) {
                *pods -= 1;
                cluster.add(set);
            }
        }
        cluster
    }

    /// Lets a minute pass.
    pub const fn tick(&mut self) {
        self.minute += 1;
    }

    /// Returns the order at this minute.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy::at(self.now())
    }

    fn now(&self) -> Time {
        Time::from_unix_nanos(START + i64::from(self.minute) * MINUTE)
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
        let (creation_time, ready_time) = (self.now(), self.now());
        let pod = Pod { uid, phase, flags, node: number, creation_time, ready_time, ..Pod::new() };
        let Set { workload, pods } = &mut self.sets[set];
        pods.push(pod);
        let node = &mut self.nodes[node];
        *node = Node { used: node.used + workload.request, pods: node.pods + 1, is_tainted: false };
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
            node.is_tainted = node.pods == 0 && self.scheduler == Scheduler::Tainted;
        }
    }

    /// The node with the highest score, by lot if there are several.
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
            if self.scheduler == Scheduler::Packing {
                return full;
            }
            let spread = (100 * (most + fewest - own)).checked_div(most).unwrap_or(100);
            2 * spread + (100 - full) + if node.is_tainted { 0 } else { 300 }
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

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Scenario = Scenario { nodes: 12, workloads: 6, never: 30 };

    /// The nodes, as their pods say.
    fn counted(cluster: &Cluster) -> Vec<(u32, u32)> {
        let mut nodes = vec![(0, 0); cluster.nodes.len()];
        for set in &cluster.sets {
            for pod in &set.pods {
                let (used, pods) = &mut nodes[pod.node as usize];
                (*used, *pods) = (*used + set.workload.request, *pods + 1);
            }
        }
        nodes
    }

    #[test]
    fn nodes_are_what_their_pods_say() {
        for scheduler in Scheduler::ALL {
            let mut cluster = Cluster::new(&SMALL, 1, scheduler, &[4; 6]);
            for step in 0..200_u32 {
                let set = (step * 7) as usize % cluster.sets.len();
                if step % 5 < 3 && cluster.sets[set].pods.len() > 1 {
                    cluster.remove(set, &[0]);
                } else if cluster.nodes.iter().any(|node| node.used + 4 <= ROOM) {
                    cluster.add(set);
                }
                let nodes: Vec<_> = cluster.nodes.iter().map(|node| (node.used, node.pods)).collect();
                assert_eq!(nodes, counted(&cluster));
                assert!(nodes.iter().all(|(used, _)| *used <= ROOM));
            }
        }
    }

    #[test]
    fn schedulers_do_what_they_are_called() {
        let in_use = |scheduler| Cluster::new(&SMALL, 1, scheduler, &[2; 6]).in_use();
        assert_eq!(in_use(Scheduler::Spreading), 12);
        assert!(in_use(Scheduler::Packing) <= 3);
        let mut cluster = Cluster::new(&SMALL, 1, Scheduler::Tainted, &[0; 6]);
        cluster.add(5);
        let node = cluster.sets[5].pods[0].node as usize;
        cluster.remove(5, &[0]);
        assert!(cluster.nodes[node].is_tainted);
        for _ in 0..11 {
            cluster.add(5);
        }
        assert_eq!((cluster.nodes[node].pods, cluster.in_use()), (0, 11));
    }

    #[test]
    fn pods_of_one_workload_keep_apart_though_other_nodes_have_less_room() {
        let mut cluster = Cluster::new(&SMALL, 1, Scheduler::Spreading, &[1, 0, 0, 0, 0, 0]);
        let first = cluster.sets[0].pods[0].node;
        for node in &mut cluster.nodes {
            node.used += if node.pods == 0 { 8 } else { 0 };
        }
        cluster.add(0);
        assert_ne!(cluster.sets[0].pods[1].node, first);
    }

    #[test]
    fn only_empty_nodes_are_tainted() {
        let mut cluster = Cluster::new(&SMALL, 1, Scheduler::Tainted, &[13, 0, 0, 0, 0, 0]);
        let shared = (0..13).find(|pod| cluster.nodes[cluster.sets[0].pods[*pod].node as usize].pods == 2);
        cluster.remove(0, &[u32::try_from(shared.unwrap()).unwrap()]);
        assert!(cluster.nodes.iter().all(|node| node.pods == 1 && !node.is_tainted));
    }
}
