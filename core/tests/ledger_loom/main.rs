//! The slot ledger under loom: every interleaving of a few threads, and every value that a weak memory lets them read.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p gridweave-core --test ledger_loom --target-dir target/loom -- --nocapture
//! ```
//!
//! [`scenarios`] are written against a trait. The real ledger passes all of them; [`faulty`] is a copy in which one
//! thing can be made wrong, and each fault must be caught by the scenario that is meant for it.
#![cfg(loom)]

mod faulty;
mod real;
mod scenarios;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use faulty::{Fault, Faulty};
use gridweave_core::schedule::ledger::{
    AllPast, ClaimError, Slot, SlotLedger, SlotRange, SlotState,
};

/// How many words every ledger here has.
const WORDS: usize = 3;
/// The one under test.
type Real = SlotLedger<WORDS>;
/// The copy without a fault.
type Sound = Faulty<{ Fault::None as u8 }>;

/// What a scenario does with a ledger.
trait Ledger: Send + Sync + Sized + 'static {
    type Ticket: Send + 'static;
    fn empty() -> Self;
    fn claim(this: &Arc<Self>, slots: SlotRange) -> Result<Self::Ticket, ClaimError>;
    fn commit(ticket: Self::Ticket) -> Result<Self::Ticket, AllPast>;
    fn release(ticket: Self::Ticket) -> Option<SlotRange>;
    fn advance(&self, first: Slot);
    fn state(&self, slot: Slot) -> Option<SlotState>;
}

/// Which interleavings are tried.
#[derive(Clone, Copy)]
enum Extent {
    /// All.
    All,
    /// Those in which threads are interrupted at most this often, where they need not be.
    Preemptions(usize),
}

/// Runs a scenario in all interleavings and counts them.
fn explore(extent: Extent, tried: &Arc<AtomicUsize>, scenario: fn()) {
    let tried = Arc::clone(tried);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = match extent {
        Extent::All => None,
        Extent::Preemptions(bound) => Some(bound),
    };
    builder.check(move || {
        tried.fetch_add(1, Ordering::Relaxed);
        scenario();
    });
}

/// A scenario that must hold, in exactly `pinned` interleavings. It must hold on the copy without a fault, too; else a
/// fault that is caught in the copy would mean nothing.
fn holds(name: &str, extent: Extent, pinned: usize, real: fn(), sound: fn()) {
    let tried = Arc::default();
    explore(extent, &tried, real);
    let tried = tried.load(Ordering::Relaxed);
    println!("{name}: {tried} interleavings");
    assert_eq!(tried, pinned, "the interleavings of {name}");
    explore(extent, &Arc::default(), sound);
}

/// A planted fault that some interleaving must bring to light.
fn caught(fault: &str, scenario: fn()) {
    let tried = Arc::default();
    let run = catch_unwind(AssertUnwindSafe(|| {
        explore(Extent::All, &tried, scenario);
    }));
    let tried = tried.load(Ordering::Relaxed);
    assert!(run.is_err(), "{fault}: not caught in {tried} interleavings");
    println!("{fault}: in interleaving {tried}");
}

macro_rules! scenarios {
    ($($name:ident: $extent:expr, $pinned:literal;)*) => {
        $(
            #[test]
            fn $name() {
                holds(
                    stringify!($name),
                    $extent,
                    $pinned,
                    scenarios::$name::<Real>,
                    scenarios::$name::<Sound>,
                );
            }
        )*
    };
}

scenarios! {
    two_claims_of_one_slot_have_one_winner: Extent::All, 7;
    neighbours_in_a_word_both_win: Extent::All, 7;
    overlapping_claims_of_two_words_have_one_winner: Extent::All, 7;
    a_conflict_in_the_second_word_has_one_winner: Extent::All, 11;
    three_neighbours_in_a_word_all_win: Extent::All, 1957;
    of_three_overlapping_claims_the_winners_are_disjoint: Extent::All, 49;
    a_chain_of_conflicts_has_a_winner: Extent::All, 493;
    a_released_slot_comes_with_what_its_holder_did: Extent::All, 6;
    a_release_is_seen_past_others_in_the_word: Extent::All, 693;
    a_committed_slot_is_never_claimed: Extent::All, 6;
    a_commitment_comes_with_what_its_holder_did: Extent::All, 6;
    a_claim_beside_an_advance_is_early_enough_or_refused: Extent::All, 17;
    a_window_that_opens_comes_with_what_was_done_before: Extent::All, 6;
    the_further_of_two_advances_counts: Extent::All, 15;
    a_late_release_leaves_the_next_lap_alone: Extent::All, 28;
    a_late_commit_leaves_the_next_lap_alone: Extent::All, 28;
    a_late_claim_leaves_the_next_lap_alone: Extent::All, 28;
    a_late_rollback_leaves_the_next_lap_alone: Extent::All, 96;
    two_claims_of_a_recycled_word_keep_both: Extent::All, 90;
    a_rollback_frees_its_own_slots_only: Extent::All, 15678;
    slots_that_change_hands_have_one_owner_at_a_time: Extent::All, 975;
    everything_at_once_keeps_the_books: Extent::Preemptions(2), 11815;
}

macro_rules! faults {
    ($($name:ident: $fault:ident in $scenario:ident;)*) => {
        $(
            #[test]
            fn $name() {
                caught(
                    stringify!($name),
                    scenarios::$scenario::<Faulty<{ Fault::$fault as u8 }>>,
                );
            }
        )*
    };
}

faults! {
    checking_before_storing_is_caught: CheckThenStore in two_claims_of_one_slot_have_one_winner;
    a_rollback_that_empties_the_word_is_caught: RollbackEmptiesWord in a_rollback_frees_its_own_slots_only;
    a_claim_that_keeps_what_it_took_is_caught: NoRollback in a_rollback_frees_its_own_slots_only;
    claims_in_any_order_are_caught: AnyOrder in overlapping_claims_of_two_words_have_one_winner;
    a_release_that_ignores_the_lap_is_caught: ReleaseIgnoresLap in a_late_release_leaves_the_next_lap_alone;
    a_commit_that_ignores_the_lap_is_caught: CommitIgnoresLap in a_late_commit_leaves_the_next_lap_alone;
    a_claim_that_ignores_the_lap_is_caught: ClaimIgnoresLap in a_late_claim_leaves_the_next_lap_alone;
    a_rollback_that_ignores_the_lap_is_caught: RollbackIgnoresLap in a_late_rollback_leaves_the_next_lap_alone;
    an_advance_that_overwrites_a_claim_is_caught: AdvanceOverwrites in two_claims_of_a_recycled_word_keep_both;
    an_advance_that_goes_back_is_caught: AdvanceGoesBack in the_further_of_two_advances_counts;
    a_relaxed_release_is_caught: RelaxedRelease in a_released_slot_comes_with_what_its_holder_did;
    a_relaxed_claim_is_caught: RelaxedClaim in a_released_slot_comes_with_what_its_holder_did;
    a_relaxed_commit_is_caught: RelaxedRelease in a_commitment_comes_with_what_its_holder_did;
    a_relaxed_advance_is_caught: RelaxedAdvance in a_window_that_opens_comes_with_what_was_done_before;
}
