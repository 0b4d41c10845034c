//! Take-over of the zone of a gone node, step by step.

use std::vec::Vec;

use super::super::peers::Presence;
use super::super::*;
use super::network::Network;
use crate::machine::{Effect, EffectQueue};
use crate::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Three nodes at rest: the first founded the space, the second has its upper half, the third a part of the lower half.
struct Three {
    nodes: [Can<2>; 3],
    now: Time,
}

impl Three {
    fn new() -> Self {
        let mut network = Network::<2>::new(Config::DEFAULT, 3);
        let (low, high) = (END / 4, END / 4 * 3);
        let points = [[low, low], [high, low], [low, high]];
        let ids = points.map(|point| {
            let id = network.add(Point::new(point));
            network.run_periods(1);
            id
        });
        network.run_periods(4);
        assert_eq!(network.wrong(), Ok(()));
        Self {
            nodes: ids.map(|id| network.nodes[&id].clone()),
            now: network.now,
        }
    }

    fn entry(&self, node: usize) -> Entry<2> {
        self.nodes[node].entry().unwrap()
    }

    /// The zone of the first node when the third is gone.
    fn lower_half(&self) -> Zone<2> {
        let plane = self.entry(1).zone.stretches()[0].from();
        Zone::new([(0, plane), (0, END)].map(|(from, to)| Stretch::new(from, to).unwrap()))
    }

    fn feed(&mut self, node: usize, event: Event<Can<2>>) -> Vec<Effect<Can<2>>> {
        feed(&mut self.nodes[node], event, self.now)
    }

    /// Lets the first node claim the zone of the third, known to it by this epoch. Returns what the second node answers
    /// about the third.
    fn examined(&self, at: Time, epoch: u32) -> Vec<Message<2>> {
        let mut node = self.nodes[1].clone();
        let entry = Entry {
            epoch,
            ..self.entry(2)
        };
        let message = Message::Claim {
            missed: [entry].into_iter().collect(),
            zone: self.lower_half(),
        };
        let from = self.entry(0).name.id;
        let event = Event::Message { from, message };
        let mut said = sent(feed(&mut node, event, at), from);
        said.retain(|message| matches!(message, Message::Alive { .. }));
        said
    }
}

fn feed(node: &mut Can<2>, event: Event<Can<2>>, now: Time) -> Vec<Effect<Can<2>>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut effects = EffectQueue::new();
    effects.feed(node, event, now, &mut rng);
    node.check().unwrap();
    effects.drain().collect()
}

fn sent(effects: Vec<Effect<Can<2>>>, whom: NodeId) -> Vec<Message<2>> {
    let sent = effects.into_iter().filter_map(|effect| match effect {
        Effect::Send { to, message } if to == whom => Some(message),
        _ => None,
    });
    sent.collect()
}

/// When the take-over goes on, and the timer for that.
fn wait(effects: &[Effect<Can<2>>]) -> Option<(Time, Timer)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Wake {
            at,
            timer: timer @ Timer::Takeover(_),
        } => Some((*at, *timer)),
        _ => None,
    })
}

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
fn an_account_that_is_passed_on_has_the_last_known_zone() {
    let three = Three::new();
    let member = three.nodes[0].member().unwrap();
    let mut peer = member.peers.get(three.entry(1).name).unwrap().clone();
    let told = peer.last.clone().expect("few list their neighbours to all");
    assert_eq!(peer.account(), told);
    // Another peer told since that it has a smaller zone.
    peer.entry.epoch += 1;
    let account = peer.account();
    assert_eq!(account.get().own, peer.entry);
    assert_eq!(account.get().neighbours, told.get().neighbours);
}

#[test]
fn a_node_that_left_answers_a_ping_with_its_obituary() {
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), Config::DEFAULT).unwrap();
    let now = Time::from_secs(1);
    for event in [Event::Start, Event::Command(Command::Found)] {
        feed(&mut node, event, now);
    }
    let effects = feed(&mut node, Event::Command(Command::Leave), now);
    assert!(effects.contains(&Effect::Notify(Notice::Left)));
    // It never had contacts on disk.
    assert!(!effects.contains(&Effect::Forget(Key::Known)));
    let from = NodeId::new(2);
    let mut hear = |message| sent(feed(&mut node, Event::Message { from, message }, now), from);
    let [Message::Obituary(account)] = &hear(Message::Ping)[..] else {
        panic!("a ping is not answered")
    };
    assert_eq!(account.get().own.name.id, NodeId::new(1));
    assert_eq!(hear(Message::Introduction(Entries::none())), []);
}

#[test]
fn a_node_never_restores_itself_as_a_contact() {
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([5, 5]), Config::DEFAULT).unwrap();
    let known = Known::from([1, 2].map(NodeId::new));
    let event = Event::Restored(Key::Known, Record::Known(known));
    assert_eq!(feed(&mut node, event, Time::ZERO), []);
    assert_eq!(node.known(), [NodeId::new(2)]);
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
fn a_late_account_does_not_replace_a_newer_one() {
    let mut three = Three::new();
    let name = three.entry(1).name;
    let peer = |three: &Three| {
        let member = three.nodes[0].member().unwrap();
        let peer = member.peers.get(name).unwrap();
        (peer.edition(), peer.heard)
    };
    let member = three.nodes[0].member().unwrap();
    let old = member.peers.get(name).unwrap().last.clone().unwrap();
    let mut new = old.get().clone();
    new.edition += 1;
    let (edition, new) = (new.edition, Shared::new(new));
    let mut hear = |account: &Shared<Account<2>>| {
        three.now += Span::from_secs(1);
        let message = Message::Heartbeat {
            account: account.clone(),
            told: Told::default(),
        };
        three.feed(
            0,
            Event::Message {
                from: name.id,
                message,
            },
        );
        (peer(&three), three.now)
    };
    let (known, first) = hear(&new);
    assert_eq!(known, (Some(edition), first));
    // The old account is late. Then the new one comes once more, which is a sign of life.
    assert_eq!(hear(&old).0, (Some(edition), first));
    let (known, last) = hear(&new);
    assert_eq!(known, (Some(edition), last));
}

#[test]
fn hearsay_of_a_known_epoch_has_no_effect() {
    let mut three = Three::new();
    let from = three.entry(1).name.id;
    let told = |three: &mut Three, epoch| {
        let entry = Entry {
            zone: Zone::WHOLE,
            epoch,
            ..three.entry(2)
        };
        let message = Message::Introduction([entry].into_iter().collect());
        three.feed(0, Event::Message { from, message })
    };
    let (third, epoch) = (three.entry(2).name.id, three.entry(2).epoch);
    assert_eq!(told(&mut three, epoch), []);
    // A later epoch that overlaps this node: the two find out.
    let said = sent(told(&mut three, epoch + 1), third);
    assert!(matches!(said[..], [Message::Heartbeat { .. }]), "{said:?}");
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
fn nodes_that_many_of_the_gone_named_are_told_of_a_taken_zone_once() {
    let mut three = Three::new();
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
    let named_by = three.nodes[0]
        .member_mut()
        .each_said_around(&gone.each_ref());
    assert_eq!(named_by, [named(99, 3)]);
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
fn a_member_keeps_other_members_as_contacts() {
    let three = Three::new();
    let ids = [0, 1, 2].map(|node| three.entry(node).name.id);
    for node in &three.nodes[1..] {
        let known = node.known();
        let others = known
            .iter()
            .filter(|id| ids.contains(id) && **id != node.me);
        assert!(!known.is_empty() && others.count() == known.len());
    }
}

#[test]
fn an_evicted_node_tells_its_neighbours_but_not_dead_peers() {
    let mut three = Three::new();
    let [first, third] = [0, 2].map(|node| three.entry(node).name.id);
    let (from, dead) = (first, three.entry(2).name);
    let peers = &mut three.nodes[1].member_mut().peers;
    peers.get_mut(dead).unwrap().presence = Presence::Dead { since: Time::ZERO };
    let message = Message::Evicted(three.entry(1).name.life);
    let effects = three.feed(1, Event::Message { from, message });
    assert_eq!(three.nodes[1].zone(), None);
    let is_end = |message: &Message<2>| matches!(message, Message::Obituary(_));
    assert!(sent(effects.clone(), first).iter().any(is_end));
    assert!(!sent(effects, third).iter().any(is_end));
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
fn slab(node: u64, step: u32) -> Entry<2> {
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
fn a_node_that_is_no_neighbour_is_set_right_once_although_an_earlier_life_was_known() {
    let now = Time::from_secs(1);
    let config = Config {
        listed: 0,
        ..Config::DEFAULT
    };
    let mut own = slab(1, 0);
    own.history = History::none();
    let neighbours = [slab(2, 1)].into_iter().collect();
    let place = Command::Place(Shared::new(Grant { own, neighbours }));
    let mut node = Can::<2>::new(NodeId::new(1), Point::new([10, 10]), config).unwrap();
    for event in [Event::Start, Event::Command(place)] {
        feed(&mut node, event, now);
    }
    let mut other = slab(3, 5);
    let mut earlier = Neighbour::new(other.clone(), None, now);
    earlier.presence = Presence::Dead { since: now };
    assert!(node.member_mut().peers.insert(earlier));
    other.name.life = Incarnation::new(1);
    let from = other.name.id;
    let message = Message::Here {
        own: Shared::new(other),
        yours: Some(0),
        neighbours: 1,
        told: Told::default(),
    };
    let said = sent(feed(&mut node, Event::Message { from, message }, now), from);
    assert!(
        matches!(said[..], [Message::Here { yours: None, .. }, ..]),
        "{said:?}"
    );
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
