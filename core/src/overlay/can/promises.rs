//! What a node promises to leavers.

use super::message::Name;
use crate::time::{Span, Time};

/// What happens to a node that agreed when the leaver goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Share {
    /// Its zone grows over a part of the leaver's zone.
    Heir,
    /// It only gets other neighbours.
    Witness,
}

/// The leavers for which a node promised to keep its zone unchanged, and until when.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Promises {
    list: heapless::Vec<(Name, Share, Time), 8>,
}

impl Promises {
    /// Makes a promise to one more leaver, if the other promises allow it: an heir can keep no other promise. Returns
    /// whether it did.
    pub(super) fn promise(&mut self, to: Name, share: Share, now: Time, how_long: Span) -> bool {
        self.list
            .retain(|(name, _, until)| now < *until && *name != to);
        let is_heir = |(_, share, _): &(Name, Share, Time)| *share == Share::Heir;
        if self.list.iter().any(is_heir) || (share == Share::Heir && !self.list.is_empty()) {
            return false;
        }
        self.list.push((to, share, now + how_long)).is_ok()
    }

    /// Ends the promise to a leaver, and returns the share that it was for.
    pub(super) fn release(&mut self, name: Name) -> Option<Share> {
        let index = self.list.iter().position(|(to, ..)| *to == name)?;
        Some(self.list.swap_remove(index).1)
    }

    pub(super) fn is_bound(&self, now: Time) -> bool {
        self.list.iter().any(|(_, _, until)| now < *until)
    }
}
