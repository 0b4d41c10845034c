#![no_main]
use gridweave_tests::{fuzzing, twins::schedule::Growable};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::drive::<Growable>(bytes));
