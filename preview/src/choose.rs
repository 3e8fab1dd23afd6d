//! Which set to preview, by what the user named and what the input has.

use crate::error::{Error, Remedy};
use crate::input::Input;
use crate::set::{SetId, SetKind, Sets};
use crate::text;
use std::collections::BTreeSet;
use std::str::FromStr;

/// What messages call the kinds of sets.
const SETS: &str = "ReplicaSet or ReplicationController";

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
            return Err("the name is empty: use NAME, rs/NAME or rc/NAME".to_owned());
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
        _ => Err(format!("unsupported kind `{}`: use rs/NAME or rc/NAME", text::word(text))),
    }
}

/// Returns the set that the user named, else the only one with pods, else the only one.
pub(crate) fn choose<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    wanted: Option<&SetName>,
    namespace: Option<&str>,
) -> Result<SetId<'a>, Error> {
    let with_pods: BTreeSet<_> = input.pods.iter().filter_map(|pod| sets.owner(pod)).collect();
    let all: BTreeSet<_> = sets.ids().chain(with_pods.iter().copied()).collect();
    if all.is_empty() {
        return Err(Error::new(format!(
            "none of the {} belongs to a ReplicaSet or ReplicationController: other workloads have no preview",
            text::count(input.pods.len() as u64, "pod")
        )));
    }
    let narrow = |ids: &BTreeSet<SetId<'a>>| -> Vec<_> {
        ids.iter().copied().filter(|id| namespace.is_none_or(|wanted| id.namespace == wanted)).collect()
    };
    let here = narrow(&all);
    if let (true, Some(namespace)) = (here.is_empty(), namespace) {
        let all: Vec<_> = all.into_iter().collect();
        return Err(Error::new(format!(
            "no {SETS} in namespace {}; the input has: {}",
            text::name(namespace),
            text::list(&all)
        )));
    }
    if let Some(wanted) = wanted {
        let is_wanted =
            |id: &SetId<'_>| id.name == wanted.name && wanted.kind.is_none_or(|kind| id.kind == kind);
        let found: Vec<_> = here.iter().copied().filter(is_wanted).collect();
        return only(&found, "several sets have this name")
            .unwrap_or_else(|| Err(unknown(wanted, &here, sets)));
    }
    // There are sets here, so one of the two has an answer.
    only(&narrow(&with_pods), "the input has pods of several sets")
        .or_else(|| only(&here, "the input has several sets, none with pods"))
        .unwrap_or_else(|| Err(Error::new(format!("the input has no {SETS}"))))
}

/// Returns the only one of `ids`, or an error that starts with `several`. `None` if there is none.
fn only<'a>(ids: &[SetId<'a>], several: &str) -> Option<Result<SetId<'a>, Error>> {
    match ids {
        [] => None,
        [id] => Some(Ok(*id)),
        _ => Some(Err(Error::with_remedy(format!("{several}: {}", text::list(ids)), Remedy::NameTheSet))),
    }
}

fn unknown(wanted: &SetName, known: &[SetId<'_>], sets: &Sets<'_>) -> Error {
    // Less similar names have little in common: clap uses this limit for its own suggestions.
    const ALIKE: f64 = 0.7;
    let is_its = |id: &&SetId<'_>| {
        let controller = sets.get(**id).and_then(|set| set.controller.as_ref());
        controller.is_some_and(|owner| owner.kind == "Deployment" && owner.name == wanted.name)
    };
    let its: Vec<_> = known.iter().filter(is_its).copied().collect();
    if !its.is_empty() {
        return Error::new(format!(
            "{} is a Deployment; name one of its ReplicaSets: {}",
            text::name(&wanted.name),
            text::list(&its)
        ));
    }
    let kind = wanted.kind.map_or_else(|| SETS.to_owned(), |kind| kind.to_string());
    let likeness = |id: &SetId<'_>| strsim::jaro_winkler(&wanted.name, id.name);
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest.filter(|id| likeness(id) > ALIKE) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("the input has: {}", text::list(known)),
    };
    Error::new(format!("no {kind} is named {}; {hint}", text::name(&wanted.name)))
}
