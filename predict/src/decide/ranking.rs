//! The decision: the set's pods in the order in which they go, and what becomes of each. Knows pods and ranks, not the input.

use crate::answer::preview::{Contest, Details, PodPreview, Verdict};
use crate::answer::probability::Odds;
use crate::decide::members::RankedPod;
use crate::decide::rank_range::{Fate, Race, fates};
use crate::question::options::Order;
use crate::reason::comparison::why;
use crate::text::error::Error;
use crate::text::{count, goes};
use podrank::{Flags, Pod, Policy, Rule, Uid};
use std::collections::HashMap;

/// The most pods that kube-controller-manager deletes in one sync: upstream's `BurstReplicas`.
pub const MOST_IN_ONE_SYNC: usize = 500;

/// The most pods of a set of which [`PodPreview::odds`] are worked out, which takes a few seconds.
pub(crate) const MOST_WITH_ODDS: usize = 5_000;

/// The set's pods in line. The victims come first, then the contested ones, then the survivors.
pub(crate) struct Line<'m, 'a> {
    order: Order,
    policy: Policy,
    victims: Vec<&'m RankedPod<'m, 'a>>,
    contested: Vec<&'m RankedPod<'m, 'a>>,
    survivors: Vec<&'m RankedPod<'m, 'a>>,
    /// How many pods go.
    delete: usize,
    /// Whether pods of other sets may go first, which changes ranks.
    is_race: bool,
}

impl<'m, 'a> Line<'m, 'a> {
    /// Puts the pods in line and decides, if the first `delete` of them go. In a race, ranks may change before that.
    pub(crate) fn up(
        order: Order,
        policy: Policy,
        own: &'m [RankedPod<'m, 'a>],
        delete: usize,
        race: Option<&Race<'_>>,
    ) -> Result<Self, Error> {
        let records: Vec<_> = own.iter().map(|(_, pod)| *pod).collect();
        let mut is_race = false;
        let (indices, victims, contested) = match order {
            Order::Total => {
                let mut indices = vec![0; own.len()];
                policy.sort(&records, &mut indices).map_err(|error| Error::new(error.to_string()))?;
                (indices, delete, 0)
            }
            Order::Kubernetes => {
                match race.map(|race| raced(policy, own, &records, delete, race)).transpose()? {
                    Some(Some(raced)) => {
                        is_race = true;
                        raced
                    }
                    _ => settled(policy, &records, delete)?,
                }
            }
        };
        let mut pods = indices.into_iter().map(|index| &own[index as usize]);
        Ok(Self {
            order,
            policy,
            victims: pods.by_ref().take(victims).collect(),
            contested: pods.by_ref().take(contested).collect(),
            survivors: pods.collect(),
            delete,
            is_race,
        })
    }

    pub(crate) fn pods(&self) -> impl Iterator<Item = &'m RankedPod<'m, 'a>> {
        self.victims.iter().chain(&self.contested).chain(&self.survivors).copied()
    }

    /// The victims, the contested pods and the survivors.
    pub(crate) fn parts(&self) -> [&[&'m RankedPod<'m, 'a>]; 3] {
        [&self.victims, &self.contested, &self.survivors]
    }

    /// Whether no pod is contested.
    pub(crate) fn is_certain(&self) -> bool {
        self.contested.is_empty()
    }

    /// Whether pods are contested because ranks may change.
    pub(crate) fn is_race(&self) -> bool {
        self.is_race
    }

    /// How many of the contested pods go.
    pub(crate) fn quota(&self) -> usize {
        self.delete - self.victims.len()
    }

    /// Why it cannot be said how likely the contested pods go, if that is so and their own reason does not say it.
    pub(crate) fn without_odds(&self) -> Option<String> {
        if self.contested.is_empty() || self.is_race {
            None
        } else if self.delete > MOST_IN_ONE_SYNC {
            Some(format!("above {MOST_IN_ONE_SYNC} deletions, they depend on what happens between the syncs"))
        } else if self.pods().count() > MOST_WITH_ODDS {
            Some(format!("above {MOST_WITH_ODDS} pods, they take too long to work out"))
        } else {
            None
        }
    }

    /// How likely each contested pod goes, by UID; empty if that is not known. In a race it is not, because nobody knows how likely
    /// the ranks are that decide.
    pub(crate) fn odds(&self) -> Result<HashMap<Uid, Odds>, Error> {
        if self.contested.is_empty() || self.is_race || self.without_odds().is_some() {
            return Ok(HashMap::new());
        }
        let pods: Vec<_> = self.pods().map(|(_, pod)| *pod).collect();
        let (mut order, mut odds) = (vec![0; pods.len()], vec![podrank::Probability::default(); pods.len()]);
        let mut scratch = vec![[0; 4]; pods.len()];
        let found = self.policy.probabilities(&pods, self.delete, 0, &mut order, &mut odds, &mut scratch);
        let found = found.map_err(|error| Error::new(error.to_string()))?;
        let of = |index: &u32| (pods[*index as usize].uid, Odds::of(odds[*index as usize]));
        Ok(found.possible().iter().map(of).collect())
    }

    /// What becomes of each pod, and why. A victim is compared with the pod in the middle of those that are none, so that the rule is the
    /// one that parts it from most of them, and one that only breaks ties is named where nothing else decides. A survivor is compared
    /// with the last pod that goes.
    pub(crate) fn previews(&self, odds: &HashMap<Uid, Odds>) -> Vec<PodPreview<'a>> {
        let others: Vec<_> = self.contested.iter().chain(&self.survivors).copied().collect();
        let after_victims = others.get(others.len() / 2).copied();
        let before_survivors = self.contested.last().or(self.victims.last()).copied();
        let contest = self.contest();
        let contested = self.why_contested(contest);
        let separated = |pod, other: Option<_>, alone: &str| {
            other.map_or_else(|| (None, alone.to_owned()), |other| self.separate(pod, other))
        };
        let victims = self.victims.iter().map(|pod| (pod, Verdict::Delete));
        let undecided = self.contested.iter().map(|pod| (pod, Verdict::Contested));
        let survivors = self.survivors.iter().map(|pod| (pod, Verdict::Keep));
        let all = victims.chain(undecided).chain(survivors).enumerate();
        all.map(|(index, (ranked, verdict))| {
            let (rule, why) = match verdict {
                Verdict::Delete => separated(ranked, after_victims, "all pods go"),
                Verdict::Contested | Verdict::Blocked | Verdict::Later => (None, contested.clone()),
                Verdict::Keep => separated(ranked, before_survivors, "no pod of its set goes"),
            };
            let (member, pod) = ranked;
            PodPreview {
                name: &member.entry.name,
                uid: pod.uid.to_string(),
                node: member.record.node.as_deref(),
                rank: pod.rank,
                position: index + 1,
                verdict,
                odds: odds.get(&pod.uid).copied().filter(|_| verdict == Verdict::Contested),
                rule,
                why,
                is_replaced: false,
                contest: (verdict == Verdict::Contested).then_some(contest),
                by: None,
                details: Details::of(pod, self.policy.now),
            }
        })
        .collect()
    }

    /// Why the contested pods are.
    fn why_contested(&self, contest: Contest) -> String {
        let quota = self.quota();
        let of = format!("one of {} pods of which {quota} {}", self.contested.len(), goes(quota as u64));
        match contest {
            Contest::Ranks if self.is_race => {
                format!("{of}: ranks change as other ReplicaSets get or lose pods")
            }
            Contest::Ranks => format!("{of}, by list order and ranks counted anew"),
            _ => format!("{of}, by list order"),
        }
    }

    /// What leaves the contested pods open.
    fn contest(&self) -> Contest {
        if self.is_race || self.delete > MOST_IN_ONE_SYNC { Contest::Ranks } else { Contest::Order }
    }

    /// The rule that separates two pods of different verdicts, and why.
    fn separate(
        &self,
        (_, pod): &RankedPod,
        (other, their_pod): &RankedPod,
    ) -> (Option<&'static str>, String) {
        if self.is_race && self.policy.kubernetes_compare(&lasting(pod), &lasting(their_pod)).1.is_none() {
            let why = format!(
                "{} on its node, which decides whichever set's pods go first",
                count(pod.rank, "related pod")
            );
            return (Some(Rule::Rank.name()), why);
        }
        let rule = match self.order {
            Order::Total => self.policy.decide(pod, their_pod).1,
            Order::Kubernetes => self.policy.kubernetes_compare(pod, their_pod).1,
        };
        let rule = rule.expect("a rule separates pods of different verdicts");
        (Some(rule.name()), why(&self.policy, rule, pod, their_pod, &other.entry.name))
    }
}

/// What Kubernetes' comparator determines: the pods in line, how many of them certainly go, and how many are contested.
///
/// Deletions that take several syncs are less certain: before each, the controller counts ranks anew, and ages have
/// grown. Certain are then the victims of the first sync, and what the rules before the rank decide of the whole.
fn settled(policy: Policy, pods: &[Pod], delete: usize) -> Result<Settled, Error> {
    let (indices, certain, contested) = settle(policy, pods, delete.min(MOST_IN_ONE_SYNC))?;
    if delete <= MOST_IN_ONE_SYNC {
        return Ok((indices, certain, contested));
    }
    let lasting: Vec<_> = pods.iter().map(lasting).collect();
    // The groups of pods that these rules do not separate are in one line with those of all rules, only larger.
    let (_, whole_groups, cut_group) = settle(policy, &lasting, delete)?;
    let victims = certain.max(whole_groups);
    Ok((indices, victims, whole_groups + cut_group - victims))
}

/// The pods in line as indices, how many of them certainly go, and how many after them are contested.
type Settled = (Vec<u32>, usize, usize);

fn settle(policy: Policy, pods: &[Pod], delete: usize) -> Result<Settled, Error> {
    let mut indices = vec![0; pods.len()];
    let mut scores = vec![0; pods.len()];
    let settled = policy.predict(pods, delete, &mut indices, &mut scores);
    let settled = settled.map_err(|error| Error::new(error.to_string()))?;
    let (certain, contested) = (settled.deleted().len(), settled.possible().len());
    Ok((indices, certain, contested))
}

/// What is certain while other sets change as well. The rules before the rank decide as ever; of the one group that they leave
/// open, only what all ranks decide that may come about. `None` if the ranks of that group cannot change, so that
/// nothing is different.
fn raced(
    policy: Policy,
    own: &[RankedPod<'_, '_>],
    pods: &[Pod],
    delete: usize,
    race: &Race<'_>,
) -> Result<Option<Settled>, Error> {
    let lasting: Vec<_> = pods.iter().map(lasting).collect();
    let (_, whole_groups, cut_group) = settle(policy, &lasting, delete)?;
    let (mut indices, ..) = settle(policy, pods, delete)?;
    let group = &mut indices[whole_groups..whole_groups + cut_group];
    let node = |index: u32| own[index as usize].0.record.node.as_deref();
    let ranges: Vec<_> = group.iter().map(|&index| race.range(node(index), &pods[index as usize])).collect();
    let share_a_node = group.iter().all(|&index| node(index) == node(group[0]));
    if share_a_node || ranges.iter().all(|range| range.least == range.most) {
        return Ok(None);
    }
    let fates = if delete > MOST_IN_ONE_SYNC {
        vec![Fate::Depends; cut_group]
    } else {
        fates(&ranges, delete - whole_groups)
    };
    // Stable: pods of one fate stay in line.
    let mut by_fate: Vec<_> = fates.into_iter().zip(group.iter().copied()).collect();
    by_fate.sort_by_key(|(fate, _)| *fate);
    for (place, (_, index)) in group.iter_mut().zip(&by_fate) {
        *place = *index;
    }
    let of = |wanted| by_fate.iter().filter(|(fate, _)| *fate == wanted).count();
    let (victims, contested) = (whole_groups + of(Fate::Goes), of(Fate::Depends));
    Ok(Some((indices, victims, contested)))
}

/// What one sync leaves as it is: the fields of the rules before the rank. Without the others, pods tie in them.
pub(crate) fn lasting(pod: &Pod) -> Pod {
    let mut lasting = Pod::new();
    lasting.uid = pod.uid;
    lasting.phase = pod.phase;
    lasting.deletion_cost = pod.deletion_cost;
    for flag in [Flags::ASSIGNED, Flags::READY] {
        lasting.flags = lasting.flags.with(flag, pod.flags.contains(flag));
    }
    lasting
}
