use core::fmt;

use super::{BusyWindows, FreeWindows, Holder, Reservation, Status, Storage};
use crate::id::JobId;
use crate::machine::Violation;
use crate::time::{Interval, IntervalError, Span, Time};

/// The reservations of one node: sorted, and never two jobs at once.
///
/// A reservation is *held* until a lease ends, or *committed*. Locking never waits: what overlaps another job is refused at
/// once, so that no two coordinators ever wait for each other.
///
/// The one exception is the swap (PROTOCOLS 7.3): a newer attempt at a job may hold time that overlaps the same job's
/// older reservation. Committing the newer one drops the older; releasing the newer one, or the end of its lease, leaves
/// the older one as it was. A job has at most two reservations, and a third attempt takes the place of the second.
///
/// Costs: finding time is a binary search plus a walk over the windows in between; finding a holder is a walk over the
/// list; nothing allocates once the storage has grown to its working size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Schedule<S> {
    limit: usize,
    /// Sorted, without overlap.
    firm: S,
    /// Holds that overlap their own job's older reservation in `firm`, and nothing else. Sorted, without overlap.
    swaps: S,
}

/// Why time is not reserved. The schedule is as it was.
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

impl<S: Storage<Reservation>> Schedule<S> {
    /// The most reservations of a schedule made by [`new`](Self::new) on growable storage.
    pub const DEFAULT_LIMIT: usize = 1024;

    /// An empty schedule with room for as many reservations as its storage takes, or [`DEFAULT_LIMIT`](Self::DEFAULT_LIMIT).
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// An empty schedule for at most this many reservations.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit: limit.min(S::CAPACITY),
            firm: S::default(),
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

    /// All reservations: first those that exclude each other, by time; then the holds that may take over from them.
    pub fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.firm.as_ref().iter().chain(self.swaps.as_ref())
    }

    /// The reservation of this attempt.
    pub fn find(&self, holder: Holder) -> Option<&Reservation> {
        self.iter().find(|reservation| reservation.holder == holder)
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

    /// The earliest free interval of this length at or after `from`. There is none only for a length of zero, or too near to
    /// the end of time.
    pub fn earliest_fit(&self, from: Time, length: Span) -> Result<Interval, IntervalError> {
        let mut fit = Interval::starting(from, length)?;
        for busy in self.busy_windows(from) {
            if fit.end() <= busy.start() {
                break;
            }
            fit = Interval::starting(fit.start().max(busy.end()), length)?;
        }
        Ok(fit)
    }

    /// Reserves time for good: [`hold`](Self::hold) and [`commit`](Self::commit) in one.
    pub fn reserve(&mut self, holder: Holder, interval: Interval) -> Result<(), ReserveError> {
        self.hold(holder, interval, Time::MAX)?;
        self.commit(holder).map_err(|_| ReserveError::Stale)
    }

    /// Holds time until `lease`. Holding the same again changes nothing, the lease included.
    pub fn hold(
        &mut self,
        holder: Holder,
        interval: Interval,
        lease: Time,
    ) -> Result<(), ReserveError> {
        if self.newer_than(holder) {
            return Err(ReserveError::Stale);
        }
        if let Some(same) = self.find(holder) {
            return if same.interval == interval {
                Ok(())
            } else {
                Err(ReserveError::OtherInterval)
            };
        }
        // The older of two is what an abort restores; the newer of two loses its place.
        let superseded = match self.of_job(holder.job).count() {
            0 | 1 => None,
            _ => self.of_job(holder.job).map(|known| known.holder).max(),
        };
        let others = |list: &S| {
            overlapping(list.as_ref(), interval)
                .iter()
                .any(|r| r.holder.job != holder.job)
        };
        if others(&self.firm) || others(&self.swaps) {
            return Err(ReserveError::Taken);
        }
        if self.len() >= self.limit && superseded.is_none() {
            return Err(ReserveError::Full);
        }
        if let Some(superseded) = superseded {
            self.release(superseded);
        }
        self.place(Reservation {
            holder,
            interval,
            status: Status::Held { lease },
        });
        Ok(())
    }

    /// Makes a hold firm and drops the job's older reservation. Committing again changes nothing.
    ///
    /// Whether the lease still stands is for [`expire`](Self::expire), which an owner calls first.
    pub fn commit(&mut self, holder: Holder) -> Result<(), CommitError> {
        if self.newer_than(holder) {
            return Err(CommitError::Stale);
        }
        let held = *self.find(holder).ok_or(CommitError::NotHeld)?;
        self.remove_where(|known| known.holder.job == holder.job);
        self.place(Reservation {
            status: Status::Committed,
            ..held
        });
        Ok(())
    }

    /// Gives time back, held or committed. `None` if this attempt has none.
    pub fn release(&mut self, holder: Holder) -> Option<Reservation> {
        let released = *self.find(holder)?;
        self.remove_where(|known| known.holder == holder);
        Some(released)
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
        Violation::unless(
            self.swaps.as_ref().iter().all(|swap| self.is_sound(swap)),
            "only a newer hold of the same job overlaps a reservation",
        )?;
        Violation::unless(
            self.iter()
                .all(|known| self.of_job(known.holder.job).count() <= 2),
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
            firm.holder.job == swap.holder.job && firm.holder.epoch < swap.holder.epoch
        };
        swap.status != Status::Committed && !older.is_empty() && older.iter().all(of_same_job)
    }

    fn of_job(&self, job: JobId) -> impl Iterator<Item = &Reservation> {
        self.iter().filter(move |known| known.holder.job == job)
    }

    fn newer_than(&self, holder: Holder) -> bool {
        self.of_job(holder.job)
            .any(|known| known.holder.epoch > holder.epoch)
    }

    /// Puts a reservation where it belongs: beside the others, or over its own job's older one.
    fn place(&mut self, reservation: Reservation) {
        let free = overlapping(self.firm.as_ref(), reservation.interval).is_empty();
        let list = if free {
            &mut self.firm
        } else {
            &mut self.swaps
        };
        let place = unfinished_from(list.as_ref(), reservation.interval.start());
        let placed = list.insert_at(place, reservation);
        debug_assert!(
            placed.is_ok(),
            "the limit keeps a place for every reservation"
        );
    }

    fn remove_where(&mut self, mut unwanted: impl FnMut(&Reservation) -> bool) -> usize {
        let before = self.len();
        self.firm.keep_if(|known| !unwanted(known));
        self.swaps.keep_if(|known| !unwanted(known));
        let removed = before.saturating_sub(self.len());
        if removed > 0 {
            self.settle();
        }
        removed
    }

    /// Moves each hold that no longer overlaps anything to the others, so that equal situations are equal values.
    fn settle(&mut self) {
        let mut next = 0;
        while let Some(&swap) = self.swaps.as_ref().get(next) {
            if overlapping(self.firm.as_ref(), swap.interval).is_empty() {
                self.swaps.remove_at(next);
                self.place(swap);
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

/// The place of the first reservation that ends after `from`.
fn unfinished_from(sorted: &[Reservation], from: Time) -> usize {
    sorted.partition_point(|known| known.interval.end() <= from)
}

fn unfinished(sorted: &[Reservation], from: Time) -> &[Reservation] {
    sorted
        .get(unfinished_from(sorted, from)..)
        .unwrap_or_default()
}

fn overlapping(sorted: &[Reservation], interval: Interval) -> &[Reservation] {
    let rest = unfinished(sorted, interval.start());
    let end = rest.partition_point(|known| known.interval.start() < interval.end());
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

impl core::error::Error for ReserveError {}
impl core::error::Error for CommitError {}
