//! ARiA under a model checker: one job, the node where it was submitted, and sites that may run it.
//!
//! A lease is only worth something if clocks are about right, so timers are late by at most what clocks may be apart.

use std::num::NonZeroU32;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{
    Command, Demand, Job, News, Notice, Outcome, OwnJob, Retry, Seen, SiteReport, Survival,
};
use gridweave_core::machine::{EffectQueue, Event};
use gridweave_core::overlay::flood::Reach;
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::schedule::Attempt;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{
    Adverts, Aria, Config, Membership, Overlay, Rescheduling, Serves, Site,
};
use gridweave_core::time::{Interval, Span, Time};

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::leased::Leased;
use super::{Exploration, Order, Program, Runner};

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
    ..Config::PAPER
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
    /// It stands before a foreign site where a job of its own users runs until this time, if any.
    Foreign(Option<u64>),
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
        Role::Foreign(_) => queue.mirroring(),
    };
    let serves = match role {
        Role::Submits => Serves::Members,
        Role::Idle | Role::Busy(_) | Role::Foreign(_) => Serves::AllUsers,
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
    let mut node =
        Aria::new(me, config, Bootstrap::Meet(peers), site).expect("the rules are sound");
    if let Role::Foreign(busy) = role {
        for report in reported(busy) {
            let command = Event::Command(Command::Site(report));
            let rng = &mut Xoshiro256PlusPlus::seed_from_u64(0);
            EffectQueue::new().feed(&mut node, command, Time::ZERO, rng);
        }
    }
    node
}

/// What the host of a foreign site says at first.
fn reported(busy: Option<u64>) -> Vec<SiteReport> {
    let own = |until| SiteReport::Own {
        job: OwnJob {
            id: JobId::new(9),
            processors: NonZeroU32::MIN,
            estimate: Span::from_micros(until),
            submitted: Time::ZERO,
        },
        seen: Seen::Started { at: Time::ZERO },
    };
    let own = busy.map(own).into_iter();
    own.chain([SiteReport::Reachable]).collect()
}

fn job() -> Job {
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(JOB, one, Span::from_micros(3)).expect("three are more than none");
    job.retry = Retry::OnNodeLoss(1);
    job
}

fn explored(nodes: u8, build: fn(NodeId) -> Node) -> Exploration<Node> {
    Exploration::leased(nodes, build, Command::submit(job()), |_| Vec::new())
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
        adverts: Adverts::Neediest,
        threshold: Span::ZERO,
    }),
    ..CONFIG
};

/// The same, where a submitter does not ask other sites.
const ALONE: Config = Config {
    request: Reach { ttl: 0, fan_out: 0 },
    ..MOVING
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
    explored(3, |me| match me {
        INITIATOR => node(me, ALONE, Role::Busy(7), &[1, 2]),
        _ => node(me, ALONE, Role::Idle, &[]),
    })
}

/// A node that submits, and so many foreign sites. A site may start, end and lose the job at any time.
pub fn foreign(count: u8) -> Exploration<Node> {
    let case = explored(1 + count, |me| match me {
        INITIATOR => node(me, CONFIG, Role::Submits, &[1, 2, 3]),
        _ => node(me, CONFIG, Role::Foreign(None), &[]),
    });
    Exploration {
        reactions: seen_at_site,
        ..case
    }
}

/// A node before a foreign site with users of its own that submits without asking others, and an idle foreign site to
/// which the job may move.
pub fn foreign_moving() -> Exploration<Node> {
    let case = explored(2, |me| match me {
        INITIATOR => node(me, ALONE, Role::Foreign(Some(7)), &[1]),
        _ => node(me, ALONE, Role::Foreign(None), &[]),
    });
    Exploration {
        reactions: |node| {
            let mut seen = seen_at_site(node);
            // A site lets only its first attempt go: a job that vanishes again and again has too many states.
            if node.attempt_at_site(JOB) > Some(Epoch::new(1)) {
                seen.truncate(1);
            }
            seen
        },
        ..case
    }
}

/// What a foreign site may do with the job now.
fn seen_at_site(node: &Node) -> Vec<Command> {
    let Some(attempt) = node.attempt_at_site(JOB) else {
        return Vec::new();
    };
    let runs = node.site().local.running();
    let seen = match runs.iter().any(|running| running.job.job == JOB) {
        true => [Seen::Ended(Outcome::Done), Seen::Vanished],
        false => [Seen::Started { at: Time::ZERO }, Seen::Vanished],
    };
    let job = JOB;
    seen.map(|seen| Command::Site(SiteReport::Attempt { job, attempt, seen }))
        .into()
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

/// What news of the job make a host do.
pub(super) fn order(news: &News) -> Option<Order> {
    let attempt = |epoch| Attempt::new(JOB, epoch);
    match *news {
        News::Started {
            attempt: epoch,
            until,
            ..
        }
        | News::Extended {
            attempt: epoch,
            until,
            ..
        } => Some(Order::Run(Program {
            attempt: attempt(epoch),
            until,
            has_ended: false,
        })),
        News::Stopped { attempt: epoch } => Some(Order::Stop(attempt(epoch))),
        _ => None,
    }
}

impl Runner for Node {
    fn order(notice: &Notice) -> Option<Order> {
        order(&notice.news)
    }

    fn is_end(command: &Command) -> bool {
        matches!(command, Command::Ended { .. })
    }

    fn survived(attempt: Attempt, survival: Survival) -> Command {
        Command::Survived {
            job: attempt.job,
            attempt: attempt.epoch,
            survival,
        }
    }
}

impl Leased for Node {
    fn runs(&self) -> bool {
        let mut running = self.site().local.running().iter();
        running.any(|running| running.job.job == JOB)
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
        Some(notice.news.clone()).filter(News::is_last)
    }
}
