//! A rolling window of time slots that many threads claim, hold, commit and release at once, without locks.
//!
//! [`Schedule`](super::Schedule) has one owner. A host that serves several coordinators in parallel can share a
//! [`SlotLedger`] instead. Its time is cut into slots of equal length ([`SlotScale`]). A claim takes a row of slots or
//! none, and no thread waits. The ledger never allocates. It needs only a 32-bit compare-and-swap; targets without one
//! (`target_has_atomic = "32"`) do not have this module.
//!
//! ```
//! use gridweave_core::schedule::ledger::{ClaimError, Hold, Slot, SlotLedger, SlotScale, SlotState};
//! use gridweave_core::time::{Interval, Span, Time};
//! use std::sync::Arc;
//!
//! // Two days of five-minute slots in 292 bytes. A `static` will do as well: `new` is const.
//! let scale = SlotScale::new(Time::ZERO, Span::from_secs(300))?;
//! let ledger = Arc::new(SlotLedger::<72>::new());
//!
//! // Two coordinators want times that overlap. The first claim holds them; the second learns which slot is in the way.
//! let first = scale.covering(Interval::new(Time::from_secs(600), Time::from_secs(4000))?)?;
//! let second = scale.covering(Interval::new(Time::from_secs(3900), Time::from_secs(4500))?)?;
//! let hold = Hold::claim(Arc::clone(&ledger), first)?;
//! assert_eq!(ledger.claim(second).unwrap_err(), ClaimError::Held(Slot::new(13)));
//!
//! // The second asks for a hint where there is room, and claims that: the hint may be old by then.
//! let room = ledger.first_free(second.first(), second.count()).expect("two days are enough");
//! let other = ledger.claim(room)?;
//!
//! // All nodes of the first job agreed, so it commits. The second changes its mind: dropping a hold releases it.
//! let commitment = hold.commit()?;
//! drop(other);
//! assert_eq!(ledger.state(Slot::new(13)), Some(SlotState::Committed));
//! assert!(ledger.is_free(room));
//!
//! // Time goes on. What is past cannot be claimed, and need not be released.
//! ledger.advance(scale.slot_of(Time::from_secs(4200))?);
//! assert_eq!(ledger.claim(first).unwrap_err(), ClaimError::Past);
//! assert_eq!(commitment.release(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//! The window is a ring of words. A word has eight slots, with two bits each: *taken* and *committed*. Its other half
//! is the *lap*: how often the ring had gone round before these slots. A claim swaps in word after word, in ascending
//! order, and only if the lap is right and the wanted slots are free. If a swap is not possible, the claim clears the
//! bits it has set, last word first, and names the slot in the way.
//!
//! One number advances the window: the first slot that is not past. An advance touches no word. A word from an earlier
//! lap counts as free, and the first claim of its new slots replaces it. So an advance by a year costs as much as one
//! by a slot, and recycling cannot stop halfway.
//!
//! # What holds
//! - **A slot in the window has at most one holder.** Laps of a word only grow. Within a lap, a claim takes a slot only
//!   when it is free, and only its holder frees it. A word begins a new lap only when all its earlier slots are past,
//!   because the claimant has seen a window that contains the new ones.
//! - **A late operation is harmless.** If a word has moved on to a later lap, a commit, a release or a roll-back
//!   changes nothing in it. [`Hold::commit`], [`Hold::release`] and [`Commitment::release`] tell the caller which slots
//!   were not past. A claimant that stalls may end up with a hold of past slots, as if it had been faster.
//! - **A lap is never mistaken for another**, however long a thread stalls: laps do not wrap. Instead a ledger ends
//!   after 65,536 times its window ([`END`](SlotLedger::END)), and claims beyond are refused. With a window of a day
//!   that is after 179 years; with a minute, after 45 days. [`Slot`] numbers end after 136 years of slots of a second.
//! - **A ticket fits only its own ledger and its own slots.** It cannot be made or copied, and carries its ledger.
//!
//! # Progress
//! No operation waits for another, and a thread that stops does not stop other threads. A compare-and-swap is tried
//! again only when another thread changed the same word, and every operation changes each of its words at most twice.
//! So the ledger is lock-free: some operation always completes. It is not wait-free: one claimant can be unlucky again
//! and again. Reading is wait-free. Advancing is wait-free if the processor has an atomic maximum, else lock-free.
//!
//! If a thread stops in the middle of a claim, the slots taken so far stay taken. Other claims of them are refused, not
//! delayed. Once those slots are past, their words serve again. Of claims that run at the same time and meet only each
//! other, at least one succeeds: a claim gives way only to one further in the window, and no claim is beyond the last.
//!
//! # Memory ordering
//! - The holder of a slot sees all that the earlier holder did before releasing it (`Release`, `Acquire` in claims).
//! - A reader of a committed slot sees all that the holder did before committing (`Release`, `Acquire` in readers).
//! - If an advance has brought a slot into the window, its claimant sees all that the advancing thread did before, such
//!   as stopping what ran in past slots (`Release`, `Acquire` in claims).
//! - A refusal guarantees nothing. No guarantee depends on an order between words.
//!
//! # What it does not do
//! Unlike a [`Schedule`](super::Schedule) it has no jobs, epochs, leases or swaps, and it does not know the holder of a
//! slot. A lease is the owner's timer; at its end the owner drops the hold. Contention is per word and cache line.

mod error;
mod scale;
mod slot;
#[cfg(test)]
mod tests;
mod ticket;
mod word;

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

pub use error::{AllPast, ClaimError, ScaleError, ZeroLength};
pub use scale::SlotScale;
pub use slot::{Slot, SlotRange, SlotRangeError};
pub use ticket::{Commitment, Hold};

use slot::Piece;
use word::{LAPS, Obstacle, SLOTS_PER_WORD, Word};

/// A rolling window of `8 * WORDS` slots that many threads share; the [module](self) explains it.
#[derive(Debug)]
pub struct SlotLedger<const WORDS: usize> {
    /// The first slot that is not past. It only grows.
    first: AtomicU32,
    words: [AtomicU32; WORDS],
}

/// What a slot is at some instant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotState {
    /// No hold and no commitment has it.
    Free,
    /// Held, or for a moment part of a claim that is being tried.
    Held,
    /// Committed.
    Committed,
}

impl<const WORDS: usize> SlotLedger<WORDS> {
    /// The slot after the last one that there is for such a ledger: 65,536 windows, but no more than there are numbers.
    pub const END: Slot = {
        let slots =
            (WORDS as u64).saturating_mul((LAPS as u64).saturating_mul(SLOTS_PER_WORD as u64));
        Slot::new(if slots < u32::MAX as u64 {
            slots as u32
        } else {
            u32::MAX
        })
    };

    /// How many words there are, in the type that slots are counted in.
    const RING: u32 = if WORDS < u32::MAX as usize {
        WORDS as u32
    } else {
        u32::MAX
    };

    /// All slots free, and none past.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            first: AtomicU32::new(0),
            words: [const { AtomicU32::new(0) }; WORDS],
        }
    }

    /// All slots free, and none past.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            first: AtomicU32::new(0),
            words: core::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// The slots that can be claimed now; none if there are no words, or at the [`END`](Self::END).
    ///
    /// It begins anywhere in its first word and ends with a whole one, so it has `8 * WORDS - 7` slots at least, until
    /// the ledger ends.
    pub fn window(&self) -> Option<SlotRange> {
        // Acquire: pairs with `advance`, as in `hold`.
        let first = Slot::new(self.first.load(Ordering::Acquire));
        SlotRange::between(first, Self::window_end(first)).ok()
    }

    /// Declares all slots before `first` past, and returns the first that is not.
    ///
    /// It never goes back: of several advances the furthest counts, and beyond the [`END`](Self::END) all is past for
    /// good.
    pub fn advance(&self, first: Slot) -> Slot {
        let first = first.min(Self::END);
        // Release: a claimant in the new window sees what was done before the advance. A maximum is a
        // read-modify-write, so a later advance keeps the guarantee of an earlier one.
        let before = self.first.fetch_max(first.get(), Ordering::Release);
        first.max(Slot::new(before))
    }

    /// Holds all these slots, or none of them.
    pub fn claim(&self, slots: SlotRange) -> Result<Hold<&Self, WORDS>, ClaimError> {
        Hold::claim(self, slots)
    }

    /// What a slot is, if it lies in the window. It may be something else by the time this returns.
    pub fn state(&self, slot: Slot) -> Option<SlotState> {
        if !self.window()?.contains(slot) {
            return None;
        }
        let piece = SlotRange::new(slot, 1).ok()?.pieces().next()?;
        Some(match self.read(piece)?.obstacle(piece.mask) {
            None => SlotState::Free,
            Some(Obstacle::Committed(_)) => SlotState::Committed,
            Some(_) => SlotState::Held,
        })
    }

    /// Whether all these slots lie in the window and are free, each at the moment when it is looked at: a hint.
    pub fn is_free(&self, slots: SlotRange) -> bool {
        let inside = self
            .window()
            .is_some_and(|window| window.first() <= slots.first() && slots.end() <= window.end());
        let free = |piece: Piece| {
            self.read(piece)
                .is_some_and(|word| word.obstacle(piece.mask).is_none())
        };
        inside && slots.pieces().all(free)
    }

    /// The first row of `count` free slots at or after `from`, each free at the moment when it was read: a hint
    /// where to claim. `None` if the window has no such row, and for a count of zero.
    pub fn first_free(&self, from: Slot, count: u32) -> Option<SlotRange> {
        let within = self.window()?.since(from)?;
        let mut found = SlotRange::new(within.first(), count).ok()?;
        for piece in within.pieces() {
            let Some(word) = self.read(piece) else {
                // Time went on: these slots are past by now.
                found = SlotRange::new(piece.slot(SLOTS_PER_WORD), count).ok()?;
                continue;
            };
            let mut rest = piece.mask;
            while let Some(Obstacle::Held(index) | Obstacle::Committed(index)) = word.obstacle(rest)
            {
                if found.end() <= piece.slot(index) {
                    return Some(found);
                }
                let after = piece.slot(index.saturating_add(1));
                found = SlotRange::new(after, count).ok()?;
                rest &= !(1 << index);
            }
        }
        (found.end() <= within.end()).then_some(found)
    }

    /// Takes all these slots or none.
    fn hold(&self, slots: SlotRange) -> Result<(), ClaimError> {
        // Acquire: pairs with `advance`. Safety does not need it: `first` only grows, so an old value admits no word
        // before its turn, and only slots that became past just now.
        let first = Slot::new(self.first.load(Ordering::Acquire));
        if slots.first() < first {
            return Err(ClaimError::Past);
        }
        if slots.end() > Self::window_end(first) {
            return Err(ClaimError::Beyond);
        }
        // Read first, so that most refusals of long claims write nothing and disturb no other thread.
        if slots.count() > SLOTS_PER_WORD {
            slots.pieces().try_for_each(|piece| {
                let word = self.read(piece).ok_or(ClaimError::Past)?;
                word.obstacle(piece.mask)
                    .map_or(Ok(()), |obstacle| Err(refusal(piece, obstacle)))
            })?;
        }
        for piece in slots.pieces() {
            // Acquire: pairs with the `Release` of the earlier holder. All changes to the word since then were
            // read-modify-writes, which keep that `Release` visible.
            if let Err(obstacle) = self.change(piece, Word::hold, Ordering::Acquire) {
                if !canary!(ClaimNotRolledBack) {
                    self.roll_back(slots.before_word(piece.word));
                }
                return Err(refusal(piece, obstacle));
            }
        }
        Ok(())
    }

    /// Gives back what a claim had taken before it was refused, last word first.
    fn roll_back(&self, taken: Option<SlotRange>) {
        for piece in taken.into_iter().flat_map(SlotRange::pieces).rev() {
            // Relaxed: a claim that was refused did nothing in its slots. The next claimant still sees what the last
            // holder did, because this is a read-modify-write. A word that moved on needs no rolling back.
            let _ = self.change(piece, Word::free, Ordering::Relaxed);
        }
    }

    /// Makes held slots committed; says which of them were not past.
    fn commit(&self, slots: SlotRange) -> Option<SlotRange> {
        self.settle(slots, Word::commit)
    }

    /// Makes held or committed slots free; says which of them were not past.
    fn free(&self, slots: SlotRange) -> Option<SlotRange> {
        self.settle(slots, Word::free)
    }

    /// Changes the slots of a ticket that are not past, and says which those are.
    fn settle(&self, slots: SlotRange, change: Change) -> Option<SlotRange> {
        // Relaxed: it decides only what is worth trying and what the answer is. The laps decide what may be changed.
        let first = Slot::new(self.first.load(Ordering::Relaxed));
        let mut standing = slots.since(first)?;
        for piece in standing.pieces() {
            // Release: pairs with the `Acquire` of the next claimant, and of readers that see the slots committed.
            if self.change(piece, change, Ordering::Release).is_err() {
                standing = slots.since(piece.slot(SLOTS_PER_WORD))?;
            }
        }
        Some(standing)
    }

    /// Applies a change to a word; tries again whenever another thread changed the word first.
    fn change(&self, piece: Piece, change: Change, order: Ordering) -> Result<(), Obstacle> {
        let (word, lap) = self.place(piece.word).ok_or(Obstacle::Recycled)?;
        // Relaxed: what is read here is only a guess at what the swap will find.
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let next = change(Word::from_bits(seen), lap, piece.mask)?;
            match word.compare_exchange_weak(seen, next.to_bits(), order, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => seen = found,
            }
        }
    }

    /// A word as it is now; `None` if its slots are past.
    fn read(&self, piece: Piece) -> Option<Word> {
        let (word, lap) = self.place(piece.word)?;
        // Acquire: pairs with `settle`.
        let bits = word.load(Ordering::Acquire);
        Word::from_bits(bits).at(lap).ok()
    }

    /// The place of a word in the ring, and its lap.
    fn place(&self, word: u32) -> Option<(&AtomicU32, u16)> {
        let (index, lap) = (word.checked_rem(Self::RING)?, word.checked_div(Self::RING)?);
        Some((self.words.get(index as usize)?, u16::try_from(lap).ok()?))
    }

    /// The first slot beyond the window that begins with `first`.
    fn window_end(first: Slot) -> Slot {
        let word = (first.get() / SLOTS_PER_WORD).saturating_add(Self::RING);
        Slot::new(word.saturating_mul(SLOTS_PER_WORD)).min(Self::END)
    }
}

/// A change of these slots of a word, in this lap.
type Change = fn(Word, u16, u8) -> Result<Word, Obstacle>;

/// Why a claim is refused that meets this obstacle in one of its words.
const fn refusal(piece: Piece, obstacle: Obstacle) -> ClaimError {
    match obstacle {
        Obstacle::Recycled => ClaimError::Past,
        Obstacle::Held(index) => ClaimError::Held(piece.slot(index)),
        Obstacle::Committed(index) => ClaimError::Committed(piece.slot(index)),
    }
}

impl<const WORDS: usize> Default for SlotLedger<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}
