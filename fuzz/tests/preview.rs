//! The target `preview` on random bytes, with the stable compiler and without a fuzzer.

use podrank_fuzz::preview::{check, chosen};
use podrank_laws::generate::seeds;
use podrank_predict::Order;
use std::collections::BTreeMap;
use std::panic::catch_unwind;

/// What the notes say on whether a dump is complete.
const COMPLETENESS: [&str; 4] =
    ["itself is missing", "related to", "are listed, while", "active pods, while"];

/// The rules that both orders have.
const RULES: &str =
    "unassigned phase not-ready deletion-cost rank ready-time restarts sidecar-restarts creation-time uid";

/// Of each other kind, what its controller says of its pods, or of its sets.
const REASONS: [(&str, &str); 4] = [
    (
        "StatefulSet",
        "waiting possible finished out-of-range no-ordinal old old-unavailable below-partition budget on-delete \
         one-at-a-time waits-for-available waits-for-either waits-for-missing",
    ),
    (
        "DaemonSet",
        "possible failed succeeded surplus no-node node-missing not-wanted awaits-new old-available old-unavailable \
         on-delete",
    ),
    (
        "Job",
        "possible backoff-limit beyond-completions deadline duplicate ending no-index restarts surplus suspended",
    ),
    (
        "Deployment",
        "available grows held-back no-share no-surge only-active recreated share share-and-leftover \
         to-count unhealthy unhealthy-and-available used-up waits",
    ),
];

#[test]
fn random_dumps_reach_every_rule_and_reason() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in seeds(45_000) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let bytes: Vec<u8> = (0..4096).map(|_| rng.u8(..)).collect();
        let (mut options, text) = chosen(&bytes);
        for order in [Order::Total, Order::Kubernetes] {
            options.order = order;
            let checked = catch_unwind(|| check(&text, &options));
            let Some(preview) = checked.unwrap_or_else(|_| panic!("seed {seed}")) else { continue };
            let list = |name: &str| preview[name].as_array().into_iter().flatten();
            let kind = match preview["workload"]["kind"].as_str().expect("a kind") {
                "ReplicaSet" | "ReplicationController" => format!("{order:?}"),
                kind => kind.to_owned(),
            };
            let pods = list("groups").flat_map(|group| group["pods"].as_array().expect("pods"));
            let said = pods.flat_map(|pod| [&pod["reason"]["rule"], &pod["verdict"]]);
            let said = said
                .chain(list("groups").map(|group| &group["reason"]["rule"]))
                .map(|what| what.as_str().unwrap_or("null"));
            let notes = preview["notes"].to_string();
            for what in said.chain(COMPLETENESS.into_iter().filter(|part| notes.contains(part))) {
                *seen.entry(format!("{kind} {what}")).or_default() += 1;
            }
        }
    }
    let times = |what: &str| seen.get(what).copied().unwrap_or(0);
    // A generator whose pods never collide would only ever reach the first rules.
    let both = RULES.split(' ').chain(COMPLETENESS).chain(["deleted", "kept"]);
    let both = both.flat_map(|what| [format!("Total {what}"), format!("Kubernetes {what}")]);
    for what in both.chain(["Total preferred", "Kubernetes possible"].map(str::to_owned)) {
        assert!(times(&what) >= 40, "{what} came up only {} times: {seen:?}", times(&what));
    }
    for (kind, reasons) in REASONS {
        for reason in reasons.split(' ') {
            let what = format!("{kind} {reason}");
            assert!(times(&what) >= 2, "{what} came up only {} times: {seen:#?}", times(&what));
        }
    }
}
