//! Which pods go first when a workload scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Snapshot::read`] keeps what matters in a dump, [`preview_workload`] decides, and [`json`] writes what
//! other programs read. The order itself is in the `podrank` crate: no module here knows its rules. No module uses files, the
//! clock, the terminal or the network. Flags of the command line appear only in error texts.
//!
//! The JSON is what programs can rely on. This Rust API serves `kubectl podrank` and its web page. It can change in every
//! release and, unlike that of the crate `podrank`, comes without a promise.
//!
//! The modules are floors, from the lowest to the highest. A module imports from its own floor and those below it, and no imports go
//! in a circle: `.ci/floors` checks that. The `mod.rs` of a floor exports what the floors above it use.
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

pub use answer::{
    AutoscalerPreview, CountRange, DeletionCause, DeletionOrder, Details, EndState, GroupAtEnd, Note,
    NoteCode, OrderedGroup, OrderedPod, Overview, OverviewRow, Owner, PodAnswer, PodDeletion, PodGroup,
    Preview, Probability, Rollout, Size, SizeStep, StepPreview, Verdict, WaitsFor,
};
pub use decide::{
    MOST_IN_ONE_SYNC, autoscaler, deletion_order, deletion_order_of_pod, explain_deletion, overview,
    preview_workload,
};
pub use question::{
    Options, Order, OwnerName, Replicas, Scalable, Subject, TimeSource, Window, gates, instead_of_node,
};
pub use reason::{Reason, waiting};
pub use snapshot::{
    ControllerGates, FIELD_MANAGER, PREVIOUS_COST_ANNOTATION, PreviousCost, RelatedKind, Release, Snapshot,
    WorkloadId, WorkloadKind, WorkloadName, WorkloadRef, is_too_long,
};
pub use text::{API_VERSION, Error, ErrorKind, TextReason, count, escaped, is, is_hidden, json, nearest};
