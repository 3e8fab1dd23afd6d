//! What a decision needs of a cluster or of an input.

mod needs;
mod subject;
