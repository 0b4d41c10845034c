#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    gridweave_node::fuzzing::store(bytes);
});
