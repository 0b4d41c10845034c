use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use gridweave_core::id::{NodeId, OrganisationId};

use crate::control::{Answer, Request};

/// The most inputs that wait for the driver.
const ROOM: usize = 4096;

/// What happens to a node.
pub enum Input {
    /// A message came in. The transport knows which node sent it.
    Frame {
        /// The sender.
        from: NodeId,
        /// The organisation in its certificate.
        organisation: OrganisationId,
        /// The message in the wire format.
        bytes: Vec<u8>,
    },
    /// Messages to this node cannot be delivered.
    Unreachable(NodeId),
    /// An attempt may have ended.
    Look,
    /// A user asks for something. `user` is the number that the operating system has for the user.
    Request {
        /// What is asked.
        request: Request,
        /// The user that asks.
        user: u32,
        /// Takes the answer. It must not wait.
        answer: Box<dyn FnOnce(Answer) + Send>,
    },
    /// The agent is to end. Jobs go on.
    Stop,
}

/// Gives inputs to a driver.
#[derive(Clone)]
pub struct Inputs(SyncSender<Input>);

/// Why an input is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotTaken {
    /// Too many wait.
    Full,
    /// The driver has ended.
    Ended,
}

impl Inputs {
    /// A way to a driver, and the end of it that the driver takes.
    pub fn new() -> (Self, Inbox) {
        let (sender, receiver) = sync_channel(ROOM);
        (Self(sender), Inbox(receiver))
    }

    /// Gives an input without waiting.
    pub fn give(&self, input: Input) -> Result<(), NotTaken> {
        self.0.try_send(input).map_err(|error| match error {
            TrySendError::Full(_) => NotTaken::Full,
            TrySendError::Disconnected(_) => NotTaken::Ended,
        })
    }

    /// Gives an input, and waits until there is room. Only for threads that may wait.
    pub fn give_patiently(&self, input: Input) -> Result<(), NotTaken> {
        self.0.send(input).map_err(|_| NotTaken::Ended)
    }
}

/// Where a driver finds its inputs.
pub struct Inbox(Receiver<Input>);

impl Inbox {
    /// Waits so long for an input, and takes those that are there by then, at most `most`. Empty after that time;
    /// `None` when no input can come any more.
    pub(crate) fn take(&self, wait: Duration, most: usize) -> Option<Vec<Input>> {
        let first = match self.0.recv_timeout(wait) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => return Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let rest = self.0.try_iter().take(most.saturating_sub(1));
        Some(std::iter::once(first).chain(rest).collect())
    }
}
