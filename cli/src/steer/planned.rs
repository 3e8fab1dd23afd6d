//! One workload from the first read to the outcome: what is wanted of it, the plan, what a reader should know besides, and the
//! run. Reads and writes through its `Cluster`, and prints nothing.

use super::Failure;
use super::cluster::Cluster;
use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::run::Run;
use super::{evict, wishes};
use crate::args::steer::{By, How, Wishes};
use crate::kubectl::Kubectl;
use crate::live;
use crate::surroundings;
use jiff::Timestamp;
use podrank_preview::steer::{self, Count, Plan, Request};
use podrank_preview::{Input, Options, Scalable};
use std::collections::BTreeSet;

/// A workload that was read, and what is wanted of it.
pub(super) struct Wanted<'k> {
    cluster: Cluster<'k>,
    input: Input,
    /// The autoscalers and disruption budgets of its namespace, if they were read already.
    around: Option<Input>,
    request: Request,
}

/// The same with its first plan.
pub(super) struct Planned<'k> {
    pub(super) cluster: Cluster<'k>,
    pub(super) plan: Plan,
    request: Request,
}

impl<'k> Wanted<'k> {
    /// Reads the workload. `count` says how many of its pods should be left, which may depend on what was read.
    pub(super) fn read(
        kubectl: &'k Kubectl,
        name: &Scalable,
        namespace: Option<&str>,
        how: &How,
        count: impl FnOnce(&Input, &Options) -> Result<Count, podrank_preview::Error>,
        named: BTreeSet<String>,
    ) -> Result<Self, Failure> {
        let (cluster, input) = Cluster::find(kubectl, name, namespace, live::read)?;
        Self::of(cluster, input, None, how, count, named)
    }

    /// A workload that was read already, perhaps with what is around it.
    pub(super) fn of(
        cluster: Cluster<'k>,
        input: Input,
        around: Option<Input>,
        how: &How,
        count: impl FnOnce(&Input, &Options) -> Result<Count, podrank_preview::Error>,
        named: BTreeSet<String>,
    ) -> Result<Self, Failure> {
        let mut options = Options::new(0, Timestamp::now());
        cluster.name_workload(&mut options);
        let count = count(&input, &options)?;
        options.replicas = if let Count::To(replicas) = count { Some(replicas) } else { None };
        options.gates = how.gates();
        let request = Request {
            options,
            count,
            named,
            wishes: Vec::new(),
            force: how.force_conflicts,
            only_if_needed: false,
            by_cost: how.by == By::Scale,
        };
        Ok(Self { cluster, input, around, request })
    }

    /// The plan if the workload has the wanted count already.
    pub(super) fn nothing_to_do(&self) -> Result<Option<Plan>, Failure> {
        Ok(steer::nothing_to_do(&self.input, &self.request)?)
    }

    /// Plans, with these wishes.
    pub(super) fn plan(mut self, how: &How, wishes: &Wishes) -> Result<Planned<'k>, Failure> {
        self.request.wishes = wishes::resolve(&self.cluster, wishes)?;
        let Self { cluster, mut input, around, mut request } = self;
        let mut plan = steer::plan(&input, &request)?;
        let around = around.unwrap_or_else(|| surroundings::common(cluster.kubectl, cluster.namespace()));
        steer::add_budgets(&mut request, &around, &mut plan);
        if steer::keeps_others(&request, &plan) {
            steer::add_budgets(&mut request, &surroundings::budgets(cluster.kubectl), &mut plan);
        }
        input.add_part(around);
        plan.notes.extend(steer::check_budgets(&input, &plan, how.by == By::Eviction)?);
        plan.notes.extend(steer::check_interference(&input, &plan));
        Ok(Planned { cluster, plan, request })
    }
}

impl Planned<'_> {
    /// Carries the plan out.
    pub(super) fn run(self, how: &How, interrupt: Interrupt) -> Outcome {
        let run = Run::new(&self.cluster, self.request, how, self.plan, interrupt);
        match how.by {
            By::Scale => run.go(),
            By::Eviction => evict::go(run),
        }
    }
}
