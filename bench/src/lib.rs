//! How fast the order is, as ratios of one run: `make bench`.
//!
//! [`data`] names what is decided, [`contenders`] who decides it, [`race`] how they are timed. The other modules each race for one
//! table; [`report`] and [`chart`] show what came out.

pub mod chart;
pub mod contenders;
pub mod data;
pub mod go;
pub mod grid;
pub mod large_dump;
pub mod preview;
pub mod race;
pub mod report;
pub mod settle;
pub mod steer;
