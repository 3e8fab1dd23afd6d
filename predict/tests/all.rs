//! The tests of the preview, a module for each subject. `cargo test -p podrank-predict contest::` runs one of them.

mod decisions;
mod ends;
mod journeys;
mod needs;
mod probabilities;
mod recorded;
mod records;
mod reports;
mod rounds;
mod sentences;
mod standing;
mod steer;
mod sync;
mod syncs;
mod taken;
mod types;
mod vectors;
mod workload_rounds;
