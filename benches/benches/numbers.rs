//! The tables of `docs/results/performance.md`, measured in one run: `cargo bench -p gridweave-benches --bench
//! numbers`.
//!
//! With `--test` everything runs once, too short to mean anything.

use std::time::{Duration, Instant};

use gridweave_benches::availability::{self, Dense, PlainList, Profile, Timing};
use gridweave_benches::common_slot;
use gridweave_benches::schedule::{LockedMap, Node, Ours, Work};
use gridweave_core::schedule::availability::Availability;

/// How thoroughly to measure.
#[derive(Clone, Copy)]
enum Effort {
    Smoke,
    Full,
}

impl Effort {
    fn times(self, full: usize) -> usize {
        match self {
            Self::Smoke => full.min(3),
            Self::Full => full,
        }
    }
}

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let effort = if smoke { Effort::Smoke } else { Effort::Full };
    common_slots(effort);
    profiles(effort);
    schedules(effort);
}

fn common_slots(effort: Effort) {
    println!("\n### Earliest common slot of 420 schedules, busy 85 % of a week of 60 s slots\n");
    println!(
        "| answer | reservations | n | job | ours | the paper's loop | a bitmap per node | one pass |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut cells = common_slot::measure_all(effort.times(30));
    // How the ratios grow with the distance, for 20 reservations.
    for distance in [1008, 2520, 7000] {
        for count in common_slot::COUNTS {
            let answer = common_slot::Answer::Away(distance);
            cells.push(common_slot::measure(20, count, answer, effort.times(30)));
        }
    }
    for cell in cells {
        let distance = cell.answer.distance();
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        let ours = micros(cell.sweep);
        println!(
            "| {distance} slots away | {} | {} | {} slots | {ours:.3} µs | {:.2}x ours | {:.2}x ours | ours {:.2}x |",
            cell.reservations,
            cell.count,
            cell.slots,
            micros(cell.slot_loop) / ours,
            micros(cell.bitmap_loop) / ours,
            ours / micros(cell.pass),
        );
    }
}

fn profiles(effort: Effort) {
    println!("\n### Availability, 1,024 processors\n");
    println!("| reservations | taken | | find mean | p50 | p99 | remove + find + add |");
    println!("|---|---|---|---|---|---|---|");
    for reservations in [100, 1_000, 10_000] {
        let reservations = effort.times(reservations);
        let ours = Dense::<Availability>::build(reservations, 1);
        let taken = 100.0 * ours.utilisation();
        let plain = best(effort, &ours.on::<PlainList>());
        let ours = best(effort, &ours);
        for (name, timing) in [("Availability", ours), ("plain list", plain)] {
            let Timing {
                find_mean,
                find_p50,
                find_p99,
                churn_mean,
            } = timing;
            let micros = [find_mean, find_p50, find_p99, churn_mean]
                .map(|duration| format!("{:.2} µs", duration.as_secs_f64() * 1e6));
            println!(
                "| {reservations} | {taken:.0} % | {name} | {} |",
                micros.join(" | ")
            );
        }
    }
}

/// Of five measurements the one with the smallest sum: the least disturbed by other work on the machine.
fn best<P: Profile>(effort: Effort, dense: &Dense<P>) -> Timing {
    let measured = (0..effort.times(5)).map(|_| {
        availability::measure(
            &mut dense.clone(),
            effort.times(10_000),
            effort.times(10_000),
        )
    });
    measured
        .min_by_key(|timing| timing.find_mean + timing.find_p99 + timing.churn_mean)
        .expect("it is measured at least once")
}

fn schedules(effort: Effort) {
    println!("\n### Schedule of one node beside `Mutex<BTreeMap>`\n");
    println!("| reservations | | earliest fit | fit + hold + commit + release |");
    println!("|---|---|---|---|");
    for reservations in [10, 100, 1_000] {
        row::<Ours>(effort, reservations, "Schedule");
        row::<LockedMap>(effort, reservations, "Mutex<BTreeMap>");
    }
}

fn row<N: Node>(effort: Effort, reservations: usize, name: &str) {
    let mut work = Work::<N>::with(reservations, 1);
    let fit = fastest(effort, || {
        std::hint::black_box(work.fit());
    });
    let round = fastest(effort, || {
        std::hint::black_box(work.round());
    });
    println!("| {reservations} | {name} | {fit:.0} ns | {round:.0} ns |");
}

/// Nanoseconds per run in the fastest of fifty batches.
fn fastest(effort: Effort, mut run: impl FnMut()) -> f64 {
    let runs = effort.times(2_000);
    let batch = |_| {
        let begin = Instant::now();
        (0..runs).for_each(|_| run());
        begin.elapsed().as_secs_f64() * 1e9 / runs as f64
    };
    (0..effort.times(50))
        .map(batch)
        .fold(f64::INFINITY, f64::min)
}
