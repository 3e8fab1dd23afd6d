//! Replays rounds that real controllers played: dumps of a real control plane, and the pods that went; `judge/cluster/` records
//! them.
//!
//! The negative controls tell the preview something wrong. If no round noticed, the rounds would prove nothing about it.

use podrank::FeatureGates;
use podrank_laws::objects;
use podrank_predict::{NoteCode, Options, Preview, Snapshot, Verdict, preview_workload};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One set that lost pods, as `judge/cluster/internal/record` writes it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    round: u32,
    kind: String,
    set: String,
    replicas: u32,
    now: String,
    victims: BTreeSet<String>,
    items: Vec<Value>,
}

fn rounds() -> Vec<Case> {
    crate::recorded::rounds("rounds.jsonl.gz")
}

impl Case {
    /// Whether the preview is right about this round; an error is neither.
    fn replay(&self, gates: FeatureGates) -> Result<(), String> {
        let input = self.input()?;
        let preview = preview_workload(&input, &self.options(gates)).map_err(|error| error.to_string())?;
        self.compare(&preview)
    }

    fn input(&self) -> Result<Snapshot, String> {
        Snapshot::read(objects::dump(&self.items).as_bytes()).map_err(|error| error.to_string())
    }

    fn options(&self, gates: FeatureGates) -> Options {
        let mut options = Options::new(self.replicas, self.now.parse().expect("a time"));
        options.workload = Some(self.set.parse().expect("a name"));
        options.gates = gates;
        options
    }

    /// Every certain pod went, no safe one did, and of the contested ones as many as was said.
    fn compare(&self, preview: &Preview) -> Result<(), String> {
        if preview.delete() != self.victims.len() {
            return Err(format!("{} pods should go, and {} went", preview.delete(), self.victims.len()));
        }
        let listed: BTreeSet<_> = preview.pods().map(|pod| pod.uid().to_string()).collect();
        if let Some(unknown) = self.victims.difference(&listed).next() {
            return Err(format!("{unknown} went, and is not listed"));
        }
        for pod in preview.pods() {
            let went = self.victims.contains(&pod.uid().to_string());
            let right = match pod.verdict {
                Verdict::Deleted => went,
                Verdict::Kept | Verdict::Waiting => !went,
                Verdict::Possible => true,
            };
            if !right {
                return Err(format!("{}: {:?}, but went: {went}", pod.name(), pod.verdict));
            }
        }
        Ok(())
    }

    fn pods(&mut self) -> impl Iterator<Item = &mut Value> {
        self.items.iter_mut().filter(|item| item["kind"] == "Pod")
    }

    /// Without something of every pod.
    fn forget(&mut self, part: &str, field: &str) {
        for pod in self.pods() {
            pod[part].as_object_mut().expect("a pod").remove(field);
        }
    }

    /// Every pod has the creation time of another.
    fn swap_creation_times(&mut self) {
        let mut times: Vec<_> = self.pods().map(|pod| pod["metadata"]["creationTimestamp"].clone()).collect();
        times.rotate_left(1);
        for (pod, time) in self.pods().zip(times) {
            pod["metadata"]["creationTimestamp"] = time;
        }
    }

    fn without_sets(&mut self) {
        let (_, name) = self.set.split_once('/').expect("rs/NAME or rc/NAME");
        self.items.retain(|item| item["kind"] != "ReplicaSet" || item["metadata"]["name"] == name);
    }
}

#[test]
fn the_preview_is_right_about_every_round() {
    let rounds = rounds();
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for round in &rounds {
        if let Err(wrong) = round.replay(FeatureGates::KUBERNETES) {
            panic!("round {}, {} of a {}: {wrong}", round.round, round.set, round.kind);
        }
        *kinds.entry(&round.kind).or_default() += 1;
    }
    println!("{} rounds: {kinds:?}", rounds.len());
    assert!(rounds.len() >= 250 && kinds.len() == 7, "{} rounds: {kinds:?}", rounds.len());
}

/// What a round says without the sets that its set has beside it: whether it is right, and whether a word was said about them.
#[test]
fn no_round_without_siblings_is_wrong_without_a_word() {
    let (mut wrong, mut told) = (0, BTreeMap::<_, usize>::new());
    for mut round in rounds() {
        let sets = round.items.len();
        round.without_sets();
        let input = round.input().expect("a dump");
        let mut options = round.options(FeatureGates::KUBERNETES);
        let answer = preview_workload(&input, &options).map_err(|error| error.to_string());
        options.partial = true;
        let partial = preview_workload(&input, &options).expect("gaps are accepted");
        let place = format!("round {}, {} of a {}", round.round, round.set, round.kind);
        match answer {
            Ok(preview) => {
                round.compare(&preview).unwrap_or_else(|wrong| panic!("{place}, without a word: {wrong}"));
                assert!(partial.notes.iter().all(|note| note.code != NoteCode::Incomplete), "{place}");
            }
            Err(error) => {
                assert!(error.starts_with("the input is incomplete\n"), "{place}: {error}");
                assert!(error.contains("kubectl get pods,replicasets,deployments -n "), "{place}: {error}");
                assert!(partial.notes.iter().any(|note| note.code == NoteCode::Incomplete), "{place}");
                assert!(round.items.len() < sets, "{place}: nothing is missing, and yet {error}");
                *told.entry(round.kind.clone()).or_default() += 1;
                wrong += usize::from(round.compare(&partial).is_err());
            }
        }
    }
    println!("refused without siblings: {told:?}, of which {wrong} would be wrong");
    let refused = |kind| told.get(kind).copied().unwrap_or(0);
    assert!(refused("siblings") >= 40 && refused("rolling") >= 20, "{told:?}");
    assert!(wrong >= 2, "{wrong}");
}

/// What the preview is told wrongly, in how many rounds this must be noticed at least, and how.
type Control = (&'static str, usize, fn(&mut Case, &mut FeatureGates));

const CONTROLS: [Control; 8] = [
    ("no conditions", 40, |round, _| round.forget("status", "conditions")),
    ("terminating pods count", 10, |round, _| round.forget("metadata", "deletionTimestamp")),
    ("PodDeletionCost is off", 15, |_, gates| gates.pod_deletion_cost = false),
    ("LogarithmicScaleDown is off", 15, |_, gates| gates.logarithmic_scale_down = false),
    ("no restarts", 4, |round, _| round.forget("status", "containerStatuses")),
    ("no sidecar restarts", 3, |round, _| round.forget("status", "initContainerStatuses")),
    ("another's creation time", 8, |round, _| round.swap_creation_times()),
    ("no other sets", 2, |round, _| round.without_sets()),
];

#[test]
fn a_lie_is_noticed() {
    let rounds = rounds();
    for (name, least, lie) in CONTROLS {
        let is_noticed = |round: &&Case| {
            let (mut round, mut gates) = ((*round).clone(), FeatureGates::KUBERNETES);
            lie(&mut round, &mut gates);
            round.replay(gates).is_err()
        };
        let noticed = rounds.iter().filter(is_noticed).count();
        println!("{name}: noticed by {noticed} of {} rounds", rounds.len());
        assert!(noticed >= least, "{name}: noticed by {noticed} rounds, want at least {least}");
    }
}
