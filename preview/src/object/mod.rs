//! One file for each object: what is kept of it. Reads one object's JSON text.

pub(crate) mod autoscaler;
pub(crate) mod budget;
pub(crate) mod cost;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod direct;
pub(crate) mod event;
pub(crate) mod job;
pub(crate) mod job_end;
pub(crate) mod managers;
pub(crate) mod meta;
pub(crate) mod node;
pub(crate) mod owner;
pub(crate) mod pod;
pub(crate) mod policy;
pub(crate) mod release;
pub(crate) mod selector;
pub(crate) mod set;
pub(crate) mod stateful_set;
pub(crate) mod surrounding;
pub(crate) mod template;
pub(crate) mod time;
pub(crate) mod workload;
