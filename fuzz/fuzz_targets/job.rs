//! A Job's next sync is that of a naive implementation, in every list order.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(job);
