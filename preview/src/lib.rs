//! Which pods go first when a workload scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Input::read`] keeps what matters in a dump, [`preview_workload`] decides, and [`Preview::to_json`] writes what
//! other programs read. The order itself is in the `podrank` crate: no module here knows its rules. No module uses files, the
//! clock, the terminal or the network. Flags of the command line appear only in error texts.
//!
//! The JSON is what programs can rely on. This Rust API serves `kubectl podrank` and its web page. It can change in every
//! release and, unlike that of the crate `podrank`, comes without a promise.
//!
//! The modules are floors, from the lowest to the highest. A module imports from its own floor and those below it, and no imports go
//! in a circle: `.ci/floors` checks that.
//!
//! | floor | what it holds |
//! |---|---|
//! | `words` | text: sentences, ages, quantities and errors |
//! | `sync` | what a controller does in its next sync: pure functions of plain records, a folder for each kind |
//! | `object` | one file for each object: what is kept of it |
//! | `dump` | what kubectl prints: JSON and YAML, the objects of an input, and its sets with their pods |
//! | `ask` | what is asked: options and feature gates |
//! | `answer` | what is answered: the preview as data and JSON, notes, and the sentences of reasons |
//! | `decide` | from an input and options to an answer: the workload, whether its input is complete, which pods count, and a module for each kind |
//! | `fetch` | what a decision needs of a cluster, and the part of an input that it needs |
//! | `steer` | which pods the user wants deleted, and the deletion costs that make Kubernetes delete them |
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod decide;
mod dump;
mod fetch;
mod object;
pub mod steer;
#[doc(hidden)]
pub mod sync;
mod words;

pub use answer::autoscaled::Autoscaled;
pub use answer::autoscaler::AutoscalerPreview;
pub use answer::json;
pub use answer::note::{Note, NoteCode};
pub use answer::odds::Odds;
pub use answer::overview::{Overview, OverviewLine};
pub use answer::preview::{
    Asked, BlockedPod, Contest, Details, Owner, PodPreview, Pods, Preview, Rollout, SetPreview, Verdict,
    Workload,
};
pub use answer::rest::{Bounds, Rest, SetAtRest, SetStep, StepPreview, WaitsFor};
pub use answer::standing::{ScaleDownOrder, Standing, Standings};
pub use answer::taken::{Taken, Taker};
pub use ask::gates;
pub use ask::options::{NowSource, Options, Order, Within};
pub use ask::replicas::Replicas;
pub use ask::scalable::Scalable;
pub use ask::subject::{OwnerName, Subject};
pub use decide::autoscaled::autoscaled;
pub use decide::circle::Arrow;
pub use decide::interference::autoscaler;
pub use decide::line::MOST_IN_ONE_SYNC;
pub use decide::order_notes::add_order_notes;
pub use decide::overview::overview;
pub use decide::standing::{scale_down_order, standing_of_pod};
pub use decide::taken::taken;
pub use decide::workload::{circle, preview_workload};
pub use dump::input::Input;
pub use object::cost::{FIELD_MANAGER, PREVIOUS_COST_ANNOTATION, Previous};
pub use object::release::{ControllerGates, Release};
pub use object::surrounding::SurroundingKind;
pub use object::workload::{WorkloadId, WorkloadKind, WorkloadName};
pub use words::error::{Error, Remedy};
pub use words::hidden::{escaped, is_hidden};
pub use words::text::nearest;
