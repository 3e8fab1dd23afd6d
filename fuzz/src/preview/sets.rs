//! A second reading of a set and its pods, without types, decided by the naive order and relation of `podrank_laws`.

use super::reading::{
    annotation, controller, has_lists_for_objects, int, is_active, is_valid, kind, moment, node, objects,
    record, selects, selects_but_for_hash, space, string, timestamp,
};
use crate::cost;
use podrank::{Flags, Phase, Pod, Policy};
use podrank_laws::oracle;
use podrank_laws::relation;
use podrank_preview::{Options, Order};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The notes on whether a dump is complete.
pub const COMPLETENESS: [&str; 4] =
    ["set-missing", "siblings-missing", "pods-missing", "more-pods-than-status"];

/// What a preview must say.
pub(super) struct Expected {
    pub(super) delete: usize,
    pub(super) pods: Vec<Value>,
    pub(super) invalid_costs: usize,
    /// Of [`COMPLETENESS`].
    pub(super) notes: Vec<&'static str>,
}

/// A namespace, a kind and a name.
pub(super) type Id<'a> = (&'a str, &'a str, &'a str);

/// What a dump lists: its sets, and all and the active pods.
struct Listed<'a> {
    sets: BTreeMap<Id<'a>, &'a Value>,
    active: Vec<&'a Value>,
    pods: Vec<&'a Value>,
}

impl<'a> Listed<'a> {
    fn of(objects: &'a [(&'static str, Value)]) -> Option<Self> {
        let mut listed = Self { sets: BTreeMap::new(), active: Vec::new(), pods: Vec::new() };
        for (kind, object) in objects {
            if has_lists_for_objects(object) {
                return None;
            }
            match *kind {
                "ReplicaSet" | "ReplicationController" => {
                    let id = (space(object), *kind, object["metadata"]["name"].as_str()?);
                    listed.sets.entry(id).or_insert(object);
                }
                "Pod" => {
                    listed.pods.push(object);
                    listed.active.extend(is_active(object).then_some(object));
                }
                _ => {}
            }
        }
        Some(listed)
    }
}

/// Returns what the preview of this set must say. `None` if untyped JSON cannot hold the text (numbers beyond its range,
/// halves of characters), or if it has lists in place of objects, which typed reading takes for their fields.
pub(super) fn reference(text: &[u8], id: Id<'_>, options: &Options) -> Option<Expected> {
    let objects = objects(text)?;
    let Listed { sets, mut active, pods } = Listed::of(&objects)?;
    let set = sets.get(&id).copied();
    let is_of = |pod: &Value, name: &str, set: Option<&Value>| {
        controller(pod).is_some_and(|owner| {
            kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some(id.1)
                && string(&owner["name"]) == name
                && space(pod) == id.0
                && set.is_none_or(|set| string(&set["metadata"]["uid"]) == string(&owner["uid"]))
        })
    };
    let is_own = |pod: &Value| is_of(pod, id.2, set);
    let deployment = set.filter(|_| id.1 == "ReplicaSet").and_then(controller);
    let is_related = |pod: &Value| match deployment {
        None if set.is_some() || id.1 != "ReplicaSet" => false,
        None => is_own(pod),
        Some(deployment) => sets.iter().any(|((namespace, kind, _), other)| {
            *kind == "ReplicaSet"
                && controller(other).is_some_and(|theirs| theirs["uid"] == deployment["uid"])
                && *namespace == space(pod)
                && selects(&other["spec"]["selector"], &pod["metadata"]["labels"])
        }),
    };
    let names = |name: &str, set: Option<&Value>| {
        let own = pods.iter().filter(|pod| is_of(pod, name, set));
        own.map(|pod| string(&pod["metadata"]["name"])).collect::<BTreeSet<_>>().len() as u64
    };
    // A sibling's status that is no number says nothing.
    let lacks_sibling_pods = sets.iter().any(|((namespace, kind, name), other)| {
        let count = other["status"]["replicas"].as_i64().and_then(|count| i32::try_from(count).ok());
        deployment.is_some_and(|owner| {
            controller(other).is_some_and(|theirs| string(&theirs["uid"]) == string(&owner["uid"]))
        }) && (*namespace, *kind) == (id.0, "ReplicaSet")
            && count
                .and_then(|count| u64::try_from(count).ok())
                .is_some_and(|count| count > names(name, Some(other)))
    });
    let status = set.map(|set| &set["status"]["replicas"]).filter(|replicas| !replicas.is_null());
    let status = status.map(|replicas| replicas.as_u64().unwrap_or(0));
    let lacks = [
        set.is_none(),
        deployment.is_some() && active.iter().any(|pod| is_lost_sibling(pod, id, &sets)),
        status.is_some_and(|status| status > names(id.2, set)) || lacks_sibling_pods,
    ];

    let mut known = BTreeSet::new();
    active.retain(|pod| (is_own(pod) || is_related(pod)) && known.insert(pod["metadata"]["uid"].to_string()));
    let mut on_node = BTreeMap::<Option<&str>, u32>::new();
    for pod in active.iter().filter(|pod| is_related(pod)) {
        *on_node.entry(node(pod)).or_default() += 1;
    }
    active.retain(|pod| is_own(pod));
    let records: Option<Vec<Pod>> = active
        .iter()
        .map(|pod| Some(Pod { rank: on_node.get(&node(pod)).copied().unwrap_or(0), ..record(pod)? }))
        .collect();
    let more = status.is_some_and(|status| status < active.len() as u64);
    let all = COMPLETENESS.into_iter().zip(lacks.into_iter().chain([more]));
    let notes = all.filter(|(_, applies)| *applies).map(|(code, _)| code).collect();
    let current = || set.map_or(0, |set| u32::try_from(int(&set["spec"]["replicas"], 1)).unwrap_or(0));
    let replicas = options.replicas.unwrap_or_else(current);
    Some(Expected { notes, ..decide(&active, &records?, works(id, set), replicas as usize, options)? })
}

/// Whether a pod looks like one of a set of the same owner that is not in the dump.
fn is_lost_sibling(pod: &Value, id: Id<'_>, sets: &BTreeMap<Id<'_>, &Value>) -> bool {
    let owner = controller(pod)
        .filter(|owner| kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some("ReplicaSet"));
    space(pod) == id.0
        && owner.is_some_and(|owner| !sets.contains_key(&(id.0, "ReplicaSet", string(&owner["name"]))))
        && sets.get(&id).is_some_and(|set| {
            let selector = &set["spec"]["selector"];
            // Only the sets of a Deployment have labels in common.
            let has_deployment = controller(set).is_some_and(|owner| string(&owner["kind"]) == "Deployment");
            let is_alike = selects_but_for_hash(selector, &pod["metadata"]["labels"]);
            if has_deployment { is_alike } else { is_valid(selector) }
        })
}

/// Whether the set's controller works: it deletes nothing if the set itself is being deleted, or has an invalid selector.
fn works(id: Id<'_>, set: Option<&Value>) -> bool {
    set.is_none_or(|set| {
        let selector = &set["spec"]["selector"];
        let is_accepted = match id.1 {
            "ReplicaSet" => is_valid(selector),
            _ => is_valid(&json!({ "matchLabels": selector })),
        };
        set["metadata"]["deletionTimestamp"].is_null() && (selector.is_null() || is_accepted)
    })
}

fn decide(
    own: &[&Value],
    records: &[Pod],
    works: bool,
    replicas: usize,
    options: &Options,
) -> Option<Expected> {
    let policy = Policy::at(moment(options.now)).with_gates(options.gates);
    let burst = options.burst_replicas.map_or(own.len(), |most| most.get() as usize);
    let burst = if works { burst } else { 0 };
    let delete = own.len().saturating_sub(replicas).min(burst);
    let (order, certain, contested) = match options.order {
        Order::Kubernetes if own.len() > 100 => return None,
        Order::Kubernetes => {
            let settled = relation::settled(&policy, records, delete);
            (settled.order, settled.certain, settled.contested)
        }
        Order::Total => (oracle::sort(&policy, records), delete, 0),
    };
    let end = certain + contested;
    let deciding = |position: usize, other: usize| {
        let (first, second) = (position.min(other), position.max(other));
        let [a, b] = [first, second].map(|position| &records[order[position] as usize]);
        let rule = match options.order {
            Order::Kubernetes => relation::relation(&policy, a, b).1,
            Order::Total => {
                let mut orderings = oracle::orderings(&policy, a, b).into_iter();
                orderings.find(|(_, ordering)| ordering.is_ne()).map(|(rule, _)| rule)
            }
        };
        rule.expect("two groups").name()
    };
    let pods = order.iter().enumerate().map(|(position, &index)| {
        let (pod, record) = (own[index as usize], &records[index as usize]);
        // A victim is compared with the pod in the middle of the others, a survivor with the last that may go.
        let (verdict, other) = if position < certain {
            ("delete", Some(certain + (order.len() - certain) / 2).filter(|&other| other < order.len()))
        } else if position < end {
            ("contested", None)
        } else {
            ("keep", end.checked_sub(1))
        };
        json!({
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
            "node": node(pod),
            "rank": record.rank,
            "phase": match record.phase {
                Phase::RUNNING => "Running",
                Phase::UNKNOWN => "Unknown",
                _ => "Pending",
            },
            "ready": record.flags.contains(Flags::READY),
            "readyTime": timestamp(record.ready_time),
            "restarts": record.restarts,
            "sidecarRestarts": record.sidecar_restarts,
            "deletionCost": record.deletion_cost,
            "creationTime": timestamp(record.creation_time),
            "position": position + 1,
            "verdict": verdict,
            "rule": other.map(|other| deciding(position, other)),
        })
    });
    let is_invalid =
        |pod: &&&Value| annotation(pod).is_some_and(|text| cost::grammar(text.as_bytes()).is_none());
    let invalid_costs = own.iter().filter(is_invalid).count();
    Some(Expected { delete, pods: pods.collect(), invalid_costs, notes: Vec::new() })
}
