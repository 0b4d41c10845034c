//! Whom a node knows: its neighbours, those whom it watches, and those who are gone.

use alloc::vec::Vec;

use super::load::{Load, Told};
use super::message::{Account, Entries, Entry, MOST_NEIGHBOURS, Name};
use super::zone::{Face, Side, Zone};
use crate::id::NodeId;
use crate::shared::Shared;
use crate::time::Time;

/// The most nodes beyond its neighbours that a node watches.
const MOST_WATCHED: usize = 128;

/// The most nodes that are gone and that a node remembers.
pub(super) const MOST_GONE: usize = 256;

/// The most nodes that a node knows.
pub const MOST_PEERS: usize = MOST_NEIGHBOURS + MOST_WATCHED + MOST_GONE;

/// The most nodes that a node believes a neighbour to know beyond its neighbours, at each distance.
pub(super) const MOST_BEYOND: usize = 16;

/// What a node thinks of another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Presence {
    /// It is there, for all that is known.
    Living,
    /// Nothing came from it for too long.
    Missed { since: Time },
    /// It left, or others have its zone by now.
    Dead { since: Time },
}

/// Somebody whom a node knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Neighbour<const D: usize> {
    /// Who it is, and its zone.
    pub entry: Entry<D>,
    /// At which face of the node's zone it is.
    pub(super) face: Option<Face>,
    pub(super) presence: Presence,
    /// The last that it told of itself and its neighbours, or that was told of it when it was gone. Most who have many neighbours
    /// do not tell who they are.
    pub(super) last: Option<Shared<Account<D>>>,
    /// When there was a word from it, or, if there never was, when somebody told of it.
    pub(super) heard: Time,
    /// Whether there ever was a word from it.
    pub(super) first_hand: bool,
    /// It is wanted to answer, though it is no neighbour.
    pub(super) watched: bool,
    /// It is gone, and others have told since that they have what it had at the node's zone.
    pub(super) replaced: bool,
    /// When it was told last that others have its zone, while it is held to be dead.
    pub(super) warned: Option<Time>,
    /// With which edition of its account what edition of the own was compared last.
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

    /// Which node it is.
    pub const fn id(&self) -> NodeId {
        self.entry.name.id
    }

    /// Its zone, as far as is known.
    pub const fn zone(&self) -> &Zone<D> {
        &self.entry.zone
    }

    /// The face of the node's own zone at which it is.
    pub const fn face(&self) -> Option<Face> {
        self.face
    }

    /// In which dimension it is at this side of the node's own zone.
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

    /// Its neighbours, as it told them.
    pub(super) fn neighbours(&self) -> Option<&Entries<D>> {
        self.last.as_ref().map(|last| &last.get().neighbours)
    }

    /// The edition of its last account.
    pub(super) fn edition(&self) -> Option<u32> {
        self.last.as_ref().map(|last| last.get().edition)
    }

    /// Those around it, as it told them, the nearest first.
    pub(super) fn around(&self) -> impl Iterator<Item = &Entry<D>> {
        let accounts = self.last.iter().map(Shared::get);
        accounts.flat_map(|last| {
            let beyond = last.beyond.iter();
            let beyond = beyond.flat_map(|beyond| [&beyond.second, &beyond.third]);
            let beyond = beyond.flat_map(|list| list.iter().take(MOST_BEYOND));
            last.neighbours.iter().chain(beyond)
        })
    }

    /// The last that is known of it, to be passed on.
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

/// For how many more there is room when there is none left.
const ROOM: usize = 8;

/// Everybody whom a node knows, in the order of names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Peers<const D: usize> {
    list: Vec<Neighbour<D>>,
    /// Their names, close together: who looks for one reads little.
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

    /// Adds somebody who is not there, if there is room for one of its kind.
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
        // Kinds change, so there may be some more of one; all together there are never more.
        if self.iter().filter(of_its_kind).count() >= most || self.list.len() >= MOST_PEERS {
            return false;
        }
        // A few more at a time: twice as many would be room for many who never come.
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

    /// Whether everybody is found under its name, each once.
    pub(super) fn is_sound(&self) -> bool {
        let names = self.list.iter().map(|peer| peer.entry.name);
        self.names.is_sorted_by(|a, b| a < b) && names.eq(self.names.iter().copied())
    }
}
