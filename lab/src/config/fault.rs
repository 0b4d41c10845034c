//! Planned faults of nodes.

use gridweave_core::time::Span;

use super::setting::kinds;

/// A planned fault of a node, or a planned join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A node goes down.
    Crash {
        /// When it goes down.
        at: Span,
        /// The node that goes down.
        node: u32,
    },
    /// A node comes up again, with its disk.
    Restart {
        /// When it comes up.
        at: Span,
        /// The node that comes up.
        node: u32,
    },
    /// A new node joins. Joiners are numbered in this order, after all other nodes.
    Join {
        /// When it joins.
        at: Span,
    },
}

kinds!(Fault by "what" {
    Crash { at, node } = "crash",
    Restart { at, node } = "restart",
    Join { at } = "join",
});
