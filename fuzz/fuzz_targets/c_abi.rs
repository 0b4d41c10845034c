#![no_main]
#[path = "../../bindings/c/tests/calls/body.rs"]
mod body;
use std::sync::atomic::{AtomicU64, Ordering};
const MILLION: u64 = 1_000_000;
static CALLS: AtomicU64 = AtomicU64::new(0);
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let made = body::run(bytes, &mut body::Seen::new());
    let before = CALLS.fetch_add(made, Ordering::Relaxed);
    if before / MILLION < (before + made) / MILLION {
        eprintln!("{} calls", before + made);
    }
});
