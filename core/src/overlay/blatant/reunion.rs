//! When parts of the overlay that forgot each other are looked for.

use super::Config;
use crate::id::NodeId;

/// When a node asks a peer that it had once, and does not see any more, for a link: the two may be on islands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Reunion {
    /// The peer that was asked last.
    pub(super) asked: Option<NodeId>,
    /// How often in a row there was an answer.
    answers: u8,
    /// The iteration before which no peer is asked again.
    pub(super) due: u32,
}

impl Reunion {
    /// How much longer than the first one a wait after an answer becomes: twice as long, so many times.
    const DOUBLED: u8 = 4;

    /// This peer is asked, and answers unless that turns out otherwise.
    pub(super) fn ask(&mut self, peer: NodeId, iteration: u32, config: &Config) {
        self.asked = Some(peer);
        self.wait(iteration, config);
    }

    pub(super) fn wait(&mut self, iteration: u32, config: &Config) {
        let wait =
            u32::from(config.sighted.max(config.remember)) << self.answers.min(Self::DOUBLED);
        self.answers = self.answers.saturating_add(1);
        self.due = iteration.saturating_add(wait);
    }

    /// The peer that was asked does not answer.
    pub(super) fn miss(&mut self, iteration: u32, config: &Config) {
        self.answers = 0;
        self.due = iteration.saturating_add(config.remember.into());
    }
}
