//! The C ABI: every function checks its arguments, calls the core and writes the outputs. `make header` makes
//! `include/podrank.h` from this crate, so its documentation is written for C programmers.
//!
//! This is an rlib, so that tests and fuzz targets can call the functions. `archive/` makes the libraries.
#![no_std]
// The doc comments become the header's, with C names instead of Rust paths: `members[by]` there is not a link.
#![allow(
    non_camel_case_types,
    clippy::doc_markdown,
    clippy::missing_safety_doc,
    rustdoc::broken_intra_doc_links
)]
// A panic must not cross into C, so there must be none.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]
#![deny(unsafe_op_in_unsafe_fn)]
// What features share is not all used by each.
#![cfg_attr(
    not(all(feature = "kubernetes", feature = "steering", feature = "controller")),
    allow(dead_code, unused_imports, unused_macros)
)]

#[cfg(feature = "controller")]
mod controller;
mod explain;
mod key;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod layout;
mod memory;
mod options;
mod order;
#[cfg(feature = "kubernetes")]
mod probabilities;
mod question;
mod record;
mod status;
#[cfg(feature = "steering")]
mod steer;
mod text;

#[cfg(feature = "controller")]
pub use controller::*;
pub use explain::*;
pub use key::*;
#[cfg(feature = "kubernetes")]
pub use kubernetes::*;
pub use options::*;
pub use order::*;
#[cfg(feature = "kubernetes")]
pub use probabilities::*;
pub use record::*;
pub use status::*;
#[cfg(feature = "steering")]
pub use steer::*;
pub use text::*;

use core::ffi::c_char;

/// Returns the release of the library, such as "1.2.3". The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The number of the ABI that this header describes. It changes only if programs would break.
pub const PODRANK_ABI: u32 = 1;

/// Returns PODRANK_ABI. Every library with ABI 1 has this function, and no other has it. So a program that
/// calls it, as PODRANK_REQUIRE_ABI does, links only with ABI 1.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_abi_1() -> u32 {
    PODRANK_ABI
}
