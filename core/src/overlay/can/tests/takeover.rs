//! Take-over of the zone of a gone node and growth over gaps, step by step.

use super::super::*;
use super::three::{Three, feed, sent, wait};
use crate::machine::Effect;
use crate::time::{Span, Time};

#[test]
fn the_zone_of_an_unreachable_node_is_claimed_then_taken() {
    let mut three = Three::new();
    let [second, third] = [1, 2].map(|node| three.entry(node));
    let to = NodeId::new(99);
    assert_eq!(three.feed(0, Event::Unreachable { to }), []);
    let to = third.name.id;
    let effects = three.feed(0, Event::Unreachable { to });
    let living = three.nodes[0].member().unwrap().peers.living();
    assert!(living.map(Neighbour::id).eq([second.name.id]));

    let (due, timer) = wait(&effects).expect("it waits before it claims anything");
    assert!(due >= three.now + three.nodes[0].config.grace);
    three.now = due;
    let effects = three.feed(0, Event::Timer(timer));
    let (due, timer) = wait(&effects).expect("it waits for who objects");
    assert_eq!(due, three.now + three.nodes[0].config.confirmation);
    let zone = three.lower_half();
    let claim = Message::Claim {
        missed: [third.clone()].into_iter().collect(),
        zone,
    };
    assert_eq!(sent(effects, second.name.id), [claim]);
    let member = three.nodes[0].member().unwrap();
    assert!(member.is_in_the_way(&third.zone) && !member.is_in_the_way(&second.zone));

    three.now = due;
    let effects = three.feed(0, Event::Timer(timer));
    assert_eq!(three.nodes[0].zone(), Some(&zone));
    let obituaries = sent(effects, second.name.id);
    let mourned = obituaries.iter().find_map(|message| match message {
        Message::Obituary(account) => Some(account.get().own.clone()),
        _ => None,
    });
    assert_eq!(mourned, Some(third));
}

#[test]
fn only_a_peer_with_fresher_news_of_a_missed_node_vouches_for_it() {
    let mut three = Three::new();
    let third = three.entry(2);
    let config = three.nodes[1].config;
    let peer = three.nodes[1].member().unwrap().peers.get(third.name);
    let heard = peer.expect("they are neighbours").heard;
    let silent = heard + config.period.times(u64::from(config.patience));
    let alive = |ago| Message::Alive {
        entry: third.clone(),
        ago,
    };
    let just_before = silent - Span::from_micros(1);
    assert_eq!(
        three.examined(just_before, third.epoch),
        [alive(just_before - heard)]
    );
    assert_eq!(three.examined(silent, third.epoch), []);
    // A claimant with an earlier epoch has missed something. One that knows the same or a later epoch is not told.
    let second = three.nodes[1].member_mut();
    second.peers.get_mut(third.name).unwrap().entry.epoch += 1;
    let later = Entry {
        epoch: third.epoch + 1,
        ..third.clone()
    };
    let told = Message::Alive {
        entry: later,
        ago: silent - heard,
    };
    assert_eq!(three.examined(silent, third.epoch), [told]);
    assert_eq!(three.examined(silent, third.epoch + 1), []);
    assert_eq!(three.examined(silent, third.epoch + 2), []);
    // Hearsay is not passed on.
    let second = three.nodes[1].member_mut();
    second.peers.get_mut(third.name).unwrap().first_hand = false;
    assert_eq!(three.examined(heard, third.epoch + 1), []);
}

#[test]
fn a_node_missed_by_mistake_answers_a_claim_with_its_zone_and_load() {
    let mut three = Three::new();
    let (from, own) = (three.entry(0).name.id, three.entry(2));
    let message = Message::Claim {
        missed: [own.clone()].into_iter().collect(),
        zone: three.lower_half(),
    };
    let effects = three.feed(2, Event::Message { from, message });
    let said = sent(effects, from);
    let told = said.iter().find_map(|message| match message {
        Message::Heartbeat { account, told } => Some((&account.get().own, told.own)),
        _ => None,
    });
    assert_eq!(told, Some((&own, three.nodes[2].load())));
    assert_ne!(three.nodes[2].load(), Load::default());
}

#[test]
fn a_gap_is_forsaken_two_periods_after_twice_the_patience() {
    let mut three = Three::new();
    let member = three.nodes[0].member_mut();
    let enough = 2 * u16::from(member.config.patience) + 2;
    member.gaping = enough - 1;
    assert!(!member.is_forsaken());
    member.gaping = enough;
    assert!(member.is_forsaken());
}

#[test]
fn a_node_that_many_of_the_gone_named_counts_once_with_the_latest_that_was_said() {
    let three = Three::new();
    let (now, third) = (three.now, three.entry(2));
    let named = |id: u64, epoch: u32| Entry {
        name: Name {
            id: NodeId::new(id),
            life: Incarnation::new(0),
        },
        epoch,
        ..third.clone()
    };
    let gone = [1, 3, 2].map(|epoch| {
        let own = named(50 + u64::from(epoch), 1);
        let mut peer = Neighbour::new(own.clone(), None, now);
        peer.last = Some(Shared::new(Account {
            own,
            edition: 1,
            neighbours: [named(99, epoch)].into_iter().collect(),
            beyond: None,
        }));
        peer
    });
    let (gone, member) = (gone.each_ref(), three.nodes[0].member().unwrap());
    assert_eq!(member.said_around(&gone), [&named(99, 3)]);
}

#[test]
fn growth_over_a_gap_is_undone_if_a_node_was_there_after_all() {
    let mut three = Three::new();
    let (before, third) = (three.entry(0).leaf(), three.entry(2));
    let to = third.name.id;
    for _ in 0..2 {
        let effects = three.feed(0, Event::Unreachable { to });
        let mut next = wait(&effects);
        while let Some((due, timer)) = next {
            three.now = due;
            next = wait(&three.feed(0, Event::Timer(timer)));
        }
    }
    assert_eq!(three.nodes[0].zone(), Some(&three.lower_half()));
    three.nodes[0].member_mut().before = Some(before.clone());
    let name = Name {
        id: NodeId::new(99),
        life: Incarnation::new(0),
    };
    let own = Entry { name, ..third };
    let account = Account {
        own,
        edition: 1,
        neighbours: Entries::none(),
        beyond: None,
    };
    let message = Message::Heartbeat {
        account: Shared::new(account),
        told: Told::default(),
    };
    let from = name.id;
    let effects = three.feed(0, Event::Message { from, message });
    assert_eq!(three.nodes[0].zone(), Some(&before.zone));
    assert!(effects.contains(&Effect::Notify(Notice::Zone)));
    let neighbours = three.nodes[0].neighbours().map(Neighbour::id);
    assert!(neighbours.into_iter().any(|id| id == from));
}

#[test]
fn no_peer_is_watched_before_a_gap_is_noticed() {
    let mut three = Three::new();
    let names = [1, 2].map(|node| three.entry(node).name);
    let to = names[1].id;
    three.feed(0, Event::Unreachable { to });
    let member = three.nodes[0].member_mut();
    for name in names {
        member.peers.get_mut(name).unwrap().watched = true;
    }
    let (due, timer) = (member.due, Timer::Beat(member.beat));
    three.now = due;
    three.feed(0, Event::Timer(timer));
    let member = three.nodes[0].member().unwrap();
    assert_eq!(member.gaping, 1, "it is noticed at the end of the beat");
    let watched = names.map(|name| member.peers.get(name).unwrap().watched);
    assert_eq!(watched, [false, false]);
}

/// A slab in a row along the first dimension. Its last split makes the slab below its heir.
pub(super) fn slab(node: u64, step: u32) -> Entry<2> {
    let splits = [(Side::Upper, step), (Side::Lower, step + 1)].map(|(side, step)| Split {
        dimension: 0,
        side,
        plane: step << 16,
    });
    let half = Split {
        dimension: 1,
        side: Side::Lower,
        plane: END / 2,
    };
    let Leaf { zone, .. } = Leaf::<2>::of([half].into_iter().chain(splits));
    Entry {
        name: Name {
            id: NodeId::new(node),
            life: Incarnation::new(0),
        },
        epoch: 1,
        rank: 0,
        zone,
        history: [splits[0]].into_iter().collect(),
    }
}

/// Slabs from this step on. Each owner has another zone, beside the row, in its next life.
fn of_two_lives(step: u32, count: usize) -> Entries<2> {
    let beside = [(0, 1 << 16), (END / 2, END)];
    let beside = Zone::new(beside.map(|(from, to)| Stretch::new(from, to).unwrap()));
    let lives = (step..).take(count).flat_map(|step| {
        let first = slab(u64::from(step) + 10, step);
        let mut second = first.clone();
        second.name.life = Incarnation::new(1);
        second.zone = beside;
        [first, second]
    });
    lives.collect()
}

#[test]
fn a_liar_cannot_make_a_node_take_one_zone_after_the_other() {
    let now = Time::from_secs(1);
    let placed = |neighbours: Entries<2>| {
        let point = Point::new([10, 10]);
        let mut node = Can::<2>::new(NodeId::new(1), point, Config::DEFAULT).unwrap();
        let mut own = slab(1, 0);
        own.history = History::none();
        let place = Command::Place(Shared::new(Grant { own, neighbours }));
        for event in [Event::Start, Event::Command(place)] {
            feed(&mut node, event, now);
        }
        node
    };
    let upper = |node: &Can<2>| node.zone().unwrap().stretches()[0].to() >> 16;
    let taken = |effects: &[Effect<Can<2>>]| {
        let taken = effects.iter();
        let taken = taken.filter(|effect| **effect == Effect::Notify(Notice::Zone));
        taken.count()
    };
    let liar = slab(2, 1);
    let from = liar.name.id;
    // A long row of such slabs in an introduction.
    let mut node = placed(Entries::none());
    let message = Message::Introduction(of_two_lives(1, 200));
    let effects = feed(&mut node, Event::Message { from, message }, now);
    assert_eq!((upper(&node), taken(&effects)), (1, 0));
    // The same row, named in the obituary of the liar itself.
    let mut node = placed([liar.clone()].into_iter().collect());
    let account = Account {
        own: liar,
        edition: 1,
        neighbours: of_two_lives(2, 200),
        beyond: Some(Beyond {
            second: of_two_lives(202, 200),
            third: of_two_lives(402, 200),
        }),
    };
    let message = Message::Obituary(Shared::new(account));
    let effects = feed(&mut node, Event::Message { from, message }, now);
    assert_eq!((upper(&node), taken(&effects)), (2, 1), "the liar's zone");
    // Sixteen entries of each list beyond are believed. The first slab of the row is told once, each node beside it
    // twice. The other two effects are the notice, and the wait for what else is free.
    let beside = 200 + 8 + 8;
    assert_eq!(effects.len(), 1 + beside + beside + 2);
    // The next beat takes the next slab.
    let member = node.member().unwrap();
    let (due, timer) = (member.due, Timer::Beat(member.beat));
    let effects = feed(&mut node, Event::Timer(timer), due);
    assert_eq!((upper(&node), taken(&effects)), (3, 1));
}

#[test]
fn a_gap_is_grown_over_up_to_the_next_plane_of_its_dimension() {
    let cases = [
        (
            [10, 10],
            [(0, 1000), (1, 700), (0, 500)],
            Side::Lower,
            [(0, 500), (0, 700)],
            [(0, 1000), (0, 700)],
        ),
        (
            [3000, 3000],
            [(0, 1000), (1, 1500), (0, 2000)],
            Side::Upper,
            [(2000, END), (1500, END)],
            [(1000, END), (1500, END)],
        ),
    ];
    for (point, planes, side, before, after) in cases {
        let zone = |bounds: [(u32, u32); 2]| {
            Zone::new(bounds.map(|(from, to)| Stretch::new(from, to).unwrap()))
        };
        let splits = planes.map(|(dimension, plane)| Split {
            dimension,
            side,
            plane,
        });
        let Leaf { zone: own, history } = Leaf::<2>::of(splits.into_iter());
        assert_eq!(own, zone(before));
        let name = Name {
            id: NodeId::new(1),
            life: Incarnation::default(),
        };
        let own = Entry {
            name,
            epoch: 0,
            rank: 0,
            zone: own,
            history,
        };
        let neighbours = Entries::none();
        let place = Command::Place(Shared::new(Grant { own, neighbours }));
        let mut node = Can::<2>::new(name.id, Point::new(point), Config::DEFAULT).unwrap();
        for event in [Event::Start, Event::Command(place)] {
            feed(&mut node, event, Time::ZERO);
        }
        let member = node.member_mut();
        assert_eq!(member.growth(), None);
        member.gaping = 2 * u16::from(member.config.patience) + 2;
        assert_eq!(member.growth().map(|leaf| leaf.zone), Some(zone(after)));
    }
}

#[test]
fn a_take_over_tells_no_more_nodes_that_peers_named_than_a_node_has_neighbours() {
    let mut three = Three::new();
    let third = three.entry(2);
    let named = |id: u64| Entry {
        name: Name {
            id: NodeId::new(id),
            life: Incarnation::new(0),
        },
        ..third.clone()
    };
    let (now, most) = (three.now, MOST_NEIGHBOURS as u64);
    let gone = [0, 1].map(|liar| {
        let from = 1000 * (liar + 1);
        let mut peer = Neighbour::new(named(from), None, now);
        peer.last = Some(Shared::new(Account {
            own: named(from),
            edition: 1,
            neighbours: (from..from + most).map(named).collect(),
            beyond: None,
        }));
        peer
    });
    let gone = gone.each_ref();
    let member = three.nodes[0].member_mut();
    assert_eq!(member.said_around(&gone).len() as u64, 2 * most);
    assert_eq!(member.some_said_around(&gone).len() as u64, most);
}
