//! One sync: first the pods in the range, then the condemned ones, then the update. Kubernetes' `updateStatefulSet`.

use super::{By, Member, MemberOutcome, MemberReason, PodManagement, StatefulSetState, Update, Verdict};

use std::collections::BTreeSet;

/// Kubernetes' `MaxBatchSize`.
const MAX_BATCH_SIZE: i64 = 500;

/// A sync in progress.
pub(super) struct Syncing<'a> {
    set: &'a StatefulSetState,
    members: &'a [Member],
    /// One for each member, the highest ordinal first.
    outcomes: Vec<MemberOutcome>,
}

/// What the sync does with a member, unless something stops the sync.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// It keeps the member, for this reason.
    Stay(MemberReason),
    /// It is condemned and not being deleted yet.
    Condemned,
    /// It is finished, in the range and not being deleted yet.
    Finished,
    /// It is to be replaced and not being deleted yet.
    Old,
}

impl<'a> Syncing<'a> {
    pub(super) fn new(set: &'a StatefulSetState, members: &'a [Member]) -> Self {
        let keep = |member| MemberOutcome {
            member,
            verdict: Verdict::Kept,
            reason: MemberReason::InRange,
            by: None,
        };
        let mut outcomes: Vec<_> = (0..members.len()).map(keep).collect();
        outcomes.sort_by_key(|outcome| std::cmp::Reverse(members[outcome.member].ordinal));
        Self { set, members, outcomes }
    }

    pub(super) fn run(mut self) -> Vec<MemberOutcome> {
        let idle = match self.set.update {
            Update::Recreate if !self.set.behavior.recreate_gate => Some(MemberReason::RecreateOff),
            _ => self.set.is_being_deleted.then_some(MemberReason::SetDeleted),
        };
        if let Some(reason) = idle {
            self.outcomes.iter_mut().for_each(|outcome| outcome.reason = reason);
            return self.outcomes;
        }
        self.for_each_wish(|_| (Verdict::Kept, MemberReason::InRange, None));
        match self.twin() {
            Some(twin) => self.for_each_wish(|_| (Verdict::Possible, MemberReason::Twins, Some(twin))),
            None => self.decide(),
        }
        self.outcomes
    }

    fn decide(&mut self) {
        if self.set.update == Update::Recreate && self.recreate() {
            return;
        }
        match self.set.management {
            PodManagement::OrderedReady => self.one_at_a_time(),
            PodManagement::Parallel => {
                self.all_at_once();
                self.leave_open_after_creation();
            }
        }
    }

    /// What the sync does with this member, unless something stops it.
    fn wish(&self, member: Member) -> Wish {
        match member {
            Member { is_terminating: true, .. } => Wish::Stay(MemberReason::Terminating),
            _ if self.is_recreated(member) => Wish::Old,
            _ if !self.is_in_range(member) => Wish::Condemned,
            Member { is_finished: true, .. } => Wish::Finished,
            _ => self.wish_of_update(member),
        }
    }

    /// What the update alone wants of a member in the range that is not being deleted.
    fn wish_of_update(&self, member: Member) -> Wish {
        match self.set.update {
            _ if member.is_updated => Wish::Stay(MemberReason::InRange),
            Update::RollingUpdate { partition, .. } if self.offset(member) < i64::from(partition) => {
                Wish::Stay(MemberReason::BelowPartition)
            }
            Update::OnDelete => Wish::Stay(MemberReason::OnDelete),
            _ => Wish::Old,
        }
    }

    fn is_recreated(&self, member: Member) -> bool {
        self.set.update == Update::Recreate && !member.is_updated
    }

    /// With two pods of one ordinal in the range, Kubernetes knows only the one that it lists last. If they are
    /// condemned, the list order decides which is deleted first, which matters only one at a time.
    fn twin(&self) -> Option<By> {
        let is_ordered = self.set.management == PodManagement::OrderedReady;
        (1..self.outcomes.len()).find_map(|slot| {
            let (a, b) = (self.at(slot - 1), self.at(slot));
            let matters = is_ordered || self.is_in_range(a);
            (a.ordinal == b.ordinal && matters).then(|| self.reference(slot))
        })
    }

    /// Deletes all old pods. Returns whether there are any, which ends the sync.
    fn recreate(&mut self) -> bool {
        let Some(slot) = self.find(|member| self.is_recreated(member)) else { return false };
        let first = self.reference(slot);
        self.for_each_wish(|wish| match wish {
            Wish::Old => (Verdict::Deleted, MemberReason::Old, None),
            _ => (Verdict::Waiting, MemberReason::AfterRecreate, Some(first)),
        });
        true
    }

    /// `OrderedReady`.
    fn one_at_a_time(&mut self) {
        if let Some((by, reason)) = self.first_in_range_that_blocks() {
            self.for_each_wish(|_| (Verdict::Waiting, reason, Some(by)));
            // A finished pod that blocks other pods is deleted itself.
            if reason == MemberReason::WaitsForFinished {
                let slot = self.outcomes.iter().position(|outcome| Some(outcome.member) == by.member);
                self.give(slot.expect("it is a member"), Verdict::Deleted, MemberReason::Finished, None);
            }
        } else if let Some(slot) = self.find(|member| !self.is_in_range(member)) {
            self.take_condemned(slot);
        } else {
            self.update_within(self.set.budget());
        }
    }

    /// Returns the lowest ordinal in the range that has no healthy pod, and what it lacks.
    fn first_in_range_that_blocks(&self) -> Option<(By, MemberReason)> {
        let absent = self.absent(self.set.start.into()).next();
        let is_before = |member: Member| absent.is_none_or(|absent| i64::from(member.ordinal) < absent);
        let faulty = self.find_last(|member| self.is_in_range(member) && fault(member).is_some());
        let faulty = faulty.filter(|slot| is_before(self.at(*slot)));
        let blocker = faulty.and_then(|slot| Some((self.reference(slot), fault(self.at(slot))?)));
        blocker.or_else(|| Some((missing(absent?), MemberReason::WaitsForMissing)))
    }

    /// Deletes the highest condemned pod, unless the sync waits for it. All others wait.
    fn take_condemned(&mut self, slot: usize) {
        let highest = self.at(slot);
        if highest.is_terminating {
            return self.wait_for_condemned(self.reference(slot), MemberReason::WaitsForTermination);
        }
        // Kubernetes takes an unavailable pod only if it is the first of all unavailable ones.
        let first_unavailable = self.find_last(|member| !self.is_in_range(member) && member.is_unavailable());
        let obstacle = fault(highest).filter(|_| first_unavailable != Some(slot));
        let obstacle = obstacle.map(|reason| match first_unavailable {
            None => (self.reference(slot), reason),
            Some(other) => (self.reference(other), MemberReason::WaitsForEither),
        });
        self.wait_for_condemned(self.reference(slot), MemberReason::OneAtATime);
        match obstacle {
            None => self.give(slot, Verdict::Deleted, MemberReason::OutOfRange, None),
            Some((by, reason)) => self.give(slot, Verdict::Waiting, reason, Some(by)),
        }
    }

    /// All pods wait for a condemned one.
    fn wait_for_condemned(&mut self, by: By, reason: MemberReason) {
        self.for_each_wish(|wish| {
            let reason = if wish == Wish::Condemned { reason } else { MemberReason::AfterScaling };
            (Verdict::Waiting, reason, Some(by))
        });
    }

    /// `Parallel`.
    fn all_at_once(&mut self) {
        self.for_each_wish(|wish| match wish {
            Wish::Condemned => (Verdict::Deleted, MemberReason::OutOfRange, None),
            Wish::Finished => (Verdict::Deleted, MemberReason::Finished, None),
            _ => (Verdict::Kept, MemberReason::InRange, None),
        });
        let Update::RollingUpdate { partition, .. } = self.set.update else { return };
        if !self.set.behavior.max_unavailable_gate {
            return self.update_highest(partition);
        }
        if self.set.behavior.unavailable_first {
            for slot in 0..self.outcomes.len() {
                let member = self.at(slot);
                if self.wish(member) == Wish::Old && member.is_unavailable() {
                    self.give(slot, Verdict::Deleted, MemberReason::OldUnavailable, None);
                }
            }
        }
        let available = self.count(|member| self.is_in_budget(member) && !member.is_unavailable());
        // A missing pod counts as unavailable.
        self.update_within(self.set.budget() - (self.set.budgeted() - available));
    }

    /// If Kubernetes cannot create a missing pod, because of a quota, say, the sync ends after the batch of that pod.
    fn leave_open_after_creation(&mut self) {
        let Some(missing) = self.absent(self.set.start.into()).next() else { return };
        let last_batch = self.batch(missing);
        for slot in 0..self.outcomes.len() {
            let MemberOutcome { verdict, reason, .. } = self.outcomes[slot];
            let is_before = match reason {
                MemberReason::OutOfRange => !self.set.behavior.creates_first,
                MemberReason::Finished => self.batch(self.at(slot).ordinal.into()) <= last_batch,
                _ => false,
            };
            if verdict == Verdict::Deleted && !is_before {
                let by = self::missing(missing);
                self.give(slot, Verdict::Possible, MemberReason::AfterCreation, Some(by));
            }
        }
    }

    /// Returns the ordinals in the range, from this one on, that have no pod.
    fn absent(&self, first: i64) -> impl DoubleEndedIterator<Item = i64> {
        let present: BTreeSet<_> = self.members.iter().map(|member| i64::from(member.ordinal)).collect();
        (first..self.set.end()).filter(move |ordinal| !present.contains(ordinal))
    }

    /// Returns in which batch Kubernetes looks at an ordinal in the range. The first has 1, each later one twice as many.
    fn batch(&self, ordinal: i64) -> i64 {
        let offset = ordinal - i64::from(self.set.start);
        // The tenth would have 512.
        if offset < 511 { (offset + 1).ilog2().into() } else { 9 + (offset - 511) / MAX_BATCH_SIZE }
    }

    /// Replaces old pods from the highest down, as many as the budget allows.
    fn update_within(&mut self, mut budget: i64) {
        let unavailable = self.find(|member| self.is_in_budget(member) && member.is_unavailable());
        // A missing pod counts as unavailable.
        let absent = || self.absent(i64::from(self.set.start) + self.set.first_in_budget()).next_back();
        let mut by = unavailable.map(|slot| self.reference(slot)).or_else(|| absent().map(missing));
        let takes_unavailable = !self.set.behavior.unavailable_first;
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            let is_candidate = self.is_in_range(member)
                && (!member.is_unavailable() || takes_unavailable && !member.is_terminating)
                && self.wish_of_update(member) == Wish::Old;
            if !is_candidate {
                continue;
            }
            // A finished pod whose status says that it is available is deleted in any case, but counts.
            let is_finished = member.is_finished;
            if budget > 0 {
                budget -= 1;
                by = by.or_else(|| Some(self.reference(slot)));
                if !is_finished {
                    let reasons = [MemberReason::Old, MemberReason::OldUnavailable];
                    self.give(slot, Verdict::Deleted, reasons[usize::from(member.is_unavailable())], None);
                }
            } else if !is_finished {
                self.give(slot, Verdict::Waiting, MemberReason::Budget, by);
            }
        }
    }

    /// Without the gate: replaces the highest old pod, unless one above it is unavailable.
    fn update_highest(&mut self, partition: i32) {
        let lowest = i64::from(self.set.start) + i64::from(partition);
        let mut expected = self.set.end() - 1;
        let mut blocker = None;
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            if !self.is_in_range(member) || i64::from(member.ordinal) < lowest {
                continue;
            }
            let is_old = self.wish_of_update(member) == Wish::Old && !member.is_terminating;
            if blocker.is_none() && i64::from(member.ordinal) < expected {
                blocker = Some((missing(expected), MemberReason::WaitsForMissing));
            }
            expected -= 1;
            match blocker {
                None if is_old => {
                    if !member.is_finished {
                        self.give(slot, Verdict::Deleted, MemberReason::Old, None);
                    }
                    blocker = Some((self.reference(slot), MemberReason::OneAtATime));
                }
                None if member.is_unavailable() => {
                    let reason = fault(member).unwrap_or(MemberReason::WaitsForAvailable);
                    blocker = Some((self.reference(slot), reason));
                }
                Some((by, reason)) if is_old && !member.is_finished => {
                    self.give(slot, Verdict::Waiting, reason, Some(by));
                }
                _ => {}
            }
        }
    }

    fn is_in_budget(&self, member: Member) -> bool {
        self.is_in_range(member) && self.offset(member) >= self.set.first_in_budget()
    }

    /// Decides about all members, of which some are kept in any case.
    fn for_each_wish(&mut self, decide: impl Fn(Wish) -> (Verdict, MemberReason, Option<By>)) {
        for slot in 0..self.outcomes.len() {
            let (verdict, reason, by) = match self.wish(self.at(slot)) {
                Wish::Stay(reason) => (Verdict::Kept, reason, None),
                wish => decide(wish),
            };
            self.give(slot, verdict, reason, by);
        }
    }

    fn give(&mut self, slot: usize, verdict: Verdict, reason: MemberReason, by: Option<By>) {
        let outcome = &mut self.outcomes[slot];
        *outcome = MemberOutcome { verdict, reason, by, ..*outcome };
    }

    /// Returns the member of a slot. The highest ordinal is in slot 0.
    fn at(&self, slot: usize) -> Member {
        self.members[self.outcomes[slot].member]
    }

    /// The pod of a slot as one that a reason refers to.
    fn reference(&self, slot: usize) -> By {
        By { member: Some(self.outcomes[slot].member), ordinal: self.at(slot).ordinal }
    }

    fn find(&self, is_selected: impl Fn(Member) -> bool) -> Option<usize> {
        (0..self.outcomes.len()).find(|slot| is_selected(self.at(*slot)))
    }

    fn find_last(&self, is_selected: impl Fn(Member) -> bool) -> Option<usize> {
        (0..self.outcomes.len()).rev().find(|slot| is_selected(self.at(*slot)))
    }

    fn count(&self, is_selected: impl Fn(Member) -> bool) -> i64 {
        i64::try_from(self.members.iter().filter(|member| is_selected(**member)).count()).unwrap_or(i64::MAX)
    }

    /// How far the ordinal is from `start`.
    fn offset(&self, member: Member) -> i64 {
        i64::from(member.ordinal) - i64::from(self.set.start)
    }

    fn is_in_range(&self, member: Member) -> bool {
        self.set.is_in_range(member.ordinal)
    }
}

/// Returns what keeps a set that takes one pod at a time from going on. The checks are in the order in which Kubernetes
/// makes them.
fn fault(member: Member) -> Option<MemberReason> {
    Some(match member {
        Member { is_terminating: true, .. } => MemberReason::WaitsForTermination,
        Member { is_finished: true, .. } => MemberReason::WaitsForFinished,
        Member { is_running: false, .. } => MemberReason::WaitsForRunning,
        Member { is_ready: false, .. } => MemberReason::WaitsForReady,
        Member { is_available: false, .. } => MemberReason::WaitsForAvailable,
        _ => return None,
    })
}

fn missing(ordinal: i64) -> By {
    By { member: None, ordinal: i32::try_from(ordinal).unwrap_or(i32::MAX) }
}
