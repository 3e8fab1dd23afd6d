//! Which pods go first when a workload scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Input::read`] keeps what matters in a dump, [`preview_workload`] decides, and [`WorkloadPreview::to_json`] writes what
//! other programs read. The order itself is in the `podrank` crate: no module here knows its rules. No module uses files, the
//! clock, the terminal or the network. Flags of the command line appear only in error texts.
//!
//! The JSON is what programs can rely on. This Rust API serves `kubectl podrank` and its web page. It can change in every
//! release and, unlike that of the crate `podrank`, comes without a promise.
//!
//! | what | modules |
//! |---|---|
//! | reading | `input`, `yaml`, `pod`, `set`, `deployment`, `node`, `template`, `quantity`, `selector` |
//! | deciding | `choose` the workload; `moment`: when a dump was taken; `direct`: what is common to controllers that delete pods themselves, and a module for each, such as `stateful_set`; `rollout`: what a Deployment's sync does to its sets, and `race`, what that does to ranks; `complete`: whether the input is complete; `related` and `members`: which pods count; `line`: what becomes of each; `circle`: how the rules leave pods open, and three pods that show it |
//! | steering | `steer`: which pods the user wants deleted, and the deletion costs that make Kubernetes delete them; `cost`: who set a cost |
//! | presenting | `preview`: the result as data and JSON; `why`, `set_why`, `age`, `notes`, `error`, `text`: its sentences |
//! | querying | `workload`: names; `needs`: what a decision needs besides the workload |
//! | extracting | `extract`: the part of an input that a decision needs, as JSON; `node`: the zones of nodes |
#![forbid(unsafe_code)]

mod age;
mod choose;
mod circle;
mod complete;
mod cost;
mod daemon_set;
mod decide;
mod deployment;
mod direct;
mod error;
mod extract;
pub mod gates;
mod input;
mod job;
mod job_end;
mod json;
mod line;
mod members;
mod moment;
mod needs;
mod node;
mod notes;
mod options;
mod pod;
mod preview;
mod quantity;
mod race;
mod related;
mod rollout;
mod selector;
mod set;
mod set_why;
mod stateful_set;
pub mod steer;
mod template;
mod text;
mod why;
mod workload;
mod yaml;

pub use circle::{Arrow, Contest};
pub use cost::{FIELD_MANAGER, PREVIOUS_COST_ANNOTATION, Previous};
pub use decide::{circle, preview_workload};
pub use error::{Error, Remedy};
pub use input::Input;
pub use line::MOST_IN_ONE_SYNC;
pub use moment::NowSource;
pub use notes::{Note, NoteCode};
pub use options::{ControllerGates, Options, Order};
pub use preview::{
    Asked, BlockedPod, DeploymentPreview, Details, DirectPreview, PodPreview, Preview, SetPreview, Verdict,
    Workload, WorkloadPreview,
};
pub use workload::{WorkloadId, WorkloadKind, WorkloadName};
