//! Joining, leaving, and how the neighbours of a lost node close the gap (PROTOCOLS 4.3).

use core::mem;

use super::reunion::Reunion;
use super::{
    Blatant, Change, GAPS, Key, Life, Message, Neighbourhood, Nodes, Notice, Purpose, Record,
};
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::contacts::HALF;
use crate::rng::Choose;

impl Blatant {
    /// Asks a node of the overlay for a link, and keeps it as a contact.
    pub(super) fn join(&mut self, introducer: NodeId, cx: &mut dyn Context<Self>) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if introducer == self.me {
            return;
        }
        running.introducer = Some((introducer, self.config.patience));
        running.reunion = Reunion::default();
        let iteration = running.iteration;
        running.reunion.ask(introducer, iteration, &self.config);
        self.know(introducer, cx);
        self.ask_introducer(cx);
    }

    /// Keeps a node as a contact.
    pub(super) fn know(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        if let Life::Running(_) = self.life
            && peer != self.me
            && !self.contacts.known().contains(&peer)
        {
            self.note([peer], cx);
        }
    }

    /// Asks the introducer for a link, a few times or until this node has a link that it asked for: a link that a peer
    /// asked for may lead to that peer alone. Returns whether it asked.
    pub(super) fn ask_introducer(&mut self, cx: &mut dyn Context<Self>) -> bool {
        let Life::Running(running) = &mut self.life else {
            return false;
        };
        if running.change != Change::Idle {
            return false;
        }
        let Some((introducer, times)) = running.introducer.take() else {
            return false;
        };
        if self.neighbours.contains(introducer) {
            return false;
        }
        let times = times.checked_sub(1);
        running.introducer = times.map(|times| (introducer, times));
        self.ask(introducer, Purpose::Construction, self.config.detours, cx);
        true
    }

    /// Asks a peer that is not seen for a link, one that did not answer or a contact: the two may be on different
    /// islands. Returns whether it asked.
    pub(super) fn look_for_others(&mut self, cx: &mut dyn Context<Self>) -> bool {
        let Life::Running(running) = &mut self.life else {
            return false;
        };
        let (neighbours, sightings) = (&self.neighbours, &self.sightings);
        let iteration = running.iteration;
        let trusted = running.reunion.trusted(&self.config);
        let is_in =
            |peer| neighbours.contains(peer) || sightings.was_seen(peer, iteration, trusted);
        let mut peer = self.contacts.missed_due(iteration, |peer| !is_in(peer));
        if peer.is_none() && running.reunion.due <= iteration {
            peer = self.contacts.next_known(|peer| !is_in(peer));
            if let Some(peer) = peer {
                running.reunion.ask(peer, iteration, &self.config);
            }
        }
        let Some(peer) = peer else {
            return false;
        };
        self.ask(peer, Purpose::Construction, self.config.detours, cx);
        true
    }

    /// Writes a few neighbours to disk as contacts, for a time without neighbours.
    pub(super) fn remember(&mut self, cx: &mut dyn Context<Self>) {
        let mut ids = self.neighbours.ids();
        let (few, _) = cx.rng().sample(&mut ids, HALF);
        if !few.is_empty() {
            self.note(few.iter().copied(), cx);
        }
    }

    fn note(&mut self, peers: impl IntoIterator<Item = NodeId>, cx: &mut dyn Context<Self>) {
        self.contacts.note(peers);
        if let Some(record) = self.contacts.record([]) {
            cx.persist(Key::Known, Record::Known(record));
        }
    }

    /// An iteration without neighbours. After some of them, this node asks the next contact for a link. The contacts
    /// may all be gone, so when all were asked, it tells the host.
    pub(super) fn spend_iteration_alone(&mut self, cx: &mut dyn Context<Self>) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        running.alone = running.alone.saturating_add(1);
        if running.alone < self.config.patience || running.change != Change::Idle {
            return;
        }
        running.alone = 0;
        match self.contacts.next_for_help() {
            Some(known) => self.ask(known, Purpose::Construction, self.config.detours, cx),
            None => cx.notify(Notice::Alone),
        }
    }

    /// Pheromones fade. A neighbour that is silent for long is pinged, and counts as dead if it does not answer.
    pub(super) fn listen_for_neighbours(&mut self, cx: &mut dyn Context<Self>) {
        let Some(own) = self.neighbourhood() else {
            return;
        };
        let mut dead = Nodes::new();
        for neighbour in self.neighbours.iter_mut() {
            neighbour.decay(self.config.decay);
            if !neighbour.is_fainter_than(self.config.faint) {
                continue;
            }
            if neighbour.pings >= self.config.patience {
                dead.extend([neighbour.id]);
            } else {
                neighbour.pings = neighbour.pings.saturating_add(1);
                cx.send(neighbour.id, Message::Ping(own.clone()));
            }
        }
        self.bury(&dead, cx);
    }

    /// Removes dead neighbours, and notes the gaps that they leave.
    pub(super) fn bury(&mut self, dead: &[NodeId], cx: &mut dyn Context<Self>) {
        let before = self.neighbours.len();
        for peer in dead {
            let gone = self.disconnect(*peer, cx);
            self.alpha.forget(*peer);
            let Some(gone) = gone else {
                continue;
            };
            if let Some(around) = gone.around {
                self.close_gap(&around);
            }
            self.contacts.miss(*peer);
        }
        if self.neighbours.len() < before {
            self.publish(None, cx);
        }
    }

    /// A neighbour leaves: its neighbours close the gap.
    pub(super) fn on_leaving(
        &mut self,
        peer: NodeId,
        around: Neighbourhood,
        cx: &mut dyn Context<Self>,
    ) {
        if around.node == peer && self.disconnect(peer, cx).is_some() {
            self.alpha.forget(peer);
            self.close_gap(&around.tidied());
            self.publish(None, cx);
            self.mend(cx);
        }
    }

    /// Notes a gap. The neighbours of a lost node form a ring, in the order of ids. Each asks the next one for a link,
    /// or the one after that if no answer comes.
    fn close_gap(&mut self, around: &Neighbourhood) {
        let me = self.me;
        if !around.lists(me) {
            return;
        }
        let others = || around.neighbours.iter().copied();
        let behind = others().filter(|id| *id > me);
        let ring: Nodes = behind.chain(others().filter(|id| *id < me)).collect();
        if let Life::Running(running) = &mut self.life
            && !ring.is_empty()
        {
            if running.gaps.len() >= GAPS {
                running.gaps.remove(0);
            }
            running.gaps.push(ring);
        }
    }

    /// Asks for the link that closes the first gap. Returns whether there is a gap.
    pub(super) fn mend(&mut self, cx: &mut dyn Context<Self>) -> bool {
        let Life::Running(running) = &mut self.life else {
            return false;
        };
        let neighbours = &self.neighbours;
        let is_closed = |gap: &Nodes| gap.first().is_none_or(|next| neighbours.contains(*next));
        running.gaps.retain(|gap| !is_closed(gap));
        let Some(&next) = running.gaps.first().and_then(|gap| gap.first()) else {
            return false;
        };
        self.ask(next, Purpose::Construction, 0, cx);
        true
    }

    /// Tells the neighbours, and forgets all peers.
    pub(super) fn leave(&mut self, cx: &mut dyn Context<Self>) {
        if let Life::Running(running) = &self.life {
            let (incarnation, iteration) = (running.incarnation, running.iteration);
            if let Some(own) = self.neighbourhood() {
                for neighbour in self.neighbours.iter() {
                    cx.send(neighbour.id, Message::Leaving(own.clone()));
                }
            }
            for peer in self.neighbours.ids() {
                self.disconnect(peer, cx);
            }
            self.life = Life::Left { incarnation };
            self.alpha = super::Alpha::new(self.config.alpha);
            self.sightings = super::Sightings::new(self.config.sightings);
            cx.cancel(super::Timer { iteration });
            if mem::take(&mut self.contacts).is_written() {
                cx.forget(Key::Known);
            }
        }
    }
}
