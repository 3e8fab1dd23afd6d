//! What `kubectl get` prints: JSON and YAML, the objects of an input, and its sets with their pods.

pub(crate) mod input;
pub(crate) mod json;
pub(crate) mod labels;
pub(crate) mod sets;
pub(crate) mod yaml;
