//! A node that has a zone: its state, and what it can tell from that alone.

use alloc::vec::Vec;

use super::config::Config;
use super::load::Load;
use super::message::{Account, Beyond, Entries, Entry, MOST_NEIGHBOURS, Name};
use super::peers::{MOST_PEERS, Neighbour, Peers, Presence};
use super::promises::Promises;
use super::space::Point;
use super::tree::Leaf;
use super::zone::{Zone, faces};
use crate::id::NodeId;
use crate::machine::Violation;
use crate::overlay::contacts::Contacts;
use crate::shared::Shared;
use crate::time::{Span, Time};

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
    /// The neighbours as they were listed last. Most news is of how well they are known, and lists that are alike are
    /// one.
    pub listed: Entries<D>,
    /// Who is beyond the neighbours, if these are few.
    pub beyond: Option<Beyond<D>>,
    pub load: Load,
    pub peers: Peers<D>,
    /// Nodes that may be anywhere: who introduced it, who joined through it, earlier neighbours, and those whom it missed.
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

/// What a node does about those who are missed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Takeover<const D: usize> {
    /// Nothing.
    Idle,
    /// It would inherit, and waits whether they come back.
    Waiting,
    /// It told everyone around what it will have.
    Claimed { zone: Zone<D> },
}

/// Whether a node is to leave, and how far it is with that.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Leaving {
    /// It stays.
    No,
    /// It tries so often yet, and then goes without asking.
    Waiting { tries: u8 },
    /// It asked its neighbours, of whom these have not agreed.
    Asking { tries: u8, missing: Vec<Name> },
}

impl<const D: usize> Member<D> {
    /// A node that has just got this zone, and knows no neighbour yet.
    pub(super) fn new(
        config: Config,
        own: &Entry<D>,
        point: Point<D>,
        load: Load,
        due: Time,
    ) -> Self {
        Self {
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
            listed: Entries::none(),
            beyond: None,
            load,
            peers: Peers::default(),
            contacts: Contacts::default(),
            beat: 0,
            due,
            takeover: Takeover::Idle,
            round: 0,
            round_due: Time::ZERO,
            leaving: Leaving::No,
            leave_due: Time::ZERO,
            promises: Promises::default(),
            passed_on: Vec::new(),
        }
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

    /// Whether something goes on that another change would disturb.
    pub(super) fn is_changing(&self, now: Time) -> bool {
        let is_leaving = matches!(self.leaving, Leaving::Asking { .. });
        is_leaving || self.promises.is_bound(now) || self.is_disturbed()
    }

    /// Whether somebody is missing around it: a hole, or a neighbour who has not told of itself.
    pub(super) fn is_disturbed(&self) -> bool {
        let mut neighbours = self.peers.neighbours();
        self.takeover != Takeover::Idle
            || neighbours.any(|peer| !peer.first_hand)
            || self.gaps().next().is_some()
    }

    /// A point behind each face where nobody is known.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Point<D>> {
        faces::<D>().filter_map(|face| {
            let at_face = self.peers.neighbours();
            let at_face = at_face.filter(|peer| peer.face == Some(face));
            let behind = self.leaf.zone.behind(face)?;
            behind.gap(at_face.map(|peer| &peer.entry.zone))
        })
    }

    /// The zone that it claims and does not have yet.
    pub(super) const fn claimed(&self) -> Option<Zone<D>> {
        match &self.takeover {
            Takeover::Claimed { zone, .. } => Some(*zone),
            Takeover::Idle | Takeover::Waiting => None,
        }
    }

    /// Whether it was told to leave.
    pub(super) fn is_to_leave(&self) -> bool {
        self.leaving != Leaving::No
    }

    /// Who has taken a zone by force stays until those come back who had it, as long as it would for anything else.
    pub(super) fn stay_for_now(&mut self) {
        if self.is_to_leave() {
            let tries = self.config.farewell;
            self.leaving = Leaving::Waiting { tries };
        }
    }

    /// How long somebody may be silent.
    pub(super) fn limit(&self) -> Span {
        self.config.period.times(u64::from(self.config.patience))
    }

    /// There is something new to tell.
    pub(super) fn touch(&mut self) {
        self.edition = self.edition.saturating_add(1);
        self.account = None;
    }

    /// Remembers somebody who is anywhere in the space, in place of another.
    pub(super) fn meet(&mut self, id: NodeId) {
        if id != self.name.id {
            self.contacts.note([id]);
        }
    }

    /// After a change of the own zone.
    pub(super) fn refresh_faces(&mut self) {
        let zone = self.leaf.zone;
        for peer in self.peers.iter_mut() {
            peer.face = zone.neighbour_face(&peer.entry.zone);
        }
    }

    /// Has another zone from now on, which is news. The faces at which its peers are have to follow.
    pub(super) fn change_to(&mut self, leaf: Leaf<D>) {
        self.leaf = leaf;
        self.before = None;
        self.epoch = self.epoch.saturating_add(1);
        self.touch();
    }

    /// Thinks so of some peers from now on. Whether there are any, which is news.
    pub(super) fn mark(
        &mut self,
        presence: Presence,
        which: impl Fn(&Neighbour<D>) -> bool,
    ) -> bool {
        let mut is_news = false;
        for peer in self.peers.iter_mut().filter(|peer| which(peer)) {
            peer.presence = presence;
            is_news = true;
            // It may be there all the same, cut off with others. Hearsay is not worth it.
            if matches!(presence, Presence::Missed { .. }) && peer.first_hand {
                self.contacts.miss(peer.id());
            }
        }
        if is_news {
            self.touch();
        }
        is_news
    }

    /// A node is there in a later life, so what it had before is free. Whether that is news; then the next beat at the
    /// latest settles it.
    pub(super) fn bury_earlier_lives(&mut self, name: Name, now: Time) -> bool {
        self.mark(Presence::Dead { since: now }, |peer| {
            peer.id() == name.id && peer.entry.name < name && !peer.is_dead()
        })
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
            peers.len() <= MOST_PEERS && self.peers.neighbours().count() <= MOST_NEIGHBOURS,
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
