//! Whether a node takes jobs.

use crate::job::{Command, Refusal};

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
    /// What a node does after a command of its host; `None` if nothing changes. A leaver does not turn back.
    pub(super) fn after(self, command: &Command) -> Option<Self> {
        let next = match command {
            _ if self == Self::Leaving => return None,
            Command::Leave => Self::Leaving,
            Command::Drain => Self::Draining,
            Command::Resume => Self::Working,
            _ => return None,
        };
        Some(next).filter(|next| *next != self)
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
