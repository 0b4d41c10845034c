#![no_main]
use gridweave_tests::{fuzzing, twins::events::Events};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Events>(bytes));
