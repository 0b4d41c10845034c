use rand_core::Rng;

use super::{CommonSearch, first_unfinished};
use crate::rng::Choose as _;
use crate::schedule::BusyTime;
use crate::time::{Interval, Span, Time};
use sealed::Choose;

/// Which of the free schedules to take if there are more than needed (PROTOCOLS D4).
pub trait Pick: Choose {}

/// The first free ones in the order given.
///
/// If the caller lists the schedules in the order of discovery, near nodes first, this picks the nearest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InOrder;

/// A uniform random choice, in random order.
///
/// The schedules are examined in a random order that is drawn as it is needed: one choice for each one examined, among
/// those not examined yet, until enough are free at the slot's start. So nothing is drawn for a schedule that is not
/// examined, for the last one that is left, or if there is no common slot.
#[derive(Debug)]
pub struct Seeded<'a, R: Rng + ?Sized>(pub &'a mut R);

/// The schedules in which the slot leaves the least idle time, best first; ties go to the first in the order given.
///
/// The idle time is what remains of the schedule's free window, counted from the earliest start asked for: what lies
/// before that can no longer be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BestFit;

impl Pick for InOrder {}
impl<R: Rng + ?Sized> Pick for Seeded<'_, R> {}
impl Pick for BestFit {}

/// A slot that at least `count` of the schedules are free for.
#[derive(Debug)]
pub struct Question<'a, B> {
    pub(super) schedules: &'a [B],
    pub(super) from: Time,
    pub(super) slot: Interval,
    pub(super) count: usize,
}

/// How well a schedule suits, and which one it is.
pub(super) type Rank = (Span, u32);

mod sealed {
    use super::{BusyTime, CommonSearch, Question};

    /// How a pick chooses.
    pub trait Choose {
        /// Puts the choice into `search.chosen`, which already holds the first free ones in order.
        ///
        /// That first choice stands if windows that break the rules of [`BusyTime`] make this one come out short.
        fn choose<B: BusyTime>(self, question: &Question<'_, B>, search: &mut CommonSearch);
    }
}

impl Choose for InOrder {
    fn choose<B: BusyTime>(self, _: &Question<'_, B>, _: &mut CommonSearch) {}
}

impl<R: Rng + ?Sized> Choose for Seeded<'_, R> {
    fn choose<B: BusyTime>(self, question: &Question<'_, B>, search: &mut CommonSearch) {
        let order = &mut search.order;
        order.clear();
        order.extend(
            (0..u32::MAX)
                .zip(question.schedules)
                .map(|(index, _)| index),
        );
        // The free ones collect at the front: `free` of them so far, all before `examined`.
        let mut free = 0_usize;
        for examined in 0..order.len() {
            if free == question.count {
                break;
            }
            let (_, rest) = order.split_at_mut(examined);
            let drawn = self.0.sample(rest, 1).0.first();
            let schedule = drawn.and_then(|&index| question.schedules.get(index as usize));
            if schedule.is_some_and(|schedule| schedule.is_free(question.slot)) {
                order.swap(free, examined);
                free = free.saturating_add(1);
            }
        }
        if free == question.count {
            search.chosen.clear();
            search.chosen.extend(order.iter().take(free));
        }
    }
}

impl Choose for BestFit {
    fn choose<B: BusyTime>(self, question: &Question<'_, B>, search: &mut CommonSearch) {
        let ranks = &mut search.ranks;
        ranks.clear();
        ranks.extend(
            (0..u32::MAX)
                .zip(question.schedules)
                .filter_map(|(index, schedule)| Some((idle_around(schedule, question)?, index))),
        );
        if let Some(last) = question.count.checked_sub(1)
            && last < ranks.len()
        {
            ranks.select_nth_unstable(last);
            ranks.truncate(question.count);
            ranks.sort_unstable();
            search.chosen.clear();
            search.chosen.extend(ranks.iter().map(|&(_, index)| index));
        }
    }
}

/// What the slot leaves of the free window around it, if it is free.
fn idle_around<B: BusyTime, C>(schedule: &B, question: &Question<'_, C>) -> Option<Span> {
    let slot = question.slot;
    let windows = schedule.windows();
    let next = first_unfinished(windows, slot.start());
    let last = next.checked_sub(1).and_then(|last| windows.get(last));
    let since = last.map_or(Time::ZERO, |window| window.end());
    let until = windows.get(next).map_or(Time::MAX, |window| window.start());
    let until = until.min(schedule.horizon());
    let idle = (until - since.max(question.from)) - slot.length();
    (slot.end() <= until).then_some(idle)
}
