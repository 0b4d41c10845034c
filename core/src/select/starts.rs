use alloc::vec::Vec;

use crate::schedule::BusyTime;
use crate::time::{Span, Time};

/// When each candidate is free for a job: one bit for every start that may matter.
///
/// The earliest common start of any set is the first instant allowed, or the end of a busy window of one of its
/// members, rounded up to a slot. Only these starts are examined. A set can start where the bits of all its members are
/// set, and it starts at the first such start (PROTOCOLS F3).
///
/// At most [`MOST`](Self::MOST) starts are kept: of more, the earliest half, an even sample of the others, and the last
/// one. The answer may then be later than it had to be, but never wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Starts {
    times: Vec<Time>,
    /// How many words each candidate has.
    words: usize,
    masks: Vec<u64>,
    candidates: usize,
    /// Whether all candidates are free at the first start.
    open: bool,
}

/// Some of the starts.
pub(super) type Mask = [u64; Starts::WORDS];

pub(super) const NO_START: Mask = [0; Starts::WORDS];

impl Starts {
    /// The most starts that are looked at.
    pub const MOST: usize = 256;
    pub(super) const WORDS: usize = Self::MOST.div_ceil(64);

    /// When candidates with these schedules are free for `length`, at starts from `from` to `from + horizon` on
    /// multiples of `slot`; a zero slot allows every instant. If `length` is zero, there are no starts.
    pub fn new<B: BusyTime>(
        schedules: &[B],
        from: Time,
        length: Span,
        horizon: Span,
        slot: Span,
    ) -> Self {
        let first = from.round_up(slot);
        let latest = from + horizon;
        let mut times = Vec::new();
        if first <= latest && !length.is_zero() {
            times.push(first);
            for schedule in schedules {
                let ends = schedule.windows().iter().map(|w| w.end().round_up(slot));
                times.extend(ends.filter(|&end| end > first && end <= latest));
            }
            times.sort_unstable();
            times.dedup();
            thin(&mut times);
        }
        let words = times.len().div_ceil(64);
        let mut masks = Vec::with_capacity(words.saturating_mul(schedules.len()));
        for schedule in schedules {
            masks.extend(free_at(schedule, &times, length).into_iter().take(words));
        }
        Self::of(times, masks, schedules.len())
    }

    /// This many candidates, all free at this one start.
    pub fn at(start: Time, candidates: u32) -> Self {
        let candidates = candidates as usize;
        Self::of(Vec::from([start]), alloc::vec![1; candidates], candidates)
    }

    fn of(times: Vec<Time>, masks: Vec<u64>, candidates: usize) -> Self {
        let words = times.len().div_ceil(64);
        let mut first = masks.iter().step_by(words.max(1));
        let open = words > 0 && first.all(|word| word & 1 == 1);
        Self {
            times,
            words,
            masks,
            candidates,
            open,
        }
    }

    /// How many candidates there are.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// The starts that are looked at, in order.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// The first start at which all these candidates are free; for an empty list, the first start of all.
    pub fn common(&self, chosen: &[u32]) -> Option<Time> {
        let mask = self.mask_of(chosen, self.all());
        self.first_of(mask)
    }

    /// The first start at which at least `count` candidates are free.
    pub fn earliest_for(&self, count: u32) -> Option<Time> {
        let at = (0..self.times.len()).find(|&at| self.free(at).count() >= count as usize)?;
        self.times.get(at).copied()
    }

    /// All starts.
    pub(super) fn all(&self) -> Mask {
        self.until(Time::MAX)
    }

    /// The starts up to an instant.
    pub(super) fn until(&self, latest: Time) -> Mask {
        let mut mask = NO_START;
        for (at, _) in (0..Self::MOST).zip(self.times.iter().take_while(|&&time| time <= latest)) {
            set(&mut mask, at);
        }
        mask
    }

    /// Whether all candidates are free at the first start.
    pub(super) fn open(&self) -> bool {
        self.open
    }

    /// The candidates that are free at the start of this number.
    pub(super) fn free(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        let (word, bit) = (at / 64, at % 64);
        let words = self.masks.iter().skip(word).step_by(self.words.max(1));
        (0_u32..)
            .zip(words)
            .filter(move |(_, word)| *word >> bit & 1 == 1)
            .map(|(candidate, _)| candidate)
    }

    /// Whether a candidate is free at the start of this number.
    pub(super) fn is_free(&self, candidate: u32, at: usize) -> bool {
        let from = (candidate as usize).saturating_mul(self.words);
        let word = self.masks.get(from.saturating_add(at / 64));
        word.is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Those of the starts at which a candidate is free.
    pub(super) fn mask(&self, candidate: u32, mut among: Mask) -> Mask {
        let from = (candidate as usize).saturating_mul(self.words);
        let words = self.masks.get(from..).unwrap_or_default();
        for (at, word) in among.iter_mut().enumerate() {
            *word &= if at < self.words {
                words.get(at).copied().unwrap_or(0)
            } else {
                0
            };
        }
        among
    }

    /// Those of the starts at which all of these are free.
    pub(super) fn mask_of(&self, chosen: &[u32], among: Mask) -> Mask {
        if self.words == 1 {
            let [first, ..] = among;
            let word = |&candidate: &u32| self.masks.get(candidate as usize).copied().unwrap_or(0);
            let common = chosen.iter().map(word).fold(first, |all, word| all & word);
            let mut mask = NO_START;
            if let Some(first) = mask.first_mut() {
                *first = common;
            }
            return mask;
        }
        let both = |mask, &candidate: &u32| self.mask(candidate, mask);
        chosen.iter().fold(among, both)
    }

    /// The first start of a mask.
    pub(super) fn first_of(&self, mask: Mask) -> Option<Time> {
        let (at, word) = mask.iter().enumerate().find(|(_, word)| **word != 0)?;
        let at = at
            .saturating_mul(64)
            .saturating_add(word.trailing_zeros() as usize);
        self.times.get(at).copied()
    }
}

pub(super) fn is_set(mask: &Mask, at: usize) -> bool {
    mask.get(at / 64)
        .is_some_and(|word| word >> (at % 64) & 1 == 1)
}

fn set(mask: &mut Mask, at: usize) {
    if let Some(word) = mask.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

/// At which of these times a schedule is free for `length`.
fn free_at<B: BusyTime>(schedule: &B, times: &[Time], length: Span) -> Mask {
    let mut mask = NO_START;
    let mut windows = schedule.windows().iter().peekable();
    for (at, &start) in times.iter().enumerate() {
        while windows.next_if(|window| window.end() <= start).is_some() {}
        let end = start.as_micros().checked_add(length.as_micros());
        let Some(end) = end.map(Time::from_micros) else {
            break;
        };
        let before_next = windows.peek().is_none_or(|window| end <= window.start());
        if before_next && end <= schedule.horizon() {
            set(&mut mask, at);
        }
    }
    mask
}

/// Keeps the earliest half of the starts that can be kept, an even sample of the rest, and the last.
fn thin(times: &mut Vec<Time>) {
    const EARLY: usize = Starts::MOST / 2;
    const LATE: usize = Starts::MOST.saturating_sub(EARLY);
    if times.len() <= Starts::MOST {
        return;
    }
    let rest = times.len().saturating_sub(EARLY);
    for at in 0..LATE {
        // The last of the kept ones is the last of all.
        let step = at.saturating_add(1).saturating_mul(rest) / LATE;
        let from = EARLY.saturating_add(step).saturating_sub(1);
        if from < times.len() {
            times.swap(EARLY.saturating_add(at), from);
        }
    }
    times.truncate(Starts::MOST);
}
