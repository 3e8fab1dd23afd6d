//! The pods that a decision reads: the set's own pods and the related ones, each once, and their ranks. Reads only the input.

use crate::answer::Note;
use crate::decide::notes;
use crate::reason::RankedPod;
use crate::snapshot::{Pod, Selector, Sets, WorkloadKind, WorkloadRef};
use crate::text::Error;
use podrank::Uid;
use std::collections::{HashMap, HashSet};

/// An active pod that the decision reads, listed once.
pub(crate) struct Member<'a> {
    pub(crate) pod: &'a Pod,
    pub(crate) is_own: bool,
    is_related: bool,
}

/// The pods that the decision reads, in the order of the input.
pub(crate) fn members<'a>(
    sets: &Sets<'a>,
    id: WorkloadRef<'_>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Member<'a>>, Error> {
    let related = related(sets, id);
    let mut seen = Seen::default();
    let mut members = Vec::new();
    for entry in sets.input.pods.iter().filter(|pod| pod.is_active()) {
        let is_own = sets.owner(entry) == Some(id);
        let selects = |(namespace, selector): &(&str, Selector<'_>)| {
            entry.meta.namespace == *namespace && selector.matches(&entry.meta.labels)
        };
        let is_related = related.as_ref().map_or(is_own, |related| related.iter().any(selects));
        if (is_own || is_related) && seen.is_new(entry, notes)? {
            members.push(Member { pod: entry, is_own, is_related });
        }
    }
    Ok(members)
}

/// The pods that were read so far.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    uids: HashMap<(&'a str, &'a str), Uid>,
    listed_twice: HashSet<Uid>,
}

impl<'a> Seen<'a> {
    /// Returns whether the pod was not listed before, and notes it if it was. It is an error if it had another UID.
    pub(crate) fn is_new(&mut self, entry: &'a Pod, notes: &mut Vec<Note>) -> Result<bool, Error> {
        let uid = entry.record.uid;
        match self.uids.insert((&entry.meta.namespace, &entry.meta.name), uid) {
            None => Ok(true),
            Some(other) if other == uid => {
                notes.extend(self.listed_twice.insert(uid).then(|| notes::listed_twice(entry)));
                Ok(false)
            }
            Some(other) => Err(Error::new(format!("{entry} is listed twice, with different UIDs"))
                .because(format!("They are {other} and {uid}."))),
        }
    }
}

/// The set's own pods with their ranks.
pub(crate) fn ranked<'a>(members: &[Member<'a>]) -> Vec<RankedPod<'a>> {
    let mut related = HashMap::<_, u32>::new();
    for member in members.iter().filter(|member| member.is_related) {
        *related.entry(member.pod.node()).or_default() += 1;
    }
    let own = members.iter().filter(|member| member.is_own);
    own.map(|&Member { pod, .. }| {
        let rank = related.get(&pod.node()).copied().unwrap_or(0);
        RankedPod { pod, record: podrank::Pod { rank, ..pod.record } }
    })
    .collect()
}

/// The namespaces and selectors of the `ReplicaSets` of the same controller. The pods that these select are related. There are none for
/// a set without a controller and for a `ReplicationController`: Kubernetes counts no pods for them, so every rank is 0.
///
/// `None` if the set is not in the input. Then its own pods are related, because most sets have a controller.
fn related<'a>(sets: &Sets<'a>, id: WorkloadRef<'_>) -> Option<Vec<(&'a str, Selector<'a>)>> {
    if id.kind != WorkloadKind::ReplicaSet {
        return Some(Vec::new());
    }
    let controller = sets.controller(sets.get(id)?);
    let related = controller.into_iter().flat_map(|owner| sets.controlled_by(&owner.uid));
    Some(related.filter_map(|set| Some((&*set.meta.namespace, set.selector()?))).collect())
}
