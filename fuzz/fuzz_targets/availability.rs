#![no_main]
use gridweave_tests::{fuzzing, twins::availability::Profiles};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Profiles>(bytes));
