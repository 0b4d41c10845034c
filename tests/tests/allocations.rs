//! What allocates nothing in the steady state, shown by counting.

use allocation_counter::measure;
use gridweave_core::heartbeat::{Command, Detector, Message};
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::{Holder, Reservation, Schedule};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Every operation of a schedule, on random times of a window that moves on.
fn churn(schedule: &mut Schedule<Vec<Reservation>>, rng: &mut Xoshiro256PlusPlus, rounds: u64) {
    for round in 0..rounds {
        let now = Time::from_secs(round);
        schedule.prune(now);
        schedule.expire(now);
        let job = JobId::new(u64::from(rng.below(40)));
        let holder = Holder {
            job,
            epoch: Epoch::new(round),
        };
        let length = Span::from_secs(u64::from(rng.below(60)) + 1);
        let from = now + Span::from_secs(u64::from(rng.below(600)));
        let fit = schedule.earliest_fit(from, length).unwrap();
        let lease = now + Span::from_secs(u64::from(rng.below(30)));
        if schedule.hold(holder, fit, lease).is_ok() && rng.below(3) > 0 {
            schedule.commit(holder).unwrap();
            // Half an hour later, the same job swaps for time that overlaps its own.
            let epoch = Epoch::new(round + rounds);
            let better = Interval::starting(fit.start() + length, length).unwrap();
            let _ = schedule.hold(Holder { job, epoch }, better, lease);
        }
        let within = Interval::starting(now, Span::from_secs(900)).unwrap();
        let free: u64 = schedule
            .free_windows(within)
            .map(|free| free.length().as_secs())
            .sum();
        assert!(free <= 900 && schedule.is_free(fit) <= (free > 0));
        if rng.below(4) == 0 {
            schedule.release(holder);
        }
    }
}

#[test]
fn a_schedule_allocates_nothing_once_it_has_grown() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut schedule = Schedule::new();
    let warm_up = measure(|| churn(&mut schedule, &mut rng, 2_000));
    assert!(warm_up.count_total > 0, "the counter does not count");
    // The window starts again at zero, over a schedule of the same size.
    schedule.prune(Time::MAX);
    let steady = measure(|| churn(&mut schedule, &mut rng, 2_000));
    assert_eq!(steady.count_total, 0);
}

#[test]
fn a_schedule_without_allocator_allocates_nothing_at_all() {
    let work = measure(|| {
        let mut schedule = Schedule::<heapless::Vec<Reservation, 16>>::new();
        for n in 0..100 {
            let holder = Holder {
                job: JobId::new(n),
                epoch: Epoch::new(0),
            };
            let fit = schedule
                .earliest_fit(Time::from_secs(n), Span::from_secs(5))
                .unwrap();
            let _ = schedule.reserve(holder, fit);
            schedule.prune(Time::from_secs(n));
        }
    });
    assert_eq!(work.count_total, 0);
}

#[test]
fn a_heartbeat_is_handled_without_allocation() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut detector = Detector::<8>::new(NodeId::new(0), Span::from_secs(1), 3).unwrap();
    let (mut effects, mut timers) = (EffectQueue::new(), TimerQueue::new());
    effects.feed(&mut detector, Event::Start, Time::ZERO, &mut rng);
    for peer in 1..=8 {
        let watch = Event::Command(Command::Watch(NodeId::new(peer)));
        effects.feed(&mut detector, watch, Time::ZERO, &mut rng);
    }
    let mut next = Vec::with_capacity(32);
    let mut beat = || {
        next.extend(effects.drain());
        let mut now = Time::ZERO;
        let mut answered = 0;
        for effect in next.drain(..) {
            match effect {
                Effect::Wake { at, timer } => timers.wake(at, timer),
                Effect::Send {
                    to,
                    message: Message::Ping { asker, round },
                } => {
                    let answerer = Incarnation::new(4);
                    let message = Message::Pong {
                        answerer,
                        asker,
                        round,
                    };
                    effects.feed(
                        &mut detector,
                        Event::Message { from: to, message },
                        now,
                        &mut rng,
                    );
                    answered += 1;
                }
                Effect::Persist(..) => {}
                other => panic!("nobody is suspected: {other:?}"),
            }
        }
        now = timers.next_at().unwrap();
        let (_, timer) = timers.pop_due(now).unwrap();
        effects.feed(&mut detector, Event::Timer(timer), now, &mut rng);
        answered
    };
    for _ in 0..3 {
        beat();
    }
    let mut answered = 0;
    let steady = measure(|| answered = (0..100).map(|_| beat()).sum());
    assert_eq!(answered, 800);
    assert_eq!(steady.count_total, 0);
}
