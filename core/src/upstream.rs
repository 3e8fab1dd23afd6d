//! What kube-controller-manager's own comparator says of two pods. It is not an order: see [`Relation`].

use crate::order::value;
use crate::{Pod, Policy, Rule, Time};
use core::cmp::Ordering;

/// What Kubernetes' comparator says of two pods `a` and `b`.
///
/// Three pods can each be before the next, in a circle: with log-scaled ages, two pods that became ready at
/// different moments of one age bucket are settled by UID at once, and two of the same moment by restarts. **Never sort by
/// it**, which is why it is no `Ordering`; [`Policy::settle`] says what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Neither is before the other.
    Tie,
    /// `a` is before `b`.
    Before,
    /// `b` is before `a`.
    After,
}

impl Policy {
    /// What `ActivePodsWithRanks.Less` of Kubernetes says of two pods, asked both ways, with the rule that settled it.
    ///
    /// The steps are those of the order but for three things: there is no [`Rule::Tier`] and no [`Rule::Preferred`]; where two differing
    /// times fall into one age bucket, the UID settles the pair at once; and no UID is asked at the end.
    /// Buckets are those of Go's floating-point `log2`, which come a little early below the powers of two
    /// from 2^49 ns (6.5 days) on.
    #[must_use]
    pub fn upstream(&self, a: &Pod, b: &Pod) -> (Relation, Option<Rule>) {
        for &rule in Rule::ALL {
            let (ordering, rule) = match rule {
                // Both are, or an earlier rule told them apart.
                Rule::ReadyTime if a.is_ready() => self.by_age(a, b, rule, |pod| pod.ready_time),
                Rule::CreationTime => self.by_age(a, b, rule, |pod| pod.creation_time),
                Rule::Tier | Rule::Preferred | Rule::ReadyTime | Rule::Uid => continue,
                _ => (value(rule, a, self).cmp(&value(rule, b, self)), rule),
            };
            match ordering {
                Ordering::Less => return (Relation::Before, Some(rule)),
                Ordering::Greater => return (Relation::After, Some(rule)),
                // The UID is asked last of all: if it ties, so do the pods.
                Ordering::Equal if rule == Rule::Uid => break,
                Ordering::Equal => {}
            }
        }
        (Relation::Tie, None)
    }

    /// A step on times: what it says, and whether the UID said it.
    fn by_age(&self, a: &Pod, b: &Pod, rule: Rule, time: fn(&Pod) -> Time) -> (Ordering, Rule) {
        let (s, t) = (time(a), time(b));
        match self.upstream_age(s).cmp(&self.upstream_age(t)) {
            Ordering::Equal if s != t => (a.uid.cmp(&b.uid), Rule::Uid),
            ordering => (ordering, rule),
        }
    }

    /// Youngest first: unset, then by Go's age bucket, or without buckets the latest moment first.
    pub(crate) fn upstream_age(&self, time: Time) -> u64 {
        if self.has_buckets() && !time.is_unset() {
            let age = self.now.bits().saturating_sub(time.bits());
            go_log2(age).wrapping_add(2).cast_unsigned().into()
        } else {
            time.latest_first()
        }
    }
}

/// Go's `int64(math.Log2(float64(age)))` for a positive age in nanoseconds, else -1.
///
/// `float64` rounds an age above 2^53, and the logarithm rounds up just below a power of two: for the last `w` ns
/// below 2^e it is e, with w = 45 at e = 54 and doubling from one e to the next, less the fraction. Measured with
/// Go 1.27; `go/judge` checks it.
fn go_log2(age: i64) -> i32 {
    let Some(floor) = age.checked_ilog2() else { return -1 };
    let next = floor.wrapping_add(1);
    let early = 45_u64
        .checked_shl(next.wrapping_sub(54))
        .unwrap_or_else(|| 45_u64.checked_shr(54_u32.wrapping_sub(next)).unwrap_or(0));
    let power = 1_u64.wrapping_shl(next);
    let reached = age.cast_unsigned() >= power.wrapping_sub(early);
    if reached { next.cast_signed() } else { floor.cast_signed() }
}
