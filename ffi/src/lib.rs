//! The C ABI: every function checks what the caller handed over, calls the core and writes the
//! outputs. `include/podrank.h` is made from this crate; its documentation is written for the C reader.
//!
//! An rlib, so that tests and fuzz targets can call the functions; `archive/` makes the libraries.
#![no_std]
// The doc comments are the header's: C names, not Rust paths.
#![allow(non_camel_case_types, clippy::doc_markdown, clippy::missing_safety_doc)]
// No panic may cross into C: there is to be none.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]
#![deny(unsafe_op_in_unsafe_fn)]

mod memory;
mod options;
mod order;
mod record;
mod status;
mod text;
mod upstream;

// The header has its functions in this order: the order first.
mod controller;
mod deployment;

pub use controller::*;
pub use deployment::*;
pub use options::*;
pub use order::*;
pub use record::*;
pub use status::*;
pub use text::*;
pub use upstream::*;

use core::ffi::{CStr, c_char};

/// The release of the library, such as "1.2.3". The text is static: never free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// The number of the ABI that this header describes.
pub const PODRANK_ABI: u32 = 1;

/// Exists in every library of ABI 1, and writes its number. A program that names it, as PODRANK_REQUIRE_ABI does, does
/// not link with a library of another ABI.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_abi_1() -> u32 {
    PODRANK_ABI
}
