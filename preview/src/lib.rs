//! Which pods go first when a set scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Input::read`] keeps what matters of a dump, [`preview()`] decides, and [`Preview::to_json`] writes what other programs
//! read. The order itself is the `podrank` crate's, and nothing here knows a rule of it. No module touches files, the
//! clock, the terminal or the network.
#![forbid(unsafe_code)]

mod age;
mod choose;
mod error;
pub mod gates;
mod input;
mod json;
mod notes;
mod order;
mod pod;
mod preview;
mod related;
mod selector;
mod set;
mod why;
mod yaml;

pub use choose::SetName;
pub use error::Error;
pub use input::Input;
pub use notes::Note;
pub use order::Order;
pub use preview::{Details, Options, PodPreview, Preview, Verdict, preview};
pub use set::SetKind;
