//! The decision as plain data.

use crate::age::age;
use crate::choose::{SetName, choose};
use crate::error::Error;
use crate::input::Input;
use crate::notes::{self, Note};
use crate::order::Order;
use crate::pod::{PodEntry, Record, to_time};
use crate::related::Related;
use crate::set::{SetId, SetKind, Sets};
use crate::why::{phase_name, why};
use jiff::Timestamp;
use podrank::{FeatureGates, Flags, NodeCounts, Policy, Uid};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
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
    /// Whose decision.
    pub order: Order,
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
    /// Whose decision.
    pub order: Order,
    /// The feature gates.
    #[serde(skip)]
    pub gates: FeatureGates,
    /// How many active pods the set has.
    pub active: usize,
    /// The count to scale to.
    pub replicas: u32,
    /// How many pods go.
    pub delete: usize,
    /// The active pods in the order.
    pub pods: Vec<PodPreview<'a>>,
}

impl Preview<'_> {
    /// The JSON that other programs read, in lines, with a newline at the end.
    ///
    /// # Panics
    /// Never: a preview always is JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a preview is JSON") + "\n"
    }
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
    /// What else a reader may want to see.
    #[serde(skip)]
    pub details: Details,
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

/// What a table shows of a pod besides the contract's JSON. Ages are as `kubectl get` shows them, `None` if the time is unset.
#[derive(Clone, Debug)]
pub struct Details {
    /// The time since its creation.
    pub age: Option<String>,
    /// `Pending`, `Unknown` or `Running`.
    pub phase: &'static str,
    /// Whether it is ready.
    pub is_ready: bool,
    /// For how long it is ready.
    pub ready_age: Option<String>,
    /// The most restarts of a container.
    pub restarts: u32,
    /// The most restarts of a sidecar.
    pub sidecar_restarts: u32,
    /// Its deletion cost.
    pub deletion_cost: i32,
}

impl Details {
    fn of(pod: &podrank::Pod, now: podrank::Time) -> Self {
        Self {
            age: age(now, pod.creation_time),
            phase: phase_name(pod.phase.ordinal().into()),
            is_ready: pod.flags.contains(Flags::READY),
            ready_age: age(now, pod.ready_time),
            restarts: pod.restarts,
            sidecar_restarts: pod.sidecar_restarts,
            deletion_cost: pod.deletion_cost,
        }
    }
}

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It goes.
    Delete,
    /// Kubernetes may take it or leave it: that depends on the order of its list.
    Contested,
    /// It stays.
    Keep,
}

/// Decides which pods of a set go, with notes on what else the reader should know.
///
/// # Errors
/// Says which set is meant if that is not plain, or which pod or set that matters is unsound.
pub fn preview<'a>(input: &'a Input, options: &Options) -> Result<(Preview<'a>, Vec<Note>), Error> {
    let sets = Sets::of(&input.sets);
    let id = choose(input, &sets, options.set.as_ref(), options.namespace.as_deref())?;
    let set = sets.get(id);
    let related = Related::of(set, &sets, options.order)?;
    let mut notes = Vec::new();
    let members = members(input, &sets, id, &related, &mut notes)?;
    let own = ranked(&members);

    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let most = options.burst_replicas.map_or(usize::MAX, |most| most.get() as usize);
    let delete = own.len().saturating_sub(options.replicas as usize).min(most);
    let line = Line::up(options.order, policy, &own, delete)?;

    match set {
        None => notes.push(notes::set_not_in_input(id)),
        Some(set) => {
            notes.extend(notes::mid_rollout(input, &sets, set)?);
            notes.extend(notes::claims(input, &sets, set)?);
        }
    }
    if options.gates.pod_deletion_cost {
        notes.extend(line.pods().filter_map(|(member, _)| notes::invalid_cost(member.entry, member.record)));
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
        order: options.order,
        gates: options.gates,
        active: own.len(),
        replicas: options.replicas,
        delete,
        pods: line.previews(),
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
    let mut listed_twice = HashSet::new();
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
            (Some(other), _) if other == name => {
                notes.extend(listed_twice.insert(uid).then(|| notes::listed_twice(entry)));
            }
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

/// A pod of the set, and its record with its rank.
type RankedPod<'m, 'a> = (&'m Member<'a>, podrank::Pod);

/// The set's own pods with their ranks.
fn ranked<'m, 'a>(members: &'m [Member<'a>]) -> Vec<RankedPod<'m, 'a>> {
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

/// The set's pods in line, first to go first, and where the line is cut.
struct Line<'m, 'a> {
    order: Order,
    policy: Policy,
    victims: Vec<&'m RankedPod<'m, 'a>>,
    contested: Vec<&'m RankedPod<'m, 'a>>,
    survivors: Vec<&'m RankedPod<'m, 'a>>,
    /// How many of the contested go.
    quota: usize,
}

impl<'m, 'a> Line<'m, 'a> {
    fn up(order: Order, policy: Policy, own: &'m [RankedPod<'m, 'a>], delete: usize) -> Result<Self, Error> {
        let too_many = |error: &dyn std::error::Error| Error::new(error.to_string());
        let records: Vec<_> = own.iter().map(|(_, pod)| *pod).collect();
        let mut indices = vec![0; own.len()];
        let pods = |indices: &[u32]| indices.iter().map(|&index| &own[index as usize]).collect();
        Ok(match order {
            Order::Total => {
                policy.sort(&records, &mut indices).map_err(|error| too_many(&error))?;
                let (victims, survivors) = indices.split_at(delete);
                let (victims, survivors) = (pods(victims), pods(survivors));
                Self { order, policy, victims, contested: Vec::new(), survivors, quota: 0 }
            }
            Order::Kubernetes => {
                let mut scores = vec![0; own.len()];
                let settled = policy.settle(&records, delete, &mut indices, &mut scores);
                let settled = settled.map_err(|error| too_many(&error))?;
                Self {
                    order,
                    policy,
                    victims: pods(settled.certain()),
                    contested: pods(settled.contested()),
                    survivors: pods(settled.safe()),
                    quota: settled.quota(),
                }
            }
        })
    }

    fn pods(&self) -> impl Iterator<Item = &'m RankedPod<'m, 'a>> {
        self.victims.iter().chain(&self.contested).chain(&self.survivors).copied()
    }

    /// What becomes of each pod, and why: a victim is set against the first pod that is none, a survivor against the
    /// last that is none.
    fn previews(&self) -> Vec<PodPreview<'a>> {
        let after_victims = self.contested.first().or(self.survivors.first()).copied();
        let before_survivors = self.contested.last().or(self.victims.last()).copied();
        let contested = format!(
            "one of {} pods of which {} go{}, by list order",
            self.contested.len(),
            self.quota,
            if self.quota == 1 { "es" } else { "" }
        );
        let separated = |pod, other: Option<_>, alone: &str| {
            other.map_or_else(|| (None, alone.to_owned()), |other| self.separate(pod, other))
        };
        let victims = self.victims.iter().map(|pod| (pod, Verdict::Delete));
        let undecided = self.contested.iter().map(|pod| (pod, Verdict::Contested));
        let survivors = self.survivors.iter().map(|pod| (pod, Verdict::Keep));
        let all = victims.chain(undecided).chain(survivors).enumerate();
        all.map(|(index, (ranked, verdict))| {
            let (rule, why) = match verdict {
                Verdict::Delete => separated(ranked, after_victims, "all pods go"),
                Verdict::Contested => (None, contested.clone()),
                Verdict::Keep => separated(ranked, before_survivors, "nothing to delete"),
            };
            let (member, pod) = ranked;
            PodPreview {
                name: &member.entry.name,
                uid: pod.uid.to_string(),
                node: member.record.node.as_deref(),
                details: Details::of(pod, self.policy.now),
                rank: pod.rank,
                position: index + 1,
                verdict,
                rule,
                why,
            }
        })
        .collect()
    }

    /// The rule that separates two pods of different verdicts, and why.
    fn separate(
        &self,
        (_, pod): &RankedPod,
        (other, their_pod): &RankedPod,
    ) -> (Option<&'static str>, String) {
        let rule = match self.order {
            Order::Total => self.policy.decide(pod, their_pod).1,
            Order::Kubernetes => self.policy.upstream(pod, their_pod).1,
        };
        let rule = rule.expect("a rule separates pods of different verdicts");
        (Some(rule.name()), why(&self.policy, rule, pod, their_pod, &other.entry.name))
    }
}
