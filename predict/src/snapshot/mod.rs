//! What `kubectl get` prints: one file for each object, with what is kept of it, and the objects of an input.

mod autoscaler;
pub(crate) mod budget;
mod cost;
mod daemon_set;
mod deployment;
mod event;
mod index;
mod job;
mod kinds;
mod managed_fields;
mod meta;
mod node;
pub(crate) mod owner;
mod pod;
mod policy;
mod read;
mod related_kind;
mod release;
mod replica_set;
pub(crate) mod selector;
mod stateful_set;
mod template;
mod time;
mod uids;
mod unreadable;
mod workload;

pub(crate) use autoscaler::Autoscaler;
pub(crate) use budget::Budget;
pub(crate) use cost::{CostOwner, Manager, WrittenCost};
pub use cost::{PREVIOUS_COST_ANNOTATION, PreviousCost};
pub(crate) use daemon_set::{DaemonSet, Revision};
pub(crate) use deployment::Deployment;
pub(crate) use event::{Event, Selection};
pub(crate) use index::Sets;
pub(crate) use job::{FailureRule, Job, SuccessRule};
pub(crate) use kinds::Workload;
pub(crate) use managed_fields::CountWriter;
pub use managed_fields::FIELD_MANAGER;
pub(crate) use meta::{Deletion, Metadata, OwnerReference, REVISION_LABEL};
pub(crate) use node::{Node, ZONE_LABEL};
pub(crate) use owner::OtherOwner;
pub(crate) use pod::{FinishedPhase, JobPod, Pod, Termination};
pub use read::is_too_long;
pub use related_kind::RelatedKind;
pub use release::{ControllerGates, Release};
pub(crate) use replica_set::ReplicaSet;
pub(crate) use selector::{Selector, is_dns_subdomain};
pub(crate) use stateful_set::StatefulSet;
pub(crate) use time::to_time;
pub(crate) use unreadable::Unreadable;
pub(crate) use workload::checked;
pub use workload::{WorkloadId, WorkloadKind, WorkloadName, WorkloadRef};

use crate::text::{self, Error, parse};
use cost::NotedCost;
use deployment::{RollingUpdate, UpdateStrategy};
use managed_fields::{CONTROLLER_MANAGER, CountManagers, ManagedFields};
use meta::{Condition, Object, ObjectMeta, TargetReference, controller, namespace};
use node::{Affinity, Placement};
use policy::Policy;
use selector::LabelSelector;
use selector::{Expression, matches_node};
use std::collections::{BTreeMap, BTreeSet};
use template::{Fingerprint, Template};
use time::{Lenient, Time, deletion, nanos, time};

/// The objects of an input, each kind in the order of the input.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(crate) pods: Vec<Pod>,
    /// And the `ReplicationControllers`.
    pub(crate) sets: Vec<ReplicaSet>,
    pub(crate) deployments: Vec<Deployment>,
    pub(crate) stateful_sets: Vec<StatefulSet>,
    pub(crate) daemon_sets: Vec<DaemonSet>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) autoscalers: Vec<Autoscaler>,
    pub(crate) budgets: Vec<Budget>,
    pub(crate) policies: Vec<Policy>,
    /// Objects of other kinds that have a count, and so may own sets.
    pub(crate) owners: Vec<OtherOwner>,
    /// What was reported of deletions.
    pub(crate) events: Vec<Event>,
    /// What is of one of these kinds, but not as it should be.
    pub(crate) unreadable: Vec<Unreadable>,
    /// The kinds of which the user may not read the objects.
    pub(crate) not_permitted: Vec<RelatedKind>,
    /// The number of objects of other kinds.
    pub(crate) others: u64,
    /// How many workloads have a UID that others have, too.
    pub(crate) with_shared_uids: usize,
    /// How many pods have one.
    pub(crate) pods_with_shared_uids: usize,
}

impl Snapshot {
    /// Keeps the object at the start of a text, which is of a known kind, or else why it cannot be read, and moves the text behind it.
    /// Returns `None` if it is not JSON.
    fn keep(&mut self, kind: &str, text: &mut &str) -> Option<()> {
        let mut start = *text;
        let replica_set = |set| ReplicaSet::new::<LabelSelector>(WorkloadKind::ReplicaSet, set);
        let controller = |set| ReplicaSet::new::<BTreeMap<_, _>>(WorkloadKind::ReplicationController, set);
        let read = match kind {
            "Pod" => parse(text).map(|it| self.pods.push(it)),
            "Deployment" => parse(text).map(|it| self.deployments.push(it)),
            "ReplicaSet" => parse(text).and_then(replica_set).map(|it| self.sets.push(it)),
            "ReplicationController" => parse(text).and_then(controller).map(|it| self.sets.push(it)),
            "StatefulSet" => parse(text).map(|it| self.stateful_sets.push(it)),
            "DaemonSet" => parse(text).map(|it| self.daemon_sets.push(it)),
            "Job" => parse(text).map(|it| self.jobs.push(it)),
            "Node" => parse(text).map(|it| self.nodes.push(it)),
            "ControllerRevision" => parse(text).map(|it| self.revisions.push(it)),
            "HorizontalPodAutoscaler" => parse(text).map(|it| self.autoscalers.push(it)),
            "PodDisruptionBudget" => parse(text).map(|it| self.budgets.push(it)),
            "ScaleDownPolicy" => parse(text).map(|it| self.policies.push(it)),
            _ => Ok(()),
        };
        if let Err(error) = read {
            self.unreadable.push(Unreadable::new(kind, parse(&mut start).ok()?, error));
            *text = start;
        }
        Some(())
    }

    /// Adds a part that was read later. If both have an object, the later one counts.
    pub fn add_part(&mut self, mut later: Self) {
        // A set that is asked for by its name is also among all sets of its namespace.
        let ids: BTreeSet<_> = later.sets.iter().map(ReplicaSet::id).collect();
        let earlier = self.sets.extract_if(.., |set| ids.contains(&set.id()));
        // By its name, a set is read with the managers of its fields.
        let managers: BTreeMap<_, _> = earlier.map(|set| (set.meta.uid, set.managers)).collect();
        for set in later.sets.iter_mut().filter(|set| set.managers.owners.is_empty()) {
            if let Some(known) = managers.get(&set.meta.uid).filter(|_| set.managers.writer.is_none()) {
                set.managers = known.clone();
            }
        }
        later.pods.append(&mut self.pods);
        later.sets.append(&mut self.sets);
        later.deployments.append(&mut self.deployments);
        later.stateful_sets.append(&mut self.stateful_sets);
        later.daemon_sets.append(&mut self.daemon_sets);
        later.jobs.append(&mut self.jobs);
        later.nodes.append(&mut self.nodes);
        later.revisions.append(&mut self.revisions);
        later.autoscalers.append(&mut self.autoscalers);
        later.budgets.append(&mut self.budgets);
        later.policies.append(&mut self.policies);
        later.unreadable.append(&mut self.unreadable);
        later.not_permitted.append(&mut self.not_permitted);
        later.owners.append(&mut self.owners);
        later.events.append(&mut self.events);
        later.others += self.others;
        *self = later;
    }

    /// Notes that objects of these kinds may be there, but could not be read.
    pub fn lacks(&mut self, kinds: &[RelatedKind]) {
        self.not_permitted.extend(kinds);
    }

    /// Whether it has no pod and no workload.
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.listed_workloads().next().is_none()
    }

    /// Whether it has pods and no workload, as `kubectl get pods` prints them.
    pub(crate) fn has_only_pods(&self) -> bool {
        let is_unreadable = self.unreadable.iter().any(|its| its.workload().is_some());
        self.listed_workloads().next().is_none() && !is_unreadable
    }

    /// All workloads, also those without pods. One that is listed twice is there twice.
    pub(crate) fn listed_workloads(&self) -> impl Iterator<Item = Workload<'_>> {
        let deployments = self.deployments.iter().map(Workload::Deployment);
        deployments
            .chain(self.sets.iter().map(Workload::ReplicaSet))
            .chain(self.stateful_sets.iter().map(Workload::StatefulSet))
            .chain(self.daemon_sets.iter().map(Workload::DaemonSet))
            .chain(self.jobs.iter().map(Workload::Job))
    }

    pub(crate) fn find(&self, id: WorkloadRef<'_>) -> Option<Workload<'_>> {
        self.listed_workloads().find(|workload| workload.id() == id)
    }

    /// The object of an unknown kind that controls the set, if it has a count and is in the input.
    pub(crate) fn leader(&self, set: &ReplicaSet) -> Option<&OtherOwner> {
        let (controller, namespace) = (set.meta.controller.as_ref()?, &set.meta.namespace);
        self.owners.iter().find(|it| it.meta.uid == controller.uid && it.meta.namespace == *namespace)
    }

    /// Returns the workloads whose labels match a selector, which is written as for `kubectl get --selector`.
    ///
    /// # Errors
    /// If the selector is invalid.
    pub fn selected(&self, selector: &str) -> Result<Vec<WorkloadId>, Error> {
        let read = LabelSelector::of_text(selector);
        let invalid = || {
            Error::new(format!("{} is not a label selector", text::quoted(selector)))
                .advise("Write it as for kubectl, such as app=web.")
        };
        let selector = Selector::new(&read).ok_or_else(invalid)?;
        let is_selected = |its: &Workload<'_>| its.meta().is_some_and(|meta| selector.matches(&meta.labels));
        Ok(self.listed_workloads().filter(is_selected).map(|its| its.id().to_id()).collect())
    }
}
