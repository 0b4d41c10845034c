use super::*;
use crate::machine::{Driver, Effect};
use crate::profile::{Coordinate, Profile};
use crate::time::Interval;
use core::cmp::Reverse;
use std::vec;
use std::vec::Vec;

/// Nodes on a line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Line;

impl Distance<u32> for Line {
    type Rank = u32;
    fn rank(&self, target: &u32, other: &u32) -> u32 {
        target.abs_diff(*other)
    }
}

type Small = Vicinity<u32, Line, 4, 3, 4>;
type Effects = Vec<Effect<Small>>;

const ME: u64 = 50;
const CONFIG: Config = Config {
    links: 4,
    gossip: 3,
    period: Span::from_secs(256),
    timeout: Span::from_secs(2),
    max_age: 9,
    feed: Feed::Always,
};
/// When a node that starts at 100 s has its first cycle: a 256th of a period later.
const FIRST: Time = Time::from_secs(101);

type Bench = Driver<Small>;

impl Bench {
    /// A started node at place 500, without links.
    fn with_config(config: Config) -> Self {
        let build = move || Small::new(id(ME), config, Line, 500, 7).unwrap();
        Self::started(Time::from_secs(100), build).0
    }

    /// A started node with links of these ids and ages; the place of a node is ten times its id.
    fn with(links: &[(u64, u16)]) -> Self {
        let mut bench = Self::with_config(CONFIG);
        for &(id, age) in links {
            bench.machine_mut().view.push(peer(id, age)).unwrap();
        }
        bench.machine_mut().keep_nearest(&[]);
        bench.machine().check().unwrap();
        bench
    }

    /// A node after its first cycle, in which it asked its oldest link, 9.
    fn waiting() -> Self {
        let mut bench = Self::with(&[(40, 0), (48, 0), (9, 5)]);
        bench.cycle(0);
        assert_eq!(bench.machine().waits_for(), Some(id(9)));
        bench
    }

    fn hear_of(&mut self, random: &[Descriptor<u32>]) {
        let random = random.iter().copied().collect();
        assert_eq!(self.obey(Command::Random(random)), []);
    }

    /// The time of this cycle comes.
    fn cycle(&mut self, cycle: u32) -> Effects {
        self.now = FIRST + CONFIG.period.times(u64::from(cycle));
        self.feed(Event::Timer(Timer { cycle }))
    }

    /// Ids and ages, nearest first.
    fn links(&self) -> Vec<(u64, u16)> {
        ids(self.machine().view())
    }
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn ids(descriptors: &[Descriptor<u32>]) -> Vec<(u64, u16)> {
    let pairs = descriptors.iter().map(|peer| (peer.id.get(), peer.age));
    pairs.collect()
}

fn peer(number: u64, age: u16) -> Descriptor<u32> {
    Descriptor {
        id: id(number),
        age,
        version: 0,
        profile: number as u32 * 10,
    }
}

fn request(exchange: u32, descriptors: &[Descriptor<u32>]) -> Message<u32, 3> {
    Message::Request {
        exchange: ExchangeId(exchange),
        descriptors: descriptors.iter().copied().collect(),
    }
}

fn reply(exchange: u32, descriptors: &[Descriptor<u32>]) -> Message<u32, 3> {
    Message::Reply {
        exchange: ExchangeId(exchange),
        descriptors: descriptors.iter().copied().collect(),
    }
}

fn own() -> Descriptor<u32> {
    Descriptor {
        version: 7,
        ..peer(ME, 0)
    }
}

fn wake(cycle: u32) -> Effect<Small> {
    Effect::Wake {
        at: FIRST + CONFIG.period.times(u64::from(cycle)),
        timer: Timer { cycle },
    }
}

fn send(to: u64, message: Message<u32, 3>) -> Effect<Small> {
    Effect::Send {
        to: id(to),
        message,
    }
}

#[test]
fn the_oldest_is_asked_with_the_nearest_to_it_and_is_out_of_the_view() {
    let mut bench = Bench::with(&[(40, 3), (48, 1), (60, 0), (49, 2)]);
    bench.hear_of(&[peer(41, 4), peer(90, 0)]);
    let sent = request(0, &[own(), peer(41, 5), peer(48, 2)]);
    assert_eq!(bench.cycle(0), [wake(1), send(40, sent)]);
    assert_eq!(bench.links(), [(49, 3), (48, 2), (60, 1)]);
    assert_eq!(bench.machine().waits_for(), Some(id(40)));
}

#[test]
fn of_equally_old_links_the_random_choice_decides() {
    let mut bench = Bench::with(&[(40, 3), (48, 3), (60, 3)]);
    bench.cycle(0);
    assert_eq!(
        bench.machine().waits_for(),
        Some(id(48)),
        "the nearest is first"
    );
}

#[test]
fn an_answer_has_what_was_known_before_the_request() {
    let mut bench = Bench::with(&[(40, 3), (48, 1), (60, 0), (49, 2)]);
    bench.hear_of(&[peer(61, 4)]);
    let asked = request(8, &[peer(62, 0), peer(63, 1), peer(51, 2)]);
    let answer = reply(8, &[own(), peer(61, 4), peer(60, 0)]);
    assert_eq!(bench.hear(62, asked), [send(62, answer)]);
    // 40 and 60 are as far, and 61, 62 and 63 are farther.
    let links = bench.links();
    assert_eq!(links[..3], [(49, 2), (51, 2), (48, 1)]);
    assert!(matches!(links[3..], [(40, 3)] | [(60, 0)]), "{links:?}");
}

#[test]
fn an_answer_and_random_peers_are_kept_if_they_are_near_and_the_peer_comes_back() {
    let mut bench = Bench::waiting();
    bench.hear_of(&[peer(47, 6), peer(99, 0)]);
    let answer = reply(0, &[peer(9, 0), peer(51, 8), peer(30, 1)]);
    assert_eq!(bench.hear(9, answer), []);
    assert_eq!(bench.links(), [(51, 8), (48, 1), (47, 6), (40, 1)]);
    assert_eq!(bench.machine().waits_for(), None);

    let mut bench = Bench::waiting();
    bench.hear(9, reply(0, &[peer(9, 0)]));
    assert_eq!(bench.links(), [(48, 1), (40, 1), (9, 0)]);
}

#[test]
fn without_the_feed_random_peers_only_begin_a_view() {
    let mut bench = Bench::with_config(Config {
        feed: Feed::WhenEmpty,
        ..CONFIG
    });
    bench.hear_of(&[peer(40, 0), peer(48, 1)]);
    let sent = request(0, &[own(), peer(40, 1)]);
    assert_eq!(bench.cycle(0), [wake(1), send(48, sent)]);
    bench.hear_of(&[peer(49, 0)]);
    bench.hear(48, reply(0, &[peer(48, 0)]));
    assert_eq!(bench.links(), [(48, 0), (40, 1)]);
    let answer = reply(3, &[own(), peer(40, 1), peer(48, 0)]);
    assert_eq!(bench.hear(3, request(3, &[peer(3, 0)])), [send(3, answer)]);
}

#[test]
fn a_peer_that_does_not_answer_in_time_stays_out() {
    let mut bench = Bench::waiting();
    bench.now = FIRST + Span::from_millis(2_001);
    assert_eq!(bench.hear(9, reply(0, &[peer(9, 0)])), []);
    assert_eq!(bench.links(), [(48, 1), (40, 1)]);
    assert_eq!(bench.machine().waits_for(), None);

    let mut bench = Bench::waiting();
    bench.now = FIRST + Span::from_secs(2);
    bench.hear(9, reply(0, &[peer(9, 0)]));
    assert_eq!(bench.links(), [(48, 1), (40, 1), (9, 0)]);
}

#[test]
fn an_answer_to_nothing_that_was_asked_is_ignored() {
    let mut bench = Bench::waiting();
    let message = reply(0, &[peer(49, 0)]);
    for (from, message) in [
        (8, message.clone()),
        (ME, message.clone()),
        (9, reply(1, &[peer(49, 0)])),
    ] {
        let from = id(from);
        bench.ignores(Event::Message { from, message });
    }
    bench.hear(9, message.clone());
    assert_eq!(bench.links(), [(49, 0), (48, 1), (40, 1)]);
    let from = id(9);
    bench.ignores(Event::Message { from, message });
}

#[test]
fn an_unreachable_peer_is_given_up_and_its_link_removed() {
    let mut bench = Bench::waiting();
    assert_eq!(bench.feed(Event::Unreachable { to: id(9) }), []);
    assert_eq!(bench.machine().waits_for(), None);
    assert_eq!(bench.feed(Event::Unreachable { to: id(40) }), []);
    assert_eq!(bench.links(), [(48, 1)]);
    let from = id(9);
    let message = reply(0, &[peer(9, 0)]);
    bench.ignores(Event::Message { from, message });
}

#[test]
fn others_are_answered_while_an_answer_is_awaited() {
    let mut bench = Bench::waiting();
    let answer = reply(4, &[own(), peer(48, 1), peer(40, 1)]);
    let asked = request(4, &[peer(70, 0)]);
    assert_eq!(bench.hear(70, asked), [send(70, answer)]);
    bench.hear(9, reply(0, &[peer(9, 0)]));
    assert_eq!(bench.links(), [(48, 1), (40, 1), (70, 0), (9, 0)]);
}

#[test]
fn a_request_without_the_askers_own_descriptor_is_ignored() {
    let mut bench = Bench::with(&[(40, 3)]);
    for message in [
        request(0, &[]),
        request(0, &[peer(49, 0)]),
        request(0, &[peer(49, 0), peer(8, 0)]),
    ] {
        let from = id(8);
        bench.ignores(Event::Message { from, message });
    }
    let message = request(0, &[peer(ME, 0)]);
    let from = id(ME);
    bench.ignores(Event::Message { from, message });
}

#[test]
fn hostile_descriptors_change_nothing_that_they_may_not() {
    let config = Config {
        gossip: 2,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config);
    // Too many descriptors, one of the node itself, two of one node, and some that are too old.
    bench.hear(49, request(0, &[peer(49, 0), peer(ME, 0), peer(48, 0)]));
    assert_eq!(bench.links(), [(49, 0)]);
    bench.hear(49, request(0, &[peer(49, 0), peer(49, 3)]));
    assert_eq!(bench.links(), [(49, 0)]);
    bench.hear(49, request(0, &[peer(49, 0), peer(48, u16::MAX)]));
    bench.hear(49, request(0, &[peer(49, 0), peer(48, 10)]));
    assert_eq!(bench.links(), [(49, 0)]);
    bench.hear(49, request(0, &[peer(49, 0), peer(48, 9)]));
    assert_eq!(bench.links(), [(49, 0), (48, 9)]);
}

#[test]
fn of_two_profiles_the_later_counts_and_of_one_profile_the_younger_descriptor() {
    let mut bench = Bench::with(&[(49, 4)]);
    let said = |age, version, profile| Descriptor {
        id: id(49),
        age,
        version,
        profile,
    };
    let known = |bench: &Bench| bench.machine().view()[0];
    bench.hear(8, request(0, &[peer(8, 0), said(8, 3, 520)]));
    assert_eq!(known(&bench), said(8, 3, 520), "later, though older");
    bench.hear(8, request(0, &[peer(8, 0), said(0, 2, 510)]));
    assert_eq!(known(&bench), said(8, 3, 520), "a profile never goes back");
    bench.hear(8, request(0, &[peer(8, 0), said(1, 3, 530)]));
    assert_eq!(known(&bench), said(1, 3, 530), "younger");
    bench.hear(8, request(0, &[peer(8, 0), said(1, 3, 540)]));
    assert_eq!(known(&bench), said(1, 3, 530), "no news");
}

#[test]
fn descriptors_that_are_too_old_are_dropped_from_both_layers() {
    let mut bench = Bench::with(&[(40, 9), (48, 7)]);
    bench.hear_of(&[peer(41, 9), peer(42, 8), peer(43, 10)]);
    assert_eq!(ids(bench.machine().random()), [(41, 9), (42, 8)]);
    let sent = request(0, &[own(), peer(42, 9)]);
    assert_eq!(bench.cycle(0), [wake(1), send(48, sent)]);
    assert_eq!(bench.links(), []);
    assert_eq!(ids(bench.machine().random()), [(42, 9)]);
}

#[test]
fn random_peers_are_sorted_and_each_is_kept_once() {
    let mut bench = Bench::with(&[]);
    let newer = Descriptor {
        version: 1,
        ..peer(42, 5)
    };
    bench.hear_of(&[peer(60, 1), peer(42, 0), newer, peer(ME, 0)]);
    assert_eq!(bench.machine().random(), [newer, peer(60, 1)]);
    assert_eq!(bench.machine().descriptor(id(42)), Some(&newer));
    bench.hear_of(&[peer(60, 1), peer(60, 0), peer(7, 0)]);
    assert_eq!(bench.machine().random(), [peer(7, 0), peer(60, 0)]);
    assert_eq!(
        bench.links(),
        [],
        "they are looked at when something is kept"
    );
}

#[test]
fn without_any_known_peer_a_cycle_sends_nothing() {
    let mut bench = Bench::with(&[]);
    assert_eq!(bench.cycle(0), [wake(1)]);
    assert_eq!(bench.cycle(1), [wake(2)]);
    let answer = reply(3, &[own()]);
    assert_eq!(bench.hear(3, request(3, &[peer(3, 0)])), [send(3, answer)]);
    assert_eq!(bench.links(), [(3, 0)]);
}

#[test]
fn a_new_profile_brings_the_view_in_order_at_once() {
    let mut bench = Bench::with(&[(40, 0), (48, 0), (55, 0), (56, 0)]);
    bench.hear_of(&[peer(39, 2)]);
    let profile = 400;
    assert_eq!(
        bench.obey(Command::Profile {
            profile,
            version: 8
        }),
        []
    );
    assert_eq!(bench.links(), [(40, 0), (39, 2), (48, 0), (55, 0)]);
    assert_eq!(
        (bench.machine().profile(), bench.machine().version()),
        (&400, 8)
    );
    for version in [8, 7, 0] {
        let profile = 600;
        bench.ignores(Event::Command(Command::Profile { profile, version }));
    }
}

#[test]
fn an_early_timer_is_set_again_and_other_cycles_timers_do_nothing() {
    let mut bench = Bench::with(&[(40, 0)]);
    bench.ignores(Event::Timer(Timer { cycle: 1 }));
    bench.now = Time::from_secs(100);
    assert_eq!(bench.feed(Event::Timer(Timer { cycle: 0 })), [wake(0)]);
    bench.cycle(0);
    bench.ignores(Event::Timer(Timer { cycle: 0 }));
    bench.ignores(Event::Start);
}

#[test]
fn the_next_cycle_ends_an_exchange_that_was_not_answered() {
    let mut bench = Bench::waiting();
    bench.hear(60, request(0, &[peer(60, 6)]));
    let sent = request(1, &[own(), peer(48, 2), peer(40, 2)]);
    assert_eq!(bench.cycle(1), [wake(2), send(60, sent)]);
    let from = id(9);
    let message = reply(0, &[peer(9, 0)]);
    bench.ignores(Event::Message { from, message });
}

#[test]
fn a_leaver_sends_nothing_and_forgets_all_peers() {
    let mut bench = Bench::waiting();
    bench.hear_of(&[peer(41, 0)]);
    let cancelled = Effect::Cancel(Timer { cycle: 1 });
    assert_eq!(bench.obey(Command::Leave), [cancelled]);
    assert_eq!((bench.links(), bench.machine().random()), (vec![], &[][..]));
    let from = id(9);
    for message in [reply(0, &[peer(9, 0)]), request(0, &[peer(9, 0)])] {
        bench.ignores(Event::Message { from, message });
    }
    bench.ignores(Event::Timer(Timer { cycle: 1 }));
    bench.ignores(Event::Start);
    let random = [peer(9, 0)].into_iter().collect();
    bench.ignores(Event::Command(Command::Random(random)));
    bench.ignores(Event::Command(Command::Leave));
}

#[test]
fn before_its_start_a_node_sends_nothing_but_takes_random_peers() {
    let build = || Small::new(id(ME), CONFIG, Line, 500, 7).unwrap();
    let mut bench = Bench::new(Time::from_secs(100), build);
    let from = id(9);
    let message = request(0, &[peer(9, 0)]);
    bench.ignores(Event::Message { from, message });
    bench.hear_of(&[peer(41, 0)]);
    assert_eq!(bench.machine().random(), [peer(41, 0)]);
    assert_eq!(bench.feed(Event::Start), [wake(0)]);
}

#[test]
fn ties_are_broken_alike_for_one_target_but_not_alike_for_all() {
    let same: Vec<Descriptor<u32>> = (1..=8)
        .map(|number| Descriptor {
            profile: 0,
            ..peer(number, 0)
        })
        .collect();
    let mut reversed = same.clone();
    reversed.reverse();
    let near = |target: u64, pool: &[Descriptor<u32>]| {
        let target = Target {
            id: id(target),
            profile: &0,
        };
        ids(&nearest::<_, _, 4>(&Line, target, &[pool], 4))
    };
    assert_eq!(near(100, &same), near(100, &reversed));
    assert_ne!(near(100, &same), near(101, &same));
}

#[test]
fn nodes_are_near_if_the_delay_is_short_or_if_they_are_free_at_the_same_time() {
    let at = |x, height| {
        let coordinate = Coordinate::at([x, 0, 0]).raised(Span::from_micros(height));
        Profile::at(coordinate)
    };
    let rank = Proximity.rank(&at(100, 5), &at(40, 7));
    assert_eq!(rank, Span::from_micros(72));

    let free = |from, until| {
        let (from, until) = (Time::from_secs(from), Time::from_secs(until));
        Profile {
            free: Interval::new(from, until).unwrap(),
            ..Profile::default()
        }
    };
    let rank = |other| FirstFree.rank(&free(10, 20), &other);
    let overlap = |secs, start| (Reverse(Span::from_secs(secs)), Time::from_secs(start));
    assert_eq!(rank(free(12, 18)), overlap(6, 12));
    assert_eq!(rank(free(20, 30)), overlap(0, 20));
    assert!(rank(free(0, 19)) < rank(free(12, 20)));
    assert!(
        rank(free(5, 15)) < rank(free(15, 20)),
        "of equals, the earlier"
    );
}

#[test]
fn check_finds_a_random_peer_that_is_there_twice() {
    let mut bench = Bench::with(&[]);
    bench.machine_mut().random = [peer(1, 0), peer(2, 0)].into_iter().collect();
    assert_eq!(bench.machine().check(), Ok(()));
    bench.machine_mut().random = [peer(1, 0), peer(1, 0)].into_iter().collect();
    assert!(bench.machine().check().is_err());
}
