//! What kube-controller-manager would do: its comparator, and which victims that determines.

use crate::explain::PODRANK_RULE_NONE;
use crate::memory::{Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::question::Question;
use crate::record::{podrank_pod, valid};
use crate::status::run;
use podrank::{KubernetesOrdering, Pod, Rule};

/// Says how kube-controller-manager's comparator orders two pods. Stores -1 in *ordering if a is before b, 1 if b is before
/// a, and 0 if neither is, which is a tie. Stores the rule that decides, or PODRANK_RULE_NONE for a tie, in *rule.
///
/// The comparator differs from the order in four ways. It has neither tiers nor PreferForScaleDown. If two
/// times differ, but their ages are in one age bucket, it skips the other rules and compares the UIDs: *rule
/// is then PODRANK_RULE_UID. Only there does it compare UIDs, so pods with different UIDs can tie. And from
/// 2^49 ns (6.5 days) on, its age buckets begin a little below the powers of two.
///
/// NEVER SORT BY IT, because it contradicts itself: of three pods, each can be before the next and the last before the
/// first; or two pods tie, but a third is after one and before the other. The reason is that different times in one age bucket let
/// the UIDs decide, but equal times let later rules decide.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_kubernetes_compare(
    a: *const podrank_pod,
    b: *const podrank_pod,
    options: *const podrank_options,
    ordering: *mut i32,
    rule: *mut u8,
) -> i32 {
    run(|| {
        let (ordering, rule) = (Output::one(ordering)?, Output::one(rule)?);
        // SAFETY: promised in the header.
        let Question { a, b, policy, spans } = unsafe { Question::read(a, b, options) }?;
        apart(&[ordering.span(), rule.span()], &spans)?;
        let (answer, decided_by) = policy.kubernetes_compare(a, b);
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            ordering.set(match answer {
                KubernetesOrdering::Before => -1,
                KubernetesOrdering::Tie => 0,
                KubernetesOrdering::After => 1,
            });
            rule.set(decided_by.map_or(PODRANK_RULE_NONE, Rule::number));
        }
        Ok(())
    })
}

/// Finds which pods kube-controller-manager deletes when it deletes k of them. Its comparator can contradict itself
/// (see podrank_kubernetes_compare), and pods can tie in everything that it compares, because it does not compare UIDs at
/// the end. In both cases its list order decides.
///
/// Fills the array order with the indices of all pods. It deletes the first *deleted_len of them in every list order. The
/// next *possible_len are possible: it deletes min(k, pods_len) - *deleted_len of them, and the list order decides
/// which. It keeps the rest. If k is pods_len or more, all are deleted. scores is scratch memory.
/// If order_len or scores_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
///
/// Call podrank_count_ranks first, as before podrank_select. But leave the ranks at 0 if Kubernetes counts none, as for a ReplicaSet
/// that no other object controls.
///
/// The result holds for one sync, at the time in options->now. A sync deletes at most 500
/// pods, so for a larger k, later syncs can choose other pods. The result can also differ if an age reaches
/// the next power of two before the controller runs.
/// The time grows with n log n, for n pods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_predict(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    k: usize,
    order: *mut u32,
    order_len: usize,
    scores: *mut u64,
    scores_len: usize,
    deleted_len: *mut usize,
    possible_len: *mut usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (order, scores) = (Output::new(order, order_len)?, Output::new(scores, scores_len)?);
        let (deleted_len, possible_len) = (Output::one(deleted_len)?, Output::one(possible_len)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        let written = [order.span(), scores.span(), deleted_len.span(), possible_len.span()];
        apart(&written, &[pods.span(), options])?;
        order.needs(pods_len)?;
        scores.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = valid(pods.read())?;
            let (order, scores) = (order.filled(pods_len, 0), scores.filled(pods_len, 0));
            let prediction = policy.predict(pods, k, order, scores)?;
            deleted_len.set(prediction.deleted().len());
            possible_len.set(prediction.possible().len());
        }
        Ok(())
    })
}
