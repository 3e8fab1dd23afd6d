//! A Deployment's next sync against a naive implementation, in Rust and through C.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(deployment);
