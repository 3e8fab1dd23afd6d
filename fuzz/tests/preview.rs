//! The target `preview` on random bytes, and previews of YAML, with the stable compiler and without a fuzzer.

use podrank_fuzz::preview::{check, chosen};
use podrank_laws::generate::seeds;
use podrank_preview::{Input, Order, preview_workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::catch_unwind;

/// The notes on whether a dump is complete.
const COMPLETENESS: [&str; 4] = ["set-missing", "siblings-missing", "pods-missing", "more-pods-than-status"];

/// The rules that both orders have.
const RULES: &str =
    "unassigned phase not-ready deletion-cost rank ready-time restarts sidecar-restarts creation-time uid";

/// Of each other kind, what its controller says of its pods, or of its sets.
const REASONS: [(&str, &str); 4] = [
    (
        "StatefulSet",
        "blocked contested finished out-of-range no-ordinal old old-unavailable below-partition budget on-delete \
         one-at-a-time waits-for-available waits-for-either waits-for-missing",
    ),
    (
        "DaemonSet",
        "contested failed succeeded surplus no-node node-missing not-wanted awaits-new old-available old-unavailable \
         on-delete",
    ),
    (
        "Job",
        "contested backoff-limit beyond-completions deadline duplicate ending no-index restarts surplus suspended",
    ),
    (
        "Deployment",
        "available grows held-back no-share no-surge only-active recreated rollout-paused share share-and-leftover \
         to-count unhealthy unhealthy-and-available used-up waits",
    ),
];

/// The bytes of a seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..4096).map(|_| rng.u8(..)).collect()
}

#[test]
fn random_dumps_reach_every_rule_and_reason() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in seeds(90_000) {
        let (mut options, text) = chosen(&bytes(seed));
        for order in [Order::Total, Order::Kubernetes] {
            options.order = order;
            let checked = catch_unwind(|| check(&text, &options));
            let Some(preview) = checked.unwrap_or_else(|_| panic!("seed {seed}")) else { continue };
            let list = |name: &str| preview[name].as_array().into_iter().flatten();
            let kind = match preview["workload"]["kind"].as_str().expect("a kind") {
                "ReplicaSet" | "ReplicationController" => format!("{order:?}"),
                kind => kind.to_owned(),
            };
            let said = list("pods").flat_map(|pod| [&pod["rule"], &pod["verdict"]]);
            let said = said.chain(list("notes").map(|note| &note["code"]));
            for what in said.chain(list("sets").map(|set| &set["reason"])) {
                *seen.entry(format!("{kind} {}", what.as_str().unwrap_or("null"))).or_default() += 1;
            }
        }
    }
    let times = |what: &str| seen.get(what).copied().unwrap_or(0);
    // A generator whose pods never collide would only ever reach the first rules.
    let both = RULES.split(' ').chain(COMPLETENESS).chain(["null", "delete", "keep"]);
    let both = both.flat_map(|what| [format!("Total {what}"), format!("Kubernetes {what}")]);
    for what in both.chain(["Total preferred", "Kubernetes contested"].map(str::to_owned)) {
        assert!(times(&what) >= 80, "{what} came up only {} times: {seen:?}", times(&what));
    }
    for (kind, reasons) in REASONS {
        for reason in reasons.split(' ') {
            let what = format!("{kind} {reason}");
            assert!(times(&what) >= 5, "{what} came up only {} times: {seen:#?}", times(&what));
        }
    }
}

/// What kubectl prints with `-o yaml` gives the preview, or the error, that its JSON gives.
#[test]
fn yaml_gives_the_preview_that_json_gives() {
    let mut compared = 0;
    for seed in seeds(1_000) {
        let (options, json) = chosen(&bytes(seed));
        let Ok(dump) = serde_json::from_slice::<Value>(&json) else { continue };
        if !dump.is_object() {
            continue;
        }
        let mut text = String::new();
        yaml(&dump, 0, &mut text);
        let read = |text: &[u8]| {
            let input = Input::read(text).ok()?;
            Some(preview_workload(&input, &options).map(|preview| preview.to_json()))
        };
        let (yaml, json) = (read(text.as_bytes()), read(dump.to_string().as_bytes()));
        assert_eq!(yaml, json, "seed {seed}\n{text}");
        compared += usize::from(matches!(json, Some(Ok(_))));
    }
    assert!(compared > 300, "{compared} previews");
}

/// Writes an object in the block style of kubectl: lists stand as far in as their key, and text goes without quotes where it
/// can.
fn yaml(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    for (key, value) in value.as_object().expect("an object") {
        out.extend([pad.as_str(), &scalar(&json!(key)), ":"]);
        match value {
            Value::Object(object) if !object.is_empty() => {
                out.push('\n');
                yaml(value, indent + 2, out);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                for item in items {
                    if item.as_object().is_some_and(|item| !item.is_empty()) {
                        let mut text = String::new();
                        yaml(item, indent + 2, &mut text);
                        out.extend([pad.as_str(), "- ", &text[indent + 2..]]);
                    } else {
                        out.extend([pad.as_str(), "- ", &scalar(item), "\n"]);
                    }
                }
            }
            value => out.extend([" ", &scalar(value), "\n"]),
        }
    }
}

fn scalar(value: &Value) -> String {
    let is_plain = |text: &str| {
        let is_time = text.starts_with("20") && text.ends_with('Z');
        let is_word = text.starts_with(|first: char| first.is_ascii_lowercase())
            && !["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&text);
        (is_time || is_word)
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./:".contains(&byte))
    };
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => value.to_string(),
    }
}
