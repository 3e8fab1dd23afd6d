//! The question: about what, how many pods, options and feature gates.

pub mod gates;
mod options;
mod replicas;
mod subject;

pub use options::{Options, Order, TimeSource, Window};
pub use replicas::Replicas;
pub use subject::{OwnerName, Scalable, Subject, instead_of_node};
