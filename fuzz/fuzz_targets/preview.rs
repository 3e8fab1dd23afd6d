//! Arbitrary dumps, and their previews against a reference.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(preview);
