//! The text of a deletion cost against its grammar.
#![cfg_attr(fuzzing, no_main)]

podrank_fuzz::target!(cost);
