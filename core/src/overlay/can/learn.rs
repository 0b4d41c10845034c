//! What a node learns of other nodes from third parties, and what it tells in return.

use super::Can;
use super::member::Member;
use super::message::{Account, Entry, Message};
use super::peers::Neighbour;
use super::tell::introduce;
use super::zone::Zone;
use crate::machine::Context;

impl<const D: usize> Member<D> {
    /// A sender tells of another node. It is believed unless that contradicts a peer that told of itself.
    pub(super) fn learn(&mut self, entry: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        let name = entry.name;
        let later_life = |peer: &Neighbour<D>| peer.entry.name > name;
        if name.id == self.name.id || self.peers.lives(name.id).iter().any(later_life) {
            return;
        }
        let face = self.leaf.zone.neighbour_face(&entry.zone);
        let overlaps = entry.zone.overlaps(&self.leaf.zone);
        if let Some(peer) = self.peers.get_mut(name) {
            if peer.entry.epoch < entry.epoch && overlaps {
                self.tell(name.id, cx);
            } else if peer.entry.epoch < entry.epoch {
                peer.entry = entry.clone();
                peer.face = face;
                self.touch();
            }
            return;
        }
        if overlaps {
            // One of the two has lost its zone: they find out which.
            self.tell(name.id, cx);
            return;
        }
        let contradicts =
            |peer: &Neighbour<D>| peer.first_hand && peer.entry.zone.overlaps(&entry.zone);
        let is_contradicted = self.peers.living().any(contradicts);
        if (face.is_none() && !self.is_in_the_way(&entry.zone))
            || (is_contradicted && !self.could_be_at(&entry.zone))
        {
            return;
        }
        // A zone that becomes free is settled at the next beat. Many nodes are learned of at once, and each take-over
        // learns of more: forged entries must not cascade.
        self.bury_earlier_lives(name, cx.now());
        let mut peer = Neighbour::new(entry.clone(), face, cx.now());
        peer.watched = face.is_none();
        if self.peers.insert(peer) {
            self.touch();
            self.tell(name.id, cx);
        }
    }

    /// Whether a node may still have this zone, or had it until it was gone, as far as peers told of themselves. An
    /// heir may have taken its part of it while the part beside this node's zone is free.
    pub(super) fn could_be_at(&self, zone: &Zone<D>) -> bool {
        let contact = self.leaf.zone.contact(zone);
        let certain = self.peers.neighbours().filter(|peer| peer.first_hand);
        contact.is_some_and(|contact| !contact.is_covered(certain.map(|peer| &peer.entry.zone)))
    }

    /// Compares a peer's neighbours with the own: learns of some, and introduces others.
    pub(super) fn compare(&mut self, account: &Account<D>, cx: &mut dyn Context<Can<D>>) {
        let (name, zone) = (account.own.name, &account.own.zone);
        let theirs = &account.neighbours;
        for entry in theirs.iter() {
            let known = self.peers.get(entry.name);
            match known.filter(|known| known.is_dead()) {
                Some(dead) => cx.send(name.id, Message::Obituary(dead.account())),
                None => self.learn(entry, cx),
            }
        }
        let unknown_there = |peer: &&Neighbour<D>| {
            let listed = theirs.get(peer.entry.name);
            let news = listed.is_none_or(|entry| entry.epoch < peer.entry.epoch);
            news && peer.first_hand
                && peer.entry.name != name
                && peer.entry.zone.neighbour_face(zone).is_some()
        };
        let introduced = self.peers.neighbours().filter(unknown_there);
        introduce(name.id, introduced, cx);
    }

    /// Answers the account of a neighbour: tells it what it does not know, and learns from it.
    pub(super) fn answer(&mut self, account: &Account<D>, cx: &mut dyn Context<Can<D>>) {
        let listed = account.neighbours.get(self.name).map(|entry| entry.epoch);
        if listed != Some(self.epoch) {
            self.tell(account.own.name.id, cx);
        }
        self.compare(account, cx);
    }
}
