//! Text: sentences, ages and errors. Knows nothing of Kubernetes' objects.

pub(crate) mod age;
pub(crate) mod error;
pub(crate) mod hidden;
pub(crate) mod quantity;
pub(crate) mod text;
