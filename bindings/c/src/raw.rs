//! Memory of the calling program: pointers that were looked at before they are used.
//!
//! What can be told of a pointer is told: that it is null or misaligned, and that a list would be longer than memory.
//! The rest is the caller's promise, which the header states for all functions.

use std::ptr::NonNull;
use std::slice;

use crate::status::{Fault, gw_status};

fn checked<T>(at: *const T) -> Result<NonNull<T>, Fault> {
    let at = NonNull::new(at.cast_mut()).ok_or(gw_status::GW_NULL)?;
    if at.is_aligned() {
        Ok(at)
    } else {
        Err(gw_status::GW_MISALIGNED.into())
    }
}

/// The size of `count` items fits into memory.
fn sized<T>(count: usize) -> Result<(), Fault> {
    let bytes = count.checked_mul(size_of::<T>());
    match bytes {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(()),
        _ => Err(gw_status::GW_WRONG_SIZE.into()),
    }
}

/// The structure has the size that this library was built with.
pub(crate) fn same_size<T>(size: usize) -> Result<(), Fault> {
    let own = size_of::<T>();
    if size == own {
        return Ok(());
    }
    let detail = format!("the structure has {size} bytes, and {own} in this library");
    Err(Fault::with(gw_status::GW_WRONG_SIZE, detail))
}

/// Copies a value of the caller.
///
/// # Safety
/// A pointer that is neither null nor misaligned points to a value that no other thread writes now.
pub(crate) unsafe fn read<T: Copy>(at: *const T) -> Result<T, Fault> {
    let at = checked(at)?;
    // SAFETY: it is not null and is aligned, and the caller promises that there is a value.
    Ok(unsafe { at.read() })
}

/// A list of the caller. It may be null if it is empty.
///
/// # Safety
/// A pointer that is neither null nor misaligned points to so many values, which stay as they are while the result is
/// used. The result is used no longer than the call lasts.
pub(crate) unsafe fn list<'a, T: Copy>(at: *const T, count: usize) -> Result<&'a [T], Fault> {
    if count == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        let detail = format!("a list of {count} is null");
        return Err(Fault::with(gw_status::GW_NULL, detail));
    }
    let at = checked(at)?;
    sized::<T>(count)?;
    // SAFETY: it is not null, is aligned and not longer than memory, and the caller promises that the values are there.
    Ok(unsafe { slice::from_raw_parts(at.as_ptr(), count) })
}

/// Where the caller wants a result.
pub(crate) struct Out<T>(NonNull<T>);

impl<T: Copy> Out<T> {
    /// # Safety
    /// A pointer that is neither null nor misaligned may be written until the call ends, by this thread only.
    pub(crate) unsafe fn new(at: *mut T) -> Result<Self, Fault> {
        checked(at).map(Self)
    }

    /// The same, or nothing for null.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub(crate) unsafe fn if_wanted(at: *mut T) -> Result<Option<Self>, Fault> {
        if at.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller of this function says so.
        unsafe { Self::new(at) }.map(Some)
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: it is aligned, and the caller of `new` promises that it may be written.
        unsafe { self.0.write(value) }
    }
}

/// Where the caller wants several results.
#[derive(Clone, Copy)]
pub(crate) struct Room<T> {
    at: NonNull<T>,
    count: usize,
}

impl<T: Copy> Room<T> {
    /// No room may be null.
    ///
    /// # Safety
    /// A pointer that is neither null nor misaligned has room for so many values, which may be written until the call
    /// ends, by this thread only.
    pub(crate) unsafe fn new(at: *mut T, count: usize) -> Result<Self, Fault> {
        let at = if count == 0 {
            NonNull::dangling()
        } else {
            checked(at)?
        };
        sized::<T>(count)?;
        Ok(Self { at, count })
    }
}

/// Writes all of `count` items, or none if there are more than fit.
pub(crate) fn fill<T: Copy>(
    room: Room<T>,
    items: impl Iterator<Item = T>,
    count: usize,
) -> Result<(), Fault> {
    if count > room.count {
        return Err(gw_status::GW_NO_ROOM.into());
    }
    for (index, item) in items.take(count).enumerate() {
        // SAFETY: the index is below the count of the room, which the caller of `new` promises is there.
        let at = unsafe { room.at.add(index) };
        // SAFETY: the same, and it is aligned as the first one is.
        unsafe { at.write(item) };
    }
    Ok(())
}
