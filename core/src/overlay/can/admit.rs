//! Getting a zone, and giving a part of it to a node that joins (PROTOCOLS 3.1).

use alloc::vec::Vec;

use super::Can;
use super::command::{Notice, Timer};
use super::config::{Config, PHASES};
use super::load::Load;
use super::member::Member;
use super::message::{Entries, Entry, Grant, MOST_NEIGHBOURS, Message, Name, Refusal};
use super::peers::Neighbour;
use super::search::{Hop, MOST_JOINS};
use super::space::Point;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::shared::Shared;
use crate::time::Span;

impl<const D: usize> Member<D> {
    /// A node that has just got a zone, with the neighbours named in its grant.
    pub(super) fn begin(
        config: Config,
        own: &Entry<D>,
        point: Point<D>,
        load: Load,
        neighbours: &Entries<D>,
        cx: &mut dyn Context<Can<D>>,
    ) -> Self {
        // At a random point of the period, so that nodes that start together do not act together.
        let phase = u64::from(cx.rng().below(PHASES)).saturating_add(1);
        let period = config.period.as_micros();
        let part = period.checked_div(u64::from(PHASES)).unwrap_or(0);
        let due = cx.now() + Span::from_micros(part).times(phase);
        let mut member = Self::new(config, own, point, load, due);
        member.listed = neighbours.clone();
        cx.wake(due, Timer::Beat(0));
        for entry in neighbours.iter() {
            let face = member.leaf.zone.neighbour_face(&entry.zone);
            if face.is_some() && entry.name.id != member.name.id {
                let peer = Neighbour::new(entry.clone(), face, cx.now());
                member.peers.insert(peer);
            }
        }
        member.tell_all(cx);
        member
    }

    /// Gives a joiner a part of the zone, or passes the request on towards the owner of the point.
    pub(super) fn answer_join(
        &mut self,
        from: NodeId,
        joiner: Name,
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let refuse = |why| Message::Refused {
            life: joiner.life,
            why,
        };
        if joiner.id == self.name.id {
            return;
        }
        match self.onward(from, joiner.id, &point, hops) {
            (Hop::Here, _) => {
                if let Err(why) = self.grant(joiner, &point, cx) {
                    cx.send(joiner.id, refuse(why));
                }
            }
            (Hop::To(next), Some(hops)) => {
                // Only a request that has been passed on can go round. Any number of nodes may join through one.
                let is_first = from == joiner.id;
                if !is_first && !self.passes_on(joiner, point, MOST_JOINS, cx.now()) {
                    return;
                }
                self.meet(joiner.id);
                cx.send(
                    next,
                    Message::Join {
                        joiner,
                        point,
                        hops,
                    },
                );
            }
            (Hop::Stuck | Hop::To(_), _) => cx.send(joiner.id, refuse(Refusal::Busy)),
        }
    }

    /// Splits the zone between this node and a joiner, and tells all neighbours.
    fn grant(
        &mut self,
        joiner: Name,
        point: &Point<D>,
        cx: &mut dyn Context<Can<D>>,
    ) -> Result<(), Refusal> {
        if self.bury_earlier_lives(joiner, cx.now()) {
            self.settle(cx);
        }
        let lives = self.peers.lives(joiner.id);
        let is_known = lives.iter().any(|peer| joiner <= peer.entry.name);
        let is_changing = self.is_changing(cx.now());
        if is_known || is_changing {
            return Err(Refusal::Busy);
        }
        let Some((own, part)) = self.leaf.split(&self.point, point) else {
            return Err(Refusal::SamePoint);
        };
        let touching = self.peers.neighbours().map(|peer| &peer.entry);
        let touching = touching.filter(|entry| part.zone.neighbour_face(&entry.zone).is_some());
        let neighbours = self.peers.neighbours().count();
        let mut around: Vec<_> = touching.cloned().collect();
        // A neighbour that touches both parts gets one more neighbour.
        let is_crowded = |peer: &Neighbour<D>| {
            usize::from(peer.crowd) >= MOST_NEIGHBOURS
                && own.zone.neighbour_face(&peer.entry.zone).is_some()
                && part.zone.neighbour_face(&peer.entry.zone).is_some()
        };
        if neighbours.max(around.len()) >= MOST_NEIGHBOURS
            || self.peers.neighbours().any(is_crowded)
        {
            return Err(Refusal::Full);
        }
        let granted = Entry {
            name: joiner,
            epoch: 0,
            rank: self.rank,
            zone: part.zone,
            history: part.history,
        };
        let old: Vec<_> = self.peers.neighbours().map(Neighbour::id).collect();
        self.change_to(own);
        self.refresh_faces();
        let face = self.leaf.zone.neighbour_face(&granted.zone);
        self.peers
            .insert(Neighbour::new(granted.clone(), face, cx.now()));
        around.push(self.entry());
        around.sort_unstable_by_key(|entry| entry.name);
        let grant = Grant {
            own: granted,
            neighbours: around.into_iter().collect(),
        };
        cx.send(joiner.id, Message::Grant(Shared::new(grant)));
        // Former neighbours are told, too, so that they know the smaller zone.
        for id in old {
            self.tell(id, cx);
        }
        self.peers
            .retain(|peer| peer.is_gone() || peer.is_neighbour() || peer.watched);
        cx.notify(Notice::Zone);
        Ok(())
    }
}
