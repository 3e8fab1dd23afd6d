//! Kubernetes' sort of a list, and how likely it deletes each pod.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(odds);
