//! How kube-controller-manager sorts a list, and how likely it deletes each pod.

use crate::layout::same_layout;
use crate::memory::{InOut, Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::record::{podrank_pod, valid};
use crate::status::run;
use podrank::{Pod, Probability, ProbabilityScratch};

/// How likely a pod is deleted: in deleted of samples lists that were looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct podrank_probability {
    /// In how many lists the pod is deleted.
    pub deleted: u32,
    /// Of how many, which is never 0. Pods can have different numbers here.
    pub samples: u32,
    /// The standard error of deleted / samples in millionths, because the lists are a sample, or 0 if the probabilities are exact.
    pub std_error_ppm: u32,
}

/// Scratch memory of podrank_probabilities and podrank_kubernetes_sort for one pod. Its contents are private and need not be
/// initialised.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_probability_scratch {
    /// Private.
    pub words: [u64; 4],
}

same_layout!(podrank_probability, Probability, 12: deleted samples std_error_ppm);
same_layout!(podrank_probability_scratch, ProbabilityScratch, 32:);

/// Finds what podrank_predict finds, and how likely kube-controller-manager deletes each pod when it deletes k of them. A
/// probability is the share of all lists of these pods in which its sort puts the pod among the first k.
///
/// order, deleted_len and possible_len get what podrank_predict stores there. probabilities[i] is that of pods[i]: 1 of 1 if it
/// is deleted in every list order, 0 of 1 if in none. The others are exact in two cases: all possible pods relate alike to
/// every other pod; or there are at most 12 pods, of which at most 7 are possible. Otherwise they are estimated from
/// pseudo-random list orders, the same in every call and release. samples is their number; 0 means 4096, with which the
/// standard error is at most 0.8 percentage points. A possible pod that is deleted in none or in all of them is possible all
/// the same. All probabilities add up to k, or to pods_len if that is less. The same pods have the
/// same probabilities in any list and on any machine, if their UIDs are distinct.
///
/// The probabilities hold for one sync, as what podrank_predict finds does, and as long as nothing is known of the list: a
/// controller that deletes the same pods twice starts from similar lists.
///
/// If order_len, probabilities_len or scratch_len is below pods_len: PODRANK_ERR_SHORT_BUFFER.
/// The time grows with n log n, for n pods. If there are possible pods whose probabilities are not exact, it takes samples times as long:
/// with 4096, on a fast machine, less than a quarter of a second for 1000 pods, and more than a second for 20,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_probabilities(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    k: usize,
    samples: u16,
    order: *mut u32,
    order_len: usize,
    probabilities: *mut podrank_probability,
    probabilities_len: usize,
    scratch: *mut podrank_probability_scratch,
    scratch_len: usize,
    deleted_len: *mut usize,
    possible_len: *mut usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let (order, probabilities) = (
            Output::new(order, order_len)?,
            Output::new(probabilities.cast::<Probability>(), probabilities_len)?,
        );
        let scratch = Output::new(scratch.cast::<ProbabilityScratch>(), scratch_len)?;
        let (deleted_len, possible_len) = (Output::one(deleted_len)?, Output::one(possible_len)?);
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        let written =
            [order.span(), probabilities.span(), scratch.span(), deleted_len.span(), possible_len.span()];
        apart(&written, &[pods.span(), options])?;
        order.needs(pods_len)?;
        probabilities.needs(pods_len)?;
        scratch.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = valid(pods.read())?;
            let (order, scratch) = (order.filled(pods_len, 0), scratch.filled(pods_len, [0; 4]));
            let probabilities = probabilities.filled(pods_len, Probability::default());
            let prediction = policy.probabilities(pods, k, samples, order, probabilities, scratch)?;
            deleted_len.set(prediction.deleted().len());
            possible_len.set(prediction.possible().len());
        }
        Ok(())
    })
}

/// Sorts a list of pods as kube-controller-manager does. It uses that controller's comparator, which podrank_kubernetes_compare
/// asks, and Go's sort. Because the comparator can contradict itself, the result depends on the order of the list, and on how Go sorts.
///
/// list has indices in pods, in the order in which the controller lists them, which nobody outside the controller can know. An
/// index that is not below pods_len stays in the list, at no particular place. The records do not move. If scratch_len is below
/// list_len: PODRANK_ERR_SHORT_BUFFER.
/// The time grows with n log n, for n elements of the list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_kubernetes_sort(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    list: *mut u32,
    list_len: usize,
    scratch: *mut podrank_probability_scratch,
    scratch_len: usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let list = InOut::new(list, list_len)?;
        let scratch = Output::new(scratch.cast::<ProbabilityScratch>(), scratch_len)?;
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[list.span(), scratch.span()], &[pods.span(), options])?;
        scratch.needs(list_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = valid(pods.read())?;
            policy.kubernetes_sort(pods, list.all(), scratch.filled(list_len, [0; 4]))?;
        }
        Ok(())
    })
}
