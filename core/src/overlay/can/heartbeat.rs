//! Heartbeats: how neighbours know of each other's zones, of each other, and of the load beyond.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::load::{Load, Told};
use super::member::{Member, Outcome};
use super::message::{Account, Beyond, Entries, Entry, Message, Name};
use super::peers::{Neighbour, Standing};
use super::zone::{Face, Side, Zone};
use super::{Can, Timer};
use crate::id::NodeId;
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// Up to how many neighbours a node tells of those beyond.
const FEW: usize = 8;

/// Of how many at most, neighbours of neighbours and their neighbours alike. Nobody is believed more.
pub(super) const MOST_BEYOND: usize = 16;

/// What somebody tells of itself, in one way or another.
#[derive(Clone, Copy)]
pub(super) struct Word<'a, const D: usize> {
    pub own: &'a Entry<D>,
    pub list: List<'a, D>,
    pub told: Told,
}

/// Whether somebody tells who its neighbours are.
#[derive(Clone, Copy)]
pub(super) enum List<'a, const D: usize> {
    Told(&'a Shared<Account<D>>),
    /// It tells only how many it has, and which epoch of the receiver's zone it knows.
    Untold {
        yours: Option<u32>,
        neighbours: u16,
    },
}

impl<const D: usize> List<'_, D> {
    /// How many neighbours it has.
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
    /// With the neighbours.
    pub(super) fn with_list(account: &'a Shared<Account<D>>, told: Told) -> Self {
        Self {
            own: &account.get().own,
            list: List::Told(account),
            told,
        }
    }
}

/// What somebody tells of itself whose zone is as it was.
#[derive(Clone, Copy)]
pub(super) struct Pulse {
    pub epoch: u32,
    pub yours: u32,
    pub neighbours: u16,
}

impl<const D: usize> Member<D> {
    /// A period begins, if it is this one's turn.
    pub(super) fn beat(&mut self, beat: u32, cx: &mut dyn Context<Can<D>>) {
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

    /// What this node tells of itself.
    pub(super) fn account(&mut self) -> Shared<Account<D>> {
        if let Some(account) = &self.account {
            return account.clone();
        }
        let neighbours = || self.peers.neighbours().map(|peer| &peer.entry);
        if !self.listed.iter().eq(neighbours()) {
            self.listed = neighbours().cloned().collect();
        }
        let account = Shared::new(Account {
            own: self.entry(),
            edition: self.edition,
            neighbours: self.listed.clone(),
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
    pub(super) fn tell_all(&mut self, cx: &mut dyn Context<Can<D>>) {
        let (life, edition, epoch) = (self.name.life, self.edition, self.epoch);
        let before = self.told.replace((edition, epoch));
        let account = (before != self.told).then(|| self.account());
        let is_moved = before.is_none_or(|(_, told)| told != epoch);
        let own = is_moved.then(|| Shared::new(self.entry()));
        let neighbours = self.crowd();
        for (peer, told) in self.told_to_all() {
            let is_listed = self.lists_to(neighbours, &peer.entry.zone);
            let yours = peer.entry.epoch;
            let message = match (account.clone(), own.clone()) {
                (Some(account), _) if is_listed => Message::Heartbeat { account, told },
                (None, _) if is_listed => Message::Beat {
                    life,
                    edition,
                    told,
                },
                (_, Some(own)) => Message::Here {
                    own,
                    yours: Some(yours),
                    neighbours,
                    told,
                },
                (_, None) => Message::Pulse {
                    life,
                    epoch,
                    yours,
                    neighbours,
                    told,
                },
            };
            cx.send(peer.id(), message);
        }
    }

    /// Tells one node of this one, whoever it is: with the account, or with the zone alone.
    pub(super) fn tell(&mut self, to: NodeId, cx: &mut dyn Context<Can<D>>) {
        let neighbours = self.crowd();
        let told = self.told_to(to);
        let known = self.peers.lives(to).last();
        let is_listed = match known {
            Some(peer) => self.lists_to(neighbours, &peer.entry.zone),
            None => neighbours <= self.config.listed,
        };
        let yours = known.map(|peer| peer.entry.epoch);
        let message = if is_listed {
            let account = self.account();
            Message::Heartbeat { account, told }
        } else {
            let own = Shared::new(self.entry());
            Message::Here {
                own,
                yours,
                neighbours,
                told,
            }
        };
        cx.send(to, message);
    }

    /// Tells somebody who knows the zone of this node that it is there.
    fn confirm(&mut self, to: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        let neighbours = self.crowd();
        if self.lists_to(neighbours, &to.zone) {
            self.tell(to.name.id, cx);
            return;
        }
        let message = Message::Pulse {
            life: self.name.life,
            epoch: self.epoch,
            yours: to.epoch,
            neighbours,
            told: self.told_to(to.name.id),
        };
        cx.send(to.name.id, message);
    }

    /// How many neighbours it has.
    fn crowd(&self) -> u16 {
        u16::try_from(self.peers.neighbours().count()).unwrap_or(u16::MAX)
    }

    /// Whether somebody with this zone is told who the neighbours are, of whom there are so many.
    fn lists_to(&self, neighbours: u16, zone: &Zone<D>) -> bool {
        neighbours <= self.config.listed || self.leaf.is_left_to(zone)
    }

    /// What to tell of load to one node, whoever it is.
    fn told_to(&self, to: NodeId) -> Told {
        let stranger = Told {
            own: self.load,
            ..Told::default()
        };
        let known = self.told_to_all().find(|(peer, _)| peer.id() == to);
        known.map_or(stranger, |(_, told)| told)
    }

    /// What to tell of load to everyone at a face of the zone.
    ///
    /// The load beyond and here goes down in parts, by the areas in which the lower neighbours touch this zone. The parts are cut
    /// out of the whole side by side, so that they sum up to it exactly.
    fn told_to_all(&self) -> impl Iterator<Item = (&Neighbour<D>, Told)> {
        let zone = &self.leaf.zone;
        // Sides that all at a face have whole are left out: shares are the same without them.
        let mut sides = [D; D];
        for peer in self.peers.neighbours() {
            if let Some(sides) = lower(peer).and_then(|k| sides.get_mut(k)) {
                *sides = zone.whole_sides(&peer.entry.zone).min(*sides);
            }
        }
        let area = move |peer: &Neighbour<D>, k: usize| {
            let without = sides.get(k).copied().unwrap_or(0);
            zone.shared_area(&peer.entry.zone, without)
        };
        let mut wholes = [0_u64; D];
        for peer in self.peers.neighbours() {
            if let Some((k, whole)) = lower(peer).and_then(|k| Some((k, wholes.get_mut(k)?))) {
                *whole = whole.saturating_add(area(peer, k));
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
                *place = from.saturating_add(area(peer, k));
                Some(Told {
                    own: self.load,
                    beyond,
                    share: self.load.plus(beyond).between(from, *place, whole),
                })
            });
            (peer, told.unwrap_or(own))
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

    /// Somebody whose neighbours need not be known here tells that it is there, and that its zone is as it was.
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
            // Others told of this zone, and now it does so itself.
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

    /// Somebody knows an earlier zone of this node, and perhaps not who has the rest of it.
    fn set_right(&mut self, other: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        self.tell(other.name.id, cx);
        self.introduce_to(other, cx);
    }

    /// Tells somebody which neighbours the two have in common. Who is told whom this node knows finds out itself.
    pub(super) fn introduce_to(&self, other: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        if self.lists_to(self.crowd(), &other.zone) {
            return;
        }
        let common = self.peers.neighbours().filter(|peer| {
            peer.first_hand
                && peer.id() != other.name.id
                && peer.entry.zone.neighbour_face(&other.zone).is_some()
        });
        let common: Entries<D> = common.map(|peer| peer.entry.clone()).collect();
        if !common.is_empty() {
            cx.send(other.name.id, Message::Introduction(common));
        }
    }

    /// Tells a neighbour what it does not know, and learns from it, for all that it told last.
    fn answer(&mut self, account: &Account<D>, cx: &mut dyn Context<Can<D>>) {
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
            let standing = peer.standing;
            let is_late = match word.list {
                List::Told(account) => {
                    let known = (peer.entry.epoch, peer.edition());
                    known > (own.epoch, Some(account.get().edition))
                }
                List::Untold { .. } => peer.entry.epoch > own.epoch,
            };
            if let Standing::Dead { since } = standing
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
                // Who is heard for the first time may not have heard of this node either.
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
                // It takes this node for a neighbour because it does not know its present zone.
                let listed = account.get().neighbours.get(self.name);
                if listed.is_some_and(|entry| entry.epoch < self.epoch) {
                    self.tell(from, cx);
                }
                // Where one of the two is not, there is somebody else, whom the other may know.
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

    /// Whether somebody who is held to be dead, and tells of itself, is there after all. If others have its zone, it is told so, now and
    /// then: who does not know this node answers with what it told before, and two that did so at once would never end.
    fn may_rise(&mut self, own: &Entry<D>, since: Time, cx: &mut dyn Context<Can<D>>) -> bool {
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
            self.touch();
            self.doubt_what_contradicts(own, cx);
        }
        face.is_some()
    }

    /// Whoever was said, or known, to have a part of a zone that its owner has just told: hearsay is dropped, others are asked.
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

    /// Whether somebody may still have this zone, or have had it until it was gone, for all that others told of themselves: one of its
    /// heirs may have taken its part while the part at this node's zone is free.
    fn could_be_at(&self, zone: &Zone<D>) -> bool {
        let contact = self.leaf.zone.contact(zone);
        let certain = self.peers.neighbours().filter(|peer| peer.first_hand);
        contact.is_some_and(|contact| !contact.is_covered(certain.map(|peer| &peer.entry.zone)))
    }

    /// Compares somebody's neighbours with the own: learns of some, and introduces others.
    fn compare(&mut self, account: &Account<D>, cx: &mut dyn Context<Can<D>>) {
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
        // What is free with that is settled with the next beat. Many are learned of at once, and who takes a zone learns of others: a liar
        // could have it go on so.
        self.bury_earlier_lives(name, cx.now());
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
