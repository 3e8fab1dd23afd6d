//! The caller's buffers: checked before anything is read of them or written to them.
//!
//! The only place that makes references of a caller's pointers.

use crate::status::{
    Error, PODRANK_ERR_MISALIGNED, PODRANK_ERR_NULL, PODRANK_ERR_OVERLAP, PODRANK_ERR_TOO_LONG,
};
use core::mem::{align_of, size_of};
use core::slice;

/// A buffer of `T` that is only read: sound in address, alignment and length.
pub(crate) struct Input<T> {
    start: *const T,
    len: usize,
}

/// A buffer of `T` that is written: sound in address, alignment and length.
pub(crate) struct Output<T> {
    start: *mut T,
    len: usize,
}

/// The addresses that a buffer takes.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// No memory.
    pub(crate) const EMPTY: Self = Self { start: 0, end: 0 };
}

impl<T> Input<T> {
    pub(crate) fn new(start: *const T, len: usize) -> Result<Self, Error> {
        check(start, len)?;
        Ok(Self { start, len })
    }

    pub(crate) fn one(start: *const T) -> Result<Self, Error> {
        Self::new(start, 1)
    }

    pub(crate) fn span(&self) -> Span {
        span(self.start, self.len)
    }

    /// The buffer's contents.
    ///
    /// # Safety
    /// It points to `len` values that nobody writes for as long as the slice lives; buffers of the same call
    /// have been found [`apart`].
    pub(crate) unsafe fn read<'a>(self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T> Output<T> {
    pub(crate) fn new(start: *mut T, len: usize) -> Result<Self, Error> {
        check(start, len)?;
        Ok(Self { start, len })
    }

    pub(crate) fn one(start: *mut T) -> Result<Self, Error> {
        Self::new(start, 1)
    }

    pub(crate) fn span(&self) -> Span {
        span(self.start, self.len)
    }

    /// The buffer, to be written.
    ///
    /// # Safety
    /// It points to `len` values that nobody else reads or writes for as long as the slice lives; buffers of the
    /// same call have been found [`apart`].
    pub(crate) unsafe fn write<'a>(self) -> &'a mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// The buffer, with `value` in every element: for types that have bit patterns without meaning.
    ///
    /// # Safety
    /// As for [`Output::write`].
    pub(crate) unsafe fn filled<'a>(self, value: T) -> &'a mut [T]
    where
        T: Copy,
    {
        for index in 0..self.len {
            // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
            unsafe { self.start.wrapping_add(index).write(value) };
        }
        // SAFETY: the caller's; every element is a value now.
        unsafe { self.write() }
    }

    /// Puts `value` into a buffer of one.
    ///
    /// # Safety
    /// As for [`Output::write`].
    pub(crate) unsafe fn set(self, value: T) {
        if self.len != 0 {
            // SAFETY: not NULL and aligned by `check`; the rest is the caller's promise.
            unsafe { self.start.write(value) };
        }
    }
}

fn check<T>(start: *const T, len: usize) -> Result<(), Error> {
    if len == 0 {
        return Ok(());
    }
    if start.is_null() {
        return Err(Error(PODRANK_ERR_NULL));
    }
    if !start.addr().is_multiple_of(align_of::<T>()) {
        return Err(Error(PODRANK_ERR_MISALIGNED));
    }
    let fits = u32::try_from(len).is_ok()
        && len
            .checked_mul(size_of::<T>())
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .and_then(|bytes| start.addr().checked_add(bytes))
            .is_some();
    if fits { Ok(()) } else { Err(Error(PODRANK_ERR_TOO_LONG)) }
}

fn span<T>(start: *const T, len: usize) -> Span {
    let start = start.addr();
    // Checked: the buffer ends inside the address space.
    Span { start, end: start.wrapping_add(len.wrapping_mul(size_of::<T>())) }
}

/// Refuses a written buffer that overlaps another written one, or one that is read. Empty buffers overlap nothing.
pub(crate) fn apart(written: &[Span], read: &[Span]) -> Result<(), Error> {
    for (i, a) in written.iter().enumerate() {
        let others = written.iter().skip(i.wrapping_add(1)).chain(read);
        for b in others {
            if a.start.max(b.start) < a.end.min(b.end) {
                return Err(Error(PODRANK_ERR_OVERLAP));
            }
        }
    }
    Ok(())
}
