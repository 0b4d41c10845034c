//! Values in slots that are used again.

use std::hint::black_box;

/// A table of values, each in a numbered slot until it is taken out.
#[derive(Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Puts a value into a slot and returns the slot's number.
    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(value);
            return slot;
        }
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 things are pending");
        self.slots.push(Some(value));
        slot
    }

    /// Puts another value into a slot that is in use.
    pub(super) fn replace(&mut self, slot: u32, value: T) {
        self.slots[slot as usize] = Some(value);
    }

    /// Reads something of a slot, so that it is in the cache.
    pub(super) fn touch(&self, slot: u32) {
        black_box(self.get(slot).is_some());
    }

    /// What is in a slot.
    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Takes the value out of its slot.
    pub(super) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.slots[slot as usize]
            .take()
            .expect("each slot in use is in the event queue exactly once")
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}
