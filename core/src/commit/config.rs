use crate::admission::{Needs, Stated};
use crate::config::{ConfigError, Limits};
use crate::job::Submitter;
use crate::machine::Data;
use crate::resource::Dimensions;
use crate::rng::Choose;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// The times and limits of the protocol, the same on all nodes.
///
/// After a restart a coordinator takes from here what an earlier life may have granted. So do not shorten
/// [`lease`](Self::lease), [`permission`](Self::permission), [`retry`](Self::retry), [`jitter`](Self::jitter) or
/// [`retries`](Self::retries) across a restart before all that was granted with the longer values is over: two attempts
/// at a job might run at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The lease that a coordinator asks for; several round trips.
    pub lease: Span,
    /// The longest expected delay of a message. Longer delays cost attempts, never safety.
    pub max_delay: Span,
    /// How far two clocks may be apart, at most `grace`. Beyond that, two attempts at a job may run at once.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again. Where this may go on for long, the wait doubles each time.
    pub retry: Span,
    /// The most by which a retry is delayed at random, so that nodes do not ask in step.
    pub jitter: Span,
    /// How often to ask again before a node counts as silent.
    pub retries: u8,
    /// How long before its start a job must be committed.
    pub lead: Span,
    /// How long after its start a committed job waits for its permission; more than a lease.
    pub grace: Span,
    /// For how long a job may run without a message from its coordinator.
    pub permission: Permission,
    /// What becomes of a job that still runs when its reservation ends.
    pub overrun: Overrun,
    /// How long an attempt that is over is remembered, so that its late messages are recognised: longer than any
    /// message travels.
    pub retention: Span,
    /// The most jobs that a participant remembers at once. While it has jobs, it must not become less.
    pub seats: u16,
    /// The most holds of one coordinator at once.
    pub holds_per_peer: u16,
    /// For how long, in all, a coordinator may hold time without committing it. Used allowance comes back in twice the
    /// time for which it was used.
    pub allowance: Span,
    /// The most jobs of a coordinator at once.
    pub tasks: u16,
    /// The most nodes of a job.
    pub members: u16,
}

/// The longest wait between two retries, in multiples of `retry`.
const MOST_PATIENT: u64 = 64;

/// For how long a job may run without a message from its coordinator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Permission {
    /// Until the end of its reservation, permitted once, shortly before the start. No signs of life are asked for: if a
    /// node falls silent, the others run on until the end, and only then does it count as lost.
    UntilEnd,
    /// For this span, renewed three times in it: each time takes up to two `max_delay`, and clocks differ. A node that
    /// leaves more than `retries` renewals unanswered is lost.
    Renewed(Span),
}

/// What becomes of a job that still runs when its reservation ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overrun {
    /// It is stopped.
    Cut,
    /// Shortly before the end its node takes the time after the reservation, if that is free, and asks the coordinator
    /// for a longer permission. If the time is not free, or no permission comes before the end, the job is stopped.
    Extend {
        /// The length of one extension.
        by: Span,
        /// The most extensions on each node.
        times: u8,
    },
}

impl Config {
    /// Those of a wide-area network, see [`WAN`](Self::WAN).
    pub const DEFAULT: Self = Self {
        lease: Span::from_secs(5),
        max_delay: Span::from_secs(1),
        max_skew: Span::from_secs(1),
        retry: Span::from_millis(1500),
        jitter: Span::from_millis(500),
        retries: 3,
        lead: Span::from_secs(5),
        grace: Span::from_secs(30),
        permission: Permission::Renewed(Span::from_secs(300)),
        overrun: Overrun::Cut,
        retention: Span::from_secs(600),
        seats: 1024,
        holds_per_peer: 64,
        allowance: Span::from_secs(300),
        tasks: 1024,
        members: 1024,
    };

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). A round trip takes up to 200 ms, and messages
    /// are delayed by five of them when links are busy: [`max_delay`](Self::max_delay). The lease is five such delays,
    /// enough to ask twice. Clocks follow time servers far away: a second apart at most. A job runs on for five minutes
    /// when its coordinator is cut off.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond and time servers keep clocks within a few
    /// milliseconds of each other.
    pub const LAN: Self = Self {
        lease: Span::from_secs(1),
        // Not the network takes so long, but a busy disk, to which a node writes before it answers.
        max_delay: Span::from_millis(100),
        // Ten times what time servers promise: two attempts at once are worse than a longer wait.
        max_skew: Span::from_millis(100),
        retry: Span::from_millis(250),
        jitter: Span::from_millis(50),
        // A node is silent after 2.4 s: longer than the pause of a busy computer.
        retries: 7,
        lead: Span::from_secs(1),
        grace: Span::from_secs(5),
        // The agent of a coordinator may restart within it.
        permission: Permission::Renewed(Span::from_secs(120)),
        ..Self::DEFAULT
    };

    /// Refuses times that cannot work together. The constructors of this module do not call it: their callers do.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        let round_trip = self.max_delay.times(2);
        let once = self
            .retry
            .as_micros()
            .saturating_add(self.jitter.as_micros());
        let lasting = self
            .lease
            .as_micros()
            .saturating_add(round_trip.as_micros());
        let renewal = round_trip
            .as_micros()
            .saturating_add(self.max_skew.as_micros());
        let limits = Limits::new()
            .time("retry", self.retry)
            .more_than(0, "or messages are repeated without a pause")
            .time("lease", self.lease)
            .more_than(
                round_trip.as_micros(),
                "twice max_delay: or it is over before the decision",
            )
            .at_least(
                once.saturating_mul(2),
                "twice retry and jitter: or a lost message costs the attempt",
            )
            .time("grace", self.grace)
            .more_than(
                self.lease.as_micros(),
                "lease: or a job is given up while its time is voted on",
            )
            .time("max_skew", self.max_skew)
            .at_most(
                self.grace.as_micros(),
                "grace: or the wait for a permission is over before the permission comes",
            )
            .time("retention", self.retention)
            .at_least(
                lasting,
                "lease and twice max_delay: or a late message revives what is over",
            )
            .number("seats", self.seats as u64)
            .at_least(1, "or nothing can be held")
            .number("holds_per_peer", self.holds_per_peer as u64)
            .at_least(1, "or nothing can be held")
            .number("retries", self.retries as u64)
            .at_most(254, "or no node is ever silent for too long")
            .number("tasks", self.tasks as u64)
            .at_least(1, "or no job can be placed")
            .number("members", self.members as u64)
            .at_least(1, "or no job can be placed");
        let limits = match self.permission {
            Permission::UntilEnd => limits,
            Permission::Renewed(span) => limits.time("permission", span).at_least(
                renewal.saturating_mul(3),
                "three times twice max_delay and max_skew: or it ends before it is renewed",
            ),
        };
        let limits = match self.overrun {
            Overrun::Cut => limits,
            Overrun::Extend { by, .. } => limits
                .time("overrun.by", by)
                .more_than(0, "or an extension adds no time"),
        };
        limits.end(self)
    }

    /// How long it takes to ask once and to use up all retries.
    pub(super) fn patience(&self) -> Span {
        let once = self.retry + self.jitter;
        once.times(u64::from(self.retries).saturating_add(1))
    }

    /// The next wait, after `waited` without an answer: as long again, within limits.
    pub(super) fn again(&self, waited: Span) -> Span {
        // Never zero: with a configuration that was not checked, a machine must not retry without end at one instant.
        let retry = self.retry.max(Span::from_micros(1));
        waited.clamp(retry, retry.times(MOST_PATIENT))
    }

    /// The random delay of one retry.
    pub(super) fn draw_jitter(&self, rng: &mut (impl Choose + ?Sized)) -> Span {
        let range = u32::try_from(self.jitter.as_micros()).unwrap_or(u32::MAX);
        Span::from_micros(u64::from(rng.below(range)))
    }

    /// The time between two renewals of a permission, if permissions are renewed.
    pub(super) fn renewal(&self) -> Option<Span> {
        match self.permission {
            Permission::UntilEnd => None,
            Permission::Renewed(span) => Some(Span::from_micros((span.as_micros() / 3).max(1))),
        }
    }

    /// How long before its start a job is permitted to start. Not earlier: if the attempt fails, a later one must wait
    /// until the permissions of all silent nodes have ended.
    pub(super) fn ahead(&self) -> Span {
        self.patience().max(self.renewal().unwrap_or(Span::ZERO))
    }

    /// How long before the end of a reservation more time is asked for: enough for all retries and for a round trip.
    pub(super) fn notice_of_overrun(&self) -> Span {
        self.patience().max(self.max_delay.times(2))
    }

    /// The next end of a reservation, if it may be extended. It was committed until `committed` and now ends at `end`.
    pub(super) fn extended(&self, committed: Time, end: Time) -> Option<Time> {
        match self.overrun {
            Overrun::Cut => None,
            Overrun::Extend { by, times } => {
                let next = end + by;
                let last = committed + by.times(u64::from(times));
                (end < next && next <= last).then_some(next)
            }
        }
    }

    /// When `instant` has passed by every clock, and all that was due then is done.
    pub(super) fn passed(&self, instant: Time) -> Time {
        instant.passed(self.max_skew)
    }

    /// Until when a permission given now lasts, for a reservation that ends at `end`.
    pub(super) fn permitted(&self, now: Time, end: Time) -> Time {
        match self.permission {
            Permission::UntilEnd => end,
            Permission::Renewed(span) => (now + span).min(end),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Which submitters may use this node, and for what. A host's state, such as a list of users, lives in the implementor.
pub trait Policy: Data {
    /// Whether a job of this submitter may be coordinated here.
    fn may_submit(&self, submitter: &Submitter) -> bool;

    /// Whether this node runs jobs of this submitter.
    fn accepts(&self, submitter: &Submitter) -> bool;

    /// What this node has and whose jobs it admits, as it tells its peers. It holds itself to that as well.
    fn stated(&self) -> &Stated {
        Stated::nothing()
    }

    /// The dimensions in which jobs may require something; all nodes of a grid have the same.
    fn dimensions(&self) -> Option<&Dimensions> {
        None
    }
}

/// Every submitter may do everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Everyone;

impl Policy for Everyone {
    fn may_submit(&self, _: &Submitter) -> bool {
        true
    }

    fn accepts(&self, _: &Submitter) -> bool {
        true
    }
}

/// Every submitter may submit; which jobs a node runs depends on what it has and on their organisations.
///
/// ```
/// use gridweave_core::admission::{Admission, Attributes, Stated};
/// use gridweave_core::commit::{Policy, Selective};
/// use gridweave_core::id::{OrganisationId, UserId};
/// use gridweave_core::job::Submitter;
/// use gridweave_core::resource::Dimensions;
/// use gridweave_core::shared::Shared;
///
/// let dimensions = Shared::new(Dimensions::new(&[])?);
/// let (organisation, admission) = (OrganisationId::new(1), Admission::Own);
/// let stated = Stated::new(Attributes { organisation, admission, ..Attributes::default() });
/// let policy = Selective { dimensions, stated };
/// assert!(policy.accepts(&Submitter { user: UserId::new(7), organisation }));
/// assert!(!policy.accepts(&Submitter::NOBODY));
/// # Ok::<(), gridweave_core::resource::DimensionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Selective {
    /// The dimensions of the grid.
    pub dimensions: Shared<Dimensions>,
    /// What the node has, and whose jobs it admits.
    pub stated: Stated,
}

impl Policy for Selective {
    fn may_submit(&self, _: &Submitter) -> bool {
        true
    }

    fn accepts(&self, submitter: &Submitter) -> bool {
        let none = Needs::NOTHING;
        let judged = self.stated.suits(None, submitter.organisation, &none);
        judged.is_ok()
    }

    fn stated(&self) -> &Stated {
        &self.stated
    }

    fn dimensions(&self) -> Option<&Dimensions> {
        Some(self.dimensions.get())
    }
}
