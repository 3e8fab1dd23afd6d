//! What `kubectl podrank` prints, as text: no files, no clock, no terminal. The program around it is `main`, and the decision
//! is `podrank_preview`'s.
#![forbid(unsafe_code)]

pub mod render;
pub mod render_plan;
