use crate::admission::Organisations;
use crate::few::Few;
use crate::id::OrganisationId;
use crate::job::{Demand, Job, Refusal, Scope};
use crate::queue::{LocalScheduler, QueueError, QueuedJob};
use crate::resource::{Capability, Dimensions};
use crate::shared::Shared;

/// The most organisations that a site belongs to.
pub const MOST_ORGANISATIONS: usize = 8;

/// The capabilities of a node, the organisations that it serves, and its local scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site<S> {
    /// The dimensions of capabilities, the same on all nodes.
    pub dimensions: Dimensions,
    /// What the site has, for example architecture, memory, disk and operating system.
    pub capability: Capability,
    /// The organisations of the site.
    pub membership: Membership,
    /// The local scheduler, which decides which job runs when.
    pub local: S,
}

/// The virtual organisations of a site, and whose jobs it runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Membership {
    /// The organisations that the site belongs to.
    pub organisations: Few<OrganisationId, MOST_ORGANISATIONS>,
    /// Whose jobs the site runs.
    pub serves: Serves,
}

/// Which users a site serves. A job whose scope is an organisation runs only at sites that belong to it, too.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Serves {
    /// All users.
    #[default]
    AllUsers,
    /// Only users of its own organisations.
    Members,
    /// Only users of these organisations, whether the site belongs to them or not.
    Only(Shared<Organisations>),
    /// All users but those of these organisations.
    Except(Shared<Organisations>),
}

impl Membership {
    /// Whether a job may run here. Whether it may run nowhere else is not asked.
    pub fn allows(&self, job: &Job) -> bool {
        let organisation = &job.submitter.organisation;
        let member = self.organisations.contains(organisation);
        let served = match &self.serves {
            Serves::AllUsers => true,
            Serves::Members => member,
            Serves::Only(these) => these.get().as_slice().contains(organisation),
            Serves::Except(these) => !these.get().as_slice().contains(organisation),
        };
        served && (member || job.scope != Scope::Organisation)
    }
}

impl<S: LocalScheduler> Site<S> {
    /// Whether the site has what a job needs, and serves its submitter.
    pub(super) fn matches(&self, job: &Job) -> bool {
        self.membership.allows(job) && self.dimensions.matches(&self.capability, &job.requirement)
    }

    /// Whether the site could run a job if it were idle.
    pub(super) fn suits(&self, job: &Job) -> bool {
        let admitted = self.local.admits(&QueuedJob::from(job));
        self.matches(job) && admitted != Err(QueueError::Unsuitable)
    }

    /// Whether the site would take a job now.
    pub(super) fn takes(&self, job: &Job) -> bool {
        self.matches(job) && self.local.admits(&QueuedJob::from(job)).is_ok()
    }

    /// Why no site can run a job, if the job alone shows it.
    pub(super) fn refusal(&self, job: &Job) -> Option<Refusal> {
        if let Some(dimension) = self.dimensions.unknown_in(&job.requirement) {
            return Some(Refusal::unknown(dimension));
        }
        match job.demand {
            // A job gets one or more processors of one site, never several sites.
            Demand::Nodes(count) if count.get() > 1 => Some(Refusal::UnsupportedDemand),
            Demand::Nodes(_) | Demand::Cores(_) => None,
        }
    }
}
