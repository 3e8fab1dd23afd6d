//! The C functions, called from Rust: as an [implementation] of the order, as a controller's [decisions], and one by one
//! with all of their buffers ([`functions`]). For the tests of `ffi` and for fuzzing.
//!
//! It may depend on `podrank`, `podrank-ffi` and `podrank-laws`, and on no other crate in this repository.
// `&record` as a pointer reads better in a call, and records in bytes are moved unaligned.
#![allow(clippy::borrow_as_ptr, clippy::cast_ptr_alignment, clippy::wildcard_imports)]
// Numbers are cut to the types of C's parameters on purpose.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
// A call that fails panics: that is its job.
#![allow(clippy::missing_panics_doc)]

pub mod decisions;
pub mod functions;
pub mod implementation;
