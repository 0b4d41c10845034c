use core::cmp::Ordering;
use core::fmt;

use super::{Attempt, BusyWindows, FreeWindows, Reservation, Status, Storage};
use crate::id::JobId;
use crate::machine::Violation;
use crate::time::{Interval, IntervalError, Span, Time};

/// The reservations of one node: sorted, and never two jobs at once.
///
/// A reservation is *held* until a lease ends, or *committed*. A reservation that overlaps another job is refused at
/// once, so that two coordinators never wait for each other.
///
/// The one exception is the swap (PROTOCOLS 7.3): a newer attempt at a job may hold time that overlaps the same job's
/// older reservation. Committing the newer one drops the older; releasing the newer one, or the end of its lease,
/// leaves the older one as it was. A job has at most two reservations, and a third attempt takes the place of the
/// second.
///
/// While a newer attempt at a job stands here, an older one is refused as stale. The owner must remember epochs for
/// longer if it needs to. Any attempt may give its time back; an older reservation that is given back is not restored.
///
/// Costs: finding time is a binary search plus a walk over the windows in between; finding a job is a walk over the
/// names of all; nothing allocates once the storage has grown to its working size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Schedule<S: Storage<Reservation>> {
    limit: usize,
    /// Sorted, without overlap.
    firm: S,
    /// The jobs of `firm`, in the same order: a sixth of the bytes, for the searches that go by job.
    jobs: S::Of<JobId>,
    /// Holds that overlap their own job's older reservation in `firm`, and nothing else. Sorted, without overlap.
    swaps: S,
}

/// Why the time of a node is not reserved or held in a [`Schedule`]. The schedule is as it was.
///
/// Not to be confused with [`availability::ReserveError`](super::availability::ReserveError), which is about some of
/// the processors of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ReserveError {
    /// Another job has some of that time.
    Taken,
    /// A newer attempt at the job is known here.
    Stale,
    /// This attempt has reserved other time.
    OtherInterval,
    /// There is no room for another reservation.
    Full,
}

/// Why a hold is not committed. The schedule is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum CommitError {
    /// A newer attempt at the job is known here.
    Stale,
    /// This attempt holds nothing: it never did, it was released, or its lease ended.
    NotHeld,
}

/// Why a reservation is not lengthened. The schedule is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LengthenError {
    /// Some of the time behind it is not free; a newer attempt of the same job counts, too.
    Taken,
    /// This attempt has nothing committed.
    NotCommitted,
}

/// Where the reservations of a job stand, in the order of [`Schedule::iter`]: one, or two of which one is older.
struct Attempts {
    older: Option<usize>,
    newest: Option<usize>,
}

impl<S: Storage<Reservation>> Schedule<S> {
    /// The most reservations of a schedule made by [`new`](Self::new) on growable storage.
    pub const DEFAULT_LIMIT: usize = 1024;

    /// An empty schedule with room for as many reservations as its storage takes, or
    /// [`DEFAULT_LIMIT`](Self::DEFAULT_LIMIT).
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// An empty schedule for at most this many reservations.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit: limit.min(S::CAPACITY),
            firm: S::default(),
            jobs: S::Of::default(),
            swaps: S::default(),
        }
    }

    /// How many reservations stand.
    pub fn len(&self) -> usize {
        self.firm
            .as_ref()
            .len()
            .saturating_add(self.swaps.as_ref().len())
    }

    /// Whether none stands.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All reservations: first the ones that do not overlap, by time; then holds over an older one of the same job.
    pub fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.firm.as_ref().iter().chain(self.swaps.as_ref())
    }

    /// The reservation of this attempt.
    pub fn find(&self, attempt: Attempt) -> Option<&Reservation> {
        self.iter()
            .find(|reservation| reservation.attempt == attempt)
    }

    /// Whether no reservation overlaps this interval.
    pub fn is_free(&self, interval: Interval) -> bool {
        overlapping(self.firm.as_ref(), interval).is_empty()
            && overlapping(self.swaps.as_ref(), interval).is_empty()
    }

    /// When the node is busy from `from` on, as windows with a gap between any two.
    pub fn busy_windows(&self, from: Time) -> BusyWindows<'_> {
        let (firm, swaps) = (self.firm.as_ref(), self.swaps.as_ref());
        BusyWindows::new(unfinished(firm, from), unfinished(swaps, from), from)
    }

    /// When the node is free within an interval, in order.
    pub fn free_windows(&self, within: Interval) -> FreeWindows<'_> {
        FreeWindows::new(self.busy_windows(within.start()), within)
    }

    /// The earliest free interval of this length at or after `from`. There is none only for a length of zero, or too
    /// near to the end of time.
    pub fn earliest_fit(&self, from: Time, length: Span) -> Result<Interval, IntervalError> {
        let mut fit = Interval::starting(from, length)?;
        loop {
            let beside_firm = push_back(fit, self.firm.as_ref())?;
            let beside_both = push_back(beside_firm, self.swaps.as_ref())?;
            if beside_both == beside_firm {
                return Ok(beside_both);
            }
            fit = beside_both;
        }
    }

    /// Reserves time for good: [`hold`](Self::hold) and [`commit`](Self::commit) in one.
    pub fn reserve(&mut self, attempt: Attempt, interval: Interval) -> Result<(), ReserveError> {
        self.hold(attempt, interval, Time::MAX)?;
        self.commit(attempt).map_err(|_| ReserveError::Stale)
    }

    /// Holds time until `lease`. Holding the same again changes nothing, the lease included.
    pub fn hold(
        &mut self,
        attempt: Attempt,
        interval: Interval,
        lease: Time,
    ) -> Result<(), ReserveError> {
        let Attempts { older, newest } = self.attempts(attempt.job);
        if let Some(known) = newest.and_then(|index| self.at(index)) {
            match known.attempt.epoch.cmp(&attempt.epoch) {
                Ordering::Greater if !canary!(StaleHoldTaken) => return Err(ReserveError::Stale),
                Ordering::Greater => {}
                Ordering::Equal if known.interval == interval => return Ok(()),
                Ordering::Equal => return Err(ReserveError::OtherInterval),
                Ordering::Less => {}
            }
        }
        let others = |list: &S| {
            let overlapping = overlapping(list.as_ref(), interval);
            overlapping
                .iter()
                .any(|known| known.attempt.job != attempt.job)
        };
        if others(&self.firm) || others(&self.swaps) {
            return Err(ReserveError::Taken);
        }
        // Of two, the older is what an abort restores, and the newer loses its place.
        let superseded = older.and(newest);
        if self.len() >= self.limit && superseded.is_none() {
            return Err(ReserveError::Full);
        }
        if let Some(index) = superseded {
            self.remove(index);
        }
        self.insert(Reservation {
            attempt,
            interval,
            status: Status::Held { lease },
        });
        Ok(())
    }

    /// Makes a hold firm and drops the job's older reservation. Committing again changes nothing.
    ///
    /// Whether the lease still stands is for [`expire`](Self::expire), which an owner calls first.
    pub fn commit(&mut self, attempt: Attempt) -> Result<(), CommitError> {
        let Attempts { older, newest } = self.attempts(attempt.job);
        let newest = newest.ok_or(CommitError::NotHeld)?;
        let known = self.at_mut(newest).ok_or(CommitError::NotHeld)?;
        match known.attempt.epoch.cmp(&attempt.epoch) {
            Ordering::Greater => return Err(CommitError::Stale),
            Ordering::Less => return Err(CommitError::NotHeld),
            Ordering::Equal => known.status = Status::Committed,
        }
        if let Some(older) = older {
            self.remove(older);
        }
        Ok(())
    }

    /// Makes a committed reservation last until `end`, if the time after it is free: for a job that overruns, which has
    /// not ended when its reservation ends. If the reservation lasts as long already, it stays as it is. A reservation
    /// gets shorter only by [`release`](Self::release).
    pub fn lengthen(&mut self, attempt: Attempt, end: Time) -> Result<(), LengthenError> {
        let index = self.index_of(attempt).ok_or(LengthenError::NotCommitted)?;
        let known = self.at(index).ok_or(LengthenError::NotCommitted)?;
        if known.status != Status::Committed {
            return Err(LengthenError::NotCommitted);
        }
        let start = known.interval.start();
        let Ok(more) = Interval::new(known.interval.end(), end) else {
            return Ok(());
        };
        if !self.is_free(more) {
            return Err(LengthenError::Taken);
        }
        if let (Some(known), Ok(interval)) = (self.at_mut(index), Interval::new(start, end)) {
            known.interval = interval;
        }
        Ok(())
    }

    /// Gives time back, held or committed. `None` if this attempt has none.
    pub fn release(&mut self, attempt: Attempt) -> Option<Reservation> {
        self.remove(self.index_of(attempt)?)
    }

    /// Drops the holds whose lease has ended by `now`, and says how many.
    pub fn expire(&mut self, now: Time) -> usize {
        self.remove_where(|known| known.has_expired(now))
    }

    /// When the next lease ends.
    pub fn next_expiry(&self) -> Option<Time> {
        self.iter()
            .filter_map(|known| match known.status {
                Status::Held { lease } => Some(lease),
                Status::Committed => None,
            })
            .min()
    }

    /// Drops the reservations that are over by `now`, and says how many.
    pub fn prune(&mut self, now: Time) -> usize {
        self.remove_where(|known| known.interval.end() <= now)
    }

    /// Names a rule that this schedule breaks.
    pub fn check(&self) -> Result<(), Violation> {
        let disjoint = |list: &S| {
            list.as_ref()
                .is_sorted_by(|a, b| a.interval.end() <= b.interval.start())
        };
        Violation::unless(
            disjoint(&self.firm) && disjoint(&self.swaps),
            "no two reservations on a node overlap",
        )?;
        let jobs = self.firm.as_ref().iter().map(|known| &known.attempt.job);
        Violation::unless(
            jobs.eq(self.jobs.as_ref()),
            "the jobs stand in the order of their reservations",
        )?;
        Violation::unless(
            self.swaps.as_ref().iter().all(|swap| self.is_sound(swap)),
            "only a newer hold of the same job overlaps a reservation",
        )?;
        Violation::unless(
            self.iter()
                .all(|known| self.of_job(known.attempt.job).count() <= 2),
            "a job has at most two reservations on a node",
        )?;
        Violation::unless(
            self.len() <= self.limit,
            "a schedule keeps within its limit",
        )
    }

    fn is_sound(&self, swap: &Reservation) -> bool {
        let older = overlapping(self.firm.as_ref(), swap.interval);
        let of_same_job = |firm: &Reservation| {
            firm.attempt.job == swap.attempt.job && firm.attempt.epoch < swap.attempt.epoch
        };
        swap.status != Status::Committed && !older.is_empty() && older.iter().all(of_same_job)
    }

    fn of_job(&self, job: JobId) -> impl Iterator<Item = &Reservation> {
        self.iter().filter(move |known| known.attempt.job == job)
    }

    /// Where the reservations of a job are; one pass over the jobs.
    fn attempts(&self, job: JobId) -> Attempts {
        let mut attempts = Attempts {
            older: None,
            newest: None,
        };
        let mut newest = None;
        let mut found = |index: usize, known: &Reservation| {
            let epoch = Some(known.attempt.epoch);
            if epoch > newest {
                attempts = Attempts {
                    older: attempts.newest,
                    newest: Some(index),
                };
                newest = epoch;
            } else {
                attempts.older = Some(index);
            }
        };
        let mut next = 0;
        while let Some(index) = place_of(job, self.jobs.as_ref(), next) {
            if let Some(known) = self.firm.as_ref().get(index) {
                found(index, known);
            }
            next = index.saturating_add(1);
        }
        for (index, known) in self.swaps.as_ref().iter().enumerate() {
            if known.attempt.job == job {
                found(self.firm.as_ref().len().saturating_add(index), known);
            }
        }
        attempts
    }

    fn index_of(&self, attempt: Attempt) -> Option<usize> {
        let Attempts { older, newest } = self.attempts(attempt.job);
        let is_held = |index: &usize| {
            self.at(*index)
                .is_some_and(|known| known.attempt == attempt)
        };
        newest.filter(is_held).or(older.filter(is_held))
    }

    /// Puts a reservation where it belongs: beside the others, or over its own job's older one.
    fn insert(&mut self, reservation: Reservation) {
        let index = unfinished_from(self.firm.as_ref(), reservation.interval.start());
        let next = self.firm.as_ref().get(index);
        let inserted = if next.is_none_or(|next| !next.interval.overlaps(reservation.interval)) {
            self.jobs.insert_at(index, reservation.attempt.job).is_ok()
                && self.firm.insert_at(index, reservation).is_ok()
        } else {
            let index = unfinished_from(self.swaps.as_ref(), reservation.interval.start());
            self.swaps.insert_at(index, reservation).is_ok()
        };
        debug_assert!(inserted, "the limit keeps room for every reservation");
    }

    /// The reservation at a place in the order of [`iter`](Self::iter).
    fn at(&self, index: usize) -> Option<&Reservation> {
        match index.checked_sub(self.firm.as_ref().len()) {
            None => self.firm.as_ref().get(index),
            Some(index) => self.swaps.as_ref().get(index),
        }
    }

    fn at_mut(&mut self, index: usize) -> Option<&mut Reservation> {
        match index.checked_sub(self.firm.as_ref().len()) {
            None => self.firm.as_mut().get_mut(index),
            Some(index) => self.swaps.as_mut().get_mut(index),
        }
    }

    fn remove(&mut self, index: usize) -> Option<Reservation> {
        let removed = match index.checked_sub(self.firm.as_ref().len()) {
            None => {
                self.jobs.remove_at(index);
                self.firm.remove_at(index)
            }
            Some(index) => self.swaps.remove_at(index),
        };
        self.settle();
        removed
    }

    fn remove_where(&mut self, unwanted: impl Fn(&Reservation) -> bool) -> usize {
        let before = self.len();
        // Most often there is nothing to remove, and then nothing is moved.
        if self.iter().any(&unwanted) {
            let mut firm = self.firm.as_ref().iter();
            self.jobs
                .keep_if(|_| firm.next().is_some_and(|known| !unwanted(known)));
            self.firm.keep_if(|known| !unwanted(known));
            self.swaps.keep_if(|known| !unwanted(known));
            self.settle();
        }
        before.saturating_sub(self.len())
    }

    /// Moves each hold that no longer overlaps anything to the others, so that equal situations are equal values.
    fn settle(&mut self) {
        let mut next = 0;
        while let Some(&swap) = self.swaps.as_ref().get(next) {
            if overlapping(self.firm.as_ref(), swap.interval).is_empty() {
                self.swaps.remove_at(next);
                self.insert(swap);
            } else {
                next = next.saturating_add(1);
            }
        }
    }
}

impl<S: Storage<Reservation>> Default for Schedule<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// The first place of a job among others, from some place on.
fn place_of(job: JobId, jobs: &[JobId], from: usize) -> Option<usize> {
    let rest = jobs.get(from..)?;
    let (chunks, tail) = rest.as_chunks::<8>();
    // No early exit inside a chunk, so that it is compared in a few vector instructions.
    let holds = |chunk: &[JobId; 8]| chunk.iter().fold(false, |any, other| any | (*other == job));
    let skipped = chunks.iter().position(holds);
    let (skipped, rest) = match skipped {
        Some(chunk) => (chunk.wrapping_mul(8), chunks.get(chunk)?.as_slice()),
        None => (chunks.len().wrapping_mul(8), tail),
    };
    let within = rest.iter().position(|other| *other == job)?;
    Some(from.wrapping_add(skipped).wrapping_add(within))
}

/// The place of the first reservation that ends after `from`.
fn unfinished_from(sorted: &[Reservation], from: Time) -> usize {
    sorted.partition_point(|known| known.interval.end() <= from)
}

fn unfinished(sorted: &[Reservation], from: Time) -> &[Reservation] {
    sorted
        .get(unfinished_from(sorted, from)..)
        .unwrap_or_default()
}

/// The first interval as long as `fit`, at or after it, that is free of these reservations.
fn push_back(fit: Interval, sorted: &[Reservation]) -> Result<Interval, IntervalError> {
    let length = fit.length();
    let mut start = fit.start();
    for known in unfinished(sorted, start) {
        if known.interval.start() - start >= length {
            break;
        }
        start = known.interval.end();
    }
    Interval::starting(start, length)
}

fn overlapping(sorted: &[Reservation], interval: Interval) -> &[Reservation] {
    let rest = unfinished(sorted, interval.start());
    let end = rest.partition_point(|known| match canary!(OverlapAtTheStartOnly) {
        true => known.interval.start() <= interval.start(),
        false => known.interval.start() < interval.end(),
    });
    rest.get(..end).unwrap_or_default()
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "another job has some of that time",
            Self::Stale => "a newer attempt at the job is known",
            Self::OtherInterval => "this attempt has reserved other time",
            Self::Full => "the schedule is full",
        })
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stale => "a newer attempt at the job is known",
            Self::NotHeld => "this attempt holds nothing",
        })
    }
}

impl fmt::Display for LengthenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "some of the time behind it is not free",
            Self::NotCommitted => "this attempt has nothing committed",
        })
    }
}

impl core::error::Error for ReserveError {}
impl core::error::Error for CommitError {}
impl core::error::Error for LengthenError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Epoch;
    use std::vec::Vec;

    fn held(job: u64, epoch: u64, start: u64, end: u64) -> Reservation {
        let interval = Interval::new(Time::from_secs(start), Time::from_secs(end)).unwrap();
        let attempt = Attempt::new(JobId::new(job), Epoch::new(epoch));
        Reservation {
            attempt,
            interval,
            status: Status::Held { lease: Time::MAX },
        }
    }

    fn named(limit: usize, firm: &[Reservation], swaps: &[Reservation]) -> &'static str {
        let jobs = firm.iter().map(|known| known.attempt.job).collect();
        let schedule = Schedule {
            limit,
            firm: firm.to_vec(),
            jobs,
            swaps: swaps.to_vec(),
        };
        schedule
            .check()
            .map_or_else(|violation| violation.invariant, |()| "sound")
    }

    #[test]
    fn a_broken_schedule_is_named() {
        let (a, b) = (held(1, 0, 0, 5), held(2, 0, 5, 9));
        assert_eq!(named(9, &[a, b], &[held(1, 1, 2, 4)]), "sound");
        let overlap = "no two reservations on a node overlap";
        assert_eq!(named(9, &[b, a], &[]), overlap);
        assert_eq!(named(9, &[a, held(2, 0, 4, 9)], &[]), overlap);
        assert_eq!(
            named(9, &[a], &[held(1, 1, 2, 4), held(1, 2, 3, 5)]),
            overlap
        );
        let swap = "only a newer hold of the same job overlaps a reservation";
        assert_eq!(named(9, &[a, b], &[held(1, 1, 2, 6)]), swap);
        assert_eq!(named(9, &[a], &[held(1, 0, 2, 4)]), swap);
        assert_eq!(named(9, &[a], &[held(1, 1, 7, 8)]), swap);
        let committed = Reservation {
            status: Status::Committed,
            ..held(1, 1, 2, 4)
        };
        assert_eq!(named(9, &[a], &[committed]), swap);
        let three = [a, held(1, 1, 5, 6), held(1, 2, 7, 8)];
        assert_eq!(
            named(9, &three, &[]),
            "a job has at most two reservations on a node"
        );
        assert_eq!(named(1, &[a, b], &[]), "a schedule keeps within its limit");
        let schedule = Schedule {
            limit: 9,
            firm: Vec::from([a]),
            jobs: Vec::new(),
            swaps: Vec::new(),
        };
        assert!(schedule.check().is_err());
    }

    #[test]
    fn a_job_is_found_wherever_it_stands() {
        for length in 0..40 {
            let jobs: Vec<_> = (0..length).map(JobId::new).collect();
            for job in 0..length {
                let index = job as usize;
                for from in 0..=jobs.len() + 1 {
                    let expected = (from <= index).then_some(index);
                    assert_eq!(place_of(JobId::new(job), &jobs, from), expected);
                }
            }
            assert_eq!(place_of(JobId::new(99), &jobs, 0), None);
        }
        // Twice among eight that are compared at once.
        let twice = [9, 1, 9, 9, 1, 9, 9, 9].map(JobId::new);
        assert_eq!(place_of(JobId::new(1), &twice, 0), Some(1));
        assert_eq!(place_of(JobId::new(1), &twice, 2), Some(4));
    }
}
