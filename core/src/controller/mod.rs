//! The other decisions of Kubernetes' `ReplicaSet` controller, as pure functions, for a controller of your own.
//!
//! A controller keeps the desired number of pods, although it observes them late and its requests can fail.
//! kube-controller-manager is tied to Kubernetes' API. These are its decisions without the API, so that a
//! controller of any workload, on a server or on a device, can behave in the same way. They are independent:
//! use those you need.
//!
//! | to decide | use |
//! |---|---|
//! | which pods count | [`is_active`] |
//! | which pods the set keeps, adopts or releases | [`claim`] |
//! | whether to create or delete pods, and how many | [`plan`] |
//! | how many to create in one batch, while creating may fail | [`SlowStart`] |
//! | which to delete | [`Policy::select`](crate::Policy::select) |
//! | whether all requested changes have been observed | [`Expectations`] |
//! | which pods are available, and when to check again | [`availability`] |
//! | what to report | [`Status`], [`failure_condition`] |
//!
//! One sync of a set looks like this. When a pod appears or disappears, first report it to the expectations, then sync
//! again.
//!
//! ```
//! use podrank::controller::{BURST_REPLICAS, Expectations, Plan, SetState, SlowStart, plan};
//! use podrank::{Pod, Policy, Time, Uid};
//!
//! /// Returns how many requests failed. `list` returns the active pods that the controller has observed.
//! fn sync(
//!     desired: u32,
//!     list: impl FnOnce() -> Vec<Pod>,
//!     expectations: &mut Expectations<500>,
//!     now: Time,
//!     create: &mut dyn FnMut() -> bool,
//!     delete: &mut dyn FnMut(&Pod) -> bool,
//! ) -> u32 {
//!     // Before listing: an older list could lack changes that have been observed.
//!     let is_satisfied = expectations.are_satisfied(now);
//!     let active = list();
//!     let mut set = SetState::new(desired, active.len() as u32);
//!     set.is_satisfied = is_satisfied;
//!     match plan(&set, BURST_REPLICAS) {
//!         Plan::Nothing => 0,
//!         Plan::Create(count) => {
//!             // Before creating, because the event may arrive before the answer to the request.
//!             expectations.expect_creations(count, now);
//!             let mut start = SlowStart::new(count);
//!             let mut failed = 0;
//!             while start.next_batch() > 0 {
//!                 let failures = (0..start.next_batch()).filter(|_| !create()).count() as u32;
//!                 start.report(failures);
//!                 failed += failures;
//!             }
//!             // Pods that were not created will never be observed.
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
//! // Five pods are desired. The third creation fails, which is in the second batch, so there is no third batch.
//! let mut create = || {
//!     created += 1;
//!     created != 3
//! };
//! assert_eq!(sync(5, Vec::new, &mut expectations, now, &mut create, &mut |_| true), 1);
//! assert_eq!(created, 3);
//! assert_eq!(expectations.creations(), 2);
//!
//! // Until both pods have been observed, nothing happens.
//! assert_eq!(sync(5, Vec::new, &mut expectations, now, &mut || panic!(), &mut |_| panic!()), 0);
//! for uid in 1..=2 {
//!     pods.push(Pod { uid: Uid::from_bytes([uid; 16]), ..Pod::new() });
//!     expectations.creations_observed(1);
//! }
//! assert!(expectations.are_satisfied(now));
//!
//! // One pod is desired: the first of the order goes.
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
//! Sync when the set changes, when one of its pods or a pod that it could adopt changes, when a request has failed, and
//! when [`availability`] says so. Because an event can be lost, also sync as soon as more than
//! [`EXPECTATIONS_TIMEOUT_NANOS`] have passed since expectations were set.

mod active;
mod availability;
mod claim;
pub(crate) mod expectations;
mod plan;
mod slow_start;
mod status;

pub use active::{is_active, is_terminating};
pub use availability::{Availability, availability};
pub use claim::{Claim, Claimable, Owner, claim};
pub use expectations::{EXPECTATIONS_TIMEOUT_NANOS, Expectations, KeysFull, PodKey};
pub use plan::{BURST_REPLICAS, Plan, SetState, plan};
pub use slow_start::SlowStart;
pub use status::{ConditionChange, FailureReason, Status, failure_condition};
