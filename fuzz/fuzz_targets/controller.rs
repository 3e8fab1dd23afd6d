//! A controller's decisions against naive implementations, in Rust and through C.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(controller);
