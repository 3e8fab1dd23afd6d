//! One set of a scale-down: its pods in the order in which they are to go, and the deletion costs that make some of them go.

use crate::answer::{Probability, Verdict};
use crate::decide::{FITS, Member, ranked};
use crate::plan::preference;
use crate::plan::{ForeignCosts, PlanRequest, PlanSize, PlannedPod, Unsteerable, spread, tiers};
use crate::question::Order;
use crate::reason::{Comparison, RankedPod};
use crate::snapshot::{CostOwner, Pod, ReplicaSet};
use crate::text::{self, Error, TextReason};
use podrank::controller::{Availability, availability};
use podrank::{Policy, Rule, SteerScratch, Uid};
use std::collections::HashMap;

/// What Kubernetes would do with each pod, by UID, with the costs as they are.
pub(super) type DefaultVerdicts = HashMap<Uid, (Verdict, Option<Probability>)>;

pub(super) struct SetPlan<'a> {
    request: &'a PlanRequest,
    pub(super) set: &'a ReplicaSet,
    pub(super) own: Vec<RankedPod<'a>>,
    policy: Policy,
    /// Whether each has been ready for `minReadySeconds`.
    available: Vec<bool>,
    /// The same pods with tiers, with ranks for a preference to spread, and with the costs that decide between pods
    /// that the preferences do not tell apart.
    steered: Vec<podrank::Pod>,
    /// Their tiers by the preferences, if a preference to spread splits these.
    wished: Vec<u16>,
    /// Their indices. Those that should go come first.
    pub(super) order: Vec<usize>,
    owners: Vec<Option<CostOwner>>,
}

impl<'a> SetPlan<'a> {
    /// Puts a set's pods in the order in which they are to go.
    pub(super) fn new(
        request: &'a PlanRequest,
        policy: Policy,
        set: &'a ReplicaSet,
        members: &[Member<'a>],
    ) -> Result<Self, Error> {
        let own = ranked(members);
        let mut steered: Vec<_> = own.iter().map(|pod| pod.record).collect();
        let seconds = set.min_ready_seconds.max(0).unsigned_abs();
        let is_available =
            |pod: &podrank::Pod| availability(pod, seconds, policy.now) == Availability::Available;
        let available: Vec<_> = steered.iter().map(is_available).collect();
        let template = set.template.cost.as_deref();
        let owners: Vec<_> = own.iter().map(|pod| owner(request, pod, template)).collect();
        let wished = tiers(request, &own, &available)?;
        for (index, pod) in steered.iter_mut().enumerate() {
            pod.tier = wished[index];
            let owner = owners[index].as_ref().filter(|_| request.foreign_costs == ForeignCosts::Override);
            let theirs = owner.and_then(|owner| counts_as(owner, own[index].pod, template));
            pod.deletion_cost = theirs.unwrap_or(pod.deletion_cost);
        }
        let others: Vec<_> = members.iter().filter(|it| !it.is_own).map(|it| it.pod.node()).collect();
        spread(request, policy, &own, &mut steered, &others);
        let mut order = vec![0; own.len()];
        policy.sort(&steered, &mut order).expect(FITS);
        let order = order.into_iter().map(|index| index as usize).collect();
        Ok(Self { request, set, own, policy, available, steered, wished, order, owners })
    }

    pub(super) fn name(&self, index: usize) -> &'a str {
        self.own[index].pod.name()
    }

    pub(super) fn is_named(&self, index: usize) -> bool {
        self.request.named.contains(self.name(index))
    }

    /// The number of its pods up to the last named one in the order.
    pub(super) fn ahead_of_named(&self) -> usize {
        let last = self.order.iter().rposition(|&index| self.is_named(index));
        last.map_or(0, |last| last + 1)
    }

    /// The pods as the plan has them, if so many go. Those that go come first.
    pub(super) fn planned(&self, delete: usize, default: &DefaultVerdicts) -> Result<Vec<PlannedPod>, Error> {
        let costs = self.costs(delete)?;
        let pods = self.order.iter().enumerate().map(|(place, &index)| {
            let RankedPod { pod: of, record: pod } = &self.own[index];
            let owner = self.owners[index].as_ref();
            let (default_verdict, probability) = default[&pod.uid];
            PlannedPod {
                default_verdict,
                probability,
                name: of.name().to_owned(),
                uid: pod.uid.to_string(),
                node: of.node.clone(),
                is_selected: place < delete,
                is_ready: preference::early(pod).is_none(),
                is_named: self.is_named(index),
                why: preference::why(self.request, &self.own[index], self.available[index]),
                deletion_cost: pod.deletion_cost,
                cost_owner: owner.map(CostOwner::to_string),
                write: Some(costs[index]).filter(|cost| *cost != pod.deletion_cost),
                replaces: match owner {
                    // What podrank itself replaced is still to be put back.
                    Some(CostOwner::Podrank) => of.previous().cloned(),
                    _ => of.to_replace(),
                },
                resource_version: of.cost.as_ref().and_then(|cost| cost.resource_version.clone()),
            }
        });
        Ok(pods.collect())
    }

    /// Returns an error if costs cannot make a named pod go. It names the pods in the way and the remedies.
    pub(super) fn check_blocked(&self, delete: usize) -> Result<(), Error> {
        let (wanted, survivors) = self.order.split_at(delete);
        let kept = survivors.iter().find(|&&index| self.is_named(index));
        let Some(&stays) = kept else { return Ok(()) };
        let in_the_way: Vec<_> = wanted.iter().filter(|&&index| !self.is_named(index)).collect();
        let Some(&&first) = in_the_way.first() else { return Ok(()) };
        let reason =
            self.policy.decide(&self.steered[first], &self.steered[stays]).1.map_or("goes first", state);
        let names: Vec<_> = in_the_way.iter().map(|&&index| self.name(index)).collect();
        let (why, them) = match &*names {
            [only] => (format!("{only} {reason}."), "it"),
            _ => ("These pods are unassigned, not running or not ready.".to_owned(), "them"),
        };
        let how = if let PlanSize::To(_) = self.request.count { "lower --replicas" } else { "use --also" };
        let [stays, first] = [self.name(stays).to_owned(), text::list(&names)];
        Err(Error::new(format!("cannot delete {stays}: {first} would be deleted instead"))
            .because(why)
            .because("Kubernetes deletes such pods first, whatever their deletion costs.")
            .advise(format!("To delete {them}, too, {how}. Otherwise, wait until that has changed.")))
    }

    /// The costs, by index, that make exactly the first pods of the order go, as far as costs can.
    pub(super) fn costs(&self, delete: usize) -> Result<Vec<i32>, Error> {
        let costs = self.costs_under(self.request.foreign_costs, delete);
        costs.map_err(|error| match error {
            podrank::Error::NoRoom { lower, higher } => {
                let [lower, higher] = [(lower, "delete"), (higher, "keep")]
                    .map(|(index, fate)| self.with_cost(index as usize, fate));
                let error = Error::new("existing deletion costs conflict with your choice")
                    .because(lower)
                    .because(higher);
                let is_override = self.request.foreign_costs == ForeignCosts::Override;
                if is_override || self.costs_under(ForeignCosts::Override, delete).is_err() {
                    return error;
                }
                error.advise(
                    "--foreign-costs override replaces the costs of pods to delete, and restores them if the pods are kept.",
                )
            }
            other => Error::new(other.to_string()),
        })
    }

    /// The same costs, in this mode.
    fn costs_under(&self, foreign_costs: ForeignCosts, delete: usize) -> Result<Vec<i32>, podrank::Error> {
        let Self { own, owners, policy, .. } = self;
        let mut pods: Vec<_> = own.iter().map(|pod| podrank::Pod { tier: 1, ..pod.record }).collect();
        for &index in &self.order[..delete] {
            pods[index].tier = 0;
        }
        // In requests: podrank has to remove the cost of a kept pod again, unless it removes one there in any case.
        let price = |index: usize| match &owners[index] {
            Some(CostOwner::AnotherRun) => None,
            Some(CostOwner::Other(_)) if foreign_costs == ForeignCosts::Keep || pods[index].tier == 1 => None,
            // It could not be put back.
            Some(CostOwner::Other(_)) if !own[index].pod.to_replace().is_some_and(|it| it.is_known()) => None,
            Some(CostOwner::Podrank) => Some(1),
            _ => Some(1 + u8::from(pods[index].tier == 1)),
        };
        let (mut costs, mut scratch) = (vec![0; pods.len()], vec![SteerScratch::default(); pods.len()]);
        policy.steer(&pods, price, &mut costs, &mut scratch).map(|steered| steered.costs().to_vec())
    }

    /// `web-a (to delete) has cost 100, written by karpenter.`
    fn with_cost(&self, index: usize, fate: &str) -> String {
        let whose = match &self.owners[index] {
            Some(owner @ (CostOwner::Other(_) | CostOwner::AnotherRun)) => format!(", written by {owner}"),
            _ => String::new(),
        };
        format!("{} (to {fate}) has cost {}{whose}.", self.name(index), self.own[index].record.deletion_cost)
    }

    /// The pods that are deleted before pods of a lower tier.
    pub(super) fn ahead(&self, delete: usize) -> Vec<Unsteerable> {
        let Self { policy, steered, wished, .. } = self;
        let (wanted, survivors) = self.order.split_at(delete);
        // One with the lowest tier, because all survivors come after all selected pods.
        let Some(&before) = survivors.iter().min_by_key(|&&index| wished[index]) else { return Vec::new() };
        let ahead = wanted.iter().filter(|&&index| wished[index] > wished[before]);
        let unsteerable = |&index: &usize| {
            let [own, other] =
                [index, before].map(|index| RankedPod { record: steered[index], ..self.own[index] });
            let comparison = Comparison::new(*policy, Order::Total, own, other)?;
            let reason = TextReason { rule: comparison.rule.name().into(), text: comparison.sentence() };
            let (name, before) = (self.name(index).to_owned(), self.name(before).to_owned());
            Some(Unsteerable { name, before, reason })
        };
        ahead.filter_map(unsteerable).collect()
    }
}

/// To whom a pod's cost belongs.
fn owner(request: &PlanRequest, pod: &RankedPod<'_>, template: Option<&str>) -> Option<CostOwner> {
    let pod = pod.pod;
    let owner = pod.cost.as_ref()?.owner(template);
    let is_own = || request.own_costs.as_ref().is_none_or(|own| own.contains(&pod.uid().to_string()));
    Some(if owner == CostOwner::Podrank && !is_own() { CostOwner::AnotherRun } else { owner })
}

/// The cost that decides between pods that the preferences do not tell apart if foreign costs don't, and if it is not the
/// present one. For a cost that podrank or podrank-webhook wrote for one scale-down, it is the one that was overwritten.
fn counts_as(owner: &CostOwner, pod: &Pod, template: Option<&str>) -> Option<i32> {
    let theirs = match owner {
        CostOwner::Podrank => match pod.previous() {
            Some(theirs) => theirs.clone(),
            None => return Some(0),
        },
        CostOwner::Other(_) => pod.to_replace()?,
        CostOwner::AnotherRun | CostOwner::Template => return None,
    };
    Some(if theirs.is_from(template) { theirs.number() } else { 0 })
}

/// The state of the pod that is deleted first by this rule.
fn state(rule: Rule) -> &'static str {
    match rule {
        Rule::Unassigned => "is not assigned to a node",
        Rule::Phase => "is not running",
        _ => "is not ready",
    }
}
