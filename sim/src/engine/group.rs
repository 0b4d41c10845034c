//! Nodes that make the records of many events durable at once.

use gridweave_core::machine::EffectQueue;
use gridweave_core::time::Span;

use super::Simulated;

/// What nodes have not carried out yet.
#[derive(Debug)]
pub(super) struct Group<M: Simulated> {
    /// How long effects wait for those of later events.
    pub(super) window: Span,
    pub(super) nodes: Vec<Held<M>>,
}

/// What one node has not carried out yet.
#[derive(Debug)]
pub(super) struct Held<M: Simulated> {
    pub(super) effects: EffectQueue<M>,
    /// Whether the end of the window is in the event queue.
    pub(super) is_planned: bool,
}

impl<M: Simulated> Group<M> {
    pub(super) fn new(window: Span, nodes: usize) -> Self {
        let mut group = Self {
            window,
            nodes: Vec::with_capacity(nodes),
        };
        (0..nodes).for_each(|_| group.join());
        group
    }

    pub(super) fn join(&mut self) {
        self.nodes.push(Held {
            effects: EffectQueue::new(),
            is_planned: false,
        });
    }
}
