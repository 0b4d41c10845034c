//! One node of the commit protocol among liars: bytes choose messages, timers, commands and crashes.

use gridweave_core::admission::Needs;
use gridweave_core::commit::coordinator::{self, Notice as Told};
use gridweave_core::commit::participant::{self, Notice as Heard};
use gridweave_core::commit::{
    Candidate, Command, Config, Everyone, Members, Message, Node, Notice, Overrun, Refused,
    Standing, Timer,
};
use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Outcome, Payload, Placement, Submitter};
use gridweave_core::machine::Event;
use gridweave_core::schedule::Attempt;
use gridweave_core::shared::Shared;
use gridweave_core::time::{Interval, Span, Time};
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;
use super::coallocation::COMMIT;
use super::host::{Host, ME, Seen, Sent, Subject};

const CONFIG: Config = Config {
    overrun: Overrun::Extend {
        by: Span::from_micros(8),
        times: 2,
    },
    members: 3,
    ..COMMIT
};

/// One node of the protocol, and what its host was told.
struct Committing {
    sent: Sent<Message>,
    /// What runs here.
    live: Option<Attempt>,
    /// When the first reservation of the running attempt ends; `Time::MAX` once the attempt has run for longer.
    ends: Time,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, if anything grows beyond its bound, if a timer
/// rings without end, or if two jobs run at once.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 4);
    let subject = Committing {
        sent: Sent::new(),
        live: None,
        ends: Time::MAX,
    };
    let mut host = Host::start(subject, Time::ZERO);
    while !choices.is_empty() {
        let kind = choices.byte();
        // One in sixty-four events is the last one before a crash, which comes after some of its effects.
        let crash = (kind >= 252).then(|| usize::from(choices.below(6)));
        let event = match kind % 8 {
            0..=3 => host.answer(&mut choices),
            4 => {
                let from = choices.peer();
                let message = host.forge(&mut choices);
                Some(Event::Message { from, message })
            }
            5 => {
                host.pass(Span::from_micros(u64::from(choices.below(16))));
                None
            }
            6 => Some(Event::Command(host.command(&mut choices))),
            _ => {
                let timers = [Timer::Coordinator, Timer::Participant];
                Some(Event::Timer(choices.pick(timers)))
            }
        };
        match event {
            Some(event) => host.feed_and_crash(event, crash),
            None if crash.is_some() => host.restart(),
            None => {}
        }
    }
    // No peer answers any more: everything must end.
    for _ in 0..40 {
        host.pass(Span::from_micros(50));
    }
    host.seen
}

impl Subject for Committing {
    type Node = Node;

    // Some for each seat, and some for each node of each task, former nodes included.
    const MOST_EFFECTS: usize = 1_000;
    const MOST_RINGS: usize = 16;

    fn build(&self, _rng: &mut Xoshiro256PlusPlus) -> Node {
        Node::new(CONFIG, Everyone)
    }

    fn said(host: &mut Host<Self>, to: NodeId, message: Message) {
        if matches!(message, Message::Refused { .. }) {
            host.count("declined");
        }
        host.subject.sent.push(to, message);
    }

    fn told(host: &mut Host<Self>, notice: Notice) {
        match notice {
            Notice::Participant(notice) => host.heard(notice),
            Notice::Coordinator(notice) => match notice {
                Told::Placed { .. } => host.count("placed"),
                Told::Unplaced { .. } => host.count("unplaced"),
                Told::Finished { .. } => host.count("finished"),
                Told::Kept { .. } | Told::Cleared { .. } => {}
            },
        }
    }

    fn look(host: &mut Host<Self>) {
        let schedule = host.node().participant.schedule();
        assert!(schedule.len() <= 2 * usize::from(CONFIG.seats));
        assert!(host.node().participant.running().count() <= 1);
        let running = host.node().participant.running().next();
        if running.is_some() && running == host.subject.live && host.subject.ends <= host.now {
            host.subject.ends = Time::MAX;
            host.count("extended");
        }
        let records = usize::from(CONFIG.seats + CONFIG.tasks) + 1;
        assert!(host.records() <= records, "{} records", host.records());
    }

    fn crashed(&mut self, _: Time) -> Vec<Command> {
        self.live = None;
        Vec::new()
    }
}

impl Host<Committing> {
    fn heard(&mut self, notice: Heard) {
        match notice {
            Heard::Begin {
                attempt,
                until,
                assignment,
            } => {
                let Placement { start, end, .. } = assignment.get().placement;
                let end = end.expect("it has a reservation");
                let interval = Interval::new(start, end).expect("it takes time");
                let live = self.subject.live.replace(attempt);
                assert_eq!(live, None, "nothing runs when {attempt:?} begins");
                assert!(interval.contains(self.now) && until <= interval.end());
                self.subject.ends = interval.end();
                self.count("begun");
            }
            Heard::Stop { attempt, .. } => {
                let live = self.subject.live.take();
                assert!(live.is_none_or(|live| live == attempt));
                self.count("stopped");
            }
            Heard::Extended { attempt, until } => {
                assert!(self.subject.live.is_none_or(|live| live == attempt));
                assert!(until > self.now, "{attempt:?} is extended into the past");
                self.count("extended");
            }
            Heard::Assigned { .. } => self.count("assigned"),
            Heard::Released { .. } => self.count("released"),
            Heard::Changed => {}
        }
    }

    /// What an honest peer says to one of the last messages, or that message itself if it goes to this node.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Option<Event<Node>> {
        let (from, message) = self.subject.sent.pick(choices)?;
        if from == ME {
            return Some(Event::Message { from, message });
        }
        let message = match message {
            Message::Prepare { attempt, lease, .. } => Message::Prepared { attempt, lease },
            Message::Prepared { attempt, .. } => Message::Commit {
                attempt,
                members: Shared::new(Members::default()),
            },
            Message::Commit { attempt, .. } => Message::Committed { attempt },
            Message::Permit { attempt, .. } if choices.below(2) == 0 => Message::Ended {
                attempt,
                outcome: outcome(choices),
            },
            Message::Permit { attempt, .. } => Message::Alive {
                attempt,
                standing: Standing::Running,
            },
            Message::Committed { attempt }
            | Message::Query { attempt }
            | Message::Alive { attempt, .. } => Message::Permit {
                attempt,
                until: Some(self.now + Span::from_micros(30)),
            },
            Message::Extend { attempt, until } => Message::Permit {
                attempt,
                until: Some(until),
            },
            Message::Release { job, through } => Message::Released {
                job,
                through,
                began: None,
            },
            Message::Ended { attempt, .. }
            | Message::Expired { attempt }
            | Message::Refused { attempt, .. }
            | Message::Abort { attempt } => Message::Release {
                job: attempt.job,
                through: attempt.epoch,
            },
            Message::Released { .. } => return None,
        };
        Some(Event::Message { from, message })
    }

    /// Any message at all.
    fn forge(&self, choices: &mut Choices<'_>) -> Message {
        let job = choices.job();
        let epoch = Epoch::new(self.number(choices));
        let attempt = Attempt::new(job, epoch);
        let through = epoch;
        let outcome = outcome(choices);
        match choices.below(14) {
            0 | 1 => Message::Prepare {
                attempt,
                interval: self.interval(choices),
                lease: Span::from_micros(self.number(choices)),
                submitter: Submitter::default(),
                needs: Needs::NOTHING,
                payload: Payload::EMPTY,
            },
            2 => Message::Prepared {
                attempt,
                lease: Span::from_micros(self.number(choices)),
            },
            3 => Message::Refused {
                attempt,
                reason: Refused::Busy,
                next_free: Some(Time::from_micros(self.number(choices))),
            },
            4 => Message::Commit {
                attempt,
                members: Shared::new(Members::default()),
            },
            5 => Message::Committed { attempt },
            6 => Message::Expired { attempt },
            7 => Message::Abort { attempt },
            8 => Message::Permit {
                attempt,
                until: Some(Time::from_micros(self.number(choices))).filter(|at| *at > Time::ZERO),
            },
            9 => Message::Alive {
                attempt,
                standing: choices.pick([Standing::Waiting, Standing::Running, Standing::Gone]),
            },
            10 => Message::Query { attempt },
            11 => Message::Release { job, through },
            12 => Message::Extend {
                attempt,
                until: Time::from_micros(self.number(choices)),
            },
            _ => Message::Ended { attempt, outcome },
        }
    }

    /// A number that is likely to matter: small, about now, an epoch that was used, or next to the end.
    fn number(&self, choices: &mut Choices<'_>) -> u64 {
        let small = u64::from(choices.below(8));
        match choices.below(4) {
            0 => small,
            1 => self.now.as_micros().saturating_add(small * 4),
            2 => {
                let last = self.subject.sent.last();
                last.map_or(small, |message| message.epoch().get().saturating_add(small))
            }
            _ => u64::MAX - small,
        }
    }

    fn interval(&self, choices: &mut Choices<'_>) -> Interval {
        let start = self.now + Span::from_micros(u64::from(choices.below(32)));
        let length = Span::from_micros(1 + u64::from(choices.below(16)));
        let since = if choices.byte() == 0 {
            Interval::since(start)
        } else {
            Interval::starting(start, length)
        };
        since.expect("the end of time is far")
    }

    fn command(&mut self, choices: &mut Choices<'_>) -> Command {
        let job = choices.job();
        Command::Coordinator(match choices.below(6) {
            0 | 1 => coordinator::Command::Place {
                job,
                submitter: Submitter::default(),
                needs: Needs::NOTHING,
                candidates: (0..choices.below(3))
                    .map(|_| self.candidate(choices))
                    .collect(),
                spares: (0..choices.below(3)).map(|_| choices.peer()).collect(),
                payload: Payload::EMPTY,
            },
            2 => coordinator::Command::Improve {
                job,
                candidate: self.candidate(choices),
                spares: (0..choices.below(3)).map(|_| choices.peer()).collect(),
            },
            3 => coordinator::Command::Release { job },
            _ => {
                let epoch = Epoch::new(u64::from(choices.below(4)));
                let attempt = self.subject.live.take().unwrap_or(Attempt::new(job, epoch));
                let outcome = outcome(choices);
                return Command::Participant(participant::Command::Ended { attempt, outcome });
            }
        })
    }

    fn candidate(&self, choices: &mut Choices<'_>) -> Candidate {
        Candidate {
            interval: self.interval(choices),
            nodes: (0..=choices.below(3)).map(|_| choices.peer()).collect(),
        }
    }
}

fn outcome(choices: &mut Choices<'_>) -> Outcome {
    choices.pick([
        Outcome::Broke,
        Outcome::Overran,
        Outcome::Done,
        Outcome::Done,
    ])
}
