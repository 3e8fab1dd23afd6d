//! What is said about one pod that may go at many counts: in words, and as a line of blocks.

use crate::common::{bare_set, changed, dump, fails, fine, pod, uid, with};
use serde_json::json;

/// Pods that are alike, so that each of them goes with a share that is known.
fn alike(pods: u32) -> String {
    let own = (0..pods).map(|number| with(pod(number), "metadata uid", json!(uid(number))));
    dump(&own.chain([bare_set("web", pods as usize)]).collect::<Vec<_>>())
}

#[test]
fn many_counts_are_told_by_where_the_odds_turn() {
    let (text, _) = fine("pod/web-7", alike(40));
    let lines: Vec<_> = text.lines().collect();
    let turn = "less than 5 % above 38, half at about 20, 95 % or more at 2 or fewer, certain at 0";
    assert_eq!(
        lines[0],
        format!("web-7 (rs/web, 40 pods): stays at 40 or more, may go at 39 or fewer: {turn}")
    );
    assert_eq!(lines[1], "Its odds from 39 down to 1: ▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇▇████");
}

/// Above 500 deletions, it takes several syncs.
#[test]
fn counts_without_odds_are_said_to_be_unknown() {
    let (text, _) = fine("pod/web-7", alike(620));
    let first = text.lines().next().expect("a line");
    assert!(first.ends_with("half at about 310, unknown from 119 to 1, certain at 0"), "{first}");
    assert!(text.contains("Its odds from 619 down to 120: "), "{text}");
}

#[test]
fn few_counts_are_listed() {
    let (text, _) = fine("pod/web-3", alike(9));
    assert!(text.contains("may go at 8 (11 %), 7 (22 %), ") && !text.contains("Its odds"), "{text}");
    assert!(text.contains(" and 1 (89 %), goes at 0\n"), "{text}");
}

#[test]
fn a_pod_that_no_scale_down_takes_is_said_to_be_none() {
    let going = ("web-5", "metadata deletionTimestamp", json!("2026-03-10T12:00:30Z"));
    let ended = ("web-5", "status phase", json!("Failed"));
    for (change, state) in [(going, "is being deleted"), (ended, "has ended")] {
        let error = format!("pod default/web-5 {state}, so no scale-down takes it");
        fails("pod/web-5", changed(&alike(9), &[change]), &error);
    }
}
