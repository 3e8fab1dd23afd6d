//! What `kubectl podrank` prints, as text: no files, no clock, no terminal. The program is in `main`, and `podrank_predict`
//! makes the decision.
#![forbid(unsafe_code)]

pub mod glance;
mod left;
pub mod look;
pub mod overview;
pub mod render;
pub mod render_plan;
pub mod standing;
