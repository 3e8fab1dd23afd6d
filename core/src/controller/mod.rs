//! The decisions around the order: what a `ReplicaSet` controller decides, as pure functions.
//!
//! A controller keeps as many pods as are wanted, although what it sees of them comes late and its requests can fail.
//! kube-controller-manager's is tied to Kubernetes' API; these are its decisions without the API, so that any
//! workload, on a server or on a device, can have a controller of the same behaviour. None of them knows of the
//! others: take those you need.
//!
//! | to decide | use |
//! |---|---|
//! | which pods count | [`is_active`] |
//! | whose they are, and whose they become | [`claim`] |
//! | whether to create or delete, and how many | [`plan`] |
//! | how many to create at once, while it may fail | [`SlowStart`] |
//! | which to delete | [`Policy::select`](crate::Policy::select) |
//! | whether all that was asked for has been seen | [`Expectations`] |
//! | which pods are available, and when to look again | [`availability`] |
//! | what to report | [`Status`], [`failure_condition`], [`deletion_ages`] |
//! | how a Deployment sizes its sets | [`deployment::next_sync`] |
//!
//! One sync of a set, from what the controller has seen of its pods, then looks like this. Events make it run again:
//! each pod that comes or goes first tells the expectations.
//!
//! ```
//! use podrank::controller::{BURST_REPLICAS, Expectations, Plan, SetState, SlowStart, plan};
//! use podrank::{Pod, Policy, Time, Uid};
//!
//! /// Returns how many requests failed. `list` gives the active pods that have been seen.
//! fn sync(
//!     wanted: u32,
//!     list: impl FnOnce() -> Vec<Pod>,
//!     expectations: &mut Expectations<500>,
//!     now: Time,
//!     create: &mut dyn FnMut() -> bool,
//!     delete: &mut dyn FnMut(&Pod) -> bool,
//! ) -> u32 {
//!     // Asked first: then the list is no older than the answer.
//!     let is_satisfied = expectations.are_satisfied(now);
//!     let active = list();
//!     let set = SetState { wanted, active: active.len() as u32, is_satisfied, is_being_deleted: false };
//!     match plan(&set, BURST_REPLICAS) {
//!         Plan::Nothing => 0,
//!         Plan::Create(count) => {
//!             // First expected, then asked for: the event may come before the answer.
//!             expectations.expect_creations(count, now);
//!             let mut start = SlowStart::new(count);
//!             let mut failed = 0;
//!             while start.next_batch() > 0 {
//!                 let failures = (0..start.next_batch()).filter(|_| !create()).count() as u32;
//!                 start.report(failures);
//!                 failed += failures;
//!             }
//!             // What was not created, nobody will see.
//!             expectations.creations_observed(start.missing());
//!             failed
//!         }
//!         Plan::Delete(count) => {
//!             let mut victims = [0; BURST_REPLICAS as usize];
//!             let victims = &mut victims[..count as usize];
//!             let victims = Policy::at(now).select(&active, victims).unwrap();
//!             let keys: Vec<_> = victims.iter().map(|&i| active[i as usize].uid.to_bytes()).collect();
//!             expectations.expect_deletions(&keys, now).unwrap();
//!             let failed = victims.iter().zip(&keys).filter(|(i, key)| {
//!                 let failed = !delete(&active[**i as usize]);
//!                 if failed {
//!                     expectations.deletion_observed(key);
//!                 }
//!                 failed
//!             });
//!             failed.count() as u32
//!         }
//!     }
//! }
//!
//! let mut expectations = Expectations::new();
//! let now = Time::from_unix(1_700_000_000, 0);
//! let mut pods = vec![];
//! let mut created = 0;
//!
//! // Five are wanted. The third creation fails: of the second batch, of two. The third batch is not tried.
//! let mut create = || {
//!     created += 1;
//!     created != 3
//! };
//! assert_eq!(sync(5, Vec::new, &mut expectations, now, &mut create, &mut |_| true), 1);
//! assert_eq!(created, 3);
//! assert_eq!(expectations.creations(), 2);
//!
//! // Until both are seen, nothing happens.
//! assert_eq!(sync(5, Vec::new, &mut expectations, now, &mut || panic!(), &mut |_| panic!()), 0);
//! for uid in 1..=2 {
//!     pods.push(Pod { uid: Uid::from_bytes([uid; 16]), ..Pod::new() });
//!     expectations.creations_observed(1);
//! }
//! assert!(expectations.are_satisfied(now));
//!
//! // One is wanted: 1 goes, the first of the order.
//! let mut deleted = vec![];
//! let mut delete = |pod: &Pod| {
//!     deleted.push(pod.uid);
//!     true
//! };
//! assert_eq!(sync(1, || pods.clone(), &mut expectations, now, &mut || panic!(), &mut delete), 0);
//! assert_eq!(deleted, [pods[0].uid]);
//! assert!(!expectations.are_satisfied(now));
//! ```
//!
//! A sync is due whenever the set or one of its pods changes (or one that it could adopt), when a request failed, when
//! [`availability`] says so, and from time to time besides: an event can be lost, and [`EXPECTATIONS_TIMEOUT_NANOS`]
//! later the controller has to find out.

mod active;
mod availability;
mod claim;
mod deletion_age;
pub mod deployment;
mod expectations;
mod int_or_percent;
mod plan;
mod slow_start;
mod status;

pub use active::{is_active, is_terminating};
pub use availability::{Availability, availability};
pub use claim::{Claim, Claimable, Owner, claim};
pub use deletion_age::{DeletionAge, deletion_ages};
pub use expectations::{EXPECTATIONS_TIMEOUT_NANOS, Expectations, Expected, KeysFull, PodKey};
pub use int_or_percent::{IntOrPercent, IntOrPercentError, MAX_PERCENT};
pub use plan::{BURST_REPLICAS, Plan, SetState, plan};
pub use slow_start::SlowStart;
pub use status::{ConditionChange, FailureReason, Status, failure_condition};
