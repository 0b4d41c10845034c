use super::links;
use crate::custody;
use crate::job::Job;
use crate::overlay::flood::{FloodId, Header};
use crate::queue::Cost;
use crate::shared::Shared;

/// What nodes say to each other: the four messages of P3's Table I, and those with which nothing is lost or run twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Of the overlay.
    Overlay(links::Message),
    /// REQUEST: what would you take for this job? The flood's origin is its initiator.
    Request {
        /// How it travels.
        header: Header,
        /// The job.
        job: Shared<Job>,
    },
    /// INFORM: would you take this job for less? The flood's origin is the site that has it.
    Inform {
        /// How it travels.
        header: Header,
        /// The job.
        job: Shared<Job>,
        /// What it costs where it is.
        cost: Cost,
    },
    /// ACCEPT: I would, for this.
    Accept {
        /// The flood that it answers.
        flood: FloodId,
        /// What it would cost.
        cost: Cost,
    },
    /// Who has a job. P3's ASSIGN is [`Give`](custody::Message::Give), and its NOTIFY a [`Report`](custody::Message::Report) to the initiator.
    Custody(custody::Message),
}
