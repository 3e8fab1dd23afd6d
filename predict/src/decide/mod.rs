//! From an input and options to an answer. The order itself is the core's.

pub(crate) mod agree;
pub(crate) mod choose;
pub(crate) mod complete;
pub(crate) mod context;
pub(crate) mod count;
pub(crate) mod daemon_set;
pub(crate) mod deletion;
pub(crate) mod deployment;
pub(crate) mod direct;
pub(crate) mod job;
pub(crate) mod job_end;
pub(crate) mod members;
pub(crate) mod notes;
pub(crate) mod order;
pub(crate) mod overview;
pub(crate) mod rank_range;
pub(crate) mod ranking;
pub(crate) mod related;
pub(crate) mod replica_set;
pub(crate) mod rollout;
pub(crate) mod scale_events;
pub(crate) mod self_managed;
pub(crate) mod settled;
pub(crate) mod stateful_set;
pub(crate) mod window;
pub(crate) mod workload;
