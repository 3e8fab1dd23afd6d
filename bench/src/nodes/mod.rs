//! Whole nodes, simulated: how many become empty, and how many are in use, if a rule chooses the pods that go.
//!
//! [`scenario`] says what runs, [`demand`] how many replicas there are each minute, and [`cluster`] on which nodes they are.
//! [`rule`] chooses victims, always by core. [`once`] and [`days`] play it, [`joint`] solves the first of these for all
//! workloads together, and [`standing`] counts the writes of a controller that keeps costs up to date. [`summary`] prints
//! and draws it.

pub mod cluster;
pub mod days;
pub mod demand;
pub mod joint;
pub mod once;
pub mod rule;
pub mod scenario;
pub mod standing;
pub mod summary;
