//! What `kubectl podrank` prints. The program itself, which reads files, the clock and the terminal, is `main`; what it
//! decides is `podrank_preview`'s.
#![forbid(unsafe_code)]

pub mod render;
