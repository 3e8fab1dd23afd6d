//! The pods of a node, by the workloads that would have to shrink so that they go. Whether these can shrink by them now is planned
//! by `drop --node`, which asks the cluster for more. Computes text and JSON, and reads nothing.

use crate::look::{Grid, plain};
use podrank_predict::plan::{self, Scaled, Sorted, Spared};
use podrank_predict::{Input, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

/// What becomes of the active pods of a node. Serialized, it is JSON that other programs read: docs/preview-json.md says what each
/// name means.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePreview {
    api_version: &'static str,
    kind: &'static str,
    node: String,
    workloads: Vec<NodeWorkload>,
    passed_over: Vec<Spared>,
    others: Vec<Spared>,
}

/// A workload, and its pods on the node.
#[derive(Serialize)]
struct NodeWorkload {
    namespace: String,
    target: String,
    pods: BTreeSet<String>,
}

impl NodePreview {
    /// Sorts the pods of an input, which are all on the node.
    pub fn of(input: &Input, node: &str) -> Self {
        let Sorted { workloads, passed_over, others } = plan::sorted(plan::owners(input));
        let workload =
            |(Scaled { namespace, name }, pods)| NodeWorkload { namespace, target: name.to_string(), pods };
        Self {
            api_version: "podrank/v1",
            kind: "NodePreview",
            node: node.to_owned(),
            workloads: workloads.into_iter().map(workload).collect(),
            passed_over,
            others,
        }
    }

    /// Returns `pod/NAME` of each pod that goes if its workload shrinks, a line each.
    ///
    /// # Errors
    /// If they are in several namespaces, which names alone do not tell.
    pub fn names(&self) -> Result<String, String> {
        let namespaces: BTreeSet<_> = self.workloads.iter().map(|its| &*its.namespace).collect();
        if namespaces.len() > 1 {
            let namespaces: Vec<_> = namespaces.into_iter().collect();
            return Err(format!(
                "the pods of {} are in several namespaces, {}, and names alone do not tell which is where: use -o json",
                self.node,
                namespaces.join(" and ")
            ));
        }
        let pods = self.workloads.iter().flat_map(|its| &its.pods);
        let names: Vec<_> = pods.map(|pod| format!("pod/{}\n", plain(pod))).collect();
        Ok(names.concat())
    }

    /// Returns a line for each workload.
    pub fn table(&self) -> Grid {
        let pods: usize = self.workloads.iter().map(|its| its.pods.len()).sum();
        let others: usize = self.passed_over.iter().chain(&self.others).map(|its| its.pods.len()).sum();
        let all = pods + others;
        let headline = match (pods, all) {
            (_, 0) => format!("{}: it has no active pods", self.node),
            _ => format!("{}: the counts of their workloads could drop {pods} of its {all} pods", self.node),
        };
        let row = |its: &NodeWorkload| {
            let pods = its.pods.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            (Verdict::Keep, vec![its.namespace.clone(), its.target.clone(), pods])
        };
        let header = vec!["NAMESPACE", "WORKLOAD", "PODS"];
        let rows = self.workloads.iter().map(row).collect();
        Grid { header, rows, is_cut: true, ..Grid::of_sentences([headline]) }
    }

    /// Returns what else to say: the pods that stay, and for a node of a cluster, how to plan.
    pub fn beside(&self, is_live: bool) -> Vec<String> {
        let stay = self.passed_over.iter().chain(&self.others).map(|Spared { namespace, pods, why }| {
            format!("note: {} in {namespace} cannot be dropped: {why}", pods.join(", "))
        });
        let plan = format!(
            "To see whether these workloads can shrink by these pods now: kubectl podrank drop --node {} --skip-others --dry-run",
            self.node
        );
        stay.chain((is_live && !self.workloads.is_empty()).then_some(plan)).collect()
    }
}
