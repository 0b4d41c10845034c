//! What a node promises to neighbours that want to leave.

use super::message::Name;
use crate::time::{Span, Time};

/// What a node that agreed that another leaves has to do with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Share {
    /// It grows.
    Heir,
    /// It only gets another neighbour.
    Witness,
}

/// To whom a node promised to keep its zone as it is until they are gone, and until when.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Promises {
    list: heapless::Vec<(Name, Share, Time), 8>,
}

impl Promises {
    /// Promises it to one more, if that goes together with what was promised: who inherits has no other promise to
    /// keep.
    pub(super) fn promise(&mut self, to: Name, share: Share, now: Time, how_long: Span) -> bool {
        self.list
            .retain(|(name, _, until)| now < *until && *name != to);
        let is_heir = |(_, share, _): &(Name, Share, Time)| *share == Share::Heir;
        if self.list.iter().any(is_heir) || (share == Share::Heir && !self.list.is_empty()) {
            return false;
        }
        self.list.push((to, share, now + how_long)).is_ok()
    }

    /// What it promised to somebody, which is over.
    pub(super) fn release(&mut self, name: Name) -> Option<Share> {
        let index = self.list.iter().position(|(to, ..)| *to == name)?;
        Some(self.list.swap_remove(index).1)
    }

    pub(super) fn is_bound(&self, now: Time) -> bool {
        self.list.iter().any(|(_, _, until)| now < *until)
    }
}
