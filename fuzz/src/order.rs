//! `order`: `compare`, `decide`, `explain`, `key`, `select` and `sort` give the oracle's answer. The oracle compares
//! places field by field, so an order that agrees with it is total and transitive.

use crate::case::Case;
use podrank_laws::{Core, laws};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, .. } = Case::of(data, 1..=6);
    for (i, a) in pods.iter().enumerate() {
        for b in &pods[i..] {
            laws::one_answer(&Core, &policy, a, b);
        }
    }
    laws::total_order(&Core, &policy, &pods);
}
