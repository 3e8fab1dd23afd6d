//! The C functions on raw bytes, with every kind of wrong buffer.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(ffi);
