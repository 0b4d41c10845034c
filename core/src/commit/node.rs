//! Coordinator and participant in one machine.

use super::config::{Config, Everyone, Policy};
use super::coordinator::{self, Coordinator};
use super::message::Message;
use super::participant::{self, Participant};
use crate::id::JobId;
use crate::machine::{Context, Embed, Event, Machine, Violation};

/// A node that coordinates jobs, and reserves time for its own jobs and for those of other nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node<P: Policy = Everyone> {
    /// The side that wants time.
    pub coordinator: Coordinator<P>,
    /// The side that has time to give.
    pub participant: Participant<P>,
}

/// A timer of either side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// The timer of the coordinator.
    Coordinator,
    /// The timer of the participant.
    Participant,
}

/// A command to either side.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// A command to the coordinator.
    Coordinator(coordinator::Command),
    /// A command to the participant.
    Participant(participant::Command),
}

/// A notice of either side.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Notice {
    /// A notice of the coordinator.
    Coordinator(coordinator::Notice),
    /// A notice of the participant.
    Participant(participant::Notice),
}

/// The key of a record of either side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// The key of a record of the coordinator.
    Coordinator(coordinator::Key),
    /// The participant's record of a job.
    Participant(JobId),
}

/// A record of either side.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the coordinator.
    Coordinator(coordinator::Record),
    /// A record of the participant.
    Participant(participant::Seat),
}

struct AsCoordinator;

impl<P: Policy> Embed<Coordinator<P>, Node<P>> for AsCoordinator {
    fn message(&mut self, message: Message) -> Message {
        message
    }
    fn timer(&mut self, _: coordinator::Due) -> Timer {
        Timer::Coordinator
    }
    fn key(&mut self, key: coordinator::Key) -> Key {
        Key::Coordinator(key)
    }
    fn record(&mut self, record: coordinator::Record) -> Record {
        Record::Coordinator(record)
    }
    fn notice(&mut self, notice: coordinator::Notice, cx: &mut dyn Context<Node<P>>) {
        cx.notify(Notice::Coordinator(notice));
    }
}

struct AsParticipant;

impl<P: Policy> Embed<Participant<P>, Node<P>> for AsParticipant {
    fn message(&mut self, message: Message) -> Message {
        message
    }
    fn timer(&mut self, _: participant::Due) -> Timer {
        Timer::Participant
    }
    fn key(&mut self, job: JobId) -> Key {
        Key::Participant(job)
    }
    fn record(&mut self, seat: participant::Seat) -> Record {
        Record::Participant(seat)
    }
    fn notice(&mut self, notice: participant::Notice, cx: &mut dyn Context<Node<P>>) {
        cx.notify(Notice::Participant(notice));
    }
}

impl<P: Policy> Node<P> {
    /// A node without jobs. All nodes need the same configuration; see [`Config::checked`].
    pub fn new(config: Config, policy: P) -> Self {
        Self {
            coordinator: Coordinator::new(config, policy.clone()),
            participant: Participant::new(config, policy),
        }
    }

    fn coordinate(&mut self, event: Event<Coordinator<P>>, cx: &mut dyn Context<Self>) {
        self.coordinator.handle(event, &mut cx.lift(AsCoordinator));
    }

    fn participate(&mut self, event: Event<Participant<P>>, cx: &mut dyn Context<Self>) {
        self.participant.handle(event, &mut cx.lift(AsParticipant));
    }
}

impl<P: Policy> Machine for Node<P> {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => {
                self.coordinate(Event::Start, cx);
                self.participate(Event::Start, cx);
            }
            Event::Message { from, message } if message.is_for_participant() => {
                self.participate(Event::Message { from, message }, cx);
            }
            Event::Message { from, message } => {
                self.coordinate(Event::Message { from, message }, cx);
            }
            Event::Timer(Timer::Coordinator) => {
                self.coordinate(Event::Timer(coordinator::Due), cx);
            }
            Event::Timer(Timer::Participant) => {
                self.participate(Event::Timer(participant::Due), cx);
            }
            Event::Command(Command::Coordinator(command)) => {
                self.coordinate(Event::Command(command), cx);
            }
            Event::Command(Command::Participant(command)) => {
                self.participate(Event::Command(command), cx);
            }
            Event::Restored(Key::Coordinator(key), Record::Coordinator(record)) => {
                self.coordinate(Event::Restored(key, record), cx);
            }
            Event::Restored(Key::Participant(job), Record::Participant(seat)) => {
                self.participate(Event::Restored(job, seat), cx);
            }
            // Neither side reacts to unreachable nodes, and no other pair of key and record is ever written.
            Event::Unreachable { .. } | Event::Restored(..) => {}
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.coordinator.check()?;
        self.participant.check()
    }
}
