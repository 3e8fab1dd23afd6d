//! `select`: the victims among 0 to 300 pods against a naive sort.

use crate::case::{Case, shuffle};
use podrank_laws::{Core, laws};

/// The target.
pub fn run(data: &[u8]) {
    let Case { policy, pods, k, distinct, salt } = Case::of(data, 0..=300);
    laws::selects_a_prefix(&Core, &policy, &pods, k);
    if distinct {
        let mut shuffled = pods.clone();
        shuffle(&mut shuffled, salt);
        laws::list_order_does_not_matter(&Core, &policy, &pods, &shuffled, k);
    }
    if let Some(pod) = usize::try_from(salt).expect("64 bits").checked_rem(pods.len()) {
        let cost = (salt >> 32) as i32 >> (salt % 32);
        laws::cheaper_is_never_later(&Core, &policy, &pods, pod, cost);
    }
}
