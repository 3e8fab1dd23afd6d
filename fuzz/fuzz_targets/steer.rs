//! Kubernetes' relation and what it determines, against all pairs.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(steer);
