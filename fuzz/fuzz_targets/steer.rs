//! Steering and spreading, against searches and counts that share no code with the core.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(steer);
