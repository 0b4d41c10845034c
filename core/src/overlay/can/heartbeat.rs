//! Heartbeats: how neighbours know of each other's zones, of each other, and of the load beyond.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::load::{Load, Told};
use super::member::{Member, Outcome};
use super::message::{Account, Beyond, Entries, Entry, Message, Name, Shared};
use super::peers::{Neighbour, Standing};
use super::zone::{Face, Side, Zone};
use super::{Can, Timer};
use crate::id::NodeId;
use crate::machine::Context;
use crate::time::{Span, Time};

/// Up to how many neighbours a node tells of those beyond.
const FEW: usize = 8;

/// Of how many at most, neighbours of neighbours and their neighbours alike.
const MOST_BEYOND: usize = 16;

impl<const D: usize> Member<D> {
    /// A period begins, if it is this one's turn.
    pub(super) fn beat(&mut self, beat: u32, cx: &mut impl Context<Can<D>>) {
        if beat != self.beat {
            return;
        }
        if cx.now() < self.due {
            cx.wake(self.due, Timer::Beat(beat));
            return;
        }
        self.beat = beat.wrapping_add(1);
        self.due = cx.now() + self.config.period;
        cx.wake(self.due, Timer::Beat(self.beat));
        self.passed_on = Vec::new();
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

    /// What this node tells of itself.
    pub(super) fn account(&mut self) -> Shared<Account<D>> {
        if let Some(account) = &self.account {
            return account.clone();
        }
        let neighbours = self.peers.neighbours().map(|peer| peer.entry.clone());
        let account = Shared::new(Account {
            own: self.entry(),
            edition: self.edition,
            neighbours: neighbours.collect(),
            beyond: self.beyond.clone(),
        });
        self.account = Some(account.clone());
        account
    }

    /// Who is beyond the neighbours, if these are few.
    fn look_beyond(&mut self) {
        let few = self.peers.neighbours().count() <= FEW;
        let beyond = few.then(|| Beyond {
            second: self.those_named(|last| Some(&last.neighbours)),
            third: self.those_named(|last| last.beyond.as_ref().map(|beyond| &beyond.second)),
        });
        if self.beyond != beyond {
            self.beyond = beyond;
            self.touch();
        }
    }

    /// Whom the neighbours name in one of their lists, and who is not known, in the order of names.
    fn those_named(&self, list: impl Fn(&Account<D>) -> Option<&Entries<D>>) -> Entries<D> {
        let accounts = self.peers.neighbours().flat_map(|peer| &peer.last);
        let lists = accounts.filter_map(|last| list(last.get()));
        let unknown = |entry: &&Entry<D>| {
            entry.name.id != self.name.id && self.peers.get(entry.name).is_none()
        };
        let mut named: Vec<_> = lists.flat_map(Entries::iter).filter(unknown).collect();
        named.sort_unstable_by_key(|entry| (entry.name, Reverse(entry.epoch)));
        named.dedup_by_key(|entry| entry.name);
        named.into_iter().take(MOST_BEYOND).cloned().collect()
    }

    /// There is something new to tell.
    pub(super) fn touch(&mut self) {
        self.edition = self.edition.saturating_add(1);
        self.account = None;
    }

    /// Sends a heartbeat to everyone at a face of the zone, also to who is missed but may be there: with the account if that is new,
    /// short if not.
    pub(super) fn tell_all(&mut self, cx: &mut impl Context<Can<D>>) {
        let (life, edition) = (self.name.life, self.edition);
        let is_new = self.told != Some(edition);
        let account = is_new.then(|| self.account());
        self.told = Some(edition);
        for (to, told) in self.told_to_all() {
            let message = match account.clone() {
                Some(account) => Message::Heartbeat { account, told },
                None => Message::Beat {
                    life,
                    edition,
                    told,
                },
            };
            cx.send(to, message);
        }
    }

    /// Sends a heartbeat with the account to one node, whoever it is.
    pub(super) fn tell(&mut self, to: NodeId, cx: &mut impl Context<Can<D>>) {
        let account = self.account();
        let known = self.told_to_all().find(|(id, _)| *id == to);
        let stranger = Told {
            own: self.load,
            ..Told::default()
        };
        let told = known.map_or(stranger, |(_, told)| told);
        cx.send(to, Message::Heartbeat { account, told });
    }

    /// What to tell of load to everyone at a face of the zone.
    ///
    /// The load beyond and here goes down in parts, by the areas in which the lower neighbours touch this zone. The parts are cut
    /// out of the whole side by side, so that they sum up to it exactly.
    fn told_to_all(&self) -> impl Iterator<Item = (NodeId, Told)> {
        let mut wholes = [0_u64; D];
        for peer in self.peers.neighbours() {
            if let Some(whole) = lower(peer).and_then(|k| wholes.get_mut(k)) {
                *whole = whole.saturating_add(self.leaf.zone.shared_area(&peer.entry.zone));
            }
        }
        let mut places = [0_u64; D];
        let mut beyond = [None; D];
        let at_a_face = self.peers.iter();
        let at_a_face = at_a_face.filter(|peer| peer.face.is_some() && !peer.is_dead());
        at_a_face.map(move |peer| {
            let own = Told {
                own: self.load,
                ..Told::default()
            };
            let k = lower(peer).filter(|_| peer.is_living());
            let told = k.and_then(|k| {
                let (whole, place) = (*wholes.get(k)?, places.get_mut(k)?);
                let beyond = *beyond
                    .get_mut(k)?
                    .get_or_insert_with(|| self.load_beyond(k));
                let from = *place;
                *place = from.saturating_add(self.leaf.zone.shared_area(&peer.entry.zone));
                Some(Told {
                    own: self.load,
                    beyond,
                    share: self.load.plus(beyond).between(from, *place, whole),
                })
            });
            (peer.id(), told.unwrap_or(own))
        })
    }

    /// The load of all nodes beyond this one in a dimension, as far as it is this node's share.
    pub(super) fn load_beyond(&self, dimension: usize) -> Load {
        let upper = |peer: &&Neighbour<D>| match peer.face {
            Some(Face {
                dimension: k,
                side: Side::Upper,
            }) => usize::from(k) == dimension,
            _ => false,
        };
        let shares = self.peers.neighbours().filter(upper);
        shares.fold(Load::default(), |sum, peer| sum.plus(peer.told.share))
    }

    /// Somebody tells that it is there, and nothing is new.
    pub(super) fn hear_beat(
        &mut self,
        name: Name,
        edition: u32,
        told: Told,
        cx: &mut impl Context<Can<D>>,
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
                let last = last.clone();
                let is_compared = peer.compared == Some((edition, own_edition));
                if !is_compared {
                    peer.compared = Some((edition, own_edition));
                    self.answer(last.get(), cx);
                }
            }
            Some(last) if last.get().edition > edition => {}
            _ => cx.send(name.id, Message::Ping),
        }
    }

    /// Tells a neighbour what it does not know, and learns from it, for all that it told last.
    fn answer(&mut self, account: &Account<D>, cx: &mut impl Context<Can<D>>) {
        let listed = account.neighbours.get(self.name).map(|entry| entry.epoch);
        if listed != Some(self.epoch) {
            self.tell(account.own.name.id, cx);
        }
        self.compare(account, cx);
    }

    /// Somebody tells of itself.
    pub(super) fn hear(
        &mut self,
        from: NodeId,
        account: &Shared<Account<D>>,
        told: Told,
        cx: &mut impl Context<Can<D>>,
    ) -> Outcome {
        let told_of = account.get();
        let own = &told_of.own;
        let name = own.name;
        if name.id != from || from == self.name.id {
            return Outcome::Stays;
        }
        let lives = self.peers.lives(from);
        if lives.iter().any(|peer| peer.entry.name > name) {
            return Outcome::Stays;
        }
        if let Some(peer) = self.peers.get(name) {
            let standing = peer.standing;
            let known = (peer.entry.epoch, peer.edition());
            let is_late = known > (own.epoch, Some(told_of.edition));
            if let Standing::Dead { since } = standing
                && !self.may_rise(own, since, cx)
            {
                return Outcome::Stays;
            }
            if is_late {
                return Outcome::Stays;
            }
        }
        self.bury_earlier_lives(name, cx);
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
        if !self.note(account, told, cx) {
            // It takes this node for a neighbour because it does not know its present zone.
            let listed = told_of.neighbours.get(self.name);
            if listed.is_some_and(|entry| entry.epoch < self.epoch) {
                self.tell(from, cx);
            }
            // Where one of the two is not, there is somebody else, whom the other may know.
            self.compare(told_of, cx);
            return Outcome::Stays;
        }
        // Who is heard for the first time may not have heard of this node either.
        if is_first_word {
            self.tell(from, cx);
        }
        let compared = Some((told_of.edition, self.edition));
        if let Some(peer) = self.peers.get_mut(name)
            && peer.compared != compared
        {
            peer.compared = compared;
            self.answer(told_of, cx);
        }
        Outcome::Stays
    }

    /// Whether somebody who is held to be dead, and tells of itself, is there after all. If others have its zone, it is told so, now and
    /// then: who does not know this node answers with what it told before, and two that did so at once would never end.
    fn may_rise(&mut self, own: &Entry<D>, since: Time, cx: &mut impl Context<Can<D>>) -> bool {
        let (name, now) = (own.name, cx.now());
        let is_mine = own.zone.overlaps(&self.leaf.zone);
        let others = self.peers.living().filter(|peer| peer.first_hand);
        let owners = others.filter(|peer| peer.entry.zone.overlaps(&own.zone));
        let owners: Vec<_> = owners.map(|peer| peer.entry.clone()).collect();
        if !is_mine && owners.is_empty() {
            // What it told before it left may come late.
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
            let owners = owners.into_iter().collect();
            cx.send(name.id, Message::Introduction(owners));
        }
        false
    }

    /// Takes down what somebody tells of itself, if it is a neighbour, watched, or in the way. Whether it is a neighbour.
    fn note(
        &mut self,
        account: &Shared<Account<D>>,
        told: Told,
        cx: &mut impl Context<Can<D>>,
    ) -> bool {
        let own = &account.get().own;
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
            let mut peer = Neighbour::new(own.clone(), cx.now());
            peer.face = face;
            peer.watched = is_watched;
            if !self.peers.insert(peer) {
                return false;
            }
        }
        if let Some(peer) = self.peers.get_mut(own.name) {
            if is_news {
                peer.entry = own.clone();
                peer.face = face;
                peer.standing = Standing::Living;
                peer.replaced = false;
                peer.first_hand = true;
            }
            if peer.edition() != Some(account.get().edition) {
                self.calm = None;
            }
            peer.last = Some(account.clone());
            peer.heard = cx.now();
            peer.told = told;
        }
        if is_news {
            self.touch();
            self.doubt_what_contradicts(own, cx);
        }
        face.is_some()
    }

    /// Whoever was said, or known, to have a part of a zone that its owner has just told: hearsay is dropped, others are asked.
    fn doubt_what_contradicts(&mut self, told: &Entry<D>, cx: &mut impl Context<Can<D>>) {
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

    /// Whether somebody may still have this zone, or have had it until it was gone, for all that others told of themselves: one of its
    /// heirs may have taken its part while the part at this node's zone is free.
    fn could_be_at(&self, zone: &Zone<D>) -> bool {
        let contact = self.leaf.zone.contact(zone);
        let certain = self.peers.neighbours().filter(|peer| peer.first_hand);
        contact.is_some_and(|contact| !contact.is_covered(certain.map(|peer| &peer.entry.zone)))
    }

    /// Compares somebody's neighbours with the own: learns of some, and introduces others.
    fn compare(&mut self, account: &Account<D>, cx: &mut impl Context<Can<D>>) {
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
        let introduced: Vec<_> = introduced.map(|peer| peer.entry.clone()).collect();
        if !introduced.is_empty() {
            cx.send(
                name.id,
                Message::Introduction(introduced.into_iter().collect()),
            );
        }
    }

    /// Somebody tells of another. It is believed as long as nobody who told of itself contradicts it.
    pub(super) fn learn(&mut self, entry: &Entry<D>, cx: &mut impl Context<Can<D>>) {
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
            // It may have lost that, or this node has: the two find out.
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
        self.bury_earlier_lives(name, cx);
        // What was free with that may have become its own.
        if entry.zone.overlaps(&self.leaf.zone) {
            self.tell(name.id, cx);
            return;
        }
        let face = self.leaf.zone.neighbour_face(&entry.zone);
        let mut peer = Neighbour::new(entry.clone(), cx.now());
        peer.face = face;
        peer.watched = face.is_none();
        if self.peers.insert(peer) {
            self.touch();
            self.tell(name.id, cx);
        }
    }
}

/// In which dimension a peer is a lower neighbour.
fn lower<const D: usize>(peer: &Neighbour<D>) -> Option<usize> {
    match peer.face {
        Some(Face {
            dimension,
            side: Side::Lower,
        }) => Some(usize::from(dimension)),
        _ => None,
    }
}
