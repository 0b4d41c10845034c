//! The ledger under test.

use std::sync::Arc;

use gridweave_core::schedule::ledger::{
    AllPast, ClaimError, Commitment, Hold, Slot, SlotRange, SlotState,
};

use super::{Ledger, Real, WORDS};

pub(super) enum Ticket {
    Held(Hold<Arc<Real>, WORDS>),
    Committed(Commitment<Arc<Real>, WORDS>),
}

impl Ledger for Real {
    type Ticket = Ticket;

    fn empty() -> Self {
        Self::new()
    }
    fn claim(this: &Arc<Self>, slots: SlotRange) -> Result<Ticket, ClaimError> {
        Hold::claim(Arc::clone(this), slots).map(Ticket::Held)
    }
    fn commit(ticket: Ticket) -> Result<Ticket, AllPast> {
        match ticket {
            Ticket::Held(hold) => hold.commit().map(Ticket::Committed),
            Ticket::Committed(_) => Ok(ticket),
        }
    }
    fn release(ticket: Ticket) -> Option<SlotRange> {
        match ticket {
            Ticket::Held(hold) => hold.release(),
            Ticket::Committed(commitment) => commitment.release(),
        }
    }
    fn advance(&self, first: Slot) {
        self.advance(first);
    }
    fn state(&self, slot: Slot) -> Option<SlotState> {
        self.state(slot)
    }
}
