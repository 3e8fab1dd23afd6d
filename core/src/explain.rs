//! Explains why one pod is deleted before another: every rule's answer.

use crate::order::value;
use crate::{Pod, Policy, Rule, Time};
use core::cmp::Ordering;

/// What every rule says about two pods, in rule order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    rows: [Row; Rule::RULES.len()],
}

/// What one rule says about two pods `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// Whether the rule applies: its gate is on and, for [`Rule::ReadyTime`], both pods are ready.
    pub applies: bool,
    /// Which pod is deleted first by this rule alone: `Less` for `a`, `Greater` for `b`. `Equal` if the rule ties
    /// or does not apply.
    pub ordering: Ordering,
    /// Whether this is the rule that decides: the first whose ordering is not `Equal`.
    pub decides: bool,
    /// The kind of the values in the fields `a` and `b`.
    pub kind: ValueKind,
    /// The value that the rule reads from pod `a`.
    pub a: i64,
    /// The value that the rule reads from pod `b`.
    pub b: i64,
}

/// The kind of the two values in a [`Row`]. The number of a kind never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ValueKind {
    /// 0 for no and 1 for yes: assigned, ready or preferred.
    Bool = 1,
    /// A phase ordinal: 0 pending, 1 unknown, 2 running.
    Phase = 2,
    /// A plain number: a tier, a deletion cost, a rank, a count of restarts.
    Number = 3,
    /// Nanoseconds since the Unix epoch, or `i64::MIN` for unset.
    Time = 4,
    /// An age bucket: the base-2 logarithm of the age in nanoseconds, rounded down, from 0 to 62. -1 for a
    /// time that is not before `now`, and `i64::MIN` for unset.
    AgeBucket = 5,
    /// A UID, which does not fit: both values are 0. Read the UIDs from the pods.
    Uid = 6,
}

impl Explanation {
    /// Returns one row per rule, in rule order, including rules that do not apply.
    #[must_use]
    pub const fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the row of the rule that decides, or `None` if all rules tie.
    #[must_use]
    pub fn deciding(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.decides)
    }
}

impl Row {
    /// Returns the row of a rule that does not apply.
    const fn new(rule: Rule) -> Self {
        let (ordering, kind) = (Ordering::Equal, ValueKind::Uid);
        Self { rule, applies: false, ordering, decides: false, kind, a: 0, b: 0 }
    }
}

impl Policy {
    /// Returns what every rule says about `a` and `b`. The row that [decides](Row::decides) has the rule that
    /// [`decide`](Policy::decide) returns.
    pub fn explain(&self, a: &Pod, b: &Pod) -> Explanation {
        // Filled in place, because a second copy of all rows would not fit a small stack.
        let mut explanation = Explanation { rows: Rule::RULES.map(Row::new) };
        let mut decided = false;
        for row in &mut explanation.rows {
            let rule = row.rule;
            if let (Some(a), Some(b)) = (value(rule, a, self), value(rule, b, self)) {
                row.applies = true;
                row.ordering = a.cmp(&b);
            }
            row.decides = !decided && row.ordering.is_ne();
            decided |= row.decides;
            row.kind = self.kind(rule);
            row.a = self.shown(rule, a);
            row.b = self.shown(rule, b);
        }
        explanation
    }

    fn kind(&self, rule: Rule) -> ValueKind {
        match rule {
            Rule::Unassigned | Rule::NotReady | Rule::Preferred => ValueKind::Bool,
            Rule::Phase => ValueKind::Phase,
            Rule::Tier | Rule::DeletionCost | Rule::Rank | Rule::Restarts | Rule::SidecarRestarts => {
                ValueKind::Number
            }
            Rule::ReadyTime | Rule::CreationTime if self.has_buckets() => ValueKind::AgeBucket,
            Rule::ReadyTime | Rule::CreationTime => ValueKind::Time,
            Rule::Uid => ValueKind::Uid,
        }
    }

    /// Returns the value that `rule` reads, in units for people.
    fn shown(&self, rule: Rule, pod: &Pod) -> i64 {
        match rule {
            Rule::Unassigned => pod.is_assigned().into(),
            Rule::Phase => pod.phase.ordinal().into(),
            Rule::NotReady => pod.is_ready().into(),
            Rule::Tier => pod.tier.into(),
            Rule::DeletionCost => pod.deletion_cost.into(),
            Rule::Rank => pod.rank.into(),
            Rule::Preferred => pod.is_preferred().into(),
            Rule::ReadyTime => self.shown_time(pod.ready_time),
            Rule::Restarts => pod.restarts.into(),
            Rule::SidecarRestarts => pod.sidecar_restarts.into(),
            Rule::CreationTime => self.shown_time(pod.creation_time),
            Rule::Uid => 0,
        }
    }

    fn shown_time(&self, time: Time) -> i64 {
        self.age_bucket(time).map_or(time.bits(), i64::from)
    }
}
