use core::fmt;

use crate::job::Submitter;
use crate::machine::Data;
use crate::rng::Choose;
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
    /// How far two clocks may be apart. Beyond that, two attempts at a job may run at once.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again. Where this may go on for long, the wait doubles each time.
    pub retry: Span,
    /// The most by which a retry is delayed at random, so that nodes do not ask in step.
    pub jitter: Span,
    /// How often to ask again before a node counts as silent.
    pub retries: u8,
    /// How long before its start a job must be committed.
    pub lead: Span,
    /// How long after its start a committed job waits for its permission.
    pub grace: Span,
    /// For how long a job may run without a message from its coordinator.
    pub permission: Permission,
    /// What becomes of a job that started and was then lost or broke on a node.
    pub after_loss: AfterLoss,
    /// What becomes of a job that still runs when its reservation ends.
    pub overrun: Overrun,
    /// How long an attempt that is over is remembered, so that its late messages are recognised: longer than any
    /// message travels.
    pub retention: Span,
    /// The most jobs that a participant remembers at once.
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
    /// For this span, renewed three times in it. A node that leaves more than `retries` renewals unanswered is lost.
    Renewed(Span),
}

/// What becomes of a job that started and was then lost or broke on a node. Survivors are freed in any case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AfterLoss {
    /// It is started again at its next candidate, if there is one.
    Restart,
    /// The coordinator gives it up; the host may place it again.
    GiveUp,
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
    /// Sensible times for a wide-area network.
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
        after_loss: AfterLoss::GiveUp,
        overrun: Overrun::Cut,
        retention: Span::from_secs(600),
        seats: 1024,
        holds_per_peer: 64,
        allowance: Span::from_secs(300),
        tasks: 1024,
        members: 1024,
    };

    /// Refuses times that cannot work together.
    pub fn checked(self) -> Result<Self, ConfigError> {
        if self.lease <= self.max_delay.times(2) {
            return Err(ConfigError::ShortLease);
        }
        if self.retention < self.lease + self.max_delay.times(2) {
            return Err(ConfigError::ShortRetention);
        }
        if self.retry.is_zero() {
            return Err(ConfigError::ZeroRetry);
        }
        if let Permission::Renewed(span) = self.permission
            && span < Span::from_micros(3)
        {
            return Err(ConfigError::ShortPermission);
        }
        if let Overrun::Extend { by, .. } = self.overrun
            && by.is_zero()
        {
            return Err(ConfigError::ZeroExtension);
        }
        if self.seats == 0 || self.tasks == 0 || self.members == 0 || self.holds_per_peer == 0 {
            return Err(ConfigError::ZeroLimit);
        }
        Ok(self)
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

/// Why a configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// No decision can be made: a lease must outlast two delays.
    ShortLease,
    /// A late message could revive an attempt that is over.
    ShortRetention,
    /// Questions would be repeated without a pause.
    ZeroRetry,
    /// There is no time to renew the permission.
    ShortPermission,
    /// An extension would add no time.
    ZeroExtension,
    /// Nothing could ever be committed.
    ZeroLimit,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShortLease => "the lease does not outlast two delays",
            Self::ShortRetention => "what is over is forgotten before its messages are",
            Self::ZeroRetry => "the time between retries is zero",
            Self::ShortPermission => "the permission is too short to be renewed",
            Self::ZeroExtension => "the extension is zero",
            Self::ZeroLimit => "a limit is zero",
        })
    }
}

impl core::error::Error for ConfigError {}

/// Which submitters may use this node, and for what. A host's state, such as a list of users, lives in the implementor.
pub trait Policy: Data {
    /// Whether a job of this submitter may be coordinated here.
    fn may_submit(&self, submitter: &Submitter) -> bool;

    /// Whether this node runs jobs of this submitter.
    fn accepts(&self, submitter: &Submitter) -> bool;
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
