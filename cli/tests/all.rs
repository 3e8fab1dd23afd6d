//! The tests of the program, a module for each subject. `cargo test -p kubectl-podrank views::` runs one of them.

mod common;
mod daemon_sets;
mod deployments;
mod dump_time;
#[cfg(unix)]
mod empty_nodes;
mod every_kind;
mod files;
#[cfg(unix)]
mod first_guesses;
mod hostile;
#[cfg(unix)]
mod install;
mod interference;
mod jobs;
#[cfg(unix)]
mod k9s;
mod leftovers;
#[cfg(unix)]
mod live;
mod look;
mod manifests;
mod one_pod;
#[cfg(unix)]
mod owners;
mod program;
mod reports;
mod stateful_sets;
#[cfg(unix)]
mod steer;
#[cfg(unix)]
mod views;
