//! The `asap` scheduler's part of a configuration.

use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Choice, Config, Exchange, Links, Searcher};
use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::fault::Fault;
use crate::config::network::NetworkConfig;
use crate::config::setting::{names, section, words};
use crate::schedulers::reserving::{commit, lead};
use crate::schedulers::section::{Section, check_warm_up};

section! {
    /// How `asap` schedules.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct AsapConfig {
        /// How nodes know the schedules of others.
        pub exchange: ExchangeName = ExchangeName::Push,
        /// How often they ask, if they poll.
        pub poll_period: Span = Span::from_secs(120),
        /// For how long a subscription lasts, if they push; if left out, for ever where no node goes down and every message
        /// arrives, else ten minutes.
        pub lease: Option<Span> = None,
        /// Whether links change.
        pub links: Links = Links::Static,
        /// How many links a node has.
        pub degree: u8 = 20,
        /// How many of them it exchanges at once.
        pub shuffle: u8 = 8,
        /// How often it does, if links change.
        pub shuffle_period: Span = Span::from_secs(120),
        /// For how many cycles the overlay is shuffled before the first job comes.
        pub warm_up: u32 = 50,
        /// How many peers that nobody can choose for it a node keeps, against eclipse: at most 32.
        pub samples: u8 = 0,
        /// How many neighbours search for a job.
        pub forward: u8 = 5,
        /// How far they look: 2 as in the paper, 255 until there are enough nodes.
        pub max_hops: u8 = u8::MAX,
        /// How many candidates they want for each node that is wanted before they put a job off: 1 as in the paper.
        pub breadth: u8 = 8,
        /// How many nodes they ask at once.
        pub width: u8 = 1,
        /// Whether they offer themselves.
        pub searcher: Searcher = Searcher::Included,
        /// Which of the free nodes are taken.
        pub choice: Choice = Choice::Nearest,
        /// The length of a slot.
        pub slot: Span = Span::from_secs(60),
        /// How long before its start a job must be found a place; if left out, none where messages take no time, else a slot.
        pub lead: Option<Span> = None,
        /// The longest that a message is expected to travel; how long answers are waited for follows from it.
        pub max_delay: Span = Span::from_secs(1),
        /// How often a place is searched for before a job fails.
        pub rounds: u8 = 4,
        /// How often a better place is searched for a job that waits for its start; never if left out.
        pub improve: Option<Span> = None,
        /// For how long a job may run without word from its coordinator; to its end if left out.
        pub permission: Option<Span> = None,
    }
}

words! {
    /// How nodes know the schedules of others.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ExchangeName {
        /// Changes are told.
        #[default]
        Push = "push",
        /// They ask when they search.
        Pull = "pull",
        /// They ask from time to time.
        Poll = "poll",
    }
}

names!(Links {
    Static = "static",
    Dynamic = "dynamic",
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
pub const MOST_LINKS: usize = 40;

/// The most links that are exchanged at once in a simulation.
pub const MOST_SHUFFLED: usize = 8;

impl Section for AsapConfig {
    fn checked(&self) -> Result<(), ConfigError> {
        check_warm_up("asap", self.warm_up)
    }
}

impl AsapConfig {
    /// The same for machines on this network, where nodes stay up or not.
    pub fn for_machines(&self, network: &NetworkConfig, faults: &[Fault]) -> Config {
        let slot = self.slot;
        let max_delay = self.max_delay;
        // A node that comes up again does not know who had subscribed, and a change that is lost is told again only when a
        // subscription is renewed.
        let lease = match self.lease {
            Some(lease) => lease,
            None if faults.is_empty() && network.loses_nothing() => Span::MAX,
            None => Span::from_secs(600),
        };
        let lead = lead(self.lead, network, slot);
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
            choice: self.choice,
            slot,
            lead,
            rounds: self.rounds,
            improve: self.improve,
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
        let ends = Span::from_secs(600);
        assert_eq!(lease(&sound, &[]), Span::MAX);
        assert_eq!(lease(&sound, &[crash]), ends);
        assert_eq!(lease(&lossy, &[]), ends);
        assert_eq!(lease(&parted, &[]), ends);
    }
}
