//! The question: about what, how many pods, options and feature gates.

pub mod gates;
mod options;
mod replicas;
mod scalable;
mod subject;

pub use options::{Options, Order, TimeSource, Window};
pub use replicas::Replicas;
pub use scalable::Scalable;
pub use subject::{OwnerName, Subject, instead_of_node};
