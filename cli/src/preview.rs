//! The decision as plain data.

use crate::age::age;
use crate::choose::{SetName, choose};
use crate::error::Error;
use crate::input::Input;
use crate::notes::{self, Note};
use crate::pod::{PodEntry, Record, to_time};
use crate::related::Related;
use crate::set::{SetId, SetKind, Sets};
use crate::why::why;
use jiff::Timestamp;
use podrank::{FeatureGates, NodeCounts, Policy, Uid};
use serde::Serialize;
use std::collections::HashMap;
use std::num::NonZeroU32;

/// What to preview.
#[derive(Clone, Debug)]
pub struct Options {
    /// The count to scale the set to.
    pub replicas: u32,
    /// Which set, where the input does not make it plain.
    pub set: Option<SetName>,
    /// The namespace to look for the set in; all if `None`.
    pub namespace: Option<String>,
    /// The moment to decide at.
    pub now: Timestamp,
    /// The feature gates.
    pub gates: FeatureGates,
    /// The most deletions to show; all if `None`.
    pub burst_replicas: Option<NonZeroU32>,
}

/// Which pods go and why. Serialized, it is the JSON that other programs read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview<'a> {
    /// The version of the form.
    pub api_version: &'static str,
    /// `ScaleDownPreview`.
    pub kind: &'static str,
    /// The set's namespace.
    pub namespace: &'a str,
    /// The set's name.
    pub replica_set: &'a str,
    /// The set's kind.
    #[serde(skip)]
    pub set_kind: SetKind,
    /// The moment of the decision, exact.
    pub now: Timestamp,
    /// Which order.
    pub order: &'static str,
    /// How many active pods the set has.
    pub active: usize,
    /// The count to scale to.
    pub replicas: u32,
    /// How many pods go.
    pub delete: usize,
    /// The active pods in the order.
    pub pods: Vec<PodPreview<'a>>,
}

/// One active pod of the set.
#[derive(Clone, Debug, Serialize)]
pub struct PodPreview<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: String,
    /// Its node, if assigned.
    pub node: Option<&'a str>,
    /// Its age as `kubectl get` shows it, if its creation time is set.
    #[serde(skip)]
    pub age: Option<String>,
    /// How many active related pods are on its node.
    pub rank: u32,
    /// Its place in the order, from 1.
    pub position: usize,
    /// Whether it goes.
    pub verdict: Verdict,
    /// The rule that separates it from the nearest pod of the other verdict.
    pub rule: Option<&'static str>,
    /// What that rule sees in the two.
    pub why: String,
}

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It goes.
    Delete,
    /// It stays.
    Keep,
}

/// Decides which pods of a set go, with notes on what else the reader should know.
///
/// # Errors
/// Says which set is meant if that is not plain, or which pod or set that matters is unsound.
pub fn preview<'a>(input: &'a Input, options: &Options) -> Result<(Preview<'a>, Vec<Note>), Error> {
    let sets = Sets::of(input);
    let id = choose(input, &sets, options.set.as_ref(), options.namespace.as_deref())?;
    let set = sets.get(id);
    let related = Related::of(set, &sets)?;
    let mut notes = Vec::new();
    let members = members(input, &sets, id, &related, &mut notes)?;
    let own = ranked(&members);

    let policy = Policy { now: to_time(options.now), gates: options.gates };
    let records: Vec<_> = own.iter().map(|(_, pod)| *pod).collect();
    let mut order = vec![0; own.len()];
    policy.sort(&records, &mut order).map_err(|error| Error::new(error.to_string()))?;
    let sorted: Vec<_> = order.iter().map(|&index| own[index as usize]).collect();

    let most = options.burst_replicas.map_or(usize::MAX, |most| most.get() as usize);
    let delete = sorted.len().saturating_sub(options.replicas as usize).min(most);

    match set {
        None => notes.push(notes::set_not_in_input(id)),
        Some(set) => {
            notes.extend(notes::mid_rollout(input, &sets, set)?);
            notes.extend(notes::claims(input, &sets, set)?);
        }
    }
    if options.gates.pod_deletion_cost {
        notes
            .extend(sorted.iter().filter_map(|(member, _)| notes::invalid_cost(member.entry, member.record)));
    }
    if options.burst_replicas.is_none() {
        notes.extend(notes::several_syncs(delete));
    }

    let preview = Preview {
        api_version: "podrank/v1",
        kind: "ScaleDownPreview",
        namespace: id.namespace,
        replica_set: id.name,
        set_kind: id.kind,
        now: options.now,
        order: "total",
        active: sorted.len(),
        replicas: options.replicas,
        delete,
        pods: verdicts(&policy, &sorted, delete),
    };
    Ok((preview, notes))
}

/// An active pod that the decision looks at: sound, and listed once.
struct Member<'a> {
    entry: &'a PodEntry,
    record: &'a Record,
    is_own: bool,
    is_related: bool,
}

/// The pods that the decision looks at, in the order of the input.
fn members<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    id: SetId<'_>,
    related: &Related<'_>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Member<'a>>, Error> {
    let mut names = HashMap::<Uid, (&str, &str)>::new();
    let mut uids = HashMap::<(&str, &str), Uid>::new();
    let mut members = Vec::new();
    for entry in &input.pods {
        let Some(record) = &entry.record else { continue };
        let is_own = sets.owner(entry) == Some(id);
        let is_related = related.contains(entry, is_own);
        if !is_own && !is_related {
            continue;
        }
        let record = record.as_ref().map_err(|error| Error::new(format!("{entry}: {error}")))?;
        let (uid, name) = (record.pod.uid, (entry.namespace.as_str(), entry.name.as_str()));
        match (names.insert(uid, name), uids.insert(name, uid)) {
            (None, None) => members.push(Member { entry, record, is_own, is_related }),
            (Some(other), _) if other == name => notes.push(notes::listed_twice(entry)),
            (Some((namespace, name)), _) => {
                return Err(Error::new(format!(
                    "{entry}: metadata.uid: {uid} is also pod {namespace}/{name}'s"
                )));
            }
            (None, Some(other)) => {
                return Err(Error::new(format!(
                    "{entry}: metadata.uid: {uid}, but listed before with {other}"
                )));
            }
        }
    }
    Ok(members)
}

/// The set's own pods with their ranks.
fn ranked<'m, 'a>(members: &'m [Member<'a>]) -> Vec<(&'m Member<'a>, podrank::Pod)> {
    let mut nodes = HashMap::<&str, u32>::new();
    let numbered: Vec<_> = members
        .iter()
        .map(|member| {
            let next = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
            let node = member.record.node.as_deref().map(|node| *nodes.entry(node).or_insert(next));
            (member, podrank::Pod { node: node.unwrap_or(0), ..member.record.pod })
        })
        .collect();
    let mut counts = NodeCounts::new(vec![0; nodes.len()]);
    for (_, pod) in numbered.iter().filter(|(member, _)| member.is_related) {
        counts.add(pod).expect("every node has a number");
    }
    let own = numbered.into_iter().filter(|(member, _)| member.is_own);
    own.map(|(member, pod)| {
        (member, podrank::Pod { rank: counts.rank(&pod).expect("every node has a number"), ..pod })
    })
    .collect()
}

/// What becomes of each pod, and why: each is set against the nearest pod of the other verdict.
fn verdicts<'a>(
    policy: &Policy,
    sorted: &[(&Member<'a>, podrank::Pod)],
    delete: usize,
) -> Vec<PodPreview<'a>> {
    let (victims, survivors) = sorted.split_at(delete);
    let (last_victim, first_survivor) = (victims.last(), survivors.first());
    let row = |(index, (member, pod)): (usize, &(&Member<'a>, podrank::Pod))| {
        let (verdict, other, without_other) = if index < delete {
            (Verdict::Delete, first_survivor, "all pods go")
        } else {
            (Verdict::Keep, last_victim, "nothing to delete")
        };
        let (rule, why) = match other {
            Some((other, their_pod)) => {
                let (rule, why) = why(policy, pod, their_pod, &other.entry.name);
                (Some(rule.name()), why)
            }
            None => (None, without_other.to_owned()),
        };
        PodPreview {
            name: &member.entry.name,
            uid: pod.uid.to_string(),
            node: member.record.node.as_deref(),
            age: age(policy.now, pod.creation_time),
            rank: pod.rank,
            position: index + 1,
            verdict,
            rule,
            why,
        }
    };
    sorted.iter().enumerate().map(row).collect()
}
