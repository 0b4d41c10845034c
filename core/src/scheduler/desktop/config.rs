use core::fmt;

use crate::custody;
use crate::overlay::can;
use crate::resource::Capability;
use crate::time::Span;

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The space of capabilities.
    pub can: can::Config,
    /// The most that any node has in each dimension: where the space ends. A status with more is ignored.
    pub most: Capability,
    /// The stopping factor of the paper's matchmaking, in hundredths: a higher one pushes jobs farther outwards.
    pub stopping: u16,
    /// How often a search that came to its end begins anew, at a random point outwards of the job's. With zero, as in
    /// the paper, searches only go outwards.
    pub probes: u8,
    /// Where a job goes if several nodes could start it at once.
    pub preference: Preference,
    /// Which jobs may pass others, and which may move.
    pub scheduling: Scheduling,
    /// Which peers know what a busy node has left.
    pub residues: Residues,
    /// The second space of [`Residues::DualCan`]; it has as many virtual dimensions as the first.
    pub residue_can: can::Config,
    /// For how many waiting jobs per round a node searches the grid for nodes that could start them at once. With zero,
    /// as in the paper, waiting jobs go only to neighbours.
    pub searches_again: u8,
    /// The most hops of a [`Gather`](super::Gather). A node sends one if a job has ended and no neighbour is left to
    /// ask. With zero, as in the paper, a node asks only neighbours.
    pub pull_hops: u16,
    /// The time between looks at the queue. A node asks each neighbour for jobs to start at most once in it (PROTOCOLS
    /// L8). P4 does not say how long it is; [`Config::new`] takes the period of heartbeats (L16).
    pub round: Span,
    /// Custody between submitters and owners.
    pub owners: custody::Config,
    /// Custody between owners and run nodes.
    pub runs: custody::Config,
    /// The most jobs that run or wait at a node.
    pub queue: u32,
    /// The most hops of a message to a point, and of a search.
    pub hops: u16,
    /// After how long an errand without acknowledgement is sent again; `None` if messages are never lost.
    pub resend: Option<Span>,
    /// How many floods a node remembers.
    pub searches: u16,
}

/// How waiting jobs may pass others or move (P4 section IV).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scheduling {
    /// Local scheduling: a job may pass jobs ahead of it in the queue, within bounds.
    pub local: bool,
    /// Internode scheduling: a job goes where it can start at once.
    pub internode: Option<Direction>,
    /// Queue balancing: a job goes where the load is lower.
    pub balancing: Option<Direction>,
}

/// Where a job goes if several nodes could start it at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Preference {
    /// To the first node found; of nodes found together, to one where nothing runs. As in the paper.
    Free,
    /// To the fastest node found with all probes; of equally fast nodes, to the one with the least left.
    Fastest,
}

/// Which side asks for the move of a waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The node at which the job waits.
    Push,
    /// The node that would take the job.
    Pull,
}

/// Which peers know what a busy node has left.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Residues {
    /// Only its neighbours.
    Neighbours,
    /// Its neighbours, and the owner of the point of what it has left: P4's Balloon model.
    Balloons,
    /// Its neighbours here and in a second space, where it is at the point of what it has left: P4's Dual-CAN.
    DualCan,
}

impl Scheduling {
    /// Matchmaking alone.
    pub const VANILLA: Self = Self {
        local: false,
        internode: None,
        balancing: None,
    };
    /// P4's L.
    pub const LOCAL: Self = Self {
        local: true,
        ..Self::VANILLA
    };

    /// P4's LI-PUSH or LI-PULL.
    #[must_use]
    pub const fn internode(direction: Direction) -> Self {
        Self {
            internode: Some(direction),
            ..Self::LOCAL
        }
    }

    /// P4's LIQ-PUSH or LIQ-PULL.
    #[must_use]
    pub const fn balanced(direction: Direction) -> Self {
        Self {
            balancing: Some(direction),
            ..Self::internode(direction)
        }
    }
}

impl Config {
    /// P4's LIQ-PULL with balloons, for nodes that have at most this much.
    pub const fn new(most: Capability) -> Self {
        Self {
            can: can::Config::DEFAULT,
            most,
            stopping: 100,
            probes: 2,
            preference: Preference::Fastest,
            scheduling: Scheduling::balanced(Direction::Pull),
            residues: Residues::Balloons,
            // A member with nothing left asks its neighbours only a few times before it leaves.
            residue_can: can::Config {
                farewell: 8,
                ..can::Config::DEFAULT
            },
            searches_again: 8,
            pull_hops: 32,
            round: can::Config::DEFAULT.period,
            owners: custody::Config::DEFAULT,
            runs: custody::Config {
                lease: Span::from_secs(300),
                bounded: true,
                ..custody::Config::DEFAULT
            },
            queue: 1024,
            hops: 4096,
            resend: Some(Span::from_secs(1)),
            searches: 1024,
        }
    }

    /// Refuses values that cannot work together.
    pub(super) fn checked(self) -> Result<Self, ConfigError> {
        if self.round.is_zero() {
            return Err(ConfigError::ZeroRound);
        }
        if self.hops == 0 || self.queue == 0 || self.stopping == 0 {
            return Err(ConfigError::Zero);
        }
        if !self.runs.bounded || self.owners.bounded {
            return Err(ConfigError::Bounds);
        }
        Ok(self)
    }
}

/// Why a node cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A round is zero.
    ZeroRound,
    /// The hops, the queue or the stopping factor is zero.
    Zero,
    /// `runs` is not bounded although owners have a home of their own, or `owners` is although submitters have none.
    Bounds,
    /// The space has fewer dimensions than the grid and the virtual ones together.
    Dimensions,
    /// A dimension is neither an amount nor a level.
    Category,
    /// The node has more than [`Config::most`].
    BeyondMost,
    /// The dimension for cores does not exist or is no amount, or the node has no cores.
    NoCores,
    /// The overlay is misconfigured.
    Can(can::ConfigError),
    /// The custody of jobs is misconfigured.
    Custody(custody::ConfigError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroRound => "a round must take longer than zero",
            Self::Zero => "hops, the queue and stopping must be more than zero",
            Self::Bounds => "owners must be bounded by what they are granted, and only they",
            Self::Dimensions => {
                "the space must have a dimension for each of the grid and the virtual ones"
            }
            Self::Category => "a dimension of the space must be an amount or a level",
            Self::BeyondMost => "the node claims to have more than anyone has",
            Self::NoCores => "the node must have cores, which are an amount",
            Self::Can(error) => return error.fmt(f),
            Self::Custody(error) => return error.fmt(f),
        })
    }
}

impl core::error::Error for ConfigError {}
