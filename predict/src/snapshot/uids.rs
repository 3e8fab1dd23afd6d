//! UIDs that several objects have, as in redacted files and in copies of namespaces. In a cluster, a UID identifies one object.

use crate::snapshot::meta::{Metadata, OwnerReference};
use crate::snapshot::{Pod, Snapshot};
use podrank::Uid;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What identifies an object whose UID does not.
fn identity(namespace: &str, kind: &str, name: &str) -> String {
    format!("{namespace}/{kind}/{name}")
}

fn name(pod: &Pod) -> (&str, &str) {
    (&pod.meta.namespace, &pod.meta.name)
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

    /// Gives pods of a namespace that share a UID one each, which no pod of a cluster has: in the order of their names, so that the order
    /// of the input makes no difference.
    pub(super) fn tell_pods_apart(&mut self) {
        let (mut first, mut shared) = (HashMap::new(), HashSet::new());
        for pod in &self.pods {
            let key = (&*pod.meta.namespace, pod.uid());
            if *first.entry(key).or_insert(&pod.meta.name) != &pod.meta.name {
                shared.insert(key);
            }
        }
        let is_shared = |pod: &&Pod| shared.contains(&(&*pod.meta.namespace, pod.uid()));
        let names: BTreeSet<_> = self.pods.iter().filter(is_shared).map(name).collect();
        let uids = (0..).map(|number| Uid::from((u128::MAX - number).to_be_bytes()));
        let own: HashMap<_, _> = names.into_iter().zip(uids).collect();
        let uid = |pod: &Pod| if is_shared(&pod) { own[&name(pod)] } else { pod.uid() };
        let uids: Vec<_> = self.pods.iter().map(uid).collect();
        self.pods_with_shared_uids = own.len();
        for (pod, uid) in self.pods.iter_mut().zip(uids) {
            pod.record.uid = uid;
        }
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
