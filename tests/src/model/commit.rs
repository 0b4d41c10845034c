//! The commit protocol under the model checker.

use gridweave_core::admission::Needs;
use gridweave_core::commit::coordinator::{self, Notice as Told};
use gridweave_core::commit::participant::{self, Notice as Heard};
use gridweave_core::commit::{
    Candidate, Command, Config, Everyone, Message, Node, Notice, Overrun, Permission,
};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Outcome, Payload, Submitter, Survival};
use gridweave_core::machine::Event;
use gridweave_core::schedule::{Attempt, Reservation, Status};
use gridweave_core::time::{Interval, Span, Time};
use stateright::Property;

use super::{Crash, Exploration, Order, Program, Runner, State, Step, up};

/// A node of the commit protocol.
pub type Peer = Node;

/// Small times: a lease of four, a start at ten, an end at fifteen; nothing is asked again within an exploration.
pub const CONFIG: Config = Config {
    lease: Span::from_micros(4),
    max_delay: Span::from_micros(1),
    max_skew: Span::ZERO,
    retry: Span::from_micros(100),
    jitter: Span::ZERO,
    retries: 0,
    lead: Span::from_micros(1),
    grace: Span::from_micros(2),
    permission: Permission::UntilEnd,
    overrun: Overrun::Cut,
    retention: Span::from_micros(1000),
    seats: 8,
    holds_per_peer: 8,
    allowance: Span::from_micros(1000),
    tasks: 8,
    members: 8,
};

/// As [`CONFIG`], but a job may be extended once by its own length. It asks for that as soon as it starts.
pub const EXTENDING: Config = Config {
    overrun: Overrun::Extend {
        by: Span::from_micros(5),
        times: 1,
    },
    ..CONFIG
};

/// As [`CONFIG`], but with a short retry period, so that a start is permitted only three ticks before it.
pub const NEAR: Config = Config {
    retry: Span::from_micros(3),
    ..CONFIG
};

/// The slot of every job that is not moved.
pub fn slot() -> Interval {
    starting(10)
}

/// A slot of five ticks that starts at `at`.
pub fn starting(at: u64) -> Interval {
    Interval::starting(Time::from_micros(at), Span::from_micros(5))
        .expect("five are more than none")
}

/// A command to place a job on these nodes, at the given times in this order.
pub fn place(job: u64, nodes: &[u64], slots: &[Interval]) -> Command {
    let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId::new).collect();
    let candidates = slots.iter().map(|&interval| Candidate {
        interval,
        nodes: nodes.clone(),
    });
    Command::Coordinator(coordinator::Command::Place {
        job: JobId::new(job),
        submitter: Submitter::default(),
        needs: Needs::NOTHING,
        candidates: candidates.collect(),
        spares: Vec::new(),
        payload: Payload::EMPTY,
    })
}

/// A command to move a job.
pub fn improve(job: u64, nodes: &[u64], interval: Interval) -> Command {
    Command::Coordinator(coordinator::Command::Improve {
        job: JobId::new(job),
        candidate: Candidate {
            interval,
            nodes: nodes.iter().copied().map(NodeId::new).collect(),
        },
        spares: Vec::new(),
    })
}

/// A command to give a job up.
pub fn release(job: u64) -> Command {
    let job = JobId::new(job);
    Command::Coordinator(coordinator::Command::Release { job })
}

/// `nodes` nodes that may get these commands, until just after the start of jobs, without crashes.
pub fn asked(nodes: u8, commands: Vec<(u8, Command)>) -> Exploration<Peer> {
    Exploration {
        build: |_| Node::new(CONFIG, Everyone),
        nodes,
        commands,
        reactions: |_| Vec::new(),
        crashes: 0,
        crash: Crash::Node,
        restart: Span::ZERO,
        horizon: Time::from_micros(11),
        arrivals: None,
        lateness: Span::MAX,
        branching: 1,
        remember: |notice| match notice {
            Notice::Coordinator(told) => !matches!(told, Told::Cleared { .. }),
            Notice::Participant(heard) => matches!(heard, Heard::Begin { .. }),
        },
        judge,
        properties: always(),
    }
}

/// Coordinators first, then participants; each coordinator has one job for all participants, at the same time.
pub fn rivals(coordinators: u8, participants: u8) -> Exploration<Peer> {
    let nodes: Vec<u64> = (coordinators..coordinators + participants)
        .map(u64::from)
        .collect();
    let commands = (0..coordinators).map(|node| (node, place(u64::from(node), &nodes, &[slot()])));
    asked(coordinators + participants, commands.collect())
}

/// The same, where jobs may be extended; then a coordinator must also know how long they may run.
pub fn extending(mut case: Exploration<Peer>) -> Exploration<Peer> {
    case.build = |_| Node::new(EXTENDING, Everyone);
    case.properties.push(knows_its_nodes());
    case
}

/// The same, where a start is permitted only when it is near.
pub fn near(mut case: Exploration<Peer>) -> Exploration<Peer> {
    case.build = |_| Node::new(NEAR, Everyone);
    case.properties.push(waits_for_its_time());
    case
}

/// The commands of a host that ends every running job.
pub fn ending(node: &Peer) -> Vec<Command> {
    let running = node.participant.running();
    let ended = running.map(|attempt| {
        Command::Participant(participant::Command::Ended {
            attempt,
            outcome: Outcome::Done,
        })
    });
    ended.collect()
}

impl Runner for Peer {
    fn order(notice: &Notice) -> Option<Order> {
        let Notice::Participant(heard) = notice else {
            return None;
        };
        match *heard {
            Heard::Begin { attempt, until, .. } | Heard::Extended { attempt, until } => {
                Some(Order::Run(Program {
                    attempt,
                    until,
                    has_ended: false,
                }))
            }
            Heard::Stop { attempt, .. } => Some(Order::Stop(attempt)),
            _ => None,
        }
    }

    fn is_end(command: &Command) -> bool {
        matches!(
            command,
            Command::Participant(participant::Command::Ended { .. })
        )
    }

    fn survived(attempt: Attempt, survival: Survival) -> Command {
        Command::Participant(participant::Command::Survived { attempt, survival })
    }
}

/// What every exploration of this protocol must show.
pub fn always() -> Vec<Property<Exploration<Peer>>> {
    vec![
        Property::always(
            "no node starts unless all nodes of its epoch committed",
            |_, state: &State<Peer>| {
                begun(state).all(|(_, attempt)| {
                    members(state, attempt).all(|node| committed(state, node, attempt))
                })
            },
        ),
        Property::always(
            "at most one attempt at a job runs",
            |_, state: &State<Peer>| {
                let running: Vec<Attempt> = up(state)
                    .flat_map(|(_, node)| node.participant.running())
                    .collect();
                running.iter().all(|one| {
                    let same = |other: &&Attempt| other.job == one.job;
                    running
                        .iter()
                        .filter(same)
                        .all(|other| other.epoch == one.epoch)
                })
            },
        ),
        Property::always(
            "every hold has a timer no later than its lease",
            |_, state: &State<Peer>| {
                up(state).all(|(index, node)| {
                    let timers = state.nodes[index].timers();
                    let timer = timers.due(gridweave_core::commit::Timer::Participant);
                    node.participant
                        .schedule()
                        .iter()
                        .all(|reservation| match reservation.status {
                            Status::Held { lease } => timer.is_some_and(|at| at <= lease),
                            Status::Committed => true,
                        })
                })
            },
        ),
        Property::always(
            "a job that keeps its place still has it",
            |_, state: &State<Peer>| {
                kept(state).all(|attempt| {
                    members(state, attempt).all(|node| {
                        let host = &state.nodes[node.get() as usize];
                        let machine = host.machine().filter(|_| state.now < slot().start());
                        machine.is_none_or(|machine| {
                            machine.participant.schedule().find(attempt).is_some()
                        })
                    })
                })
            },
        ),
        Property::always("a vote outlives a crash", |_, state: &State<Peer>| {
            // A hold that was voted for stays until its lease ends, unless it is released or a newer attempt comes.
            state.network.iter().all(|(from, to, message)| {
                let Message::Prepared { attempt, .. } = message else {
                    return true;
                };
                let released = state.network.iter().any(|(by, at, other)| {
                    (by, at) == (to, from)
                        && other.job() == attempt.job
                        && matches!(other, Message::Abort { .. } | Message::Release { .. })
                });
                let host = &state.nodes[from.get() as usize];
                let Some(node) = host.machine() else {
                    return true;
                };
                released
                    || state.now >= Time::ZERO + CONFIG.lease
                    || node.participant.schedule().find(*attempt).is_some()
                    || node.participant.newest(attempt.job) > Some(attempt.epoch)
            })
        }),
    ]
}

/// A coordinator that is up knows every permission that it gave, after any crash.
fn knows_its_nodes() -> Property<Exploration<Peer>> {
    Property::always(
        "a coordinator knows until when a node may run",
        |_, state: &State<Peer>| {
            state.network.iter().all(|(from, to, message)| {
                let Message::Permit { attempt, until } = message else {
                    return true;
                };
                let machine = |id: &NodeId| state.nodes[id.get() as usize].machine();
                let mut running = machine(to)
                    .into_iter()
                    .flat_map(|node| node.participant.running());
                let Some(coordinator) = machine(from) else {
                    return true;
                };
                // A permission that has ended does not count: its job is about to be stopped.
                *until <= Some(state.now)
                    || !running.any(|one| one == *attempt)
                    || coordinator.coordinator.may_run_until(attempt.job, *to) >= *until
            })
        },
    )
}

/// No coordinator permits a start long before it, not even one that has just restarted.
fn waits_for_its_time() -> Property<Exploration<Peer>> {
    Property::always(
        "no node is permitted to start before that is near",
        |_, state: &State<Peer>| {
            let is_near = state.now + NEAR.retry >= slot().start();
            is_near
                || up(state).all(|(_, node)| {
                    let coordinator = &node.coordinator;
                    coordinator.jobs().all(|job| {
                        let nodes = (0..state.nodes.len() as u64).map(NodeId::new);
                        let permitted = |node| coordinator.may_run_until(job, node);
                        nodes.filter_map(permitted).next().is_none()
                    })
                })
        },
    )
}

/// What must not happen in one event.
pub fn judge(step: &Step<'_, Peer>) -> Option<&'static str> {
    let (before, after) = (&step.before.participant, &step.after.participant);
    let kept = |known: &Reservation| after.schedule().find(known.attempt).map(|now| now.status);
    for known in before.schedule().iter() {
        if known.has_expired(step.now) && kept(known) == Some(Status::Committed) {
            return Some("a hold is never committed after its lease");
        }
    }
    let Event::Message { from, message } = step.event else {
        return None;
    };
    let newest = before.newest(message.job());
    if message.is_for_participant() && newest > Some(message.epoch()) {
        let of_newest = |known: &&Reservation| {
            known.attempt.job == message.job() && Some(known.attempt.epoch) == newest
        };
        // Leases end by themselves, whatever the message.
        let lives = |known: &&Reservation| !known.has_expired(step.now);
        if before
            .schedule()
            .iter()
            .filter(of_newest)
            .filter(lives)
            .any(|known| kept(known) != Some(known.status))
        {
            return Some("an older epoch never changes a newer one");
        }
        let older = |known: &&Reservation| {
            known.attempt.job == message.job() && known.attempt.epoch == message.epoch()
        };
        if before.schedule().iter().filter(older).count()
            < after.schedule().iter().filter(older).count()
        {
            return Some("an older epoch never gets time");
        }
    }
    if let Message::Abort { attempt } = message {
        let firm = |known: &&Reservation| known.status == Status::Committed;
        let lives = |known: &&Reservation| known.interval.end() > step.now;
        let ours = before.schedule().iter().filter(firm).filter(lives);
        let mut ours = ours;
        if ours.any(|known| {
            kept(known).is_none()
                && known.attempt.job == attempt.job
                && step.now < known.interval.start()
        }) {
            return Some("an abort leaves what is committed");
        }
    }
    let foreign = |known: &&Reservation| {
        known.attempt.job == message.job() && coordinator_of(known.attempt) != Some(*from)
    };
    let lives =
        |known: &&Reservation| !known.has_expired(step.now) && known.interval.start() > step.now;
    if message.is_for_participant()
        && before
            .schedule()
            .iter()
            .filter(foreign)
            .filter(lives)
            .any(|known| kept(known).is_none())
    {
        return Some("only its coordinator frees a job's time");
    }
    None
}

/// In these explorations, the job of coordinator `n` has the number `n`.
fn coordinator_of(attempt: Attempt) -> Option<NodeId> {
    Some(NodeId::new(attempt.job.get()))
}

/// Every start so far.
pub fn begun(state: &State<Peer>) -> impl Iterator<Item = (NodeId, Attempt)> + '_ {
    state
        .notices
        .iter()
        .filter_map(|(node, notice)| match notice {
            Notice::Participant(Heard::Begin { attempt, .. }) => Some((*node, *attempt)),
            _ => None,
        })
}

/// Attempts that must still stand: kept, not replaced by a later attempt, neither given up nor expired.
fn kept(state: &State<Peer>) -> impl Iterator<Item = Attempt> + '_ {
    let told = state.notices.iter().filter_map(|(_, notice)| match notice {
        Notice::Coordinator(Told::Placed { job, placement }) => {
            Some(Attempt::new(*job, placement.attempt))
        }
        _ => None,
    });
    told.filter(|placed| {
        let job = placed.job;
        let kept = |(_, notice): &(NodeId, Notice)| {
            matches!(notice, Notice::Coordinator(Told::Kept { job: other, .. }) if *other == job)
        };
        let later = |(_, notice): &(NodeId, Notice)| {
            matches!(notice, Notice::Coordinator(Told::Placed { job: other, placement }) if *other == job && placement.attempt > placed.epoch)
        };
        let unplaced = |(_, notice): &(NodeId, Notice)| {
            matches!(notice, Notice::Coordinator(Told::Unplaced { job: other, .. }) if *other == job)
        };
        state.notices.iter().any(kept)
            && !state.notices.iter().any(|entry| later(entry) || unplaced(entry))
            && !sent(state, |message| matches!(message, Message::Expired { .. }))
    })
}

/// The nodes that were asked to prepare an attempt.
fn members(state: &State<Peer>, of: Attempt) -> impl Iterator<Item = NodeId> + '_ {
    state
        .network
        .iter()
        .filter_map(move |(_, to, message)| match message {
            Message::Prepare { attempt, .. } if *attempt == of => Some(*to),
            _ => None,
        })
}

fn committed(state: &State<Peer>, node: NodeId, to: Attempt) -> bool {
    state.network.iter().any(|(from, _, message)| {
        *from == node && matches!(message, Message::Committed { attempt } if *attempt == to)
    })
}

/// Whether a coordinator ever gave such a notice.
pub fn told(state: &State<Peer>, what: fn(&Told) -> bool) -> bool {
    state
        .notices
        .iter()
        .any(|(_, notice)| matches!(notice, Notice::Coordinator(told) if what(told)))
}

/// Whether such a message was ever sent.
pub fn sent(state: &State<Peer>, what: fn(&Message) -> bool) -> bool {
    state.network.iter().any(|(_, _, message)| what(message))
}
