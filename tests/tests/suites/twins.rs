//! Each layer gives the same answers as its slow obvious twin, over thousands of random histories.

use gridweave_tests::scaled;
use gridweave_tests::twins::{
    Driven, availability, backfill, common_slot, events, ledger, schedule, site, timers,
};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use proptest_state_machine::prop_state_machine;

type Growable = Driven<schedule::Growable>;
type Fixed = Driven<schedule::Fixed>;
type Sites = Driven<site::Sites>;
type Availability = Driven<availability::Profiles>;
type Grids = Driven<common_slot::Grids>;
type Backfill = Driven<backfill::Backfill>;
type Timers = Driven<timers::Timers>;
type Events = Driven<events::Events>;
type Ledgers = Driven<ledger::Ledgers>;

/// The same histories in every run; a failure is shrunk and printed whole.
fn seeded() -> ProptestConfig {
    ProptestConfig {
        cases: scaled(512, 48),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6772_6964),
        ..ProptestConfig::default()
    }
}

prop_state_machine! {
    #![proptest_config(seeded())]

    #[test]
    fn a_schedule_answers_as_a_list_of_bitmaps(sequential 1..60 => Growable);

    #[test]
    fn a_schedule_without_allocator_answers_as_a_list_of_bitmaps(sequential 1..60 => Fixed);

    #[test]
    fn a_site_queue_answers_as_a_list_sorted_anew(sequential 1..40 => Sites);

    #[test]
    fn a_backfill_queue_answers_as_plain_lists_and_the_formulas_of_p4(sequential 1..80 => Backfill);

    #[test]
    fn a_profile_answers_as_a_row_of_slots(sequential 1..60 => Availability);

    #[test]
    fn a_common_slot_is_where_one_bitmap_per_node_says(sequential 1..80 => Grids);

    #[test]
    fn a_timer_queue_answers_as_an_unsorted_list(sequential 1..60 => Timers);

    #[test]
    fn an_event_queue_answers_as_an_ordered_set(sequential 1..80 => Events);

    #[test]
    fn a_slot_ledger_answers_as_a_row_of_slots(sequential 1..80 => Ledgers);
}
