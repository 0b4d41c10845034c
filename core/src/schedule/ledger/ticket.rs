use core::fmt;
use core::ops::Deref;

use super::{AllPast, ClaimError, SlotLedger, SlotRange};

/// Slots that are held: the only way to commit or release them.
///
/// Dropping it releases the slots, so that a claimant that fails leaves none behind. A hold that is leaked stands until
/// its slots are past. It keeps its ledger through `L`: a reference, an `Arc`, or any pointer that always leads to it.
#[must_use = "dropping a hold releases it"]
pub struct Hold<L, const WORDS: usize>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    /// `None` once it is committed or released, so that dropping it does no more.
    ledger: Option<L>,
    slots: SlotRange,
}

/// Slots that are committed: the only way to release them.
///
/// Dropping it releases nothing: the slots stay committed until they are past.
pub struct Commitment<L, const WORDS: usize>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    ledger: L,
    slots: SlotRange,
}

impl<L, const WORDS: usize> Hold<L, WORDS>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    /// Holds all these slots, or none of them: [`SlotLedger::claim`] for tickets that keep their ledger.
    pub fn claim(ledger: L, slots: SlotRange) -> Result<Self, ClaimError> {
        ledger.hold(slots)?;
        Ok(Self {
            ledger: Some(ledger),
            slots,
        })
    }

    /// The slots that were claimed, including those past by now.
    pub fn slots(&self) -> SlotRange {
        self.slots
    }

    /// Commits all slots that are not past; an error if all are.
    pub fn commit(mut self) -> Result<Commitment<L, WORDS>, AllPast> {
        let slots = self.slots;
        let ledger = self.ledger.take().ok_or(AllPast)?;
        ledger.commit(slots).ok_or(AllPast)?;
        Ok(Commitment { ledger, slots })
    }

    /// Gives all slots back and says which of them were not past; `None` if all were.
    pub fn release(mut self) -> Option<SlotRange> {
        self.ledger.take()?.free(self.slots)
    }
}

impl<L, const WORDS: usize> Drop for Hold<L, WORDS>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            ledger.free(self.slots);
        }
    }
}

impl<L, const WORDS: usize> Commitment<L, WORDS>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    /// The slots that were held, including those past when they were committed.
    pub fn slots(&self) -> SlotRange {
        self.slots
    }

    /// Gives all slots back and says which of them were not past; `None` if all were.
    pub fn release(self) -> Option<SlotRange> {
        self.ledger.free(self.slots)
    }
}

impl<L, const WORDS: usize> fmt::Debug for Hold<L, WORDS>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hold").field(&self.slots).finish()
    }
}

impl<L, const WORDS: usize> fmt::Debug for Commitment<L, WORDS>
where
    L: Deref<Target = SlotLedger<WORDS>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Commitment").field(&self.slots).finish()
    }
}
