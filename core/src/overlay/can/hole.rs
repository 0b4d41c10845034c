//! Holes and gaps beside a zone, and how the zone grows over them. Nothing here changes the state.
//!
//! A hole is a part of the space that gone nodes had and that no other node has. Several neighbours may be gone at
//! once, and one may have been the heir of another. Each node therefore works out its own new zone from all nodes that
//! it knows to be gone ([`Leaf::after`]); the order does not matter.
//!
//! A gap is a part of a face behind which no node is known. If a gap lasts, a node that has no neighbour at all behind
//! one of its faces grows there: in small steps, up to the next plane that it knows.

use alloc::vec::Vec;

use super::member::Member;
use super::message::{Entries, Entry, MOST_NEIGHBOURS, Name, latest_of_each};
use super::peers::Neighbour;
use super::space::END;
use super::tree::Leaf;
use super::zone::{Face, Side, Zone, faces};

/// A node endures a gap that it cannot close this many times as long as one that it can.
const DESPAIR: u16 = 2;

/// Whether a plan covers only dead peers, or also missed ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Farther {
    Dead,
    Missed,
}

impl<const D: usize> Member<D> {
    /// Whether no node has the part of a gone peer's zone that touches this zone.
    fn is_open(&self, gone: &Neighbour<D>) -> bool {
        let contact = self.leaf.zone.contact(&gone.entry.zone);
        let contact = contact.filter(|_| !gone.replaced);
        contact.is_some_and(|contact| {
            let zones = self.peers.neighbours().map(|peer| &peer.entry.zone);
            !contact.is_covered(zones)
        })
    }

    /// Whether gone peers left a hole beside this zone.
    pub(super) fn is_unsettled(&self) -> bool {
        self.peers.gone().any(|peer| self.is_open(peer))
    }

    /// Gone peers whose part beside this zone is covered by neighbours that were heard since.
    pub(super) fn newly_replaced(&self) -> Vec<Name> {
        let gone = self.peers.gone().filter(|peer| !peer.replaced);
        let replaced = gone.filter(|gone| {
            let told_since =
                |peer: &&Neighbour<D>| peer.first_hand && gone.gone_since() < Some(peer.heard);
            let living = self.peers.neighbours().filter(told_since);
            let contact = self.leaf.zone.contact(&gone.entry.zone);
            contact.is_some_and(|contact| contact.is_covered(living.map(|peer| &peer.entry.zone)))
        });
        replaced.map(|peer| peer.entry.name).collect()
    }

    /// The gone peers beside a hole at this zone. If their heirs are gone, too, also these and their heirs, and so on.
    pub(super) fn hole(&self) -> Vec<&Neighbour<D>> {
        let (mut hole, mut others): (Vec<_>, Vec<_>) =
            self.peers.gone().partition(|peer| self.is_open(peer));
        let mut from = 0;
        while let Some(one) = hole.get(from).copied() {
            from = from.saturating_add(1);
            let leaf = one.entry.leaf();
            let is_heir = |peer: &&Neighbour<D>| {
                // A peer that its last account names was its neighbour then. Without an account, that is not known.
                let named = one.neighbours().map(|list| list.get(peer.entry.name));
                let was_there = named.map_or(!peer.replaced, |named| named.is_some());
                was_there && peer.entry.leaf().inherits_from(&leaf)
            };
            let (more, rest) = others.into_iter().partition(is_heir);
            hole.extend::<Vec<_>>(more);
            others = rest;
        }
        hole
    }

    /// Nodes that the gone peers named, and that are not known in this life or a later one: they may be up. Each is
    /// there once, however many named it.
    pub(super) fn said_around<'a>(&self, gone: &[&'a Neighbour<D>]) -> Vec<&'a Entry<D>> {
        let said = gone.iter().flat_map(|peer| peer.around());
        latest_of_each(said.filter(|entry| {
            let mut known = self.peers.lives(entry.name.id).iter();
            entry.name.id != self.name.id && known.all(|peer| peer.entry.name < entry.name)
        }))
    }

    /// As many of the nodes that [gone peers named](Self::said_around) as a node may have neighbours: liars name any.
    pub(super) fn some_said_around<'a>(&self, gone: &[&'a Neighbour<D>]) -> Vec<&'a Entry<D>> {
        let mut said = self.said_around(gone);
        said.truncate(MOST_NEIGHBOURS);
        said
    }

    /// What this node will have without the dead peers or, with `Farther::Missed`, also without the missed ones: if
    /// that is more than now, and no node is in the way. Also returns the nodes in the way that are not known.
    pub(super) fn plan(&self, farther: Farther) -> (Option<Leaf<D>>, Vec<Entry<D>>) {
        let mut unknown = Vec::new();
        let mut gone = self.hole();
        gone.retain(|peer| peer.is_dead() || farther == Farther::Missed);
        while !gone.is_empty() {
            let vanished = gone.iter().map(|peer| peer.entry.leaf()).collect();
            let next = self.leaf.after(vanished);
            if next.zone == self.leaf.zone {
                break;
            }
            let stays = |peer: &&Neighbour<D>| {
                peer.is_living() || (farther == Farther::Dead && !peer.is_dead())
            };
            let staying = self.peers.iter().filter(stays);
            let mut in_the_way: Vec<Zone<D>> = staying.map(|peer| peer.entry.zone).collect();
            in_the_way.retain(|zone| zone.overlaps(&next.zone));
            let said = self.said_around(&gone).into_iter();
            for entry in said.filter(|entry| entry.zone.overlaps(&next.zone)) {
                in_the_way.push(entry.zone);
                unknown.push(entry.clone());
            }
            if in_the_way.is_empty() {
                return (Some(next), unknown);
            }
            let before = gone.len();
            let is_free = |zone: &Zone<D>| !in_the_way.iter().any(|other| other.overlaps(zone));
            gone.retain(|peer| is_free(&peer.entry.zone));
            if gone.len() == before {
                break;
            }
        }
        let growth = self.growth().filter(|_| farther == Farther::Missed);
        (growth, unknown)
    }

    /// How many periods a gap has to last until a node grows over it. Usually it is closed earlier.
    fn endurance(&self) -> u16 {
        u16::from(self.config.patience)
            .saturating_mul(2)
            .saturating_add(2)
    }

    /// Whether a gap has lasted so long that no other node seems to close it.
    pub(super) fn is_forsaken(&self) -> bool {
        self.gaping >= self.endurance() && !self.peers.is_full()
    }

    /// Whether a gap has lasted so long that this node may close it by force.
    pub(super) fn is_desperate(&self) -> bool {
        self.is_forsaken() && self.gaping >= self.endurance().saturating_mul(DESPAIR)
    }

    /// Whether a zone overlaps what this node claims, or what it may come to claim.
    pub(super) fn is_in_the_way(&self, zone: &Zone<D>) -> bool {
        let claims = self.claimed().is_some_and(|claimed| claimed.overlaps(zone));
        let is_behind = |face: Face| {
            let border = border(face.side);
            self.leaf.zone.extended(face, border).overlaps(zone)
        };
        claims || (self.gaping > 0 && faces::<D>().any(is_behind))
    }

    /// What this node becomes when it grows over a lasting gap, if it can.
    pub(super) fn growth(&self) -> Option<Leaf<D>> {
        if !self.is_forsaken() {
            return None;
        }
        faces::<D>().find_map(|face| self.grown(face))
    }

    /// What it becomes when it grows at a face up to the next known plane, if no known node is in between.
    fn grown(&self, face: Face) -> Option<Leaf<D>> {
        let zone = &self.leaf.zone;
        let from = zone.bound(face)?;
        let beyond = zone.extended(face, border(face.side));
        let is_nearer = |plane: u32, than: u32| match face.side {
            Side::Lower => plane > than,
            Side::Upper => plane < than,
        };
        let mut to = border(face.side);
        for other in self.living_zones().filter(|other| other.overlaps(&beyond)) {
            let bound = other.bound(Face {
                side: face.side.opposite(),
                ..face
            })?;
            if is_nearer(bound, to) {
                to = bound;
            }
        }
        let gone = self.peers.gone().map(|peer| &peer.entry.zone);
        let zones = self.living_zones().chain(gone);
        let bounds = zones.filter_map(|zone| zone.stretch(face.dimension));
        let bounds = bounds.flat_map(|stretch| [stretch.from(), stretch.to()]);
        let splits = self.leaf.history.splits().iter();
        let splits = splits.filter(|split| split.dimension == face.dimension);
        for plane in bounds.chain(splits.map(|split| split.plane)) {
            if is_nearer(from, plane) && is_nearer(plane, to) {
                to = plane;
            }
        }
        is_nearer(from, to).then(|| self.leaf.extended(face, to))
    }

    /// The zones of living peers, and of unknown nodes that they listed.
    fn living_zones(&self) -> impl Iterator<Item = &Zone<D>> {
        let living = self.peers.living().map(|peer| &peer.entry);
        living.chain(self.those_told_of()).map(|entry| &entry.zone)
    }

    /// Unknown nodes that living peers listed as neighbours.
    pub(super) fn those_told_of(&self) -> impl Iterator<Item = &Entry<D>> {
        let told = self.peers.living().filter_map(Neighbour::neighbours);
        told.flat_map(Entries::iter).filter(|entry| {
            entry.name.id != self.name.id && self.peers.lives(entry.name.id).is_empty()
        })
    }

    /// The smallest zone in this node's history that contains all gaps beside its zone.
    pub(super) fn around_the_gaps(&self) -> Leaf<D> {
        let splits = self.leaf.history.splits();
        let is_around = |leaf: &Leaf<D>| self.gaps().all(|point| leaf.zone.contains(&point));
        let prefixes = (0..splits.len()).rev();
        let leaves = prefixes.map(|count| Leaf::of(splits.iter().copied().take(count)));
        let mut leaves = leaves.filter(is_around);
        leaves.next().unwrap_or_else(Leaf::whole)
    }
}

/// Where the space ends on a side.
const fn border(side: Side) -> u32 {
    match side {
        Side::Lower => 0,
        Side::Upper => END,
    }
}
