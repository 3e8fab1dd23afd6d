//! The controller process: what it has observed, what it expects, and its pending requests. A crash loses all of it.

use crate::server::{Object, Set};
use podrank::controller::PodKey;
use podrank_laws::controller::{Controller, Naive};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Process<C: Controller> {
    /// Its number among the processes in this history.
    pub(super) number: u64,
    /// The stream of events that it reads. Every list starts a new stream.
    pub(super) stream: u64,
    pub(super) set: Option<Set>,
    pub(super) pods: BTreeMap<u64, Object>,
    pub(super) expectations: C::Expectations,
    pub(super) work: Work<C::SlowStart>,
    /// Whether a sync must follow the work.
    pub(super) is_due: bool,
    pub(super) audit: Audit,
}

/// What the process waits for.
pub(super) enum Work<S> {
    Nothing,
    Creating { set: u64, start: S, answers: u32, failures: u32 },
    Deleting { answers: u32, failures: u32 },
}

/// What the test knows about the process and the process itself does not.
#[derive(Default)]
pub(super) struct Audit {
    /// The naive implementation's expectations.
    pub(super) naive: Naive,
    /// The keys whose deletion was counted since deletions were last expected.
    pub(super) counted: BTreeSet<PodKey>,
    /// Every pod that it ever observed.
    pub(super) seen: BTreeSet<u64>,
    /// Its own creations and deletions that happened and whose answers reached it.
    pub(super) created: Vec<u64>,
    pub(super) deleted: Vec<u64>,
    /// Whether events may have been counted that belong to other creations than the expected ones.
    pub(super) is_tainted: bool,
}

impl<C: Controller> Process<C> {
    pub(super) fn new(number: u64, controller: &C) -> Self {
        Self {
            number,
            stream: 0,
            set: None,
            pods: BTreeMap::new(),
            expectations: controller.expectations(),
            work: Work::Nothing,
            is_due: false,
            audit: Audit::default(),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !matches!(self.work, Work::Nothing)
    }

    /// Returns whether this is the UID of the set as the process knows it.
    pub(super) fn is_ours(&self, owner: Option<u64>) -> bool {
        self.set.as_ref().map(|set| set.uid) == owner && owner.is_some()
    }

    /// Handles a new or changed pod, from an event or a list.
    pub(super) fn see(&mut self, controller: &C, pod: &Object) {
        let known = self.pods.get(&pod.key);
        if known.is_some_and(|known| known.version >= pod.version) {
            return;
        }
        let is_new = known.is_none();
        self.pods.insert(pod.key, pod.clone());
        self.audit.seen.insert(pod.key);
        if !self.is_ours(pod.owner) {
            return;
        }
        if pod.is_being_deleted {
            self.observe_deletion(controller, pod.key);
        } else if is_new {
            self.observe_creations(controller, 1);
        }
    }

    /// Handles the removal of a pod.
    pub(super) fn see_gone(&mut self, controller: &C, pod: &Object) {
        self.pods.remove(&pod.key);
        if self.is_ours(pod.owner) {
            self.observe_deletion(controller, pod.key);
        }
    }

    /// Handles a new, changed or removed set.
    pub(super) fn see_set(&mut self, controller: &C, set: Option<&Set>) {
        let same = self.set.as_ref().map(|set| set.uid) == set.map(|set| set.uid);
        if !same {
            controller.clear(&mut self.expectations);
            self.audit.naive.clear();
            self.audit.created.clear();
            self.audit.deleted.clear();
        }
        self.set = set.cloned();
    }

    pub(super) fn observe_creations(&mut self, controller: &C, count: u32) {
        controller.creations_observed(&mut self.expectations, count);
        self.audit.naive.creations_observed(count);
    }

    pub(super) fn observe_deletion(&mut self, controller: &C, key: u64) {
        let key = pod_key(key);
        let counted = controller.deletion_observed(&mut self.expectations, &key);
        assert_eq!(counted, self.audit.naive.deletion_observed(&key), "deletion of {key:?}");
        assert!(!counted || self.audit.counted.insert(key), "the deletion of {key:?} counted twice");
    }

    /// Returns whether it has observed all of its changes that it knows to have happened.
    pub(super) fn has_seen_its_doings(&mut self) -> bool {
        let Self { pods, audit, .. } = self;
        audit.created.retain(|key| !audit.seen.contains(key));
        audit.deleted.retain(|key| pods.get(key).is_some_and(|pod| !pod.is_being_deleted));
        audit.created.is_empty() && audit.deleted.is_empty()
    }
}

/// Returns the key under which a pod's deletion is expected.
pub(super) fn pod_key(key: u64) -> PodKey {
    u128::from(key).to_be_bytes()
}
