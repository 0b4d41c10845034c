//! Limits the time that one coordinator may hold at a node without committing it.

use alloc::vec::Vec;

use crate::id::NodeId;
use crate::time::{Span, Time};

/// What a participant knows of one coordinator's holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Peer {
    id: NodeId,
    /// How many holds it has now.
    holds: u16,
    /// When its debt for holds in vain is paid. Each hold that ends uncommitted adds twice its length. If it added its
    /// length once, the debt would be paid as fast as it grows, and one hold after another could go on for ever.
    owes_until: Time,
}

/// The holds of all coordinators; sorted, one entry for each that holds or owes something.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Quotas {
    peers: Vec<Peer>,
}

impl Quotas {
    /// Whether this coordinator may hold some more.
    pub(super) fn allows(&self, id: NodeId, most: u16, allowance: Span, now: Time) -> bool {
        match self
            .index_of(id)
            .ok()
            .and_then(|index| self.peers.get(index))
        {
            Some(peer) => peer.holds < most && peer.owes_until - now <= allowance,
            None => true,
        }
    }

    /// Counts a hold.
    pub(super) fn held(&mut self, id: NodeId) {
        let index = match self.index_of(id) {
            Ok(index) => index,
            Err(index) => {
                let peer = Peer {
                    id,
                    holds: 0,
                    owes_until: Time::ZERO,
                };
                self.peers.insert(index, peer);
                index
            }
        };
        if let Some(peer) = self.peers.get_mut(index) {
            peer.holds = peer.holds.saturating_add(1);
        }
    }

    /// Counts the end of a hold that was committed.
    pub(super) fn committed(&mut self, id: NodeId, now: Time) {
        self.ended(id, Span::ZERO, now);
    }

    /// Counts the end of a hold that was not committed and lasted for `lasted`.
    pub(super) fn ended(&mut self, id: NodeId, lasted: Span, now: Time) {
        let Ok(index) = self.index_of(id) else {
            return;
        };
        if let Some(peer) = self.peers.get_mut(index) {
            peer.holds = peer.holds.saturating_sub(1);
            if !lasted.is_zero() {
                peer.owes_until = peer.owes_until.max(now) + lasted.times(2);
            }
        }
        self.peers
            .retain(|peer| peer.holds > 0 || peer.owes_until > now);
    }

    fn index_of(&self, id: NodeId) -> Result<usize, usize> {
        self.peers.binary_search_by_key(&id, |peer| peer.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_is_limited_in_holds_at_once_and_in_debt() {
        let (id, other) = (NodeId::new(1), NodeId::new(2));
        let (allowance, second) = (Span::from_secs(10), Time::from_secs);
        let mut quotas = Quotas::default();
        for _ in 0..2 {
            assert!(quotas.allows(id, 2, allowance, second(0)));
            quotas.held(id);
        }
        assert!(!quotas.allows(id, 2, allowance, second(0)));
        assert!(quotas.allows(other, 2, allowance, second(0)));
        quotas.committed(id, second(1));
        assert!(quotas.allows(id, 2, allowance, second(1)));
        // Six seconds in vain are a debt of twelve; two seconds later ten are left.
        quotas.ended(id, Span::from_secs(6), second(6));
        assert!(!quotas.allows(id, 2, allowance, second(7)));
        assert!(quotas.allows(id, 2, allowance, second(8)));
        // A coordinator without holds and debt is forgotten.
        quotas.held(other);
        quotas.committed(other, second(30));
        assert_eq!(quotas, Quotas::default());
    }
}
