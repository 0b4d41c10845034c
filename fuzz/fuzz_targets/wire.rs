#![no_main]
use gridweave_tests::fuzzing;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzzing::wire::decode(bytes);
    fuzzing::wire::decode_records(bytes);
});
