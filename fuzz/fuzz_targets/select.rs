//! The chosen pods are those of a naive sort, and so are ranks and `PodSet`.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(select);
