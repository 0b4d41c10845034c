use super::Equipment;
use crate::config::{Bound, ConfigError, Limits, Room, Value};
use crate::custody;
use crate::overlay::can;
use crate::queue::Passing;
use crate::resource::{Capability, Kind};
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
    /// Whether nodes act as soon as they hear news, or as P4 is written.
    pub style: Style,
    /// In which one habit nodes are of the other style, if in any: to measure what it brings.
    pub except: Option<Habit>,
    /// Which jobs may pass others, and which may move.
    pub scheduling: Scheduling,
    /// How often a job may be passed.
    pub passing: Passing,
    /// Which peers know what a busy node has left.
    pub residues: Residues,
    /// The second space of [`Residues::DualCan`]; its virtual dimensions are always those of the first.
    pub residue_can: can::Config,
    /// For how many waiting jobs per round a node searches the grid for nodes that could start them at once. It searches
    /// for each job when the job begins to wait, after a minute, and then after twice as long each time, up to ten
    /// minutes. With zero, as in the paper, waiting jobs go only to neighbours.
    pub searches_again: u8,
    /// The most hops of a [`Gather`](super::Gather). A node sends one if a job has ended and no neighbour is left to
    /// ask, and others as long as they bring jobs. With zero, as in the paper, a node asks only neighbours.
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

/// How closely nodes keep to the letter of P4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Style {
    /// As P4 is written. Statuses go out with heartbeats only, and nodes act in rounds. A node that pulls asks the neighbour
    /// with the longest queue for one job. A search ends with the best of the last node and its neighbours, and prefers
    /// nodes where nothing runs.
    Literal,
    /// A node tells its neighbours at once when its status has changed, and acts at once on what it hears. A node that
    /// pulls asks the neighbour with the job that came first, if one may fit, and may get several. A search ends with the
    /// best node seen on its way, and prefers the fastest node that can start the job.
    Prompt,
}

/// What nodes of [`Style::Prompt`] do and those of [`Style::Literal`] do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Habit {
    /// Telling neighbours a changed status at once.
    Tell,
    /// Acting at once on what neighbours tell.
    Act,
    /// Giving a node that pulls several jobs, and pulling from farther nodes as long as that brings jobs.
    Several,
    /// Pulling the job that came first, if one may fit, and not from the longest queue what fills the node best.
    Oldest,
    /// Searching at once for another node for a job that has to wait where a search placed it.
    Seek,
    /// Comparing all nodes that a search has seen on its way, and taking the fastest node that can start the job.
    Compare,
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
    /// P4's LIQ-PULL with balloons, for nodes that have at most this much; the times are those of a wide-area network,
    /// see [`wan`](Self::wan).
    pub const fn new(most: Capability) -> Self {
        Self {
            can: can::Config::DEFAULT,
            most,
            stopping: 100,
            probes: 2,
            style: Style::Prompt,
            except: None,
            scheduling: Scheduling::balanced(Direction::Pull),
            passing: Passing::AtMost(64),
            residues: Residues::Balloons,
            // A member with nothing left asks its neighbours only a few times before it leaves.
            residue_can: can::Config {
                farewell: 8,
                ..can::Config::DEFAULT
            },
            searches_again: 4,
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

    /// For a wide-area network, the same as [`new`](Self::new). A round trip takes up to 200 ms: an errand is sent
    /// again after five of them. Leases and clocks are those of [`custody::Config::WAN`]; the lease of a run node is
    /// half as long, so that its owner can still renew its own.
    pub const fn wan(most: Capability) -> Self {
        Self::new(most)
    }

    /// For a local network, where a round trip takes half a millisecond. A lost node is missed after some seconds, and
    /// an errand is sent again after the pause of a busy computer. Leases and clocks are those of
    /// [`custody::Config::LAN`]; the lease of a run node is half as long.
    pub const fn lan(most: Capability) -> Self {
        Self {
            can: can::Config::LAN,
            residue_can: can::Config {
                farewell: 8,
                ..can::Config::LAN
            },
            round: can::Config::LAN.period,
            owners: custody::Config::LAN,
            runs: custody::Config {
                lease: Span::from_secs(60),
                bounded: true,
                ..custody::Config::LAN
            },
            resend: Some(Span::from_millis(250)),
            ..Self::new(most)
        }
    }

    /// Whether nodes have this habit.
    pub(super) fn has(&self, habit: Habit) -> bool {
        (self.style == Style::Prompt) != (self.except == Some(habit))
    }

    /// Refuses values that cannot work together, or in a space of `D` dimensions.
    pub const fn checked<const D: usize>(self) -> Result<Self, ConfigError> {
        let dimensions = Room::new(D, "the parameter D of Desktop<D>");
        let limits = Limits::new()
            .part("can", &self.can.fitting(dimensions))
            .part("owners", &self.owners.checked())
            .part("runs", &self.runs.checked())
            .number("stopping", self.stopping as u64)
            .at_least(1, "or searches never stop")
            .time("round", self.round)
            .more_than(0, "or a node looks at its queue without a pause")
            .flag("owners.bounded", self.owners.bounded)
            .is(false, "a submitter has no home of its own")
            .flag("runs.bounded", self.runs.bounded)
            .is(true, "an owner grants no longer than it was granted itself")
            .number("queue", self.queue as u64)
            .at_least(1, "or no job can run")
            .number("searches", self.searches as u64)
            .at_least(1, "or a node passes each flood on again and again")
            .number("hops", self.hops as u64)
            .at_least(1, "or no message reaches another node");
        let limits = match self.resend {
            None => limits,
            Some(resend) => limits
                .time("resend", resend)
                .more_than(0, "or errands are repeated without a pause"),
        };
        let limits = match self.residues {
            Residues::Neighbours | Residues::Balloons => limits,
            Residues::DualCan => {
                limits.part("residue_can", &self.second_space().fitting(dimensions))
            }
        };
        limits.end(self)
    }

    /// The second space, with as many virtual dimensions as the first.
    pub(super) const fn second_space(&self) -> can::Config {
        can::Config {
            virtual_dimensions: self.can.virtual_dimensions,
            ..self.residue_can
        }
    }
}

impl Equipment {
    /// Refuses what has no point in a space of `D` dimensions.
    pub(super) fn check<const D: usize>(&self, config: &Config) -> Result<(), ConfigError> {
        let room = D.saturating_sub(usize::from(config.can.virtual_dimensions));
        Limits::new()
            .number("dimensions", self.dimensions.len() as u64)
            .at_most(
                room as u64,
                "the parameter D of Desktop<D> less can.virtual_dimensions",
            )
            .end(())
            .map_err(Self::within)?;
        for (index, (dimension, _, kind)) in self.dimensions.iter().enumerate() {
            if kind == Kind::Category {
                let value = Value::Word("a category");
                let bound = Bound::Only(Value::Word("an amount or a level"));
                let error =
                    ConfigError::new("dimensions", value, bound, "or it is no axis of a space");
                return Err(Self::within(error).at(index));
            }
            Limits::new()
                .number("capability", self.capability.value(dimension))
                .at_most(config.most.value(dimension), "the value in Config::most")
                .end(())
                .map_err(|error| Self::within(error).at(index))?;
        }
        if !self.dimensions.amounts().any(|amount| amount == self.cores) {
            let value = Value::Word("no amount of the dimensions");
            let bound = Bound::Only(Value::Word("an amount"));
            let error = ConfigError::new("cores", value, bound, "or jobs do not use cores up");
            return Err(Self::within(error));
        }
        Limits::new()
            .number("capability(cores)", self.capability.value(self.cores))
            .at_least(1, "or no job can run")
            .end(())
            .map_err(Self::within)
    }

    const fn within(error: ConfigError) -> ConfigError {
        error.within("equipment")
    }
}
