//! UIDs that several objects have, as in redacted files and in copies of namespaces. In a cluster, a UID identifies one object.

use crate::snapshot::meta::{Metadata, OwnerReference};
use crate::snapshot::{Pod, Snapshot};
use podrank::Uid;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What identifies an object whose UID does not.
fn identity(namespace: &str, kind: &str, name: &str) -> String {
    format!("{namespace}/{kind}/{name}")
}

impl Snapshot {
    /// Replaces each UID that workloads of different namespaces, kinds or names share by these three, in references, too.
    pub(super) fn tell_apart(&mut self) {
        let (mut first, mut shared) = (BTreeMap::new(), BTreeSet::new());
        self.visit_owners(|kind, meta| {
            let own = identity(&meta.namespace, kind, &meta.name);
            if *first.entry(meta.uid.clone()).or_insert_with(|| own.clone()) != own {
                shared.insert(meta.uid.clone());
            }
        });
        if shared.is_empty() {
            return;
        }
        let refer = |namespace: &str, owner: &mut Option<OwnerReference>| {
            if let Some(owner) = owner.as_mut().filter(|owner| shared.contains(&owner.uid)) {
                owner.uid = identity(namespace, &owner.kind, &owner.name);
            }
        };
        let mut replaced = 0;
        self.visit_owners(|kind, meta| {
            refer(&meta.namespace, &mut meta.controller);
            if shared.contains(&meta.uid) {
                meta.uid = identity(&meta.namespace, kind, &meta.name);
                replaced += 1;
            }
        });
        self.pods.iter_mut().for_each(|pod| refer(&pod.meta.namespace, &mut pod.meta.controller));
        self.revisions.iter_mut().for_each(|it| refer(&it.meta.namespace, &mut it.meta.controller));
        self.unreadable.iter_mut().for_each(|it| refer(&it.namespace, &mut it.controller));
        self.with_shared_uids = replaced;
    }

    /// Gives pods of different names that share a UID one each, which no pod of a cluster has.
    pub(super) fn tell_pods_apart(&mut self) {
        let (mut first, mut shared) = (HashMap::<Uid, &Pod>::new(), HashSet::new());
        for pod in &self.pods {
            if !first.entry(pod.uid()).or_insert(pod).is_named_as(pod) {
                shared.insert(pod.uid());
            }
        }
        let mut own = BTreeMap::new();
        for pod in self.pods.iter_mut().filter(|pod| shared.contains(&pod.uid())) {
            let next = Uid::from((u128::MAX - own.len() as u128).to_be_bytes());
            pod.record.uid = *own.entry((pod.meta.namespace.clone(), pod.meta.name.clone())).or_insert(next);
        }
        self.pods_with_shared_uids = own.len();
    }

    /// Visits all objects that may own others, each with its kind.
    fn visit_owners(&mut self, mut visit: impl FnMut(&str, &mut Metadata)) {
        self.deployments.iter_mut().for_each(|it| visit("Deployment", &mut it.meta));
        self.sets.iter_mut().for_each(|it| visit(&it.kind.to_string(), &mut it.meta));
        self.stateful_sets.iter_mut().for_each(|it| visit("StatefulSet", &mut it.meta));
        self.daemon_sets.iter_mut().for_each(|it| visit("DaemonSet", &mut it.meta));
        self.jobs.iter_mut().for_each(|it| visit("Job", &mut it.meta));
        self.owners.iter_mut().for_each(|it| visit(&it.kind, &mut it.meta));
    }
}
