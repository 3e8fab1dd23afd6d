//! The question: about what, how many pods, options and feature gates.

pub mod gates;
pub(crate) mod options;
pub(crate) mod replicas;
pub(crate) mod scalable;
pub(crate) mod subject;
