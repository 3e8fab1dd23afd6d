//! What kube-controller-manager's own comparator says about two pods. It is not an order: see [`KubernetesOrdering`].

use crate::order::value;
use crate::{Pod, Policy, Rule, Time};
use core::cmp::Ordering;

/// What Kubernetes' comparator says about two pods `a` and `b`.
///
/// The comparator contradicts itself. This is because, with log-scaled ages, the UID decides between pods that became
/// ready at different times in one age bucket, but later rules decide between pods that became ready at the same
/// time. `a` can be before `b` and `b` before `c`, although `a` and `c` tie. If restarts differ as well, the comparator
/// can even be cyclic: `c` before `a`. **Never sort by it**, which is why this is not an `Ordering`. [`Policy::predict`]
/// says what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KubernetesOrdering {
    /// Neither is before the other.
    Tie,
    /// `a` is before `b`.
    Before,
    /// `b` is before `a`.
    After,
}

impl Policy {
    /// Returns what Kubernetes' `ActivePodsWithRanks.Less` says about `a` and `b` and about `b` and `a`, and the
    /// rule that decides.
    ///
    /// It differs from the order in four ways. [`Rule::Tier`] and [`Rule::Preferred`] do not exist. If two
    /// different times are in one age bucket, the UID decides immediately. The UID is not compared at the end. And age
    /// buckets are computed with Go's floating-point `log2`: from an age of 2^49 ns (6.5 days) on, each bucket
    /// begins a little below the power of two.
    #[must_use]
    pub fn kubernetes_compare(&self, a: &Pod, b: &Pod) -> (KubernetesOrdering, Option<Rule>) {
        for &rule in Rule::ALL {
            let (ordering, rule) = match rule {
                // If one is ready, both are, or an earlier rule has decided.
                Rule::ReadyTime if a.is_ready() => self.by_age(a, b, rule, |pod| pod.ready_time),
                Rule::CreationTime => self.by_age(a, b, rule, |pod| pod.creation_time),
                Rule::Tier | Rule::Preferred | Rule::ReadyTime | Rule::Uid => continue,
                _ => (value(rule, a, self).cmp(&value(rule, b, self)), rule),
            };
            match ordering {
                Ordering::Less => return (KubernetesOrdering::Before, Some(rule)),
                Ordering::Greater => return (KubernetesOrdering::After, Some(rule)),
                // Nothing follows the UID: if it ties, so do the pods.
                Ordering::Equal if rule == Rule::Uid => break,
                Ordering::Equal => {}
            }
        }
        (KubernetesOrdering::Tie, None)
    }

    /// Compares two times. Returns the ordering, and whether `rule` or the UID decides.
    fn by_age(&self, a: &Pod, b: &Pod, rule: Rule, time: fn(&Pod) -> Time) -> (Ordering, Rule) {
        let (s, t) = (time(a), time(b));
        match self.kubernetes_age(s).cmp(&self.kubernetes_age(t)) {
            Ordering::Equal if s != t => (a.uid.cmp(&b.uid), Rule::Uid),
            ordering => (ordering, rule),
        }
    }

    /// Returns a value that puts unset times first. The others follow by Go's age bucket if the policy has
    /// buckets, and from the latest to the earliest if not.
    pub(crate) fn kubernetes_age(&self, time: Time) -> u64 {
        if self.has_buckets() && !time.is_unset() {
            let age = self.now.bits().saturating_sub(time.bits());
            go_log2(age).wrapping_add(2).cast_unsigned().into()
        } else {
            time.latest_first()
        }
    }
}

/// Returns Go's `int64(math.Log2(float64(age)))` for a positive age in nanoseconds, and -1 for any other.
///
/// `float64` rounds an age above 2^53, and the logarithm rounds up just below a power of two: for the last
/// `w` ns below 2^e, the result is e. `w` is 45 at e = 54 and doubles from one e to the next, rounded down.
/// Measured with Go 1.27; `judge/code` checks it.
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
