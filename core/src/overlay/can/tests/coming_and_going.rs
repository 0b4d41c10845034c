//! Joiners and leavers: which peers they ask, and when they ask again.

use super::super::*;
use super::three::{Three, feed, sent};
use crate::machine::Effect;
use crate::time::{Span, Time};
use std::vec::Vec;

#[test]
fn a_leaver_does_not_ask_while_a_neighbour_is_missing() {
    let mut three = Three::new();
    let asks = |effects: Vec<Effect<Can<2>>>| {
        let asks = |effect: &&Effect<Can<2>>| {
            matches!(
                effect,
                Effect::Send {
                    message: Message::MayLeave { .. },
                    ..
                }
            )
        };
        effects.iter().filter(asks).count()
    };
    let mut calm = three.nodes[0].clone();
    let leave = || Event::Command(Command::Leave);
    assert_eq!(asks(feed(&mut calm, leave(), three.now)), 2);
    let to = three.entry(2).name.id;
    three.feed(0, Event::Unreachable { to });
    assert_eq!(asks(three.feed(0, leave())), 0);
}

#[test]
fn a_node_without_a_zone_refuses_direct_joiners_as_outside_and_others_as_busy() {
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), Config::DEFAULT).unwrap();
    feed(&mut node, Event::Start, Time::ZERO);
    let joiner = Name {
        id: NodeId::new(5),
        life: Incarnation::new(3),
    };
    for (from, why) in [(5, Refusal::Outside), (6, Refusal::Busy)] {
        let message = Message::Join {
            joiner,
            point: Point::new([9, 9]),
            hops: 3,
        };
        let from = NodeId::new(from);
        let effects = feed(&mut node, Event::Message { from, message }, Time::ZERO);
        let life = joiner.life;
        assert_eq!(sent(effects, joiner.id), [Message::Refused { life, why }]);
    }
}

#[test]
fn a_leaver_that_loses_its_zone_has_left() {
    let mut three = Three::new();
    let from = three.entry(0).name.id;
    let effects = three.feed(1, Event::Command(Command::Leave));
    assert!(!effects.contains(&Effect::Notify(Notice::Left)), "it asks");
    let message = Message::Evicted(three.entry(1).name.life);
    let effects = three.feed(1, Event::Message { from, message });
    let told = effects.iter().filter_map(|effect| match effect {
        Effect::Notify(notice) => Some(*notice),
        _ => None,
    });
    assert!(told.eq([Notice::Left]), "{effects:?}");
    assert!(!three.nodes[1].is_joining());
}

/// The timers that the node wants, and when.
fn wakes(effects: &[Effect<Can<2>>]) -> Vec<(Time, Timer)> {
    let wakes = effects.iter().filter_map(|effect| match effect {
        Effect::Wake { at, timer } => Some((*at, *timer)),
        _ => None,
    });
    wakes.collect()
}

#[test]
fn a_timer_that_comes_too_early_only_asks_to_be_woken_again() {
    let mut three = Three::new();
    let to = three.entry(2).name.id;
    let mut outside = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), Config::DEFAULT).unwrap();
    feed(&mut outside, Event::Start, three.now);
    let join = Command::Join { introducer: to };
    let cases = [
        (three.nodes[0].clone(), Event::Unreachable { to }),
        (three.nodes[1].clone(), Event::Command(Command::Leave)),
        (outside, Event::Command(join)),
    ];
    for (mut node, event) in cases {
        let wakes = wakes(&feed(&mut node, event, three.now));
        let [(at, timer)] = wakes[..] else {
            panic!("{wakes:?}")
        };
        let early = at - Span::from_micros(1);
        let before = node.clone();
        let effects = feed(&mut node, Event::Timer(timer), early);
        assert_eq!(effects, [Effect::Wake { at, timer }]);
        assert_eq!(node, before);
        three.now = at;
        assert_ne!(feed(&mut node, Event::Timer(timer), at), []);
        assert_ne!(node, before);
    }
}

#[test]
fn joiners_and_leavers_wait_before_a_retry_even_with_the_shortest_period() {
    let period = Span::from_micros(256);
    let config = Config {
        period,
        ..Config::DEFAULT
    };
    let now = Time::from_secs(1);
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), config).unwrap();
    let introducer = NodeId::new(2);
    for event in [Event::Start, Event::Command(Command::Join { introducer })] {
        feed(&mut node, event, now);
    }
    let life = Incarnation::default();
    let message = Message::Refused {
        life,
        why: Refusal::Busy,
    };
    let from = introducer;
    let effects = feed(&mut node, Event::Message { from, message }, now);
    let [(at, _)] = wakes(&effects)[..] else {
        panic!("{effects:?}")
    };
    assert!(now < at && at <= now + period.times(2), "{at:?}");
    // A leaver tries two to four times in a period.
    feed(&mut node, Event::Command(Command::Found), now);
    node.member_mut().contacts.note([from]);
    let effects = feed(&mut node, Event::Command(Command::Leave), now);
    let [(at, _)] = wakes(&effects)[..] else {
        panic!("{effects:?}")
    };
    let (least, most) = (Span::from_micros(64), Span::from_micros(128));
    assert!(now + least <= at && at < now + most, "{at:?}");
}

#[test]
fn a_node_that_leaves_before_it_is_inside_again_keeps_no_contacts_on_disk() {
    let introducer = NodeId::new(2);
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), Config::DEFAULT).unwrap();
    let now = Time::from_secs(1);
    let known = Record::Known([introducer].into_iter().collect());
    feed(&mut node, Event::Restored(Key::Known, known), now);
    feed(&mut node, Event::Start, now);
    let effects = feed(&mut node, Event::Command(Command::Leave), now);
    assert!(effects.contains(&Effect::Forget(Key::Known)), "{effects:?}");
}
