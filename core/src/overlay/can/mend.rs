//! Mending: what ends every state that the rules for leaving and crashes do not (PROTOCOLS 3.1, expanding search).
//!
//! So many nodes may be gone at once, or so many messages be lost, that no node knows the last owner of a hole. The
//! nodes around it then have a gap, and searches there get no answer. After some periods, a node that can grows over
//! the gap, if no node objects.
//!
//! Zones that grew so may not be leaves of one tree any more, and each node around a gap may have a neighbour at the
//! same face. Then one of them takes a whole subtree by force, from its own history, and the other nodes there join
//! anew. In the worst case, that subtree is the whole space.

use alloc::vec::Vec;

use super::Can;
use super::command::Notice;
use super::member::{Member, Takeover};
use super::peers::Neighbour;
use super::zone::Zone;
use crate::machine::Context;
use crate::rng::Choose;

/// In each period, a node that cannot close a gap takes it by force with one chance in so many.
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

    /// Takes a whole subtree by force, if a gap has lasted too long and this node cannot grow over it. The random
    /// moment lets one node act before the others.
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

    /// Undoes its growth over a gap, if its zone before does not overlap the given one. Returns whether it did.
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
