//! Random sequences of calls, in a short form. `GRIDWEAVE_CALLS` says how many to make instead, from a seed of today.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_lines,
    missing_docs,
    unreachable_pub,
    reason = "a test"
)]

#[path = "calls/body.rs"]
mod body;

use body::{Seen, run};
use gridweave_c::gw_status;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

#[test]
fn no_sequence_of_calls_breaks_anything_and_nearly_every_status_is_seen() {
    let asked: Option<u64> = std::env::var("GRIDWEAVE_CALLS")
        .ok()
        .and_then(|text| text.parse().ok());
    let today = || {
        let since = std::time::UNIX_EPOCH.elapsed();
        since.map_or(0, |since| since.as_secs())
    };
    let seed = asked.map_or(1, |_| today());
    let most = asked.unwrap_or(if cfg!(debug_assertions) {
        60_000
    } else {
        300_000
    });
    println!("seed {seed}");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut seen, mut calls, mut data) = (Seen::new(), 0, vec![0; 8192]);
    while calls < most {
        rng.fill_bytes(&mut data);
        calls += run(&data, &mut seen);
    }
    for status in gw_status::ALL {
        let times = seen.get(&(*status as i32)).copied().unwrap_or(0);
        println!("{status:?} {times}");
        // Those that tell of mistakes in the library, that need millions of objects, or a message too long.
        let is_rare = matches!(
            status,
            gw_status::GW_PANICKED
                | gw_status::GW_BROKEN
                | gw_status::GW_RULE_BROKEN
                | gw_status::GW_TOO_MANY
                | gw_status::GW_NOT_ENCODED
        );
        assert!(
            is_rare || times > 0 || most < 50_000,
            "{status:?} was never returned"
        );
    }
    println!("{calls} calls");
}
