//! What a user asks of one workload, and the plan for it, with what a reader should know besides. Reads through its `Cluster`, and
//! writes and prints nothing.

use super::Failure;
use super::cluster::Cluster;
use super::wishes::{self, ReadOnce};
use crate::args::steer::{How, Wishes};
use crate::kubectl::Kubectl;
use crate::live;
use crate::surroundings;
use jiff::Timestamp;
use podrank_predict::plan::{self, Count, Plan, Request, Wish};
use podrank_predict::{Options, Remedy, Scalable, Snapshot};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

/// How long it waits for controllers that have not caught up, and between two looks.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

/// How many of the pods of an input should be left.
pub(super) type Counted<'c> = &'c dyn Fn(&Snapshot, &Options) -> Result<Count, podrank_predict::Error>;

/// What is asked of one workload. It can be planned again and again.
pub(super) struct Asked<'k> {
    cluster: Rc<Cluster<'k>>,
    pub(super) how: &'k How,
    wishes: &'k Wishes,
    values: ReadOnce,
    count: Counted<'k>,
    pub(super) named: BTreeSet<String>,
}

/// A plan, and what it takes to prove it.
pub(super) struct Planned<'k> {
    pub(super) cluster: Rc<Cluster<'k>>,
    pub(super) plan: Plan,
    request: Request,
}

impl<'k> Asked<'k> {
    /// Finds the workload, and returns it with what was read.
    pub(super) fn find(
        kubectl: &'k Kubectl,
        name: &Scalable,
        namespace: Option<&str>,
        how: &'k How,
        wishes: &'k Wishes,
        count: Counted<'k>,
        named: BTreeSet<String>,
    ) -> Result<(Self, Snapshot), Failure> {
        let (cluster, input) = Cluster::find(kubectl, name, namespace, live::RETRIES)?;
        let asked =
            Self { cluster: Rc::new(cluster), how, wishes, values: ReadOnce::default(), count, named };
        Ok((asked, input))
    }

    fn request(&self, input: &Snapshot) -> Result<Request, Failure> {
        let mut options = Options::new(0, Timestamp::now());
        self.cluster.name_workload(&mut options);
        let count = (self.count)(input, &options)?;
        options.replicas = if let Count::To(replicas) = count { Some(replicas) } else { None };
        options.gates = self.how.gates();
        Ok(Request {
            options,
            count,
            named: self.named.clone(),
            wishes: Vec::new(),
            foreign_costs: self.how.foreign_costs(),
            own_costs: None,
        })
    }

    /// The plan if the workload has the wanted count already.
    pub(super) fn nothing_to_do(&self, input: &Snapshot) -> Result<Option<Plan>, Failure> {
        Ok(plan::nothing_to_do(input, &self.request(input)?)?)
    }

    /// Plans what was read.
    pub(super) fn plan(&self, input: Snapshot) -> Result<Planned<'k>, Failure> {
        let mut request = self.request(&input)?;
        request.wishes = wishes::resolve(&self.cluster, self.wishes, &self.values)?;
        let mut plan = plan::plan(&input, &request)?;
        let around = surroundings::common(self.cluster.kubectl, self.cluster.namespace());
        plan::add_budgets(&mut request, &around, &mut plan);
        if plan::keeps_others(&request, &plan) {
            plan::add_budgets(&mut request, &surroundings::budgets(self.cluster.kubectl), &mut plan);
        }
        add_notes(input, around, &mut plan);
        Ok(Planned { cluster: Rc::clone(&self.cluster), plan, request })
    }

    /// Reads and plans anew.
    pub(super) fn plan_again(&self) -> Result<Planned<'k>, Failure> {
        patiently(|| {
            let input = self.cluster.read()?;
            match self.nothing_to_do(&input)? {
                Some(Plan { target, replicas, .. }) => {
                    Err(format!("{target} has {replicas} replicas already").into())
                }
                None => self.plan(input),
            }
        })
    }
}

impl Planned<'_> {
    /// What proves this plan from now on: its pods are named, and of the wishes only the nodes that it empties are left.
    pub(super) fn confirmed(&self) -> Request {
        let mut request = self.request.clone();
        request.count = Count::To(self.plan.replicas);
        request.options.replicas = Some(self.plan.replicas);
        request.named = self.plan.wanted().map(|pod| pod.name.clone()).collect();
        let empties = self.plan.nodes.iter().flatten().any(|node| node.becomes_empty);
        request.wishes.retain(|wish| empties && matches!(wish, Wish::EmptyNodes(_)));
        request
    }
}

/// Reads everything again, and plans a request of confirmed pods.
pub(super) fn read_again(cluster: &Cluster<'_>, request: &mut Request) -> Result<Plan, Failure> {
    patiently(|| read_once_more(cluster, request))
}

/// Tries again for some seconds while the controllers catch up, as they do when a pod that stays is replaced.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let end = Instant::now() + PATIENCE;
    loop {
        let result = attempt();
        let error = result.as_ref().err().and_then(|error| error.downcast_ref::<podrank_predict::Error>());
        if error.and_then(podrank_predict::Error::remedy) != Some(Remedy::Wait) || Instant::now() > end {
            return result;
        }
        thread::sleep(PAUSE);
    }
}

fn read_once_more(cluster: &Cluster<'_>, request: &mut Request) -> Result<Plan, Failure> {
    for wish in &mut request.wishes {
        if let Wish::EmptyNodes(everybody) = wish {
            *everybody = wishes::everybody(cluster)?;
        }
    }
    let around = surroundings::common(cluster.kubectl, cluster.namespace());
    // Last, because what changes after that is not noticed before the count falls.
    let input = cluster.read()?;
    request.options.now = Timestamp::now();
    let mut plan = plan::plan(&input, request)?;
    add_notes(input, around, &mut plan);
    Ok(plan)
}

/// Adds what a reader should know of those who act on the workload besides.
fn add_notes(mut input: Snapshot, around: Snapshot, plan: &mut Plan) {
    input.add_part(around);
    plan.notes.extend(plan::check_budgets(&input, plan));
    plan.notes.extend(plan::check_interference(&input, plan));
}
