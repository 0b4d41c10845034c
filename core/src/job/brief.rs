//! What tests compare: effects without placements, payloads and lists of members, which have tests of their own.

use alloc::vec::Vec;

use super::{Assignment, News, Notice, Payload, Placement, Submitter};
use crate::commit::{self, coordinator, participant};
use crate::id::Epoch;
use crate::shared::Shared;
use crate::time::Time;

pub(crate) trait Brief: Sized {
    /// The value without details; `None` if it is all details.
    fn brief(self) -> Option<Self>;
}

impl Placement {
    /// A placement of which only the start is of interest.
    pub(crate) fn at(start: Time) -> Self {
        Self {
            attempt: Epoch::new(0),
            start,
            end: None,
            nodes: Vec::new(),
        }
    }
}

impl Assignment {
    /// An assignment of which nothing is of interest.
    pub(crate) fn any() -> Shared<Self> {
        Shared::new(Self {
            placement: Placement::at(Time::ZERO),
            submitter: Submitter::NOBODY,
            payload: Payload::EMPTY,
        })
    }
}

impl News {
    pub(crate) fn accepted(start: Time) -> Self {
        Self::Accepted(Shared::new(Placement::at(start)))
    }

    pub(crate) fn moved(start: Time) -> Self {
        Self::Moved(Shared::new(Placement::at(start)))
    }

    pub(crate) fn started(attempt: Epoch, until: Time) -> Self {
        Self::Started {
            attempt,
            until,
            assignment: Assignment::any(),
        }
    }
}

impl Brief for News {
    fn brief(self) -> Option<Self> {
        Some(match self {
            Self::Accepted(placement) => Self::accepted(placement.get().start),
            Self::Moved(placement) => Self::moved(placement.get().start),
            Self::Started { attempt, until, .. } => Self::started(attempt, until),
            Self::Assigned(_) | Self::Released { .. } => return None,
            other => other,
        })
    }
}

impl Brief for Notice {
    fn brief(self) -> Option<Self> {
        let Self { job, news } = self;
        Some(Self {
            job,
            news: news.brief()?,
        })
    }
}

impl Brief for commit::Message {
    fn brief(mut self) -> Option<Self> {
        match &mut self {
            Self::Commit { members, .. } => *members = Shared::new(commit::Members::default()),
            Self::Prepare { payload, .. } => *payload = Payload::EMPTY,
            _ => {}
        }
        Some(self)
    }
}

impl Brief for coordinator::Notice {
    fn brief(mut self) -> Option<Self> {
        if let Self::Placed { placement, .. } = &mut self {
            placement.nodes.clear();
        }
        Some(self)
    }
}

impl Brief for participant::Notice {
    fn brief(mut self) -> Option<Self> {
        match &mut self {
            Self::Begin { assignment, .. } => *assignment = Assignment::any(),
            Self::Assigned { .. } | Self::Released { .. } => return None,
            _ => {}
        }
        Some(self)
    }
}

impl Brief for commit::Notice {
    fn brief(self) -> Option<Self> {
        match self {
            Self::Coordinator(notice) => notice.brief().map(Self::Coordinator),
            Self::Participant(notice) => notice.brief().map(Self::Participant),
        }
    }
}
