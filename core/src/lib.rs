//! Which pods are deleted first when Kubernetes scales down, as one total order.
//!
//! When a `ReplicaSet` is scaled down, kube-controller-manager chooses the pods to delete with a comparator over
//! assignment to a node, phase, readiness, deletion cost, rank (how many related pods share a node), ready time,
//! restarts and age. By default, ages are log-scaled: if two times are equal, the comparator goes on to the next
//! rule, but if they differ and their ages have the same `floor(log2(age))`, it goes straight to the UIDs. So it can
//! contradict itself, even in a cycle, and listing the same pods in a different order can change the victims. This
//! crate applies the same rules as **one lexicographic key**, so the victims depend on the pods alone.
//!
//! ```
//! use podrank::{Flags, Phase, Pod, Policy, Rule, Time, Uid};
//!
//! let running = Pod {
//!     uid: Uid::parse("0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01").unwrap(),
//!     phase: Phase::RUNNING,
//!     flags: Flags::ASSIGNED | Flags::READY,
//!     ready_time: Time::from_unix(1_700_000_000, 0),
//!     creation_time: Time::from_unix(1_699_999_990, 0),
//!     ..Pod::new()
//! };
//! let cheap = Pod {
//!     uid: Uid::parse("0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a02").unwrap(),
//!     deletion_cost: -5,
//!     ..running
//! };
//!
//! let policy = Policy::at(Time::from_unix(1_700_000_600, 0));
//! let pods = [running, cheap];
//!
//! // The first victim of the two, as an index into `pods`...
//! let mut victims = [0; 1];
//! assert_eq!(policy.select(&pods, &mut victims), Ok(&[1][..]));
//!
//! // ...and the rule that decides.
//! let (ordering, rule) = policy.decide(&pods[1], &pods[0]);
//! assert!(ordering.is_lt());
//! assert_eq!(rule, Some(Rule::DeletionCost));
//! ```
//!
//! # Overview
//!
//! | you have | you want | use |
//! |---|---|---|
//! | pods | the first `k` victims | [`Policy::select`], [`Policy::select_with`] |
//! | pods | all of them, in deletion order | [`Policy::sort`], [`Policy::sort_with`] |
//! | two pods | which is deleted first, and by which rule | [`Policy::compare`], [`Policy::decide`] |
//! | two pods | every rule's answer | [`Policy::explain`] |
//! | one pod | bytes that sort in the order | [`Policy::key`] |
//! | pods | which of them kube-controller-manager would delete | [`Policy::predict`], [`Policy::groups`], [`Policy::kubernetes_compare`] |
//! | pods | how likely it deletes each of them | [`Policy::probabilities`] |
//! | pods with tiers | deletion costs that make Kubernetes delete lower tiers first | [`Policy::steer`] |
//! | pods on nodes or in zones | ranks that keep the remaining pods spread | [`Policy::spread`] |
//! | pods on nodes, and the pods of other sets | tiers with which the most nodes become empty | [`empty_nodes`] |
//! | node numbers | ranks | [`NodeCounts`], [`count_ranks`] |
//! | pods with node names, no allocator | ranks and victims | [`PodSet`] |
//! | the annotation's text | a deletion cost | [`deletion_cost()`] |
//! | a pod's `metadata.uid` | a UID | [`Uid::parse`] |
//! | a workload of your own | a controller that keeps a number of pods running | [`controller`] |
//!
//! # Features
//!
//! All are on by default. Without them, the crate has the record, the order with its explanations and keys, selection, ranks
//! and [`PodSet`].
//!
//! | feature | what it adds |
//! |---|---|
//! | `kubernetes` | which pods kube-controller-manager deletes, and how likely: [`Policy::predict`], [`Policy::probabilities`] |
//! | `steering` | [`Policy::steer`], [`Policy::spread`], [`empty_nodes`] |
//! | `controller` | [`controller`] |
//!
//! # Guarantees
//!
//! The crate never panics: every function returns, even for a [`Pod`] whose bits make no sense. It does not
//! allocate, has no global state and contains no `unsafe` code. Its only dependency is `heapless`.
#![no_std]
#![forbid(unsafe_code)]
// A result without `must_use` is one that a caller may ignore.
#![warn(clippy::must_use_candidate)]
// Nothing here may panic, so nothing may index, unwrap or overflow.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]
// What features share is not all used by each.
#![cfg_attr(not(all(feature = "kubernetes", feature = "steering", feature = "controller")), allow(dead_code))]

#[cfg(feature = "controller")]
pub mod controller;
mod deletion_cost;
#[cfg(feature = "steering")]
mod empty;
mod error;
mod explain;
#[doc(hidden)]
pub mod ffi;
mod flags;
#[cfg(feature = "kubernetes")]
mod go_sort;
mod head;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod node;
mod order;
mod pod;
mod pod_set;
mod policy;
#[cfg(feature = "kubernetes")]
mod predict;
mod prefilter;
#[cfg(feature = "kubernetes")]
mod probabilities;
mod rule;
mod select;
mod sort;
mod sort_pods;
#[cfg(feature = "steering")]
mod spread;
#[cfg(feature = "steering")]
mod steer;
mod time;
mod uid;

pub use deletion_cost::{DELETION_COST_ANNOTATION, DeletionCostError, deletion_cost};
#[cfg(feature = "steering")]
pub use empty::{EmptyNodesScratch, Neighbour, empty_nodes, node_weights};
pub use error::Error;
pub use explain::{Explanation, Row, ValueKind};
pub use flags::Flags;
pub use head::{Candidate, Scratch};
#[cfg(feature = "kubernetes")]
pub use kubernetes::KubernetesOrdering;
pub use node::{NodeCounts, count_ranks};
pub use order::Key;
pub use pod::{InvalidPod, Phase, Pod, Reserved};
pub use pod_set::{PodSet, PodSetError};
pub use policy::{FeatureGates, Policy};
#[cfg(feature = "kubernetes")]
pub use predict::{Groups, Prediction};
#[cfg(feature = "kubernetes")]
pub use probabilities::{Probability, ProbabilityScratch};
pub use rule::Rule;
#[cfg(feature = "steering")]
pub use steer::{SteerScratch, Steered, Unsteerable};
pub use time::Time;
pub use uid::{Uid, UidError};
