#![no_main]
use gridweave_tests::{fuzzing, twins::backfill::Backfill};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Backfill>(bytes));
