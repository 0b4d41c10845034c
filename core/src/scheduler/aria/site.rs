use crate::id::OrganisationId;
use crate::job::{Demand, Job, Refusal, Scope};
use crate::queue::{LocalScheduler, QueuedJob};
use crate::resource::{Capability, Dimensions};

/// The most organisations that a site belongs to.
pub const MOST_ORGANISATIONS: usize = 8;

/// What a node has, whose it is, and what decides there what runs when.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site<S> {
    /// What can be described at all, the same on all nodes.
    pub dimensions: Dimensions,
    /// What the site has: architecture, memory, disk, operating system.
    pub capability: Capability,
    /// Whose it is.
    pub membership: Membership,
    /// Its own scheduler.
    pub local: S,
}

/// Which virtual organisations a site belongs to, and whom it serves.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Membership {
    /// The organisations.
    pub organisations: heapless::Vec<OrganisationId, MOST_ORGANISATIONS>,
    /// Whom it serves.
    pub serves: Serves,
}

/// Whom a site serves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Serves {
    /// Everyone who does not mind where a job runs.
    #[default]
    Everyone,
    /// Its own organisations.
    Members,
}

impl Membership {
    /// Whether a job may run here.
    pub fn allows(&self, job: &Job) -> bool {
        let member = self.organisations.contains(&job.submitter.organisation);
        let open = self.serves == Serves::Everyone && job.scope == Scope::Grid;
        member || open
    }
}

impl<S: LocalScheduler> Site<S> {
    /// Whether the site has what a job needs, and serves its submitter.
    pub(super) fn matches(&self, job: &Job) -> bool {
        self.membership.allows(job) && self.dimensions.matches(&self.capability, &job.requirement)
    }

    /// Whether the site would take a job now.
    pub(super) fn takes(&self, job: &Job) -> bool {
        self.matches(job) && self.local.admits(&QueuedJob::from(job)).is_ok()
    }

    /// Why nobody can run a job, if that can be seen from the job alone.
    pub(super) fn refusal(&self, job: &Job) -> Option<Refusal> {
        if let Some(dimension) = self.dimensions.unknown_in(&job.requirement) {
            return Some(Refusal::unknown(dimension));
        }
        match job.demand {
            // One processor of one site, or several of one.
            Demand::Nodes(count) if count.get() > 1 => Some(Refusal::UnsupportedDemand),
            Demand::Nodes(_) | Demand::Cores(_) => None,
        }
    }
}
