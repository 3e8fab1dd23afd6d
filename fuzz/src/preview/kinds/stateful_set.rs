//! `StatefulSets`: a second reading.

use super::super::reading::{int, string};
use super::{Dump, Fates, REVISION, budget, is_finished, is_terminating, staying, verdict};
use podrank::controller::stateful_set::{
    self, Member, MemberFlags, Outcome, PodManagement, Reason, StatefulSet, Update,
};
use podrank::controller::{Availability, IntOrPercent};
use serde_json::Value;
use std::collections::BTreeMap;

impl<'a> Dump<'a> {
    pub(super) fn stateful_set(&self, pods: &[&'a Value], is_being_deleted: bool) -> Option<Fates<'a>> {
        let (spec, gates) = (&self.workload["spec"], self.options.controller_gates);
        let strategy = &spec["updateStrategy"];
        let rolling = &strategy["rollingUpdate"];
        let set = StatefulSet {
            replicas: self.options.replicas.map_or(int(&spec["replicas"], 1), u32::cast_signed),
            start: int(&spec["ordinals"]["start"], 0),
            management: match string(&spec["podManagementPolicy"]) {
                "Parallel" => PodManagement::Parallel,
                _ => PodManagement::OrderedReady,
            },
            update: match string(&strategy["type"]) {
                "OnDelete" => Update::OnDelete,
                "Recreate" => Update::Recreate,
                _ => Update::RollingUpdate {
                    partition: int(&rolling["partition"], 0),
                    max_unavailable: budget(&rolling["maxUnavailable"], IntOrPercent::Int(1))?,
                },
            },
            is_being_deleted,
            max_unavailable_gate: gates.max_unavailable_stateful_set,
            recreate_gate: gates.stateful_set_recreate_strategy,
        };
        let revision = string(&self.workload["status"]["updateRevision"]);
        let (mut counted, mut members, mut fates) = (Vec::new(), Vec::new(), BTreeMap::new());
        for pod in pods {
            let name = string(&pod["metadata"]["name"]);
            let Some(ordinal) = stateful_set::ordinal(self.id.2, name) else {
                fates.insert(name, ("keep", Reason::NoOrdinal.name()));
                continue;
            };
            let availability = self.availability(pod)?;
            let is_old = !revision.is_empty() && string(&pod["metadata"]["labels"][REVISION]) != revision;
            let flags = MemberFlags::NONE
                .with(MemberFlags::RUNNING, pod["status"]["phase"] == "Running")
                .with(MemberFlags::FINISHED, is_finished(pod))
                .with(MemberFlags::READY, availability.is_ready())
                .with(MemberFlags::AVAILABLE, availability == Availability::Available)
                .with(MemberFlags::TERMINATING, is_terminating(pod))
                .with(MemberFlags::UPDATED, !is_old);
            counted.push(*pod);
            members.push(Member::new(ordinal, flags));
        }
        let mut outcomes = vec![Outcome::default(); members.len()];
        let step = stateful_set::next_sync(&set, &members, &mut outcomes).expect("there is room");
        for outcome in outcomes {
            let name = string(&counted[outcome.member as usize]["metadata"]["name"]);
            fates.insert(name, (verdict(outcome.verdict), outcome.reason.name()));
        }
        Some((staying(fates, pods), step.contested as usize))
    }
}
