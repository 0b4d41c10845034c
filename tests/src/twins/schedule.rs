//! [`Schedule`] beside an unsorted list of bitmaps.

use core::fmt::Debug;
use core::marker::PhantomData;

use gridweave_core::few::Few;
use gridweave_core::id::{Epoch, JobId};
use gridweave_core::schedule::{
    Attempt, BusyTime, CommitError, LengthenError, Reservation, ReserveError, Schedule,
    SnapshotOptions, Status, Storage,
};
use gridweave_core::time::{Interval, Span, Time};
use proptest::prelude::*;

use super::Twins;
use crate::invariants;

/// The room of both twins.
const LIMIT: usize = 6;
/// Nothing is reserved from here on.
const END: u64 = 64;

/// Schedules over storage `S`, all of whose times are below 64 ticks.
#[derive(Clone, Debug)]
pub struct Schedules<S>(PhantomData<S>);

/// Over growable storage.
pub type Growable = Schedules<Vec<Reservation>>;
/// Over storage without an allocator.
pub type Fixed = Schedules<Few<Reservation, 8>>;

/// One operation on a schedule.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Hold {
        attempt: Attempt,
        interval: Interval,
        lease: Time,
    },
    Reserve {
        attempt: Attempt,
        interval: Interval,
    },
    Commit {
        attempt: Attempt,
    },
    Lengthen {
        attempt: Attempt,
        end: Time,
    },
    Release {
        attempt: Attempt,
    },
    Expire {
        now: Time,
    },
    Prune {
        now: Time,
    },
    EarliestFit {
        from: Time,
        length: Span,
    },
    FreeWindows {
        within: Interval,
    },
    Snapshot {
        from: Time,
        most: usize,
    },
}

/// What an operation answers.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "named after the answers they hold")]
pub enum Answer {
    Reserved(Result<(), ReserveError>),
    Committed(Result<(), CommitError>),
    Lengthened(Result<(), LengthenError>),
    Released(Option<Reservation>),
    Dropped(usize),
    Fit(Option<Time>),
    Windows(Vec<Interval>),
    Snapshot(Vec<Interval>, Time),
}

/// Every reservation with the ticks it takes as bits, in no order.
#[derive(Clone, Debug, Default)]
pub struct Bitmaps(Vec<(Reservation, u64)>);

fn bits(interval: Interval) -> u64 {
    (interval.start().as_micros()..interval.end().as_micros())
        .fold(0, |bits, tick| bits | 1 << tick)
}

/// The runs of set bits.
fn runs(bits: u64) -> Vec<Interval> {
    let mut runs = Vec::new();
    let mut tick = 0;
    while tick < END {
        let start = tick;
        while tick < END && bits >> tick & 1 == 1 {
            tick += 1;
        }
        if tick > start {
            runs.push(Interval::new(Time::from_micros(start), Time::from_micros(tick)).unwrap());
        }
        tick += u64::from(tick == start);
    }
    runs
}

impl Bitmaps {
    fn busy(&self) -> u64 {
        self.0.iter().fold(0, |all, (_, bits)| all | bits)
    }

    fn hold(
        &mut self,
        attempt: Attempt,
        interval: Interval,
        lease: Time,
    ) -> Result<(), ReserveError> {
        let own: Vec<_> = self
            .0
            .iter()
            .map(|(r, _)| *r)
            .filter(|r| r.attempt.job == attempt.job)
            .collect();
        if own.iter().any(|r| r.attempt.epoch > attempt.epoch) {
            return Err(ReserveError::Stale);
        }
        if let Some(same) = own.iter().find(|r| r.attempt == attempt) {
            return if same.interval == interval {
                Ok(())
            } else {
                Err(ReserveError::OtherInterval)
            };
        }
        let wanted = bits(interval);
        if self
            .0
            .iter()
            .any(|(r, taken)| r.attempt.job != attempt.job && taken & wanted != 0)
        {
            return Err(ReserveError::Taken);
        }
        if own.len() == 2 {
            let newer = own.iter().map(|r| r.attempt).max().unwrap();
            self.0.retain(|(r, _)| r.attempt != newer);
        } else if self.0.len() == LIMIT {
            return Err(ReserveError::Full);
        }
        self.0.push((
            Reservation {
                attempt,
                interval,
                status: Status::Held { lease },
            },
            wanted,
        ));
        Ok(())
    }

    fn commit(&mut self, attempt: Attempt) -> Result<(), CommitError> {
        if self
            .0
            .iter()
            .any(|(r, _)| r.attempt.job == attempt.job && r.attempt.epoch > attempt.epoch)
        {
            return Err(CommitError::Stale);
        }
        if !self.0.iter().any(|(r, _)| r.attempt == attempt) {
            return Err(CommitError::NotHeld);
        }
        self.0
            .retain(|(r, _)| r.attempt.job != attempt.job || r.attempt == attempt);
        for (reservation, _) in &mut self.0 {
            if reservation.attempt == attempt {
                reservation.status = Status::Committed;
            }
        }
        Ok(())
    }

    fn lengthen(&mut self, attempt: Attempt, end: Time) -> Result<(), LengthenError> {
        let busy = self.busy();
        let committed = |(r, _): &&mut (Reservation, u64)| {
            r.attempt == attempt && r.status == Status::Committed
        };
        let (known, taken) = self
            .0
            .iter_mut()
            .find(committed)
            .ok_or(LengthenError::NotCommitted)?;
        let longer = Interval::new(known.interval.start(), end.max(known.interval.end())).unwrap();
        let wanted = bits(longer);
        if busy & (wanted & !*taken) != 0 {
            return Err(LengthenError::Taken);
        }
        known.interval = longer;
        *taken = wanted;
        Ok(())
    }

    fn drop_where(&mut self, unwanted: impl Fn(&Reservation) -> bool) -> usize {
        let before = self.0.len();
        self.0.retain(|(r, _)| !unwanted(r));
        before - self.0.len()
    }

    fn fit(&self, from: u64, length: u64) -> Option<Time> {
        let busy = self.busy();
        let free = |tick: u64| tick >= END || busy >> tick & 1 == 0;
        (from..=from.max(END))
            .find(|&start| (start..start + length).all(free))
            .map(Time::from_micros)
    }
}

impl<S: Storage<Reservation> + 'static> Twins for Schedules<S> {
    type Step = Step;
    type Answer = Answer;
    type Model = Bitmaps;
    type Real = Schedule<S>;

    fn begin() -> (Bitmaps, Schedule<S>) {
        (Bitmaps::default(), Schedule::with_limit(LIMIT))
    }

    fn steps() -> BoxedStrategy<Step> {
        let time = || (0..END).prop_map(Time::from_micros);
        let attempt = || {
            (0..5_u64, 0..4_u64)
                .prop_map(|(job, epoch)| Attempt::new(JobId::new(job), Epoch::new(epoch)))
        };
        let interval = || {
            (0..END - 1, 1..16_u64).prop_map(|(start, length)| {
                let end = (start + length).min(END);
                Interval::new(Time::from_micros(start), Time::from_micros(end)).unwrap()
            })
        };
        prop_oneof![
            6 => (attempt(), interval(), time())
                .prop_map(|(attempt, interval, lease)| Step::Hold { attempt, interval, lease }),
            3 => (attempt(), interval()).prop_map(|(attempt, interval)| Step::Reserve { attempt, interval }),
            3 => attempt().prop_map(|attempt| Step::Commit { attempt }),
            3 => (attempt(), 0..=END)
                .prop_map(|(attempt, end)| Step::Lengthen { attempt, end: Time::from_micros(end) }),
            2 => attempt().prop_map(|attempt| Step::Release { attempt }),
            1 => time().prop_map(|now| Step::Expire { now }),
            1 => (0..24_u64).prop_map(|now| Step::Prune { now: Time::from_micros(now) }),
            2 => (time(), 1..20_u64)
                .prop_map(|(from, length)| Step::EarliestFit { from, length: Span::from_micros(length) }),
            1 => interval().prop_map(|within| Step::FreeWindows { within }),
            1 => (time(), 0..5_usize).prop_map(|(from, most)| Step::Snapshot { from, most }),
        ]
        .boxed()
    }

    fn model(model: &mut Bitmaps, step: &Step) -> Answer {
        match *step {
            Step::Hold {
                attempt,
                interval,
                lease,
            } => Answer::Reserved(model.hold(attempt, interval, lease)),
            Step::Reserve { attempt, interval } => {
                let held = model.hold(attempt, interval, Time::MAX);
                Answer::Reserved(held.map(|()| model.commit(attempt).unwrap()))
            }
            Step::Commit { attempt } => Answer::Committed(model.commit(attempt)),
            Step::Lengthen { attempt, end } => Answer::Lengthened(model.lengthen(attempt, end)),
            Step::Release { attempt } => {
                let released = model
                    .0
                    .iter()
                    .map(|(r, _)| *r)
                    .find(|r| r.attempt == attempt);
                model.drop_where(|r| r.attempt == attempt);
                Answer::Released(released)
            }
            Step::Expire { now } => Answer::Dropped(
                model.drop_where(|r| matches!(r.status, Status::Held { lease } if lease <= now)),
            ),
            Step::Prune { now } => {
                Answer::Dropped(model.drop_where(|r| bits(r.interval) >> now.as_micros() == 0))
            }
            Step::EarliestFit { from, length } => {
                Answer::Fit(model.fit(from.as_micros(), length.as_micros()))
            }
            Step::FreeWindows { within } => Answer::Windows(runs(!model.busy() & bits(within))),
            Step::Snapshot { from, most } => {
                let mut windows = runs(model.busy() & !0 << from.as_micros());
                let horizon = windows.get(most).map_or(Time::MAX, |next| next.start());
                windows.truncate(most);
                Answer::Snapshot(windows, horizon)
            }
        }
    }

    fn real(real: &mut Schedule<S>, step: &Step) -> Answer {
        match *step {
            Step::Hold {
                attempt,
                interval,
                lease,
            } => Answer::Reserved(real.hold(attempt, interval, lease)),
            Step::Reserve { attempt, interval } => {
                Answer::Reserved(real.reserve(attempt, interval))
            }
            Step::Commit { attempt } => Answer::Committed(real.commit(attempt)),
            Step::Lengthen { attempt, end } => Answer::Lengthened(real.lengthen(attempt, end)),
            Step::Release { attempt } => Answer::Released(real.release(attempt)),
            Step::Expire { now } => Answer::Dropped(real.expire(now)),
            Step::Prune { now } => Answer::Dropped(real.prune(now)),
            Step::EarliestFit { from, length } => {
                Answer::Fit(real.earliest_fit(from, length).ok().map(Interval::start))
            }
            Step::FreeWindows { within } => Answer::Windows(real.free_windows(within).collect()),
            Step::Snapshot { from, most } => {
                let snapshot = real.snapshot(SnapshotOptions::starting(from).most_windows(most));
                Answer::Snapshot(snapshot.windows().to_vec(), snapshot.horizon())
            }
        }
    }

    fn compare(model: &Bitmaps, real: &Schedule<S>) {
        real.check().unwrap();
        invariants::reservations_never_overlap(real.iter()).unwrap();
        let by_holder = |mut all: Vec<Reservation>| {
            all.sort_by_key(|r| r.attempt);
            all
        };
        let (expected, stand) = (
            model.0.iter().map(|(r, _)| *r).collect(),
            real.iter().copied().collect(),
        );
        assert_eq!(by_holder(expected), by_holder(stand));
        assert_eq!(
            real.busy_windows(Time::ZERO).collect::<Vec<_>>(),
            runs(model.busy())
        );
        let leases = model.0.iter().filter_map(|(r, _)| match r.status {
            Status::Held { lease } => Some(lease),
            Status::Committed => None,
        });
        assert_eq!(real.next_expiry(), leases.min());
    }
}
