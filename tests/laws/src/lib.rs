//! The laws that every implementation of the order must obey, in whatever language it is called.
//!
//! Put an implementation behind [`Implementation`] and pass it to the checks in [`laws`], to the pairs in
//! [`exhaustive`] and to the [`vectors`]. The [`oracle`] and the [`relation`] are second, naive implementations of
//! podrank's order and of Kubernetes' relation. They are written from the documentation and share no code with the core.
//!
//! This crate is for tests only. A check panics with what it found.
//!
//! It may depend on `podrank` and on crates from the registry, and on no other crate in this repository.
// A check that fails panics: that is its job.
#![allow(clippy::missing_panics_doc)]

pub mod claims;
pub mod controller;
pub mod empty;
pub mod exhaustive;
pub mod generate;
pub mod go_sort;
pub mod laws;
pub mod objects;
pub mod odds;
pub mod oracle;
pub mod relation;
pub mod spread;
pub mod steer;
pub mod vectors;

/// Compiles and runs the program in the README of the Rust crate.
#[cfg(doctest)]
#[doc = include_str!("../../../core/README.md")]
struct Readme;

use podrank::{
    EmptyNodesScratch, Error, Key, KubernetesOrdering, Neighbour, Pod, Policy, Probability, Row, Rule,
    Scratch, SteerScratch, node_weights,
};
use relation::Prediction;
use std::cmp::Ordering;
use steer::Steering;

/// One way to call the order.
pub trait Implementation {
    /// Returns which pod is deleted first.
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering;
    /// Returns which pod is deleted first, and the rule that decides.
    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>);
    /// Returns every rule's answer.
    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row>;
    /// Returns the key as bytes.
    fn key(&self, policy: &Policy, pod: &Pod) -> [u8; Key::LEN];
    /// Returns the first `k` pods, selected without a scratch buffer.
    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32>;
    /// Returns the first `k` pods, selected with a scratch buffer of this length.
    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32>;
    /// Returns all pods in the order.
    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32>;
    /// Returns all pods in the order, sorted with a scratch buffer of this length.
    fn sort_with(&self, policy: &Policy, pods: &[Pod], scratch: usize) -> Vec<u32>;
    /// Returns Kubernetes' relation, and the rule that decides.
    fn kubernetes_compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> (KubernetesOrdering, Option<Rule>);
    /// Returns what Kubernetes' relation determines when `k` pods are deleted.
    fn predict(&self, policy: &Policy, pods: &[Pod], k: usize) -> Prediction;
    /// Returns this list of indices as Kubernetes sorts it.
    fn kubernetes_sort(&self, policy: &Policy, pods: &[Pod], list: &[u32]) -> Vec<u32>;
    /// Returns what [`predict`](Implementation::predict) returns, and the probability of each pod.
    fn probabilities(&self, policy: &Policy, pods: &[Pod], k: usize) -> (Prediction, Vec<Probability>);
    /// Sets ranks that are counted again after each pick. Node numbers are below `nodes`.
    fn spread(&self, policy: &Policy, pods: &mut [Pod], others: &[Pod], nodes: usize);
    /// Returns what the pods of other sets weigh on each node. Node numbers are below `nodes`.
    fn node_weights(&self, others: &[Neighbour], nodes: usize) -> Vec<u64>;
    /// Splits the tiers by nodes, so that as many as possible become empty.
    fn empty_nodes(&self, pods: &mut [Pod], weights: &[u64], domains: &[u32]);
    /// Returns costs that make Kubernetes follow the tiers.
    ///
    /// # Errors
    /// Those of the core.
    fn steer(&self, policy: &Policy, pods: &[Pod], prices: &[Option<u8>]) -> Result<Steering, Error>;
}

/// The core itself.
#[derive(Debug)]
pub struct Core;

/// What core finds with this number of samples.
pub fn sampled(policy: &Policy, pods: &[Pod], k: usize, samples: u16) -> (Prediction, Vec<Probability>) {
    let mut order = vec![u32::MAX; pods.len()];
    let mut odds = vec![Probability { deleted: 7, samples: 7, std_error_ppm: 7 }; pods.len()];
    let mut scratch = vec![[u64::MAX; 4]; pods.len()];
    let settled = policy.probabilities(pods, k, samples, &mut order, &mut odds, &mut scratch).unwrap();
    (in_one_list(&settled), odds)
}

impl Implementation for Core {
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
        policy.compare(a, b)
    }

    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>) {
        policy.decide(a, b)
    }

    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row> {
        let explanation = policy.explain(a, b);
        let deciding = explanation.rows().iter().find(|row| row.decides);
        assert_eq!(explanation.deciding(), deciding, "{policy:?} {a:?} {b:?}");
        explanation.rows().to_vec()
    }

    fn key(&self, policy: &Policy, pod: &Pod) -> [u8; Key::LEN] {
        policy.key(pod).to_bytes()
    }

    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
        policy.select(pods, &mut vec![u32::MAX; k]).unwrap().to_vec()
    }

    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32> {
        let mut scratch = vec![Scratch::default(); scratch];
        policy.select_with(pods, &mut vec![u32::MAX; k], &mut scratch).unwrap().to_vec()
    }

    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32> {
        policy.sort(pods, &mut vec![u32::MAX; pods.len()]).unwrap().to_vec()
    }

    fn sort_with(&self, policy: &Policy, pods: &[Pod], scratch: usize) -> Vec<u32> {
        let mut scratch = vec![Scratch::default(); scratch];
        policy.sort_with(pods, &mut vec![u32::MAX; pods.len()], &mut scratch).unwrap().to_vec()
    }

    fn kubernetes_compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> (KubernetesOrdering, Option<Rule>) {
        policy.kubernetes_compare(a, b)
    }

    fn predict(&self, policy: &Policy, pods: &[Pod], k: usize) -> Prediction {
        let (mut order, mut scores) = (vec![u32::MAX; pods.len()], vec![u64::MAX; pods.len()]);
        let settled = policy.predict(pods, k, &mut order, &mut scores).unwrap();
        assert_eq!(settled.deleted().len() + settled.quota(), k.min(pods.len()));
        let settled = in_one_list(&settled);
        assert_eq!(settled.order, order, "k = {k}: {policy:?} {pods:?}");
        settled
    }

    fn kubernetes_sort(&self, policy: &Policy, pods: &[Pod], list: &[u32]) -> Vec<u32> {
        let (mut list, mut scratch) = (list.to_vec(), vec![[u64::MAX; 4]; list.len()]);
        policy.kubernetes_sort(pods, &mut list, &mut scratch).unwrap();
        list
    }

    fn probabilities(&self, policy: &Policy, pods: &[Pod], k: usize) -> (Prediction, Vec<Probability>) {
        sampled(policy, pods, k, 0)
    }

    fn spread(&self, policy: &Policy, pods: &mut [Pod], others: &[Pod], nodes: usize) {
        let mut order = vec![u32::MAX; pods.len()];
        policy.spread(pods, others, &mut vec![u32::MAX; nodes], &mut order).unwrap();
    }

    fn node_weights(&self, others: &[Neighbour], nodes: usize) -> Vec<u64> {
        let mut weights = vec![0; nodes];
        node_weights(&mut others.to_vec(), &mut weights).unwrap();
        weights
    }

    fn empty_nodes(&self, pods: &mut [Pod], weights: &[u64], domains: &[u32]) {
        let (mut counts, mut scratch) = (
            vec![u32::MAX; weights.len() + domains.iter().max().map_or(0, |most| *most as usize + 1)],
            vec![EmptyNodesScratch::default(); pods.len()],
        );
        podrank::empty_nodes(pods, weights, domains, &mut counts, &mut scratch).unwrap();
    }

    fn steer(&self, policy: &Policy, pods: &[Pod], prices: &[Option<u8>]) -> Result<Steering, Error> {
        let (mut costs, mut scratch) = (vec![-7; pods.len()], vec![SteerScratch::default(); pods.len()]);
        match policy.steer(pods, |index| prices[index], &mut costs, &mut scratch) {
            Ok(steered) => Ok(Steering {
                costs: steered.costs().to_vec(),
                changed: steered.changed(),
                unsteerable: steered.unsteerable().collect(),
            }),
            Err(error) => {
                assert!(costs.iter().all(|cost| *cost == -7), "costs were written: {error}");
                Err(error)
            }
        }
    }
}

fn in_one_list(settled: &podrank::Prediction<'_>) -> Prediction {
    let order = [settled.deleted(), settled.possible(), settled.kept()].concat();
    Prediction { order, certain: settled.deleted().len(), possible: settled.possible().len() }
}

/// Calls `then` with every order of a list.
pub fn permute(list: &mut [usize], then: &mut impl FnMut(&[usize])) {
    permute_from(list, 0, then);
}

fn permute_from(list: &mut [usize], from: usize, then: &mut impl FnMut(&[usize])) {
    if from >= list.len() {
        return then(list);
    }
    for other in from..list.len() {
        list.swap(from, other);
        permute_from(list, from + 1, then);
        list.swap(from, other);
    }
}
