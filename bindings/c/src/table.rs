//! All objects of the process, by handle.
//!
//! A handle is a number, and not a pointer, so that a mistake with it can be told. It has the kind of the object in its
//! first byte, then the index of a slot, and in its lower half how often that slot was given to an object. So a handle
//! of a freed object is refused until its slot has been used four billion times; a slot is given up before that.
//!
//! Each slot has a lock, which is tried and never waited for: an object in use is [`GW_BUSY`](gw_status::GW_BUSY). A
//! panic poisons the lock, and the object is then [`GW_BROKEN`](gw_status::GW_BROKEN). Slots are on pages, which stay
//! where they are, so looking a handle up takes no other lock.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use crate::status::{Fault, gw_status};

/// An object that has a handle.
pub(crate) trait Kept: Any + Send {
    /// The first byte of its handles; never zero.
    const KIND: u8;
}

/// The kinds, which are below this number.
const KINDS: u8 = 6;

#[derive(Default)]
struct Slot {
    /// How often the slot was given to an object.
    generation: u32,
    object: Option<Box<dyn Any + Send>>,
}

/// The slots of the first page. Each page has twice as many as the one before.
const FIRST: u32 = 64;

/// Enough pages for as many slots as an index of 24 bits can name.
const PAGES: usize = 18;

type Page = OnceLock<Box<[Mutex<Slot>]>>;

static TABLE: [Page; PAGES] = [const { OnceLock::new() }; PAGES];

/// Slots that have no object.
struct Free {
    /// Slots that had one.
    again: Vec<u32>,
    /// All slots from this one on.
    next: u32,
}

static FREE: Mutex<Free> = Mutex::new(Free {
    again: Vec::new(),
    next: 0,
});

fn free() -> MutexGuard<'static, Free> {
    // Nothing panics while it is locked, but for an allocation that fails, which changes nothing.
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The page of a slot, and where it is there.
const fn place(index: u32) -> (usize, usize) {
    let page = (index / FIRST).saturating_add(1).ilog2();
    let before = FIRST.saturating_mul((1_u32 << page).saturating_sub(1));
    (page as usize, index.saturating_sub(before) as usize)
}

fn slot_at(index: u32) -> Option<&'static Mutex<Slot>> {
    let (page, place) = place(index);
    TABLE.get(page)?.get()?.get(place)
}

const fn handle(kind: u8, index: u32, generation: u32) -> u64 {
    (kind as u64) << 56 | (index as u64) << 32 | generation as u64
}

/// The slot and the generation of a handle.
fn parts(kind: u8, handle: u64) -> Result<(&'static Mutex<Slot>, u32), Fault> {
    let named = (handle >> 56) as u8;
    if named == 0 || named >= KINDS {
        return Err(gw_status::GW_NO_HANDLE.into());
    }
    let slot = slot_at((handle >> 32) as u32 & 0x00ff_ffff).ok_or(gw_status::GW_NO_HANDLE)?;
    if named != kind {
        return Err(gw_status::GW_WRONG_KIND.into());
    }
    Ok((slot, handle as u32))
}

/// Keeps an object, and gives it a handle.
pub(crate) fn keep<T: Kept>(object: T) -> Result<u64, Fault> {
    let index = {
        let mut free = free();
        match free.again.pop() {
            Some(index) => index,
            None => {
                let index = free.next;
                let (page, _) = place(index);
                let page = TABLE.get(page).ok_or(gw_status::GW_TOO_MANY)?;
                let length = (u64::from(FIRST) << place(index).0) as usize;
                page.get_or_init(|| (0..length).map(|_| Mutex::default()).collect());
                free.next = index.saturating_add(1);
                index
            }
        }
    };
    let slot = slot_at(index).ok_or(gw_status::GW_TOO_MANY)?;
    // A stale handle may have it locked, but only for a moment.
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    slot.generation = slot.generation.saturating_add(1);
    slot.object = Some(Box::new(object));
    Ok(handle(T::KIND, index, slot.generation))
}

/// Works with the object of a handle.
pub(crate) fn with<T: Kept, R>(
    handle: u64,
    work: impl FnOnce(&mut T) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let (slot, generation) = parts(T::KIND, handle)?;
    let mut slot = match slot.try_lock() {
        Ok(slot) => slot,
        Err(TryLockError::WouldBlock) => return Err(gw_status::GW_BUSY.into()),
        Err(TryLockError::Poisoned(broken)) => {
            let is_same = current(&broken.into_inner(), generation).is_ok();
            let status = [gw_status::GW_STALE_HANDLE, gw_status::GW_BROKEN];
            return Err(if is_same { status[1] } else { status[0] }.into());
        }
    };
    current(&slot, generation)?;
    let object = slot.object.as_deref_mut();
    let object: Option<&mut dyn Any> = object.map(|object| object as _);
    match object.and_then(<dyn Any>::downcast_mut) {
        Some(object) => work(object),
        // A handle whose kind was changed by hand.
        None => Err(gw_status::GW_WRONG_KIND.into()),
    }
}

/// The slot has the object of this generation.
fn current(slot: &Slot, generation: u32) -> Result<(), Fault> {
    if generation == 0 || generation > slot.generation {
        Err(gw_status::GW_NO_HANDLE.into())
    } else if generation < slot.generation || slot.object.is_none() {
        Err(gw_status::GW_STALE_HANDLE.into())
    } else {
        Ok(())
    }
}

/// Takes the object of a handle away. The handle is stale from now on.
pub(crate) fn remove<T: Kept>(handle: u64) -> Result<(), Fault> {
    let (mutex, generation) = parts(T::KIND, handle)?;
    let mut slot = match mutex.try_lock() {
        Ok(slot) => slot,
        Err(TryLockError::WouldBlock) => return Err(gw_status::GW_BUSY.into()),
        Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
    };
    current(&slot, generation)?;
    if !slot
        .object
        .as_deref()
        .is_some_and(<dyn Any + Send>::is::<T>)
    {
        return Err(gw_status::GW_WRONG_KIND.into());
    }
    let object = slot.object.take();
    let is_last = slot.generation == u32::MAX;
    mutex.clear_poison();
    drop(slot);
    if !is_last {
        free().again.push((handle >> 32) as u32 & 0x00ff_ffff);
    }
    // Whatever it does, no lock is held.
    drop(object);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(u32);
    impl Kept for Number {
        const KIND: u8 = 1;
    }
    struct Word;
    impl Kept for Word {
        const KIND: u8 = 2;
    }

    fn status<R>(result: Result<R, Fault>) -> gw_status {
        result.map_or_else(|fault| fault.status, |_| gw_status::GW_OK)
    }

    #[test]
    fn a_freed_handle_is_told_also_after_its_slot_has_another_object() {
        let first = keep(Number(1)).unwrap();
        assert_eq!(with(first, |number: &mut Number| Ok(number.0)).unwrap(), 1);
        assert_eq!(status(remove::<Word>(first)), gw_status::GW_WRONG_KIND);
        assert_eq!(status(remove::<Number>(first)), gw_status::GW_OK);
        assert_eq!(status(remove::<Number>(first)), gw_status::GW_STALE_HANDLE);
        let others: Vec<u64> = (0..200).map(|n| keep(Number(n)).unwrap()).collect();
        assert_eq!(status(remove::<Number>(first)), gw_status::GW_STALE_HANDLE);
        for (n, other) in (0..).zip(&others) {
            assert_eq!(with(*other, |number: &mut Number| Ok(number.0)).unwrap(), n);
            remove::<Number>(*other).unwrap();
        }
    }

    #[test]
    fn what_was_never_given_out_is_no_handle() {
        let real = keep(Word).unwrap();
        for wrong in [
            0,
            7,
            u64::MAX,
            real | 0xff << 56,
            real + 1,
            2 << 56 | 0xffff << 32 | 1,
        ] {
            let used = with(wrong, |_: &mut Word| Ok(()));
            assert_eq!(status(used), gw_status::GW_NO_HANDLE, "{wrong:#x}");
        }
        remove::<Word>(real).unwrap();
    }

    #[test]
    fn an_object_in_use_is_busy_and_after_a_panic_it_is_broken() {
        let handle = keep(Number(1)).unwrap();
        let inner = with(handle, |_: &mut Number| {
            assert_eq!(status(remove::<Number>(handle)), gw_status::GW_BUSY);
            Ok(status(with(handle, |_: &mut Number| Ok(()))))
        });
        assert_eq!(inner.unwrap(), gw_status::GW_BUSY);
        let panicked =
            crate::status::guarded(|| with(handle, |_: &mut Number| panic!("a planted mistake")));
        assert_eq!(panicked, gw_status::GW_PANICKED);
        assert_eq!(
            status(with(handle, |_: &mut Number| Ok(()))),
            gw_status::GW_BROKEN
        );
        assert_eq!(status(remove::<Number>(handle)), gw_status::GW_OK);
        assert_eq!(status(remove::<Number>(handle)), gw_status::GW_STALE_HANDLE);
    }

    #[test]
    fn slots_are_on_pages_that_double() {
        assert_eq!(
            [0, 63, 64, 191, 192].map(place),
            [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]
        );
        assert_eq!(place(0x00ff_ffff).0, 18, "the last slots have no page");
    }
}
