//! Steering: which pods are wanted, which deletion costs make Kubernetes delete them, and which pods are in the way. Reads
//! only the input, and writes nothing: `manifest` makes the text that others write.

mod costs;
mod manifest;
mod plan;
mod state;
mod target;
mod wish;

pub use manifest::{Manifest, putting_back};
pub use plan::{Ahead, Plan, PlannedPod, plan};
pub use state::{ActivePod, State, owner, scalable, state};
pub use target::Target;
pub use wish::{Count, Request, Wish, pods_by_node};
