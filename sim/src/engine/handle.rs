//! What the event queue holds of an event: eight bytes.

/// Which node an event is for, and what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Handle {
    node: u32,
    /// Three bits say what, the others which.
    what: u32,
}

/// What an event is. All numbers stay below 2^29.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Message(u32),
    Timer(u32),
    Command(u32),
    /// The node of this number did not get a message.
    Unreachable(u32),
    Fault(Fault),
    /// The effects that the node has held back are carried out.
    Commit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Start,
    Crash,
    /// Crash after this many effects.
    Doom(u32),
}

const BITS: u32 = 29;

impl Handle {
    /// The largest number of a slot or a node.
    pub(super) const MOST: u32 = (1 << BITS) - 1;

    /// # Panics
    /// If there are more than 2^29 things of a kind at once, which needs more memory than machines have.
    pub(super) fn new(node: u32, what: What) -> Self {
        let (tag, number) = match what {
            What::Message(slot) => (0, slot),
            What::Timer(slot) => (1, slot),
            What::Command(slot) => (2, slot),
            What::Unreachable(node) => (3, node),
            What::Fault(Fault::Start) => (4, 0),
            What::Fault(Fault::Crash) => (5, 0),
            What::Fault(Fault::Doom(effects)) => (6, effects.min(Self::MOST)),
            What::Commit => (7, 0),
        };
        assert!(
            number <= Self::MOST,
            "at most 2^29 things are pending at once"
        );
        Self {
            node,
            what: (tag << BITS) | number,
        }
    }

    pub(super) fn node(self) -> u32 {
        self.node
    }

    pub(super) fn what(self) -> What {
        let number = self.what & Self::MOST;
        match self.what >> BITS {
            0 => What::Message(number),
            1 => What::Timer(number),
            2 => What::Command(number),
            3 => What::Unreachable(number),
            4 => What::Fault(Fault::Start),
            5 => What::Fault(Fault::Crash),
            6 => What::Fault(Fault::Doom(number)),
            _ => What::Commit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_gives_back_what_was_put_in() {
        for what in [
            What::Message(0),
            What::Message(Handle::MOST),
            What::Timer(17),
            What::Command(Handle::MOST),
            What::Unreachable(5),
            What::Fault(Fault::Start),
            What::Fault(Fault::Crash),
            What::Fault(Fault::Doom(3)),
            What::Commit,
        ] {
            let handle = Handle::new(9, what);
            assert_eq!((handle.node(), handle.what()), (9, what));
        }
        assert_eq!(size_of::<Handle>(), 8);
    }
}
