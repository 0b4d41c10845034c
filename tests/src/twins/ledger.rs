//! [`SlotLedger`] beside a row of slots, on one thread.

use std::sync::Arc;

use gridweave_core::schedule::ledger::{
    AllPast, ClaimError, Commitment, Hold, Slot, SlotLedger, SlotRange, SlotState,
};
use proptest::prelude::*;

use super::Twins;

/// The size of the ring.
const WORDS: usize = 3;
/// Where a ledger of this size ends: three words of eight slots, 65,536 times.
const END: u32 = 3 * 8 * 65_536;
/// Where histories begin: near enough to the end that some reach it.
const BEGIN: u32 = END - 200;

/// Ledgers and the tickets that were given out.
#[derive(Clone, Debug)]
pub struct Ledgers;

/// One operation; slots are counted from two before the first that is not past, tickets from the oldest.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Claim { from: u32, count: u32 },
    Commit { ticket: usize },
    Release { ticket: usize },
    Drop { ticket: usize },
    Advance { to: u32 },
    IsFree { from: u32, count: u32 },
    FirstFree { from: u32, count: u32 },
}

/// What an operation answers.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "named after the answers they hold")]
pub enum Answer {
    Claimed(Result<SlotRange, ClaimError>),
    Committed(Result<SlotRange, AllPast>),
    Released(Option<SlotRange>),
    Dropped,
    Advanced(Slot),
    IsFree(bool),
    FirstFree(Option<SlotRange>),
    NoSuchTicket,
}

/// A state for each slot.
#[derive(Clone, Debug)]
pub struct Row {
    first: u32,
    slots: Vec<SlotState>,
    tickets: Vec<(SlotRange, SlotState)>,
}

/// A ledger and its tickets.
#[derive(Debug)]
pub struct Shared {
    ledger: Arc<SlotLedger<WORDS>>,
    tickets: Vec<Ticket>,
}

/// A hold until it is committed.
#[derive(Debug)]
#[expect(missing_docs, reason = "named after what they hold")]
pub enum Ticket {
    Held(Hold<Arc<SlotLedger<WORDS>>, WORDS>),
    Committed(Commitment<Arc<SlotLedger<WORDS>>, WORDS>),
}

/// The slots of a step, given the first that is not past.
fn slots(first: u32, from: u32, count: u32) -> SlotRange {
    SlotRange::new(Slot::new(first - 2 + from), count).expect("far from the last number")
}

impl Row {
    fn window_end(&self) -> u32 {
        END.min((self.first / 8 + 3) * 8)
    }

    fn state(&self, slot: u32) -> SlotState {
        self.slots[(slot - BEGIN) as usize]
    }

    fn set(&mut self, slots: SlotRange, state: SlotState) {
        for slot in slots.first().get()..slots.end().get() {
            self.slots[(slot - BEGIN) as usize] = state;
        }
    }

    /// Why a range cannot be claimed.
    fn refusal(&self, slots: SlotRange) -> Option<ClaimError> {
        if slots.first().get() < self.first {
            return Some(ClaimError::Past);
        }
        if slots.end().get() > self.window_end() {
            return Some(ClaimError::Beyond);
        }
        (slots.first().get()..slots.end().get()).find_map(|slot| match self.state(slot) {
            SlotState::Free => None,
            SlotState::Held => Some(ClaimError::Held(Slot::new(slot))),
            SlotState::Committed => Some(ClaimError::Committed(Slot::new(slot))),
        })
    }

    /// What of a range is not past.
    fn rest(&self, slots: SlotRange) -> Option<SlotRange> {
        SlotRange::between(slots.first().max(Slot::new(self.first)), slots.end()).ok()
    }

    fn release(&mut self, slots: SlotRange) -> Option<SlotRange> {
        let rest = self.rest(slots)?;
        self.set(rest, SlotState::Free);
        Some(rest)
    }

    fn commit(&mut self, slots: SlotRange) -> Result<SlotRange, AllPast> {
        let rest = self.rest(slots).ok_or(AllPast)?;
        self.set(rest, SlotState::Committed);
        self.tickets.push((slots, SlotState::Committed));
        Ok(slots)
    }
}

impl Twins for Ledgers {
    type Step = Step;
    type Answer = Answer;
    type Model = Row;
    type Real = Shared;

    fn begin() -> (Row, Shared) {
        let row = Row {
            first: BEGIN,
            slots: vec![SlotState::Free; 200],
            tickets: Vec::new(),
        };
        let shared = Shared {
            ledger: Arc::default(),
            tickets: Vec::new(),
        };
        shared.ledger.advance(Slot::new(BEGIN));
        (row, shared)
    }

    fn steps() -> BoxedStrategy<Step> {
        let ticket = || 0..6_usize;
        let count = || prop_oneof![3 => 1..5_u32, 1 => 1..26_u32];
        prop_oneof![
            6 => (0..30_u32, count()).prop_map(|(from, count)| Step::Claim { from, count }),
            2 => ticket().prop_map(|ticket| Step::Commit { ticket }),
            2 => ticket().prop_map(|ticket| Step::Release { ticket }),
            1 => ticket().prop_map(|ticket| Step::Drop { ticket }),
            2 => (0..12_u32).prop_map(|to| Step::Advance { to }),
            1 => (12..60_u32).prop_map(|to| Step::Advance { to }),
            1 => (0..30_u32, count()).prop_map(|(from, count)| Step::IsFree { from, count }),
            2 => (0..30_u32, 0..12_u32).prop_map(|(from, count)| Step::FirstFree { from, count }),
        ]
        .boxed()
    }

    fn model(row: &mut Row, step: &Step) -> Answer {
        match *step {
            Step::Claim { from, count } => {
                let slots = slots(row.first, from, count);
                if let Some(error) = row.refusal(slots) {
                    return Answer::Claimed(Err(error));
                }
                row.set(slots, SlotState::Held);
                row.tickets.push((slots, SlotState::Held));
                Answer::Claimed(Ok(slots))
            }
            Step::Commit { ticket } => match row.tickets.get(ticket) {
                Some((_, SlotState::Held)) => {
                    let (slots, _) = row.tickets.remove(ticket);
                    Answer::Committed(row.commit(slots))
                }
                _ => Answer::NoSuchTicket,
            },
            Step::Release { ticket } if ticket < row.tickets.len() => {
                let (slots, _) = row.tickets.remove(ticket);
                Answer::Released(row.release(slots))
            }
            Step::Drop { ticket } if ticket < row.tickets.len() => {
                if let (slots, SlotState::Held) = row.tickets.remove(ticket) {
                    row.release(slots);
                }
                Answer::Dropped
            }
            Step::Release { .. } | Step::Drop { .. } => Answer::NoSuchTicket,
            Step::Advance { to } => {
                row.first = row.first.max(END.min(row.first - 2 + to));
                Answer::Advanced(Slot::new(row.first))
            }
            Step::IsFree { from, count } => {
                Answer::IsFree(row.refusal(slots(row.first, from, count)).is_none())
            }
            Step::FirstFree { from, count } => {
                let from = row.first.max(row.first - 2 + from);
                let mut ranges =
                    (from..END).filter_map(|first| SlotRange::new(Slot::new(first), count).ok());
                Answer::FirstFree(ranges.find(|slots| row.refusal(*slots).is_none()))
            }
        }
    }

    fn real(shared: &mut Shared, step: &Step) -> Answer {
        let Shared { ledger, tickets } = shared;
        let first = ledger.window().map_or(END, |window| window.first().get());
        match *step {
            Step::Claim { from, count } => {
                let hold = Hold::claim(Arc::clone(ledger), slots(first, from, count));
                Answer::Claimed(hold.map(|hold| {
                    let slots = hold.slots();
                    tickets.push(Ticket::Held(hold));
                    slots
                }))
            }
            Step::Commit { ticket } => {
                if !matches!(tickets.get(ticket), Some(Ticket::Held(_))) {
                    return Answer::NoSuchTicket;
                }
                let Ticket::Held(hold) = tickets.remove(ticket) else {
                    unreachable!("it was a hold");
                };
                Answer::Committed(hold.commit().map(|commitment| {
                    let slots = commitment.slots();
                    tickets.push(Ticket::Committed(commitment));
                    slots
                }))
            }
            Step::Release { ticket } if ticket < tickets.len() => {
                Answer::Released(match tickets.remove(ticket) {
                    Ticket::Held(hold) => hold.release(),
                    Ticket::Committed(commitment) => commitment.release(),
                })
            }
            Step::Drop { ticket } if ticket < tickets.len() => {
                drop(tickets.remove(ticket));
                Answer::Dropped
            }
            Step::Release { .. } | Step::Drop { .. } => Answer::NoSuchTicket,
            Step::Advance { to } => Answer::Advanced(ledger.advance(Slot::new(first - 2 + to))),
            Step::IsFree { from, count } => {
                Answer::IsFree(ledger.is_free(slots(first, from, count)))
            }
            Step::FirstFree { from, count } => {
                Answer::FirstFree(ledger.first_free(Slot::new(first - 2 + from), count))
            }
        }
    }

    fn compare(row: &Row, shared: &Shared) {
        let window = SlotRange::between(Slot::new(row.first), Slot::new(row.window_end())).ok();
        assert_eq!(shared.ledger.window(), window);
        for number in BEGIN..END + 9 {
            let slot = Slot::new(number);
            let inside = window.is_some_and(|window| window.contains(slot));
            let expected = inside.then(|| row.state(number));
            assert_eq!(shared.ledger.state(slot), expected, "slot {slot}");
        }
    }
}
