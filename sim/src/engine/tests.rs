use super::*;
use crate::network::{Delay, NetworkConfig, Plane};
use gridweave_core::heartbeat::{self, Detector};
use gridweave_core::machine::Context;
use gridweave_core::rng::Choose;
use gridweave_core::wire;
use serde::Deserialize;
use std::sync::Arc;

/// Does what it is told, and tells everything it sees. Remembers on disk how often it started.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Probe {
    lives: u8,
    sick: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
enum Said {
    Even(u8),
    Odd(u8),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
enum Ask {
    Send(u64, u8),
    Wake(u64, u8),
    Cancel(u8),
    /// Wake three times and persist in between.
    Write,
    Draw,
    Sicken,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
enum Saw {
    Started(u8),
    Message(u64, u8),
    Unreachable(u64),
    Timer(u8),
    Drew(u32),
}

impl Machine for Probe {
    type Message = Said;
    type Timer = u8;
    type Command = Ask;
    type Notice = Saw;
    type Key = u8;
    type Record = u8;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Restored(key, lives) => {
                if key == 0 {
                    self.lives = lives;
                }
            }
            Event::Start => {
                self.lives += 1;
                cx.persist(0, self.lives);
                cx.notify(Saw::Started(self.lives));
            }
            Event::Message { from, message } => {
                cx.notify(Saw::Message(from.get(), message.get()));
            }
            Event::Unreachable { to } => cx.notify(Saw::Unreachable(to.get())),
            Event::Timer(timer) => cx.notify(Saw::Timer(timer)),
            Event::Command(Ask::Send(to, message)) => {
                cx.send(NodeId::new(to), Said::number(message));
            }
            Event::Command(Ask::Wake(after, timer)) => {
                let at = if after == u64::MAX {
                    Time::MAX
                } else {
                    cx.now() + Span::from_secs(after)
                };
                cx.wake(at, timer);
            }
            Event::Command(Ask::Cancel(timer)) => cx.cancel(timer),
            Event::Command(Ask::Write) => {
                cx.persist(1, 1);
                cx.persist(2, 2);
                cx.forget(1);
                cx.persist(3, 3);
            }
            Event::Command(Ask::Draw) => {
                let drawn = cx.rng().below(1_000_000);
                cx.notify(Saw::Drew(drawn));
            }
            Event::Command(Ask::Sicken) => self.sick = true,
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(!self.sick, "probes are well")
    }
}

impl Said {
    fn number(number: u8) -> Self {
        match number % 2 {
            0 => Self::Even(number),
            _ => Self::Odd(number),
        }
    }

    const fn get(&self) -> u8 {
        let (Self::Even(number) | Self::Odd(number)) = self;
        *number
    }
}

impl Framed for Said {
    const PROTOCOL: wire::Protocol = wire::Protocol::new(200);
    const KINDS: &'static [wire::Kind] = &[wire::Kind::new("Even", 1), wire::Kind::new("Odd", 1)];
    fn kind(&self) -> &'static str {
        match self {
            Self::Even(_) => "Even",
            Self::Odd(_) => "Odd",
        }
    }
}

const HINTS: Hints<Probe> = Hints {
    items: |said| said.get() as u32,
    touch: |_, _| 0,
};

fn probes(count: u32, network: &NetworkConfig) -> Simulation<Probe> {
    let network = Network::new(network, 5).unwrap();
    Simulation::with_hints(count, network, 5, HINTS, |_| Probe::default())
}

fn node(number: u64) -> NodeId {
    NodeId::new(number)
}

fn secs(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// What was seen since the last look, with the second and the node.
fn seen(simulation: &mut Simulation<Probe>) -> Vec<(u64, u64, Saw)> {
    simulation
        .happenings()
        .filter_map(|happening| match happening {
            Happening::Notice { at, node, notice } => Some((at.as_secs(), node.get(), notice)),
            _ => None,
        })
        .collect()
}

#[test]
fn events_of_one_instant_come_in_the_order_in_which_they_were_asked_for() {
    let mut grid = probes(3, &NetworkConfig::default());
    grid.command(secs(5), node(2), Ask::Send(0, 1));
    grid.command(secs(5), node(1), Ask::Send(0, 2));
    grid.command(secs(4), node(1), Ask::Send(0, 3));
    grid.run_until(secs(0));
    let starts = [0, 1, 2].map(|number| (0, number, Saw::Started(1)));
    assert_eq!(seen(&mut grid), starts);
    grid.run_until(secs(10));
    let messages = [
        (4, 0, Saw::Message(1, 3)),
        (5, 0, Saw::Message(2, 1)),
        (5, 0, Saw::Message(1, 2)),
    ];
    assert_eq!(seen(&mut grid), messages);
    assert_eq!(
        (grid.now(), grid.next_at(), grid.step()),
        (secs(10), None, false)
    );
}

#[test]
fn an_equal_timer_replaces_and_a_cancelled_one_never_comes() {
    let mut grid = probes(1, &NetworkConfig::default());
    for (at, ask) in [
        (1, Ask::Wake(10, 7)),
        (2, Ask::Wake(20, 7)),
        (2, Ask::Wake(1, 8)),
        (2, Ask::Wake(5, 9)),
        (3, Ask::Cancel(9)),
        (3, Ask::Cancel(9)),
        (3, Ask::Wake(u64::MAX, 10)),
        (4, Ask::Wake(1, 11)),
        (4, Ask::Wake(u64::MAX, 11)),
    ] {
        grid.command(secs(at), node(0), ask);
    }
    while grid.step() {}
    let timers = [
        (0, 0, Saw::Started(1)),
        (3, 0, Saw::Timer(8)),
        (22, 0, Saw::Timer(7)),
    ];
    assert_eq!(seen(&mut grid), timers);
}

#[test]
fn a_crash_loses_timers_and_memory_but_not_the_disk() {
    let mut grid = probes(2, &NetworkConfig::default());
    grid.command(secs(1), node(0), Ask::Wake(10, 7));
    grid.crash(secs(2), node(0));
    grid.crash(secs(2), node(0));
    grid.command(secs(3), node(0), Ask::Draw);
    grid.command(secs(3), node(1), Ask::Send(0, 4));
    grid.restart(secs(4), node(0));
    grid.restart(secs(4), node(0));
    grid.run_until(secs(20));
    let happenings: Vec<_> = grid.happenings().skip(4).collect();
    let at = secs(4);
    let expected = [
        Happening::Crashed {
            at: secs(2),
            node: node(0),
        },
        Happening::Unheard {
            at: secs(3),
            node: node(0),
            command: Ask::Draw,
        },
        Happening::Started { at, node: node(0) },
        Happening::Notice {
            at,
            node: node(0),
            notice: Saw::Started(2),
        },
    ];
    assert_eq!(happenings, expected);
    assert_eq!(grid.disk(node(0)).collect::<Vec<_>>(), [(&0, &2)]);
    assert_eq!(grid.traffic().to_nobody(), 1);
    assert_eq!(grid.machine(node(0)).map(|probe| probe.lives), Some(2));
}

#[test]
fn a_doomed_node_stops_between_two_effects() {
    for (effects, disk) in [
        (0, vec![0]),
        (1, vec![0, 1]),
        (2, vec![0, 1, 2]),
        (3, vec![0, 2]),
    ] {
        let mut grid = probes(1, &NetworkConfig::default());
        grid.crash_after(secs(1), node(0), effects);
        grid.command(secs(2), node(0), Ask::Write);
        grid.run_until(secs(3));
        let keys: Vec<u8> = grid.disk(node(0)).map(|(key, _)| *key).collect();
        assert_eq!(keys, disk, "after {effects} effects");
        assert_eq!(grid.machine(node(0)), None);
    }
}

#[test]
fn nodes_that_commit_in_groups_write_all_records_before_the_first_message() {
    for (effects, disk) in [
        (0, vec![0]),
        (1, vec![0, 1]),
        (2, vec![0, 1, 2]),
        (3, vec![0, 2]),
        (4, vec![0, 2, 3]),
        (9, vec![0, 2, 3]),
    ] {
        let mut grid = probes(2, &NetworkConfig::default());
        grid.group_commit(Span::from_secs(2));
        grid.crash_after(secs(3), node(0), effects);
        // A message of one event, and records of a later one.
        grid.command(secs(4), node(0), Ask::Send(1, 7));
        grid.command(secs(5), node(0), Ask::Write);
        grid.run_until(secs(5));
        let on_disk = |grid: &Simulation<Probe>| -> Vec<u8> {
            grid.disk(node(0)).map(|(key, _)| *key).collect()
        };
        assert_eq!(on_disk(&grid), [0], "nothing is done yet");
        grid.run_until(secs(9));
        assert_eq!(on_disk(&grid), disk, "after {effects} effects");
        let heard: Vec<_> = seen(&mut grid).into_iter().skip(2).collect();
        let message = (8, 1, Saw::Message(0, 7));
        let expected = if effects > 4 { vec![message] } else { vec![] };
        assert_eq!(heard, expected, "after {effects} effects");
    }
}

#[test]
fn a_sender_learns_that_no_node_is_there_if_the_network_reports_it() {
    let told = NetworkConfig {
        delay: Delay::Constant(Span::from_secs(1)),
        report_unreachable: true,
        ..NetworkConfig::default()
    };
    let mut grid = probes(2, &told);
    grid.crash(secs(1), node(1));
    for to in [1, 77, u64::from(u32::MAX), u64::MAX] {
        grid.command(secs(2), node(0), Ask::Send(to, 0));
    }
    grid.run_until(secs(9));
    let seen: Vec<_> = seen(&mut grid).into_iter().skip(2).collect();
    assert_eq!(
        seen,
        [(3, 0, Saw::Unreachable(77)), (4, 0, Saw::Unreachable(1))]
    );
    assert_eq!(grid.traffic().to_nobody(), 4);
}

#[test]
fn a_node_that_joins_later_is_one_of_the_others() {
    let mut grid = probes(1, &NetworkConfig::default());
    let late = grid.join(secs(5));
    grid.command(secs(6), late, Ask::Send(0, 9));
    grid.command(secs(6), node(99), Ask::Draw);
    grid.run_until(secs(9));
    assert_eq!(late, node(1));
    let expected = [
        (0, 0, Saw::Started(1)),
        (5, 1, Saw::Started(1)),
        (6, 0, Saw::Message(1, 9)),
    ];
    assert_eq!(seen(&mut grid), expected);
}

#[test]
fn traffic_counts_kinds_bytes_and_windows() {
    let mut grid = probes(
        2,
        &NetworkConfig {
            loss: 1.0,
            ..NetworkConfig::default()
        },
    );
    grid.count_per(Span::from_secs(10));
    for (at, message) in [(1, 2), (1, 3), (25, 4)] {
        grid.command(secs(at), node(0), Ask::Send(1, message));
    }
    grid.run_until(secs(30));
    let traffic = grid.traffic();
    let count = |messages, bytes, items| KindTraffic {
        messages,
        bytes,
        items,
    };
    let [even, odd] = [count(2, 4, 6), count(1, 2, 3)];
    assert_eq!(
        traffic.kinds(),
        [("Even".into(), even), ("Odd".into(), odd)]
    );
    assert_eq!(traffic.total(), count(3, 6, 9));
    assert_eq!(traffic.per_window(), [2, 0, 1]);
    let none = count(0, 0, 0);
    let windows = [[count(1, 2, 2), odd], [none, none], [count(1, 2, 4), none]];
    assert!(
        traffic
            .kinds_per_window()
            .eq(windows.iter().map(|kinds| &kinds[..]))
    );
    assert_eq!(grid.network().mishaps().lost, 3);
}

#[test]
fn a_broken_invariant_is_found_at_the_event_that_breaks_it() {
    let mut grid = probes(2, &NetworkConfig::default());
    grid.check(Checking::EveryEvent);
    grid.command(secs(3), node(1), Ask::Sicken);
    grid.run_until(secs(9));
    let violation = Violation {
        invariant: "probes are well",
    };
    assert_eq!(
        grid.broken(),
        [Broken {
            at: secs(3),
            node: node(1),
            violation
        }]
    );
}

#[test]
fn every_third_event_is_checked_if_so_many_are_wanted() {
    let mut grid = probes(1, &NetworkConfig::default());
    grid.check(Checking::Every(NonZeroU32::new(3).unwrap()));
    // The start is the first event, this the second.
    grid.command(secs(1), node(0), Ask::Sicken);
    for at in 2..=9 {
        grid.command(secs(at), node(0), Ask::Draw);
    }
    grid.run_until(secs(9));
    let found: Vec<_> = grid.broken().iter().map(|broken| broken.at).collect();
    assert_eq!(found, [secs(2), secs(5), secs(8)]);
}

#[test]
fn a_command_that_comes_first_is_obeyed_before_a_timer_of_the_same_instant() {
    let mut grid = probes(2, &NetworkConfig::default());
    grid.command(secs(1), node(0), Ask::Wake(9, 7));
    grid.run_until(secs(5));
    seen(&mut grid);
    grid.command_first(secs(10), node(0), Ask::Send(0, 1));
    grid.command_first(secs(10), node(0), Ask::Cancel(7));
    assert_eq!((grid.now(), grid.next_at()), (secs(10), Some(secs(10))));
    grid.command(secs(10), node(0), Ask::Wake(0, 8));
    grid.run_until(secs(20));
    // The other timer was cancelled in time, and what the first command sent is behind what was due.
    let expected = [(10, 0, Saw::Message(0, 1)), (10, 0, Saw::Timer(8))];
    assert_eq!(seen(&mut grid), expected);
}

#[test]
fn a_command_that_comes_first_moves_the_clock_no_further_than_the_next_event() {
    let mut grid = probes(1, &NetworkConfig::default());
    grid.command(secs(1), node(0), Ask::Wake(4, 7));
    grid.run_until(secs(3));
    grid.command_first(secs(2), node(0), Ask::Draw);
    assert_eq!(grid.now(), secs(3));
    grid.command_first(secs(9), node(0), Ask::Draw);
    assert_eq!(grid.now(), secs(5));
    grid.command_first(secs(5), node(77), Ask::Draw);
    grid.run_until(secs(9));
    let times: Vec<u64> = seen(&mut grid).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(times, [0, 3, 5, 5]);
}

/// A hundred detectors that watch their neighbours over a bad network while nodes come and go.
fn stormy(seed: u64) -> Simulation<Detector<4>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let plane = Plane::generate(100, Span::from_secs(1), &mut rng);
    let config = NetworkConfig {
        delay: Delay::Plane(Arc::new(plane)),
        loss: 0.05,
        duplication: 0.05,
        reordering: 0.1,
        held_up: Span::from_secs(2),
        report_unreachable: true,
        ..NetworkConfig::default()
    };
    let network = Network::drawing(&config, rng).unwrap();
    let mut grid = Simulation::new(100, network, seed, |me| {
        Detector::new(me, Span::from_secs(10), 3).unwrap()
    });
    grid.check(Checking::EveryEvent);
    for number in 0..100 {
        for next in 1..=4 {
            let peer = node((number + next) % 100);
            grid.command(secs(1), node(number), heartbeat::Command::Watch(peer));
        }
        grid.crash(secs(60 + number), node(number));
        grid.restart(secs(200 + 2 * number), node(number));
    }
    grid.run_until(secs(600));
    grid
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let [one, again, other] = [1, 1, 2].map(stormy);
    assert_eq!(
        (one.digest(), one.events()),
        (again.digest(), again.events())
    );
    assert_eq!(one.traffic(), again.traffic());
    assert_ne!(one.digest(), other.digest());
    assert!(one.events() > 10_000, "{one:?}");
    assert_eq!(one.broken(), []);
}

/// The digest is the same on every machine, whatever its word size or byte order.
#[test]
fn the_digest_of_a_known_run_is_known() {
    assert_eq!(stormy(1).digest(), "ae784a9291b0d47b424995e2e29e7e2e");
}
