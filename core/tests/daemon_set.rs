//! What `DaemonSets` delete: facts of Kubernetes' code, and a naive implementation of it.

use podrank::Time;
use podrank::controller::IntOrPercent::{self, Int, Percent};
use podrank::controller::Verdict::{Contested, Delete, Keep};
use podrank::controller::daemon_set::{
    DaemonSet, DaemonSetError, InvalidPod, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Reason, Step,
    Strategy, next_sync,
};
use podrank_laws::daemon_set::{name_orders, sync_is_upstreams, updates};
use podrank_laws::generate::config;
use proptest::prelude::{Just, Strategy as Generator, prop};
use proptest::sample::select;
use proptest::{prop_oneof, proptest};

const GOOD: NodeFlags = NodeFlags::from_bits(7);
const ASSIGNED: u8 = 1;
const AVAILABLE: u8 = 1 | 2 | 4;
const NEW: u8 = 8;

fn rolling(max_surge: IntOrPercent, max_unavailable: IntOrPercent) -> DaemonSet {
    DaemonSet { strategy: Strategy::RollingUpdate { max_surge, max_unavailable }, is_being_deleted: false }
}

fn pod(node: u32, name_order: u32, flags: u8) -> Pod {
    Pod { node, name_order, flags: PodFlags::from_bits(flags), ..Pod::new() }
}

fn sync(set: &DaemonSet, nodes: &[NodeFlags], pods: &[Pod]) -> (Step, Vec<Outcome>) {
    let (mut order, mut outcomes) = (vec![0; pods.len()], vec![Outcome::default(); pods.len()]);
    let step = next_sync(set, nodes, pods, &mut order, &mut outcomes).unwrap();
    (step, outcomes)
}

/// Ten nodes with an old available pod each.
fn ten() -> Vec<Pod> {
    (0..10).map(|node| pod(node, node, AVAILABLE)).collect()
}

#[test]
fn budgets_are_rounded_up() {
    for (unavailable, goes) in
        [(Int(3), 3), (Percent(30), 3), (Percent(21), 3), (Percent(20), 2), (Int(0), 1), (Percent(1), 1)]
    {
        let (step, outcomes) = sync(&rolling(Int(0), unavailable), &[GOOD; 10], &ten());
        assert!(step.is_update);
        assert_eq!((step.deleted, step.unavailable), (goes, goes.into()));
        assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, goes)));
    }
    // With surge, none goes before its successor is available. A percentage of ten nodes is rounded up, too.
    let (step, outcomes) = sync(&rolling(Percent(11), Int(0)), &[GOOD; 10], &ten());
    assert_eq!((step.deleted, step.creates, step.surge), (0, 2, 2));
    assert!(outcomes.iter().all(|outcome| outcome.reason == Reason::AwaitsNew));
}

#[test]
fn unavailable_pods_use_up_the_budget() {
    let mut pods = ten();
    pods[4].flags = PodFlags::ASSIGNED;
    pods[7].flags = PodFlags::from_bits(ASSIGNED | NEW);
    pods[8].flags = PodFlags::from_bits(AVAILABLE | NEW);
    let (step, outcomes) = sync(&rolling(Int(0), Int(3)), &[GOOD; 10], &pods);
    assert_eq!((step.used, step.deleted), (2, 2), "the new pod that is available uses up nothing");
    assert_eq!((outcomes[4].verdict, outcomes[4].reason), (Delete, Reason::OldUnavailable));
    assert_eq!([7, 8].map(|pod| outcomes[pod].verdict), [Keep; 2]);
    assert_eq!((outcomes[0].verdict, outcomes[0].quota), (Contested, 1));
}

#[test]
fn surplus_of_a_node() {
    let at = |seconds, pod: Pod| Pod { creation_time: Time::from_unix(seconds, 0), ..pod };
    // An assigned pod stays before an older one that is not, the oldest before others, and the smaller name.
    let pods = [
        at(0, pod(0, 0, 0)),
        at(5, pod(0, 2, ASSIGNED)),
        at(5, pod(0, 1, ASSIGNED)),
        at(6, pod(0, 3, ASSIGNED)),
    ];
    let (step, outcomes) = sync(&DaemonSet::default(), &[GOOD], &pods);
    assert_eq!((step.deleted, step.is_update), (3, false));
    assert_eq!(
        outcomes.iter().map(|outcome| outcome.verdict).collect::<Vec<_>>(),
        [Delete, Delete, Keep, Delete]
    );
    assert_eq!(outcomes[0].reason, Reason::Surplus);
}

#[test]
fn on_delete_replaces_nothing_even_if_a_node_lacks_its_pod() {
    let old = pod(0, 0, AVAILABLE);
    let reason = |strategy| {
        let set = DaemonSet { strategy, is_being_deleted: false };
        let (step, outcomes) = sync(&set, &[GOOD; 2], &[old]);
        assert_eq!((step.creates, step.deleted, outcomes[0].verdict), (1, 0, Keep));
        outcomes[0].reason
    };
    assert_eq!(reason(Strategy::OnDelete), Reason::OnDelete);
    assert_eq!(reason(DaemonSet::default().strategy), Reason::AfterFirstPart);
}

#[test]
fn at_most_250() {
    let pods: Vec<Pod> = (0..260).map(|node| pod(node, node, AVAILABLE)).collect();
    let (step, outcomes) = sync(&DaemonSet::default(), &[NodeFlags::EXISTS; 260], &pods);
    assert_eq!((step.deleted, step.later), (250, 10));
    assert!(outcomes.iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, 250)));
    // Pods whose node does not exist come after those.
    let pods = [&pods[..250], &[pod(250, 300, 0)]].concat();
    let nodes = [&[NodeFlags::EXISTS; 250][..], &[NodeFlags::NONE]].concat();
    let (step, outcomes) = sync(&DaemonSet::default(), &nodes, &pods);
    assert_eq!((step.deleted, step.later), (250, 1));
    assert_eq!((outcomes[250].verdict, outcomes[250].reason), (Keep, Reason::NextSync));
    assert!(outcomes[..250].iter().all(|outcome| outcome.verdict == Delete));
}

/// One failed pod of each node goes in a sync.
#[test]
fn failed_pods_of_a_node_count_once() {
    let failed = |node, name_order| pod(node, name_order, ASSIGNED | 0x40);
    let pods = [failed(0, 0), failed(0, 1), failed(0, 2), failed(1, 3)];
    let (step, outcomes) = sync(&DaemonSet::default(), &[GOOD; 2], &pods);
    assert_eq!((step.deleted, step.later), (2, 0));
    assert!(outcomes[..3].iter().all(|outcome| (outcome.verdict, outcome.quota) == (Contested, 1)));
    assert_eq!(outcomes[3].verdict, Delete);
}

#[test]
fn only_sound_pods_are_valid() {
    let pod = pod(0, 0, 0xbf);
    assert_eq!(pod.validate(), Ok(()));
    let both = Pod { flags: PodFlags::from_bits(0x60), ..pod };
    assert_eq!(both.validate(), Err(InvalidPod::TwoPhases));
    for place in 0..7 {
        let mut reserved = pod;
        reserved.reserved[place] = 1;
        assert_eq!(reserved.validate(), Err(InvalidPod::ReservedNotZero));
    }
    for (error, text) in [
        (InvalidPod::TwoPhases, "the pod has both succeeded and failed"),
        (InvalidPod::ReservedNotZero, "a reserved byte is not zero"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn an_unknown_node_is_an_error() {
    let (mut order, mut outcomes) = ([9], [Outcome::default()]);
    let pods = [pod(1, 0, ASSIGNED)];
    let error = next_sync(&DaemonSet::default(), &[GOOD], &pods, &mut order, &mut outcomes);
    assert_eq!(error, Err(DaemonSetError::UnknownNode(0)));
    assert_eq!(order, [9]);
}

#[test]
fn a_short_slice_is_an_error_and_nothing_is_written() {
    let pods = [pod(0, 0, ASSIGNED), pod(0, 1, ASSIGNED)];
    let mut untouched = Outcome::default();
    untouched.group = 7;
    for (order, outcomes) in [(1, 2), (2, 1)] {
        let (mut order, mut outcomes) = (vec![9; order], vec![untouched; outcomes]);
        let error = next_sync(&DaemonSet::default(), &[GOOD], &pods, &mut order, &mut outcomes);
        assert_eq!(error, Err(DaemonSetError::ShortBuffer));
        assert!(order.iter().all(|slot| *slot == 9) && outcomes.iter().all(|slot| *slot == untouched));
    }
    for (error, text) in [
        (DaemonSetError::ShortBuffer, "a slice is shorter than the pods: make room for one element per pod"),
        (DaemonSetError::TooMany, "there are more than 4294967295 pods or nodes"),
        (DaemonSetError::UnknownNode(3), "the node of pod 3 is not in the list of nodes"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

fn surges() -> impl Generator<Value = IntOrPercent> {
    select(vec![Int(1), Int(1), Int(2), Percent(34), Percent(50)])
}

fn unavailables() -> impl Generator<Value = IntOrPercent> {
    select(vec![Int(0), Int(1), Int(2), Percent(34), Percent(51)])
}

proptest! {
    #![proptest_config(config(4096))]

    #[test]
    fn every_order(
        // Nodes that may start a pod may keep it.
        nodes in prop::collection::vec(select(vec![0_u8, 1, 5, 7, 7, 7, 13, 15]), 1..4),
        pods in prop::collection::vec((0..4_u32, 0..3_i64, 0..256_u16, 0..4_u8), 0..5),
        surge in prop_oneof![Just(Int(0)), surges()],
        unavailable in unavailables(),
        names in name_orders(4),
    ) {
        let nodes: Vec<NodeFlags> = nodes.into_iter().map(NodeFlags::from_bits).collect();
        let pods: Vec<Pod> = names.into_iter().zip(pods).map(|(name, (node, seconds, flags, tidy))| {
            // Most neither end nor are deleted, and many are what a rollout leaves: available or not, old or new.
            let flags = match tidy {
                0 if flags & 0x60 == 0x60 => flags & 0xdf,
                0 => flags,
                1 => flags & 0x1f,
                _ => [0x01, 0x07, 0x09, 0x0f][usize::from(flags % 4)],
            };
            let node = if node as usize >= nodes.len() { NO_NODE } else { node };
            Pod { creation_time: Time::from_unix(seconds, 0), ..pod(node, name, u8::try_from(flags).unwrap()) }
        }).collect();
        sync_is_upstreams(&rolling(surge, unavailable), &nodes, &pods);
    }

    #[test]
    fn every_order_of_an_update_with_surge((nodes, pods) in updates(true), surge in surges()) {
        sync_is_upstreams(&rolling(surge, Int(0)), &nodes, &pods);
    }

    #[test]
    fn every_order_of_an_update_without((nodes, pods) in updates(false), unavailable in unavailables()) {
        sync_is_upstreams(&rolling(Int(0), unavailable), &nodes, &pods);
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    #[allow(dead_code)]
    source: String,
    max_surge: serde_json::Value,
    max_unavailable: serde_json::Value,
    #[serde(default)]
    on_delete: bool,
    nodes: Vec<String>,
    pods: Vec<DaemonPod>,
    outcomes: Vec<String>,
    creates: Option<u32>,
    blocked_by: Option<u32>,
}

#[derive(serde::Deserialize)]
struct DaemonPod {
    node: u32,
    flags: String,
    created: i64,
}

fn budget(value: &serde_json::Value) -> IntOrPercent {
    match value.as_str() {
        Some(text) => IntOrPercent::parse(text).unwrap(),
        None => Int(value.as_i64().unwrap().try_into().unwrap()),
    }
}

/// The bits of these words.
fn bits(words: &str, names: &[&str]) -> u8 {
    let bit = |word| 1 << names.iter().position(|name| *name == word).unwrap_or_else(|| panic!("{word}"));
    words.split_whitespace().map(bit).sum()
}

#[test]
fn vectors() {
    const NODE: [&str; 4] = ["exists", "may-start", "may-keep", "in-backoff"];
    const POD: [&str; 8] = [
        "assigned",
        "ready",
        "available",
        "current-revision",
        "current-generation",
        "succeeded",
        "failed",
        "being-deleted",
    ];
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/vectors/daemon_set.json")).unwrap();
    for case in &cases {
        let strategy = if case.on_delete {
            Strategy::OnDelete
        } else {
            Strategy::RollingUpdate {
                max_surge: budget(&case.max_surge),
                max_unavailable: budget(&case.max_unavailable),
            }
        };
        let set = DaemonSet { strategy, is_being_deleted: false };
        let nodes: Vec<_> = case.nodes.iter().map(|words| NodeFlags::from_bits(bits(words, &NODE))).collect();
        let pods: Vec<_> = (0..)
            .zip(&case.pods)
            .map(|(name, it)| Pod {
                creation_time: Time::from_unix(it.created, 0),
                ..pod(it.node, name, bits(&it.flags, &POD))
            })
            .collect();
        let (step, outcomes) = sync(&set, &nodes, &pods);
        if nodes.len() <= 3 {
            sync_is_upstreams(&set, &nodes, &pods);
        }
        let told: Vec<_> = outcomes
            .iter()
            .map(|outcome| match outcome.verdict {
                Contested => format!("contested {} {} of a", outcome.reason, outcome.quota),
                Delete => format!("delete {}", outcome.reason),
                _ => format!("keep {}", outcome.reason),
            })
            .collect();
        assert_eq!(told, case.outcomes, "{}", case.name);
        assert_eq!(step.blocked_by, case.blocked_by, "{}", case.name);
        assert!(case.creates.is_none_or(|creates| step.creates == creates), "{}: {step:?}", case.name);
    }
    assert!(cases.len() >= 29);
}
