//! Whether a node takes jobs.

use crate::job::{Command, Refusal};
use crate::machine::{Context, Machine};

/// What a node does beside going on with what it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Duty {
    /// It takes jobs.
    #[default]
    Working,
    /// It takes none until it is told to, also after a restart.
    Draining,
    /// It takes none, and leaves the grid when it has none left.
    Leaving,
}

impl Duty {
    /// Obeys a command of the host, if it is one of these, and tells whether that changed anything. That a node drains
    /// is kept on disk as `draining`. A leaver does not turn back.
    pub(super) fn obey<M: Machine>(
        &mut self,
        command: &Command,
        draining: (M::Key, M::Record),
        cx: &mut dyn Context<M>,
    ) -> bool {
        let next = match command {
            Command::Leave => Self::Leaving,
            Command::Drain => Self::Draining,
            Command::Resume => Self::Working,
            _ => return false,
        };
        if *self == Self::Leaving || *self == next {
            return false;
        }
        let (key, record) = draining;
        if next == Self::Draining {
            cx.persist(key, record);
        } else if *self == Self::Draining {
            cx.forget(key);
        }
        *self = next;
        true
    }

    /// Why a new job is refused; `None` if it is not.
    pub(super) const fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Working => None,
            Self::Draining => Some(Refusal::Draining),
            Self::Leaving => Some(Refusal::Leaving),
        }
    }

    pub(super) fn takes_jobs(self) -> bool {
        self == Self::Working
    }

    pub(super) fn is_leaving(self) -> bool {
        self == Self::Leaving
    }
}
