#![no_main]
#[path = "../../bindings/c/tests/calls/body.rs"]
mod body;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::run(bytes, &mut body::Seen::new());
});
