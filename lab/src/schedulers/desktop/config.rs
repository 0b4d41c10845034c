//! The `desktop` scheduler's part of a configuration.

use gridweave_core::config;
use gridweave_core::custody;
use gridweave_core::overlay::can;
use gridweave_core::queue::Passing;
use gridweave_core::resource::Capability;
use gridweave_core::scheduler::desktop::{Config, Direction, Habit, Residues, Scheduling, Style};
use gridweave_core::time::Span;

use super::DIMENSIONS;
use crate::config::error::ConfigError;
use crate::config::fault::Fault;
use crate::config::network::NetworkConfig;
use crate::config::setting::{names, section, words};
use crate::lasting::Lasting;
use crate::schedulers::section::Section;

/// The longest default time between heartbeats in the second space: its members change all the time.
const MOST_RESIDUE_HEARTBEAT: Span = Span::from_secs(60);

section! {
    /// How `desktop` schedules.
    #[derive(Clone, PartialEq, Debug)]
    pub struct DesktopConfig {
        /// What is done for jobs that wait.
        pub scheduling: SchedulingName = SchedulingName::LiqPull,
        /// How many virtual dimensions there are. With one, nodes of a kind lie in a row, and ways are long. If left
        /// out, two where nodes differ in at most four dimensions, else one, and with `literal` one, as in P4; three
        /// where all nodes are equal.
        pub virtual_dimensions: Option<u8> = None,
        /// The time between heartbeats; if left out, ten seconds where nodes come and go, else a quarter of an hour,
        /// since there is only load to tell.
        pub heartbeat: Option<Span> = None,
        /// How often a node looks at its waiting jobs; if left out, with each heartbeat.
        pub round: Option<Span> = None,
        /// How far jobs are pushed outwards: further with a larger value.
        pub stopping: f64 = 1.0,
        /// Whether nodes act as soon as they hear news, or as P4 is written, in rounds.
        pub style: Style = Style::Prompt,
        /// In which one habit nodes are of the other style, if in any: to measure what it brings.
        pub except: Option<Habit> = None,
        /// How often a search starts again elsewhere; if left out, twice, and with `literal` never.
        pub probes: Option<u8> = None,
        /// For how many waiting jobs a node searches the whole space in each round, for nodes that can start them at
        /// once: for each job after a minute, and then after twice as long each time, up to ten minutes. If left out,
        /// for four, and with `literal` for none.
        pub searches_again: Option<u8> = None,
        /// How many hops a request for a job goes, if a node has free cores and no neighbour has a job for it; if left
        /// out, 32, and with `literal` none.
        pub pull_hops: Option<u16> = None,
        /// Whether jobs may be passed for ever.
        pub passing: PassingName = PassingName::Bounded,
        /// The time between two joins, before the first job comes; if left out, all nodes begin with a zone.
        pub join_every: Option<Span> = None,
        /// Which nodes know what a node has left while it runs a job.
        pub residues: Residues = Residues::Balloons,
        /// The time between heartbeats in the second space; if left out, as in the first, but a minute at most.
        pub residue_heartbeat: Option<Span> = None,
        /// How long a run node may have a job without word from its owner; if left out, five minutes where nodes go
        /// down or messages are lost, else a day.
        pub lease: Option<Span> = None,
        /// How long an owner may have a job without word from its submitter; if left out, twice `lease`.
        pub owner_lease: Option<Span> = None,
    }
}

words! {
    /// What nodes do for jobs that wait, by P4's names.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SchedulingName {
        /// Nothing: a job stays in its queue, and starts in turn.
        Vanilla = "vanilla",
        /// Local scheduling: a later job of the queue may start first.
        L = "l",
        /// Also internode scheduling; the node with a waiting job begins.
        LiPush = "li-push",
        /// Also internode scheduling; the node with free cores begins.
        LiPull = "li-pull",
        /// Also queue balancing; the node with the higher load begins.
        LiqPush = "liq-push",
        /// Also queue balancing; the node with the lower load begins.
        #[default]
        LiqPull = "liq-pull",
    }
}

words! {
    /// Whether jobs may be passed for ever.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum PassingName {
        /// A job may pass others only if it was passed as often, and none is passed more than 64 times.
        #[default]
        Bounded = "bounded",
        /// Any job may pass any other: for comparison.
        Unbounded = "unbounded",
    }
}

impl SchedulingName {
    /// All of them, in P4's order.
    pub const ALL: [Self; 6] = [
        Self::Vanilla,
        Self::L,
        Self::LiPush,
        Self::LiPull,
        Self::LiqPush,
        Self::LiqPull,
    ];

    /// Its name in P4.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "Vanilla",
            Self::L => "L",
            Self::LiPush => "LI-PUSH",
            Self::LiPull => "LI-PULL",
            Self::LiqPush => "LIQ-PUSH",
            Self::LiqPull => "LIQ-PULL",
        }
    }

    const fn scheduling(self) -> Scheduling {
        match self {
            Self::Vanilla => Scheduling::VANILLA,
            Self::L => Scheduling::LOCAL,
            Self::LiPush => Scheduling::internode(Direction::Push),
            Self::LiPull => Scheduling::internode(Direction::Pull),
            Self::LiqPush => Scheduling::balanced(Direction::Push),
            Self::LiqPull => Scheduling::balanced(Direction::Pull),
        }
    }
}

names!(Style {
    Literal = "literal",
    Prompt = "prompt",
});

names!(Habit {
    Tell = "tell",
    Act = "act",
    Several = "several",
    Oldest = "oldest",
    Seek = "seek",
    Compare = "compare",
});

names!(Residues {
    Neighbours = "neighbours",
    Balloons = "balloons",
    DualCan = "dual-can",
} also { Neighbours = "none" });

impl Section for DesktopConfig {
    fn joins_every(&self) -> Option<Span> {
        self.join_every
    }

    fn checked(&self) -> Result<(), ConfigError> {
        if !(0.01..=100.0).contains(&self.stopping) {
            return Err("desktop.stopping is not between 0.01 and 100".into());
        }
        let shortest = custody::Config::DEFAULT.retry.times(9);
        for lease in [self.lease, self.owner_lease].into_iter().flatten() {
            if lease < shortest {
                return Err(format!(
                    "desktop.lease or owner_lease is below {}; give a longer one",
                    Lasting(shortest)
                )
                .into());
            }
        }
        if self.virtual_dimensions == Some(0) {
            return Err("desktop.virtual_dimensions is 0; equal nodes need at least one".into());
        }
        Ok(())
    }
}

impl DesktopConfig {
    /// The key from which a node gets this field.
    pub(super) fn key_of(error: &config::ConfigError) -> Option<&'static str> {
        Some(match (error.part, error.field) {
            (Some("can"), "virtual_dimensions") | (Some("equipment"), "dimensions") => {
                "virtual_dimensions"
            }
            (Some("can"), "period") => "heartbeat",
            (Some("residue_can"), "period") => "residue_heartbeat",
            (Some("owners"), "lease" | "max_skew") => "owner_lease",
            (Some("runs"), "lease" | "max_skew") => "lease",
            (None, same @ ("stopping" | "round")) => same,
            _ => return None,
        })
    }

    /// The configuration of the machines. No node has more than `most`. `differ` says in how many dimensions nodes
    /// differ.
    pub fn for_machines(
        &self,
        network: &NetworkConfig,
        faults: &[Fault],
        differ: usize,
        most: Capability,
    ) -> Config {
        let safe = faults.is_empty() && network.loses_nothing();
        let long = if safe { 86_400 } else { 300 };
        let lease = self.lease.unwrap_or(Span::from_secs(long));
        let owner_lease = self.owner_lease.unwrap_or(lease.times(2));
        let often = if faults.is_empty() { 900 } else { 10 };
        let heartbeat = self.heartbeat.unwrap_or(Span::from_secs(often));
        let residue_heartbeat = self.residue_heartbeat;
        let residue_heartbeat = residue_heartbeat.unwrap_or(heartbeat.min(MOST_RESIDUE_HEARTBEAT));
        let config = Config::new(most);
        let is_literal = self.style == Style::Literal;
        Config {
            can: can::Config {
                virtual_dimensions: self.virtual_dimensions.unwrap_or(match differ {
                    0 => 3,
                    _ if is_literal || differ + 2 > DIMENSIONS => 1,
                    _ => 2,
                }),
                period: heartbeat,
                ..can::Config::DEFAULT
            },
            stopping: (self.stopping * 100.0) as u16,
            style: self.style,
            except: self.except,
            probes: self
                .probes
                .unwrap_or(if is_literal { 0 } else { config.probes }),
            searches_again: self.searches_again.unwrap_or(if is_literal {
                0
            } else {
                config.searches_again
            }),
            pull_hops: self
                .pull_hops
                .unwrap_or(if is_literal { 0 } else { config.pull_hops }),
            passing: match (self.passing, is_literal) {
                (PassingName::Unbounded, _) => Passing::Unbounded,
                // P4 has no bound but that which follows from its counters.
                (PassingName::Bounded, true) => Passing::AtMost(u32::MAX),
                (PassingName::Bounded, false) => config.passing,
            },
            scheduling: self.scheduling.scheduling(),
            residues: self.residues,
            residue_can: can::Config {
                period: residue_heartbeat,
                ..config.residue_can
            },
            // If no message is lost, hops need no acknowledgement.
            resend: config.resend.filter(|_| !safe),
            round: self.round.unwrap_or(heartbeat),
            owners: custody::Config {
                lease: owner_lease,
                ..config.owners
            },
            runs: custody::Config {
                lease,
                ..config.runs
            },
            ..config
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_virtual_dimensions_as_there_is_need_and_room_for() {
        let virtual_dimensions = |style, differ| {
            let desktop = DesktopConfig {
                style,
                ..DesktopConfig::default()
            };
            let network = NetworkConfig::default();
            let config = desktop.for_machines(&network, &[], differ, Capability::none());
            config.can.virtual_dimensions
        };
        assert_eq!(
            [0, 4, 5].map(|n| virtual_dimensions(Style::Prompt, n)),
            [3, 2, 1]
        );
        assert_eq!(
            [0, 4, 5].map(|n| virtual_dimensions(Style::Literal, n)),
            [3, 1, 1]
        );
    }
}
