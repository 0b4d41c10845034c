//! Which peers get a node's neighbour list, and what the other peers get.

use std::sync::LazyLock;
use std::vec::Vec;

use super::super::*;
use super::network::Network;
use crate::machine::{Effect, EffectQueue};
use crate::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// So many nodes in four dimensions that many have more neighbours than they list to all, at rest.
static CROWD: LazyLock<Network<4>> = LazyLock::new(|| {
    let network = Network::crowded(80, 7);
    assert_eq!(network.wrong(), Ok(()));
    network
});

/// A node and a neighbour. Neither lists its own neighbours to the other.
struct Meeting {
    node: Can<4>,
    other: Entry<4>,
    now: Time,
}

impl Meeting {
    fn new() -> Self {
        let network = &*CROWD;
        let silent = |node: &Can<4>| {
            let member = node.member()?;
            let silent = member.peers.neighbours().find(|peer| peer.last.is_none())?;
            // The node does not list its own neighbours to that one, either.
            let many = member.peers.neighbours().count() > usize::from(Config::DEFAULT.listed);
            let is_heir = member.leaf.is_left_to(&silent.entry.zone);
            (many && !is_heir).then(|| silent.entry.clone())
        };
        let mut nodes = network.nodes.values();
        let found = nodes.find_map(|node| Some((node.clone(), silent(node)?)));
        let (node, other) = found.expect("some are crowded");
        let now = network.now;
        Self { node, other, now }
    }

    /// The answers of the node to this message of the other.
    fn answers(&mut self, message: Message<4>) -> Vec<Message<4>> {
        let mut effects = EffectQueue::new();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let from = self.other.name.id;
        let event = Event::Message { from, message };
        effects.feed(&mut self.node, event, self.now, &mut rng);
        self.node.check().unwrap();
        let sent = effects.drain().filter_map(|effect| match effect {
            Effect::Send { to, message } if to == from => Some(message),
            _ => None,
        });
        sent.collect()
    }

    fn pulse(&self, epoch: u32, yours: u32) -> Message<4> {
        Message::Pulse {
            life: self.other.name.life,
            epoch,
            yours,
            neighbours: 20,
            told: Told::default(),
        }
    }

    fn own_epoch(&self) -> u32 {
        self.node.entry().unwrap().epoch
    }
}

#[test]
fn a_node_lists_few_neighbours_to_all_and_many_only_to_its_heirs() {
    let network = &*CROWD;
    let (mut to_heirs, mut to_all, mut to_none) = (0, 0, 0);
    for node in network.nodes.values() {
        let member = node.member().unwrap();
        let many = member.peers.neighbours().count() > usize::from(Config::DEFAULT.listed);
        for peer in member.peers.neighbours() {
            let there = network.nodes[&peer.id()].member().unwrap();
            let known = there.peers.get(member.name).unwrap();
            let is_heir = member.leaf.is_left_to(&there.leaf.zone);
            assert_eq!(known.last.is_some(), is_heir || !many);
            if let Some(last) = &known.last {
                let listed = last.get().neighbours.iter().map(|entry| entry.name);
                let neighbours = member.peers.neighbours().map(|peer| peer.entry.name);
                assert!(listed.eq(neighbours));
            }
            match (is_heir, many) {
                (true, true) => to_heirs += 1,
                (_, false) => to_all += 1,
                (false, true) => to_none += 1,
            }
        }
    }
    assert!(to_heirs > 0 && to_all > 0 && to_none > 5 * to_heirs);
}

#[test]
fn a_pulse_of_a_known_zone_gets_no_answer_and_of_an_unknown_one_a_ping() {
    let mut meeting = Meeting::new();
    let (epoch, own) = (meeting.other.epoch, meeting.own_epoch());
    assert_eq!(meeting.answers(meeting.pulse(epoch, own)), []);
    assert_eq!(
        meeting.answers(meeting.pulse(epoch + 1, own)),
        [Message::Ping]
    );
    // A late pulse is no news.
    let mut later = meeting.other.clone();
    later.epoch += 1;
    let here = Message::Here {
        own: Shared::new(later),
        yours: Some(own),
        neighbours: 20,
        told: Told::default(),
    };
    assert_eq!(meeting.answers(here), []);
    assert_eq!(meeting.answers(meeting.pulse(epoch, own)), []);
    let known = meeting.node.member().unwrap().peers.get(meeting.other.name);
    assert_eq!(known.unwrap().entry.epoch, epoch + 1);
}

#[test]
fn a_peer_that_knows_an_earlier_zone_is_told_the_current_one_and_common_neighbours() {
    let mut meeting = Meeting::new();
    meeting.node.member_mut().epoch += 1;
    meeting.node.member_mut().touch();
    let own = meeting.node.entry().unwrap();
    let sent = meeting.answers(meeting.pulse(meeting.other.epoch, own.epoch - 1));
    let [
        Message::Here {
            own: told, yours, ..
        },
        Message::Introduction(common),
    ] = &sent[..]
    else {
        panic!("{sent:?}");
    };
    assert_eq!((told.get(), *yours), (&own, Some(meeting.other.epoch)));
    let touches = |entry: &Entry<4>| entry.zone.neighbour_face(&meeting.other.zone).is_some();
    assert!(common.iter().all(touches) && !common.is_empty());
}

#[test]
fn a_pulse_confirms_hearsay_of_a_zone() {
    let mut meeting = Meeting::new();
    let name = meeting.other.name;
    let peers = &mut meeting.node.member_mut().peers;
    peers.get_mut(name).unwrap().first_hand = false;
    assert!(meeting.node.member().unwrap().is_disturbed());
    let (epoch, own) = (meeting.other.epoch, meeting.own_epoch());
    let sent = meeting.answers(meeting.pulse(epoch, own));
    assert!(matches!(&sent[..], [Message::Pulse { .. }]), "{sent:?}");
    assert!(!meeting.node.member().unwrap().is_disturbed());
}

#[test]
fn an_empty_list_in_an_obituary_leaves_the_neighbours_unknown() {
    let mut meeting = Meeting::new();
    let name = meeting.other.name;
    let account = Account {
        own: meeting.other.clone(),
        edition: 0,
        neighbours: Entries::none(),
        beyond: None,
    };
    meeting.answers(Message::Obituary(Shared::new(account)));
    let peer = meeting.node.member().unwrap().peers.get(name).unwrap();
    assert!(peer.is_dead() && peer.neighbours().is_none());
}

#[cfg(feature = "serde")]
#[test]
fn a_heartbeat_without_a_list_is_a_fifth_of_one_with_it_where_there_are_many_neighbours() {
    let mut sizes = [0, 0, 0];
    for node in CROWD.nodes.values() {
        let mut member = node.member().unwrap().clone();
        let neighbours = member.peers.neighbours().count() as u16;
        if neighbours <= Config::DEFAULT.listed {
            continue;
        }
        let told = Told {
            own: node.load(),
            ..Told::default()
        };
        let account = member.account();
        let (own, yours) = (Shared::new(member.entry()), member.epoch);
        let length = |message: Message<4>| postcard::to_allocvec(&message).unwrap().len();
        sizes[0] += length(Message::Heartbeat { account, told });
        sizes[1] += length(Message::Here {
            own,
            yours: Some(yours),
            neighbours,
            told,
        });
        sizes[2] += length(Message::Pulse {
            life: member.name.life,
            epoch: member.epoch,
            yours,
            neighbours,
            told,
        });
    }
    assert!(
        sizes[1] * 5 < sizes[0] && sizes[2] * 4 < sizes[1],
        "{sizes:?}"
    );
}

impl<const D: usize> Can<D> {
    pub(super) fn member_mut(&mut self) -> &mut Member<D> {
        match &mut self.life {
            Life::Inside(member) => member,
            _ => panic!("it has no zone"),
        }
    }
}
