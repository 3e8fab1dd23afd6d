//! Why one pod goes before another: every rule's answer.

use crate::order::value;
use crate::{Pod, Policy, Rule, Time};
use core::cmp::Ordering;

/// What every rule says of two pods, in rule order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    rows: [Row; Rule::RULES.len()],
}

/// What one rule says of two pods `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// Whether it is asked at all: its gate is on and, for [`Rule::ReadyTime`], both pods are ready.
    pub applies: bool,
    /// Which pod goes first by this rule alone: `Less` for `a`; `Equal` if it does not apply.
    pub ordering: Ordering,
    /// Whether this is the rule that settles the pair: the first whose ordering is not `Equal`.
    pub decides: bool,
    /// What `a` and `b` are.
    pub kind: ValueKind,
    /// The value of `a` that the rule looks at.
    pub a: i64,
    /// The value of `b` that the rule looks at.
    pub b: i64,
}

/// What the two integers of a [`Row`] are. A kind keeps its number for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ValueKind {
    /// 0 for no, 1 for yes: assigned, ready, preferred.
    Bool = 1,
    /// A phase ordinal: 0 pending, 1 unknown, 2 running.
    Phase = 2,
    /// A plain number: a tier, a deletion cost, a rank, a count of restarts.
    Number = 3,
    /// Nanoseconds since the Unix epoch, or `i64::MIN` for unset.
    Time = 4,
    /// The power of two that the age in nanoseconds reaches, -1 for a time that is not before
    /// `now`, or `i64::MIN` for unset.
    AgeBucket = 5,
    /// UIDs do not fit an integer: both are 0, read the pods.
    Uid = 6,
}

impl Explanation {
    /// One row per rule, those that do not apply included, in rule order.
    #[must_use]
    pub const fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row that settles the pair, if any does.
    #[must_use]
    pub fn deciding(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.decides)
    }
}

impl Row {
    /// A rule that does not apply.
    const fn new(rule: Rule) -> Self {
        let (ordering, kind) = (Ordering::Equal, ValueKind::Uid);
        Self { rule, applies: false, ordering, decides: false, kind, a: 0, b: 0 }
    }
}

impl Policy {
    /// What every rule says of `a` and `b`: as [`decide`](Policy::decide), with the reasons.
    pub fn explain(&self, a: &Pod, b: &Pod) -> Explanation {
        // Filled where it stands: a second copy of all rows would not fit a small stack.
        let mut explanation = Explanation { rows: Rule::RULES.map(Row::new) };
        let mut settled = false;
        for row in &mut explanation.rows {
            let rule = row.rule;
            if let (Some(a), Some(b)) = (value(rule, a, self), value(rule, b, self)) {
                row.applies = true;
                row.ordering = a.cmp(&b);
            }
            row.decides = !settled && row.ordering.is_ne();
            settled |= row.decides;
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

    /// The value that `rule` looks at, in the reader's units.
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
