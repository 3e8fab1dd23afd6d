//! A `StatefulSet`'s next sync is that of a naive implementation, in Rust and through C.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(stateful_set);
