//! A scale-down that a user asks for, and the plan for it, with notes. Reads through its `Cluster`, and writes and
//! prints nothing.

use super::Failure;
use super::cluster::Cluster;
use super::preferences::{self, ReadOnce};
use crate::args::steer::{How, Preferences};
use crate::kubectl::Kubectl;
use crate::live;
use crate::surroundings;
use jiff::Timestamp;
use podrank_predict::plan::{self, Plan, PlanRequest, PlanSize, Preference};
use podrank_predict::{Error, ErrorKind, Options, Release, Scalable, Snapshot, count};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// How long it waits for controllers that have not caught up, and between two looks.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

/// How many of the pods of an input should be left.
pub(super) type Counted<'c> = &'c dyn Fn(&Snapshot, &Options) -> Result<PlanSize, Error>;

/// A scale-down of one workload. It can be planned again and again.
pub(super) struct ScaleRequest<'k> {
    pub(super) cluster: Cluster<'k>,
    pub(super) how: &'k How,
    preferences: &'k Preferences,
    values: ReadOnce,
    /// That of the cluster, if it matters and could be read.
    release: OnceCell<Option<Release>>,
    count: Counted<'k>,
    named: BTreeSet<String>,
}

/// A plan, and the request that it fulfils.
pub(super) struct Planned {
    pub(super) plan: Plan,
    request: PlanRequest,
}

impl<'k> ScaleRequest<'k> {
    /// Finds the workload, and returns it with what was read.
    pub(super) fn find(
        kubectl: &'k Kubectl,
        name: &Scalable,
        namespace: Option<&str>,
        how: &'k How,
        preferences: &'k Preferences,
        count: Counted<'k>,
        named: BTreeSet<String>,
    ) -> Result<(Self, Snapshot), Failure> {
        let (cluster, input) = Cluster::find(kubectl, name, namespace, live::RETRIES)?;
        let (values, release) = (ReadOnce::default(), OnceCell::new());
        Ok((Self { cluster, how, preferences, values, release, count, named }, input))
    }

    fn request(&self, input: &Snapshot) -> Result<PlanRequest, Failure> {
        let mut options = Options::new(0, Timestamp::now());
        self.cluster.name_workload(&mut options);
        let count = (self.count)(input, &options)?;
        options.replicas = if let PlanSize::To(replicas) = count { Some(replicas) } else { None };
        options.gates = self.how.gates();
        Ok(PlanRequest {
            options,
            count,
            named: self.named.clone(),
            preferences: Vec::new(),
            foreign_costs: self.how.foreign_costs(),
            own_costs: None,
        })
    }

    /// The plan if the workload has the desired count already.
    pub(super) fn nothing_to_do(&self, input: &Snapshot) -> Result<Option<Plan>, Failure> {
        Ok(plan::nothing_to_do(input, &self.request(input)?)?)
    }

    /// Plans what was read.
    pub(super) fn plan(&self, input: Snapshot) -> Result<Planned, Failure> {
        let mut request = self.request(&input)?;
        request.preferences = preferences::resolve(&self.cluster, self.preferences, &self.values)?;
        let mut plan = plan::plan(&input, &request)?;
        let around = surroundings::common(self.cluster.kubectl, self.cluster.namespace());
        plan::add_budgets(&mut request, &around, &mut plan);
        if plan::keeps_others(&request, &plan) {
            plan::add_budgets(&mut request, &surroundings::budgets(self.cluster.kubectl), &mut plan);
        }
        self.add_notes(input, around, &mut plan);
        Ok(Planned { plan, request })
    }

    /// Reads and plans again.
    pub(super) fn plan_again(&self) -> Result<Planned, Failure> {
        patiently(|| {
            let input = self.cluster.read()?;
            match self.nothing_to_do(&input)? {
                Some(Plan { target, replicas, .. }) => {
                    Err(format!("{target} has {} already", count(replicas, "replica")).into())
                }
                None => self.plan(input),
            }
        })
    }

    /// Reads everything again, and plans a request of confirmed pods.
    pub(super) fn read_again(&self, proof: &mut PlanRequest) -> Result<Plan, Failure> {
        patiently(|| self.read_once_more(proof))
    }

    fn read_once_more(&self, proof: &mut PlanRequest) -> Result<Plan, Failure> {
        for preference in &mut proof.preferences {
            if let Preference::EmptyNodes(everybody) = preference {
                *everybody = preferences::everybody(&self.cluster)?;
            }
        }
        let around = surroundings::common(self.cluster.kubectl, self.cluster.namespace());
        // Last, because what changes after that is not noticed before the count falls.
        let input = self.cluster.read()?;
        proof.options.now = Timestamp::now();
        let mut plan = plan::plan(&input, proof)?;
        self.add_notes(input, around, &mut plan);
        Ok(plan)
    }

    /// Adds notes on what else acts on the workload. Reads nothing once a plan was made.
    fn add_notes(&self, mut input: Snapshot, around: Snapshot, plan: &mut Plan) {
        input.add_part(around);
        plan.notes.extend(plan::check_budgets(&input, plan));
        let read = || *self.release.get_or_init(|| live::release(self.cluster.kubectl));
        let release = (plan.replicas == 0).then(read).flatten();
        plan.notes.extend(plan::check_interference(&input, plan, release));
    }
}

impl Planned {
    /// What proves this plan from now on: its pods are named, and of the preferences only the nodes that it empties are left, and that
    /// no busy pod is deleted. Without a lock, costs of podrank's may belong to another run.
    pub(super) fn proof(&self, is_locked: bool) -> PlanRequest {
        let mut request = self.request.clone();
        request.count = PlanSize::To(self.plan.replicas);
        request.options.replicas = Some(self.plan.replicas);
        request.named = self.plan.selected().map(|pod| pod.name.clone()).collect();
        let empties = self.plan.nodes.iter().flatten().any(|node| node.becomes_empty);
        request.retain_conditions(empties);
        request.own_costs = (!is_locked).then(BTreeSet::new);
        request
    }
}

/// Tries again for some seconds while the controllers catch up, as they do when a kept pod is replaced.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let end = Instant::now() + PATIENCE;
    loop {
        let result = attempt();
        let error = result.as_ref().err().and_then(|error| error.downcast_ref::<Error>());
        if error.is_none_or(|error| error.kind != ErrorKind::Busy) || Instant::now() > end {
            return result;
        }
        thread::sleep(PAUSE);
    }
}
