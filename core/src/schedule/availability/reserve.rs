//! Taking processors and giving them back.

use super::Availability;
use super::error::{ReleaseError, ReserveError};
use super::timeline::{Change, Cursor, Survey};
use crate::time::{Interval, Time};

/// What a change does to the step that begins at one of its edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// There is none yet.
    Insert,
    /// It no longer separates different counts.
    Remove,
    Keep,
}

impl Edge {
    /// At an existing step, between these counts.
    fn between(before: u32, after: u32) -> Self {
        if before == after {
            Self::Remove
        } else {
            Self::Keep
        }
    }
}

/// There would be more steps than the limit allows.
struct NoRoom;

impl Availability {
    /// Takes `count` processors for the interval: all of it, or nothing and an error.
    ///
    /// Costs a binary search and the steps that the interval spans.
    pub fn reserve(&mut self, interval: Interval, count: u32) -> Result<(), ReserveError> {
        if count == 0 {
            return Err(ReserveError::ZeroCount);
        }
        if count > self.processors {
            return Err(ReserveError::MoreThanProcessors);
        }
        if interval.start() < self.origin() {
            return Err(ReserveError::BeforeOrigin);
        }
        let first = self.timeline.locate(interval.start());
        let within = self.timeline.survey(first, interval.end());
        let Some(least) = within.least.checked_sub(count) else {
            return Err(ReserveError::NotFree);
        };
        let within = Survey { least, ..within };
        self.change(interval, first, within, Change::Take(count))
            .map_err(|NoRoom| ReserveError::Full)
    }

    /// Gives `count` processors back for the interval: all of it, or nothing and an error.
    ///
    /// The interval need not be that of one reservation: a job that ends early releases what is left of its time. Costs
    /// a binary search and the steps that the interval spans.
    pub fn release(&mut self, interval: Interval, count: u32) -> Result<(), ReleaseError> {
        if count == 0 {
            return Err(ReleaseError::ZeroCount);
        }
        if interval.start() < self.origin() {
            return Err(ReleaseError::BeforeOrigin);
        }
        let first = self.timeline.locate(interval.start());
        let within = self.timeline.survey(first, interval.end());
        let most = match within.most.checked_add(count) {
            Some(most) if most <= self.processors => most,
            _ => return Err(ReleaseError::MoreThanReserved),
        };
        let within = Survey { most, ..within };
        self.change(interval, first, within, Change::Give(count))
            .map_err(|NoRoom| ReleaseError::Full)
    }

    /// Changes the counts within the interval, and sees to the steps at its edges. The interval begins in the step
    /// `first`; the counts before and after lie between the least and the most of `within`.
    ///
    /// Inside, counts move together and differ as before, so only the edges may gain or lose a step. An instant at
    /// which no step begins has equal counts on both sides, which the change makes different: it needs a step then. At
    /// the origin and at the end of time there is nothing to be different from.
    fn change(
        &mut self,
        interval: Interval,
        first: Cursor,
        within: Survey,
        change: Change,
    ) -> Result<(), NoRoom> {
        let (start, end) = (interval.start(), interval.end());
        let Some((begins, free)) = self.timeline.step(first) else {
            return Ok(());
        };
        let start_edge = if begins < start {
            Edge::Insert
        } else {
            match self.timeline.free_before(first) {
                Some(before) => Edge::between(before, change.apply(free)),
                None => Edge::Keep,
            }
        };
        let until = self.timeline.next(within.last);
        let last_free = self.timeline.step(within.last).map_or(0, |(_, free)| free);
        let end_edge = match until.and_then(|until| self.timeline.step(until)) {
            Some((time, free)) if time == end => Edge::between(change.apply(last_free), free),
            _ if end == Time::MAX => Edge::Keep,
            _ => Edge::Insert,
        };

        let edges = [start_edge, end_edge];
        let of = |kind: Edge| edges.iter().filter(|&&edge| edge == kind).count();
        let needed = self.step_count().saturating_add(of(Edge::Insert));
        if needed.saturating_sub(of(Edge::Remove)) > self.limit {
            return Err(NoRoom);
        }

        let first = match start_edge {
            Edge::Insert => self.timeline.insert_after(first, start, free),
            Edge::Keep | Edge::Remove => first,
        };
        let bounds = (within.least, within.most);
        let last = self.timeline.change(first, within.steps, change, bounds);
        match end_edge {
            Edge::Insert => {
                self.timeline.insert_after(last, end, last_free);
            }
            Edge::Remove => {
                if let Some(until) = self.timeline.next(last) {
                    self.timeline.remove(until);
                }
            }
            Edge::Keep => {}
        }
        if start_edge == Edge::Remove {
            // The other edge may have moved this one to another block.
            self.timeline.remove(self.timeline.locate(start));
        }
        Ok(())
    }
}
