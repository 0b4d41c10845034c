#![no_main]
use gridweave_tests::fuzzing;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzzing::files::gwf(bytes);
});
