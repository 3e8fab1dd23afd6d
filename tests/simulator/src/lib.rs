//! Random histories of a controller that is built from podrank's decisions, with its set, its pods and many faults. It is a
//! discrete-event simulation, and the same seed always gives the same history.
//!
//! Events are lost, late or delivered twice. Requests fail, or succeed and report a failure. People delete pods by hand,
//! change labels and owners, and delete the set. The process crashes while requests are pending. The invariants are checked
//! after each event. After the faults stop, the set must reach the wanted number of pods, and then nothing may change.
//!
//! It may depend on `podrank` and `podrank-laws`, and on no other crate in this repository.

mod process;
mod server;

use podrank::controller::{
    Claim, Claimable, Owner, Plan, SetState, Status, availability, claim, is_active, is_terminating,
};
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::controller::Controller;
use podrank_laws::generate::NOW;
use process::{Process, Work, pod_key};
use server::{Change, NAMESPACE, Object, Server, Set};
use std::collections::{BTreeMap, BTreeSet};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;
const MINUTE: i64 = 60 * SECOND;

/// The time during which faults happen, in nanoseconds.
const FAULTS: i64 = 12 * MINUTE;
/// The longest time after that until nothing is left to do: a timeout, two lists, and deletions between them.
const SETTLE: i64 = 8 * MINUTE;
/// The time after that during which nothing may change.
const QUIET: i64 = 3 * MINUTE;

/// The UID of another controller.
const STRANGER: u64 = u64::MAX;

/// What happened in the histories, so that a test can check that enough did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Syncs that inspected the pods.
    pub syncs: u64,
    /// Requests to create and to delete.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Syncs that acted because expectations had timed out.
    pub timeouts: u64,
    /// Syncs that did nothing only because of expectations.
    pub held_back: u64,
    /// Syncs that acted after everything expected had been observed.
    pub sighted: u64,
    /// Pods adopted and released.
    pub claims: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Events that were delivered twice.
    pub doubled: u64,
    /// Processes that crashed.
    pub crashes: u64,
    /// Sets that were deleted.
    pub sets_deleted: u64,
}

/// Runs the history of this seed, with a controller that calls its decisions through `controller`.
pub fn run<C: Controller>(controller: &C, seed: u64, tally: &mut Tally) {
    Simulation::new(controller, seed, tally).run();
}

enum Event {
    /// An event reaches the process that reads this stream.
    Deliver(u64, Change),
    /// Of this process.
    Sync(u64),
    CreateLands {
        process: u64,
        set: u64,
    },
    CreateAnswered {
        process: u64,
        failed: bool,
    },
    DeleteLands {
        process: u64,
        set: u64,
        key: u64,
    },
    DeleteAnswered {
        process: u64,
        key: u64,
        failed: bool,
    },
    /// The pod's node reports a change.
    PodReady(u64),
    PodGone(u64),
    SetGone,
    SetBack,
    /// The process lists the set and all pods, and then reads a new stream of events.
    List(u64),
    Resync(u64),
    Meddle,
    Crash,
    Restart,
    FaultsStop,
}

impl Event {
    /// The process that waits for the request of which this event is a part.
    fn answers(&self) -> Option<u64> {
        match self {
            Self::CreateLands { process, .. }
            | Self::CreateAnswered { process, .. }
            | Self::DeleteLands { process, .. }
            | Self::DeleteAnswered { process, .. } => Some(*process),
            _ => None,
        }
    }
}

/// How often each fault happens, in 1000 cases.
#[derive(Debug, Default)]
struct Faults {
    lose_event: u64,
    double_event: u64,
    fail_create: u64,
    /// The pod is created, but the answer reports a failure.
    lose_answer: u64,
    /// The namespace is being terminated: no pod is created, and that is no failure.
    refuse_create: u64,
    fail_delete: u64,
    crash: u64,
    longest_delay: i64,
}

/// The set's active pods, and what its status says of them.
struct Claimed {
    status: Status,
    keys: Vec<u64>,
    active: Vec<Pod>,
}

struct Simulation<'s, C: Controller> {
    controller: &'s C,
    seed: u64,
    rng: Rng,
    tally: &'s mut Tally,
    faults: Faults,
    burst: u32,
    min_ready_seconds: u32,
    now: i64,
    agenda: BTreeMap<(i64, u64), Event>,
    scheduled: u64,
    server: Server,
    process: Option<Process<C>>,
    processes: u64,
    streams: u64,
    /// When the next event of each stream can come at the earliest: one after another.
    next_delivery: [i64; 2],
    last_request: i64,
    status: Status,
}

impl<'s, C: Controller> Simulation<'s, C> {
    fn new(controller: &'s C, seed: u64, tally: &'s mut Tally) -> Self {
        let mut rng = Rng(seed);
        // Each history has some of the faults, so that others show what they alone do.
        let mut some = |most: u64| if rng.below(2) == 0 { 0 } else { rng.below(most) };
        let faults = Faults {
            lose_event: some(200),
            double_event: some(300),
            fail_create: some(400),
            lose_answer: some(100),
            refuse_create: some(60),
            fail_delete: some(400),
            crash: some(60),
            longest_delay: i64::try_from(some(20_000)).unwrap() * MS + 50 * MS,
        };
        let burst = [1, 2, 3, 5, 16][rng.index(5)];
        let min_ready_seconds = [0, 0, 10][rng.index(3)];
        Self {
            controller,
            seed,
            rng,
            tally,
            faults,
            burst,
            min_ready_seconds,
            now: 0,
            agenda: BTreeMap::new(),
            scheduled: 0,
            server: Server::default(),
            process: None,
            processes: 0,
            streams: 0,
            next_delivery: [0; 2],
            last_request: 0,
            status: Status::default(),
        }
    }

    fn run(mut self) {
        let wanted = self.wanted();
        self.server.create_set(wanted);
        for _ in 0..self.rng.below(4) {
            self.create_orphan();
        }
        self.at(0, Event::Restart);
        self.at(SECOND, Event::Meddle);
        self.at(FAULTS, Event::FaultsStop);
        while let Some(((time, _), event)) = self.agenda.pop_first() {
            if time > FAULTS + SETTLE + QUIET {
                break;
            }
            self.now = time;
            self.happen(event);
            self.publish();
            self.check();
        }
        self.check_end();
    }

    /// Schedules an event after so many nanoseconds.
    fn at(&mut self, after: i64, event: Event) {
        self.scheduled += 1;
        assert!(self.scheduled < 1_000_000, "history {}: turns on the spot", self.seed);
        self.agenda.insert((self.now + after, self.scheduled), event);
    }

    fn delay(&mut self) -> i64 {
        MS + self.rng.between(0, self.faults.longest_delay)
    }

    fn time(&self) -> Time {
        Time::from_unix_nanos(NOW + self.now)
    }

    fn wanted(&mut self) -> u32 {
        [0, 1, 2, 3, 5, 8, 13, 20][self.rng.index(8)]
    }

    fn happen(&mut self, event: Event) {
        let is_current =
            |simulation: &Self, number| simulation.process.as_ref().is_some_and(|p| p.number == number);
        match event {
            Event::Deliver(stream, change) => self.deliver(stream, &change),
            Event::Sync(process) if is_current(self, process) => self.sync(),
            Event::CreateLands { process, set } => self.create_lands(process, set),
            Event::CreateAnswered { process, failed } if is_current(self, process) => {
                self.create_answered(failed);
            }
            Event::DeleteLands { process, set, key } => self.delete_lands(process, set, key),
            Event::DeleteAnswered { process, key, failed } if is_current(self, process) => {
                self.delete_answered(key, failed);
            }
            Event::PodReady(key) => {
                let now = self.now;
                self.server.change(key, |pod| {
                    if pod.ready.is_none() && !pod.has_finished {
                        pod.ready = Some(now);
                    }
                });
            }
            Event::PodGone(key) => self.server.remove(key),
            Event::SetGone => {
                self.server.remove_set();
                // What it owned is collected.
                let owned: Vec<_> = self
                    .server
                    .pods
                    .values()
                    .filter(|pod| pod.owner.is_some_and(|owner| owner != STRANGER))
                    .collect();
                for key in owned.iter().map(|pod| pod.key).collect::<Vec<_>>() {
                    let delay = self.rng.between(0, 10 * SECOND);
                    self.at(delay, Event::PodGone(key));
                }
            }
            Event::SetBack => {
                let wanted = self.wanted();
                self.server.create_set(wanted);
            }
            Event::List(process) if is_current(self, process) => {
                self.list();
                let delay = self.rng.between(30 * SECOND, 120 * SECOND);
                self.at(delay, Event::List(process));
            }
            Event::Resync(process) if is_current(self, process) => {
                self.sync();
                self.at(30 * SECOND, Event::Resync(process));
            }
            Event::Meddle => self.meddle(),
            Event::Crash if self.now < FAULTS && self.process.is_some() => {
                self.process = None;
                self.tally.crashes += 1;
                let delay = self.rng.between(SECOND, 30 * SECOND);
                self.at(delay, Event::Restart);
            }
            Event::Restart if self.process.is_none() => self.restart(),
            Event::FaultsStop => {
                self.faults = Faults { longest_delay: 50 * MS, ..Faults::default() };
            }
            // Meant for a process that is no more.
            _ => {}
        }
    }

    /// Sends the server's changes on their way to the process.
    fn publish(&mut self) {
        for change in std::mem::take(&mut self.server.changes) {
            if self.rng.chance(self.faults.lose_event) {
                self.tally.lost += 1;
                continue;
            }
            let which = usize::from(matches!(change, Change::Set(_) | Change::SetGone));
            let delay = self.delay();
            let then = (self.now + delay).max(self.next_delivery[which]);
            self.next_delivery[which] = then;
            let stream = self.streams;
            if self.rng.chance(self.faults.double_event) {
                self.tally.doubled += 1;
                self.at(then - self.now, Event::Deliver(stream, change.clone()));
                // A deleted pod never comes back, so its deletion can be reported at any time.
                if matches!(change, Change::PodGone(_)) {
                    let later = self.delay();
                    self.at(then - self.now + later, Event::Deliver(stream, change.clone()));
                }
            }
            self.at(then - self.now, Event::Deliver(stream, change));
        }
    }

    fn deliver(&mut self, stream: u64, change: &Change) {
        let Some(process) = self.process.as_mut().filter(|process| process.stream == stream) else { return };
        match change {
            Change::Pod(pod) => process.see(self.controller, pod),
            Change::PodGone(pod) => process.see_gone(self.controller, pod),
            Change::Set(set) => process.see_set(self.controller, Some(set)),
            Change::SetGone => process.see_set(self.controller, None),
        }
        self.sync_soon();
    }

    fn sync_soon(&mut self) {
        if let Some(process) = &self.process {
            let event = Event::Sync(process.number);
            self.at(MS, event);
        }
    }

    fn restart(&mut self) {
        self.processes += 1;
        let mut process = Process::new(self.processes, self.controller);
        // Pods that an earlier process is still creating will look like pods of this one.
        process.audit.is_tainted =
            self.agenda.values().any(|event| matches!(event, Event::CreateLands { .. }));
        self.process = Some(process);
        let process = self.processes;
        self.at(0, Event::List(process));
        self.at(0, Event::Resync(process));
        if self.rng.chance(10 * self.faults.crash) {
            let delay = self.rng.between(0, 5 * MINUTE);
            self.at(delay, Event::Crash);
        }
    }

    /// Delivers what a list shows and earlier events did not, in the form of events.
    fn list(&mut self) {
        self.streams += 1;
        self.next_delivery = [self.now; 2];
        let Some(process) = &mut self.process else { return };
        process.stream = self.streams;
        process.see_set(self.controller, self.server.set.as_ref());
        for pod in self.server.pods.values() {
            process.see(self.controller, pod);
        }
        let gone: Vec<Object> =
            process.pods.values().filter(|pod| !self.server.pods.contains_key(&pod.key)).cloned().collect();
        for pod in gone {
            process.see_gone(self.controller, &pod);
        }
        self.sync_soon();
    }

    /// Syncs the set, from what the process has observed.
    fn sync(&mut self) {
        let now = self.time();
        let Some(process) = &mut self.process else { return };
        if process.is_busy() {
            process.is_due = true;
            return;
        }
        let is_satisfied = self.controller.are_satisfied(&process.expectations, now);
        let Some(set) = process.set.clone() else { return };
        self.tally.syncs += 1;
        // A later sync will have newer information.
        let Some(Claimed { status, keys, active }) = self.claim_pods(&set) else { return };
        let (_, _, look_again) = self.controller.availability(&active, self.min_ready_seconds, now);
        assert_ne!(look_again, Some(0), "history {}: to look again is later than now", self.seed);
        self.status = status;
        let mut state = SetState::new(set.wanted, active.len().try_into().unwrap());
        state.is_satisfied = is_satisfied;
        state.is_being_deleted = set.is_being_deleted;
        let plan = self.controller.plan(&state, self.burst);
        if plan == Plan::Nothing && state.wanted != state.active && !is_satisfied {
            self.tally.held_back += 1;
        }
        self.check_plan(&state, plan);
        match plan {
            Plan::Nothing => {}
            Plan::Create(count) => self.begin_creating(set.uid, count),
            Plan::Delete(count) => {
                let mut victims = vec![u32::MAX; count as usize];
                let victims = Policy::at(now).select(&active, &mut victims).unwrap();
                let victims: BTreeSet<u64> = victims.iter().map(|&i| keys[i as usize]).collect();
                assert_eq!(victims.len(), count as usize, "as many as planned, each once");
                self.begin_deleting(set.uid, &victims);
            }
        }
        if let (Some(look_again), Some(process)) = (look_again, &self.process) {
            let event = Event::Sync(process.number);
            self.at(look_again.try_into().unwrap(), event);
        }
    }

    /// Claims the pods that the process has observed, or returns nothing if a pod cannot be adopted.
    fn claim_pods(&mut self, set: &Set) -> Option<Claimed> {
        let now = self.time();
        let mut claimed =
            Claimed { status: Status::new(set.version.cast_signed()), keys: vec![], active: vec![] };
        let mut is_live = None;
        for pod in self.process.as_ref()?.pods.values() {
            let phase = (!pod.has_finished).then_some(Phase::RUNNING);
            let claimable = claimable(pod, set);
            if !is_active(phase, pod.is_being_deleted) {
                let is_ours = claimable.owner == Owner::Ours && pod.matches;
                if is_terminating(phase, pod.is_being_deleted) && is_ours {
                    claimed.status.add_terminating();
                }
                continue;
            }
            match claim(&claimable, set.is_being_deleted) {
                Claim::Keep => {}
                Claim::Release => {
                    self.tally.claims += 1;
                    self.server.release(pod.key, set.uid);
                    continue;
                }
                Claim::Adopt => {
                    let live = self.server.set.as_ref();
                    let may_adopt = *is_live.get_or_insert_with(|| {
                        live.is_some_and(|live| live.uid == set.uid && !live.is_being_deleted)
                    });
                    self.tally.claims += 1;
                    if !may_adopt || !self.server.adopt(pod.key, set.uid) {
                        return None;
                    }
                }
                Claim::Ignore => continue,
            }
            let record = record(pod);
            claimed.status.add(true, availability(&record, self.min_ready_seconds, now));
            claimed.keys.push(pod.key);
            claimed.active.push(record);
        }
        Some(claimed)
    }

    /// Checks what holds before the first request.
    fn check_plan(&mut self, state: &SetState, plan: Plan) {
        let now = self.time();
        let Some(process) = &mut self.process else { return };
        let (missing, surplus) =
            (state.wanted.saturating_sub(state.active), state.active.saturating_sub(state.wanted));
        let (creations, deletions) = match plan {
            Plan::Nothing => return,
            Plan::Create(count) => (count, 0),
            Plan::Delete(count) => (0, count),
        };
        assert!(!state.is_being_deleted, "acts for a set that is being deleted");
        assert!(
            creations <= missing.min(self.burst) && deletions <= surplus.min(self.burst),
            "{plan:?} of {state:?}"
        );
        // This is what expectations are for: it has observed all of its requests, unless they timed out.
        let has_timed_out = process.audit.naive.have_timed_out(now);
        let has_seen = process.has_seen_its_doings();
        if has_timed_out {
            self.tally.timeouts += 1;
            process.audit.is_tainted |= !has_seen;
            process.audit.created.clear();
            process.audit.deleted.clear();
        } else if !process.audit.is_tainted {
            assert!(has_seen, "acts without having seen what it did: {plan:?}, history {}", self.seed);
            self.tally.sighted += 1;
        }
    }

    fn begin_creating(&mut self, set: u64, count: u32) {
        let now = self.time();
        let Some(process) = &mut self.process else { return };
        self.controller.expect_creations(&mut process.expectations, count, now);
        process.audit.naive.expect_creations(count, now);
        let start = self.controller.slow_start(count);
        process.work = Work::Creating { set, start, answers: 0, failures: 0 };
        self.create_batch();
    }

    /// Requests the next batch. If there is none, the work is done.
    fn create_batch(&mut self) {
        let Some(process) = &mut self.process else { return };
        let Work::Creating { set, start, answers, .. } = &mut process.work else { return };
        let (batch, missing) = self.controller.progress(start);
        if batch == 0 {
            process.work = Work::Nothing;
            process.observe_creations(self.controller, missing);
            return self.sync_if_due(missing > 0);
        }
        *answers = batch;
        let (number, set) = (process.number, *set);
        for _ in 0..batch {
            self.request(Event::CreateLands { process: number, set });
        }
    }

    fn create_lands(&mut self, number: u64, set: u64) {
        let mut failed = self.rng.chance(self.faults.fail_create);
        if !failed && !self.rng.chance(self.faults.refuse_create) {
            let key = self.server.create(Some(set), NAMESPACE, true, self.now);
            let delay = self.rng.between(SECOND, 20 * SECOND);
            self.at(delay, Event::PodReady(key));
            if self.server.set.as_ref().is_none_or(|live| live.uid != set) {
                self.at(5 * SECOND, Event::PodGone(key));
            }
            failed = self.rng.chance(self.faults.lose_answer);
            if let Some(process) = self.process_for(number, set) {
                if failed {
                    process.audit.is_tainted = true;
                } else {
                    process.audit.created.push(key);
                }
            }
        }
        let delay = self.delay();
        self.at(delay, Event::CreateAnswered { process: number, failed });
    }

    /// The process with this number, if it still runs and its set is still this one. It has no expectations for a set that
    /// is gone.
    fn process_for(&mut self, number: u64, set: u64) -> Option<&mut Process<C>> {
        self.process.as_mut().filter(|process| process.number == number && process.is_ours(Some(set)))
    }

    fn create_answered(&mut self, failed: bool) {
        self.tally.failures += u64::from(failed);
        let Some(process) = &mut self.process else { return };
        let Work::Creating { start, answers, failures, .. } = &mut process.work else { return };
        *answers -= 1;
        *failures += u32::from(failed);
        if *answers == 0 {
            self.controller.report(start, std::mem::take(failures));
            self.create_batch();
        }
    }

    fn begin_deleting(&mut self, set: u64, victims: &BTreeSet<u64>) {
        let now = self.time();
        let Some(process) = &mut self.process else { return };
        for pod in victims.iter().map(|key| &process.pods[key]) {
            assert!(!pod.has_finished && !pod.is_being_deleted && pod.matches, "deletes {pod:?}");
        }
        let keys: Vec<_> = victims.iter().map(|&key| pod_key(key)).collect();
        let has_room = self.controller.expect_deletions(&mut process.expectations, &keys, now);
        assert!(has_room, "room for {} keys", keys.len());
        process.audit.naive.expect_deletions(&keys, now);
        process.audit.counted.clear();
        process.work = Work::Deleting { answers: victims.len().try_into().unwrap(), failures: 0 };
        let number = process.number;
        for &key in victims {
            self.request(Event::DeleteLands { process: number, set, key });
        }
    }

    fn delete_lands(&mut self, number: u64, set: u64, key: u64) {
        let mut failed = self.rng.chance(self.faults.fail_delete);
        if !failed {
            failed = !self.delete(key);
            if !failed && let Some(process) = self.process_for(number, set) {
                process.audit.deleted.push(key);
            }
        }
        let delay = self.delay();
        self.at(delay, Event::DeleteAnswered { process: number, key, failed });
    }

    fn delete_answered(&mut self, key: u64, failed: bool) {
        self.tally.failures += u64::from(failed);
        let Some(process) = &mut self.process else { return };
        if failed {
            process.observe_deletion(self.controller, key);
        }
        let Work::Deleting { answers, failures } = &mut process.work else { return };
        *answers -= 1;
        *failures += u32::from(failed);
        if *answers == 0 {
            let failures = *failures;
            process.work = Work::Nothing;
            self.sync_if_due(failures > 0);
        }
    }

    /// Ends the work. Another sync handles what changed or failed in the meantime.
    fn sync_if_due(&mut self, has_failed: bool) {
        let Some(process) = &mut self.process else { return };
        if std::mem::take(&mut process.is_due) {
            self.sync_soon();
        } else if has_failed {
            let event = Event::Sync(process.number);
            self.at(SECOND, event);
        }
    }

    /// Schedules the effect of a request from a process.
    fn request(&mut self, event: Event) {
        let process = event.answers();
        self.tally.requests += 1;
        self.last_request = self.now;
        let delay = self.delay();
        self.at(delay, event);
        let under_way = self.agenda.values().filter(|event| event.answers() == process).count();
        assert!(under_way <= self.burst as usize, "history {}: {under_way} requests under way", self.seed);
    }

    /// Starts the deletion of a pod, which its node completes later. Returns false if there is no such pod.
    fn delete(&mut self, key: u64) -> bool {
        let there = self.server.change(key, |pod| pod.is_being_deleted = true);
        if there {
            let grace = self.rng.between(0, 30 * SECOND);
            self.at(grace, Event::PodGone(key));
        }
        there
    }

    fn create_orphan(&mut self) {
        let (namespace, matches) = (u8::try_from(self.rng.below(2)).unwrap(), self.rng.below(3) > 0);
        let owner = (self.rng.below(4) == 0).then_some(STRANGER);
        let key = self.server.create(owner, namespace, matches, self.now);
        self.at(5 * SECOND, Event::PodReady(key));
    }

    /// A person changes something, and schedules the next change.
    fn meddle(&mut self) {
        if self.now >= FAULTS {
            return;
        }
        let delay = self.rng.between(0, 30 * SECOND);
        self.at(delay, Event::Meddle);
        let what = self.rng.below(24);
        if what < 6 {
            let wanted = self.wanted();
            return self.server.change_set(|set| set.wanted = wanted);
        }
        if what == 6 {
            if self.server.set.as_ref().is_some_and(|set| !set.is_being_deleted) && self.rng.below(4) == 0 {
                self.tally.sets_deleted += 1;
                self.server.change_set(|set| set.is_being_deleted = true);
                let delay = self.rng.between(SECOND, 20 * SECOND);
                self.at(delay, Event::SetGone);
                let more = self.rng.between(0, 20 * SECOND);
                self.at(delay + more, Event::SetBack);
            }
            return;
        }
        if what < 9 {
            return self.create_orphan();
        }
        let Some(&key) = self.server.pods.keys().nth(self.rng.index(self.server.pods.len().max(1))) else {
            return;
        };
        match what {
            9..12 => {
                self.delete(key);
            }
            12 | 13 => self.server.remove(key),
            14..17 => {
                self.server.change(key, |pod| pod.matches ^= true);
            }
            17 => {
                self.server.change(key, |pod| pod.owner = None);
            }
            18 => {
                self.server.change(key, |pod| pod.owner = pod.owner.or(Some(STRANGER)));
            }
            19 | 20 => {
                self.server.change(key, |pod| (pod.has_finished, pod.ready) = (true, None));
            }
            _ => {
                self.server.change(key, |pod| pod.ready = None);
                self.at(8 * SECOND, Event::PodReady(key));
            }
        }
    }

    /// Checks the invariants, which hold after every event.
    fn check(&self) {
        let Some(process) = &self.process else { return };
        let (now, seed) = (self.time(), self.seed);
        let naive = &process.audit.naive;
        assert_eq!(self.controller.counts(&process.expectations), naive.counts(), "history {seed}");
        let satisfied = self.controller.are_satisfied(&process.expectations, now);
        assert_eq!(satisfied, naive.are_satisfied(now), "history {seed}");
        let (creations, deletions) = naive.counts();
        assert!(
            creations.max(deletions) <= self.burst.into(),
            "history {seed}: expects {creations} and {deletions}"
        );
    }

    /// Checks what holds when there have been no faults for long enough.
    fn check_end(&self) {
        let seed = self.seed;
        let (Some(set), Some(process)) = (&self.server.set, &self.process) else {
            panic!("history {seed}: there is a set and a process again");
        };
        assert!(self.last_request <= FAULTS + SETTLE, "history {seed}: goes on");
        assert_eq!(process.set.as_ref(), Some(set), "history {seed}: has seen the set");
        assert_eq!(process.pods, self.server.pods, "history {seed}: has seen the pods");
        assert!(self.controller.are_satisfied(&process.expectations, self.time()), "history {seed}: waits");
        let mut count = 0;
        for pod in self.server.pods.values() {
            let is_ours = pod.owner == Some(set.uid);
            assert!(!pod.is_being_deleted, "history {seed}: {pod:?}");
            if pod.has_finished {
                continue;
            }
            assert!(!is_ours || pod.matches, "history {seed}: not released: {pod:?}");
            assert!(
                !is_ours || pod.namespace == NAMESPACE,
                "history {seed}: adopted from elsewhere: {pod:?}"
            );
            assert!(
                pod.owner.is_some() || !pod.matches || pod.namespace != NAMESPACE,
                "history {seed}: not adopted: {pod:?}"
            );
            count += u32::from(is_ours);
        }
        assert_eq!(count, set.wanted, "history {seed}: as many as are wanted");
        let all = Status {
            observed_generation: set.version.cast_signed(),
            replicas: set.wanted,
            fully_labeled_replicas: set.wanted,
            ready_replicas: set.wanted,
            available_replicas: set.wanted,
            terminating_replicas: 0,
        };
        assert_eq!(self.status, all, "history {seed}");
    }
}

/// What a sync has to know of a pod to claim it for this set.
fn claimable(pod: &Object, set: &Set) -> Claimable {
    let owner = match pod.owner {
        None => Owner::None,
        Some(owner) if owner == set.uid => Owner::Ours,
        Some(_) => Owner::Other,
    };
    Claimable {
        owner,
        matches: pod.matches,
        is_in_namespace: pod.namespace == NAMESPACE,
        is_being_deleted: pod.is_being_deleted,
    }
}

/// Returns a pod's record.
fn record(pod: &Object) -> Pod {
    let time = |nanos| Time::from_unix_nanos(NOW + nanos);
    Pod {
        uid: Uid::from_bytes(pod_key(pod.key)),
        phase: Phase::RUNNING,
        flags: Flags::ASSIGNED.with(Flags::READY, pod.ready.is_some()),
        ready_time: pod.ready.map_or(Time::UNSET, time),
        creation_time: time(pod.created),
        ..Pod::new()
    }
}

/// Pseudorandom numbers: `SplitMix64`.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap()
    }

    fn between(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below((most - least).unsigned_abs() + 1)).unwrap()
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}
