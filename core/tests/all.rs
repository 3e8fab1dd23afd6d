//! The tests of core, a module for each subject. `cargo test -p podrank laws::` runs one of them.

mod controller;
mod empty;
mod exhaustive;
mod facts;
mod history;
mod kubernetes;
mod laws;
mod limits;
mod probabilities;
mod steer;
mod vectors;
