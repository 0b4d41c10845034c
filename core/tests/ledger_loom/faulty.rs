//! A small copy of the ledger in which one thing can be made wrong.

use std::sync::Arc;

use gridweave_core::schedule::ledger::{AllPast, ClaimError, Slot, SlotRange, SlotState};
use loom::sync::atomic::{AtomicU32, Ordering};

use super::{Ledger, WORDS};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// A claim looks whether slots are free, then stores.
    CheckThenStore,
    /// A claim that is refused stores empty words where it had taken some slots.
    RollbackEmptiesWord,
    /// A claim that is refused keeps what it had taken.
    NoRollback,
    /// Claims that begin with an odd slot take the last word first.
    AnyOrder,
    /// A release clears its bits even if the word has moved on to a later lap.
    ReleaseIgnoresLap,
    /// A commit sets its bits even if the word has moved on to a later lap.
    CommitIgnoresLap,
    /// A claim takes a word back from a later lap.
    ClaimIgnoresLap,
    /// A rollback clears its bits even if the word has moved on to a later lap.
    RollbackIgnoresLap,
    /// An advance stores empty words for the slots to come.
    AdvanceOverwrites,
    /// An advance stores its slot even if it is earlier than the stored one.
    AdvanceGoesBack,
    /// Releases and commits publish nothing.
    RelaxedRelease,
    /// Claims look at nothing.
    RelaxedClaim,
    /// Advances publish nothing.
    RelaxedAdvance,
}

pub(super) struct Faulty<const FAULT: u8> {
    first: AtomicU32,
    words: [AtomicU32; WORDS],
}

pub(super) struct Ticket<const FAULT: u8> {
    ledger: Arc<Faulty<FAULT>>,
    slots: SlotRange,
}

const RING: u32 = WORDS as u32;
const LAP: u32 = 1 << 16;
const COMMITTED: u32 = 1 << 8;

/// The bits of a range in a word.
fn mask(slots: SlotRange, word: u32) -> u32 {
    (0..8)
        .filter(|place| slots.contains(Slot::new(word * 8 + place)))
        .fold(0, |mask, place| mask | 1 << place)
}

fn words(slots: SlotRange) -> std::ops::Range<u32> {
    slots.first().get() / 8..slots.end().get().div_ceil(8)
}

impl<const FAULT: u8> Faulty<FAULT> {
    const fn has(fault: Fault) -> bool {
        FAULT == fault as u8
    }

    /// The word's bits as its lap sees them; `None` if it has moved on.
    fn on_lap(bits: u32, lap: u32) -> Option<u32> {
        match (bits / LAP).cmp(&lap) {
            std::cmp::Ordering::Equal => Some(bits),
            std::cmp::Ordering::Less => Some(lap * LAP),
            std::cmp::Ordering::Greater => None,
        }
    }

    fn take(&self, slots: SlotRange, word: u32) -> Result<(), ClaimError> {
        let (cell, lap) = (&self.words[(word % RING) as usize], word / RING);
        let wanted = mask(slots, word);
        let order = if Self::has(Fault::RelaxedClaim) {
            Ordering::Relaxed
        } else {
            Ordering::Acquire
        };
        let mut seen = cell.load(Ordering::Relaxed);
        loop {
            let now = match Self::on_lap(seen, lap) {
                Some(now) => now,
                None if Self::has(Fault::ClaimIgnoresLap) => lap * LAP,
                None => return Err(ClaimError::Past),
            };
            if now & wanted != 0 {
                let place = (now & wanted).trailing_zeros();
                let slot = Slot::new(word * 8 + place);
                return Err(if now & (COMMITTED << place) == 0 {
                    ClaimError::Held(slot)
                } else {
                    ClaimError::Committed(slot)
                });
            }
            if Self::has(Fault::CheckThenStore) {
                cell.store(now | wanted, Ordering::SeqCst);
                return Ok(());
            }
            match cell.compare_exchange(seen, now | wanted, order, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => seen = found,
            }
        }
    }

    fn roll_back(&self, slots: SlotRange, word: u32) {
        let (cell, lap) = (&self.words[(word % RING) as usize], word / RING);
        if Self::has(Fault::RollbackEmptiesWord) {
            cell.store(lap * LAP, Ordering::SeqCst);
        } else if !Self::has(Fault::NoRollback) {
            let strict = !Self::has(Fault::RollbackIgnoresLap);
            let free = |now: u32| now & !mask(slots, word);
            let _ = Self::change(cell, lap, strict, Ordering::Relaxed, free);
        }
    }

    fn change(
        cell: &AtomicU32,
        lap: u32,
        strict: bool,
        order: Ordering,
        next: impl Fn(u32) -> u32,
    ) -> Option<()> {
        let mut seen = cell.load(Ordering::Relaxed);
        loop {
            let now = if strict {
                Self::on_lap(seen, lap)?
            } else {
                seen
            };
            match cell.compare_exchange(seen, next(now), order, Ordering::Relaxed) {
                Ok(_) => return Some(()),
                Err(found) => seen = found,
            }
        }
    }

    fn settle(
        &self,
        slots: SlotRange,
        strict: bool,
        next: fn(u32, u32) -> u32,
    ) -> Option<SlotRange> {
        let order = if Self::has(Fault::RelaxedRelease) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        let mut from = Slot::new(self.first.load(Ordering::Relaxed)).max(slots.first());
        let standing = SlotRange::between(from, slots.end()).ok()?;
        for word in words(standing) {
            let (cell, lap) = (&self.words[(word % RING) as usize], word / RING);
            let wanted = mask(slots, word);
            if Self::change(cell, lap, strict, order, |now| next(now, wanted)).is_none() {
                from = Slot::new(word * 8 + 8);
            }
        }
        SlotRange::between(from, slots.end()).ok()
    }

    fn window(&self) -> Option<SlotRange> {
        let first = self.first.load(Ordering::Acquire);
        SlotRange::between(Slot::new(first), Slot::new((first / 8 + RING) * 8)).ok()
    }
}

impl<const FAULT: u8> Ledger for Faulty<FAULT> {
    type Ticket = Ticket<FAULT>;

    fn empty() -> Self {
        Self {
            first: AtomicU32::new(0),
            words: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    fn claim(this: &Arc<Self>, slots: SlotRange) -> Result<Self::Ticket, ClaimError> {
        let window = this.window().ok_or(ClaimError::Beyond)?;
        if slots.first() < window.first() {
            return Err(ClaimError::Past);
        }
        if slots.end() > window.end() {
            return Err(ClaimError::Beyond);
        }
        let mut order: Vec<u32> = words(slots).collect();
        if Self::has(Fault::AnyOrder) && slots.first().get() % 2 == 1 {
            order.reverse();
        }
        for (done, &word) in order.iter().enumerate() {
            if let Err(error) = this.take(slots, word) {
                for &taken in order[..done].iter().rev() {
                    this.roll_back(slots, taken);
                }
                return Err(error);
            }
        }
        Ok(Ticket {
            ledger: Arc::clone(this),
            slots,
        })
    }

    fn commit(ticket: Self::Ticket) -> Result<Self::Ticket, AllPast> {
        let strict = !Self::has(Fault::CommitIgnoresLap);
        let commit = |now: u32, wanted: u32| now | (wanted * COMMITTED);
        let standing = ticket.ledger.settle(ticket.slots, strict, commit);
        standing.map(|_| ticket).ok_or(AllPast)
    }

    fn release(ticket: Self::Ticket) -> Option<SlotRange> {
        let strict = !Self::has(Fault::ReleaseIgnoresLap);
        let free = |now: u32, wanted: u32| now & !(wanted | (wanted * COMMITTED));
        ticket.ledger.settle(ticket.slots, strict, free)
    }

    fn advance(&self, first: Slot) {
        let order = if Self::has(Fault::RelaxedAdvance) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        if Self::has(Fault::AdvanceGoesBack) {
            self.first.store(first.get(), order);
            return;
        }
        let before = self.first.fetch_max(first.get(), order);
        if Self::has(Fault::AdvanceOverwrites) {
            for word in before / 8..first.get() / 8 {
                let next = (word / RING + 1) * LAP;
                self.words[(word % RING) as usize].store(next, Ordering::SeqCst);
            }
        }
    }

    fn state(&self, slot: Slot) -> Option<SlotState> {
        if !self.window()?.contains(slot) {
            return None;
        }
        let (word, place) = (slot.get() / 8, slot.get() % 8);
        let bits = self.words[(word % RING) as usize].load(Ordering::Acquire);
        let now = Self::on_lap(bits, word / RING)?;
        Some(if now & (1 << place) == 0 {
            SlotState::Free
        } else if now & (COMMITTED << place) == 0 {
            SlotState::Held
        } else {
            SlotState::Committed
        })
    }
}
