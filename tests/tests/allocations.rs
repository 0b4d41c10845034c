//! Counts allocations, to show which parts do not allocate in the steady state.

use core::num::NonZeroU32;

use allocation_counter::measure;
use gridweave_core::few::Few;
use gridweave_core::heartbeat::{Command, Detector, Message};
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine, TimerQueue};
use gridweave_core::overlay::can::{self, Can};
use gridweave_core::overlay::cyclon::{self, Cyclon};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{
    Lateness, LocalScheduler, Policy, QueuedJob, SiteQueue, offer, present_cost,
};
use gridweave_core::resource::Speed;
use gridweave_core::rng::Choose;
use gridweave_core::schedule::availability::Availability;
use gridweave_core::schedule::common_slot::{BestFit, CommonSearch, InOrder, Seeded};
use gridweave_core::schedule::ledger::{Slot, SlotLedger, SlotRange};
use gridweave_core::schedule::{Attempt, Reservation, Schedule};
use gridweave_core::select::{Closest, Config, Problem, Selector, Starts};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::Estimates;
use gridweave_lab::schedulers::central::{Central, simulate};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::engine::Simulation;
use gridweave_sim::event_queue::EventQueue;
use gridweave_sim::monitor::Monitor;
use gridweave_sim::network::{Delay, Network, NetworkConfig};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// A schedule at work on random times of a window that moves on; how many swaps were held.
fn churn(
    schedule: &mut Schedule<Vec<Reservation>>,
    rng: &mut Xoshiro256PlusPlus,
    rounds: u64,
) -> u32 {
    let mut swaps = 0;
    for round in 0..rounds {
        let now = Time::from_secs(round);
        schedule.prune(now);
        schedule.expire(now);
        let job = JobId::new(u64::from(rng.below(40)));
        let attempt = Attempt::new(job, Epoch::new(round));
        let length = Span::from_secs(u64::from(rng.below(60)) + 1);
        let from = now + Span::from_secs(u64::from(rng.below(600)));
        let fit = schedule.earliest_fit(from, length).unwrap();
        let lease = now + Span::from_secs(u64::from(rng.below(30)));
        if schedule.hold(attempt, fit, lease).is_ok() && rng.below(3) > 0 {
            schedule.commit(attempt).unwrap();
            // The same job holds time that overlaps its own, and takes it for good or not.
            let newer = Attempt::new(job, Epoch::new(round + rounds));
            let half = Span::from_micros(length.as_micros() / 2);
            let better = Interval::starting(fit.start() + half, length).unwrap();
            if schedule.hold(newer, better, lease).is_ok() {
                swaps += 1;
                if rng.below(2) == 0 {
                    schedule.commit(newer).unwrap();
                }
            }
        }
        let within = Interval::starting(now, Span::from_secs(900)).unwrap();
        let free: u64 = schedule
            .free_windows(within)
            .map(|free| free.length().as_secs())
            .sum();
        assert!(free <= 900 && schedule.is_free(fit) <= (free > 0));
        if rng.below(4) == 0 {
            schedule.release(attempt);
        }
    }
    swaps
}

/// A site with this many processors, 20 jobs with deadlines and 20 without. All jobs that can start have started.
fn site(processors: u32) -> SiteQueue {
    let processors = NonZeroU32::new(processors).unwrap();
    let mut site =
        SiteQueue::new(Policy::EarliestDeadline, Speed::BASELINE, 99).with_processors(processors);
    for id in 0..40 {
        let job = QueuedJob {
            deadline: (id < 20).then(|| Time::from_secs(id * 31 % 97)),
            ..QueuedJob::new(JobId::new(id), Span::from_secs(id + 1))
        };
        site.push(Time::ZERO, job).unwrap();
    }
    while site.start_next(Time::ZERO).is_some() {}
    site
}

/// How often a site allocates when it is asked four times for an offer, and four times for what a job costs it.
fn allocations_of_costs(site: &SiteQueue) -> u64 {
    let undue = QueuedJob::new(JobId::new(99), Span::from_secs(9));
    let due = QueuedJob {
        deadline: Some(Time::from_secs(50)),
        ..undue
    };
    let waiting = [
        *site.waiting().first().unwrap(),
        *site.waiting().last().unwrap(),
    ];
    let counted = measure(|| {
        for lateness in [Lateness::Literal, Lateness::Marginal] {
            for job in [undue, due] {
                std::hint::black_box(offer(site, Time::ZERO, &job, lateness));
            }
            for job in &waiting {
                std::hint::black_box(present_cost(site, Time::ZERO, job, lateness));
            }
        }
    });
    counted.count_total
}

#[test]
fn the_costs_of_a_site_with_one_processor_allocate_nothing() {
    assert_eq!(allocations_of_costs(&site(1)), 0);
}

#[test]
fn the_costs_of_a_site_with_several_processors_allocate_once_a_forecast() {
    // One forecast each, and a second one for the marginal cost of a deadline.
    assert_eq!(allocations_of_costs(&site(8)), 8 + 2);
}

#[test]
fn a_schedule_allocates_nothing_once_it_has_grown() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut schedule = Schedule::new();
    let mut swaps = 0;
    let warm_up = measure(|| swaps = churn(&mut schedule, &mut rng, 2_000));
    assert!(swaps > 100, "only {swaps} swaps were held");
    assert!(warm_up.count_total > 0, "the counter does not count");
    // The window starts again at zero, over a schedule of the same size.
    schedule.prune(Time::MAX);
    let steady = measure(|| {
        churn(&mut schedule, &mut rng, 2_000);
    });
    assert_eq!(steady.count_total, 0);
}

#[test]
fn a_schedule_without_allocator_allocates_nothing_at_all() {
    let work = measure(|| {
        let mut schedule = Schedule::<Few<Reservation, 16>>::new();
        for n in 0..100 {
            let attempt = Attempt::new(JobId::new(n), Epoch::new(0));
            let fit = schedule
                .earliest_fit(Time::from_secs(n), Span::from_secs(5))
                .unwrap();
            let _ = schedule.reserve(attempt, fit);
            schedule.prune(Time::from_secs(n));
        }
    });
    assert_eq!(work.count_total, 0);
}

#[test]
fn a_slot_ledger_allocates_nothing_at_all() {
    let mut committed = 0;
    let work = measure(|| {
        let ledger = SlotLedger::<16>::new();
        for now in 0..1_000 {
            let first = ledger.advance(Slot::new(now));
            let room = ledger.first_free(first, 1 + now % 30);
            let Some(hold) = room.and_then(|room| ledger.claim(room).ok()) else {
                continue;
            };
            let across = SlotRange::new(first, 100).unwrap();
            assert!(ledger.claim(across).is_err(), "rolled back");
            if now % 3 > 0 {
                let commitment = hold.commit().unwrap();
                committed += 1;
                if now % 3 > 1 {
                    commitment.release();
                }
            }
        }
    });
    assert!(committed > 100, "only {committed} holds were committed");
    assert_eq!(work.count_total, 0);
}

#[test]
fn a_search_for_a_common_slot_allocates_nothing_once_it_has_grown() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let schedules: Vec<Vec<Interval>> = (0..100)
        .map(|_| {
            let mut at = 0;
            let mut window = || {
                at += u64::from(rng.below(20)) + 1;
                let start = Time::from_secs(at);
                at += u64::from(rng.below(90)) + 1;
                Interval::new(start, Time::from_secs(at)).unwrap()
            };
            (0..20).map(|_| window()).collect()
        })
        .collect();
    let mut search = CommonSearch::default();
    let mut all = |rng: &mut Xoshiro256PlusPlus| {
        for count in [1, 8, 64, 100] {
            let (now, length) = (Time::ZERO, Span::from_secs(15));
            let found = search.earliest(&schedules, now, length, count, InOrder);
            assert_eq!(found.unwrap().chosen.len(), count as usize);
            search
                .earliest(&schedules, now, length, count, BestFit)
                .unwrap();
            search
                .earliest(&schedules, now, length, count, Seeded(rng))
                .unwrap();
        }
    };
    assert!(
        measure(|| all(&mut rng)).count_total > 0,
        "the counter does not count"
    );
    assert_eq!(measure(|| all(&mut rng)).count_total, 0);
}

#[test]
fn a_profile_allocates_nothing_once_it_has_been_as_large_as_it_gets() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut machine = Availability::new(64).unwrap();
    let mut fill_and_empty = |machine: &mut Availability| {
        let mut taken = Vec::with_capacity(2_000);
        measure(|| {
            for _ in 0..2_000 {
                let (count, length) = (
                    rng.below(64) + 1,
                    Span::from_secs(u64::from(rng.below(900)) + 1),
                );
                let start = machine.earliest_fit(Time::ZERO, count, length).unwrap();
                let interval = Interval::starting(start, length).unwrap();
                machine.reserve(interval, count).unwrap();
                taken.push((interval, count));
                if rng.below(4) == 0 {
                    let (interval, count) = taken.swap_remove(rng.index(taken.len()));
                    machine.release(interval, count).unwrap();
                }
            }
            for (interval, count) in taken.drain(..) {
                machine.release(interval, count).unwrap();
            }
        })
        .count_total
    };
    assert!(
        fill_and_empty(&mut machine) > 0,
        "the counter does not count"
    );
    fill_and_empty(&mut machine);
    // The same work in another order may need a block more than ever before, and then keeps it.
    let later: u64 = (0..5).map(|_| fill_and_empty(&mut machine)).sum();
    assert!(later <= 40, "{later} allocations in 10,000 rounds");
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
                other => panic!("no peer is suspected: {other:?}"),
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

/// The same day over and over, with queues and jobs that end early.
fn days(days: u64) -> Workload {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut day = || {
        let run = u64::from(rng.below(3000)) + 60;
        let at = Time::from_secs(u64::from(rng.below(20_000)));
        let requested = Span::from_secs(run + u64::from(rng.below(9000)));
        Submission {
            requested_time: Some(requested),
            ..Submission::new(0, at, Span::from_secs(run), rng.below(60) + 1)
        }
    };
    let day: Vec<Submission> = (0..200).map(|_| day()).collect();
    let repeat = |number: u64| {
        day.iter().map(move |job| Submission {
            number,
            at: job.at + Span::from_secs(200_000 * number),
            ..*job
        })
    };
    let mut jobs: Vec<Submission> = (0..days).flat_map(repeat).collect();
    jobs.sort_by_key(|job| job.at);
    Workload {
        jobs,
        ..Workload::default()
    }
}

#[test]
fn a_centralised_scheduler_allocates_no_more_for_a_month_than_for_a_few_days() {
    let (few, month) = (days(3), days(30));
    // The shortest first lets long jobs wait, so that its queue grows from day to day.
    let steady = |central: &Central| *central != Central::Sjf;
    for central in Central::ALL.into_iter().filter(steady) {
        let count = |workload: &Workload| {
            let monitor = Monitor::default();
            let mut run = None;
            let counted = measure(|| {
                let grid = Grid::Uniform(64);
                run = Some(simulate(
                    central,
                    &grid,
                    workload,
                    Estimates::Kill,
                    &monitor,
                ));
            });
            assert!(matches!(run, Some(Ok(_))));
            counted.count_total
        };
        assert_eq!(count(&few), count(&month), "{central}");
    }
}

#[test]
fn an_event_queue_allocates_nothing_once_it_has_grown() {
    type Delay = fn(&mut Xoshiro256PlusPlus) -> u64;
    let delays: [Delay; 4] = [
        |rng| u64::from(rng.below(1_000_000)),
        |_| 1_000_000,
        |rng| [1_000, 86_400_000_000][rng.index(2)],
        |rng| u64::from(rng.below(2) * rng.below(1_000_000)),
    ];
    for delay in delays {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut events = EventQueue::new();
        let fill = measure(|| {
            (0..5_000_u64).for_each(|what| events.push(Time::from_micros(what * 7), what));
        });
        assert!(fill.count_total > 0, "the counter does not count");
        let mut work = |rounds: u32| {
            for _ in 0..rounds {
                let (now, what) = events.pop().unwrap();
                events.push(now + Span::from_micros(delay(&mut rng)), what);
            }
        };
        work(100_000);
        assert_eq!(measure(|| work(100_000)).count_total, 0);
    }
}

/// Nodes whose messages arrive at once. Timers fire when no message is on its way.
struct Loopback<M: Machine> {
    nodes: Vec<M>,
    effects: EffectQueue<M>,
    timers: TimerQueue<(u64, M::Timer)>,
    inbox: Vec<(u64, Event<M>)>,
    now: Time,
    rng: Xoshiro256PlusPlus,
    counted: u32,
}

impl<M: Machine> Loopback<M> {
    fn new(nodes: Vec<M>, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            nodes,
            effects: EffectQueue::new(),
            timers: TimerQueue::new(),
            inbox: Vec::new(),
            now: Time::ZERO,
            rng,
            counted: 0,
        }
    }

    fn start(&mut self, id: u64, command: M::Command) {
        let events = [(id, Event::Command(command)), (id, Event::Start)];
        self.inbox.extend(events);
    }

    /// Handles so many events; how many messages of a kind were sent until then.
    fn work(&mut self, events: u32, is_counted: fn(&M::Message) -> bool) -> u32 {
        for _ in 0..events {
            if self.inbox.is_empty() {
                self.now = self.timers.next_at().unwrap();
                let (_, (id, timer)) = self.timers.pop_due(self.now).unwrap();
                self.inbox.push((id, Event::Timer(timer)));
            }
            let (id, event) = self.inbox.pop().unwrap();
            let node = &mut self.nodes[id as usize];
            self.effects.feed(node, event, self.now, &mut self.rng);
            let from = NodeId::new(id);
            for effect in self.effects.drain() {
                match effect {
                    Effect::Send { to, message } => {
                        self.counted += u32::from(is_counted(&message));
                        let event = Event::Message { from, message };
                        self.inbox.push((to.get(), event));
                    }
                    Effect::Wake { at, timer } => self.timers.wake(at, (id, timer)),
                    _ => {}
                }
            }
        }
        self.counted
    }
}

#[test]
fn a_shuffle_does_not_allocate() {
    const NODES: u64 = 50;
    let nodes = (0..NODES)
        .map(|id| Cyclon::<20, 8>::new(NodeId::new(id), cyclon::Config::DEFAULT).unwrap());
    let mut grid = Loopback::new(nodes.collect(), Xoshiro256PlusPlus::seed_from_u64(6));
    for id in 0..NODES {
        let meet = cyclon::Command::Meet(NodeId::new((id + 1) % NODES));
        grid.start(id, meet);
    }
    let mut shuffles = || {
        grid.work(20_000, |message| {
            matches!(message, cyclon::Message::Shuffled { .. })
        })
    };
    let before = shuffles();
    let mut after = 0;
    assert_eq!(measure(|| after = shuffles()).count_total, 0);
    assert!(after > before + 5_000, "{before} {after}");
}

#[test]
fn heartbeats_between_neighbours_in_the_can_do_not_allocate() {
    const NODES: u64 = 40;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let nodes = (0..NODES).map(|id| {
        let point = can::Point::new([0; 3]).redrawn(3, &mut rng);
        Can::<3>::new(NodeId::new(id), point, can::Config::DEFAULT).unwrap()
    });
    let nodes = nodes.collect();
    let mut grid = Loopback::new(nodes, rng);
    let introducer = NodeId::new(0);
    for id in 0..NODES {
        let command = match id {
            0 => can::Command::Found,
            _ => can::Command::Join { introducer },
        };
        grid.start(id, command);
        grid.work(2_000, can::Message::is_heartbeat);
    }
    let mut beats = || grid.work(50_000, can::Message::is_heartbeat);
    let before = beats();
    let mut after = 0;
    assert_eq!(measure(|| after = beats()).count_total, 0);
    assert!(after > before + 40_000, "{before} {after}");
}

#[test]
fn a_simulated_shuffle_does_not_allocate() {
    const NODES: u64 = 200;
    let config = NetworkConfig {
        delay: Delay::Constant(Span::from_millis(100)),
        ..NetworkConfig::default()
    };
    let network = Network::new(&config, 1).unwrap();
    let mut overlay = Simulation::new(NODES as u32, network, 1, |me| {
        let config = cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        };
        Cyclon::<20, 8>::new(me, config).unwrap()
    });
    for id in 0..NODES {
        let meet = cyclon::Command::Meet(NodeId::new((id + 1) % NODES));
        overlay.command(Time::ZERO, NodeId::new(id), meet);
    }
    // Long enough for all that nodes write down to have been written twice.
    let mut until = Time::from_secs(1000);
    overlay.run_until(until);
    overlay.happenings();
    let before = overlay.traffic().total().messages;
    until += Span::from_secs(1000);
    assert_eq!(measure(|| overlay.run_until(until)).count_total, 0);
    assert!(overlay.traffic().total().messages > before + 30_000);
}

#[test]
fn a_hundred_generations_of_sets_allocate_no_more_than_one() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut part = || rng.below(100_000) as i32;
    let profiles: Vec<Profile> = (0..256)
        .map(|_| Profile::at(Coordinate::at([part(), part(), part()])))
        .collect();
    let nodes: Vec<NodeId> = (0..256).map(NodeId::new).collect();
    let problem = Problem {
        nodes: &nodes,
        profiles: &profiles,
        starts: &Starts::at(Time::ZERO, 256),
        count: 128,
        current: &[],
        from: Time::ZERO,
    };
    let mut selector = Selector::default();
    let mut count = |generations| {
        let config = Config {
            generations,
            ..Config::PAPER
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        measure(|| {
            selector
                .select(&problem, &Closest, &config, &mut rng)
                .unwrap();
        })
        .count_total
    };
    // The first selection makes room; the others allocate the set that they give back, whenever they see a better one.
    count(1);
    let (one, hundred) = (count(1), count(100));
    assert!(one <= 50 && hundred <= 50, "{one} and {hundred}");
}
