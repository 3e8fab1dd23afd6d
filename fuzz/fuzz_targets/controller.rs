//! The decisions around the order are those of naive writings, in Rust and through C.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(controller);
