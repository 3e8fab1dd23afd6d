//! The text of a UID against its grammar.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(uid);
