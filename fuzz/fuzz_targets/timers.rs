#![no_main]
use gridweave_tests::{fuzzing, twins::timers::Timers};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Timers>(bytes));
