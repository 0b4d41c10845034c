//! Contacts: the peers that a node asks when it has lost its neighbours.
//!
//! While no message passes between two islands, each forgets the other. A node whose neighbours leave one by one ends
//! up with none. So a node keeps a few peers beside its neighbours: some that it had lately, and the last few that did
//! not answer. New contacts come first, and an old one goes only when there is no more room. So the contacts never
//! shrink to the last neighbour. They are on disk, and a node that restarts asks them all.

use core::mem;

use crate::few::Few;
use crate::id::NodeId;

/// How many contacts a node keeps, and writes to disk.
pub const KNOWN: usize = 8;

/// How many neighbours become contacts at a time: half of what a node keeps, so that the other half may be older.
pub(super) const HALF: usize = KNOWN / 2;

/// In every so many cycles a contact is asked again. The number is odd, for two nodes that have only each other in
/// CYCLON have a link in every second cycle.
pub(super) const ASK_AGAIN: u32 = 7;

/// The contacts that a node writes to disk.
pub type Known = Few<NodeId, KNOWN>;

/// The peers that a node can ask for help.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Contacts {
    /// Introducers and earlier neighbours, the newest first.
    known: Known,
    /// The last few peers that did not answer, in the order in which they are asked again.
    missed: Known,
    /// The index behind the peer of `known` that was asked last.
    asked: u8,
    /// Whether the last turn of [`Self::due`] went to a missed peer.
    asked_missed: bool,
    /// Whether any contact is on disk.
    is_written: bool,
}

impl Contacts {
    /// The contacts that a node has on disk. All count as missed, for none has answered in this life.
    pub(super) fn restored(me: NodeId, known: Known) -> Self {
        let known = distinct(known.into_iter().filter(|peer| *peer != me));
        Self {
            missed: known.clone(),
            is_written: !known.is_empty(),
            known,
            ..Self::default()
        }
    }

    /// Introducers and earlier neighbours, the newest first.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// The last few peers that did not answer.
    pub(super) fn missed(&self) -> &[NodeId] {
        &self.missed
    }

    /// Puts these peers first. Of those known before, the newest stay while there is room.
    pub(super) fn note(&mut self, fresh: impl IntoIterator<Item = NodeId>) {
        let before = mem::take(&mut self.known);
        self.known = distinct(fresh.into_iter().chain(before));
    }

    /// What to write to disk, if anything: `fresh` peers, half of the known ones, missed ones, then other known ones.
    pub(super) fn record(&mut self, fresh: impl IntoIterator<Item = NodeId>) -> Option<Known> {
        let known = self.known.iter().take(HALF);
        let rest = known.chain(&self.missed).chain(&self.known).copied();
        let record = distinct(fresh.into_iter().chain(rest));
        self.is_written |= !record.is_empty();
        Some(record).filter(|record| !record.is_empty())
    }

    /// Whether any contact is on disk.
    pub(super) const fn is_written(&self) -> bool {
        self.is_written
    }

    /// This peer has not answered. If it is missed already, it comes last. Else it comes next, and the last missed peer
    /// may be given up.
    pub(super) fn miss(&mut self, peer: NodeId) {
        if self.defer(peer) {
            return;
        }
        if self.missed.is_full() {
            self.missed.pop();
        }
        let _ = self.missed.insert(0, peer);
    }

    /// Puts this peer last among the missed ones, if it is one of them. Returns whether it is.
    pub(super) fn defer(&mut self, peer: NodeId) -> bool {
        let is_missed = self.missed.contains(&peer);
        if is_missed {
            self.hear(peer);
            self.missed.extend([peer]);
        }
        is_missed
    }

    /// This peer answers.
    pub(super) fn hear(&mut self, peer: NodeId) {
        self.missed.retain(|missed| *missed != peer);
    }

    /// The missed peer to ask again in this cycle, if any: the first that is wanted.
    pub(super) fn missed_due(&self, cycle: u32, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut wanted = self.missed.iter().copied().filter(|peer| wanted(*peer));
        wanted.next().filter(|_| cycle.is_multiple_of(ASK_AGAIN))
    }

    /// The contact to ask again in this cycle, if any: a missed one and a known one in turns, so that both get theirs.
    pub(super) fn due(&mut self, cycle: u32, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if !cycle.is_multiple_of(ASK_AGAIN) {
            return None;
        }
        let missed = self.missed_due(cycle, &wanted);
        // In its first cycle, a node has only just got its known contacts.
        let known_first = cycle > 0 && (self.asked_missed || missed.is_none());
        let known = known_first.then(|| self.next_known(wanted)).flatten();
        let asked = known.or(missed);
        if asked.is_some() {
            self.asked_missed = known.is_none();
        }
        asked
    }

    /// The next peer that a node without neighbours asks. A round has all known contacts, and then the first missed one
    /// that is not known. After that comes none, and the next round begins.
    pub(super) fn next_for_help(&mut self) -> Option<NodeId> {
        let other = self.missed.iter().find(|it| !self.known.contains(it));
        let next = self.known.iter().chain(other).nth(self.asked.into());
        self.asked = next.map_or(0, |_| self.asked.saturating_add(1));
        next.copied()
    }

    /// The next known contact that is wanted, each in turn.
    pub(super) fn next_known(&mut self, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let from = usize::from(self.asked).checked_rem(self.known.len())?;
        let indices = (from..self.known.len()).chain(0..from);
        let wanted = |index: usize| self.known.get(index).copied().filter(|it| wanted(*it));
        let (index, peer) = indices.filter_map(|it| Some((it, wanted(it)?))).next()?;
        self.asked = u8::try_from(index).map_or(0, |index| index.saturating_add(1));
        Some(peer)
    }

    /// All contacts, the known ones first.
    #[cfg(feature = "alloc")]
    pub(super) fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let others = self.missed.iter().filter(|it| !self.known.contains(it));
        self.known.iter().chain(others).copied()
    }

    /// Whether this peer is a contact, known or missed.
    pub(super) fn contains(&self, peer: NodeId) -> bool {
        self.known.contains(&peer) || self.missed.contains(&peer)
    }
}

/// The first of these peers, each once, as many as a node keeps.
fn distinct(peers: impl Iterator<Item = NodeId>) -> Known {
    let mut distinct = Known::new();
    for peer in peers {
        if !distinct.contains(&peer) && distinct.push(peer).is_err() {
            break;
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: impl IntoIterator<Item = u64>) -> Known {
        ids.into_iter().map(NodeId::new).collect()
    }

    #[test]
    fn a_peer_that_is_missed_again_comes_last_and_is_given_up_first() {
        let id = NodeId::new;
        let mut contacts = Contacts::default();
        let due =
            |contacts: &Contacts, cycle| contacts.missed_due(cycle, |_| true).map(NodeId::get);
        assert_eq!(due(&contacts, 0), None);
        (1..=8).for_each(|peer| contacts.miss(id(peer)));
        assert_eq!((due(&contacts, 7), due(&contacts, 9)), (Some(8), None));
        assert_eq!(contacts.missed_due(7, |peer| peer < id(8)), Some(id(7)));
        contacts.miss(id(8));
        assert_eq!(due(&contacts, 0), Some(7));
        contacts.miss(id(9));
        assert_eq!(due(&contacts, 0), Some(9));
        // There was no more room for 8.
        assert!(!contacts.contains(id(8)));
        for peer in [9, 7, 6, 5, 4, 3, 2, 1] {
            assert!(contacts.contains(id(peer)));
            contacts.hear(id(peer));
        }
        assert_eq!(contacts, Contacts::default());
    }

    #[test]
    fn what_is_known_never_shrinks_and_the_oldest_makes_room() {
        let mut contacts = Contacts::default();
        contacts.note(ids([1, 2, 3, 4]));
        contacts.note(ids([5]));
        assert_eq!(*contacts.known(), ids([5, 1, 2, 3, 4]));
        contacts.note(ids([3]));
        contacts.note(ids([6, 7, 8, 9]));
        assert_eq!(*contacts.known(), ids([6, 7, 8, 9, 3, 5, 1, 2]));
    }

    #[test]
    fn half_of_the_contacts_on_disk_may_be_peers_that_did_not_answer() {
        let mut contacts = Contacts::default();
        assert_eq!(contacts.record([]), None);
        assert!(!contacts.is_written());
        contacts.note(ids([1, 2, 3, 4, 5, 6]));
        assert_eq!(contacts.record([]), Some(ids([1, 2, 3, 4, 5, 6])));
        (10..18).for_each(|peer| contacts.miss(NodeId::new(peer)));
        assert_eq!(contacts.record([]), Some(ids([1, 2, 3, 4, 17, 16, 15, 14])));
        assert_eq!(
            contacts.record(ids([7, 1])),
            Some(ids([7, 1, 2, 3, 4, 17, 16, 15]))
        );
    }

    #[test]
    fn a_node_without_neighbours_asks_all_contacts_in_turn() {
        let mut contacts = Contacts::restored(NodeId::new(2), ids([1, 2, 3]));
        contacts.miss(NodeId::new(5));
        contacts.miss(NodeId::new(4));
        let mut round = || {
            let round: Known = core::iter::from_fn(|| contacts.next_for_help()).collect();
            round.iter().for_each(|peer| contacts.miss(*peer));
            round
        };
        assert_eq!(round(), ids([1, 3, 4]));
        assert_eq!(round(), ids([1, 3, 5]));
        assert_eq!(round(), ids([1, 3, 4]));
    }

    #[test]
    fn each_known_contact_that_is_wanted_has_its_turn() {
        let mut contacts = Contacts::default();
        assert_eq!(contacts.next_known(|_| true), None);
        contacts.note(ids([1, 2, 3, 4]));
        let mut odd = || {
            contacts
                .next_known(|peer| peer.get() % 2 == 1)
                .map(NodeId::get)
        };
        assert_eq!([odd(), odd(), odd()], [Some(1), Some(3), Some(1)]);
        assert_eq!(contacts.next_known(|_| false), None);
        contacts.miss(NodeId::new(9));
        let mut due = |cycle| contacts.due(cycle, |_| true).map(NodeId::get);
        assert_eq!(
            [due(7), due(9), due(14), due(21)],
            [Some(9), None, Some(2), Some(9)]
        );
    }
}
