//! What a `StatefulSet`'s next sync does to its pods: which of them go, which would go but wait, and for whom.
//!
//! Kubernetes identifies the pods of a `StatefulSet` by the ordinal in their names, so neither age nor cost decides
//! which goes: the highest ordinal does. But a sync that takes one pod at a time waits until all others are
//! available, and a single broken pod can keep a set from being scaled down or updated. [`next_sync`] predicts one
//! sync as Kubernetes 1.37 does it and names the pod that is waited for.
//!
//! | term | meaning |
//! |---|---|
//! | member | a pod whose name is the set's, a hyphen and an ordinal: [`ordinal`] |
//! | range | the ordinals from `start` to `start + replicas - 1` |
//! | condemned | a member whose ordinal is not in the range |
//! | old | not of the update revision |
//! | unavailable | has not been ready for `minReadySeconds` yet, or is being deleted |
//!
//! ```
//! use podrank::controller::stateful_set::{
//!     Member, MemberFlags, Outcome, Reason, StatefulSet, Verdict, next_sync, ordinal,
//! };
//!
//! let healthy = MemberFlags::RUNNING | MemberFlags::READY | MemberFlags::AVAILABLE | MemberFlags::UPDATED;
//! let member = |name, flags| Member::new(ordinal("db", name).unwrap(), flags);
//! let members = [
//!     member("db-0", healthy),
//!     member("db-1", MemberFlags::RUNNING | MemberFlags::UPDATED),
//!     member("db-2", healthy),
//!     member("db-10", healthy),
//! ];
//!
//! // Scaled to 2, db-10 would go first, then db-2. But db-1 is not ready.
//! let set = StatefulSet { replicas: 2, ..StatefulSet::default() };
//! let mut outcomes = [Outcome::default(); 4];
//! let step = next_sync(&set, &members, &mut outcomes).unwrap();
//! assert_eq!((step.delete, step.blocked), (0, 2));
//! assert_eq!((outcomes[0].member, outcomes[0].verdict), (3, Verdict::Blocked));
//! assert_eq!((outcomes[0].by, outcomes[0].reason), (1, Reason::WaitsForReady));
//! ```

mod claims;
mod member;
mod outcome;
mod sync;

pub use claims::{ClaimOwner, claim_goes};
pub use member::{InvalidMember, Member, MemberFlags, ordinal};
pub use outcome::{NO_MEMBER, Outcome, Reason, Step, Verdict};

use super::IntOrPercent;
use core::fmt;

/// What a sync reads from a `StatefulSet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatefulSet {
    /// `spec.replicas`.
    pub replicas: i32,
    /// `spec.ordinals.start`: the first ordinal of the range.
    pub start: i32,
    /// `spec.podManagementPolicy`.
    pub management: PodManagement,
    /// `spec.updateStrategy`.
    pub update: Update,
    /// Whether the set has a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
    /// Kubernetes' feature gate `MaxUnavailableStatefulSet`, which is on since 1.37.
    pub max_unavailable_gate: bool,
    /// Kubernetes' feature gate `StatefulSetRecreateStrategy`, which is off in 1.37.
    pub recreate_gate: bool,
}

/// How many pods a sync takes when it scales: `spec.podManagementPolicy`. How many an update replaces depends on
/// [`Update`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PodManagement {
    /// One at a time, and only while the others are available.
    #[default]
    OrderedReady,
    /// All at once.
    Parallel,
}

/// How a `StatefulSet` replaces its old pods: `spec.updateStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// From the highest ordinal down.
    RollingUpdate {
        /// Pods whose ordinal minus `start` is below this number are not updated.
        partition: i32,
        /// How many pods may be unavailable, at least 1. A percentage is rounded down. It is ignored if
        /// [`StatefulSet::max_unavailable_gate`] is off.
        max_unavailable: IntOrPercent,
    },
    /// Only when a user deletes a pod.
    OnDelete,
    /// All at once. If [`StatefulSet::recreate_gate`] is off, every sync fails and does nothing.
    Recreate,
}

/// The error for fewer outcomes than members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewOutcomes;

impl Default for StatefulSet {
    /// Returns a set that wants no pods and has the defaults of Kubernetes 1.37: `OrderedReady`, and a
    /// `RollingUpdate` of all pods, of which 1 may be unavailable.
    fn default() -> Self {
        Self {
            replicas: 0,
            start: 0,
            management: PodManagement::OrderedReady,
            update: Update::RollingUpdate { partition: 0, max_unavailable: IntOrPercent::Int(1) },
            is_being_deleted: false,
            max_unavailable_gate: true,
            recreate_gate: false,
        }
    }
}

/// Predicts the next sync of a `StatefulSet`. Writes an outcome for each member, the highest ordinal first. Returns
/// the totals.
///
/// `members` are the pods that the set owns and its selector matches, in any order, including those that are finished or
/// being deleted. The prediction relies on the states that you pass. If creating or deleting a pod fails, or a
/// `PersistentVolumeClaim` cannot be created, Kubernetes ends the sync there, and fewer pods go. A member with a negative
/// ordinal stays, with [`Reason::NoOrdinal`]. If another number is negative, which Kubernetes does not allow, the result
/// has no meaning.
///
/// The call takes O(n log n) steps.
///
/// # Errors
/// [`TooFewOutcomes`] if `outcomes` is shorter than `members`. In that case nothing is written.
pub fn next_sync(
    set: &StatefulSet,
    members: &[Member],
    outcomes: &mut [Outcome],
) -> Result<Step, TooFewOutcomes> {
    let outcomes = outcomes.get_mut(..members.len()).ok_or(TooFewOutcomes)?;
    Ok(sync::Sync::new(set, members, outcomes).run())
}

impl fmt::Display for TooFewOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are fewer outcomes than members: make room for one outcome per member")
    }
}

impl core::error::Error for TooFewOutcomes {}
