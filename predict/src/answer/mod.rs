//! The answers: the preview as data and JSON, and its sentences.

pub(crate) mod autoscaler;
pub(crate) mod deletion;
pub(crate) mod json;
pub(crate) mod note;
pub(crate) mod order;
pub(crate) mod overview;
pub(crate) mod pod;
pub(crate) mod preview;
pub(crate) mod probability;
pub(crate) mod rollout;
