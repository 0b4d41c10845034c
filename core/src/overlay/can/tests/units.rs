//! Zones, splits and single nodes.

use crate::id::Incarnation;
use crate::rng::Choose;
use std::vec;
use std::vec::Vec;

use super::super::*;
use super::network::{Network, Population};
use crate::machine::{Effect, EffectQueue};
use crate::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

fn zone(stretches: [(u32, u32); 2]) -> Zone<2> {
    Zone::new(stretches.map(|(from, to)| Stretch::new(from, to).unwrap()))
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

#[test]
fn neighbours_touch_in_one_dimension_and_overlap_in_the_others() {
    let own = zone([(10, 20), (10, 20)]);
    let face = |dimension, side| Some(Face { dimension, side });
    assert_eq!(
        own.neighbour_face(&zone([(20, 30), (19, 40)])),
        face(0, Side::Upper)
    );
    assert_eq!(
        own.neighbour_face(&zone([(0, 11), (0, 10)])),
        face(1, Side::Lower)
    );
    // At a corner, apart, and with equal lower bounds.
    assert_eq!(own.neighbour_face(&zone([(20, 30), (20, 30)])), None);
    assert_eq!(own.neighbour_face(&zone([(21, 30), (10, 20)])), None);
    assert_eq!(own.neighbour_face(&zone([(10, 15), (10, 20)])), None);
}

#[test]
fn a_point_on_an_upper_face_is_outside_at_distance_zero() {
    let own = zone([(10, 20), (10, 20)]);
    let at = |a, b| own.distance(&Point::new([a, b]));
    assert_eq!(at(19, 19), Distance::ZERO);
    assert!(at(20, 19) > Distance::ZERO);
    assert!(at(20, 20) > at(20, 19));
    assert!(at(21, 15) > at(20, 20));
    assert!(at(9, 15) > at(20, 20));
}

#[test]
fn a_split_is_in_the_middle_of_two_points_and_each_gets_its_own() {
    let whole = Leaf::<2>::whole();
    let (a, b) = (Point::new([5, 7]), Point::new([8, 7]));
    let (own, other) = whole.split(&a, &b).unwrap();
    assert_eq!(own.zone, zone([(0, 7), (0, END)]));
    assert_eq!(other.zone, zone([(7, END), (0, END)]));
    // Next time the other dimension, but only if the points differ there.
    let (own, other) = own.split(&a, &Point::new([5, 8])).unwrap();
    assert_eq!(own.zone, zone([(0, 7), (0, 8)]));
    assert_eq!(other.zone, zone([(0, 7), (8, END)]));
    let (again, _) = other
        .split(&Point::new([4, 8]), &Point::new([2, 8]))
        .unwrap();
    assert_eq!(again.zone, zone([(3, 7), (8, END)]));
    assert_eq!(whole.split(&a, &a), None);
}

#[test]
fn what_becomes_of_a_leaf_does_not_depend_on_the_order_in_which_others_vanish() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..200 {
        let mut leaves = vec![(Population::Mixed.draw::<3>(&mut rng), Leaf::<3>::whole())];
        for _ in 0..12 {
            let point = Population::Mixed.draw::<3>(&mut rng);
            let owner = leaves
                .iter_mut()
                .find(|(_, leaf)| leaf.zone.contains(&point));
            let (at, leaf) = owner.unwrap();
            let (own, other) = leaf.split(at, &point).unwrap();
            *leaf = own;
            leaves.push((point, other));
        }
        let (staying, vanished) = leaves.split_at(4);
        let vanished: Vec<_> = vanished.iter().map(|(_, leaf)| leaf.clone()).collect();
        let backwards: Vec<_> = vanished.iter().rev().cloned().collect();
        let after = staying.iter().map(|(_, leaf)| leaf.after(vanished.clone()));
        let after: Vec<_> = after.collect();
        for ((_, leaf), after) in staying.iter().zip(&after) {
            assert_eq!(leaf.after(backwards.clone()).zone, after.zone);
        }
        // The leaves that stay cover the whole space.
        let everything = Zone::<3>::WHOLE;
        assert!(everything.is_covered(after.iter().map(|leaf| &leaf.zone)));
    }
}

#[test]
fn in_how_many_parts_a_zone_is_covered_does_not_matter() {
    let whole = zone([(0, 100_000), (0, 10)]);
    // Each slab cuts one part in two; then comes one that has everything, or all but the last point.
    let slabs = (1..=500).map(|at| zone([(10 * at, 10 * at + 1), (0, 10)]));
    let mut all: Vec<_> = slabs.chain([whole]).collect();
    assert_eq!(whole.gap(all.iter()), None);
    assert!(whole.is_covered(all.iter()));
    all.pop();
    all.extend([zone([(0, 99_999), (0, 10)]), zone([(0, 100_000), (0, 9)])]);
    assert_eq!(whole.gap(all.iter()), Some(Point::new([99_999, 9])));
    assert!(!whole.is_covered(all.iter()));
}

#[test]
fn what_takes_too_long_to_find_out_is_neither_a_gap_nor_covered() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut bounds = || {
        let (one, two) = (rng.below(END), rng.below(END));
        Stretch::new(one.min(two), one.max(two) + 1).unwrap()
    };
    let boxes: Vec<_> = (0..MOST_NEIGHBOURS)
        .map(|_| Zone::<8>::new([(); 8].map(|()| bounds())))
        .collect();
    let whole = Zone::<8>::WHOLE;
    let all = || boxes.iter().chain([&whole]);
    assert_eq!(whole.gap(all()), None);
    assert!(!whole.is_covered(all()), "nor is that certain");
    // What is seen at once is known.
    assert!(whole.is_covered([&whole].into_iter().chain(&boxes)));
}

#[test]
fn parts_of_a_load_sum_up_to_it_exactly() {
    let load = Load {
        nodes: 1_000_003,
        cores: 7,
        ..Load::default()
    };
    let places = [0, 1, 17, 1000, 1 << 40, u64::MAX / 3];
    let parts = places
        .windows(2)
        .map(|pair| load.between(pair[0], pair[1], places[5]));
    assert_eq!(parts.fold(Load::default(), Load::plus), load);
}

#[test]
fn messages_are_small() {
    assert!(
        size_of::<Message<8>>() <= 320,
        "{}",
        size_of::<Message<8>>()
    );
}

#[test]
fn a_node_at_the_very_point_of_another_draws_its_virtual_coordinate_again() {
    let mut network = Network::<2>::new(Config::DEFAULT, 5);
    let point = Point::new([77, 88]);
    let first = network.add(point);
    let second = network.add(point);
    network.run_periods(1);
    assert_eq!(network.moved, 1);
    assert_eq!(network.nodes[&first].point(), &point);
    let moved = network.nodes[&second].point();
    assert_eq!(moved.at(0), 77);
    assert_ne!(moved.at(1), 88);
    assert_eq!(network.wrong(), Ok(()));
}

#[test]
fn a_node_that_comes_back_after_its_zone_was_taken_joins_anew() {
    let mut network = Network::<2>::new(Config::DEFAULT, 6);
    let mut nodes = Vec::new();
    for _ in 0..8 {
        let point = Population::Mixed.draw(&mut network.rng);
        nodes.push(network.add(point));
        network.run_periods(1);
    }
    let asleep = network.crash(nodes[3]);
    network.run_periods(12);
    assert_eq!(network.wrong(), Ok(()));
    let before = asleep.entry().unwrap().name.life;
    let due = asleep.member().unwrap().beat;
    network.nodes.insert(nodes[3], asleep);
    network.feed(nodes[3], Event::Timer(Timer::Beat(due)));
    network.run_periods(12);
    assert_eq!(network.wrong(), Ok(()));
    assert!(network.evicted > 0);
    assert!(network.nodes[&nodes[3]].entry().unwrap().name.life > before);
}

#[test]
fn messages_of_liars_break_nothing_and_make_nothing_grow_without_bound() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut effects = EffectQueue::new();
    let point = Point::new([1 << 31, 1 << 31]);
    let mut node = Can::<2>::new(id(0), point, Config::DEFAULT).unwrap();
    effects.feed(&mut node, Event::Start, Time::ZERO, &mut rng);
    effects.feed(
        &mut node,
        Event::Command(Command::Found),
        Time::ZERO,
        &mut rng,
    );
    let mut now = Time::ZERO;
    let mut joined = 0;
    for _ in 0..20_000 {
        let event = random_event(&node, &mut rng);
        now += Span::from_millis(u64::from(rng.below(2000)));
        effects.feed(&mut node, event, now, &mut rng);
        node.check().unwrap();
        joined = joined.max(node.neighbours().count());
        let _ = effects.drain();
        if node.zone().is_none() {
            // Liars drove the node out: begin again with a new one.
            let mut fresh = Can::<2>::new(id(0), point, Config::DEFAULT).unwrap();
            effects.feed(&mut fresh, Event::Start, now, &mut rng);
            effects.feed(&mut fresh, Event::Command(Command::Found), now, &mut rng);
            node = fresh;
        }
    }
    assert!(joined > 0);
}

/// A node whose upper face touches so many thin slices of other nodes, before its first beat.
fn among_slices(slices: u32) -> (Can<2>, EffectQueue<Can<2>>, Xoshiro256PlusPlus) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut effects = EffectQueue::new();
    let mut node = Can::<2>::new(id(0), Point::new([10, 10]), Config::DEFAULT).unwrap();
    let joins = wish(1, Point::new([1 << 31, 10]));
    for event in [Event::Start, Event::Command(Command::Found), joins] {
        effects.feed(&mut node, event, Time::ZERO, &mut rng);
    }
    let plane = node.zone().unwrap().stretches()[0].to();
    let thick = END / slices;
    for number in 0..slices {
        let is_last = number + 1 == slices;
        let to = if is_last { END } else { (number + 1) * thick };
        let name = Name {
            // The joiner has the first slice.
            id: id(u64::from(number) + 1),
            life: Incarnation::new(0),
        };
        let account = Account {
            own: Entry {
                name,
                epoch: 1,
                rank: 0,
                zone: zone([(plane, END), (number * thick, to)]),
                history: History::none(),
            },
            edition: 1,
            neighbours: Entries::none(),
            beyond: None,
        };
        let message = Message::Heartbeat {
            account: Shared::new(account),
            told: Told::default(),
        };
        let from = name.id;
        let event = Event::Message { from, message };
        effects.feed(&mut node, event, Time::ZERO, &mut rng);
        node.check().unwrap();
    }
    let _ = effects.drain();
    (node, effects, rng)
}

fn wish(joiner: u64, point: Point<2>) -> Event<Can<2>> {
    let name = Name {
        id: id(joiner),
        life: Incarnation::new(0),
    };
    let message = Message::Join {
        joiner: name,
        point,
        hops: 3,
    };
    Event::Message {
        from: name.id,
        message,
    }
}

/// A search of a node with a small zone.
fn seek(name: Name, point: Point<2>, hops: u16) -> Message<2> {
    Message::Seek {
        seeker: Entry {
            name,
            epoch: 1,
            rank: 0,
            zone: zone([(0, 1), (0, 1)]),
            history: History::none(),
        },
        point,
        hops,
    }
}

/// A liar had made two nodes each hold the other for nearer (`gridweave torture --scheduler desktop --seed 8327`).
#[test]
fn a_message_from_a_nearer_neighbour_is_not_passed_on() {
    let (mut node, mut effects, mut rng) = among_slices(2);
    let plane = node.zone().unwrap().stretches()[0].to();
    // In the zone of the second slice, and near this node's zone.
    let point = Point::new([plane + 100, END - 1]);
    let (farther, nearer, stranger) = (id(1), id(2), id(9));
    let name = Name {
        id: id(8),
        life: Incarnation::new(0),
    };
    let seek = seek(name, point, u16::MAX);
    let join = Message::Join {
        joiner: Name { id: id(7), ..name },
        point,
        hops: u16::MAX,
    };
    let busy = Message::Refused {
        life: name.life,
        why: Refusal::Busy,
    };
    let mut said = |from, message| {
        let event = Event::Message { from, message };
        effects.feed(&mut node, event, Time::ZERO, &mut rng);
        let sent = effects.drain().filter_map(|effect| match effect {
            Effect::Send { to, message } => Some((to, message)),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    for from in [farther, stranger] {
        for mut message in [seek.clone(), join.clone()] {
            if let Message::Seek {
                seeker: Entry { name, .. },
                ..
            }
            | Message::Join { joiner: name, .. } = &mut message
            {
                name.life = Incarnation::new(from.get() as u32);
            }
            let sent = said(from, message);
            assert!(
                matches!(
                    sent[..],
                    [(to, Message::Seek { hops, .. } | Message::Join { hops, .. })]
                        if to == nearer && hops == Config::DEFAULT.hops - 1
                ),
                "{sent:?}"
            );
        }
    }
    assert_eq!(said(nearer, seek), []);
    assert_eq!(said(nearer, join), [(id(7), busy)]);
}

#[test]
fn a_search_is_passed_on_once_between_two_beats_up_to_a_limit() {
    let (mut node, mut effects, mut rng) = among_slices(2);
    let plane = node.zone().unwrap().stretches()[0].to();
    let search = |number: usize| {
        let name = Name {
            id: id(100 + number as u64),
            life: Incarnation::new(0),
        };
        let message = seek(name, Point::new([plane + 100, END - 1]), 9);
        let from = id(99);
        Event::Message { from, message }
    };
    let mut passed_on = |event, at| {
        effects.feed(&mut node, event, at, &mut rng);
        let sent = effects.drain().filter(|effect| {
            matches!(
                effect,
                Effect::Send {
                    message: Message::Seek { seeker: Entry { name, .. }, .. }
                        | Message::Join { joiner: name, .. },
                    ..
                } if name.id != id(0)
            )
        });
        sent.count()
    };
    let most = search::MOST_SEARCHES;
    for number in 0..most {
        assert_eq!(passed_on(search(number), Time::ZERO), 1);
        assert_eq!(passed_on(search(number), Time::ZERO), 0);
    }
    assert_eq!(passed_on(search(most), Time::ZERO), 0);
    let beat = Event::Timer(Timer::Beat(0));
    assert_eq!(passed_on(beat, Time::ZERO + Config::DEFAULT.period), 0);
    assert_eq!(passed_on(search(most), Time::ZERO), 1);
    // The same holds for join requests, with a higher limit.
    let wish = |number: usize| {
        let name = Name {
            id: id(10_000 + number as u64),
            life: Incarnation::new(0),
        };
        let message = Message::Join {
            joiner: name,
            point: Point::new([plane + 100, END - 1]),
            hops: 9,
        };
        let from = id(99);
        Event::Message { from, message }
    };
    for number in 1..search::MOST_JOINS {
        assert_eq!(passed_on(wish(number), Time::ZERO), 1);
        assert_eq!(passed_on(wish(number), Time::ZERO), 0);
    }
    let last = wish(search::MOST_JOINS);
    assert_eq!(passed_on(last.clone(), Time::ZERO), 0);
    // A request that comes from the joiner itself cannot go round.
    let Event::Message { message, .. } = last.clone() else {
        unreachable!("it is a message")
    };
    let from = id(10_000 + search::MOST_JOINS as u64);
    assert_eq!(passed_on(Event::Message { from, message }, Time::ZERO), 1);
    // However rare beats are, the limit holds for ten seconds. The next beat is due after another period.
    let later = Time::ZERO + Config::DEFAULT.period.times(2);
    assert_eq!(passed_on(last, later), 1);
}

/// The farewells of a node that has these contacts on disk, and then hears these messages.
fn said_on_leaving(known: &[u64], heard: &[Message<2>]) -> Vec<(u64, u64)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut effects = EffectQueue::new();
    let mut node = Can::<2>::new(id(0), Point::new([10, 10]), Config::DEFAULT).unwrap();
    let known = Record::Known(known.iter().map(|number| id(*number)).collect());
    let heard = heard.iter().map(|message| Event::Message {
        from: id(9),
        message: message.clone(),
    });
    let before = [Event::Restored(Key::Known, known), Event::Start];
    for event in before.into_iter().chain(heard) {
        effects.feed(&mut node, event, Time::ZERO, &mut rng);
    }
    let _ = effects.drain();
    let leave = Event::Command(Command::Leave);
    effects.feed(&mut node, leave, Time::ZERO, &mut rng);
    let told = effects.drain().filter_map(|effect| match effect {
        Effect::Send {
            to,
            message: Message::Farewell(other),
        } => Some((to.get(), other.get())),
        _ => None,
    });
    told.collect()
}

/// Two parts of an overlay had only two contacts in common, which left while they had no zone (`gridweave torture
/// --scheduler desktop --seed 9462760605063`).
#[test]
fn a_leaver_tells_its_contacts_of_each_other() {
    let [one, two, three] =
        [&[1][..], &[1, 2], &[1, 2, 3]].map(|known| said_on_leaving(known, &[]));
    assert_eq!(one, []);
    assert_eq!(two, [(1, 2), (2, 1)]);
    assert_eq!(three, [(1, 2), (1, 3), (2, 3), (2, 1), (3, 1), (3, 2)]);
    // A node keeps a contact from a farewell, but never itself.
    let farewells = [id(0), id(2)].map(Message::Farewell);
    assert_eq!(said_on_leaving(&[1], &farewells), [(2, 1), (1, 2)]);
}

/// What a node without contacts sends on a farewell that names a peer, after a restart in which it has this record.
fn asked_after_a_farewell(record: Option<Record>) -> Vec<(u64, u64)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut effects = EffectQueue::new();
    let mut node = Can::<2>::new(id(0), Point::new([10, 10]), Config::DEFAULT).unwrap();
    let restored = record.map(|record| Event::Restored(Key::Life, record));
    let farewell = Event::Message {
        from: id(9),
        message: Message::Farewell(id(2)),
    };
    for event in restored.into_iter().chain([Event::Start, farewell]) {
        effects.feed(&mut node, event, Time::ZERO, &mut rng);
    }
    let asked = effects.drain().filter_map(|effect| match effect {
        Effect::Send {
            to,
            message: Message::Join { joiner, .. },
        } => Some((to.get(), joiner.id.get())),
        _ => None,
    });
    asked.collect()
}

/// It had its number of lives on disk, and its contacts no more. It stayed outside for good, though a peer told it of
/// another.
#[test]
fn a_node_that_lost_its_contacts_joins_through_the_first_peer_of_which_it_hears() {
    let life = Record::Life(Incarnation::default());
    assert_eq!(asked_after_a_farewell(Some(life)), [(2, 0)]);
    // A node that never had a zone waits for its host.
    assert_eq!(asked_after_a_farewell(None), []);
}

#[test]
fn a_node_with_the_most_neighbours_refuses_joiners() {
    let most = MOST_NEIGHBOURS as u32;
    for (slices, expected) in [(most - 1, None), (most, Some(Refusal::Full))] {
        let (mut node, mut effects, mut rng) = among_slices(slices);
        assert_eq!(node.neighbours().count(), slices as usize);
        effects.feed(
            &mut node,
            wish(7000, Point::new([99, 99])),
            Time::ZERO,
            &mut rng,
        );
        let refusals = effects.iter().filter_map(|effect| match effect {
            Effect::Send {
                message: Message::Refused { why, .. },
                ..
            } => Some(*why),
            _ => None,
        });
        assert_eq!(
            refusals.collect::<Vec<_>>(),
            expected.into_iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_node_with_too_many_neighbours_knows_the_most_allowed_and_keeps_its_zone() {
    let (mut node, mut effects, mut rng) = among_slices(MOST_NEIGHBOURS as u32 + 100);
    let zone = *node.zone().unwrap();
    let period = Config::DEFAULT.period;
    // As long as the neighbours are not missed.
    for periods in 1..3 {
        let beat = Timer::Beat(node.member().unwrap().beat);
        let now = Time::ZERO + period.times(periods);
        effects.feed(&mut node, Event::Timer(beat), now, &mut rng);
        node.check().unwrap();
        assert_eq!(node.neighbours().count(), MOST_NEIGHBOURS);
        assert_eq!(node.zone(), Some(&zone));
    }
}

#[cfg(feature = "serde")]
#[test]
fn messages_and_records_survive_the_round_trip() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(10);
    let node = Can::<2>::new(id(0), Point::new([1, 1]), Config::DEFAULT).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        if let Event::Message { message, .. } = random_event(&node, &mut rng) {
            let bytes = postcard::to_allocvec(&message).unwrap();
            seen.insert(bytes[0]);
            assert_eq!(postcard::from_bytes(&bytes), Ok(message));
        }
    }
    // Every kind of message there is.
    assert_eq!(seen, (0..20).collect());
    let record = Record::Known([id(4), id(2)].into_iter().collect());
    let bytes = postcard::to_allocvec(&record).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(record));
    // A list that is too long does not decode.
    let long: Vec<_> = (0..=MOST_NEIGHBOURS).map(|_| entry(&mut rng)).collect();
    let bytes = postcard::to_allocvec(&long).unwrap();
    assert!(postcard::from_bytes::<Entries<2>>(&bytes).is_err());
}

#[cfg(feature = "serde")]
#[test]
fn a_short_heartbeat_is_a_tenth_of_one_with_an_account() {
    let network = Network::<5>::crowded(100, 4);
    let mut sizes = [0, 0];
    for node in network.nodes.values() {
        let mut member = node.member().unwrap().clone();
        let account = member.account();
        let told = Told {
            own: node.load(),
            ..Told::default()
        };
        let (life, edition) = (member.name.life, member.edition);
        let long = Message::Heartbeat { account, told };
        let short = Message::<5>::Beat {
            life,
            edition,
            told,
        };
        sizes[0] += postcard::to_allocvec(&short).unwrap().len();
        sizes[1] += postcard::to_allocvec(&long).unwrap().len();
    }
    std::println!("{} and {} bytes on average", sizes[0] / 100, sizes[1] / 100);
    assert!(sizes[0] * 10 < sizes[1], "{sizes:?}");
}

fn random_event(node: &Can<2>, rng: &mut Xoshiro256PlusPlus) -> Event<Can<2>> {
    let from = id(u64::from(rng.below(12)));
    let message = match rng.below(21) {
        0 => Message::Join {
            joiner: name(rng),
            point: Population::Mixed.draw(rng),
            hops: 3,
        },
        1 => Message::Grant(Shared::new(Grant {
            own: entry(rng),
            neighbours: entries(rng),
        })),
        2 => Message::Heartbeat {
            account: Shared::new(Account {
                own: Entry {
                    name: Name {
                        id: from,
                        ..name(rng)
                    },
                    ..entry(rng)
                },
                ..account(rng)
            }),
            told: Told::default(),
        },
        3 => Message::Ping,
        14 => Message::Beat {
            life: name(rng).life,
            edition: rng.below(4),
            told: Told::default(),
        },
        4 => Message::Introduction(entries(rng)),
        5 => Message::Inquiry(name(rng)),
        6 => Message::Claim {
            missed: entries(rng),
            zone: entry(rng).zone,
        },
        7 => Message::Alive {
            entry: entry(rng),
            ago: Span::from_secs(3),
        },
        8 => Message::Obituary(Shared::new(account(rng))),
        9 => Message::Seek {
            seeker: entry(rng),
            point: Population::Mixed.draw(rng),
            hops: 3,
        },
        10 => Message::MayLeave {
            own: entry(rng),
            epoch: rng.below(4),
        },
        11 => Message::Refused {
            life: Incarnation::new(rng.below(3)),
            why: Refusal::SamePoint,
        },
        15 => Message::Agreed {
            life: name(rng).life,
            epoch: rng.below(4),
        },
        16 => Message::Disagreed {
            life: name(rng).life,
            epoch: rng.below(4),
        },
        17 => Message::Stays(name(rng).life),
        18 => Message::Here {
            own: Shared::new(Entry {
                name: Name {
                    id: from,
                    ..name(rng)
                },
                ..entry(rng)
            }),
            yours: Some(rng.below(4)).filter(|epoch| *epoch > 0),
            neighbours: MOST_NEIGHBOURS as u16,
            told: Told::default(),
        },
        19 => Message::Pulse {
            life: name(rng).life,
            epoch: rng.below(4),
            yours: rng.below(4),
            neighbours: 3,
            told: Told::default(),
        },
        12 => {
            let Some(member) = node.member() else {
                return Event::Start;
            };
            return Event::Timer(match rng.below(3) {
                0 => Timer::Takeover(member.round),
                _ => Timer::Beat(member.beat),
            });
        }
        20 => Message::Farewell(name(rng).id),
        _ => Message::Evicted(Incarnation::new(9)),
    };
    Event::Message { from, message }
}

fn name(rng: &mut Xoshiro256PlusPlus) -> Name {
    Name {
        id: id(u64::from(rng.below(12))),
        life: Incarnation::new(rng.below(3)),
    }
}

fn entry(rng: &mut Xoshiro256PlusPlus) -> Entry<2> {
    let mut stretch = || {
        let from = rng.below(3) << 30;
        Stretch::new(from, from + ((1 + rng.below(2)) << 29)).unwrap()
    };
    let zone = Zone::new([stretch(), stretch()]);
    let split = Split {
        dimension: rng.below(3) as u8,
        side: Side::Upper,
        plane: rng.below(4) << 30,
    };
    Entry {
        name: name(rng),
        epoch: rng.below(4),
        rank: rng.below(2),
        zone,
        history: [split].into_iter().collect(),
    }
}

fn entries(rng: &mut Xoshiro256PlusPlus) -> Entries<2> {
    (0..rng.below(6)).map(|_| entry(rng)).collect()
}

fn account(rng: &mut Xoshiro256PlusPlus) -> Account<2> {
    Account {
        own: entry(rng),
        edition: rng.below(4),
        neighbours: entries(rng),
        beyond: None,
    }
}
