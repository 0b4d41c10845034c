//! Mending: what ends every state that the rules for leaving and crashes do not (PROTOCOLS 3.1, expanding search).
//!
//! So many may be gone at once, or so much of what was said be lost, that nobody knows who had what is free now. Behind
//! a face of those around there is a gap then, and nobody answers who is sought there. After some periods, a node that
//! can grows over it, if nobody objects.
//!
//! Zones that came about so may be no leaves of one tree any more, and everyone around a gap may have somebody beside
//! it. Then one of them takes a whole part of the tree by force, as its own history tells it, and the others there join
//! anew. At the very worst that part is the space.

use alloc::vec::Vec;

use super::Can;
use super::command::Notice;
use super::member::{Member, Takeover};
use super::peers::Neighbour;
use super::zone::Zone;
use crate::machine::Context;
use crate::rng::Choose;

/// With one chance in so many in each period, a node that cannot close a gap gives up.
const CHANCES: u32 = 8;

impl<const D: usize> Member<D> {
    /// Counts for how many periods there has been a gap.
    pub(super) fn notice_gaps(&mut self) {
        self.gaping = if self.gaps().next().is_some() {
            self.gaping.saturating_add(1)
        } else {
            0
        };
    }

    /// Takes a whole part of the tree by force, if it has waited too long for a gap to be closed, by chance before
    /// others do.
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
        let others: Vec<_> = others.map(|entry| (entry.name.id, entry.rank)).collect();
        self.gaping = 0;
        for (id, rank) in others {
            self.rank = self.rank.max(rank);
            self.meet(id);
        }
        self.rank = self.rank.saturating_add(1);
        self.take_from_all(leaf, cx);
        self.stay_for_now();
    }

    /// Gives back what it took from a gap, if somebody was there after all, and if that helps.
    pub(super) fn retreat_from(&mut self, zone: &Zone<D>, cx: &mut dyn Context<Can<D>>) -> bool {
        let before = self.before.take();
        let Some(leaf) = before.filter(|leaf| !leaf.zone.overlaps(zone)) else {
            return false;
        };
        self.takeover = Takeover::Idle;
        let touched: Vec<_> = self.peers.neighbours().map(Neighbour::id).collect();
        self.change_to(leaf);
        self.refresh_faces();
        for id in touched {
            self.tell(id, cx);
        }
        cx.notify(Notice::Zone);
        true
    }
}
