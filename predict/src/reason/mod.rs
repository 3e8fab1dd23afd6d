//! The sentences of reasons.

pub(crate) mod comparison;
pub(crate) mod size;
