#![no_main]
use gridweave_tests::{fuzzing, twins::common_slot::Grids};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Grids>(bytes));
