//! Replays rounds that the real controllers of `StatefulSets`, `DaemonSets` and Jobs played: dumps of a real control plane, and the
//! pods that went; `judge/cluster/workloads` records them.
//!
//! The negative controls tell the preview something wrong. If no round noticed, the rounds would prove nothing about it.

use podrank_laws::objects;
use podrank_preview::{Input, Options, Verdict, preview_workload};
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
        let input = Input::read(objects::dump(&self.items).as_bytes()).map_err(|error| error.to_string())?;
        let mut options = Options::new(0, self.now.parse().expect("a time"));
        options.workload = Some(self.workload.parse().expect("a name"));
        (options.replicas, options.parallelism) = (self.replicas, self.parallelism);
        options.partial = self.partial;
        let preview = preview_workload(&input, &options).map_err(|error| error.to_string())?;
        let mut contested = BTreeSet::new();
        for (place, pod) in preview.pods().enumerate() {
            let went = self.gone.iter().flatten().any(|uid| *uid == pod.uid);
            if pod.verdict == Verdict::Contested {
                contested.extend(went.then_some(place));
            } else if went != (pod.verdict == Verdict::Delete) {
                return Err(format!("{}: {:?} because {}, but went: {went}", pod.name, pod.verdict, pod.why));
            }
        }
        if contested.len() != preview.quota {
            return Err(format!("{} contested pods went, and not {}", contested.len(), preview.quota));
        }
        Ok(contested)
    }

    fn of(&mut self, kind: &str) -> impl Iterator<Item = &mut Value> {
        self.items.iter_mut().filter(move |item| item["kind"] == kind)
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

type Change = fn(&mut Round);

#[test]
fn rounds_notice_what_is_wrong() {
    let wrongs: [(&str, usize, Change); 6] = [
        ("StatefulSets are all Parallel", 3, |round| {
            round.of("StatefulSet").for_each(|set| set["spec"]["podManagementPolicy"] = json!("Parallel"));
        }),
        ("no ordinal to start from", 3, |round| {
            round.of("StatefulSet").for_each(|set| set["spec"]["ordinals"] = json!(null));
        }),
        ("no pod is ready", 10, |round| {
            round.of("Pod").for_each(|pod| pod["status"]["conditions"] = json!([]));
        }),
        ("no completion indexes", 10, |round| {
            round.of("Pod").for_each(|pod| pod["metadata"]["annotations"] = json!({}));
        }),
        ("one more pod may be unavailable", 10, |round| {
            round.of("DaemonSet").for_each(|set| {
                set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = json!("40%");
            });
        }),
        ("nodes without labels", 10, |round| {
            round.of("Node").for_each(|node| node["metadata"]["labels"] = json!({}));
        }),
    ];
    let rounds = rounds();
    for (wrong, least, change) in wrongs {
        let noticed = rounds.iter().filter(|round| {
            let mut round = (*round).clone();
            change(&mut round);
            round.replay().is_err()
        });
        let noticed = noticed.count();
        println!("{wrong}: noticed by {noticed} of {} rounds", rounds.len());
        assert!(noticed >= least, "{wrong}: {noticed}");
    }
}
