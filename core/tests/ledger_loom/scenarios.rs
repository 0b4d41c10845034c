//! What must hold in every interleaving, for any ledger.
//!
//! Words have eight slots, rings three words: slots 0 to 7, 24 to 31 and so on share a word.

use std::sync::Arc;
use std::sync::atomic::AtomicU32 as Plain;

use gridweave_core::schedule::ledger::{ClaimError, Slot, SlotRange, SlotState};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::Ledger;

type Outcome<T> = Result<(SlotRange, T), ClaimError>;

fn range(first: u32, end: u32) -> SlotRange {
    SlotRange::between(Slot::new(first), Slot::new(end)).expect("some slots")
}

fn claim<L: Ledger>(ledger: &Arc<L>, first: u32, end: u32) -> Outcome<L::Ticket> {
    let slots = range(first, end);
    L::claim(ledger, slots).map(|ticket| (slots, ticket))
}

/// Claims from another thread.
fn rival<L: Ledger>(
    ledger: &Arc<L>,
    first: u32,
    end: u32,
) -> thread::JoinHandle<Outcome<L::Ticket>> {
    let ledger = Arc::clone(ledger);
    thread::spawn(move || claim(&ledger, first, end))
}

/// After all threads have ended: tickets share no slot, the slots that are taken are just theirs, and once they are
/// released everything can be claimed. The window must begin with a word.
fn account<L: Ledger>(ledger: &Arc<L>, outcomes: Vec<Outcome<L::Ticket>>) {
    let tickets: Vec<_> = outcomes.into_iter().flatten().collect();
    for (n, (slots, _)) in tickets.iter().enumerate() {
        let others = &tickets[n + 1..];
        assert!(!others.iter().any(|(other, _)| slots.overlaps(*other)));
    }
    let window: Vec<Slot> = (0..64)
        .map(Slot::new)
        .filter(|slot| ledger.state(*slot).is_some())
        .collect();
    for slot in &window {
        let owned = tickets.iter().any(|(slots, _)| slots.contains(*slot));
        let taken = ledger.state(*slot) != Some(SlotState::Free);
        assert_eq!(taken, owned, "slot {slot}");
    }
    tickets.into_iter().for_each(|(_, ticket)| {
        L::release(ticket);
    });
    let all = SlotRange::new(window[0], 24).expect("a window of three words");
    assert!(L::claim(ledger, all).is_ok(), "a slot is lost");
}

pub(super) fn two_claims_of_one_slot_have_one_winner<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rival = rival(&ledger, 3, 5);
    let mine = claim(&ledger, 4, 6);
    let theirs = rival.join().expect("no panic");
    let refused = [&mine, &theirs].map(|outcome| outcome.as_ref().err().copied());
    let by_the_other = Some(ClaimError::Held(Slot::new(4)));
    assert!(refused == [None, by_the_other] || refused == [by_the_other, None]);
    account(&ledger, vec![mine, theirs]);
}

pub(super) fn neighbours_in_a_word_both_win<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rival = rival(&ledger, 0, 4);
    let mine = claim(&ledger, 4, 8);
    let theirs = rival.join().expect("no panic");
    assert!(mine.is_ok() && theirs.is_ok());
    account(&ledger, vec![mine, theirs]);
}

pub(super) fn overlapping_claims_of_two_words_have_one_winner<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rival = rival(&ledger, 6, 10);
    let mine = claim(&ledger, 7, 12);
    let theirs = rival.join().expect("no panic");
    assert!(mine.is_ok() != theirs.is_ok());
    account(&ledger, vec![mine, theirs]);
}

pub(super) fn a_conflict_in_the_second_word_has_one_winner<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    // More than eight slots: the ledger looks before it claims.
    let rival = rival(&ledger, 1, 10);
    let mine = claim(&ledger, 8, 17);
    let theirs = rival.join().expect("no panic");
    assert!(mine.is_ok() != theirs.is_ok());
    account(&ledger, vec![mine, theirs]);
}

pub(super) fn three_neighbours_in_a_word_all_win<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rivals = [rival(&ledger, 0, 2), rival(&ledger, 2, 3)];
    let mut outcomes = vec![claim(&ledger, 3, 8)];
    outcomes.extend(rivals.map(|rival| rival.join().expect("no panic")));
    assert!(outcomes.iter().all(Result::is_ok));
    account(&ledger, outcomes);
}

pub(super) fn of_three_overlapping_claims_the_winners_are_disjoint<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rivals = [rival(&ledger, 4, 9), rival(&ledger, 8, 12)];
    let mut outcomes = vec![claim(&ledger, 0, 5)];
    outcomes.extend(rivals.map(|rival| rival.join().expect("no panic")));
    // The outer two never meet, so one of them wins unless the middle one does.
    assert!(outcomes.iter().any(Result::is_ok));
    account(&ledger, outcomes);
}

pub(super) fn a_chain_of_conflicts_has_a_winner<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let rivals = [rival(&ledger, 7, 9), rival(&ledger, 8, 17)];
    let mut outcomes = vec![claim(&ledger, 7, 17)];
    outcomes.extend(rivals.map(|rival| rival.join().expect("no panic")));
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    account(&ledger, outcomes);
}

pub(super) fn a_released_slot_comes_with_what_its_holder_did<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let done = Arc::new(AtomicU32::new(0));
    let (slots, hold) = claim(&ledger, 2, 4).expect("nobody else is there");
    let next = {
        let (ledger, done) = (Arc::clone(&ledger), Arc::clone(&done));
        thread::spawn(move || {
            let outcome = claim(&ledger, 3, 5);
            match &outcome {
                Ok(_) => assert_eq!(done.load(Ordering::Relaxed), 1),
                Err(error) => assert_eq!(*error, ClaimError::Held(Slot::new(3))),
            }
            outcome
        })
    };
    done.store(1, Ordering::Relaxed);
    assert_eq!(L::release(hold), Some(slots));
    account(&ledger, vec![next.join().expect("no panic")]);
}

pub(super) fn a_release_is_seen_past_others_in_the_word<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let done = Arc::new(AtomicU32::new(0));
    let (_, hold) = claim(&ledger, 2, 4).expect("nobody else is there");
    let neighbour = rival(&ledger, 6, 8);
    let next = {
        let (ledger, done) = (Arc::clone(&ledger), Arc::clone(&done));
        thread::spawn(move || {
            let outcome = claim(&ledger, 3, 5);
            if outcome.is_ok() {
                assert_eq!(done.load(Ordering::Relaxed), 1);
            }
            outcome
        })
    };
    done.store(1, Ordering::Relaxed);
    L::release(hold);
    let outcomes = [neighbour, next].map(|thread| thread.join().expect("no panic"));
    account(&ledger, outcomes.into());
}

pub(super) fn a_committed_slot_is_never_claimed<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let (slots, hold) = claim(&ledger, 6, 10).expect("nobody else is there");
    let rival = rival(&ledger, 4, 9);
    let commitment = L::commit(hold).expect("nothing is past");
    let (held, committed) = (
        ClaimError::Held(Slot::new(6)),
        ClaimError::Committed(Slot::new(6)),
    );
    let refused = rival.join().expect("no panic").err();
    assert!(refused == Some(held) || refused == Some(committed));
    for n in 6..10 {
        assert_eq!(ledger.state(Slot::new(n)), Some(SlotState::Committed));
    }
    account(&ledger, vec![Ok((slots, commitment))]);
}

pub(super) fn a_commitment_comes_with_what_its_holder_did<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let done = Arc::new(AtomicU32::new(0));
    let (slots, hold) = claim(&ledger, 2, 4).expect("nobody else is there");
    let reader = {
        let (ledger, done) = (Arc::clone(&ledger), Arc::clone(&done));
        thread::spawn(move || {
            if ledger.state(Slot::new(3)) == Some(SlotState::Committed) {
                assert_eq!(done.load(Ordering::Relaxed), 1);
            }
        })
    };
    done.store(1, Ordering::Relaxed);
    let commitment = L::commit(hold).expect("nothing is past");
    reader.join().expect("no panic");
    account(&ledger, vec![Ok((slots, commitment))]);
}

pub(super) fn a_claim_beside_an_advance_is_early_enough_or_refused<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let clock = {
        let ledger = Arc::clone(&ledger);
        thread::spawn(move || ledger.advance(Slot::new(8)))
    };
    let leaving = claim(&ledger, 6, 9);
    let coming = claim(&ledger, 22, 25);
    assert!(leaving.is_ok() || leaving.as_ref().err() == Some(&ClaimError::Past));
    assert!(coming.is_ok() || coming.as_ref().err() == Some(&ClaimError::Beyond));
    clock.join().expect("no panic");
    account(&ledger, vec![leaving, coming]);
}

pub(super) fn a_window_that_opens_comes_with_what_was_done_before<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let done = Arc::new(AtomicU32::new(0));
    let next = {
        let (ledger, done) = (Arc::clone(&ledger), Arc::clone(&done));
        thread::spawn(move || {
            let outcome = claim(&ledger, 24, 26);
            if outcome.is_ok() {
                assert_eq!(done.load(Ordering::Relaxed), 1);
            }
            outcome
        })
    };
    done.store(1, Ordering::Relaxed);
    ledger.advance(Slot::new(8));
    account(&ledger, vec![next.join().expect("no panic")]);
}

pub(super) fn the_further_of_two_advances_counts<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let clock = {
        let ledger = Arc::clone(&ledger);
        thread::spawn(move || {
            ledger.advance(Slot::new(16));
            claim(&ledger, 38, 40)
        })
    };
    ledger.advance(Slot::new(8));
    let mine = claim(&ledger, 30, 32);
    let theirs = clock.join().expect("no panic");
    assert!(mine.is_ok() && theirs.is_ok());
    assert_eq!(ledger.state(Slot::new(15)), None);
    account(&ledger, vec![mine, theirs]);
}

/// Another thread ends the first word's time and claims the slots that follow in the same place, all on its own there.
fn next_lap<L: Ledger>(ledger: &Arc<L>) -> thread::JoinHandle<Outcome<L::Ticket>> {
    let ledger = Arc::clone(ledger);
    thread::spawn(move || {
        ledger.advance(Slot::new(8));
        let outcome = claim(&ledger, 30, 32);
        assert!(outcome.is_ok(), "nobody else claims on this lap");
        outcome
    })
}

pub(super) fn a_late_release_leaves_the_next_lap_alone<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let (slots, hold) = claim(&ledger, 6, 8).expect("nobody else is there");
    let next = next_lap(&ledger);
    let given_back = L::release(hold);
    assert!(given_back.is_none() || given_back == Some(slots));
    account(&ledger, vec![next.join().expect("no panic")]);
}

pub(super) fn a_late_commit_leaves_the_next_lap_alone<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let (slots, hold) = claim(&ledger, 6, 8).expect("nobody else is there");
    let next = next_lap(&ledger);
    let commitment = L::commit(hold).map(|ticket| (slots, ticket));
    let next = next.join().expect("no panic");
    assert_eq!(ledger.state(Slot::new(30)), Some(SlotState::Held));
    account(
        &ledger,
        vec![next, commitment.map_err(|_| ClaimError::Past)],
    );
}

pub(super) fn a_late_claim_leaves_the_next_lap_alone<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let next = next_lap(&ledger);
    let late = claim(&ledger, 6, 8);
    assert!(late.is_ok() || late.as_ref().err() == Some(&ClaimError::Past));
    let next = next.join().expect("no panic");
    assert_eq!(ledger.state(Slot::new(30)), Some(SlotState::Held));
    account(&ledger, vec![late, next]);
}

pub(super) fn a_late_rollback_leaves_the_next_lap_alone<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let busy = claim(&ledger, 8, 9);
    let next = next_lap(&ledger);
    let late = claim(&ledger, 6, 9);
    let refused = late.as_ref().err();
    assert!(
        [
            Some(&ClaimError::Past),
            Some(&ClaimError::Held(Slot::new(8)))
        ]
        .contains(&refused)
    );
    let next = next.join().expect("no panic");
    account(&ledger, vec![busy, next]);
}

pub(super) fn two_claims_of_a_recycled_word_keep_both<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let past = claim(&ledger, 0, 8);
    let other = {
        let ledger = Arc::clone(&ledger);
        thread::spawn(move || {
            ledger.advance(Slot::new(8));
            claim(&ledger, 24, 28)
        })
    };
    ledger.advance(Slot::new(8));
    let mine = claim(&ledger, 28, 32);
    let theirs = other.join().expect("no panic");
    assert!(mine.is_ok() && theirs.is_ok());
    account(&ledger, vec![past, mine, theirs]);
}

pub(super) fn a_rollback_frees_its_own_slots_only<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let busy = claim(&ledger, 12, 14);
    let beside = rival(&ledger, 0, 2);
    let overlapping = rival(&ledger, 6, 8);
    // No more than eight slots, so that nothing but the claim itself tells that it is in vain.
    let refused = claim(&ledger, 5, 13);
    let (beside, overlapping) = (
        beside.join().expect("no panic"),
        overlapping.join().expect("no panic"),
    );
    assert!(beside.is_ok());
    let blocked = |at| Some(ClaimError::Held(Slot::new(at)));
    // Each of the two may stand in the other's way, but it is the held slot that stops the long one for good.
    assert!([None, blocked(6)].contains(&overlapping.as_ref().err().copied()));
    assert!([blocked(12), blocked(6)].contains(&refused.as_ref().err().copied()));
    account(&ledger, vec![busy, beside, overlapping, refused]);
}

pub(super) fn slots_that_change_hands_have_one_owner_at_a_time<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    // Not loom's: only to watch, in the order in which things really happen.
    let owners: Arc<[Plain; 12]> = Arc::new(std::array::from_fn(|_| Plain::new(0)));
    let work = |who: u32, first: u32, end: u32| {
        let (ledger, owners) = (Arc::clone(&ledger), Arc::clone(&owners));
        move || {
            let swap = |was: u32, is: u32| {
                for slot in first..end {
                    let owner = owners[slot as usize].swap(is, Ordering::SeqCst);
                    assert_eq!(owner, was, "slot {slot} of {who}");
                }
            };
            for _ in 0..2 {
                if let Ok((_, hold)) = claim(&ledger, first, end) {
                    swap(0, who);
                    thread::yield_now();
                    swap(who, 0);
                    L::release(hold);
                }
            }
        }
    };
    let other = thread::spawn(work(1, 6, 9));
    work(2, 7, 10)();
    other.join().expect("no panic");
    account(&ledger, Vec::new());
}

/// A hold is committed and released, the window advances and its new slots are claimed, and two long claims meet in the
/// middle.
pub(super) fn everything_at_once_keeps_the_books<L: Ledger>() {
    let ledger = Arc::new(L::empty());
    let (_, hold) = claim(&ledger, 9, 11).expect("nobody else is there");
    let next = next_lap(&ledger);
    let long = [rival(&ledger, 6, 10), rival(&ledger, 10, 18)];
    let commitment = L::commit(hold).expect("the second word is not past");
    assert_eq!(L::release(commitment), Some(range(9, 11)));
    let mut outcomes = vec![next.join().expect("no panic")];
    outcomes.extend(long.map(|claim| claim.join().expect("no panic")));
    account(&ledger, outcomes);
}
