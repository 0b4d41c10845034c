//! Why a job is where it is: what a node asked, what was refused, and what it ignored.
//!
//! A machine tells its host of such a step through [`Context::trace`](crate::machine::Context::trace). That does
//! nothing unless the host wants it: [`Host::keep_traces`](crate::machine::Host::keep_traces) keeps traces, and a host
//! with a context of its own overrides the function. Traces never change what a machine does, and the notices of a job
//! come without them.
//!
//! ```
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::trace::{Tally, Trace};
//!
//! let (job, peer) = (JobId::new(7), NodeId::new(3));
//! let why = "the start is too near";
//! let trace = Trace::Refused { job, peer, why };
//! assert_eq!(trace.to_string(), "n3 refuses: the start is too near");
//!
//! // How often which reason was given.
//! let mut tally = Tally::new();
//! tally.count(&trace);
//! tally.count(&Trace::Asks { job, peer });
//! assert!(tally.iter().eq([(why, 1)]));
//! ```

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

use crate::id::{JobId, NodeId};

/// A step of a node, with its reason in words. The words are those of the type that names the reason, such as
/// [`commit::Refused`](crate::commit::Refused).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Trace {
    /// This node begins to search nodes for a job.
    Searches {
        /// The job that needs nodes.
        job: JobId,
    },
    /// This node asks another one to search, to hold time or to take a job.
    Asks {
        /// The job that it asks for.
        job: JobId,
        /// The node that is asked.
        peer: NodeId,
    },
    /// Another node offers to run a job, or tells which nodes could.
    Offered {
        /// The job that may run there.
        job: JobId,
        /// The node that offers.
        peer: NodeId,
    },
    /// This node refuses what another one asks.
    Refuses {
        /// The job that the other node asks for.
        job: JobId,
        /// The node that asks.
        peer: NodeId,
        /// Why it is refused.
        why: &'static str,
    },
    /// Another node refuses what this one asked.
    Refused {
        /// The job that this node asked for.
        job: JobId,
        /// The node that refuses.
        peer: NodeId,
        /// Why it refuses.
        why: &'static str,
    },
    /// An attempt to place or to run a job has failed.
    Failed {
        /// The job that has lost its attempt.
        job: JobId,
        /// The node at which it failed, if it was one.
        peer: Option<NodeId>,
        /// Why it failed.
        why: &'static str,
    },
    /// This node ignores a message, or a command of its host.
    Ignores {
        /// The job that it is about, if it is about one.
        job: Option<JobId>,
        /// The sender; `None` if it was the host.
        peer: Option<NodeId>,
        /// Why it is ignored.
        why: &'static str,
    },
}

impl Trace {
    /// A message or a command is ignored because this node does not have the job.
    #[cfg(feature = "alloc")]
    pub(crate) const fn unknown(job: JobId, peer: Option<NodeId>) -> Self {
        Self::Ignores {
            job: Some(job),
            peer,
            why: "the job is not known here, or is over",
        }
    }

    /// The job that the step is about.
    pub const fn job(&self) -> Option<JobId> {
        match *self {
            Self::Searches { job }
            | Self::Asks { job, .. }
            | Self::Offered { job, .. }
            | Self::Refuses { job, .. }
            | Self::Refused { job, .. }
            | Self::Failed { job, .. } => Some(job),
            Self::Ignores { job, .. } => job,
        }
    }

    /// The other node.
    pub const fn peer(&self) -> Option<NodeId> {
        match *self {
            Self::Searches { .. } => None,
            Self::Asks { peer, .. }
            | Self::Offered { peer, .. }
            | Self::Refuses { peer, .. }
            | Self::Refused { peer, .. } => Some(peer),
            Self::Failed { peer, .. } | Self::Ignores { peer, .. } => peer,
        }
    }

    /// The reason, for a step that has one.
    pub const fn why(&self) -> Option<&'static str> {
        match *self {
            Self::Searches { .. } | Self::Asks { .. } | Self::Offered { .. } => None,
            Self::Refuses { why, .. }
            | Self::Refused { why, .. }
            | Self::Failed { why, .. }
            | Self::Ignores { why, .. } => Some(why),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Searches { .. } => f.write_str("searches for nodes"),
            Self::Asks { peer, .. } => write!(f, "asks {peer}"),
            Self::Offered { peer, .. } => write!(f, "{peer} makes an offer"),
            Self::Refuses { peer, why, .. } => write!(f, "refuses {peer}: {why}"),
            Self::Refused { peer, why, .. } => write!(f, "{peer} refuses: {why}"),
            Self::Failed {
                peer: Some(peer),
                why,
                ..
            } => write!(f, "the attempt fails at {peer}: {why}"),
            Self::Failed { why, .. } => write!(f, "the attempt fails: {why}"),
            Self::Ignores {
                peer: Some(peer),
                why,
                ..
            } => write!(f, "ignores a message of {peer}: {why}"),
            Self::Ignores { why, .. } => write!(f, "ignores a command: {why}"),
        }
    }
}

/// How often which reason was given. There is a row for each reason that the code knows, so this is bounded.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally(Vec<(&'static str, u64)>);

#[cfg(feature = "alloc")]
impl Tally {
    /// A tally of nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Counts the reason of a step, if it has one.
    pub fn count(&mut self, trace: &Trace) {
        let Some(why) = trace.why() else {
            return;
        };
        let known = self.0.binary_search_by_key(&why, |row| row.0);
        let index = known.unwrap_or_else(|index| {
            self.0.insert(index, (why, 0));
            index
        });
        if let Some((_, count)) = self.0.get_mut(index) {
            *count = count.saturating_add(1);
        }
    }

    /// The reasons in alphabetical order, each with its number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().copied()
    }
}
