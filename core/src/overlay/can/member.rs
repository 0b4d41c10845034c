//! A node that has a zone, and how it gives a part of it to who joins.

use alloc::vec::Vec;

use super::leave::{Leaving, Promises};
use super::load::Load;
use super::message::{Account, Beyond, Entries, Entry, Grant, Message, Name, Refusal};
use super::peers::{Neighbour, Peers};
use super::route::Hop;
use super::space::Point;
use super::takeover::Takeover;
use super::tree::Leaf;
use super::zone::{Face, Side, Zone};
use super::{Can, Config, Contacts, MOST_NEIGHBOURS, Notice, PHASES, Timer};
use crate::id::NodeId;
use crate::machine::{Context, Violation};
use crate::rng::Choose;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// Through how many nodes a node looks for a neighbour whom it does not know.
const SOUGHT: usize = 4;

/// How many searches of others a node passes on between two beats. There are few, but where liars have made nodes wrong about each other's
/// zones they go round, and become more on their way.
pub(super) const MOST_PASSED_ON: usize = 64;

/// A node that has a zone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member<const D: usize> {
    pub config: Config,
    pub name: Name,
    pub point: Point<D>,
    pub leaf: Leaf<D>,
    /// How often the zone changed.
    pub epoch: u32,
    /// How often zones were taken by force where this one came from.
    pub rank: u32,
    /// What it had before it grew over a gap, in case somebody was there.
    pub before: Option<Leaf<D>>,
    /// How often there was something new to tell.
    pub edition: u32,
    /// The edition and the epoch that all neighbours were told.
    pub told: Option<(u32, u32)>,
    /// The edition with which nothing was missing: neither neighbours nor a word of them.
    pub calm: Option<u32>,
    /// For how many periods there has been a gap at the zone, behind which nobody is known.
    pub gaping: u16,
    /// What it tells of itself, as long as nothing is new.
    pub account: Option<Shared<Account<D>>>,
    /// The neighbours as they were listed last. Most news is of how well they are known, and lists that are alike are one.
    pub listed: Entries<D>,
    /// Who is beyond the neighbours, if these are few.
    pub beyond: Option<Beyond<D>>,
    pub load: Load,
    pub peers: Peers<D>,
    /// A few nodes that may be anywhere: who introduced it, and who joined through it.
    pub contacts: Contacts,
    /// The heartbeat that comes next, and when.
    pub beat: u32,
    pub due: Time,
    pub takeover: Takeover<D>,
    /// How many waits for a takeover there were, and when the last one is over.
    pub round: u32,
    pub round_due: Time,
    pub leaving: Leaving,
    /// When it tries again to leave, if it is to.
    pub leave_due: Time,
    pub promises: Promises,
    /// What searches were passed on since the last beat.
    pub passed_on: Vec<(Name, Point<D>)>,
}

/// What an event makes of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Outcome {
    /// It keeps a zone.
    Stays,
    /// It left.
    Left,
    /// It gave up its zone, and is to join anew through this node.
    Yielded { to: NodeId },
}

impl<const D: usize> Member<D> {
    /// A node that has just got a zone, with whom it was told of.
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
        let mut member = Self {
            config,
            name: own.name,
            point,
            leaf: own.leaf(),
            epoch: own.epoch,
            rank: own.rank,
            before: None,
            edition: 0,
            told: None,
            calm: None,
            gaping: 0,
            account: None,
            listed: neighbours.clone(),
            beyond: None,
            load,
            peers: Peers::default(),
            contacts: Contacts::new(),
            beat: 0,
            due,
            takeover: Takeover::Idle,
            round: 0,
            round_due: Time::ZERO,
            leaving: Leaving::No,
            leave_due: Time::ZERO,
            promises: Promises::default(),
            passed_on: Vec::new(),
        };
        cx.wake(due, Timer::Beat(0));
        for entry in neighbours.iter() {
            let face = member.leaf.zone.neighbour_face(&entry.zone);
            if face.is_some() && entry.name.id != member.name.id {
                let mut peer = Neighbour::new(entry.clone(), cx.now());
                peer.face = face;
                member.peers.insert(peer);
            }
        }
        member.tell_all(cx);
        member
    }

    pub(super) fn entry(&self) -> Entry<D> {
        Entry {
            name: self.name,
            epoch: self.epoch,
            rank: self.rank,
            zone: self.leaf.zone,
            history: self.leaf.history.clone(),
        }
    }

    /// Gives somebody who wants to join its zone, or sends the wish on.
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
        let is_astray = from != joiner.id && self.is_astray(from, &point);
        let hops = hops.min(self.config.hops);
        match (self.next_hop(&point), hops.checked_sub(1)) {
            (Hop::Here, _) => {
                if let Err(why) = self.grant(joiner, &point, cx) {
                    cx.send(joiner.id, refuse(why));
                }
            }
            (Hop::To(next), Some(hops)) if !is_astray => {
                self.meet(joiner.id, cx);
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

    /// Splits the zone, and tells everyone around.
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
        // Who touches both parts has one more neighbour then.
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
        let old = self.peers.neighbours().map(Neighbour::id);
        let old: Vec<_> = old.collect();
        self.leaf = own;
        self.before = None;
        self.epoch = self.epoch.saturating_add(1);
        self.refresh_faces();
        let mut peer = Neighbour::new(granted.clone(), cx.now());
        peer.face = self.leaf.zone.neighbour_face(&granted.zone);
        self.peers.insert(peer);
        self.touch();
        around.push(self.entry());
        around.sort_unstable_by_key(|entry| entry.name);
        let grant = Grant {
            own: granted,
            neighbours: around.into_iter().collect(),
        };
        cx.send(joiner.id, Message::Grant(Shared::new(grant)));
        // Also to those who are no neighbours any more, so that they know.
        for id in old {
            self.tell(id, cx);
        }
        self.peers
            .retain(|peer| peer.is_gone() || peer.is_neighbour() || peer.watched);
        cx.notify(Notice::Zone);
        Ok(())
    }

    /// Whether something goes on that another change would disturb.
    pub(super) fn is_changing(&self, now: Time) -> bool {
        let is_leaving = matches!(self.leaving, Leaving::Asking { .. });
        is_leaving || self.promises.is_bound(now) || self.is_disturbed()
    }

    /// Whether somebody is missing around it: a hole, or a neighbour who has not told of itself.
    pub(super) fn is_disturbed(&self) -> bool {
        self.takeover != Takeover::Idle || !self.is_surrounded()
    }

    /// Whether every face of the zone is at those who told so themselves.
    fn is_surrounded(&self) -> bool {
        let mut neighbours = self.peers.neighbours();
        neighbours.all(|peer| peer.first_hand) && self.gaps().next().is_none()
    }

    /// A point behind each face where nobody is known.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Point<D>> {
        (0..u8::try_from(D).unwrap_or(0)).flat_map(move |dimension| {
            [Side::Lower, Side::Upper]
                .into_iter()
                .filter_map(move |side| {
                    let face = Face { dimension, side };
                    let at_face = self.peers.neighbours();
                    let at_face = at_face.filter(|peer| peer.face == Some(face));
                    let behind = self.leaf.zone.behind(face)?;
                    behind.gap(at_face.map(|peer| &peer.entry.zone))
                })
        })
    }

    /// Looks for those who are behind its faces and whom it does not know, through nodes that may be anywhere.
    pub(super) fn seek_neighbours(&self, cx: &mut dyn Context<Can<D>>) {
        for point in self.gaps() {
            let near = self.peers.neighbours().map(Neighbour::id);
            let mut through: Vec<NodeId> = near.chain(self.contacts.iter().copied()).collect();
            let (few, _) = cx.rng().sample(&mut through, SOUGHT);
            for to in few {
                let (seeker, hops) = (self.entry(), self.config.hops);
                cx.send(
                    *to,
                    Message::Seek {
                        seeker,
                        point,
                        hops,
                    },
                );
            }
        }
    }

    /// Whether a search is passed on: the same once between two beats, and no more than so many. Whoever looks for somebody does so again.
    fn passes_on(&mut self, seeker: Name, point: Point<D>) -> bool {
        let is_new = !self.passed_on.contains(&(seeker, point));
        let passes = is_new && self.passed_on.len() < MOST_PASSED_ON;
        if passes {
            self.passed_on.push((seeker, point));
        }
        passes
    }

    /// Somebody looks for the owner of a point, which touches it.
    pub(super) fn sought(
        &mut self,
        from: NodeId,
        seeker: Entry<D>,
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let id = seeker.name.id;
        if id == self.name.id {
            return;
        }
        let is_astray = from != id && self.is_astray(from, &point);
        let hops = hops.min(self.config.hops);
        match (self.next_hop(&point), hops.checked_sub(1)) {
            (Hop::Here, _) => {
                self.tell(id, cx);
                self.learn(&seeker, cx);
                self.introduce_to(&seeker, cx);
            }
            (Hop::To(next), Some(hops)) if !is_astray && self.passes_on(seeker.name, point) => {
                self.meet(id, cx);
                cx.send(
                    next,
                    Message::Seek {
                        seeker,
                        point,
                        hops,
                    },
                );
            }
            // Between the two there is a gap, so each of them has to know up to where.
            (Hop::Stuck, _) => {
                self.meet(id, cx);
                self.tell(id, cx);
                self.learn(&seeker, cx);
            }
            (Hop::To(_), _) => {}
        }
    }

    /// Remembers somebody who is anywhere in the space, in place of another.
    pub(super) fn meet(&mut self, id: NodeId, cx: &mut dyn Context<Can<D>>) {
        if id != self.name.id {
            super::meet(&mut self.contacts, id, cx.rng());
        }
    }

    /// After a change of the own zone.
    pub(super) fn refresh_faces(&mut self) {
        let zone = self.leaf.zone;
        for peer in self.peers.iter_mut() {
            peer.face = zone.neighbour_face(&peer.entry.zone);
        }
    }

    /// The zone that it claims and does not have yet.
    pub(super) const fn claimed(&self) -> Option<Zone<D>> {
        match &self.takeover {
            Takeover::Claimed { zone, .. } => Some(*zone),
            Takeover::Idle | Takeover::Waiting => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.leaf.zone.contains(&self.point),
            "a zone contains its node's point",
        )?;
        Violation::unless(
            self.leaf.is_sound(),
            "a zone is on its side of every split that it came out of",
        )?;
        let peers = self.peers.as_slice();
        Violation::unless(
            self.peers.is_sound(),
            "peers are distinct, in the order of names",
        )?;
        Violation::unless(
            self.peers.lives(self.name.id).is_empty(),
            "a node is not its own peer",
        )?;
        Violation::unless(
            peers.len() <= super::MOST_PEERS && self.peers.neighbours().count() <= MOST_NEIGHBOURS,
            "no more are known than may be",
        )?;
        Violation::unless(
            peers
                .iter()
                .all(|peer| peer.face == self.leaf.zone.neighbour_face(&peer.entry.zone)),
            "neighbours touch the zone at the face at which they are thought to be",
        )?;
        Violation::unless(
            self.peers
                .living()
                .all(|peer| !peer.entry.zone.overlaps(&self.leaf.zone)),
            "no living peer has a part of the zone",
        )?;
        let current = self.account.as_ref().map(Shared::get);
        Violation::unless(
            current.is_none_or(|account| account.own == self.entry()),
            "what a node tells of itself is so",
        )
    }
}
