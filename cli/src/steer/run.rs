//! The run: writes the costs, waits until the controllers have observed them, reads again and proves, scales, watches,
//! compares, and cleans up. Before the scale request, any failure takes all costs off; after it, costs stay until the
//! controllers are done.

use super::barrier::{self, FIRST_VICTIM};
use super::cluster::Cluster;
use super::interrupt::Interrupt;
use super::outcome::{Exit, Named, Outcome};
use crate::args::steer::{Barrier, By, How};
use crate::kubectl::{Reason, Refusal};
use crate::progress;
use jiff::Timestamp;
use podrank_preview::steer::{self, Plan, PlannedPod, Request, State, Target};
use podrank_preview::{MOST_IN_ONE_SYNC, Remedy};
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// The most attempts if the cluster changes meanwhile.
const ATTEMPTS: u32 = 5;
/// The time between two looks while the controllers work.
const PAUSE: Duration = Duration::from_millis(250);
/// After this many looks in a row with the new count, the watch ends although wanted pods are left.
const STABLE: u32 = 4;

/// A scale-down under way.
pub(super) struct Run<'r> {
    pub(super) cluster: &'r Cluster<'r>,
    pub(super) how: &'r How,
    pub(super) interrupt: Interrupt,
    pub(super) request: Request,
    first: Plan,
    /// The workload's count, as long as nobody else changes it.
    pub(super) count: u32,
    /// Wanted pods that were deleted or evicted before the scale request.
    pub(super) gone_before: Vec<PlannedPod>,
    /// The names of the pods that were created since and should go in their place.
    pub(super) replacements: Vec<String>,
    /// Whether a canary can be created. Empty until the API server has been asked.
    canary: OnceCell<bool>,
}

/// Why the run ended before a scale request that is known to have succeeded.
pub(super) enum Stop {
    /// The count is as it was.
    Unchanged(String),
    /// The count is unchanged, and no costs that podrank may write make exactly the wanted pods go.
    Blocked(String),
    /// It is unknown whether the scale request was carried out.
    Unknown(String),
}

impl<T: std::fmt::Display> From<T> for Stop {
    fn from(error: T) -> Self {
        Self::Unchanged(error.to_string())
    }
}

impl<'r> Run<'r> {
    pub(super) fn new(
        cluster: &'r Cluster<'r>,
        request: Request,
        how: &'r How,
        first: Plan,
        interrupt: Interrupt,
    ) -> Self {
        let count = first.from;
        let (gone_before, replacements) = (Vec::new(), Vec::new());
        let canary = OnceCell::new();
        Self { cluster, how, interrupt, request, first, count, gone_before, replacements, canary }
    }

    pub(super) fn go(mut self) -> Outcome {
        let first = self.first.clone();
        match self.scale(first) {
            Ok(plan) => {
                let done = self.watch(&plan);
                self.conclude(&plan, done)
            }
            Err(Stop::Unchanged(why) | Stop::Blocked(why)) => self.abort(&why),
            Err(Stop::Unknown(why)) => self.unknown(&why),
        }
    }

    pub(super) fn first(&self) -> &Plan {
        &self.first
    }

    pub(super) fn stop_if_interrupted(&self) -> Result<(), Stop> {
        if self.interrupt.is_set() { Err(Stop::Unchanged("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Writes costs and scales, as soon as Kubernetes certainly takes the wanted pods. Returns the plan that was proved.
    pub(super) fn scale(&mut self, mut plan: Plan) -> Result<Plan, Stop> {
        let mut last = String::from("the pods kept changing");
        let mut needs_barrier = !self.request.only_if_needed;
        for _ in 0..ATTEMPTS {
            self.stop_if_interrupted()?;
            if plan.writes > 0 {
                needs_barrier = true;
                if let Err(error) = self.write(&plan) {
                    last = error.to_string();
                    if error.reason == Reason::Forbidden {
                        break;
                    }
                    plan = self.plan()?;
                    continue;
                }
            }
            if needs_barrier && plan.replicas > 0 {
                self.barrier(&plan)?;
                needs_barrier = false;
            }
            self.stop_if_interrupted()?;
            plan = self.plan()?;
            if !plan.is_proved() {
                continue;
            }
            self.stop_if_interrupted()?;
            let Err(error) = self.cluster.scale(&plan) else { return Ok(plan) };
            // A time-out leaves open whether it was done.
            let state = self.cluster.state().map_err(|unread| {
                Stop::Unknown(format!(
                    "the scale request failed ({error}), and the count cannot be read: {unread}"
                ))
            })?;
            if state.replicas == plan.replicas && state.target.uid == plan.target.uid {
                return Ok(plan);
            }
            self.check(&state.target, state.replicas)?;
            last = error.to_string();
            if error.reason == Reason::Forbidden {
                break;
            }
        }
        Err(Stop::Unchanged(last))
    }

    fn write(&mut self, plan: &Plan) -> Result<(), Refusal> {
        if self.how.barrier() != Barrier::FirstVictim || !self.gone_before.is_empty() {
            return self.cluster.write(plan);
        }
        // The first victim needs no cost.
        let mut plan = plan.clone();
        let victim = plan.first_victim().map(|pod| pod.uid.clone());
        for pod in plan.pods.iter_mut().filter(|pod| Some(&pod.uid) == victim.as_ref()) {
            pod.write = None;
        }
        self.cluster.write(&plan)
    }

    fn barrier(&mut self, plan: &Plan) -> Result<(), Stop> {
        match self.how.barrier() {
            Barrier::Canary => barrier::wait_for_canary(self.cluster, &self.interrupt, self.how.timeout)?,
            Barrier::FirstVictim => {
                let Some(victim) = plan.first_victim().cloned() else {
                    return Err(barrier::NO_FIRST_VICTIM.into());
                };
                self.cluster.delete(&victim.name, &victim.uid)?;
                // From here on, the plan is settled: a wish that counts pods by node may want others now.
                self.request.named.extend(plan.wanted().map(|pod| pod.name.clone()));
                self.request.wishes.clear();
                self.note_gone(victim);
                self.wait_for_replacements(&plan.pods, FIRST_VICTIM)?;
            }
        }
        Ok(())
    }

    /// Notes that a wanted pod was deleted or evicted.
    pub(super) fn note_gone(&mut self, victim: PlannedPod) {
        self.request.named.remove(&victim.name);
        if !self.replacements.contains(&victim.name) {
            self.gone_before.push(victim);
        }
    }

    /// Waits until as many new pods are there as known ones are gone, and from then on wants the new ones instead.
    pub(super) fn wait_for_replacements(
        &mut self,
        known: &[PlannedPod],
        timeout: Duration,
    ) -> Result<(), Stop> {
        let new = barrier::wait_for_replacement(self.cluster, &self.interrupt, known, timeout)?;
        self.replacements.extend(new.iter().cloned());
        self.request.named.extend(new);
        // As long as they are not ready, they go first anyway. But they may be ready when the controller decides, and
        // without a cost, another pod would go then. If no barrier can follow the cost, that risk remains.
        self.request.only_if_needed = !self.can_make_canary();
        Ok(())
    }

    /// Whether there is a barrier that leaves no new pod behind.
    fn can_make_canary(&self) -> bool {
        *self.canary.get_or_init(|| barrier::check_canary(self.cluster).is_ok())
    }

    /// Reads and plans anew.
    pub(super) fn plan(&mut self) -> Result<Plan, Stop> {
        let input = self.cluster.read()?;
        self.request.options.now = Timestamp::now();
        let state = steer::state(&input, &self.request.options)?;
        self.check(&state.target, state.replicas)?;
        let plan = steer::plan(&input, &self.request).map_err(|error| match error.remedy() {
            Some(Remedy::Evict | Remedy::WriteOver) => Stop::Blocked(error.to_string()),
            _ => Stop::from(error),
        })?;
        if !plan.has_sets_of(&self.first) {
            return Err(Stop::Unchanged(format!("{} was rolled out meanwhile", plan.target)));
        }
        match plan.pods.iter().find(|pod| pod.is_named && !self.is_known(pod)) {
            Some(pod) => {
                Err(Stop::Unchanged(format!("{} was replaced by another pod of that name", pod.name)))
            }
            None => Ok(plan),
        }
    }

    /// Whether a pod is one that the user has seen, or replaces one.
    fn is_known(&self, pod: &PlannedPod) -> bool {
        self.replacements.contains(&pod.name) || self.first.pods.iter().any(|known| known.uid == pod.uid)
    }

    /// Returns an error if somebody else changed the workload.
    fn check(&self, target: &Target, replicas: u32) -> Result<(), Stop> {
        let what = if target.uid != self.first.target.uid {
            "was replaced".to_owned()
        } else if replicas != self.count {
            format!("was scaled to {replicas} by somebody else")
        } else {
            return Ok(());
        };
        Err(Stop::Unchanged(format!("{target} {what} meanwhile")))
    }

    /// Waits until the controllers are done. An error says why it is unknown what they did.
    pub(super) fn watch(&self, plan: &Plan) -> Result<State, String> {
        // Each sync gets that long.
        let syncs = plan.delete.div_ceil(MOST_IN_ONE_SYNC).max(1);
        let end = Instant::now() + self.how.timeout * u32::try_from(syncs).unwrap_or(1);
        let bar = progress::count(plan.delete as u64);
        let (mut stable, mut last) = (0, String::from("the pods did not go in time"));
        loop {
            match self.cluster.state() {
                Ok(state) => {
                    let left = plan.wanted().filter(|pod| state.has(&pod.uid)).count();
                    bar.set_position((plan.delete - left) as u64);
                    let is_at_count = !state.lags && state.pods.len() <= plan.left;
                    stable = if is_at_count { stable + 1 } else { 0 };
                    if is_at_count && (left == 0 || stable >= STABLE) {
                        bar.finish_and_clear();
                        return Ok(state);
                    }
                }
                Err(error) => last = error.to_string(),
            }
            if self.interrupt.is_set() {
                "interrupted".clone_into(&mut last);
            }
            if self.interrupt.is_set() || Instant::now() > end {
                bar.finish_and_clear();
                return Err(last);
            }
            self.interrupt.sleep(PAUSE);
        }
    }

    /// Compares what went with the plan, by UID, and takes costs off the pods that stay.
    pub(super) fn conclude(&self, plan: &Plan, done: Result<State, String>) -> Outcome {
        let scaled = format!("{} was scaled from {} to {}", plan.target, self.first.from, plan.replicas);
        let state = match done {
            Ok(state) => state,
            Err(why) => {
                let undo = self.cluster.undo();
                let message = format!(
                    "{scaled}, but it is not known which pods went: {why}; when they have gone, run: {undo}"
                );
                return self.unfinished(plan, message);
            }
        };
        let wanted = self.wanted(plan);
        let (missed, went): (Vec<_>, Vec<_>) =
            wanted.iter().map(|pod| Named::of(pod)).partition(|pod| state.has(&pod.uid));
        let is_wanted = |pod: &PlannedPod| wanted.iter().any(|wanted| wanted.uid == pod.uid);
        let stayers = self.first.pods.iter().filter(|pod| !is_wanted(pod));
        // Pods that were to go may go meanwhile without podrank, for example with their node.
        let (before, others): (Vec<_>, Vec<_>) =
            stayers.filter(|pod| !state.has(&pod.uid)).partition(|pod| pod.is_wanted);
        let [before, others] =
            [before, others].map(|pods| pods.into_iter().map(Named::of).collect::<Vec<_>>());
        let report = self.report_of(plan);
        let (left, uncleaned) = if self.how.keep_costs { (self.left(), None) } else { self.clean() };
        let (mut exit, mut message) = if missed.is_empty() && others.is_empty() {
            let pods = match went.len() {
                1 => "the wanted pod".to_owned(),
                count => format!("the {count} wanted pods"),
            };
            let unmet = report.unmet();
            let unmet: Vec<_> = unmet.iter().map(|unmet| format!("; {}", unmet.afterwards())).collect();
            let unmet = unmet.concat();
            let pods = if unmet.is_empty() { pods } else { pods.replace("wanted", "planned") };
            (Exit::Done, format!("{scaled}: {pods} went, and no other{unmet}"))
        } else {
            let mut message = format!("{scaled}, but not all went as planned");
            if !missed.is_empty() {
                message.extend(["; these stayed: ", &names(&missed)]);
            }
            if !others.is_empty() {
                message.extend(["; these went although they should have stayed: ", &names(&others)]);
            }
            (Exit::Others, message)
        };
        if !before.is_empty() {
            message.extend(["; these had gone before: ", &names(&before)]);
        }
        if let Some(error) = uncleaned {
            exit = Exit::Left;
            message.extend(["; costs are left: ", &error, "; run: ", &self.cluster.undo()]);
        } else if exit == Exit::Done {
            message.push('.');
        }
        Outcome { exit, plan: report, went, missed, others, left, message }
    }

    /// The pods that were to go: those of the plan, and those that a barrier or an eviction took before, in place of which
    /// the plan has replacements.
    fn wanted<'p>(&'p self, plan: &'p Plan) -> Vec<&'p PlannedPod> {
        let is_gone = |pod: &PlannedPod| self.gone_before.iter().any(|gone| gone.uid == pod.uid);
        let rest = plan.wanted().filter(|pod| !self.replacements.contains(&pod.name) && !is_gone(pod));
        self.gone_before.iter().chain(rest).collect()
    }

    /// The plan as the user saw it, from before any write, but with the pods that the last plan wanted, those that came since, and what
    /// becomes of the nodes.
    fn report_of(&self, last: &Plan) -> Plan {
        let wanted = |uid: &str| {
            self.gone_before.iter().any(|pod| pod.uid == uid) || last.wanted().any(|pod| pod.uid == uid)
        };
        let mut plan = self.first.clone();
        for pod in &mut plan.pods {
            pod.is_wanted = wanted(&pod.uid);
        }
        let is_new = |pod: &&PlannedPod| {
            !self.replacements.contains(&pod.name)
                && !self.first.pods.iter().any(|known| known.uid == pod.uid)
        };
        plan.pods.extend(last.pods.iter().filter(is_new).cloned());
        // A last plan that takes the victim of a barrier has settled the nodes before.
        if last.nodes.is_some() {
            plan.nodes.clone_from(&last.nodes);
        }
        plan
    }

    /// Takes costs off. If that fails, returns the pods that still have them, and the reason.
    fn clean(&self) -> (Vec<Named>, Option<String>) {
        match self.cluster.take_off() {
            Ok(_) => (Vec::new(), None),
            Err(error) => (self.left(), Some(error.to_string())),
        }
    }

    fn left(&self) -> Vec<Named> {
        let state = self.cluster.state();
        let of = |state: State| {
            state.steered().map(|pod| Named { name: pod.name.clone(), uid: pod.uid.clone() }).collect()
        };
        state.map(of).unwrap_or_default()
    }

    /// Ends the run before the count has changed.
    pub(super) fn abort(&self, why: &str) -> Outcome {
        let resource = &self.first.target;
        let gone = self.gone();
        match self.cluster.take_off() {
            Ok(cleaned) => {
                let costs = if cleaned.is_nothing() { "" } else { "; all costs are put back" };
                self.nothing_went(Exit::Unchanged, format!("{resource} was not scaled: {why}{costs}{gone}"))
            }
            Err(error) => {
                let undo = self.cluster.undo();
                let message =
                    format!("{resource} was not scaled: {why}{gone}; costs are left: {error}; run: {undo}");
                Outcome { left: self.left(), ..self.nothing_went(Exit::Left, message) }
            }
        }
    }

    /// The end of a sentence about the pods that were deleted or evicted before the scale request.
    fn gone(&self) -> String {
        let names: Vec<_> = self.gone_before.iter().map(|pod| pod.name.as_str()).collect();
        if names.is_empty() {
            return String::new();
        }
        let what = if self.how.by == By::Eviction { "it evicted" } else { "the barrier deleted" };
        let (were, have) = if names.len() == 1 { ("was", "has") } else { ("were", "have") };
        let replaced = if self.replacements.len() < names.len() {
            format!("which {have} not been replaced so far")
        } else {
            format!("which {were} replaced")
        };
        format!("; {what} {}, {replaced}", names.join(", "))
    }

    fn unknown(&self, why: &str) -> Outcome {
        let undo = self.cluster.undo();
        let message = format!(
            "{}: {why}; look at its count, and when its pods have gone, run: {undo}",
            self.first.target
        );
        self.unfinished(&self.first, message)
    }

    fn unfinished(&self, plan: &Plan, message: String) -> Outcome {
        let plan = self.report_of(plan);
        Outcome { plan, left: self.left(), ..self.nothing_went(Exit::Left, message) }
    }

    fn nothing_went(&self, exit: Exit, message: String) -> Outcome {
        let (went, missed, others, left) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Outcome { exit, plan: self.first.clone(), went, missed, others, left, message }
    }
}

fn names(pods: &[Named]) -> String {
    pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>().join(", ")
}
