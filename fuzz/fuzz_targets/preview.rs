//! Arbitrary dumps, and what they come to against a reference.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(preview);
