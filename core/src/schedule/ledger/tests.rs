use super::*;
use std::string::ToString;
use std::sync::Arc;
use std::sync::atomic::AtomicU32 as Watch;
use std::vec::Vec;
use std::{format, thread};

fn slot(number: u32) -> Slot {
    Slot::new(number)
}

fn range(first: u32, end: u32) -> SlotRange {
    SlotRange::between(slot(first), slot(end)).unwrap()
}

/// The states of all slots in the window, as a line of letters.
fn line<const WORDS: usize>(ledger: &SlotLedger<WORDS>) -> std::string::String {
    let window = ledger.window().unwrap();
    (window.first().get()..window.end().get())
        .map(|number| match ledger.state(slot(number)) {
            Some(SlotState::Free) => '.',
            Some(SlotState::Held) => 'h',
            Some(SlotState::Committed) => 'C',
            None => '?',
        })
        .collect()
}

#[test]
fn slots_are_held_committed_and_released() {
    let ledger = SlotLedger::<2>::new();
    let hold = ledger.claim(range(6, 10)).unwrap();
    assert_eq!(line(&ledger), "......hhhh......");
    assert_eq!(hold.slots(), range(6, 10));
    let commitment = hold.commit().unwrap();
    assert_eq!(line(&ledger), "......CCCC......");
    assert_eq!(commitment.slots(), range(6, 10));
    let other = ledger.claim(range(0, 6)).unwrap();
    assert_eq!(commitment.release(), Some(range(6, 10)));
    assert_eq!(line(&ledger), "hhhhhh..........");
    assert_eq!(other.release(), Some(range(0, 6)));
    assert_eq!(line(&ledger), "................");
}

#[test]
fn a_refusal_names_the_first_busy_slot_and_changes_nothing() {
    let ledger = SlotLedger::<3>::default();
    let _held = ledger.claim(range(12, 14)).unwrap();
    let _committed = ledger.claim(range(18, 19)).unwrap().commit().unwrap();
    let before = line(&ledger);
    let refused = |first, end| ledger.claim(range(first, end)).unwrap_err();
    assert_eq!(refused(0, 24), ClaimError::Held(slot(12)));
    assert_eq!(refused(13, 20), ClaimError::Held(slot(13)));
    assert_eq!(refused(14, 20), ClaimError::Committed(slot(18)));
    assert_eq!(refused(24, 25), ClaimError::Beyond);
    assert_eq!(refused(0, u32::MAX), ClaimError::Beyond);
    assert_eq!(line(&ledger), before);
    ledger.advance(slot(3));
    assert_eq!(refused(2, 4), ClaimError::Past);
    assert_eq!(refused(0, 99), ClaimError::Past);
}

#[test]
fn a_dropped_hold_is_released_and_a_dropped_commitment_stands() {
    let ledger = SlotLedger::<1>::new();
    drop(ledger.claim(range(0, 3)).unwrap());
    assert_eq!(line(&ledger), "........");
    drop(ledger.claim(range(0, 3)).unwrap().commit());
    assert_eq!(line(&ledger), "CCC.....");
}

#[test]
fn the_window_moves_by_words_and_never_back() {
    let ledger = SlotLedger::<2>::new();
    assert_eq!(ledger.window(), Some(range(0, 16)));
    assert_eq!(ledger.advance(slot(7)), slot(7));
    assert_eq!(ledger.window(), Some(range(7, 16)));
    assert_eq!(ledger.advance(slot(8)), slot(8));
    assert_eq!(ledger.window(), Some(range(8, 24)));
    assert_eq!(ledger.advance(slot(3)), slot(8));
    assert_eq!(ledger.window(), Some(range(8, 24)));
}

#[test]
fn past_slots_can_be_claimed_again_even_if_they_were_never_released() {
    let ledger = SlotLedger::<2>::new();
    let forgotten = ledger.claim(range(0, 8)).unwrap().commit().unwrap();
    let half = ledger.claim(range(6, 9));
    assert_eq!(half.unwrap_err(), ClaimError::Committed(slot(6)));
    ledger.advance(slot(8));
    let next = ledger.claim(range(14, 18)).unwrap();
    assert_eq!(line(&ledger), "......hhhh......");
    // It shares a word with slots 16 and 17, which are not its own.
    assert_eq!(forgotten.release(), None);
    assert_eq!(line(&ledger), "......hhhh......");
    assert_eq!(next.release(), Some(range(14, 18)));
}

#[test]
fn tickets_answer_for_the_slots_that_are_not_past() {
    let ledger = SlotLedger::<3>::new();
    let hold = ledger.claim(range(2, 12)).unwrap();
    ledger.advance(slot(5));
    let commitment = hold.commit().unwrap();
    assert_eq!(line(&ledger), "CCCCCCC............");
    ledger.advance(slot(9));
    assert_eq!(commitment.release(), Some(range(9, 12)));
    let late = ledger.claim(range(9, 10)).unwrap();
    ledger.advance(slot(10));
    assert_eq!(late.commit().unwrap_err(), AllPast);
    let later = ledger.claim(range(10, 11)).unwrap();
    ledger.advance(slot(11));
    assert_eq!(later.release(), None);
}

#[test]
fn a_claim_that_stalled_while_its_word_moved_on_is_refused() {
    let ledger = SlotLedger::<2>::new();
    ledger.advance(slot(8));
    let next = ledger.claim(range(16, 17)).unwrap();
    // As a claimant sees it that looked at the window before the advance.
    ledger.first.store(0, Ordering::Relaxed);
    assert_eq!(ledger.claim(range(6, 9)).unwrap_err(), ClaimError::Past);
    assert_eq!(ledger.state(slot(6)), None);
    assert!(!ledger.is_free(range(6, 7)));
    assert_eq!(ledger.first_free(slot(6), 2), Some(range(8, 10)));
    // And one that had taken slots of both words when the first moved on.
    assert_eq!(ledger.free(range(6, 10)), Some(range(8, 10)));
    assert_eq!(ledger.commit(range(6, 8)), None);
    ledger.advance(slot(8));
    assert_eq!(next.release(), Some(range(16, 17)));
}

#[test]
fn hints_tell_what_is_free() {
    let ledger = SlotLedger::<3>::new();
    let _a = ledger.claim(range(3, 4)).unwrap();
    let _b = ledger.claim(range(10, 12)).unwrap().commit().unwrap();
    for (from, count, found) in [
        (0, 1, Some(0)),
        (0, 3, Some(0)),
        (0, 4, Some(4)),
        (3, 6, Some(4)),
        (5, 6, Some(12)),
        (0, 7, Some(12)),
        (0, 12, Some(12)),
        (0, 13, None),
        (0, 0, None),
        (13, 11, Some(13)),
        (14, 11, None),
        (24, 1, None),
        (0, u32::MAX, None),
    ] {
        let expected = found.map(|first| range(first, first + count));
        assert_eq!(
            ledger.first_free(slot(from), count),
            expected,
            "{from} {count}"
        );
    }
    assert!(ledger.is_free(range(4, 10)));
    assert!(!ledger.is_free(range(4, 11)));
    assert!(!ledger.is_free(range(23, 25)));
    ledger.advance(slot(5));
    assert!(!ledger.is_free(range(4, 10)));
    assert_eq!(ledger.first_free(slot(0), 5), Some(range(5, 10)));
    assert_eq!(ledger.state(slot(4)), None);
    assert_eq!(ledger.state(slot(24)), None);
}

#[test]
fn a_ledger_without_words_refuses_everything() {
    let none = SlotLedger::<0>::new();
    assert_eq!(SlotLedger::<0>::END, slot(0));
    assert_eq!(none.window(), None);
    assert_eq!(none.claim(range(0, 1)).unwrap_err(), ClaimError::Beyond);
    assert_eq!(none.advance(slot(9)), slot(0));
    assert_eq!(none.state(slot(0)), None);
    assert_eq!(none.first_free(slot(0), 1), None);
    assert!(none.place(0).is_none());
}

#[test]
fn a_ledger_ends_before_its_laps_repeat() {
    let end = SlotLedger::<2>::END.get();
    assert_eq!(end, 2 * 8 * 65_536);
    let ledger = SlotLedger::<2>::new();
    let first_lap = ledger.claim(range(0, 8)).unwrap();
    ledger.advance(slot(end - 9));
    assert_eq!(ledger.window(), Some(range(end - 9, end)));
    let last_lap = ledger.claim(range(end - 9, end)).unwrap();
    assert_eq!(
        ledger.claim(range(end, end + 1)).unwrap_err(),
        ClaimError::Beyond
    );
    assert_eq!(first_lap.release(), None);
    assert_eq!(line(&ledger), "hhhhhhhhh");
    assert_eq!(ledger.advance(slot(u32::MAX)), slot(end));
    assert_eq!(ledger.window(), None);
    assert_eq!(last_lap.release(), None);
    assert_eq!(
        ledger.claim(range(end, end + 1)).unwrap_err(),
        ClaimError::Beyond
    );
    assert_eq!(
        ledger.claim(range(end - 1, end)).unwrap_err(),
        ClaimError::Past
    );
}

#[test]
fn numbers_end_before_the_laps_of_a_large_ledger() {
    const LARGE: usize = 8_193;
    let ledger = std::boxed::Box::new(SlotLedger::<LARGE>::new());
    assert_eq!(SlotLedger::<LARGE>::END, slot(u32::MAX));
    ledger.advance(slot(u32::MAX - 3));
    let last = ledger.claim(range(u32::MAX - 3, u32::MAX)).unwrap();
    assert_eq!(last.release(), Some(range(u32::MAX - 3, u32::MAX)));
    ledger.advance(slot(u32::MAX));
    assert_eq!(ledger.window(), None);
}

#[test]
fn tickets_and_refusals_print_plainly() {
    let ledger = SlotLedger::<1>::new();
    let hold = ledger.claim(range(1, 3)).unwrap();
    assert_eq!(format!("{hold:?}"), "Hold([#1, #3))");
    let commitment = hold.commit().unwrap();
    assert_eq!(format!("{commitment:?}"), "Commitment([#1, #3))");
    for (error, words) in [
        (ClaimError::Past, "past"),
        (ClaimError::Beyond, "beyond the window"),
        (ClaimError::Held(slot(3)), "slot #3 is held"),
        (ClaimError::Committed(slot(4)), "slot #4 is committed"),
    ] {
        assert!(error.to_string().contains(words));
    }
    assert!(AllPast.to_string().contains("past"));
}

#[test]
fn a_static_ledger_serves_threads_that_keep_their_tickets() {
    static LEDGER: SlotLedger<1> = SlotLedger::new();
    let claims = [0, 2, 4, 6]
        .map(|first| thread::spawn(move || Hold::claim(&LEDGER, range(first, first + 2)).unwrap()));
    let holds = claims.map(|claim| claim.join().unwrap());
    assert_eq!(line(&LEDGER), "hhhhhhhh");
    drop(holds);
    assert_eq!(line(&LEDGER), "........");
}

/// Threads that claim, commit, release and forget beside a clock, each watching that its slots are its own.
#[test]
fn under_stress_a_slot_has_one_owner_and_none_is_lost() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 4_000;
    const LAST: u32 = 400;
    let ledger = Arc::new(SlotLedger::<4>::new());
    let owners: Arc<Vec<Watch>> = Arc::new((0..LAST + 64).map(|_| Watch::new(0)).collect());
    let worker = |who: u32| {
        let (ledger, owners) = (Arc::clone(&ledger), Arc::clone(&owners));
        move || {
            let mut won = 0;
            let mut random = who;
            for _ in 0..ROUNDS {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let first = ledger.window().unwrap().first().get() + (random >> 28);
                let slots = range(first, first + 1 + (random >> 16) % 20);
                let Ok(hold) = ledger.claim(slots) else {
                    continue;
                };
                won += 1;
                let swap = |was: u32, is: u32| {
                    for number in slots.first().get()..slots.end().get() {
                        let before = owners[number as usize].swap(is, Ordering::Relaxed);
                        assert_eq!(before, was, "slot {number}");
                    }
                };
                swap(0, who);
                match random % 3 {
                    0 => {
                        swap(who, 0);
                        drop(hold);
                    }
                    1 => {
                        swap(who, 0);
                        hold.release();
                    }
                    _ => {
                        let committed = hold.commit();
                        swap(who, 0);
                        let _ = committed.map(Commitment::release);
                    }
                }
            }
            won
        }
    };
    let workers: Vec<_> = (1..=THREADS)
        .map(|who| thread::spawn(worker(who)))
        .collect();
    for first in 0..LAST {
        ledger.advance(slot(first));
        thread::yield_now();
    }
    let won: u32 = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    assert!(won > ROUNDS / 10, "only {won} claims succeeded");
    let window = ledger.window().unwrap();
    assert!(ledger.is_free(window));
    assert_eq!(ledger.claim(window).unwrap().release(), Some(window));
}
