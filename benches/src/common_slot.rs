//! The earliest common slot of 420 schedules: the sweep of `gridweave-core` beside the loop of P1 figure 3, a bitmap
//! per node, and one pass over the same bytes.
//!
//! 420 is P1's two-hop neighbourhood at degree 20. Every schedule fills the same [`DAYS`] days with 5, 20 or 100
//! reservations and is busy for about 85% of them, so more reservations are shorter ones. Every search begins in the
//! midst of that, and all bounds lie on slots of 60 s (PROTOCOLS D5), so that methods that know only slots give the
//! same answer.
//!
//! What the loops take grows with the distance of the answer, so it is planted: exactly `count` schedules, at random,
//! have a gap longer than any other there, and the last of these gaps opens at [`Answer::distance`]. The job is the
//! shortest that has to wait until then. So before that almost enough schedules are free many times: the hardest case
//! for the sweep. The fewer schedules it needs the longer it is: for one of them it fits no other gap, for 256 it fits
//! most.

use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use gridweave_core::rng::Choose;
use gridweave_core::schedule::common_slot::{CommonSearch, InOrder};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How many schedules a search looks at.
pub const SCHEDULES: usize = 420;
/// One slot.
pub const SLOT: Span = Span::from_secs(60);
/// How long the schedules are busy.
pub const DAYS: u64 = 7;
/// Reservations in each schedule, as measured.
pub const RESERVATIONS: [u64; 3] = [5, 20, 100];
/// Schedules needed at once, as measured.
pub const COUNTS: [u32; 4] = [1, 8, 64, 256];

const SLOTS: u64 = DAYS * 24 * 60;
const BUSY_PERCENT: u64 = 85;

/// Where the answer lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// At the instant asked for: two schedules of three, at random, are idle for longer than the job.
    Immediate,
    /// This many slots away.
    Away(u64),
}

impl Answer {
    /// About one cycle of 20 reservations away.
    pub const NEAR: Self = Self::Away(504);
    /// Half of what is reserved away.
    pub const FAR: Self = Self::Away(5040);
    /// Those that every number of reservations is measured at.
    pub const ALL: [Self; 3] = [Self::Immediate, Self::NEAR, Self::FAR];

    /// How many slots away it is.
    pub fn distance(self) -> u64 {
        match self {
            Self::Immediate => 0,
            Self::Away(slots) => slots,
        }
    }
}

/// Schedules and a question about them, from time zero.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Sorted, disjoint windows on slot bounds.
    pub schedules: Vec<Vec<Interval>>,
    /// The same as bits.
    pub bitmaps: Vec<Bitmap>,
    /// How long the job takes.
    pub length: Span,
    /// How many schedules it needs.
    pub count: u32,
    /// The answer, on which all methods agree.
    pub start: Time,
}

impl Workload {
    /// The workload for this cell of the table.
    ///
    /// # Panics
    /// If the answer is not where it should be, or the methods disagree about it.
    pub fn new(reservations: u64, count: u32, answer: Answer) -> Self {
        let schedules = schedules(reservations, count, answer);
        let start = slot(answer.distance());
        let mut workload = Self {
            bitmaps: schedules.iter().map(|s| Bitmap::new(s)).collect(),
            schedules,
            length: SLOT,
            count,
            start,
        };
        let mut search = CommonSearch::default();
        while workload.sweep(&mut search) < start {
            workload.length += SLOT;
        }
        let found = search.earliest(
            &workload.schedules,
            Time::ZERO,
            workload.length,
            count,
            InOrder,
        );
        let found = found.expect("every schedule is idle in the end");
        let mut chosen = Vec::new();
        assert_eq!(found.start, start);
        assert_eq!(workload.slot_loop(&mut chosen), start);
        assert_eq!(found.chosen, chosen);
        assert_eq!(workload.bitmap_loop(&mut chosen), start);
        assert_eq!(found.chosen, chosen);
        workload
    }

    /// The sweep.
    pub fn sweep(&self, search: &mut CommonSearch) -> Time {
        search
            .earliest(
                &self.schedules,
                black_box(Time::ZERO),
                self.length,
                self.count,
                InOrder,
            )
            .map_or(Time::MAX, |slot| slot.start)
    }

    /// P1 figure 3, steps 5 to 8: slot after slot, until enough schedules are free.
    ///
    /// Each schedule's reservations are looked at from the first on, up to the one that decides, and no more schedules
    /// than needed.
    pub fn slot_loop(&self, chosen: &mut Vec<u32>) -> Time {
        let mut start = black_box(Time::ZERO);
        loop {
            chosen.clear();
            let end = start + self.length;
            for (index, windows) in (0..).zip(&self.schedules) {
                let next = windows.iter().find(|window| window.end() > start);
                if next.is_none_or(|window| end <= window.start()) {
                    chosen.push(index);
                    if chosen.len() == self.count as usize {
                        return start;
                    }
                }
            }
            start += SLOT;
        }
    }

    /// The same loop, each schedule a row of bits, one for each slot, that is tested a word of 64 at a time up to the
    /// first that has a busy slot. Building the rows is not measured.
    pub fn bitmap_loop(&self, chosen: &mut Vec<u32>) -> Time {
        let slots = (self.length.as_micros() / SLOT.as_micros()) as usize;
        let mut start = black_box(0_usize);
        loop {
            chosen.clear();
            for (index, bitmap) in (0..).zip(&self.bitmaps) {
                if bitmap.is_free(start, slots) {
                    chosen.push(index);
                    if chosen.len() == self.count as usize {
                        return slot(start as u64);
                    }
                }
            }
            start += 1;
        }
    }

    /// One pass over the bytes that the sweep reads: the sum of all bounds.
    pub fn pass(&self) -> u64 {
        let mut sum = 0_u64;
        for windows in &self.schedules {
            for window in windows {
                sum = sum
                    .wrapping_add(window.start().as_micros())
                    .wrapping_add(window.end().as_micros());
            }
        }
        sum
    }
}

/// A schedule as one bit for each slot, set where it is busy; idle behind its last word.
#[derive(Clone, Debug)]
pub struct Bitmap(Vec<u64>);

impl Bitmap {
    fn new(windows: &[Interval]) -> Self {
        let end = windows.last().map_or(0, |window| index(window.end()));
        let mut words = vec![0_u64; end.div_ceil(64)];
        for window in windows {
            for slot in index(window.start())..index(window.end()) {
                words[slot / 64] |= 1 << (slot % 64);
            }
        }
        Self(words)
    }

    /// Whether `[start, start + slots)` holds no busy bit.
    fn is_free(&self, start: usize, slots: usize) -> bool {
        let (mut word, mut offset, mut left) = (start / 64, start % 64, slots);
        while left > 0 {
            let Some(bits) = self.0.get(word) else {
                return true;
            };
            let here = left.min(64 - offset);
            let mask = (u64::MAX >> (64 - here)) << offset;
            if bits & mask != 0 {
                return false;
            }
            (word, offset, left) = (word + 1, 0, left - here);
        }
        true
    }
}

fn slot(index: u64) -> Time {
    Time::ZERO + SLOT.times(index)
}

fn index(at: Time) -> usize {
    (at.as_micros() / SLOT.as_micros()) as usize
}

fn schedules(reservations: u64, count: u32, answer: Answer) -> Vec<Vec<Interval>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x0063_6f6d_6d6f_6e00 ^ reservations);
    let cycle = SLOTS / reservations;
    let busy = cycle * BUSY_PERCENT / 100;
    let idle = cycle - busy;
    let mut planted: Vec<u32> = (0..SCHEDULES as u32).collect();
    let planted = match answer {
        Answer::Immediate => &[],
        Answer::Away(_) => &*rng.sample(&mut planted, count as usize).0,
    };
    (0..SCHEDULES as u32)
        .map(|index| {
            // The common gap: the last of them opens at the answer, and all are longer than any other gap.
            let early = match planted.first() {
                Some(&last) if last != index => u64::from(rng.below(idle as u32 / 4 + 1)),
                _ => 0,
            };
            let opens = answer.distance().saturating_sub(early);
            let closes = match planted.contains(&index) {
                true => answer.distance() + idle * 2 + 1,
                false => opens,
            };
            schedule(&mut rng, reservations, busy, idle, answer, opens..closes)
        })
        .collect()
}

/// Reservations from three to five quarters of `busy` long, so that even the first schedule to become idle is busy
/// beyond the farthest answer, and gaps from none to twice `idle` between them, but for the time to keep free.
fn schedule(
    rng: &mut Xoshiro256PlusPlus,
    reservations: u64,
    busy: u64,
    idle: u64,
    answer: Answer,
    keep_free: Range<u64>,
) -> Vec<Interval> {
    let mut below = |bound: u64| u64::from(rng.below(bound as u32));
    let (lead, over) = match answer {
        Answer::Immediate if below(3) < 2 => (10 + below(50), 0),
        // Idle at first as often as at any other time; else the first reservation began some time ago.
        _ if below(100) >= BUSY_PERCENT => (below(idle), 0),
        _ => (0, below(busy * 3 / 4)),
    };
    let mut at = lead;
    let mut bounds: Vec<(u64, u64)> = Vec::new();
    for index in 0..reservations {
        let length = busy * 3 / 4 + below(busy / 2 + 1);
        let mut end = at + if index == 0 { length - over } else { length };
        if at < keep_free.end && end > keep_free.start {
            match bounds.last_mut() {
                // In the midst of a gap: what was before it lasts longer.
                Some(last) if at >= keep_free.start => {
                    last.1 = keep_free.start;
                    (at, end) = (keep_free.end, keep_free.end + length);
                }
                _ => end = keep_free.start,
            }
        }
        bounds.push((at, end));
        at = if end == keep_free.start {
            keep_free.end
        } else {
            end + below(idle * 2 + 1)
        };
    }
    bounds
        .into_iter()
        .map(|(start, end)| Interval::new(slot(start), slot(end)).expect("at least one slot long"))
        .collect()
}

/// What one cell of the table takes.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Reservations in each schedule.
    pub reservations: u64,
    /// Schedules needed at once.
    pub count: u32,
    /// Where the answer lies.
    pub answer: Answer,
    /// How many slots the job takes.
    pub slots: u64,
    /// The sweep.
    pub sweep: Duration,
    /// The paper's loop.
    pub slot_loop: Duration,
    /// A bitmap for each node.
    pub bitmap_loop: Duration,
    /// One pass over the bytes.
    pub pass: Duration,
}

/// Measures one cell: for each method the fastest of `batches`, taken in turns, so that other work on the machine
/// counts for none of them.
pub fn measure(reservations: u64, count: u32, answer: Answer, batches: usize) -> Measurement {
    let workload = Workload::new(reservations, count, answer);
    let mut search = CommonSearch::default();
    let mut chosen = Vec::new();
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..batches.max(1) {
        let round = [
            time(|| workload.sweep(&mut search).as_micros()),
            time(|| workload.slot_loop(&mut chosen).as_micros()),
            time(|| workload.bitmap_loop(&mut chosen).as_micros()),
            time(|| black_box(&workload).pass()),
        ];
        for (times, time) in times.iter_mut().zip(round) {
            times.push(time);
        }
    }
    let [sweep, slot_loop, bitmap_loop, pass] =
        times.map(|times| times.into_iter().min().expect("there is a batch"));
    Measurement {
        reservations,
        count,
        answer,
        slots: workload.length.as_micros() / SLOT.as_micros(),
        sweep,
        slot_loop,
        bitmap_loop,
        pass,
    }
}

/// Measures every cell of the table.
pub fn measure_all(batches: usize) -> Vec<Measurement> {
    let mut all = Vec::new();
    for answer in Answer::ALL {
        for reservations in RESERVATIONS {
            for count in COUNTS {
                all.push(measure(reservations, count, answer, batches));
            }
        }
    }
    all
}

/// The mean time of a call over a batch of at least a millisecond.
fn time(mut call: impl FnMut() -> u64) -> Duration {
    let mut calls = 0;
    let begin = Instant::now();
    loop {
        for _ in 0..8 {
            black_box(call());
        }
        calls += 8;
        let elapsed = begin.elapsed();
        if elapsed >= Duration::from_millis(1) {
            return elapsed / calls;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workload_is_as_busy_as_it_says() {
        for reservations in RESERVATIONS {
            for answer in Answer::ALL {
                let schedules = schedules(reservations, 64, answer);
                assert!(schedules.iter().all(|s| s.len() as u64 == reservations));
                let sorted = |s: &Vec<Interval>| s.is_sorted_by(|a, b| a.end() <= b.start());
                assert!(schedules.iter().all(sorted));
                let busy: Span = schedules.iter().flatten().map(|w| w.length()).sum();
                let end = |windows: &Vec<Interval>| windows.last().map_or(Time::ZERO, |w| w.end());
                let all: Span = schedules.iter().map(|s| end(s) - Time::ZERO).sum();
                let percent = busy.as_micros() as f64 * 100.0 / all.as_micros() as f64;
                assert!(
                    (80.0..90.0).contains(&percent),
                    "{reservations} {answer:?}: {percent}%"
                );
            }
        }
    }

    #[test]
    fn all_methods_agree_in_every_cell_with_few_reservations() {
        for count in COUNTS {
            for answer in Answer::ALL {
                Workload::new(5, count, answer);
            }
        }
    }
}
