//! What is asked: options and feature gates.

pub mod gates;
pub(crate) mod options;
