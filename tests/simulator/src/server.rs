//! The true state: the set and its pods as an API server stores them, and every change to them.

use std::collections::BTreeMap;

/// A `ReplicaSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) uid: u64,
    pub(super) version: u64,
    pub(super) wanted: u32,
    pub(super) is_being_deleted: bool,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Name and UID.
    pub(super) key: u64,
    pub(super) version: u64,
    /// The UID of its controller.
    pub(super) owner: Option<u64>,
    pub(super) namespace: u8,
    /// Whether its labels match the set's selector.
    pub(super) matches: bool,
    pub(super) has_finished: bool,
    pub(super) is_being_deleted: bool,
    pub(super) created: i64,
    pub(super) ready: Option<i64>,
}

/// A change, with the object as it was after the change, or before it if the object was removed.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Pod(Object),
    PodGone(Object),
    Set(Set),
    SetGone,
}

#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) set: Option<Set>,
    pub(super) pods: BTreeMap<u64, Object>,
    /// Changes that have not been delivered yet.
    pub(super) changes: Vec<Change>,
    version: u64,
}

/// The set's namespace.
pub(super) const NAMESPACE: u8 = 0;

impl Server {
    fn next(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    pub(super) fn create_set(&mut self, wanted: u32) {
        let uid = self.next();
        let set = Set { uid, version: uid, wanted, is_being_deleted: false };
        self.changes.push(Change::Set(set.clone()));
        self.set = Some(set);
    }

    pub(super) fn change_set(&mut self, change: impl FnOnce(&mut Set)) {
        let version = self.next();
        let Some(set) = &mut self.set else { return };
        set.version = version;
        change(set);
        self.changes.push(Change::Set(set.clone()));
    }

    pub(super) fn remove_set(&mut self) {
        self.set = None;
        self.changes.push(Change::SetGone);
    }

    /// Creates a pod. Returns its key.
    pub(super) fn create(&mut self, owner: Option<u64>, namespace: u8, matches: bool, now: i64) -> u64 {
        let key = self.next();
        let pod = Object {
            key,
            version: key,
            owner,
            namespace,
            matches,
            has_finished: false,
            is_being_deleted: false,
            created: now,
            ready: None,
        };
        self.changes.push(Change::Pod(pod.clone()));
        self.pods.insert(key, pod);
        key
    }

    /// Changes a pod. Returns false if there is none with this key.
    pub(super) fn change(&mut self, key: u64, change: impl FnOnce(&mut Object)) -> bool {
        let version = self.next();
        let Some(pod) = self.pods.get_mut(&key) else { return false };
        let before = pod.clone();
        change(pod);
        if *pod != before {
            pod.version = version;
            self.changes.push(Change::Pod(pod.clone()));
        }
        true
    }

    pub(super) fn remove(&mut self, key: u64) {
        if let Some(pod) = self.pods.remove(&key) {
            self.changes.push(Change::PodGone(pod));
        }
    }

    /// Makes the set the pod's controller. Returns false if the pod has another one by now.
    pub(super) fn adopt(&mut self, key: u64, set: u64) -> bool {
        let mut is_ours = true;
        self.change(key, |pod| {
            is_ours = pod.owner.is_none_or(|owner| owner == set);
            if is_ours {
                pod.owner = Some(set);
            }
        });
        is_ours
    }

    /// Removes the set as the pod's controller.
    pub(super) fn release(&mut self, key: u64, set: u64) {
        self.change(key, |pod| pod.owner = pod.owner.filter(|owner| *owner != set));
    }
}
