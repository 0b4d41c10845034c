//! When a node looks for parts of the overlay that have forgotten it.

use super::Config;
use crate::id::NodeId;

/// When a node asks a contact that it does not see for a link: the two may be on different islands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Reunion {
    /// The peer that was asked last.
    pub(super) asked: Option<NodeId>,
    /// How many requests in a row counted as answered.
    answers: u8,
    /// The iteration before which no peer is asked again.
    pub(super) due: u32,
    /// Whether a link was lost or a request missed since the last answer. Then sightings must be recent to count.
    doubts: bool,
}

impl Reunion {
    /// The wait doubles with each answer, at most so many times.
    const DOUBLED: u8 = 4;

    /// This peer is asked. It counts as answered until [`Self::miss`].
    pub(super) fn ask(&mut self, peer: NodeId, iteration: u32, config: &Config) {
        self.asked = Some(peer);
        self.doubts = false;
        self.wait(iteration, config);
    }

    pub(super) fn wait(&mut self, iteration: u32, config: &Config) {
        let wait =
            u32::from(config.sighted.max(config.remember)) << self.answers.min(Self::DOUBLED);
        self.answers = self.answers.saturating_add(1);
        self.due = iteration.saturating_add(wait);
    }

    /// A link was lost, perhaps the only one to an island: a contact that is not seen is asked soon.
    pub(super) fn hasten(&mut self, iteration: u32, config: &Config) {
        let soon = iteration.saturating_add(config.remember.into());
        self.due = self.due.min(soon);
        self.doubts = true;
    }

    /// For how many iterations a peer that was seen counts as one of the same island.
    pub(super) fn trusted(&self, config: &Config) -> u32 {
        let iterations = if self.doubts {
            config.remember
        } else {
            config.sighted
        };
        iterations.into()
    }

    /// The peer that was asked does not answer.
    pub(super) fn miss(&mut self, iteration: u32, config: &Config) {
        self.answers = 0;
        self.doubts = true;
        self.due = iteration.saturating_add(config.remember.into());
    }
}
