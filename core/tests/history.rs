//! Random histories of a controller that is built from the decisions as their documentation says. Its requests fail, what it
//! observes is late or lost, people delete pods, and its process crashes. When that has ended, it must come to rest
//! with the desired number of pods. Other tests judge the decisions themselves. This one checks that they fit together.

use podrank::controller::{Expectations, Plan, PodKey, SetState, SlowStart, plan};
use podrank::{Pod, Policy, Time, Uid};
use podrank_laws::generate::{NOW, random, seeds};
use std::collections::BTreeMap;

/// The seconds during which something goes wrong.
const FAULTS: u64 = 1200;
/// The second from which on nothing may happen: a timeout after the faults, and a list of the pods.
const REST: u64 = FAULTS + 430;
/// The last second.
const END: u64 = REST + 60;
/// The most pods that one sync creates or deletes.
const BURST: u32 = 5;

/// The life of a pod, which never returns to an earlier stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Active,
    BeingDeleted,
    Gone,
}

/// What a process knows, and a crash loses.
struct Process {
    expectations: Expectations<{ BURST as usize }>,
    pods: BTreeMap<u64, Stage>,
    /// For the test alone: what it has done to pods.
    done: BTreeMap<u64, Stage>,
}

impl Process {
    fn new() -> Self {
        Self { expectations: Expectations::new(), pods: BTreeMap::new(), done: BTreeMap::new() }
    }

    fn observe(&mut self, key: u64, stage: Stage) {
        let known = self.pods.get(&key).copied();
        if known.is_none_or(|known| known < stage) {
            self.pods.insert(key, stage);
            if stage == Stage::Active {
                self.expectations.creations_observed(1);
            } else {
                self.expectations.deletion_observed(&pod_key(key));
            }
        }
    }
}

fn pod_key(key: u64) -> PodKey {
    u128::from(key).to_be_bytes()
}

/// How often what has happened, so that the test can check that enough did.
#[derive(Debug, Default)]
struct Tally {
    failures: u32,
    held_back: u32,
    timeouts: u32,
    crashes: u32,
}

struct History<'t, R> {
    random: R,
    tally: &'t mut Tally,
    second: u64,
    wanted: u32,
    /// Every pod that there has been.
    pods: BTreeMap<u64, Stage>,
    /// By when the process observes them.
    events: Vec<(u64, u64, Stage)>,
    process: Process,
    last_request: u64,
}

impl<R: FnMut(u64) -> u64> History<'_, R> {
    /// Whether something fails that does so in `percent` of all cases.
    fn goes_wrong(&mut self, percent: u64) -> bool {
        self.second < FAULTS && (self.random)(100) < percent
    }

    fn change(&mut self, key: u64, stage: Stage) {
        self.pods.insert(key, stage);
        if !self.goes_wrong(10) {
            let delay = if self.goes_wrong(50) { (self.random)(40) } else { 0 };
            self.events.push((self.second + delay, key, stage));
        }
    }

    /// Deletes a pod for the process or for a person. Returns false if there is none.
    fn delete(&mut self, key: u64) -> bool {
        let is_there = self.pods[&key] != Stage::Gone;
        if self.pods[&key] == Stage::Active {
            self.change(key, Stage::BeingDeleted);
        }
        is_there
    }

    /// A request of the process. Returns whether it succeeds.
    fn request(&mut self, does: impl FnOnce(&mut Self) -> bool) -> bool {
        self.last_request = self.second;
        let succeeds = !self.goes_wrong(20) && does(self);
        self.tally.failures += u32::from(!succeeds);
        succeeds
    }

    fn sync(&mut self) {
        let now = Time::from_unix_nanos(NOW + i64::try_from(self.second).unwrap() * 1_000_000_000);
        let is_active = |(key, stage): (&u64, &Stage)| (*stage == Stage::Active).then_some(*key);
        let keys: Vec<u64> = self.process.pods.iter().filter_map(is_active).collect();
        let mut state = SetState::new(self.wanted, keys.len().try_into().unwrap());
        state.is_satisfied = self.process.expectations.are_satisfied(now);
        let planned = plan(&state, BURST);
        if planned == Plan::Nothing {
            self.tally.held_back += u32::from(state.desired != state.active);
            return;
        }
        let Process { expectations, pods, done } = &self.process;
        self.tally.timeouts += u32::from(expectations.creations() > 0 || expectations.deletions() > 0);
        // This is what expectations are for.
        let unseen = done.iter().find(|(key, stage)| pods.get(key) < Some(stage));
        assert_eq!(unseen, None, "acts without having seen what it did");
        match planned {
            Plan::Nothing => {}
            Plan::Create(count) => self.create(count, now),
            Plan::Delete(count) => {
                let uid = |key: &u64| Uid::from_bytes(pod_key(*key));
                let active: Vec<_> = keys.iter().map(|key| Pod { uid: uid(key), ..Pod::new() }).collect();
                let mut victims = vec![0; count as usize];
                let victims = Policy::at(now).select(&active, &mut victims).unwrap();
                let victims: Vec<u64> = victims.iter().map(|&index| keys[index as usize]).collect();
                let expected: Vec<PodKey> = victims.iter().copied().map(pod_key).collect();
                self.process.expectations.expect_deletions(&expected, now).unwrap();
                for key in victims {
                    if self.request(|history| history.delete(key)) {
                        self.process.done.insert(key, Stage::BeingDeleted);
                    } else {
                        self.process.expectations.deletion_observed(&pod_key(key));
                    }
                }
            }
        }
    }

    fn create(&mut self, count: u32, now: Time) {
        self.process.expectations.expect_creations(count, now);
        let mut start = SlowStart::new(count);
        while start.next_batch() > 0 {
            let mut failures = 0;
            for _ in 0..start.next_batch() {
                let key = self.pods.len() as u64;
                let created = self.request(|history| {
                    history.change(key, Stage::Active);
                    history.process.done.insert(key, Stage::Active);
                    true
                });
                failures += u32::from(!created);
            }
            start.report(failures);
        }
        self.process.expectations.creations_observed(start.missing());
    }

    /// What the server, people and the process do in a second.
    fn tick(&mut self) {
        let there: Vec<_> =
            self.pods.clone().into_iter().filter(|(_, stage)| *stage != Stage::Gone).collect();
        for (key, stage) in there {
            if stage == Stage::BeingDeleted && (self.random)(8) == 0 {
                self.change(key, Stage::Gone);
            } else if self.goes_wrong(1) && (self.random)(3) == 0 {
                self.delete(key);
            }
        }
        if self.goes_wrong(2) {
            self.wanted = u32::try_from((self.random)(12)).unwrap();
        }
        let has_crashed = self.goes_wrong(1) && (self.random)(4) == 0;
        if has_crashed {
            self.tally.crashes += 1;
            self.process = Process::new();
        }
        let mut due = self.events.extract_if(.., |(when, ..)| *when <= self.second).collect::<Vec<_>>();
        if has_crashed || self.second.is_multiple_of(120) {
            // A list of all pods also shows what events did not.
            due.extend(self.pods.iter().map(|(key, stage)| (0, *key, *stage)));
        }
        for (_, key, stage) in due {
            self.process.observe(key, stage);
        }
        if (self.random)(3) == 0 {
            self.sync();
        }
    }
}

#[test]
fn histories_end_well() {
    let mut tally = Tally::default();
    for seed in seeds(300) {
        let mut history = History {
            random: random(seed),
            tally: &mut tally,
            second: 0,
            wanted: 3,
            pods: BTreeMap::new(),
            events: vec![],
            process: Process::new(),
            last_request: 0,
        };
        for second in 0..END {
            history.second = second;
            history.tick();
        }
        assert!(history.last_request < REST, "history {seed} goes on");
        history.pods.retain(|_, stage| *stage != Stage::Gone);
        assert_eq!(history.pods.len(), history.wanted as usize, "history {seed}");
        assert!(history.pods.values().all(|stage| *stage == Stage::Active), "history {seed}");
    }
    let Tally { failures, held_back, timeouts, crashes } = tally;
    assert!(failures > 1000 && held_back > 1000 && timeouts > 100 && crashes > 100, "{tally:?}");
}
