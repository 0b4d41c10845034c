//! Heartbeats: what a node does in each period, and how it takes the heartbeat of a peer.

use alloc::vec::Vec;

use super::Can;
use super::command::Timer;
use super::load::Told;
use super::member::{Early, Member, Outcome};
use super::message::{Account, Entries, Entry, Message, Name};
use super::peers::{Neighbour, Presence};
use crate::id::NodeId;
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// What the sender of a heartbeat tells of itself.
#[derive(Clone, Copy)]
pub(super) struct Word<'a, const D: usize> {
    pub own: &'a Entry<D>,
    pub list: List<'a, D>,
    pub told: Told,
}

/// Whether the sender lists its neighbours.
#[derive(Clone, Copy)]
pub(super) enum List<'a, const D: usize> {
    Told(&'a Shared<Account<D>>),
    /// The sender tells how many neighbours it has, and which epoch of the receiver's zone it knows.
    Untold {
        yours: Option<u32>,
        neighbours: u16,
    },
}

impl<const D: usize> List<'_, D> {
    /// How many neighbours the sender has.
    fn crowd(&self) -> u16 {
        match self {
            Self::Told(account) => {
                u16::try_from(account.get().neighbours.len()).unwrap_or(u16::MAX)
            }
            Self::Untold { neighbours, .. } => *neighbours,
        }
    }
}

impl<'a, const D: usize> Word<'a, D> {
    /// A heartbeat that lists the neighbours.
    pub(super) fn with_list(account: &'a Shared<Account<D>>, told: Told) -> Self {
        Self {
            own: &account.get().own,
            list: List::Told(account),
            told,
        }
    }
}

/// The heartbeat of a sender whose zone has not changed.
#[derive(Clone, Copy)]
pub(super) struct Pulse {
    pub epoch: u32,
    pub yours: u32,
    pub neighbours: u16,
}

impl<const D: usize> Member<D> {
    /// Begins the next period, if the timer is the current one and is due.
    pub(super) fn beat(&mut self, beat: u32, cx: &mut dyn Context<Can<D>>) {
        if beat != self.beat {
            return;
        }
        if cx.now() < self.due {
            cx.wake(self.due, Timer::Beat(beat));
            return;
        }
        if let Early::Told(at) = self.early
            && cx.now() < at + self.config.period
        {
            self.early = Early::PutOff;
            self.due = at + self.config.period;
            cx.wake(self.due, Timer::Beat(beat));
            return;
        }
        self.early = Early::No;
        self.beat = beat.wrapping_add(1);
        self.due = cx.now() + self.config.period;
        cx.wake(self.due, Timer::Beat(self.beat));
        self.passed_on.clear();
        self.miss_the_silent(cx);
        self.forget(cx);
        if self.calm != Some(self.edition) {
            self.note_replaced();
            self.watch(cx);
            self.notice_gaps();
            self.settle(cx);
            self.look_beyond();
            self.seek_neighbours(cx);
            self.despair(cx);
            let is_calm = self.gaping == 0 && !self.is_disturbed() && !self.is_unsettled();
            self.calm = is_calm.then_some(self.edition);
        }
        self.seek_itself_at_times(beat, cx);
        self.tell_all(cx);
    }

    /// Sends a heartbeat before it is due. The next regular one is put off, but only once: a node with news at all times
    /// also has to miss silent neighbours.
    pub(super) fn tell_early(&mut self, cx: &mut dyn Context<Can<D>>) {
        if self.early != Early::PutOff {
            self.early = Early::Told(cx.now());
        }
        self.tell_all(cx);
    }

    /// A sender that lists its neighbours is up, and nothing is new.
    pub(super) fn hear_beat(
        &mut self,
        name: Name,
        edition: u32,
        told: Told,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let own_edition = self.edition;
        let known = self.peers.get_mut(name);
        let known = known.filter(|peer| peer.is_living() && peer.first_hand);
        let Some(peer) = known else {
            cx.send(name.id, Message::Ping);
            return;
        };
        match &peer.last {
            Some(last) if last.get().edition == edition && last.get().own == peer.entry => {
                peer.heard = cx.now();
                peer.told = told;
                if peer.compared != Some((edition, own_edition)) {
                    peer.compared = Some((edition, own_edition));
                    let last = last.clone();
                    self.answer(last.get(), cx);
                }
            }
            Some(last) if last.get().edition > edition => {}
            _ => cx.send(name.id, Message::Ping),
        }
    }

    /// A sender that does not list its neighbours is up, and its zone has not changed.
    pub(super) fn hear_pulse(
        &mut self,
        name: Name,
        pulse: Pulse,
        told: Told,
        cx: &mut dyn Context<Can<D>>,
    ) -> Outcome {
        let known = self.peers.get_mut(name).filter(|peer| peer.is_living());
        match known {
            Some(peer) if peer.entry.epoch == pulse.epoch && peer.first_hand => {
                peer.heard = cx.now();
                peer.told = told;
                peer.crowd = pulse.neighbours;
                peer.last = None;
                if pulse.yours < self.epoch {
                    let own = peer.entry.clone();
                    self.set_right(&own, cx);
                }
            }
            // So far only other nodes told of this zone. Now its owner does.
            Some(peer) if peer.entry.epoch == pulse.epoch => {
                let own = &peer.entry.clone();
                let list = List::Untold {
                    yours: Some(pulse.yours),
                    neighbours: pulse.neighbours,
                };
                return self.hear(name.id, Word { own, list, told }, cx);
            }
            Some(peer) if peer.entry.epoch > pulse.epoch => {}
            _ => cx.send(name.id, Message::Ping),
        }
        Outcome::Stays
    }

    /// A sender tells of itself.
    pub(super) fn hear(
        &mut self,
        from: NodeId,
        word: Word<'_, D>,
        cx: &mut dyn Context<Can<D>>,
    ) -> Outcome {
        let own = word.own;
        let name = own.name;
        if name.id != from || from == self.name.id {
            return Outcome::Stays;
        }
        let lives = self.peers.lives(from);
        if lives.iter().any(|peer| peer.entry.name > name) {
            return Outcome::Stays;
        }
        if let Some(peer) = self.peers.get(name) {
            let presence = peer.presence;
            let is_late = match word.list {
                List::Told(account) => {
                    let known = (peer.entry.epoch, peer.edition());
                    known > (own.epoch, Some(account.get().edition))
                }
                List::Untold { .. } => peer.entry.epoch > own.epoch,
            };
            if let Presence::Dead { since } = presence
                && !self.may_rise(own, since, cx)
            {
                return Outcome::Stays;
            }
            if is_late {
                return Outcome::Stays;
            }
        }
        if self.bury_earlier_lives(name, cx.now()) {
            self.settle(cx);
        }
        if own.zone.overlaps(&self.leaf.zone) {
            if self.entry().prevails_over(own) {
                self.tell(from, cx);
                return Outcome::Stays;
            }
            if !self.retreat_from(&own.zone, cx) {
                return self.yield_to(from, cx);
            }
        }
        let is_first_word = !self.peers.get(name).is_some_and(|peer| peer.first_hand);
        let is_neighbour = self.note(word, cx);
        match word.list {
            List::Told(account) if is_neighbour => {
                // A peer that is heard for the first time may not have heard of this node either.
                if is_first_word {
                    self.tell(from, cx);
                }
                let account = account.get();
                let compared = Some((account.edition, self.edition));
                if let Some(peer) = self.peers.get_mut(name)
                    && peer.compared != compared
                {
                    peer.compared = compared;
                    self.answer(account, cx);
                }
            }
            List::Told(account) => {
                // The sender lists this node as a neighbour because it knows an earlier zone of it.
                let listed = account.get().neighbours.get(self.name);
                if listed.is_some_and(|entry| entry.epoch < self.epoch) {
                    self.tell(from, cx);
                }
                // The two zones do not touch, so another node has the space between. One of the two may know that node.
                self.compare(account.get(), cx);
            }
            List::Untold {
                yours: Some(yours), ..
            } if yours < self.epoch => self.set_right(own, cx),
            List::Untold { yours: Some(_), .. } => {
                if is_neighbour && is_first_word {
                    self.confirm(own, cx);
                }
            }
            List::Untold { yours: None, .. } => {
                if is_neighbour {
                    self.tell(from, cx);
                }
            }
        }
        Outcome::Stays
    }

    /// Whether a peer that is held to be dead, and tells of itself, is up after all. If other nodes have its zone, it
    /// is told so, but not at once again: a peer that does not know this node would repeat its heartbeat, and two such
    /// nodes would answer each other without end.
    fn may_rise(&mut self, own: &Entry<D>, since: Time, cx: &mut dyn Context<Can<D>>) -> bool {
        let (name, now) = (own.name, cx.now());
        let is_mine = own.zone.overlaps(&self.leaf.zone);
        let others = self.peers.living().filter(|peer| peer.first_hand);
        let owners = others.filter(|peer| peer.entry.zone.overlaps(&own.zone));
        let owners: Entries<D> = owners.map(|peer| peer.entry.clone()).collect();
        if !is_mine && owners.is_empty() {
            // A heartbeat from before it left may arrive late.
            return since + self.config.period <= now;
        }
        let pause = Span::from_micros(self.config.period.as_micros() / 4);
        if let Some(peer) = self.peers.get_mut(name) {
            if peer.warned.is_some_and(|warned| now < warned + pause) {
                return false;
            }
            peer.warned = Some(now);
        }
        cx.send(name.id, Message::Evicted(name.life));
        if is_mine {
            self.tell(name.id, cx);
        } else {
            cx.send(name.id, Message::Introduction(owners));
        }
        false
    }

    /// Records what a peer tells of itself if it is a neighbour, watched, or in the way. Returns whether it is a
    /// neighbour.
    fn note(&mut self, word: Word<'_, D>, cx: &mut dyn Context<Can<D>>) -> bool {
        let own = word.own;
        let face = self.leaf.zone.neighbour_face(&own.zone);
        let known = self.peers.get(own.name);
        let is_watched = known.is_some_and(|peer| peer.watched) || self.is_in_the_way(&own.zone);
        if face.is_none() && !is_watched {
            if self.peers.remove(own.name).is_some() {
                self.touch();
            }
            return false;
        }
        let is_news = known.is_none_or(|peer| {
            !peer.is_living() || !peer.first_hand || peer.entry.epoch < own.epoch
        });
        if known.is_none() {
            let mut peer = Neighbour::new(own.clone(), face, cx.now());
            peer.watched = is_watched;
            if !self.peers.insert(peer) {
                return false;
            }
        }
        if let Some(peer) = self.peers.get_mut(own.name) {
            if is_news {
                peer.entry = own.clone();
                peer.face = face;
                peer.presence = Presence::Living;
                peer.replaced = false;
                peer.first_hand = true;
            }
            peer.last = match word.list {
                List::Told(account) => {
                    if peer.edition() != Some(account.get().edition) {
                        self.calm = None;
                    }
                    Some(account.clone())
                }
                List::Untold { .. } => None,
            };
            peer.crowd = word.list.crowd();
            peer.heard = cx.now();
            peer.told = word.told;
        }
        if is_news {
            self.contacts.hear(own.name.id);
            self.touch();
            self.doubt_what_contradicts(own, cx);
        }
        face.is_some()
    }

    /// The owner of a zone has told of it. Peers that overlap it and never told of themselves are dropped, unless they
    /// may still be beside this zone. The other peers that overlap it are pinged.
    fn doubt_what_contradicts(&mut self, told: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        let contradicts = |peer: &Neighbour<D>| {
            peer.is_living() && peer.entry.name != told.name && peer.entry.zone.overlaps(&told.zone)
        };
        let hearsay = self
            .peers
            .iter()
            .filter(|peer| !peer.first_hand && contradicts(peer));
        let spare = hearsay.filter(|peer| !self.could_be_at(&peer.entry.zone));
        for name in spare.map(|peer| peer.entry.name).collect::<Vec<_>>() {
            self.peers.remove(name);
            self.touch();
        }
        let others = self.peers.iter().filter(|peer| contradicts(peer));
        for id in others.map(Neighbour::id).collect::<Vec<_>>() {
            cx.send(id, Message::Ping);
        }
    }

    /// A peer holds this node to be dead, and its zone to be taken. If both hold that of each other, the node with the
    /// lower id stays, so that not both go.
    pub(super) fn on_evicted(&mut self, by: NodeId, cx: &mut dyn Context<Can<D>>) -> Outcome {
        let lives = self.peers.lives(by);
        if lives.is_empty() {
            return Outcome::Stays;
        }
        let is_replaced =
            |peer: &&Neighbour<D>| peer.is_dead() && peer.entry.zone.overlaps(&self.leaf.zone);
        let replaced = lives.iter().rev().find(is_replaced);
        if let Some(peer) = replaced.filter(|_| self.name.id < by) {
            cx.send(by, Message::Evicted(peer.entry.name.life));
            return Outcome::Stays;
        }
        self.yield_to(by, cx)
    }

    /// Other nodes have the zone, or a part of it: tells the neighbours that this node is gone, and joins anew.
    pub(super) fn yield_to(&mut self, to: NodeId, cx: &mut dyn Context<Can<D>>) -> Outcome {
        self.tell_the_end(cx);
        Outcome::Yielded { to }
    }
}
