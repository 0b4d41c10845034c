//! A node that has a zone: its state, and what follows from that state alone.

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
    /// How often zones were taken by force on the way to this one.
    pub rank: u32,
    /// The zone before this node grew over a gap, in case another node was there.
    pub before: Option<Leaf<D>>,
    /// How often there was news to tell.
    pub edition: u32,
    /// The edition and the epoch of the last heartbeat to all neighbours.
    pub told: Option<(u32, u32)>,
    /// The edition at which no neighbour was missing, and each one had told of itself.
    pub calm: Option<u32>,
    /// For how many periods the zone has had a gap: a part of a face where no neighbour is known.
    pub gaping: u16,
    /// The current account, until there is news.
    pub account: Option<Shared<Account<D>>>,
    /// The neighbours as they were listed last. Most news does not change the list, so that accounts share it.
    pub listed: Entries<D>,
    /// Some nodes beyond the neighbours, if there are few neighbours.
    pub beyond: Option<Beyond<D>>,
    pub load: Load,
    pub peers: Peers<D>,
    /// Peers anywhere in the space: its introducer, joiners and seekers it helped, earlier neighbours, missed ones.
    pub contacts: Contacts,
    /// The number of the next heartbeat, and when it is due.
    pub beat: u32,
    pub due: Time,
    pub early: Early,
    pub takeover: Takeover<D>,
    /// How many waits of take-overs there were, and when the last one is over.
    pub round: u32,
    pub round_due: Time,
    pub leaving: Leaving,
    /// When it next tries to leave, if it is to leave.
    pub leave_due: Time,
    pub promises: Promises,
    /// The searches and join requests that it passed on since the last beat, or lately if beats are rare.
    pub passed_on: Vec<(Name, Point<D>)>,
    /// When it passed on the first of them.
    pub passed_since: Time,
}

/// What becomes of a member after an event.
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

/// What a node does about missed peers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Takeover<const D: usize> {
    /// Nothing.
    Idle,
    /// It would inherit, and waits in case they come back.
    Waiting,
    /// It told all nodes around that it will have this zone, and waits for objections.
    Claimed { zone: Zone<D> },
}

/// Whether a heartbeat was sent before it was due.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Early {
    /// None since the last regular one.
    No,
    /// One at this time, so the next regular one may come a period later than that.
    Told(Time),
    /// The regular one has been put off. It is not put off again.
    PutOff,
}

/// Whether a node is to leave, and how far it has come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Leaving {
    /// It stays.
    No,
    /// It asks this many more times, and then goes without agreement.
    Waiting { tries: u8 },
    /// It asked its neighbours. The missing ones have not agreed yet.
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
            early: Early::No,
            takeover: Takeover::Idle,
            round: 0,
            round_due: Time::ZERO,
            leaving: Leaving::No,
            leave_due: Time::ZERO,
            promises: Promises::default(),
            passed_on: Vec::new(),
            passed_since: Time::ZERO,
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

    /// Whether this node must not change its zone: it asks to leave, keeps a promise to a leaver, or is disturbed.
    pub(super) fn is_changing(&self, now: Time) -> bool {
        let is_leaving = matches!(self.leaving, Leaving::Asking { .. });
        is_leaving || self.promises.is_bound(now) || self.is_disturbed()
    }

    /// Whether the surroundings are unclear: a take-over, a gap, or a neighbour that has not told of itself.
    pub(super) fn is_disturbed(&self) -> bool {
        let mut neighbours = self.peers.neighbours();
        self.takeover != Takeover::Idle
            || neighbours.any(|peer| !peer.first_hand)
            || self.gaps().next().is_some()
    }

    /// For each face with a gap, a point in the gap.
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

    /// After it took a zone by force, a leaver begins its tries again, so that the evicted nodes can join first.
    pub(super) fn stay_for_now(&mut self) {
        if self.is_to_leave() {
            let tries = self.config.farewell;
            self.leaving = Leaving::Waiting { tries };
        }
    }

    /// How long a peer may be silent until it is missed.
    pub(super) fn limit(&self) -> Span {
        self.config.period.times(u64::from(self.config.patience))
    }

    /// Notes that there is news to tell.
    pub(super) fn touch(&mut self) {
        self.edition = self.edition.saturating_add(1);
        self.account = None;
    }

    /// Adds a node anywhere in the space to the contacts. The oldest contact may have to go.
    pub(super) fn meet(&mut self, id: NodeId) {
        if id != self.name.id {
            self.contacts.note([id]);
        }
    }

    /// Updates the faces of all peers after a change of the own zone.
    pub(super) fn refresh_faces(&mut self) {
        let zone = self.leaf.zone;
        for peer in self.peers.iter_mut() {
            peer.face = zone.neighbour_face(&peer.entry.zone);
        }
    }

    /// Changes to another zone, which is news. The caller has to update the faces of the peers.
    pub(super) fn change_to(&mut self, leaf: Leaf<D>) {
        self.leaf = leaf;
        self.before = None;
        self.epoch = self.epoch.saturating_add(1);
        self.touch();
    }

    /// Sets the presence of the peers that match. Returns whether there are any, which is news.
    pub(super) fn mark(
        &mut self,
        presence: Presence,
        which: impl Fn(&Neighbour<D>) -> bool,
    ) -> bool {
        let mut is_news = false;
        for peer in self.peers.iter_mut().filter(|peer| which(peer)) {
            peer.presence = presence;
            is_news = true;
            // The peer may be up behind a partition, so keep it as a contact. Hearsay is not worth that.
            if matches!(presence, Presence::Missed { .. }) && peer.first_hand {
                self.contacts.miss(peer.id());
            }
        }
        if is_news {
            self.touch();
        }
        is_news
    }

    /// A node is up in a later life, so its earlier zones are free. Returns whether that is news; then the next beat at
    /// the latest settles it.
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
