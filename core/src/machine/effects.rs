use alloc::vec::{Drain, Vec};

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
/// # Ok::<(), gridweave_core::heartbeat::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EffectQueue<M: Machine> {
    effects: Vec<Effect<M>>,
}

impl<M: Machine> EffectQueue<M> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            effects: Vec::new(),
        }
    }

    /// Lets the machine handle one event and appends its effects.
    pub fn feed<R: rand_core::Rng + ?Sized>(
        &mut self,
        machine: &mut M,
        event: Event<M>,
        now: Time,
        rng: &mut R,
    ) {
        machine.handle(event, &mut self.at(now, rng));
    }

    /// A context that appends to this queue.
    pub fn at<'a, R: ?Sized>(&'a mut self, now: Time, rng: &'a mut R) -> Collect<'a, M, R> {
        Collect {
            now,
            rng,
            effects: &mut self.effects,
        }
    }

    /// The effects so far, in order.
    pub fn as_slice(&self) -> &[Effect<M>] {
        &self.effects
    }

    /// Takes the effects out, in order; the room they took is kept.
    pub fn drain(&mut self) -> Drain<'_, Effect<M>> {
        self.effects.drain(..)
    }
}

impl<M: Machine> Default for EffectQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// The context of one event whose effects go to an [`EffectQueue`].
#[derive(Debug)]
pub struct Collect<'a, M: Machine, R: ?Sized> {
    now: Time,
    rng: &'a mut R,
    effects: &'a mut Vec<Effect<M>>,
}

impl<M: Machine, R: rand_core::Rng + ?Sized> Context<M> for Collect<'_, M, R> {
    type Rng = R;

    fn now(&self) -> Time {
        self.now
    }

    fn rng(&mut self) -> &mut R {
        self.rng
    }

    fn push(&mut self, effect: Effect<M>) {
        self.effects.push(effect);
    }
}
