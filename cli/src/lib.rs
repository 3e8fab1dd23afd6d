//! What `kubectl podrank` prints, as text: no files, no clock. The program is in `main`, and `podrank_predict`
//! makes the decision. Without the feature `terminal`, there is only what does not depend on one.
#![forbid(unsafe_code)]

#[cfg(feature = "terminal")]
pub mod terminal;
pub mod view;
