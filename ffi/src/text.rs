//! Reads texts from Kubernetes: UIDs, phases, deletion costs, node names.

use crate::memory::{InOut, Input, Output, apart};
use crate::status::{Error, PODRANK_ERR_INACTIVE, PODRANK_ERR_NODE_NAME, PODRANK_ERR_NODES_FULL, run};
use core::ffi::c_char;
use core::mem::size_of;
use podrank::ffi::node_number;
use podrank::{Phase, Uid, deletion_cost};

/// The length of a UID's text, without the NUL.
pub const PODRANK_UID_TEXT_LEN: usize = 36;

const _: () = assert!(PODRANK_UID_TEXT_LEN == Uid::TEXT_LEN);

/// Reads metadata.uid. It must be a lower-case UUID in groups of 8-4-4-4-12 hex digits, the only form that
/// kube-apiserver writes. Writes 16 bytes to uid. If uid_len is below 16: PODRANK_ERR_SHORT_BUFFER. If the text is another:
/// PODRANK_ERR_UID_LENGTH, PODRANK_ERR_UID_HYPHEN or PODRANK_ERR_UID_DIGIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_uid_parse(
    text: *const c_char,
    text_len: usize,
    uid: *mut u8,
    uid_len: usize,
) -> i32 {
    run(|| {
        let (text, uid) = (Input::new(text.cast::<u8>(), text_len)?, Output::new(uid, uid_len)?);
        apart(&[uid.span()], &[text.span()])?;
        uid.needs(16)?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            uid.write(Uid::parse(text.read())?.to_bytes());
        }
        Ok(())
    })
}

/// Writes the text of a UID of 16 bytes, and a NUL: PODRANK_UID_TEXT_LEN + 1 bytes. If text_len is below that:
/// PODRANK_ERR_SHORT_BUFFER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_uid_format(uid: *const u8, text: *mut c_char, text_len: usize) -> i32 {
    run(|| {
        let uid = Input::new(uid, 16)?;
        let text = Output::new(text.cast::<u8>(), text_len)?;
        apart(&[text.span()], &[uid.span()])?;
        text.needs(PODRANK_UID_TEXT_LEN.saturating_add(1))?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let uid = uid.read().first_chunk().map_or_else(Uid::default, |bytes| Uid::from_bytes(*bytes));
            text.write(uid.to_text().into_iter().chain([0]));
        }
        Ok(())
    })
}

/// Reads status.phase and writes a PODRANK_PHASE_ value. Text that is not a phase counts as Pending, as it
/// does in Kubernetes. Succeeded and Failed are PODRANK_ERR_INACTIVE, because such a pod has no place in the
/// order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_phase_parse(text: *const c_char, text_len: usize, phase: *mut u8) -> i32 {
    run(|| {
        let (text, phase) = (Input::new(text.cast::<u8>(), text_len)?, Output::one(phase)?);
        apart(&[phase.span()], &[text.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let parsed = Phase::parse(text.read()).ok_or(Error(PODRANK_ERR_INACTIVE))?;
            phase.set(parsed.ordinal());
        }
        Ok(())
    })
}

/// Reads the annotation controller.kubernetes.io/pod-deletion-cost as Kubernetes does. A cost is a base-10 int32
/// that is "0", or digits of which the first is not 0, or '-' and digits, which may start with 0. If the annotation is missing,
/// the cost is 0. If the status is from PODRANK_ERR_COST_EMPTY to PODRANK_ERR_COST_RANGE, Kubernetes rejects the text and
/// uses 0, so do the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_deletion_cost_parse(
    text: *const c_char,
    text_len: usize,
    cost: *mut i32,
) -> i32 {
    run(|| {
        let (text, cost) = (Input::new(text.cast::<u8>(), text_len)?, Output::one(cost)?);
        apart(&[cost.span()], &[text.span()])?;
        // SAFETY: checked above; the rest is promised in the header.
        unsafe { cost.set(deletion_cost(text.read())?) };
        Ok(())
    })
}

/// A slot in a table of node names. Start from all zeros. After that, only podrank_node_number may write it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_node_name {
    /// The name's bytes, or NULL if the slot is free.
    pub name: *const c_char,
    /// The number of bytes.
    pub len: usize,
}

const _: () = assert!(size_of::<podrank_node_name>() == 2 * size_of::<*const c_char>());

/// Stores the number of the node with this name in *node. The number is below table_len, and it is the same
/// in every call with this table, this table_len and this name. So pass the same table_len in every call.
///
/// You own the table: zero it before the first call. It keeps the pointers to the names, so a name's bytes must
/// stay unchanged in the same place for as long as you use the table. Give it a third more slots than there are
/// nodes: the fuller it is, the longer it takes to find a name.
///
/// If the name is new and no slot is free: PODRANK_ERR_NODES_FULL. If the name is empty: PODRANK_ERR_NODE_NAME. Names
/// cannot be removed, and a table cannot grow: to forget names or to have more slots, zero a whole table and number all
/// nodes again, in every record. A call may write the table, so threads that share one need a lock. With a third more
/// slots than names, the time does not grow with the table on average. In a full one, it grows with table_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_node_number(
    table: *mut podrank_node_name,
    table_len: usize,
    name: *const c_char,
    name_len: usize,
    node: *mut u32,
) -> i32 {
    run(|| {
        let table = InOut::new(table, table_len)?;
        let text = Input::new(name.cast::<u8>(), name_len)?;
        let node = Output::one(node)?;
        apart(&[table.span(), node.span()], &[text.span()])?;
        if name_len == 0 {
            return Err(Error(PODRANK_ERR_NODE_NAME));
        }
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            let (table, text) = (table.all(), text.read());
            let slot = node_number(table, text, |slot| slot.held()).ok_or(Error(PODRANK_ERR_NODES_FULL))?;
            if let Some(free) = table.get_mut(slot as usize).filter(|slot| slot.name.is_null()) {
                *free = podrank_node_name { name, len: name_len };
            }
            node.set(slot);
        }
        Ok(())
    })
}

impl podrank_node_name {
    /// # Safety
    /// `name` is NULL or points to `len` bytes that do not change.
    unsafe fn held(&self) -> Option<&[u8]> {
        let name = Input::new(self.name.cast::<u8>(), self.len).ok().filter(|_| !self.name.is_null())?;
        // SAFETY: the caller's.
        Some(unsafe { name.read() })
    }
}
