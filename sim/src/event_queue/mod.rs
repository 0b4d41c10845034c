//! Placeholder until the real one lands.
use gridweave_core::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    heap: BinaryHeap<Reverse<(Time, u64, T)>>,
    sequence: u64,
}
impl<T: Copy + Ord> EventQueue<T> {
    /// Placeholder.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }
    /// Placeholder.
    pub fn push(&mut self, at: Time, item: T) {
        self.sequence += 1;
        self.heap.push(Reverse((at, self.sequence, item)));
    }
    /// Placeholder.
    pub fn pop(&mut self) -> Option<(Time, T)> {
        self.heap.pop().map(|Reverse((at, _, item))| (at, item))
    }
    /// Placeholder.
    pub fn next_at(&mut self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }
}
