//! The decisions by the order: compare, decide, select, sort.

use crate::explain::PODRANK_RULE_NONE;
use crate::memory::{Input, Output, apart};
use crate::options::{self, podrank_options};
use crate::question::Question;
use crate::record::{podrank_pod, valid};
use crate::status::run;
use core::mem::size_of;
use podrank::ffi::{IS_SCRATCH_USED, select_with, sort_with};
use podrank::{Candidate, Pod, Rule, Scratch};

/// Scratch memory of podrank_select for one victim, or of podrank_sort for four pods. Its contents are private and need
/// not be initialised.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_scratch {
    /// Private.
    pub words: [u64; 8],
}

const _: () = {
    // A candidate may need more alignment than a word, and then one is lost. Of the 4 k in k scratches, at
    // least the 2 k remain that selecting needs.
    assert!(size_of::<podrank_scratch>() == size_of::<Scratch>());
    assert!(size_of::<podrank_scratch>() == 4 * size_of::<Candidate>());
};

/// Returns the candidates in up to `most` elements of a scratch buffer. The rest is not initialised.
///
/// # Safety
/// As for [`Output::filled`].
unsafe fn candidates<'a>(scratch: Output<podrank_scratch>, most: usize) -> &'a mut [Candidate] {
    // SAFETY: promised to this function. A candidate is a number, for which any bits will do.
    unsafe {
        let nothing = podrank_scratch { words: [0; 8] };
        let scratch = scratch.filled(if IS_SCRATCH_USED { most } else { 0 }, nothing);
        // By words of 32 bits, to which i686 aligns: no step of a larger one would bring it into line.
        scratch.align_to_mut::<u32>().1.align_to_mut::<Candidate>().1
    }
}

/// Compares two pods. Writes -1 to ordering if a is deleted first, 1 if b is deleted first, and 0 if every rule ties.
/// Pods with distinct UIDs never tie. It has no statuses of its own, only those of promise 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_compare(
    a: *const podrank_pod,
    b: *const podrank_pod,
    options: *const podrank_options,
    ordering: *mut i32,
) -> i32 {
    run(|| {
        let ordering = Output::one(ordering)?;
        // SAFETY: promised in the header.
        let Question { a, b, policy, spans } = unsafe { Question::read(a, b, options) }?;
        apart(&[ordering.span()], &spans)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { ordering.set(policy.compare(a, b) as i32) };
        Ok(())
    })
}

/// Compares two pods as podrank_compare does, and stores the rule that decides in *rule. It is the first rule
/// that does not tie, or PODRANK_RULE_NONE if all tie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_decide(
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
        let (answer, decided_by) = policy.decide(a, b);
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            ordering.set(answer as i32);
            rule.set(decided_by.map_or(PODRANK_RULE_NONE, Rule::number));
        }
        Ok(())
    })
}

/// Selects the first victims_len pods of the order, or all if there are fewer. Writes their indices in pods
/// to victims, in deletion order, and their number to selected. Of pods that tie, the one with the lower
/// index is deleted first. The records do not move. To prefer pods on crowded nodes, call podrank_count_ranks before.
/// Kubernetes' own result can differ: see podrank_predict. podrank_select has no statuses of its own, only those of promise 1. A
/// victims_len below or above pods_len is not an error.
///
/// scratch is scratch memory for speed, and may be NULL with scratch_len 0. With one element per victim,
/// selecting more than a few victims is usually faster. A shorter buffer is allowed but may be
/// ignored. On machines without 64-bit atomics, such as Cortex-M and 32-bit RISC-V, scratch is always ignored.
/// The time grows with n log k, for n pods and k victims.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_select(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    victims: *mut u32,
    victims_len: usize,
    scratch: *mut podrank_scratch,
    scratch_len: usize,
    selected: *mut usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let victims = Output::new(victims, victims_len)?;
        let scratch = Output::new(scratch, scratch_len)?;
        let selected = Output::one(selected)?;
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[victims.span(), scratch.span(), selected.span()], &[pods.span(), options])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = valid(pods.read())?;
            let victims_len = victims_len.min(pods_len);
            // More than one per victim brings little.
            let scratch = candidates(scratch, victims_len);
            selected.set(select_with(&policy, pods, victims.filled(victims_len, 0), scratch)?.len());
        }
        Ok(())
    })
}

/// Sorts all pods: fills the array order with their indices, starting with the pod that is deleted first. Of pods
/// that tie, the one with the lower index is deleted first. The records do not move. If order_len is below
/// pods_len: PODRANK_ERR_SHORT_BUFFER.
///
/// scratch is scratch memory for speed, and may be NULL with scratch_len 0. With pods_len / 4 + 1 elements, sorting a
/// long list is several times faster. A shorter buffer helps less, and a longer one no more. On machines without 64-bit
/// atomics, such as Cortex-M and 32-bit RISC-V, scratch is always ignored.
/// The time grows with n log n, for n pods. With 64-bit atomics, it grows with n if they are in the order or in its
/// reverse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_sort(
    pods: *const podrank_pod,
    pods_len: usize,
    options: *const podrank_options,
    order: *mut u32,
    order_len: usize,
    scratch: *mut podrank_scratch,
    scratch_len: usize,
) -> i32 {
    run(|| {
        let pods = Input::new(pods.cast::<Pod>(), pods_len)?;
        let order = Output::new(order, order_len)?;
        let scratch = Output::new(scratch, scratch_len)?;
        // SAFETY: promised in the header.
        let (policy, options) = unsafe { options::read(options) }?;
        apart(&[order.span(), scratch.span()], &[pods.span(), options])?;
        order.needs(pods_len)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let pods = valid(pods.read())?;
            // One candidate may be lost to the alignment.
            let scratch = candidates(scratch, (pods_len / 4).saturating_add(1));
            sort_with(&policy, pods, order.filled(pods.len(), 0), scratch)?;
        }
        Ok(())
    })
}
