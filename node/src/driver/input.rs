use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use gridweave_core::id::{NodeId, OrganisationId};

use crate::control::{Answer, Request};

/// The most inputs that wait for the driver.
const ROOM: usize = 4096;

/// The most bytes of messages among them: a peer may send longer ones than any node does.
const ROOM_BYTES: usize = 64 << 20;

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

impl Input {
    fn bytes(&self) -> usize {
        match self {
            Self::Frame { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}

/// Gives inputs to a driver.
#[derive(Clone)]
pub struct Inputs {
    sender: SyncSender<Input>,
    /// How many bytes of messages wait.
    waiting: Arc<AtomicUsize>,
}

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
        let waiting = Arc::new(AtomicUsize::new(0));
        let inbox = Inbox {
            receiver,
            waiting: waiting.clone(),
        };
        (Self { sender, waiting }, inbox)
    }

    /// Gives an input without waiting.
    pub fn give(&self, input: Input) -> Result<(), NotTaken> {
        let bytes = input.bytes();
        let full = self.waiting.fetch_add(bytes, Relaxed).saturating_add(bytes) > ROOM_BYTES;
        let given = match full && bytes > 0 {
            true => Err(NotTaken::Full),
            false => self.sender.try_send(input).map_err(|error| match error {
                TrySendError::Full(_) => NotTaken::Full,
                TrySendError::Disconnected(_) => NotTaken::Ended,
            }),
        };
        if given.is_err() {
            self.waiting.fetch_sub(bytes, Relaxed);
        }
        given
    }

    /// Gives an input that is no message, and waits until there is room. Only for threads that may wait.
    pub fn give_patiently(&self, input: Input) -> Result<(), NotTaken> {
        self.waiting.fetch_add(input.bytes(), Relaxed);
        self.sender.send(input).map_err(|_| NotTaken::Ended)
    }
}

/// Where a driver finds its inputs.
pub struct Inbox {
    receiver: Receiver<Input>,
    waiting: Arc<AtomicUsize>,
}

impl Inbox {
    /// Waits so long for an input, and takes those that are there by then, at most `most`. Empty after that time;
    /// `None` when no input can come any more.
    pub(crate) fn take(&self, wait: Duration, most: usize) -> Option<Vec<Input>> {
        let first = match self.receiver.recv_timeout(wait) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => return Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let rest = self.receiver.try_iter().take(most.saturating_sub(1));
        let inputs: Vec<Input> = std::iter::once(first).chain(rest).collect();
        let bytes = inputs.iter().map(Input::bytes).sum();
        self.waiting.fetch_sub(bytes, Relaxed);
        Some(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_only_up_to_so_many_bytes() {
        let (inputs, inbox) = Inputs::new();
        let frame = || Input::Frame {
            from: NodeId::new(1),
            organisation: OrganisationId::new(1),
            bytes: vec![0; ROOM_BYTES / 4],
        };
        for round in 0..3 {
            let given = [(); 5].map(|()| inputs.give(frame()).is_ok());
            assert_eq!(given, [true, true, true, true, false], "round {round}");
            // What is no message has room all the same.
            inputs.give(Input::Look).unwrap();
            assert_eq!(inbox.take(Duration::ZERO, 100).unwrap().len(), 5);
        }
    }
}
