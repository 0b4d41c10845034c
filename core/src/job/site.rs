use core::num::NonZeroU32;

use super::Outcome;
use crate::id::{Epoch, JobId};
use crate::time::{Span, Time};

/// What a host sees at a site that its node does not own, such as a Slurm cluster: see
/// [`aria`](crate::scheduler::aria#foreign-sites).
///
/// ```
/// use core::num::NonZeroU32;
/// use gridweave_core::id::{Epoch, JobId};
/// use gridweave_core::job::{Command, OwnJob, Seen, SiteReport};
/// use gridweave_core::time::{Span, Time};
///
/// // A job of the site's own users runs there, and an attempt that the node asked for is in the queue.
/// let own = OwnJob {
///     id: JobId::new(1 << 63 | 4711),
///     processors: NonZeroU32::new(8).unwrap(),
///     estimate: Span::from_secs(3600),
///     submitted: Time::from_secs(50),
/// };
/// let at = Time::from_secs(60);
/// let (job, attempt) = (JobId::new(7), Epoch::new(1));
/// let commands = [
///     SiteReport::Own { job: own, seen: Seen::Started { at } },
///     SiteReport::Attempt { job, attempt, seen: Seen::Queued },
///     SiteReport::Reachable,
/// ]
/// .map(Command::Site);
/// assert_eq!(commands.len(), 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SiteReport {
    /// How an attempt is that the node told its host to queue there. A report about an attempt that is over changes
    /// nothing; if it says that the attempt is still there, the host is told to end it.
    Attempt {
        /// The job.
        job: JobId,
        /// The attempt, from [`News::Queue`](super::News::Queue).
        attempt: Epoch,
        /// How it is there.
        seen: Seen,
    },
    /// How a job of the site's own users is.
    Own {
        /// The job.
        job: OwnJob,
        /// How it is there.
        seen: Seen,
    },
    /// The site answers, and the host has reported all that is there. Before the first such report a node offers
    /// nothing.
    Reachable,
    /// The site does not answer. What was there may still be there: no job is given elsewhere, none is taken.
    Unreachable,
}

/// How a job is at a site. Reports may be repeated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Seen {
    /// It waits.
    Queued,
    /// It runs.
    Started {
        /// When it started.
        at: Time,
    },
    /// It has ended by itself.
    Ended(Outcome),
    /// It is not there, and has not ended by itself: it was withdrawn, or the site lost it. **The host has made sure
    /// that it will not start there any more.** If it had started, the host has said so before.
    Vanished,
}

/// A job of a site's own users.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OwnJob {
    /// A name that no job of the grid has.
    pub id: JobId,
    /// How many processors it takes.
    pub processors: NonZeroU32,
    /// How long it is expected to run on a node of baseline speed.
    pub estimate: Span,
    /// When it came to the site.
    pub submitted: Time,
}
