//! ARiA under a model checker: one job, the node where it was submitted, and sites that may run it.
//!
//! A lease is only worth something if clocks are about right, so timers are late by at most what clocks may be apart.

use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome};
use gridweave_core::overlay::flood::Reach;
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{
    Aria, Config, Membership, Overlay, Rescheduling, Serves, Site,
};
use gridweave_core::time::{Interval, Span, Time};

use super::Exploration;
use super::leased::Leased;

/// A node.
pub type Node = Aria<SiteQueue>;

/// The only job.
pub const JOB: JobId = JobId::new(0);

/// Where it is submitted.
pub const INITIATOR: NodeId = NodeId::new(0);

/// Times are in microseconds: an answer is waited for one, a lease takes nine.
pub const CONFIG: Config = Config {
    overlay: Overlay::Fixed,
    request: Reach { ttl: 1, fan_out: 4 },
    inform: Reach { ttl: 1, fan_out: 4 },
    window: Span::from_micros(1),
    rounds: 2,
    pause: Span::from_micros(1),
    rescheduling: None,
    lease: Span::from_micros(9),
    max_skew: Span::ZERO,
    retry: Span::from_micros(1),
    retries: 0,
    retention: Span::from_micros(12),
    max_delay: Span::ZERO,
    tasks: 2,
    held: 2,
    // Floods take one hop, so there is no need to know them again.
    floods: 0,
    ..Config::DEFAULT
};

/// How much a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// It runs nothing.
    Submits,
    /// It runs a job as soon as it gets one.
    Idle,
    /// It is reserved for its owner until this time, in microseconds.
    Busy(u64),
}

fn node(me: NodeId, config: Config, role: Role, peers: &[u64]) -> Node {
    let queue = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 2);
    let local = match role {
        Role::Submits | Role::Idle => queue,
        Role::Busy(until) => {
            let interval = Interval::new(Time::ZERO, Time::from_micros(until));
            let interval = interval.expect("it ends after it begins");
            queue
                .reserving(interval, NonZeroU32::MIN)
                .expect("there is nothing yet")
        }
    };
    let serves = match role {
        Role::Submits => Serves::Members,
        Role::Idle | Role::Busy(_) => Serves::Everyone,
    };
    let site = Site {
        dimensions: Dimensions::new(&[]).expect("none are not too many"),
        capability: Capability::none(),
        membership: Membership {
            serves,
            ..Membership::default()
        },
        local,
    };
    let peers = peers.iter().copied().map(NodeId::new).collect();
    Aria::new(me, config, Bootstrap::Meet(peers), site).expect("the rules are sound")
}

fn job() -> Job {
    let one = Demand::Nodes(NonZeroU32::MIN);
    Job::new(JOB, one, Span::from_micros(3)).expect("three are more than none")
}

fn explored(nodes: u8, build: fn(NodeId) -> Node) -> Exploration<Node> {
    Exploration::leased(nodes, build, Command::Submit(job()), |_| Vec::new())
}

/// A node that submits, and so many sites that would run the job at once.
pub fn sites(count: u8) -> Exploration<Node> {
    explored(1 + count, |me| match me {
        INITIATOR => node(me, CONFIG, Role::Submits, &[1, 2, 3]),
        _ => node(me, CONFIG, Role::Idle, &[]),
    })
}

/// The same with two sites, where clocks are apart by as much as they may.
pub fn skewed() -> Exploration<Node> {
    const SKEWED: Config = Config {
        max_skew: Span::from_micros(1),
        ..CONFIG
    };
    let case = explored(3, |me| match me {
        INITIATOR => node(me, SKEWED, Role::Submits, &[1, 2]),
        _ => node(me, SKEWED, Role::Idle, &[]),
    });
    Exploration {
        lateness: SKEWED.max_skew,
        ..case
    }
}

/// A node that submits and may run the job itself, and a site.
pub fn itself() -> Exploration<Node> {
    explored(2, |me| match me {
        INITIATOR => node(me, CONFIG, Role::Idle, &[1]),
        _ => node(me, CONFIG, Role::Idle, &[]),
    })
}

/// The rules where jobs are moved.
const MOVING: Config = Config {
    rescheduling: Some(Rescheduling {
        period: Span::from_micros(4),
        jobs: 1,
        threshold: Span::ZERO,
    }),
    ..CONFIG
};

/// A node that submits, a site that is busy for a while, and an idle site that only the busy one knows.
pub fn moving() -> Exploration<Node> {
    explored(3, |me| match me {
        INITIATOR => node(me, MOVING, Role::Submits, &[1]),
        _ if me.get() == 1 => node(me, MOVING, Role::Busy(7), &[2]),
        _ => node(me, MOVING, Role::Idle, &[]),
    })
}

/// A busy node that submits without asking other sites, and two idle sites to which the job may move.
pub fn moving_on() -> Exploration<Node> {
    const ALONE: Config = Config {
        request: Reach { ttl: 0, fan_out: 0 },
        ..MOVING
    };
    explored(3, |me| match me {
        INITIATOR => node(me, ALONE, Role::Busy(7), &[1, 2]),
        _ => node(me, ALONE, Role::Idle, &[]),
    })
}

/// The same, where the job may be cancelled at any time.
pub fn cancelled(mut case: Exploration<Node>) -> Exploration<Node> {
    case.commands.push((0, Command::Cancel(JOB)));
    case
}

/// The same, with hosts that may end a running job at any time.
pub fn whole_life(mut case: Exploration<Node>) -> Exploration<Node> {
    case.reactions = ending;
    case
}

fn ending(node: &Node) -> Vec<Command> {
    let running = node.site().local.running().iter();
    let ended = running.filter_map(|running| {
        let job = running.job.job;
        Some(Command::Ended {
            job,
            attempt: node.attempt(job)?,
            outcome: Outcome::Done,
        })
    });
    ended.collect()
}

impl Leased for Node {
    fn runs(&self) -> bool {
        !self.site().local.running().is_empty()
    }

    fn lease(&self) -> Option<Time> {
        self.lease(JOB)
    }

    fn is_home(&self) -> bool {
        self.jobs().count() == 1
    }

    fn placed_again(&self) -> u64 {
        self.counts().placed_again
    }

    fn moved(&self) -> u64 {
        self.counts().moved
    }

    fn last_word(notice: &Notice) -> Option<News> {
        Some(notice.news).filter(News::is_last)
    }
}
