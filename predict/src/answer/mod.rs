//! The answers: the preview as data and JSON, and its sentences.

mod deletion;
mod json;
mod note;
mod order;
mod overview;
mod pod;
mod preview;
mod probability;
mod rollout;

pub use deletion::{DeletionCause, PodDeletion};
pub use note::{Note, NoteCode};
pub use order::{DeletionOrder, OrderedGroup, OrderedPod};
pub use overview::{Overview, OverviewRow};
pub use pod::{Details, PodAnswer};
pub use preview::{AutoscalerPreview, Owner, PodGroup, Preview, Rollout, Size, Verdict};
pub(crate) use probability::Cases;
pub use probability::Probability;
pub use rollout::{CountRange, EndState, GroupAtEnd, SizeStep, StepPreview, WaitsFor};
pub(crate) use rollout::{RolloutEnd, one};
