//! Which set the preview is of.

use crate::error::Error;
use crate::input::Input;
use crate::set::{SetId, SetKind, Sets};
use std::collections::BTreeSet;
use std::str::FromStr;

/// A set as a user names it: `NAME`, `rs/NAME` or `rc/NAME`, or as `kubectl get -o name` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetName {
    /// The kind, if the user named one.
    pub kind: Option<SetKind>,
    /// `metadata.name`.
    pub name: String,
}

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = match text.split_once('/') {
            None => (None, text),
            Some((kind, name)) => (Some(set_kind(kind)?), name),
        };
        if name.is_empty() {
            return Err("the name is empty".to_owned());
        }
        Ok(Self { kind, name: name.to_owned() })
    }
}

fn set_kind(text: &str) -> Result<SetKind, String> {
    match text.to_ascii_lowercase().as_str() {
        "rs" | "replicaset" | "replicasets" | "replicaset.apps" | "replicasets.apps" => {
            Ok(SetKind::ReplicaSet)
        }
        "rc" | "replicationcontroller" | "replicationcontrollers" => Ok(SetKind::ReplicationController),
        _ => Err(format!("the kind `{text}` is neither `rs` nor `rc`: name the ReplicaSet")),
    }
}

/// The set that is meant: the one named, else the only one with pods, else the only one at all.
pub(crate) fn choose<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    wanted: Option<&SetName>,
    namespace: Option<&str>,
) -> Result<SetId<'a>, Error> {
    let with_pods: BTreeSet<_> = input.pods.iter().filter_map(|pod| sets.owner(pod)).collect();
    let all: BTreeSet<_> = sets.ids().chain(with_pods.iter().copied()).collect();
    if all.is_empty() {
        return Err(Error::new("no pod belongs to a ReplicaSet or ReplicationController"));
    }
    let narrow = |ids: &BTreeSet<SetId<'a>>| -> Vec<_> {
        ids.iter().copied().filter(|id| namespace.is_none_or(|wanted| id.namespace == wanted)).collect()
    };
    let here = narrow(&all);
    if let (true, Some(namespace)) = (here.is_empty(), namespace) {
        return Err(Error::new(format!("no set in namespace {namespace}; there are: {}", list(all))));
    }
    if let Some(wanted) = wanted {
        let is_wanted =
            |id: &SetId<'_>| id.name == wanted.name && wanted.kind.is_none_or(|kind| id.kind == kind);
        let found: Vec<_> = here.iter().copied().filter(is_wanted).collect();
        return only(&found, "several sets have this name")
            .unwrap_or_else(|| Err(unknown(wanted, &here, sets)));
    }
    only(&narrow(&with_pods), "there are pods of several sets")
        .or_else(|| only(&here, "there are several sets, none with pods"))
        .unwrap_or_else(|| Err(Error::new("no set")))
}

/// The only one of `ids`, or an error that starts with `several`. `None` if there is none.
fn only<'a>(ids: &[SetId<'a>], several: &str) -> Option<Result<SetId<'a>, Error>> {
    match ids {
        [] => None,
        [id] => Some(Ok(*id)),
        _ => Some(Err(Error::new(format!(
            "{several}, pick one with --replicaset and --namespace: {}",
            list(ids.iter().copied())
        )))),
    }
}

fn unknown(wanted: &SetName, known: &[SetId<'_>], sets: &Sets<'_>) -> Error {
    // Below this two names have little in common; clap uses it for its own suggestions.
    const ALIKE: f64 = 0.7;
    let is_its = |id: &&SetId<'_>| {
        let controller = sets.get(**id).and_then(|set| set.controller.as_ref());
        controller.is_some_and(|owner| owner.kind == "Deployment" && owner.name == wanted.name)
    };
    let its: Vec<_> = known.iter().filter(is_its).copied().collect();
    if !its.is_empty() {
        return Error::new(format!(
            "{} is a Deployment; pick one of its ReplicaSets: {}",
            wanted.name,
            list(its)
        ));
    }
    let kind = wanted.kind.map_or_else(|| "set".to_owned(), |kind| kind.to_string());
    let likeness = |id: &SetId<'_>| strsim::jaro_winkler(&wanted.name, id.name);
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest.filter(|id| likeness(id) > ALIKE) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("there are: {}", list(known.iter().copied())),
    };
    Error::new(format!("no {kind} is named {}; {hint}", wanted.name))
}

fn list<'a>(ids: impl IntoIterator<Item = SetId<'a>>) -> String {
    ids.into_iter().map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}
