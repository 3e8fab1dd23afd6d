//! What Deployments do to their sets.

use super::Budget;
use podrank_laws::generate::seeds;
use podrank_laws::vectors::read;
use podrank_preview::sync::deployment::{
    Annotation, Budgets, Deployment, Path, ReplicaSet, SizeChange, SizeReason, Strategy, Sync, next_sync,
};
use podrank_preview::sync::{IntOrPercent, MAX_PERCENT};
use serde::Deserialize;
use std::collections::BTreeSet;

fn rolling(replicas: i32, max_surge: i32, max_unavailable: i32) -> Deployment {
    Deployment {
        replicas,
        status_replicas: 0,
        strategy: Strategy::RollingUpdate {
            max_surge: IntOrPercent::Int(max_surge),
            max_unavailable: IntOrPercent::Int(max_unavailable),
        },
        is_paused: false,
        is_being_deleted: false,
        is_rolling_back: false,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    percent: Vec<PercentCase>,
    annotation: Vec<AnnotationCase>,
    budgets: Vec<BudgetsCase>,
    steps: Vec<SyncCase>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PercentCase {
    text: String,
    percent: Option<u32>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnnotationCase {
    text: String,
    valid: Option<i32>,
    lenient: Option<i32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BudgetsCase {
    #[serde(rename = "source")]
    _source: Option<String>,
    replicas: i32,
    max_surge: Budget,
    max_unavailable: Budget,
    surge: i32,
    unavailable: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "as the file has them")]
struct Subject {
    replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    strategy: Option<String>,
    max_surge: Option<Budget>,
    max_unavailable: Option<Budget>,
    #[serde(default)]
    old_pods_run: bool,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    being_deleted: bool,
    #[serde(default)]
    rolling_back: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    name: String,
    creation_time: Option<String>,
    replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    #[serde(default)]
    available_replicas: i32,
    #[serde(default)]
    desired: String,
    #[serde(default)]
    max: String,
    #[serde(default)]
    current: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Change {
    replicas: i32,
    part: i32,
    reason: String,
    #[serde(default)]
    annotates: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SyncCase {
    name: String,
    #[serde(rename = "source")]
    _source: Option<String>,
    deployment: Subject,
    sets: Vec<Set>,
    path: String,
    #[serde(default)]
    surge: i32,
    #[serde(default)]
    unavailable: i32,
    new_set: Option<String>,
    missing: Option<String>,
    creates: Option<i32>,
    #[serde(default)]
    goes_on: bool,
    changes: Vec<Change>,
}

#[test]
fn vectors() {
    let file: File = serde_json::from_str(&read("deployment.json")).expect("deployment.json");
    for case in &file.percent {
        let found = IntOrPercent::parse(&case.text);
        let error = found.as_ref().err().map(|error| match error.as_str() {
            "it does not end with '%': write a number of pods as an integer, without quotes" => {
                "no percent sign"
            }
            "it has no digits before '%'" => "no digits",
            "it is above 4194304%" => "out of range",
            other if other.starts_with("the byte at offset ") => "not a digit",
            other => panic!("{other}"),
        });
        let percent = case.percent.map(IntOrPercent::Percent);
        assert_eq!((found.as_ref().ok(), error), (percent.as_ref(), case.error.as_deref()), "{case:?}");
    }
    for case in &file.annotation {
        let lenient = case.lenient.map(Annotation::Lenient);
        let expected = case.valid.map(Annotation::Valid).or(lenient).unwrap_or_default();
        assert_eq!(Annotation::parse(&case.text), expected, "{case:?}");
    }
    for case in &file.budgets {
        let strategy = Strategy::RollingUpdate {
            max_surge: case.max_surge.read(),
            max_unavailable: case.max_unavailable.read(),
        };
        let expected = Budgets { surge: case.surge, unavailable: case.unavailable };
        assert_eq!(Budgets::new(&strategy, case.replicas), expected, "{case:?}");
    }
    file.steps.iter().for_each(SyncCase::check);
    let cases = file.percent.len() + file.annotation.len() + file.budgets.len() + file.steps.len();
    assert!(cases > 120, "{cases} cases");
}

impl Subject {
    fn deployment(&self) -> Deployment {
        let budget = |budget: &Option<Budget>| budget.as_ref().expect("a budget").read();
        let strategy = match self.strategy.as_deref() {
            Some("Recreate") => Strategy::Recreate { old_pods_run: self.old_pods_run },
            None => Strategy::RollingUpdate {
                max_surge: budget(&self.max_surge),
                max_unavailable: budget(&self.max_unavailable),
            },
            other => panic!("{other:?}"),
        };
        Deployment {
            replicas: self.replicas,
            status_replicas: self.status_replicas,
            strategy,
            is_paused: self.paused,
            is_being_deleted: self.being_deleted,
            is_rolling_back: self.rolling_back,
        }
    }
}

impl SyncCase {
    fn check(&self) {
        let name = &self.name;
        let deployment = self.deployment.deployment();
        let mut listed: Vec<_> = self.sets.iter().zip(&self.changes).collect();
        let nanos =
            |set: &Set| set.creation_time.as_ref().map(|nanos| nanos.parse::<i64>().expect("nanoseconds"));
        listed.sort_by_key(|(set, _)| (nanos(set), &set.name));
        let record = |(set, _): &(&Set, &Change)| ReplicaSet {
            replicas: set.replicas,
            status_replicas: set.status_replicas,
            available_replicas: set.available_replicas,
            desired: Annotation::parse(&set.desired),
            max: Annotation::parse(&set.max),
            has_template: set.current,
        };
        let sets: Vec<_> = listed.iter().map(record).collect();
        let sync = next_sync(&deployment, &sets);
        for ((set, expected), change) in listed.iter().zip(&sync.changes) {
            let SizeChange { replicas, part, reason, annotates } = *change;
            let found = Change { replicas, part, reason: reason.name().to_owned(), annotates };
            assert_eq!(&found, *expected, "{name}: {}", set.name);
        }
        assert_eq!(sync.path.name(), self.path, "{name}");
        let budgets = Budgets { surge: self.surge, unavailable: self.unavailable };
        assert_eq!(sync.budgets, budgets, "{name}");
        let new_set = sync.new_set.map(|index| listed[index].0.name.as_str());
        assert_eq!(new_set, self.new_set.as_deref(), "{name}");
        let missing = sync.new_set.is_none().then(|| sync.new_change.reason.name());
        assert_eq!(missing, self.missing.as_deref(), "{name}");
        assert_eq!(sync.creates.then_some(sync.new_change.replicas), self.creates, "{name}");
        assert_eq!(sync.goes_on, self.goes_on, "{name}");
        goes_on_if_the_next_sync_changes_sizes(&deployment, &sets, name);
    }
}

/// The sets once their controllers and statuses have followed a sync: pods that are created are not available, and of a set that shrinks
/// those that are not available go first.
fn followed(deployment: &Deployment, sets: &[ReplicaSet], sync: &Sync) -> Vec<ReplicaSet> {
    let mut sets = sets.to_vec();
    for (set, change) in sets.iter_mut().zip(&sync.changes) {
        set.apply(change, deployment, sync);
    }
    if sync.creates {
        let mut created = ReplicaSet { has_template: true, ..ReplicaSet::default() };
        created.apply(&sync.new_change, deployment, sync);
        sets.push(created);
    }
    for set in &mut sets {
        set.status_replicas = set.replicas;
        set.available_replicas = set.available_replicas.min(set.replicas);
    }
    sets
}

fn is_rejected(sync: &Sync) -> bool {
    sync.changes.iter().chain([&sync.new_change]).any(|change| change.reason == SizeReason::Rejected)
}

fn goes_on_if_the_next_sync_changes_sizes(deployment: &Deployment, sets: &[ReplicaSet], name: &str) {
    let sync = next_sync(deployment, sets);
    if matches!(sync.path, Path::Rollback | Path::Nothing) || is_rejected(&sync) {
        return;
    }
    let next = followed(deployment, sets, &sync);
    let all = next.iter().fold(0, |sum: i32, set| sum.wrapping_add(set.replicas));
    for status_replicas in [deployment.status_replicas, all] {
        let again = next_sync(&Deployment { status_replicas, ..*deployment }, &next);
        let changes = again.changes.iter().zip(&next).any(|(change, set)| change.replicas != set.replicas);
        let expected = again.creates || changes || is_rejected(&again);
        assert_eq!(sync.goes_on, expected, "{name}: {deployment:?} {sets:#?} {sync:#?} {again:#?}");
    }
}

/// A size: mostly a small one, sometimes one whose sums overflow.
fn size(random: &mut fastrand::Rng, is_huge: bool) -> i32 {
    match random.u8(0..8) {
        0 if is_huge => i32::MAX - random.i32(0..20),
        1 if is_huge => random.i32(0..=i32::MAX),
        0..=2 => 0,
        _ => random.i32(0..12),
    }
}

fn budget(random: &mut fastrand::Rng, is_huge: bool) -> IntOrPercent {
    match random.u8(0..3) {
        0 => IntOrPercent::Int(0),
        1 => IntOrPercent::Int(size(random, is_huge)),
        _ => IntOrPercent::Percent(random.u32(0..130)),
    }
}

fn draw(random: &mut fastrand::Rng) -> (Deployment, Vec<ReplicaSet>) {
    let is_huge = random.u8(0..6) == 0;
    let strategy = if random.u8(0..5) == 0 {
        Strategy::Recreate { old_pods_run: random.bool() }
    } else {
        Strategy::RollingUpdate {
            max_surge: budget(random, is_huge),
            max_unavailable: budget(random, is_huge),
        }
    };
    let deployment = Deployment {
        replicas: size(random, is_huge),
        status_replicas: size(random, is_huge),
        strategy,
        is_paused: random.u8(0..8) == 0,
        is_being_deleted: random.u8(0..30) == 0,
        is_rolling_back: random.u8(0..30) == 0,
    };
    let count = deployment.replicas;
    let number = |random: &mut fastrand::Rng| match random.u8(0..8) {
        0 => Annotation::Invalid,
        1 => Annotation::Lenient(if random.bool() { count } else { random.i32(-3..12) }),
        2 => Annotation::Valid(size(random, is_huge)),
        _ => Annotation::Valid(count),
    };
    let sets = (0..random.usize(0..5)).map(|_| {
        let replicas = size(random, is_huge);
        let is_odd = random.u8(0..3) == 0;
        ReplicaSet {
            replicas,
            status_replicas: if is_odd { size(random, is_huge) } else { replicas },
            available_replicas: if is_odd { size(random, is_huge) } else { replicas },
            desired: number(random),
            max: number(random),
            has_template: random.u8(0..3) == 0,
        }
    });
    (deployment, sets.collect())
}

/// And the cases have every path, and almost every reason: what they lack, the vectors have.
#[test]
fn a_sync_goes_on_if_the_next_one_changes_sizes() {
    let (mut paths, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    for seed in seeds(30_000) {
        let (deployment, sets) = draw(&mut fastrand::Rng::with_seed(seed));
        goes_on_if_the_next_sync_changes_sizes(&deployment, &sets, &format!("seed {seed}"));
        let sync = next_sync(&deployment, &sets);
        paths.insert(sync.path.name());
        reasons.extend(sync.changes.iter().map(|change| change.reason.name()));
        within_the_budgets(&deployment, &sets, &sync, seed);
    }
    assert_eq!(paths.len(), 5, "{paths:?}");
    assert_eq!(reasons.len(), 23, "{reasons:?}");
}

/// Without lagging statuses, a rollout never takes more available pods than it may, and never makes more than it may.
fn within_the_budgets(deployment: &Deployment, sets: &[ReplicaSet], sync: &Sync, seed: u64) {
    let is_small = |set: &ReplicaSet| set.replicas < 1 << 16 && set.available_replicas <= set.replicas;
    let most = deployment.replicas.wrapping_add(sync.budgets.surge);
    if sync.path != Path::Roll || !(0..1 << 16).contains(&most) || !sets.iter().all(is_small) {
        return;
    }
    let sum = |numbers: &mut dyn Iterator<Item = i32>| numbers.sum::<i32>();
    let before = sum(&mut sets.iter().map(|set| set.replicas));
    let created = if sync.creates { sync.new_change.replicas } else { 0 };
    let after = sum(&mut sync.changes.iter().map(|change| change.replicas)) + created;
    assert!(after <= most.max(before), "seed {seed}: {deployment:?} {sets:#?} {sync:#?}");
    let old = || sets.iter().zip(&sync.changes).enumerate().filter(|(index, _)| sync.new_set != Some(*index));
    let taken = sum(&mut old()
        .map(|(_, (set, change))| set.available_replicas - set.available_replicas.min(change.replicas)));
    let available = sum(&mut sets.iter().map(|set| set.available_replicas));
    let least = deployment.replicas - sync.budgets.unavailable;
    assert!(taken <= (available - least).max(0), "seed {seed}: {deployment:?} {sets:#?} {sync:#?}");
}

/// Where Kubernetes counts in floating point, and here are only integers.
#[test]
fn percentages_are_rounded_as_floats_are() {
    let mut random = fastrand::Rng::with_seed(1);
    for case in 0..20_000 {
        let percent = if case % 2 == 0 { random.u32(0..=MAX_PERCENT) } else { random.u32(0..1000) };
        let replicas = match case % 3 {
            0 => random.i32(0..1000),
            1 => i32::MAX - random.i32(0..1000),
            _ => random.i32(0..=i32::MAX),
        };
        let float = f64::from(percent) * f64::from(replicas) / 100.0;
        #[expect(clippy::cast_possible_truncation, reason = "as Go's int32(int(float64))")]
        let (up, down) = (float.ceil() as i64 as i32, float.floor() as i64 as i32);
        let budget = IntOrPercent::Percent(percent);
        assert_eq!(budget.rounded_down(replicas), down, "{percent}% of {replicas}");
        let strategy = Strategy::RollingUpdate { max_surge: budget, max_unavailable: IntOrPercent::Int(1) };
        assert_eq!(Budgets::new(&strategy, replicas).surge, up, "{percent}% of {replicas}");
    }
}

/// Sums that do not fit 32 bits wrap around, as in Kubernetes, so the new set can get any size. The API server accepts 0.
#[test]
fn a_new_set_that_wraps_around_to_0_is_written() {
    let desired = Annotation::Valid(10);
    let old = ReplicaSet { replicas: i32::MAX, desired, ..ReplicaSet::default() };
    let new = ReplicaSet { replicas: 5, desired, has_template: true, ..ReplicaSet::default() };
    let sync = next_sync(&rolling(10, i32::MAX - 10, 0), &[old, new]);
    assert_eq!((sync.changes[1].replicas, sync.changes[1].reason), (0, SizeReason::Grows));
}

/// Kubernetes stores no negative status, but its division keeps the sign of one.
#[test]
fn shares_of_a_negative_status_are_negative() {
    let sets = [5, 3].map(|replicas| ReplicaSet { replicas, ..ReplicaSet::default() });
    let deployment = Deployment { status_replicas: -1, is_paused: true, ..rolling(20, 1, 0) };
    let sync = next_sync(&deployment, &sets);
    // 5 * 21 / -1 - 5, and what is left of 13 to add.
    assert_eq!(sync.changes[0].part, -110);
    assert_eq!(sync.changes[0].reason, SizeReason::ShareAndLeftover);
}

/// Of sets that are equally large, the newest grows first, and the oldest shrinks first.
#[test]
fn of_equal_sets_the_first_is_by_age() {
    let annotation = Annotation::Valid(6);
    let set = ReplicaSet {
        replicas: 2,
        available_replicas: 2,
        desired: annotation,
        max: annotation,
        ..ReplicaSet::default()
    };
    for (replicas, sizes) in [(5, [1, 2, 2]), (7, [2, 2, 3])] {
        let sync = next_sync(&rolling(replicas, 0, 1), &[set; 3]);
        assert_eq!(sync.changes.iter().map(|change| change.replicas).collect::<Vec<_>>(), sizes);
    }
}

/// A Deployment that wants no pods allows no surge, either: all of them go.
#[test]
fn a_count_of_0_allows_no_surge() {
    let annotation = Annotation::Valid(5);
    let set =
        |replicas| ReplicaSet { replicas, desired: annotation, max: annotation, ..ReplicaSet::default() };
    let sync = next_sync(&rolling(0, 1, 0), &[set(3), set(2)]);
    assert_eq!((sync.path, sync.budgets.surge), (Path::Scale, 1));
    assert_eq!([sync.changes[0].replicas, sync.changes[1].replicas], [0, 0]);
}
