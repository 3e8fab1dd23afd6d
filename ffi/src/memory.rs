//! The caller's buffers, which are checked before they are read or written.
//!
//! Only this module turns a caller's pointers into references.

use crate::status::{
    Error, PODRANK_ERR_MISALIGNED, PODRANK_ERR_NULL, PODRANK_ERR_OVERLAP, PODRANK_ERR_SHORT_BUFFER,
    PODRANK_ERR_TOO_LONG,
};
use core::mem::{MaybeUninit, align_of, size_of};
use core::slice;

/// A buffer of `T` that is only read: checked for address, alignment and length.
pub(crate) struct Input<T> {
    start: *const T,
    len: usize,
}

/// A buffer of `T` that is read and written: checked for address, alignment and length.
pub(crate) struct InOut<T> {
    start: *mut T,
    len: usize,
}

/// A buffer of `T` that is only written: checked for address, alignment and length. Callers need not
/// initialise it, so it becomes a `[T]` only after every element was written.
pub(crate) struct Output<T> {
    start: *mut T,
    len: usize,
}

/// The addresses of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// No memory.
    pub(crate) const EMPTY: Self = Self { start: 0, end: 0 };
}

macro_rules! checked {
    ($buffer:ident, $pointer:ty) => {
        impl<T> $buffer<T> {
            pub(crate) fn new(start: $pointer, len: usize) -> Result<Self, Error> {
                check(start, len)?;
                Ok(Self { start, len })
            }

            pub(crate) fn one(start: $pointer) -> Result<Self, Error> {
                Self::new(start, 1)
            }

            pub(crate) fn span(&self) -> Span {
                span(self.start, self.len)
            }
        }
    };
}

checked!(Input, *const T);
checked!(InOut, *mut T);
checked!(Output, *mut T);

impl<T> Input<T> {
    /// Returns the buffer's contents.
    ///
    /// # Safety
    /// It points to `len` values that no one writes for as long as the slice lives, and the buffers of the
    /// same call are [`apart`].
    pub(crate) unsafe fn read<'a>(self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T> InOut<T> {
    /// Returns the buffer.
    ///
    /// # Safety
    /// As for [`InOut::start`], with all of the buffer's values.
    pub(crate) unsafe fn all<'a>(self) -> &'a mut [T] {
        let len = self.len;
        // SAFETY: the caller's.
        unsafe { self.start(len) }
    }

    /// Returns the first `len` values of the buffer, or all if it has fewer.
    ///
    /// # Safety
    /// It points to that many values that no one else reads or writes for as long as the slice lives, and the
    /// buffers of the same call are [`apart`].
    pub(crate) unsafe fn start<'a>(self, len: usize) -> &'a mut [T] {
        let len = len.min(self.len);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.start, len) }
    }
}

impl<T: Copy> Output<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Rejects a buffer with fewer elements than this.
    pub(crate) fn needs(&self, count: usize) -> Result<(), Error> {
        if self.len < count { Err(Error(PODRANK_ERR_SHORT_BUFFER)) } else { Ok(()) }
    }

    /// Writes `value` to a buffer of one element.
    ///
    /// # Safety
    /// As for [`Output::filled`].
    pub(crate) unsafe fn set(self, value: T) {
        // SAFETY: the caller's.
        unsafe { self.write([value]) };
    }

    /// Writes these values to the start of the buffer, as many as fit.
    ///
    /// # Safety
    /// As for [`Output::filled`].
    pub(crate) unsafe fn write(self, values: impl IntoIterator<Item = T>) {
        let len = self.len;
        // SAFETY: the caller's.
        for (slot, value) in unsafe { self.uninit(len) }.iter_mut().zip(values) {
            slot.write(value);
        }
    }

    /// Writes `value` to the first `len` elements, or to all if there are fewer, and returns them.
    ///
    /// # Safety
    /// It points to as many elements as its length says, which no one else reads or writes for as long as the
    /// slice lives, and the buffers of the same call are [`apart`].
    pub(crate) unsafe fn filled<'a>(self, len: usize, value: T) -> &'a mut [T] {
        // SAFETY: the caller's.
        let slots: &'a mut [MaybeUninit<T>] = unsafe { self.uninit(len) };
        for slot in &mut *slots {
            slot.write(value);
        }
        // SAFETY: of the same layout, and every element was written.
        unsafe { slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), slots.len()) }
    }

    /// # Safety
    /// As for [`Output::filled`].
    unsafe fn uninit<'a>(self, len: usize) -> &'a mut [MaybeUninit<T>] {
        let len = len.min(self.len);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: not NULL, aligned and inside the address space by `check`; the rest is the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.start.cast(), len) }
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

/// Rejects a written buffer that overlaps another buffer. Empty buffers overlap nothing.
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
