#![no_main]
use gridweave_tests::{fuzzing, twins::site::Sites};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Sites>(bytes));
