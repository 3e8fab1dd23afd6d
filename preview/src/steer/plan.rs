//! The plan of a scale-down: which pods are to go, what each of them gets as its deletion cost, and what Kubernetes would do
//! by itself. Plain data; `plan` computes it.

use crate::answer::note::Note;
use crate::answer::odds::Odds;
use crate::answer::preview::{Verdict, Workload};
use crate::answer::why::why;
use crate::ask::options::Order;
use crate::decide::line::Line;
use crate::decide::members::{Member, RankedPod, members, ranked};
use crate::decide::related::Related;
use crate::decide::{complete, notes};
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::cost::{CostOwner, FIELD_MANAGER, Previous};
use crate::object::time::to_time;
use crate::steer::notes::{idle_wish, still_working, unmet_wish};
use crate::steer::state::state as current;
use crate::steer::target::{Chosen, Target, choose};
use crate::steer::wish;
use crate::steer::wish::{Count, Request, Why, spread, tiers};
use crate::words::error::{Error, Remedy};
use crate::words::text;
use jiff::Timestamp;
use podrank::{Flags, Phase, Pod, Policy, Rule, SteerError, SteerScratch};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

/// Which pods are to go, and how. Serialized, it is the JSON that other programs read: docs/scale-json.md says what each
/// name means.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The namespace of the workload.
    pub namespace: String,
    /// The object whose count falls.
    #[serde(serialize_with = "workload")]
    #[serde(rename = "workload")]
    pub target: Target,
    /// The name of the set that loses pods. `None` if none should go.
    pub replica_set: Option<String>,
    /// The exact time of the decision.
    pub now: Timestamp,
    /// `spec.replicas` before.
    pub from: u32,
    /// `spec.replicas` afterwards.
    pub replicas: u32,
    /// The number of pods that go.
    pub delete: usize,
    /// The number of deletion costs that have to be written.
    pub writes: usize,
    /// The active pods. Those that should go come first.
    pub pods: Vec<PlannedPod>,
    /// The pods that go before others that are wanted more, because Kubernetes applies other rules before the cost.
    pub blocked: Vec<Ahead>,
    /// What else a reader should know.
    pub notes: Vec<Note>,
    /// The wishes that are for some of the pods: the place of each in the request, and its flag.
    #[serde(skip)]
    pub wishes: Vec<(usize, String)>,
}

/// One active pod.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedPod {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its node, if assigned.
    pub node: Option<String>,
    /// What Kubernetes would do with it, with the deletion costs as they are.
    pub by_itself: Verdict,
    /// How likely Kubernetes deletes it then, if that is contested and known.
    #[serde(flatten)]
    pub odds: Option<Odds>,
    /// Whether it is to go.
    #[serde(rename = "wanted")]
    pub is_wanted: bool,
    /// Whether the user named it.
    #[serde(rename = "named")]
    pub is_named: bool,
    /// Why it goes, or would go if more did.
    pub why: Vec<Why>,
    /// Its deletion cost as Kubernetes reads it.
    pub deletion_cost: i32,
    /// Who set that cost: `podrank`, `template`, or a field manager. `None` if the pod has no cost.
    pub cost_owner: Option<String>,
    /// The cost to write. `None` if the cost stays as it is.
    pub write: Option<i32>,
    /// Whether it is assigned, running and ready.
    #[serde(skip)]
    pub is_ready: bool,
    /// What the write would replace: somebody else's cost, to be put back.
    #[serde(skip)]
    pub replaces: Option<Previous>,
    /// The pod's resource version when it had the cost that the write would replace.
    #[serde(skip)]
    pub resource_version: Option<String>,
}

/// A pod that goes before another that was wanted more.
#[derive(Clone, Debug, Serialize)]
pub struct Ahead {
    /// The pod that goes.
    pub name: String,
    /// The pod that stays although it was wanted more.
    pub before: String,
    /// The rule that decides.
    pub rule: &'static str,
    /// What that rule finds in the two pods.
    pub why: String,
}

/// A wish that not all pods that go match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The flag.
    pub wish: String,
    /// How many of these pods match it.
    pub matching: usize,
    /// How many pods go, not counting those that the user named.
    pub delete: usize,
    /// Whether the user named others.
    pub is_besides_named: bool,
}

impl fmt::Display for Unmet {
    /// `2 of the 5 that go match --prefer-nodes lifecycle=spot`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wish, matching, delete, is_besides_named } = self;
        let named = if *is_besides_named { " besides those named" } else { "" };
        match (matching, delete) {
            (0, 1) => write!(f, "the pod that goes{named} does not match {wish}"),
            (0, _) => write!(f, "none of the {delete} that go{named} matches {wish}"),
            (1, _) => write!(f, "1 of the {delete} that go{named} matches {wish}"),
            _ => write!(f, "{matching} of the {delete} that go{named} match {wish}"),
        }
    }
}

impl Unmet {
    /// The same once the pods have gone: `2 of these 5 match --prefer-nodes lifecycle=spot`
    pub fn afterwards(&self) -> String {
        let Self { wish, matching, delete, is_besides_named } = self;
        let these = if *is_besides_named { "the other" } else { "these" };
        match (matching, delete) {
            (0, 1) if *is_besides_named => format!("the other one does not match {wish}"),
            (0, 1) => format!("it does not match {wish}"),
            (0, _) => format!("none of {these} {delete} matches {wish}"),
            (1, _) => format!("1 of {these} {delete} matches {wish}"),
            _ => format!("{matching} of {these} {delete} match {wish}"),
        }
    }
}

impl PlannedPod {
    /// Whether its cost is podrank's.
    pub(super) fn is_podranks(&self) -> bool {
        self.cost_owner.as_deref() == Some(FIELD_MANAGER)
    }

    /// Whether the write would replace somebody else's cost.
    pub(super) fn overwrites(&self) -> bool {
        self.replaces.is_some() && !self.is_podranks()
    }

    /// The cost that podrank wrote over, if it is the one to write now.
    pub(super) fn goes_back(&self) -> Option<&Previous> {
        let previous = self.replaces.as_ref().filter(|_| self.is_podranks())?;
        (self.write?.to_string() == previous.value).then_some(previous)
    }
}

impl Plan {
    /// The pods that are to go.
    pub fn wanted(&self) -> impl Iterator<Item = &PlannedPod> {
        self.pods.iter().filter(|pod| pod.is_wanted)
    }

    /// The wishes that not all pods that go match, not counting pods that the user named.
    pub fn unmet(&self) -> Vec<Unmet> {
        let wished: Vec<_> = self.wanted().filter(|pod| !pod.is_named).collect();
        let is_besides_named = wished.len() < self.wanted().count();
        let matches = |pod: &PlannedPod, wish: usize| pod.why.iter().any(|why| why.wish == Some(wish));
        let unmet = self.wishes.iter().filter_map(|(wish, flag)| {
            let matching = wished.iter().filter(|pod| matches(pod, *wish)).count();
            let unmet = || Unmet { wish: flag.clone(), matching, delete: wished.len(), is_besides_named };
            (matching < wished.len()).then(unmet)
        });
        unmet.collect()
    }

    /// A wanted pod for the first-victim barrier to delete. `None` if a survivor is not ready, because Kubernetes might then
    /// take that survivor before the replacement.
    pub fn first_victim(&self) -> Option<&PlannedPod> {
        let are_ready = self.pods.iter().all(|pod| pod.is_wanted || pod.is_ready);
        self.wanted().next().filter(|_| are_ready)
    }

    /// Whether Kubernetes takes exactly the wanted pods with the costs as they are, and no cost is left to write.
    pub fn is_proved(&self) -> bool {
        self.writes == 0 && self.pods.iter().all(|pod| pod.is_wanted == (pod.by_itself == Verdict::Delete))
    }
}

fn workload<S: serde::Serializer>(target: &Target, serializer: S) -> Result<S::Ok, S::Error> {
    Workload { kind: target.kind, name: &target.name }.serialize(serializer)
}

/// The plan of a workload that has the wanted count: no pod goes, whatever state it is in. `None` if it has another one, or if
/// pods are named.
///
/// # Errors
/// If the options do not name exactly one workload of the input, or if that workload is unsound.
pub fn nothing_to_do(input: &Input, request: &Request) -> Result<Option<Plan>, Error> {
    let Count::To(replicas) = request.count else { return Ok(None) };
    let state = current(input, &request.options)?;
    if state.replicas != replicas || !request.named.is_empty() {
        return Ok(None);
    }
    let is_at_work = state.lags || state.pods.len() != replicas as usize;
    let notes = is_at_work.then(|| still_working(&state.target, state.pods.len()));
    Ok(Some(Plan {
        namespace: state.namespace,
        target: state.target,
        replica_set: None,
        now: request.options.now,
        from: replicas,
        replicas,
        delete: 0,
        writes: 0,
        pods: Vec::new(),
        blocked: Vec::new(),
        notes: notes.into_iter().collect(),
        wishes: Vec::new(),
    }))
}

/// Plans a scale-down of the workload that the request names.
///
/// # Errors
/// If a wish matches no pod, if no costs can make Kubernetes take the named pods and no others, if the input is incomplete, or if the workload's
/// controllers are still busy. The text says what can be done.
pub fn plan(input: &Input, request: &Request) -> Result<Plan, Error> {
    let options = &request.options;
    if request.by_cost && !options.gates.pod_deletion_cost {
        return Err(Error::new(
            "the feature gate PodDeletionCost is off, so deletion costs have no effect: use --by eviction",
        ));
    }
    let sets = Sets::of(input);
    let chosen = choose(input, &sets, options)?;
    if let Some(gap) = complete::gaps(&sets, chosen.id)?.first() {
        return Err(Error::new(format!("{}: try again in a moment", gap.text)));
    }
    let mut notes = Vec::new();
    let related = Related::of(chosen.id, Some(chosen.set), &sets, Order::Kubernetes)?;
    let members = members(input, &sets, chosen.id, &related, &mut notes)?;
    let own = ranked(&members);
    if own.len() != chosen.from as usize {
        return Err(Error::new(format!(
            "{} has {}, but its spec.replicas is {}: wait until its controller has caught up",
            chosen.id,
            text::count(own.len() as u64, "active pod"),
            chosen.from
        )));
    }
    check_names(request, &chosen, &own)?;
    wish::check(request, &chosen.target, &own)?;

    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let mut steered: Vec<_> = own.iter().map(|(_, pod)| *pod).collect();
    let available = wish::available(request, &own, chosen.set.spec()?.min_ready_seconds);
    let tiers = tiers(request, &own, &available)?;
    for (pod, tier) in steered.iter_mut().zip(tiers) {
        pod.tier = tier;
    }
    spread(request, policy, &own, &mut steered, &others(&members));
    let mut order = vec![0; own.len()];
    policy.sort(&steered, &mut order).map_err(|error| Error::new(error.to_string()))?;
    let mut order: Vec<_> = order.into_iter().map(|index| index as usize).collect();
    if !request.by_cost {
        // For evictions, the rules before the tier do not matter.
        order.sort_by_key(|&index| steered[index].tier);
    }
    let delete = delete(request, &chosen, &own, &order)?;
    let (wanted, survivors) = order.split_at(delete);
    check_blocked(request, policy, &own, &steered, wanted, survivors)?;

    notes.extend([notes::claims(input, &sets, chosen.set)?, notes_on_pods(request, &own, delete)].concat());
    let line = Line::up(Order::Kubernetes, policy, &own, delete, None)?;
    let line = line.previews(&line.odds()?).into_iter();
    let by_itself: HashMap<_, _> = line.map(|pod| (pod.uid, (pod.verdict, pod.odds))).collect();
    let template = chosen.set.spec()?.template_cost.as_deref();
    let owner = |member: &Member<'_>| member.record.cost.as_ref().map(|cost| cost.owner(template));
    let owners: Vec<_> = own.iter().map(|(member, _)| owner(member)).collect();
    let takes_them_anyway =
        || wanted.iter().all(|&index| by_itself[&own[index].1.uid.to_string()].0 == Verdict::Delete);
    let writes = request.by_cost && !(request.only_if_needed && takes_them_anyway());
    let written = if writes { Some(costs_of(request, policy, &own, &owners, wanted)?) } else { None };
    let pods: Vec<_> = order
        .iter()
        .enumerate()
        .map(|(place, &index)| {
            let (member, pod) = &own[index];
            let owner = owners[index].as_ref();
            let uid = pod.uid.to_string();
            let (by_itself, odds) = by_itself[uid.as_str()];
            PlannedPod {
                by_itself,
                odds,
                name: member.entry.name.clone(),
                uid,
                node: member.record.node.clone(),
                is_wanted: place < delete,
                is_ready: [Flags::ASSIGNED, Flags::READY].iter().all(|flag| pod.flags.contains(*flag))
                    && pod.phase == Phase::RUNNING,
                is_named: request.named.contains(&member.entry.name),
                why: wish::why(request, &own[index], available[index]),
                deletion_cost: pod.deletion_cost,
                cost_owner: owner.map(CostOwner::to_string),
                write: written.as_ref().map(|costs| costs[index]).filter(|cost| *cost != pod.deletion_cost),
                replaces: match owner {
                    // What podrank itself replaced is still to be put back.
                    Some(CostOwner::Podrank) => member.record.previous.as_deref().cloned(),
                    _ => member.record.cost.as_ref().map(|cost| cost.to_previous()),
                },
                resource_version: member.record.cost.as_ref().and_then(|cost| cost.resource_version.clone()),
            }
        })
        .collect();
    let wishes = (0..).zip(&request.wishes).filter_map(|(place, wish)| Some((place, wish.for_some()?)));
    let mut plan = Plan {
        namespace: chosen.id.namespace.to_owned(),
        replica_set: Some(chosen.id.name.to_owned()),
        now: options.now,
        from: chosen.from,
        replicas: chosen.from - u32::try_from(delete).unwrap_or(0),
        delete,
        writes: pods.iter().filter(|pod| pod.write.is_some()).count(),
        blocked: if request.by_cost { ahead(policy, &own, &steered, wanted, survivors) } else { Vec::new() },
        target: chosen.target,
        wishes: wishes.collect(),
        pods,
        notes,
    };
    plan.notes.extend(notes_on_wishes(request, &plan, &own));
    Ok(plan)
}

/// The wishes that all pods match, and those that not all pods that go match.
fn notes_on_wishes(request: &Request, plan: &Plan, own: &[RankedPod<'_, '_>]) -> Vec<Note> {
    let idle = plan.wishes.iter().filter(|(place, _)| request.wishes[*place].selects_all(own));
    let idle = idle.map(|(_, wish)| idle_wish(wish, &plan.target));
    idle.chain(plan.unmet().iter().map(unmet_wish)).collect()
}

/// What a reader should know of the pods' costs, and of many deletions.
fn notes_on_pods(request: &Request, own: &[RankedPod<'_, '_>], delete: usize) -> Vec<Note> {
    let mut notes = Vec::new();
    if request.options.gates.pod_deletion_cost {
        notes.extend(own.iter().filter_map(|(pod, _)| notes::invalid_cost(pod.entry, pod.record)));
    }
    if delete > crate::decide::line::MOST_IN_ONE_SYNC {
        notes.push(notes::several_syncs(delete, crate::decide::line::MOST_IN_ONE_SYNC));
    }
    notes
}

/// Returns an error if a name is not that of an active pod of the set.
fn check_names(request: &Request, chosen: &Chosen<'_>, own: &[RankedPod<'_, '_>]) -> Result<(), Error> {
    let is_own = |name: &&String| own.iter().any(|(member, _)| member.entry.name == **name);
    let strangers: Vec<_> = request.named.iter().filter(|name| !is_own(name)).collect();
    if strangers.is_empty() {
        return Ok(());
    }
    let verb = if strangers.len() == 1 { "is no active pod" } else { "are no active pods" };
    Err(Error::new(format!("{} {verb} of {}", text::list(&strangers), chosen.id)))
}

/// How many pods go.
fn delete(
    request: &Request,
    chosen: &Chosen<'_>,
    own: &[RankedPod<'_, '_>],
    order: &[usize],
) -> Result<usize, Error> {
    let is_named = |index: &usize| request.named.contains(&own[*index].0.entry.name);
    match request.count {
        Count::To(replicas) => {
            let named = text::count(request.named.len() as u64, "pod");
            let from = text::count(chosen.from, "replica");
            let target = &chosen.target;
            if replicas > chosen.from {
                return Err(Error::new(format!(
                    "{target} has {from}, so --replicas {replicas} would scale it up: podrank only scales down; use kubectl scale"
                )));
            }
            let delete = (chosen.from - replicas) as usize;
            if delete == 0 {
                let are = if request.named.len() == 1 { "is" } else { "are" };
                return Err(Error::new(format!(
                    "{named} {are} named, but {target} has {from} already, so none goes: lower --replicas"
                )));
            }
            if request.named.len() > delete {
                return Err(Error::new(format!(
                    "{} are named, but only {delete} {}: lower --replicas, or name fewer",
                    text::count(request.named.len() as u64, "pod"),
                    text::goes(delete as u64)
                )));
            }
            Ok(delete)
        }
        Count::AllButNamed => Ok(request.named.len()),
        // All up to the last named pod.
        Count::AllButNamedAndAhead => Ok(order.iter().rposition(is_named).map_or(0, |last| last + 1)),
    }
}

/// Returns an error if costs cannot make a named pod go. It names the pods in the way and the remedies.
fn check_blocked(
    request: &Request,
    policy: Policy,
    own: &[RankedPod<'_, '_>],
    steered: &[Pod],
    wanted: &[usize],
    survivors: &[usize],
) -> Result<(), Error> {
    let name = |index: usize| own[index].0.entry.name.as_str();
    let Some(&stays) = survivors.iter().find(|&&index| request.named.contains(name(index))) else {
        return Ok(());
    };
    let in_the_way: Vec<_> = wanted.iter().filter(|&&index| !request.named.contains(name(index))).collect();
    let Some(&&first) = in_the_way.first() else { return Ok(()) };
    let reason = policy.decide(&steered[first], &steered[stays]).1.map_or("goes first", state);
    let names: Vec<_> = in_the_way.iter().map(|&&index| name(index)).collect();
    let subject = match &*names {
        [only] => format!("{only} {reason} and goes first whatever its cost: take it too"),
        _ => format!(
            "{} are unassigned, not running or not ready, and go first whatever their costs: take them too",
            text::list(&names)
        ),
    };
    let how = match request.count {
        Count::To(_) => "with a lower --replicas",
        _ => "with --also",
    };
    let text = format!("{} would stay: {subject} {how}, wait, or use --by eviction", name(stays));
    Err(Error::with_remedy(text, Remedy::Evict))
}

/// What the rule says about the pod that goes first.
fn state(rule: Rule) -> &'static str {
    match rule {
        Rule::Unassigned => "is not assigned to a node",
        Rule::Phase => "is not running",
        _ => "is not ready",
    }
}

/// The nodes of the related pods of other sets.
fn others<'a>(members: &[Member<'a>]) -> Vec<Option<&'a str>> {
    members.iter().filter(|member| !member.is_own).map(|member| member.record.node.as_deref()).collect()
}

/// The costs that make exactly the wanted pods go.
fn costs_of(
    request: &Request,
    policy: Policy,
    own: &[RankedPod<'_, '_>],
    owners: &[Option<CostOwner>],
    wanted: &[usize],
) -> Result<Vec<i32>, Error> {
    let mut pods: Vec<_> = own.iter().map(|(_, pod)| Pod { tier: 1, ..*pod }).collect();
    for &index in wanted {
        pods[index].tier = 0;
    }
    // In requests: the cost of a pod that stays has to be taken off again, unless that is due in any case.
    let price = |index: usize| match &owners[index] {
        Some(CostOwner::Other(_)) if !request.force => None,
        Some(CostOwner::Podrank) => Some(1),
        _ => Some(1 + u8::from(pods[index].tier == 1)),
    };
    let (mut costs, mut scratch) = (vec![0; pods.len()], vec![SteerScratch::default(); pods.len()]);
    let steered = policy.steer(&pods, price, &mut costs, &mut scratch);
    steered.map(|steered| steered.costs().to_vec()).map_err(|error| match error {
        SteerError::NoRoom { lower, higher } => {
            let pod = |index: u32| &own[index as usize].0;
            let cost = |index: u32| own[index as usize].1.deletion_cost;
            let whose = |index: u32| match &owners[index as usize] {
                Some(CostOwner::Other(manager)) => format!(", written by {manager}"),
                _ => String::new(),
            };
            let text = format!(
                "somebody else's deletion costs leave no room: {} (cost {}{}) must go before {} (cost {}{}); \
                 --force-conflicts writes over them and puts them back",
                pod(lower).entry.name,
                cost(lower),
                whose(lower),
                pod(higher).entry.name,
                cost(higher),
                whose(higher)
            );
            Error::with_remedy(text, Remedy::WriteOver)
        }
        other => Error::new(other.to_string()),
    })
}

/// The pods that go before others of a lower tier.
fn ahead(
    policy: Policy,
    own: &[RankedPod<'_, '_>],
    steered: &[Pod],
    wanted: &[usize],
    survivors: &[usize],
) -> Vec<Ahead> {
    let name = |index: usize| own[index].0.entry.name.as_str();
    // One with the lowest tier, since all survivors come after all wanted pods.
    let Some(&before) = survivors.iter().min_by_key(|&&index| steered[index].tier) else { return Vec::new() };
    let ahead = wanted.iter().filter(|&&index| steered[index].tier > steered[before].tier);
    ahead
        .filter_map(|&index| {
            let (order, rule) = policy.decide(&steered[index], &steered[before]);
            let rule = rule.filter(|_| order == Ordering::Less)?;
            Some(Ahead {
                name: name(index).to_owned(),
                before: name(before).to_owned(),
                rule: rule.name(),
                why: why(&policy, rule, &steered[index], &steered[before], name(before)),
            })
        })
        .collect()
}
