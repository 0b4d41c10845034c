//! What a host and its scheduler say to each other: commands, notices, and what they carry.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{Failure, Job, JobError, Outcome, Refusal, SiteReport, Submitter};
use crate::id::{Epoch, JobId, NodeId};
use crate::shared::Shared;
use crate::time::Time;

/// Bytes of a job that only hosts understand, such as a command line. Clones share them.
///
/// They travel to the nodes that commit to run the job, and to no others. Larger things are referred to by them.
///
/// ```
/// use gridweave_core::job::Payload;
///
/// let payload = Payload::new(b"/bin/true")?;
/// assert_eq!(payload.as_bytes(), b"/bin/true");
/// assert!(Payload::new(&[0; Payload::MOST + 1]).is_err());
/// # Ok::<(), gridweave_core::job::JobError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Payload(Option<Arc<Vec<u8>>>);

impl Payload {
    /// The most bytes of a payload.
    pub const MOST: usize = 4096;

    /// No bytes.
    pub const EMPTY: Self = Self(None);

    /// Copies these bytes, at most [`Self::MOST`].
    pub fn new(bytes: &[u8]) -> Result<Self, JobError> {
        if bytes.len() > Self::MOST {
            return Err(JobError::PayloadTooLong);
        }
        Ok(Self((!bytes.is_empty()).then(|| Arc::new(bytes.to_vec()))))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.as_bytes().len())
    }
}

/// When and where a job is to run, as its submitter is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Placement {
    /// The attempt.
    pub attempt: Epoch,
    /// When it is expected to start.
    pub start: Time,
    /// When its reservation ends, if it has one.
    pub end: Option<Time>,
    /// The nodes that are to run it; the position of a node is its rank.
    pub nodes: Vec<NodeId>,
}

/// What a node that is to run a job knows of the attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignment {
    /// When and where the attempt runs.
    pub placement: Placement,
    /// The user that submitted the job.
    pub submitter: Submitter,
    /// What its submitter passes on to the hosts that run it.
    pub payload: Payload,
}

/// What a host asks of a scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Run this job.
    Submit {
        /// The job.
        job: Job,
        /// What the hosts that run it are told.
        payload: Payload,
    },
    /// Stop this job, wherever it waits or runs.
    Cancel(JobId),
    /// An attempt that this node was told to start has ended by itself. Nothing happens if that attempt does not run
    /// here any more.
    Ended {
        /// The job that ended.
        job: JobId,
        /// The attempt, from [`News::Started`].
        attempt: Epoch,
        /// Whether it did its work.
        outcome: Outcome,
    },
    /// What became of an attempt that this node had started in an earlier life. The host says this for each such
    /// attempt after the records of that life and before [`Event::Start`](crate::machine::Event::Start); an attempt of
    /// which it says nothing is taken not to run any more.
    ///
    /// An attempt that runs goes on if its time allows; else the host is told [`News::Stopped`].
    Survived {
        /// The job.
        job: JobId,
        /// The attempt, from [`News::Started`].
        attempt: Epoch,
        /// What became of it.
        survival: Survival,
    },
    /// Take no new jobs, and leave the grid when none is left. What waits here goes to other nodes where the scheduler
    /// can move it (`aria`, `desktop`). This is forgotten in a restart.
    Leave,
    /// Take no new jobs until [`Resume`](Self::Resume), also after a restart. What waits here goes to other nodes where
    /// the scheduler can move it. The node is drained when its `is_drained` says so: nothing runs or is to run there.
    Drain,
    /// Take jobs again after [`Drain`](Self::Drain).
    Resume,
    /// Look for nodes of the grid through this one, too, and keep it as a neighbour where there is room. For a host that knows more of the grid than the node: parts of
    /// an overlay that know nothing of each other cannot find together by themselves.
    Meet(NodeId),
    /// What the host sees at a site that this node does not own. Only `aria` stands before such a site; nothing happens
    /// if its site is not foreign.
    Site(SiteReport),
}

impl Command {
    /// Run this job, which has no payload.
    pub const fn submit(job: Job) -> Self {
        Self::Submit {
            job,
            payload: Payload::EMPTY,
        }
    }
}

/// What became of an attempt while the machine that had started it was down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Survival {
    /// It runs.
    Runs {
        /// When the host ends it: the time that it was told last.
        until: Time,
    },
    /// It has ended by itself.
    Ended(Outcome),
}

/// What a scheduler tells its host about a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Notice {
    /// The job.
    pub job: JobId,
    /// What happened to it.
    pub news: News,
}

/// What happens to a job.
///
/// The submitter tells its host any number of [`Expected`](Self::Expected), and then [`Accepted`](Self::Accepted), or at
/// once the outcome; then any number of [`Moved`](Self::Moved); and last exactly one of
/// [`Finished`](Self::Finished), [`Failed`](Self::Failed) or [`Cancelled`](Self::Cancelled). If the submitter knows the name of a new job already, the only news is
/// [`Refusal::Known`], and it says nothing of the known job. One name used at two nodes at once is not detected.
///
/// Only a node that is to run a job tells its host [`Assigned`](Self::Assigned), and then
/// [`Released`](Self::Released) or [`Started`](Self::Started), to begin the attempt; then any number of
/// [`Extended`](Self::Extended), and [`Stopped`](Self::Stopped), to end it early, perhaps at once. After a restart it
/// may say `Assigned` again, or `Released` of an attempt that was assigned before. **The host ends the
/// attempt at the time that it was told last, even if this machine is down then**: other nodes count on that, and may
/// start the job elsewhere.
///
/// An attempt is named by a number. All nodes of one attempt hear the same number, and two attempts at a job on one
/// node never have the same.
///
/// A node tells its host [`Orphaned`](Self::Orphaned) if it had a job and no longer hears from the job's home.
///
/// A node before a foreign site tells its host first [`Queue`](Self::Queue), and [`Started`](Self::Started) only after
/// the host has reported the start. [`Extended`](Self::Extended) and [`Stopped`](Self::Stopped) may then come before
/// it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum News {
    /// It will run.
    Accepted(Shared<Placement>),
    /// It will run on other nodes or at another time than told before.
    Moved(Shared<Placement>),
    /// It is to run here: time is committed, or it waits in the queue. What it needs can be fetched.
    Assigned(Shared<Assignment>),
    /// It will not run here, although it was assigned. It had not begun.
    Released {
        /// The attempt that was assigned.
        attempt: Epoch,
    },
    /// Begin it here.
    Started {
        /// The attempt that begins.
        attempt: Epoch,
        /// When the host ends it, unless this is extended.
        until: Time,
        /// What to run, and with which other nodes.
        assignment: Shared<Assignment>,
    },
    /// It may run here for longer.
    Extended {
        /// The attempt that runs here.
        attempt: Epoch,
        /// When the host ends it, unless this is extended again.
        until: Time,
    },
    /// End it here.
    Stopped {
        /// The attempt that must not run here any more.
        attempt: Epoch,
    },
    /// This node had it, no longer hears from its home, and has dropped it.
    Orphaned,
    /// It is done.
    Finished,
    /// It will not be done.
    Failed(Failure),
    /// It was cancelled.
    Cancelled,
    /// Have the site queue it, as it was assigned. Only a node before a foreign site tells this, and again after a
    /// restart. If the host has queued this attempt before, it does not queue it again, but reports how it is.
    Queue {
        /// The attempt to queue.
        attempt: Epoch,
        /// The attempt does not start at this time or later, unless this is extended: the host sees to that.
        until: Time,
    },
    /// Take it out of the queue of the site, unless it has started. The host reports what became of that.
    Withdraw {
        /// The attempt that is to go elsewhere.
        attempt: Epoch,
    },
    /// It waits without a placement. As far as is known now, it can start then.
    Expected {
        /// The earliest start that was found.
        start: Time,
    },
}

impl News {
    /// Whether this is the outcome: the last news at the submitter. [`Refusal::Known`] is not, because more news of the
    /// known job may follow.
    pub const fn is_last(&self) -> bool {
        match self {
            Self::Failed(failure) => !matches!(failure, Failure::Refused(Refusal::Known)),
            Self::Finished | Self::Cancelled => true,
            _ => false,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {} from {}", self.attempt, self.start)?;
        if let Some(end) = self.end {
            write!(f, " to {end}")?;
        }
        for (rank, node) in self.nodes.iter().enumerate() {
            write!(f, "{} {node}", if rank == 0 { " on" } else { "," })?;
        }
        Ok(())
    }
}

/// What the node of the machine says of the job.
impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { start } => write!(f, "expects it to start at {start}"),
            Self::Accepted(placement) => write!(f, "accepts it: {}", placement.get()),
            Self::Moved(placement) => write!(f, "moves it: {}", placement.get()),
            Self::Assigned(assignment) => write!(f, "is to run it: {}", assignment.get().placement),
            Self::Released { attempt } => write!(f, "will not run attempt {attempt}"),
            Self::Started { attempt, .. } => write!(f, "starts attempt {attempt}"),
            Self::Extended { until, .. } => write!(f, "may run it until {until}"),
            Self::Stopped { attempt } => write!(f, "stops attempt {attempt}"),
            Self::Orphaned => f.write_str("drops it: its home is not heard any more"),
            Self::Finished => f.write_str("says that it is done"),
            Self::Failed(failure) => write!(f, "says that it failed: {failure}"),
            Self::Cancelled => f.write_str("says that it is cancelled"),
            Self::Queue { attempt, .. } => write!(f, "has its site queue attempt {attempt}"),
            Self::Withdraw { attempt } => write!(f, "has its site withdraw attempt {attempt}"),
        }
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use alloc::vec::Vec;
    use core::fmt;

    use super::Payload;
    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Payload {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            encoder.serialize_bytes(self.as_bytes())
        }
    }

    impl<'de> Deserialize<'de> for Payload {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            decoder.deserialize_bytes(AtMost)
        }
    }

    /// Reads no more bytes than a payload may have.
    struct AtMost;

    impl<'de> Visitor<'de> for AtMost {
        type Value = Payload;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {} bytes", Payload::MOST)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Payload, E> {
            Payload::new(bytes).map_err(|_| E::invalid_length(bytes.len(), &self))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Payload, A::Error> {
            let mut bytes: Vec<u8> = Vec::new();
            while let Some(byte) = list.next_element()? {
                if bytes.len() >= Payload::MOST {
                    return Err(A::Error::invalid_length(bytes.len(), &self));
                }
                bytes.push(byte);
            }
            self.visit_bytes(&bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_news_is_the_last() {
        for last in [
            News::Finished,
            News::Failed(Failure::NodeLost),
            News::Cancelled,
        ] {
            assert!(last.is_last());
        }
        let (until, attempt) = (Time::ZERO, Epoch::new(1));
        let placement = Placement {
            attempt,
            start: until,
            end: None,
            nodes: Vec::new(),
        };
        let assignment = Shared::new(Assignment {
            placement: placement.clone(),
            submitter: Submitter::NOBODY,
            payload: Payload::EMPTY,
        });
        let placement = Shared::new(placement);
        for more in [
            News::Expected { start: until },
            News::Accepted(placement.clone()),
            News::Moved(placement),
            News::Assigned(assignment.clone()),
            News::Released { attempt },
            News::Started {
                attempt,
                until,
                assignment,
            },
            News::Extended { attempt, until },
            News::Stopped { attempt },
            News::Orphaned,
            News::Failed(Failure::Refused(Refusal::Known)),
        ] {
            assert!(!more.is_last());
        }
    }

    #[test]
    fn a_payload_has_at_most_4096_bytes() {
        assert_eq!(Payload::new(&[]), Ok(Payload::EMPTY));
        let most = Payload::new(&[7; 4096]).unwrap();
        assert_eq!(most.as_bytes(), [7; 4096]);
        assert_eq!(Payload::new(&[7; 4097]), Err(JobError::PayloadTooLong));
        assert_eq!(std::format!("{most:?}"), "Payload(4096 bytes)");
    }
}
