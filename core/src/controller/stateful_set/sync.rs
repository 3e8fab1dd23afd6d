//! One sync: first the pods in the range, then the condemned ones, then the update. Kubernetes' `updateStatefulSet`.

use super::{
    Member, MemberFlags, NO_MEMBER, Outcome, PodManagement, Reason, StatefulSet, Step, Update, Verdict,
};
use crate::sort::heap_sort;

/// A sync in progress.
pub(super) struct Sync<'a> {
    set: &'a StatefulSet,
    members: &'a [Member],
    /// One for each member, the highest ordinal first.
    outcomes: &'a mut [Outcome],
}

/// What the others wait for.
#[derive(Clone, Copy)]
struct Blocker {
    /// The index of the member, or [`NO_MEMBER`] if the ordinal has no pod.
    by: u32,
    ordinal: i32,
    reason: Reason,
}

/// What becomes of a member if nothing stops the sync.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// It stays, for this reason.
    Stay(Reason),
    /// It is condemned and not being deleted yet.
    Condemned,
    /// It is finished, in the range and not being deleted yet.
    Finished,
    /// It is to be replaced and not being deleted yet.
    Old,
}

impl<'a> Sync<'a> {
    pub(super) fn new(set: &'a StatefulSet, members: &'a [Member], outcomes: &'a mut [Outcome]) -> Self {
        for (index, outcome) in (0_u32..).zip(&mut *outcomes) {
            *outcome = Outcome::keep(index, Reason::InRange);
        }
        let ordinal = |outcome: Outcome| member(members, outcome.member).ordinal;
        // Of equal ordinals, the lower index comes first, so that the result does not depend on the sort.
        heap_sort(outcomes, &|a, b| (ordinal(b), a.member) < (ordinal(a), b.member));
        Self { set, members, outcomes }
    }

    pub(super) fn run(mut self) -> Step {
        let failing = self.set.update == Update::Recreate && !self.set.recreate_gate;
        let idle = if failing {
            Some(Reason::RecreateOff)
        } else {
            self.set.is_being_deleted.then_some(Reason::SetDeleted)
        };
        match idle {
            Some(reason) => self.outcomes.iter_mut().for_each(|outcome| outcome.reason = reason),
            None => match self.twin() {
                Some(twin) => self.leave_open(twin),
                None => self.decide(),
            },
        }
        self.step()
    }

    fn step(&self) -> Step {
        let count = |verdict| {
            let of = self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
            u32::try_from(of).unwrap_or(u32::MAX)
        };
        Step {
            delete: count(Verdict::Delete),
            contested: count(Verdict::Contested),
            blocked: count(Verdict::Blocked),
        }
    }

    fn decide(&mut self) {
        for slot in 0..self.outcomes.len() {
            if let Wish::Stay(reason) = self.wish(self.at(slot)) {
                self.give(slot, Verdict::Keep, reason, None);
            }
        }
        if self.set.update == Update::Recreate && self.recreate() {
            return;
        }
        match self.set.management {
            PodManagement::OrderedReady => self.one_at_a_time(),
            PodManagement::Parallel => self.all_at_once(),
        }
    }

    /// What becomes of this member if nothing stops the sync.
    fn wish(&self, member: Member) -> Wish {
        if member.ordinal < 0 {
            Wish::Stay(Reason::NoOrdinal)
        } else if member.is(MemberFlags::TERMINATING) {
            Wish::Stay(Reason::Terminating)
        } else if self.is_recreated(member) {
            Wish::Old
        } else if !self.is_in_range(member) {
            Wish::Condemned
        } else if member.is(MemberFlags::FINISHED) {
            Wish::Finished
        } else {
            self.wish_of_update(member)
        }
    }

    /// What the update alone wants of a member in the range that is not being deleted.
    fn wish_of_update(&self, member: Member) -> Wish {
        if member.is(MemberFlags::UPDATED) {
            return Wish::Stay(Reason::InRange);
        }
        match self.set.update {
            Update::RollingUpdate { partition, .. } if self.offset(member) < i64::from(partition) => {
                Wish::Stay(Reason::BelowPartition)
            }
            Update::OnDelete => Wish::Stay(Reason::OnDelete),
            _ => Wish::Old,
        }
    }

    fn is_recreated(&self, member: Member) -> bool {
        self.set.update == Update::Recreate && !member.is(MemberFlags::UPDATED)
    }

    /// With two pods of one ordinal in the range, Kubernetes knows only the one that it lists last. If they are
    /// condemned, the list order decides which goes first, which matters only one at a time.
    fn twin(&self) -> Option<Blocker> {
        let is_ordered = self.set.management == PodManagement::OrderedReady;
        (1..self.outcomes.len()).find_map(|slot| {
            let (a, b) = (self.at(slot.saturating_sub(1)), self.at(slot));
            let matters = a.ordinal >= 0 && (is_ordered || self.is_in_range(a));
            (a.ordinal == b.ordinal && matters).then(|| self.blocker(slot, Reason::Twins))
        })
    }

    /// Whatever may go is contested.
    fn leave_open(&mut self, twin: Blocker) {
        for slot in 0..self.outcomes.len() {
            match self.wish(self.at(slot)) {
                Wish::Stay(reason) => self.give(slot, Verdict::Keep, reason, None),
                _ => self.give(slot, Verdict::Contested, Reason::Twins, Some(twin)),
            }
        }
    }

    /// Deletes all old pods. Returns whether there are any, which ends the sync.
    fn recreate(&mut self) -> bool {
        let old = self.find(|member| member.ordinal >= 0 && self.is_recreated(member));
        let Some(first) = old.map(|slot| self.blocker(slot, Reason::AfterRecreate)) else { return false };
        self.for_each_wish(|wish| match wish {
            Wish::Old => (Verdict::Delete, Reason::Old, None),
            _ => (Verdict::Blocked, first.reason, Some(first)),
        });
        true
    }

    /// `OrderedReady`.
    fn one_at_a_time(&mut self) {
        if let Some(blocker) = self.first_in_range_that_blocks() {
            self.block_all(blocker);
            // A finished pod that blocks goes itself.
            if blocker.reason == Reason::WaitsForFinished {
                let slot = self.outcomes.iter().position(|outcome| outcome.member == blocker.by);
                self.give(slot.unwrap_or(usize::MAX), Verdict::Delete, Reason::Finished, None);
            }
        } else if let Some(slot) = self.find(|member| self.is_condemned(member)) {
            self.take_condemned(slot);
        } else {
            self.update_within(self.budget());
        }
    }

    /// Returns the lowest ordinal in the range that has no healthy pod, and what it lacks.
    fn first_in_range_that_blocks(&self) -> Option<Blocker> {
        let start = i64::from(self.set.start);
        let mut expected = start;
        for slot in (0..self.outcomes.len()).rev() {
            let member = self.at(slot);
            if !self.is_in_range(member) {
                continue;
            }
            if i64::from(member.ordinal) > expected {
                break;
            }
            if let Some(reason) = fault(member) {
                return Some(self.blocker(slot, reason));
            }
            expected = expected.saturating_add(1);
        }
        (expected < self.end()).then(|| missing(expected))
    }

    /// Takes the highest condemned pod, unless it is waited for. All others wait.
    fn take_condemned(&mut self, slot: usize) {
        let highest = self.at(slot);
        if highest.is(MemberFlags::TERMINATING) {
            return self.wait_for_condemned(self.blocker(slot, Reason::WaitsForTermination));
        }
        // Kubernetes takes an unavailable pod only if it is the first of all unavailable ones.
        let first_unavailable = self.find_last(|member| self.is_condemned(member) && member.is_unavailable());
        let obstacle = fault(highest).filter(|_| first_unavailable != Some(slot)).map(|reason| {
            first_unavailable.map_or_else(
                || self.blocker(slot, reason),
                |other| self.blocker(other, Reason::WaitsForEither),
            )
        });
        self.wait_for_condemned(self.blocker(slot, Reason::OneAtATime));
        match obstacle {
            None => self.give(slot, Verdict::Delete, Reason::OutOfRange, None),
            Some(by) => self.give(slot, Verdict::Blocked, by.reason, Some(by)),
        }
    }

    /// All pods wait for a condemned one.
    fn wait_for_condemned(&mut self, by: Blocker) {
        self.for_each_wish(|wish| {
            let reason = if wish == Wish::Condemned { by.reason } else { Reason::AfterScaling };
            (Verdict::Blocked, reason, Some(by))
        });
    }

    /// `Parallel`.
    fn all_at_once(&mut self) {
        for slot in 0..self.outcomes.len() {
            match self.wish(self.at(slot)) {
                Wish::Condemned => self.give(slot, Verdict::Delete, Reason::OutOfRange, None),
                Wish::Finished => self.give(slot, Verdict::Delete, Reason::Finished, None),
                _ => {}
            }
        }
        if !matches!(self.set.update, Update::RollingUpdate { .. }) {
            return;
        }
        if !self.set.max_unavailable_gate {
            return self.update_highest();
        }
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            if self.wish(member) == Wish::Old && member.is_unavailable() {
                self.give(slot, Verdict::Delete, Reason::OldUnavailable, None);
            }
        }
        let present = self.count(|member| self.is_in_range(member));
        let unavailable = self.count(|member| self.is_in_range(member) && member.is_unavailable());
        let absent = i64::from(self.set.replicas).saturating_sub(present);
        self.update_within(self.budget().saturating_sub(absent).saturating_sub(unavailable));
    }

    /// Replaces old pods that are available from the highest down, as many as the budget allows.
    fn update_within(&mut self, mut budget: i64) {
        let unavailable = self.find(|member| self.is_in_range(member) && member.is_unavailable());
        let mut by = unavailable.map(|slot| self.blocker(slot, Reason::Budget)).or_else(|| self.absent());
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            let is_candidate = self.is_in_range(member)
                && !member.is_unavailable()
                && self.wish_of_update(member) == Wish::Old;
            if !is_candidate {
                continue;
            }
            // One that is finished, and yet said to be available, goes anyway, but counts.
            let is_finished = member.is(MemberFlags::FINISHED);
            if budget > 0 {
                budget = budget.saturating_sub(1);
                by = by.or_else(|| Some(self.blocker(slot, Reason::Budget)));
                if !is_finished {
                    self.give(slot, Verdict::Delete, Reason::Old, None);
                }
            } else if !is_finished {
                self.give(slot, Verdict::Blocked, Reason::Budget, by);
            }
        }
    }

    /// Without the gate: replaces the highest old pod, unless one above it is unavailable.
    fn update_highest(&mut self) {
        let Update::RollingUpdate { partition, .. } = self.set.update else { return };
        let lowest = i64::from(self.set.start).saturating_add(partition.into());
        let mut expected = self.end().saturating_sub(1);
        let mut blocker = None;
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            if !self.is_in_range(member) || i64::from(member.ordinal) < lowest {
                continue;
            }
            let is_old = self.wish_of_update(member) == Wish::Old && !member.is(MemberFlags::TERMINATING);
            if blocker.is_none() && i64::from(member.ordinal) < expected {
                blocker = Some(missing(expected));
            }
            expected = expected.saturating_sub(1);
            match blocker {
                None if is_old => {
                    if !member.is(MemberFlags::FINISHED) {
                        self.give(slot, Verdict::Delete, Reason::Old, None);
                    }
                    blocker = Some(self.blocker(slot, Reason::OneAtATime));
                }
                None if member.is_unavailable() => {
                    let reason = fault(member).unwrap_or(Reason::WaitsForAvailable);
                    blocker = Some(self.blocker(slot, reason));
                }
                Some(by) if is_old && !member.is(MemberFlags::FINISHED) => {
                    self.give(slot, Verdict::Blocked, by.reason, Some(by));
                }
                _ => {}
            }
        }
    }

    /// How many pods may be unavailable during an update. 0 without one.
    fn budget(&self) -> i64 {
        match self.set.update {
            Update::RollingUpdate { max_unavailable, .. } if self.set.max_unavailable_gate => {
                max_unavailable.resolve(self.set.replicas, false).max(1)
            }
            Update::RollingUpdate { .. } => 1,
            Update::OnDelete | Update::Recreate => 0,
        }
    }

    /// Returns the highest ordinal in the range that has no pod. Such a pod counts as unavailable.
    fn absent(&self) -> Option<Blocker> {
        let mut expected = self.end().saturating_sub(1);
        for slot in 0..self.outcomes.len() {
            let member = self.at(slot);
            if !self.is_in_range(member) {
                continue;
            }
            if i64::from(member.ordinal) < expected {
                break;
            }
            expected = expected.saturating_sub(1);
        }
        let is_missing = expected >= i64::from(self.set.start);
        is_missing.then(|| missing(expected))
    }

    fn block_all(&mut self, blocker: Blocker) {
        self.for_each_wish(|_| (Verdict::Blocked, blocker.reason, Some(blocker)));
    }

    /// Decides for all members that do not stay anyway.
    fn for_each_wish(&mut self, decide: impl Fn(Wish) -> (Verdict, Reason, Option<Blocker>)) {
        for slot in 0..self.outcomes.len() {
            let wish = self.wish(self.at(slot));
            if !matches!(wish, Wish::Stay(_)) {
                let (verdict, reason, by) = decide(wish);
                self.give(slot, verdict, reason, by);
            }
        }
    }

    fn give(&mut self, slot: usize, verdict: Verdict, reason: Reason, by: Option<Blocker>) {
        if let Some(outcome) = self.outcomes.get_mut(slot) {
            let (by, by_ordinal) = by.map_or((NO_MEMBER, 0), |by| (by.by, by.ordinal));
            *outcome = Outcome { by, by_ordinal, verdict, ..Outcome::keep(outcome.member, reason) };
        }
    }

    /// Returns the member of a slot. The highest ordinal is in slot 0.
    fn at(&self, slot: usize) -> Member {
        member(self.members, self.outcomes.get(slot).map_or(NO_MEMBER, |outcome| outcome.member))
    }

    fn blocker(&self, slot: usize, reason: Reason) -> Blocker {
        let by = self.outcomes.get(slot).map_or(NO_MEMBER, |outcome| outcome.member);
        Blocker { by, ordinal: self.at(slot).ordinal, reason }
    }

    fn find(&self, is_wanted: impl Fn(Member) -> bool) -> Option<usize> {
        (0..self.outcomes.len()).find(|slot| is_wanted(self.at(*slot)))
    }

    fn find_last(&self, is_wanted: impl Fn(Member) -> bool) -> Option<usize> {
        (0..self.outcomes.len()).rev().find(|slot| is_wanted(self.at(*slot)))
    }

    fn count(&self, is_wanted: impl Fn(Member) -> bool) -> i64 {
        i64::try_from(self.members.iter().filter(|member| is_wanted(**member)).count()).unwrap_or(i64::MAX)
    }

    /// How far the ordinal is from `start`.
    fn offset(&self, member: Member) -> i64 {
        i64::from(member.ordinal).saturating_sub(self.set.start.into())
    }

    /// The first ordinal after the range.
    fn end(&self) -> i64 {
        i64::from(self.set.start).saturating_add(self.set.replicas.into())
    }

    fn is_in_range(&self, member: Member) -> bool {
        member.ordinal >= self.set.start && i64::from(member.ordinal) < self.end() && member.ordinal >= 0
    }

    fn is_condemned(&self, member: Member) -> bool {
        member.ordinal >= 0 && !self.is_in_range(member)
    }
}

/// Returns what keeps a set that takes one pod at a time from going on. The checks are in the order in which Kubernetes
/// makes them.
fn fault(member: Member) -> Option<Reason> {
    if member.is(MemberFlags::FINISHED) && !member.is(MemberFlags::TERMINATING) {
        Some(Reason::WaitsForFinished)
    } else if member.is(MemberFlags::TERMINATING) {
        Some(Reason::WaitsForTermination)
    } else if !member.is(MemberFlags::RUNNING) {
        Some(Reason::WaitsForRunning)
    } else if !member.is(MemberFlags::READY) {
        Some(Reason::WaitsForReady)
    } else if member.is(MemberFlags::AVAILABLE) {
        None
    } else {
        Some(Reason::WaitsForAvailable)
    }
}

fn missing(ordinal: i64) -> Blocker {
    let ordinal = i32::try_from(ordinal).unwrap_or(i32::MAX);
    Blocker { by: NO_MEMBER, ordinal, reason: Reason::WaitsForMissing }
}

fn member(members: &[Member], index: u32) -> Member {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    members.get(index).copied().unwrap_or(Member::new(-1, MemberFlags::NONE))
}
