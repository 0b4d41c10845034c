//! One node, one event at a time, and all of its effects.

use core::mem;
use std::vec;
use std::vec::Vec;

use super::super::*;
use crate::machine::{Driver, Effect};

type Effects = Vec<Effect<Blatant>>;

const ME: u64 = 50;
const BORN: Incarnation = Incarnation::new(0);
const CONFIG: Config = Config {
    birth: 0,
    period: Span::from_secs(256),
    timeout: Span::from_secs(300),
    remember: 1000,
    ..Config::DEFAULT
};
/// When a node that starts at 100 s has its first iteration: a 256th of a period later.
const FIRST: Time = Time::from_secs(101);

type Bench = Driver<Blatant>;

impl Bench {
    fn unborn(config: Config) -> Self {
        let build = move || Blatant::new(id(ME), config).unwrap();
        Self::new(Time::from_secs(100), build)
    }

    /// A started node with these neighbours, each with the neighbour list that it told.
    fn with_config(config: Config, links: &[(u64, &[u64])]) -> Self {
        let mut bench = Self::unborn(config);
        bench.feed(Event::Start);
        for (peer, around) in links {
            let around = Some(record(*peer, 1, around));
            let link = Neighbour::new(id(*peer), Purpose::Construction, around);
            assert!(bench.machine_mut().neighbours.insert(link));
        }
        bench
    }

    fn with(links: &[(u64, &[u64])]) -> Self {
        Self::with_config(CONFIG, links)
    }

    /// The time of this iteration comes.
    fn iterate(&mut self, iteration: u32) -> Effects {
        self.now = FIRST + CONFIG.period.times(u64::from(iteration));
        self.feed(Event::Timer(Timer { iteration }))
    }

    /// Lets the pheromone on a link fade to this part, in thousandths.
    fn decay(&mut self, peer: u64, left: u16) {
        let neighbour = self.machine_mut().neighbours.get_mut(id(peer));
        neighbour.expect("it is linked").decay(left);
    }

    fn neighbours(&self) -> Vec<u64> {
        self.machine().neighbours().map(NodeId::get).collect()
    }
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn nodes(list: &[u64]) -> Nodes {
    list.iter().map(|number| id(*number)).collect()
}

fn record(node: u64, version: u32, neighbours: &[u64]) -> Neighbourhood {
    Neighbourhood {
        node: id(node),
        incarnation: BORN,
        version,
        neighbours: nodes(neighbours),
    }
}

fn own(version: u32, neighbours: &[u64]) -> Neighbourhood {
    record(ME, version, neighbours)
}

fn change(serial: u32) -> ChangeId {
    ChangeId {
        incarnation: BORN,
        serial,
    }
}

fn send(to: u64, message: Message) -> Effect<Blatant> {
    let to = id(to);
    Effect::Send { to, message }
}

fn update(to: u64, version: u32, neighbours: &[u64]) -> Effect<Blatant> {
    send(to, Message::Update(own(version, neighbours)))
}

fn wake(iteration: u32) -> Effect<Blatant> {
    let at = FIRST + CONFIG.period.times(u64::from(iteration));
    let timer = Timer { iteration };
    Effect::Wake { at, timer }
}

fn entered(peer: u64) -> Effect<Blatant> {
    let peer = id(peer);
    Effect::Notify(Notice::Entered { peer })
}

fn left(peer: u64) -> Effect<Blatant> {
    let peer = id(peer);
    Effect::Notify(Notice::Left { peer })
}

fn knows(peers: &[u64]) -> Effect<Blatant> {
    let known = peers.iter().map(|peer| id(*peer)).collect();
    Effect::Persist(Key::Known, Record::Known(known))
}

fn link(serial: u32, purpose: Purpose, detours: u8, around: Vec<Neighbourhood>) -> Message {
    Message::Link {
        change: change(serial),
        purpose,
        detours,
        around,
    }
}

fn construct(serial: u32, detours: u8, around: Vec<Neighbourhood>) -> Message {
    link(serial, Purpose::Construction, detours, around)
}

fn optimise(around: Vec<Neighbourhood>) -> Message {
    link(9, Purpose::Optimisation, 0, around)
}

fn linked(serial: u32, own: Neighbourhood) -> Message {
    Message::Linked {
        change: change(serial),
        own,
    }
}

fn refused(serial: u32, instead: Option<u64>, around: Vec<Neighbourhood>) -> Message {
    Message::Refused {
        change: change(serial),
        instead: instead.map(id),
        around,
    }
}

fn unlink(serial: u32, way: &[u64]) -> Message {
    Message::Unlink {
        change: change(serial),
        way: nodes(way),
    }
}

fn kept(to: u64, serial: u32) -> Effect<Blatant> {
    let change = change(serial);
    send(to, Message::Kept { change })
}

fn ant(left: u8, visited: Vec<Neighbourhood>) -> Message {
    Message::Ant { left, visited }
}

#[test]
fn a_start_writes_down_its_life_and_waits_for_a_part_of_the_period() {
    let mut bench = Bench::unborn(CONFIG);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(BORN));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    bench.ignores(Event::Start);
    bench.ignores(Event::Timer(Timer { iteration: 1 }));
    let early = bench.feed(Event::Timer(Timer { iteration: 0 }));
    assert_eq!(early, [wake(0)]);
}

#[test]
fn an_ant_is_sent_where_the_least_pheromone_is() {
    let config = Config {
        birth: 1000,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME])]);
    bench.decay(2, 900);
    let sent = send(2, ant(24, vec![own(0, &[1, 2])]));
    assert_eq!(bench.iterate(0), [wake(1), knows(&[1, 2]), sent]);
}

#[test]
fn an_ant_teaches_and_goes_on_to_a_node_that_it_has_not_visited() {
    let mut bench = Bench::with(&[(1, &[7, ME]), (2, &[ME])]);
    bench.decay(1, 100);
    let visited = vec![record(7, 0, &[1, 8]), record(1, 1, &[7, ME])];
    let mut more = visited.clone();
    more.push(own(0, &[1, 2]));
    let effects = bench.hear(1, ant(5, visited.clone()));
    assert_eq!(effects, [send(2, ant(4, more))]);
    let distances = [1, 7, 8, 9].map(|node| bench.machine().distance(id(node)));
    assert_eq!(distances, [Some(1), Some(2), Some(3), None]);
    assert_eq!(bench.hear(1, ant(0, visited.clone())), [], "it dies here");
    // An ant carries few records, and a forged lifespan is cut.
    let many = (100..130).map(|node| record(node, 0, &[1]));
    let many: Vec<_> = many.chain(visited.into_iter().skip(1)).collect();
    let effects = bench.hear(1, ant(255, many));
    let [Effect::Send { to, message }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let Message::Ant { left, visited } = message else {
        panic!("{message:?}")
    };
    assert_eq!((*to, *left, visited.len()), (id(2), 24, 15));
    assert_eq!(visited.last(), Some(&own(0, &[1, 2])));
}

#[test]
fn strangers_are_told_that_there_is_no_link() {
    let mut bench = Bench::with(&[(1, &[ME])]);
    let before = bench.machine().clone();
    let theirs = record(9, 0, &[ME]);
    let not_linked = [send(9, Message::NotLinked)];
    assert_eq!(bench.hear(9, ant(5, vec![theirs.clone()])), not_linked);
    assert_eq!(bench.hear(9, Message::Update(theirs.clone())), not_linked);
    assert_eq!(bench.hear(9, Message::Ping(theirs)), not_linked);
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_neighbour_that_does_not_list_this_node_is_dropped() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    // A list that is not newer may have been overtaken.
    bench.hear(1, Message::Update(record(1, 1, &[])));
    assert_eq!(bench.neighbours(), [1, 2]);
    let effects = bench.hear(1, Message::Ping(record(1, 2, &[3])));
    assert_eq!(effects, [left(1), update(2, 1, &[2])]);
    let effects = bench.hear(2, Message::Ping(record(2, 2, &[3, ME])));
    assert_eq!(effects, [send(2, Message::Pong(own(1, &[2])))]);
    assert_eq!(bench.hear(2, Message::NotLinked), [left(2)]);
}

#[test]
fn a_silent_neighbour_is_pinged_and_removed_and_the_gap_closed() {
    let mut bench = Bench::with(&[(1, &[3, ME, 60]), (2, &[ME])]);
    bench.decay(1, 0);
    let ping = send(1, Message::Ping(own(0, &[1, 2])));
    let first = [wake(1), knows(&[1, 2]), ping.clone()];
    assert_eq!(bench.iterate(0), first);
    assert_eq!(bench.iterate(1), [wake(2), ping.clone()]);
    assert_eq!(bench.iterate(2), [wake(3), ping]);
    // The neighbours of 1 form a ring: 3, 50, 60. First 60 is asked, and 3 when 60 does not answer.
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [
        wake(4),
        left(1),
        update(2, 1, &[2]),
        send(60, construct(1, 0, around.clone())),
    ];
    assert_eq!(bench.iterate(3), expected);
    assert_eq!(bench.iterate(4), [wake(5)]);
    let expected = [wake(6), send(3, construct(2, 0, around))];
    assert_eq!(bench.iterate(5), expected);
    let both = [2, 3];
    let expected = [entered(3), update(2, 2, &both), update(3, 2, &both)];
    assert_eq!(bench.hear(3, linked(2, record(3, 7, &[ME]))), expected);
    assert_eq!(bench.iterate(6), [wake(7)]);
}

#[test]
fn an_unreachable_neighbour_is_removed_at_once() {
    let mut bench = Bench::with(&[(1, &[3, ME]), (2, &[ME])]);
    let effects = bench.feed(Event::Unreachable { to: id(1) });
    assert_eq!(effects, [left(1), update(2, 1, &[2])]);
    bench.ignores(Event::Unreachable { to: id(1) });
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [wake(1), knows(&[2, 1]), send(3, construct(1, 0, around))];
    assert_eq!(bench.iterate(0), expected);
}

#[test]
fn a_node_joins_through_its_introducer_or_a_node_that_it_names() {
    let mut bench = Bench::with(&[]);
    let alone = vec![own(0, &[])];
    let join = Command::Join { introducer: id(7) };
    let expected = [knows(&[7]), send(7, construct(1, 4, alone.clone()))];
    assert_eq!(bench.obey(join), expected);
    bench.ignores(Event::Message {
        from: id(8),
        message: refused(1, Some(9), vec![]),
    });
    let effects = bench.hear(7, refused(1, Some(8), vec![]));
    assert_eq!(effects, [send(8, construct(2, 3, alone))]);
    // The answer of 7 is late: 7 is not asked any more.
    let effects = bench.hear(7, linked(1, record(7, 1, &[ME])));
    assert_eq!(effects, [send(7, Message::NotLinked)]);
    let effects = bench.hear(8, linked(2, record(8, 1, &[ME])));
    assert_eq!(effects, [entered(8), update(8, 1, &[8])]);
}

#[test]
fn a_node_without_an_answer_asks_again() {
    let mut bench = Bench::with(&[]);
    let alone = vec![own(0, &[])];
    bench.obey(Command::Join { introducer: id(7) });
    assert_eq!(bench.iterate(0), [wake(1)]);
    assert_eq!(bench.iterate(1), [wake(2)]);
    let expected = [wake(3), send(7, construct(2, 4, alone))];
    assert_eq!(bench.iterate(2), expected);
    // Not forever: later it is only one of the contacts that a node without links asks.
    let asked = |effects: Effects| effects.len() > 1;
    let times = (3..100).filter(|iteration| asked(bench.iterate(*iteration)));
    let times: Vec<u32> = times.collect();
    assert_eq!(times[..2], [4, 6]);
    assert!(
        times.windows(2).skip(2).all(|two| two[1] - two[0] >= 3),
        "{times:?}"
    );
}

#[test]
fn a_restarted_node_asks_its_contacts_in_its_next_life() {
    let mut bench = Bench::unborn(CONFIG);
    let known = Record::Known([id(7), id(ME)].into_iter().collect());
    let life = Record::Incarnation(Incarnation::new(4));
    bench.feed(Event::Restored(Key::Known, known));
    bench.feed(Event::Restored(Key::Incarnation, life));
    let incarnation = Incarnation::new(5);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(incarnation));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    assert_eq!(bench.machine().known(), [id(7)]);
    let serial = 1;
    let message = Message::Link {
        change: ChangeId {
            incarnation,
            serial,
        },
        purpose: Purpose::Construction,
        detours: 4,
        around: vec![Neighbourhood {
            incarnation,
            ..own(0, &[])
        }],
    };
    assert_eq!(bench.iterate(0), [wake(1), send(7, message)]);
    // It is the only contact, and may be gone for good.
    assert_eq!(bench.feed(Event::Unreachable { to: id(7) }), []);
    let alone = Effect::Notify(Notice::Alone);
    assert_eq!(bench.iterate(1), [wake(2), alone.clone()]);
    let mut lonely = Bench::with(&[]);
    assert_eq!(lonely.iterate(0), [wake(1), alone]);
}

#[test]
fn a_far_node_gets_a_link_if_there_is_room() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let all = [1, 2, 70];
    let expected = [
        entered(70),
        send(70, linked(9, own(1, &all))),
        update(1, 1, &all),
        update(2, 1, &all),
    ];
    let request = optimise(vec![record(70, 3, &[71])]);
    assert_eq!(bench.hear(70, request.clone()), expected);
    assert_eq!(bench.machine().links()[2].purpose, Purpose::Optimisation);
    // An asker that asks again has not received the answer.
    let effects = bench.hear(70, request.clone());
    assert_eq!(effects[0], send(70, linked(9, own(1, &all))));
    let full = Config {
        optimising: 0,
        ..CONFIG
    };
    let mut bench = Bench::with_config(full, &[(1, &[ME]), (2, &[ME])]);
    let no = [send(70, refused(9, None, vec![]))];
    assert_eq!(bench.hear(70, request.clone()), no);
    // A sender whose first record is not its own is a liar.
    assert_eq!(bench.hear(71, request), []);
}

#[test]
fn a_near_node_is_refused_and_shown_the_way() {
    let mut bench = Bench::with(&[(1, &[ME, 70]), (2, &[ME])]);
    let theirs = record(70, 3, &[1]);
    let way = vec![own(0, &[1, 2]), record(1, 1, &[ME, 70]), theirs.clone()];
    let expected = [send(70, refused(9, None, way))];
    assert_eq!(bench.hear(70, optimise(vec![theirs])), expected);
    assert_eq!(bench.neighbours(), [1, 2]);
}

#[test]
fn a_node_that_seems_far_long_enough_is_asked_for_a_link() {
    // A line: 50, 1, 10, 11, ... 18.
    let mut bench = Bench::with(&[(1, &[10, ME]), (2, &[ME])]);
    let line: Vec<_> = (10..17)
        .map(|node| record(node, 0, &[if node == 10 { 1 } else { node - 1 }, node + 1]))
        .collect();
    let mut asked = None;
    for iteration in 0..60 {
        for record in &line {
            bench.machine_mut().learn(record);
        }
        bench.hear(1, Message::Update(record(1, 1, &[10, ME])));
        bench.hear(2, Message::Update(record(2, 1, &[ME])));
        let effects = bench.iterate(iteration);
        let sends = effects
            .iter()
            .find(|it| matches!(it, Effect::Send { .. }))
            .cloned();
        if let Some(sent) = sends {
            asked = Some((iteration, sent));
            break;
        }
    }
    let around = vec![
        own(0, &[1, 2]),
        record(1, 1, &[10, ME]),
        record(2, 1, &[ME]),
    ];
    // 17 is nine links away; it was seen first in the first iteration.
    let link = link(1, Purpose::Optimisation, 0, around);
    assert_eq!(asked, Some((40, send(17, link))));
}

#[test]
fn a_full_node_sends_a_joiner_on_while_it_has_detours_left() {
    let full = Config {
        links: 2,
        optimising: 1,
        ..CONFIG
    };
    let mut bench = Bench::with_config(full, &[(1, &[ME]), (2, &[ME])]);
    let theirs = vec![record(70, 0, &[])];
    let effects = bench.hear(70, construct(3, 1, theirs.clone()));
    assert_eq!(effects, [send(70, refused(3, Some(1), vec![]))]);
    let effects = bench.hear(70, construct(3, 0, theirs));
    assert_eq!(effects[0], entered(70));
    assert_eq!(bench.neighbours(), [1, 2, 70]);
    for peer in 100..200 {
        bench.hear(peer, construct(0, 0, vec![record(peer, 0, &[])]));
    }
    assert_eq!(bench.neighbours().len(), MOST_LINKS);
    // A full node with an optimising link accepts the joiner at once: it can drop that link.
    let mut bench = Bench::with_config(full, &[(1, &[ME])]);
    let around = Some(record(2, 1, &[ME]));
    let shorter = Neighbour::new(id(2), Purpose::Optimisation, around);
    assert!(bench.machine_mut().neighbours.insert(shorter));
    let effects = bench.hear(70, construct(3, 1, vec![record(70, 0, &[])]));
    assert_eq!(effects[0], entered(70));
}

#[test]
fn a_link_with_a_short_way_around_is_ended_from_its_lower_end() {
    let links: [(u64, &[u64]); 3] = [(1, &[ME, 61]), (2, &[3, ME]), (60, &[ME, 61, 62])];
    let mut bench = Bench::with(&links);
    let ant = send(1, unlink(1, &[ME, 1, 61, 60]));
    let expected = [wake(1), knows(&[1, 2, 60]), ant];
    assert_eq!(bench.iterate(0), expected);
    // Meanwhile no other change may rely on the link, and the first link of the way around is held.
    let through = unlink(5, &[8, 1, ME, 60]);
    assert_eq!(bench.hear(1, through), [kept(8, 5)]);
    let now = bench.now;
    assert!(bench.machine().neighbours.get(id(1)).unwrap().is_held(now));
    let expected = [left(60), update(1, 1, &[1, 2]), update(2, 1, &[1, 2])];
    let mut other = bench.machine().clone();
    assert_eq!(bench.hear(60, Message::NotLinked), expected);
    assert!(bench.machine().is_idle());
    // Or the link is kept.
    mem::swap(bench.machine_mut(), &mut other);
    let change = change(1);
    assert_eq!(bench.hear(61, Message::Kept { change }), []);
    assert!(bench.machine().is_idle());
    assert_eq!(bench.neighbours(), [1, 2, 60]);
    // The end with the higher id does nothing.
    let mut bench = Bench::with(&[(1, &[ME, 11, 61]), (2, &[3, ME]), (10, &[ME, 11])]);
    assert_eq!(bench.iterate(0).len(), 2);
}

#[test]
fn an_ant_that_ends_a_link_goes_on_only_along_links_that_are_there() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let way = unlink(5, &[8, 1, ME, 2, 7]);
    assert_eq!(bench.hear(1, way.clone()), [send(2, way.clone())]);
    let now = bench.now;
    for peer in [1, 2] {
        assert!(
            bench
                .machine()
                .neighbours
                .get(id(peer))
                .unwrap()
                .is_held(now)
        );
    }
    assert_eq!(bench.hear(2, way.clone()), [kept(8, 5)]);
    assert_eq!(bench.hear(3, way), [kept(8, 5)]);
    let effects = bench.hear(1, unlink(5, &[8, 1, ME, 3, 7]));
    assert_eq!(effects, [kept(8, 5)]);
    for nonsense in [&[][..], &[ME], &[ME, 1], &[1, 2]] {
        bench.ignores(Event::Message {
            from: id(1),
            message: unlink(5, nonsense),
        });
    }
}

#[test]
fn the_other_end_drops_the_link_when_the_ant_arrives() {
    let links: [(u64, &[u64]); 3] = [(1, &[ME]), (2, &[ME]), (3, &[ME])];
    let way = unlink(5, &[3, 9, 1, ME]);
    let mut bench = Bench::with(&links);
    let expected = [
        left(3),
        send(3, Message::NotLinked),
        update(1, 1, &[1, 2]),
        update(2, 1, &[1, 2]),
    ];
    assert_eq!(bench.hear(1, way.clone()), expected);
    // It keeps the link if it has only two, if another change relies on it, or if the way is no way around.
    let mut bench = Bench::with(&[(1, &[ME]), (3, &[ME])]);
    assert_eq!(bench.hear(1, way.clone()), [kept(3, 5)]);
    let mut bench = Bench::with(&links);
    bench.hear(2, unlink(6, &[8, 2, ME, 3]));
    assert_eq!(bench.hear(1, way), [kept(3, 5)]);
    let mut bench = Bench::with(&links);
    assert_eq!(bench.hear(3, unlink(5, &[3, ME])), [kept(3, 5)]);
    assert_eq!(bench.neighbours(), [1, 2, 3]);
}

#[test]
fn a_leaver_tells_its_neighbours_and_they_close_the_gap() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let leaving = Message::Leaving(own(0, &[1, 2]));
    let expected = [
        send(1, leaving.clone()),
        send(2, leaving),
        left(1),
        left(2),
        Effect::Cancel(Timer { iteration: 0 }),
    ];
    assert_eq!(bench.obey(Command::Leave), expected);
    bench.ignores(Event::Command(Command::Leave));
    bench.ignores(Event::Command(Command::Meet(id(1))));
    bench.ignores(Event::Timer(Timer { iteration: 0 }));
    bench.ignores(Event::Message {
        from: id(1),
        message: Message::Ping(record(1, 2, &[ME])),
    });

    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let message = Message::Leaving(record(1, 5, &[3, ME, 60]));
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [
        left(1),
        update(2, 1, &[2]),
        send(60, construct(1, 0, around)),
    ];
    assert_eq!(bench.hear(1, message), expected);
}

#[test]
fn a_leaver_forgets_its_contacts_on_disk() {
    let mut bench = Bench::unborn(CONFIG);
    let known = nodes(&[1]).into_iter().collect();
    bench.feed(Event::Restored(Key::Known, Record::Known(known)));
    bench.feed(Event::Start);
    let did = bench.obey(Command::Leave);
    assert!(did.contains(&Effect::Forget(Key::Known)), "{did:?}");
}

#[test]
fn a_liars_neighbour_list_is_sorted_and_freed_of_duplicates() {
    let tidied = |neighbours| record(1, 0, neighbours).tidied().neighbours;
    assert_eq!(tidied(&[3, 1, 2, 3, 2]), nodes(&[2, 3]));
}

#[test]
fn a_host_lays_out_links_by_hand() {
    let mut bench = Bench::with(&[]);
    assert_eq!(bench.obey(Command::Meet(id(7))), [entered(7)]);
    bench.ignores(Event::Command(Command::Meet(id(7))));
    bench.ignores(Event::Command(Command::Meet(id(ME))));
    assert_eq!(bench.neighbours(), [7]);
}

#[test]
fn whatever_comes_in_breaks_nothing_and_makes_nothing_grow() {
    use rand::SeedableRng;
    let mut rng = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(11);
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME]), (3, &[ME])]);
    let (mut iteration, mut most_links) = (0, 0);
    for _ in 0..30_000 {
        let some = |rng: &mut rand::rngs::Xoshiro256PlusPlus| match rng.below(8) {
            0 => id(ME),
            _ => id(u64::from(rng.below(14))),
        };
        let list = |rng: &mut rand::rngs::Xoshiro256PlusPlus| -> Nodes {
            (0..rng.below(17)).map(|_| some(rng)).collect()
        };
        let hood = |rng: &mut rand::rngs::Xoshiro256PlusPlus, node: NodeId| Neighbourhood {
            node,
            incarnation: Incarnation::new(rng.below(2)),
            version: [0, 1, 2, u32::MAX][rng.index(4)],
            neighbours: list(rng),
        };
        let from = some(&mut rng);
        let around = |rng: &mut rand::rngs::Xoshiro256PlusPlus| -> Vec<Neighbourhood> {
            let mut around: Vec<_> = (0..rng.below(60))
                .map(|_| {
                    let node = some(rng);
                    hood(rng, node)
                })
                .collect();
            let theirs = hood(rng, from);
            match rng.below(3) {
                0 => around.push(theirs),
                1 => around.insert(0, theirs),
                _ => {}
            }
            around
        };
        let change = change(rng.below(400));
        let purpose = [Purpose::Construction, Purpose::Optimisation][rng.index(2)];
        let message = match rng.below(13) {
            0 => ant(rng.below(256) as u8, around(&mut rng)),
            1 => Message::Update(hood(&mut rng, from)),
            2 => Message::Ping(hood(&mut rng, from)),
            3 => Message::Pong(hood(&mut rng, from)),
            4 => Message::Link {
                change,
                purpose,
                detours: rng.below(256) as u8,
                around: around(&mut rng),
            },
            5 => Message::Linked {
                change,
                own: hood(&mut rng, from),
            },
            6 => Message::Refused {
                change,
                instead: Some(some(&mut rng)),
                around: around(&mut rng),
            },
            7 => Message::Unlink {
                change,
                way: list(&mut rng),
            },
            8 => Message::Kept { change },
            9 => Message::NotLinked,
            10 => Message::Leaving(hood(&mut rng, from)),
            _ => {
                bench.now += CONFIG.period;
                bench.feed(Event::Timer(Timer { iteration }));
                iteration += 1;
                continue;
            }
        };
        let effects = bench.feed(Event::Message { from, message });
        assert!(effects.len() <= 3 * MOST_LINKS + 8, "{}", effects.len());
        for effect in &effects {
            if let Effect::Send { message, .. } = effect {
                let (Message::Ant {
                    visited: records, ..
                }
                | Message::Link {
                    around: records, ..
                }
                | Message::Refused {
                    around: records, ..
                }) = message
                else {
                    continue;
                };
                assert!(records.len() <= MOST_RECORDS);
            }
        }
        most_links = most_links.max(bench.neighbours().len());
    }
    assert!(most_links > 3, "it had more links than it began with");
}

#[test]
fn check_names_what_is_broken() {
    let broken = |node: &Blatant| node.check().unwrap_err().invariant;
    let mut bench = Bench::with(&[(1, &[ME])]);
    bench.machine_mut().alpha.learn(record(1, 0, &[]), 0);
    let expected = "the table is about others than the node and its neighbours";
    assert_eq!(broken(bench.machine()), expected);
    let mut bench = Bench::with(&[]);
    bench.machine_mut().contacts.miss(id(ME));
    let expected = "a node does not count on itself for help";
    assert_eq!(broken(bench.machine()), expected);
    let mut bench = Bench::with(&[(1, &[ME])]);
    bench.machine_mut().life = Life::Left { incarnation: BORN };
    assert_eq!(broken(bench.machine()), "a stopped node has no links");
}

#[cfg(feature = "serde")]
#[test]
fn messages_survive_their_encoding_and_too_many_records_do_not() {
    let some = record(u64::MAX, u32::MAX, &[1, 2, u64::MAX]);
    let messages = [
        ant(25, vec![some.clone(), own(0, &[])]),
        Message::Update(some.clone()),
        Message::Ping(some.clone()),
        Message::Pong(some.clone()),
        construct(1, 2, vec![some.clone()]),
        linked(3, some.clone()),
        refused(4, Some(5), vec![some.clone()]),
        unlink(6, &[7, 8, 9]),
        Message::Kept { change: change(7) },
        Message::NotLinked,
        Message::Leaving(some.clone()),
    ];
    for message in messages {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
    let long = ant(25, vec![some; MOST_RECORDS + 1]);
    let bytes = postcard::to_allocvec(&long).unwrap();
    assert!(postcard::from_bytes::<Message>(&bytes).is_err());
    let record = Record::Known([id(1), id(2)].into_iter().collect());
    let bytes = postcard::to_allocvec(&record).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(record));
}

#[test]
fn check_finds_a_gap_without_candidates() {
    let mut bench = Bench::with(&[]);
    let Life::Running(running) = &mut bench.machine_mut().life else {
        panic!("it does not run")
    };
    running.gaps.push(Nodes::new());
    assert!(bench.machine().check().is_err());
}

#[test]
fn a_node_without_neighbours_asks_both_contacts_and_candidates_for_gaps() {
    let mut bench = Bench::with(&[(1, &[2, 3, ME])]);
    bench.machine_mut().contacts.note([id(9)]);
    bench.feed(Event::Unreachable { to: id(1) });
    assert_eq!(bench.neighbours(), [0; 0]);
    let effects: Effects = (0..8).flat_map(|at| bench.iterate(at)).collect();
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::Send { to, message } => {
            assert!(matches!(message, Message::Link { .. }), "{message:?}");
            Some(to.get())
        }
        _ => None,
    });
    // The last request goes to the first of the peers that did not answer.
    assert_eq!(asked.collect::<Vec<_>>(), [9, 2, 3, 3]);
}

#[test]
fn an_unseen_introducer_is_asked_again_soon_after_silence_and_seldom_after_an_answer() {
    let config = Config {
        remember: 4,
        sighted: 10,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME])]);
    bench.obey(Command::Join { introducer: id(9) });
    let mut asked = Vec::new();
    for at in 0..110 {
        for effect in bench.iterate(at) {
            let Effect::Send { to, message } = effect else {
                continue;
            };
            // The neighbours answer all the time.
            if let Message::Ping(_) = message {
                let around = record(to.get(), at, &[ME]);
                bench.hear(to.get(), Message::Pong(around));
            }
            if let (9, Message::Link { change, .. }) = (to.get(), message) {
                asked.push(at);
                // The introducer is silent at first. Later it refuses: the two are in one overlay.
                if at > 30 {
                    let refused = Message::Refused {
                        change,
                        instead: None,
                        around: vec![],
                    };
                    bench.hear(9, refused);
                }
            }
        }
    }
    // The first three belong to the join. Then it waits four iterations after each silence, and ten, twenty, forty
    // after the answers.
    assert_eq!(asked, [2, 4, 6, 12, 18, 24, 30, 36, 46, 66, 106]);
}

#[test]
fn a_missed_peer_that_refuses_is_not_asked_again_before_the_others() {
    let mut bench = Bench::with(&[(1, &[2]), (2, &[1])]);
    let due = |bench: &Bench| bench.machine().contacts.missed_due(7, |_| true);
    for peer in [8, 9] {
        bench.machine_mut().contacts.miss(id(peer));
    }
    let asks = |effects: &Effects, peer| {
        let asks = |effect: &Effect<Blatant>| matches!(effect, Effect::Send { to, message: Message::Link { .. } } if *to == id(peer));
        effects.iter().any(asks)
    };
    let asked = (0..9).find(|iteration| asks(&bench.iterate(*iteration), 9));
    assert!(asked.is_some(), "{:?}", bench.machine());
    bench.hear(9, refused(1, None, vec![]));
    assert_eq!(due(&bench), Some(id(8)));
    // An unreachable neighbour is missed once, and comes next.
    bench.feed(Event::Unreachable { to: id(2) });
    assert_eq!(due(&bench), Some(id(2)));
    bench.feed(Event::Unreachable { to: id(2) });
    assert_eq!(due(&bench), Some(id(2)));
}

#[test]
fn a_contact_is_asked_soon_after_a_neighbour_denied_their_link() {
    let config = Config {
        remember: 4,
        sighted: 50,
        ..CONFIG
    };
    let asked = |denied: bool| {
        let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME]), (3, &[ME, 9])]);
        bench.act(|blatant, cx| blatant.know(id(9), cx));
        // It has seen the neighbour that denies the link, and the contact behind it.
        bench.iterate(0);
        if denied {
            bench.hear(3, Message::NotLinked);
        }
        (1..80).find(|at| {
            let effects = bench.iterate(*at);
            // The neighbours answer all the time.
            for peer in [1, 2] {
                bench.hear(peer, Message::Pong(record(peer, *at + 2, &[ME])));
            }
            if !denied {
                bench.hear(3, Message::Pong(record(3, *at + 2, &[ME, 9])));
            }
            let asks = |effect: &Effect<Blatant>| matches!(effect, Effect::Send { to, message: Message::Link { .. } } if [3, 9].contains(&to.get()));
            effects.iter().any(asks)
        })
    };
    assert_eq!((asked(true), asked(false)), (Some(5), None));
}
