//! Three nodes at rest, and what one of them does at an event.

use std::vec::Vec;

use super::super::*;
use super::network::Network;
use crate::machine::{Effect, EffectQueue};
use crate::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Three nodes at rest: the first founded the space, the second has its upper half, the third a part of the lower half.
pub(super) struct Three {
    pub(super) nodes: [Can<2>; 3],
    pub(super) now: Time,
}

impl Three {
    pub(super) fn new() -> Self {
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

    pub(super) fn entry(&self, node: usize) -> Entry<2> {
        self.nodes[node].entry().unwrap()
    }

    /// The zone of the first node when the third is gone.
    pub(super) fn lower_half(&self) -> Zone<2> {
        let plane = self.entry(1).zone.stretches()[0].from();
        Zone::new([(0, plane), (0, END)].map(|(from, to)| Stretch::new(from, to).unwrap()))
    }

    pub(super) fn feed(&mut self, node: usize, event: Event<Can<2>>) -> Vec<Effect<Can<2>>> {
        feed(&mut self.nodes[node], event, self.now)
    }

    /// Lets the first node claim the zone of the third, known to it by this epoch. Returns what the second node answers
    /// about the third.
    pub(super) fn examined(&self, at: Time, epoch: u32) -> Vec<Message<2>> {
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

pub(super) fn feed(node: &mut Can<2>, event: Event<Can<2>>, now: Time) -> Vec<Effect<Can<2>>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut effects = EffectQueue::new();
    effects.feed(node, event, now, &mut rng);
    node.check().unwrap();
    effects.drain().collect()
}

pub(super) fn sent(effects: Vec<Effect<Can<2>>>, peer: NodeId) -> Vec<Message<2>> {
    let sent = effects.into_iter().filter_map(|effect| match effect {
        Effect::Send { to, message } if to == peer => Some(message),
        _ => None,
    });
    sent.collect()
}

/// When the take-over goes on, and the timer for that.
pub(super) fn wait(effects: &[Effect<Can<2>>]) -> Option<(Time, Timer)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Wake {
            at,
            timer: timer @ Timer::Takeover(_),
        } => Some((*at, *timer)),
        _ => None,
    })
}
