//! Answers about one pod.

use crate::common::{bare_set, changed, dump, fails, fine, pod, uid, with};
use serde_json::json;

/// Identical pods, so that the probability of each is known.
fn alike(pods: u32) -> String {
    let own = (0..pods).map(|number| with(pod(number), "metadata uid", json!(uid(number))));
    dump(&own.chain([bare_set("web", pods as usize)]).collect::<Vec<_>>())
}

#[test]
fn a_pod_may_be_deleted_at_each_count_between_two() {
    let (text, _) = fine("pod/web-3", alike(9));
    assert!(text.contains(": kept at 9 or more, possibly deleted at 8 to 1, deleted at 0.\n"), "{text}");
    let (text, _) = fine("pod/web-1", alike(2));
    assert!(text.contains(": kept at 2 or more, possibly deleted at 1, deleted at 0.\n"), "{text}");
}

#[test]
fn a_pod_that_no_scale_down_takes_is_said_to_be_none() {
    let going = ("web-5", "metadata deletionTimestamp", json!("2026-03-10T12:00:30Z"));
    let ended = ("web-5", "status phase", json!("Failed"));
    for (change, state) in [(going, "is being deleted"), (ended, "has ended")] {
        let error = format!("pod default/web-5 {state}\n  A scale-down deletes only active pods.");
        fails("pod/web-5", changed(&alike(9), &[change]), &error);
    }
}
