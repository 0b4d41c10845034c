//! The `asap` scheduler's part of a configuration.

use gridweave_core::admission::Preselection;
use gridweave_core::config;
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Choice, Config, Exchange, Links, Searcher};
use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::fault::Fault;
use crate::config::network::NetworkConfig;
use crate::config::setting::{names, section, words};
use crate::schedulers::reserving::{commit, lead, margin};
use crate::schedulers::section::{Section, check_room, check_warm_up};

section! {
    /// How `asap` schedules.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct AsapConfig {
        /// How nodes learn the schedules of peers.
        pub exchange: ExchangeName = ExchangeName::Push,
        /// With `poll`: how often a node asks.
        pub poll_period: Span = Span::from_secs(120),
        /// With `push`: how long a subscription lasts; if left out, for ever where no node goes down and no message is
        /// lost, else four hours.
        pub lease: Option<Span> = None,
        /// Whether links change.
        pub links: Links = Links::Static,
        /// How many links a node has.
        pub degree: u8 = 20,
        /// How many links a node exchanges at once.
        pub shuffle: u8 = 8,
        /// How often a node exchanges links, if links change.
        pub shuffle_period: Span = Span::from_secs(120),
        /// For how many cycles the overlay is shuffled before the first job comes.
        pub warm_up: u32 = 50,
        /// How many random peers a node keeps that no liar can choose for it, against eclipse: at most 32.
        pub samples: u8 = 0,
        /// How many neighbours search for a job.
        pub forward: u8 = 5,
        /// How many hops they look: 2 as in the paper; 255 until there are enough nodes.
        pub max_hops: u8 = u8::MAX,
        /// How many candidates they look for, for each node of a job, before they put it off: 1 as in the paper.
        pub breadth: u8 = 16,
        /// How many nodes they ask at once.
        pub width: u8 = 8,
        /// Whether a node that searches offers itself.
        pub searcher: Searcher = Searcher::Included,
        /// Whether searches pass over nodes that cannot run a job or do not admit it; else nodes refuse it one by one.
        pub preselection: Preselection = Preselection::ByAttributes,
        /// Which of the free nodes a job gets.
        pub choice: Choice = Choice::Nearest,
        /// The length of a slot.
        pub slot: Span = Span::from_secs(1),
        /// The least time from search to start of a job; if left out, zero where messages take no time, else a slot,
        /// and no less than five times `max_delay`.
        pub lead: Option<Span> = None,
        /// The longest expected delay of a message; timeouts follow from it.
        pub max_delay: Span = Span::from_secs(1),
        /// How many searches there are for a job before it fails.
        pub rounds: u8 = 4,
        /// How often a start or a better placement is searched for a job that waits; never if zero, as in the paper.
        pub improve: Span = Span::from_secs(300),
        /// How long a job that cannot start at once waits without a placement: zero as in the paper.
        pub patience: Span = Span::from_secs(86_400),
        /// How long a job may run without word from its coordinator; if left out, to its end.
        pub permission: Option<Span> = None,
    }
}

words! {
    /// How nodes learn the schedules of peers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ExchangeName {
        /// A node sends changes of its schedule to its subscribers.
        #[default]
        Push = "push",
        /// A node asks for schedules when it searches.
        Pull = "pull",
        /// A node asks for schedules periodically.
        Poll = "poll",
    }
}

names!(Links {
    Static = "static",
    Dynamic = "dynamic",
});

names!(Preselection {
    ByAttributes = "by-attributes",
    None = "none",
});

names!(Searcher {
    Included = "included",
    Excluded = "excluded",
});

names!(Choice {
    Nearest = "nearest",
    BestFit = "best-fit",
});

/// The most links of a node in a simulation.
pub(crate) const MOST_LINKS: usize = 40;

/// The most links that are exchanged at once in a simulation.
pub(crate) const MOST_SHUFFLED: usize = 8;

impl Section for AsapConfig {
    fn checked(&self) -> Result<(), ConfigError> {
        check_warm_up("asap", self.warm_up)?;
        check_room("asap.degree", self.degree, MOST_LINKS)?;
        check_room("asap.shuffle", self.shuffle, MOST_SHUFFLED)
    }
}

impl AsapConfig {
    /// The key from which a node gets this field.
    pub(super) fn key_of(error: &config::ConfigError) -> Option<&'static str> {
        Some(match (error.part, error.field) {
            (Some("overlay"), "view") => "degree",
            (Some("overlay"), "shuffle") => "shuffle",
            (Some("overlay"), "period" | "timeout") => "shuffle_period",
            (Some("overlay"), "samples") => "samples",
            (Some("commit"), "permission") => "permission",
            (Some("commit"), _) | (None, "timeout" | "search_limit") => "max_delay",
            (None, "exchange.lease") => "lease",
            (None, "exchange.period") => "poll_period",
            (
                None,
                same @ ("forward" | "max_hops" | "breadth" | "width" | "slot" | "lead" | "rounds"
                | "improve" | "patience"),
            ) => same,
            _ => return None,
        })
    }

    /// The configuration of the machines, for this network and these faults.
    pub fn for_machines(&self, network: &NetworkConfig, faults: &[Fault]) -> Config {
        let slot = self.slot;
        let max_delay = self.max_delay;
        // After a restart a node has lost its subscribers, and a lost change is sent again only when the subscription
        // is renewed. So subscriptions must end, unless neither can happen. Renewals would be
        // most of the messages if a subscription ended within minutes; a neighbour's next change mends most losses.
        let lease = match self.lease {
            Some(lease) => lease,
            None if faults.is_empty() && network.loses_nothing() => Span::MAX,
            None => Span::from_secs(4 * 3_600),
        };
        let lead = lead(self.lead, network, slot.max(max_delay.times(5)));
        Config {
            overlay: cyclon::Config {
                view: self.degree,
                shuffle: self.shuffle.min(self.degree),
                period: self.shuffle_period,
                samples: self.samples,
                ..cyclon::Config::DEFAULT
            },
            links: self.links,
            exchange: match self.exchange {
                ExchangeName::Push => Exchange::Push { lease },
                ExchangeName::Pull => Exchange::Pull,
                ExchangeName::Poll => Exchange::Poll {
                    period: self.poll_period,
                },
            },
            forward: self.forward,
            max_hops: self.max_hops,
            breadth: self.breadth,
            width: self.width,
            searcher: self.searcher,
            preselection: self.preselection,
            choice: self.choice,
            slot,
            lead,
            margin: margin(network, max_delay),
            rounds: self.rounds,
            improve: Some(self.improve).filter(|period| !period.is_zero()),
            patience: self.patience,
            timeout: max_delay.times(2),
            search_limit: max_delay.times(20),
            candidates: u16::MAX,
            commit: commit(max_delay, lead, self.permission),
            ..Config::DEFAULT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::network::Partition;
    use gridweave_core::time::Time;

    #[test]
    fn subscriptions_end_where_a_change_may_be_missed() {
        let lease = |network: &NetworkConfig, faults: &[Fault]| match AsapConfig::default()
            .for_machines(network, faults)
            .exchange
        {
            Exchange::Push { lease } => lease,
            other => panic!("{other:?}"),
        };
        let sound = NetworkConfig::default();
        let lossy = NetworkConfig {
            loss: 0.01,
            ..NetworkConfig::default()
        };
        let parted = NetworkConfig {
            partitions: vec![Partition {
                from: Time::from_secs(1),
                until: Time::from_secs(2),
                nodes: vec![[0, 1]],
            }],
            ..NetworkConfig::default()
        };
        let crash = Fault::Crash {
            at: Span::from_secs(1),
            node: 0,
        };
        let ends = Span::from_secs(4 * 3_600);
        assert_eq!(lease(&sound, &[]), Span::MAX);
        assert_eq!(lease(&sound, &[crash]), ends);
        assert_eq!(lease(&lossy, &[]), ends);
        assert_eq!(lease(&parted, &[]), ends);
    }
}
