//! Whole nodes, simulated: how many become empty if a rule chooses the pods that go.
//!
//! [`scenario`] says what runs, and [`cluster`] on which nodes it is. [`rule`] chooses victims, always by core. [`once`] plays one
//! scale-down, [`joint`] solves it for all workloads together, and [`summary`] prints both.

pub mod cluster;
pub mod joint;
pub mod once;
pub mod rule;
pub mod scenario;
pub mod summary;
