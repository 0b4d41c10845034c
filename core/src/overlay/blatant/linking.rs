//! New links: the connection rule, and links that hold the overlay together (PROTOCOLS 4.2, 4.3).

use alloc::vec::Vec;

use super::routes::Routes;
use super::{
    Blatant, Change, ChangeId, Life, MOST_LINKS, MOST_RECORDS, Message, Neighbourhood, Purpose,
};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

impl Blatant {
    /// Asks for a link, if no other change is under way.
    pub(super) fn ask(
        &mut self,
        peer: NodeId,
        purpose: Purpose,
        detours: u8,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(own) = self.neighbourhood() else {
            return;
        };
        let around = self.neighbours.iter().filter_map(|it| it.around.clone());
        let around: Vec<_> = [own].into_iter().chain(around).take(MOST_RECORDS).collect();
        let deadline = cx.now() + self.config.timeout;
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if running.change != Change::Idle || peer == self.me || self.neighbours.contains(peer) {
            return;
        }
        let change = running.next_change();
        running.change = Change::Linking {
            change,
            peer,
            purpose,
            detours,
            deadline,
        };
        let link = Message::Link {
            change,
            purpose,
            detours,
            around,
        };
        cx.send(peer, link);
    }

    /// The connection rule: asks a peer that is too far away for a link, if there is room.
    pub(super) fn link_to_someone_far(&mut self, routes: &Routes, cx: &mut dyn Context<Self>) {
        let Life::Running(running) = &self.life else {
            return;
        };
        if self.has_room_to_optimise() {
            let far = routes.beyond(self.config.far());
            let iteration = running.iteration;
            let patience = u32::from(self.config.suspense);
            let is_far = |id: &NodeId| self.sightings.is_far(*id, iteration, patience);
            let far: Vec<NodeId> = far.filter(is_far).collect();
            if let Some(peer) = cx.rng().pick(&far) {
                self.ask(*peer, Purpose::Optimisation, 0, cx);
            }
        }
    }

    /// A single crash would cut off a node with fewer than two links: it asks the farthest node that it knows for one.
    pub(super) fn link_to_someone(&mut self, routes: &Routes, cx: &mut dyn Context<Self>) {
        let farthest = routes.beyond(2).filter_map(|id| routes.distance(id)).max();
        let Some(farthest) = farthest else {
            return;
        };
        let candidates: Vec<NodeId> = routes.beyond(farthest).collect();
        if let Some(peer) = cx.rng().pick(&candidates) {
            self.ask(*peer, Purpose::Construction, self.config.detours, cx);
        }
    }

    fn has_room_to_optimise(&self) -> bool {
        self.neighbours.len() < usize::from(self.config.links)
            && self.neighbours.optimising() < usize::from(self.config.optimising)
    }

    /// A peer asks for a link.
    pub(super) fn on_link(
        &mut self,
        from: NodeId,
        change: ChangeId,
        purpose: Purpose,
        detours: u8,
        mut around: Vec<Neighbourhood>,
        cx: &mut dyn Context<Self>,
    ) {
        around.truncate(MOST_RECORDS);
        let Some(own) = around.first().filter(|own| own.node == from) else {
            return;
        };
        let own = own.clone().tidied();
        for record in &around {
            self.learn(record);
        }
        // A neighbour that asks again has not received the answer, or has lost its links in a crash.
        let verdict = if self.neighbours.contains(from) {
            Ok(())
        } else {
            match purpose {
                Purpose::Construction => self.may_construct(from, detours, cx),
                Purpose::Optimisation => self.may_optimise(from),
            }
        };
        match verdict {
            Ok(()) => {
                self.connect(from, purpose, own, cx);
                if let Some(own) = self.neighbourhood() {
                    cx.send(from, Message::Linked { change, own });
                }
                self.publish(Some(from), cx);
            }
            Err((instead, around)) => {
                let refused = Message::Refused {
                    change,
                    instead,
                    around,
                };
                cx.send(from, refused);
            }
        }
    }

    /// Accepts a joiner or a repair, unless this node is full and another can take it; then it names a neighbour.
    fn may_construct(
        &self,
        from: NodeId,
        detours: u8,
        cx: &mut dyn Context<Self>,
    ) -> Result<(), (Option<NodeId>, Vec<Neighbourhood>)> {
        let links = self.neighbours.len();
        let is_full = links >= usize::from(self.config.links);
        let can_drop = self.neighbours.optimising() > 0 && links < MOST_LINKS;
        if !is_full || can_drop || (detours == 0 && links < MOST_LINKS) {
            return Ok(());
        }
        let others = self.neighbours.iter().map(|it| it.id);
        let others: heapless::Vec<NodeId, MOST_LINKS> = others.filter(|id| *id != from).collect();
        Err((cx.rng().pick(&others).copied(), Vec::new()))
    }

    /// Accepts a link that makes ways shorter, if there is room and no short way is known here either.
    fn may_optimise(&self, from: NodeId) -> Result<(), (Option<NodeId>, Vec<Neighbourhood>)> {
        let Life::Running(running) = &self.life else {
            return Err((None, Vec::new()));
        };
        let asks = matches!(running.change, Change::Linking { .. });
        if asks || !self.has_room_to_optimise() {
            return Err((None, Vec::new()));
        }
        let Some(routes) = self.routes() else {
            return Err((None, Vec::new()));
        };
        if self.sightings.is_near(from) {
            return Err((None, Vec::new()));
        }
        match routes.distance(from) {
            Some(distance) if distance < self.config.far() => {
                let way = routes.way_to(from);
                let mut told: Vec<_> = self.neighbourhood().into_iter().collect();
                let others = self.records().filter(|record| way.contains(&record.node));
                told.extend(others.take(MOST_RECORDS.saturating_sub(1)).cloned());
                Err((None, told))
            }
            _ => Ok(()),
        }
    }

    /// The peer that was asked for a link has added it.
    pub(super) fn on_linked(
        &mut self,
        from: NodeId,
        answered: ChangeId,
        own: Neighbourhood,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if own.node != from {
            return;
        }
        let own = own.tidied();
        match running.change {
            Change::Linking {
                change,
                peer,
                purpose,
                ..
            } if change == answered && peer == from => {
                running.change = Change::Idle;
                running.mended(from, purpose);
                if self.connect(from, purpose, own, cx) {
                    self.publish(None, cx);
                } else {
                    cx.send(from, Message::NotLinked);
                }
            }
            _ => {
                self.hear(from, own, cx);
            }
        }
    }

    /// The peer that was asked for a link refuses. It may name another peer, which is asked next.
    pub(super) fn on_refused(
        &mut self,
        from: NodeId,
        answered: ChangeId,
        instead: Option<NodeId>,
        around: &[Neighbourhood],
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        let Change::Linking {
            change,
            peer,
            purpose,
            detours,
            ..
        } = running.change
        else {
            return;
        };
        if change != answered || peer != from {
            return;
        }
        running.change = Change::Idle;
        running.could_not_mend(from);
        self.contacts.hear(from);
        for record in around.iter().take(MOST_RECORDS) {
            self.learn(record);
        }
        if let Some(other) = instead
            && let Some(detours) = detours.checked_sub(1)
        {
            self.ask(other, purpose, detours, cx);
        }
    }
}
