//! The slot ledger's table in `docs/results/performance.md`: `cargo bench -p gridweave-benches --bench ledger`.
//!
//! With `--test` everything runs once, too short to mean anything.

use gridweave_benches::ledger::{Load, compare};

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let (rounds, turns) = if smoke { (100, 1) } else { (400_000, 15) };
    println!("\n### Rounds per second: a claim, and the release of an older one\n");
    println!(
        "| claims | threads | granted by each | `SlotLedger` | `Mutex<Schedule>` | ours / `Mutex` |"
    );
    println!("|---|---|---|---|---|---|");
    for load in Load::ALL {
        for threads in [1, 2] {
            let [ours, locked] = compare(load, threads, rounds, turns);
            println!(
                "| {} | {threads} | {:.0} %, {:.0} % | {:.1} M | {:.1} M | {:.1}x |",
                load.name,
                100.0 * ours.granted,
                100.0 * locked.granted,
                ours.rate / 1e6,
                locked.rate / 1e6,
                ours.rate / locked.rate
            );
        }
    }
}
