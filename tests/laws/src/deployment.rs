//! The laws for a Deployment's sync, in whatever language it is called: a trait for one way to call it, a second, naive
//! implementation that follows Kubernetes' code line by line (with its floating point, sorted lists and maps), and a
//! generator of Deployments that collide.

use podrank::Time;
use podrank::controller::deployment::{
    Budgets, Change, Deployment, Path, Reason, ReplicaSet, SetFlags, Step, Strategy, next_sync,
};
use podrank::controller::{IntOrPercent, IntOrPercentError, MAX_PERCENT};
use proptest::prelude::{Just, Strategy as Generator, any, prop};
use proptest::sample::select;
use proptest::{prop_compose, prop_oneof};
use std::cmp::{Ordering, Reverse};

/// One way to reach the decisions.
pub trait Deployments {
    /// What the next sync does.
    fn next_sync(&self, deployment: &Deployment, sets: &[ReplicaSet]) -> Outcome;
    /// Reads a percentage.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn percent(&self, text: &[u8]) -> Result<u32, IntOrPercentError>;
    /// Reads the two annotations.
    fn set_annotations(&self, set: &mut ReplicaSet, desired: &[u8], max: &[u8]);
}

/// What happens to a set: its new size, the part that comes first, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The new size.
    pub replicas: i32,
    /// The part of the change that comes first.
    pub part: i32,
    /// Why.
    pub reason: Reason,
    /// Whether its annotations are written, too.
    pub annotates: bool,
}

/// All that a sync does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which way it takes.
    pub path: Path,
    /// The budgets.
    pub budgets: Budgets,
    /// The index of the new set.
    pub new_set: Option<u32>,
    /// What becomes of the new set.
    pub new: Effect,
    /// Whether it is created.
    pub creates: bool,
    /// Whether the next sync follows at once.
    pub goes_on: bool,
    /// What becomes of each set.
    pub sets: Vec<Effect>,
}

impl From<&Change> for Effect {
    fn from(change: &Change) -> Self {
        Self {
            replicas: change.replicas,
            part: change.part,
            reason: change.reason,
            annotates: change.annotates,
        }
    }
}

impl Deployments for crate::Core {
    fn next_sync(&self, deployment: &Deployment, sets: &[ReplicaSet]) -> Outcome {
        // More room than is needed: what is beyond the sets stays as it was.
        let mut changes = vec![Change::default(); sets.len() + 1];
        let step = next_sync(deployment, sets, &mut changes).unwrap();
        assert_eq!(changes.pop(), Some(Change::default()));
        if !sets.is_empty() {
            assert!(next_sync(deployment, sets, &mut changes[1..]).is_err());
        }
        let Step { path, budgets, new_set, new_change, creates, goes_on } = step;
        let sets = changes.iter().map(Effect::from).collect();
        Outcome { path, budgets, new_set, new: Effect::from(&new_change), creates, goes_on, sets }
    }

    fn percent(&self, text: &[u8]) -> Result<u32, IntOrPercentError> {
        match IntOrPercent::parse(text)? {
            IntOrPercent::Percent(percent) => Ok(percent),
            number @ IntOrPercent::Int(_) => panic!("{number:?}"),
        }
    }

    fn set_annotations(&self, set: &mut ReplicaSet, desired: &[u8], max: &[u8]) {
        set.set_annotations(desired, max);
    }
}

/// `GetScaledValueFromIntOrPercent`.
#[allow(clippy::cast_possible_truncation)] // as Go's int(float64)
fn scaled(value: IntOrPercent, total: i32, round_up: bool) -> i64 {
    match value {
        IntOrPercent::Int(number) => number.into(),
        IntOrPercent::Percent(percent) => {
            let value = f64::from(percent) * f64::from(total) / 100.0;
            (if round_up { value.ceil() } else { value.floor() }) as i64
        }
    }
}

/// `ResolveFenceposts`, `MaxSurge` and `MaxUnavailable`.
#[allow(clippy::cast_possible_truncation)] // as Go's int32(int)
fn budgets(deployment: &Deployment) -> Budgets {
    let Strategy::RollingUpdate { max_surge, max_unavailable } = deployment.strategy else {
        return Budgets { surge: 0, unavailable: 0 };
    };
    let surge = scaled(max_surge, deployment.replicas, true);
    let mut unavailable = scaled(max_unavailable, deployment.replicas, false);
    if surge == 0 && unavailable == 0 {
        unavailable = 1;
    }
    let mut unavailable = unavailable as i32;
    if deployment.replicas == 0 {
        unavailable = 0;
    }
    Budgets { surge: surge as i32, unavailable: unavailable.min(deployment.replicas) }
}

/// The naive implementation.
struct Naive<'a> {
    deployment: &'a Deployment,
    budgets: Budgets,
    sets: &'a [ReplicaSet],
    new: Option<usize>,
    effects: Vec<Effect>,
    missing: Effect,
    creates: bool,
}

/// `ReplicaSetsByCreationTimestamp`: the indices of these sets, oldest first.
fn by_creation(sets: &[ReplicaSet], mut indices: Vec<usize>) -> Vec<usize> {
    // None, unset, is before Some.
    indices.sort_by_key(|&i| (sets[i].creation_time.unix_nanos(), sets[i].name_order, i));
    indices
}

/// The reverse, but of one time and one name number, which Kubernetes does not know, the lower index is first here, too.
fn newest_first(sets: &[ReplicaSet], mut indices: Vec<usize>) -> Vec<usize> {
    indices.sort_by_key(|&i| (Reverse((sets[i].creation_time.unix_nanos(), sets[i].name_order)), i));
    indices
}

fn sum(numbers: impl Iterator<Item = i32>) -> i32 {
    numbers.fold(0, i32::wrapping_add)
}

/// Returns what the naive implementation says about a Deployment's next sync: `syncDeployment`.
pub fn naive(deployment: &Deployment, sets: &[ReplicaSet]) -> Outcome {
    let mut outcome = one_sync(deployment, sets);
    let next = || {
        let sets = with_statuses(after(deployment, sets, &outcome), &mut std::iter::empty());
        let status_replicas = sum(sets.iter().map(|set| set.replicas));
        let next = one_sync(&Deployment { status_replicas, ..*deployment }, &sets);
        changes_or_fails(&sets, &next) || after(deployment, &sets, &next) != sets
    };
    outcome.goes_on = match outcome.path {
        Path::Nothing => false,
        Path::Rollback => true,
        _ => next() || fails(&outcome),
    };
    outcome
}

/// One sync, without what follows.
fn one_sync(deployment: &Deployment, sets: &[ReplicaSet]) -> Outcome {
    let mut sync = Naive::new(deployment, sets);
    let path = sync.sync();
    let new = sync.new.map_or(sync.missing, |i| sync.effects[i]);
    Outcome {
        path,
        budgets: sync.budgets,
        new_set: sync.new.map(|i| i.try_into().unwrap()),
        new,
        creates: sync.creates,
        goes_on: false,
        sets: sync.effects,
    }
}

fn fails(outcome: &Outcome) -> bool {
    outcome.sets.iter().chain([&outcome.new]).any(|effect| effect.reason == Reason::Rejected)
}

fn changes(sets: &[ReplicaSet], outcome: &Outcome) -> bool {
    outcome.creates || outcome.sets.iter().zip(sets).any(|(effect, set)| effect.replicas != set.replicas)
}

fn changes_or_fails(sets: &[ReplicaSet], outcome: &Outcome) -> bool {
    changes(sets, outcome) || fails(outcome)
}

/// The sets with these replicas and available replicas. Where there are none, the statuses follow the sizes: pods that are
/// created are not available, and of a set that shrinks those that are not available go first.
fn with_statuses(
    mut sets: Vec<ReplicaSet>,
    statuses: &mut impl Iterator<Item = [i32; 2]>,
) -> Vec<ReplicaSet> {
    for set in &mut sets {
        let followed = [set.replicas, set.available_replicas.min(set.replicas)];
        [set.status_replicas, set.available_replicas] = statuses.next().unwrap_or(followed);
    }
    sets
}

impl<'a> Naive<'a> {
    fn new(deployment: &'a Deployment, sets: &'a [ReplicaSet]) -> Self {
        let oldest_first = by_creation(sets, (0..sets.len()).collect());
        let untouched = |replicas| Effect { replicas, part: 0, reason: Reason::Untouched, annotates: false };
        Self {
            deployment,
            budgets: budgets(deployment),
            sets,
            new: oldest_first.into_iter().find(|&i| sets[i].flags.contains(SetFlags::CURRENT_TEMPLATE)),
            effects: sets.iter().map(|set| untouched(set.replicas)).collect(),
            missing: untouched(0),
            creates: false,
        }
    }

    fn sync(&mut self) -> Path {
        let deployment = self.deployment;
        if deployment.is_being_deleted {
            return Path::Nothing;
        }
        if deployment.is_paused {
            self.scale();
            return Path::Scale;
        }
        if deployment.is_rolling_back {
            if self.new.is_none() {
                self.create_new();
            }
            return Path::Rollback;
        }
        for set in self.sets.iter().filter(|set| set.replicas > 0 && set.flags.contains(SetFlags::DESIRED)) {
            if set.desired_replicas != deployment.replicas {
                self.scale();
                return Path::Scale;
            }
        }
        match deployment.strategy {
            Strategy::RollingUpdate { .. } => {
                self.rollout_rolling();
                Path::Roll
            }
            Strategy::Recreate { old_pods_run } => {
                self.rollout_recreate(old_pods_run);
                Path::Recreate
            }
        }
    }

    fn active(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|&i| self.sets[i].replicas > 0).collect()
    }

    fn old(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|&i| self.new != Some(i)).collect()
    }

    fn active_old(&self) -> Vec<usize> {
        let old = self.old().into_iter().filter(|&i| self.sets[i].replicas > 0);
        by_creation(self.sets, old.collect())
    }

    /// Writes a size, as `scaleReplicaSet` and the API server behind it. False if it was rejected.
    fn write(&mut self, i: usize, replicas: i32, reason: Reason) -> bool {
        let was = self.effects[i].replicas;
        if replicas < 0 {
            self.effects[i].reason = Reason::Rejected;
            return false;
        }
        // `scaleReplicaSetAndRecordEvent` writes nothing if the size is right.
        let annotates = replicas != was;
        self.effects[i] = Effect { replicas, part: replicas.wrapping_sub(was), reason, annotates };
        true
    }

    fn scale(&mut self) {
        let count = self.deployment.replicas;
        let active = self.active();
        // FindActiveOrLatest.
        let active_or_latest = match active[..] {
            [] => self.new.or_else(|| newest_first(self.sets, self.old()).first().copied()),
            [only] => Some(only),
            _ => None,
        };
        if let Some(only) = active_or_latest {
            self.write(only, count, Reason::OnlyActive);
            return;
        }
        // IsSaturated.
        if let Some(new) = self.new {
            let set = &self.sets[new];
            let readable =
                set.flags.contains(SetFlags::DESIRED) || set.flags.contains(SetFlags::DESIRED_LENIENT);
            if readable && [set.replicas, set.desired_replicas, set.available_replicas] == [count; 3] {
                self.effects[new].reason = Reason::Saturated;
                for i in self.active_old() {
                    self.write(i, 0, Reason::Saturated);
                }
                return;
            }
        }
        if matches!(self.deployment.strategy, Strategy::Recreate { .. }) {
            for i in active {
                self.effects[i].reason = Reason::NotRolling;
            }
            return;
        }

        let mut all = by_creation(self.sets, active);
        let total = sum(all.iter().map(|&i| self.sets[i].replicas));
        let allowed = if count > 0 { count.wrapping_add(self.budgets.surge) } else { 0 };
        let to_add = allowed.wrapping_sub(total);
        if to_add > 0 {
            // ReplicaSetsBySizeNewer.
            all = newest_first(self.sets, all);
        }
        all.sort_by_key(|&i| Reverse(self.sets[i].replicas));
        let mut added = 0_i32;
        let mut sizes = vec![];
        for &i in &all {
            let (proportion, reason) = self.proportion(&self.sets[i], to_add, added);
            sizes.push((i, self.sets[i].replicas.wrapping_add(proportion), proportion, reason));
            added = added.wrapping_add(proportion);
        }
        if let Some((_, size, _, reason)) = sizes.first_mut().filter(|_| to_add != 0) {
            let leftover = to_add.wrapping_sub(added);
            *size = size.wrapping_add(leftover).max(0);
            if leftover != 0 {
                *reason = Reason::ShareAndLeftover;
            }
        }
        let mut sizes = sizes.into_iter();
        for (i, size, proportion, reason) in sizes.by_ref() {
            if !self.write(i, size, reason) {
                break;
            }
            self.effects[i].part = proportion;
            // `scaleReplicaSet` is called for every size.
            self.effects[i].annotates = true;
        }
        for (i, ..) in sizes {
            self.effects[i].reason = Reason::NotReached;
        }
    }

    /// `GetReplicaSetProportion` and `getReplicaSetFraction`.
    #[allow(clippy::cast_possible_truncation)] // as Go's int32(float64)
    fn proportion(&self, set: &ReplicaSet, to_add: i32, added: i32) -> (i32, Reason) {
        if to_add == added {
            return (0, Reason::UsedUp);
        }
        let count = self.deployment.replicas;
        let mut before = if set.flags.contains(SetFlags::MAX) { set.max_replicas } else { 0 };
        if before == 0 {
            before = self.deployment.status_replicas;
        }
        let (fraction, mut reason) = if count == 0 {
            (-set.replicas, Reason::Share)
        } else if before == 0 {
            (0, Reason::NoShare)
        } else {
            let product = set.replicas.wrapping_mul(count.wrapping_add(self.budgets.surge));
            let size = (f64::from(product) / f64::from(before)).round() as i32;
            (size.wrapping_sub(set.replicas), Reason::Share)
        };
        let allowed = to_add.wrapping_sub(added);
        let cut = if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) };
        if cut != fraction {
            reason = Reason::CutShare;
        }
        (cut, reason)
    }

    /// `NewRSNewReplicas`, for a set of this size among sets that have so many replicas.
    fn new_replicas(&self, current: i32, replicas: i32) -> i32 {
        let count = self.deployment.replicas;
        if matches!(self.deployment.strategy, Strategy::Recreate { .. }) {
            return count;
        }
        let most = count.wrapping_add(self.budgets.surge);
        if current >= most {
            return replicas;
        }
        replicas.wrapping_add(most.wrapping_sub(current).min(count.wrapping_sub(replicas)))
    }

    fn total(&self) -> i32 {
        sum(self.sets.iter().map(|set| set.replicas))
    }

    /// `getNewReplicaSet`, where there is none. False if it was rejected.
    fn create_new(&mut self) -> bool {
        let replicas = self.new_replicas(self.total(), 0);
        self.creates = replicas >= 0;
        if !self.creates {
            self.missing.reason = Reason::Rejected;
            return false;
        }
        let reason = match (self.deployment.strategy, replicas, self.deployment.replicas) {
            (Strategy::Recreate { .. }, ..) => Reason::ToCount,
            (_, _, 0) => Reason::AtCount,
            (_, 0, _) => Reason::NoSurge,
            _ => Reason::Grows,
        };
        self.missing = Effect { replicas, part: replicas, reason, annotates: true };
        true
    }

    fn rollout_rolling(&mut self) {
        let count = self.deployment.replicas;
        let active_old = self.active_old();
        if self.new.is_none() && !self.create_new() {
            for i in active_old {
                self.effects[i].reason = Reason::NotReached;
            }
            return;
        }
        let (new_replicas, new_available) = self
            .new
            .map_or((self.missing.replicas, 0), |i| (self.sets[i].replicas, self.sets[i].available_replicas));
        let old_total = sum(self.old().into_iter().map(|i| self.sets[i].replicas));
        let total = old_total.wrapping_add(new_replicas);

        // reconcileNewReplicaSet.
        let (target, reason) = match new_replicas.cmp(&count) {
            Ordering::Equal => (count, Reason::AtCount),
            Ordering::Greater => (count, Reason::ToCount),
            Ordering::Less => (self.new_replicas(total, new_replicas), Reason::Grows),
        };
        if let Some(new) = self.new {
            let written = self.write(
                new,
                target,
                if reason == Reason::Grows && target == new_replicas { Reason::NoSurge } else { reason },
            );
            if !written || target != new_replicas {
                for i in active_old {
                    self.effects[i].reason = if written { Reason::AfterNewSet } else { Reason::NotReached };
                }
                return;
            }
        } else {
            assert_eq!(target, new_replicas, "a set that was just created does not change in the same sync");
        }

        // reconcileOldReplicaSets.
        for &i in &active_old {
            self.effects[i].reason = Reason::HeldBack;
        }
        if sum(active_old.iter().map(|&i| self.sets[i].replicas)) == 0 {
            return;
        }
        let min_available = count.wrapping_sub(self.budgets.unavailable);
        let new_unavailable = new_replicas.wrapping_sub(new_available);
        let max_scaled_down = total.wrapping_sub(min_available).wrapping_sub(new_unavailable);
        if max_scaled_down <= 0 {
            return;
        }
        // cleanupUnhealthyReplicas.
        let mut scaled_down = 0;
        for &i in &active_old {
            let set = &self.sets[i];
            if scaled_down >= max_scaled_down {
                break;
            }
            if set.replicas == set.available_replicas {
                continue;
            }
            let count = (max_scaled_down - scaled_down).min(set.replicas - set.available_replicas);
            if set.replicas - count > set.replicas {
                self.effects[i].reason = Reason::Lags;
                for &other in &active_old {
                    if self.effects[other].reason == Reason::HeldBack {
                        self.effects[other].reason = Reason::NotReached;
                    }
                }
                return;
            }
            self.write(i, set.replicas - count, Reason::Unhealthy);
            scaled_down += count;
        }
        // scaleDownOldReplicaSetsForRollingUpdate.
        let available =
            sum(active_old.iter().map(|&i| self.sets[i].available_replicas)).wrapping_add(new_available);
        if available <= min_available {
            return;
        }
        let to_scale_down = available.wrapping_sub(min_available);
        let mut scaled_down = 0;
        for &i in &active_old {
            if scaled_down >= to_scale_down {
                break;
            }
            let Effect { replicas, part, reason, .. } = self.effects[i];
            if replicas == 0 {
                continue;
            }
            let count = replicas.min(to_scale_down - scaled_down);
            self.effects[i] = if reason == Reason::Unhealthy {
                Effect {
                    replicas: replicas - count,
                    part,
                    reason: Reason::UnhealthyAndAvailable,
                    annotates: true,
                }
            } else {
                Effect {
                    replicas: replicas - count,
                    part: -count,
                    reason: Reason::Available,
                    annotates: true,
                }
            };
            scaled_down += count;
        }
    }

    fn rollout_recreate(&mut self, old_pods_run: bool) {
        let active_old = self.active_old();
        for &i in &active_old {
            self.write(i, 0, Reason::Recreated);
        }
        let status = sum(self.old().into_iter().map(|i| self.sets[i].status_replicas));
        let waits = !active_old.is_empty() || status > 0 || old_pods_run;
        match self.new {
            Some(new) if waits => self.effects[new].reason = Reason::Waits,
            Some(new) => {
                let count = self.deployment.replicas;
                let is_there = self.sets[new].replicas == count;
                self.write(new, count, if is_there { Reason::AtCount } else { Reason::ToCount });
            }
            None if waits => self.missing.reason = Reason::Waits,
            None => _ = self.create_new(),
        }
    }
}

/// Checks that an implementation agrees with the naive one, and that the laws of every sync hold.
pub fn sync_is_upstreams(
    deployments: &impl Deployments,
    deployment: &Deployment,
    sets: &[ReplicaSet],
) -> Outcome {
    let outcome = deployments.next_sync(deployment, sets);
    assert_eq!(outcome, naive(deployment, sets), "{deployment:?} {sets:#?}");
    for (set, effect) in sets.iter().zip(&outcome.sets) {
        assert!(effect.replicas >= 0, "no size below 0: {effect:?}");
        let changed = effect.replicas != set.replicas;
        let stays = [
            Reason::Untouched,
            Reason::UsedUp,
            Reason::NotRolling,
            Reason::AtCount,
            Reason::NoSurge,
            Reason::AfterNewSet,
            Reason::HeldBack,
            Reason::Waits,
            Reason::Rejected,
            Reason::Lags,
            Reason::NotReached,
        ];
        assert!(!changed || !stays.contains(&effect.reason), "{effect:?}");
        // A rollout takes pods only, and never more than there are.
        if outcome.path == Path::Roll && effect.reason.number() >= Reason::AfterNewSet.number() {
            assert!(effect.replicas <= set.replicas && effect.part <= 0, "{effect:?}");
        }
    }
    // Nothing changes but while there is something to do.
    let is_still = outcome.sets.iter().zip(sets).all(|(effect, set)| effect.replicas == set.replicas);
    if outcome.path == Path::Nothing {
        assert!(is_still && !outcome.creates && !outcome.goes_on);
    }
    outcome
}

/// A sync goes on exactly if the next one changes something once the statuses have followed, whatever else is in them. One
/// that does not go on is the last, whatever statuses follow, or it waits, and something follows once all pods are
/// available and those that are deleted are gone. `statuses` are the replicas and the available replicas of sets.
pub fn later_syncs_follow(
    deployments: &impl Deployments,
    deployment: &Deployment,
    sets: &[ReplicaSet],
    statuses: &[[i32; 2]],
) {
    let outcome = deployments.next_sync(deployment, sets);
    let next = after(deployment, sets, &outcome);
    let show = |what: &str| format!("{what}: {deployment:?} {sets:#?} {outcome:#?} {next:#?}");
    if !matches!(outcome.path, Path::Rollback | Path::Nothing) && !fails(&outcome) {
        for status_replicas in [deployment.status_replicas, sum(next.iter().map(|set| set.replicas))] {
            let caught_up = with_statuses(next.clone(), &mut std::iter::empty());
            let again = deployments.next_sync(&Deployment { status_replicas, ..*deployment }, &caught_up);
            assert_eq!(outcome.goes_on, changes_or_fails(&caught_up, &again), "{}", show("the next sync"));
        }
    }
    if outcome.goes_on || outcome.path == Path::Nothing || deployment.is_paused {
        return;
    }
    let is_new = |i: usize| outcome.new_set.map_or(i >= sets.len(), |new| new as usize == i);
    let is_complete = (outcome.new_set.is_some() || outcome.creates)
        && next
            .iter()
            .enumerate()
            .all(|(i, set)| set.replicas == if is_new(i) { deployment.replicas } else { 0 });
    if is_complete {
        assert!(!follows(deployments, deployment, &next, statuses), "{}", show("complete, and more follows"));
        return;
    }
    let records_another = |set: &ReplicaSet| {
        set.replicas > 0
            && set.flags.contains(SetFlags::DESIRED)
            && set.desired_replicas != deployment.replicas
    };
    let is_small = |number: i32| (0..1 << 16).contains(&number);
    let all_small = is_small(deployment.replicas.saturating_add(outcome.budgets.surge))
        && next.iter().all(|set| is_small(set.replicas));
    if all_small && !next.iter().any(records_another) {
        let available: Vec<_> = next.iter().map(|set| [set.replicas; 2]).collect();
        assert!(follows(deployments, deployment, &next, &available), "{}", show("waits for nothing"));
    }
}

/// The sets as a sync leaves them.
fn after(deployment: &Deployment, sets: &[ReplicaSet], outcome: &Outcome) -> Vec<ReplicaSet> {
    let most = deployment.replicas.wrapping_add(outcome.budgets.surge);
    let scaled = |set: &ReplicaSet, effect: &Effect| {
        let mut next = ReplicaSet { replicas: effect.replicas, ..*set };
        if effect.annotates {
            next.set_annotations(deployment.replicas.to_string(), most.to_string());
        }
        next
    };
    let mut next: Vec<_> = sets.iter().zip(&outcome.sets).map(|(set, effect)| scaled(set, effect)).collect();
    if outcome.creates {
        let created = ReplicaSet {
            name_order: u32::MAX,
            creation_time: Time::MAX,
            flags: SetFlags::CURRENT_TEMPLATE,
            ..ReplicaSet::new()
        };
        next.push(scaled(&created, &outcome.new));
    }
    next
}

/// Whether one of the next three syncs changes a size or creates the new set. Statuses are as their sizes are where there is no other.
fn follows(
    deployments: &impl Deployments,
    deployment: &Deployment,
    sets: &[ReplicaSet],
    statuses: &[[i32; 2]],
) -> bool {
    let mut statuses = statuses.iter().copied();
    let mut sets = sets.to_vec();
    (0..3).any(|_| {
        sets = with_statuses(std::mem::take(&mut sets), &mut statuses);
        let strategy = match deployment.strategy {
            Strategy::Recreate { .. } => Strategy::Recreate { old_pods_run: false },
            rolling @ Strategy::RollingUpdate { .. } => rolling,
        };
        let status_replicas = sum(sets.iter().map(|set| set.status_replicas));
        let deployment = Deployment { status_replicas, strategy, is_rolling_back: false, ..*deployment };
        let outcome = deployments.next_sync(&deployment, &sets);
        let changes = changes(&sets, &outcome);
        sets = after(&deployment, &sets, &outcome);
        changes
    })
}

/// However the sets are listed, each has the same fate. Names must differ.
pub fn list_order_is_nothing(
    deployments: &impl Deployments,
    deployment: &Deployment,
    sets: &[ReplicaSet],
    order: &[usize],
) {
    let outcome = deployments.next_sync(deployment, sets);
    let shuffled: Vec<_> = order.iter().map(|&i| sets[i]).collect();
    let other = deployments.next_sync(deployment, &shuffled);
    let expected: Vec<_> = order.iter().map(|&i| outcome.sets[i]).collect();
    assert_eq!(other.sets, expected, "{deployment:?} {sets:?} {order:?}");
    assert_eq!((other.new, other.creates), (outcome.new, outcome.creates));
    let new = outcome.new_set.map(|index| order.iter().position(|&i| i == index as usize).unwrap());
    assert_eq!(other.new_set.map(|index| index as usize), new);
}

/// Sizes that meet, and in some Deployments such that sums do not fit 32 bits.
fn sizes(huge: bool) -> impl Generator<Value = i32> + Clone {
    let edges = vec![i32::MAX, i32::MAX - 1, 1 << 30, (1 << 30) - 1, 2_000_000_000, 715_827_883];
    if huge {
        prop_oneof![1 => 0..4_i32, 2 => select(edges), 1 => 0..i32::MAX].boxed()
    } else {
        prop_oneof![2 => Just(0), 4 => 0..4_i32, 4 => 0..12_i32, 1 => 0..200_i32].boxed()
    }
}

fn budget(huge: bool) -> impl Generator<Value = IntOrPercent> {
    let percents = vec![0, 1, 10, 25, 25, 33, 50, 99, 100, 150, 400, MAX_PERCENT];
    prop_oneof![
        sizes(huge).prop_map(IntOrPercent::Int),
        (0..3_i32).prop_map(IntOrPercent::Int),
        select(percents).prop_map(IntOrPercent::Percent),
    ]
}

fn deployment(huge: bool) -> impl Generator<Value = Deployment> {
    let strategy = prop_oneof![
        4 => (budget(huge), budget(huge)).prop_map(|(max_surge, max_unavailable)| Strategy::RollingUpdate { max_surge, max_unavailable }),
        1 => prop::bool::weighted(0.2).prop_map(|old_pods_run| Strategy::Recreate { old_pods_run }),
    ];
    let rarely = prop::bool::weighted(0.03);
    (sizes(huge), sizes(huge), strategy, prop::bool::weighted(0.15), rarely, prop::bool::weighted(0.03))
        .prop_map(|(replicas, status_replicas, strategy, is_paused, is_being_deleted, is_rolling_back)| {
            Deployment { replicas, status_replicas, strategy, is_paused, is_being_deleted, is_rolling_back }
        })
}

fn times() -> impl Generator<Value = Time> {
    let seconds = |seconds| Time::from_unix(seconds, 0);
    select(vec![Time::UNSET, Time::MIN, seconds(1_700_000_000), seconds(1_700_000_001)])
}

fn number(huge: bool, count: i32) -> impl Generator<Value = i32> {
    prop_oneof![3 => Just(count), 2 => sizes(huge)]
}

prop_compose! {
    fn set(huge: bool, count: i32)(
        creation_time in times(), replicas in number(huge, count), available in number(huge, count), health in any::<u8>(),
        status_replicas in sizes(huge), desired_replicas in number(huge, count), max in sizes(huge),
        flags in select(vec![0, 1, 2, 2, 3, 8, 10, 10, 10, 10, 10, 11, 11, 11, 12, 13]),
    ) -> ReplicaSet {
        ReplicaSet {
            creation_time,
            replicas,
            status_replicas: if health < 128 { 0 } else { status_replicas },
            // Healthy, one short, one too many, or anything.
            available_replicas: match health % 8 {
                0..=3 => replicas,
                4 => replicas.saturating_sub(1).max(0),
                5 => replicas.saturating_add(1),
                _ => available,
            },
            desired_replicas,
            max_replicas: if health % 3 == 0 { max } else { desired_replicas.saturating_add(health.into()) },
            flags: SetFlags::from_bits(flags),
            ..ReplicaSet::new()
        }
    }
}

/// Deployments with 0 to 20 sets that collide: few times, few sizes, many of them 0 or equal, annotations that are missing
/// or of another count, and one in four with sums that do not fit 32 bits.
pub fn cases() -> impl Generator<Value = (Deployment, Vec<ReplicaSet>)> {
    (prop::bool::weighted(0.25), prop_oneof![1 => 0..2_usize, 6 => 2..6_usize, 1 => 6..=20_usize])
        .prop_flat_map(|(huge, len)| {
            deployment(huge).prop_flat_map(move |deployment| {
                let sets = prop::collection::vec(set(huge, deployment.replicas), len);
                let names = Just((0..len).collect::<Vec<_>>()).prop_shuffle();
                (Just(deployment), sets, names).prop_map(|(deployment, mut sets, names)| {
                    for (set, name) in sets.iter_mut().zip(names) {
                        set.name_order = name.try_into().unwrap();
                    }
                    (deployment, sets)
                })
            })
        })
}
