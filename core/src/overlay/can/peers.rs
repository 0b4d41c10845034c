//! The peers of a node: its neighbours, the nodes that it watches, and nodes that are gone.

use alloc::vec::Vec;

use super::load::{Load, Told};
use super::message::{Account, Entries, Entry, MOST_NEIGHBOURS, Name};
use super::zone::{Face, Side, Zone};
use crate::id::NodeId;
use crate::shared::Shared;
use crate::time::Time;

/// The most peers beyond its neighbours that a node watches.
const MOST_WATCHED: usize = 128;

/// The most gone peers that a node remembers.
pub(super) const MOST_GONE: usize = 256;

/// The most peers that a node knows.
pub const MOST_PEERS: usize = MOST_NEIGHBOURS + MOST_WATCHED + MOST_GONE;

/// The most nodes beyond the neighbours that a node tells, or believes from a peer, at each distance.
pub(super) const MOST_BEYOND: usize = 16;

/// Whether a peer is up, as far as a node knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Presence {
    /// It is up, as far as is known.
    Living,
    /// Nothing came from it for too long, or the transport cannot reach it.
    Missed { since: Time },
    /// It left, began another life, or other nodes have its zone by now.
    Dead { since: Time },
}

/// A peer that a node knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Neighbour<const D: usize> {
    /// The peer and its zone.
    pub entry: Entry<D>,
    /// The face of the node's zone that it touches, if any.
    pub(super) face: Option<Face>,
    pub(super) presence: Presence,
    /// Its last account, by its own word or from an obituary. Most peers with many neighbours do not send one.
    pub(super) last: Option<Shared<Account<D>>>,
    /// When it was last heard, here or by a peer that vouched for it. If it never was, when the node learned of it.
    pub(super) heard: Time,
    /// Whether it ever told of itself.
    pub(super) first_hand: bool,
    /// Whether the node pings it. It need not be a neighbour.
    pub(super) watched: bool,
    /// It is gone, and others have told since that they have its part beside the node's zone.
    pub(super) replaced: bool,
    /// When it was last told that other nodes have its zone, while it is held to be dead.
    pub(super) warned: Option<Time>,
    /// The editions that were compared last: that of its account, and the own.
    pub(super) compared: Option<(u32, u32)>,
    /// How many neighbours it has, as it told last.
    pub(super) crowd: u16,
    pub(super) told: Told,
}

impl<const D: usize> Neighbour<D> {
    pub(super) fn new(entry: Entry<D>, face: Option<Face>, heard: Time) -> Self {
        Self {
            entry,
            face,
            presence: Presence::Living,
            last: None,
            heard,
            first_hand: false,
            watched: false,
            replaced: false,
            warned: None,
            compared: None,
            crowd: 0,
            told: Told::default(),
        }
    }

    /// The id of the peer.
    pub const fn id(&self) -> NodeId {
        self.entry.name.id
    }

    /// Its zone, as far as is known.
    pub const fn zone(&self) -> &Zone<D> {
        &self.entry.zone
    }

    /// The face of the node's own zone that it touches, if any.
    pub const fn face(&self) -> Option<Face> {
        self.face
    }

    /// The dimension in which it touches this side of the node's own zone.
    pub(super) fn dimension_at(&self, side: Side) -> Option<usize> {
        let face = self.face.filter(|face| face.side == side);
        face.map(|face| usize::from(face.dimension))
    }

    /// Its own load, as it told last.
    pub const fn load(&self) -> Load {
        self.told.own
    }

    /// If it is an upper neighbour: the load beyond it in the dimension in which the two touch, as it told last.
    pub const fn load_beyond(&self) -> Load {
        self.told.beyond
    }

    pub(super) const fn is_living(&self) -> bool {
        matches!(self.presence, Presence::Living)
    }

    pub(super) const fn is_dead(&self) -> bool {
        matches!(self.presence, Presence::Dead { .. })
    }

    pub(super) const fn is_gone(&self) -> bool {
        !self.is_living()
    }

    /// Since when it is missed or dead.
    pub(super) const fn gone_since(&self) -> Option<Time> {
        match self.presence {
            Presence::Living => None,
            Presence::Missed { since } | Presence::Dead { since } => Some(since),
        }
    }

    pub(super) const fn is_neighbour(&self) -> bool {
        self.is_living() && self.face.is_some()
    }

    /// Its neighbours, if it listed them.
    pub(super) fn neighbours(&self) -> Option<&Entries<D>> {
        self.last.as_ref().map(|last| &last.get().neighbours)
    }

    /// The edition of its last account.
    pub(super) fn edition(&self) -> Option<u32> {
        self.last.as_ref().map(|last| last.get().edition)
    }

    /// The nodes around it, as its account lists them, the nearest first.
    pub(super) fn around(&self) -> impl Iterator<Item = &Entry<D>> {
        let accounts = self.last.iter().map(Shared::get);
        accounts.flat_map(|last| {
            let beyond = last.beyond.iter();
            let beyond = beyond.flat_map(|beyond| [&beyond.second, &beyond.third]);
            let beyond = beyond.flat_map(|list| list.iter().take(MOST_BEYOND));
            last.neighbours.iter().chain(beyond)
        })
    }

    /// Its last account, with its latest known zone, to be passed on.
    pub(super) fn account(&self) -> Shared<Account<D>> {
        let last = self.last.as_ref();
        let current = last.filter(|last| last.get().own == self.entry);
        current.cloned().unwrap_or_else(|| {
            Shared::new(Account {
                own: self.entry.clone(),
                edition: self.edition().unwrap_or(0),
                neighbours: self.neighbours().cloned().unwrap_or_else(Entries::none),
                beyond: last.and_then(|last| last.get().beyond.clone()),
            })
        })
    }
}

/// By how many places a full list grows.
const ROOM: usize = 8;

/// All peers of a node, in the order of names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Peers<const D: usize> {
    list: Vec<Neighbour<D>>,
    /// Their names, close together in memory, so that a search reads little.
    names: Vec<Name>,
}

impl<const D: usize> Peers<D> {
    pub(super) fn iter(&self) -> core::slice::Iter<'_, Neighbour<D>> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> core::slice::IterMut<'_, Neighbour<D>> {
        self.list.iter_mut()
    }

    pub(super) fn as_slice(&self) -> &[Neighbour<D>] {
        &self.list
    }

    pub(super) fn neighbours(&self) -> impl Iterator<Item = &Neighbour<D>> {
        self.iter().filter(|peer| peer.is_neighbour())
    }

    pub(super) fn living(&self) -> impl Iterator<Item = &Neighbour<D>> {
        self.iter().filter(|peer| peer.is_living())
    }

    pub(super) fn gone(&self) -> impl Iterator<Item = &Neighbour<D>> {
        self.iter().filter(|peer| peer.is_gone())
    }

    pub(super) fn get(&self, name: Name) -> Option<&Neighbour<D>> {
        let index = self.index_of(name).ok()?;
        self.list.get(index)
    }

    pub(super) fn get_mut(&mut self, name: Name) -> Option<&mut Neighbour<D>> {
        let index = self.index_of(name).ok()?;
        self.list.get_mut(index)
    }

    /// All lives of a node.
    pub(super) fn lives(&self, id: NodeId) -> &[Neighbour<D>] {
        let from = self.names.partition_point(|name| name.id < id);
        let to = self.names.partition_point(|name| name.id <= id);
        self.list.get(from..to).unwrap_or(&[])
    }

    /// Adds an unknown peer, if there is room for its kind. Returns whether it was added.
    pub(super) fn insert(&mut self, peer: Neighbour<D>) -> bool {
        let Err(index) = self.index_of(peer.entry.name) else {
            return false;
        };
        let kind = |one: &Neighbour<D>| (one.is_living(), one.is_neighbour());
        let most = match kind(&peer) {
            (true, true) => MOST_NEIGHBOURS,
            (true, false) => MOST_WATCHED,
            (false, _) => MOST_GONE,
        };
        let of_its_kind = |one: &&Neighbour<D>| kind(one) == kind(&peer);
        // A peer may change its kind later, so one kind may exceed its limit. The total never does.
        if self.iter().filter(of_its_kind).count() >= most || self.list.len() >= MOST_PEERS {
            return false;
        }
        // Grow by a few: to double the list would reserve room for many peers that never come.
        if self.list.len() == self.list.capacity() {
            self.list.reserve_exact(ROOM);
            self.names.reserve_exact(ROOM);
        }
        self.names.insert(index, peer.entry.name);
        self.list.insert(index, peer);
        true
    }

    /// Whether there is no room for another neighbour.
    pub(super) fn is_full(&self) -> bool {
        self.neighbours().count() >= MOST_NEIGHBOURS
    }

    pub(super) fn remove(&mut self, name: Name) -> Option<Neighbour<D>> {
        let index = self.index_of(name).ok()?;
        self.names.remove(index);
        Some(self.list.remove(index))
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Neighbour<D>) -> bool) -> bool {
        let before = self.list.len();
        self.list.retain(keep);
        if self.list.len() == before {
            return false;
        }
        self.names.clear();
        self.names
            .extend(self.list.iter().map(|peer| peer.entry.name));
        true
    }

    fn index_of(&self, name: Name) -> Result<usize, usize> {
        self.names.binary_search(&name)
    }

    /// Whether each peer is found under its name, exactly once.
    pub(super) fn is_sound(&self) -> bool {
        let names = self.list.iter().map(|peer| peer.entry.name);
        self.names.is_sorted_by(|a, b| a < b) && names.eq(self.names.iter().copied())
    }
}
