//! Ranks that may change before a set's controller reads them: one sync of a Deployment may change several sets, and nobody
//! knows which set's pods go first. Pure functions on ranks.

use crate::answer::CountRange;
use podrank::Pod;
use std::collections::HashMap;

/// What the other sets of a Deployment do while one set deletes pods.
#[derive(Debug, Default)]
pub(crate) struct RankRange<'a> {
    /// The most pods that may be deleted on each node, by name. `None` is for pods without a node.
    leaving: HashMap<Option<&'a str>, u32>,
    /// The most pods that may come, nobody knows where.
    coming: u32,
}

/// What ranges of ranks decide about pods that no rule before the rank separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RankEffect {
    /// It is deleted whatever the ranks are.
    Goes,
    /// Depends on them.
    Depends,
    /// It is kept whatever the ranks are.
    Stays,
}

impl<'a> RankRange<'a> {
    /// So many pods may come that ranks decide nothing.
    pub(crate) fn unknown() -> Self {
        Self { coming: u32::MAX, ..Self::default() }
    }

    /// Another set deletes `delete` pods, or fewer if it has fewer. `nodes` are the nodes of those that it may delete.
    pub(crate) fn lose(&mut self, delete: u32, nodes: impl Iterator<Item = Option<&'a str>>) {
        let mut pods = HashMap::<_, u32>::new();
        for node in nodes {
            *pods.entry(node).or_default() += 1;
        }
        for (node, count) in pods {
            *self.leaving.entry(node).or_default() += count.min(delete);
        }
    }

    /// Another set creates this many pods.
    pub(crate) fn gain(&mut self, count: u32) {
        self.coming = self.coming.saturating_add(count);
    }

    /// Returns what the rank of a pod on this node may become.
    pub(crate) fn range(&self, node: Option<&str>, pod: &Pod) -> CountRange {
        let leaving = self.leaving.get(&node).copied().unwrap_or(0);
        CountRange { min: pod.rank.saturating_sub(leaving), max: pod.rank.saturating_add(self.coming) }
    }
}

/// Returns what happens to each of these pods if `quota` of them go, those with higher ranks first and those with equal ranks
/// in an unknown order.
pub(crate) fn effects(ranges: &[CountRange], quota: usize) -> Vec<RankEffect> {
    let sorted = |end: fn(&CountRange) -> u32| {
        let mut ends: Vec<_> = ranges.iter().map(end).collect();
        ends.sort_unstable();
        ends
    };
    let (least, most) = (sorted(|range| range.min), sorted(|range| range.max));
    let at_least = |ends: &[u32], rank: u32| ends.len() - ends.partition_point(|end| *end < rank);
    let effect = |range: &CountRange| {
        // The pods that may go before it, itself included, and the pods that certainly do.
        if at_least(&most, range.min) <= quota {
            RankEffect::Goes
        } else if at_least(&least, range.max.saturating_add(1)) >= quota {
            RankEffect::Stays
        } else {
            RankEffect::Depends
        }
    };
    ranges.iter().map(effect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`effects`] claims, by trying all ranks within the ranges and all orders of equal ones.
    fn by_trying(ranges: &[CountRange], quota: usize) -> Vec<RankEffect> {
        let mut goes = vec![false; ranges.len()];
        let mut stays = vec![false; ranges.len()];
        let mut ranks: Vec<_> = ranges.iter().map(|range| range.min).collect();
        loop {
            for (index, rank) in ranks.iter().enumerate() {
                let above = ranks.iter().filter(|other| *other > rank).count();
                let equal = ranks.iter().filter(|other| *other == rank).count();
                goes[index] |= above < quota;
                stays[index] |= above + equal > quota;
            }
            let Some(next) = (0..ranks.len()).find(|&index| ranks[index] < ranges[index].max) else { break };
            ranks[next] += 1;
            for index in 0..next {
                ranks[index] = ranges[index].min;
            }
        }
        let effect = |(goes, stays)| match (goes, stays) {
            (true, false) => RankEffect::Goes,
            (false, true) => RankEffect::Stays,
            _ => RankEffect::Depends,
        };
        goes.into_iter().zip(stays).map(effect).collect()
    }

    #[test]
    fn ranges_decide_what_all_ranks_in_them_do() {
        let mut random = fastrand::Rng::with_seed(17);
        for _ in 0..20_000 {
            let ranges: Vec<_> = (0..random.usize(1..6))
                .map(|_| {
                    let min = random.u32(0..4);
                    CountRange { min, max: min + random.u32(0..3) }
                })
                .collect();
            let quota = random.usize(0..=ranges.len());
            assert_eq!(effects(&ranges, quota), by_trying(&ranges, quota), "{ranges:?}, {quota} go");
        }
    }

    #[test]
    fn pods_of_other_sets_come_and_go() {
        let mut race = RankRange::default();
        race.lose(2, [Some("a"), Some("a"), Some("a"), Some("b"), None].into_iter());
        race.lose(1, [Some("b")].into_iter());
        let mut pod = Pod::new();
        pod.rank = 5;
        let range = |race: &RankRange<'_>, node| {
            let CountRange { min, max } = race.range(node, &pod);
            (min, max)
        };
        assert_eq!(range(&race, Some("a")), (3, 5));
        assert_eq!(range(&race, Some("b")), (3, 5));
        assert_eq!(range(&race, None), (4, 5));
        assert_eq!(range(&race, Some("c")), (5, 5));
        race.gain(3);
        assert_eq!(range(&race, Some("c")), (5, 8));
        pod.rank = 1;
        assert_eq!(race.range(Some("a"), &pod), CountRange { min: 0, max: 4 });
    }
}
