//! The C functions: the core's laws and vectors through them, and the promises of the header.
// `&record` as a pointer reads better in a call, and records in bytes are moved unaligned.
#![allow(clippy::borrow_as_ptr, clippy::cast_ptr_alignment)]

mod controller;
mod laws;
mod names;
mod promises;
