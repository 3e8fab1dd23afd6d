//! Explains deletions, from a file or the cluster. Reads from the cluster what shows who deleted a pod: the pod, its set with everything that a decision about it
//! reads, and their events of the last hour, or as long as the cluster keeps events.

use crate::kubectl::Kubectl;
use crate::live::{self, MANAGERS, RETRIES, Scope};
use crate::surroundings;
use podrank_predict::{Options, PodDeletion, Snapshot, WorkloadKind, WorkloadName, explain_deletion};
use std::collections::BTreeSet;

/// Explains the deletion of a pod by a file. `None` if nothing in it says who deleted the pod.
pub(crate) fn in_file(input: &Snapshot, pod: &str, options: &Options) -> Option<PodDeletion> {
    let namespace = options.namespace.clone();
    let namespace =
        namespace.or_else(|| Some(input.going_pod(pod)?.0)).unwrap_or_else(|| "default".to_owned());
    // A file need not have the events.
    Some(explain_deletion(input, &namespace, pod, options)).filter(|deletion| deletion.cause.is_some())
}

/// Explains the deletion of a pod. `None` if it is neither being deleted nor known to be deleted.
pub(crate) fn of(kubectl: &Kubectl, pod: &str, scope: Scope<'_>, options: &Options) -> Option<PodDeletion> {
    let mut input = live::get_named(kubectl, "pods", pod, scope).ok()?;
    let is_going = !input.is_empty();
    let (namespace, owner) = match (input.going_pod(pod), scope) {
        (Some(found), _) => found,
        (None, Scope::Namespace(namespace)) if !is_going => {
            let namespace = namespace.map_or_else(|| kubectl.context_namespace(), str::to_owned);
            // Kubernetes makes a pod's name of that of its set, and five characters.
            let (set, _) = pod.rsplit_once('-')?;
            (namespace, Some(("ReplicaSet".to_owned(), set.to_owned())))
        }
        _ => return None,
    };
    let place = ["--namespace", &*namespace];
    let mut about = BTreeSet::from([pod.to_owned()]);
    if let Some((kind, name)) = owner {
        let kind = WorkloadKind::ALL.into_iter().find(|known| known.to_string() == kind);
        if let Some(kind) = kind.filter(|kind| WorkloadKind::WITH_COSTS.contains(kind)) {
            let resource = kind.resource();
            let words = [&[&*resource, &*name, "--ignore-not-found", MANAGERS][..], &place].concat();
            input.add_part(kubectl.get_if_allowed(&words));
            let deployment = input.deployment_of(&name).map(str::to_owned);
            let named = match &deployment {
                Some(name) => WorkloadName { kind: Some(WorkloadKind::Deployment), name: name.clone() },
                None => WorkloadName { kind: Some(kind), name: name.clone() },
            };
            let scope = Scope::Namespace(Some(&namespace));
            if is_going && let Ok(read) = live::read(kubectl, &named, None, scope, true, RETRIES) {
                input = read.input;
            } else if let Some(name) = &deployment {
                let words =
                    [&["deployments.apps", name, "--ignore-not-found", MANAGERS][..], &place].concat();
                input.add_part(kubectl.get_if_allowed(&words));
            }
            about.extend(deployment.or_else(|| Some(name.rsplit_once('-')?.0.to_owned())));
            surroundings::add_autoscalers(kubectl, &place, &mut input);
            about.extend(input.autoscalers().map(str::to_owned));
        }
        about.insert(name);
    }
    for name in about {
        let selector = format!("involvedObject.name={name}");
        let words = [&["events", "--field-selector", &*selector][..], &place].concat();
        input.add_part(kubectl.get_if_allowed(&words));
    }
    let taken = explain_deletion(&input, &namespace, pod, options);
    // A name that is not known may be mistyped.
    (is_going || taken.cause.is_some()).then_some(taken)
}
