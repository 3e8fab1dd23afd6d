//! A `DaemonSet`'s next sync is that of a naive implementation, in every order of nodes and pods.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(daemon_set);
