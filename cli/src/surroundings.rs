//! Reads from the cluster what else acts on a workload: the autoscalers, disruption budgets and policies of podrank-webhook in its
//! namespace. A user who may not read them gets an answer without them.

use crate::kubectl::{Answer, Kubectl};
use podrank_predict::{RelatedKind, Snapshot, WorkloadId, WorkloadKind};

/// Adds what a preview shows, and notes what could not be read.
pub(crate) fn add(kubectl: &Kubectl, workload: &WorkloadId, input: &mut Snapshot) {
    let namespace = &workload.namespace;
    // No autoscaler sets the count of a workload that has none.
    let kinds = if workload.kind.has_replicas() { &COMMON[..] } else { &COMMON[1..] };
    let (found, unread) = read(kubectl, &["--namespace", namespace], kinds);
    input.add_part(found);
    input.lacks(&unread);
    if WorkloadKind::WITH_COSTS.contains(&workload.kind) {
        // In most clusters, there is no such type. Asked for it by its name, kubectl would look through all types again.
        let path = format!("/apis/podrank.dev/v1alpha1/namespaces/{namespace}/scaledownpolicies");
        let policies = kubectl.call(&["get", "--raw", &path], "").and_then(Answer::result);
        input.add_part(policies.map_or_else(|_| Snapshot::default(), |text| part(&text)));
    }
}

/// Those that every cluster has.
const COMMON: [RelatedKind; 2] = [RelatedKind::Autoscaler, RelatedKind::DisruptionBudget];

/// The autoscalers and disruption budgets in the namespace, as far as the user may read them.
pub(crate) fn common(kubectl: &Kubectl, namespace: &str) -> Snapshot {
    read(kubectl, &["--namespace", namespace], &COMMON).0
}

/// The disruption budgets in all namespaces, if the user may read them.
pub(crate) fn budgets(kubectl: &Kubectl) -> Snapshot {
    read(kubectl, &["--all-namespaces"], &COMMON[1..]).0
}

/// Adds the autoscalers of a scope, whose arguments these are.
pub(crate) fn add_autoscalers(kubectl: &Kubectl, scope: &[&str], input: &mut Snapshot) {
    input.add_part(read(kubectl, scope, &COMMON[..1]).0);
}

/// The objects of these kinds in a scope, and the kinds that could not be read.
fn read(kubectl: &Kubectl, scope: &[&str], kinds: &[RelatedKind]) -> (Snapshot, Vec<RelatedKind>) {
    let resources = kinds.iter().map(|kind| kind.resource()).collect::<Vec<_>>().join(",");
    let words = [&["get", &resources, "--output=json"], scope].concat();
    // If one of them may not be read, kubectl prints the others and fails.
    match kubectl.call(&words, "") {
        Ok(answer) => {
            let unread = kinds.iter().copied().filter(|kind| answer.refuses(kind.resource())).collect();
            (part(&answer.stdout), unread)
        }
        Err(_) => (Snapshot::default(), kinds.to_vec()),
    }
}

fn part(text: &str) -> Snapshot {
    Snapshot::read_part(text.as_bytes()).ok().flatten().unwrap_or_default()
}
