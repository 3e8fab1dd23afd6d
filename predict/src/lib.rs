//! Which pods go first when a workload scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Snapshot::read`] keeps what matters in a dump, [`preview_workload`] decides, and [`Preview::to_json`] writes what
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
//! | `text` | sentences, ages, quantities and errors |
//! | `sync` | what a controller does in its next sync: pure functions of plain records, a folder for each kind |
//! | `snapshot` | what kubectl prints: JSON and YAML, one file for each object, and the sets of an input with their pods |
//! | `question` | what is asked: options and feature gates |
//! | `reason` | the sentences of reasons |
//! | `answer` | what is answered: the preview as data and JSON, and notes |
//! | `decide` | from an input and options to an answer: the workload, whether its input is complete, which pods count, and a module for each kind |
//! | `fetch` | what a decision needs of a cluster, and the part of an input that it needs |
//! | `plan` | which pods the user wants deleted, and the deletion costs that make Kubernetes delete them |
#![forbid(unsafe_code)]

mod answer;
mod decide;
mod fetch;
pub mod plan;
mod question;
mod reason;
mod snapshot;
#[doc(hidden)]
pub mod sync;
mod text;

pub use answer::autoscaler::AutoscalerPreview;
pub use answer::deletion::{DeletionCause, PodDeletion};
pub use answer::note::{Note, NoteCode};
pub use answer::order::{DeletionOrder, OrderedGroup, OrderedPod};
pub use answer::overview::{Overview, OverviewRow};
pub use answer::pod::{Details, PodAnswer};
pub use answer::preview::{Owner, PodGroup, Pods, Preview, Rollout, Size, Verdict, Workload};
pub use answer::probability::Probability;
pub use answer::rollout::{CountRange, EndState, GroupAtEnd, SizeStep, StepPreview, WaitsFor};
pub use decide::context::autoscaler;
pub use decide::deletion::explain_deletion;
pub use decide::order::{deletion_order, deletion_order_of_pod};
pub use decide::overview::overview;
pub use decide::ranking::MOST_IN_ONE_SYNC;
pub use decide::workload::preview_workload;
pub use question::gates;
pub use question::options::{Options, Order, TimeSource, Window};
pub use question::replicas::Replicas;
pub use question::scalable::Scalable;
pub use question::subject::{OwnerName, Subject, instead_of_node};
pub use reason::{Reason, waiting};
pub use snapshot::Snapshot;
pub use snapshot::cost::{PREVIOUS_COST_ANNOTATION, PreviousCost};
pub use snapshot::managed_fields::FIELD_MANAGER;
pub use snapshot::related_kind::RelatedKind;
pub use snapshot::release::{ControllerGates, Release};
pub use snapshot::workload::{WorkloadId, WorkloadKind, WorkloadName};
pub use text::error::{Error, ErrorKind};
pub use text::hidden::{escaped, is_hidden};
pub use text::json::{API_VERSION, json};
pub use text::{count, is, nearest};
