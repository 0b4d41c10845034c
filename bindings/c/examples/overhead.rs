//! What a call through the ABI costs more than the same call in Rust: the cheapest one, and that of a scheduler.
//!
//! ```sh
//! cargo run --release -p gridweave-c --example overhead
//! ```

#![allow(
    clippy::arithmetic_side_effects,
    reason = "a program that only measures"
)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use gridweave_c::*;
use gridweave_core::schedule::availability::Availability;
use gridweave_core::time::{Interval, Span, Time};

/// How often each call is made, in each of so many rounds, of which the fastest counts.
const CALLS: u64 = 1_000_000;
const ROUNDS: usize = 7;

/// The nanoseconds that this thread has worked, so that other programs do not count; on systems without that, the time.
fn worked(begin: Instant) -> u128 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanos.unwrap_or_else(|| begin.elapsed().as_nanos())
}

/// Nanoseconds per call.
fn time(mut call: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    let round = |_| {
        let begin = worked(start);
        (0..CALLS).for_each(&mut call);
        (worked(start) - begin) as f64 / CALLS as f64
    };
    (0..ROUNDS).map(round).fold(f64::MAX, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut own = Availability::new(128)?;
    let mut plan = gw_availability { id: 0 };
    // SAFETY: the pointer is that of a handle.
    let made = unsafe { gw_availability_new(128, 0, &raw mut plan) };
    assert_eq!(made, gw_status::GW_OK);
    // Jobs of many sizes, a thousand of them.
    for job in 0..1000_u64 {
        let (count, length) = (
            1 + (job * 37 % 96) as u32,
            Span::from_secs(60 + job * 7919 % 3600),
        );
        let start = own.earliest_fit(Time::ZERO, count, length)?;
        let interval = Interval::starting(start, length)?;
        own.reserve(interval, count)?;
        let end = interval.end().as_micros();
        let reserved = gw_availability_reserve(plan, start.as_micros(), end, count);
        assert_eq!(reserved, gw_status::GW_OK);
    }
    let at = |call: u64| (call * 7_919) % 100_000 * 1_000_000;

    let rust = time(|call| {
        black_box(own.free_at(Time::from_micros(at(call))));
    });
    let c = time(|call| {
        let mut free = 0;
        // SAFETY: the pointer is that of a number.
        let status = unsafe { gw_availability_free_at(plan, at(call), &raw mut free) };
        black_box((status, free));
    });
    println!("| call | in Rust, ns | through the ABI, ns | more, ns |\n|---|---|---|---|");
    println!("| `free_at` | {rust:.1} | {c:.1} | {:.1} |", c - rust);

    let length = Span::from_secs(600);
    let rust = time(|call| {
        black_box(
            own.earliest_fit(Time::from_micros(at(call)), 64, length)
                .ok(),
        );
    });
    let c = time(|call| {
        let mut start = 0;
        // SAFETY: the pointer is that of a time.
        let status = unsafe {
            gw_availability_earliest_fit(plan, at(call), 64, length.as_micros(), &raw mut start)
        };
        black_box((status, start));
    });
    println!("| `earliest_fit` | {rust:.1} | {c:.1} | {:.1} |", c - rust);
    assert_eq!(gw_availability_free(plan), gw_status::GW_OK);
    Ok(())
}
