//! Which pods go first when Kubernetes scales down, as one total order.
//!
//! kube-controller-manager picks the pods of a `ReplicaSet` that it deletes with a comparator over
//! phase, readiness, deletion cost, co-location rank, ready time, restarts, age and UID. With
//! log-scaled ages (its default) that comparator is not an order: the same pods, listed in another
//! order, lose other victims. This crate is the same list of rules as **one lexicographic key**, so
//! the victims depend on the pods alone.
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
//! // ...and the rule that settled it.
//! let (ordering, rule) = policy.decide(&pods[1], &pods[0]);
//! assert!(ordering.is_lt());
//! assert_eq!(rule, Some(Rule::DeletionCost));
//! ```
//!
//! # What is where
//!
//! | you have | you want | use |
//! |---|---|---|
//! | pods | the first `k` victims | [`Policy::select`], [`Policy::select_with`] |
//! | pods | all of them, first to go first | [`Policy::sort`] |
//! | two pods | which goes first, and by which rule | [`Policy::compare`], [`Policy::decide`] |
//! | two pods | every rule's answer | [`Policy::explain`] |
//! | one pod | bytes that sort in the order | [`Policy::key`] |
//! | pods that you want to go first, as tiers | deletion costs that make Kubernetes take them | [`Policy::steer`] |
//! | pods on nodes or in zones | ranks that spread what is left | [`Policy::spread`] |
//! | pods | what kube-controller-manager would do | [`Policy::settle`], [`Policy::upstream`] |
//! | node numbers | ranks | [`NodeCounts`], [`count_ranks`] |
//! | pods with node names, no allocator | ranks and victims | [`PodSet`] |
//! | the annotation's text | a deletion cost | [`deletion_cost()`] |
//! | a pod's `metadata.uid` | a UID | [`Uid::parse`] |
//! | a workload of your own | a controller that keeps so many pods | [`controller`] |
//!
//! # What to rely on
//!
//! No allocation, no `unsafe`, no global state, and no panic: whatever bits a [`Pod`] holds,
//! every function returns. The only dependency is `heapless`, for [`PodSet`].
#![no_std]
#![forbid(unsafe_code)]
// Results that a caller can ignore are marked one by one.
#![warn(clippy::must_use_candidate)]
// No panic path: nothing here may index, unwrap or overflow.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod controller;
mod deletion_cost;
mod explain;
#[doc(hidden)]
pub mod ffi;
mod glance;
mod head;
mod node;
mod order;
mod pod;
mod pod_set;
mod policy;
mod rule;
mod select;
mod settle;
mod sort;
mod spread;
mod steer;
mod time;
mod uid;
mod upstream;

pub use deletion_cost::{DELETION_COST_ANNOTATION, DeletionCostError, deletion_cost};
pub use explain::{Explanation, Row, ValueKind};
pub use head::{Candidate, Scratch};
pub use node::{NodeCounts, UnknownNode, count_ranks};
pub use order::Key;
pub use pod::{Flags, InactivePhase, InvalidPod, Phase, Pod, Reserved};
pub use pod_set::{PodSet, PodSetError};
pub use policy::{FeatureGates, Policy};
pub use rule::Rule;
pub use select::{OrderError, TooManyPods};
pub use settle::Settled;
pub use spread::SpreadError;
pub use steer::{Blocked, SteerError, SteerScratch, Steered};
pub use time::Time;
pub use uid::{Uid, UidError};
pub use upstream::Relation;
