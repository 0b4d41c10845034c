//! `aria` under torture: sites of one to four processors with policies of their own.

use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Job};
use gridweave_core::overlay::flood::Reach;
use gridweave_core::overlay::{blatant, cyclon};
use gridweave_core::queue::{Lateness, Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::aria::{
    Adverts, Config, Forward, Gifts, Membership, Overlay, Rescheduling, Site, Taking,
};
use gridweave_core::time::Span;

use super::Node;
use crate::torture::dice::{Dice, For};
use crate::torture::fault::Fault;
use crate::torture::rules::{self, most_jobs, most_nodes};
use crate::torture::scenario::{Equipped, MAX_SKEW, Scenario};
use crate::torture::subject::{Budget, Build, Caps, Subject};
use crate::torture::witness::Counters;

/// How long a site may have a job without word from its home.
const LEASE: Span = Span::from_secs(40);

fn rules(scenario: &Scenario) -> Config {
    let mut dice = Dice::new(scenario.request.seed, For::Rules, 0);
    let full = scenario.has(Fault::Full);
    Config {
        overlay: match dice.percent(50) {
            true => Overlay::Blatant(blatant::Config {
                period: Span::from_secs(10),
                timeout: Span::from_secs(15),
                ..blatant::Config::DEFAULT
            }),
            false => Overlay::Cyclon(cyclon::Config {
                view: 4,
                shuffle: 4,
                period: Span::from_secs(15),
                changes: cyclon::Changes::Untold,
                ..cyclon::Config::DEFAULT
            }),
        },
        request: Reach { ttl: 5, fan_out: 4 },
        inform: Reach { ttl: 4, fan_out: 2 },
        forward: match dice.below(4) {
            0 => Forward::Unmatched,
            2 => Forward::Wide { near: 1, busy: 3 },
            1 => Forward::Near(2),
            _ => Forward::Always,
        },
        window: Span::from_secs(2),
        taking: match dice.percent(50) {
            true => Taking::Best,
            false => Taking::First,
        },
        gifts: match dice.percent(50) {
            true => Gifts::AsOffered,
            false => Gifts::All,
        },
        lateness: match dice.percent(50) {
            true => Lateness::Literal,
            false => Lateness::Marginal,
        },
        pause: Span::from_secs(3),
        rescheduling: dice.percent(80).then_some(Rescheduling {
            period: Span::from_secs(10),
            jobs: 2,
            adverts: match dice.percent(50) {
                true => Adverts::Promising,
                false => Adverts::Neediest,
            },
            threshold: Span::from_secs(3),
        }),
        lease: LEASE,
        max_skew: MAX_SKEW,
        retry: Span::from_secs(2),
        retention: Span::from_secs(300),
        max_delay: Span::from_millis(200),
        tasks: if full { 3 } else { 256 },
        held: if full { 2 } else { 256 },
        floods: if full { 64 } else { 4096 },
        ..Config::DEFAULT
    }
}

fn dimensions() -> Dimensions {
    Dimensions::new(&[("memory", Kind::Level)]).expect("one dimension is not too many")
}

fn site(scenario: &Scenario, node: NodeId) -> Site<SiteQueue> {
    let mut dice = Dice::new(scenario.request.seed, For::Rules, 1 + node.get());
    let Equipped { cores, memory } = scenario.equipment(node);
    let policy = *dice
        .pick(&[
            Policy::FirstCome,
            Policy::ShortestFirst,
            Policy::EarliestDeadline,
        ])
        .unwrap_or(&Policy::FirstCome);
    let limit = if scenario.has(Fault::Full) { 2 } else { 256 };
    let local = SiteQueue::new(policy, Speed::BASELINE, limit)
        .with_processors(NonZeroU32::new(cores).unwrap_or(NonZeroU32::MIN));
    let local = match scenario.foreign.contains(&node) {
        true => local.mirroring(),
        false => local,
    };
    let dimensions = dimensions();
    let capability = dimensions.named("memory").map_or(Capability::none(), |k| {
        Capability::none().with(k, u64::from(memory))
    });
    Site {
        dimensions,
        capability,
        membership: Membership::default(),
        local: match dice.percent(50) {
            true => local.backfilling(),
            false => local,
        },
    }
}

impl Subject for Node {
    const GOSSIP: &'static [&'static str] = &["Overlay"];

    const BUDGETS: &'static [Budget] = &[&[
        ("Request", 200),
        ("Accept", 50),
        ("Inform", 64),
        // Three sites may refuse a job that they would end later than they offered.
        ("Custody.Give", 8),
        ("Custody.Answer", 8),
        ("Custody.Report", 8),
        ("Custody.Verdict", 8),
    ]];

    fn build(scenario: &Scenario) -> Build<Self> {
        let config = rules(scenario);
        let directed = rules::bootstraps(scenario);
        let symmetric = rules::symmetric_bootstraps(scenario);
        let scenario = scenario.clone();
        Box::new(move |me| {
            let site = site(&scenario, me);
            let bootstrap = match config.overlay {
                Overlay::Blatant(_) => symmetric(me),
                Overlay::Cyclon(_) | Overlay::Fixed => directed(me),
            };
            Self::new(me, config, bootstrap, site).expect("the rules are sound")
        })
    }

    fn job(id: JobId, estimate: Span, _: &Scenario, dice: &mut Dice) -> Job {
        let cores = NonZeroU32::new(dice.between(1, 3)).unwrap_or(NonZeroU32::MIN);
        let mut job = Job::new(id, Demand::Cores(cores), estimate).expect("planned jobs take time");
        if let Some(memory) = dimensions().named("memory") {
            job.requirement = job.requirement.with(memory, u64::from(dice.between(1, 6)));
        }
        job
    }

    fn takes(job: &Job) -> Equipped {
        let (Demand::Nodes(cores) | Demand::Cores(cores)) = job.demand;
        Equipped {
            cores: cores.get(),
            memory: 0,
        }
    }

    fn room(scenario: &Scenario, node: NodeId) -> Equipped {
        Equipped {
            memory: 0,
            ..scenario.equipment(node)
        }
    }

    fn left(&self) -> usize {
        self.jobs().count() + self.held().count()
    }

    fn awaits_answers(&self) -> bool {
        Self::awaits_answers(self)
    }

    fn knows(&self) -> Vec<NodeId> {
        self.links().neighbours()
    }

    fn is_drained(&self) -> bool {
        Self::is_drained(self)
    }

    fn caps(scenario: &Scenario) -> Caps {
        let (jobs, nodes) = (most_jobs(scenario), most_nodes(scenario));
        Caps {
            effects: 64 + 8 * jobs + 4 * nodes,
            bytes: 4 * 1024,
            records: 16 + 2 * jobs,
            // Each job has two timers of custody, and two for offers.
            timers: 16 + 4 * jobs + 2 * nodes,
        }
    }

    fn lingers() -> Span {
        LEASE + MAX_SKEW
    }

    fn count(&self, counters: &mut Counters) {
        let counts = self.counts();
        counters.add("aria: a job placed again", counts.placed_again);
        counters.add(
            "aria: a job let go that no node answers for",
            counts.orphaned,
        );
        counters.add("aria: a job moved", counts.moved);
    }
}
