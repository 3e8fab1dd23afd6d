//! What kube-controller-manager would do: the relation and what it determines.

use crate::memory::{Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::order::Question;
use crate::record::{PODRANK_RULE_NONE, podrank_pod, sound};
use crate::status::run;
use podrank::{Pod, Relation, Rule};

/// Neither pod is before the other.
pub const PODRANK_RELATION_TIE: i32 = 0;
/// a is before b.
pub const PODRANK_RELATION_BEFORE: i32 = 1;
/// b is before a.
pub const PODRANK_RELATION_AFTER: i32 = 2;

/// What the comparator of kube-controller-manager says of two pods: a PODRANK_RELATION_ value, and the rule that settled it,
/// PODRANK_RULE_NONE of a tie. PreferForScaleDown does not exist there and is not looked at.
///
/// NEVER SORT BY IT. Three pods can each be before the next, in a circle: where two different times fall between the same
/// powers of two nanoseconds of age, it asks the UID at once, and where they are the same, the restarts first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_upstream(
    a: *const podrank_pod,
    b: *const podrank_pod,
    options: *const podrank_options,
    relation: *mut i32,
    rule: *mut u8,
) -> i32 {
    run(|| {
        let (relation, rule) = (Output::one(relation)?, Output::one(rule)?);
        // SAFETY: promised in the header.
        let Question { a, b, policy, spans } = unsafe { Question::read(a, b, options) }?;
        apart(&[relation.span(), rule.span()], &spans)?;
        let (answer, decided_by) = policy.upstream(a, b);
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            relation.set(match answer {
                Relation::Tie => PODRANK_RELATION_TIE,
                Relation::Before => PODRANK_RELATION_BEFORE,
                Relation::After => PODRANK_RELATION_AFTER,
            });
            rule.set(decided_by.map_or(PODRANK_RULE_NONE, Rule::number));
        }
        Ok(())
    })
}

/// Which of the pods kube-controller-manager deletes when it deletes k of them. Since its comparator goes in circles, it
/// is sometimes the order of its list that decides. So order gets the indices of all pods, first those that are CERTAIN
/// to go (certain_len of them, first to go first), then the CONTESTED ones (contested_len), of which k - certain_len go,
/// nobody can say which; the rest stay. If k is pods_len or more, all are certain. Ranks are for you to count, or to leave at 0 where Kubernetes counts none.
///
/// It holds for this now: a pod whose age reaches a power of two before the controller looks may change its place. order
/// has room for pods_len indices, scores is scratch of pods_len numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_settle(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    k: usize,
    order: *mut u32,
    scores: *mut u64,
    certain_len: *mut usize,
    contested_len: *mut usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (order, scores) = (Output::new(order, pods_len)?, Output::new(scores, pods_len)?);
        let (certain_len, contested_len) = (Output::one(certain_len)?, Output::one(contested_len)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        let written = [order.span(), scores.span(), certain_len.span(), contested_len.span()];
        apart(&written, &[pods.span(), options])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = sound(pods.read())?;
            let (order, scores) = (order.filled(pods_len, 0), scores.filled(pods_len, 0));
            let settled = policy.settle(pods, k, order, scores)?;
            certain_len.set(settled.certain().len());
            contested_len.set(settled.contested().len());
        }
        Ok(())
    })
}
