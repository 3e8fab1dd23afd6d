//! The decision: the set's pods in deletion order, and the verdict about each. Reads pods and ranks, but not the input.

use crate::answer::{PodAnswer, Probability, Verdict};
use crate::decide::{RankEffect, RankRange, effects};
use crate::question::{Options, Order};
use crate::reason::{Cause, Chance, Comparison, RankedPod, Reason};
use podrank::{Flags, Pod, Policy, Rule, Uid};
use std::collections::HashMap;

/// The most pods that kube-controller-manager deletes in one sync: upstream's `BurstReplicas`.
pub const MOST_IN_ONE_SYNC: usize = 500;

/// The most pods of a set of which [`PodAnswer::odds`] are worked out, which takes a few seconds.
pub(crate) const MOST_WITH_ODDS: usize = 5_000;

/// Why the core cannot fail: it does only if a buffer has fewer elements than there are pods, or if 32 bits cannot count them.
pub(crate) const FITS: &str = "every buffer has an element for each pod";

/// The set's pods in deletion order. The certain victims come first, then the possible ones, then the survivors.
pub(crate) struct Ranking<'a> {
    order: Order,
    policy: Policy,
    pub(crate) pods: Vec<RankedPod<'a>>,
    certain: usize,
    possible: usize,
    /// How many pods go.
    pub(crate) delete: usize,
    /// Whether pods of other sets may go first, which changes ranks.
    pub(crate) is_race: bool,
}

impl<'a> Ranking<'a> {
    /// Puts the pods in line and decides, if the first `delete` of them go. In a race, ranks may change before that.
    pub(crate) fn up(
        order: Order,
        policy: Policy,
        own: &[RankedPod<'a>],
        delete: usize,
        race: Option<&RankRange<'_>>,
    ) -> Self {
        let records: Vec<_> = own.iter().map(|pod| pod.record).collect();
        let mut is_race = false;
        let (indices, certain, possible) = match order {
            Order::Total => {
                let mut indices = vec![0; own.len()];
                policy.sort(&records, &mut indices).expect(FITS);
                (indices, delete, 0)
            }
            Order::Kubernetes => {
                let raced = race.and_then(|race| raced(policy, own, &records, delete, race));
                is_race = raced.is_some();
                raced.unwrap_or_else(|| settled(policy, &records, delete))
            }
        };
        let pods = indices.into_iter().map(|index| own[index as usize]).collect();
        Self { order, policy, pods, certain, possible, delete, is_race }
    }

    /// The certain victims, the possible ones and the survivors.
    pub(crate) fn parts(&self) -> [&[RankedPod<'a>]; 3] {
        let (certain, others) = self.pods.split_at(self.certain);
        let (possible, survivors) = others.split_at(self.possible);
        [certain, possible, survivors]
    }

    /// Whether no pod is possible.
    pub(crate) fn is_certain(&self) -> bool {
        self.possible == 0
    }

    /// The probability of each possible pod, by UID, if the options ask for it. An error is the reason why there are none.
    /// In a race there are none either, because nobody knows how likely each of the deciding ranks is, but the reasons of
    /// the pods say that.
    pub(crate) fn probabilities(&self, options: &Options) -> Result<HashMap<Uid, Probability>, String> {
        if !options.probabilities || self.is_certain() || self.is_race {
            return Ok(HashMap::new());
        }
        if self.delete > MOST_IN_ONE_SYNC {
            return Err(format!(
                "above {MOST_IN_ONE_SYNC} deletions, it depends on what happens between the syncs"
            ));
        }
        if self.pods.len() > MOST_WITH_ODDS {
            return Err(format!("above {MOST_WITH_ODDS} pods, it takes too long to compute"));
        }
        let pods: Vec<_> = self.pods.iter().map(|pod| pod.record).collect();
        let (mut order, mut probabilities) =
            (vec![0; pods.len()], vec![podrank::Probability::default(); pods.len()]);
        let mut scratch = vec![[0; 4]; pods.len()];
        let found =
            self.policy.probabilities(&pods, self.delete, 0, &mut order, &mut probabilities, &mut scratch);
        let found = found.expect(FITS);
        let of = |index: &u32| (pods[*index as usize].uid, Probability::of(probabilities[*index as usize]));
        Ok(found.possible().iter().map(of).collect())
    }

    /// The verdict about each pod, and why. It compares a victim with the pod in the middle of the rest, so that the
    /// rule is the one that separates it from most of them. A rule that only breaks ties is named where nothing else
    /// decides. It compares a survivor with the last pod that is deleted.
    pub(crate) fn answers(&self, probabilities: &HashMap<Uid, Probability>) -> Vec<PodAnswer<'a>> {
        let others = &self.pods[self.certain..];
        let after_victims = others.get(others.len() / 2);
        let before_survivors = self.pods[..self.certain + self.possible].last();
        let cause = match self.delete {
            _ if self.is_race => Cause::Ranks,
            ..=MOST_IN_ONE_SYNC => Cause::List,
            _ => Cause::Syncs,
        };
        let chance = Chance::Group { deleted: self.delete - self.certain, of: self.possible, cause };
        let separated = |pod: &RankedPod<'a>, other: Option<&RankedPod<'a>>, alone| {
            other.map_or(alone, |other| Reason::Compared(self.separate(*pod, *other)))
        };
        let verdicts = [Verdict::Deleted, Verdict::Possible, Verdict::Kept].into_iter().zip(self.parts());
        let all = verdicts.flat_map(|(verdict, pods)| pods.iter().map(move |pod| (pod, verdict)));
        all.map(|(ranked, verdict)| {
            let reason = match verdict {
                Verdict::Deleted => separated(ranked, after_victims, Reason::AllDeleted),
                Verdict::Kept => separated(ranked, before_survivors, Reason::NoneDeleted),
                Verdict::Possible | Verdict::Waiting => Reason::Open(chance),
            };
            let probability = probabilities.get(&ranked.pod.uid()).copied();
            PodAnswer {
                rank: ranked.record.rank,
                probability: probability.filter(|_| verdict == Verdict::Possible),
                is_own_cost: ranked.has_own_cost(&self.policy),
                ..PodAnswer::new(ranked.pod, verdict, reason, self.policy.now)
            }
        })
        .collect()
    }

    /// What separates two pods of different verdicts.
    fn separate(&self, own: RankedPod<'a>, other: RankedPod<'a>) -> Comparison<'a> {
        let Self { policy, order, .. } = *self;
        let [first, second] = [own, other].map(|pod| lasting(&pod.record));
        if self.is_race && policy.kubernetes_compare(&first, &second).1.is_none() {
            return Comparison { policy, rule: Rule::Rank, own, other: None };
        }
        Comparison::new(policy, order, own, other).expect("a rule separates pods of different verdicts")
    }
}

/// Returns what Kubernetes' comparison determines: the pods in deletion order, how many are certain, and how many are
/// possible.
///
/// Deletions that take several syncs are less certain: before each, the controller counts ranks again, and ages have
/// grown. Certain are then the victims of the first sync, and what the rules before the rank decide of the whole.
fn settled(policy: Policy, pods: &[Pod], delete: usize) -> Split {
    let (indices, certain, contested) = settle(policy, pods, delete.min(MOST_IN_ONE_SYNC));
    if delete <= MOST_IN_ONE_SYNC {
        return (indices, certain, contested);
    }
    let lasting: Vec<_> = pods.iter().map(lasting).collect();
    // The groups of pods that these rules do not separate are in one line with those of all rules, only larger.
    let (_, whole_groups, cut_group) = settle(policy, &lasting, delete);
    let victims = certain.max(whole_groups);
    (indices, victims, whole_groups + cut_group - victims)
}

/// The indices of the pods in deletion order, how many of them are certain, and how many after them are possible.
type Split = (Vec<u32>, usize, usize);

fn settle(policy: Policy, pods: &[Pod], delete: usize) -> Split {
    let mut indices = vec![0; pods.len()];
    let mut scores = vec![0; pods.len()];
    let settled = policy.predict(pods, delete, &mut indices, &mut scores).expect(FITS);
    let (certain, contested) = (settled.deleted().len(), settled.possible().len());
    (indices, certain, contested)
}

/// The certain pods while other sets change as well. The rules before the rank decide as usual. In the one group that
/// they leave undecided, only those pods are certain that are certain with every possible rank. `None` if the ranks of
/// that group cannot change.
fn raced(
    policy: Policy,
    own: &[RankedPod<'_>],
    pods: &[Pod],
    delete: usize,
    race: &RankRange<'_>,
) -> Option<Split> {
    let lasting: Vec<_> = pods.iter().map(lasting).collect();
    let (_, whole_groups, cut_group) = settle(policy, &lasting, delete);
    let (mut indices, ..) = settle(policy, pods, delete);
    let group = &mut indices[whole_groups..whole_groups + cut_group];
    let node = |index: u32| own[index as usize].pod.node();
    let ranges: Vec<_> = group.iter().map(|&index| race.range(node(index), &pods[index as usize])).collect();
    let share_a_node = group.iter().all(|&index| node(index) == node(group[0]));
    if share_a_node || ranges.iter().all(|range| range.min == range.max) {
        return None;
    }
    let effects = if delete > MOST_IN_ONE_SYNC {
        vec![RankEffect::Depends; cut_group]
    } else {
        effects(&ranges, delete - whole_groups)
    };
    // Stable, so pods of one effect keep their order.
    let mut by_effect: Vec<_> = effects.into_iter().zip(group.iter().copied()).collect();
    by_effect.sort_by_key(|(effect, _)| *effect);
    for (place, (_, index)) in group.iter_mut().zip(&by_effect) {
        *place = *index;
    }
    let of = |wanted| by_effect.iter().filter(|(effect, _)| *effect == wanted).count();
    let (victims, contested) = (whole_groups + of(RankEffect::Goes), of(RankEffect::Depends));
    Some((indices, victims, contested))
}

/// The groups of pods among which only the list order decides. The total order leaves nothing open.
pub(crate) fn groups(policy: Policy, order: Order, records: &[Pod]) -> Vec<Vec<usize>> {
    let mut indices = vec![0; records.len()];
    if order == Order::Total {
        policy.sort(records, &mut indices).expect(FITS);
        return indices.into_iter().map(|index| vec![index as usize]).collect();
    }
    let mut scores = vec![0; records.len()];
    let groups = policy.groups(records, &mut indices, &mut scores).expect(FITS);
    groups.map(|group| group.iter().map(|&index| index as usize).collect()).collect()
}

/// Returns a record with only the fields that a sync does not change, which are those of the rules before the rank.
/// Pods tie in the other fields.
pub(crate) fn lasting(pod: &Pod) -> Pod {
    let flags = Flags::from_bits(pod.flags.bits() & (Flags::ASSIGNED | Flags::READY).bits());
    Pod { uid: pod.uid, phase: pod.phase, deletion_cost: pod.deletion_cost, flags, ..Pod::new() }
}
