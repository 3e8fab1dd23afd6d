//! From an input and options to an answer. The order itself is the core's.

mod agree;
mod choose;
pub(crate) mod complete;
pub(crate) mod context;
pub(crate) mod count;
mod daemon_set;
mod deletion;
mod deployment;
mod direct;
mod job;
mod job_end;
mod members;
pub(crate) mod notes;
mod order;
mod overview;
mod rank_range;
mod ranking;
mod replica_set;
pub(crate) mod rollout;
mod scale_events;
mod self_managed;
mod settled;
mod stateful_set;
mod window;
mod workload;

pub(crate) use choose::{ChosenWorkload, choose_workload};
pub use context::autoscaler;
pub(crate) use context::{autoscaler_notes, owner_note};
pub use deletion::explain_deletion;
pub(crate) use deployment::preview_deployment;
pub(crate) use members::{Member, Related, members, ranked};
pub use order::{deletion_order, deletion_order_of_pod};
pub use overview::overview;
pub use ranking::MOST_IN_ONE_SYNC;
pub(crate) use ranking::Ranking;
pub use workload::preview_workload;
