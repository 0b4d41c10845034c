#![no_main]
use gridweave_tests::{fuzzing, twins::ledger::Ledgers};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Ledgers>(bytes));
