//! What nodes tell of themselves and of others, and what is believed of it.

use super::super::peers::Presence;
use super::super::*;
use super::takeover::slab;
use super::three::{Three, feed, sent};
use crate::machine::Effect;
use crate::time::{Span, Time};

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
