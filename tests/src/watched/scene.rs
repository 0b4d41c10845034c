//! The parameters of a run: its rules, its network, and how much goes wrong.

use core::fmt::Debug;

use gridweave_core::commit::{self, Permission};
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Config, Exchange, Links};
use gridweave_core::time::{Span, Time};
use gridweave_sim::network::{Delay, NetworkConfig, Partition};
use proptest::prelude::*;

/// How many links a node has.
pub const DEGREE: u8 = 8;

/// Within this time jobs are submitted and things go wrong.
pub const BUSY_TIME: Span = Span::from_secs(600);

/// Seconds and minutes instead of hours, so that much happens.
pub const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: DEGREE,
        shuffle: 4,
        ..Config::DEFAULT.overlay
    },
    forward: 3,
    slot: Span::from_secs(10),
    lead: Span::from_secs(10),
    // If a search took longer than the lead, the start that it finds would be past before it is confirmed.
    width: 4,
    improve: Some(Span::from_secs(30)),
    patience: Span::from_secs(120),
    search_limit: Span::from_secs(4),
    commit: commit::Config {
        permission: Permission::Renewed(Span::from_secs(30)),
        grace: Span::from_secs(20),
        retention: Span::from_secs(120),
        ..commit::Config::DEFAULT
    },
    ..Config::DEFAULT
};

/// The same where messages take no time.
pub const INSTANT: Config = Config {
    lead: Span::ZERO,
    margin: Span::ZERO,
    commit: commit::Config {
        lead: Span::ZERO,
        ..CONFIG.commit
    },
    ..CONFIG
};

/// The ways of exchange, with periods that fit the rules above.
pub const EXCHANGES: [Exchange; 3] = [
    Exchange::Push {
        lease: Span::from_secs(60),
    },
    Exchange::Pull,
    Exchange::Poll {
        period: Span::from_secs(20),
    },
];

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Scene<C = Config> {
    /// The seed of all random choices.
    pub seed: u64,
    /// How many nodes there are in the beginning.
    pub nodes: u32,
    /// How many jobs are submitted.
    pub jobs: u32,
    /// The most nodes that a job wants.
    pub widest: u32,
    /// The rules.
    pub config: C,
    /// The network.
    pub network: NetworkConfig,
    /// How many crashes there are, half of them between two effects of an event.
    pub crashes: u32,
    /// How many nodes join later.
    pub joins: u32,
    /// How many nodes leave.
    pub leaves: u32,
    /// How many of a hundred jobs are cancelled.
    pub cancelled: u32,
    /// How many of a hundred jobs run longer than their estimate.
    pub late: u32,
}

impl<C> Scene<C> {
    /// Thirty nodes and thirty jobs without faults.
    pub fn calm(seed: u64, config: C) -> Self {
        Self {
            seed,
            nodes: 30,
            jobs: 30,
            widest: 6,
            config,
            network: NetworkConfig::default(),
            crashes: 0,
            joins: 0,
            leaves: 0,
            cancelled: 0,
            late: 0,
        }
    }
}

/// Delays of 20 to 200 ms; of a hundred messages one is lost, one is doubled and five are held up.
pub fn bad() -> NetworkConfig {
    NetworkConfig {
        delay: Delay::Uniform {
            min: Span::from_millis(20),
            max: Span::from_millis(200),
        },
        loss: 0.01,
        duplication: 0.01,
        reordering: 0.05,
        held_up: Span::from_millis(1000),
        ..NetworkConfig::default()
    }
}

/// The same network, with ten nodes cut off for a minute and five others for two minutes.
pub fn partitioned(network: NetworkConfig) -> NetworkConfig {
    let cut = |from, until, first, last| Partition {
        from: Time::from_secs(from),
        until: Time::from_secs(until),
        nodes: vec![[first, last]],
    };
    NetworkConfig {
        partitions: vec![cut(100, 160, 0, 9), cut(300, 420, 10, 14)],
        ..network
    }
}

/// Scenes of any size in any weather, under these rules.
pub fn scenes<C: Debug>(rules: impl Strategy<Value = C>) -> impl Strategy<Value = Scene<C>> {
    let chances = (0..8_u32, 0..8_u32, 0..15_u32, any::<bool>());
    let sizes = (any::<u64>(), 2..24_u32, 1..16_u32, 1..8_u32);
    let faults = (0..10_u32, 0..4_u32, 0..4_u32, 0..40_u32);
    (rules, chances, sizes, faults).prop_map(|(config, chances, sizes, faults)| {
        let (lost, doubled, held_up, report_unreachable) = chances;
        let share = |percent: u32| f64::from(percent) / 100.0;
        let (seed, nodes, jobs, widest) = sizes;
        let (crashes, joins, leaves, cancelled) = faults;
        Scene {
            seed,
            nodes,
            jobs,
            widest,
            config,
            network: NetworkConfig {
                loss: share(lost),
                duplication: share(doubled),
                reordering: share(held_up),
                report_unreachable,
                ..bad()
            },
            crashes,
            joins,
            leaves: leaves.min(nodes / 2),
            cancelled,
            late: 0,
        }
    })
}

/// The rules with these links and this exchange.
pub fn rules(config: Config, links: Links, exchange: Exchange) -> Config {
    Config {
        links,
        exchange,
        ..config
    }
}
