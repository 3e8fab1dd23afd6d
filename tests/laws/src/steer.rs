//! What steering must do: keep its promise at the lowest price.

use crate::Implementation;
use podrank::{Error, Flags, Phase, Pod, Policy, Rule, Time, Unsteerable};
use std::collections::BTreeSet;

/// What an implementation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The costs, by index.
    pub costs: Vec<i32>,
    /// How many of them differ.
    pub changed: usize,
    /// The pods that go before one of a lower tier.
    pub unsteerable: Vec<Unsteerable>,
}

/// All laws but the lowest price. `shuffle` is any order of the pods.
pub fn holds(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    prices: &[Option<u8>],
    shuffle: &[usize],
) {
    let answer = order.steer(policy, pods, prices);
    input_order_is_nothing(order, policy, pods, prices, shuffle, &answer);
    match answer {
        Ok(steering) => {
            promise(pods, &steering);
            sums_up(pods, prices, &steering);
            writes_neighbours(pods, &steering);
            tells_who_is_blocked(policy, pods, &steering);
            let steered = with_costs(pods, &steering.costs);
            let again = order.steer(policy, &steered, prices).expect("nothing to do");
            assert_eq!(
                (again.changed, again.costs),
                (0, steering.costs),
                "steering again: {pods:?} {prices:?}"
            );
            // If an unsteerable pod is deleted before several pods, another one may be named, of the same place by the
            // rules before.
            let rules = |unsteerable: Vec<Unsteerable>| -> BTreeSet<_> {
                unsteerable.into_iter().map(|unsteerable| (unsteerable.pod, unsteerable.rule)).collect()
            };
            assert_eq!(
                rules(again.unsteerable),
                rules(steering.unsteerable),
                "steering again: {pods:?} {prices:?}"
            );
        }
        Err(Error::NoRoom { lower, higher }) => has_no_room(pods, prices, lower, higher),
        Err(error) => panic!("{error}: {pods:?}"),
    }
}

/// These pods with other costs.
pub fn with_costs(pods: &[Pod], costs: &[i32]) -> Vec<Pod> {
    pods.iter().zip(costs).map(|(pod, &deletion_cost)| Pod { deletion_cost, ..*pod }).collect()
}

/// Every pod of a lower tier costs less than every pod of a higher one.
fn promise(pods: &[Pod], steering: &Steering) {
    for (a, &cost_a) in pods.iter().zip(&steering.costs) {
        for (b, &cost_b) in pods.iter().zip(&steering.costs) {
            assert!(a.tier >= b.tier || cost_a < cost_b, "{a:?} {b:?}: {steering:?}");
        }
    }
}

fn sums_up(pods: &[Pod], prices: &[Option<u8>], steering: &Steering) {
    let differs = |index: &usize| pods[*index].deletion_cost != steering.costs[*index];
    let changed: Vec<usize> = (0..pods.len()).filter(differs).collect();
    assert_eq!(changed.len(), steering.changed, "{pods:?} {steering:?}");
    assert!(
        changed.iter().all(|index| prices[*index].is_some()),
        "a fixed pod was written: {pods:?} {steering:?}"
    );
}

/// The tiers that have pods, in order: a tier's place among them is its number.
fn tiers(pods: &[Pod]) -> Vec<u16> {
    pods.iter().map(|pod| pod.tier).collect::<BTreeSet<_>>().into_iter().collect()
}

fn number(pods: &[Pod], tier: u16) -> i64 {
    tiers(pods).iter().position(|other| *other == tier).unwrap().try_into().unwrap()
}

/// A written pod gets the lowest kept cost of its tier; else it stands as far above the highest kept cost below as
/// its tier does, else as far below the lowest kept above; else at its tier's number.
fn writes_neighbours(pods: &[Pod], steering: &Steering) {
    let kept = || pods.iter().zip(&steering.costs).filter(|(pod, cost)| pod.deletion_cost == **cost);
    let cost = |pod: &Pod| i64::from(pod.deletion_cost);
    for (pod, &written) in pods.iter().zip(&steering.costs).filter(|(pod, cost)| pod.deletion_cost != **cost)
    {
        let at = |from: u16| number(pods, pod.tier) - number(pods, from);
        let own = kept().filter(|(other, _)| other.tier == pod.tier).map(|(other, _)| cost(other)).min();
        let below = kept().filter(|(other, _)| other.tier < pod.tier);
        let below =
            below.map(|(other, _)| (cost(other), other.tier)).max().map(|(cost, tier)| cost + at(tier));
        let above = kept().filter(|(other, _)| other.tier > pod.tier);
        let above =
            above.map(|(other, _)| (cost(other), other.tier)).min().map(|(cost, tier)| cost + at(tier));
        let expected = own.or(below).or(above).unwrap_or_else(|| number(pods, pod.tier));
        assert_eq!(i64::from(written), expected, "{pod:?} of {pods:?}: {steering:?}");
    }
}

/// What the rules say that are asked before the tier.
fn class(pod: &Pod) -> (bool, u8, bool) {
    (pod.flags.contains(Flags::ASSIGNED), pod.phase.ordinal(), pod.flags.contains(Flags::READY))
}

fn tells_who_is_blocked(policy: &Policy, pods: &[Pod], steering: &Steering) {
    let lower = |pod: &Pod| pods.iter().filter(|other| other.tier < pod.tier).map(class).max();
    let expected = pods.iter().filter(|pod| lower(pod).is_some_and(|last| class(pod) < last)).count();
    let unsteerable: BTreeSet<u32> = steering.unsteerable.iter().map(|unsteerable| unsteerable.pod).collect();
    assert_eq!(
        (unsteerable.len(), steering.unsteerable.len()),
        (expected, expected),
        "{pods:?} {steering:?}"
    );
    for Unsteerable { pod, before, rule } in &steering.unsteerable {
        let pod = &pods[*pod as usize];
        let place = |index: &usize| (pods[*index].tier, pods[*index].deletion_cost, pods[*index].uid, *index);
        let goes_last =
            |index: &usize| pods[*index].tier < pod.tier && Some(class(&pods[*index])) == lower(pod);
        let first = (0..pods.len()).filter(goes_last).min_by_key(place);
        assert_eq!(Some(*before as usize), first, "{pod:?}: {steering:?} {pods:?}");
        let before = &pods[*before as usize];
        assert!(matches!(rule, Rule::Unassigned | Rule::Phase | Rule::NotReady), "{rule}");
        let (ordering, decided_by) = policy.decide(pod, before);
        assert!(ordering.is_lt() && decided_by == Some(*rule), "{pod:?} {before:?}: {rule}");
    }
}

/// The two pods of an error have no room: at least one is fixed, and there are fewer costs between that and the
/// other, or the end of the range, than tiers.
fn has_no_room(pods: &[Pod], prices: &[Option<u8>], lower: u32, higher: u32) {
    let (lower, higher) = (lower as usize, higher as usize);
    assert!(prices[lower].is_none() || prices[higher].is_none(), "{lower} {higher}: {pods:?} {prices:?}");
    let at = |index: usize, end: i32| {
        i64::from(if prices[index].is_none() { pods[index].deletion_cost } else { end })
    };
    let between = at(higher, i32::MAX) - at(lower, i32::MIN);
    let needed = number(pods, pods[higher].tier) - number(pods, pods[lower].tier);
    assert!(needed > 0 && between < needed, "{lower} {higher}: {pods:?} {prices:?}");
}

fn input_order_is_nothing(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    prices: &[Option<u8>],
    shuffle: &[usize],
    answer: &Result<Steering, Error>,
) {
    let shuffled: Vec<Pod> = shuffle.iter().map(|index| pods[*index]).collect();
    let shuffled_prices: Vec<_> = shuffle.iter().map(|index| prices[*index]).collect();
    let other = order.steer(policy, &shuffled, &shuffled_prices);
    match (answer, other) {
        (Ok(answer), Ok(other)) => {
            let costs: Vec<i32> = shuffle.iter().map(|index| answer.costs[*index]).collect();
            assert_eq!(
                (costs, answer.changed),
                (other.costs, other.changed),
                "{pods:?} {prices:?} {shuffle:?}"
            );
            let uids = |pods: &[Pod], unsteerable: &[Unsteerable]| -> Vec<_> {
                let uid = |index: u32| pods[index as usize].uid;
                unsteerable
                    .iter()
                    .map(|unsteerable| (uid(unsteerable.pod), uid(unsteerable.before), unsteerable.rule))
                    .collect()
            };
            assert_eq!(
                uids(pods, &answer.unsteerable),
                uids(&shuffled, &other.unsteerable),
                "{pods:?} {shuffle:?}"
            );
        }
        (
            Err(Error::NoRoom { lower, higher }),
            Err(Error::NoRoom { lower: other_lower, higher: other_higher }),
        ) => {
            let uids = |pods: &[Pod], a: u32, b: u32| [pods[a as usize].uid, pods[b as usize].uid];
            assert_eq!(uids(pods, *lower, *higher), uids(&shuffled, other_lower, other_higher), "{pods:?}");
        }
        (answer, other) => panic!("{answer:?} and {other:?}: {pods:?} {prices:?} {shuffle:?}"),
    }
}

/// The lowest sum of prices, by trying all assignments of the costs from `lowest` to `highest`, beyond which there
/// must be nothing to gain; `None` if there is none.
pub fn cheapest(pods: &[Pod], prices: &[Option<u8>], lowest: i32, highest: i32) -> Option<usize> {
    let mut order: Vec<usize> = (0..pods.len()).collect();
    order.sort_by_key(|index| pods[*index].tier);
    let mut search = Search { pods, prices, order, lowest, highest, least: None };
    search.assign(0, i64::from(lowest) - 1, i64::from(lowest) - 1, 0);
    search.least
}

struct Search<'a> {
    pods: &'a [Pod],
    prices: &'a [Option<u8>],
    order: Vec<usize>,
    lowest: i32,
    highest: i32,
    least: Option<usize>,
}

impl Search<'_> {
    /// Tries all costs of the pods from this place of the order on. `below` is the highest cost of the tiers below,
    /// `highest` of all so far.
    fn assign(&mut self, place: usize, below: i64, highest: i64, changed: usize) {
        if self.least.is_some_and(|least| changed >= least) {
            return;
        }
        let Some(&index) = self.order.get(place) else {
            self.least = Some(changed);
            return;
        };
        let pod = &self.pods[index];
        let is_of_next_tier =
            place.checked_sub(1).is_some_and(|last| self.pods[self.order[last]].tier != pod.tier);
        let below = if is_of_next_tier { highest } else { below };
        for cost in self.lowest..=self.highest {
            let is_kept = cost == pod.deletion_cost;
            if i64::from(cost) > below && (is_kept || self.prices[index].is_some()) {
                self.assign(
                    place + 1,
                    below,
                    highest.max(cost.into()),
                    changed + if is_kept { 0 } else { price(self.prices[index]) },
                );
            }
        }
    }
}

/// What changing this pod's cost adds to the sum.
fn price(price: Option<u8>) -> usize {
    usize::from(price.unwrap_or(1)).max(1)
}

/// The prices of the changes sum to what the search finds, and there are none where it finds none.
pub fn costs_the_least(
    order: &impl Implementation,
    policy: &Policy,
    pods: &[Pod],
    prices: &[Option<u8>],
    lowest: i32,
    highest: i32,
) {
    let sum = |steering: Steering| {
        let differs = |index: &usize| pods[*index].deletion_cost != steering.costs[*index];
        (0..pods.len()).filter(differs).map(|index| price(prices[index])).sum()
    };
    let sum = order.steer(policy, pods, prices).ok().map(sum);
    assert_eq!(sum, cheapest(pods, prices, lowest, highest), "{pods:?} {prices:?}");
}

/// With these costs, Kubernetes deletes the lower tiers first. At any time, for every cut between tiers, no pod is
/// possible, and all pods below the cut are certain.
pub fn kubernetes_follows(order: &impl Implementation, pods: &[Pod], prices: &[Option<u8>], nows: &[Time]) {
    // All of one class, or the cost is not what decides.
    let same = Pod { phase: Phase::RUNNING, flags: Flags::ASSIGNED | Flags::READY, ..Pod::new() };
    let pods: Vec<Pod> =
        pods.iter().map(|pod| Pod { phase: same.phase, flags: same.flags, ..*pod }).collect();
    let Ok(steering) = order.steer(&Policy::without_now(), &pods, prices) else { return };
    assert_eq!(steering.unsteerable, []);
    let steered = with_costs(&pods, &steering.costs);
    for &now in nows {
        let (mut indices, mut scores) = (vec![0; pods.len()], vec![0; pods.len()]);
        for cut in tiers(&pods) {
            let lower: BTreeSet<u32> =
                (0..).zip(&pods).filter(|(_, pod)| pod.tier < cut).map(|(index, _)| index).collect();
            let settled = Policy::at(now)
                .predict(&steered, lower.len(), &mut indices, &mut scores)
                .expect("enough memory");
            assert_eq!(settled.possible(), [0_u32; 0], "{now:?}, below tier {cut}: {steered:?}");
            assert_eq!(settled.deleted().iter().copied().collect::<BTreeSet<_>>(), lower, "{now:?} {cut}");
        }
    }
}
