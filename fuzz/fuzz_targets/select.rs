//! The victims against a naive sort, and ranks and `PodSet` against a naive count.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(select);
