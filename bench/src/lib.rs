//! How fast podrank is, as ratios within one run: `make bench`.
//!
//! [`data`] has the pods, [`contenders`] the ways to decide, and [`race`] times them. Each of the other modules makes one
//! table. [`report`] shows the results.

pub mod calibration;
pub mod contenders;
pub mod data;
pub mod go;
pub mod grid;
pub mod large_dump;
pub mod nodes;
pub mod odds;
pub mod preview;
pub mod race;
pub mod report;
pub mod settle;
pub mod sort;
