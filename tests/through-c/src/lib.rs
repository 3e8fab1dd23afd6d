//! The C functions, reached from Rust: as an [implementation] of the order, as a controller's [decisions], and one by one
//! with all their buffers ([`functions`]). For the tests of `ffi` and for fuzzing.
// `&record` as a pointer reads better in a call, and records in bytes are moved unaligned.
#![allow(clippy::borrow_as_ptr, clippy::cast_ptr_alignment, clippy::wildcard_imports)]
// A call that fails panics: that is its job.
#![allow(clippy::missing_panics_doc)]

pub mod decisions;
pub mod deployment;
pub mod functions;
pub mod implementation;
