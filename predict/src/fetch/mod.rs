//! What a decision needs of a cluster or of an input.

pub(crate) mod needs;
pub(crate) mod subject;
pub(crate) mod zones;
