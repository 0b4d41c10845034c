//! The peers that a node asks when it has lost the others.
//!
//! While nothing passes between two parts of an overlay, each forgets the other; and a node whose neighbours leave one by one
//! ends up with none. So a node keeps a few peers beside its neighbours: some that it had lately, and the last few that did not
//! answer. New ones come in front, and an old one goes only when there is no more room, so what a node knows never shrinks to
//! the last neighbour that it had. They are on disk: a node that restarts has heard of none of them yet, and asks them all.

use core::mem;

use heapless::Vec;

use crate::id::NodeId;

/// How many peers a node keeps, and writes down.
pub const KNOWN: usize = 8;

/// Of how many neighbours a node makes a note at a time: half of what it keeps, so that the other half may be older.
pub(super) const HALF: usize = KNOWN / 2;

/// In every so many cycles one of them is asked again. The number is odd: two nodes that have only each other in CYCLON have a link
/// in every second cycle.
pub(super) const ASK_AGAIN: u32 = 7;

/// The peers that a node writes down.
pub type Known = Vec<NodeId, KNOWN>;

/// The peers that a node can ask for help.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Contacts {
    /// Those that it had or met, the newest first.
    known: Known,
    /// The last few that did not answer, in the order in which they are asked again.
    missed: Known,
    /// How many of those known have been asked in this round.
    asked: u8,
    /// Whether one of those that did not answer was asked last.
    asked_missed: bool,
    /// Whether any are on disk.
    is_written: bool,
}

impl Contacts {
    /// What a node has on disk. None of them has answered in this life.
    pub(super) fn restored(me: NodeId, known: Known) -> Self {
        let known = distinct(known.into_iter().filter(|peer| *peer != me));
        Self {
            missed: known.clone(),
            is_written: !known.is_empty(),
            known,
            ..Self::default()
        }
    }

    /// Those that it had or met, the newest first.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Those that did not answer.
    pub(super) fn missed(&self) -> &[NodeId] {
        &self.missed
    }

    /// These are in front from now on; of those known before, the newest stay as long as there is room.
    pub(super) fn note(&mut self, fresh: impl IntoIterator<Item = NodeId>) {
        let before = mem::take(&mut self.known);
        self.known = distinct(fresh.into_iter().chain(before));
    }

    /// What is to be on disk, if anything: these first, then as many of those known and of those that did not answer.
    pub(super) fn record(&mut self, fresh: impl IntoIterator<Item = NodeId>) -> Option<Known> {
        let known = self.known.iter().take(HALF);
        let rest = known.chain(&self.missed).chain(&self.known).copied();
        let record = distinct(fresh.into_iter().chain(rest));
        self.is_written |= !record.is_empty();
        Some(record).filter(|record| !record.is_empty())
    }

    /// Whether any are on disk.
    pub(super) const fn is_written(&self) -> bool {
        self.is_written
    }

    /// This peer has not answered: for the first time, then it comes next and another may be given up; or again, then it comes
    /// last.
    pub(super) fn miss(&mut self, peer: NodeId) {
        if self.defer(peer) {
            return;
        }
        if self.missed.is_full() {
            self.missed.pop();
        }
        let _ = self.missed.insert(0, peer);
    }

    /// This peer, if it is one of those that did not answer, comes last of them. Whether it is.
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

    /// The peer to ask again in this cycle, if any: the first wanted one of those that did not answer.
    pub(super) fn missed_due(&self, cycle: u32, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut wanted = self.missed.iter().copied().filter(|peer| wanted(*peer));
        wanted.next().filter(|_| cycle.is_multiple_of(ASK_AGAIN))
    }

    /// The same, and every second time one of those known: whoever is asked must not keep the others from their turns.
    pub(super) fn due(&mut self, cycle: u32, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if !cycle.is_multiple_of(ASK_AGAIN) {
            return None;
        }
        let missed = self.missed_due(cycle, &wanted);
        // In its first cycle a node has just been told of them.
        let known_first = cycle > 0 && (self.asked_missed || missed.is_none());
        let known = known_first.then(|| self.next_known(wanted)).flatten();
        let asked = known.or(missed);
        if asked.is_some() {
            self.asked_missed = known.is_none();
        }
        asked
    }

    /// The next peer that a node without neighbours asks: in each round those known and one of the others that did not
    /// answer, which comes last if it still does not. None after that, and then the next round begins.
    pub(super) fn next_for_help(&mut self) -> Option<NodeId> {
        let other = self.missed.iter().find(|it| !self.known.contains(it));
        let next = self.known.iter().chain(other).nth(self.asked.into());
        self.asked = next.map_or(0, |_| self.asked.saturating_add(1));
        next.copied()
    }

    /// The next wanted one of those known, each in turn.
    pub(super) fn next_known(&mut self, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let from = usize::from(self.asked).checked_rem(self.known.len())?;
        let indices = (from..self.known.len()).chain(0..from);
        let wanted = |index: usize| self.known.get(index).copied().filter(|it| wanted(*it));
        let (index, peer) = indices.filter_map(|it| Some((it, wanted(it)?))).next()?;
        self.asked = u8::try_from(index).map_or(0, |index| index.saturating_add(1));
        Some(peer)
    }

    /// All of them, those known first.
    #[cfg(feature = "alloc")]
    pub(super) fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let others = self.missed.iter().filter(|it| !self.known.contains(it));
        self.known.iter().chain(others).copied()
    }

    /// Whether this is one of those that a node without neighbours asks.
    pub(super) fn contains(&self, peer: NodeId) -> bool {
        self.known.contains(&peer) || self.missed.contains(&peer)
    }
}

/// The first of these, each once, as many as a node keeps.
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
    fn who_is_missed_again_comes_last_and_is_given_up_first() {
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
    fn half_of_what_is_on_disk_may_be_of_those_who_did_not_answer() {
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
    fn a_node_without_neighbours_asks_everyone_in_turn() {
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
    fn of_those_known_each_wanted_one_has_its_turn() {
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
