//! What every implementation of the order must do, whatever language it is reached through.
//!
//! An implementation is put behind [`Implementation`] and handed to the checks of [`laws`], to the
//! pairs of [`exhaustive`] and to the [`vectors`]. The [`oracle`] is a second, naive writing of the order
//! from its documentation, and shares no code with the first.
//!
//! For tests only: the checks panic with what they found.
// A check that fails panics: that is its job.
#![allow(clippy::missing_panics_doc)]

pub mod claims;
pub mod controller;
pub mod deployment;
pub mod exhaustive;
pub mod generate;
pub mod laws;
pub mod oracle;
pub mod relation;
pub mod status;
pub mod vectors;

use podrank::{Candidate, Key, Pod, Policy, Row, Rule};
use std::cmp::Ordering;

/// One way to reach the order.
pub trait Implementation {
    /// Which pod goes first.
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering;
    /// Which pod goes first, and the rule that says so.
    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>);
    /// Every rule's answer.
    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row>;
    /// The key as bytes.
    fn key(&self, policy: &Policy, pod: &Pod) -> [u8; Key::LEN];
    /// The first `k`, without more memory.
    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32>;
    /// The first `k`, with a scratch of this size.
    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32>;
    /// All of them.
    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32>;
}

/// The core itself.
#[derive(Debug)]
pub struct Core;

impl Implementation for Core {
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
        policy.compare(a, b)
    }

    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>) {
        policy.decide(a, b)
    }

    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row> {
        policy.explain(a, b).rows().to_vec()
    }

    fn key(&self, policy: &Policy, pod: &Pod) -> [u8; Key::LEN] {
        policy.key(pod).to_bytes()
    }

    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
        policy.select(pods, &mut vec![u32::MAX; k]).unwrap().to_vec()
    }

    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32> {
        let mut scratch = vec![Candidate::default(); scratch];
        policy.select_with(pods, &mut vec![u32::MAX; k], &mut scratch).unwrap().to_vec()
    }

    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32> {
        policy.sort(pods, &mut vec![u32::MAX; pods.len()]).unwrap().to_vec()
    }
}
