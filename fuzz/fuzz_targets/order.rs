//! Every way to ask for the order gives one answer, on pods that collide.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(order);
