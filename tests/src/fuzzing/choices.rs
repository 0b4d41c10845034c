//! What a fuzz body does next, chosen by bytes.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Retry};

/// Choices, from bytes; zeros when they are used up.
pub(super) struct Choices<'a> {
    bytes: &'a [u8],
    peers: u8,
}

impl<'a> Choices<'a> {
    /// How many jobs there are.
    const JOBS: u8 = 6;

    /// Choices from these bytes, where there are so many peers.
    pub(super) fn new(bytes: &'a [u8], peers: u8) -> Self {
        Self { bytes, peers }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    pub(super) fn below(&mut self, n: u8) -> u8 {
        self.byte() % n
    }

    pub(super) fn pick<T, const N: usize>(&mut self, of: [T; N]) -> T {
        let index = usize::from(self.byte()) % N;
        let picked = of.into_iter().nth(index);
        picked.expect("there is something to pick from")
    }

    pub(super) fn peer(&mut self) -> NodeId {
        NodeId::new(u64::from(self.below(self.peers)))
    }

    /// At times, an order of an operator.
    pub(super) fn order(&mut self) -> Option<Command> {
        Some(match self.below(128) {
            1 => Command::Leave,
            2..=4 => Command::Drain,
            5..=12 => Command::Resume,
            13..=16 => Command::Meet(self.peer()),
            _ => return None,
        })
    }

    pub(super) fn job(&mut self) -> JobId {
        JobId::new(u64::from(self.below(Self::JOBS)))
    }
}

/// Whether the job of this name may run again: some may, and some may not.
pub(super) fn retry_of(job: JobId) -> Retry {
    match job.get() % 3 {
        0 => Retry::Never,
        1 => Retry::OnNodeLoss(2),
        _ => Retry::Always(1),
    }
}
