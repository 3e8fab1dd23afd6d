//! Steering: the selected pods, the deletion costs that make Kubernetes delete them, and the unsteerable pods. Reads
//! only the input, and writes nothing: `manifest` makes the text that callers send.

mod difference;
mod manifest;
mod nodes;
mod notes;
mod planned;
mod planning;
mod pod_owner;
mod preference;
mod progress;
mod rollout;
mod set_plan;
mod target;
mod values;
mod what_if;

pub use difference::{PlanDiff, difference, same_sets};
pub use manifest::{Manifest, putting_back};
use nodes::too_many_groups;
pub use nodes::{Cluster, PlannedNode, RemainingPods, TopologyLevel, keeps, nodes_text};
pub use notes::{check_budgets, check_interference};
pub use planned::{Plan, PlannedPod, PlannedSet, Unsteerable};
pub use planning::{add_budgets, keeps_others, nothing_to_do, plan};
pub use pod_owner::{ScaleTarget, leader, leaders, one_workload, set_of_leader, sets_of_pods};
pub use preference::{ForeignCosts, PlanRequest, PlanSize, Preference, Selected, Why, no_domain, no_node};
use preference::{spread, tiers};
pub use progress::{ActivePod, Progress, check_whole, state};
use rollout::{Shares, shares};
use set_plan::{DefaultVerdicts, SetPlan};
pub use target::Target;
use target::{Chosen, busy, choose};
pub use values::{Metric, Values};
