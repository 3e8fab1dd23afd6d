//! Which pods go first when a set scales down, read from what `kubectl get -o json` or `-o yaml` prints.
//!
//! [`Input::read`] keeps what matters of a dump, [`preview()`] decides, and [`Preview::to_json`] writes what other programs
//! read. The order itself belongs to the `podrank` crate: no module here knows a rule of it. No module touches files, the
//! clock, the terminal or the network, and none knows a flag of a command line.
//!
//! | what | modules |
//! |---|---|
//! | reading | `input`, `yaml`, `pod`, `set`, `selector` |
//! | deciding | `choose` the set; `complete`: is the input? `related` and `members`: which pods count; `line`: what becomes of each |
//! | telling | `preview`: the form; `why`, `age`, `notes`, `error`, `text`: the words |
#![forbid(unsafe_code)]

mod age;
mod choose;
mod complete;
mod decide;
mod error;
pub mod gates;
mod input;
mod json;
mod line;
mod members;
mod notes;
mod options;
mod pod;
mod preview;
mod related;
mod selector;
mod set;
mod text;
mod why;
mod yaml;

pub use choose::SetName;
pub use decide::preview;
pub use error::{Error, Remedy};
pub use input::Input;
pub use notes::{Note, NoteCode};
pub use options::{Options, Order};
pub use preview::{Details, PodPreview, Preview, Verdict, Workload};
pub use set::SetKind;
