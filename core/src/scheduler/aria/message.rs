use super::links;
use crate::custody;
use crate::job::Job;
use crate::overlay::flood::{FloodId, Header};
use crate::queue::Cost;
use crate::shared::Shared;

/// The messages between nodes: the four of P3's Table I, and those of custody, by which no job is lost or runs twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// A message of the overlay.
    Overlay(links::Message),
    /// REQUEST: asks for the cost of a job at the receiver. The origin of the flood is the job's submitter.
    Request {
        /// The name of the flood and its hops.
        header: Header,
        /// The job that needs a site.
        job: Shared<Job>,
    },
    /// INFORM: asks for a lower cost. The origin of the flood is the site that has the job.
    Inform {
        /// The name of the flood and its hops.
        header: Header,
        /// The job that waits at the origin.
        job: Shared<Job>,
        /// The cost of the job at the origin.
        cost: Cost,
    },
    /// ACCEPT: an offer of the sender.
    Accept {
        /// The flood that it answers.
        flood: FloodId,
        /// The cost of the job at the sender.
        cost: Cost,
    },
    /// Custody: ASSIGN is [`Give`](custody::Message::Give), NOTIFY a [`Report`](custody::Message::Report) to the home.
    Custody(custody::Message),
}
