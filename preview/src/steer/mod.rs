//! Steering: which pods are wanted, which deletion costs make Kubernetes delete them, and which pods are in the way. Reads
//! only the input, and writes nothing: `manifest` makes the text that others write.

mod budget;
mod difference;
mod interference;
mod manifest;
mod measure;
mod nodes;
mod notes;
mod owner;
mod part;
mod plan;
mod planning;
mod rollout;
mod state;
mod target;
mod wish;
mod written;

pub use budget::check_budgets;
pub use difference::{Difference, difference, same_sets};
pub use interference::check_interference;
pub use manifest::{Manifest, putting_back};
pub use measure::{Measure, Values};
pub use nodes::{Cluster, Kept, Level, PlannedNode, keeps, told};
pub use owner::{
    Owned, Owner, Scaled, Sorted, Spared, leader, leaders, one_workload, owners, set_of_leader, sets_of_pods,
    sorted, unknown_node,
};
pub use plan::{Ahead, Plan, PlannedPod, PlannedSet, Unmet};
pub use planning::{add_budgets, keeps_others, nothing_to_do, plan};
pub use state::{ActivePod, State, state};
pub use target::Target;
pub use wish::{Count, Others, Request, Selected, Why, Wish, no_domain, no_node};
