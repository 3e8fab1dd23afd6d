//! From an input and options to an answer. The order itself is the core's.

pub(crate) mod agree;
pub(crate) mod choose;
pub(crate) mod circle;
pub(crate) mod complete;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod direct;
pub(crate) mod end;
pub(crate) mod interference;
pub(crate) mod job;
pub(crate) mod job_end;
pub(crate) mod line;
pub(crate) mod members;
pub(crate) mod moment;
pub(crate) mod next;
pub(crate) mod notes;
pub(crate) mod own;
pub(crate) mod play;
pub(crate) mod race;
pub(crate) mod related;
pub(crate) mod sample;
pub(crate) mod set;
pub(crate) mod stateful_set;
pub(crate) mod workload;
