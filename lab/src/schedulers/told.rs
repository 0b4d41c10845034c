//! What the schedulers of the lab tell of a job that is to run.

use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Assignment, Payload, Placement, Submitter};
use gridweave_core::shared::Shared;
use gridweave_core::time::Time;

/// What a node that runs a job is told, without what the lab does not look at.
pub(crate) fn assigned(attempt: Epoch, start: Time) -> Shared<Assignment> {
    Shared::new(Assignment {
        placement: placed(attempt, start, Vec::new()),
        submitter: Submitter::NOBODY,
        payload: Payload::EMPTY,
    })
}

/// A placement without a reservation.
pub(crate) fn placed(attempt: Epoch, start: Time, nodes: Vec<NodeId>) -> Placement {
    Placement {
        attempt,
        start,
        end: None,
        nodes,
    }
}
