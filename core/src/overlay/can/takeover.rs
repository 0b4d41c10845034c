//! Take-over: heirs divide the zones of nodes that are gone (PROTOCOLS 3.2).
//!
//! A leaver tells its neighbours. Its heirs, the neighbours across the plane of its last split, grow over its zone at
//! once. A silent node is missed by its neighbours after a while. Its heirs wait a little longer, claim their new zones
//! to all nodes around, and take them if no node objects. A node watches the heirs of the nodes that it misses: perhaps
//! no other node notices that an heir is gone, too.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::Can;
use super::command::{Notice, Timer};
use super::hole::Farther;
use super::member::{Member, Takeover};
use super::message::{Account, Entries, Entry, Message, Name};
use super::peers::{MOST_GONE, Neighbour, Presence};
use super::promises::Share;
use super::tell::introduce;
use super::tree::Leaf;
use super::zone::Zone;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// The most nodes that are asked about one gone node whose neighbours are unknown.
const ASKED: usize = 8;

/// The most gone nodes about which a node asks in one period. More are gone at once only if a liar named nodes that
/// never existed.
const ASKED_ABOUT: usize = 16;

/// The most dead nodes for which one take-over sends obituaries. Other nodes miss the rest by themselves, and see that
/// their zones are taken.
const MOURNED: usize = 32;

impl<const D: usize> Member<D> {
    /// Marks a living peer as missed if it was silent for too long.
    pub(super) fn miss_the_silent(&mut self, cx: &mut dyn Context<Can<D>>) {
        let (now, limit) = (cx.now(), self.limit());
        self.mark(Presence::Missed { since: now }, |peer| {
            peer.is_living() && peer.heard + limit <= now && !canary!(SilentNotMissed)
        });
    }

    /// The transport cannot reach a peer, so the peer is missed at once.
    pub(super) fn on_unreachable(&mut self, id: NodeId, cx: &mut dyn Context<Can<D>>) {
        let missed = Presence::Missed { since: cx.now() };
        if self.mark(missed, |peer| peer.id() == id && peer.is_living()) {
            self.settle(cx);
        }
    }

    /// Forgets peers that have been gone for long, and living peers that are neither at a face nor watched.
    pub(super) fn forget(&mut self, cx: &mut dyn Context<Can<D>>) {
        let memory = self.config.period.times(u64::from(self.config.memory));
        let now = cx.now();
        self.peers.retain(|peer| match peer.gone_since() {
            None => peer.face.is_some() || peer.watched,
            Some(since) => now < since + memory,
        });
        // Too many gone peers: remove the one that is gone longest. Ties go to the lower name.
        while self.peers.gone().count() > MOST_GONE {
            let oldest = self.peers.gone().min_by_key(|peer| peer.gone_since());
            let Some(name) = oldest.map(|peer| peer.entry.name) else {
                return;
            };
            self.peers.remove(name);
        }
    }

    /// Marks gone peers whose zones other nodes have by now, so that a later hole is not taken for theirs.
    pub(super) fn note_replaced(&mut self) {
        for name in self.newly_replaced() {
            if let Some(peer) = self.peers.get_mut(name) {
                peer.replaced = true;
            }
        }
    }

    /// Pings the heirs of gone peers, and asks other nodes about gone peers whose neighbours are unknown.
    pub(super) fn watch(&mut self, cx: &mut dyn Context<Can<D>>) {
        let hole = self.hole();
        let living = self.peers.living().map(|peer| &peer.entry);
        let around: Vec<_> = living.chain(self.said_around(&hole)).collect();
        let mut heirs: Vec<Entry<D>> = Vec::new();
        let mut obscure = Vec::new();
        for gone in &hole {
            let leaf = gone.entry.leaf();
            let inherits = |entry: &&&Entry<D>| entry.leaf().inherits_from(&leaf);
            heirs.extend(around.iter().filter(inherits).copied().cloned());
            if gone.neighbours().is_none() {
                obscure.push(*gone);
            }
        }
        let asked_about = if obscure.len() > ASKED_ABOUT {
            cx.rng().sample(&mut obscure, ASKED_ABOUT).0
        } else {
            &mut obscure
        };
        for gone in asked_about {
            let touching =
                |entry: &&&Entry<D>| entry.zone.neighbour_face(&gone.entry.zone).is_some();
            // Ask the heirs first: they got the neighbour list.
            let mut asked: Vec<_> = around.iter().filter(touching).collect();
            let leaf = gone.entry.leaf();
            asked.sort_by_key(|entry| !leaf.is_left_to(&entry.zone));
            for entry in asked.into_iter().take(ASKED) {
                cx.send(entry.name.id, Message::Inquiry(gone.entry.name));
            }
        }
        // A watched peer stays watched only while there is a gap.
        let is_gaping = self.gaping > 0;
        for peer in self.peers.iter_mut() {
            peer.watched &= is_gaping && peer.is_living();
            if peer.watched {
                heirs.push(peer.entry.clone());
            }
        }
        self.watch_over(heirs, cx);
    }

    /// Pings each of these nodes once, and adds them to the peers so that they are missed if they do not answer.
    fn watch_over(&mut self, mut entries: Vec<Entry<D>>, cx: &mut dyn Context<Can<D>>) {
        entries.sort_unstable_by_key(|entry| (entry.name, Reverse(entry.epoch)));
        entries.dedup_by_key(|entry| entry.name);
        for entry in entries {
            let name = entry.name;
            if self.peers.get(name).is_none() {
                if entry.zone.overlaps(&self.leaf.zone) {
                    continue;
                }
                let face = self.leaf.zone.neighbour_face(&entry.zone);
                self.peers.insert(Neighbour::new(entry, face, cx.now()));
                self.touch();
            }
            if let Some(peer) = self.peers.get_mut(name)
                && peer.is_living()
            {
                peer.watched = true;
                cx.send(name.id, Message::Ping);
            }
        }
    }

    /// Takes over the zones of dead peers, and starts to wait if the zones of missed peers may follow.
    pub(super) fn settle(&mut self, cx: &mut dyn Context<Can<D>>) {
        if !self.is_unsettled() && !self.is_forsaken() {
            return;
        }
        let (plan, unknown) = self.plan(Farther::Dead);
        if let Some(leaf) = plan {
            self.take_over(leaf, cx);
        }
        self.watch_over(unknown, cx);
        if self.takeover == Takeover::Idle
            && let (Some(_), _) = self.plan(Farther::Missed)
        {
            let share = self.leaf.zone.share_of_space();
            let spread = u128::from(self.config.spread.as_micros()).saturating_mul(share.into());
            let spread = u64::try_from(spread >> 32).unwrap_or(u64::MAX);
            self.takeover = Takeover::Waiting;
            self.wait(self.config.grace + Span::from_micros(spread), cx);
        }
    }

    fn wait(&mut self, how_long: Span, cx: &mut dyn Context<Can<D>>) {
        self.round = self.round.wrapping_add(1);
        self.round_due = cx.now() + how_long;
        cx.wake(self.round_due, Timer::Takeover(self.round));
    }

    /// A wait is over: claims the zones of missed peers, or takes the zone that was claimed.
    pub(super) fn on_takeover_timer(&mut self, round: u32, cx: &mut dyn Context<Can<D>>) {
        if round != self.round || self.takeover == Takeover::Idle {
            return;
        }
        if cx.now() < self.round_due {
            cx.wake(self.round_due, Timer::Takeover(round));
            return;
        }
        let (_, unknown) = self.plan(Farther::Missed);
        self.watch_over(unknown, cx);
        // The peers that were just added may be in the way.
        let (plan, _) = self.plan(Farther::Missed);
        match plan {
            None => self.takeover = Takeover::Idle,
            Some(leaf) if self.claimed() == Some(leaf.zone) => {
                self.takeover = Takeover::Idle;
                let is_growth = self.growth().is_some_and(|grown| grown.zone == leaf.zone);
                let before = self.leaf.clone();
                let before = self.before.take().unwrap_or(before);
                self.take_over(leaf, cx);
                self.before = Some(before).filter(|_| is_growth);
                self.settle(cx);
            }
            Some(leaf) => {
                self.claim(leaf.zone, cx);
                self.takeover = Takeover::Claimed { zone: leaf.zone };
                self.wait(self.config.confirmation, cx);
            }
        }
    }

    /// The living peers, some nodes that gone peers named, and beside a lasting gap all other nodes it has heard of.
    fn around(&self, gone: &[&Neighbour<D>]) -> Vec<NodeId> {
        let living = self.peers.living().map(Neighbour::id);
        let said = self.some_said_around(gone).into_iter();
        let mut around: Vec<NodeId> = living.chain(said.map(|entry| entry.name.id)).collect();
        if self.is_forsaken() {
            around.extend(self.those_told_of().map(|entry| entry.name.id));
            around.extend(self.contacts.iter());
        }
        around.sort_unstable();
        around.dedup();
        around
    }

    fn claim(&self, zone: Zone<D>, cx: &mut dyn Context<Can<D>>) {
        let hole = self.hole();
        let missed = hole.iter().filter(|peer| !peer.is_dead());
        let missed: Entries<D> = missed.map(|peer| peer.entry.clone()).collect();
        for to in self.around(&hole) {
            let missed = missed.clone();
            cx.send(to, Message::Claim { missed, zone });
        }
    }

    /// Changes to a larger zone, and tells all nodes around.
    fn take_over(&mut self, leaf: Leaf<D>, cx: &mut dyn Context<Can<D>>) {
        self.change_to(leaf);
        let now = cx.now();
        let zone = self.leaf.zone;
        let mut taken = Vec::new();
        for peer in self.peers.iter_mut() {
            let is_taken = peer.is_gone() && peer.entry.zone.overlaps(&zone);
            if is_taken && !peer.is_dead() {
                peer.presence = Presence::Dead { since: now };
                taken.push(peer.account());
            }
        }
        let is_taken = |peer: &&Neighbour<D>| peer.entry.zone.overlaps(&zone);
        let gone: Vec<_> = self.peers.gone().filter(is_taken).collect();
        let around = self.around(&gone);
        let new: Vec<_> = self.some_said_around(&gone).into_iter().cloned().collect();
        self.refresh_faces();
        for account in taken.into_iter().take(MOURNED) {
            // The node may be up behind a partition. As a contact it is asked again at times.
            self.contacts.miss(account.get().own.name.id);
            for to in &around {
                cx.send(*to, Message::Obituary(account.clone()));
            }
        }
        for entry in new {
            self.learn(&entry, cx);
        }
        self.tell_all(cx);
        cx.notify(Notice::Zone);
    }

    /// Takes a zone and tells the living peers that seem to have parts of it. If one really has, one of the two yields.
    pub(super) fn take_from_all(&mut self, leaf: Leaf<D>, cx: &mut dyn Context<Can<D>>) {
        let others = self.peers.living();
        let others = others.filter(|peer| peer.entry.zone.overlaps(&leaf.zone));
        let others: Vec<_> = others.map(|peer| peer.entry.name).collect();
        for name in &others {
            self.peers.remove(*name);
        }
        self.take_over(leaf, cx);
        for name in others {
            self.tell(name.id, cx);
        }
    }

    /// A peer claims a zone. Answers with what contradicts that: its own zone, missed nodes heard, owners in the way.
    pub(super) fn on_claim(
        &mut self,
        from: NodeId,
        missed: &Entries<D>,
        zone: &Zone<D>,
        cx: &mut dyn Context<Can<D>>,
    ) {
        // If the claims of two nodes overlap, the lower id wins.
        if let Some(own) = self.claimed().filter(|own| own.overlaps(zone)) {
            if from < self.name.id {
                self.takeover = Takeover::Idle;
            } else {
                let missed = Entries::none();
                cx.send(from, Message::Claim { missed, zone: own });
            }
        }
        let mut objects = zone.overlaps(&self.leaf.zone);
        for entry in missed.iter() {
            if entry.name == self.name {
                objects = true;
            }
            let Some(peer) = self.peers.get(entry.name) else {
                continue;
            };
            if self.is_certain_of(peer, cx.now()) || entry.epoch < peer.entry.epoch {
                vouch_for(peer, from, cx);
            }
        }
        if objects {
            self.tell(from, cx);
        }
        let in_the_way = self
            .peers
            .living()
            .filter(|peer| peer.id() != from && peer.first_hand && peer.entry.zone.overlaps(zone));
        introduce(from, in_the_way, cx);
    }

    /// Whether a peer is up for certain: it has told of itself, and was heard within the limit.
    fn is_certain_of(&self, peer: &Neighbour<D>, now: Time) -> bool {
        peer.is_living() && peer.first_hand && now < peer.heard + self.limit()
    }

    /// A sender heard a node that may be missed here.
    pub(super) fn on_alive(&mut self, entry: &Entry<D>, ago: Span, cx: &mut dyn Context<Can<D>>) {
        let (now, limit) = (cx.now(), self.limit());
        if let Some(peer) = self.peers.get_mut(entry.name)
            && !peer.is_dead()
        {
            peer.heard = peer.heard.max(now - ago);
            if peer.is_gone() && now < peer.heard + limit {
                peer.presence = Presence::Living;
                self.touch();
            }
        }
        self.learn(entry, cx);
    }

    /// A sender asks what became of a node.
    pub(super) fn on_inquiry(&mut self, from: NodeId, name: Name, cx: &mut dyn Context<Can<D>>) {
        if name == self.name {
            self.tell(from, cx);
        } else if let Some(peer) = self.peers.get(name) {
            if peer.is_gone() {
                cx.send(from, Message::Obituary(peer.account()));
            } else {
                vouch_for(peer, from, cx);
            }
        }
    }

    /// A node is gone for good. The sender is that node, or another one.
    pub(super) fn on_obituary(
        &mut self,
        from: NodeId,
        account: &Shared<Account<D>>,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let own = &account.get().own;
        let name = own.name;
        if name.id == self.name.id {
            return;
        }
        let known = self.peers.get(name);
        if let Some(peer) = known
            && from != name.id
            && self.is_certain_of(peer, cx.now())
        {
            vouch_for(peer, from, cx);
            return;
        }
        let was_dead = known.is_some_and(Neighbour::is_dead);
        let face = self.leaf.zone.neighbour_face(&own.zone);
        if known.is_none() {
            if face.is_none() {
                return;
            }
            let mut peer = Neighbour::new(own.clone(), face, cx.now());
            peer.presence = Presence::Dead { since: cx.now() };
            if !self.peers.insert(peer) {
                return;
            }
        }
        let Some(peer) = self.peers.get_mut(name) else {
            return;
        };
        let is_news = peer.entry.epoch < own.epoch;
        if is_news {
            peer.entry = own.clone();
            peer.face = face;
        }
        // An empty list means that the sender does not know the neighbours.
        if (peer.last.is_none() || is_news) && !account.get().neighbours.is_empty() {
            peer.last = Some(account.clone());
        }
        if !was_dead || canary!(ObituaryEchoed) {
            peer.presence = Presence::Dead { since: cx.now() };
            self.touch();
            self.pass_on(from, account, cx);
        }
        let promised = self.promises.release(name);
        if promised == Some(Share::Heir) && from == name.id && self.leaf.inherits_from(&own.leaf())
        {
            // The leaver had this zone until now, so a peer that seems to have a part of it is wrong.
            self.take_from_all(self.leaf.after(Vec::from([own.leaf()])), cx);
        }
        self.settle(cx);
    }

    /// Passes an obituary on to living peers that touch the zone of the dead node and that its account does not name.
    fn pass_on(&self, from: NodeId, account: &Shared<Account<D>>, cx: &mut dyn Context<Can<D>>) {
        let Account {
            own, neighbours, ..
        } = account.get();
        for peer in self.peers.living() {
            let touches = peer.entry.zone.neighbour_face(&own.zone).is_some();
            if touches && peer.id() != from && neighbours.get(peer.entry.name).is_none() {
                cx.send(peer.id(), Message::Obituary(account.clone()));
            }
        }
    }
}

/// Tells a node that misses a peer when that peer was last heard.
fn vouch_for<const D: usize>(peer: &Neighbour<D>, to: NodeId, cx: &mut dyn Context<Can<D>>) {
    let (entry, ago) = (peer.entry.clone(), cx.now() - peer.heard);
    cx.send(to, Message::Alive { entry, ago });
}
