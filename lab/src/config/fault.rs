//! What happens to nodes.

use gridweave_core::time::Span;

use super::setting::kinds;

/// Something that happens to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It goes down.
    Crash {
        /// When.
        at: Span,
        /// Which.
        node: u32,
    },
    /// It comes up again, with its disk.
    Restart {
        /// When.
        at: Span,
        /// Which.
        node: u32,
    },
    /// A node that was not there before comes up; those that join are numbered in this order, after all others.
    Join {
        /// When.
        at: Span,
    },
}

kinds!(Fault by "what" {
    Crash { at, node } = "crash",
    Restart { at, node } = "restart",
    Join { at } = "join",
});
