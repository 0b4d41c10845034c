use alloc::collections::VecDeque;
use alloc::collections::vec_deque::Drain;

use rand_core::Rng;

use super::{Context, Effect, Event, Machine};
use crate::time::Time;

/// The effects of one or more events, as a list.
///
/// Reuse one queue: after the first events it allocates nothing.
///
/// ```
/// use gridweave_core::heartbeat::{Detector, Notice};
/// use gridweave_core::id::{Incarnation, NodeId};
/// use gridweave_core::machine::{Effect, EffectQueue, Event};
/// use gridweave_core::time::{Span, Time};
/// use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
///
/// // Any generator that implements `gridweave_core::rand_core::Rng` will do.
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let mut detector = Detector::<8>::new(NodeId::new(1), Span::from_secs(10), 3)?;
/// let mut effects = EffectQueue::new();
/// effects.feed(&mut detector, Event::Start, Time::ZERO, &mut rng);
/// for effect in effects.drain() {
///     match effect {
///         Effect::Persist((), incarnation) => assert_eq!(incarnation, Incarnation::new(0)),
///         Effect::Wake { at, .. } => assert!(at > Time::ZERO),
///         other => panic!("a detector that watches nobody does no more: {other:?}"),
///     }
/// }
/// # Ok::<(), gridweave_core::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EffectQueue<M: Machine> {
    pub(super) effects: VecDeque<Effect<M>>,
}

impl<M: Machine> EffectQueue<M> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            effects: VecDeque::new(),
        }
    }

    /// Lets the machine handle one event and appends its effects.
    pub fn feed(&mut self, machine: &mut M, event: Event<M>, now: Time, rng: &mut dyn Rng) {
        let effects = &mut self.effects;
        machine.handle(event, &mut Collect { now, rng, effects });
    }

    /// Takes out the first effect.
    pub fn pop(&mut self) -> Option<Effect<M>> {
        self.effects.pop_front()
    }

    /// Takes the effects out, in order; the room they took is kept.
    pub fn drain(&mut self) -> Drain<'_, Effect<M>> {
        self.effects.drain(..)
    }

    /// Drops the effects; the room they took is kept.
    pub fn clear(&mut self) {
        self.effects.clear();
    }

    /// The effects so far, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Effect<M>> {
        self.effects.iter()
    }

    /// How many effects there are.
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

impl<M: Machine> Default for EffectQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// The context of one event whose effects go to a list.
pub(super) struct Collect<'a, M: Machine> {
    pub(super) now: Time,
    pub(super) rng: &'a mut dyn Rng,
    pub(super) effects: &'a mut VecDeque<Effect<M>>,
}

impl<M: Machine> Context<M> for Collect<'_, M> {
    fn now(&self) -> Time {
        self.now
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.rng
    }

    fn push(&mut self, effect: Effect<M>) {
        self.effects.push_back(effect);
    }
}
