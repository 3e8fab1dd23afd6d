//! Replays rounds that the real controllers of `StatefulSets`, `DaemonSets` and Jobs played: dumps of a real control plane, and the
//! pods that went; `judge/cluster/workloads` records them.
//!
//! The negative controls tell the preview something wrong. If no round noticed, the rounds would prove nothing about it.

use podrank_laws::objects;
use podrank_predict::{Options, Snapshot, Verdict, preview_workload};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One round, as `judge/cluster/cmd/workloads` writes it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Round {
    kind: String,
    workload: String,
    replicas: Option<u32>,
    parallelism: Option<u32>,
    #[serde(default)]
    partial: bool,
    now: String,
    items: Vec<Value>,
    gone: Option<BTreeSet<String>>,
}

fn rounds() -> Vec<Round> {
    crate::recorded::rounds("workload-rounds.jsonl.gz")
}

impl Round {
    /// Whether the preview is right about this round; an error is neither. Returns the places of the contested pods that
    /// went.
    fn replay(&self) -> Result<BTreeSet<usize>, String> {
        let input =
            Snapshot::read(objects::dump(&self.items).as_bytes()).map_err(|error| error.to_string())?;
        let mut options = Options::new(0, self.now.parse().expect("a time"));
        options.workload = Some(self.workload.parse().expect("a name"));
        (options.replicas, options.parallelism) = (self.replicas, self.parallelism);
        options.partial = self.partial;
        let preview = preview_workload(&input, &options).map_err(|error| error.to_string())?;
        let mut contested = BTreeSet::new();
        for (place, pod) in preview.pods().enumerate() {
            let went = self.gone.iter().flatten().any(|uid| *uid == pod.uid().to_string());
            if pod.verdict == Verdict::Possible {
                contested.extend(went.then_some(place));
            } else if went != (pod.verdict == Verdict::Deleted) {
                return Err(format!(
                    "{}: {:?} because {}, but went: {went}",
                    pod.name(),
                    pod.verdict,
                    pod.reason.sentence()
                ));
            }
        }
        let quota = preview.deletions().max as usize - preview.count(Verdict::Deleted);
        if contested.len() != quota {
            return Err(format!("{} contested pods went, and not {quota}", contested.len()));
        }
        Ok(contested)
    }
}

#[test]
fn the_preview_is_right_about_every_round() {
    let mut kinds = BTreeMap::<String, u32>::new();
    let mut by_chance = BTreeSet::new();
    for (number, round) in rounds().iter().enumerate() {
        let contested =
            round.replay().unwrap_or_else(|error| panic!("round {number}, {}: {error}", round.kind));
        let kind = round.kind.split(',').next().expect("a kind");
        *kinds.entry(kind.to_owned()).or_default() += 1;
        // The same DaemonSet with ten old pods: three go, and not always the same ones.
        by_chance.extend((kind == "DaemonSet" && contested.len() == 3).then_some(contested));
    }
    println!("{kinds:?}; {} sets of three pods", by_chance.len());
    assert!(kinds.len() == 3 && kinds.values().all(|rounds| *rounds >= 100), "{kinds:?}");
    assert!(by_chance.len() >= 10, "{by_chance:?}");
}

/// What the preview is told wrongly: of which kind, where, what, and in how many rounds this must be noticed at least.
#[test]
fn rounds_notice_what_is_wrong() {
    let rounds = rounds();
    for (kind, place, value, least) in [
        ("StatefulSet", "spec podManagementPolicy", json!("Parallel"), 3),
        ("StatefulSet", "spec ordinals", Value::Null, 3),
        ("Pod", "status conditions", json!([]), 10),
        ("Pod", "metadata annotations", json!({}), 10),
        ("DaemonSet", "spec updateStrategy rollingUpdate maxUnavailable", json!("40%"), 10),
        ("Node", "metadata labels", json!({}), 10),
    ] {
        let noticed = rounds.iter().filter(|round| {
            let mut round = (*round).clone();
            for item in round.items.iter_mut().filter(|item| item["kind"] == kind) {
                objects::put(item, place, value.clone());
            }
            round.replay().is_err()
        });
        let noticed = noticed.count();
        println!("{kind}, {place}: noticed by {noticed} of {} rounds", rounds.len());
        assert!(noticed >= least, "{kind}, {place}: {noticed}");
    }
}
