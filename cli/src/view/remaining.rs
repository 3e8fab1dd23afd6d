//! Where the pods are that a scale-down leaves, in a sentence. Computes text and reads nothing.

use crate::view::plain;
use podrank_predict::{Order, PodAnswer, Preview, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Returns where the pods are that are left, if that is certain: `None of its pods is left on worker-1; the 3 left share worker-2.`
pub(super) fn nodes(preview: &Preview<'_>) -> Option<String> {
    let (stay, go): (Vec<_>, Vec<_>) = preview.pods().partition(|pod| pod.verdict == Verdict::Kept);
    let is_certain =
        preview.order == Order::Kubernetes && go.iter().all(|pod| pod.verdict == Verdict::Deleted);
    // New pods may come to any node.
    let is_all = preview.size.replicas.is_some_and(|replicas| replicas as usize == stay.len());
    if !is_certain || !is_all || go.is_empty() {
        return None;
    }
    let mut nodes = BTreeMap::<_, usize>::new();
    for node in stay.iter().filter_map(|pod| pod.node()) {
        *nodes.entry(node).or_default() += 1;
    }
    let rest = rest(stay.len(), &nodes)?;
    Some(match without(&go, &nodes) {
        Some(empty) => format!("None of its pods are left on {empty}, and the {rest}."),
        None => format!("The {rest}."),
    })
}

/// The nodes on which none is left: two by their names, more by their number.
fn without(go: &[&PodAnswer<'_>], nodes: &BTreeMap<&str, usize>) -> Option<String> {
    let empty: BTreeSet<_> =
        go.iter().filter_map(|pod| pod.node()).filter(|node| !nodes.contains_key(node)).collect();
    let names: Vec<_> = empty.iter().map(|node| plain(node)).collect();
    match &*names {
        [] => None,
        [only] => Some(only.to_string()),
        [first, last] => Some(format!("{first} and {last}")),
        more => Some(format!("{} nodes", more.len())),
    }
}

/// How the pods that are left share the nodes.
fn rest(pods: usize, nodes: &BTreeMap<&str, usize>) -> Option<String> {
    let (fullest, most) = nodes.iter().rev().max_by_key(|(_, pods)| **pods)?;
    let fullest = plain(fullest);
    Some(match (pods, nodes.len()) {
        (1, _) => format!("pod that is kept is on {fullest}"),
        (_, 1) if *most == pods => format!("{pods} left share {fullest}"),
        (_, nodes) if *most == 1 => format!("{pods} left are on {nodes} nodes"),
        (_, nodes) => format!("{pods} left are on {nodes} nodes, {most} of them on {fullest}"),
    })
}
