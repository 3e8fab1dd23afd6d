//! Days of autoscalers: each minute, they add and remove pods, and a rule chooses which go.

use super::cluster::{Cluster, Scheduler};
use super::demand::{DAY, Demand};
use super::rule::{Rule, just_in_time_writes};
use super::standing::Standing;

/// What happened after the first day, which does not count, because then every rule still has the same nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Days {
    /// How many nodes had pods, at the end of each minute.
    pub in_use: Vec<u32>,
    /// How many scale-downs there were.
    pub falls: u32,
    /// How many pods went.
    pub victims: u32,
    /// How many costs it takes to steer each scale-down when it happens.
    pub just_in_time: u32,
    /// How many it takes to keep the numbers of nodes on all pods, if the rule is [`Rule::Fewest`].
    pub numbered: u32,
    /// How many it takes to keep costs on all pods that have the same effect, if the rule is [`Rule::Fewest`].
    pub fewest: u32,
}

impl Days {
    /// Returns how many hours nodes were in use, together.
    #[must_use]
    pub fn node_hours(&self) -> f64 {
        f64::from(self.in_use.iter().sum::<u32>()) / 60.0
    }

    /// Returns the number of hours.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "few minutes")]
    pub fn hours(&self) -> f64 {
        self.in_use.len() as f64 / 60.0
    }
}

/// Plays all days of a demand, and shows the cluster at the end of each minute that counts.
pub fn play(
    demand: &Demand,
    scheduler: Scheduler,
    rule: Rule,
    mut each_minute: impl FnMut(&Cluster),
) -> Days {
    let mut cluster = Cluster::new(&demand.scenario, demand.seed, scheduler, &demand.start);
    let (mut numbered, mut fewest) = (Standing::default(), Standing::default());
    let mut outcome = Days::default();
    for (minute, replicas) in (0..).zip(&demand.minutes) {
        if minute == DAY {
            (outcome, numbered.writes, fewest.writes) = (Days::default(), 0, 0);
        }
        cluster.tick();
        let mut has_changed = minute == 0;
        for (set, wanted) in replicas.iter().enumerate() {
            let (wanted, present) = (*wanted as usize, cluster.sets[set].pods.len());
            has_changed |= wanted != present;
            for _ in present..wanted {
                cluster.add(set);
            }
            if wanted < present {
                let victims = rule.victims(&cluster, set, present - wanted);
                outcome.falls += 1;
                outcome.victims += u32::try_from(victims.len()).unwrap_or(u32::MAX);
                outcome.just_in_time +=
                    just_in_time_writes(&cluster.policy(), &cluster.sets[set].pods, &victims);
                cluster.remove(set, &victims);
            }
        }
        if rule == Rule::Fewest && has_changed {
            numbered.numbered(&cluster);
            fewest.fewest(&cluster);
        }
        outcome.in_use.push(cluster.in_use());
        if minute >= DAY {
            each_minute(&cluster);
        }
    }
    Days { numbered: numbered.writes, fewest: fewest.writes, ..outcome }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::scenario::Scenario;
    use std::collections::BTreeSet;

    #[test]
    fn the_bookkeeping_adds_up() {
        let demand = Demand::new(Scenario { nodes: 24, workloads: 12, never: 25 }, 3, 1);
        let (before, after) = (&demand.minutes[DAY as usize - 1..], &demand.minutes[DAY as usize..]);
        let falls = || {
            before
                .iter()
                .zip(after)
                .flat_map(|(a, b)| a.iter().zip(b))
                .filter(|(a, b)| b < a)
                .map(|(a, b)| a - b)
        };
        assert!(falls().count() > 20);
        for (rule, scheduler) in Rule::ALL.into_iter().zip(Scheduler::ALL.into_iter().cycle()) {
            // Minutes in which a pod says that it is on a node.
            let mut minutes = 0_u32;
            let days = play(&demand, scheduler, rule, |cluster| {
                let nodes: BTreeSet<_> =
                    cluster.sets.iter().flat_map(|set| &set.pods).map(|pod| pod.node).collect();
                minutes += u32::try_from(nodes.len()).unwrap();
            });
            assert!(
                (days.node_hours() - f64::from(minutes) / 60.0).abs() < 1e-9
                    && (days.hours() - 24.0).abs() < 1e-9
            );
            assert_eq!((days.falls as usize, days.victims), (falls().count(), falls().sum::<u32>()));
            // A cost for each victim suffices.
            assert!(days.just_in_time > 0 && days.just_in_time <= days.victims);
            assert_eq!(days.fewest > 0, rule == Rule::Fewest);
            assert!(days.fewest <= days.numbered);
        }
    }
}
