use core::fmt;

use crate::custody;
use crate::overlay::can;
use crate::resource::Capability;
use crate::time::Span;

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The space in which nodes and jobs are.
    pub can: can::Config,
    /// The most that anyone has in each dimension: where the space ends. Who claims more is not believed.
    pub most: Capability,
    /// How far jobs are pushed outwards, the stopping factor of the paper's matchmaking, in hundredths: more stops later.
    pub stopping: u16,
    /// How often a search that ends with nobody who could start the job at once begins anew elsewhere, among those who have what the job
    /// needs. With none it is as in the paper, whose searches only go outwards.
    pub probes: u8,
    /// Where a job goes that could start at once at several nodes.
    pub preference: Preference,
    /// What is done for jobs that wait.
    pub scheduling: Scheduling,
    /// Whether nodes make known what they have left while they run something.
    pub residues: Residues,
    /// With [`Residues::DualCan`]: the second space, which has as many virtual dimensions as the first.
    pub residue_can: can::Config,
    /// For how many of the jobs that wait somebody who could start them at once is searched for in each round, wherever that is. With none,
    /// as in the paper, they go only to neighbours.
    pub searches_again: u8,
    /// How many hops a question for a job takes that goes round when something has become free and no neighbour has a job for it. With
    /// none, as in the paper, only neighbours are asked.
    pub pull_hops: u16,
    /// How often jobs that wait are looked at, and for how long nobody is asked for another job (PROTOCOLS L8, L16).
    pub round: Span,
    /// Between where a job was submitted and the owner of its point.
    pub owners: custody::Config,
    /// Between the owner and who runs it.
    pub runs: custody::Config,
    /// The most jobs that run or wait at a node.
    pub queue: u32,
    /// How many hops something may take to a point, and how often a job may be pushed.
    pub hops: u16,
    /// After how long a question is sent again over a hop that was not acknowledged; never, if messages are not lost.
    pub resend: Option<Span>,
    /// How many searches among all nodes are remembered.
    pub searches: u16,
}

/// What is done for jobs that wait (P4 section IV).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scheduling {
    /// Local scheduling: a job may pass those ahead of it in the queue, within bounds.
    pub local: bool,
    /// Internode scheduling: a job goes where it can start at once.
    pub internode: Option<Direction>,
    /// Queue balancing: a job goes where fewer wait.
    pub balancing: Option<Direction>,
}

/// Where a job goes that could start at once at several nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Preference {
    /// To the first that is found, and of those found together to one where nothing runs, as in the paper.
    Free,
    /// To the fastest of those that are found with all probes; of equals to where least is left.
    Fastest,
}

/// Who begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Who has a job that waits.
    Push,
    /// Who has something free.
    Pull,
}

/// Whether nodes make known what they have left while they run something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Residues {
    /// Only their neighbours know.
    Neighbours,
    /// So does the owner of the point at which they would be if that were all they have: P4's Balloon model.
    Balloons,
    /// They are members of a second space, at the point of what they have left: P4's Dual-CAN.
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
            // Who has nothing left any more does not wait long for others who might want to get in.
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

/// Why there is no such node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// Rounds take time.
    ZeroRound,
    /// There is at least one hop, one place in the queue, and some stopping.
    Zero,
    /// Owners grant no more than they are granted, and nobody grants those who submit anything.
    Bounds,
    /// The space has a dimension for each of the grid, and the virtual ones; or there are more.
    Dimensions,
    /// A dimension of the space is an amount or a level.
    Category,
    /// The node claims to have more than anyone has.
    BeyondMost,
    /// There is no such dimension for cores, or it is no amount, or the node has none.
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
