//! The event queue's tables in `docs/results/performance.md`: `cargo bench -p gridweave-benches --bench events`.
//!
//! With `--test` everything runs once, too short to mean anything.

use std::time::Duration;

use gridweave_benches::events::engine::Simcore;
use gridweave_benches::events::queues::{Binary, Calendar, Quaternary};
use gridweave_benches::events::{Delays, Draws, Effort, LookAhead, Phold, Simulation, measure};
use gridweave_sim::event_queue::EventQueue;

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let effort = Effort {
        rounds: if smoke { 1 } else { 5 },
        turn: Duration::from_millis(if smoke { 0 } else { 400 }),
    };
    let sizes = |full: &[u32]| {
        if smoke { vec![100] } else { full.to_vec() }
    };
    by_size(&sizes(&[1_000, 10_000, 100_000, 1_000_000]), effort);
    by_delay(&sizes(&[10_000, 100_000]), effort);
}

/// Some work before anything counts: every node has its turn twice, and short delays have led to long ones.
fn warm_up(nodes: u32) -> usize {
    2 * nodes as usize + 1_000
}

fn ours(draws: &Draws, look_ahead: LookAhead) -> Box<dyn Simulation> {
    Box::new(Phold::<EventQueue<u32>>::new(draws.clone(), look_ahead))
}

fn by_size(sizes: &[u32], effort: Effort) {
    println!("\n### Events per CPU-second, exponential delays, as many nodes as pending events\n");
    println!(
        "| pending | ours | without look-ahead | calendar | 4-ary heap | `BinaryHeap` | simcore | ours / simcore | ours / `BinaryHeap` |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &nodes in sizes {
        let draws = Draws::new(Delays::Exponential, nodes);
        let plain = LookAhead::Ignore;
        let mut contestants: Vec<Box<dyn Simulation>> = vec![
            ours(&draws, LookAhead::Touch),
            ours(&draws, plain),
            Box::new(Phold::<Calendar>::new(draws.clone(), plain)),
            Box::new(Phold::<Quaternary>::new(draws.clone(), plain)),
            Box::new(Phold::<Binary>::new(draws.clone(), plain)),
            Box::new(Simcore::new(draws)),
        ];
        let rates = measure(&mut contestants, warm_up(nodes), effort);
        println!(
            "| {nodes} | {} | {:.1}x | {:.1}x |",
            millions(&rates),
            rates[0] / rates[5],
            rates[0] / rates[4]
        );
    }
}

fn by_delay(sizes: &[u32], effort: Effort) {
    println!("\n### Events per CPU-second by delay\n");
    println!(
        "| pending | delays | ours | without look-ahead | `BinaryHeap` | simcore | ours / simcore | ours / `BinaryHeap` |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &nodes in sizes {
        for delays in Delays::ALL {
            let draws = Draws::new(delays, nodes);
            let mut contestants: Vec<Box<dyn Simulation>> = vec![
                ours(&draws, LookAhead::Touch),
                ours(&draws, LookAhead::Ignore),
                Box::new(Phold::<Binary>::new(draws.clone(), LookAhead::Ignore)),
                Box::new(Simcore::new(draws)),
            ];
            let rates = measure(&mut contestants, warm_up(nodes), effort);
            println!(
                "| {nodes} | {} | {} | {:.1}x | {:.1}x |",
                delays.name(),
                millions(&rates),
                rates[0] / rates[3],
                rates[0] / rates[2]
            );
        }
    }
}

fn millions(rates: &[f64]) -> String {
    let cells: Vec<String> = rates
        .iter()
        .map(|rate| format!("{:.1} M", rate / 1e6))
        .collect();
    cells.join(" | ")
}
