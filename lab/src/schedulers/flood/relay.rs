//! A search goes from neighbour to neighbour.

use std::collections::VecDeque;

use gridweave_core::id::NodeId;
use gridweave_core::machine::Context;

use super::{Flood, Message, SearchId};

/// The last searches that came in, each with the most hops that a copy of it had left.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Seen(VecDeque<(SearchId, u8)>);

/// How a search that comes in compares with those seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Novelty {
    /// It was not seen before.
    New,
    /// It was seen before, but this copy has more hops left.
    Farther,
    /// It was seen before, with as many hops left or more.
    Old,
}

impl Seen {
    /// How many searches are remembered. A forgotten search that comes again is answered and passed on again; that
    /// costs messages, but breaks nothing.
    pub(super) const MOST: usize = 256;

    fn note(&mut self, search: SearchId, ttl: u8) -> Novelty {
        // Copies come close together, so the latest are looked at first.
        let known = self.0.iter_mut().rev().find(|(seen, _)| *seen == search);
        if let Some((_, farthest)) = known {
            if ttl <= *farthest {
                return Novelty::Old;
            }
            *farthest = ttl;
            return Novelty::Farther;
        }
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((search, ttl));
        Novelty::New
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Flood {
    /// Answers a search once, and passes it on while it has hops left.
    ///
    /// Where delays differ, the first copy may have come a longer way than a later one. Then the later one is passed on
    /// too, so that a search reaches the same nodes whatever the delays.
    pub(super) fn hear_search(
        &mut self,
        from: NodeId,
        search: SearchId,
        ttl: u8,
        cx: &mut dyn Context<Self>,
    ) {
        if search.origin == self.me {
            return;
        }
        let ttl = ttl.min(self.config.max_radius);
        match self.seen.note(search, ttl) {
            Novelty::New => self.answer(search, cx),
            Novelty::Farther => {}
            Novelty::Old => return,
        }
        if let Some(ttl) = ttl.checked_sub(1).filter(|left| *left > 0) {
            self.pass_on(from, search, ttl, cx);
        }
    }

    /// Sends a search to all neighbours but the one that it came from.
    pub(super) fn pass_on(
        &mut self,
        from: NodeId,
        search: SearchId,
        ttl: u8,
        cx: &mut dyn Context<Self>,
    ) {
        for &peer in self.overlay.view().ids() {
            if peer != from && peer != search.origin {
                cx.send(peer, Message::Search { search, ttl });
            }
        }
    }
}
