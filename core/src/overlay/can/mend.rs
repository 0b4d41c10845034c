//! Mending: what ends every state that the rules for leaving and crashes do not (PROTOCOLS 3.1, expanding search).
//!
//! So many may be gone at once, or so much of what was said be lost, that nobody knows who had what is free now. Behind a face of those
//! around there is a gap then, and nobody answers who is sought there. After some periods, whoever has nobody at all behind one of its
//! faces grows there: in small steps, up to the next plane that it knows of, and only if nobody objects.
//!
//! Zones that came about so may be no leaves of one tree any more, and everyone around a gap may have somebody beside it. Then one of them
//! takes a whole part of the tree by force, as its own history tells it, and the others there join anew. At the very worst that
//! part is the space.
//!
//! Two that have the same point find out as well: everyone looks for its own point from time to time, through somebody who is anywhere.

use alloc::vec::Vec;

use super::member::Member;
use super::message::{Entry, Message};
use super::peers::Neighbour;
use super::takeover::Takeover;
use super::tree::Leaf;
use super::zone::{Face, Side, Zone};
use super::{Can, Notice};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

/// How often a node looks for its own point: once in so many periods.
const ITSELF: u32 = 16;

/// How many times as long a node endures a gap that it cannot close as one that it can.
const DESPAIR: u16 = 2;

/// With one chance in so many in each period, a node that cannot close a gap gives up.
const CHANCES: u32 = 8;

impl<const D: usize> Member<D> {
    /// For how many periods a gap has to last until a node grows over it: usually it is closed by then.
    fn endurance(&self) -> u16 {
        u16::from(self.config.patience)
            .saturating_mul(2)
            .saturating_add(2)
    }

    /// Counts for how many periods there has been a gap.
    pub(super) fn notice_gaps(&mut self) {
        self.gaping = if self.gaps().next().is_some() {
            self.gaping.saturating_add(1)
        } else {
            0
        };
    }

    /// Whether there is a gap for so long that nobody else seems to close it.
    pub(super) fn is_forsaken(&self) -> bool {
        self.gaping >= self.endurance() && !self.peers.is_full()
    }

    /// Whether somebody has what this node claims, or what it may come to claim.
    pub(super) fn is_in_the_way(&self, zone: &Zone<D>) -> bool {
        let claims = self.claimed().is_some_and(|claimed| claimed.overlaps(zone));
        let is_behind = |face: Face| {
            let border = border(face.side);
            self.leaf.zone.extended(face, border).overlaps(zone)
        };
        claims || (self.gaping > 0 && faces::<D>().any(is_behind))
    }

    /// What this node becomes when it grows over a gap, if it can.
    pub(super) fn growth(&self) -> Option<Leaf<D>> {
        if !self.is_forsaken() {
            return None;
        }
        faces::<D>().find_map(|face| self.grown(face))
    }

    /// What it becomes when it grows at a face up to the next plane that it knows of; if nobody known is in between.
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

    /// The zones of the living, and of those of whom they told and who may be there.
    fn living_zones(&self) -> impl Iterator<Item = &Zone<D>> {
        let living = self.peers.living().map(|peer| &peer.entry);
        living.chain(self.those_told_of()).map(|entry| &entry.zone)
    }

    /// Those of whom the living told, and who are not known.
    pub(super) fn those_told_of(&self) -> impl Iterator<Item = &Entry<D>> {
        let told = self.peers.living().filter_map(Neighbour::neighbours);
        told.flat_map(super::Entries::iter).filter(|entry| {
            entry.name.id != self.name.id && self.peers.lives(entry.name.id).is_empty()
        })
    }

    /// Takes a whole part of the tree by force, if it has waited too long for a gap to be closed, by chance before others do.
    pub(super) fn despair(&mut self, cx: &mut dyn Context<Can<D>>) {
        let is_idle = self.takeover == Takeover::Idle;
        if !self.is_desperate() || !is_idle || self.growth().is_some() {
            return;
        }
        if cx.rng().below(CHANCES) > 0 {
            return;
        }
        let leaf = self.around_the_gaps();
        let others = self.peers.living().map(|peer| &peer.entry);
        let others = others.filter(|entry| entry.zone.overlaps(&leaf.zone));
        let highest = others.map(|entry| entry.rank).max().unwrap_or(0);
        self.rank = self.rank.max(highest).saturating_add(1);
        self.gaping = 0;
        let names = self.peers.living().map(|peer| (peer.id(), peer.entry.zone));
        let names = names.filter(|(_, zone)| zone.overlaps(&leaf.zone));
        for (id, _) in names.collect::<Vec<_>>() {
            self.meet(id, cx);
        }
        self.take_from_all(leaf, cx);
        self.stay_for_now();
    }

    /// Whether there is a gap for so long that it does not matter any more who closes it.
    fn is_desperate(&self) -> bool {
        self.is_forsaken() && self.gaping >= self.endurance().saturating_mul(DESPAIR)
    }

    /// Gives back what it took from a gap, if somebody was there after all, and if that helps.
    pub(super) fn retreat_from(&mut self, zone: &Zone<D>, cx: &mut dyn Context<Can<D>>) -> bool {
        let before = self.before.take();
        let Some(leaf) = before.filter(|leaf| !leaf.zone.overlaps(zone)) else {
            return false;
        };
        self.takeover = Takeover::Idle;
        let touched = self.peers.neighbours().map(Neighbour::id);
        let touched: Vec<_> = touched.collect();
        self.leaf = leaf;
        self.epoch = self.epoch.saturating_add(1);
        self.touch();
        self.refresh_faces();
        for id in touched {
            self.tell(id, cx);
        }
        cx.notify(Notice::Zone);
        true
    }

    /// The smallest zone in this node's history that has all gaps at its zone inside.
    fn around_the_gaps(&self) -> Leaf<D> {
        let splits = self.leaf.history.splits();
        let is_around = |leaf: &Leaf<D>| self.gaps().all(|point| leaf.zone.contains(&point));
        let prefixes = (0..splits.len()).rev();
        let leaves = prefixes.map(|count| Leaf::of(splits.iter().copied().take(count)));
        let mut leaves = leaves.filter(is_around);
        leaves.next().unwrap_or_else(Leaf::whole)
    }

    /// Looks for its own point, through somebody who is anywhere. Who thinks to have it is somebody else, and hears of this node so.
    pub(super) fn seek_itself_at_times(&self, beat: u32, cx: &mut dyn Context<Can<D>>) {
        if !beat.is_multiple_of(ITSELF) {
            return;
        }
        if let Some(&to) = cx.rng().pick(&self.contacts) {
            self.seek_itself(to, cx);
        }
    }

    /// Looks for its own point through this node.
    pub(super) fn seek_itself(&self, through: NodeId, cx: &mut dyn Context<Can<D>>) {
        let (seeker, point, hops) = (self.entry(), self.point, self.config.hops);
        cx.send(
            through,
            Message::Seek {
                seeker,
                point,
                hops,
            },
        );
    }
}

/// All faces of a zone.
fn faces<const D: usize>() -> impl Iterator<Item = Face> {
    (0..u8::try_from(D).unwrap_or(0))
        .flat_map(|dimension| [Side::Lower, Side::Upper].map(|side| Face { dimension, side }))
}

/// Where the space ends on a side.
const fn border(side: Side) -> u32 {
    match side {
        Side::Lower => 0,
        Side::Upper => super::END,
    }
}
