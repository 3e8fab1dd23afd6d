//! The bodies of the fuzz targets. Each takes arbitrary bytes and panics if a result is wrong.
//!
//! They are a library so that `cargo test` can replay every seed and every past finding with the stable compiler and
//! without a fuzzer. It may depend on every crate in this repository, and none depends on it.

pub mod case;
pub mod controller;
pub mod cost;
pub mod ffi;
pub mod odds;
pub mod order;
#[cfg(feature = "preview")]
pub mod preview;
pub mod select;
pub mod settle;
pub mod steer;
pub mod uid;

/// The body of a target.
pub type Target = fn(&[u8]);

/// Every target, with its name.
pub const TARGETS: &[(&str, Target)] = &[
    ("order", order::run),
    ("select", select::run),
    ("settle", settle::run),
    ("odds", odds::run),
    ("steer", steer::run),
    ("controller", controller::run),
    ("ffi", ffi::run),
    ("cost", cost::run),
    ("uid", uid::run),
    #[cfg(feature = "preview")]
    ("preview", preview::run),
];

/// Makes a fuzz target under `cargo fuzz`, and otherwise a program that replays the files it is given.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::$name::run(data));

        #[cfg(not(fuzzing))]
        fn main() {
            for path in std::env::args_os().skip(1) {
                $crate::$name::run(&std::fs::read(path).expect("a readable file"));
            }
        }
    };
}
