//! `DaemonSets`: a second reading.

use super::super::reading::{int, list, node, record, string};
use super::{Dump, Fates, REVISION, budget, is_terminating, staying, verdict};
use podrank::controller::daemon_set::{
    DaemonSet, NO_NODE, NodeFlags, Outcome, Pod, PodFlags, Reason, Strategy, next_sync,
};
use podrank::controller::{Availability, IntOrPercent, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;

impl<'a> Dump<'a> {
    pub(super) fn daemon_set(&self, pods: &[&'a Value], is_being_deleted: bool) -> Option<Fates<'a>> {
        let (spec, status) = (&self.workload["spec"], &self.workload["status"]);
        let strategy = &spec["updateStrategy"];
        let rolling = &strategy["rollingUpdate"];
        let max_surge = budget(&rolling["maxSurge"], IntOrPercent::Int(0))?;
        let strategy = match string(&strategy["type"]) {
            "OnDelete" => Strategy::OnDelete,
            _ => Strategy::RollingUpdate {
                max_surge,
                max_unavailable: budget(&rolling["maxUnavailable"], IntOrPercent::Int(1))?,
            },
        };
        let (mut names, mut nodes) = (Vec::new(), Vec::new());
        for object in self.all("Node") {
            let name = string(&object["metadata"]["name"]);
            if !names.contains(&name) {
                names.push(name);
                nodes.push(runs_on(&spec["template"]["spec"], object)?);
            }
        }
        let startable = nodes.iter().filter(|node| node.contains(NodeFlags::MAY_START)).count();
        let lags = status["observedGeneration"]
            .as_i64()
            .is_some_and(|seen| seen < self.workload["metadata"]["generation"].as_i64().unwrap_or(0));
        let lacks_nodes =
            !lags && int(&status["desiredNumberScheduled"], 0) > i32::try_from(startable).ok()?;
        let all = NodeFlags::EXISTS | NodeFlags::MAY_START | NodeFlags::MAY_KEEP;
        let unlisted = if lacks_nodes { all } else { NodeFlags::NONE };
        let revisions = self.all("ControllerRevision").filter(|revision| self.is_owned(revision));
        let revision = revisions.max_by_key(|revision| revision["revision"].as_i64().unwrap_or(0));
        let revision = revision.map(|revision| string(&revision["metadata"]["labels"][REVISION]));
        let generation =
            &self.workload["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
        let generation = generation.as_str().filter(|number| number.parse::<i64>().is_ok());
        let mut sorted = pods.to_vec();
        sorted.sort_by_key(|pod| string(&pod["metadata"]["name"]));
        let mut records = Vec::new();
        for (name_order, pod) in (0..).zip(&sorted) {
            let number = node(pod).or_else(|| target(pod)).map_or(NO_NODE, |name| {
                let known = names.iter().position(|known| *known == name);
                let number = known.unwrap_or_else(|| {
                    names.push(name);
                    nodes.push(unlisted);
                    names.len() - 1
                });
                u32::try_from(number).expect("few nodes")
            });
            let (labels, phase) = (&pod["metadata"]["labels"], &pod["status"]["phase"]);
            let is_current = revision.is_none_or(|revision| labels[REVISION].as_str() == Some(revision));
            let is_of_generation =
                generation.is_some() && labels["pod-template-generation"].as_str() == generation;
            let availability = self.availability(pod)?;
            let flags = PodFlags::NONE
                .with(PodFlags::ASSIGNED, node(pod).is_some())
                .with(PodFlags::READY, availability.is_ready())
                .with(PodFlags::AVAILABLE, availability == Availability::Available)
                .with(PodFlags::CURRENT_REVISION, is_current)
                .with(PodFlags::CURRENT_GENERATION, is_of_generation)
                .with(PodFlags::SUCCEEDED, phase == "Succeeded")
                .with(PodFlags::FAILED, phase == "Failed")
                .with(PodFlags::BEING_DELETED, is_terminating(pod));
            records.push(Pod {
                creation_time: record(pod)?.creation_time,
                name_order,
                node: number,
                flags,
                ..Pod::new()
            });
        }
        let (mut order, mut outcomes) = (vec![0; records.len()], vec![Outcome::default(); records.len()]);
        let set = DaemonSet { strategy, is_being_deleted };
        let step = next_sync(&set, &nodes, &records, &mut order, &mut outcomes).expect("known nodes");
        let surges = strategy != Strategy::OnDelete && max_surge.rounded_up(1) > 0;
        let mut quota = step.deleted as usize;
        let mut fates = BTreeMap::new();
        for (pod, outcome) in sorted.iter().zip(outcomes) {
            let goes = outcome.verdict == Verdict::Delete;
            quota -= usize::from(goes);
            // Without a revision, nobody knows which of a node's pods are old, so that it may keep two.
            let may_stay = revision.is_none() && surges && outcome.reason == Reason::Surplus;
            let verdict = if may_stay { "keep" } else { verdict(outcome.verdict) };
            fates.insert(string(&pod["metadata"]["name"]), (verdict, outcome.reason.name()));
        }
        Some((staying(fates, pods), quota))
    }
}

/// The node that an unassigned pod was made for.
fn target(pod: &Value) -> Option<&str> {
    let required =
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let mut fields = list(pod.pointer(required)?).flat_map(|term| list(&term["matchFields"]));
    let field = fields.find(|field| field["key"] == "metadata.name" && field["operator"] == "In")?;
    match field["values"].as_array()?.as_slice() {
        [name] => name.as_str(),
        _ => None,
    }
}

/// Where a pod of this template may run. `None` for affinities, which the vectors check.
fn runs_on(template: &Value, node: &Value) -> Option<NodeFlags> {
    if !template["affinity"].is_null() {
        return None;
    }
    let is_named = [string(&node["metadata"]["name"]), ""].contains(&string(&template["nodeName"]));
    let labels = &node["metadata"]["labels"];
    let has_labels =
        template["nodeSelector"].as_object().into_iter().flatten().all(|(key, value)| labels[key] == *value);
    let tolerates = |taint: &Value| {
        let (key, effect) = (string(&taint["key"]), string(&taint["effect"]));
        let of_node = key.strip_prefix("node.kubernetes.io/");
        let always: &[&str] = match effect {
            "NoExecute" => &["not-ready", "unreachable"],
            "NoSchedule" => &["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"],
            _ => &[],
        };
        let is_of_network = of_node == Some("network-unavailable") && effect == "NoSchedule";
        let is_always = of_node.is_some_and(|condition| always.contains(&condition))
            || is_of_network && template["hostNetwork"] == true;
        is_always
            || list(&template["tolerations"]).any(|it| {
                let is_any = |field: &str, of_taint: &str| [of_taint, ""].contains(&string(&it[field]));
                let has_value = match string(&it["operator"]) {
                    "" | "Equal" => string(&it["value"]) == string(&taint["value"]),
                    operator => operator == "Exists",
                };
                has_value && is_any("key", key) && is_any("effect", effect)
            })
    };
    let is_clear =
        |of: &str| list(&node["spec"]["taints"]).all(|taint| taint["effect"] != of || tolerates(taint));
    let keeps = is_named && has_labels && is_clear("NoExecute");
    let starts = keeps && is_clear("NoSchedule");
    Some(NodeFlags::EXISTS.with(NodeFlags::MAY_KEEP, keeps).with(NodeFlags::MAY_START, starts))
}
